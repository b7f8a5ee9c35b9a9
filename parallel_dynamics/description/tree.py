"""What a URDF file says, as plain data: links with inertia, joints with their frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.model import Inertia
from parallel_dynamics.spatial import Array


@dataclass(frozen=True, eq=False)
class LinkData:
    """A link; the inertia is in the link's frame."""

    name: str
    inertia: Inertia
    element: str


@dataclass(frozen=True)
class MimicData:
    """A mimic relation as written."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class JointData:
    """A joint; ``rotation`` (3, 3) and ``position`` (3,) place the child in the parent link.

    One that could not be read stands in with ``readable`` false, so that its fault does not
    bring others with it.
    """

    name: str
    kind: str
    parent: str
    child: str
    rotation: Array
    position: Array
    axis: Array
    element: str
    lower: float = -np.inf
    upper: float = np.inf
    velocity_limit: float = np.inf
    effort_limit: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    mimic: MimicData | None = None
    readable: bool = True

    @property
    def movable(self) -> bool:
        """Whether the joint is not fixed."""
        return self.kind != 'fixed'


@dataclass
class Tree:
    """Links and joints of a URDF by name, in file order."""

    path: Path
    links: dict[str, LinkData] = field(default_factory=dict)
    joints: dict[str, JointData] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)  # joints of which not even a stand-in remains

    def parent_joints(self) -> dict[str, JointData]:
        """Return the joint above each link that has one."""
        return {joint.child: joint for joint in self.joints.values()}

    def child_joints(self) -> dict[str, list[JointData]]:
        """Return the joints below each link, in file order."""
        below: dict[str, list[JointData]] = {name: [] for name in self.links}
        for joint in self.joints.values():
            below.setdefault(joint.parent, []).append(joint)
        return below


def rotation_of(rpy: Array | list[float]) -> Array:
    """Return the rotation (3, 3) of URDF's roll, pitch, yaw about fixed axes."""
    return np.asarray(Rotation.from_euler('xyz', np.asarray(rpy, float)).as_matrix())


def rpy_of(rotation: Array) -> Array:
    """Return roll, pitch, yaw of a rotation (3, 3), to full precision at any pitch.

    Near a pitch of 90 degrees yaw is ill-defined; the roll is what the chosen yaw leaves of the
    rotation, so that the three together are right.
    """
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    pitch = np.arctan2(-rotation[2, 0], np.hypot(rotation[0, 0], rotation[1, 0]))
    left = rotation_of([0.0, float(pitch), float(yaw)]).T @ rotation
    roll = np.arctan2(left[2, 1], left[1, 1])
    return np.array([roll, pitch, yaw])
