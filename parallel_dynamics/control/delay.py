"""How late a loop acts on what it measures, and how much bandwidth that leaves it.

A command that answers a state of age ``a`` and is held over an interval ``h`` acts ``a + h / 2``
late on the average. Late feedback takes phase away, ``w_c T`` at the crossover ``w_c`` of the
open loop ``(d s + p) / s^2``. A loop may lose half of its phase margin; where it is later than
that allows, its bandwidth is lowered in proportion. An idle computer has nothing to do with
this; a busy one makes the loop softer instead of unstable.
"""

from __future__ import annotations

from dataclasses import replace
from math import atan2, exp, sqrt

from parallel_dynamics.control.gains import Gains

WINDOW = 0.2
"""Seconds that the mean delay is taken over."""
STEP = 0.05
"""Change of the share that is worth new gains."""


def allowed_delay(gains: Gains) -> float:
    """Return the delay (s) that takes half of the phase margin of ``(d s + p) / s^2``."""
    p, d = gains.p, gains.d
    crossover = sqrt(0.5 * (d * d + sqrt(d**4 + 4.0 * p * p)))
    return 0.5 * atan2(d * crossover, p) / crossover


def relaxed(gains: Gains, share: float) -> Gains:
    """Return gains for a share of the bandwidth, with the same damping."""
    one, two, three = share, share**2, share**3
    return replace(
        gains, kp=two * gains.kp, kd=one * gains.kd, ki=three * gains.ki,
        p=two * gains.p, d=one * gains.d, i=three * gains.i,
    )  # fmt: skip


class DelayWatch:
    """Follows the delay of a loop from cycle to cycle.

    Attributes
    ----------
    mean : float
        Delay over the last ``WINDOW``, s; each cycle counts for as long as it lasts.
    share : float
        Of the bandwidth that the delay leaves, in (0, 1].
    """

    def __init__(self, gains: Gains) -> None:
        self.mean = 0.0
        self.set_gains(gains)

    def set_gains(self, gains: Gains) -> None:
        """Watch over a loop with these gains."""
        self._full = self.gains = gains
        self._allowed = allowed_delay(gains)
        self.share = 1.0

    def reset(self) -> None:
        """Forget the delay."""
        self.mean = 0.0
        self.set_gains(self._full)

    def cycle(self, age: float, interval: float) -> Gains:
        """Take note of a cycle and return the gains to go on with."""
        weight = 1.0 - exp(-interval / WINDOW)
        self.mean += weight * (age + 0.5 * interval - self.mean)
        share = min(1.0, self._allowed / max(self.mean, 1e-9))
        if abs(share - self.share) > STEP * self.share or share == 1.0 != self.share:
            self.share = share
            self.gains = self._full if share == 1.0 else relaxed(self._full, share)
        return self.gains
