"""Symbols that the five papers share: skew matrices, elementary rotations, unit vectors.

The papers differ in one habit that matters: Khalil, Lopes and Codourey write rotation matrices
that take body coordinates to base coordinates (active, ``rot_z``), whereas Staicu's matrices
``a_{k,k-1}`` take parent coordinates to body coordinates (``staicu_rot_z``, the transpose).
"""

from __future__ import annotations

import numpy as np

from parallel_dynamics.spatial import Array

__all__ = [
    'U1',
    'U2',
    'U3',
    'Array',
    'cross',
    'rot_x',
    'rot_y',
    'rot_z',
    'skew',
    'solve',
    'staicu_rot_z',
    'unit',
]

U1: Array = np.array([1.0, 0.0, 0.0])
U2: Array = np.array([0.0, 1.0, 0.0])
U3: Array = np.array([0.0, 0.0, 1.0])


def skew(a: Array) -> Array:
    """Return ``a~`` (3, 3) of one vector (3,), (15) of khalil_ibrahim_2007; light, no batches."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def cross(a: Array, b: Array) -> Array:
    """Return ``a x b`` of two (3,) vectors, without the overhead of ``numpy.cross``."""
    return np.array(
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    )


def unit(a: Array) -> Array:
    """Return the unit vector along ``a`` (3,)."""
    return np.asarray(a / np.linalg.norm(a))


def rot_x(angle: float) -> Array:
    """Return the rotation (3, 3) by ``angle`` (rad) about x, body to base coordinates."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rot_y(angle: float) -> Array:
    """Return the rotation (3, 3) by ``angle`` (rad) about y, body to base coordinates."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rot_z(angle: float) -> Array:
    """Return the rotation (3, 3) by ``angle`` (rad) about z, body to base coordinates."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def staicu_rot_z(angle: float) -> Array:
    """Return Staicu's ``rot(z, angle)``: base to body coordinates, the transpose of ``rot_z``."""
    return rot_z(angle).T


def solve(matrix: Array, right: Array) -> Array:
    """Return ``matrix^-1 right``, as ``numpy.linalg.solve`` but typed."""
    return np.asarray(np.linalg.solve(matrix, right), dtype=float)
