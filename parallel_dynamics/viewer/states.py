"""Everything that the page shows of one motion, evaluated in one place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.forces.poses import body_poses
from parallel_dynamics.jacobians import Jacobians
from parallel_dynamics.joint_forces import JointForces
from parallel_dynamics.model import FIRST_LEG_BODY
from parallel_dynamics.motion import BaseMotion, JointMotion, PlatformMotion
from parallel_dynamics.robot import LimitViolation, Robot
from parallel_dynamics.spatial import Array


@dataclass(frozen=True, eq=False)
class Shown:
    """A robot in one motion.

    Attributes
    ----------
    motion : PlatformMotion
    joints : JointMotion
    efforts : (n,)
        N or N m.
    forces : JointForces
    jacobians : Jacobians
    violations : list of LimitViolation
    rotations, origins : (bodies, 3, 3), (bodies, 3)
        Base <- body, and the bodies' origins in the base frame, m.
    """

    motion: PlatformMotion
    joints: JointMotion
    efforts: Array
    forces: JointForces
    jacobians: Jacobians
    violations: list[LimitViolation]
    rotations: Array
    origins: Array

    @property
    def margin(self) -> float:
        """Inverse of the worst condition number: 1 at best, 0 at a singularity."""
        return 1.0 / self.jacobians.condition


def evaluate(
    robot: Robot,
    motion: PlatformMotion,
    wrench: ArrayLike | None = None,
    base: BaseMotion | None = None,
    efforts: Array | None = None,
) -> Shown:
    """Evaluate a robot in one motion; ``efforts`` (n,) are measured ones, if there are any.

    Raises
    ------
    ParallelDynamicsError
        Where the pose cannot be assembled, is singular, or the motion is not allowed.
    """
    joints = robot.inverse_kinematics(motion)
    forces = robot.joint_forces(motion, wrench, base)
    applied = forces.efforts if efforts is None else efforts
    rotations, origins = body_poses(robot, motion)
    return Shown(
        motion, joints, applied, forces, robot.jacobians(motion),
        robot.limit_violations(joints, applied), rotations[0], origins[0],
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Arrows:
    """Where vectors act and what they are (k, 3), base frame; N or N m."""

    names: tuple[str, ...]
    points: Array
    vectors: Array


def effort_arrows(robot: Robot, shown: Shown, kind: str) -> Arrows:
    """Return the efforts of the prismatic or revolute drives, along or about their axes."""
    names, points, vectors = [], [], []
    for effort, j in zip(shown.efforts, robot.model.actuators):
        joint = robot.model.joints[j]
        if joint.kind == kind:
            body = j + FIRST_LEG_BODY
            names.append(joint.name)
            points.append(shown.origins[body])
            vectors.append(effort * (shown.rotations[body] @ joint.axis))
    return _arrows(names, points, vectors)


def force_arrows(robot: Robot, shown: Shown, part: slice) -> Arrows:
    """Return the forces, ``slice(0, 3)``, or moments of all joints and closures, base axes."""
    wrench = shown.forces.wrench
    names: list[str] = []
    points, vectors = [], []
    for j, joint in enumerate(robot.model.joints):
        body = j + FIRST_LEG_BODY
        names.append(joint.name)
        points.append(shown.origins[body])
        vectors.append(shown.rotations[body] @ wrench[joint.name][part])
    for closure in robot.model.closures:
        first, second = closure.first, closure.second
        turn = shown.rotations[second.body] @ second.rotation
        names.append(closure.name)
        points.append(shown.origins[first.body] + shown.rotations[first.body] @ first.position)
        vectors.append(turn @ wrench[closure.name][part])
    return _arrows(names, points, vectors)


def _arrows(names: list[str], points: list[Array], vectors: list[Array]) -> Arrows:
    shape = (len(names), 3)
    return Arrows(
        tuple(names), np.array(points).reshape(shape), np.array(vectors).reshape(shape)
    )
