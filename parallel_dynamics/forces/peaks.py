"""The largest load that each joint has seen, until it is reset."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parallel_dynamics.spatial import Array


class PeakHold:
    """Largest force and largest moment of each joint, and when they were.

    Attributes
    ----------
    names : tuple of str
        Joints and closures, the rows of the arrays.
    force, moment : (k,)
        Largest norms so far, N and N m; zero after a reset.
    force_time, moment_time : (k,)
        When they were, s; NaN before the first load.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.reset()

    def reset(self) -> None:
        """Start from zero again."""
        count = len(self.names)
        self.force, self.moment = np.zeros(count), np.zeros(count)
        self.force_time, self.moment_time = np.full(count, np.nan), np.full(count, np.nan)

    def update(self, time: float, wrenches: Array) -> None:
        """Take wrenches (k, 6) at a time (s); a component that is NaN counts as not there."""
        w = np.where(np.isnan(wrenches), 0.0, wrenches)
        squares = w * w
        for values, top, at in (
            (np.sqrt(squares[:, :3].sum(axis=1)), self.force, self.force_time),
            (np.sqrt(squares[:, 3:].sum(axis=1)), self.moment, self.moment_time),
        ):
            larger = values > top
            top[larger] = values[larger]
            at[larger] = time

    def largest(self) -> tuple[str, float, str, float]:
        """Joint with the largest force and that force, the same for the moment."""
        f, m = int(np.argmax(self.force)), int(np.argmax(self.moment))
        return self.names[f], float(self.force[f]), self.names[m], float(self.moment[m])
