"""The C5 robot: six linear actuators that push on the faces of a cube, (52)-(71).

Equation numbers of khalil_ibrahim_2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.khalil_ibrahim_2007.platform import Platform
from parallel_dynamics.papers.notation import Array, cross, skew, solve

PRINTED_FORMS = {
    '(58)': 'n_z for a_z in row 5',
    '(64)': 'only -w x v_P of the terms that are quadratic in the velocities',
    '(67)': "-w x (v_P + a_i q_i') for 2 w x (a_i q_i' - v_P) - w x (w x PP_i)",
    '(68)': 'J_i^T for J_i^-T',
}
"""Printed equations that are not physics; pass a key in ``as_printed`` to see what they do."""

NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class C5Leg:
    """A linear actuator embedded in the base, ending in a C5 joint on a face of the platform.

    Attributes
    ----------
    base_point : (3,), m
        Centre of the spherical joint in the base frame at ``q = 0``.
    axis : (3,)
        ``a_i``, unit vector along the actuator, base axes. Legs 5 and 6 are along z (the text
        of the paper says "4 and 5").
    face_point : (3,), m
        A point of the face, platform frame.
    face_normal : (3,)
        Unit normal of the face, platform axes; ``r_i`` in base axes.
    mass, Ia : float, kg
        Moving part of the leg ``M_i``, inertia of the actuator ``Ia_i``.
    Fv, Fs : float
        Viscous and Coulomb friction (the paper has none; zero by default).
    """

    base_point: Array
    axis: Array
    face_point: Array
    face_normal: Array
    mass: float
    Ia: float = 0.0
    Fv: float = 0.0
    Fs: float = 0.0


@dataclass(frozen=True)
class C5Robot:
    """The C5 robot; ``g`` (3,) in m/s^2 is gravity in base axes."""

    legs: Sequence[C5Leg]
    platform: Platform
    g: Array

    def geometry(self, i: int, m: PlatformMotion) -> tuple[float, Array, Array, float]:
        """Return ``q_i``, ``r_i`` (3,), ``P P_i`` (3,) and the scalar ``J_i`` of (54).

        Equation numbers of khalil_ibrahim_2007.

        The face holds ``P_i``: ``r_i . (P_i - P - face point) = 0``.
        """
        leg = self.legs[i]
        r = m.rotation @ leg.face_normal
        J = float(r @ leg.axis)
        q = float(r @ (m.position + m.rotation @ leg.face_point - leg.base_point)) / J
        PP = leg.base_point + q * leg.axis - m.position
        return q, r, PP, J

    def J_v(self, i: int, m: PlatformMotion) -> Array:
        """Return ``J_vi`` (6,), khalil_ibrahim_2007 (56)."""
        _, r, PP, _ = self.geometry(i, m)
        return np.concatenate([r, -r @ skew(PP)])

    def inverse_jacobian(self, m: PlatformMotion, as_printed: frozenset[str] = NONE) -> Array:
        """Return ``J_r^-1`` (6, 6), khalil_ibrahim_2007 (58).

        Differs from paper: row 5 is printed with ``n_z`` in the left denominator; it is ``a_z``.
        """
        rows = [self.J_v(i, m) / self.geometry(i, m)[3] for i in range(6)]
        if '(58)' in as_printed:
            _, r, _, _ = self.geometry(4, m)
            rows[4] = rows[4].copy()
            rows[4][:3] = r / m.rotation[2, 1]
        return np.array(rows)

    def Jv_dot_V(self, i: int, m: PlatformMotion, as_printed: frozenset[str] = NONE) -> float:
        """Return ``d(J_vi)/dt V_p``, khalil_ibrahim_2007 (65).

        Differs from paper: ``P_i`` slides on the face, so ``d(PP_i)/dt = a_i q_i' - v_P`` and
        ``r_i . (-2 w x v_P - w x (w x PP_i) + w x a_i q_i')`` is left, where the paper has only
        ``-r_i . (w x v_P)``.
        """
        _, r, PP, _ = self.geometry(i, m)
        v, w = m.velocity, m.angular_velocity
        if '(64)' in as_printed:
            return float(-r @ cross(w, v))
        slide = self.legs[i].axis * self.rate(i, m)
        return float(r @ (-2.0 * cross(w, v) - cross(w, cross(w, PP)) + cross(w, slide)))

    def J_dot(self, i: int, m: PlatformMotion) -> float:
        """Return ``d(J_i)/dt`` of khalil_ibrahim_2007 (54): ``(w x r_i) . a_i``."""
        r = m.rotation @ self.legs[i].face_normal
        return float(cross(m.angular_velocity, r) @ self.legs[i].axis)

    def rate(self, i: int, m: PlatformMotion) -> float:
        """Return ``q_i'`` from khalil_ibrahim_2007 (52), (55)."""
        twist = np.concatenate([m.velocity, m.angular_velocity])
        return float(self.J_v(i, m) @ twist) / self.geometry(i, m)[3]

    def leg_acceleration(
        self, i: int, m: PlatformMotion, as_printed: frozenset[str] = NONE
    ) -> float:
        """Return ``q_i''`` by khalil_ibrahim_2007 (27) with (64).

        Differs from paper where (64) does; see ``Jv_dot_V``.
        """
        acceleration = np.concatenate([m.acceleration, m.angular_acceleration])
        vd = float(self.J_v(i, m) @ acceleration) + self.Jv_dot_V(i, m, as_printed)
        return (vd - self.J_dot(i, m) * self.rate(i, m)) / self.geometry(i, m)[3]

    def _h(self, i: int, m: PlatformMotion) -> float:
        """Return ``h_i``: minus the weight along the leg, (60), (61), and friction.

        Equation numbers of khalil_ibrahim_2007.
        """
        leg = self.legs[i]
        rate = self.rate(i, m)
        weight = -leg.mass * float(leg.axis @ self.g)
        return weight + leg.Fv * rate + leg.Fs * float(np.sign(rate))

    def inverse_dynamics(
        self, m: PlatformMotion, wrench: Array | None = None, as_printed: frozenset[str] = NONE
    ) -> Array:
        """Return the six actuator forces ``Gamma`` (6,), khalil_ibrahim_2007 (59)-(62).

        ``as_printed`` may hold '(58)' and '(64)', see ``PRINTED_FORMS``.
        """
        H = np.array(
            [
                (leg.mass + leg.Ia) * self.leg_acceleration(i, m, as_printed) + self._h(i, m)
                for i, leg in enumerate(self.legs)
            ]
        )
        F_p = self.platform.force(m, self.g, wrench)
        return np.asarray(H + solve(self.inverse_jacobian(m, as_printed).T, F_p))

    def inertia_matrix(self, m: PlatformMotion, as_printed: frozenset[str] = NONE) -> Array:
        """Return ``A_robot`` (6, 6), khalil_ibrahim_2007 (66) with (70).

        Differs from paper: (68) prints ``J_i^T (M + Ia) J_i^-1``, in which the scalar cancels;
        it is ``J_i^-T (M + Ia) J_i^-1``, as in (70).
        """
        A = self.platform.spatial_inertia(m.rotation)
        for i, leg in enumerate(self.legs):
            J = self.geometry(i, m)[3]
            J_v = self.J_v(i, m)
            A_X = (leg.mass + leg.Ia) / (1.0 if '(68)' in as_printed else J**2)
            A = A + A_X * np.outer(J_v, J_v)
        return A

    def bias(self, m: PlatformMotion, as_printed: frozenset[str] = NONE) -> Array:
        """Return ``h_robot`` (6,), khalil_ibrahim_2007 (67) with (70), (71).

        Differs from paper: the bracket is ``A_Xi r_i . [2 w x (a_i q_i' - v_P) - w x (w x PP_i)]
        + h_Xi``; printed is ``A_Xi (-r_i . w x (v_P + a_i q_i')) + h_Xi``.
        """
        h = self.platform.bias(m, self.g)
        v, w = m.velocity, m.angular_velocity
        for i, leg in enumerate(self.legs):
            _, r, PP, J = self.geometry(i, m)
            slide = leg.axis * self.rate(i, m)
            if '(67)' in as_printed:
                drift = -cross(w, v + slide)
            else:
                drift = 2.0 * cross(w, slide - v) - cross(w, cross(w, PP))
            A_X = (leg.mass + leg.Ia) / J**2
            h = h + self.J_v(i, m) * (A_X * float(r @ drift) + self._h(i, m) / J)
        return h

    def direct_dynamics(
        self,
        m: PlatformMotion,
        efforts: Array,
        wrench: Array | None = None,
        as_printed: frozenset[str] = NONE,
    ) -> Array:
        """Return the platform's acceleration (6,), (63); ``m``'s own acceleration is unused.

        Equation numbers of khalil_ibrahim_2007.
        """
        total = self.inverse_jacobian(m).T @ efforts - self.bias(m, as_printed)
        if wrench is not None:
            total = total + wrench
        return solve(self.inertia_matrix(m, as_printed), total)
