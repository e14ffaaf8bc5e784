"""
A synergistic pair
==================

Forward selection of single columns misses two columns that are informative only jointly. Look-ahead
tests pairs.
"""

import warnings
from textwrap import fill

import numpy as np
import pandas as pd

from pidselect import PIDSelector, SelectionPathDisplay, SynergyMatrixDisplay

# %%
# Eight switches. The lamp is on if exactly one of the switches 2 and 5 is: an exclusive-or with 5 %
# errors.
rng = np.random.default_rng(0)
switches = rng.integers(0, 2, size=(500, 8))
X = pd.DataFrame(switches, columns=[f"switch {number}" for number in range(1, 9)])
lamp = X["switch 2"] ^ X["switch 5"] ^ (rng.random(500) < 0.05)

# %%
# Single columns are not significant, and a warning is issued.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    PIDSelector(n_permutations=100, random_state=0).fit(X, lamp)
print(fill(str(caught[0].message), 90))

# %%
# With ``lookahead=2`` pairs are tested if no single column is significant. Both levels split
# ``alpha``, so that the error rate is unchanged.
selector = PIDSelector(lookahead=2, n_permutations=100, random_state=0).fit(X, lamp)
SelectionPathDisplay.from_selection(selector.selection_)

# %%
# The information of both is synergistic.
explanation = selector.explain(X, lamp)
print(fill(str(explanation["switch 2"]), 90))

# %%
# Pairwise decomposition of the selected features.
SynergyMatrixDisplay.from_explanation(explanation)

# %%
# **To take home:** if nothing is selected, columns may be informative only jointly. Set
# ``lookahead=2``, or declare a pair in ``feature_groups``.
