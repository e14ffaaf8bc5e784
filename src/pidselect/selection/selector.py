"""`PIDSelector`, the scikit-learn transformer."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from os import PathLike
from time import perf_counter
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from pidselect.data import (
    FeatureTypes,
    Missing,
    Table,
    check_complete,
    collect,
    convert,
    frame_library,
    n_rows,
    read_dataset,
    select_columns,
    to_matrix,
    warn_caller,
)
from pidselect.data.messages import counted, listed
from pidselect.decomposition.explanation import Explanation
from pidselect.estimators import Estimator
from pidselect.estimators.regression import one_blas_thread
from pidselect.exceptions import EmptySelectionWarning
from pidselect.selection.explain import data_digest, explain_fit, roles_of_fit
from pidselect.selection.fit import (
    choose_estimator,
    empty_record,
    make_context,
    make_plan,
    run_phases,
    saved_settings,
)
from pidselect.selection.notices import fit_warnings
from pidselect.selection.pool import ColumnChoice, FeatureGroups, build_pool
from pidselect.selection.progress import progress_bar
from pidselect.selection.resume import find_seed, identify, recording
from pidselect.selection.scoring import Criterion
from pidselect.selection.validation import (
    check_columns,
    check_parameters,
    check_size,
    record_columns,
)
from pidselect.significance.staged import ScoreTest
from pidselect.significance.surrogates import check_groups
from pidselect.significance.validation import RandomState

logger = logging.getLogger(__name__)


class PIDSelector(SelectorMixin, BaseEstimator):
    """Select features by conditional mutual information (CMI) with permutation tests.

    Forward selection tests the candidates given the features selected so far, and includes the
    significant one with the largest CMI with the target, until none is significant by the maximum
    over all candidates. Backward elimination then removes features that are redundant with the
    others. The result is a minimal set that is sufficient for the target; `explain` decomposes the
    information of each feature into unique, redundant and synergistic parts.

    Parameters
    ----------
    criterion : str or object, default="cmi"
        The score of a candidate: "cmi", its mutual information with the target given the selected
        features, which accounts for redundancy and synergy; "mi", its marginal mutual information;
        one of "mim", "mifs", "mrmr", "cife", "jmi", "cmim", "disr", "icap" of Brown et al. (2012);
        "pid"; or an object such as ``LinearCriterion(beta=0.5, gamma=0.2)``.
    estimator : str or object, default="auto"
        "auto" is the score test, `ScoreTest`: functions of what the selected features leave of each
        candidate are compared with what they leave of the target. Its information in bits is that
        of predicted rows. An estimator of mutual information decides instead by its values: "ksg",
        "mixed", "discrete", "gaussian" or "copula", or an object such as ``KSG(k=10)``, whose
        parameters are reached as ``estimator__k``. With criteria other than "cmi" and "mi", and
        without a test, "auto" is "discrete", "ksg-rank" or "mixed-rank" by feature types.
    alpha : float, default=0.05
        The significance level of each step: the probability of including a feature if no candidate
        is informative. The stages of a step share it.
    n_permutations : int or "auto", default="auto"
        The number of permutations of each test. "auto" is as many as its level needs, 10 over the
        level for the score test; of an estimator, a sequential test, whose p-value only shows
        whether it is below alpha. Tests end once they are decided. 0 omits all tests, so that
        `max_features` ends the selection.
    surrogates : str or tuple of str, default="auto"
        How samples are permuted, which the score test does with what S, the selected features,
        leaves of the target: "global" all of them, or those within each group passed to `fit` or
        within the levels of a discrete S; "shift" shifts a time series circularly; "blocks"
        exchanges whole groups. For estimators also "local", among samples that are similar in S,
        and "residual", the same with what regressions on S leave of candidate and target. "auto" is
        "global", for estimators ("global", "residual"). Of several schemes, the largest p-value
        counts; if nothing is significant under one, those after it are left out.
    shared_permutations : bool, default=True
        Whether an estimator permutes all candidates alike, which preserves their dependence and so
        the power of the test among correlated candidates. The score test always does.
    backward : {"maximum", "minimum", None}, default="maximum"
        The null statistic of backward elimination by an estimator, over all selected features; None
        omits it. With "maximum", a selected feature may then be swapped for a candidate that makes
        it redundant.
    lookahead : {"auto", 1, 2, 3}, default="auto"
        The largest size of tuples whose interaction is tested where no single candidate is
        significant: 2 for all pairs, 3 for triples, too, 1 for none. "auto" searches both unless
        their number times that of samples and permutations is too large; the record says what was
        searched. Where tuples are searched, they have 20 % of `alpha` and single candidates 80 %.
    n_random_starts : int, default=0
        The number of random subsets given which candidates are tested where look-ahead finds
        nothing.
    select : {"minimal", "relevant"}, default="minimal"
        Which features are selected: the minimal set, or in addition all that are significant at
        level `alpha` by step-down tests of their marginal information, whether or not they are
        redundant, with their duplicates. Features that are relevant only jointly with others may be
        missed.
    max_features : int, optional
        The largest number of selected columns, fixed ones included.
    max_conditioning : int, optional
        The largest size of a conditioning set in forward selection: a candidate must be significant
        given every such subset of the selected features. For small samples.
    fixed_features : name, position or several of them, optional
        Columns that are selected from the start, conditioned on and never tested or removed. The
        criterion "mi" does not condition on them in forward selection.
    feature_groups : mapping of names to groups of columns, or list of groups, optional
        Columns that are included and removed as one feature, such as ``[["width", "height"]]``.
    feature_types : mapping of names to types, or sequence of types, optional
        "continuous", "ordinal" or "nominal", in place of the inferred type. The key "target" stands
        for y, unless a column of X has that name.
    missing : {"error", "drop", "category"}, default="error"
        Raise on missing values, drop their rows, or treat them as a category. With the last two,
        `transform` accepts missing values, too.
    max_samples : int, "auto" or None, default="auto"
        The number of samples, chosen at random, that are used; None for all. "auto" is at most
        1,000,000 for the score test, a random 5,000 of more than 20,000 for nearest-neighbour
        estimators, and all for others, or with "shift" or "blocks". Feature types, duplicates,
        constants and identifiers are determined from all samples.
    checkpoint : str or path, optional
        A file that stores the results of tests, and of a long test those so far. A fit that was
        interrupted resumes from it, with the same result, if data and parameters are the same.
        Without `random_state` the seed is that of the file. Each fit needs its own file.
    device : {"cpu", "cuda"}, default="cpu"
        The device of nearest-neighbour searches. "cuda" needs ``pidselect[cuda]`` and gives the
        same result.
    n_jobs : int, optional
        The number of threads, -1 for all cores; None for one, unless in a
        ``joblib.parallel_config`` context, whose backend may be a cluster ("dask", "ray"). The
        result does not depend on it.
    random_state : int, Generator, RandomState or None
        The seed, from 0 to 2**64 - 1, for reproducible results.
    verbose : int, default=0
        1 shows progress on standard error; needs ``pidselect[progress]``.

    Attributes
    ----------
    support_ : array of bool, one for each column of X
        Whether each column is selected.
    n_features_ : int
        Number of selected columns.
    ranking_ : array of int, one for each column of X
        1 for selected columns, then 2, 3, ... by p-value and score.
    scores_ : array of float, one for each column of X
        Conditional mutual information of each column and the target in bits, from 0 to the entropy
        of a discrete target: of a column of the minimal set ``selection_.features`` given the
        others of it, of any other given all of it. NaN where it was not estimated, as beside the
        score test for more than 200 others, and for columns that were no candidates, see
        ``selection_.skipped``.
    pvalues_ : array of float, one for each column of X
        The p-value of that quantity, not adjusted for the selection: of columns that are not
        selected by the maximum statistic over all of them; NaN if it was not tested.
    selected_ : array of int
        Positions of the selected columns in the order of inclusion, fixed ones first; with
        ``select="relevant"`` those outside the minimal set last, by p-value and score.
    selection_ : Selection
        The record: statistic and p-value of every candidate at every step, the final p-value of
        every feature of the minimal set, and the marginal tests of ``select="relevant"``.
    roles_ : dict of str to str
        The role of each feature by the tests of the fit: "strongly relevant" if it is significant
        given all others of the minimal set, "weakly relevant" if only in another test, such as
        the marginal one, "irrelevant" if in none, "untested" without any test; "fixed",
        "duplicate" or "skipped". `explain` of the same rows has the same roles.
    feature_types_ : dict of str to str
        The type of each column, by name.
    estimator_ : object
        The test or the estimator that was used.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : array of str
        Names of the columns seen during `fit`; only if they have names.

    See Also
    --------
    stability : How often each feature is selected on subsamples of the rows.
    write_report : The result as one HTML page.
    decompose : Partial information decomposition of any sources and target.

    Notes
    -----
    The algorithm is that of [1]_ with another test of the same null hypothesis, I(x; y | S) = 0,
    and with look-ahead. `PIDSelector.paper` has the estimators and settings of the paper.

    References
    ----------
    .. [1] P. Wollstadt, S. Schmitt, M. Wibral, A rigorous information-theoretic definition of
       redundancy and relevancy in feature selection based on (partial) information decomposition.
       Journal of Machine Learning Research 24 (2023).

    Examples
    --------
    X2 is a noisy copy of X1; eta has no marginal information about y, but is the noise of X1.

    >>> from pidselect import PIDSelector, datasets
    >>> toy = datasets.toy(random_state=1)
    >>> selector = PIDSelector(random_state=0).fit(toy.X, toy.y)
    >>> [toy.names[column] for column in selector.selected_]
    ['X1', 'eta']
    >>> print(selector.selection_.steps[1])
    forward   x2: ... bit (statistic ..., curve, critical value ..., p = 0.0050), included
    >>> selector.explain(toy.X, toy.y)["x2"].role
    'strongly relevant'
    """

    def __init__(
        self,
        criterion: str | Criterion = "cmi",
        estimator: str | Estimator | ScoreTest = "auto",
        *,
        alpha: float = 0.05,
        n_permutations: int | Literal["auto"] = "auto",
        surrogates: str | tuple[str, ...] = "auto",
        shared_permutations: bool = True,
        backward: Literal["minimum", "maximum"] | None = "maximum",
        lookahead: int | Literal["auto"] = "auto",
        n_random_starts: int = 0,
        select: Literal["minimal", "relevant"] = "minimal",
        max_features: int | None = None,
        max_conditioning: int | None = None,
        fixed_features: ColumnChoice | None = None,
        feature_groups: FeatureGroups | None = None,
        feature_types: FeatureTypes | None = None,
        missing: Missing = "error",
        max_samples: int | Literal["auto"] | None = "auto",
        checkpoint: str | PathLike[str] | None = None,
        device: Literal["cpu", "cuda"] = "cpu",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.estimator = estimator
        self.alpha = alpha
        self.n_permutations = n_permutations
        self.surrogates = surrogates
        self.shared_permutations = shared_permutations
        self.backward = backward
        self.lookahead = lookahead
        self.n_random_starts = n_random_starts
        self.select = select
        self.max_features = max_features
        self.max_conditioning = max_conditioning
        self.fixed_features = fixed_features
        self.feature_groups = feature_groups
        self.feature_types = feature_types
        self.missing = missing
        self.max_samples = max_samples
        self.checkpoint = checkpoint
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(cls, **overrides: Any) -> Self:
        """Return a selector with the settings of the paper; `overrides` are other parameters.

        ``estimator="paper"`` is the plug-in estimator if the target and all columns have few
        levels, and KSG if all are numbers; a mixture of both is refused. All samples are used and
        permuted, anew for each candidate; the maximum of the surrogates decides an inclusion, their
        minimum an elimination. There is no look-ahead.

        Examples
        --------
        >>> from pidselect import PIDSelector, datasets
        >>> toy = datasets.toy(random_state=1)
        >>> selector = PIDSelector.paper(random_state=0).fit(toy.X, toy.y)
        >>> selector.estimator_, [toy.names[column] for column in selector.selected_]
        (KSG(), ['X1', 'eta'])
        """
        settings: dict[str, Any] = {
            "estimator": "paper",
            "n_permutations": 200,  # as one caption says
            "surrogates": "global",
            "shared_permutations": False,
            "backward": "minimum",
            "lookahead": 1,
            "max_samples": None,
        }
        return cls(**(settings | overrides))

    def fit(self, X: Any, y: Any, groups: Any = None, **refused: Any) -> Self:
        """Select features of X that are informative about y.

        Parameters
        ----------
        X : dataframe, array or Table, shape (n_samples, n_features)
            Data larger than memory can be passed as an opened `Table`, or as an array or Arrow
            table mapped from a file.
        y : array-like or Table, shape (n_samples,) or (n_samples, n_targets)
            The target; several columns are one joint target.
        groups : array-like, shape (n_samples,), optional
            The group of each row, such as a person. Surrogates permute rows within groups or, with
            ``surrogates="blocks"``, whole groups. A pipeline passes them on with scikit-learn's
            metadata routing, after ``set_fit_request(groups=True)``.

        Examples
        --------
        The target is the exclusive-or of two columns. With `groups`, rows are permuted within each
        patient, so that differences between patients cannot make a column significant.

        >>> import numpy as np
        >>> from pidselect import PIDSelector
        >>> rng = np.random.default_rng(0)
        >>> X = rng.integers(0, 2, size=(200, 6))
        >>> y = X[:, 1] ^ X[:, 4]
        >>> selector = PIDSelector(random_state=0).fit(X, y)
        >>> selector.get_support()
        array([False,  True, False, False,  True, False])
        >>> patients = np.arange(200) % 20
        >>> selector.fit(X, y, groups=patients).selection_.settings.n_groups
        20
        """
        _refuse(refused)
        start = perf_counter()
        parameters = check_parameters(self)
        seed = find_seed(parameters.checkpoint, self.random_state)
        X = collect(X)
        dataset = read_dataset(X, y, feature_types=self.feature_types, missing=parameters.missing)
        record_columns(copy(self), X)  # raises if some names are strings and others are not
        estimator = choose_estimator(self, parameters, dataset)
        codes, names = check_groups(groups, n_rows(X)), dataset.table.names
        used, _, context = make_context(parameters, dataset, estimator, codes, seed)
        by_rank = estimator.has("uses_ranks_only")
        pool = build_pool(
            dataset.table, self.fixed_features, self.feature_groups, used.rows, by_rank
        )
        check_size(parameters, len(pool.candidates), context.target.n_samples)
        plan = make_plan(parameters, pool)
        blank = empty_record(self, parameters, context, used, pool, names)
        blank = replace(blank, frame_library=frame_library(X))
        with ExitStack() as stack:
            stack.enter_context(one_blas_thread())
            observer = stack.enter_context(progress_bar(parameters.verbose))
            observer.begin(blank)
            known = None
            if (file := parameters.checkpoint) is not None:
                asked = saved_settings(self, blank.settings, parameters, pool, context, names)
                identity = identify(asked, dataset, context.groups)
                known = stack.enter_context(recording(file, identity))
            executor = replace(context.executor, observer=observer, checkpoint=known)
            used.announce()
            record, features, columns, selected = run_phases(
                replace(context, executor=executor), pool, plan, parameters, blank, names
            )
        found = fit_warnings(dataset, pool, features, record.steps)
        # Set only now, so that a fit that fails leaves the attributes of an earlier one.
        record_columns(self, X)
        self.estimator_ = estimator.estimator
        self._digest = data_digest(dataset)
        self._target = dataset.target.names if dataset.has_target_names else None
        self.feature_types_ = dict(zip(names, dataset.table.feature_types, strict=True))
        self.selected_ = np.array(selected, dtype=int)
        self.scores_, self.pvalues_, self.ranking_ = columns
        self.n_features_, self.support_ = len(selected), self.ranking_ == 1
        self.selection_ = replace(record, warnings=tuple(map(str, found)))
        self.roles_ = roles_of_fit(self.selection_, pool)
        chosen, seconds = [names[column] for column in selected], perf_counter() - start
        logger.info(
            f"Selected {len(chosen)} of {counted(len(names), 'column')} by "
            f"{counted(used.n_samples, 'row')} in {seconds:.1f} s: "
            f"{listed(chosen) or 'none'}"
        )
        for warning in found:
            warn_caller(warning)
        if not selected:
            reason = f"{record.empty_verdict()} {record.empty_reason()}"
            warn_caller(EmptySelectionWarning(reason))
        return self

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X, in their order in X.

        A dataframe comes back as one of the same library with dtypes unchanged, an array or a
        `Table` as an array. ``set_output(transform="pandas")`` or ``"polars"`` converts to that
        library; ``set_output(transform="default")`` gives an array, of objects unless the columns
        are all numbers, or all times of one unit. With ``missing="error"``, missing or infinite
        values in X raise. Only the selected columns of a `Table` are read.

        Examples
        --------
        >>> import pandas as pd
        >>> from pidselect import PIDSelector, datasets
        >>> toy = datasets.toy(200, random_state=1)
        >>> X = pd.DataFrame(toy.X, columns=toy.names)
        >>> selector = PIDSelector(random_state=0).fit(X[:150], toy.y[:150])
        >>> selector.transform(X[150:]).columns.tolist()  # of rows that the fit has not seen
        ['X1', 'eta']
        >>> selector.transform(X[["X1", "X2"]])
        Traceback (most recent call last):
        ...
        ValueError: The feature names should match those that were passed during fit...
        """
        columns = self.get_support(indices=True)
        X = collect(X)
        library = frame_library(X)
        if isinstance(X, Table):
            check_columns(self, X)
        else:
            X = validate_data(
                self,
                X if library else to_matrix(X),
                dtype=None,
                ensure_all_finite=False,
                skip_check_array=library is not None,
                reset=False,
            )
        if self.missing == "error":
            check_complete(X)
        output = getattr(self, "_sklearn_output_config", {}).get("transform")
        if output is None and (general := get_config()["transform_output"]) != "default":
            output = general
        if library and output not in (None, library):
            if not len(columns):  # a frame without columns may lose its rows
                return np.empty((n_rows(X), 0))
            return convert(select_columns(X, columns), output)
        return select_columns(X, columns)

    def explain(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        *,
        measure: str = "auto",
        bins: int = 5,
        path: bool = False,
    ) -> Explanation:
        """Decompose the information of each feature, and classify its relevance.

        A selected feature is decomposed against the other selected ones, any other candidate
        against all of them. Roles are results of tests (John, Kohavi and Pfleger 1994): "strongly
        relevant" if the feature is selected and significant given all others, "adds to the selected
        set" if it is not selected, but significant given all selected features (as after
        `max_features`), "weakly relevant" if it is significant given some of them, else
        "irrelevant". On the rows of the fit they are those of its tests, and values are optimistic;
        other rows are tested anew.

        Parameters
        ----------
        X : dataframe or array, shape (n_samples, n_features)
            The columns of `fit`; they have the same feature types.
        y : array-like, shape (n_samples,) or (n_samples, n_targets)
        groups : array-like, shape (n_samples,), optional
            As in `fit`. If `fit` had groups and there are none here, roles are those of the record.
        measure : {"auto", "broja", "imin", "mmi", "ccs", "sx"}, default="auto"
            How much of a feature's information is shared. "auto" is BROJA, with the (other)
            selected features compressed to states of the posterior of y; the others are the named
            measures on the joint states of all features, which need many samples.
        bins : int, default=5
            The number of bins of a numeric column, for the shared fraction.
        path : bool, default=False
            Decompose the candidates of every step of the fit, too: `Explanation.path`.

        Returns
        -------
        Explanation
            In bits.

        Examples
        --------
        Rain and a sprinkler each make the grass wet; the wind does not matter.

        >>> import numpy as np
        >>> import pandas as pd
        >>> from pidselect import PIDSelector
        >>> X = pd.DataFrame(
        ...     np.random.default_rng(0).integers(0, 2, size=(300, 3)),
        ...     columns=["rain", "sprinkler", "wind"],
        ... )
        >>> wet = X["rain"] | X["sprinkler"]
        >>> selector = PIDSelector(random_state=0).fit(X[:200], wet[:200])
        >>> explanation = selector.explain(X[200:], wet[200:])  # held-out rows
        >>> {feature.name: feature.role for feature in explanation}
        {'sprinkler': 'strongly relevant', 'rain': 'strongly relevant', 'wind': 'irrelevant'}
        >>> print(explanation["rain"])
        rain adds 0.435 bits beyond the other selected features (0.000 unique, 0.435 synergistic;
        p = 0.005); its marginal information is 0.286 bits, of which 0.286 overlap with what
        sprinkler predicts; in the fit it added 0.450 bits.
        """
        check_is_fitted(self)
        with one_blas_thread():
            return explain_fit(self, X, y, groups, measure, bins, path)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


def _refuse(parameters: Mapping[str, Any]) -> None:
    """Raise a clear error for parameters of `fit` that other estimators have."""
    if parameters.get("sample_weight") is not None:
        raise TypeError(
            "PIDSelector.fit does not support sample_weight: permutation tests need samples that "
            "are exchangeable. Leave it out, or draw rows with these weights, each at most once, "
            "before the fit."
        )
    for name in parameters:
        if name != "sample_weight":
            raise TypeError(f"PIDSelector.fit() got an unexpected keyword argument {name!r}")
