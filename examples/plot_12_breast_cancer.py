"""
Breast cancer: three of thirty measurements suffice
===================================================

Most of thirty measurements of cell nuclei are informative about a tumour. Few of them are needed.
"""

from textwrap import fill

from sklearn.datasets import load_breast_cancer

from pidselect import ImportanceDisplay, PIDSelector

# %%
# 569 tumours. The chart shows the three selected measurements and seven of the others.
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = PIDSelector(n_jobs=-1, random_state=0).fit(X, y)
explanation = selector.explain(X, y)
importance = ImportanceDisplay.from_explanation(explanation, max_features=10)

# %%
# Most of the others are informative, too, but redundant with the selected ones.
print(fill(str(explanation["worst radius"]), 90))

# %%
# **To take home:** three measurements are selected; none of the other twenty-seven adds significant
# information to them.
