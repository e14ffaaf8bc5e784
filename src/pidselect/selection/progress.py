"""Progress of long selections, and a word before very long ones."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from joblib import effective_n_jobs

from pidselect.selection.evidence import DRAWS_AT_ONCE, Inquiry, score_draws
from pidselect.selection.features import Feature

logger = logging.getLogger("pidselect")

#: Selections with less work than this, in samples times scores of one step, take seconds.
SURELY_SHORT = 2e7

#: A selection expected to take longer than this many seconds is announced.
LONG = 60.0

#: The number of selected features for which the time is stated.
TYPICAL_FEATURES = 5

#: Time grows roughly with this power of the number of samples.
GROWTH = 1.5


def announce_long_fit(inquiry: Inquiry, candidates: Sequence[Feature]) -> None:
    """Time a small part of the work, and say so if the whole will take more than a minute."""
    n_samples, scores = inquiry.target.n_samples, 1 + inquiry.n_permutations
    if n_samples * len(candidates) * scores < SURELY_SHORT:
        return
    n_steps = 1 + min(TYPICAL_FEATURES, len(candidates) - 1)
    alone = _seconds_per_step(inquiry, candidates, given=())
    later = _seconds_per_step(inquiry, candidates, given=candidates[-1:]) if n_steps > 1 else 0.0
    expected = alone + (n_steps - 1) * later
    if expected < LONG:
        return
    fewer = max(100, round(n_samples * (LONG / 2 / expected) ** (1 / GROWTH), -2))
    logger.warning(
        "Selecting from %d candidates with %d samples takes about %s a step, so about %s if %d "
        "features are selected. max_samples=%d would take about half a minute; n_jobs=-1 uses "
        "all cores.",
        len(candidates),
        n_samples,
        in_words(later or alone),
        in_words(expected),
        n_steps - 1,
        fewer,
    )


def _seconds_per_step(
    inquiry: Inquiry, candidates: Sequence[Feature], given: Sequence[Feature]
) -> float:
    """Estimate the time of one step from a few surrogates of the first candidate."""
    start = time.perf_counter()
    scorer = inquiry.bind(given)
    bound = time.perf_counter()
    block = candidates[0].block
    draws = range(1, 1 + DRAWS_AT_ONCE)
    score_draws(scorer, block, (0,), draws[:1], inquiry.surrogates)  # the first call may compile
    scoring = time.perf_counter()
    score_draws(scorer, block, (0,), draws, inquiry.surrogates)
    seconds_per_score = (time.perf_counter() - scoring) / len(draws)
    scores = len(candidates) * (1 + inquiry.n_permutations)
    return bound - start + scores * seconds_per_score / effective_n_jobs(inquiry.n_jobs)


def in_words(seconds: float) -> str:
    """Return a duration as people say it.

    >>> in_words(20), in_words(100), in_words(9000)
    ('20 s', '2 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def progress_bar(inquiry: Inquiry, verbose: int) -> Iterator[Inquiry]:
    """Show a bar of the scores computed while the selection runs, on standard error.

    How many steps there will be, nobody knows; so the bar counts and gives the rate.
    """
    if not verbose:
        yield inquiry
        return
    try:
        from rich.console import Console
        from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TimeElapsedColumn
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "verbose=1 shows progress with rich: pip install 'pidselect[progress]', or verbose=0."
        ) from error
    columns = (
        SpinnerColumn(),
        "[progress.description]{task.description}",
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("information values", total=None)
        yield replace(inquiry, progress=lambda count: bar.advance(task, count))
