"""A rigid body's wrench, linear in its ten parameters: codourey_burdet_1997 (19)-(34)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parallel_dynamics.papers.notation import Array, cross, skew, solve


def tilde(omega: Array, as_printed: bool = False) -> Array:
    """Return the matrix (3, 6) with ``I w = tilde(w) I_p``, codourey_burdet_1997 (31).

    ``I_p = [I_xx, I_xy, I_xz, I_yy, I_yz, I_zz]``. Differs from paper: row 2 is
    ``[0, wx, 0, wy, wz, 0]``; printed is ``[0, wx, wy, wz, 0, 0]``.
    """
    x, y, z = omega
    second = [0.0, x, y, z, 0.0, 0.0] if as_printed else [0.0, x, 0.0, y, z, 0.0]
    return np.array([[x, y, z, 0.0, 0.0, 0.0], second, [0.0, 0.0, x, 0.0, y, z]])


def inertial_wrench(
    mass: float,
    r: Array,
    inertia: Array,
    a: Array,
    omega: Array,
    omegad: Array,
    as_printed: bool = False,
) -> Array:
    """Return the wrench (6,) at A in body axes, codourey_burdet_1997 (27).

    Differs from paper: the bracket is ``m (a + w~ w~ r + w'~ r)``; printed, the mass does not
    multiply the last term.

    Parameters
    ----------
    mass : float, kg
    r : (3,), m
        From A to the centre of mass.
    inertia : (3, 3), kg m^2
        About A.
    a, omega, omegad : (3,)
        Acceleration of A (less gravity), angular velocity and acceleration, body axes.
    """
    tangential = cross(omegad, r)
    force = mass * (a + cross(omega, cross(omega, r)))
    force = force + (tangential if as_printed else mass * tangential)
    moment = mass * cross(r, a) + inertia @ omegad + cross(omega, inertia @ omega)
    return np.concatenate([force, moment])


def body_matrix(a: Array, omega: Array, omegad: Array, as_printed: bool = False) -> Array:
    """Return the matrix (6, 10) of (28): body parameters ``[m, m r, I_p]`` to the wrench at A.

    Equation numbers of codourey_burdet_1997.
    """
    Lambda = skew(omega) @ skew(omega) + skew(omegad)  # (29)
    psi = skew(omega) @ tilde(omega, as_printed) + tilde(omegad, as_printed)  # (30)
    matrix = np.zeros((6, 10))
    matrix[:3, 0] = a
    matrix[:3, 1:4] = Lambda
    matrix[3:, 1:4] = -skew(a)
    matrix[3:, 4:] = psi
    return matrix


@dataclass(frozen=True)
class BodyMotion:
    """Motion of the frame A of one body, in base axes, and its Jacobian.

    Attributes
    ----------
    rotation : (3, 3)
        Base <- body.
    jacobian : (6, n)
        ``J_A``: rates of the active joints to [velocity of A; angular velocity].
    acceleration, omega, omegad : (3,)
    """

    rotation: Array
    jacobian: Array
    acceleration: Array
    omega: Array
    omegad: Array

    def Omega(self, G: Array, as_printed: bool = False) -> Array:
        """Return ``Omega_i`` (6, 10) of (34); ``G`` (3,) is gravity in base axes.

        Equation numbers of codourey_burdet_1997.
        """
        R = self.rotation
        matrix = body_matrix(
            R.T @ (self.acceleration - G), R.T @ self.omega, R.T @ self.omegad, as_printed
        )
        return np.vstack([R @ matrix[:3], R @ matrix[3:]])


def dynamic_matrix(
    motions: Sequence[BodyMotion], G: Array, J_tau: Array | None = None, as_printed: bool = False
) -> Array:
    """Return ``Psi`` (n, 10 N) of codourey_burdet_1997 (12), (34), with ``tau = Psi p``.

    ``J_tau`` (n, n) of (17) is the identity when all motors stand on the ground, and (17) holds
    for such motors only.
    """
    blocks = [motion.jacobian.T @ motion.Omega(G, as_printed) for motion in motions]
    stacked = np.hstack(blocks)
    return stacked if J_tau is None else np.asarray(solve(J_tau, stacked))


def parameters(mass: float, moment: Array, tensor: Array) -> Array:
    """Return ``p_i = [m, m r, I_p]`` (10,) from mass, first moment and tensor about A."""
    upper = tensor[np.triu_indices(3)]
    return np.concatenate([[mass], moment, upper])
