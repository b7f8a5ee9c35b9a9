"""Pieces that several families share: universal joints and telescopic UPS legs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.families.builder import BASE, PLATFORM, Drive, Limits, RobotBuilder
from parallel_dynamics.families.family import Family, parameter
from parallel_dynamics.families.geometry import Array, Z, distance, frame, unit
from parallel_dynamics.families.shapes import Shape, ball, together, tube
from parallel_dynamics.families.variation import Variation

CROSS_NOTE = 'Crosses of universal joints: two crossed pins with a mass of their own.'


def level_across(along: Array) -> Array:
    """Horizontal direction (3,) square to `along` (3,): the usual first axis of a universal."""
    across = np.cross(Z, along)
    return unit(across) if np.abs(across).max() > 1e-6 else np.array([1.0, 0.0, 0.0])


def add_universal(
    robot: RobotBuilder, cross: str, body: str, joints: tuple[str, str], parent: str,
    at: ArrayLike, along: ArrayLike, first: ArrayLike, pin: tuple[float, float], *shapes: Shape,
    swing: float = 1.2, drive: Drive | None = None, effort: float = 0.0, damping: float = 0.0,
) -> None:
    """
    Add a universal joint, its cross, and the body that it carries.

    The second axis is square to the first and to the body. The frames of cross and body have z
    along the body and y along the second axis at home.

    Parameters
    ----------
    cross, body, joints, parent : names of both links, of both joints, and of the carrying link.
    at : (3,) m, centre.
    along, first : (3,) directions of the body and of the first axis at home, base axes.
    pin : mass (kg) of the cross and half the length (m) of its pins.
    shapes : the body.
    swing : range (rad) either way of both axes.
    drive, effort : actuator of the first axis, if any, and its torque (N m).
    damping : viscous coefficient (N m s/rad) of passive axes.
    """
    centre, one = np.asarray(at, dtype=float), unit(first)
    rotation = frame(along, x=one)
    two, (mass, half) = rotation[:, 1], pin
    pins = [
        tube(centre - half * a, centre + half * a, 0.25 * half, mass / 2.0, 'brass')
        for a in (one, two)]
    robot.body(
        cross, 'revolute', joints[0], parent, centre, one, Limits(-swing, swing, effort, 10.0),
        *pins, rotation=rotation, drive=drive, damping=damping)
    robot.body(
        body, 'revolute', joints[1], cross, centre, two, Limits(-swing, swing, 0.0, 10.0),
        *shapes, damping=damping)


@dataclass(frozen=True)
class TelescopicLegs(Family):
    """Parameters of legs of a cylinder and a piston; lengths are shares of the home length."""

    cylinder_mass: float = parameter(12.0, 'kg', 'mass of a cylinder')
    cylinder_radius: float = parameter(0.04, 'm', 'outer radius of a cylinder')
    cylinder_share: float = parameter(0.6, '', 'cylinder length / leg length at home', high=0.95)
    piston_mass: float = parameter(4.0, 'kg', 'mass of a piston with its rod')
    piston_radius: float = parameter(0.02, 'm', 'radius of a piston rod')
    piston_share: float = parameter(0.62, '', 'piston length / leg length at home', high=0.95)
    travel: float = parameter(0.2, '', 'travel either way / leg length at home', high=0.5)
    cross_mass: float = parameter(0.8, 'kg', 'mass of the cross of a universal joint')
    slide_force: float = parameter(5000.0, 'N', 'largest force of a slide')
    slide_speed: float = parameter(0.6, 'm/s', 'largest speed of a slide')
    slide_damping: float = parameter(200.0, 'N s/m', 'viscous friction of a slide', closed=True)
    slide_friction: float = parameter(30.0, 'N', 'Coulomb friction of a slide', closed=True)
    slide_armature: float = parameter(
        12.5, 'kg', 'inertia that the drive adds to its slide', closed=True)

    def relations(self) -> list[str]:
        """See that piston and cylinder overlap over the whole travel and fit into each other."""
        faults = []
        overlap = self.cylinder_share + self.piston_share - 1.0 - self.travel
        if overlap < 0.0:
            faults.append(
                'piston_share + cylinder_share - travel must be at least 1, or the piston leaves '
                f'its cylinder; got {overlap + 1.0:.3g}')
        if self.travel > 1.0 - max(self.piston_share, self.cylinder_share):
            faults.append(
                'travel must be at most 1 - piston_share and 1 - cylinder_share, or the piston '
                f'hits the bottom; got {self.travel:g}')
        if self.piston_radius >= self.cylinder_radius:
            faults.append(
                f'piston_radius must be less than cylinder_radius ({self.cylinder_radius:g} m); '
                f'got {self.piston_radius:g}')
        return faults

    def slide_drive(self) -> Drive:
        """Losses and inertia of an actuated slide."""
        return Drive(self.slide_damping, self.slide_friction, self.slide_armature)

    def cylinder(self, start: Array, along: Array, length: float) -> Shape:
        """Cylinder of a leg of home `length` (m) from `start` (3,), m, `along` (3,)."""
        end = start + self.cylinder_share * length * along
        body = tube(
            start, end, self.cylinder_radius, self.cylinder_mass, 'graphite',
            bore=self.piston_radius)
        collar = tube(
            end - 0.03 * length * along, end, 1.2 * self.cylinder_radius, 0.0, 'steel')
        return together(body, collar)

    def piston(self, tip: Array, along: Array, length: float) -> Shape:
        """Piston rod of a leg of home `length` (m) that ends at `tip` (3,), m, `along` (3,)."""
        rod = tube(
            tip - self.piston_share * length * along, tip, self.piston_radius, self.piston_mass,
            'chrome')
        return together(rod, ball(tip, 1.5 * self.piston_radius, 0.0, 'brass'))

    def add_slide(
        self, robot: RobotBuilder, leg: str, parent: str, start: Array, tip: Array,
        actuated: bool = True, along: Array | None = None, rotation: Array | None = None,
    ) -> None:
        """
        Add the prismatic joint and the piston of a leg from `start` to `tip` (3,), m, at home.

        The piston's frame is at its lower end; it slides `along` (3,), the leg when left out.
        """
        length, leg_axis = distance(start, tip), unit(tip - start)
        reach = self.travel * length
        robot.body(
            f'{leg}_piston', 'prismatic', f'{leg}_slide', parent,
            tip - self.piston_share * length * leg_axis, leg_axis if along is None else along,
            Limits(-reach, reach, self.slide_force if actuated else 0.0, self.slide_speed),
            self.piston(tip, leg_axis, length), rotation=rotation,
            drive=self.slide_drive() if actuated else None)

    def add_ups_leg(
        self, robot: RobotBuilder, vary: Variation, leg: str, start: Array, tip: Array,
        first: Array | None = None, drive: Drive | None = None, effort: float = 0.0,
    ) -> None:
        """
        Add a leg with universal joint, actuated slide, and a ball closure `ball<number>`.

        Parameters
        ----------
        leg : 'leg<number>'.
        start, tip : (3,) m, centres of universal joint and ball at home, base axes.
        first : (3,) first axis of the universal joint; horizontal, square to the leg by default.
        drive, effort : actuator of that first axis, if any, and its torque (N m).
        """
        along, length = unit(tip - start), distance(start, tip)
        axis = vary.direction(level_across(along) if first is None else first)
        add_universal(
            robot, f'{leg}_cross', f'{leg}_cylinder', (f'{leg}_universal_1', f'{leg}_universal_2'),
            BASE, start, along, axis, (self.cross_mass, 1.3 * self.cylinder_radius),
            self.cylinder(start, along, length), drive=drive, effort=effort)
        self.add_slide(robot, leg, f'{leg}_cylinder', start, tip)
        close_ball(robot, leg, f'{leg}_piston', tip)


@dataclass(frozen=True)
class StrutLegs(Family):
    """Parameters of rigid struts with a universal joint at one end and a ball at the other."""

    strut_mass: float = parameter(1.5, 'kg', 'mass of a strut')
    strut_radius: float = parameter(0.015, 'm', 'outer radius of a strut (bore 0.7 of it)')
    cross_mass: float = parameter(0.2, 'kg', 'mass of the cross of a universal joint')

    def add_strut(
        self, robot: RobotBuilder, vary: Variation, leg: str, parent: str, start: Array,
        tip: Array,
    ) -> None:
        """Add universal joint, strut and ball closure of 'leg<number>' to its `parent` link."""
        along = unit(tip - start)
        add_universal(
            robot, f'{leg}_cross', f'{leg}_strut', (f'{leg}_universal_1', f'{leg}_universal_2'),
            parent, start, along, vary.direction(level_across(along)),
            (self.cross_mass, 1.6 * self.strut_radius),
            tube(start, tip, self.strut_radius, self.strut_mass, 'carbon',
                 bore=0.7 * self.strut_radius),
            ball(tip, 1.5 * self.strut_radius, 0.0, 'brass'))
        close_ball(robot, leg, f'{leg}_strut', tip)


def close_ball(robot: RobotBuilder, leg: str, body: str, tip: Array) -> None:
    """Ball closure `ball<number>` between the `body` of 'leg<number>' and the platform."""
    index = leg.removeprefix('leg')
    robot.close(
        f'ball{index}', 'ball', (f'{leg}_tip', body), (f'platform_p{index}', PLATFORM), tip)
