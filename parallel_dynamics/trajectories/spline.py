"""A trajectory through given poses; what is missing of velocities and accelerations is filled in.

The coordinates are position and the rotation vector from a middle pose. Between two poses runs a
polynomial of fifth order, whatever is given:

- pose, twist and acceleration: the quintic through all six values; acceleration is continuous;
- pose and twist: accelerations are those that make the jerk continuous as well;
- pose alone: the quintic spline, continuous up to the fourth derivative.

Velocity and acceleration that are not given are zero at both ends.
"""

from __future__ import annotations

from bisect import bisect_right
from math import cos, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline
from scipy.linalg import solve_banded
from scipy.spatial.transform import Rotation

from parallel_dynamics.errors import InputError
from parallel_dynamics.motion import PlatformMotion, checked
from parallel_dynamics.spatial import Array
from parallel_dynamics.trajectories.rotation_vectors import (
    rotation_from_vector,
    unwrapped,
    vector_rates,
)
from parallel_dynamics.trajectories.trajectory import Trajectory

LARGEST_TURN = 1.8 * np.pi
"""How far, in rad, poses may be turned from the middle one."""


class Spline(Trajectory):
    """A smooth trajectory through poses at given times.

    Parameters
    ----------
    times : (N,), s
        Increasing; the trajectory starts at the first of them, which becomes zero.
    position, rotation : (N, 3), (N, 3, 3)
    twist, twist_rate : (N, 6), optional
        [linear; angular] of the platform's origin, base axes.
    """

    def __init__(
        self,
        times: ArrayLike,
        position: ArrayLike,
        rotation: ArrayLike,
        twist: ArrayLike | None = None,
        twist_rate: ArrayLike | None = None,
    ) -> None:
        t = checked_times(times)
        poses = PlatformMotion(position, rotation)
        if poses.batch != len(t):
            raise InputError(f'position: expected {len(t)} rows, one for each time, '
                             f'got {poses.batch}')  # fmt: skip
        given = [None if v is None else _rows(n, v, len(t))
                 for n, v in (('twist', twist), ('twist_rate', twist_rate))]  # fmt: skip
        self.duration = float(t[-1] - t[0])
        self._middle = np.array(poses.rotation[len(t) // 2])
        relative = Rotation.from_matrix(poses.rotation @ self._middle.T).as_rotvec()
        # Unwrap from the middle outwards, so that the angles stay small at both ends.
        half = len(t) // 2
        r = np.vstack([unwrapped(relative[half::-1])[::-1], unwrapped(relative[half:])[1:]])
        turn = float(np.linalg.norm(r, axis=1).max())
        if turn > LARGEST_TURN:
            raise InputError(
                f'rotation: expected turns below {np.degrees(LARGEST_TURN):.0f} deg from the '
                f'middle of the trajectory, got {np.degrees(turn):.0f}; cut it into parts'
            )
        x = np.hstack([poses.position, r])
        v, a = _coordinate_rates(r, *given)
        self._breaks = t - t[0]
        self._break_list = self._breaks.tolist()
        self._coefficients = _polynomials(self._breaks, x, v, a)
        self._coefficient_lists = None if len(t) > 100_000 else self._coefficients.tolist()

    def rows(self, times: Array) -> Array:
        """Return packed motions (N, 24)."""
        k = np.clip(np.searchsorted(self._breaks, times, 'right') - 1, 0, len(self._breaks) - 2)
        h = (times - self._breaks[k])[:, None]
        c5, c4, c3, c2, c1, c0 = np.moveaxis(self._coefficients[k], 1, 0)
        d = ((((c5 * h + c4) * h + c3) * h + c2) * h + c1) * h + c0
        d1 = (((5.0 * c5 * h + 4.0 * c4) * h + 3.0 * c3) * h + 2.0 * c2) * h + c1
        d2 = ((20.0 * c5 * h + 12.0 * c4) * h + 6.0 * c3) * h + 2.0 * c2
        turn, w, wd = rotation_from_vector(d[:, 3:], d1[:, 3:], d2[:, 3:])
        rotation = (turn @ self._middle).reshape(-1, 9)
        return np.hstack([d[:, :3], rotation, d1[:, :3], w, d2[:, :3], wd])

    def at(self, time: float) -> PlatformMotion:
        """Return the motion at one time, s; quick enough for a control loop."""
        if self._coefficient_lists is None:
            return super().at(time)
        return PlatformMotion._wrap(self._row(float(time)))  # type: ignore[no-any-return]

    def _row(self, time: float) -> Array:
        """Return one packed motion, in scalar arithmetic: arrays of three would cost more."""
        t = min(max(time, 0.0), self.duration)
        k = min(max(bisect_right(self._break_list, t) - 1, 0), len(self._break_list) - 2)
        h = t - self._break_list[k]
        d, d1, d2 = [], [], []
        for c5, c4, c3, c2, c1, c0 in zip(*self._coefficient_lists[k]):  # type: ignore[index]
            d.append(((((c5 * h + c4) * h + c3) * h + c2) * h + c1) * h + c0)
            d1.append((((5.0 * c5 * h + 4.0 * c4) * h + 3.0 * c3) * h + 2.0 * c2) * h + c1)
            d2.append(((20.0 * c5 * h + 12.0 * c4) * h + 6.0 * c3) * h + 2.0 * c2)
        out = np.zeros(24)
        out[0:3] = d[:3]
        turn, w, wd = _turn(*d[3:], *d1[3:], *d2[3:])
        out[3:12] = (np.array(turn) @ self._middle).ravel()
        if 0.0 <= time <= self.duration:
            out[12:15], out[15:18], out[18:21], out[21:24] = d1[:3], w, d2[:3], wd
        return out


def checked_times(times: ArrayLike) -> Array:
    """Return times (N,) that increase, at least two of them, or refuse them."""
    t = np.asarray(times, dtype=float)
    if t.ndim != 1 or len(t) < 2 or not np.isfinite(t).all():
        raise InputError(
            f'times: expected at least two finite numbers of shape (N,), got shape {t.shape}'
        )
    steps = np.diff(t)
    if (steps <= 0.0).any():
        k = int(np.argmax(steps <= 0.0))
        raise InputError(
            f'times: expected increasing numbers, got {t[k + 1]:g} s after {t[k]:g} s '
            f'(point {k + 1})'
        )
    return t


def _rows(name: str, value: ArrayLike, count: int) -> Array:
    array = checked(name, value, (6,))
    if array.shape != (count, 6):
        raise InputError(f'{name}: expected shape ({count}, 6), got {array.shape}')
    return array


def _coordinate_rates(
    r: Array, twist: Array | None, twist_rate: Array | None
) -> tuple[Array | None, Array | None]:
    """Return first and second derivatives (N, 6) of the coordinates, where given."""
    if twist is None:
        return None, None
    rate = np.zeros_like(twist) if twist_rate is None else twist_rate
    rd, rdd = vector_rates(r, twist[:, 3:], rate[:, 3:])
    v = np.hstack([twist[:, :3], rd])
    return v, None if twist_rate is None else np.hstack([rate[:, :3], rdd])


def _polynomials(t: Array, x: Array, v: Array | None, a: Array | None) -> Array:
    """Return coefficients (N - 1, 6, 6): segment, falling power, coordinate."""
    if v is None:
        if len(t) == 2:
            v = a = np.zeros_like(x)
        else:
            # Its knots are the times, so values and rates there say all about it.
            still = [(1, np.zeros(6)), (2, np.zeros(6))]
            spline = make_interp_spline(t, x, k=5, bc_type=(still, still))
            v, a = spline(t, 1), spline(t, 2)
    if a is None:
        a = _smooth_accelerations(t, x, v)
    h = np.diff(t)[:, None]
    step = (x[1:] - x[:-1] - v[:-1] * h - 0.5 * a[:-1] * h**2) / h**3
    slope = (v[1:] - v[:-1] - a[:-1] * h) / h**2
    bend = (a[1:] - a[:-1]) / h
    c3 = 10.0 * step - 4.0 * slope + 0.5 * bend
    c4 = (-15.0 * step + 7.0 * slope - bend) / h
    c5 = (6.0 * step - 3.0 * slope + 0.5 * bend) / h**2
    return np.stack([c5, c4, c3, 0.5 * a[:-1], v[:-1], x[:-1]], axis=1)


def _smooth_accelerations(t: Array, x: Array, v: Array) -> Array:
    """Return accelerations (N, 6) with which quintics through x and v have continuous jerk."""
    n = len(t)
    h = np.diff(t)[:, None]
    dx = np.diff(x, axis=0)
    # Jerk of a quintic at its start and at its end, without the terms of a.
    first = 60.0 * dx / h**3 - (36.0 * v[:-1] + 24.0 * v[1:]) / h**2
    last = 60.0 * dx / h**3 - (24.0 * v[:-1] + 36.0 * v[1:]) / h**2
    bands = np.zeros((3, n))
    right = np.zeros_like(x)
    bands[1, 0] = bands[1, -1] = 1.0  # zero at both ends
    g = 1.0 / h[:, 0]
    bands[0, 2:] = -3.0 * g[1:]
    bands[1, 1:-1] = 9.0 * (g[:-1] + g[1:])
    bands[2, :-2] = -3.0 * g[:-1]
    right[1:-1] = first[1:] - last[:-1]
    return np.asarray(solve_banded((1, 1), bands, right))


def _turn(
    x: float, y: float, z: float, x1: float, y1: float, z1: float, x2: float, y2: float, z2: float
) -> tuple[list[list[float]], tuple[float, float, float], tuple[float, float, float]]:
    """As ``rotation_from_vector``, for one rotation, in scalars."""
    xx = x * x + y * y + z * z
    if xx < 2.5e-3:
        f = 1.0 - xx / 6.0 + xx * xx / 120.0 - xx * xx * xx / 5040.0
        a = 0.5 - xx / 24.0 + xx * xx / 720.0 - xx * xx * xx / 40320.0
        b = 1.0 / 6.0 - xx / 120.0 + xx * xx / 5040.0 - xx * xx * xx / 362880.0
        da = -1.0 / 12.0 + xx / 180.0 - xx * xx / 6720.0
        db = -1.0 / 60.0 + xx / 1260.0 - xx * xx / 60480.0
    else:
        n = sqrt(xx)
        s, c = sin(n), cos(n)
        f = s / n
        a = (1.0 - c) / xx
        b = (n - s) / (xx * n)
        da = (n * s - 2.0 * (1.0 - c)) / (xx * xx)
        db = (3.0 * s - n * (2.0 + c)) / (xx * xx * n)
    rotation = [
        [1.0 - a * (y * y + z * z), a * x * y - f * z, a * x * z + f * y],
        [a * x * y + f * z, 1.0 - a * (x * x + z * z), a * y * z - f * x],
        [a * x * z - f * y, a * y * z + f * x, 1.0 - a * (x * x + y * y)],
    ]
    ux, uy, uz = y * z1 - z * y1, z * x1 - x * z1, x * y1 - y * x1
    vx, vy, vz = y * uz - z * uy, z * ux - x * uz, x * uy - y * ux
    w = (x1 + a * ux + b * vx, y1 + a * uy + b * vy, z1 + a * uz + b * vz)
    dot = x * x1 + y * y1 + z * z1
    px, py, pz = y * z2 - z * y2, z * x2 - x * z2, x * y2 - y * x2
    sx = y1 * uz - z1 * uy + y * pz - z * py
    sy = z1 * ux - x1 * uz + z * px - x * pz
    sz = x1 * uy - y1 * ux + x * py - y * px
    wd = (
        x2 + a * px + b * sx + dot * (da * ux + db * vx),
        y2 + a * py + b * sy + dot * (da * uy + db * vy),
        z2 + a * pz + b * sz + dot * (da * uz + db * vz),
    )
    return rotation, w, wd
