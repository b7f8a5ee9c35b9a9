"""A robot as it stands at home, in base axes: where the papers' parameters are read from.

The papers name points, axes and bodies; a description names links and joints. This module places
every body, joint and frame of a model at its home pose, so that a paper's extraction function
can say "the tensor of this body about that point, in those axes".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.model import BASE, FIRST_LEG_BODY, PLATFORM, Frame, RobotModel
from parallel_dynamics.spatial import Array, parallel_axis


@dataclass(frozen=True)
class BodyParameters:
    """Mass, first moment (3,) and tensor (3, 3) about a point, in the axes asked for."""

    mass: float
    moment: Array
    tensor: Array

    @property
    def com(self) -> Array:
        """Centre of mass (3,) from the point, m; zero for a massless body."""
        return self.moment / self.mass if self.mass else np.zeros(3)


class HomeLayout:
    """Poses of all bodies, joints and frames of ``model`` with every joint at zero."""

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        rotations = {BASE: np.eye(3)}
        origins = {BASE: np.zeros(3)}
        rotation, origin = np.eye(3), np.zeros(3)
        for virtual in model.chain:
            origin = origin + rotation @ virtual.position
            rotation = rotation @ virtual.rotation
        rotations[PLATFORM] = rotation @ model.platform_rotation
        origins[PLATFORM] = origin + rotation @ model.platform_position
        waiting = list(range(len(model.joints)))
        while waiting:
            ready = [j for j in waiting if model.joints[j].parent in rotations]
            for j in ready:
                joint = model.joints[j]
                parent = joint.parent
                body = j + FIRST_LEG_BODY
                origins[body] = origins[parent] + rotations[parent] @ joint.position
                rotations[body] = rotations[parent] @ joint.rotation
            waiting = [j for j in waiting if j not in ready]
        self.rotations = rotations
        self.origins = origins

    def joint_axis(self, joint: int) -> Array:
        """Return the joint's axis (3,) at home in base axes."""
        return np.asarray(self.rotations[joint + FIRST_LEG_BODY] @ self.model.joints[joint].axis)

    def joint_origin(self, joint: int) -> Array:
        """Return the joint's origin (3,) at home in the base frame, m."""
        return self.origins[joint + FIRST_LEG_BODY]

    def frame(self, frame: Frame) -> tuple[Array, Array]:
        """Return rotation (3, 3) and origin (3,) of a frame at home in the base frame."""
        rotation = self.rotations[frame.body]
        return rotation @ frame.rotation, self.origins[frame.body] + rotation @ frame.position

    def chain(self, body: int) -> list[int]:
        """Return the joints from the base to ``body``, first joint first."""
        joints: list[int] = []
        while body >= FIRST_LEG_BODY:
            joints.insert(0, body - FIRST_LEG_BODY)
            body = self.model.joints[body - FIRST_LEG_BODY].parent
        return joints

    def children(self, body: int) -> list[int]:
        """Return the joints that ``body`` carries, in URDF order."""
        return [j for j, joint in enumerate(self.model.joints) if joint.parent == body]

    def body(self, body: int, rotation: Array, point: Array) -> BodyParameters:
        """Return a body's inertial parameters about a point and in axes given at home.

        Parameters
        ----------
        body : int
        rotation : (3, 3)
            Base <- the axes asked for, at home.
        point : (3,), m
            Reference point at home, base frame.
        """
        inertia = self.model.bodies[body].inertia
        own = self.rotations[body]
        com = rotation.T @ (self.origins[body] + own @ inertia.com - point)
        turn = rotation.T @ own
        tensor = parallel_axis(inertia.mass, com, turn @ inertia.tensor @ turn.T)
        return BodyParameters(inertia.mass, inertia.mass * com, tensor)
