"""Instantaneous motion at one configuration, and assembled configurations near home.

This is the formulation of Khalil & Ibrahim (khalil_ibrahim_2007) with ranks found by numbers:
``J_i q_i' + K_i V_p = 0`` for the closures of leg i, whose left null space constrains the
platform, ``N_i^T K_i V_p = 0``; all of them together leave ``V_p = S V_r``, their (9).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.mobility.assembly import Assembly, Configurations
from parallel_dynamics.mobility.ranks import Rank, split
from parallel_dynamics.spatial import Array

STEP = 0.03
"""How far from home the neighbours are, in characteristic lengths (and so in rad)."""
NEIGHBOURS = 4
ASSEMBLED = 1e-7
"""Residual, in characteristic lengths, below which the loops count as closed."""
_ITERATIONS = 12
# Near a singular pose a Newton step along a weak direction would run away.
_CUT = 1e-4


@dataclass(frozen=True, eq=False)
class Motion:
    """What can move at one configuration; everything in scaled units.

    ``spread`` (n + 6, f) turns the platform's free velocities into all velocities: joints on top,
    then the twist, whose part ``spread[n:]`` is Khalil's S with orthonormal columns.
    """

    legs: tuple[Rank, ...]
    idle: tuple[Array, ...]
    constraint: Rank
    closures: Rank
    free: Array  # (n + 6, f + idle) null space of the whole closure Jacobian
    redundancy: Array  # (r, redundant) left null space of the whole closure Jacobian
    spread: Array
    s: Array


def motion_at(assembly: Assembly, jacobian: Array) -> Motion:
    """Judge the ranks of a scaled closure Jacobian (r, n + 6)."""
    n = len(assembly.coordinates)
    gains = np.zeros((n, 6))
    legs, idle, constraints = [], [], [np.zeros((0, 6))]
    for rows, columns in leg_blocks(assembly):
        own, platform = jacobian[np.ix_(rows, columns)], jacobian[rows, n:]
        rank, null, left = split(own)
        legs.append(rank)
        idle.append(null)
        constraints.append(left.T @ platform)
        if len(rows) and len(columns):
            cut = rank.values[rank.value - 1] / rank.values[0] * 0.5 if rank.value else 1.0
            gains[columns] = -np.linalg.pinv(own, cut) @ platform
    # What rounded numbers leave is small against what the closures do to the platform.
    scale = float(np.linalg.norm(jacobian[:, n:], 2)) if len(jacobian) else 1.0
    constraint, s, _ = split(np.concatenate(constraints), scale=scale)
    closures, free, redundancy = split(jacobian)
    spread = np.concatenate([gains @ s, s])
    return Motion(tuple(legs), tuple(idle), constraint, closures, free, redundancy, spread, s)


def leg_blocks(assembly: Assembly) -> list[tuple[list[int], list[int]]]:
    """Return the rows and the columns of each leg in the closure Jacobian."""
    column = {j: k for k, j in enumerate(assembly.coordinates)}
    return [
        (
            [r for r, row in enumerate(assembly.rows) if row.closure in leg.closures],
            [column[j] for j in leg.joints if j in column],
        )
        for leg in assembly.model.legs
    ]


def assemble(assembly: Assembly, start: Configurations) -> tuple[Configurations, Array]:
    """Close the loops by Gauss-Newton with least steps; also return the residual norms (P,)."""
    at, reach = start, 0.3 * assembly.length
    residual, jacobian = assembly.scaled(at)
    for _ in range(_ITERATIONS):
        if np.abs(residual).max(initial=0.0) < 1e-13 * assembly.length:
            break
        step = -(np.linalg.pinv(jacobian, _CUT) @ residual[:, :, None])[:, :, 0]
        length = np.linalg.norm(step, axis=1, keepdims=True)
        at = assembly.moved(at, step * np.minimum(1.0, reach / np.maximum(length, 1e-300)))
        residual, jacobian = assembly.scaled(at)
    return at, np.linalg.norm(residual, axis=1)


def neighbours(
    assembly: Assembly, start: Configurations, free: Array
) -> tuple[Configurations, Array, Array]:
    """Return assembled configurations near one, the residual of each and how far it strayed.

    A finite motion leaves the straight line to second order only; where re-assembly takes back
    much of the step, the freedom was infinitesimal. ``strayed`` is relative to the step.

    Parameters
    ----------
    assembly : Assembly
        The robot.
    start : Configurations
        One assembled configuration.
    free : (n + 6, f) array
        Scaled velocities that the closures allow there.
    """
    generator = np.random.default_rng(20070607)
    directions = generator.standard_normal((NEIGHBOURS, free.shape[1])) @ free.T
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    copies = start[np.zeros(NEIGHBOURS, dtype=int)]
    wanted = STEP * assembly.length * directions
    at, errors = assemble(assembly, assembly.moved(copies, wanted))
    strayed = np.linalg.norm(assembly.between(copies, at) - wanted, axis=1)
    return at, errors, strayed / (STEP * assembly.length)
