"""A made table of mixed columns: a season of bicycle hire on an island."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pidselect.datasets.problem import FloatArray, RandomState, abridged, check_at_least

Values = list[float] | list[int] | list[str] | list[bool]


@dataclass(frozen=True, eq=False, repr=False)
class MixedProblem:
    """A table of plain Python values, its target, and the columns that matter.

    Parameters
    ----------
    columns : dict of str to list
        Values of each column: all floats, all ints, all strings or all booleans.
    y : array of float64, shape (n_samples,)
        The target.
    target : str
        Its name.
    relevant : tuple of str
        Columns that together carry all the information about the target, none of them spare.
    copies : dict of str to str
        Columns that repeat another one, exactly or with noise, and which one that is.
    description : str
        What it is, in one line.
    """

    columns: dict[str, Values]
    y: FloatArray
    target: str
    relevant: tuple[str, ...]
    copies: dict[str, str]
    description: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, without the target."""
        return tuple(self.columns)

    def with_target(self) -> dict[str, Values]:
        """Return all columns, the target last, ready for any dataframe or a file."""
        return {**self.columns, self.target: self.y.tolist()}

    def __repr__(self) -> str:
        names = ", ".join(abridged(self.names, most=20))
        relevant = ", ".join(self.relevant)
        return f"MixedProblem({len(self.y)} samples of {names}; relevant: {relevant})"


def mixed_table(n_samples: int = 1000, *, random_state: RandomState = None) -> MixedProblem:
    r"""Make a season of bicycle hire on an island with a north and a south harbour.

    How many kilometres were ridden on a day?

    .. math::

        Y = 60 + 120 \, e^{-((T - 20) / 6)^2} + 0.8 \, G + 60 \, H + 140 \, [M = F] + 10 \, \eta

    T is the ``temperature``: riders like 20 degrees best. G counts the ``overnight_guests``, H is
    a ``holiday``. The weekly market is held in the north or the south, M, and the morning
    ``ferry`` lands at one of them, F: only where both agree do the passengers ride off at once.
    The ferry alone tells nothing, since the market is as often north as south; the market alone
    tells a little, since the ferry prefers the north.

    ========================  ========  ===================================================
    column                    values    part it plays
    ========================  ========  ===================================================
    temperature               float     relevant, hump-shaped
    temperature_fahrenheit    float     exact copy
    ice_creams_sold           int       follows the temperature: redundant
    overnight_guests          int       relevant, linear
    breakfasts_served         int       nearly one for each guest: redundant
    holiday                   bool      relevant
    market, ferry             str       relevant, and mostly together
    captain, moon             str       nuisance
    tide_height               float     nuisance
    seagulls_counted          int       nuisance
    flag_raised               bool      nuisance
    ========================  ========  ===================================================

    Parameters
    ----------
    n_samples : int, default 1000
        Number of days.
    random_state : int, Generator or None
        Source of all randomness.

    Returns
    -------
    MixedProblem
        Thirteen columns in mixed order; the target is ``kilometres_ridden``.

    Examples
    --------
    >>> island = mixed_table(365, random_state=0)
    >>> island.relevant
    ('temperature', 'overnight_guests', 'holiday', 'market', 'ferry')
    >>> {name: type(values[0]).__name__ for name, values in island.columns.items()}["captain"]
    'str'
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
    return MixedProblem(
        columns=columns,
        y=y,
        target="kilometres_ridden",
        relevant=("temperature", "overnight_guests", "holiday", "market", "ferry"),
        copies={
            "temperature_fahrenheit": "temperature",
            "ice_creams_sold": "temperature",
            "breakfasts_served": "overnight_guests",
        },
        description="Made season of bicycle hire on an island: kilometres ridden a day",
    )
