"""Rotations as steps of an integrator see them: the exponential map and what belongs to it.

R(t) = exp(theta~) R_0 turns the equation R' = w~ R into theta' = dexp^-1_theta(w), a vector
equation that ordinary Runge-Kutta methods solve without leaving the rotations (Munthe-Kaas).
"""

from __future__ import annotations

import math
from typing import Any

from parallel_dynamics.kernels.compiler import kernel


@kernel
def turned(x: float, y: float, z: float, origin: Any, target: Any) -> None:
    """Write exp((x, y, z)~) times the rotation at ``origin[3:12]`` to ``target[3:12]``."""
    square = x * x + y * y + z * z
    if square < 1e-8:
        s = 1.0 - square / 6.0 * (1.0 - square / 20.0)
        v = 0.5 - square / 24.0 * (1.0 - square / 30.0)
    else:
        angle = math.sqrt(square)
        s = math.sin(angle) / angle
        v = (1.0 - math.cos(angle)) / square
    for k in range(3):
        a, b, c = origin[3 + k], origin[6 + k], origin[9 + k]
        ux, uy, uz = y * c - z * b, z * a - x * c, x * b - y * a
        target[3 + k] = a + s * ux + v * (y * uz - z * uy)
        target[6 + k] = b + s * uy + v * (z * ux - x * uz)
        target[9 + k] = c + s * uz + v * (x * uy - y * ux)


@kernel
def rate_of_vector(
    x: float, y: float, z: float, wx: float, wy: float, wz: float
) -> tuple[float, float, float]:
    """Return dexp^-1 at the rotation vector (x, y, z) of the angular velocity w."""
    square = x * x + y * y + z * z
    if square < 1e-2:
        c = 1.0 / 12.0 + square / 720.0 * (1.0 + square / 42.0 * (1.0 + square / 40.0))
    else:
        half = 0.5 * math.sqrt(square)
        c = (1.0 - half / math.tan(half)) / square
    ux, uy, uz = y * wz - z * wy, z * wx - x * wz, x * wy - y * wx
    return (
        wx - 0.5 * ux + c * (y * uz - z * uy),
        wy - 0.5 * uy + c * (z * ux - x * uz),
        wz - 0.5 * uz + c * (x * uy - y * ux),
    )


@kernel
def tidy(motion: Any) -> None:
    """Remove rounding from the rotation at ``motion[3:12]`` (one Newton step)."""
    g00 = g01 = g02 = g11 = g12 = g22 = 0.0
    for i in range(3):
        a, b, c = motion[3 + 3 * i], motion[4 + 3 * i], motion[5 + 3 * i]
        g00 += a * a
        g01 += a * b
        g02 += a * c
        g11 += b * b
        g12 += b * c
        g22 += c * c
    for i in range(3):
        a, b, c = motion[3 + 3 * i], motion[4 + 3 * i], motion[5 + 3 * i]
        motion[3 + 3 * i] = 1.5 * a - 0.5 * (a * g00 + b * g01 + c * g02)
        motion[4 + 3 * i] = 1.5 * b - 0.5 * (a * g01 + b * g11 + c * g12)
        motion[5 + 3 * i] = 1.5 * c - 0.5 * (a * g02 + b * g12 + c * g22)
