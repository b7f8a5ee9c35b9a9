"""A filter that turns sampled positions into positions and velocities, with a known delay."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError
from parallel_dynamics.motion import checked, positive
from parallel_dynamics.spatial import Array


class StateFilter:
    """Second-order low-pass filter, critically damped, that knows its own rate.

    ``x'' = w^2 (u - x) - 2 w x'`` with ``w = 2 pi cutoff``, solved exactly between samples for
    an input that is straight there. A ramp comes out as the same ramp, ``delay`` later, and its
    slope without error.

    Parameters
    ----------
    cutoff : float
        Hz; the input is damped to half its amplitude there.
    """

    def __init__(self, cutoff: float) -> None:
        self.cutoff = positive('cutoff', cutoff)
        self._w = 2.0 * math.pi * self.cutoff
        self._input: Array | None = None
        self.position = np.zeros(0)
        self.velocity = np.zeros(0)

    @property
    def delay(self) -> float:
        """Delay of position and velocity, s, for motions slow against the cut-off."""
        return 2.0 / self._w

    def reset(self, position: ArrayLike, velocity: ArrayLike | None = None) -> None:
        """Start in a steady motion: at a position (n,) with a velocity (n,), zero by default."""
        u = np.array(position, float)
        v = np.zeros_like(u) if velocity is None else np.array(velocity, float)
        self._input = u
        self.position, self.velocity = u - 2.0 * v / self._w, v

    def update(self, position: ArrayLike, dt: float) -> tuple[Array, Array]:
        """Take a sample (n,) that is ``dt`` (s) younger than the last one; the first one resets.

        Returns
        -------
        position, velocity : (n,)
            Filtered, ``delay`` old.
        """
        u = np.array(position, float)
        checked('position', u, u.shape)
        if self._input is None:
            self.reset(u)
            return self.position, self.velocity
        if u.shape != self._input.shape:
            raise InputError(f'position: expected shape {self._input.shape}, got {u.shape}')
        h = positive('dt', dt)
        w = self._w
        slope = (u - self._input) / h
        # Deviation from the steady answer to the ramp dies out as a critically damped one.
        e = self.position - (self._input - 2.0 * slope / w)
        d = self.velocity - slope
        fade = math.exp(-w * h)
        self.position = u - 2.0 * slope / w + fade * ((1.0 + w * h) * e + h * d)
        self.velocity = slope + fade * ((1.0 - w * h) * d - w * w * h * e)
        self._input = u
        return self.position, self.velocity
