"""
A first selection
=================

A table with numeric, ordinal and nominal columns is passed as it is: nothing is scaled or encoded.
"""

from textwrap import fill

import pandas as pd

from pidselect import AtomBarsDisplay, PIDSelector, datasets

# %%
# The table is synthetic, with known relevant columns: a season of bicycle hire on an island. The
# target is the distance ridden on a day.
island = datasets.mixed_table(400, random_state=0)
X, y = pd.DataFrame(island.columns), island.y
X.head(4).T

# %%
# ``random_state`` makes the result reproducible to the bit.
selector = PIDSelector(n_jobs=-1, random_state=0).fit(X, y)
print(selector.selection_)

# %%
# Irrelevant columns, such as the captain, the moon and the tide, are not selected. Duplicates are
# found by their values and merged.
print(selector.selection_.duplicates)
print("true by construction:", ", ".join(island.relevant))

# %%
# ``breakfasts_served``, a near-duplicate of ``overnight_guests``, was included before it and
# removed later.
#
# ``explain`` decomposes the information of each column. ``ferry`` has hardly any marginal
# information about the target and is synergistic with ``market``.
explanation = selector.explain(X, y)
for name in ("ferry", "temperature_fahrenheit", "overnight_guests", "captain"):
    print(fill(str(explanation[name]), 90), "\n")

# %%
# The same as a plot.
AtomBarsDisplay.from_explanation(explanation)

# %%
# ``transform`` returns the selected columns, as every scikit-learn selector does.
selector.set_output(transform="pandas").transform(X).head(3)

# %%
# **To take home:** pass the table as it is. A feature is selected if it is significant given the
# features selected before, and ``explain`` decomposes its information.
