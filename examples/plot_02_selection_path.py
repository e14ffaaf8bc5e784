"""
The path of a selection
=======================

At each step the candidate with the largest score is tested, and the selection ends when it is not
significant. The record contains all candidates of all steps.
"""

import pandas as pd

from pidselect import PIDSelector, SelectionPathDisplay, datasets

# %%
# In Friedman's first model X1 to X5 are relevant and Z1 to Z5 are not. X1 and X2 interact, and X3
# has a quadratic effect.
problem = datasets.friedman(random_state=0)
X = pd.DataFrame(problem.X, columns=problem.names)
selection = PIDSelector(random_state=0).fit(X, problem.y).selection_

# %%
# Each group of dots is a step, each dot a candidate at its statistic. The line is the critical
# value of the maximum over all candidates. Of the candidates above it, the one with the most
# information is included. At the last step no candidate exceeds it.
SelectionPathDisplay.from_selection(selection)

# %%
# The same as text,
for step in selection.steps:
    print(step)

# %%
# and as a table with one row per candidate and step.
frame = selection.to_frame()
frame[frame["candidate"] == "X2"][["step", "candidate", "bits", "score", "p_value", "chosen"]]

# %%
# X2 is more informative given X1: they are synergistic.
#
# **To take home:** the information of a feature depends on the conditioning set, and the distance
# of its statistic from the critical value says more than its p-value.
