"""Coefficients of the explicit methods, as the kernels read them."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.integrate import DOP853

from parallel_dynamics.kernels.runge_kutta import (
    ERROR_3,
    ERROR_5,
    NODES,
    TABLEAU,
    WEIGHTS,
    WIDEST,
)
from parallel_dynamics.spatial import Array

CLASSICAL_STAGES = 4


def _table(a: Array, weights: Array, nodes: Array) -> Array:
    table = np.zeros((TABLEAU, WIDEST))
    table[: len(a), : a.shape[1]] = a
    table[WEIGHTS, : len(weights)] = weights
    table[NODES, : len(nodes)] = nodes
    return table


@cache
def tableaus() -> Array:
    """Return the tables (2, rows, stages) of the classical method and of DOP853."""
    half = np.zeros((4, 4))
    half[1, 0] = half[2, 1] = 0.5
    half[3, 2] = 1.0
    classical = _table(half, np.array([1, 2, 2, 1]) / 6.0, np.array([0.0, 0.5, 0.5, 1.0]))
    eighth = _table(np.asarray(DOP853.A), np.asarray(DOP853.B), np.asarray(DOP853.C))
    eighth[ERROR_5, : len(DOP853.E5)] = DOP853.E5
    eighth[ERROR_3, : len(DOP853.E3)] = DOP853.E3
    return np.ascontiguousarray(np.stack([classical, eighth]))
