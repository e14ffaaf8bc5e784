"""
Rows that belong together
=========================

A test by shuffling supposes that rows are independent. Several rows of one patient are not: what
differs between patients then passes for news.
"""

import numpy as np
import pandas as pd

from pidselect import PIDSelector, SelectionPathDisplay

# %%
# Thirty patients come ten times each. Pain depends on the dose of that day, and each patient has a
# level of pain of their own. The rooms differ between patients, too, and do nothing.
rng = np.random.default_rng(0)
patient = np.repeat(np.arange(30), 10)
level, room = rng.normal(size=(2, 30))
X = pd.DataFrame(
    {
        "dose": rng.normal(size=300),
        "room": room[patient] + 0.1 * rng.normal(size=300),
        "weather": rng.normal(size=300),
    }
)
pain = level[patient] - 0.7 * X["dose"] + 0.3 * rng.normal(size=300)

# %%
# Shuffled as if all 300 rows were independent, the room seems to matter.
selector = PIDSelector(n_permutations=100, random_state=0)
SelectionPathDisplay.from_selection(selector.fit(X, pain).selection_)

# %%
# With ``groups`` rows are shuffled within each patient only. What differs between patients stays as
# it is in every draw, and is no news. The dose remains.
SelectionPathDisplay.from_selection(selector.fit(X, pain, groups=patient).selection_)

# %%
# Where the target is the same for all rows of a group, ``surrogates="blocks"`` exchanges whole
# groups; for rows in the order of time there is ``surrogates="shift"``.
print(selector.selection_)

# %%
# **To take home:** if rows come in groups, pass ``groups``. Otherwise ten rows of one patient count
# as ten patients, and chance is taken for less than it is.
