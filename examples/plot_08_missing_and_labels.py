"""
Missing values and nominal columns
==================================

Missing values are an error by default. They can be imputed beforehand, dropped, or kept as a
category.
"""

from textwrap import fill

import numpy as np
import pandas as pd

from pidselect import PIDSelector, SelectionPathDisplay, datasets

# %%
# In this table the temperature is missing mostly on hot days, so that missingness is informative;
# the seagull counts are missing at random.
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
# ``missing="drop"`` drops rows with any missing value: here nearly a quarter, and most hot days.
dropped = PIDSelector(n_jobs=-1, missing="drop", random_state=0).fit(X, y)
print(dropped.selection_.settings.n_samples, "rows of 300 are left")
print(", ".join(dropped.selection_.features))

# %%
# ``missing="category"`` keeps all rows: a missing value is a level of its own. Now the ice cream
# sales are selected as well: where the temperature is missing, they are informative about it.
kept = PIDSelector(n_jobs=-1, missing="category", random_state=0).fit(X, y)
SelectionPathDisplay.from_selection(kept.selection_)

# %%
# Feature types are inferred from the values. ``feature_types={"seagulls_counted": "continuous"}``
# overrides the inference.
print(pd.Series(kept.feature_types_).to_string())

# %%
# **To take home:** if missingness may be informative, use ``missing="category"``;
# ``missing="drop"`` discards the rows and this information.
