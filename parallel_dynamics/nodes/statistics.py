"""How steady a periodic loop runs: rate, jitter, overruns."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
import time

WINDOW = 4000
"""Ticks that jitter and rate are taken from."""


@dataclass(frozen=True)
class LoopSummary:
    """What a loop did lately; times in seconds, ``ticks`` and ``overruns`` since its start."""

    rate: float
    wanted_rate: float
    jitter_median: float
    jitter_worst: float
    jitter_99: float
    busy: float
    ticks: int
    overruns: int

    def values(self) -> dict[str, str]:
        """Return the numbers as diagnostics carry them."""
        return {
            'rate (Hz)': f'{self.rate:.2f}',
            'wanted rate (Hz)': f'{self.wanted_rate:g}',
            'jitter median (ms)': f'{1e3 * self.jitter_median:.3f}',
            'jitter 99 % (ms)': f'{1e3 * self.jitter_99:.3f}',
            'jitter worst (ms)': f'{1e3 * self.jitter_worst:.3f}',
            'time in loop (ms)': f'{1e3 * self.busy:.3f}',
            'ticks': str(self.ticks),
            'overruns': str(self.overruns),
        }


class LoopStatistics:
    """Collects the ticks of a loop.

    Jitter is how far the time between two ticks is from the period. A tick is an overrun when
    its work took longer than the period, or when it came more than a period late.
    """

    def __init__(self, period: float) -> None:
        self.period = period
        self.ticks = 0
        self.overruns = 0
        self._starts: deque[float] = deque(maxlen=WINDOW)
        self._busy: deque[float] = deque(maxlen=WINDOW)

    def begin(self) -> None:
        """Note that a tick begins."""
        now = time.perf_counter()
        if self._starts and now - self._starts[-1] > 2.0 * self.period:
            self.overruns += 1
        self._starts.append(now)
        self.ticks += 1

    def end(self) -> None:
        """Note that the work of the tick is done."""
        busy = time.perf_counter() - self._starts[-1]
        self._busy.append(busy)
        if busy > self.period:
            self.overruns += 1

    def restart(self, period: float | None = None) -> None:
        """Forget the window, after a pause or with a new period; the counts go on."""
        self.period = self.period if period is None else period
        self._starts.clear()
        self._busy.clear()

    def summary(self) -> LoopSummary:
        """Return the numbers of the window."""
        starts = list(self._starts)
        gaps = [b - a for a, b in zip(starts, starts[1:])]
        jitter = sorted(abs(gap - self.period) for gap in gaps) or [0.0]
        span = sum(gaps)
        return LoopSummary(
            rate=len(gaps) / span if span > 0.0 else 0.0,
            wanted_rate=1.0 / self.period,
            jitter_median=jitter[len(jitter) // 2],
            jitter_99=jitter[min(len(jitter) - 1, int(0.99 * len(jitter)))],
            jitter_worst=jitter[-1],
            busy=sum(self._busy) / len(self._busy) if self._busy else 0.0,
            ticks=self.ticks,
            overruns=self.overruns,
        )
