"""The DELTA robot: kinematics, the seven-parameter linear form (36)-(45), and the exact one.

Equation numbers of codourey_burdet_1997.

Angles of the motors are positive downward. All vectors are in the base frame O of the paper: at
the centre of the motors, z up. The travelling plate is reduced to the point P.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parallel_dynamics.errors import UnreachableError
from parallel_dynamics.papers.codourey_burdet_1997.linear_form import (
    BodyMotion,
    body_matrix,
    dynamic_matrix,
)
from parallel_dynamics.papers.codourey_burdet_1997.virtual_work import (
    actuator,
    motor_jacobian,
    own_axes,
)
from parallel_dynamics.papers.notation import (
    U2,
    U3,
    Array,
    cross,
    rot_y,
    rot_z,
    skew,
    solve,
    unit,
)


@dataclass(frozen=True)
class Geometry:
    """Fig. 4: ``R = R_A - R_B``, arm ``L_A``, forearm ``L_B`` (m), directions ``theta`` (rad)."""

    R: float
    L_A: float
    L_B: float
    theta: tuple[float, float, float] = (0.0, 2.0 * np.pi / 3.0, 4.0 * np.pi / 3.0)


@dataclass(frozen=True)
class State:
    """Motion of motors and plate for a motion of the plate.

    Attributes
    ----------
    q, qd, qdd : (3,)
        Motor angles (rad, positive downward) and their derivatives.
    J : (3, 3)
        Jacobian of the robot, ``x' = J q'``.
    elbow, elbow_velocity, elbow_acceleration : (3, 3)
        One row per arm, base axes.
    x, xd, xdd : (3,)
        Plate.
    """

    q: Array
    qd: Array
    qdd: Array
    J: Array
    elbow: Array
    elbow_velocity: Array
    elbow_acceleration: Array
    x: Array
    xd: Array
    xdd: Array


def arm_rotation(q: float, as_printed: bool = False) -> Array:
    """Return the rotation (3, 3) from the frame of an arm to O_i, codourey_burdet_1997 (41).

    Differs from paper: (36)-(43) have q positive downward about +y, which is ``R_y(+q)``; (41)
    prints ``R_y(-q)``.
    """
    return rot_y(-q if as_printed else q)


def state(geometry: Geometry, x: Array, xd: Array, xdd: Array, as_printed: bool = False) -> State:
    """Return the motion of the whole robot for the motion (3,) each of the plate's point P.

    Equation numbers of codourey_burdet_1997.

    ``as_printed=True`` places the elbows by the printed (41) once the angles are known.
    """
    q, qd, qdd = np.zeros(3), np.zeros(3), np.zeros(3)
    elbows, rods, levers, frames = [], [], [], []
    for i, theta in enumerate(geometry.theta):
        frame = rot_z(theta)  # (35)
        s = frame.T @ x - geometry.R * np.array([1.0, 0.0, 0.0])
        C = (s @ s + geometry.L_A**2 - geometry.L_B**2) / (2.0 * geometry.L_A)
        reach = np.hypot(s[0], s[2])
        if abs(C) > reach:
            raise UnreachableError(
                f'arm {i + 1}: expected a plate position within reach, got {x} '
                f'({abs(C) - reach:.3g} m too far); choose a nearer one'
            )
        # Of the two solutions the elbow that points outward.
        q[i] = np.arctan2(-s[2], s[0]) - np.arccos(C / reach)
        arm = frame @ arm_rotation(q[i], as_printed)
        elbow = frame @ np.array([geometry.R, 0.0, 0.0]) + geometry.L_A * arm[:, 0]
        elbows.append(elbow)
        rods.append(x - elbow)
        frames.append(arm)
        levers.append(cross(arm[:, 1], geometry.L_A * arm[:, 0]))
    S, B = np.array(rods), np.array(levers)
    SB = np.einsum('ij,ij->i', S, B)
    qd = S @ xd / SB
    velocity = B * qd[:, None]
    centripetal = np.array([-geometry.L_A * arm[:, 0] * rate**2 for arm, rate in zip(frames, qd)])
    relative = xd - velocity
    qdd = (
        S @ xdd - np.einsum('ij,ij->i', S, centripetal) + np.einsum('ij,ij->i', relative, relative)
    ) / SB
    return State(
        q=q,
        qd=qd,
        qdd=qdd,
        J=solve(S, np.diag(SB)),
        elbow=np.array(elbows),
        elbow_velocity=velocity,
        elbow_acceleration=B * qdd[:, None] + centripetal,
        x=x,
        xd=xd,
        xdd=xdd,
    )


@dataclass(frozen=True)
class LumpedDelta:
    """The paper's DELTA: three arms and a plate, forearms as points at elbow and plate.

    The split of a forearm's mass, 2/3 at the elbow and 1/3 at the plate, is an approximation. Per
    uniform rod, lumped less exact energy is ``(m/6) v_E . (v_E - v_P)`` (kinetic) and
    ``(m g/6) (z_E - z_P)`` (potential).

    Attributes
    ----------
    geometry : Geometry
    moment : (3,), kg m
        ``m_i r_i,x`` of each arm, elbow masses included.
    inertia : (3,), kg m^2
        ``I_i,yy`` of each arm about its motor axis, elbow masses and motor included.
    plate_mass : float, kg
        ``m_n``, forearm thirds included.
    g : float, m/s^2
    """

    geometry: Geometry
    moment: Array
    inertia: Array
    plate_mass: float
    g: float = 9.81

    @property
    def p(self) -> Array:
        """Parameter vector (7,) of codourey_burdet_1997 (45)."""
        arms = np.stack([self.moment, self.inertia], axis=1).ravel()
        return np.append(arms, self.plate_mass)

    def arm_block(self, i: int, s: State) -> Array:
        """Return ``J_Ai^T Omega_i`` (3, 10) of an arm, (43), from the general form (34).

        Equation numbers of codourey_burdet_1997.
        """
        omega, omegad = np.array([0.0, s.qd[i], 0.0]), np.array([0.0, s.qdd[i], 0.0])
        G = np.array([0.0, 0.0, -self.g])
        J_A = np.zeros((6, 3))
        J_A[4, i] = 1.0  # (36)
        return J_A.T @ body_matrix(-arm_rotation(s.q[i]).T @ G, omega, omegad)

    def Psi(self, s: State) -> Array:
        """Return the dynamic matrix (3, 7), codourey_burdet_1997 (45)."""
        Psi = np.zeros((3, 7))
        for i in range(3):
            Psi[i, 2 * i] = -self.g * np.cos(s.q[i])
            Psi[i, 2 * i + 1] = s.qdd[i]
        Psi[:, 6] = s.J.T @ (s.xdd - np.array([0.0, 0.0, -self.g]))
        return Psi

    def inverse_dynamics(self, x: Array, xd: Array, xdd: Array, as_printed: bool = False) -> Array:
        """Return the motor torques (3,), (45), for a motion of the plate (3,) each.

        Equation numbers of codourey_burdet_1997.

        ``as_printed=True`` places the elbows, and so the Jacobian, by the printed (41).
        """
        s = state(self.geometry, x, xd, xdd, as_printed)
        return np.asarray(self.Psi(s) @ self.p)


@dataclass(frozen=True)
class ExactDelta:
    """The same robot without lumping, by the paper's general method (33), (34).

    Equation numbers of codourey_burdet_1997.

    Bodies: per arm the arm, then for each of its rods the cross of the universal joint at the
    elbow and the rod; the plate last. The frame of an arm is at its motor, with the axes of the
    paper; those of cross and rod at the elbow's ball, with z along the rod and y along the second
    axis of the universal joint (rod) or the first (cross); that of the plate at P.

    Attributes
    ----------
    geometry : Geometry
    offsets : (2,), m
        Where the two rods are along the motor axis.
    p : (10 N,)
        Body parameters in the order above; see ``linear_form.parameters``.
    motor_inertia : (3,), kg m^2
    g : float, m/s^2
    """

    geometry: Geometry
    offsets: Sequence[float]
    p: Array
    motor_inertia: Array
    g: float = 9.81

    def motions(self, s: State) -> list[BodyMotion]:
        """Return the motion of every body, arm by arm, the plate last."""
        bodies: list[BodyMotion] = []
        for i, theta in enumerate(self.geometry.theta):
            frame = rot_z(theta)
            y = frame[:, 1]
            arm = frame @ arm_rotation(s.q[i])
            J_arm = np.zeros((6, 3))
            J_arm[3:, i] = y
            omega, omegad = y * s.qd[i], y * s.qdd[i]
            bodies.append(BodyMotion(arm, J_arm, np.zeros(3), omega, omegad))
            forearm = self._forearm(i, y, arm, s)
            for _ in self.offsets:
                # The offset is along the motor axis: both elbows move alike.
                bodies.extend(forearm)
        J_plate = np.vstack([s.J, np.zeros((3, 3))])
        bodies.append(BodyMotion(np.eye(3), J_plate, s.xdd, np.zeros(3), np.zeros(3)))
        return bodies

    def _forearm(self, i: int, y: Array, arm: Array, s: State) -> tuple[BodyMotion, BodyMotion]:
        """Return the motion of cross and rod at the elbow of arm i.

        The rod's universal joint has its first axis along the motor axis, so the rod turns by
        ``w = u y + (...) a_2`` with ``w . (y x a_2) = 0``.
        """
        d = unit(s.x - s.elbow[i])
        L = self.geometry.L_B
        J_elbow = np.zeros((3, 3))
        J_elbow[:, i] = cross(y, self.geometry.L_A * arm[:, 0])
        d_rate = (s.xd - s.elbow_velocity[i]) / L
        w = cross(d, d_rate)
        wd = cross(d, (s.xdd - s.elbow_acceleration[i]) / L)
        J_w = skew(d) @ (s.J - J_elbow) / L
        c = float(y @ d)
        k = 1.0 - c * c
        cd = float(y @ d_rate)
        u = float(y @ w) / k
        ud = float(y @ wd) / k + 2.0 * c * cd * u / k
        J_u = y @ J_w / k
        a2 = unit(cross(d, y))
        rod_frame = np.stack([cross(a2, d), a2, d], axis=1)
        cross_frame = np.stack([a2, y, cross(a2, y)], axis=1)
        rod = BodyMotion(
            rod_frame,
            np.vstack([J_elbow, J_w + np.outer(d, c * J_u)]),
            s.elbow_acceleration[i],
            w + c * u * d,
            wd + (cd * u + c * ud) * d + c * u * d_rate,
        )
        pin = BodyMotion(
            cross_frame,
            np.vstack([J_elbow, np.outer(y, J_u)]),
            s.elbow_acceleration[i],
            u * y,
            ud * y,
        )
        return pin, rod

    def J_tau(self, s: State, as_printed: bool = False) -> Array:
        """Return ``J_tau`` (3, 3) of codourey_burdet_1997 (17), which is the identity, (44).

        ``as_printed=True`` has the motors' axes along z as (15) prints it; then it is zero.
        """
        arms = self.motions(s)[: -1 : 1 + 2 * len(self.offsets)]
        column = actuator(U3 if as_printed else U2)
        return motor_jacobian([own_axes(arm) for arm in arms], [column] * len(arms))

    def Psi(self, s: State, as_printed: bool = False) -> Array:
        """Return the dynamic matrix (3, 10 N) of (34); the motors stand on the ground.

        Equation numbers of codourey_burdet_1997.
        """
        G = np.array([0.0, 0.0, -self.g])
        return dynamic_matrix(self.motions(s), G, as_printed=as_printed)

    def inverse_dynamics(self, x: Array, xd: Array, xdd: Array, as_printed: bool = False) -> Array:
        """Return the motor torques (3,) for a motion of the plate (3,) each.

        Equation numbers of codourey_burdet_1997.

        ``as_printed=True`` uses the printed (31), in which the moment of inertia about the motor
        axis is multiplied by nothing.
        """
        s = state(self.geometry, x, xd, xdd)
        return np.asarray(self.Psi(s, as_printed) @ self.p + self.motor_inertia * s.qdd)
