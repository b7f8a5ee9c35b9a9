"""Serial chains in Khalil and Kleinfinger's notation: table, transforms, Newton-Euler recursion.

khalil_ibrahim_2007 describes its legs by this table (Table 1) and leaves the choice of the leg
model ``H_i`` to the reader; the recursion below is the one of its references [21, 24], with the
inertial parameters of a link taken about the origin of the link's frame: ``M``, ``MS``, ``I``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from parallel_dynamics.papers.notation import U3, Array, cross, rot_x, rot_z, skew


@dataclass(frozen=True)
class Row:
    """One row of Table 1: the frame of link j against its antecedent.

    ``T = Rot(z, gamma) Trans(z, b) Rot(x, alpha) Trans(x, d) Rot(z, theta) Trans(z, r)``; angles
    in rad, lengths in m. ``sigma`` is 1 for a prismatic joint (its variable is ``r``) and 0 for a
    revolute one (its variable is ``theta``); ``mu`` is 1 for an active joint.
    """

    sigma: int
    mu: int = 0
    gamma: float = 0.0
    b: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    r: float = 0.0

    def transform(self, q: float) -> tuple[Array, Array]:
        """Return rotation (3, 3) and origin (3,) of frame j in its antecedent at variable q."""
        theta = self.theta if self.sigma else q
        r = q if self.sigma else self.r
        tilt = rot_z(self.gamma) @ rot_x(self.alpha)
        rotation = tilt @ rot_z(theta)
        origin = rot_z(self.gamma) @ (self.b * U3) + tilt @ np.array([self.d, 0.0, r])
        return rotation, origin


@dataclass(frozen=True)
class Link:
    """Inertial parameters of a link about the origin of its own frame, in its own axes.

    Attributes
    ----------
    M : float, kg
    MS : (3,), kg m
        First moments, mass times centre of mass.
    I : (3, 3), kg m^2
        Tensor about the origin of the frame (not about the centre of mass).
    Ia : float, kg or kg m^2
        Inertia that the drive adds to the joint.
    Fv, Fs : float
        Viscous and Coulomb friction of the joint (the paper has none; zero by default).
    """

    M: float = 0.0
    MS: Array = field(default_factory=lambda: np.zeros(3))
    I: Array = field(default_factory=lambda: np.zeros((3, 3)))  # noqa: E741
    Ia: float = 0.0
    Fv: float = 0.0
    Fs: float = 0.0


@dataclass(frozen=True)
class Chain:
    """A serial chain: table rows, links, and the frame in which the table starts.

    Attributes
    ----------
    rows, links : sequences of equal length
    rotation : (3, 3)
        Base frame from table frame; identity in the paper's Table 1.
    origin : (3,), m
        Origin of the table frame in the base frame.
    """

    rows: Sequence[Row]
    links: Sequence[Link]
    rotation: Array = field(default_factory=lambda: np.eye(3))
    origin: Array = field(default_factory=lambda: np.zeros(3))

    def frames(self, q: Array) -> tuple[list[Array], list[Array]]:
        """Return rotations and origins of all link frames in the base frame."""
        rotations, origins = [], []
        rotation, origin = self.rotation, self.origin
        for row, value in zip(self.rows, q):
            step, offset = row.transform(float(value))
            origin = origin + rotation @ offset
            rotation = rotation @ step
            rotations.append(rotation)
            origins.append(origin)
        return rotations, origins

    def newton_euler(self, q: Array, qd: Array, qdd: Array, g: Array) -> Array:
        """Return the joint efforts ``H (q, qd, qdd)`` of the chain (n,), khalil_ibrahim_2007 (2).

        Parameters
        ----------
        q, qd, qdd : (n,)
        g : (3,), m/s^2
            Gravity in the base frame; it enters as an acceleration ``-g`` of the base.
        """
        omega, omegad = np.zeros(3), np.zeros(3)
        vd = -self.rotation.T @ g
        steps, forces, moments = [], [], []
        for row, link, value, rate, acc in zip(self.rows, self.links, q, qd, qdd):
            R, p = row.transform(float(value))
            U = skew(omegad) + skew(omega) @ skew(omega)
            vd = R.T @ (vd + U @ p)
            omega_before = R.T @ omega
            omegad = R.T @ omegad
            if row.sigma:
                vd = vd + acc * U3 + 2.0 * rate * cross(omega_before, U3)
                omega = omega_before
            else:
                omegad = omegad + acc * U3 + rate * cross(omega_before, U3)
                omega = omega_before + rate * U3
            U = skew(omegad) + skew(omega) @ skew(omega)
            steps.append((R, p))
            forces.append(link.M * vd + U @ link.MS)
            moments.append(link.I @ omegad + cross(omega, link.I @ omega) + cross(link.MS, vd))
        efforts = np.zeros(len(self.rows))
        force, moment = np.zeros(3), np.zeros(3)
        for j in reversed(range(len(self.rows))):
            force, moment = force + forces[j], moment + moments[j]
            row, link = self.rows[j], self.links[j]
            efforts[j] = force[2] if row.sigma else moment[2]
            efforts[j] += link.Ia * qdd[j] + link.Fv * qd[j] + link.Fs * np.sign(qd[j])
            R, p = steps[j]
            force = R @ force
            moment = R @ moment + cross(p, force)
        return efforts

    def inertia_matrix(self, q: Array) -> Array:
        """Return ``A (q)`` (n, n) of (2) and (24), one column per unit acceleration.

        Equation numbers of khalil_ibrahim_2007.
        """
        n = len(self.rows)
        zero = np.zeros(n)
        columns = [self.newton_euler(q, zero, unit_acc, np.zeros(3)) for unit_acc in np.eye(n)]
        return np.array(columns).T

    def bias(self, q: Array, qd: Array, g: Array) -> Array:
        """Return ``h (q, qd)`` (n,) of (24): Coriolis, centrifugal, gravity and friction.

        Equation numbers of khalil_ibrahim_2007.
        """
        return self.newton_euler(q, qd, np.zeros(len(self.rows)), g)
