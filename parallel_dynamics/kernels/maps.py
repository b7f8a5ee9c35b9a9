"""Performance at rest in many poses: singular values, efforts, what forces can be held.

For each pose the shared kernels give S, L S, mass matrix A and bias h of V_r; everything here
follows from efforts = J_r^T (A V_r' + h - S^T W), with J_r = (L S)^-1 and W the external wrench.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from parallel_dynamics.kernels.batch import INERTIA, evaluate
from parallel_dynamics.kernels.compiler import entry, kernel
from parallel_dynamics.kernels.layout import ACTUATION_SINGULAR, FREE, OK, OWN
from parallel_dynamics.kernels.projection import project_one

# Columns of a row of ``survey``; the static efforts (n) follow.
CONDITION, SMALLEST, MARGIN, EFFORT, MOVING, FORCE, MOMENT, FIRST_EFFORT = range(8)


@entry
def project_poses(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, motions: Any, reports: Any, first: int,
    last: int,
) -> int:  # fmt: skip
    """Put motions ``first`` to ``last - 1`` on the closures, in place."""
    work[0]['choice'] = OWN
    poses = np.empty((2, 12))
    for i in range(first, last):
        work[0]['warm'] = 0
        status = project_one(
            system, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, work,
            motions[i], poses,
        )  # fmt: skip
        reports[i, 0] = status
    work[0]['choice'] = FREE
    return 0


@entry
def survey(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, options: Any, motions: Any, external: Any,
    limits: Any, drives: Any, rates: Any, out: Any, reports: Any, first: int, last: int,
) -> int:  # fmt: skip
    """Judge poses ``first`` to ``last - 1``.

    ``limits`` (joints, 2) has the position limits in packed order; ``drives`` (n, 2) of each
    actuator what scales its rate (1, or the characteristic length) and its effort limit;
    ``rates`` (2,) the linear and angular acceleration that efforts are asked for.
    """
    s = system[0]
    w = work[0]
    n = s['dof']
    inertia = np.empty((1, n * n + n + 2))
    report = np.empty((1, 5))
    inverse = np.empty((6, 12))
    matrix = np.empty((6, 6))
    w['choice'] = OWN
    for i in range(first, last):
        status = evaluate(
            system, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, work,
            options, INERTIA, motions[i : i + 1], external, external, inertia, report, 0, 1,
        )  # fmt: skip
        if status == OK and not invert(w['LS'], inverse, n):
            status = ACTUATION_SINGULAR
        if status == OK:
            row = out[i]
            row[MARGIN] = joint_margin(s, bodies, limits)
            scaled_jacobian(s, w, drives, matrix)
            smallest, largest = singular_extremes(matrix, n)
            row[SMALLEST] = smallest
            row[CONDITION] = largest / smallest if smallest > 0.0 else math.inf
            judge_efforts(s, w, inverse, inertia[0], drives, rates, row)
        for k in range(5):
            reports[i, k] = report[0, k]
        reports[i, 0] = status
    w['choice'] = FREE
    return 0


@kernel
def joint_margin(system: Any, bodies: Any, limits: Any) -> float:
    """Smallest distance of a joint to its limits over its range; below zero when beyond."""
    margin = math.inf
    for j in range(system['joints']):
        lower, upper = limits[j, 0], limits[j, 1]
        if upper - lower < math.inf:
            q = bodies[j + 2]['q']
            margin = min(margin, min(q - lower, upper - q) / (upper - lower))
    return margin


@kernel
def invert(a: Any, both: Any, n: int) -> bool:
    """Write the inverse of the leading block of ``a`` to columns 6.. of ``both``, if there is."""
    for i in range(n):
        for k in range(n):
            both[i, k] = a[i, k]
            both[i, 6 + k] = 1.0 if i == k else 0.0
    for k in range(n):
        at = k
        for i in range(k + 1, n):
            if abs(both[i, k]) > abs(both[at, k]):
                at = i
        if not abs(both[at, k]) > 1e-300:
            return False
        for j in range(12):
            both[k, j], both[at, j] = both[at, j], both[k, j]
        factor = 1.0 / both[k, k]
        for j in range(n):
            both[k, j] *= factor
            both[k, 6 + j] *= factor
        for i in range(n):
            factor = both[i, k]
            if i != k and factor != 0.0:
                for j in range(n):
                    both[i, j] -= factor * both[k, j]
                    both[i, 6 + j] -= factor * both[k, 6 + j]
    return True


@kernel
def scaled_jacobian(system: Any, work: Any, drives: Any, m: Any) -> None:
    """Write L on an orthonormal basis of the allowed twists, angles on the robot's length.

    With S scaled likewise and S^T S = R^T R, the columns of S R^-1 are such a basis; hence
    m = (L S) R^-1, with rows scaled by what the drives' rates are measured on.
    """
    n = system['dof']
    length = system['length']
    r = work['M']
    for i in range(n):
        for k in range(i, n):
            value = 0.0
            for a in range(6):
                scale = 1.0 if a < 3 else length * length
                value += scale * work['S'][a, i] * work['S'][a, k]
            for j in range(i):
                value -= r[j, i] * r[j, k]
            r[i, k] = math.sqrt(value) if i == k else value / r[i, i]
    for i in range(n):
        for k in range(n):
            value = drives[i, 0] * work['LS'][i, k]
            for j in range(k):
                value -= m[i, j] * r[j, k]
            m[i, k] = value / r[k, k]


@kernel
def singular_extremes(m: Any, n: int) -> tuple[float, float]:
    """Return the smallest and the largest singular value (one-sided Jacobi; m is destroyed)."""
    for _ in range(30):
        worst = 0.0
        for p in range(n - 1):
            for q in range(p + 1, n):
                a = b = c = 0.0
                for i in range(n):
                    a += m[i, p] * m[i, p]
                    b += m[i, q] * m[i, q]
                    c += m[i, p] * m[i, q]
                size = math.sqrt(a * b)
                if not abs(c) > 1e-15 * size:
                    continue
                worst = max(worst, abs(c) / size)
                zeta = (b - a) / (2.0 * c)
                t = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                cosine = 1.0 / math.sqrt(1.0 + t * t)
                sine = cosine * t
                for i in range(n):
                    x, y = m[i, p], m[i, q]
                    m[i, p] = cosine * x - sine * y
                    m[i, q] = sine * x + cosine * y
        if worst < 1e-10:
            break
    smallest, largest = math.inf, 0.0
    for p in range(n):
        size = 0.0
        for i in range(n):
            size += m[i, p] * m[i, p]
        smallest, largest = min(smallest, size), max(largest, size)
    return math.sqrt(smallest), math.sqrt(largest)


@kernel
def judge_efforts(
    system: Any, work: Any, inverse: Any, inertia: Any, drives: Any, rates: Any, row: Any
) -> None:
    """Write static efforts, efforts for accelerations, and the force and moment that is held.

    All of them are the worst over directions: an effort that is linear in a vector v grows by
    |v| times the norm of its row, so no direction needs to be tried.
    """
    n = system['dof']
    row[EFFORT] = row[MOVING] = 0.0
    row[FORCE] = row[MOMENT] = math.inf
    for i in range(n):
        held = 0.0
        for k in range(n):
            held += inverse[k, 6 + i] * inertia[n * n + k]
        row[FIRST_EFFORT + i] = held
        linear = angular = 0.0
        for k in range(n):
            entry = 0.0
            for j in range(n):
                entry += inverse[j, 6 + i] * inertia[n * j + k]
            if system['independent'][k] < 3:
                linear += entry * entry
            else:
                angular += entry * entry
        moving = abs(held) + rates[0] * math.sqrt(linear) + rates[1] * math.sqrt(angular)
        row[EFFORT] = max(row[EFFORT], abs(held))
        row[MOVING] = max(row[MOVING], moving)
        left = max(0.0, drives[i, 1] - abs(held))
        force = moment = 0.0
        for a in range(6):
            entry = 0.0
            for k in range(n):
                entry += inverse[k, 6 + i] * work['S'][a, k]
            if a < 3:
                force += entry * entry
            else:
                moment += entry * entry
        # What only the structure carries asks nothing of the drives: those rows are rounding and
        # what is left of the closures' residual, so levers below 1e-7 of the size.
        nothing = 1e-14 * (force + moment / (system['length'] * system['length']))
        if force > nothing:
            row[FORCE] = min(row[FORCE], left / math.sqrt(force))
        if moment > nothing * system['length'] * system['length']:
            row[MOMENT] = min(row[MOMENT], left / math.sqrt(moment))
