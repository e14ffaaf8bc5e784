"""
Diabetes: the p-value decides, not the length of a bar
======================================================

Ten measurements of patients, and the progression of their diabetes within a year.
"""

from textwrap import fill

from sklearn.datasets import load_diabetes

from pidselect import ImportanceDisplay, PIDSelector

# %%
# 442 patients. Below the dashed line are the columns that are not selected.
X, y = load_diabetes(return_X_y=True, as_frame=True)
selector = PIDSelector(n_jobs=-1, random_state=0).fit(X, y)
explanation = selector.explain(X, y)
importance = ImportanceDisplay.from_explanation(explanation)

# %%
# The estimate for ``age`` is larger than that for ``sex``, but only that of ``sex`` is significant.
# Intervals show how estimates vary between samples, and are no test.
print(fill(str(explanation["age"]), 90))

# %%
# **To take home:** what an unselected column would add is an estimate, and its p-value says why it
# is left out.
