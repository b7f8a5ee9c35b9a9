"""How things are timed: one pinned core, shuffled order, medians of many repeats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import contextlib
import os
import random
import statistics
import time
from typing import Any

REPEATS = 21
"""Repeats that a median is taken of: never fewer than 20 in what is published."""
ROUND = 2e-3
"""Seconds that one repeat takes at least."""


class Effort:
    """How much is measured: all of it, or little to see that everything works."""

    quick = False
    repeats = REPEATS
    states = 100_000

    @classmethod
    def make_quick(cls) -> None:
        """Few repeats and small batches: the page is whole, its times mean little."""
        cls.quick, cls.repeats, cls.states = True, 3, 1_000


@contextlib.contextmanager
def one_core():
    """Keep this process, and the threads it starts, on one core for a while."""
    if not hasattr(os, 'sched_setaffinity'):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def seconds(functions: Sequence[Callable[[], object]], rounds: int) -> float:
    """Time of one call (s), over a number of rounds of calls."""
    start = time.perf_counter()
    for _ in range(rounds):
        for function in functions:
            function()
    return (time.perf_counter() - start) / (rounds * len(functions))


def medians(
    functions: Mapping[Any, Callable[[], object] | Sequence[Callable[[], object]]],
    repeats: int | None = None,
    round_time: float = ROUND,
) -> dict[Any, float]:
    """Return the median time (s) of one call of each function.

    A sequence stands for calls that do the same for one state after the other. In every repeat
    all functions are timed once, in a new random order, so that whatever else the
    machine does hits them alike.
    """
    calls = {k: list(f) if isinstance(f, Sequence) else [f] for k, f in functions.items()}
    rounds = {}
    for name, several in calls.items():
        several[0]()  # compiles and warms up
        once = seconds(several, 1) * len(several)
        rounds[name] = max(1, round(round_time / max(once, 1e-9)))
    times: dict[Any, list[float]] = {name: [] for name in functions}
    shuffle = random.Random(0)
    for _ in range(repeats or Effort.repeats):
        names = list(functions)
        shuffle.shuffle(names)
        for name in names:
            times[name].append(seconds(calls[name], rounds[name]))
    return {name: statistics.median(values) for name, values in times.items()}
