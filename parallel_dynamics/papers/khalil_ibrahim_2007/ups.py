"""Space robot and Gough-Stewart robot, khalil_ibrahim_2007 (31)-(51), (80).

Both have the legs of Table 1. The Space robot has three, with the first and the third joint
active; the Gough-Stewart robot has six, with only the third joint active.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.khalil_ibrahim_2007.chain import Chain, Link, Row
from parallel_dynamics.papers.khalil_ibrahim_2007.platform import Platform
from parallel_dynamics.papers.notation import Array, cross, skew, solve

PRINTED_FORMS = {
    '(36)': 'the closed form of leg 1 for every leg, without Rz(gamma_i)^T',
    '(42)': 'J_i^-1 for J_i^-T',
    '(45)': 'H33 for H13 in the stack of active parts',
    '(49)': 'plus for minus before the skew of P_1 P_i',
}
"""Printed equations that are not physics; pass a key in ``as_printed`` to see what they do."""

NONE: frozenset[str] = frozenset()


def leg_table(
    gamma: float,
    d: float,
    b: float = 0.0,
    r: float = 0.0,
    active: tuple[int, ...] = (0, 2),
) -> tuple[Row, Row, Row]:
    """Return Table 1 of khalil_ibrahim_2007 for one leg.

    A vertical leg is ``(q1, q2) = (-pi/2, pi/2)``. The paper has ``b = r = 0``, which
    places the first axis perpendicular to ``B_1 B_i``; ``r`` frees that choice. Of the Space
    robot the joints ``active = (0, 2)`` are driven.
    """
    mu = [int(k in active) for k in range(3)]
    return (
        Row(sigma=0, mu=mu[0], gamma=gamma, b=b, alpha=-np.pi / 2, d=d, r=r),
        Row(sigma=0, mu=mu[1], alpha=np.pi / 2),
        Row(sigma=1, mu=mu[2], alpha=np.pi / 2),
    )


@dataclass(frozen=True)
class Leg(Chain):
    """A leg of Table 1 with its attachment ``P P_i`` (3,) on the platform, in platform axes.

    ``signs`` (3,) are +1 or -1: the sense of the machine's own joint against the table's.
    """

    attachment: Array = field(default_factory=lambda: np.zeros(3))
    signs: Array = field(default_factory=lambda: np.ones(3))

    @property
    def base_point(self) -> Array:
        """Position of ``B_i`` (3,) in the base frame."""
        return self.origin + self.rotation @ self.rows[0].transform(0.0)[1]

    @property
    def leg_frame(self) -> Array:
        """Rotation (3, 3) in which (36) holds; ``Rz(gamma_i)`` for the paper's table.

        Equation numbers of khalil_ibrahim_2007.
        """
        tilt = self.rows[0].transform(0.0)[0]
        return self.rotation @ tilt @ np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])

    def inverse_geometry(self, BP: Array) -> Array:
        """Return ``(q1, q2, L)`` for the vector ``B_i P_i`` (3,) in base axes, with sin q2 > 0."""
        L = float(np.linalg.norm(BP))
        x, y, z = self.leg_frame.T @ BP / L
        return np.array([np.arctan2(-z, x), np.arctan2(np.hypot(x, z), -y), L])

    def axes(self, q: Array) -> Array:
        """Return the joint axes as columns ``[a_1i, a_2i, a_3i]`` (3, 3) in base axes."""
        rotations, _ = self.frames(q)
        return np.stack([R[:, 2] for R in rotations], axis=1)

    def jacobian(self, q: Array) -> Array:
        """Return ``J_i`` (3, 3), (35): velocity of P_i from the joint rates, base axes.

        Equation numbers of khalil_ibrahim_2007.
        """
        a = self.axes(q)
        BP = q[2] * a[:, 2]
        return np.stack([cross(a[:, 0], BP), cross(a[:, 1], BP), a[:, 2]], axis=1)

    def inverse_jacobian(self, q: Array, as_printed: bool = False) -> Array:
        """Return ``J_i^-1`` (3, 3) in closed form, khalil_ibrahim_2007 (36).

        Differs from paper: (36) is leg 1 only; the other legs need their frame on the right,
        ``Rz(gamma_i)^T``, which ``as_printed=True`` leaves out. It is singular when L = 0 *or*
        sin q2 = 0.
        """
        (c1, c2), (s1, s2), L = np.cos(q[:2]), np.sin(q[:2]), q[2]
        inverse = np.array(
            [
                [-s1 / (L * s2), 0.0, -c1 / (L * s2)],
                [c1 * c2 / L, s2 / L, -c2 * s1 / L],
                [c1 * s2, -c2, -s1 * s2],
            ]
        )
        return inverse if as_printed else inverse @ self.leg_frame.T

    def drift(self, q: Array, qd: Array) -> Array:
        """Return ``d(J_i)/dt q_i'`` (3,), the acceleration of P_i at zero joint accelerations."""
        a = self.axes(q)
        BP = q[2] * a[:, 2]
        omega = a[:, 0] * qd[0] + a[:, 1] * qd[1]
        omegad = cross(a[:, 0] * qd[0], a[:, 1] * qd[1])
        return cross(omegad, BP) + cross(omega, cross(omega, BP) + 2.0 * qd[2] * a[:, 2])


