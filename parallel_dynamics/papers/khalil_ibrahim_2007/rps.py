"""Fewer than six freedoms, on a 3-RPS: khalil_ibrahim_2007 (8)-(11), (13), (16)-(20), (25)-(30).

A leg with a revolute and a prismatic joint moves its tip in a plane: ``J_i`` is (3, 2) and its
left null space, the revolute axis ``a_1i``, is what the leg forbids the platform. Three such
legs leave three freedoms ``V_r`` and give the matrix ``S`` of ``V_p = S V_r``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.khalil_ibrahim_2007.chain import Row
from parallel_dynamics.papers.khalil_ibrahim_2007.platform import Platform
from parallel_dynamics.papers.khalil_ibrahim_2007.ups import Leg
from parallel_dynamics.papers.notation import Array, cross, skew, solve

HEAVE_AND_TILT = (2, 3, 4)
"""``V_r = (v_z, w_x, w_y)`` in ``V_p = [v; w]``."""


def rps_table(gamma: float, d: float, b: float = 0.0, r: float = 0.0) -> tuple[Row, Row]:
    """Return Table 1 of khalil_ibrahim_2007 without its second joint; upright is ``q1 = 0``."""
    return (
        Row(sigma=0, gamma=gamma, b=b, alpha=-np.pi / 2, d=d, r=r),
        Row(sigma=1, alpha=np.pi / 2),
    )


@dataclass(frozen=True)
class RpsLeg(Leg):
    """A leg with two joints, the second a slide at right angles to the first."""

    @property
    def normal(self) -> Array:
        """``a_1i`` (3,), base axes: fixed, and perpendicular to all that P_i can do."""
        return np.asarray(self.rotation @ self.rows[0].transform(0.0)[0][:, 2])

    def inverse_geometry(self, BP: Array) -> Array:
        """Return ``(q1, L)`` for the vector ``B_i P_i`` (3,) in base axes."""
        x, _, z = self.leg_frame.T @ BP
        return np.array([np.arctan2(x, z), np.hypot(x, z)])

    def jacobian(self, q: Array) -> Array:
        """Return ``J_i`` (3, 2) of khalil_ibrahim_2007 (18), base axes."""
        a = self.axes(q)
        return np.stack([cross(a[:, 0], q[1] * a[:, 1]), a[:, 1]], axis=1)

    def inverse_jacobian(self, q: Array, as_printed: bool = False) -> Array:
        """Return a left inverse (2, 3) of ``J_i``, for ``J_i^-1`` of (17), (20), (27).

        Differs from khalil_ibrahim_2007, where ``J_i`` is square: the columns are orthogonal
        here, so the transpose divided by their squared lengths will do. Any other left inverse
        gives the same efforts, for ``S^T`` takes out what it adds along ``a_1i``. There is no
        printed form to show: a (3, 2) matrix has no inverse.
        """
        return np.asarray(self.jacobian(q).T / np.array([[q[1] ** 2], [1.0]]))

    def drift(self, q: Array, qd: Array) -> Array:
        """Return ``d(J_i)/dt q_i'`` (3,) of khalil_ibrahim_2007 (25)."""
        a = self.axes(q)
        omega = a[:, 0] * qd[0]
        return cross(omega, cross(omega, q[1] * a[:, 1]) + 2.0 * qd[1] * a[:, 1])


