"""Hexaglides: six actuated carriages on rails, six struts of constant length."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import ClassVar

import numpy as np

from parallel_dynamics.families.builder import BASE, Drive, Limits, RobotBuilder
from parallel_dynamics.families.family import parameter
from parallel_dynamics.families.geometry import Z, frame, unit
from parallel_dynamics.families.legs import CROSS_NOTE, StrutLegs
from parallel_dynamics.families.shapes import box, disc, tube
from parallel_dynamics.families.stewart import semi_regular_hexagon, similar_hexagons
from parallel_dynamics.families.variation import Variation


@dataclass(frozen=True)
class Hexaglide(StrutLegs):
    """Six PUS legs; rails stand on a semi-regular hexagon and may lean towards its centre."""

    FAMILY: ClassVar[str] = 'hexaglide'
    SUMMARY: ClassVar[str] = 'Hexaglide: six PUS legs, actuated carriages, six freedoms.'
    CHOICES: ClassVar[tuple[str, ...]] = (
        'Base and platform joints on semi-regular hexagons, numbered as in the stewart family.',
        'Inertia: carriages are boxes, struts tubes, the platform a disc.',
        CROSS_NOTE,
    )

    base_radius: float = parameter(0.6, 'm', 'radius of the circle of the carriages at home')
    platform_radius: float = parameter(0.3, 'm', 'radius of the circle of the platform joints')
    base_gap: float = parameter(
        0.2, 'rad', 'half the angle between neighbouring carriages', high=1.0, closed=True)
    platform_gap: float = parameter(
        0.2, 'rad', 'half the angle between neighbouring platform joints', high=1.0, closed=True)
    height: float = parameter(0.7, 'm', 'height of the platform over the carriages at home')
    rail_angle: float = parameter(
        np.pi / 2.0, 'rad', 'angle of the rails to the horizontal', low=0.3, high=np.pi / 2.0)
    travel: float = parameter(0.25, 'm', 'travel of a carriage either way')
    carriage_mass: float = parameter(3.0, 'kg', 'mass of a carriage')
    platform_mass: float = parameter(15.0, 'kg', 'mass of the platform')
    force: float = parameter(1500.0, 'N', 'largest force of a carriage')
    speed: float = parameter(1.5, 'm/s', 'largest speed of a carriage')
    damping: float = parameter(40.0, 'N s/m', 'viscous friction of a carriage', closed=True)
    friction: float = parameter(10.0, 'N', 'Coulomb friction of a carriage', closed=True)
    armature: float = parameter(
        4.0, 'kg', 'inertia that the drive adds to its carriage', closed=True)

    def relations(self) -> list[str]:
        """See that the hexagons are not similar."""
        return similar_hexagons(self.base_gap, self.platform_gap)

    def build(self, robot: RobotBuilder, vary: Variation) -> None:
        """Add rails, platform and six legs."""
        home = self.height * Z
        ring = semi_regular_hexagon(self.base_radius, self.base_gap, 0.0)
        top = semi_regular_hexagon(self.platform_radius, self.platform_gap, np.pi / 3.0)
        starts = [vary.point(p, self.base_radius) for p in np.roll(ring, -1, axis=0)]
        tips = [vary.point(home + p, self.platform_radius) for p in top]
        rails = [
            vary.direction(
                math.sin(self.rail_angle) * Z
                - math.cos(self.rail_angle) * unit([p[0], p[1], 0.0]))
            for p in starts]
        reach = self.travel + 0.06
        robot.base(
            disc(-(reach + 0.02) * Z, Z, 1.25 * self.base_radius, 0.03, 0.0, 'steel'),
            *(tube(p - reach * rail, p + reach * rail, 0.015, 0.0, 'chrome')
              for p, rail in zip(starts, rails, strict=True)))
        robot.platform(home, disc(
            home + 0.03 * Z, Z, 1.1 * self.platform_radius, 0.02, self.platform_mass, 'blue'))
        for index, (start, rail, tip) in enumerate(zip(starts, rails, tips, strict=True), 1):
            leg = f'leg{index}'
            robot.body(
                f'{leg}_carriage', 'prismatic', f'{leg}_slide', BASE, start, rail,
                Limits(-self.travel, self.travel, self.force, self.speed),
                box(start, [0.06, 0.06, 0.1], self.carriage_mass, 'graphite', frame(rail)),
                rotation=frame(rail), drive=Drive(self.damping, self.friction, self.armature))
            self.add_strut(robot, vary, leg, f'{leg}_carriage', start, tip)
