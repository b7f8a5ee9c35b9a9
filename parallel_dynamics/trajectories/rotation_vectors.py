"""Rotations as vectors ``r`` (axis times angle) with their derivatives, and back.

``R = exp(r~)``, and its angular velocity in the fixed axes is ``w = r' + a u + b r x u`` with
``u = r x r'``, ``a = (1 - cos |r|) / |r|^2`` and ``b = (|r| - sin |r|) / |r|^3``. All arrays are
(N, 3).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.spatial import Array

_SMALL = 0.05  # rad; below, series to the eighth power are exact to rounding


def cross(a: Array, b: Array) -> Array:
    """Return ``a x b`` of (..., 3); several times quicker than numpy.cross on few rows."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


def _coefficients(r: Array) -> tuple[Array, Array, Array, Array]:
    """Return a, b and (da/dx)/x, (db/dx)/x with x = |r|, each (N, 1)."""
    xx = np.sum(r * r, axis=-1, keepdims=True)
    small = xx < _SMALL**2
    x2 = np.where(small, 1.0, xx)
    x = np.sqrt(x2)
    s, c = np.sin(x), np.cos(x)
    a = np.where(small, _series(xx, 2), (1.0 - c) / x2)
    b = np.where(small, _series(xx, 3), (x - s) / (x2 * x))
    da = np.where(small, _series_rate(xx, 2), (x * s - 2.0 * (1.0 - c)) / (x2 * x2))
    db = np.where(small, _series_rate(xx, 3), (3.0 * s - x * (2.0 + c)) / (x2 * x2 * x))
    return a, b, da, db


_FACTORIAL = (1.0, 1.0, 2.0, 6.0, 24.0, 120.0, 720.0, 5040.0, 40320.0, 362880.0, 3628800.0,
              39916800.0)  # fmt: skip


def _series(xx: Array, first: int) -> Array:
    """Return sum over k of (-1)^k x^(2k) / (2k + first)!."""
    return sum(
        ((-1.0) ** k * xx**k / _FACTORIAL[2 * k + first] for k in range(4)), np.zeros_like(xx)
    )


def _series_rate(xx: Array, first: int) -> Array:
    """Return the derivative of ``_series`` by x, divided by x."""
    return sum(
        ((-1.0) ** k * 2.0 * k * xx ** (k - 1) / _FACTORIAL[2 * k + first] for k in range(1, 5)),
        np.zeros_like(xx),
    )


def rotation_from_vector(r: Array, rd: Array, rdd: Array) -> tuple[Array, Array, Array]:
    """Return rotation (N, 3, 3), angular velocity and acceleration (N, 3) in the fixed axes.

    Parameters
    ----------
    r, rd, rdd : (N, 3)
        Rotation vector, rad, and its time derivatives.
    """
    a, b, da, db = _coefficients(r)
    rotation = Rotation.from_rotvec(r).as_matrix()
    u = cross(r, rd)
    v = cross(r, u)
    w = rd + a * u + b * v
    dot = np.sum(r * rd, axis=-1, keepdims=True)
    u1 = cross(r, rdd)
    v1 = cross(rd, u) + cross(r, u1)
    wd = rdd + a * u1 + b * v1 + dot * (da * u + db * v)
    return rotation, w, wd


def vector_rates(r: Array, w: Array, wd: Array) -> tuple[Array, Array]:
    """Return the derivatives ``r', r''`` (N, 3) that go with angular velocity and acceleration.

    The inverse of :func:`rotation_from_vector`; singular at a full turn, |r| = 2 pi.
    """
    rd = _inverse_jacobian(r, w)
    _, _, drift = rotation_from_vector(r, rd, np.zeros_like(rd))
    return rd, _inverse_jacobian(r, wd - drift)


def _inverse_jacobian(r: Array, w: Array) -> Array:
    """Return r' = w - r x w / 2 + e r x (r x w), e = (1 - (x/2) cot(x/2)) / x^2."""
    xx = np.sum(r * r, axis=-1, keepdims=True)
    small = xx < _SMALL**2
    x = np.sqrt(np.where(small, 1.0, xx))
    series = 1.0 / 12.0 + xx / 720.0 + xx**2 / 30240.0 + xx**3 / 1209600.0
    e = np.where(small, series, (1.0 - 0.5 * x / np.tan(0.5 * x)) / x**2)
    u = cross(r, w)
    return w - 0.5 * u + e * cross(r, u)


def unwrapped(r: Array) -> Array:
    """Return rotation vectors (N, 3) of the same rotations without jumps by full turns."""
    out = np.array(r, float)
    for k in range(1, len(out)):
        before, now = out[k - 1], out[k]
        angle = float(np.linalg.norm(now))
        if angle < 1e-9:
            # A turn is only told from none by what came before.
            last = float(np.linalg.norm(before))
            if last > np.pi:
                out[k] = before / last * 2.0 * np.pi
            continue
        axis = now / angle
        turns = np.round((float(before @ axis) - angle) / (2.0 * np.pi))
        out[k] = now + axis * 2.0 * np.pi * turns
    return out
