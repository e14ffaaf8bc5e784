"""Permutation tests: surrogate schemes, maximum statistic, p-values, sequential tests."""
