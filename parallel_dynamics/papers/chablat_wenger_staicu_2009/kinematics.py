"""Kinematics of the Orthoglide by recursive matrices: chablat_wenger_staicu_2009 (1)-(19).

The matrices ``a_{k,k-1}`` take coordinates of frame k-1 to frame k, so ``a_k0^T`` takes body
coordinates to the fixed frame. Legs A, B, C differ only in their first matrix. In each leg, body 1
is the slider, 2 the short bar A3-A6, 3 and 6 the two long bars, 4 the short bar at the platform
and 5 the platform. ``z0`` points down, see (22).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.papers.notation import U1, U2, U3, Array, skew, solve, staicu_rot_z

LEGS = ('A', 'B', 'C')

_a1 = np.array([[0.0, 0, -1], [0, 1, 0], [1, 0, 0]])
_a2 = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
_a3 = np.array([[0.0, 0, -1], [-1, 0, 0], [0, 1, 0]])
_a4 = np.array([[-1.0, 0, 0], [0, 1, 0], [0, 0, -1]])
_a5 = np.array([[-1.0, 0, 0], [0, 0, 1], [0, 1, 0]])
_a6 = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])

FIRST = (_a1, _a5, _a6)
"""``a_10``, ``b_10``, ``c_10`` of chablat_wenger_staicu_2009 (1), (2)."""

PLATFORM_MATRICES = (
    np.array([[0.0, -1, 0], [-1, 0, 0], [0, 0, -1]]),
    np.array([[0.0, 0, -1], [0, -1, 0], [-1, 0, 0]]),
    np.array([[-1.0, 0, 0], [0, 0, -1], [0, -1, 0]]),
)
"""``a_50``, ``b_50``, ``c_50`` at any pose, chablat_wenger_staicu_2009 (3), (4).

Differs from paper: it prints ``c_50 = [-1 0 0; 0 -1 0; 0 0 1]``.
"""

PRINTED_C50 = np.array([[-1.0, 0, 0], [0, -1, 0], [0, 0, 1]])
"""``c_50`` as printed in chablat_wenger_staicu_2009 (4)."""

PRINTED_FORMS = {
    '(13)': 'plus before the terms in l3, in the velocities and the virtual velocities',
    '(18)': 'the opposite sign of every term in l3',
    '(23)': 'no second long bar',
}
"""Printed equations that are not physics; pass a key in ``as_printed`` to see what they do."""

NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Geometry:
    """Lengths in m, ``alpha`` in rad; the defaults are the paper's."""

    l: float = 0.20
    l1: float = 0.15
    l2: float = 0.08
    l3: float = 0.85
    alpha: float = np.pi / 4

    @property
    def r21(self) -> Array:
        """``A_1 A_2`` (3,) in frame 1, chablat_wenger_staicu_2009 (8)."""
        return self.l1 * np.array([0.0, np.sin(self.alpha), np.cos(self.alpha)])

    @property
    def r32(self) -> Array:
        """``A_2 A_3`` (3,) in frame 2, chablat_wenger_staicu_2009 (8)."""
        return -0.5 * self.l2 * U3

    @property
    def r62(self) -> Array:
        """``A_2 A_6`` (3,) in frame 2; not in the paper."""
        return 0.5 * self.l2 * U3

    @property
    def r43(self) -> Array:
        """``A_3 A_4`` (3,) in frame 3, chablat_wenger_staicu_2009 (8)."""
        return -self.l3 * U2

    @property
    def r54(self) -> Array:
        """``A_4 A_5`` (3,) in frame 4, chablat_wenger_staicu_2009 (8)."""
        return 0.5 * self.l2 * U1

    @property
    def r5G(self) -> Array:
        """``A_5 G`` (3,) in frame 5, chablat_wenger_staicu_2009 (8)."""
        return np.array([self.l1 * np.sin(self.alpha), -0.5 * self.l, 0.0])

    def r10(self, leg: int, slide: float) -> Array:
        """Return ``O A_1`` (3,) in the fixed frame, chablat_wenger_staicu_2009 (8)."""
        along = slide - self.l1 * np.cos(self.alpha) - self.l3 - 0.5 * self.l
        return np.asarray(along * FIRST[leg].T @ U3)


