"""C5 robots: six sliders that push on three faces of a cube."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parallel_dynamics.families.builder import BASE, PLATFORM, Drive, Limits, RobotBuilder
from parallel_dynamics.families.family import Family, parameter
from parallel_dynamics.families.geometry import frame
from parallel_dynamics.families.shapes import ball, box, tube
from parallel_dynamics.families.variation import Variation


@dataclass(frozen=True)
class C5(Family):
    """Sliders 1, 2 along x, 3, 4 along y, 5, 6 along z; the platform frame is at a corner."""

    FAMILY: ClassVar[str] = 'c5'
    SUMMARY: ClassVar[str] = 'C5 robot: six sliders on three faces of a cube, six freedoms.'
    CHOICES: ClassVar[tuple[str, ...]] = (
        'Structure: khalil_ibrahim_2007, section 5 (legs 5 and 6 are along z). A slider ends in',
        'the ball of its C5 joint, which slides on a face of the cube in both directions: one',
        'plane closure each. platform_p1 to platform_p6 have z normal to their face. The platform',
        'frame is the corner that the three faces share.',
        'Not given there and chosen here: all numbers. Inertia: sliders are uniform bars, the',
        'platform a uniform cube; the cross-sliding plates of the C5 joints have no mass.',
    )
    SOURCE: ClassVar[str] = 'khalil_ibrahim_2007'

    cube: float = parameter(0.16, 'm', 'edge of the platform, a cube')
    spread: float = parameter(0.1, 'm', 'distance between the two sliders on a face')
    slider_length: float = parameter(0.22, 'm', 'length of a slider')
    slider_radius: float = parameter(0.01, 'm', 'radius of a slider')
    slider_mass: float = parameter(0.5, 'kg', 'mass of a slider')
    platform_mass: float = parameter(3.0, 'kg', 'mass of the platform')
    travel: float = parameter(0.06, 'm', 'travel of a slider either way')
    force: float = parameter(250.0, 'N', 'largest force of a slider')
    speed: float = parameter(0.5, 'm/s', 'largest speed of a slider')
    damping: float = parameter(15.0, 'N s/m', 'viscous friction of a slider', closed=True)
    friction: float = parameter(2.0, 'N', 'Coulomb friction of a slider', closed=True)
    armature: float = parameter(
        0.8, 'kg', 'inertia that the drive adds to its slider', closed=True)

    def relations(self) -> list[str]:
        """See that both sliders of a face are on it."""
        if self.spread < self.cube:
            return []
        return [f'spread must be less than cube ({self.cube:g} m), or a slider misses its face; '
                f'got {self.spread:g}']

    def build(self, robot: RobotBuilder, vary: Variation) -> None:
        """Add guides, cube and six sliders."""
        middle, corner = np.full(3, self.cube / 2.0), np.zeros(3)
        legs, guides = [], []
        for leg in range(6):
            axis = np.eye(3)[leg // 2]
            # Spread along the next axis: each pair then turns the cube about another axis.
            shift = (-0.5 if leg % 2 == 0 else 0.5) * self.spread * np.eye(3)[(leg // 2 + 1) % 3]
            tip = vary.point(middle - self.cube / 2.0 * axis + shift, self.cube / 2.0)
            legs.append((tip, vary.direction(axis), vary.direction(axis)))
            out = tip - self.slider_length * axis
            guides.append(tube(
                out - 0.03 * axis, out + 0.07 * axis, 2.2 * self.slider_radius, 0.0, 'graphite'))
        floor, top = -(self.slider_length + 0.04), self.cube + 0.03
        for side in range(3):
            size, centre = np.full(3, top - floor), np.full(3, (top + floor) / 2.0)
            size[side], centre[side] = 0.012, floor
            guides.append(box(centre, size, 0.0, 'haze'))
        robot.base(*guides)
        robot.platform(corner, box(middle, 3 * [self.cube], self.platform_mass, 'blue'))
        for index, (tip, axis, normal) in enumerate(legs, 1):
            start = tip - self.slider_length * axis
            robot.body(
                f'leg{index}_slider', 'prismatic', f'leg{index}_slide', BASE, start, axis,
                Limits(-self.travel, self.travel, self.force, self.speed),
                tube(start, tip, self.slider_radius, self.slider_mass, 'chrome'),
                ball(tip, 1.4 * self.slider_radius, 0.0, 'orange'), rotation=frame(axis),
                drive=Drive(self.damping, self.friction, self.armature))
            robot.close(
                f'plane{index}', 'plane', (f'leg{index}_tip', f'leg{index}_slider'),
                (f'platform_p{index}', PLATFORM), tip, frame(normal))
