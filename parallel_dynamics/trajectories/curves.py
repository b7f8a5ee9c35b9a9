"""Motions about a pose: circles, sine sweeps, swings, and the motions of the papers.

Each is a displacement ``d(t)`` (6,) [shift; rotation vector] from the pose it starts at, in base
axes, given as a formula with both derivatives.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError
from parallel_dynamics.motion import PlatformMotion, positive
from parallel_dynamics.spatial import Array
from parallel_dynamics.trajectories.laws import cruise, quintic
from parallel_dynamics.trajectories.rotation_vectors import rotation_from_vector
from parallel_dynamics.trajectories.trajectory import Trajectory

Displacement = Callable[[Array], tuple[Array, Array, Array]]
"""From times (N,) to displacement (N, 6), its velocity and its acceleration."""


class Curve(Trajectory):
    """A displacement from a pose, given as a function of time."""

    def __init__(self, start: PlatformMotion, duration: float, function: Displacement) -> None:
        self.duration = positive('duration', duration)
        self._position = np.array(start.position)
        self._rotation = np.array(start.rotation)
        self._function = function

    def rows(self, times: Array) -> Array:
        """Return packed motions (N, 24)."""
        d, d1, d2 = self._function(times)
        out = np.empty((len(times), 24))
        turn, w, wd = rotation_from_vector(d[:, 3:], d1[:, 3:], d2[:, 3:])
        out[:, 0:3] = self._position + d[:, :3]
        out[:, 3:12] = (turn @ self._rotation).reshape(-1, 9)
        out[:, 12:15], out[:, 15:18] = d1[:, :3], w
        out[:, 18:21], out[:, 21:24] = d2[:, :3], wd
        return out


def six(name: str, value: ArrayLike) -> Array:
    """Return (6,) from six numbers [m; rad] or from three, which are a shift."""
    v = np.asarray(value, dtype=float)
    if v.shape not in ((3,), (6,)) or not np.isfinite(v).all():
        raise InputError(f'{name}: expected three or six finite numbers [m; rad], got {value!r}')
    return np.concatenate([v, np.zeros(6 - len(v))])


def circle(
    start: PlatformMotion,
    to_centre: ArrayLike,
    across: ArrayLike,
    period: float,
    turns: float = 1.0,
) -> Curve:
    """Return a circle that begins and ends at rest in ``start``, when ``turns`` is whole.

    ``d = c (1 - cos f) + a sin f`` with ``f`` from 0 to ``2 pi turns``, speeding up and slowing
    down smoothly over a fifth of the duration. Radii that are not equal, or not perpendicular,
    give an ellipse; rotation vectors in them give a coning motion.

    Parameters
    ----------
    to_centre : (3,) or (6,)
        ``c``: from the start to the centre, m (and rad).
    across : (3,) or (6,)
        ``a``: the radius at right angles, in the direction in which the motion begins.
    period : float, s
        Mean time of one turn.
    """
    c, a = six('to_centre', to_centre), six('across', across)
    duration = positive('period', period) * positive('turns', turns)
    law = cruise(0.2)
    full = 2.0 * np.pi * turns

    def function(t: Array) -> tuple[Array, Array, Array]:
        f, f1, f2 = (full * v[:, None] for v in law(t / duration))
        f1, f2 = f1 / duration, f2 / duration**2
        sin, cos = np.sin(f), np.cos(f)
        along = c * sin + a * cos
        return c * (1.0 - cos) + a * sin, along * f1, along * f2 + (c * cos - a * sin) * f1**2

    return Curve(start, duration, function)


def sweep(
    start: PlatformMotion,
    amplitude: ArrayLike,
    first_frequency: float,
    last_frequency: float,
    duration: float,
    constant_velocity: bool = False,
) -> Curve:
    """Return a sine sweep ``d = A w(t) sin f(t)`` whose frequency (Hz) rises exponentially.

    ``w`` fades in and out over a tenth of the duration each. With ``constant_velocity`` the
    amplitude falls as the frequency rises.
    """
    A = six('amplitude', amplitude)
    f0 = positive('first_frequency', first_frequency)
    ratio = positive('last_frequency', last_frequency) / f0
    T = positive('duration', duration)
    growth = np.log(ratio) / T

    def function(t: Array) -> tuple[Array, Array, Array]:
        w, w1, w2 = _window(t / T, 0.1)
        w1, w2 = w1 / T, w2 / T**2
        if constant_velocity:
            fall = np.exp(-growth * t)
            w, w1, w2 = (
                fall * w,
                fall * (w1 - growth * w),
                fall * (w2 - 2.0 * growth * w1 + growth**2 * w),
            )
        rate = 2.0 * np.pi * f0 * np.exp(growth * t)
        f = (rate - 2.0 * np.pi * f0) / growth if abs(growth) > 1e-12 else rate * t
        sin, cos = np.sin(f), np.cos(f)
        d = w * sin
        d1 = w1 * sin + w * rate * cos
        d2 = (w2 - w * rate**2) * sin + (2.0 * w1 * rate + w * growth * rate) * cos
        return d[:, None] * A, d1[:, None] * A, d2[:, None] * A

    return Curve(start, T, function)


def _window(x: Array, fade: float) -> tuple[Array, Array, Array]:
    """Return a window with quintic flanks over [0, 1] and its derivatives."""
    late = x > 0.5
    y = np.minimum(np.where(late, 1.0 - x, x) / fade, 1.0)
    s, s1, s2 = quintic(y)
    return s, np.where(late, -1.0, 1.0) * s1 / fade, s2 / fade**2


def swing(
    start: PlatformMotion, amplitude: ArrayLike, period: float, cycles: float = 1.0
) -> Curve:
    """Return a swing of all components at once, from rest to rest after whole cycles.

    Component ``k`` of the shift, and of the rotation, follows ``sin^3((k + 1) w t)``, which
    starts and ends with zero velocity and acceleration and keeps the components independent.
    """
    A = six('amplitude', amplitude)
    w = 2.0 * np.pi / positive('period', period) * np.array([1.0, 2.0, 3.0, 3.0, 2.0, 1.0])

    def function(t: Array) -> tuple[Array, Array, Array]:
        phase = t[:, None] * w
        s, c = np.sin(phase), np.cos(phase)
        d2 = (6.0 * s * c**2 - 3.0 * s**3) * w**2
        return A * s**3, A * 3.0 * s**2 * c * w, A * d2

    return Curve(start, period * positive('cycles', cycles), function)


def versine(start: PlatformMotion, amplitude: ArrayLike, period: float) -> Curve:
    """Return ``d = A (1 - cos w t)`` over one period: out by twice the amplitude, and back.

    At rest at both ends, with an acceleration ``A w^2`` that begins and ends at once.
    """
    A = six('amplitude', amplitude)
    w = 2.0 * np.pi / positive('period', period)

    def function(t: Array) -> tuple[Array, Array, Array]:
        s, c = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        return A * (1.0 - c), A * w * s, A * w * w * c

    return Curve(start, period, function)


PAPER_MOTIONS: dict[str, tuple[Array, float]] = {
    'chablat_wenger_staicu_2009': (np.array([0.05, -0.1, 0.2, 0.0, 0.0, 0.0]), 6.0),
    'staicu_3rps_heave': (np.array([0.0, 0.0, -0.1, 0.0, 0.0, 0.0]), 6.0),
    'staicu_3rps_roll': (np.array([0.0, 0.0, 0.0, np.pi / 18.0, 0.0, 0.0]), 6.0),
}
"""Amplitude and period of the motions that papers print: chablat_wenger_staicu_2009 (6), whose
axes are (x, -y, -z) of base_link, and staicu_3rps (13). They are versines of 6 s, of which the
papers show the first 2 and 3 s; here they run for the whole period, back to rest. The other papers
print no motion.
"""


def paper_motion(start: PlatformMotion, key: str, amplitude: float = 1.0) -> Curve:
    """Return a motion of :data:`PAPER_MOTIONS` from a pose, its amplitude times a factor."""
    if key not in PAPER_MOTIONS:
        raise InputError(f'motion: expected one of {", ".join(PAPER_MOTIONS)}, got {key!r}')
    size, period = PAPER_MOTIONS[key]
    return versine(start, amplitude * size, period)
