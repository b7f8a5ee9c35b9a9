"""A parallel robot as frozen data: bodies, joints, closures, legs, platform chain, actuators.

The model is what the description files say, with fixed links merged into the body that carries
them. Algorithms read it and never change it. Body 0 is the base, body 1 the platform, and joint
``j`` moves body ``j + 2``; joints stand in URDF order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from parallel_dynamics.spatial import Array, parallel_axis

BASE = 0
PLATFORM = 1
FIRST_LEG_BODY = 2

CLOSURE_EQUATIONS = {'ball': 3, 'weld': 6, 'revolute': 5, 'cylindrical': 4, 'plane': 1}
"""Equations that each closure type adds."""


def frozen(values: object, shape: tuple[int, ...]) -> Array:
    """Return a read-only float array of this shape."""
    array = np.array(values, dtype=float).reshape(shape)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass (kg), centre of mass (3,) in m and tensor (3, 3) about it in kg m^2, body axes."""

    mass: float = 0.0
    com: Array = field(default_factory=lambda: frozen(0.0 * np.ones(3), (3,)))
    tensor: Array = field(default_factory=lambda: frozen(np.zeros((3, 3)), (3, 3)))

    def about_origin(self) -> Array:
        """Tensor (3, 3) about the body's origin."""
        return parallel_axis(self.mass, self.com, self.tensor)

    def moved(self, rotation: Array, position: Array) -> Inertia:
        """Return the same inertia seen from a frame in which this one sits at the pose given."""
        return Inertia(
            self.mass,
            frozen(rotation @ self.com + position, (3,)),
            frozen(rotation @ self.tensor @ rotation.T, (3, 3)),
        )

    def __add__(self, other: Inertia) -> Inertia:
        mass = self.mass + other.mass
        if mass == 0.0:
            return Inertia(0.0, self.com, frozen(self.tensor + other.tensor, (3, 3)))
        com = (self.mass * self.com + other.mass * other.com) / mass
        tensor = parallel_axis(self.mass, self.com - com, self.tensor) + parallel_axis(
            other.mass, other.com - com, other.tensor
        )
        return Inertia(mass, frozen(com, (3,)), frozen(tensor, (3, 3)))


@dataclass(frozen=True, eq=False)
class Frame:
    """A URDF link seen as a frame fixed to a body.

    ``rotation`` (3, 3) is body <- link, ``position`` (3,) the link's origin in the body frame.
    """

    name: str
    body: int
    rotation: Array
    position: Array


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body: a URDF link with what is fixed to it; its frame is that link's frame."""

    name: str
    inertia: Inertia
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mimic:
    """``q = multiplier * q[joint] + offset``; ``joint`` is an index that is itself no mimic."""

    joint: int
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Joint:
    """A movable joint. It moves body ``index + 2``, whose frame is the joint's frame at zero."""

    name: str
    kind: str  # 'revolute' or 'prismatic'
    parent: int  # body
    rotation: Array  # (3, 3) parent body <- joint frame at zero
    position: Array  # (3,) joint's origin in the parent body's frame, m
    axis: Array  # (3,) unit vector in the joint frame
    lower: float = -np.inf
    upper: float = np.inf
    velocity_limit: float = np.inf
    effort_limit: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    mimic: Mimic | None = None


@dataclass(frozen=True, eq=False)
class Closure:
    """A cut joint between two frames; ``kind`` is a key of ``CLOSURE_EQUATIONS``."""

    name: str
    kind: str
    first: Frame
    second: Frame


@dataclass(frozen=True)
class Leg:
    """A connected component of what is left when base and platform are taken out."""

    joints: tuple[int, ...]
    closures: tuple[int, ...]

    def label(self, model: RobotModel) -> str:
        """Name a leg by its joints, for messages."""
        names = [model.joints[j].name for j in self.joints]
        return f'leg [{", ".join(names)}]' if names else 'closures between base and platform'


@dataclass(frozen=True, eq=False)
class VirtualJoint:
    """One joint of the massless chain that carries the platform in the URDF."""

    name: str
    kind: str  # 'revolute' or 'prismatic'
    rotation: Array  # (3, 3) previous frame <- joint frame at zero
    position: Array  # (3,)
    axis: Array  # (3,) unit vector in the joint frame


@dataclass(frozen=True, eq=False)
class RobotModel:
    """All that is known about a robot.

    ``platform_rotation`` and ``platform_position`` place the platform frame in the last frame of
    the chain.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    closures: tuple[Closure, ...]
    legs: tuple[Leg, ...]
    chain: tuple[VirtualJoint, ...]
    platform_rotation: Array
    platform_position: Array
    actuators: tuple[int, ...]
    gravity: Array
    independent: tuple[str, ...] | None = None
    frames: tuple[Frame, ...] = ()
    source: str | None = None
    path: Path | None = None
    urdf_path: Path | None = None

    @property
    def joint_names(self) -> list[str]:
        """Names of the movable joints but the virtual ones, in URDF order."""
        return [joint.name for joint in self.joints]

    @property
    def closure_names(self) -> list[str]:
        """Names of the closures, in file order."""
        return [closure.name for closure in self.closures]

    @property
    def actuator_names(self) -> list[str]:
        """Names of the actuated joints, in the order of every effort vector."""
        return [self.joints[j].name for j in self.actuators]

    def with_bodies(self, inertias: dict[int, Inertia]) -> RobotModel:
        """Return a copy in which some bodies have another inertia."""
        bodies = tuple(
            replace(body, inertia=inertias.get(b, body.inertia))
            for b, body in enumerate(self.bodies)
        )
        return replace(self, bodies=bodies)
