"""
Beside SelectKBest and mRMR
===========================

SelectKBest ranks columns one by one and keeps as many as you say. mRMR also avoids what is
selected already. What is different about a test?
"""

import pandas as pd
from sklearn.feature_selection import SelectKBest, mutual_info_regression

from pidselect import PIDSelector, SelectionPathDisplay, datasets

# %%
# Friedman's model again, made harder: copies of three columns with a little noise on them, which
# tell much, but nothing new.
problem = datasets.friedman(800, random_state=0)
X = pd.DataFrame(problem.X, columns=problem.names)
noise = datasets.friedman(800, random_state=1).X
for number, name in enumerate(("X4", "X1", "X2")):
    X[f"{name} again"] = X[name] + 0.5 * noise[:, number]
print(", ".join(X.columns))

# %%
# **SelectKBest** needs to be told how many. Told five, as there are, it takes copies instead of
# what is missing.
kbest = SelectKBest(mutual_info_regression, k=5).fit(X, problem.y)
print("SelectKBest:", ", ".join(X.columns[kbest.get_support()]))

# %%
# **mRMR** takes the columns one by one and subtracts the information about those selected. Without
# a test it must be told how many as well; here it is with ours, which ends it. X5 stays out.
mrmr = PIDSelector(criterion="mrmr", estimator="ksg", n_permutations=50, n_jobs=-1, random_state=0)
print("mRMR:", ", ".join(mrmr.fit(X, problem.y).selection_.features))

# %%
# **Conditional mutual information**, the default, asks what a column adds to all that are selected.
# It needs no number, sees that X1 and X2 act together, and leaves the copies.
selector = PIDSelector(n_permutations=50, n_jobs=-1, random_state=0).fit(X, problem.y)
print("pidselect:", ", ".join(selector.selection_.features))
print("true by construction:", ", ".join(problem.names[i] for i in problem.relevant))

# %%
SelectionPathDisplay.from_selection(selector.selection_)

# %%
# **To take home:** a ranking needs a number from you and takes copies. A test given what is
# selected needs no number, and leaves them.
