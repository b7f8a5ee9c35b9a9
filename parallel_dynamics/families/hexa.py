"""Hexa robots: six actuated cranks, six struts of constant length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parallel_dynamics.families.builder import BASE, Drive, Limits, RobotBuilder
from parallel_dynamics.families.family import parameter
from parallel_dynamics.families.geometry import Z, distance, frame, unit
from parallel_dynamics.families.legs import CROSS_NOTE, StrutLegs
from parallel_dynamics.families.shapes import box, disc, tube
from parallel_dynamics.families.stewart import semi_regular_hexagon
from parallel_dynamics.families.variation import Variation


@dataclass(frozen=True)
class Hexa(StrutLegs):
    """Six RUS legs; motor axes are radial, cranks level at home and pointing away in pairs."""

    FAMILY: ClassVar[str] = 'hexa'
    SUMMARY: ClassVar[str] = 'Hexa robot: six RUS legs, actuated cranks, six freedoms.'
    CHOICES: ClassVar[tuple[str, ...]] = (
        'Motors and platform joints on semi-regular hexagons, numbered as in the stewart family.',
        'A crank lifts its strut at a positive angle.',
        'Inertia: cranks are boxes, struts tubes, the platform a disc.',
        CROSS_NOTE,
    )

    base_radius: float = parameter(0.35, 'm', 'radius of the circle of the motors')
    platform_radius: float = parameter(0.25, 'm', 'radius of the circle of the platform joints')
    base_gap: float = parameter(
        0.3, 'rad', 'half the angle between neighbouring motors', high=1.0, closed=True)
    platform_gap: float = parameter(
        0.2, 'rad', 'half the angle between neighbouring platform joints', high=1.0, closed=True)
    height: float = parameter(0.5, 'm', 'height of the platform at home')
    crank_length: float = parameter(0.12, 'm', 'length of a crank')
    crank_mass: float = parameter(0.8, 'kg', 'mass of a crank')
    platform_mass: float = parameter(8.0, 'kg', 'mass of the platform')
    torque: float = parameter(60.0, 'N m', 'largest torque of a crank')
    speed: float = parameter(6.0, 'rad/s', 'largest speed of a crank')
    damping: float = parameter(0.2, 'N m s/rad', 'viscous friction of a crank', closed=True)
    friction: float = parameter(0.5, 'N m', 'Coulomb friction of a crank', closed=True)
    armature: float = parameter(
        0.03, 'kg m^2', 'inertia that the drive adds to its crank', closed=True)

    def build(self, robot: RobotBuilder, vary: Variation) -> None:
        """Add motors, platform and six legs."""
        home = self.height * Z
        ring = semi_regular_hexagon(self.base_radius, self.base_gap, 0.0)
        top = semi_regular_hexagon(self.platform_radius, self.platform_gap, np.pi / 3.0)
        motors = [vary.point(p, self.base_radius) for p in np.roll(ring, -1, axis=0)]
        tips = [vary.point(home + p, self.platform_radius) for p in top]
        # Outward and inward axes take turns, so that each crank points out of its pair.
        axes = [vary.direction((1.0 if i % 2 == 0 else -1.0) * unit([p[0], p[1], 0.0]))
                for i, p in enumerate(motors)]
        robot.base(
            disc(-0.06 * Z, Z, 1.15 * self.base_radius, 0.03, 0.0, 'steel'),
            *(tube(p - 0.05 * a, p + 0.05 * a, 0.03, 0.0, 'graphite')
              for p, a in zip(motors, axes, strict=True)))
        robot.platform(home, disc(
            home + 0.03 * Z, Z, 1.1 * self.platform_radius, 0.02, self.platform_mass, 'blue'))
        for index, (motor, axis, tip) in enumerate(zip(motors, axes, tips, strict=True), 1):
            leg, crank = f'leg{index}', unit(np.cross(Z, axis))
            elbow = motor + vary.scale(self.crank_length) * crank
            placed = frame(axis, x=elbow - motor)
            robot.body(
                f'{leg}_crank', 'revolute', f'{leg}_motor', BASE, motor, axis,
                Limits(-1.2, 1.2, self.torque, self.speed),
                box((motor + elbow) / 2.0, [distance(motor, elbow), 0.03, 0.02], self.crank_mass,
                    'orange', placed),
                rotation=placed, drive=Drive(self.damping, self.friction, self.armature))
            self.add_strut(robot, vary, leg, f'{leg}_crank', elbow, tip)
