"""Columns of a fit: their number and names are noted, and must be the same ever after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from pidselect.data import Table
from pidselect.data.messages import quoted

if TYPE_CHECKING:
    from pidselect.selection.selector import PIDSelector


def note_columns(selector: PIDSelector, X: Any) -> None:
    """Note the number and the names of the columns, as scikit-learn does."""
    if not isinstance(X, Table):
        validate_data(selector, X, skip_check_array=True)
        return
    selector.n_features_in_ = len(X)
    selector.feature_names_in_ = np.array(X.names, dtype=object)


def check_columns(selector: PIDSelector, X: Any) -> None:
    """Refuse other columns than those of the fit."""
    if not isinstance(X, Table):
        validate_data(selector, X, skip_check_array=True, reset=False)
        return
    fitted = list(getattr(selector, "feature_names_in_", X.names))
    if len(X) != selector.n_features_in_ or list(X.names) != fitted:
        raise ValueError(
            f"the table has {len(X)} columns, {quoted(X.names)}, but the selection was made from "
            f"{selector.n_features_in_}, {quoted(fitted)}. Pass the same columns in the same "
            "order, without the target (see Table.split)."
        )
