"""The record of a selection: what was tried at every step, and why it was taken or left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pidselect.data import make_frame
from pidselect.data.messages import align, shown, to_plain
from pidselect.selection.short_form import selection_form
from pidselect.significance import is_significant

Phase = Literal["forward", "backward", "lookahead", "starts", "members"]

#: The columns of the tidy frame, and their types.
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
    "n_drawn": int,
    "chosen": bool,
    "accepted": bool,
}

#: How the note of a step begins whose p-value is near its level.
CLOSE_CALL = "a close call"

#: Phases in which candidates come in.
COMES_IN = ("forward", "lookahead", "starts")

#: What became of the chosen one, by phase and by whether it is accepted.
VERDICTS = {
    ("forward", True): "included",
    ("forward", False): "not included",
    ("lookahead", True): "included",
    ("lookahead", False): "not included",
    ("starts", True): "included",
    ("starts", False): "not included",
    ("members", True): "stays",
    ("members", False): "removed",
    ("backward", True): "stays",
    ("backward", False): "removed",
}


STOPPED = "The selection was stopped before its end: this is what was known by then."


@dataclass(frozen=True)
class Step:
    """One test: of the strongest candidate, or of the weakest selected one.

    Parameters
    ----------
    phase : {"forward", "backward", "lookahead", "starts", "members"}
        Going forward, the strongest candidate is tested; as also if candidates are tuples
        (lookahead) or are tested beside random others (starts). Going backward, the weakest of the
        selected ones; as also among those that came in together (members).
    conditioning_set : tuple of str
        The features known at this step; of these, in the backward phase, all but the one tested.
    candidates : tuple of str
    values : tuple of float
        Each candidate's information about the target, in bits, by the estimator that counts.
    scores : tuple of float
        What candidates are compared by, with each other and with the null line: bits, or for a
        portfolio standard deviations above what each one's own surrogates reach on average.
    unit : {"bit", "sd"}
        Of the scores and of the null line.
    estimators : tuple of str
        For each candidate the estimator that counts, whose value is most unlike chance.
    p_values : tuple of float
        Each candidate's p-value against the null distribution of the step. Where that is of the
        largest value, they are adjusted for the number of candidates. Where it is of the smallest
        (``backward="minimum"``), they are not: there only that of the chosen one is meant to be
        read, and it is lenient.
    chosen : str
        The strongest candidate, or the weakest selected feature.
    critical_value : float, optional
        What a score must exceed to be significant; None if the draws do not give one.
    p_value : float, optional
        The chosen one's; None if nothing was tested.
    alpha : float
        The level it was tested at.
    surrogates : str
        The scheme that decided: of several, the one with the largest p-value.
    n_drawn : int
        The number of surrogates of each candidate.
    accepted : bool
        Whether the chosen one belongs to the selection after this step.
    jointly_included : tuple of str
        The features that came in at once, if there were several.
    note : str
        What else there is to know, such as how many tuples were searched.
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
    n_drawn: int
    accepted: bool
    jointly_included: tuple[str, ...] = ()
    note: str = ""

    @property
    def value(self) -> float:
        """The chosen one's information about the target, in bits."""
        return self.values[self.candidates.index(self.chosen)]

    @property
    def score(self) -> float:
        """What the chosen one is compared with the null line by."""
        return self.scores[self.candidates.index(self.chosen)]

    @property
    def estimator(self) -> str:
        """The estimator that counts for the chosen one."""
        return self.estimators[self.candidates.index(self.chosen)]

    def in_words(self) -> str:
        """Return how the test of the chosen one went."""
        if self.p_value is None:
            return "not tested"
        digits = 4 if self.unit == "bit" else 1
        said = [] if self.unit == "bit" else [f"{self.score:.1f} sd by {self.estimator}"]
        said += (
            [] if self.critical_value is None else [f"null line {self.critical_value:.{digits}f}"]
        )
        return ", ".join([*said, f"p = {self.p_value:.4f}"])

    def __str__(self) -> str:
        note = f"; {self.note}" if self.note else ""
        return (
            f"{self.phase:9} {shown(self.chosen)}: {self.value:.4f} bit ({self.in_words()}), "
            f"{VERDICTS[self.phase, self.accepted]}{note}"
        )


