"""A first selection: what makes people on an island ride the hire bicycles, and how.

Run it with ``python examples/first_selection.py`` or ``make demo``; it needs pandas and rich.
"""

from textwrap import fill

import pandas as pd

from pidselect import PIDSelector, datasets

island = datasets.mixed_table(random_state=0)
X = pd.DataFrame(island.columns)

print(f"{island.description}\n")
print(f"{len(X)} days, {X.shape[1]} columns: numbers, counts, labels and yes/no together.\n")
print(X.head(3).T.to_string(), "\n")

# Half of the usual draws, and all cores: the demo should not take long.
selector = PIDSelector(n_permutations=100, n_jobs=-1, random_state=0, verbose=1).fit(X, island.y)
selection, explanation = selector.selection_, selector.explain(X, island.y)

print(f"What tells about {island.target}, in the order of discovery:\n")
print(selection, "\n")
for column, original in selection.copies.items():
    print(f"{column} says the same as {original} and was left out.")
print(f"True by construction: {', '.join(island.relevant)}.\n")

print("And how:\n")
for feature in explanation:
    if feature.role in ("strongly relevant", "weakly relevant"):
        print(fill(str(feature), 100, subsequent_indent="  "))
