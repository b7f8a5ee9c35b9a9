"""Physical parameters that agree with base parameters: real bodies, friction that brakes.

Of all parameters with the identified base parameters, those nearest to the description are taken.
If they are no real bodies, each body's pseudo-inertia is written as L L^T, which makes mass and
moments positive whatever L is, and the same criterion is minimised over L.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from parallel_dynamics.identification.estimation import TRUST, Estimate
from parallel_dynamics.linear_form import BODY_SUFFIXES
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

BODY = len(BODY_SUFFIXES)
ITERATIONS = 60
FLOOR = 1e-9
"""Least eigenvalue of a pseudo-inertia, as a share of the greatest."""
_UPPER = np.triu_indices(3)
_LOWER = np.tril_indices(4)


@dataclass(frozen=True, eq=False)
class PhysicalFit:
    """Parameters (n_p,) of the whole robot.

    Attributes
    ----------
    changed : float
        By how much the base parameters had to leave their estimates, in standard deviations
        (largest).
    """

    parameters: Array
    changed: float


def physical_parameters(
    robot: Robot, estimate: Estimate, trust: float = TRUST, consistent: bool = True
) -> PhysicalFit:
    """Return physical parameters with the identified base parameters.

    ``consistent=False`` takes those nearest to the description, even where no body has them.
    """
    problem = _Problem(robot, estimate, trust)
    p = problem.nearest()
    if consistent and not problem.is_physical(p):
        p = problem.constrained(p)
    off = (estimate.base.values(p) - estimate.values)[estimate.identified]
    changed = np.abs(off) / estimate.deviation[estimate.identified]
    return PhysicalFit(p, float(changed.max(initial=0.0)))


def pseudo_inertia(values: Array) -> Array:
    """Return the pseudo-inertia (4, 4) of ten body parameters: [[trace/2 - I, mc], [mc^T, m]]."""
    tensor = np.zeros((3, 3))
    tensor[_UPPER] = values[4:]
    tensor = tensor + np.triu(tensor, 1).T
    out = np.zeros((4, 4))
    out[:3, :3] = 0.5 * np.trace(tensor) * np.eye(3) - tensor
    out[:3, 3] = out[3, :3] = values[1:4]
    out[3, 3] = values[0]
    return out


def body_parameters(matrix: Array) -> Array:
    """Return the ten parameters of a pseudo-inertia (4, 4)."""
    square = matrix[:3, :3]
    tensor = np.trace(square) * np.eye(3) - square
    return np.concatenate([[matrix[3, 3]], matrix[:3, 3], tensor[_UPPER]])


def parameter_sizes(robot: Robot) -> Array:
    """Return a scale (n_p,) for each parameter that is never zero where the body has mass.

    A first moment that is zero counts with mass times radius of gyration, and so on.
    """
    p = np.abs(robot.parameters)
    bodies = len(robot.model.bodies) - 1
    for k in range(bodies):
        part = p[BODY * k : BODY * (k + 1)]
        mass, inertia = part[0], part[[4, 7, 9]].max()
        length = np.sqrt(inertia / mass) if mass > 0.0 else 0.0
        part[1:4] = np.maximum(part[1:4], 0.3 * mass * length)
        part[4:] = np.maximum(part[4:], 0.3 * inertia)
    return np.asarray(p)


class _Problem:
    """Nearest parameters to the description that have given base parameters."""

    def __init__(self, robot: Robot, estimate: Estimate, trust: float) -> None:
        self.start = np.array(robot.parameters)
        self.bodies = len(robot.model.bodies) - 1
        kept = estimate.identified
        covariance = estimate.covariance[np.ix_(kept, kept)]
        scale = np.sqrt(np.diag(covariance))
        values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
        root = (vectors / np.sqrt(np.maximum(values, 1e-9))).T / scale
        self.rows = root @ estimate.base.matrix[kept]
        self.right = root @ estimate.values[kept]
        candidates = np.zeros(len(self.start), bool)
        candidates[list(estimate.base.candidates)] = True
        sizes = parameter_sizes(robot)
        # Friction that is zero in the description may become anything.
        in_base = np.any(estimate.base.matrix[kept] != 0.0, axis=0)
        joints = np.arange(len(sizes)) >= BODY * self.bodies
        loose = joints & in_base & (sizes == 0.0)
        largest = np.abs(estimate.values[kept]).max(initial=1.0)
        sizes[loose] = 10.0 * largest
        self.free = np.flatnonzero(candidates & (sizes > 0.0))
        self.deviation = trust * sizes[self.free]

    def nearest(self) -> Array:
        """Minimise without regard to what is physical: linear."""
        B = self.rows[:, self.free] * self.deviation
        rest = self.right - self.rows @ self.start
        normal = B @ B.T + np.eye(len(B))
        p = self.start.copy()
        p[self.free] += self.deviation * (B.T @ np.linalg.solve(normal, rest))
        return p

    def is_physical(self, p: Array) -> bool:
        """Return whether all bodies can be, and nothing in a joint is negative."""
        for k in range(self.bodies):
            values = np.linalg.eigvalsh(pseudo_inertia(p[BODY * k : BODY * (k + 1)]))
            if values[0] < -1e-9 * max(values[-1], 0.0) or values[-1] < 0.0:
                return False
        return bool((p[BODY * self.bodies :] >= 0.0).all())

    def constrained(self, first: Array) -> Array:
        """Minimise over Cholesky factors of the bodies that may change, from the description."""
        moving = sorted({int(k) // BODY for k in self.free if k < BODY * self.bodies})
        joints = self.free[self.free >= BODY * self.bodies]
        start = [_factor(pseudo_inertia(self.start[BODY * k : BODY * (k + 1)])) for k in moving]
        x0 = np.concatenate([*start, np.maximum(first[joints], 0.0) ** 0.5])

        def unpack(x: Array) -> tuple[Array, Array]:
            p, slopes = self.start.copy(), np.zeros((len(self.start), len(x)))
            for n, k in enumerate(moving):
                at = slice(BODY * n, BODY * (n + 1))
                p[BODY * k : BODY * (k + 1)], slopes[BODY * k : BODY * (k + 1), at] = _body(x[at])
            root = x[BODY * len(moving) :]
            p[joints] = root**2
            slopes[joints, np.arange(BODY * len(moving), len(x))] = 2.0 * root
            return p, slopes

        def equations(x: Array) -> tuple[Array, Array]:
            p, slopes = unpack(x)
            change = (p - self.start)[self.free] / self.deviation
            slope = slopes[self.free] / self.deviation[:, None]
            return (
                np.concatenate([self.rows @ p - self.right, change]),
                np.vstack([self.rows @ slopes, slope]),
            )

        return unpack(_marquardt(equations, x0))[0]


def _marquardt(equations: Callable[[Array], tuple[Array, Array]], x: Array) -> Array:
    """Minimise the sum of squares of residuals, given with their derivatives."""
    residual, slope = equations(x)
    damping = 1e-3
    for _ in range(ITERATIONS):
        normal, right = slope.T @ slope, slope.T @ residual
        diagonal = np.maximum(np.diag(normal), 1e-12 * np.diag(normal).max())
        new = x - np.linalg.solve(normal + np.diag(damping * diagonal), right)
        there = equations(new)
        before, after = float(residual @ residual), float(there[0] @ there[0])
        if after < before:
            x, (residual, slope), damping = new, there, max(0.3 * damping, 1e-12)
            if before - after < 1e-5 * before:
                break
        else:
            damping *= 5.0
            if damping > 1e12:
                break
    return x


def _factor(matrix: Array) -> Array:
    """Return the Cholesky factor (10,) of a pseudo-inertia, made positive if it is not quite."""
    values, vectors = np.linalg.eigh(matrix)
    lifted = (vectors * np.maximum(values, FLOOR * values[-1])) @ vectors.T
    return np.asarray(np.linalg.cholesky(lifted)[_LOWER])


def _body(x: Array) -> tuple[Array, Array]:
    """Return ten parameters of a factor (10,), and their derivatives (10, 10)."""
    L = np.zeros((4, 4))
    L[_LOWER] = x
    slopes = np.zeros((BODY, BODY))
    for k, (i, j) in enumerate(zip(*_LOWER)):
        change = np.zeros((4, 4))
        change[i] = L[:, j]
        slopes[:, k] = body_parameters(change + change.T)
    return body_parameters(L @ L.T), slopes
