"""
Genotypes: two loci that matter only jointly
============================================

Neither of two loci has a marginal effect on a disease; both determine it jointly.
"""

from textwrap import fill

import pandas as pd

from pidselect import ImportanceDisplay, PIDSelector, datasets

# %%
# Generated genotypes of 500 cases and 500 controls at 20 loci, of which the first two interact.
genotypes = datasets.epistasis(1000, n_loci=20, random_state=0)
X = pd.DataFrame(genotypes.X, columns=[f"locus_{number}" for number in range(1, 21)]).astype(int)
y = pd.Series(genotypes.y, name="disease")
selector = PIDSelector(n_jobs=-1, random_state=0).fit(X, y)
explanation = selector.explain(X, y)
importance = ImportanceDisplay.from_explanation(explanation, max_features=8)

# %%
# The mutual information of either locus with the disease is about zero.
print(fill(str(explanation["locus_1"]), 90))

# %%
# **To take home:** the bars of both loci are synergy: either is informative only with the other.
