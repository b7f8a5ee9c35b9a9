"""Orthoglide robots: three sliders and three parallelograms, pure translation."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import ClassVar

import numpy as np

from parallel_dynamics.families.builder import (
    BASE,
    PLATFORM,
    TRANSLATIONAL,
    Drive,
    Limits,
    RobotBuilder,
)
from parallel_dynamics.families.family import Family, parameter
from parallel_dynamics.families.geometry import Array, frame, unit
from parallel_dynamics.families.shapes import box, tube
from parallel_dynamics.families.variation import Variation

# chablat_wenger_staicu_2009 draws z0 downward, against REP 103: base axes are its axes after a
# half turn about x.
PAPER = np.diag([1.0, -1.0, -1.0])


@dataclass(frozen=True)
class Orthoglide(Family):
    """PRPaR legs along three square directions; both bars of each parallelogram are bodies."""

    FAMILY: ClassVar[str] = 'orthoglide'
    SUMMARY: ClassVar[str] = (
        'Orthoglide: three sliders, three parallelograms, three translations.')
    CHOICES: ClassVar[tuple[str, ...]] = (
        'Dimensions and masses by default: chablat_wenger_staicu_2009, section 2. Legs 1, 2, 3',
        'are its A, B, C; its axes are (x, -y, -z) of base_link, since it draws z0 downward; home',
        'is its zero. Bodies: slider 1, root_bar 2, bar_a 3, tip_bar 4, bar_b 6, with its frames',
        '(z on the joint). Slides are positive towards the platform.',
        'Not given there and chosen here: bars are uniform, with the centre of mass in their',
        'middle, the platform is a uniform cube; radii and limits. As there, joints have no',
        'friction and drives no inertia.',
    )
    SOURCE: ClassVar[str] = 'chablat_wenger_staicu_2009'

    cube: float = parameter(0.2, 'm', 'edge of the platform, a cube, l')
    slider_length: float = parameter(0.15, 'm', 'length of the rod of a slider, l1')
    slider_angle: float = parameter(
        np.pi / 4.0, 'rad', 'angle of that rod to its guide, alpha', high=1.5)
    bar_distance: float = parameter(0.08, 'm', 'length of the short sides of a parallelogram, l2')
    bar_length: float = parameter(0.85, 'm', 'length of the long sides of a parallelogram, l3')
    slider_mass: float = parameter(0.35, 'kg', 'mass of a slider, m1')
    short_mass: float = parameter(0.2, 'kg', 'mass of a short side, m2 = m4')
    bar_mass: float = parameter(2.5, 'kg', 'mass of a long side, m3 = m6')
    platform_mass: float = parameter(15.0, 'kg', 'mass of the platform, m5')
    bar_radius: float = parameter(0.012, 'm', 'radius of the long sides')
    travel: float = parameter(0.4, 'm', 'travel of a slider either way')
    force: float = parameter(800.0, 'N', 'largest force of a slider')
    speed: float = parameter(2.0, 'm/s', 'largest speed of a slider')
    damping: float = parameter(0.0, 'N s/m', 'viscous friction of a slider', closed=True)
    friction: float = parameter(0.0, 'N', 'Coulomb friction of a slider', closed=True)
    armature: float = parameter(
        0.0, 'kg', 'inertia that the drive adds to its slider', closed=True)

    def build(self, robot: RobotBuilder, vary: Variation) -> None:
        """Add guides, cube and three legs."""
        guides = [unit(PAPER[:, i]) for i in range(3)]
        near = self.bar_length + self.cube / 2.0 + self.slider_length * math.cos(self.slider_angle)
        rails = [(-(near + self.travel + 0.05) * g, -(near - self.travel - 0.05) * g)
                 for g in guides]
        robot.base(
            *(tube(start, end, 0.014, 0.0, 'steel') for start, end in rails),
            *(box(p, 3 * [0.05], 0.0, 'graphite') for rail in rails for p in rail))
        arm = self.slider_length * math.sin(self.slider_angle)
        sides = [guides[(i + 1) % 3] for i in range(3)]
        lugs = [tube(-self.cube / 2.0 * g, -self.cube / 2.0 * g + arm * s, 0.012, 0.0, 'graphite')
                for g, s in zip(guides, sides, strict=True)]
        robot.platform(
            np.zeros(3), box(np.zeros(3), 3 * [self.cube], self.platform_mass, 'orange'), *lugs,
            coordinates=TRANSLATIONAL)
        for i, (guide, side) in enumerate(zip(guides, sides, strict=True), 1):
            self._leg(robot, vary, f'leg{i}', guide, side)

    def _leg(
        self, robot: RobotBuilder, vary: Variation, leg: str, guide: Array, side: Array,
    ) -> None:
        """
        Add a leg; `guide` (3,) is its direction and `side` (3,) where its slider's rod leans.

        Both hinges of a leg are parallel, and so are opposite sides of its parallelogram: this,
        not squareness, makes the platform translate.
        """
        slide, hinge = vary.direction(guide), vary.direction(np.cross(guide, side))
        gap = vary.scale(self.bar_distance) * vary.direction(np.cross(guide, side))
        tip = vary.point(
            -self.cube / 2.0 * guide + self.slider_length * math.sin(self.slider_angle) * side,
            self.cube)
        root = tip - vary.scale(self.bar_length) * vary.direction(guide)
        lean = vary.scale(self.slider_length) * (
            math.cos(self.slider_angle) * guide + math.sin(self.slider_angle) * side)
        # Both short sides are split the same or not: it does not matter to the mobility.
        low, high = vary.scale(0.5), vary.scale(0.5)
        self._bodies(robot, leg, slide, hinge, gap, lean, (root - low * gap, tip - high * gap),
                     (root, tip))

    def _bodies(
        self, robot: RobotBuilder, leg: str, slide: Array, hinge: Array, gap: Array, lean: Array,
        bar: tuple[Array, Array], joints: tuple[Array, Array],
    ) -> None:
        (root, tip), (start, end), thin = joints, bar, 0.7 * self.bar_radius
        swing, normal = Limits(-1.0, 1.0, 0.0, 10.0), unit(np.cross(gap, end - start))
        robot.body(
            f'{leg}_slider', 'prismatic', f'{leg}_slide', BASE, root - lean, slide,
            Limits(-self.travel, self.travel, self.force, self.speed),
            tube(root - lean, root, self.bar_radius, self.slider_mass, 'blue'),
            box(root - lean, [0.05, 0.05, 0.08], 0.0, 'graphite', frame(slide)),
            rotation=frame(slide, x=np.cross(lean, slide)),
            drive=Drive(self.damping, self.friction, self.armature))
        robot.body(
            f'{leg}_root_bar', 'revolute', f'{leg}_root_hinge', f'{leg}_slider', root, hinge,
            swing, tube(start, start + gap, thin, self.short_mass, 'steel'),
            rotation=frame(hinge, x=end - start))
        for bar_name, shift in (('a', 0.0 * gap), ('b', gap)):
            robot.body(
                f'{leg}_bar_{bar_name}', 'revolute', f'{leg}_parallel_{bar_name}',
                f'{leg}_root_bar', start + shift, normal, swing,
                tube(start + shift, end + shift, self.bar_radius, self.bar_mass, 'carbon'),
                rotation=frame(normal, x=np.cross(start - end, normal)))
        robot.body(
            f'{leg}_tip_bar', 'revolute', f'{leg}_parallel_tip', f'{leg}_bar_a', end, -normal,
            swing, tube(end, end + gap, thin, self.short_mass, 'steel'),
            rotation=frame(-normal, x=np.cross(start - end, -normal)))
        index = leg.removeprefix('leg')
        robot.close(
            f'loop{index}', 'revolute', (f'{leg}_bar_b_end', f'{leg}_bar_b'),
            (f'{leg}_tip_bar_end', f'{leg}_tip_bar'), end + gap, frame(normal))
        robot.close(
            f'hinge{index}', 'revolute', (f'{leg}_tip', f'{leg}_tip_bar'),
            (f'platform_p{index}', PLATFORM), tip, frame(hinge))
