"""
Repeated measurements
=====================

Permutation tests assume independent rows. Repeated measurements of patients are dependent, and
differences between patients then appear significant.
"""

import numpy as np
import pandas as pd

from pidselect import PIDSelector, SelectionPathDisplay

# %%
# Thirty patients with ten measurements each. Pain depends on the daily dose and on the patient. The
# room temperature differs between patients and has no effect.
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
# Permuting all 300 rows as if they were independent, the room is selected.
selector = PIDSelector(random_state=0)
SelectionPathDisplay.from_selection(selector.fit(X, pain).selection_)

# %%
# With ``groups`` rows are permuted within each patient only, and only the dose is selected.
SelectionPathDisplay.from_selection(selector.fit(X, pain, groups=patient).selection_)

# %%
# If the target is constant within groups, ``surrogates="blocks"`` exchanges whole groups; for time
# series there is ``surrogates="shift"``.
print(selector.selection_)

# %%
# **To take home:** pass ``groups`` if rows are grouped. Otherwise ten rows of one patient count as
# ten patients, and the false-positive rate is inflated.
