"""
A first selection
=================

Which columns of a table tell something about a target? This table has numbers, counts, labels and
yes/no columns together, and goes in as it is: nothing is scaled or encoded.
"""

from textwrap import fill

import pandas as pd

from pidselect import AtomBarsDisplay, PIDSelector, datasets

# %%
# The table is made, so that the answer is known: a season of hire bicycles on an island. How many
# kilometres were ridden on a day?
island = datasets.mixed_table(300, random_state=0)
X, y = pd.DataFrame(island.columns), island.y
X.head(4).T

# %%
# One call. Fifty draws of chance at each step are enough for a first look. ``random_state`` makes
# the result repeatable to the bit.
selector = PIDSelector(n_permutations=50, n_jobs=-1, random_state=0).fit(X, y)
print(selector.selection_)

# %%
# Columns that chance could replace are not in the table: the captain, the moon, the tide, the
# seagulls and the flag. Copies are found by their values, and only one of them takes part.
print(selector.selection_.duplicates)
print("true by construction:", ", ".join(island.relevant))

# %%
# The breakfasts came in before the guests they were served to: the two say nearly the same.
#
# How does each column matter? The ferry alone says nothing about the kilometres, nor does the
# market say much. Where the two meet, people ride.
explanation = selector.explain(X, y)
for name in ("ferry", "temperature_fahrenheit", "overnight_guests", "captain"):
    print(fill(str(explanation[name]), 90), "\n")

# %%
# The same as a picture.
AtomBarsDisplay.from_explanation(explanation)

# %%
# ``transform`` keeps the selected columns, as every selector of scikit-learn does.
selector.set_output(transform="pandas").transform(X).head(3)

# %%
# **To take home:** pass the table as it is. A column comes in if it adds more than chance to those
# already there, and ``explain`` says how each one matters.
