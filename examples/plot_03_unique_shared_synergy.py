"""
Unique, shared and synergistic information
==========================================

The information of two columns about a target splits into shared, unique and synergistic parts, the
atoms, which sum to the joint mutual information.
"""

from matplotlib.figure import Figure

from pidselect import AtomBarsDisplay, datasets, decompose, decompose_distribution

# %%
# Logic gates with known distributions have exact atoms:
#
# - **XOR**: the target is 1 if two coins differ. All information is synergistic.
# - **AND**: the target is 1 if both coins are 1. Shared and synergistic information.
# - **RDN**: the second source repeats the first. All information is shared.
# - **UNQ**: the target is the pair of both sources. All information is unique.
gates = {name: decompose_distribution(datasets.gate(name)) for name in ("XOR", "AND", "RDN", "UNQ")}
for name, parts in gates.items():
    print(name, {atom: round(bits, 2) + 0.0 for atom, bits in parts.atoms.items()})

# %%
# A plot of all four.
figure = Figure(figsize=(9, 6.5), layout="constrained")
for axes, (name, parts) in zip(figure.subplots(2, 2).flat, gates.items(), strict=True):
    display = AtomBarsDisplay.from_decomposition(parts, ax=axes)
    axes.set_title(name, pad=24)

# %%
# From samples atoms are estimated. In the toy system of Wollstadt et al. (2023) X1 is the sum of a
# signal and a noise eta, and X2 is a noisy copy of X1. X1 and X2 are redundant; eta has no marginal
# information and is synergistic with X1.
toy = datasets.toy(random_state=1)
columns = dict(zip(toy.names, toy.X.T, strict=True))
pair = decompose([columns["X1"], columns["X2"]], toy.y, n_permutations=100, random_state=0)
AtomBarsDisplay.from_decomposition(pair)

# %%
cleaned = decompose([columns["X1"], columns["eta"]], toy.y, n_permutations=100, random_state=0)
AtomBarsDisplay.from_decomposition(cleaned)

# %%
# The table also has bias-corrected values and p-values.
print(cleaned)

# %%
# **To take home:** a column without marginal information can be informative given another one, and
# an informative column can be redundant.
