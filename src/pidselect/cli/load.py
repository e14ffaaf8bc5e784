"""From a file and options to the data of a selection."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from pidselect.cli.columns import Roles
from pidselect.cli.options import TableOptions
from pidselect.data import IntArray, Table
from pidselect.data.feature_types import Identifier
from pidselect.data.table import identifier_warning
from pidselect.exceptions import IdentifierWarning


@dataclass(frozen=True, eq=False)
class SelectionData:
    """The data of a selection; `groups` has the group of every row, `n_rows` are of the file."""

    X: Table
    y: Table
    groups: IntArray | None
    roles: Roles
    n_rows: int

    @property
    def feature_types(self) -> dict[str, Any] | None:
        """The stated type of the target; those of features are in X."""
        stated = {self.roles.feature_types.get(name) for name in self.y.names}
        if len(stated) != 1 or None in stated or "target" in self.X.names:
            return None
        return {"target": stated.pop()}


def read_data(table: TableOptions, roles: Roles) -> SelectionData:
    """Read all columns that are not dropped."""
    stated: dict[str, Any] = {k: v for k, v in roles.feature_types.items() if k not in roles.drop}
    everything = open_table(
        table,
        feature_types=stated,
        missing="error" if table.missing == "error" else "category",  # dropped by the fit
        without=roles.drop,
    )
    n_rows = everything.n_samples
    if table.missing == "drop" and roles.groups is not None:
        is_known = ~np.isnan(everything.columns[everything.index(roles.groups)].values)
        everything = everything if is_known.all() else everything.take(np.flatnonzero(is_known))
    X, y = everything.split(roles.targets)
    groups = None
    if roles.groups is not None:
        X, of_rows = X.split(roles.groups)
        groups = of_rows.columns[0].codes()
    if found := identifiers(X):
        warnings.warn(identifier_warning(found), stacklevel=2)
    return SelectionData(X, y, groups, roles, n_rows)


def open_table(table: TableOptions, **settings: Any) -> Table:
    """Open the file, without warnings of identifiers: not every column is a feature."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifierWarning)
        return Table.open(table.table, **table.text, **settings)


def identifiers(table: Table) -> dict[str, str]:
    """Return the columns that are skipped as identifiers, with the reason."""
    return {
        table.names[index]: reason
        for index, reason in table.skipped.items()
        if isinstance(reason, Identifier)
    }
