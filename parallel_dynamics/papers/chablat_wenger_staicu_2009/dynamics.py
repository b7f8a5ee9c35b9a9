"""Inverse dynamics of the Orthoglide by virtual work: chablat_wenger_staicu_2009 (20)-(25)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from parallel_dynamics.papers.chablat_wenger_staicu_2009.kinematics import (
    NONE,
    BodyState,
    Geometry,
    LegPose,
    LegRates,
    body_states,
    jacobians,
    leg_accelerations,
    leg_pose,
    leg_rates,
)
from parallel_dynamics.papers.notation import U1, U2, U3, Array, skew, solve


@dataclass(frozen=True)
class Body:
    """A body of the paper, in its own frame.

    Attributes
    ----------
    m : float, kg
    rC : (3,), m
        Centre of mass from the joint ``A_k``.
    J : (3, 3), kg m^2
        Tensor about the joint, as chablat_wenger_staicu_2009 (21) needs it.
    """

    m: float
    rC: Array
    J: Array


def slender(mass: float, start: Array, end: Array) -> Body:
    """Return a uniform slender bar between two points (3,) of its frame, m."""
    axis = end - start
    middle = 0.5 * (start + end)
    about = mass / 12.0 * (axis @ axis * np.eye(3) - np.outer(axis, axis))
    about = about + mass * (middle @ middle * np.eye(3) - np.outer(middle, middle))
    return Body(mass, middle, about)


def paper_bodies(geometry: Geometry) -> dict[int, Body]:
    """Return the bodies 1..6 with the paper's masses.

    The paper gives neither tensors nor centres of mass of bodies 1-4 and 6: they are taken as
    uniform slender bars, and the platform as a uniform cube with side l.
    """
    cube = 15.0 * geometry.l**2 / 6.0 * np.eye(3)
    rG = geometry.r5G
    half = 0.5 * geometry.l2
    return {
        1: slender(0.35, np.zeros(3), geometry.r21),
        2: slender(0.2, -half * U3, half * U3),
        3: slender(2.5, np.zeros(3), -geometry.l3 * U2),
        4: slender(0.2, np.zeros(3), geometry.l2 * U1),
        5: Body(15.0, rG, cube + 15.0 * (rG @ rG * np.eye(3) - np.outer(rG, rG))),
        6: slender(2.5, np.zeros(3), -geometry.l3 * U2),
    }


@dataclass(frozen=True)
class Orthoglide:
    """The Orthoglide of the paper.

    Equation numbers of chablat_wenger_staicu_2009.

    Attributes
    ----------
    geometry : Geometry
    bodies : one mapping per leg, bodies 1..6 (5 only in leg A)
    g : (3,), m/s^2
        Gravity in the fixed frame. In (22) it is along +z0, so z0 points down.
    """

    geometry: Geometry = field(default_factory=Geometry)
    bodies: Sequence[Mapping[int, Body]] = ()
    g: Array = field(default_factory=lambda: 9.81 * U3)

    @classmethod
    def from_paper(cls) -> Orthoglide:
        """Return the robot with the paper's data."""
        geometry = Geometry()
        return cls(geometry, (paper_bodies(geometry),) * 3)

    def body_wrench(self, body: Body, state: BodyState, a_k0: Array) -> tuple[Array, Array]:
        """Return ``F_k0, M_k0`` (3,) each at ``A_k`` in body axes, (20)-(22), (24).

        Equation numbers of chablat_wenger_staicu_2009.

        Differs from paper: it calls the tensors of body 2 and of the platform central; (21) needs
        every tensor about the joint.
        """
        spin = skew(state.omega)
        inertia = body.m * (state.gamma + (spin @ spin + skew(state.epsilon)) @ body.rC)
        moment = body.m * skew(body.rC) @ state.gamma + body.J @ state.epsilon
        moment = moment + spin @ body.J @ state.omega
        weight = body.m * a_k0 @ self.g
        return inertia - weight, moment - skew(body.rC) @ weight

    def leg_wrenches(
        self, leg: int, pose: LegPose, states: Mapping[int, BodyState], as_printed: bool = False
    ) -> tuple[dict[int, Array], dict[int, Array]]:
        """Return ``F_k, M_k`` (3,) of a leg by the recursion chablat_wenger_staicu_2009 (23).

        Differs from paper: (23) has no place for the second long bar; it adds to body 2
        ``a_62^T F_6`` and ``a_62^T M_6 + r_62~ a_62^T F_6``. ``as_printed=True`` leaves it out.
        """
        g = self.geometry
        arms = {2: g.r21, 3: g.r32, 4: g.r43, 5: g.r54, 6: g.r62}
        last = 5 if leg == 0 else 4
        F: dict[int, Array] = {}
        M: dict[int, Array] = {}
        for k in (6, *range(last, 0, -1)):
            F[k], M[k] = self.body_wrench(self.bodies[leg][k], states[k], pose.a[k])
            carried = [] if k >= last else [k + 1]
            if k == 2 and not as_printed:
                carried.append(6)
            for j in carried:
                a = pose.relative(j)
                force = a.T @ F[j]
                F[k] = F[k] + force
                M[k] = M[k] + a.T @ M[j] + skew(arms[j]) @ force
        return F, M

    def motion(
        self,
        G: Array,
        velocity: Array,
        acceleration: Array,
        as_printed: frozenset[str] = NONE,
    ) -> tuple[list[LegPose], list[LegRates], list[LegRates]]:
        """Return pose, relative velocities and relative accelerations of the legs A, B, C."""
        poses = [leg_pose(self.geometry, leg, G) for leg in range(3)]
        rates = [
            leg_rates(self.geometry, pose, velocity, '(13)' in as_printed) for pose in poses
        ]
        accelerations = [
            leg_accelerations(self.geometry, pose, rate, acceleration, '(18)' in as_printed)
            for pose, rate in zip(poses, rates)
        ]
        return poses, rates, accelerations

    def inverse_dynamics(
        self,
        G: Array,
        velocity: Array,
        acceleration: Array,
        as_printed: frozenset[str] = NONE,
    ) -> Array:
        """Return the input forces ``f_10`` (3,) of the sliders A, B, C, (25).

        Equation numbers of chablat_wenger_staicu_2009.

        Parameters
        ----------
        G, velocity, acceleration : (3,)
            Motion of the platform's centre in the fixed frame.
        as_printed : set of keys of ``PRINTED_FORMS``
        """
        poses, rates, accelerations = self.motion(G, velocity, acceleration, as_printed)
        wrenches = [
            self.leg_wrenches(
                leg,
                poses[leg],
                body_states(self.geometry, poses[leg], rates[leg], accelerations[leg]),
                '(23)' in as_printed,
            )
            for leg in range(3)
        ]
        J_1, J_2 = jacobians(self.geometry, G)
        forces = np.zeros(3)
        for actuator in range(3):
            # Virtual motion: this slider at unit velocity, the other two at rest.
            virtual = solve(J_2, J_1[:, actuator])
            work = 0.0
            for leg in range(3):
                v = leg_rates(self.geometry, poses[leg], virtual, '(13)' in as_printed)
                F, M = wrenches[leg]
                work += v.slide * F[1][2] + v.phi21 * M[2][2]
                work += v.phi32 * (M[3][2] + M[4][2] + M[6][2])
                if leg == 0:
                    work += v.phi21 * M[5][2]  # w_54 = w_21
            forces[actuator] = work
        return forces

    def energy(self, G: Array, velocity: Array) -> float:
        """Return kinetic plus potential energy (J); not in the paper, for checks."""
        g = self.geometry
        arms = {2: g.r21, 3: g.r32, 4: g.r43, 5: g.r54, 6: g.r62}
        poses, rates, accelerations = self.motion(G, velocity, np.zeros(3))
        total = 0.0
        for leg, pose in enumerate(poses):
            states = body_states(g, pose, rates[leg], accelerations[leg])
            points = {1: g.r10(leg, pose.slide)}
            for k in (2, 3, 4, 5, 6):
                before = 2 if k == 6 else k - 1
                points[k] = points[before] + pose.a[before].T @ arms[k]
            for k, body in self.bodies[leg].items():
                if k == 5 and leg > 0:
                    continue
                v, w = states[k].v, states[k].omega
                total += float(0.5 * body.m * v @ v + body.m * v @ skew(w) @ body.rC)
                total += float(0.5 * w @ body.J @ w)
                total -= body.m * float(self.g @ (points[k] + pose.a[k].T @ body.rC))
        return total

    def with_central_tensors(self) -> Orthoglide:
        """Return the robot with central tensors where (21) needs those about the joint.

        Equation numbers of chablat_wenger_staicu_2009.
        """
        tables = [
            {
                k: Body(b.m, b.rC, b.J - b.m * (b.rC @ b.rC * np.eye(3) - np.outer(b.rC, b.rC)))
                for k, b in table.items()
            }
            for table in self.bodies
        ]
        return replace(self, bodies=tables)

    def powers(self, G: Array, velocity: Array, acceleration: Array) -> Array:
        """Return the input powers ``p_10 = v_10 f_10`` (3,), W."""
        _, rates, _ = self.motion(G, velocity, acceleration)
        slides = np.array([rate.slide for rate in rates])
        return slides * self.inverse_dynamics(G, velocity, acceleration)


def paper_motion(t: Array) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration (N, 3) of G at times t (N,), (6).

    Equation numbers of chablat_wenger_staicu_2009.

    The paper runs it for 2 s. Its period is 6 s, so the motion does not come to rest: it ends at
    1.5 times the amplitude and at full speed sin(2 pi / 3).
    """
    amplitude = np.array([0.05, 0.10, -0.20])
    w = np.pi / 3.0
    t = np.asarray(t)[:, None]
    return (
        amplitude * (1.0 - np.cos(w * t)),
        amplitude * w * np.sin(w * t),
        amplitude * w * w * np.cos(w * t),
    )
