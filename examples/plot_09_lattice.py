"""
Three sources and the lattice
=============================

Two sources have four atoms, three sources have eighteen, arranged in the redundancy lattice.
"""

from pidselect import LatticeDisplay, datasets, decompose_distribution

# %%
# The parity of three coins: any two coins are independent of it, all three determine it.
parity = decompose_distribution(datasets.gate("XOR", n_sources=3), measure="sx")
LatticeDisplay.from_decomposition(parity)

# %%
# ``{1}{2,3}`` is the information that is redundant between the first source and the pair of the
# other two. With this measure, shared exclusions, atoms can be negative (misinformation).
for name, value in parity.atoms.items():
    if abs(value) > 0.01:
        print(f"{name:16} {value:+.3f} bit")

# %%
# The atoms sum to the joint mutual information, one bit.
print(round(sum(parity.atoms.values()), 6), round(parity.information, 6))

# %%
# Another measure splits the same bit differently. With ``"mmi"``, the minimum mutual information,
# all of it is the synergy of three sources.
smallest = decompose_distribution(datasets.gate("XOR", n_sources=3), measure="mmi")
LatticeDisplay.from_decomposition(smallest)

# %%
# **To take home:** the sum of the atoms is fixed, their sizes depend on the measure. Report the
# measure.
