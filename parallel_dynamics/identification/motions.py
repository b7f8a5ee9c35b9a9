"""Where a robot can go: ranges of its free coordinates, and random motions inside them."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.errors import ParallelDynamicsError
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array
from parallel_dynamics.trajectories import displaced

LARGEST_TURN = 0.6
"""rad from home beyond which no rotation is looked for."""
FREQUENCY = 1.0
"""Hz: random rates are those of a sine of this frequency with the size of the workspace."""


def reaches(robot: Robot, shift: Array) -> bool:
    """Return whether the robot can stand at home displaced by (6,) within its joint limits."""
    try:
        pose = robot.project(displaced(robot.home, shift))
        joints = robot.inverse_kinematics(pose)
    except ParallelDynamicsError:
        return False
    return not robot.limit_violations(joints)


def coordinate_ranges(robot: Robot) -> Array:
    """Return how far (n, 2) each independent twist component can go from home, down and up.

    One at a time, within joint limits, m or rad; found by bisection.
    """
    size = float(np.linalg.norm(robot.home.position)) or 1.0
    ranges = np.zeros((robot.dof, 2))
    for i, component in enumerate(robot.engine.independent):
        largest = size if component < 3 else LARGEST_TURN
        for side, sign in enumerate((-1.0, 1.0)):
            shift = np.zeros(6)
            low, high = 0.0, largest
            for _ in range(8):
                middle = 0.5 * (low + high)
                shift[component] = sign * middle
                low, high = (middle, high) if reaches(robot, shift) else (low, middle)
            ranges[i, side] = sign * low
    return ranges


def random_motions(
    robot: Robot, count: int, seed: int = 0, share: float = 0.6, ranges: Array | None = None
) -> PlatformMotion:
    """Return allowed random motions (a batch of ``count``) around home.

    Poses are drawn from ``share`` of the ranges of :func:`coordinate_ranges`; rates are those of
    a motion of that size at ``FREQUENCY``. All are reached from home, not only from each other.
    """
    rng = np.random.default_rng(seed)
    limits = share * (coordinate_ranges(robot) if ranges is None else ranges)
    columns = list(robot.engine.independent)
    omega = 2.0 * np.pi * FREQUENCY
    reach = np.abs(limits).max(axis=1)
    rows: list[Array] = []
    for attempt in range(20 * count):
        if len(rows) == count:
            rows = _reached_from_home(robot, rows)
            if len(rows) == count:
                break
        shrink = 1.0 if attempt < 2 * count else 0.5
        shift, twist, rate = np.zeros((3, 6))
        shift[columns] = shrink * rng.uniform(limits[:, 0], limits[:, 1])
        twist[columns] = rng.normal(size=robot.dof) * reach * omega
        rate[columns] = rng.normal(size=robot.dof) * reach * omega**2
        try:
            m = robot.project(displaced(robot.home, shift).replace(twist, rate))
        except ParallelDynamicsError:
            continue
        rows.append(m.data)
    else:
        rows = _reached_from_home(robot, rows)
    if len(rows) < count:
        raise ParallelDynamicsError(
            f'{robot.name}: expected {count} random poses around home, found only {len(rows)}; '
            'its workspace around home is too small or full of singularities'
        )
    return PlatformMotion._wrap(np.array(rows))  # type: ignore[no-any-return]


def _reached_from_home(robot: Robot, rows: list[Array]) -> list[Array]:
    """Return the packed motions that the robot can do, asked for as a batch.

    One by one, a pose that cannot be reached from home may be reached from the one before it.
    """
    if not rows:
        return rows
    efforts = robot.inverse_dynamics(PlatformMotion._wrap(np.array(rows)), invalid='nan')
    return [row for row, tau in zip(rows, efforts) if np.isfinite(tau).all()]
