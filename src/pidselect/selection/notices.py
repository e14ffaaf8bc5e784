"""Findings and warnings about the data of a fit, for Python, command line and page alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log2

from pidselect.data import Dataset, Table
from pidselect.data.diagnostics import (
    SAMPLES_PER_LEVEL,
    Finding,
    inspect_data,
    selection_warnings,
)
from pidselect.estimators.discrete import target_entropy
from pidselect.exceptions import SelectionWarning
from pidselect.selection.pool import FeaturePool, Features
from pidselect.selection.result import Selection, Step

#: A column determines a continuous target if its information is that of a correlation with this
#: R², and a discrete target if it is this share of the entropy: of estimates, and of the lower
#: bound that the score test has for the strongest candidates.
DETERMINING_R2, DETERMINING_SHARE = (0.99, 0.985), (0.95, 0.92)


def fit_warnings(
    dataset: Dataset, pool: FeaturePool, selected: Features, steps: Sequence[Step]
) -> tuple[SelectionWarning, ...]:
    """Return the warnings of a fit about its data; `selected` are features without fixed ones."""
    names = determining_columns(dataset, steps)
    chosen, fixed = ([i for f in some for i in f.columns] for some in (selected, pool.fixed))
    return selection_warnings(dataset, chosen, fixed, pool.duplicates, names)


def fit_findings(dataset: Dataset, record: Selection, n_rows: int) -> tuple[Finding, ...]:
    """Return the findings about the data of a fit; `n_rows` are those before any were left out."""
    table, names = dataset.table, dataset.table.names
    skipped = {i: record.skipped[name] for i, name in enumerate(names) if name in record.skipped}
    dataset = replace(dataset, table=Table(table.columns, skipped))
    return inspect_data(dataset, n_rows, determining_columns(dataset, record.steps))


def determining_columns(dataset: Dataset, steps: Sequence[Step]) -> list[str]:
    """Return the columns whose estimated information determines the target almost exactly.

    It is the mutual information of the first step, if nothing is fixed. Columns of many levels are
    left out: their information is overestimated.
    """
    first = steps[0] if steps else None
    if first is None or first.phase != "forward" or first.conditioning_set:
        return []
    entropy = target_entropy(dataset.target)
    r_squared, share = DETERMINING_R2[not first.unit], DETERMINING_SHARE[not first.unit]
    least = -0.5 * log2(1 - r_squared) if entropy is None else share * entropy
    columns = {column.name: column for column in dataset.table.columns}
    return [
        name
        for name, bits in zip(first.candidates, first.values, strict=False)
        if bits >= least
        and (column := columns.get(name)) is not None
        and (not column.is_discrete or column.levels() * SAMPLES_PER_LEVEL <= len(column.values))
    ]
