"""A first selection: what makes people on an island ride the hire bicycles.

Run it with ``python examples/first_selection.py`` or ``make demo``; it needs pandas and rich.
"""

import pandas as pd

from pidselect import PIDSelector, datasets

island = datasets.mixed_table(random_state=0)
X = pd.DataFrame(island.columns)

print(f"{island.description}\n")
print(f"{len(X)} days, {X.shape[1]} columns: numbers, counts, labels and yes/no together.\n")
print(X.head(3).T.to_string(), "\n")

selection = PIDSelector(random_state=0, verbose=1).fit(X, island.y).selection_

print(f"What tells about {island.target}, in the order of discovery:\n")
print(selection, "\n")
for column, original in selection.copies.items():
    print(f"{column} says the same as {original} and was left out.")
print(f"True by construction: {', '.join(island.relevant)}.")
