"""
A synergistic pair
==================

Two loci determine a disease jointly, and neither has an effect of its own. Forward selection of
single columns misses them. The default settings search all pairs and triples.
"""

from textwrap import fill

import numpy as np
import pandas as pd

from pidselect import JointDisplay, PIDSelector, SelectionPathDisplay

# %%
# Genotypes, the numbers of minor alleles at 20 loci, of 1,600 people. The disease is frequent where
# exactly one of the first two loci is heterozygous. Genotypes are labels here, as one minor allele
# is not between none and two in its effect.
rng = np.random.default_rng(0)
alleles = rng.binomial(2, 0.5, size=(1600, 20))
X = pd.DataFrame(alleles, columns=[f"locus_{number}" for number in range(1, 21)])
one, two = alleles[:, 0] == 1, alleles[:, 1] == 1
disease = rng.random(1600) < np.where(one ^ two, 0.8, 0.2)
y = pd.Series(disease.astype(int), name="disease")

# %%
# No single locus is significant, so that all pairs and triples are searched. Single loci have 80 %
# of ``alpha``, tuples the rest: the error rate is unchanged.
selector = PIDSelector(feature_types=dict.fromkeys(X, "nominal"), random_state=0).fit(X, y)
print(selector.selection_)

# %%
# The steps. The second one is the search, of which the strongest pair is shown.
SelectionPathDisplay.from_selection(selector.selection_)

# %%
# The share of cases over the genotypes of both loci. Averaged over either locus, it is about one
# half.
heat_map = JointDisplay.from_selector(selector, X, y)
heat_map

# %%
# The information of both is synergistic.
explanation = selector.explain(X, y)
print(fill(str(explanation["locus_1"]), 90))

# %%
# **To take home:** columns may be informative only jointly. The default settings find such pairs,
# and the heat map shows how they act. A known pair can be declared in ``feature_groups``.
