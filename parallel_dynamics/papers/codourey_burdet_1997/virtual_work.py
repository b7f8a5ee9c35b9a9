"""Virtual work at the centres of mass, codourey_burdet_1997 (1)-(24), without the linear form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parallel_dynamics.papers.codourey_burdet_1997.linear_form import BodyMotion
from parallel_dynamics.papers.notation import U2, Array, cross, skew, solve


def transmission(rotation: Array, r: Array) -> Array:
    """Return ``J_r^T`` (6, 6) of codourey_burdet_1997 (9)-(11).

    It takes a wrench at C in the axes of C to the wrench at A in the axes of A; its transpose
    takes the twist of A to that of C.

    Parameters
    ----------
    rotation : (3, 3)
        A <- C.
    r : (3,), m
        From A to C, axes of A.
    """
    return np.block([[rotation, np.zeros((3, 3))], [skew(r) @ rotation, rotation]])


def wrench_at_centre(mass: float, I_C: Array, a_C: Array, omega: Array, omegad: Array) -> Array:
    """Return the wrench of inertia (6,) at the centre of mass, codourey_burdet_1997 (6), (19)."""
    return np.concatenate([mass * a_C, I_C @ omegad + cross(omega, I_C @ omega)])


def actuator(axis: Array = U2, prismatic: bool = False) -> Array:
    """Return ``Upsilon`` (6,) of codourey_burdet_1997 (15): the wrench of a motor's unit effort.

    Differs from paper: (15) has every motor along z of its frame, whereas (36) has those of the
    DELTA along y.
    """
    none = np.zeros(3)
    return np.concatenate([axis, none] if prismatic else [none, axis])


def motor_jacobian(jacobians: Sequence[Array], columns: Sequence[Array]) -> Array:
    """Return ``J_tau`` (n, m) of codourey_burdet_1997 (16), (17).

    It is right for motors that stand on the ground: one that sits on a moving body pushes that
    body back, which (17) leaves out.

    Parameters
    ----------
    jacobians : m matrices (6, n)
        ``J_Ai`` of the frames at the motors, in their own axes.
    columns : m vectors (6,)
        ``Upsilon_i``.
    """
    return np.stack([J.T @ column for J, column in zip(jacobians, columns)], axis=1)


def own_axes(motion: BodyMotion) -> Array:
    """Return ``J_A`` (6, n) of a body in its own axes."""
    R = motion.rotation
    return np.vstack([R.T @ motion.jacobian[:3], R.T @ motion.jacobian[3:]])


def efforts(motions: Sequence[BodyMotion], p: Array, G: Array, J_tau: Array) -> Array:
    """Return the motors' efforts (n,) by codourey_burdet_1997 (5), (8), (13), (18).

    Parameters
    ----------
    motions : N motions of the bodies' frames A
    p : (10 N,)
        Body parameters about A; see ``linear_form.parameters``.
    G : (3,), m/s^2
        Gravity, base axes.
    J_tau : (n, n)
    """
    total = np.zeros(J_tau.shape[0])
    for motion, (mass, *rest) in zip(motions, p.reshape(-1, 10)):
        r = np.array(rest[:3]) / mass
        xx, xy, xz, yy, yz, zz = rest[3:]
        I_A = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        I_C = I_A - mass * (r @ r * np.eye(3) - np.outer(r, r))
        R = motion.rotation
        w, wd, a_A = (R.T @ x for x in (motion.omega, motion.omegad, motion.acceleration))
        a_C = a_A + cross(w, cross(w, r)) + cross(wd, r)  # (21)
        weight = np.concatenate([mass * R.T @ G, np.zeros(3)])  # (7)
        J_0 = transmission(np.eye(3), r).T @ own_axes(motion)  # (1)
        total = total + J_0.T @ (wrench_at_centre(mass, I_C, a_C, w, wd) - weight)
    return solve(J_tau, total)
