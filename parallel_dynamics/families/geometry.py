"""
Points, directions and rotations at home, all in the axes of the base link.

Generated files are compared byte for byte, so that the arithmetic must round alike everywhere:
sums are spelled out, because the last bit of a BLAS product or of a vectorised sine depends on the
processor.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

X = np.array([1.0, 0.0, 0.0])
Y = np.array([0.0, 1.0, 0.0])
Z = np.array([0.0, 0.0, 1.0])


def times(left: Array, right: Array) -> Array:
    """Product of a matrix (3, 3) with a matrix (3, 3) or a vector (3,)."""
    columns = right if right.ndim == 2 else right[:, None]
    product = sum(left[:, k, None] * columns[None, k, :] for k in range(3))
    return np.asarray(product).reshape(right.shape)


def distance(start: Array, end: Array) -> float:
    """Distance of two points (3,), m."""
    return math.hypot(*(float(d) for d in end - start))


def unit(vector: ArrayLike) -> Array:
    """Direction (3,) of a vector (3,) that is not zero."""
    v = np.asarray(vector, dtype=float)
    return v / distance(np.zeros(3), v)


def polar(radius: float, angle: float, height: float = 0.0) -> Array:
    """Point (3,), m, at `radius` and `angle` (rad, from x towards y) about z, and `height`."""
    return np.array([radius * math.cos(angle), radius * math.sin(angle), height])


def frame(z: ArrayLike, x: ArrayLike | None = None) -> Array:
    """
    Rotation (3, 3), base <- frame, with the given z axis.

    Parameters
    ----------
    z : (3,) direction of the z axis, base axes.
    x : (3,) direction to which the x axis is as close as it can be; when left out, the y axis
        is horizontal (or along base y for a vertical z).
    """
    z_axis = unit(z)
    if x is None:
        across = np.cross(Z, z_axis)
        y_axis = unit(across) if np.abs(across).max() > 1e-9 else Y
    else:
        y_axis = unit(np.cross(z_axis, np.asarray(x, dtype=float)))
    return np.column_stack([np.cross(y_axis, z_axis), y_axis, z_axis])


def rotation_about(axis: ArrayLike, angle: float) -> Array:
    """Rotation (3, 3) by `angle` (rad) about `axis` (3,): Rodrigues' formula."""
    a = unit(axis)
    skew = np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
    return np.eye(3) + math.sin(angle) * skew + (1.0 - math.cos(angle)) * times(skew, skew)


def roll_pitch_yaw(rotation: Array) -> Array:
    """
    URDF's fixed-axis angles (3,), rad, of a rotation: R = Rz(yaw) Ry(pitch) Rx(roll).

    Noise is cut off first, so that it can neither pick the sign of a half turn nor the branch at a
    pitch of a quarter turn (there yaw is zero by choice), and angles that are multiples of 15 deg
    but for noise come out as exactly these.
    """
    r = [[0.0 if abs(x) < 1e-13 else float(x) for x in row] for row in rotation]
    if abs(r[2][0]) > 1.0 - 1e-12:
        sign = -math.copysign(1.0, r[2][0])
        angles = [math.atan2(sign * r[0][1] + 0.0, r[1][1]), sign * math.pi / 2.0, 0.0]
    else:
        angles = [
            math.atan2(r[2][1], r[2][2]),
            math.atan2(-r[2][0] + 0.0, math.hypot(r[0][0], r[1][0])),
            math.atan2(r[1][0], r[0][0])]
    step = math.pi / 12.0
    return np.array([
        round(a / step) * step if abs(a / step - round(a / step)) < 1e-11 else a for a in angles])
