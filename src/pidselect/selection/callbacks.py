"""Watching a fit: what it is at, how far it has come, and what is known if it is stopped.

What comes after a fit is watched in the same way: `PIDSelector.explain`, and `stability`.

A fit is watched from outside, by whoever calls it, and not by a parameter of the selector: those
are a contract with scikit-learn, which copies, compares and searches over them, and a watcher is
no setting of a selection. So there is a context variable, of which every thread has its own: fits
at the same time are not told of each other. A fit gives the same result to the bit, watched or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from pidselect.selection.result import INCLUSION_PHASES, Phase, Selection, Step

if TYPE_CHECKING:
    from pidselect.selection.context import SelectionContext

#: What is done: a step of the record, final p-values after the last of them, or what follows a fit.
Part = Phase | Literal["final", "roles", "atoms", "stability"]


@dataclass(frozen=True)
class Stage:
    """A test that begins, or another part of the work.

    Parameters
    ----------
    phase : Part
        That of the step which it decides; "final" for the p-values of all selected features. Of
        `explain`, "roles" are its tests, and then come the "atoms" of every feature. "stability"
        is all of `pidselect.stability`.
    step : int
        The number of that step, from 1 on; where none is decided, that of the next one. A step may
        have several stages, and so may "roles".
    n_candidates : int
    n_values : int
        How many values it computes. Of "atoms", how many features are taken apart, told at the end;
        of "stability", how many selections are made, whose own stages are not told.
    is_exact : bool
        False if it may end earlier, as a test does that draws until it is decided.
    """

    phase: Part
    step: int
    n_candidates: int
    n_values: int
    is_exact: bool = True


class Callback(Protocol):
    """Who is told of a fit, in its own thread. To leave out some of these, make a subclass.

    Of what follows a fit, `on_stage` and `on_progress` tell.
    """

    def on_stage(self, stage: Stage) -> None:
        """Take note that a test begins.

        One that a checkpoint knows in full does not: its step is simply there.
        """
        return

    def on_progress(self, count: int) -> None:
        """Take note that there are so many values more, computed or known from a checkpoint."""
        return

    def on_step(self, step: Step) -> None:
        """Take note of a step that is decided."""
        return

    def on_interrupt(self, selection: Selection) -> None:
        """Take note of what is known, as the fit ends by Ctrl-C or, after a step, by an error.

        What has ended it is raised afterwards. A checkpoint has been written by now.

        Parameters
        ----------
        selection : Selection
            With the features that are included so far, no final p-values, and False for
            ``is_complete``.
        """
        return


_WATCHER: ContextVar[Callback | None] = ContextVar("pidselect_watcher", default=None)


@contextmanager
def use_callback(watcher: Callback | None) -> Iterator[None]:
    """Tell a watcher of all fits in this block and this thread; no other one is told meanwhile.

    None is nobody.

    Examples
    --------
    >>> from pidselect import PIDSelector, datasets
    >>> class Reader(Watcher):
    ...     def begins(self, stage):
    ...         print(f"step {stage.step}, {stage.phase}: {stage.n_values} values")
    ...     def took(self, step):
    ...         print(f"{step.chosen}: p = {step.p_value}")
    >>> toy = datasets.toy(random_state=1)
    >>> selector = PIDSelector(estimator="gaussian", n_permutations=19, max_features=1)
    >>> with watched_by(Reader()):
    ...     _ = selector.fit(toy.X, toy.y)
    step 1, forward: 60 values
    x0: p = 0.05
    step 2, backward: 20 values
    x0: p = 0.05
    """
    before = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(before)


class CallbackList:
    """What a fit tells its watchers, and what it has told them so far.

    Parameters
    ----------
    watchers : sequence of Watcher
    blank : Selection
        The record of the fit, without any steps.
    """

    def __init__(self, watchers: Sequence[Callback], blank: Selection) -> None:
        self._watchers = tuple(watchers)
        # One object, put in place of the one before at once: an interruption finds either whole.
        self._known = blank

    def on_stage(
        self, phase: Part, n_candidates: int, n_values: int, is_exact: bool = True
    ) -> None:
        """Tell that a test begins."""
        stage = Stage(phase, len(self._known.steps) + 1, n_candidates, n_values, is_exact)
        for watcher in self._watchers:
            watcher.on_stage(stage)

    def on_progress(self, count: int) -> None:
        """Tell of values that came in."""
        for watcher in self._watchers:
            watcher.on_progress(count)

    def on_step(self, step: Step) -> None:
        """Tell of a step that is decided."""
        self._known = replace(self._known, steps=(*self._known.steps, step))
        for watcher in self._watchers:
            watcher.on_step(step)

    def on_interrupt(self, error: BaseException) -> None:
        """Tell what is known at the end by an error, unless it came before anything was."""
        if isinstance(error, Exception) and not self._known.steps:
            return
        selection = so_far(self._known)
        for watcher in self._watchers:
            try:
                watcher.on_interrupt(selection)
            except Exception as another:  # what happened first is what is to be seen
                error.add_note(f"{type(watcher).__name__}.stopped failed, too: {another!r}")


def so_far(known: Selection) -> Selection:
    """Return what is known as a record, marked as one that is not complete."""
    return replace(known, features=included(known.steps), p_values={}, is_complete=False)


def included(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the features that are selected after some steps, in the order of inclusion."""
    names: list[str] = []
    for step in steps:
        if step.accepted and step.phase in INCLUSION_PHASES:
            names += step.jointly_included or (step.chosen,)
        elif not step.accepted and step.phase not in INCLUSION_PHASES:
            names.remove(step.chosen)
    return tuple(names)


def after_fit(known: Selection | None = None) -> CallbackList | None:
    """Return what tells of the work that follows a fit; None if nobody watches.

    Parameters
    ----------
    known : Selection, optional
        The record of the fit.
    """
    watcher = _WATCHER.get()
    return None if watcher is None else CallbackList([watcher], known or Selection((), (), ()))


@contextmanager
def watching(
    context: SelectionContext, bar: Callback | None, blank: Selection
) -> Iterator[SelectionContext]:
    """Let the fit be watched by a bar, if there is one, and by whom `use_callback` names.

    Parameters
    ----------
    inquiry : Inquiry
    bar : Watcher, optional
    blank : Selection
        See `CallbackList`.
    """
    watchers = [watcher for watcher in (bar, _WATCHER.get()) if watcher is not None]
    if not watchers:
        yield context
        return
    watch = CallbackList(watchers, blank)
    try:
        yield replace(context, watch=watch)
    except BaseException as error:
        watch.on_interrupt(error)
        raise
