"""
A pair that only together tells something
=========================================

A selection that goes one column at a time cannot see two columns of which neither tells anything
alone. Look-ahead can.
"""

import warnings
from textwrap import fill

import numpy as np
import pandas as pd

from pidselect import PIDSelector, SelectionPathDisplay, SynergyMatrixDisplay

# %%
# Eight switches. The lamp is on where exactly one of the switches 2 and 5 is: an exclusive or, a
# little unreliable.
rng = np.random.default_rng(0)
switches = rng.integers(0, 2, size=(500, 8))
X = pd.DataFrame(switches, columns=[f"switch {number}" for number in range(1, 9)])
lamp = X["switch 2"] ^ X["switch 5"] ^ (rng.random(500) < 0.05)

# %%
# By single columns nothing is found, and the selector says so.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    PIDSelector(n_permutations=100, random_state=0).fit(X, lamp)
print(fill(str(caught[0].message), 90))

# %%
# With ``lookahead=2`` pairs are tried where no single column is significant. The levels share
# ``alpha``, so that the error rate stays what it was.
selector = PIDSelector(lookahead=2, n_permutations=100, random_state=0).fit(X, lamp)
SelectionPathDisplay.from_selection(selector.selection_)

# %%
# The explanation agrees: all that the two tell, they tell together.
explanation = selector.explain(X, lamp)
print(fill(str(explanation["switch 2"]), 90))

# %%
# Pairs beside each other: what two columns tell together beyond what each tells alone.
SynergyMatrixDisplay.from_explanation(explanation)

# %%
# **To take home:** "nothing selected" may mean that columns act only together. If you suspect it,
# set ``lookahead=2``, or name the pair in ``feature_groups``.
