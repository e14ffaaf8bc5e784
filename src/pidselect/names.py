"""Registered names, for the help and completion of the command line.

The registries import compiled kernels, which takes a second. The library checks names by the
registries; a test compares them with these.
"""

CRITERION_NAMES = ("cmi", "mi", "mim", "mifs", "mrmr", "cife", "jmi", "cmim", "disr", "icap", "pid")
ESTIMATOR_NAMES = ("ksg", "ksg-rank", "mixed", "mixed-rank", "discrete", "gaussian", "copula")
SURROGATE_NAMES = ("global", "local", "shift", "blocks")
MEASURE_NAMES = ("broja", "imin", "mmi", "ccs", "sx")
CONTINUOUS_MEASURE_NAMES = ("gaussian", "sx-ksg")
