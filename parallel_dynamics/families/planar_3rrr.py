"""Planar 3-RRR robots: two translations and a rotation in a plane."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import ClassVar

import numpy as np

from parallel_dynamics.families.builder import (
    BASE,
    PLANAR,
    PLATFORM,
    Drive,
    Limits,
    RobotBuilder,
)
from parallel_dynamics.families.family import Family, choice, parameter
from parallel_dynamics.families.geometry import Array, Z, distance, frame, polar, unit
from parallel_dynamics.families.shapes import ball, box, polygon_plate, tube
from parallel_dynamics.families.variation import Variation

ANGLES = (-5.0 * np.pi / 6.0, -np.pi / 6.0, np.pi / 2.0)


@dataclass(frozen=True)
class Planar3rrr(Family):
    """Three motors on a circle, two links each; all axes are along z and no link hits another."""

    FAMILY: ClassVar[str] = 'planar_3rrr'
    SUMMARY: ClassVar[str] = 'Planar 3-RRR robot: x, y and yaw.'
    CHOICES: ClassVar[tuple[str, ...]] = (
        'Links lie in layers one above the other; each leg is closed by a revolute closure, so',
        'that what holds the platform in its plane is part of the model (and overconstrained).',
        'Inertia: links are boxes, the platform a uniform triangular plate.',
    )

    base_radius: float = parameter(0.5, 'm', 'distance of the motors from the centre')
    platform_radius: float = parameter(0.12, 'm', 'distance of the joints from the centre')
    proximal_length: float = parameter(0.3, 'm', 'motor to elbow')
    distal_length: float = parameter(0.32, 'm', 'elbow to platform')
    layer: float = parameter(0.03, 'm', 'distance of the layers')
    proximal_mass: float = parameter(0.9, 'kg', 'mass of a proximal link')
    distal_mass: float = parameter(0.6, 'kg', 'mass of a distal link')
    platform_mass: float = parameter(1.5, 'kg', 'mass of the platform')
    plane: str = choice(
        'level', ('level', 'upright'), 'level table, or upright wall with gravity along -y')
    torque: float = parameter(30.0, 'N m', 'largest torque of a motor')
    speed: float = parameter(8.0, 'rad/s', 'largest speed of a motor')
    damping: float = parameter(0.05, 'N m s/rad', 'viscous friction of a motor', closed=True)
    friction: float = parameter(0.1, 'N m', 'Coulomb friction of a motor', closed=True)
    armature: float = parameter(
        0.005, 'kg m^2', 'inertia that the drive adds to its motor', closed=True)

    def relations(self) -> list[str]:
        """See that the links reach the platform, neither stretched nor folded."""
        gap = abs(self.base_radius - self.platform_radius)
        low = abs(self.proximal_length - self.distal_length)
        high = self.proximal_length + self.distal_length
        if 1.05 * low < gap < 0.95 * high:
            return []
        return [
            'base_radius - platform_radius must be between the difference and the sum of '
            f'proximal_length and distal_length with 5 % to spare ({1.05 * low:.3g} to '
            f'{0.95 * high:.3g} m); got {gap:.3g}']

    def build(self, robot: RobotBuilder, vary: Variation) -> None:
        """Add frame, platform and three legs."""
        home = 2.0 * self.layer * Z
        motors = [vary.point(polar(self.base_radius, a), 0.5 * self.base_radius) for a in ANGLES]
        grips = [home + vary.point(polar(self.platform_radius, a), self.platform_radius)
                 for a in ANGLES]
        if self.plane == 'upright':
            robot.gravity = np.array([0.0, -9.81, 0.0])
        robot.base(
            *(tube(p - 0.08 * Z, p - 0.02 * Z, 0.04, 0.0, 'graphite') for p in motors),
            polygon_plate(
                [polar(1.1 * self.base_radius, a, -0.09) for a in ANGLES], 0.02, 0.0, 'steel',
                'steel'))
        robot.platform(
            vary.point(home, 0.2 * self.platform_radius),
            polygon_plate(
                [home + polar(self.platform_radius, a) for a in ANGLES], 0.015,
                self.platform_mass, 'blue', 'graphite'),
            coordinates=PLANAR)
        for index, (motor, grip) in enumerate(zip(motors, grips, strict=True), 1):
            self._leg(robot, f'leg{index}', motor, grip)

    def _elbow(self, motor: Array, grip: Array) -> Array:
        """Elbow (3,), m, on the left of the way from motor to platform joint."""
        way = np.array([grip[0] - motor[0], grip[1] - motor[1], 0.0])
        gap, along = distance(np.zeros(3), way), unit(way)
        forward = (gap**2 + self.proximal_length**2 - self.distal_length**2) / (2.0 * gap)
        across = math.sqrt(self.proximal_length**2 - forward**2)
        return motor + forward * along + across * np.cross(Z, along)

    def _leg(self, robot: RobotBuilder, leg: str, motor: Array, grip: Array) -> None:
        elbow, index = self._elbow(motor, grip), leg.removeprefix('leg')
        low = elbow + self.layer * Z
        end = np.array([grip[0], grip[1], low[2]])
        drive = Drive(self.damping, self.friction, self.armature)
        robot.body(
            f'{leg}_proximal', 'revolute', f'{leg}_motor', BASE, motor, Z,
            Limits(-1.5, 1.5, self.torque, self.speed),
            box((motor + elbow) / 2.0, [distance(motor, elbow), 0.04, 0.02], self.proximal_mass,
                'orange', frame(Z, x=elbow - motor)),
            rotation=frame(Z, x=elbow - motor), drive=drive)
        robot.body(
            f'{leg}_distal', 'revolute', f'{leg}_elbow', f'{leg}_proximal', low, Z,
            Limits(-2.5, 2.5, 0.0, 20.0),
            box((low + end) / 2.0, [distance(low, end), 0.03, 0.015], self.distal_mass, 'steel',
                frame(Z, x=end - low)),
            ball(low, 0.018, 0.0, 'brass'), rotation=frame(Z, x=end - low))
        robot.close(
            f'hinge{index}', 'revolute', (f'{leg}_tip', f'{leg}_distal'),
            (f'platform_p{index}', PLATFORM), grip, frame(Z))