@dataclass(frozen=True)
class UpsRobot:
    """A platform on U-P-S legs.

    Equation numbers of khalil_ibrahim_2007.

    Attributes
    ----------
    legs : sequence of Leg
    active : per leg, the indices of its active joints: ``(0, 2)`` for the Space robot (32),
        ``(2,)`` for the Gough-Stewart robot
    platform : Platform
    g : (3,), m/s^2, base axes
    """

    legs: Sequence[Leg]
    active: tuple[int, ...]
    platform: Platform
    g: Array

    def arm(self, i: int, rotation: Array) -> Array:
        """Return ``P P_i`` (3,) in base axes."""
        return rotation @ self.legs[i].attachment

    def J_v(self, i: int, rotation: Array) -> Array:
        """Return ``J_vi`` (3, 6), khalil_ibrahim_2007 (38)."""
        return np.hstack([np.eye(3), -skew(self.arm(i, rotation))])

    def Jv_dot_V(self, i: int, m: PlatformMotion) -> Array:
        """Return ``d(J_vi)/dt V_p`` (3,), khalil_ibrahim_2007 (50)."""
        w = m.angular_velocity
        return cross(w, cross(w, self.arm(i, m.rotation)))

    def point_acceleration(
        self, i: int, m: PlatformMotion, as_printed: frozenset[str] = NONE
    ) -> Array:
        """Return the acceleration of P_i (3,), khalil_ibrahim_2007 (49).

        Differs from paper: the printed (49) lost the minus sign before the skew of ``P_1 P_i``.
        """
        arm = skew(self.arm(i, m.rotation))
        sign = 1.0 if '(49)' in as_printed else -1.0
        return m.acceleration + sign * arm @ m.angular_acceleration + self.Jv_dot_V(i, m)

    def leg_motion(
        self, i: int, m: PlatformMotion, as_printed: frozenset[str] = NONE
    ) -> tuple[Array, Array, Array]:
        """Return ``q_i, q_i', q_i''`` (3,) each, in the sense of Table 1: (34) and (27).

        Equation numbers of khalil_ibrahim_2007.
        """
        leg = self.legs[i]
        q = leg.inverse_geometry(m.position + self.arm(i, m.rotation) - leg.base_point)
        inverse = leg.inverse_jacobian(q, '(36)' in as_printed)
        twist = np.concatenate([m.velocity, m.angular_velocity])
        qd = inverse @ (self.J_v(i, m.rotation) @ twist)
        qdd = inverse @ (self.point_acceleration(i, m, as_printed) - leg.drift(q, qd))
        return q, qd, qdd

    def active_signs(self) -> Array:
        """Return the senses of the machine's active joints against the table's, (n_a,)."""
        return np.concatenate([leg.signs[list(self.active)] for leg in self.legs])

    def inverse_jacobian(self, m: PlatformMotion, as_printed: frozenset[str] = NONE) -> Array:
        """Return ``J_r^-1`` (6, 6) of (39)-(41) and (80), in the sense of Table 1.

        Equation numbers of khalil_ibrahim_2007.
        """
        rows = []
        for i, leg in enumerate(self.legs):
            q = leg.inverse_geometry(m.position + self.arm(i, m.rotation) - leg.base_point)
            L_i = leg.inverse_jacobian(q, '(36)' in as_printed)[list(self.active)]
            rows.append(L_i @ self.J_v(i, m.rotation))
        return np.vstack(rows)

    def inverse_dynamics(
        self, m: PlatformMotion, wrench: Array | None = None, as_printed: frozenset[str] = NONE
    ) -> Array:
        """Return the active efforts ``Gamma`` (n_a,) by the compact form (20), (42).

        Equation numbers of khalil_ibrahim_2007.

        Differs from paper: (42) prints ``J_i^-1`` for ``J_i^-T``;
        ``as_printed`` holds keys of ``PRINTED_FORMS``.
        """
        total = self.platform.force(m, self.g, wrench)
        for i, leg in enumerate(self.legs):
            q, qd, qdd = self.leg_motion(i, m, as_printed)
            H = leg.newton_euler(q, qd, qdd, self.g)
            inverse = leg.inverse_jacobian(q, '(36)' in as_printed)
            projector = inverse if '(42)' in as_printed else inverse.T
            total = total + self.J_v(i, m.rotation).T @ projector @ H
        return self.active_signs() * solve(self.inverse_jacobian(m, as_printed).T, total)

    def inverse_dynamics_split(
        self, m: PlatformMotion, wrench: Array | None = None, as_printed: frozenset[str] = NONE
    ) -> Array:
        """Return ``Gamma`` (n_a,) by the form (21), (22), (43)-(45): only passive parts projected.

        Equation numbers of khalil_ibrahim_2007.

        Differs from paper: (45) prints the stack of active parts of the Space robot as ``H11 H31
        H12 H32 H33 H33``; the fifth is ``H13``. ``as_printed`` holds keys of ``PRINTED_FORMS``.
        """
        passive = [j for j in range(3) if j not in self.active]
        total = self.platform.force(m, self.g, wrench)
        H_active: list[float] = []
        for i, leg in enumerate(self.legs):
            q, qd, qdd = self.leg_motion(i, m, as_printed)
            H = leg.newton_euler(q, qd, qdd, self.g)
            inverse = leg.inverse_jacobian(q, '(36)' in as_printed)
            H_active.extend(H[list(self.active)])
            total = total + self.J_v(i, m.rotation).T @ inverse.T[:, passive] @ H[passive]
        if '(45)' in as_printed and len(self.legs) == 3:
            H_active[4] = H_active[5]
        projected = solve(self.inverse_jacobian(m, as_printed).T, total)
        return self.active_signs() * (np.array(H_active) + projected)

    def inertia_matrix(self, m: PlatformMotion) -> Array:
        """Return ``A_robot`` (6, 6) in the Cartesian space of the platform, (29), (47).

        Equation numbers of khalil_ibrahim_2007.
        """
        A = self.platform.spatial_inertia(m.rotation)
        for i, leg in enumerate(self.legs):
            q, _, _ = self.leg_motion(i, m)
            inverse = leg.inverse_jacobian(q)
            J_v = self.J_v(i, m.rotation)
            A = A + J_v.T @ inverse.T @ leg.inertia_matrix(q) @ inverse @ J_v
        return A

    def bias(self, m: PlatformMotion) -> Array:
        """Return ``h_robot`` (6,), khalil_ibrahim_2007 (30), (51)."""
        h = self.platform.bias(m, self.g)
        for i, leg in enumerate(self.legs):
            q, qd, _ = self.leg_motion(i, m)
            inverse = leg.inverse_jacobian(q)
            A_X = inverse.T @ leg.inertia_matrix(q) @ inverse
            h_X = inverse.T @ leg.bias(q, qd, self.g)
            drift = self.Jv_dot_V(i, m) - leg.drift(q, qd)
            h = h + self.J_v(i, m.rotation).T @ (A_X @ drift + h_X)
        return h

    def direct_dynamics(
        self, m: PlatformMotion, efforts: Array, wrench: Array | None = None
    ) -> Array:
        """Return the platform's acceleration (6,) [linear; angular], (46); ``m``'s own is unused.

        Equation numbers of khalil_ibrahim_2007.

        ``efforts`` (n_a,) and ``wrench`` (6,) as in ``inverse_dynamics``.
        """
        total = self.inverse_jacobian(m).T @ (self.active_signs() * efforts) - self.bias(m)
        if wrench is not None:
            total = total + wrench
        return solve(self.inertia_matrix(m), total)


def platform_link(platform: Platform, rotation: Array) -> Link:
    """Return the platform as a link whose frame is at P_1 with axes ``rotation`` (3, 3).

    ``rotation`` takes platform axes to link axes; P must coincide with P_1.
    """
    return Link(M=platform.M, MS=rotation @ platform.MS, I=rotation @ platform.I @ rotation.T)
