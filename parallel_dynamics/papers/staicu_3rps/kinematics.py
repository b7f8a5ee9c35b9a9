"""Kinematics of the 3-RPS manipulator by recursive matrices: staicu_3rps (1)-(10).

Staicu's matrices take coordinates of the fixed frame to a body: ``a_10^T`` takes the axes of a
cylinder to the fixed frame. Frame 1 of a leg has y along the leg and z along the revolute axis,
frame 2 has z along the leg. ``R30`` takes the fixed frame to the platform.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.notation import U1, U2, U3, Array, skew, solve, staicu_rot_z

LEGS = ('A', 'B', 'C')
LEG_ANGLES = (0.0, 2.0 * np.pi / 3.0, -2.0 * np.pi / 3.0)
"""``alpha_A, alpha_B, alpha_C``, staicu_3rps (2)."""

_theta1 = np.array([[0.0, 0, -1], [0, 1, 0], [1, 0, 0]])
_theta2 = np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])
_theta3 = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])


@dataclass(frozen=True)
class Geometry:
    """Lengths in m; the defaults are the paper's, with ``l2`` from ``lambda0 + l2 = 1.3 m``."""

    l0: float = 1.0
    r: float = 0.5
    h: float = 1.2
    lambda0: float = 0.35

    @property
    def beta(self) -> float:
        """Tilt of the legs at home (rad): ``tan beta = (l0 - r) / h``."""
        return float(np.arctan2(self.l0 - self.r, self.h))

    @property
    def l2(self) -> float:
        """Length of the piston; follows from ``lambda0 + l2 = h / cos beta``."""
        return float(np.hypot(self.l0 - self.r, self.h)) - self.lambda0


def platform_matrices(angles: Array) -> tuple[Array, Array, Array]:
    """Return ``R_10, R_21, R_32`` (3, 3) for ``(alpha_1, alpha_2, alpha_3)`` in rad, (1).

    Equation numbers of staicu_3rps.

    Their product ``R_30^T`` is ``Rx(alpha_1) Ry(alpha_2) Rz(alpha_3)``.
    """
    a1, a2, a3 = (staicu_rot_z(angle) for angle in angles)
    R10 = a1 @ _theta1
    R21 = a2 @ _theta1 @ _theta2
    R32 = a3 @ _theta2 @ _theta1 @ _theta2
    return R10, R21, R32


def parasitic_angle(alpha1: float, alpha2: float) -> float:
    """Return ``alpha_3`` (rad), from ``R_12 = R_21`` of the platform's rotation."""
    return float(np.arctan2(-np.sin(alpha1) * np.sin(alpha2), np.cos(alpha1) + np.cos(alpha2)))


@dataclass(frozen=True)
class Coordinates:
    """Independent coordinates ``(z, alpha_1, alpha_2)`` (3,) with first and second derivatives."""

    value: Array
    rate: Array
    acceleration: Array


@dataclass(frozen=True)
class Pose:
    """Position of everything.

    ``R30`` (3, 3) takes the fixed frame to the platform, ``G`` (3,) is its centre; ``a10`` are the
    leg matrices, ``phi10`` and ``lambda21`` (3,) the leg variables.
    """

    angles: Array
    R30: Array
    G: Array
    a10: list[Array]
    phi10: Array
    lambda21: Array


def leg_matrix(geometry: Geometry, leg: int, phi: float) -> Array:
    """Return ``a_10`` (3, 3) of a leg, staicu_3rps (3), (4)."""
    turn = staicu_rot_z(phi) @ staicu_rot_z(geometry.beta)
    return np.asarray(turn @ _theta3 @ staicu_rot_z(LEG_ANGLES[leg]))


def pose(geometry: Geometry, value: Array) -> Pose:
    """Return the whole pose for ``(z, alpha_1, alpha_2)``: parasitic motions and (5), (6).

    Equation numbers of staicu_3rps.

    The parasitic motions are ``x_G = (r/2)(R11 - R22)`` and ``y_G = -r R21`` with R the rotation
    that takes the platform to the fixed frame.
    """
    z, alpha1, alpha2 = value
    angles = np.array([alpha1, alpha2, parasitic_angle(alpha1, alpha2)])
    R10, R21, R32 = platform_matrices(angles)
    R30 = R32 @ R21 @ R10
    R = R30.T
    r = geometry.r
    G = np.array([0.5 * r * (R[0, 0] - R[1, 1]), -r * R[1, 0], z])
    a10, phi10, lambda21 = [], np.zeros(3), np.zeros(3)
    for leg in range(3):
        radial = staicu_rot_z(LEG_ANGLES[leg]).T @ U1
        along = G + R @ (r * radial) - geometry.l0 * radial
        x, y, _ = leg_matrix(geometry, leg, 0.0) @ along
        phi10[leg] = np.arctan2(-x, y)
        lambda21[leg] = np.hypot(x, y) - geometry.lambda0 - geometry.l2
        a10.append(leg_matrix(geometry, leg, float(phi10[leg])))
    return Pose(angles, R30, G, a10, phi10, lambda21)


def loop_error(geometry: Geometry, p: Pose) -> Array:
    """Return the residuals (3, 3), one row per leg, of the loop equations staicu_3rps (5), m."""
    rows = []
    for leg, a10 in enumerate(p.a10):
        radial = staicu_rot_z(LEG_ANGLES[leg]).T @ U1
        length = geometry.lambda0 + p.lambda21[leg] + geometry.l2
        tip = geometry.l0 * radial + a10.T @ (length * U2)
        rows.append(tip - p.R30.T @ (geometry.r * radial) - p.G)
    return np.array(rows)


