"""3-UPS robots with a passive central leg: two tilts and an extension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parallel_dynamics.families.builder import BASE, PLATFORM, Limits, RobotBuilder
from parallel_dynamics.families.family import parameter
from parallel_dynamics.families.geometry import X, Z, distance, polar, unit
from parallel_dynamics.families.legs import CROSS_NOTE, TelescopicLegs, add_universal
from parallel_dynamics.families.shapes import disc, tube
from parallel_dynamics.families.variation import Variation


@dataclass(frozen=True)
class ThreeUpsPassiveLeg(TelescopicLegs):
    """Three actuated UPS legs about a passive UP leg that is welded to the platform."""

    FAMILY: ClassVar[str] = 'three_ups_passive_leg'
    SUMMARY: ClassVar[str] = (
        '3-UPS robot with a passive central UP leg: two tilts and an extension.')
    CHOICES: ClassVar[tuple[str, ...]] = (
        'The central leg has no actuator; a weld closure fixes it to the platform.',
        'Inertia: cylinders and the central tube are tubes, rods solid bars, the platform a disc.',
        CROSS_NOTE,
    )

    base_radius: float = parameter(0.45, 'm', 'radius of the circle of the base joints')
    platform_radius: float = parameter(0.18, 'm', 'radius of the circle of the platform joints')
    height: float = parameter(0.9, 'm', 'height of the platform at home')
    centre_tube_mass: float = parameter(5.0, 'kg', 'mass of the tube of the central leg')
    centre_rod_mass: float = parameter(3.5, 'kg', 'mass of the rod of the central leg')
    platform_mass: float = parameter(12.0, 'kg', 'mass of the platform')
    platform_thickness: float = parameter(0.03, 'm', 'thickness of the platform')
    cylinder_mass: float = parameter(6.0, 'kg', 'mass of a cylinder')
    piston_mass: float = parameter(2.5, 'kg', 'mass of a piston with its rod')
    cylinder_radius: float = parameter(0.03, 'm', 'outer radius of a cylinder')
    piston_radius: float = parameter(0.015, 'm', 'radius of a piston rod')

    def build(self, robot: RobotBuilder, vary: Variation) -> None:
        """Add base, platform, three legs and the central one."""
        home, angles = self.height * Z, (0.0, 2.0 * np.pi / 3.0, -2.0 * np.pi / 3.0)
        starts = [vary.point(polar(self.base_radius, a), self.base_radius) for a in angles]
        tips = [vary.point(home + polar(self.platform_radius, a), self.platform_radius)
                for a in angles]
        robot.base(disc(-0.08 * Z, Z, 1.15 * self.base_radius, 0.03, 0.0, 'steel'))
        robot.platform(
            home, disc(home + self.platform_thickness / 2.0 * Z, Z, 1.15 * self.platform_radius,
                       self.platform_thickness, self.platform_mass, 'blue'),
            independent=('z', 'pitch', 'roll'))
        for index, (start, tip) in enumerate(zip(starts, tips, strict=True), 1):
            self.add_ups_leg(robot, vary, f'leg{index}', start, tip)
        self._centre(robot, vary)

    def _centre(self, robot: RobotBuilder, vary: Variation) -> None:
        foot = vary.point(np.zeros(3), 0.5 * self.platform_radius)
        head = vary.point(self.height * Z, 0.5 * self.platform_radius)
        along, length = unit(head - foot), distance(foot, head)
        radius = 1.4 * self.cylinder_radius
        add_universal(
            robot, 'centre_cross', 'centre_tube', ('centre_universal_1', 'centre_universal_2'),
            BASE, foot, along, vary.direction(X), (self.cross_mass, 1.3 * radius),
            tube(foot, foot + self.cylinder_share * length * along, radius, self.centre_tube_mass,
                 'graphite', bore=0.6 * radius))
        low = head - self.piston_share * length * along
        reach = self.travel * length
        robot.body(
            'centre_rod', 'prismatic', 'centre_slide', 'centre_tube', low, vary.direction(along),
            Limits(-reach, reach, 0.0, self.slide_speed),
            tube(low, head, 0.6 * radius, self.centre_rod_mass, 'chrome'))
        robot.close(
            'weld', 'weld', ('centre_tip', 'centre_rod'), ('platform_centre', PLATFORM), head,
            np.eye(3))
