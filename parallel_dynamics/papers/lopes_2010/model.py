"""The moving-base Stewart platform by generalized momentum: lopes_2010 section 3.

Every body contributes three parts, kept apart: the inertial part with the base at rest ("fix"),
the inertial part that the base's motion adds ("man", for the macro manipulator that carries the
base), and the gravitational part ("gra"). Each is a generalized force on the platform {P} in
base axes; ``J_C^-T`` turns it into actuator forces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from parallel_dynamics.motion import BaseMotion, PlatformMotion
from parallel_dynamics.papers.lopes_2010.leg import Leg, LegState, leg_state
from parallel_dynamics.papers.notation import Array, cross, skew, solve

PARTS = {
    'P(ine)(fix)': '(37)',
    'P(ine)(man)': '(38)',
    'P(gra)': '(42)',
    'C(ine)(fix)(tra)': '(66)',
    'C(ine)(man)(tra)': '(67)',
    'C(ine)(fix)(rot)': '(83)',
    'C(ine)(man)(rot)': '(84)',
    'C(gra)': '(88)',
    'S(ine)(fix)(tra)': '(104)',
    'S(ine)(man)(tra)': '(105)',
    'S(ine)(fix)(rot)': '(117)',
    'S(ine)(man)(rot)': '(118)',
    'S(gra)': '(122)',
}
"""The thirteen parts of the model and the equation of each."""

PRINTED_FORMS = {
    '(23)': 'w_B x v_P without the factor 2',
    '(35)': 'platform: I (w_B x w) in the moment due to base motion',
    '(53)': '+lbar~ p~ in J_D, which (82), (116) project the moments with',
    '(81)': 'cylinders: as (35)',
    '(85)': 'cylinders: the wrench of a level base, rotated',
    '(86)': 'cylinders: a derivative by Euler angles taken for a moment',
    '(115)': 'pistons: as (35)',
    '(119)': 'pistons: as (85)',
    '(120)': 'pistons: as (86)',
}
"""Printed equations that are not physics; pass a key in ``as_printed`` to see what they do."""


_PRINTED_OF = {'C': ('(81)', '(85)', '(86)'), 'S': ('(115)', '(119)', '(120)')}
"""Of cylinders and pistons, the equations of base moment, rotated weight and Euler angles."""


def relative_acceleration(base: BaseMotion, p: Array, v: Array, coriolis: float = 2.0) -> Array:
    """Return what the base's motion adds to an acceleration (3,) seen from {B}: (23), (60), (98).

    Equation numbers of lopes_2010.

    Differs from paper: (23) prints the Coriolis term without its factor 2; (27) has it.
    """
    w = base.angular_velocity
    return np.asarray(
        base.acceleration
        + coriolis * cross(w, v)
        + cross(base.angular_acceleration, p)
        + cross(w, cross(w, p))
    )


def moment_fixed(inertia: Array, omega: Array, omegad: Array) -> Array:
    """Return the moment (3,) with the base at rest, (34), (80), (114): ``I w' + I' w``.

    Equation numbers of lopes_2010.
    """
    return np.asarray(inertia @ omegad + cross(omega, inertia @ omega))


def moment_base(inertia: Array, omega: Array, base: BaseMotion, as_printed: bool = False) -> Array:
    """Return the moment (3,) that the base's motion adds, lopes_2010 (35), (81), (115).

    Differs from paper: ``I'_B w_B + I w_B' + w_B x [I (w + w_B)]``, with ``I'_B`` the rate seen
    from {B}. Printed is ``I'_B w_B + I (w_B' + w_B x w)``: a base that spins with the platform at
    rest on it would have no gyroscopic moment.
    """
    w_B, wd_B = base.angular_velocity, base.angular_acceleration
    rate = skew(omega) @ inertia - inertia @ skew(omega)
    if as_printed:
        return np.asarray(rate @ w_B + inertia @ (wd_B + cross(w_B, omega)))
    return np.asarray(rate @ w_B + inertia @ wd_B + cross(w_B, inertia @ (omega + w_B)))


def euler_jacobian(rotation: Array) -> Array:
    """Return ``J_A`` (3, 3) of lopes_2010 (9): rates of (psi, theta, phi) to angular velocity."""
    theta = -np.arcsin(np.clip(rotation[2, 0], -1.0, 1.0))
    psi = np.arctan2(rotation[1, 0], rotation[0, 0])
    c, s = np.cos, np.sin
    return np.array(
        [
            [0.0, -s(psi), c(theta) * c(psi)],
            [0.0, c(psi), c(theta) * s(psi)],
            [1.0, 0.0, -s(theta)],
        ]
    )


@dataclass(frozen=True)
class StewartPlatform:
    """The manipulator of lopes_2010.

    Attributes
    ----------
    legs : sequence of Leg
    m_P : float, kg
    I_P : (3, 3), kg m^2
        About the centre of mass, platform axes, (30).
    centre : (3,), m
        The centre of mass, which is the paper's {P}, in the frame whose motion is given.
    gravity : (3,), m/s^2
        World axes; the paper has (0, 0, -g).
    """

    legs: Sequence[Leg]
    m_P: float
    I_P: Array
    centre: Array = field(default_factory=lambda: np.zeros(3))
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))

    def at_centre(self, m: PlatformMotion) -> PlatformMotion:
        """Return the motion of {P}, the centre of mass, for the motion of the platform frame."""
        c = m.rotation @ self.centre
        w, wd = m.angular_velocity, m.angular_acceleration
        return PlatformMotion(
            m.position + c,
            m.rotation,
            m.velocity + cross(w, c),
            w,
            m.acceleration + cross(wd, c) + cross(w, cross(w, c)),
            wd,
        )

    def states(self, m: PlatformMotion) -> list[LegState]:
        """Return the motion of all legs for the motion of the platform frame."""
        at = self.at_centre(m)
        return [leg_state(leg, at) for leg in self.legs]

    def J_C(self, m: PlatformMotion) -> Array:
        """Return the kinematic Jacobian (6, 6), (6): leg rates from the twist of {P}.

        Equation numbers of lopes_2010.
        """
        return np.array([state.row for state in self.states(m)])

    def _platform(
        self, m: PlatformMotion, base: BaseMotion, as_printed: frozenset[str]
    ) -> dict[str, Array]:
        inertia = m.rotation @ self.I_P @ m.rotation.T  # (29)
        w = m.angular_velocity
        coriolis = 1.0 if '(23)' in as_printed else 2.0
        added = relative_acceleration(base, m.position, m.velocity, coriolis)
        weight = -self.m_P * base.rotation.T @ self.gravity
        return {
            'P(ine)(fix)': np.concatenate(  # (26), (34)
                [self.m_P * m.acceleration, moment_fixed(inertia, w, m.angular_acceleration)]
            ),
            'P(ine)(man)': np.concatenate(  # (27), (35)
                [self.m_P * added, moment_base(inertia, w, base, '(35)' in as_printed)]
            ),
            'P(gra)': np.concatenate([weight, np.zeros(3)]),  # (39)-(41)
        }

    def _gravity(
        self,
        J: Array,
        mass: float,
        m: PlatformMotion,
        base: BaseMotion,
        rotated: bool,
        by_angles: bool,
    ) -> Array:
        """Return the generalized force (6,) of a leg body's weight, (85), (86), (119), (120).

        Equation numbers of lopes_2010.

        Differs from paper: ``J^T (-m R_B^T g)``. Rotating the wrench that was found for a level
        base is wrong for a leg (``rotated=True``), and a derivative by Euler angles is not yet a
        moment (``by_angles=True``).
        """
        if rotated:
            f = J.T @ (-mass * self.gravity)
        else:
            f = J.T @ (-mass * base.rotation.T @ self.gravity)
        if by_angles:
            f = np.concatenate([f[:3], euler_jacobian(m.rotation).T @ f[3:]])
        if rotated:
            f = np.concatenate([base.rotation.T @ f[:3], base.rotation.T @ f[3:]])
        return f

    def generalized_forces(
        self,
        m: PlatformMotion,
        base: BaseMotion | None = None,
        as_printed: frozenset[str] = frozenset(),
    ) -> dict[str, Array]:
        """Return every part of ``PARTS`` as a generalized force (6,) on {P}, base axes.

        The parts of cylinders and pistons are summed over the legs. ``as_printed`` holds keys
        of ``PRINTED_FORMS``.
        """
        base = BaseMotion() if base is None else base
        at = self.at_centre(m)
        parts = {name: np.zeros(6) for name in PARTS}
        parts.update(self._platform(at, base, as_printed))
        for leg in self.legs:
            s = leg_state(leg, at, '(53)' in as_printed)
            bodies = (
                ('C', leg.m_C, leg.I_C, s.p_C, s.v_C, s.a_C, s.J_B),
                ('S', leg.m_S, leg.I_S, s.p_S, s.v_S, s.a_S, s.J_G),
            )
            for name, mass, tensor, p, v, a, J in bodies:
                inertia = s.frame @ tensor @ s.frame.T  # (72), (110)
                moment, rotated, by_angles = (key in as_printed for key in _PRINTED_OF[name])
                parts[f'{name}(ine)(fix)(tra)'] += J.T @ (mass * a)
                parts[f'{name}(ine)(man)(tra)'] += J.T @ (mass * relative_acceleration(base, p, v))
                parts[f'{name}(ine)(fix)(rot)'] += s.J_D.T @ moment_fixed(
                    inertia, s.omega, s.omegad
                )
                parts[f'{name}(ine)(man)(rot)'] += s.J_D.T @ moment_base(
                    inertia, s.omega, base, moment
                )
                parts[f'{name}(gra)'] += self._gravity(J, mass, at, base, rotated, by_angles)
        return parts

    def actuator_forces(
        self,
        m: PlatformMotion,
        base: BaseMotion | None = None,
        as_printed: frozenset[str] = frozenset(),
    ) -> dict[str, Array]:
        """Return every part of ``PARTS`` as actuator forces (6,): (37), (38), (42), (66), ...

        Equation numbers of lopes_2010.
        """
        J_C = self.J_C(m)
        parts = self.generalized_forces(m, base, as_printed)
        return {name: solve(J_C.T, f) for name, f in parts.items()}

    def inverse_dynamics(
        self,
        m: PlatformMotion,
        base: BaseMotion | None = None,
        as_printed: frozenset[str] = frozenset(),
    ) -> Array:
        """Return the actuator forces (6,): the sum of all parts."""
        return np.asarray(sum(self.actuator_forces(m, base, as_printed).values()))

    def base_reaction(self, m: PlatformMotion, base: BaseMotion | None = None) -> Array:
        """Return the wrench (6,) [force; moment] on the moving base at its origin, base axes.

        Not in the paper: it is what the carrier of the base has to bear besides the base's own
        mass. By momentum, minus the rate of momentum of all moving bodies, plus their weight.
        """
        base = BaseMotion() if base is None else base
        g = base.rotation.T @ self.gravity
        at = self.at_centre(m)
        rotation = at.rotation
        bodies = [
            (
                self.m_P,
                rotation @ self.I_P @ rotation.T,
                at.position,
                at.velocity,
                at.acceleration,
                at.angular_velocity,
                at.angular_acceleration,
            )
        ]
        for leg in self.legs:
            s = leg_state(leg, at)
            for mass, tensor, p, v, a in (
                (leg.m_C, leg.I_C, s.p_C, s.v_C, s.a_C),
                (leg.m_S, leg.I_S, s.p_S, s.v_S, s.a_S),
            ):
                inertia = s.frame @ tensor @ s.frame.T
                bodies.append((mass, inertia, p, v, a, s.omega, s.omegad))
        force, moment = np.zeros(3), np.zeros(3)
        for mass, inertia, p, v, a, w, wd in bodies:
            needed = mass * (a + relative_acceleration(base, p, v) - g)
            force = force - needed
            moment = moment - cross(p, needed)
            moment = moment - moment_fixed(inertia, w, wd) - moment_base(inertia, w, base)
        return np.concatenate([force, moment])
