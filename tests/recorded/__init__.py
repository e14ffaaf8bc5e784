"""Recorded results: fits and decompositions whose values must not change."""
