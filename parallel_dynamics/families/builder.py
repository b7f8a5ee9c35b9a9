"""
A robot under construction: bodies, joints, closures, placed where they stand at home.

Zero is home, so every joint's origin follows from the home placement of its two links. A family
says where things are in the axes of the base link and never composes a transform itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.families.geometry import Array, X, Y, Z, times, unit
from parallel_dynamics.families.shapes import Inertia, Shape, Visual, together
from parallel_dynamics.families.variation import REGULAR, Variation

BASE, PLATFORM = 'base_link', 'platform'
CHAIN_AXES = {'x': X, 'y': Y, 'z': Z, 'yaw': Z, 'pitch': Y, 'roll': X}
SPATIAL = ('x', 'y', 'z', 'yaw', 'pitch', 'roll')
TRANSLATIONAL = ('x', 'y', 'z')
PLANAR = ('x', 'y', 'yaw')


@dataclass(frozen=True)
class Limits:
    """Range of a joint about home (m or rad), effort (N or N m) and speed (m/s or rad/s)."""

    lower: float
    upper: float
    effort: float = 0.0
    speed: float = 20.0


@dataclass(frozen=True)
class Drive:
    """What an actuator brings to its joint: losses (N s/m, N or N m s/rad, N m) and inertia."""

    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0


@dataclass(frozen=True)
class Link:
    """A link with its home placement (base axes), inertia in its own frame, and visuals."""

    name: str
    point: Array
    rotation: Array
    inertia: Inertia | None = None
    visuals: tuple[Visual, ...] = ()


@dataclass(frozen=True)
class Joint:
    """A joint; `point` and `rotation` place the child in the parent, `axis` is in child axes."""

    name: str
    kind: str
    parent: str
    child: str
    point: Array
    rotation: Array
    axis: Array | None = None
    limits: Limits | None = None
    damping: float = 0.0
    friction: float = 0.0


@dataclass(frozen=True)
class Closure:
    """A cut joint between two frames."""

    name: str
    kind: str
    between: tuple[str, str]


@dataclass
class RobotBuilder:
    """
    Collects a robot.

    Parameters
    ----------
    vary : departures from the regular design; applied here to inertia, losses and drives, and by
        the family to its geometry.
    """

    vary: Variation = REGULAR
    links: dict[str, Link] = field(default_factory=dict)
    joints: list[Joint] = field(default_factory=list)
    closures: list[Closure] = field(default_factory=list)
    actuators: list[str] = field(default_factory=list)
    armature: dict[str, float] = field(default_factory=dict)
    independent: list[str] = field(default_factory=list)
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))

    def base(self, *shapes: Shape) -> None:
        """Add the base link; it is drawn, and has no inertia since it does not move."""
        self._add(BASE, np.zeros(3), np.eye(3), together(*shapes, weightless=True))

    def body(
        self, name: str, kind: str, joint: str, parent: str, at: ArrayLike, axis: ArrayLike,
        limits: Limits, *shapes: Shape, rotation: Array | None = None, drive: Drive | None = None,
        damping: float = 0.0,
    ) -> None:
        """
        Add a link and the joint that carries it.

        Parameters
        ----------
        name, joint : names of the link and of its joint.
        kind : 'revolute' or 'prismatic'.
        parent : link that carries the joint.
        at : (3,) m, joint centre and origin of the link's frame at home, base axes.
        axis : (3,) joint axis at home, base axes.
        limits : travel about home.
        shapes : the body, at home, base axes.
        rotation : (3, 3) of the link's frame at home, base <- link; the parent's when left out.
        drive : makes the joint an actuator.
        damping : viscous coefficient of a passive joint (N s/m or N m s/rad).
        """
        turned = self.links[parent].rotation if rotation is None else rotation
        self._add(name, np.asarray(at, dtype=float), turned, together(*shapes))
        loss = drive or Drive(damping=damping)
        self._connect(
            joint, kind, parent, name, times(turned.T, unit(axis)), limits,
            self.vary.loss(loss.damping, kind), self.vary.loss(loss.friction, kind))
        if drive is not None:
            self.actuators.append(joint)
            inertia = self.vary.armature(drive.armature, kind)
            if inertia > 0.0:
                self.armature[joint] = inertia

    def frame(
        self, name: str, parent: str, at: ArrayLike, rotation: Array | None = None,
    ) -> None:
        """Add a massless frame fixed to `parent`, `at` (3,) m at home, base axes."""
        turned = self.links[parent].rotation if rotation is None else rotation
        self._add(name, np.asarray(at, dtype=float), turned, Shape(None, ()))
        self._connect(f'{name}_fixed', 'fixed', parent, name)

    def close(
        self, name: str, kind: str, first: tuple[str, str], second: tuple[str, str],
        at: ArrayLike, rotation: Array | None = None,
    ) -> None:
        """
        Cut joint between two bodies: adds a frame on each, both at the same place at home.

        Parameters
        ----------
        name, kind : of the closure ('ball', 'weld', 'revolute', 'cylindrical', 'plane').
        first, second : (frame, link) on the leg and on the platform (or on the leg again).
        at : (3,) m, where the frames meet at home, base axes.
        rotation : (3, 3) of both frames, base <- frame; each link's own when left out.
        """
        for frame_name, link in (first, second):
            self.frame(frame_name, link, at, rotation)
        self.closures.append(Closure(name, kind, (first[0], second[0])))

    def platform(
        self, at: ArrayLike, *shapes: Shape, coordinates: tuple[str, ...] = SPATIAL,
        independent: tuple[str, ...] = (),
    ) -> None:
        """
        Add the platform on its chain of virtual joints, whose first origin carries the home point.

        Parameters
        ----------
        at : (3,) m, origin of the platform frame at home, base axes; its axes are the base's.
        shapes : the platform body at home, base axes.
        coordinates : virtual joints in chain order, out of x, y, z, yaw, pitch, roll.
        independent : those that are free when the robot has fewer freedoms than coordinates.
        """
        parent, home = BASE, np.asarray(at, dtype=float)
        for coordinate in coordinates:
            last = coordinate == coordinates[-1]
            child = PLATFORM if last else f'platform_{coordinate}_link'
            self._add(child, home, np.eye(3), together(*shapes) if last else Shape(None, ()))
            slides = coordinate in TRANSLATIONAL
            reach = 10.0 if slides else round(2.0 * np.pi, 6)
            self._connect(
                f'platform_{coordinate}', 'prismatic' if slides else 'revolute', parent, child,
                CHAIN_AXES[coordinate], Limits(-reach, reach, speed=100.0))
            parent = child
        self.independent = [f'platform_{coordinate}' for coordinate in independent]

    def _add(self, name: str, point: Array, rotation: Array, shape: Shape) -> None:
        inertia = shape.inertia
        if inertia is not None:
            inertia = self.vary.inertia(inertia.seen_from(point, rotation))
        self.links[name] = Link(name, point, rotation, inertia, shape.visuals)

    def _connect(
        self, name: str, kind: str, parent: str, child: str, axis: Array | None = None,
        limits: Limits | None = None, damping: float = 0.0, friction: float = 0.0,
    ) -> None:
        above, below = self.links[parent], self.links[child]
        self.joints.append(Joint(
            name, kind, parent, child, times(above.rotation.T, below.point - above.point),
            times(above.rotation.T, below.rotation), axis, limits, damping, friction))
