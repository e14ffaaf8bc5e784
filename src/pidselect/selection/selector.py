"""PIDSelector: the selection as a scikit-learn transformer."""

from __future__ import annotations

from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from pidselect.data import (
    ColumnStore,
    FeatureTypes,
    Missing,
    Table,
    check_complete,
    frame_library,
    read_dataset,
    select_columns,
    to_matrix,
    warn_caller,
)
from pidselect.decomposition.explanation import Explanation
from pidselect.estimators import Estimator
from pidselect.selection.callbacks import watching
from pidselect.selection.checkpoint import Checkpoint
from pidselect.selection.columns import check_columns, note_columns
from pidselect.selection.criteria import Criterion
from pidselect.selection.explain import explain_fit, fingerprint, restrict
from pidselect.selection.fit import (
    blank_record,
    choose_members,
    make_context,
    make_plan,
    run,
    sample_rows,
)
from pidselect.selection.pool import ColumnChoice, FeatureGroups, build_pool
from pidselect.selection.progress import announce_long_fit, progress_bar
from pidselect.selection.short_form import selection_form
from pidselect.selection.validation import (
    STORE_SHARE,
    RandomState,
    check_parameters,
    to_bytes,
    to_seed,
)
from pidselect.significance import check_groups


class PIDSelector(SelectorMixin, BaseEstimator):
    """Select the features that carry information about a target, and stop by a test.

    Features are included one by one, each time the one that adds most information about the target
    to what the selected ones already tell, for as long as it adds more than chance would among as
    many candidates. Features that turn out to add nothing to the others are removed again.

    Parameters
    ----------
    criterion : {"cmi", "mi", "mim", "mifs", "mrmr", "cife", "jmi", "cmim", "disr", "icap", "pid"}
        What candidates are ranked and tested by: their information about the target given the
        selected features ("cmi"), which counts synergy and leaves out redundancy; by themselves
        ("mi"); or by a criterion of Brown et al. (2012), or an object such as
        ``LinearCriterion(beta=0.5, gamma=0.2)``.
    estimator : str, object or tuple of these
        How information is estimated. A tuple is a portfolio: each estimator's values are compared
        with their own surrogates, and the one most unlike chance counts. "auto" is the portfolio
        that suits the kinds of all columns: ("ksg-rank", "copula") if all are continuous,
        ("discrete",) if all are labels with few levels, with "copula" if some are ordered, else
        ("mixed-rank", "copula"). By name, or an object such as ``KSG(k=10)``, whose parameters a
        grid search reaches as ``estimator__k``.
    alpha : float
        The rate at which chance may pass for a feature at a step.
    n_permutations : int or "auto"
        The number of surrogates of each candidate. "auto" draws until the test is decided, which
        is valid at any time, and takes much fewer; 0 leaves out all tests, so that `max_features`
        alone ends the selection.
    surrogates : {"global", "local", "shift", "blocks"} or tuple of these
        How surrogates are made. "global" permutes all samples, or those within each of the groups
        passed to `fit`; "local" only those alike in what is selected already; "shift" moves rows in
        the order of time round; "blocks" exchanges whole groups. Of several, all must reject, and
        the largest p-value counts: ("global", "local") guards against both copies and functions of
        selected features, as far as neighbouring rows are alike.
    shared_permutations : bool
        Whether all candidates are rearranged alike in a draw, which keeps their dependence, so that
        no power is lost where they are correlated.
    backward : {"minimum", "maximum", None}
        Whether, and against which statistic, selected features are tested once more.
    lookahead : int
        Where no single candidate is significant, look for pairs (2), triples (3) and so on that
        are. The levels share alpha.
    n_starts : int
        Where that finds nothing, test candidates given this many random subsets of the others.
    max_features : int, optional
        The most columns to be selected, kept ones included.
    max_conditioning : int, optional
        Going forward, condition on at most this many selected features at a time, for small
        samples: a candidate must add something to every such subset of them. All other tests
        condition on all of them.
    fixed_features : name, position or several of them, optional
        Columns that are selected from the start, conditioned on, never tested, never removed. The
        criterion "mi" conditions on nothing as it goes forward, so not on these either; the tests
        going backward do.
    feature_groups : mapping of names to groups of columns, or list of groups, optional
        Columns that enter and leave together, such as ``[["width", "height"]]``.
    kinds : mapping of names to kinds, or sequence of kinds, optional
        "continuous", "ordinal" or "nominal", where what is inferred is wrong; the key "target"
        stands for y, unless a column of X is called so.
    missing : {"error", "drop", "category"}
        Refuse missing values, leave out their rows, or treat them as a level of their own. The
        last two let them pass in `transform`, too.
    max_samples : int, optional
        Score a random subset of this many samples. Kinds, copies, constants and identifiers are
        told from all of them.
    max_memory : int or str
        The memory that a fit takes besides X and besides the 300 MB of Python with its libraries:
        a quarter for copies of the columns, their ranks and codes (what exceeds it lies in
        temporary files, mapped into memory), the rest for sorted neighbours. With less, it takes
        longer. Every worker needs some columns and the rows of a few surrogates on top, up to 130
        MB, and from ten million samples on four bytes for each.
    checkpoint : str or path, optional
        A file in which what is known is kept, after every step and every minute within one. A fit
        that was killed goes on from it, and ends with the same result to the bit, if data and
        settings are the same; else the file is refused. Without `random_state` the seed is that of
        the file. It is for one fit: give each its own.
    device : {"cpu", "cuda"}
        Where nearest neighbours are looked for. "cuda" is a GPU (with ``pidselect[cuda]``
        installed), many times faster from some ten thousand samples on, and gives the same result;
        what has no kernel there runs on the CPU.
    n_jobs : int, optional
        The number of threads, -1 for all cores, None for one or what a joblib context says. Within
        ``joblib.parallel_config(backend="dask")`` or ``"ray"``, a cluster does the work. The result
        does not depend on it.
    random_state : int, Generator, RandomState or None
        The same number (from 0 to 2**64 - 1), the same result, to the bit.
    verbose : int
        1 shows progress on standard error (with rich installed): on a terminal a bar for every
        step with the time left in it, elsewhere a line every 15 seconds. To be told of progress
        in code, see `pidselect.selection.callbacks.use_callback`.

    Attributes
    ----------
    selected_ : array of int
        The positions of the selected columns, in the order of inclusion, kept ones first.
    selection_ : Selection
        The record: every candidate's value in bits, the null line and the p-value at every step,
        and the final p-value of every selected feature.
    kinds_ : dict of str to str
        The kind that each column was taken for, by its name, in the order of the columns.
    estimator_ : object or tuple of objects
        The estimator that was used, a copy of the one given; of a portfolio, all of them.
    n_features_in_ : int
        As everywhere in scikit-learn.
    feature_names_in_ : array of str
        As everywhere in scikit-learn; only if the columns have names.

    References
    ----------
    P. Wollstadt, S. Schmitt, M. Wibral, A rigorous information-theoretic definition of redundancy
    and relevancy in feature selection based on (partial) information decomposition. Journal of
    Machine Learning Research 24 (2023).

    Examples
    --------
    X2 is a noisy copy of X1; eta says nothing about y by itself, but cleans X1 of its noise.

    >>> from pidselect import PIDSelector, datasets
    >>> toy = datasets.toy(random_state=1)
    >>> selector = PIDSelector(random_state=0).fit(toy.X, toy.y)
    >>> [toy.names[column] for column in selector.selected_]
    ['X1', 'eta']
    >>> print(selector.selection_.steps[1])
    forward   x2: ... bit (... sd by ksg-rank, null line ..., p = 0.0050), included
    >>> print(selector.explain(toy.X, toy.y)["x2"])
    x2 is strongly relevant: it tells 0.08 bit about the target that x0 does not (only together
    with it), and shares ... with it.
    """

    def __init__(
        self,
        criterion: str | Criterion = "cmi",
        estimator: str | Estimator | tuple[str | Estimator, ...] = "auto",
        *,
        alpha: float = 0.05,
        n_permutations: int | Literal["auto"] = 200,
        surrogates: str | tuple[str, ...] = ("global", "local"),
        shared_permutations: bool = True,
        backward: Literal["minimum", "maximum"] | None = "minimum",
        lookahead: int = 1,
        n_random_starts: int = 0,
        max_features: int | None = None,
        max_conditioning: int | None = None,
        fixed_features: ColumnChoice | None = None,
        feature_groups: FeatureGroups | None = None,
        feature_types: FeatureTypes | None = None,
        missing: Missing = "error",
        max_samples: int | None = None,
        max_memory: int | str = "1GiB",
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
        self.max_features = max_features
        self.max_conditioning = max_conditioning
        self.fixed_features = fixed_features
        self.feature_groups = feature_groups
        self.feature_types = feature_types
        self.missing = missing
        self.max_samples = max_samples
        self.max_memory = max_memory
        self.checkpoint = checkpoint
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Select features of X by what they tell about y.

        Parameters
        ----------
        X : dataframe, array or Table, shape (n_samples, n_features)
            What is larger than memory comes as a `Table` that was opened, or as an array or Arrow
            table that is mapped from a file.
        y : array-like or Table, shape (n_samples,) or (n_samples, n_targets)
            The target; several columns are one joint target.
        groups : array-like, shape (n_samples,), optional
            Which rows belong together, such as those of one person. Surrogates then rearrange rows
            only within a group, or with ``surrogates="blocks"`` whole groups.
        """
        check_parameters(self)
        saved = Checkpoint.at(self.checkpoint)
        seed = to_seed(self.random_state) if saved is None else saved.seed(self.random_state)
        store = ColumnStore(round(STORE_SHARE * to_bytes(self.max_memory)))
        problem = read_dataset(
            X, y, feature_types=self.feature_types, missing=self.missing, store=store
        )
        note_columns(copy(self), X)  # refuses names that are partly text
        rows = sample_rows(self.max_samples, problem.target, seed)
        members = choose_members(self.estimator, self.criterion, problem)
        by_rank = all(member.uses_ranks_only for member in members)
        line = build_pool(problem.table, self.fixed_features, self.feature_groups, rows, by_rank)
        plan = make_plan(self, line)
        codes = check_groups(groups, _num_samples(X))
        context = make_context(self, restrict(problem, rows), members, codes, seed)
        journal = None if saved is None else saved.journal(self, problem, line, context)
        blank = blank_record(self, problem, line, context, frame_library(X))
        with ExitStack() as stack:
            bar = stack.enter_context(progress_bar(self.verbose))
            watched = stack.enter_context(watching(context, bar, blank))
            if journal is not None:
                watched = stack.enter_context(journal.kept(watched))
            if journal is None or not journal.is_finished:
                announce_long_fit(context, line, plan.criterion)
            features, steps, final = run(watched, line, plan)
        # Noted only now, so that a fit that fails leaves an earlier one whole.
        note_columns(self, X)
        estimators = tuple(member.estimator for member in members)
        self.estimator_ = estimators if context.is_portfolio else estimators[0]
        self._rows, self._target = fingerprint(problem), problem.target.names
        self.feature_types_ = dict(
            zip(problem.table.names, problem.table.feature_types, strict=True)
        )
        self.selected_ = np.array(
            [column for feature in (*line.kept, *features) for column in feature.columns], dtype=int
        )
        self.selection_ = replace(
            blank,
            features=tuple(feature.name for feature in features),
            steps=tuple(steps),
            p_values=final,
        )
        if not len(self.selected_):
            warn_caller(f"No feature was selected. {self.selection_.empty_reason()}")
        return self

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X, in their order in X.

        They come as an array or, where ``set_output`` asks for it, as a dataframe; a dataframe of
        the same library keeps its dtypes. With ``missing="error"`` a missing or infinite value
        anywhere in X is refused; otherwise it is passed on. Of a `Table` only the selected columns
        are read into memory.
        """
        columns = self.get_support(indices=True)
        if isinstance(X, Table):
            check_columns(self, X)
            if self.missing == "error":
                check_complete(X)
            return select_columns(X, columns)
        library = frame_library(X)
        table = validate_data(
            self,
            X if library else to_matrix(X),
            dtype=None,
            ensure_all_finite=False,
            skip_check_array=library is not None,
            reset=False,
        )
        if self.missing == "error":
            check_complete(table)
        selected = select_columns(table, columns)
        if library and library == _get_output_config("transform", self)["dense"]:
            return selected
        # A frame without columns may have lost its rows.
        return np.asarray(selected).reshape(len(table), len(columns))

    def explain(
        self, X: Any, y: Any, groups: Any = None, *, measure: str = "auto", bins: int = 5
    ) -> Explanation:
        """Say how each feature tells about the target: uniquely, redundantly, or with others.

        Every selected feature is taken apart beside the rest of the selected ones, every other
        candidate beside all of them. Its role is the verdict of tests (John, Kohavi and Pfleger
        1994): "strongly relevant" if it is selected and adds something to all others; "weakly
        relevant" if it adds something to some subset of the selected ones, so that it is redundant
        with the rest; "irrelevant" if no such subset was found. The error of calling any of the
        other candidates relevant that is not is at most `alpha`, over all of them and all subsets.
        On the rows of the fit, values are optimistic; held-out rows are better, and selected
        features are then tested on those.

        Parameters
        ----------
        X : dataframe or array, shape (n_samples, n_features)
            Of the same columns as in `fit`; they are taken for the same kinds.
        y : array-like, shape (n_samples,) or (n_samples, n_targets)
        groups : array-like, shape (n_samples,), optional
            As in `fit`. If those of the fit are not given again, roles are taken from its record.
        measure : str
            "auto": BROJA on bins of equal count where there are five samples for each joint state
            that occurs, values corrected for chance. Else, by the selector's estimator without
            bins, the smaller of two amounts counts as shared (MMI); the discrete estimator needs
            states itself, and values are then None, "not estimable". Or a measure by name, as in
            `decompose`, used come what may: "broja", "imin", "mmi", "ccs", "sx".
        bins : int
            The number of bins of a continuous column.

        Returns
        -------
        Explanation
            In bits. It prints as a table, a sentence for each feature, and notes.
        """
        check_is_fitted(self)
        return explain_fit(self, X, y, groups, measure, bins)

    def _repr_html_inner(self) -> str:
        """Return what a notebook shows, unless scikit-learn is set to show text."""
        if hasattr(self, "selection_"):
            return selection_form(self.selection_, repr(self))
        return str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what a notebook shows, as scikit-learn has it, with the short form of a fit."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return {**shown, "text/html": self._repr_html_inner()} if "text/html" in shown else shown

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self) -> Tags:
        """Say what the selector can take."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags
