"""From one motion over to another: an offset that fades while the new motion runs.

The reference is ``p = p_new + shift``, ``R = exp(turn~) R_new``. Shift and turn start as the
difference of the two motions, with both derivatives, so that pose, twist and acceleration are
continuous. They fade by a fifth-order polynomial, gone after a given time; or exponentially with
a triple pole, which for a stream of set-points is the third-order low-pass
``x''' = w^3 (x_c - x) + 3 w^2 (v_c - v) + 3 w (a_c - a)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import exp

import numpy as np

from parallel_dynamics.control.laws import pose_error
from parallel_dynamics.spatial import Array
from parallel_dynamics.trajectories.rotation_vectors import rotation_from_vector, vector_rates

Row = Callable[[float], Array]
"""A motion: from time (s) to a packed PlatformMotion (24,)."""


class Fade(ABC):
    """How an offset (6,) with its derivatives goes to zero."""

    @abstractmethod
    def at(self, time: float) -> tuple[Array, Array, Array]:
        """Return offset, rate and acceleration (6,) a time (s) after the start."""

    @abstractmethod
    def over(self, time: float) -> bool:
        """Return whether nothing is left."""


class PolynomialFade(Fade):
    """Fifth-order polynomial from an offset and its rates to rest at zero, in ``duration`` (s)."""

    def __init__(self, offset: Array, rate: Array, acceleration: Array, duration: float) -> None:
        T = self.duration = duration
        self._c = (
            offset,
            rate,
            0.5 * acceleration,
            -(10.0 * offset + 6.0 * T * rate + 1.5 * T**2 * acceleration) / T**3,
            (15.0 * offset + 8.0 * T * rate + 1.5 * T**2 * acceleration) / T**4,
            -(6.0 * offset + 3.0 * T * rate + 0.5 * T**2 * acceleration) / T**5,
        )

    def over(self, time: float) -> bool:
        """Return whether nothing is left."""
        return time >= self.duration

    def at(self, time: float) -> tuple[Array, Array, Array]:
        """Return offset, rate and acceleration (6,)."""
        c0, c1, c2, c3, c4, c5 = self._c
        t = min(max(time, 0.0), self.duration)
        return (
            ((((c5 * t + c4) * t + c3) * t + c2) * t + c1) * t + c0,
            (((5.0 * c5 * t + 4.0 * c4) * t + 3.0 * c3) * t + 2.0 * c2) * t + c1,
            ((20.0 * c5 * t + 12.0 * c4) * t + 6.0 * c3) * t + 2.0 * c2,
        )


class ExponentialFade(Fade):
    """``(A + B t + C t^2) exp(-w t)``: three equal poles at ``w`` (rad/s)."""

    def __init__(self, offset: Array, rate: Array, acceleration: Array, w: float) -> None:
        self._w = w
        self._a = offset
        self._b = rate + w * offset
        self._c = 0.5 * (acceleration + 2.0 * w * self._b - w * w * offset)

    def over(self, time: float) -> bool:
        """Return whether nothing is left."""
        return self._w * time > 60.0

    def at(self, time: float) -> tuple[Array, Array, Array]:
        """Return offset, rate and acceleration (6,)."""
        t, w = max(time, 0.0), self._w
        left = exp(-w * t)
        value = (self._c * t + self._b) * t + self._a
        slope = 2.0 * self._c * t + self._b
        return (
            left * value,
            left * (slope - w * value),
            left * (2.0 * self._c - 2.0 * w * slope + w * w * value),
        )


def offset_between(old: Array, new: Array) -> tuple[Array, Array, Array]:
    """Return shift and turn (6,) from packed motion ``new`` to ``old``, with both derivatives."""
    offset = pose_error(old, new)
    turn = offset[None, 3:]
    E = old[3:12].reshape(3, 3) @ new[3:12].reshape(3, 3).T
    w_new = E @ new[15:18]
    w = old[15:18] - w_new
    wd = old[21:24] - E @ new[21:24] - np.cross(w, w_new)
    rd, rdd = vector_rates(turn, w[None], wd[None])
    rate = np.concatenate([old[12:15] - new[12:15], rd[0]])
    acceleration = np.concatenate([old[18:21] - new[18:21], rdd[0]])
    return offset, rate, acceleration


def add_offset(new: Array, offset: Array, rate: Array, acceleration: Array) -> Array:
    """Return the packed motion ``new`` moved by shift and turn (6,) with their derivatives."""
    turn, w, wd = rotation_from_vector(offset[None, 3:], rate[None, 3:], acceleration[None, 3:])
    E, w, wd = turn[0], w[0], wd[0]
    w_new = E @ new[15:18]
    out = np.empty(24)
    out[0:3] = new[0:3] + offset[:3]
    out[3:12] = (E @ new[3:12].reshape(3, 3)).ravel()
    out[12:15] = new[12:15] + rate[:3]
    out[15:18] = w + w_new
    out[18:21] = new[18:21] + acceleration[:3]
    out[21:24] = wd + E @ new[21:24] + np.cross(w, w_new)
    return out


class Transition:
    """The new motion with a fading offset, from ``start`` (s) on."""

    def __init__(self, new: Row, start: float, fade: Fade) -> None:
        self._new = new
        self._start = start
        self._fade = fade

    def __call__(self, time: float) -> Array:
        """Return the packed motion (24,) at a time."""
        row = self._new(time)
        since = time - self._start
        return row if self._fade.over(since) else add_offset(row, *self._fade.at(since))


def resting(row: Array) -> Row:
    """Return a motion that rests in the pose of a packed motion."""
    held = np.zeros(24)
    held[:12] = row[:12]
    return lambda time: held


def coasting(row: Array, start: float) -> Row:
    """Return a motion that goes on from a packed motion with its acceleration held."""
    rotation = row[3:12].reshape(3, 3)

    def motion(time: float) -> Array:
        t = max(time - start, 0.0)
        out = np.array(row)
        shift = row[12:18] * t + (0.5 * t * t) * row[18:24]
        rate = row[12:18] + t * row[18:24]
        turn, w, wd = rotation_from_vector(shift[None, 3:], rate[None, 3:], row[None, 21:24])
        out[0:3] += shift[:3]
        out[3:12] = (turn[0] @ rotation).ravel()
        out[12:15], out[15:18], out[21:24] = rate[:3], w[0], wd[0]
        return out

    return motion
