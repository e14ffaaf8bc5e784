"""
Is it the same set tomorrow?
============================

Other rows of the same world may lead to another selection. Selecting from many random halves of the
rows shows how far a set can be relied on.
"""

import pandas as pd

from pidselect import PIDSelector, StabilityDisplay, datasets, stability

# %%
# A small table, where chance has a say: 150 rows of Friedman's model.
problem = datasets.friedman(150, random_state=0)
X = pd.DataFrame(problem.X, columns=problem.names)
selector = PIDSelector(estimator="copula", n_permutations="auto", random_state=0)
report = stability(selector, X, problem.y, n=40, n_jobs=-1, random_state=0)
print(report)

# %%
# How often each column was selected, with intervals.
StabilityDisplay.from_stability(report)

# %%
# Four columns come back nearly always, and noise hardly ever. X3 never does: it enters as a square,
# for which the estimator ``"copula"`` has no eye, as it sees monotone relations.
report.to_frame().round(2)

# %%
# **To take home:** a set can be stable and not whole. Stability says what a method finds again, not
# what it cannot see.
