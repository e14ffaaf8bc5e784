"""Nearest-neighbour estimation: binding, neighbour lists and kernels."""