@dataclass(frozen=True)
class LegPose:
    """Joint variables of one leg and its matrices ``a_k0`` (3, 3), k = 1..6."""

    slide: float
    phi21: float
    phi32: float
    a: dict[int, Array]

    def relative(self, k: int) -> Array:
        """Return ``a_{k,k-1}`` (3, 3), or ``a_62`` for k = 6."""
        before = 2 if k == 6 else k - 1
        return self.a[k] @ self.a[before].T


@dataclass(frozen=True)
class LegRates:
    """``v_10, w_21, w_32`` or, for accelerations, ``gamma_10, eps_21, eps_32`` of one leg."""

    slide: float
    phi21: float
    phi32: float


def matrices(leg: int, phi21: float, phi32: float) -> dict[int, Array]:
    """Return ``a_k0`` (3, 3) for k = 1..6, (1), (2), with ``phi_54 = phi_21`` of (5).

    Equation numbers of chablat_wenger_staicu_2009.
    """
    a10 = FIRST[leg]
    a20 = staicu_rot_z(phi21) @ _a2 @ a10
    a30 = staicu_rot_z(phi32) @ _a3 @ a20
    a40 = staicu_rot_z(phi32) @ _a4 @ a30
    a50 = staicu_rot_z(phi21) @ _a2 @ a40
    return {1: a10, 2: a20, 3: a30, 4: a40, 5: a50, 6: a30}


def leg_pose(geometry: Geometry, leg: int, G: Array) -> LegPose:
    """Return the joint variables of a leg for the platform's centre ``G`` (3,), (9).

    Equation numbers of chablat_wenger_staicu_2009.
    """
    # (9) for legs A, B, C is one formula with x, y, z permuted.
    along, second, third = np.roll(G, -leg)
    l3 = geometry.l3
    phi32 = float(np.arcsin(-third / l3))
    phi21 = float(np.arcsin(second / (l3 * np.cos(phi32))))
    slide = float(along + l3 * (1.0 - np.cos(phi21) * np.cos(phi32)))
    return LegPose(slide, phi21, phi32, matrices(leg, phi21, phi32))


def platform_centre(geometry: Geometry, leg: int, pose: LegPose) -> Array:
    """Return G (3,) through one leg, the loop equation chablat_wenger_staicu_2009 (7)."""
    a = pose.a
    return np.asarray(
        geometry.r10(leg, pose.slide)
        + a[1].T @ geometry.r21
        + a[2].T @ geometry.r32
        + a[3].T @ geometry.r43
        + a[4].T @ geometry.r54
        + a[5].T @ geometry.r5G
    )


def _connectivity(geometry: Geometry, pose: LegPose, as_printed: bool) -> Array:
    """Return the matrix (3, 3) of chablat_wenger_staicu_2009 (13) on ``(v_10, w_21, w_32)``."""
    a = pose.a
    a32 = pose.relative(3)
    sign = 1.0 if as_printed else -1.0
    return np.stack(
        [
            a[1].T @ U3,
            sign * geometry.l3 * a[2].T @ skew(U3) @ a32.T @ U2,
            sign * geometry.l3 * a[3].T @ skew(U3) @ U2,
        ],
        axis=1,
    )


def leg_rates(
    geometry: Geometry, pose: LegPose, velocity: Array, as_printed: bool = False
) -> LegRates:
    """Return the relative velocities of a leg for the velocity (3,) of G, (13).

    Equation numbers of chablat_wenger_staicu_2009.

    Differs from paper: with ``r_43 = -l3 u2`` both terms in ``l3`` have a minus sign.
    """
    return LegRates(*solve(_connectivity(geometry, pose, as_printed), velocity))


