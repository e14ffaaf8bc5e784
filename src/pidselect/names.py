"""Names of criteria, estimators, surrogate schemes and measures, for parameters and options.

The registries that map them to code import compiled kernels, which takes a second; the command line
lists and completes the names without it. A new entry of a registry needs its name here.
"""

CRITERION_NAMES = ("cmi", "mi", "mim", "mifs", "mrmr", "cife", "jmi", "cmim", "disr", "icap", "pid")
ESTIMATOR_NAMES = ("ksg", "ksg-rank", "mixed", "mixed-rank", "discrete", "gaussian", "copula")
SURROGATE_NAMES = ("global", "local", "shift", "blocks")
MEASURE_NAMES = ("broja", "imin", "mmi", "ccs", "sx")
CONTINUOUS_MEASURE_NAMES = ("gaussian", "sx-ksg")
