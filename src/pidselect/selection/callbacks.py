"""Callbacks: observe a fit, `PIDSelector.explain` or `stability` while it runs.

A callback is activated by `use_callback`, not by a parameter of the selector, because scikit-learn
copies, compares and searches over parameters. It is a context variable, so concurrent fits in
several threads are reported separately. Results do not depend on callbacks.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from pidselect.selection.result import Phase, Selection, Step

logger = logging.getLogger(__name__)

#: A phase of the fit, its final p-values, the tests and atoms of `explain`, or `stability`.
StageName = Phase | Literal["final", "roles", "atoms", "stability"]


@dataclass(frozen=True)
class Stage:
    """A test that begins, or another part of the computation.

    Parameters
    ----------
    phase : str
        The phase of the step that the test decides; "final" for the final p-values, "marginal" for
        the marginal tests, "roles" for the tests and "atoms" for the decompositions of `explain`,
        "stability" for `stability`.
    step : int
        The number of the step, from 1 on, or of the next one if no step is decided. A step may
        have several stages.
    n_candidates : int
    n_values : int
        The number of values to compute; of "atoms", the number of features, reported at the end;
        of "stability", the number of subsamples.
    is_exact : bool
        Whether all values are computed; a sequential test may need fewer, and a step in which one
        surrogate scheme finds nothing significant has no others.

    Examples
    --------
    >>> from pidselect import PIDSelector, datasets
    >>> from pidselect.selection.callbacks import Callback, use_callback
    >>> class CountValues(Callback):
    ...     n_values = 0
    ...     def on_stage(self, stage):
    ...         self.n_values += stage.n_values
    >>> counted = CountValues()
    >>> toy = datasets.toy(200, random_state=1)
    >>> selector = PIDSelector(estimator="gaussian", n_permutations=19, random_state=0)
    >>> with use_callback(counted):
    ...     _ = selector.fit(toy.X, toy.y)
    >>> counted.n_values
    260
    """

    phase: StageName
    step: int
    n_candidates: int
    n_values: int
    is_exact: bool = True


class Callback(Protocol):
    """Base class of callbacks: override the methods of interest.

    They are called in the thread of the fit. For `explain` and `stability`, `on_stage` and
    `on_progress` are called.

    Examples
    --------
    A fit that is stopped after two steps, as by Ctrl-C, with what was selected so far:

    >>> from pidselect import PIDSelector, datasets
    >>> from pidselect.selection.callbacks import Callback, use_callback
    >>> class StopAfterTwo(Callback):
    ...     n_steps = n_values = 0
    ...     def on_stage(self, stage):
    ...         print(f"{stage.phase}: {stage.n_candidates} candidates")
    ...     def on_progress(self, count):
    ...         self.n_values += count
    ...     def on_step(self, step):
    ...         self.n_steps += 1
    ...         if self.n_steps == 2:
    ...             raise KeyboardInterrupt
    ...     def on_interrupt(self, selection):
    ...         print(f"{self.n_values} values so far, selected: {selection.features}")
    >>> toy = datasets.toy(200, random_state=1)
    >>> selector = PIDSelector(estimator="gaussian", n_permutations=19, random_state=0)
    >>> try:
    ...     with use_callback(StopAfterTwo()):
    ...         selector.fit(toy.X, toy.y)
    ... except KeyboardInterrupt:
    ...     print("stopped")
    forward: 3 candidates
    forward: 2 candidates
    140 values so far, selected: ('x0', 'x2')
    stopped
    """

    def on_stage(self, stage: Stage) -> None:
        """Handle the start of a test; a test that is complete in a checkpoint does not start."""
        return

    def on_progress(self, count: int) -> None:
        """Handle `count` more values, computed or read from a checkpoint."""
        return

    def on_step(self, step: Step) -> None:
        """Handle a step that is decided."""
        return

    def on_interrupt(self, selection: Selection) -> None:
        """Handle the end of a fit by Ctrl-C or, after the first step, by an error.

        The exception is raised afterwards; a checkpoint has been written before.

        Parameters
        ----------
        selection : Selection
            The record so far, with ``is_complete=False`` and without final p-values.
        """
        return


#: A record without steps.
EMPTY_RECORD = Selection((), (), ())

_ACTIVE: ContextVar[tuple[Callback, ...]] = ContextVar("pidselect_callbacks", default=())


@contextmanager
def use_callback(*callbacks: Callback | None) -> Iterator[None]:
    """Activate callbacks, in place of any others, in this block and thread; None for none.

    Examples
    --------
    >>> from pidselect import PIDSelector, datasets
    >>> from pidselect.selection.callbacks import Callback, use_callback
    >>> class PrintSteps(Callback):
    ...     def on_stage(self, stage):
    ...         print(f"step {stage.step}, {stage.phase}: {stage.n_values} values")
    ...     def on_step(self, step):
    ...         print(f"{step.chosen}: p = {step.p_value}")
    >>> toy = datasets.toy(random_state=1)
    >>> selector = PIDSelector(estimator="gaussian", n_permutations=19, max_features=1)
    >>> with use_callback(PrintSteps()):
    ...     _ = selector.fit(toy.X, toy.y)
    step 1, forward: 60 values
    x0: p = 0.05
    step 2, backward: 20 values
    x0: p = 0.05
    """
    token = _ACTIVE.set(tuple(callback for callback in callbacks if callback is not None))
    try:
        yield
    finally:
        _ACTIVE.reset(token)


class CallbackList:
    """The callbacks of a fit, and its record so far."""

    def __init__(
        self,
        callbacks: Sequence[Callback] = (),
        record: Selection = EMPTY_RECORD,
    ) -> None:
        self._callbacks = tuple(callbacks)
        # Replaced as a whole, so that an interrupt finds a consistent record.
        self._record = record

    def __bool__(self) -> bool:
        return bool(self._callbacks)

    def on_stage(
        self, phase: StageName, n_candidates: int, n_values: int, is_exact: bool = True
    ) -> None:
        """Report the start of a test."""
        stage = Stage(phase, len(self._record.steps) + 1, n_candidates, n_values, is_exact)
        for callback in self._callbacks:
            callback.on_stage(stage)

    def on_progress(self, count: int) -> None:
        """Report values that were computed."""
        for callback in self._callbacks:
            callback.on_progress(count)

    def on_step(self, step: Step) -> Step:
        """Report a step that is decided, and return it."""
        self._record = replace(self._record, steps=(*self._record.steps, step))
        logger.debug("%s", step)
        for callback in self._callbacks:
            callback.on_step(step)
        return step

    @contextmanager
    def reporting_interrupt(self) -> Iterator[None]:
        """Report the record so far if this block is interrupted, or fails after the first step."""
        try:
            yield
        except BaseException as error:
            if self._record.steps or not isinstance(error, Exception):
                selection = partial_record(self._record)
                for callback in self._callbacks:
                    try:
                        callback.on_interrupt(selection)
                    except Exception as another:  # the first error is the one to be raised
                        name = type(callback).__name__
                        error.add_note(f"{name}.on_interrupt failed: {another!r}")
            raise


def partial_record(record: Selection) -> Selection:
    """Return a record with the features selected after its steps, marked as incomplete."""
    features = selected_features(record.steps)
    return replace(record, features=features, p_values={}, is_complete=False)


def selected_features(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the features that are selected after some steps, in the order of inclusion."""
    names: list[str] = []
    for step in steps:
        if step.outcome == "included":
            names += step.jointly_included or (step.chosen,)
        for name in step.removed:
            names.remove(name)
    return tuple(names)


def active_callbacks(
    record: Selection = EMPTY_RECORD, progress: Callback | None = None
) -> CallbackList:
    """Return the progress bar, if any, and the active callbacks, with the record of the fit."""
    shown = [] if progress is None else [progress]
    return CallbackList((*shown, *_ACTIVE.get()), record)
