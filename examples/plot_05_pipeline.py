"""
Inside a scikit-learn pipeline
==============================

Thirty measurements of cell nuclei, and whether a tumour is benign. How many of them does a
classifier need?
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
# Select inside the pipeline, so that each fold of a cross-validation selects from its own training
# rows. Selecting on all rows first lets the test rows have a say, and the score comes out too good.
# The estimator ``"copula"`` sees monotone relations, is quick, and needs few samples.
select = PIDSelector(estimator="copula", n_permutations=100, n_jobs=-1, random_state=0)
pipeline = make_pipeline(select, StandardScaler(), LogisticRegression())
everything = make_pipeline(StandardScaler(), LogisticRegression())

scores = cross_validate(pipeline, X, y, cv=3, return_estimator=True)
for fitted, score in zip(scores["estimator"], scores["test_score"], strict=True):
    print(f"{score:.3f} with {', '.join(fitted[0].selection_.features)}")
print(f"{cross_validate(everything, X, y, cv=3)['test_score'].mean():.3f} with all, on average")

# %%
# Many of the thirty measure nearly the same: radius, perimeter and area of a nucleus, for one. So
# two or three do nearly as well as all. On all rows:
selector = select.fit(X, y)
SelectionPathDisplay.from_selection(selector.selection_)

# %%
# All thirty, taken apart: the selected ones beside each other, every other one beside them. Much of
# what those others tell is shared with the selected ones.
AtomBarsDisplay.from_explanation(selector.explain(X, y))

# %%
# What came in, and when:
selector.selection_

# %%
# **To take home:** put the selector inside the pipeline, and do not mind that folds select
# different ones of columns that tell nearly the same. None of them need be a cause: a selection
# says what is told, not why.
