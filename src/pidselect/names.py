"""Names of criteria, estimators, surrogate schemes and measures.

The registries that map them to code import compiled kernels, which takes a second. The command line
lists and completes these names without it.
"""

CRITERIA = ("cmi", "mi", "mim", "mifs", "mrmr", "cife", "jmi", "cmim", "disr", "icap", "pid")
ESTIMATORS = ("ksg", "ksg-rank", "mixed", "mixed-rank", "discrete", "gaussian", "copula")
SURROGATES = ("global", "local", "shift", "blocks")
MEASURES = ("broja", "imin", "mmi", "ccs", "sx")
CONTINUOUS_MEASURES = ("gaussian", "sx-ksg")
