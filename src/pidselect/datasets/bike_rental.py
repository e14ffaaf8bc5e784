"""A synthetic table of mixed feature types: bicycle rental on an island."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pidselect.datasets.base import FloatArray, RandomState, abridged, check_at_least

Values = list[float] | list[int] | list[str] | list[bool]


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticTable:
    """Columns of plain Python values, a target, and the names of the relevant columns.

    Parameters
    ----------
    columns : dict of str to list
        Values of each column: all floats, all ints, all strings or all booleans.
    y : array of float64, shape (n_samples,)
    target : str
        Name of the target.
    relevant : tuple of str
        A minimal sufficient set of columns.
    redundant : dict of str to str
        Exact or noisy duplicates, each with the column it duplicates.
    description : str
        One line.

    Examples
    --------
    >>> import pandas as pd
    >>> from pidselect import datasets
    >>> island = datasets.mixed_table(100, random_state=0)
    >>> frame = pd.DataFrame(island.with_target())
    >>> frame.shape, len(island.names), island.target
    ((100, 14), 13, 'kilometres_ridden')
    >>> island.redundant["breakfasts_served"]
    'overnight_guests'
    """

    columns: dict[str, Values]
    y: FloatArray
    target: str
    relevant: tuple[str, ...]
    redundant: dict[str, str]
    description: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(self.columns)

    def with_target(self) -> dict[str, Values]:
        """Return features and target as one dict of columns, for a data frame or a file."""
        return {**self.columns, self.target: self.y.tolist()}

    def __repr__(self) -> str:
        names = ", ".join(abridged(self.names, most=20))
        relevant = ", ".join(self.relevant)
        return f"SyntheticTable({len(self.y)} samples of {names}; relevant: {relevant})"


def mixed_table(n_samples: int = 1000, *, random_state: RandomState = None) -> SyntheticTable:
    r"""Bicycle rental on an island: kilometres ridden a day, with mixed feature types.

    .. math::

        Y = 60 + 120 \, e^{-((T - 20) / 6)^2} + 0.8 \, G + 60 \, H + 140 \, [M = F] + 10 \, \eta

    T is ``temperature``, G ``overnight_guests``, H ``holiday``; ``market`` M and ``ferry`` F are
    north or south and interact. The ferry is marginally independent of Y, since both places of the
    market are equally frequent; the market is weakly informative, since the ferry more often lands
    in the north.

    ========================  ========  ===================================================
    column                    values    role
    ========================  ========  ===================================================
    temperature               float     relevant, not monotone
    temperature_fahrenheit    float     exact duplicate
    ice_creams_sold           int       redundant with temperature
    overnight_guests          int       relevant, linear
    breakfasts_served         int       redundant with overnight_guests
    holiday                   bool      relevant
    market, ferry             str       relevant, synergistic
    captain, moon             str       irrelevant
    tide_height               float     irrelevant
    seagulls_counted          int       irrelevant
    flag_raised               bool      irrelevant
    ========================  ========  ===================================================

    Returns
    -------
    SyntheticTable
        Thirteen features; the target is ``kilometres_ridden``.

    Examples
    --------
    >>> from pidselect import datasets
    >>> island = datasets.mixed_table(365, random_state=0)
    >>> island.relevant
    ('temperature', 'overnight_guests', 'holiday', 'market', 'ferry')
    >>> list(island.with_target())[-1]
    'kilometres_ridden'
    """
    check_at_least("n_samples", n_samples, 1)
    rng = np.random.default_rng(random_state)
    temperature = np.round(rng.normal(17.0, 5.0, n_samples), 1)
    guests = rng.integers(40, 161, n_samples)
    holiday = rng.random(n_samples) < 0.35
    market = rng.choice(["north", "south"], n_samples)
    ferry = rng.choice(["north", "south"], n_samples, p=[0.75, 0.25])
    y = (
        60
        + 120 * np.exp(-(((temperature - 20) / 6) ** 2))
        + 0.8 * guests
        + 60 * holiday
        + 140 * (market == ferry)
        + 10 * rng.standard_normal(n_samples)
    )
    columns: dict[str, Values] = {
        "captain": rng.choice(["Asta", "Bjarne", "Cilla", "Dag"], n_samples).tolist(),
        "temperature_fahrenheit": (1.8 * temperature + 32).tolist(),
        "market": market.tolist(),
        "tide_height": np.round(rng.uniform(-0.6, 1.4, n_samples), 2).tolist(),
        "ice_creams_sold": rng.poisson(60 * np.exp((temperature - 17) / 8)).tolist(),
        "overnight_guests": guests.tolist(),
        "holiday": holiday.tolist(),
        "seagulls_counted": rng.poisson(23.0, n_samples).tolist(),
        "temperature": temperature.tolist(),
        "moon": rng.choice(["new", "waxing", "full", "waning"], n_samples).tolist(),
        "ferry": ferry.tolist(),
        "breakfasts_served": rng.binomial(guests, 0.9).tolist(),
        "flag_raised": (rng.random(n_samples) < 0.5).tolist(),
    }
    return SyntheticTable(
        columns=columns,
        y=y,
        target="kilometres_ridden",
        relevant=("temperature", "overnight_guests", "holiday", "market", "ferry"),
        redundant={
            "temperature_fahrenheit": "temperature",
            "ice_creams_sold": "temperature",
            "breakfasts_served": "overnight_guests",
        },
        description="Bicycle rental on an island: kilometres ridden a day",
    )
