"""Jacobians of a configuration, and how near it is to each kind of singularity.

The kernels write the legs' Jacobians; NumPy's decompositions do the rest, for all states of a
batch at once. The kernels' own reduction is not used, so that one can check the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from parallel_dynamics.engine import Engine
from parallel_dynamics.kernels.leg_matrices import leg_matrices
from parallel_dynamics.model import RobotModel
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.spatial import Array


@dataclass(frozen=True, eq=False)
class LegJacobian:
    """``J qd = J_v V_p`` of one leg (khalil_ibrahim_2007, (18), (19)), r equations, k joints.

    ``joints`` names the columns of ``J`` (r, k): the leg's joints that mimic no other. ``J_v`` is
    (r, 6), ``G`` = J^+ J_v (k, 6). A batch adds a leading axis to all.
    """

    joints: tuple[str, ...]
    J: Array
    J_v: Array
    G: Array
    condition: Any


@dataclass(frozen=True, eq=False)
class Jacobians:
    """Jacobians in base axes at one pose; a batch adds a leading axis to every array.

    Attributes
    ----------
    legs : tuple of LegJacobian
    S : (6, n)
        ``V_p = S V_r`` (khalil_ibrahim_2007, (9)); V_r are the twist components ``independent``.
    J_r_inv : (n, n)
        ``qd_a = J_r_inv V_r`` (80).
    J_r : (n, n)
        Its inverse (10); NaN where that is singular.
    J_p : (6, n)
        ``V_p = J_p qd_a`` (8).
    leg_condition, actuation_condition, constraint_condition : float
        Condition numbers of the three kinds of singularity, with angles measured on the
        characteristic length; infinite at a singularity.
    manipulability : float
        ``|det J_r|`` with the same scaling; 0 at a leg singularity, infinite at an actuation one.
    length : float
        Characteristic length, m.
    """

    legs: tuple[LegJacobian, ...]
    independent: tuple[int, ...]
    S: Array
    J_r_inv: Array
    J_r: Array
    J_p: Array
    leg_condition: Any
    actuation_condition: Any
    constraint_condition: Any
    manipulability: Any
    length: float

    @property
    def condition(self) -> Any:
        """The worst of the three condition numbers."""
        worst = np.maximum(
            np.maximum(self.leg_condition, self.actuation_condition), self.constraint_condition
        )
        return float(worst) if np.ndim(worst) == 0 else worst


def jacobians(engine: Engine, motion: PlatformMotion) -> Jacobians:
    """Evaluate all Jacobians at the poses of ``motion``; works up to and at singularities."""
    model, packed = engine.model, engine.packed
    count, rows = len(motion.rows), max(1, int(packed.system[0]['rows']))
    out = np.zeros((count, rows, 6 + max(1, int(packed.legs['coordinates'].max()))))
    reports = engine.run_batch(leg_matrices, count, motion.rows, out)
    if motion.batch is None and reports[0, 0]:
        raise engine.error(reports[0].tolist(), motion)
    engine.fail_batch(reports, motion)
    if motion.batch is None:
        out = out[0]
    length = float(packed.system[0]['length'])
    scale6 = np.array([1.0] * 3 + [1.0 / length] * 3)  # columns: m/s and rad/s x length
    scales = row_scales(model, length)
    legs: list[LegJacobian] = []
    constraints: list[Array] = []
    rate_rows: dict[int, Array] = {}
    for leg, record in zip(model.legs, packed.legs):
        n, top, equations = (int(record[k]) for k in ('coordinates', 'row0', 'rows'))
        J_v = out[..., top : top + equations, :6]
        J = out[..., top : top + equations, 6 : 6 + n]
        own = [j for j in sorted(leg.joints, key=lambda j: packed.order[j])
               if model.joints[j].mimic is None]  # fmt: skip
        columns = np.array([_unit(model.joints[j].kind, length) for j in own])
        row_scale = scales[top : top + equations, None]
        u, sigma, vt = np.linalg.svd(row_scale * J * columns)
        kept = sigma > 1e-12 * np.maximum(sigma.max(axis=-1, initial=0.0, keepdims=True), 1e-300)
        inverted = np.where(kept, 1.0 / np.where(kept, sigma, 1.0), 0.0)
        some = sigma.shape[-1]
        inverse = (_turned(vt[..., :some, :]) * inverted[..., None, :]) @ _turned(u[..., :some])
        G = columns[:, None] * (inverse @ (row_scale * J_v))
        constraints.append(_turned(u[..., n:]) @ (row_scale * J_v * scale6))
        names = tuple(model.joints[j].name for j in own)
        legs.append(LegJacobian(names, J, J_v, G, _plain(_condition(sigma, n))))
        rate_rows.update({j: G[..., k, :] for k, j in enumerate(own)})
    return _assemble(engine, legs, constraints, rate_rows, scale6, length)


def _assemble(
    engine: Engine,
    legs: list[LegJacobian],
    constraints: list[Array],
    rate_rows: dict[int, Array],
    scale6: Array,
    length: float,
) -> Jacobians:
    model, dof, independent = engine.model, engine.dof, list(engine.independent)
    L = np.stack([rate_rows[j] for j in model.actuators], axis=-2)
    nothing = np.zeros((*L.shape[:-2], 6, 6))  # so that there are six singular values
    _, sigma, vt = np.linalg.svd(np.concatenate([*constraints, nothing], axis=-2))
    basis = _turned(vt[..., 6 - dof :, :])  # columns span the allowed twists
    free = basis * scale6[:, None]
    S = free @ _inverse(free[..., independent, :])
    J_r_inv = L @ S
    rows = np.array([1.0 / _unit(model.joints[j].kind, length) for j in model.actuators])
    # Scaled on the allowed twists as a unit sphere, so the choice of V_r does not matter.
    s = np.asarray(np.linalg.svd((rows[:, None] * L * scale6) @ basis, compute_uv=False), float)
    actuation = _condition(s, dof)
    J_r = np.where(np.isfinite(actuation)[..., None, None], _inverse(J_r_inv), np.nan)
    determinant = np.prod(s, axis=-1)
    with np.errstate(divide='ignore'):
        manipulability = 1.0 / determinant
    return Jacobians(
        tuple(legs), engine.independent, S, J_r_inv, J_r, S @ J_r,
        _plain(np.max([np.ones_like(actuation), *(leg.condition for leg in legs)], axis=0)),
        _plain(actuation), _plain(_condition(sigma, 6 - dof)), _plain(manipulability), length,
    )  # fmt: skip


def _turned(matrix: Array) -> Array:
    return np.swapaxes(matrix, -1, -2)


def _inverse(matrix: Array) -> Array:
    """Inverse of square matrices, NaN for those that are singular to rounding."""
    good = np.linalg.cond(matrix) < 1e14
    safe = np.where(good[..., None, None], matrix, np.eye(matrix.shape[-1]))
    return np.where(good[..., None, None], np.linalg.inv(safe), np.nan)


def _plain(values: Array) -> Any:
    """Return a float for a single state, the array (N,) for a batch."""
    return float(values) if np.ndim(values) == 0 else values


def _unit(kind: str, length: float) -> float:
    """Rate of a joint that moves something by about 1 m/s."""
    return 1.0 if kind == 'prismatic' else 1.0 / length


def row_scales(model: RobotModel, turning: float) -> Array:
    """Scale of each closure equation in packed order: 1 for a distance, ``turning`` for an angle.

    At least one number, as the kernels have at least one row.
    """
    kinds = {'ball': (3, 0), 'weld': (3, 3), 'revolute': (3, 2), 'cylindrical': (2, 2),
             'plane': (1, 0)}  # fmt: skip
    scales: list[float] = []
    for leg in model.legs:
        for c in leg.closures:
            linear, angular = kinds[model.closures[c].kind]
            scales += [1.0] * linear + [turning] * angular
    return np.array(scales or [1.0])


def _condition(sigma: Array, rank: int) -> Array:
    """Ratio of the largest to the ``rank``-th of the singular values (..., k)."""
    if rank == 0:
        return np.ones(sigma.shape[:-1])
    largest = sigma[..., 0] if sigma.shape[-1] else np.zeros(sigma.shape[:-1])
    smallest = sigma[..., rank - 1] if sigma.shape[-1] >= rank else 0.0 * largest
    good = smallest > 1e-15 * largest
    return np.where(good, largest / np.where(good, smallest, 1.0), np.inf)