@dataclass(frozen=True, repr=False)
class Selection:
    """The whole story of a selection, in bits.

    Parameters
    ----------
    features : tuple of str
        What was selected, in the order of inclusion.
    kept : tuple of str
        What was in the set from the start, never tested.
    steps : tuple of Step
    p_values : mapping of str to float
        Of every selected feature beside all the others, by the sequential maximum statistic: of its
        information given the rest of the set, adjusted for the number of features.
    copies : mapping of str to str
        Columns that say the same as another one, and which; they took no part.
    skipped : mapping of str to str
        Columns that could not be candidates, and why.
    settings : mapping
        What is needed to repeat it: criterion, estimator, alpha, n_permutations, seed, n_samples;
        and the kind that the target was taken for.
    """

    features: tuple[str, ...]
    kept: tuple[str, ...]
    steps: tuple[Step, ...]
    p_values: Mapping[str, float] = field(default_factory=dict)
    copies: Mapping[str, str] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    frame_library: str | None = None

    def entry(self, feature: str) -> Step:
        """Return the step at which a feature was included."""
        removed = [
            place
            for place, step in enumerate(self.steps)
            if step.phase == "members" and not step.accepted and step.chosen == feature
        ]
        for step in self.steps[removed[-1] if removed else 0 :]:
            came_in = step.accepted and step.phase in COMES_IN
            if came_in and feature in (step.chosen, *step.jointly_included):
                return step
        raise KeyError(f"{feature!r} was not included; selected: {', '.join(self.features)}.")

    def why_nothing(self) -> str:
        """Return how near the best candidate came to being selected, and what may help."""
        if not self.steps:
            return (
                "No feature was selected: there was no candidate. Every column is constant, an "
                "identifier, a copy, or too wide for max_features."
            )
        last = self.steps[-1]
        story = f"The best candidate, {last.chosen!r}, has"
        searched = self.settings.get("lookahead", 1)
        together = "feature_groups"
        if self.settings.get("criterion", "cmi") == "cmi":
            together = f"feature_groups or lookahead={searched + 1}"
        remedies = (
            f"more samples; another estimator or stated kinds; {together}, for features that tell "
            "something only together; or a larger alpha, at the price of more false features"
        )
        if last.phase in ("backward", "members"):
            story = f"What was included was removed again, at last {last.chosen!r} with"
            if last.phase == "backward":
                remedies = f"backward=None, which leaves out that second test; {remedies}"
        note = f" {last.note[0].upper()}{last.note[1:]}." if last.note else ""
        return (
            f"No feature was selected. {story} {last.value:.4f} bit ({last.in_words()}).{note} "
            f"What may help: {remedies}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain dicts, lists, strings and numbers, ready for JSON.

        JSON has no infinite numbers, as a Gaussian estimate is where y is a linear function of the
        features: they come as the texts "inf" and "-inf" (and "nan"), which ``float`` reads.
        """
        record = asdict(self)
        del record["frame_library"]
        return to_plain(record)

    def to_frame(self) -> Any:
        """Return a tidy frame, one row for each candidate of each step, in the caller's library."""
        rows = [
            (
                number,
                step.phase,
                candidate,
                step.values[place],
                step.estimators[place],
                step.scores[place],
                step.unit,
                step.p_values[place] if step.p_values else None,
                step.critical_value,
                step.surrogates,
                step.n_drawn,
                candidate == step.chosen,
                candidate == step.chosen and step.accepted,
            )
            for number, step in enumerate(self.steps, start=1)
            for place, candidate in enumerate(step.candidates)
        ]
        columns = zip(*rows, strict=True) if rows else ([] for _ in FRAME_COLUMNS)
        frame = {name: list(values) for name, values in zip(FRAME_COLUMNS, columns, strict=True)}
        return make_frame(frame, self.frame_library, FRAME_COLUMNS)

    def __repr__(self) -> str:
        n_steps = f"{len(self.steps)} step" + "s" * (len(self.steps) != 1)
        return f"Selection of {len(self.features)} features in {n_steps}\n{self}"

    def __str__(self) -> str:
        """Return a table of the selected features: name, step, bits, how they were tested."""
        header = ["feature", "step", "bits", "by", "score", "null line", "p-value", "final p"]
        lines = [header, *([shown(name), "kept", *[""] * 6] for name in self.kept)]
        lines += [self._line(name) for name in self.features]
        if all(step.unit == "bit" for step in self.steps):  # then a score is the number of bits
            lines = [[*line[:3], *line[5:]] for line in lines]
        text = align(lines, n_left=1)
        if not self.features:
            text.append("(nothing beyond what was kept)" if self.kept else "(nothing selected)")
        return "\n".join([*text, *self.remarks()])

    def _repr_html_(self) -> str:
        return selection_form(self)

    def remarks(self) -> list[str]:
        """Return what to know when reading the table, in sentences."""
        remarks = [*self._at_once(), *self._in_doubt()]
        if self.settings.get("complete") is False:
            remarks.append(STOPPED)
        if self.settings.get("n_permutations") == "auto":
            remarks.append(
                "Tests ended early: of a p-value, only the side of alpha it is on says much."
            )
        return remarks

    def _at_once(self) -> list[str]:
        """Say which of the selected features came in together, and what their values are."""
        lines = []
        for step in self.steps:
            names = [
                n for n in step.jointly_included if n in self.features and self.entry(n) is step
            ]
            if step.accepted and len(names) > 1:
                whose = "all of them" if step.phase == "lookahead" else shown(step.chosen)
                listed = " and ".join(map(shown, names))
                lines.append(f"{listed} came in together: values are those of {whose}.")
        return lines

    def _in_doubt(self) -> list[str]:
        """Say what other draws might decide otherwise, and what may add nothing to the others."""
        close = [shown(step.chosen) for step in self.steps if CLOSE_CALL in step.note]
        alpha = self.settings.get("alpha", 1.0)
        idle = [shown(name) for name, p in self.p_values.items() if not is_significant(p, alpha)]
        lines = []
        if close:
            names = " and ".join(dict.fromkeys(close))
            lines.append(f"A close call, which more draws may decide otherwise: {names}.")
        if idle:
            lines.append(
                f"A final p above {alpha:g}: beside all other selected features, "
                f"{' and '.join(idle)} may add nothing."
            )
        return lines

    def _line(self, name: str) -> list[str]:
        """Return a selected feature's line of the table."""
        step = self.entry(name)
        digits = 4 if step.unit == "bit" else 1
        return [
            shown(name),
            str(self.steps.index(step) + 1),
            f"{step.value:.4f}",
            step.estimator,
            f"{step.score:.{digits}f}",
            _number(step.critical_value, digits),
            _number(step.p_value, 4),
            _number(self.p_values.get(name), 4),
        ]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
