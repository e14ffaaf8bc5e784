"""
The path of a selection
=======================

A selection is a path: at each step the candidate that adds most is tested against chance, and the
path ends where chance would do as well. The record keeps all of it.
"""

import pandas as pd

from pidselect import PIDSelector, SelectionPathDisplay, datasets

# %%
# In Friedman's first model X1 to X5 matter and Z1 to Z5 do not. X1 and X2 act as a product, and X3
# enters as a square.
problem = datasets.friedman(random_state=0)
X = pd.DataFrame(problem.X, columns=problem.names)
selection = PIDSelector(n_permutations=100, random_state=0).fit(X, problem.y).selection_

# %%
# Each group of dots is a step, each dot a candidate: how far what it adds lies above what the same
# column adds when it is shuffled, in standard deviations. The line is what the best of all shuffled
# candidates reaches by chance in one of twenty draws. At the last step nothing lies above it.
SelectionPathDisplay.from_selection(selection)

# %%
# The same in words,
for step in selection.steps:
    print(step)

# %%
# and as a table with a row for each candidate of each step.
frame = selection.to_frame()
frame[frame["candidate"] == "X2"][["step", "candidate", "bits", "score", "p_value", "chosen"]]

# %%
# X2 is worth more once X1 is known: they act together.
#
# **To take home:** what a column is worth depends on what is known already, and how far a dot lies
# above the line says more than its p-value.