@dataclass(frozen=True)
class RpsRobot:
    """A platform on three R-P-S legs: three freedoms, of which heave and tilt are taken as V_r.

    Attributes
    ----------
    legs : sequence of RpsLeg
    active : the index of the active joint in every leg, ``(0,)`` or ``(1,)``
    platform : Platform
    g : (3,), m/s^2, base axes
    """

    legs: Sequence[RpsLeg]
    active: tuple[int, ...]
    platform: Platform
    g: Array

    def arm(self, i: int, rotation: Array) -> Array:
        """Return ``P P_i`` (3,) in base axes."""
        return rotation @ self.legs[i].attachment

    def J_v(self, i: int, rotation: Array) -> Array:
        """Return ``J_vi`` (3, 6) of khalil_ibrahim_2007 (19), which is (38) for a ball."""
        return np.hstack([np.eye(3), -skew(self.arm(i, rotation))])

    def _conditions(self, rotation: Array) -> Array:
        """Return (6, 6): rows that pick ``V_r`` out of ``V_p``, then ``a_1i^T J_vi``."""
        forbidden = [leg.normal @ self.J_v(i, rotation) for i, leg in enumerate(self.legs)]
        return np.vstack([np.eye(6)[list(HEAVE_AND_TILT)], *forbidden])

    def S(self, rotation: Array) -> Array:
        """Return ``S`` (6, 3) of khalil_ibrahim_2007 (9): the platform's twist from ``V_r``."""
        return np.asarray(np.linalg.inv(self._conditions(rotation))[:, :3])

    def S_dot(self, rotation: Array, omega: Array) -> Array:
        """Return ``dS/dt`` (6, 3) of khalil_ibrahim_2007 (13).

        The conditions on ``S`` are constant, so their rate times ``S`` is what ``dS/dt`` undoes.
        """
        rate = np.zeros((6, 6))
        for i, leg in enumerate(self.legs):
            rate[3 + i, 3:] = -leg.normal @ skew(cross(omega, self.arm(i, rotation)))
        return -solve(self._conditions(rotation), rate @ self.S(rotation))

    def motion(
        self, position: Array, rotation: Array, V_r: Array, Vd_r: Array
    ) -> PlatformMotion:
        """Return the platform's motion for ``V_r, V_r'`` (3,), khalil_ibrahim_2007 (9), (13)."""
        S = self.S(rotation)
        V_p = S @ V_r
        Vd_p = self.S_dot(rotation, V_p[3:]) @ V_r + S @ Vd_r
        return PlatformMotion(position, rotation, V_p[:3], V_p[3:], Vd_p[:3], Vd_p[3:])

    def leg_motion(self, i: int, m: PlatformMotion) -> tuple[Array, Array, Array]:
        """Return ``q_i, q_i', q_i''`` (2,) each, khalil_ibrahim_2007 (17), (26), (27)."""
        leg, w = self.legs[i], m.angular_velocity
        q = leg.inverse_geometry(m.position + self.arm(i, m.rotation) - leg.base_point)
        inverse, J_v = leg.inverse_jacobian(q), self.J_v(i, m.rotation)
        qd = inverse @ J_v @ m.twist
        v_rate = J_v @ m.twist_rate + cross(w, cross(w, self.arm(i, m.rotation)))
        return q, qd, inverse @ (v_rate - leg.drift(q, qd))

    def active_signs(self) -> Array:
        """Return the senses of the machine's active joints against the table's, (3,)."""
        return np.concatenate([leg.signs[list(self.active)] for leg in self.legs])

    def inverse_jacobian(self, m: PlatformMotion) -> Array:
        """Return ``J_r^-1`` (3, 3) of khalil_ibrahim_2007 (10), (80)."""
        rows = []
        for i, leg in enumerate(self.legs):
            L_i = leg.inverse_jacobian(self.leg_motion(i, m)[0])[list(self.active)]
            rows.append(L_i @ self.J_v(i, m.rotation))
        return np.vstack(rows) @ self.S(m.rotation)

    def inverse_dynamics(self, m: PlatformMotion, wrench: Array | None = None) -> Array:
        """Return the active efforts (3,), khalil_ibrahim_2007 (20) with ``S``."""
        total = self.platform.force(m, self.g, wrench)
        for i, leg in enumerate(self.legs):
            q, qd, qdd = self.leg_motion(i, m)
            H = leg.newton_euler(q, qd, qdd, self.g)
            total = total + self.J_v(i, m.rotation).T @ leg.inverse_jacobian(q).T @ H
        projected = self.S(m.rotation).T @ total
        return self.active_signs() * solve(self.inverse_jacobian(m).T, projected)

    def _cartesian_inertia(self, m: PlatformMotion) -> Array:
        """Return the bracket (6, 6) of khalil_ibrahim_2007 (29)."""
        A = self.platform.spatial_inertia(m.rotation)
        for i, leg in enumerate(self.legs):
            q, _, _ = self.leg_motion(i, m)
            to_leg = leg.inverse_jacobian(q) @ self.J_v(i, m.rotation)
            A = A + to_leg.T @ leg.inertia_matrix(q) @ to_leg
        return A

    def inertia_matrix(self, m: PlatformMotion) -> Array:
        """Return ``A_robot`` (3, 3) on ``V_r'``, khalil_ibrahim_2007 (29)."""
        S = self.S(m.rotation)
        return S.T @ self._cartesian_inertia(m) @ S

    def bias(self, m: PlatformMotion) -> Array:
        """Return ``h_robot`` (3,), khalil_ibrahim_2007 (30)."""
        w = m.angular_velocity
        V_r = m.twist[list(HEAVE_AND_TILT)]
        h = self._cartesian_inertia(m) @ self.S_dot(m.rotation, w) @ V_r
        h = h + self.platform.bias(m, self.g)
        for i, leg in enumerate(self.legs):
            q, qd, _ = self.leg_motion(i, m)
            inverse = leg.inverse_jacobian(q)
            drift = cross(w, cross(w, self.arm(i, m.rotation))) - leg.drift(q, qd)
            H = leg.inertia_matrix(q) @ inverse @ drift + leg.bias(q, qd, self.g)
            h = h + self.J_v(i, m.rotation).T @ inverse.T @ H
        return self.S(m.rotation).T @ h

    def direct_dynamics(
        self, m: PlatformMotion, efforts: Array, wrench: Array | None = None
    ) -> Array:
        """Return the platform's acceleration (6,), khalil_ibrahim_2007 (28) and (13)."""
        S = self.S(m.rotation)
        total = self.inverse_jacobian(m).T @ (self.active_signs() * efforts) - self.bias(m)
        if wrench is not None:
            total = total + S.T @ wrench
        V_r = m.twist[list(HEAVE_AND_TILT)]
        Vd_r = solve(self.inertia_matrix(m), total)
        return np.asarray(self.S_dot(m.rotation, m.angular_velocity) @ V_r + S @ Vd_r)
