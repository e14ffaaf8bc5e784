"""
Inside a scikit-learn pipeline
==============================

How many of thirty measurements of cell nuclei does a classifier of tumours need?
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pidselect import AtomBarsDisplay, PIDSelector, SelectionPathDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
print(f"{len(X)} tumours, {X.shape[1]} measurements of each")

# %%
# Inside the pipeline each fold of a cross-validation selects on its own training rows; selecting on
# all rows first would bias the score. The estimator ``"copula"`` detects monotone relations, is
# fast, and needs few samples.
select = PIDSelector(estimator="copula", n_permutations=100, n_jobs=-1, random_state=0)
pipeline = make_pipeline(select, StandardScaler(), LogisticRegression())
everything = make_pipeline(StandardScaler(), LogisticRegression())

scores = cross_validate(pipeline, X, y, cv=3, return_estimator=True)
for fitted, score in zip(scores["estimator"], scores["test_score"], strict=True):
    print(f"{score:.3f} with {', '.join(fitted[0].selection_.features)}")
print(f"{cross_validate(everything, X, y, cv=3)['test_score'].mean():.3f} with all, on average")

# %%
# Many of the thirty are redundant, such as radius, perimeter and area. Two or three perform nearly
# as well as all. On all rows:
selector = select.fit(X, y)
SelectionPathDisplay.from_selection(selector.selection_)

# %%
# The information of all thirty columns: most of that of the other columns is shared with the
# selected ones.
AtomBarsDisplay.from_explanation(selector.explain(X, y))

# %%
# The selected features:
selector.selection_

# %%
# **To take home:** put the selector inside the pipeline. Folds may select different ones of
# near-duplicate columns. Informative columns need not be causes.
