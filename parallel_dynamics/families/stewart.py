"""Gough-Stewart platforms: six UPS legs, six actuated slides, six freedoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parallel_dynamics.families.builder import RobotBuilder
from parallel_dynamics.families.family import parameter
from parallel_dynamics.families.geometry import Array, Z, polar
from parallel_dynamics.families.legs import CROSS_NOTE, TelescopicLegs
from parallel_dynamics.families.shapes import ball, box, disc
from parallel_dynamics.families.variation import Variation


def semi_regular_hexagon(radius: float, half_gap: float, first: float) -> Array:
    """
    Six points (6, 3), m, in pairs `half_gap` (rad) either side of three directions 120 deg apart.

    Points 1 and 2 are a pair about `first` (rad), then 3 and 4, 5 and 6 (lopes_2010, figure 2).
    """
    third = 2.0 * np.pi / 3.0
    return np.array([
        polar(radius, first + pair * third + side * half_gap)
        for pair in range(3) for side in (-1.0, 1.0)])


def similar_hexagons(base_gap: float, platform_gap: float) -> list[str]:
    """Fault of two hexagons (half gaps in rad) whose six straight legs would be singular."""
    total = base_gap + platform_gap
    if abs(total - np.pi / 3.0) > 0.05:
        return []
    return [
        'base_gap + platform_gap must differ from pi/3 by more than 0.05, or both hexagons are '
        f'similar and the robot is singular; got {total:g}']


@dataclass(frozen=True)
class Stewart(TelescopicLegs):
    """Six legs between two semi-regular hexagons; the platform frame is in its ball centres."""

    FAMILY: ClassVar[str] = 'stewart'
    SUMMARY: ClassVar[str] = 'Gough-Stewart platform: six UPS legs, actuated slides, six freedoms.'
    CHOICES: ClassVar[tuple[str, ...]] = (
        'Joints on semi-regular hexagons, numbered as in lopes_2010 (figure 2).',
        "Platform frame: at the centre of the platform's ball joints.",
        'Inertia: cylinder a tube, piston rod a solid bar, platform a disc with a box as payload.',
        CROSS_NOTE,
    )

    base_radius: float = parameter(0.75, 'm', 'radius of the circle of the base joints')
    platform_radius: float = parameter(0.5, 'm', 'radius of the circle of the platform joints')
    base_gap: float = parameter(
        0.18, 'rad', 'half the angle between neighbouring base joints', high=1.0, closed=True)
    platform_gap: float = parameter(
        0.18, 'rad', 'half the angle between neighbouring platform joints', high=1.0, closed=True)
    height: float = parameter(0.85, 'm', 'height of the platform joints at home')
    platform_mass: float = parameter(45.0, 'kg', 'mass of the platform plate')
    platform_thickness: float = parameter(0.03, 'm', 'thickness of the platform plate')
    payload_mass: float = parameter(
        120.0, 'kg', 'mass of the payload on the platform', closed=True)
    payload_size: float = parameter(0.5, 'm', 'edge of the payload, a cube on the plate')

    def relations(self) -> list[str]:
        """See that the legs are possible and the hexagons not similar."""
        return super().relations() + similar_hexagons(self.base_gap, self.platform_gap)

    def build(self, robot: RobotBuilder, vary: Variation) -> None:
        """Add base and platform plates and six legs."""
        top = self.height * Z
        # Base pairs are (6, 1), (2, 3), (4, 5); platform pairs are (1, 2), (3, 4), (5, 6).
        base = np.roll(semi_regular_hexagon(self.base_radius, self.base_gap, 0.0), -1, axis=0)
        ring = semi_regular_hexagon(self.platform_radius, self.platform_gap, np.pi / 3.0)
        starts = [vary.point(p, self.base_radius) for p in base]
        tips = [vary.point(top + p, self.platform_radius) for p in ring]
        thick, drop = self.platform_thickness, 1.5 * self.cylinder_radius
        robot.base(
            disc(-(drop + 0.02) * Z, Z, 1.12 * self.base_radius, 0.04, 0.0, 'steel'),
            *(ball(p, 1.4 * self.cylinder_radius, 0.0, 'graphite') for p in starts))
        plate = top + (thick / 2.0 + 1.5 * self.piston_radius) * Z
        shapes = [disc(
            plate, Z, 1.1 * self.platform_radius, thick, self.platform_mass, 'blue')]
        if self.payload_mass > 0.0:
            shapes.append(box(
                plate + (thick + self.payload_size) / 2.0 * Z, 3 * [self.payload_size],
                self.payload_mass, 'glass'))
        robot.platform(vary.point(top, 0.2 * self.platform_radius), *shapes)
        for index, (start, tip) in enumerate(zip(starts, tips, strict=True), 1):
            self.add_ups_leg(robot, vary, f'leg{index}', start, tip)
