"""Results of a selection: `Step`, one permutation test, and `Selection`, the record of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any, Literal

from pidselect.data import FeatureType
from pidselect.data.messages import counted, listed, number, shown, to_plain
from pidselect.decomposition.atoms import Atoms
from pidselect.decomposition.explanation import ATOMS, DIGITS
from pidselect.significance.permutation_test import is_significant
from pidselect.tabular import TabularResult, TextTable, to_frame

Phase = Literal[
    "forward", "backward", "swap", "lookahead", "random_starts", "joint_backward", "marginal"
]
Outcome = Literal["included", "not included", "retained", "removed"]

#: Phases in which features are included; in the other phases they are removed.
INCLUSION_PHASES = ("forward", "swap", "lookahead", "random_starts", "marginal")

#: What a close call is, and what an empty selection may mean.
WITHIN_ERROR = "p lies within the error of the permutations"
NOTHING_TO_FIND = "there may be nothing to find"

#: The columns of `Selection.to_frame`, and their types.
FRAME_COLUMNS = {
    "step": int,
    "phase": str,
    "candidate": str,
    "bits": float,
    "estimator": str,
    "score": float,
    "unit": str,
    "p_value": float,
    "critical_value": float,
    "surrogates": str,
    "n_permutations": int,
    "chosen": bool,
    "accepted": bool,
    **dict.fromkeys(ATOMS, float),
}


#: Those that all candidates of a step have in common.
STEP_COLUMNS = ("phase", "unit", "critical_value", "surrogates", "n_permutations")

#: The part of alpha of single candidates, if there are other tests at a step; those share the rest.
SINGLE_SHARE = 0.8


@dataclass(frozen=True)
class Settings:
    """What is needed to repeat a selection: its parameters, the seed, and what they applied to.

    Parameters are those of `PIDSelector`, as they were used.

    Parameters
    ----------
    estimator : str
        The test or the estimator as text.
    n_groups : int, optional
        The number of groups of rows.
    seed : int
        The seed that was used, also if ``random_state`` was None or a generator.
    n_samples : int
        The number of samples that were used.
    n_neighbour_samples : int, optional
        The number of these that nearest-neighbour estimators used, chosen at random; None for all.
    target_types : tuple of str
        The feature type of each column of the target.

    Examples
    --------
    A selection without `random_state` is repeated by the seed of its record.

    >>> from pidselect import PIDSelector, datasets
    >>> X, y = datasets.sample(datasets.gate("AND"), 200, random_state=0)
    >>> record = PIDSelector().fit(X, y).selection_
    >>> record.settings.surrogates, record.settings.target_types, record.settings.alpha
    (('global',), ('nominal',), 0.05)
    >>> again = PIDSelector(random_state=record.settings.seed).fit(X, y)
    >>> again.selection_ == record
    True
    """

    criterion: str = "cmi"
    estimator: str = ""
    alpha: float = 0.05
    n_permutations: int | Literal["auto"] = "auto"
    surrogates: tuple[str, ...] = ()
    shared_permutations: bool = True
    n_groups: int | None = None
    backward: str | None = None
    lookahead: int | Literal["auto"] = "auto"
    n_random_starts: int = 0
    select: str = "minimal"
    max_conditioning: int | None = None
    seed: int = 0
    n_samples: int = 0
    n_neighbour_samples: int | None = None
    target_types: tuple[FeatureType, ...] = ()


@dataclass(frozen=True)
class Step:
    """One permutation test: of the strongest candidate, or of the weakest selected feature.

    Parameters
    ----------
    phase : {"forward", "backward", "swap", "lookahead", "random_starts", "joint_backward", \
            "marginal"}
        "forward" tests the strongest single candidate, "lookahead" the strongest tuple,
        "random_starts" the strongest candidate given random subsets of the others, "swap" the
        strongest candidate given all selected features but one, which it may replace; "backward"
        tests the weakest selected feature, "joint_backward" the weakest of those that were
        included jointly. "marginal" tests all candidates given the fixed features alone, each by
        the step-down maximum statistic.
    conditioning_set : tuple of str
        The features conditioned on; in a backward phase, all of them but the tested one.
    candidates : tuple of str
    values : tuple of float
        Conditional mutual information of each candidate and the target, in bits, from 0 to the
        entropy of a discrete target; NaN where the score test did not need it. Of other criteria,
        their values.
    scores : tuple of float
        The test statistic of each candidate: of the score test -log p of its strongest family of
        functions, weighted; of an estimator bits. Of look-ahead, the interaction of the strongest
        tuple as a standard normal quantile.
    unit : {"bit", ""}
        Of the scores and of the critical value; "" for statistics without a unit.
    estimators : tuple of str
        For each candidate the estimator, or the functions with the largest statistic: "line",
        "square", "curve", "wave", "product", "scale", "label"; "local" for the second stage.
    p_values : tuple of float
        Each candidate's p-value against the null distribution of the step, adjusted for the number
        of candidates. Under the minimum statistic (``backward="minimum"``) only that of the chosen
        candidate is meaningful; in elimination by the score test they are not adjusted.
    chosen : str
        The significant candidate with the largest information, else the strongest; or the weakest
        selected feature.
    critical_value : float, optional
        The score above which a candidate is significant; None if it was not determined.
    p_value : float, optional
        Of the chosen candidate; None if nothing was tested.
    alpha : float
        The level of the test.
    surrogates : str
        The surrogate scheme that decided: of several, the one with the largest p-value.
    n_permutations : int
        The number of permutations.
    accepted : bool
        Whether the chosen candidate is selected after this step.
    jointly_included : tuple of str
        The features included at this step, if there are several; of marginal tests, all that are
        significant, by p-value and score.
    replaced : str
        The feature that the chosen candidate replaced in a swap.
    note : str
        Further information: the number of tuples searched, or that no test can decide.
    close_call : bool
        Whether the p-value lies within two standard errors of alpha, of which the error is that of
        a limited number of permutations.
    atoms : mapping of str to Atoms
        Unique, shared and synergistic information of candidates beside the conditioning set, with
        intervals for the chosen one, in the record of ``explain(..., path=True)``.

    Examples
    --------
    The second step of a selection: a test of the strongest candidate given the first feature.

    >>> from pidselect import PIDSelector, datasets
    >>> toy = datasets.toy(200, random_state=1)
    >>> selector = PIDSelector(estimator="copula", n_permutations=50, random_state=0)
    >>> step = selector.fit(toy.X, toy.y).selection_.steps[1]
    >>> print(step)
    forward   x2: 0.078 bit (critical value 0.0246, p = 0.0196), included
    >>> step.conditioning_set, step.candidates, step.chosen, step.outcome, step.removed
    (('x0',), ('x1', 'x2'), 'x2', 'included', ())
    >>> round(step.value, 2), step.estimator, step.score > step.critical_value, step.comment
    (0.08, 'copula', True, '')
    """

    phase: Phase
    conditioning_set: tuple[str, ...]
    candidates: tuple[str, ...]
    values: tuple[float, ...]
    scores: tuple[float, ...]
    unit: str
    estimators: tuple[str, ...]
    p_values: tuple[float, ...]
    chosen: str
    critical_value: float | None
    p_value: float | None
    alpha: float
    surrogates: str
    n_permutations: int
    accepted: bool
    jointly_included: tuple[str, ...] = ()
    replaced: str = ""
    note: str = ""
    close_call: bool = False
    atoms: Mapping[str, Atoms] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        """Whether all fields are equal; information that was not estimated is."""
        return isinstance(other, Step) and to_plain(self) == to_plain(other)

    @property
    def value(self) -> float:
        """Conditional mutual information of the chosen candidate and the target, in bits."""
        return self.values[self.candidates.index(self.chosen)]

    @property
    def score(self) -> float:
        """The test statistic of the chosen candidate."""
        return self.scores[self.candidates.index(self.chosen)]

    @property
    def estimator(self) -> str:
        """The estimator, or the functions, of the score of the chosen candidate."""
        return self.estimators[self.candidates.index(self.chosen)]

    @property
    def outcome(self) -> Outcome:
        """What the test decided about the chosen candidate."""
        if self.phase in INCLUSION_PHASES:
            return "included" if self.accepted else "not included"
        return "retained" if self.accepted else "removed"

    @property
    def removed(self) -> tuple[str, ...]:
        """The features that are no longer selected after this step."""
        removed = self.chosen if self.outcome == "removed" else self.replaced
        return (removed,) if removed else ()

    @property
    def comment(self) -> str:
        """The note, and a warning if the decision is a close call."""
        warning = f"close call: {WITHIN_ERROR}" * self.close_call
        return "; ".join(filter(None, (self.note, warning)))

    def with_note(self, text: str) -> Step:
        """Return the step with a further note."""
        return replace(self, note="; ".join(filter(None, (self.note, text))))

    def describe_test(self) -> str:
        """Return score, critical value and p-value of the chosen candidate as text."""
        if self.p_value is None:
            return "not tested"
        digits, parts = 4, list[str]()
        if self.unit != "bit":
            digits, parts = 1, [f"statistic {self.score:.1f}", *filter(None, [self.estimator])]
        if self.critical_value is not None:
            parts.append(f"critical value {self.critical_value:.{digits}f}")
        return ", ".join([*parts, f"p = {self.p_value:.4f}"])

    def __str__(self) -> str:
        comment = f"; {self.comment}" if self.comment else ""
        test = self.describe_test()
        found = test if isnan(self.value) else f"{self.value:.3f} bit ({test})"
        return f"{self.phase:9} {shown(self.chosen)}: {found}, {self.outcome}{comment}"


@dataclass(frozen=True, repr=False)
class Selection(TabularResult):
    """The record of a selection.

    Parameters
    ----------
    features : tuple of str
        The minimal set: features in the order of inclusion, without the fixed ones.
    fixed_features : tuple of str
        Features that were selected from the start and never tested.
    steps : tuple of Step
    p_values : mapping of str to float
        The final p-value of each selected feature given all the others; by an estimator adjusted
        for their number, by the sequential maximum statistic.
    bits_added : mapping of str to float
        The information that each fixed and selected feature adds to those before it, as multiples
        of 0.001 bit. The sum is the joint information of the set.
    duplicates : mapping of str to str
        Columns that duplicate another one, and which; they were no candidates.
    skipped : mapping of str to str
        Columns that could not be candidates, and the reason.
    also_relevant : tuple of str
        With ``select="relevant"``, the selected features that are not in the minimal set
        `features`, by p-value and score, with duplicates of features of both.
    marginal : Step, optional
        With ``select="relevant"``, the tests of the marginal information of all candidates.
    settings : Settings
        What is needed to repeat the selection.
    warnings : tuple of str
        What the fit warned of: properties of the data that may mislead, such as leakage.
    is_complete : bool
        False if the fit was interrupted: features and steps are then those so far.
    frame_library : str, optional
        The caller's library for dataframes.

    Examples
    --------
    >>> from pidselect import PIDSelector, datasets
    >>> toy = datasets.toy(200, random_state=1)
    >>> selector = PIDSelector(select="relevant", random_state=0)
    >>> record = selector.fit(toy.X, toy.y).selection_
    >>> record.features, record.also_relevant, record.selected
    (('x0', 'x2'), ('x1',), ('x0', 'x2', 'x1'))
    >>> print(record)
    feature  step  bits added   statistic  critical value       p  final p
    x0          1       1.829  curve 54.7             3.3  0.0050   0.0050
    x2          2       0.258   line 16.1             4.2  0.0050   0.0050
    x1          5              curve 53.1                  0.0050
    Joint information with the target: 2.087 bit.
    Relevant, but not in the minimal set: x1. Step 5 is the marginal tests, at level 0.05.
    >>> record.inclusion_step("x2").conditioning_set, record.is_sequential
    (('x0',), False)
    >>> record.notes
    ('Relevant, but not in the minimal set: x1. Step 5 is the marginal tests, at level 0.05.',)
    >>> [f"{step.phase} {step.chosen}: {step.outcome}" for step in record.tests]
    ['forward x0: included', 'forward x2: included', 'forward x1: not included', 'backward x2:
    retained', 'marginal x0: included']
    """

    features: tuple[str, ...]
    fixed_features: tuple[str, ...]
    steps: tuple[Step, ...]
    p_values: Mapping[str, float] = field(default_factory=dict)
    bits_added: Mapping[str, float] = field(default_factory=dict)
    duplicates: Mapping[str, str] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    also_relevant: tuple[str, ...] = ()
    marginal: Step | None = None
    settings: Settings = field(default_factory=Settings)
    warnings: tuple[str, ...] = ()
    is_complete: bool = True
    frame_library: str | None = None

    @property
    def selected(self) -> tuple[str, ...]:
        """All selected features without the fixed ones: the minimal set, then `also_relevant`."""
        return (*self.features, *self.also_relevant)

    @property
    def is_sequential(self) -> bool:
        """Whether tests by an estimator stop early, so that p only shows if it is below alpha."""
        is_auto = self.settings.n_permutations == "auto"
        return is_auto and any(step.unit == "bit" for step in self.tests)

    @property
    def tests(self) -> tuple[Step, ...]:
        """The steps, and the marginal tests if there are any."""
        return self.steps if self.marginal is None else (*self.steps, self.marginal)

    def inclusion_step(self, feature: str) -> Step:
        """Return the step at which a selected feature was included, of several the last.

        Of a feature that the marginal tests selected, it is these, with the feature as the chosen
        one; of a duplicate, that of the column it duplicates.
        """
        if feature in self.also_relevant:
            feature, tests = self.duplicates.get(feature, feature), self.marginal
            if tests is not None and feature in tests.jointly_included:
                p_value = tests.p_values[tests.candidates.index(feature)]
                return replace(tests, chosen=feature, p_value=p_value)
        is_relevant = feature in self.also_relevant  # it may have been removed later
        for step in reversed(self.steps):
            if step.outcome == "included" and feature in (step.chosen, *step.jointly_included):
                return step
            if feature in step.removed and not is_relevant:
                break
        raise KeyError(f"{feature!r} was not included; selected: {', '.join(self.selected)}.")

    def step_number(self, step: Step) -> int:
        """Return the number of a step, from 1 on; the marginal tests follow the others."""
        is_marginal = step.phase == "marginal"
        return 1 + (len(self.steps) if is_marginal else self.steps.index(step))

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the table of features: joint inclusions, close calls, early stopping, rows."""
        notes = [*self._joint_inclusions(), *self.not_confirmed()]
        last = last_step(self.steps, "forward")
        if last and not last.accepted and last.note:  # such as omitted look-ahead
            notes.append(f"{last.note[0].upper()}{last.note[1:]}.")
        if close := [*dict.fromkeys(step.chosen for step in self.steps if step.close_call)]:
            notes.append(f"Close call, as {WITHIN_ERROR}: {listed(close)}.")
        alpha = self.settings.alpha
        if weak := [name for name, p in self.p_values.items() if not is_significant(p, alpha)]:
            notes.append(
                f"Final p-value above {alpha:g}, so possibly redundant with the other selected "
                f"features: {listed(weak)}."
            )
        if self.also_relevant:
            notes.append(
                f"Relevant, but not in the minimal set: {listed(self.also_relevant)}. Step "
                f"{len(self.tests)} is the marginal tests, at level {self.settings.alpha:g}."
            )
        if not self.is_complete:
            notes.append("The fit was interrupted: this is the selection so far.")
        if self.is_sequential:
            notes.append(
                "Sequential tests stop early: a p-value only shows whether it is below alpha."
            )
        if (used := self.settings.n_neighbour_samples) is not None:
            n_samples = self.settings.n_samples
            notes.append(f"Nearest neighbours used a random {used:,} of {n_samples:,} rows.")
        return tuple(notes)

    def _joint_inclusions(self) -> list[str]:
        notes = []
        for step in self.steps:
            names = [
                name
                for name in step.jointly_included
                if name in self.features and self.inclusion_step(name) is step
            ]
            if step.accepted and len(names) > 1:
                whose = "the tuple" if step.phase == "lookahead" else shown(step.chosen)
                who = listed(names)
                notes.append(f"{who} were included jointly: statistic and p are those of {whose}.")
        return notes

    def not_confirmed(self) -> list[str]:
        """Return sentences on significant tuples none of whose members is selected."""
        return [
            f"{listed(step.jointly_included)} are significant jointly (p = {step.p_value:.4f}), "
            "but not each given the others: they are not selected."
            for step in self.steps
            if step.phase == "lookahead"
            and step.accepted
            and not set(step.jointly_included) & set(self.features)
        ]

    def empty_verdict(self) -> str:
        """Return that nothing was selected, and unless there was no candidate, what it may mean."""
        beside = " in addition to fixed ones" * bool(self.fixed_features)
        meaning = f": {NOTHING_TO_FIND}" * bool(self.steps)
        return f"No feature was selected{beside}{meaning}."

    def empty_reason(self) -> str:
        """Return how close the best candidate was to being selected, and possible remedies."""
        if not self.steps:
            return (
                "There was no candidate: every column is constant, an identifier, a duplicate, or "
                "a group wider than max_features."
            )
        last = self.steps[-1]
        joint = "feature_groups"
        if self.settings.criterion == "cmi":
            searched, n = self.settings.lookahead, self.settings.n_permutations
            if searched == "auto":  # it leaves out what takes long
                searched = 3 if any(step.phase == "lookahead" for step in self.steps) else 1
            level = (1 - SINGLE_SHARE) * self.settings.alpha
            is_possible = n == "auto" or is_significant(1 / (1 + n), level)
            joint += f" or lookahead={searched + 1}" * (searched < 3 and is_possible)
        found = f"The strongest candidate, {last.chosen!r}, has"
        if last.outcome == "removed":
            found = f"All included features were removed again, {last.chosen!r} last, with"
        comment = f" {last.comment[0].upper()}{last.comment[1:]}." if last.comment else ""
        jointly = "".join(f" {sentence}" for sentence in self.not_confirmed())
        return (
            f"{found} {last.value:.3f} bit ({last.describe_test()}).{comment}{jointly} If features "
            "are expected for reasons other than these data, use more samples, state "
            f"feature_types, or use {joint} for synergistic features. Settings changed until "
            "something is selected void its p-value."
        )

    def to_frame(self) -> Any:
        """Return a frame with one row per candidate and step, in the caller's frame library.

        Examples
        --------
        How near the candidates that were not included came to it:

        >>> import pandas as pd
        >>> from pidselect import PIDSelector, datasets
        >>> toy = datasets.toy(200, random_state=1)
        >>> X = pd.DataFrame(toy.X, columns=toy.names)
        >>> selector = PIDSelector(estimator="copula", n_permutations=50, random_state=0)
        >>> frame = selector.fit(X, toy.y).selection_.to_frame()
        >>> frame[frame.phase == "forward"][["step", "candidate", "bits", "accepted"]].round(2)
           step candidate  bits  accepted
        0     1        X1  1.23      True
        1     1        X2  1.09     False
        2     1       eta  0.00     False
        3     2        X2  0.01     False
        4     2       eta  0.08      True
        5     3        X2  0.00     False
        """
        rows = [
            {"step": number, **row}
            for number, step in enumerate(self.tests, start=1)
            for row in candidate_rows(step)
        ]
        return to_frame(rows, FRAME_COLUMNS, self.frame_library)

    def _title(self) -> str:
        return f"Selection of {len(self.selected)} features in {counted(len(self.steps), 'step')}"

    def _blocks(self) -> list[list[str | TextTable]]:
        """Return a table of the selected features, then the notes."""
        rows = feature_rows(self)
        has_bits = all(row["unit"] in ("bit", None) for row in rows)
        header = ["feature", "step", "bits added", "score" if has_bits else "statistic"]
        header += ["critical value", "p", "final p"]
        cells = [header, *(_cells(row, not has_bits) for row in rows)]
        lines: list[str | TextTable] = [TextTable(cells)]
        if not self.selected:
            meaning = f": {NOTHING_TO_FIND}" * bool(self.is_complete and self.steps)
            what = "only fixed features" if self.fixed_features else "no feature"
            lines.append(f"({what}{meaning})")
        elif self.bits_added:
            joint = sum(self.bits_added.values())
            lines.append(f"Joint information with the target: {joint:.{DIGITS}f} bit.")
        return [[*lines, *self.notes]]


def last_step(steps: Sequence[Step], phase: Phase) -> Step | None:
    """Return the last step of a phase."""
    return next((step for step in reversed(steps) if step.phase == phase), None)


def feature_rows(selection: Selection) -> list[dict[str, Any]]:
    """Return how each fixed and selected feature was included, and its tests; None if untested."""
    rows = []
    for order, name in enumerate((*selection.fixed_features, *selection.selected), start=1):
        step = None if name in selection.fixed_features else selection.inclusion_step(name)
        # The marginal tests do not include features jointly.
        beside = () if step is None or step.phase == "marginal" else step.jointly_included
        facts = ("estimator", "unit", "score", "critical_value", "p_value")
        rows.append(
            {
                "order": order,
                "name": name,
                "is_fixed": step is None,
                "is_minimal": name not in selection.also_relevant,
                "step": step and selection.step_number(step),
                "bits_added": selection.bits_added.get(name),
                **{fact: step and getattr(step, fact) for fact in facts},
                "final_p": selection.p_values.get(name),
                "jointly_included": [one for one in beside if one != name],
            }
        )
    return rows


def candidate_rows(step: Step) -> list[dict[str, Any]]:
    """Return the values and the test of each candidate of a step."""
    return [
        {
            **{name: getattr(step, name) for name in STEP_COLUMNS},
            "candidate": candidate,
            "bits": None if isnan(step.values[place]) else step.values[place],
            "estimator": step.estimators[place],
            "score": step.scores[place],
            "p_value": step.p_values[place] if step.p_values else None,
            "chosen": candidate == step.chosen,
            "accepted": step.accepted and candidate in (step.chosen, *step.jointly_included),
            **{atom: getattr(step.atoms.get(candidate), atom, None) for atom in ATOMS},
        }
        for place, candidate in enumerate(step.candidates)
    ]


def _cells(row: dict[str, Any], with_function: bool) -> list[str]:
    digits = 4 if row["unit"] == "bit" else 1
    places = {"score": digits, "critical_value": digits, "p_value": 4, "final_p": 4}
    numbers = [number(row[key], known, unknown="") for key, known in places.items()]
    step = "fixed" if row["is_fixed"] else str(row["step"])
    bits = number(row["bits_added"], DIGITS, unknown="")
    if with_function and row["estimator"]:
        numbers[0] = f"{row['estimator']} {numbers[0]}"
    return [shown(row["name"]), step, bits, *numbers]
