"""Cylinder and piston of one leg: lopes_2010 (46)-(57), (71)-(77), (92)-(95).

All vectors are in base axes {B}; velocities and accelerations are those seen from {B}.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.notation import Array, cross, skew, unit


@dataclass(frozen=True)
class Leg:
    """Geometry and masses of one leg.

    Attributes
    ----------
    b : (3,), m
        ``b_i``, universal joint in the base frame.
    p : (3,), m
        ``p_i``, spherical joint from the platform's centre of mass, platform axes.
    m_C, b_C, I_C : float kg, float m, (3, 3) kg m^2
        Cylinder: mass, distance of its centre of mass from B_i, tensor about the centre of mass
        in the cylinder's frame (x along the leg), lopes_2010 (77).
    m_S, b_S, I_S
        Piston: the same, with the distance measured from P_i, (111).
    first_axis : (3,), optional
        Axis of the universal joint that is fixed in the base. Differs from paper: with it the
        leg spins as a universal joint makes it spin. Without it the leg does not spin about its
        axis, as the paper has it; that is exact only for a leg without inertia about its axis.
    """

    b: Array
    p: Array
    m_C: float
    b_C: float
    I_C: Array
    m_S: float
    b_S: float
    I_S: Array
    first_axis: Array | None = None


@dataclass(frozen=True)
class LegState:
    """Motion of a leg against {B}; Jacobians (3, 6) act on the twist of {P}."""

    l: Array
    length: float
    direction: Array
    frame: Array
    omega: Array
    omegad: Array
    J_D: Array
    J_B: Array
    J_G: Array
    p_C: Array
    v_C: Array
    a_C: Array
    p_S: Array
    v_S: Array
    a_S: Array

    @property
    def row(self) -> Array:
        """Row (6,) of ``J_C``: the rate of the leg's length from the twist of {P}, (6).

        Equation numbers of lopes_2010.
        """
        # The piston's Jacobian has the factor 1 along the leg, whatever b_S.
        return self.direction @ self.J_G


def paper_frame(direction: Array) -> Array:
    """Return ``R_C`` (3, 3) by lopes_2010 (73)-(76): y parallel to the base plane.

    It divides by zero for a vertical leg.
    """
    x, y, _ = direction
    y_C = np.array([-y, x, 0.0]) / np.hypot(x, y)
    return np.stack([direction, y_C, cross(direction, y_C)], axis=1)


def _round_frame(direction: Array) -> Array:
    """Return a frame with x along the leg; enough when the leg is round, never singular."""
    helper = np.eye(3)[int(np.argmin(np.abs(direction)))]
    y = unit(cross(helper, direction))
    return np.stack([direction, y, cross(direction, y)], axis=1)


def _spin(leg: Leg, direction: Array, omega: Array, omegad: Array) -> tuple[Array, float, float]:
    """Return the row (3,) that maps omega to the spin rate, the spin rate and its derivative.

    ``w . (a_1 x a_2) = 0`` for a universal joint with ``a_2`` along ``a_1 x l^`` gives the spin
    ``s = c (a_1 . w) / (1 - c^2)`` with ``c = a_1 . l^``.
    """
    if leg.first_axis is None:
        return np.zeros(3), 0.0, 0.0
    a1 = leg.first_axis
    c = float(a1 @ direction)
    k = 1.0 - c * c
    cd = float(a1 @ cross(omega, direction))
    q1d = float(a1 @ omega) / k
    q1dd = float(a1 @ omegad) / k + 2.0 * c * cd * q1d / k
    return c / k * a1, c * q1d, cd * q1d + c * q1dd


def leg_state(leg: Leg, m: PlatformMotion, as_printed: bool = False) -> LegState:
    """Return the leg's motion for the motion ``m`` of {P}, the platform's centre of mass.

    Differs from paper: (53) of lopes_2010 is ``J_D = [lbar~, -lbar~ p~]``, printed with a plus,
    and (95), lost in print, is ``J_G = [(1 - b_S/l) 1 + (b_S/l) l^ l^T] [1, -p~]``.
    ``as_printed=True`` gives the printed ``J_D``; ``J_B`` of (57) is right in print.
    """
    p = m.rotation @ leg.p
    w, wd = m.angular_velocity, m.angular_acceleration
    l = m.position + p - leg.b  # (48)
    length = float(np.linalg.norm(l))
    direction = l / length  # (47)
    tip = np.hstack([np.eye(3), -skew(p)])  # twist of {P} to velocity of P_i
    l_rate = m.velocity + cross(w, p)  # vector rate of l, as (93) needs it
    l_acceleration = m.acceleration + cross(wd, p) + cross(w, cross(w, p))

    lbar = l / length**2  # (54)
    J_D = skew(lbar) @ tip  # (53)
    omega = cross(lbar, l_rate)  # (51)
    omegad = cross(lbar, l_acceleration) - 2.0 * float(lbar @ l_rate) * omega
    # The spin moves no point of the axis, so J_B and J_G do not see it.
    J_B = -leg.b_C * skew(direction) @ J_D  # (57)
    J_G = tip + leg.b_S * skew(direction) @ J_D  # (94), (95)
    arm_C, arm_S = leg.b_C * direction, -leg.b_S * direction
    centripetal = cross(omega, cross(omega, direction))
    row, spin, spin_rate = _spin(leg, direction, omega, omegad)
    if leg.first_axis is None:
        frame = _round_frame(direction)
    else:
        a2 = unit(cross(leg.first_axis, direction))
        frame = np.stack([direction, a2, cross(direction, a2)], axis=1)
    printed_J_D = skew(lbar) @ np.hstack([np.eye(3), skew(p)])
    return LegState(
        l=l,
        length=length,
        direction=direction,
        frame=frame,
        omega=omega + spin * direction,
        omegad=omegad + spin_rate * direction + spin * cross(omega, direction),
        J_D=printed_J_D if as_printed else J_D + np.outer(direction, row @ J_D),
        J_B=J_B,
        J_G=J_G,
        p_C=leg.b + arm_C,  # (46)
        v_C=cross(omega, arm_C),  # (49)
        a_C=cross(omegad, arm_C) + leg.b_C * centripetal,
        p_S=m.position + p + arm_S,  # (92)
        v_S=l_rate + cross(omega, arm_S),  # (93)
        a_S=l_acceleration + cross(omegad, arm_S) - leg.b_S * centripetal,
    )
