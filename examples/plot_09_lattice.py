"""
Three sources and the lattice
=============================

With two sources there are four parts. With three there are eighteen: what only one tells, what two
or three share, what takes two or three together, and what one shares with two others together.
They are the points of a lattice.
"""

from pidselect import LatticeDisplay, datasets, decompose_distribution

# %%
# Three coins and their parity: whether the number of heads is odd. Any two of the coins tell
# nothing, all three tell everything.
parity = decompose_distribution(datasets.gate("XOR", n_sources=3), measure="sx")
LatticeDisplay.from_decomposition(parity)

# %%
# The atoms by name: ``{1}{2,3}`` is what the first tells and the second and third tell together.
# With this measure, shared exclusions, an atom can be negative: to know which
# states are ruled out can also mislead.
for name, value in parity.atoms.items():
    if abs(value) > 0.01:
        print(f"{name:16} {value:+.3f} bit")

# %%
# All atoms add up to what the three tell: one bit.
print(round(sum(parity.atoms.values()), 6), round(parity.information, 6))

# %%
# Another measure divides the same bit otherwise. By ``"mmi"``, where sets share what the least
# informed of them tells, all of it takes three.
smallest = decompose_distribution(datasets.gate("XOR", n_sources=3), measure="mmi")
LatticeDisplay.from_decomposition(smallest)

# %%
# **To take home:** the sum of all parts is a fact, how it is divided depends on the measure. So say
# which one you used.
