"""Space robots: three UPS legs, each with its first revolute joint and its slide actuated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parallel_dynamics.families.builder import Drive, RobotBuilder
from parallel_dynamics.families.family import parameter
from parallel_dynamics.families.geometry import Y, Z, polar, rotation_about, times
from parallel_dynamics.families.legs import CROSS_NOTE, TelescopicLegs
from parallel_dynamics.families.shapes import polygon_plate, tube
from parallel_dynamics.families.variation import Variation


@dataclass(frozen=True)
class Space(TelescopicLegs):
    """Equilateral triangles; base_link at the first universal, platform at the first ball."""

    FAMILY: ClassVar[str] = 'space'
    SUMMARY: ClassVar[str] = (
        'Space robot: three UPS legs, first revolute joint and slide actuated, six freedoms.')
    CHOICES: ClassVar[tuple[str, ...]] = (
        'Structure: khalil_ibrahim_2007, section 4; base_link is at B1 with x towards B2, the',
        'platform frame at P1 (parallel to base_link at home), first axes as in its table 1:',
        'along Rz(gamma_i) y with gamma = 0, 0, 60 deg.',
        'Not given there and chosen here: all numbers. At home the platform triangle is turned by',
        'twist against the base, since these axes are singular with both triangles parallel.',
        'Inertia: cylinder a tube, piston rod a solid bar, platform a uniform triangular plate.',
        CROSS_NOTE,
    )
    SOURCE: ClassVar[str] = 'khalil_ibrahim_2007'

    base_side: float = parameter(0.9, 'm', 'side of the base triangle')
    platform_side: float = parameter(0.5, 'm', 'side of the platform triangle')
    height: float = parameter(0.7, 'm', 'height of the platform at home')
    twist: float = parameter(
        np.pi / 3.0, 'rad', 'angle of the platform triangle against the base', 0.25, 1.8)
    platform_mass: float = parameter(18.0, 'kg', 'mass of the platform')
    platform_thickness: float = parameter(0.025, 'm', 'thickness of the platform')
    cylinder_mass: float = parameter(6.0, 'kg', 'mass of a cylinder')
    piston_mass: float = parameter(2.0, 'kg', 'mass of a piston with its rod')
    cylinder_radius: float = parameter(0.03, 'm', 'outer radius of a cylinder')
    piston_radius: float = parameter(0.015, 'm', 'radius of a piston rod')
    torque: float = parameter(250.0, 'N m', 'largest torque of a first revolute joint')
    damping: float = parameter(
        1.5, 'N m s/rad', 'viscous friction of a first revolute joint', closed=True)
    friction: float = parameter(
        1.0, 'N m', 'Coulomb friction of a first revolute joint', closed=True)
    armature: float = parameter(
        0.3, 'kg m^2', 'inertia that the drive adds to a first revolute joint', closed=True)
    slide_force: float = parameter(2000.0, 'N', 'largest force of a slide')
    slide_damping: float = parameter(60.0, 'N s/m', 'viscous friction of a slide', closed=True)
    slide_friction: float = parameter(12.0, 'N', 'Coulomb friction of a slide', closed=True)
    slide_armature: float = parameter(
        5.0, 'kg', 'inertia that the drive adds to its slide', closed=True)

    def build(self, robot: RobotBuilder, vary: Variation) -> None:
        """Add base and platform triangles and three legs."""
        gammas = (0.0, 0.0, np.pi / 3.0)
        corners = [np.zeros(3), polar(self.base_side, 0.0), polar(self.base_side, np.pi / 3.0)]
        centre, shrink = np.mean(corners, axis=0), self.platform_side / self.base_side
        turn = rotation_about(Z, self.twist)
        top = [centre + self.height * Z + shrink * times(turn, c - centre) for c in corners]
        starts = [vary.point(c, self.base_side / 2.0) for c in corners]
        tips = [vary.point(c, self.platform_side / 2.0) for c in top]
        axes = [times(rotation_about(Z, gamma), Y) for gamma in gammas]
        under = [centre + 1.15 * (c - centre) - 0.06 * Z for c in corners]
        robot.base(
            polygon_plate(under, 0.03, 0.0, 'steel', 'graphite'),
            *(tube(p - 0.07 * a, p + 0.07 * a, 0.03, 0.0, 'graphite')
              for p, a in zip(starts, axes, strict=True)))
        robot.platform(tips[0], polygon_plate(
            top, self.platform_thickness, self.platform_mass, 'blue', 'graphite'))
        drive = Drive(self.damping, self.friction, self.armature)
        for index, (start, tip, axis) in enumerate(zip(starts, tips, axes, strict=True), 1):
            self.add_ups_leg(
                robot, vary, f'leg{index}', start, tip, first=axis, drive=drive,
                effort=self.torque)
