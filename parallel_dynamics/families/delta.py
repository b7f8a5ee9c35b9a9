"""Delta robots: three motors, three forearms of two rods each, pure translation."""

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
from parallel_dynamics.families.geometry import (
    Array,
    Z,
    distance,
    frame,
    polar,
    rotation_about,
    times,
    unit,
)
from parallel_dynamics.families.legs import CROSS_NOTE, add_universal
from parallel_dynamics.families.shapes import Shape, ball, box, disc, tube
from parallel_dynamics.families.variation import Variation


@dataclass(frozen=True)
class Delta(Family):
    """Arms turn about horizontal axes on the base; positive motor angles lower them."""

    FAMILY: ClassVar[str] = 'delta'
    SUMMARY: ClassVar[str] = (
        'Delta robot: three motors, forearms of two rods, three translations.')
    CHOICES: ClassVar[tuple[str, ...]] = (
        'Dimensions and masses are those of a typical packaging robot, not of a product.',
        'Each rod: a universal joint at the elbow and a ball closure at the plate; the plate',
        'keeps its attitude by these closures alone. Motor angles are positive downward.',
        'Inertia: arms are uniform boxes, rods tubes, the plate a disc, the payload a cylinder.',
        CROSS_NOTE,
    )

    base_radius: float = parameter(0.2, 'm', 'distance of the motor axes from the centre')
    platform_radius: float = parameter(0.05, 'm', 'distance of the rod pairs from the centre')
    arm_length: float = parameter(0.35, 'm', 'motor axis to elbow')
    forearm_length: float = parameter(0.8, 'm', 'length of the rods')
    rod_distance: float = parameter(0.1, 'm', 'distance between the two rods of a forearm')
    home_angle: float = parameter(
        0.4, 'rad', 'motor angle at home, arms below the horizontal', low=-1.2, high=1.2)
    arm_mass: float = parameter(1.0, 'kg', 'mass of an arm')
    rod_mass: float = parameter(0.12, 'kg', 'mass of one rod')
    rod_radius: float = parameter(0.008, 'm', 'outer radius of a rod (bore 0.75 of it)')
    cross_mass: float = parameter(0.015, 'kg', 'mass of the cross of an elbow joint')
    platform_mass: float = parameter(0.4, 'kg', 'mass of the plate')
    payload_mass: float = parameter(
        0.5, 'kg', 'mass of gripper and payload under the plate', closed=True)
    torque: float = parameter(80.0, 'N m', 'largest torque of a motor, at the arm')
    speed: float = parameter(10.0, 'rad/s', 'largest speed of an arm')
    damping: float = parameter(0.15, 'N m s/rad', 'viscous friction of a drive', closed=True)
    friction: float = parameter(0.8, 'N m', 'Coulomb friction of a drive', closed=True)
    armature: float = parameter(
        0.05, 'kg m^2', 'inertia of motor and gear, seen at the arm', closed=True)

    def relations(self) -> list[str]:
        """See that the forearms reach the plate at home."""
        across = self._across()
        if abs(across) < 0.95 * self.forearm_length:
            return []
        return [
            'forearm_length must span base_radius + arm_length cos(home_angle) - platform_radius '
            f'({across:.4g} m) with 5 % to spare; got {self.forearm_length:g}']

    def _across(self) -> float:
        reach = self.arm_length * math.cos(self.home_angle)
        return self.base_radius + reach - self.platform_radius

    def build(self, robot: RobotBuilder, vary: Variation) -> None:
        """Add base, plate and three legs."""
        depth = self.arm_length * math.sin(self.home_angle) + math.sqrt(
            self.forearm_length**2 - self._across() ** 2)
        home = np.array([0.0, 0.0, -depth])
        robot.base(
            disc(0.05 * Z, Z, 1.15 * self.base_radius, 0.06, 0.0, 'steel'),
            *(self._motor(angle) for angle in self._angles()))
        shapes = [disc(home, Z, 1.1 * self.platform_radius, 0.012, self.platform_mass, 'orange')]
        if self.payload_mass > 0.0:
            shapes.append(tube(
                home - 0.006 * Z, home - 0.086 * Z, 0.4 * self.platform_radius,
                self.payload_mass, 'graphite'))
        robot.platform(home, *shapes, coordinates=TRANSLATIONAL)
        for index, angle in enumerate(self._angles(), 1):
            self._leg(robot, vary, f'leg{index}', angle, home)

    @staticmethod
    def _angles() -> list[float]:
        return [0.0, 2.0 * np.pi / 3.0, -2.0 * np.pi / 3.0]

    def _motor(self, angle: float) -> Shape:
        centre, axis = polar(self.base_radius, angle), polar(1.0, angle + np.pi / 2.0)
        return tube(
            centre - 0.06 * axis, centre + 0.06 * axis, 0.035, 0.0, 'graphite')

    def _leg(
        self, robot: RobotBuilder, vary: Variation, leg: str, angle: float, home: Array,
    ) -> None:
        # The rods' offset must not turn with the arm, or the plate would: it is along the axis.
        axis = vary.direction(polar(1.0, angle + np.pi / 2.0))
        out = unit(np.cross(axis, np.cross(polar(1.0, angle), axis)))
        shoulder = vary.point(polar(self.base_radius, angle), self.base_radius)
        arm = times(rotation_about(axis, vary.scale(self.home_angle)), out)
        elbow = shoulder + vary.scale(self.arm_length) * arm
        grip = vary.point(home + polar(self.platform_radius, angle), self.platform_radius)
        half = vary.scale(self.rod_distance) / 2.0 * axis
        length = distance(shoulder, elbow)
        robot.body(
            f'{leg}_arm', 'revolute', f'{leg}_shoulder', BASE, shoulder, axis,
            Limits(-1.0, 1.2, self.torque, self.speed),
            box((shoulder + elbow) / 2.0, [length, 0.045, 0.05], self.arm_mass, 'blue',
                frame(np.cross(arm, axis), x=arm)),
            tube(elbow - half, elbow + half, 0.01, 0.0, 'steel'),
            rotation=frame(np.cross(arm, axis), x=arm),
            drive=Drive(self.damping, self.friction, self.armature))
        index, along = leg.removeprefix('leg'), grip - elbow
        for rod, side in (('a', -1.0), ('b', 1.0)):
            start, tip = elbow + side * half, grip + side * half
            add_universal(
                robot, f'{leg}_cross_{rod}', f'{leg}_rod_{rod}',
                (f'{leg}_elbow_{rod}_1', f'{leg}_elbow_{rod}_2'), f'{leg}_arm', start, along,
                vary.direction(axis), (self.cross_mass, 1.6 * self.rod_radius),
                tube(start, tip, self.rod_radius, self.rod_mass, 'carbon',
                     bore=0.75 * self.rod_radius),
                ball(tip, 1.5 * self.rod_radius, 0.0, 'brass'), swing=1.4)
            robot.close(
                f'ball{index}{rod}', 'ball', (f'{leg}_tip_{rod}', f'{leg}_rod_{rod}'),
                (f'platform_p{index}{rod}', PLATFORM), tip)