def leg_accelerations(
    geometry: Geometry,
    pose: LegPose,
    rates: LegRates,
    acceleration: Array,
    as_printed: bool = False,
) -> LegRates:
    """Return the relative accelerations of a leg for the acceleration (3,) of G, (18).

    Equation numbers of chablat_wenger_staicu_2009.

    Differs from paper in the signs of ``l3`` as (13) does; the last term, cut off in print, is
    ``2 l3 w_21 w_32 a_20^T u3~ a_32^T u3~ u2`` with the same sign as its neighbours.
    """
    a, a32, l3 = pose.a, pose.relative(3), geometry.l3
    u3 = skew(U3)
    w21, w32 = rates.phi21, rates.phi32
    known = (
        l3 * w21 * w21 * a[2].T @ u3 @ u3 @ a32.T @ U2
        + l3 * w32 * w32 * a[3].T @ u3 @ u3 @ U2
        + 2.0 * l3 * w21 * w32 * a[2].T @ u3 @ a32.T @ u3 @ U2
    )
    right = acceleration + (-known if as_printed else known)
    return LegRates(*solve(_connectivity(geometry, pose, as_printed), right))


def attitude_error(printed: Array = PRINTED_C50, right: Array = PLATFORM_MATRICES[2]) -> float:
    """Return the angle (rad) between two attitudes of the platform, as (4) would have leg C.

    Equation numbers of chablat_wenger_staicu_2009.
    """
    return float(np.arccos(np.clip(0.5 * (np.trace(printed @ right.T) - 1.0), -1.0, 1.0)))


def jacobians(geometry: Geometry, G: Array) -> tuple[Array, Array]:
    """Return ``J_1`` and ``J_2`` (3, 3) with ``J_1 lambda' = J_2 r_G'``, (15)-(17).

    Equation numbers of chablat_wenger_staicu_2009.
    """
    slides = np.array([leg_pose(geometry, leg, G).slide for leg in range(3)])
    alpha = G + geometry.l3 - slides
    J_2 = np.tile(G, (3, 1))
    np.fill_diagonal(J_2, alpha)
    return np.diag(alpha), J_2


@dataclass(frozen=True)
class BodyState:
    """Velocity state of body k in its own axes, at the centre of its joint ``A_k``.

    ``omega, epsilon`` (3,): angular velocity and acceleration; ``v, gamma`` (3,): velocity and
    acceleration of A_k.
    """

    omega: Array
    epsilon: Array
    v: Array
    gamma: Array


def body_states(
    geometry: Geometry, pose: LegPose, rates: LegRates, accelerations: LegRates
) -> dict[int, BodyState]:
    """Return the state of the bodies 1..6 of a leg, chablat_wenger_staicu_2009 (10)-(12), (19)."""
    arms = {2: geometry.r21, 3: geometry.r32, 4: geometry.r43, 5: geometry.r54, 6: geometry.r62}
    rate = {2: rates.phi21, 3: rates.phi32, 4: rates.phi32, 5: rates.phi21, 6: rates.phi32}
    acc = {
        2: accelerations.phi21,
        3: accelerations.phi32,
        4: accelerations.phi32,
        5: accelerations.phi21,
        6: accelerations.phi32,
    }
    zero = np.zeros(3)
    states = {1: BodyState(zero, zero, rates.slide * U3, accelerations.slide * U3)}
    for k in (2, 3, 4, 5, 6):
        before = states[2 if k == 6 else k - 1]
        a = pose.relative(k)
        omega = a @ before.omega + rate[k] * U3
        epsilon = a @ before.epsilon + acc[k] * U3
        epsilon = epsilon + rate[k] * a @ skew(before.omega) @ a.T @ U3
        spin = skew(before.omega)
        v = a @ (before.v + spin @ arms[k])
        gamma = a @ (before.gamma + (spin @ spin + skew(before.epsilon)) @ arms[k])
        states[k] = BodyState(omega, epsilon, v, gamma)
    return states
