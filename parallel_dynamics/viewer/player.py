"""Plays a motion of the platform against the clock."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.spatial import Array


class Player:
    """Times (N,) and motions, with a position in time that runs on when it plays.

    Attributes
    ----------
    playing : bool
    time : float
        s from the start.
    speed : float
    """

    def __init__(self, times: Array, motions: PlatformMotion) -> None:
        self._times = times - times[0]
        self._motions = motions
        self.duration = float(self._times[-1])
        self.playing = False
        self.time = 0.0
        self.speed = 1.0

    def advance(self, seconds: float) -> None:
        """Let time pass; at the end it starts again."""
        if self.playing and self.duration > 0.0:
            self.time = (self.time + self.speed * seconds) % self.duration

    def motion(self) -> PlatformMotion:
        """Return the motion of the sample nearest to the time."""
        k = int(np.clip(np.searchsorted(self._times, self.time), 1, len(self._times) - 1))
        nearer = self._times[k] - self.time < self.time - self._times[k - 1]
        found: PlatformMotion = self._motions[k if nearer else k - 1]
        return found

    @property
    def path(self) -> Array:
        """Positions (k, 3) of the platform, few enough to draw."""
        step = max(1, len(self._times) // 400)
        return np.asarray(self._motions.position[::step])
