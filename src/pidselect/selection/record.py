"""The record of a selection: what was tried at every step, and why it was taken or left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pidselect.data import make_frame
from pidselect.data.words import to_plain

Phase = Literal["forward", "backward"]

FRAME_COLUMNS = (
    "step",
    "phase",
    "candidate",
    "bits",
    "p_value",
    "null_line",
    "n_drawn",
    "chosen",
    "accepted",
)


@dataclass(frozen=True)
class Step:
    """One test: of the strongest candidate (forward) or of the weakest selected one (backward).

    Parameters
    ----------
    phase : {"forward", "backward"}
    given : tuple of str
        The features known at this step; in the backward phase, of these all but the one tested.
    candidates : tuple of str
    values : tuple of float
        Each candidate's information about the target, in bits.
    p_values : tuple of float
        Each candidate's p-value against the null distribution of the step. Where that is of the
        largest value (forward, and ``backward="maximum"``), they are adjusted for the number of
        candidates. Where it is of the smallest (``backward="minimum"``), they are not: there only
        that of the chosen one is meant to be read, and it is lenient.
    chosen : str
        The strongest candidate, or the weakest selected feature.
    null_line : float
        What a value must exceed to be significant, in bits.
    p_value : float
        The chosen one's.
    n_drawn : int
        The number of surrogates of each candidate.
    accepted : bool
        Whether the chosen one belongs to the selection after this step.
    """

    phase: Phase
    given: tuple[str, ...]
    candidates: tuple[str, ...]
    values: tuple[float, ...]
    p_values: tuple[float, ...]
    chosen: str
    null_line: float
    p_value: float
    n_drawn: int
    accepted: bool

    @property
    def value(self) -> float:
        """The chosen one's information about the target, in bits."""
        return self.values[self.candidates.index(self.chosen)]

    def __str__(self) -> str:
        verdict = {
            ("forward", True): "included",
            ("forward", False): "not included",
            ("backward", True): "stays",
            ("backward", False): "removed",
        }[self.phase, self.accepted]
        return (
            f"{self.phase:8} {self.chosen}: {self.value:.4f} bit "
            f"(null line {self.null_line:.4f}, p = {self.p_value:.4f}), {verdict}"
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
    copies: Mapping[str, str] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    frame_library: str | None = None

    def entry(self, feature: str) -> Step:
        """Return the step at which a feature was included."""
        for step in self.steps:
            if step.phase == "forward" and step.accepted and step.chosen == feature:
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
        remedies = (
            "more samples; another estimator or stated kinds; feature_groups, for features that "
            "tell something only together; or a larger alpha, at the price of more false features"
        )
        if last.phase == "backward":
            story = f"What was included was removed again, at last {last.chosen!r} with"
            remedies = f"backward=None, which leaves out that second test; {remedies}"
        return (
            f"No feature was selected. {story} {last.value:.4f} bit (p = {last.p_value:.3g}, "
            f"null line {last.null_line:.4f} bit). What may help: {remedies}."
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
                value,
                p_value,
                step.null_line,
                step.n_drawn,
                candidate == step.chosen,
                candidate == step.chosen and step.accepted,
            )
            for number, step in enumerate(self.steps, start=1)
            for candidate, value, p_value in zip(
                step.candidates, step.values, step.p_values, strict=True
            )
        ]
        columns = zip(*rows, strict=True) if rows else ([] for _ in FRAME_COLUMNS)
        frame = {name: list(values) for name, values in zip(FRAME_COLUMNS, columns, strict=True)}
        return make_frame(frame, self.frame_library)

    def __repr__(self) -> str:
        n_steps = f"{len(self.steps)} step" + "s" * (len(self.steps) != 1)
        return f"Selection of {len(self.features)} features in {n_steps}\n{self}"

    def __str__(self) -> str:
        """Return a table of the selected features: name, step, bits, p-value, null line."""
        lines = [("feature", "step", "bits", "p-value", "null line")]
        lines += [(name, "kept", "", "", "") for name in self.kept]
        for name in self.features:
            step = self.entry(name)
            lines.append(
                (
                    name,
                    str(self.steps.index(step) + 1),
                    f"{step.value:.4f}",
                    f"{step.p_value:.4f}",
                    f"{step.null_line:.4f}",
                )
            )
        width = max(len(line[0]) for line in lines)
        text = [
            f"{first:<{width}}{''.join(f'{cell:>11}' for cell in rest)}".rstrip()
            for first, *rest in lines
        ]
        if not self.features:
            text.append("(nothing beyond what was kept)" if self.kept else "(nothing selected)")
        return "\n".join(text)
