"""
Wine: informative columns may add nothing
=========================================

Each of thirteen measurements is informative about the cultivar of a wine, most of them about the
same part of it.
"""

from textwrap import fill

from sklearn.datasets import load_wine

from pidselect import ImportanceDisplay, PIDSelector

# %%
# 178 wines of three cultivars.
X, y = load_wine(return_X_y=True, as_frame=True)
selector = PIDSelector(n_jobs=-1, random_state=0).fit(X, y)
explanation = selector.explain(X, y)
importance = ImportanceDisplay.from_explanation(explanation)

# %%
# ``hue`` is one of the most informative columns, and adds nothing.
print(fill(str(explanation["hue"]), 90))

# %%
# **To take home:** a ranking by marginal information would select redundant columns; the chart
# ranks by what each column adds to the others.
