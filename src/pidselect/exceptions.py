"""Warnings that can be filtered by category, as with ``warnings.filterwarnings``."""

from __future__ import annotations

from collections.abc import Sequence

#: A parameter with its value.
Setting = tuple[str, object]


class PIDSelectWarning(UserWarning):
    """Base class: a property of the data or of a result that may mislead.

    Attributes
    ----------
    columns : tuple of str
        The columns that it is about.
    setting : tuple of str and object, or None
        A parameter that reads or uses the columns otherwise, with its value.

    Examples
    --------
    The categories name the columns and, where there is one, the setting that is the remedy.

    >>> import warnings
    >>> from pidselect import PIDSelectWarning, Table
    >>> people = [["Ann", 1.5], ["Bo", 2.5], ["Cy", 0.5], ["Di", 3.5]]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", PIDSelectWarning)
    ...     table = Table.read(people)
    >>> warning = caught[0].message
    >>> type(warning).__name__, warning.columns, warning.setting
    ('IdentifierWarning', ('x0',), ('feature_types', {'x0': 'nominal'}))
    """

    def __init__(
        self, message: str, columns: Sequence[str] = (), setting: Setting | None = None
    ) -> None:
        super().__init__(message, columns, setting)
        self.columns, self.setting = tuple(columns), setting

    def __str__(self) -> str:
        return str(self.args[0])


class IdentifierWarning(PIDSelectWarning):
    """Text columns were skipped as identifiers, as nearly every row has a different text.

    Examples
    --------
    If such texts are labels all the same, their feature type says so.

    >>> import warnings
    >>> from pidselect import IdentifierWarning, Table
    >>> people = [["Ann", 1.5], ["Bo", 2.5], ["Cy", 0.5], ["Di", 3.5]]
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", IdentifierWarning)
    ...     table = Table.read(people)
    >>> table.skipped, Table.read(people, feature_types={"x0": "nominal"}).skipped
    ({0: 'identifier: 4 different texts in 4 rows'}, {})
    """


class TextNumbersWarning(PIDSelectWarning):
    """Columns hold numbers as text, and were skipped or used as labels.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> from pidselect import Table, TextNumbersWarning
    >>> X = pd.DataFrame({"mass": ["12.5 kg", "9.1 kg", "10.7 kg", "11.2 kg"]})
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", TextNumbersWarning)
    ...     Table.read(X).skipped
    {0: "numbers stored as text, such as '10.7 kg'"}
    >>> Table.read(X.assign(mass=pd.to_numeric(X["mass"].str.removesuffix(" kg")))).feature_types
    ('continuous',)
    """


class SelectionWarning(PIDSelectWarning):
    """Base class of the warnings about a result, given at the end of a fit.

    Examples
    --------
    Where selections are repeated, as in a simulation, they can be silenced together:

    >>> import warnings
    >>> import numpy as np
    >>> from pidselect import PIDSelector, SelectionWarning
    >>> rng = np.random.default_rng(1)
    >>> selector = PIDSelector(estimator="copula", n_permutations=39, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", SelectionWarning)
    ...     sizes = [selector.fit(*rng.normal(size=(2, 50, 1))).n_features_ for _ in range(5)]
    >>> sizes
    [0, 0, 0, 0, 0]
    """


class EmptySelectionWarning(SelectionWarning):
    """No feature was selected.

    Examples
    --------
    The message has the strongest candidate and possible remedies; these columns are noise.

    >>> import warnings
    >>> import numpy as np
    >>> from pidselect import EmptySelectionWarning, PIDSelector
    >>> rng = np.random.default_rng(0)
    >>> selector = PIDSelector(estimator="copula", n_permutations=50, random_state=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", EmptySelectionWarning)
    ...     _ = selector.fit(rng.normal(size=(100, 3)), rng.normal(size=100))
    >>> print(caught[0].message)
    No feature was selected: there may be nothing to find. The strongest candidate, 'x2', has 0.023
    bit (critical value 0.0510, p = 0.1961)...
    """


class LeakageWarning(SelectionWarning):
    """Columns determine the target almost exactly, mostly because they were made from it.

    Examples
    --------
    The discharge date is known only after the stay: it is to be left out.

    >>> import warnings
    >>> import numpy as np
    >>> import pandas as pd
    >>> from pidselect import LeakageWarning, PIDSelector
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"age": rng.normal(60, 10, size=200)})
    >>> stay = X["age"] / 10 + rng.normal(size=200)
    >>> X["discharge"] = 24 * stay
    >>> selector = PIDSelector(estimator="copula", n_permutations=50, random_state=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", LeakageWarning)
    ...     _ = selector.fit(X, stay)
    >>> caught[0].message.columns
    ('discharge',)
    """


class RowNumberWarning(SelectionWarning):
    """Selected columns grow or fall strictly from row to row.

    Examples
    --------
    A table that is sorted by the target makes every counter informative. It is to be dropped.

    >>> import warnings
    >>> import numpy as np
    >>> import pandas as pd
    >>> from pidselect import PIDSelector, RowNumberWarning
    >>> price = np.sort(np.random.default_rng(0).normal(size=100))
    >>> houses = pd.DataFrame({"row": np.arange(100), "size": np.cos(1000 * price)})
    >>> selector = PIDSelector(estimator="copula", n_permutations=50, random_state=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", RowNumberWarning)
    ...     _ = selector.fit(houses, price)
    >>> [warning.message.columns for warning in caught if warning.category is RowNumberWarning]
    [('row',)]
    """


class NearDuplicateWarning(SelectionWarning):
    """Selected columns have near-duplicates, so that which one is selected is nearly random.

    Examples
    --------
    Two thermometers: the preferred one can be kept alone, or be in `fixed_features`.

    >>> import warnings
    >>> import numpy as np
    >>> import pandas as pd
    >>> from pidselect import NearDuplicateWarning, PIDSelector
    >>> rng = np.random.default_rng(0)
    >>> warmth, error, noise = rng.normal(size=(3, 200))
    >>> X = pd.DataFrame({"indoor": warmth, "cellar": warmth + 0.02 * error})
    >>> selector = PIDSelector(estimator="copula", n_permutations=50, random_state=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", NearDuplicateWarning)
    ...     _ = selector.fit(X, warmth + noise)
    >>> print(caught[0].message)
    indoor (with cellar): selected columns with near-duplicates (rank correlation beyond 0.99).
    Which one is selected is nearly random.
    >>> selector.fit(X[["indoor"]], warmth + noise).selection_.features
    ('indoor',)
    """
