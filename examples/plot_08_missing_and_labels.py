"""
Missing values and labels
=========================

Real tables have gaps and words in them. Gaps are an error by default, and there are three ways out.
"""

from textwrap import fill

import numpy as np
import pandas as pd

from pidselect import PIDSelector, SelectionPathDisplay, datasets

# %%
# The island once more. The thermometer fails on hot days, so that a gap says something by itself;
# the seagulls were sometimes not counted, for no reason.
island = datasets.mixed_table(300, random_state=0)
X, y = pd.DataFrame(island.columns).drop(columns="temperature_fahrenheit"), island.y
rng = np.random.default_rng(0)
X.loc[(X["temperature"] > 20) & (rng.random(300) < 0.7), "temperature"] = np.nan
X["seagulls_counted"] = X["seagulls_counted"].where(rng.random(300) < 0.9)

try:
    PIDSelector().fit(X, y)
except ValueError as error:
    print(fill(str(error), 90))

# %%
# ``missing="drop"`` leaves out rows with a gap anywhere: here nearly a quarter of them, and most of
# the hot days.
dropped = PIDSelector(n_permutations=50, n_jobs=-1, missing="drop", random_state=0).fit(X, y)
print(dropped.selection_.settings["n_samples"], "rows of 300 are left")
print(", ".join(dropped.selection_.features))

# %%
# ``missing="category"`` keeps all rows: a gap is a value of its own, near to other gaps and far
# from all else. Now the ice creams come in as well: where the thermometer failed, they tell how hot
# it was. The third way is to fill in the gaps yourself, before.
kept = PIDSelector(n_permutations=50, n_jobs=-1, missing="category", random_state=0).fit(X, y)
SelectionPathDisplay.from_selection(kept.selection_)

# %%
# Kinds are read from the values: texts are labels, counts are ordered. Where this is wrong, say so:
# ``feature_types={"seagulls_counted": "continuous"}``.
print(pd.Series(kept.feature_types_).to_string())

# %%
# **To take home:** where a gap may mean something, ``missing="category"`` keeps the row and what
# the gap says; ``missing="drop"`` throws both away.
