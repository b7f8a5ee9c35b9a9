"""Efforts and joint forces of the 3-RPS by virtual work: staicu_3rps (8), (9), (11), (12).

``f_32, f_43, f_54`` are the components along +y1 (leg axis), -z1 (revolute axis) and +x1 of the
force that a piston exerts on the platform at its spherical joint. In print the prismatic joints
are passive, so ``f_32`` is the piston's own axial load only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.papers.notation import U1, U2, U3, Array, cross, skew, solve
from parallel_dynamics.papers.staicu_3rps.kinematics import (
    Coordinates,
    Geometry,
    Pose,
    Rates,
    accelerations,
    leg_columns,
    platform_columns,
    pose,
    rates,
)

ACTUATIONS = ('revolute', 'prismatic')


@dataclass(frozen=True)
class Body:
    """Mass in kg; centre of mass (3,) in m and tensor (3, 3) in kg m^2 from the joint."""

    m: float
    rC: Array
    J: Array


def slender(mass: float, length: float, axis: Array) -> Body:
    """Return a uniform slender bar from the joint along the unit vector ``axis`` (3,)."""
    about = mass * length**2 / 3.0 * (np.eye(3) - np.outer(axis, axis))
    return Body(mass, 0.5 * length * axis, about)


def triangle(mass: float, side: float) -> Body:
    """Return a thin equilateral triangular plate about its centre, z normal to it."""
    I = mass * side**2 / 24.0  # noqa: E741
    return Body(mass, np.zeros(3), np.diag([I, I, 2.0 * I]))


@dataclass(frozen=True)
class JointForces:
    """Result of the virtual work: per leg A, B, C, in N (or N m for revolute actuation).

    ``efforts`` (3,), ``f32, f43, f54`` (3,), and ``condition``, the condition number of the map
    from ``(z'/r, alpha_1', alpha_2')`` to the rates of the actuated joints (slides over r).
    """

    efforts: Array
    f32: Array
    f43: Array
    f54: Array
    condition: float


@dataclass(frozen=True)
class ThreeRps:
    """The 3-RPS manipulator.

    Attributes
    ----------
    cylinders, pistons : three bodies each
        About ``A_1`` in frame 1 and about ``A_2`` in frame 2.
    platform : Body
        About G, platform axes.
    actuation : 'revolute' (as printed) or 'prismatic'
    g : (3,), m/s^2
        The paper does not give its direction; down along z0 by default.
    """

    geometry: Geometry
    cylinders: Sequence[Body]
    pistons: Sequence[Body]
    platform: Body
    actuation: str = 'revolute'
    g: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))

    def __post_init__(self) -> None:
        """Refuse an actuation that is none."""
        if self.actuation not in ACTUATIONS:
            raise InputError(f'actuation: expected one of {ACTUATIONS}, got {self.actuation!r}')

    @classmethod
    def from_paper(cls, actuation: str = 'revolute') -> ThreeRps:
        """Return the robot with the paper's data.

        Tensors and centres of mass are not given: cylinder and piston are taken as uniform
        slender bars of length l1 = 0.7 m and l2 = 0.95 m, the platform as a thin triangle.
        """
        geometry = Geometry()
        cylinder = slender(0.5, 0.7, U2)
        piston = slender(0.5, geometry.l2, U3)
        plate = triangle(5.0, geometry.r * np.sqrt(3.0))
        return cls(geometry, (cylinder,) * 3, (piston,) * 3, plate, actuation)

    def _wrench(
        self, body: Body, omega: Array, epsilon: Array, gamma: Array, g: Array
    ) -> tuple[Array, Array]:
        """Return ``F_k0, M_k0`` (3,) at the joint in body axes: inertia less weight."""
        spin = skew(omega)
        force = body.m * (gamma + (spin @ spin + skew(epsilon)) @ body.rC - g)
        moment = body.m * skew(body.rC) @ (gamma - g) + body.J @ epsilon
        return force, moment + spin @ body.J @ omega

    def leg_loads(self, leg: int, p: Pose, v: Rates, a: Rates) -> tuple[float, float]:
        """Return ``u_3 . M_1`` and ``u_3 . F_2`` of a leg, by the recursion staicu_3rps (11)."""
        geometry = self.geometry
        w, e = v.omega10[leg] * U3, a.omega10[leg] * U3
        rate, acc = v.v21[leg], a.v21[leg]
        a10 = p.a10[leg]
        a21 = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # theta_3^T, (3)
        r21 = (geometry.lambda0 + p.lambda21[leg]) * U2
        spin = skew(w)
        gamma2 = (spin @ spin + skew(e)) @ r21 + 2.0 * rate * spin @ U2 + acc * U2
        g1 = a10 @ self.g
        _, M1 = self._wrench(self.cylinders[leg], w, e, np.zeros(3), g1)
        F2, M2 = self._wrench(self.pistons[leg], a21 @ w, a21 @ e, a21 @ gamma2, a21 @ g1)
        M1 = M1 + a21.T @ M2 + cross(r21, a21.T @ F2)
        return float(M1[2]), float(F2[2])

    def platform_load(self, p: Pose, v: Rates, a: Rates) -> Array:
        """Return inertia less weight of the platform at G (6,), fixed frame."""
        to_platform = p.R30
        force, moment = self._wrench(
            self.platform,
            to_platform @ v.platform[3:],
            to_platform @ a.platform[3:],
            to_platform @ a.platform[:3],
            to_platform @ self.g,
        )
        return np.concatenate([to_platform.T @ force, to_platform.T @ moment])

    def virtual_matrix(self, p: Pose) -> Array:
        """Return the matrix (9, 9) of (8) on the passive leg rates and the platform's twist.

        Equation numbers of staicu_3rps.
        """
        passive = 1 if self.actuation == 'revolute' else 0
        matrix = np.zeros((9, 9))
        for leg in range(3):
            rows = slice(3 * leg, 3 * leg + 3)
            matrix[rows, leg] = leg_columns(self.geometry, p, leg)[passive]
            matrix[rows, 3:] = -platform_columns(self.geometry, p, leg)
        return matrix

    def virtual_velocities(self, p: Pose) -> tuple[Array, Array]:
        """Return the virtual motions (9, 12) of staicu_3rps (8), (9).

        Columns: unit rate of each actuated joint (3), then per leg ``v_32``, ``v_43``, ``v_54``
        of one. Rows: passive leg rates (3), twist of the platform (6). The second array (3, 12)
        holds the rates of the actuated joints.
        """
        active = 0 if self.actuation == 'revolute' else 1
        right = np.zeros((9, 12))
        actuated = np.zeros((3, 12))
        for leg, a10 in enumerate(p.a10):
            rows = slice(3 * leg, 3 * leg + 3)
            right[rows, leg] = -leg_columns(self.geometry, p, leg)[active]
            actuated[leg, leg] = 1.0
            for k, axis in enumerate((U2, -U3, U1)):
                right[rows, 3 + 3 * leg + k] = -a10.T @ axis
        return solve(self.virtual_matrix(p), right), actuated

    def condition(self, p: Pose) -> float:
        """Return the condition number; it grows without bound at a singularity of actuation."""
        r = self.geometry.r
        columns = []
        for given in np.diag([r, 1.0, 1.0]):
            v, _ = rates(self.geometry, p, given)
            columns.append(v.omega10 if self.actuation == 'revolute' else v.v21 / r)
        return float(np.linalg.cond(np.array(columns).T))

    def joint_forces(self, c: Coordinates) -> JointForces:
        """Return efforts and joint forces for a motion of ``(z, alpha_1, alpha_2)``, (12).

        Equation numbers of staicu_3rps.

        The paper gives ``f_32, f_43, f_54`` for revolute actuation; with prismatic actuation
        the slides are held in (9) instead of the revolutes. The efforts follow from the same
        equation with a unit rate of an actuated joint as the virtual motion.
        """
        geometry = self.geometry
        p = pose(geometry, c.value)
        v, angle_rates = rates(geometry, p, c.rate)
        a = accelerations(geometry, p, v, angle_rates, c.acceleration)
        loads = np.array([self.leg_loads(leg, p, v, a) for leg in range(3)])
        active, passive = (0, 1) if self.actuation == 'revolute' else (1, 0)
        virtual, actuated = self.virtual_velocities(p)
        work = loads[:, passive] @ virtual[:3] + loads[:, active] @ actuated
        work = work + self.platform_load(p, v, a) @ virtual[3:]
        joint = work[3:].reshape(3, 3)
        return JointForces(work[:3], joint[:, 0], joint[:, 1], joint[:, 2], self.condition(p))


def paper_motion(
    t: Array, heave: float, roll: float, pitch: float, h: float = 1.2
) -> list[Coordinates]:
    """Return the motion (13) at times t (N,), s; the paper moves one coordinate at a time.

    Equation numbers of staicu_3rps.

    ``heave`` is ``z*`` (m) by which the platform descends, ``roll`` and ``pitch`` are
    ``alpha_1*, alpha_2*`` (rad); each reaches twice its amplitude at 3 s.
    """
    w = np.pi / 3.0
    amplitude = np.array([-heave, roll, pitch])
    home = np.array([h, 0.0, 0.0])
    return [
        Coordinates(
            home + amplitude * (1.0 - np.cos(w * time)),
            amplitude * w * np.sin(w * time),
            amplitude * w * w * np.cos(w * time),
        )
        for time in np.asarray(t)
    ]
