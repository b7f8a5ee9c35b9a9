"""How a move runs along its path: scalar laws ``s(t)`` from 0 to 1, at rest at both ends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.spatial import Array

Law = Callable[[Array], tuple[Array, Array, Array]]
"""From normalised time ``x`` in [0, 1] to s, ds/dx and d2s/dx2."""


def quintic(x: Array) -> tuple[Array, Array, Array]:
    """Fifth-order polynomial: velocity and acceleration are zero at both ends.

    Its peaks are 1.875 of the mean velocity and 5.77 distances per duration squared.
    """
    s = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
    s1 = 30.0 * x**2 * (1.0 - x) ** 2
    s2 = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)
    return s, s1, s2


def trapezoidal(ramp: float = 0.25) -> Law:
    """Trapezoidal velocity: constant acceleration, cruise, constant deceleration.

    ``ramp`` is the share of the duration that each of the two ramps takes, at most 0.5.
    """
    if not 0.0 < ramp <= 0.5:
        raise InputError(f'ramp: expected a share of the duration in (0, 0.5], got {ramp!r}')
    top = 1.0 / (1.0 - ramp)
    rate = top / ramp

    def law(x: Array) -> tuple[Array, Array, Array]:
        up, down = x < ramp, x > 1.0 - ramp
        left = 1.0 - x
        s = np.where(up, 0.5 * rate * x**2, top * (x - 0.5 * ramp))
        s = np.where(down, 1.0 - 0.5 * rate * left**2, s)
        s1 = np.where(up, rate * x, np.where(down, rate * left, top))
        s2 = np.where(up, rate, np.where(down, -rate, 0.0))
        return s, s1, s2

    return law


def cruise(ramp: float = 0.2) -> Law:
    """Constant velocity with quintic ramps of the velocity: acceleration and jerk start at zero.

    ``ramp`` is the share of the duration that each of the two ramps takes, at most 0.5.
    """
    if not 0.0 < ramp <= 0.5:
        raise InputError(f'ramp: expected a share of the duration in (0, 0.5], got {ramp!r}')
    top = 1.0 / (1.0 - ramp)

    def law(x: Array) -> tuple[Array, Array, Array]:
        # Both ramps at once: the second is the first, mirrored.
        mirrored = x > 0.5
        near = np.where(mirrored, 1.0 - x, x)
        y = np.minimum(near / ramp, 1.0)
        area = y**4 * (2.5 - 3.0 * y + y**2)  # of the velocity's ramp
        s = top * (ramp * area + np.maximum(near - ramp, 0.0))
        v, v1, _ = quintic(y)
        s2 = np.where(mirrored, -1.0, 1.0) * top * v1 / ramp * (near < ramp)
        return np.where(mirrored, 1.0 - s, s), top * v, s2

    return law


LAWS: dict[str, Law] = {
    'quintic': quintic,
    'trapezoidal': trapezoidal(),
    'cruise': cruise(),
}
"""Laws by name."""
