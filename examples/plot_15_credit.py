"""
Credit applications: text and numbers in one chart
==================================================

A table of text and numbers, and a target of two classes: nothing is encoded or scaled.
"""

from textwrap import fill

import numpy as np
import pandas as pd

from pidselect import ImportanceDisplay, PIDSelector

# %%
# The table is generated. The risk depends on account, history, duration and age; the amount follows
# the duration and has no effect beyond it.
rng = np.random.default_rng(0)
n = 1000
account = rng.choice(["none", "overdrawn", "low", "high"], n, p=[0.4, 0.25, 0.25, 0.1])
history = rng.choice(["paid", "delayed", "critical"], n, p=[0.6, 0.25, 0.15])
duration = 6 * rng.integers(1, 11, n)
age = np.round(19 + rng.gamma(2.0, 8.0, n)).astype(int)
X = pd.DataFrame(
    {
        "account": account,
        "history": history,
        "duration": duration,
        "amount": np.round(150 * duration * np.exp(rng.normal(0, 0.4, n))),
        "age": age,
        "purpose": rng.choice(["car", "furniture", "television", "education"], n),
        "housing": rng.choice(["rent", "own", "free"], n, p=[0.2, 0.7, 0.1]),
        "job": rng.choice(["skilled", "unskilled", "management"], n, p=[0.6, 0.2, 0.2]),
        "residence": rng.integers(1, 5, n),
    }
)
risk = 3.0 * (account == "overdrawn") - 3.0 * (account == "high") + 3.0 * (history == "critical")
risk += 0.1 * (duration - 33) - 0.1 * (age - 35) + rng.logistic(size=n)
y = pd.Series(np.where(risk > 1.0, "bad", "good"), name="credit")

# %%
# Columns are passed as they are.
selector = PIDSelector(n_jobs=-1, random_state=0).fit(X, y)
explanation = selector.explain(X, y)
importance = ImportanceDisplay.from_explanation(explanation)

# %%
# The amount is informative, but redundant with the duration.
print(fill(str(explanation["amount"]), 90))

# %%
# **To take home:** text and numbers are compared on one scale, the information they add in bits.
