"""
Comparison with SelectKBest and mRMR
====================================

SelectKBest ranks single columns and keeps a given number. mRMR penalises redundancy. Conditional
mutual information with a test needs no number.
"""

import pandas as pd
from sklearn.feature_selection import SelectKBest, mutual_info_regression

from pidselect import PIDSelector, SelectionPathDisplay, datasets

# %%
# Friedman's first model with noisy copies of three columns, which are informative but redundant.
problem = datasets.friedman(800, random_state=0)
X = pd.DataFrame(problem.X, columns=problem.names)
noise = datasets.friedman(800, random_state=1).X
for number, name in enumerate(("X4", "X1", "X2")):
    X[f"{name} again"] = X[name] + 0.5 * noise[:, number]
print(", ".join(X.columns))

# %%
# **SelectKBest** needs the number of features. With the true number, five, it selects redundant
# copies and misses relevant columns.
kbest = SelectKBest(mutual_info_regression, k=5).fit(X, problem.y)
print("SelectKBest:", ", ".join(X.columns[kbest.get_support()]))

# %%
# **mRMR** subtracts the mutual information with selected columns. Combined with a permutation test
# it stops by itself. X5 is missed.
mrmr = PIDSelector(criterion="mrmr", estimator="ksg", n_permutations=50, n_jobs=-1, random_state=0)
print("mRMR:", ", ".join(mrmr.fit(X, problem.y).selection_.features))

# %%
# **Conditional mutual information**, the default criterion, conditions on all selected columns. It
# detects the interaction of X1 and X2 and rejects the copies.
selector = PIDSelector(n_jobs=-1, random_state=0).fit(X, problem.y)
print("pidselect:", ", ".join(selector.selection_.features))
print("true by construction:", ", ".join(problem.names[i] for i in problem.relevant))

# %%
SelectionPathDisplay.from_selection(selector.selection_)

# %%
# **To take home:** a ranking needs the number of features and selects redundant columns. A
# conditional test needs no number and rejects them.
