"""3-RPS robots: heave, roll and pitch, with parasitic motion of the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parallel_dynamics.families.builder import BASE, Drive, Limits, RobotBuilder
from parallel_dynamics.families.family import choice, parameter
from parallel_dynamics.families.geometry import Array, Z, distance, polar, unit
from parallel_dynamics.families.legs import TelescopicLegs, close_ball
from parallel_dynamics.families.shapes import polygon_plate, tube
from parallel_dynamics.families.variation import Variation


@dataclass(frozen=True)
class ThreeRps(TelescopicLegs):
    """Three legs whose revolute axes are along the opposite edges of the base triangle."""

    FAMILY: ClassVar[str] = 'three_rps'
    SUMMARY: ClassVar[str] = '3-RPS robot: heave, roll and pitch; x, y and yaw follow from these.'
    CHOICES: ClassVar[tuple[str, ...]] = (
        'Dimensions and masses by default: staicu_3rps, section 3 (l0, r, h, lambda0, l1, m1, m2,',
        'mp; l2 = 0.95 m follows).',
        'Frames as there: x to leg 1, cylinder frame T1 (z the revolute axis, y along the leg),',
        'piston frame T2 (z along the leg), R = Rx(roll) Ry(pitch) Rz(yaw). z is up.',
        'Not given there and chosen here: legs are uniform tubes and bars, the platform a uniform',
        'triangular plate with G in its middle plane; radii and limits. As there, joints have no',
        'friction and drives no inertia.',
    )
    SOURCE: ClassVar[str] = 'staicu_3rps'

    actuation: str = choice(
        'revolute', ('revolute', 'prismatic'), 'which joint of each leg is actuated')
    base_radius: float = parameter(1.0, 'm', 'centre to revolute joints, l0')
    platform_radius: float = parameter(0.5, 'm', 'centre to ball joints, r')
    height: float = parameter(1.2, 'm', 'height of the platform at home, h')
    platform_mass: float = parameter(5.0, 'kg', 'mass of the platform, mp')
    platform_thickness: float = parameter(0.02, 'm', 'thickness of the platform')
    cylinder_mass: float = parameter(0.5, 'kg', 'mass of a cylinder, m1')
    cylinder_radius: float = parameter(0.03, 'm', 'outer radius of a cylinder')
    cylinder_share: float = parameter(
        7.0 / 13.0, '', 'cylinder length l1 / leg length at home', high=0.95)
    piston_mass: float = parameter(0.5, 'kg', 'mass of a piston, m2')
    piston_radius: float = parameter(0.015, 'm', 'radius of a piston rod')
    piston_share: float = parameter(
        9.5 / 13.0, '', 'piston length l2 / leg length at home', high=0.95)
    torque: float = parameter(150.0, 'N m', 'largest torque of an actuated revolute joint')
    speed: float = parameter(3.0, 'rad/s', 'largest speed of an actuated revolute joint')
    damping: float = parameter(
        0.0, 'N m s/rad', 'viscous friction of an actuated revolute joint', closed=True)
    friction: float = parameter(
        0.0, 'N m', 'Coulomb friction of an actuated revolute joint', closed=True)
    armature: float = parameter(
        0.0, 'kg m^2', 'inertia that the drive adds to its revolute joint', closed=True)
    slide_force: float = parameter(400.0, 'N', 'largest force of a slide')
    slide_damping: float = parameter(0.0, 'N s/m', 'viscous friction of a slide', closed=True)
    slide_friction: float = parameter(0.0, 'N', 'Coulomb friction of a slide', closed=True)
    slide_armature: float = parameter(
        0.0, 'kg', 'inertia that the drive adds to its slide', closed=True)

    def build(self, robot: RobotBuilder, vary: Variation) -> None:
        """Add base and platform triangles and three legs."""
        home = self.height * Z
        angles = [0.0, 2.0 * np.pi / 3.0, -2.0 * np.pi / 3.0]
        starts = [vary.point(polar(self.base_radius, a), self.base_radius) for a in angles]
        tips = [vary.point(home + polar(self.platform_radius, a), self.platform_radius)
                for a in angles]
        pins = [0.1 * polar(1.0, a + np.pi / 2.0) for a in angles]
        robot.base(
            polygon_plate(
                [polar(1.06 * self.base_radius, a, -0.05) for a in angles], 0.03, 0.0, 'steel',
                'graphite'),
            *(tube(p - pin, p + pin, 0.7 * self.cylinder_radius, 0.0, 'brass')
              for p, pin in zip(starts, pins, strict=True)))
        robot.platform(
            home, polygon_plate(
                [home + polar(self.platform_radius, a) for a in angles],
                self.platform_thickness, self.platform_mass, 'blue', 'graphite'),
            # R = Rx Ry Rz: the order of the literature.
            coordinates=('x', 'y', 'z', 'roll', 'pitch', 'yaw'),
            independent=('z', 'roll', 'pitch'))
        for index, (angle, start, tip) in enumerate(
                zip(angles, starts, tips, strict=True), 1):
            axis = vary.direction(-polar(1.0, angle + np.pi / 2.0))
            self._leg(robot, f'leg{index}', start, tip, axis)

    def _leg(
        self, robot: RobotBuilder, leg: str, start: Array, tip: Array, axis: Array,
    ) -> None:
        along, length = unit(tip - start), distance(start, tip)
        across = unit(np.cross(along, axis))
        hinge = np.column_stack([across, np.cross(axis, across), axis])
        turning = self.actuation == 'revolute'
        robot.body(
            f'{leg}_cylinder', 'revolute', f'{leg}_revolute', BASE, start, axis,
            Limits(-0.8, 0.8, self.torque if turning else 0.0, self.speed),
            self.cylinder(start, along, length), rotation=hinge,
            drive=Drive(self.damping, self.friction, self.armature) if turning else None)
        slide = np.column_stack([across, np.cross(along, across), along])
        self.add_slide(
            robot, leg, f'{leg}_cylinder', start, tip, actuated=not turning, rotation=slide)
        close_ball(robot, leg, f'{leg}_piston', tip)
