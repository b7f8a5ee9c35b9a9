"""How many ticks of simulated time the wall clock owes."""

from __future__ import annotations

import time

BACKLOG = 0.1
"""Seconds of wall time that may be made up; what is beyond is dropped."""


class Pacer:
    """Keeps simulated time at ``factor`` times the wall's.

    Attributes
    ----------
    factor : float
        Simulated seconds per second.
    dropped : float
        Simulated seconds that were never made up, since the start.
    slipped : bool
        Whether the last call of :meth:`due` dropped any.
    """

    def __init__(self, tick: float, factor: float = 1.0) -> None:
        self.tick = tick
        self.factor = factor
        self.dropped = 0.0
        self.slipped = False
        self.restart()

    def restart(self) -> None:
        """Owe nothing, from now on."""
        self._start = time.monotonic()
        self._given = 0

    def set_factor(self, factor: float) -> None:
        """Go on at another factor."""
        self.factor = factor
        self.restart()

    def due(self) -> int:
        """Return the ticks to take now; they count as taken."""
        owed = int((time.monotonic() - self._start) * self.factor / self.tick) - self._given
        most = max(1, int(BACKLOG * self.factor / self.tick))
        self.slipped = owed > most
        if self.slipped:
            self.dropped += (owed - most) * self.tick
            owed = most
            self.restart()
            return owed
        self._given += owed
        return owed
