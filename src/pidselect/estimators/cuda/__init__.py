"""Nearest-neighbour estimation on a GPU."""