def leg_columns(geometry: Geometry, p: Pose, leg: int) -> tuple[Array, Array]:
    """Return what multiplies ``w_10`` and ``v_21`` in staicu_3rps (7), (3,) each, fixed frame.

    Differs from paper: in print the tilde on ``u_3`` is lost.
    """
    length = geometry.lambda0 + p.lambda21[leg] + geometry.l2
    a10 = p.a10[leg]
    return a10.T @ skew(U3) @ (length * U2), a10.T @ U2


def platform_columns(geometry: Geometry, p: Pose, leg: int) -> Array:
    """Return the map (3, 6) from the platform's twist, fixed frame, to the velocity of A_3."""
    radial = staicu_rot_z(LEG_ANGLES[leg]).T @ U1
    return np.hstack([np.eye(3), -skew(p.R30.T @ (geometry.r * radial))])


@dataclass(frozen=True)
class Rates:
    """Derivatives that (7) or (10) give: ``w_10, v_21`` (3,) per leg and the platform's motion.

    Equation numbers of staicu_3rps.

    ``platform`` (6,) is the linear and angular velocity, or acceleration, in the fixed frame.
    """

    omega10: Array
    v21: Array
    platform: Array


def _axes(p: Pose) -> Array:
    """Return the axes of ``alpha_1', alpha_2', alpha_3'`` as columns (3, 3), fixed frame."""
    _, R21, R32 = platform_matrices(p.angles)
    in_platform = np.stack([R32 @ R21 @ U3, R32 @ U3, U3], axis=1)
    return np.asarray(p.R30.T @ in_platform)


def _solve(geometry: Geometry, p: Pose, given: Array, rest: Array) -> tuple[Array, Array, Array]:
    """Solve staicu_3rps (7) or (10) for the leg rates and ``(x', y', alpha_3')``.

    Parameters
    ----------
    given : (3,)
        ``(z', alpha_1', alpha_2')`` or their derivatives.
    rest : (3, 3)
        What else is on the right, one row per leg.
    """
    axes = _axes(p)
    matrix, right = np.zeros((9, 9)), np.zeros(9)
    for leg in range(3):
        rows = slice(3 * leg, 3 * leg + 3)
        columns = platform_columns(geometry, p, leg)
        matrix[rows, leg], matrix[rows, 3 + leg] = leg_columns(geometry, p, leg)
        matrix[rows, 6:8] = -columns[:, :2]
        matrix[rows, 8] = -columns[:, 3:] @ axes[:, 2]
        right[rows] = columns[:, 2] * given[0] + columns[:, 3:] @ axes[:, :2] @ given[1:]
        right[rows] += rest[leg]
    x = solve(matrix, right)
    return x[:3], x[3:6], x[6:]


def rates(geometry: Geometry, p: Pose, given: Array) -> tuple[Rates, Array]:
    """Return all velocities for ``(z', alpha_1', alpha_2')``, and ``alpha'`` (3,), (7).

    Equation numbers of staicu_3rps.
    """
    omega10, v21, dependent = _solve(geometry, p, given, np.zeros((3, 3)))
    angle_rates = np.array([given[1], given[2], dependent[2]])
    linear = np.array([dependent[0], dependent[1], given[0]])
    return Rates(omega10, v21, np.concatenate([linear, _axes(p) @ angle_rates])), angle_rates


def accelerations(
    geometry: Geometry, p: Pose, velocity: Rates, angle_rates: Array, given: Array
) -> Rates:
    """Return all accelerations for ``(z'', alpha_1'', alpha_2'')``, staicu_3rps (10).

    Differs from paper: in print the tilde on ``u_3`` is lost.
    """
    omega = velocity.platform[3:]
    axes = _axes(p)
    # alpha_2 turns about an axis that alpha_1 carries, alpha_3 about one that both carry.
    carried = skew(axes[:, 0] * angle_rates[0]) @ axes[:, 1] * angle_rates[1]
    carried += skew(axes[:, :2] @ angle_rates[:2]) @ axes[:, 2] * angle_rates[2]
    rest = np.zeros((3, 3))
    for leg, a10 in enumerate(p.a10):
        radial = p.R30.T @ (geometry.r * staicu_rot_z(LEG_ANGLES[leg]).T @ U1)
        length = geometry.lambda0 + p.lambda21[leg] + geometry.l2
        w, v = velocity.omega10[leg], velocity.v21[leg]
        rest[leg] = skew(omega) @ skew(omega) @ radial + skew(carried) @ radial
        rest[leg] -= w * w * a10.T @ skew(U3) @ skew(U3) @ (length * U2)
        rest[leg] -= 2.0 * w * v * a10.T @ skew(U3) @ U2
    epsilon10, gamma21, dependent = _solve(geometry, p, given, rest)
    linear = np.array([dependent[0], dependent[1], given[0]])
    angular = axes @ np.array([given[1], given[2], dependent[2]]) + carried
    return Rates(epsilon10, gamma21, np.concatenate([linear, angular]))


def platform_motion(geometry: Geometry, c: Coordinates) -> PlatformMotion:
    """Return the platform's full motion, parasitic parts included, for the independent one."""
    p = pose(geometry, c.value)
    velocity, angle_rates = rates(geometry, p, c.rate)
    acceleration = accelerations(geometry, p, velocity, angle_rates, c.acceleration)
    return PlatformMotion(
        p.G,
        p.R30.T,
        velocity.platform[:3],
        velocity.platform[3:],
        acceleration.platform[:3],
        acceleration.platform[3:],
    )
