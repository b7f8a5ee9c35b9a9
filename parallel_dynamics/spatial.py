"""Small helpers of rotation and vector algebra, on NumPy arrays.

Rotations themselves come from SciPy; here is only what it lacks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def skew(v: Array) -> Array:
    """Return ``v~`` (..., 3, 3) with ``v~ u = v x u`` for ``v`` (..., 3)."""
    v = np.asarray(v, float)
    out = np.zeros((*v.shape[:-1], 3, 3))
    out[..., 0, 1], out[..., 0, 2] = -v[..., 2], v[..., 1]
    out[..., 1, 0], out[..., 1, 2] = v[..., 2], -v[..., 0]
    out[..., 2, 0], out[..., 2, 1] = -v[..., 1], v[..., 0]
    return out


def rotation_about(axis: Array, angle: float) -> Array:
    """Return the rotation (3, 3) about a unit vector by an angle, rad."""
    k = skew(axis)
    return np.asarray(np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k))


def rotation_between(axis: Array) -> Array:
    """Return a rotation (3, 3) whose third column is the unit vector ``axis``.

    The identity for ``axis`` = z, and the rotation about the shortest arc otherwise.
    """
    a = np.asarray(axis, float)
    a = a / np.linalg.norm(a)
    across = float(a[0] ** 2 + a[1] ** 2)
    if a[2] < 0.0 and across < 1e-200:
        return np.diag([1.0, -1.0, -1.0])
    k = skew(np.array([-a[1], a[0], 0.0]))
    # 1 / (1 + c) loses its digits near c = -1.
    factor = 1.0 / (1.0 + a[2]) if a[2] > 0.0 else (1.0 - a[2]) / across
    return np.asarray(np.eye(3) + k + factor * (k @ k))


def parallel_axis(mass: float, com: Array, tensor: Array) -> Array:
    """Move an inertia tensor (3, 3) from the centre of mass to the origin (Steiner)."""
    c = np.asarray(com, float)
    return np.asarray(tensor + mass * (np.dot(c, c) * np.eye(3) - np.outer(c, c)))
