"""The way from where the platform is to where a motion starts."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.trajectories.limits import check_trajectory, require
from parallel_dynamics.trajectories.moves import move
from parallel_dynamics.trajectories.trajectory import Trajectory, on_closures

SHORTEST = 0.3
"""Seconds that a way takes at least."""
NEAR = 1e-4
"""m or rad: nearer than this, no way is needed."""


def approach(
    robot: Robot, start: PlatformMotion, goal: PlatformMotion, speed: float = 0.3
) -> Trajectory | None:
    """Return a quintic move between two poses, checked; None if they are the same.

    Parameters
    ----------
    start, goal : PlatformMotion
        Only the poses count; ``goal`` is taken at rest.
    speed : float
        Share of the actuators' velocity limits that is used at most. The move is made slower
        still where other limits ask for it.
    """
    if np.abs(start.data[:12] - goal.data[:12]).max() < NEAR:
        return None
    actuators = list(robot.model.actuators)
    rest = [robot.project(PlatformMotion(pose.position, pose.rotation)) for pose in (start, goal)]
    q = [robot.inverse_kinematics(pose).position[actuators] for pose in rest]
    top = np.array([robot.model.joints[a].velocity_limit for a in actuators])
    duration = max(SHORTEST, float((1.875 * np.abs(q[1] - q[0]) / (speed * top)).max()))
    for _ in range(6):
        way = on_closures(robot, move(rest[0], rest[1], duration))
        verdict = check_trajectory(robot, way)
        if verdict.ok:
            break
        duration *= 2.0
    require(verdict, 'the way to the start')
    return way
