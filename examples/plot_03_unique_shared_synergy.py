"""
Unique, shared and only together
================================

Two columns can tell the same about a target, each can tell something of its own, or they tell
something only together. These parts, the atoms, add up to all that the two tell.
"""

from matplotlib.figure import Figure

from pidselect import AtomBarsDisplay, datasets, decompose, decompose_distribution

# %%
# Small systems show each part by itself. In each there are two sources and a target of a few
# states, with a known distribution, so that the atoms are exact:
#
# - **XOR**: the target says whether two coins differ. One coin alone tells nothing.
# - **AND**: the target is 1 where both coins are. Each tells something, and partly the same.
# - **RDN**: the second source repeats the first. All is shared.
# - **UNQ**: the target is both sources side by side. Each tells its own.
gates = {name: decompose_distribution(datasets.gate(name)) for name in ("XOR", "AND", "RDN", "UNQ")}
for name, parts in gates.items():
    print(name, {atom: round(bits, 2) + 0.0 for atom, bits in parts.atoms.items()})

# %%
# One picture of all four.
figure = Figure(figsize=(9, 6.5), layout="constrained")
for axes, (name, parts) in zip(figure.subplots(2, 2).flat, gates.items(), strict=True):
    display = AtomBarsDisplay.from_decomposition(parts, ax=axes)
    axes.set_title(name, pad=24)

# %%
# From samples the atoms are estimated. In this toy system, of Wollstadt et al. (2023), X1 carries a
# signal and a noise eta; X2 is a noisy copy of X1. So X1 and X2 share what they tell, while eta,
# which tells nothing by itself, cleans X1 of its noise: synergy.
toy = datasets.toy(random_state=1)
columns = dict(zip(toy.names, toy.X.T, strict=True))
pair = decompose([columns["X1"], columns["X2"]], toy.y, n_permutations=100, random_state=0)
AtomBarsDisplay.from_decomposition(pair)

# %%
cleaned = decompose([columns["X1"], columns["eta"]], toy.y, n_permutations=100, random_state=0)
AtomBarsDisplay.from_decomposition(cleaned)

# %%
# Beside each value stands the one corrected for the bias of counting, and a p-value.
print(cleaned)

# %%
# **To take home:** a column that tells nothing alone can be worth much beside another, and one that
# tells much alone can be worth nothing beside its copy.
