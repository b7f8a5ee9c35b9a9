"""Whether a robot can follow a trajectory, looked at before the robot moves.

Reach, joint positions and velocities, actuator efforts and the distance from singularities are
checked over a time grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import LimitError, ParallelDynamicsError
from parallel_dynamics.motion import BaseMotion, PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array
from parallel_dynamics.trajectories.trajectory import Trajectory

RATE = 100.0
"""Hz, at which trajectories are looked at."""

FEWEST = 100
"""Times at which even a short trajectory is looked at."""

CONDITION_LIMIT = 20.0
"""How much worse than at home each condition number may become."""

_POSES_FOR_CONDITION = 40


@dataclass(frozen=True)
class Violation:
    """One thing that a robot cannot follow: when, what, and how much."""

    time: float
    what: str

    def __str__(self) -> str:
        return f'{self.what} at {self.time:.3f} s'


@dataclass(frozen=True, eq=False)
class TrajectoryCheck:
    """The verdict on a trajectory, with its peaks.

    ``effort`` and ``velocity`` (n,) are the largest of each actuator, ``condition`` the largest
    ratio of a condition number to that at home; NaN where the robot cannot go.
    """

    violations: tuple[Violation, ...]
    effort: Array
    velocity: Array
    condition: float

    @property
    def ok(self) -> bool:
        """Whether the robot can follow."""
        return not self.violations

    @property
    def reason(self) -> str:
        """Return what is wrong as one sentence, worst first; empty if nothing is."""
        shown = '; '.join(str(v) for v in self.violations[:3])
        more = len(self.violations) - 3
        return shown + (f'; and {more} more' if more > 0 else '')


def check_trajectory(
    robot: Robot,
    trajectory: Trajectory,
    *,
    rate: float = RATE,
    margin: float = 1.0,
    condition_limit: float = CONDITION_LIMIT,
    wrench: ArrayLike | None = None,
    base: BaseMotion | None = None,
) -> TrajectoryCheck:
    """Check a trajectory against everything that limits the robot.

    Parameters
    ----------
    margin : float
        Share of the effort and velocity limits that the trajectory may use.
    condition_limit : float
        Largest allowed ratio of a condition number to the one at home.
    wrench, base
        Expected load, as in ``Robot.inverse_dynamics``.
    """
    # However short it is: between two looks nothing may hide.
    times = trajectory.grid(max(rate, FEWEST / trajectory.duration))
    try:
        motion = trajectory.sample(times)
    except ParallelDynamicsError:
        return _off_the_closures(robot, trajectory, times)
    return check_motion(
        robot, times, motion, margin=margin, condition_limit=condition_limit,
        wrench=wrench, base=base,
    )  # fmt: skip


def _off_the_closures(robot: Robot, trajectory: Trajectory, times: Array) -> TrajectoryCheck:
    """Return the verdict on a trajectory that cannot be put on the closures everywhere."""
    nothing = np.full(robot.dof, np.nan)
    for time in times.tolist():
        try:
            trajectory.at(time)
        except ParallelDynamicsError as error:
            return TrajectoryCheck((Violation(time, str(error)),), nothing, nothing, np.inf)
    raise ParallelDynamicsError('a trajectory fails as a whole and nowhere; this is a bug')


def check_motion(
    robot: Robot,
    times: Array,
    motion: PlatformMotion,
    *,
    margin: float = 1.0,
    condition_limit: float = CONDITION_LIMIT,
    wrench: ArrayLike | None = None,
    base: BaseMotion | None = None,
) -> TrajectoryCheck:
    """Check a batch of motions at times (N,) as :func:`check_trajectory` does."""
    nothing = np.full(robot.dof, np.nan)
    efforts = robot.inverse_dynamics(motion, wrench, base, invalid='nan')
    lost = np.flatnonzero(np.isnan(efforts).any(axis=1))
    if len(lost):
        k = int(lost[0])
        try:
            robot.inverse_dynamics(motion[k], wrench, base)
            what = 'no solution'
        except ParallelDynamicsError as error:
            what = str(error)
        return TrajectoryCheck((Violation(float(times[k]), what),), nothing, nothing, np.inf)
    joints = robot.inverse_kinematics(motion)
    actuators = list(robot.model.actuators)
    found = []
    for k, joint in enumerate(robot.model.joints):
        unit = 'm' if joint.kind == 'prismatic' else 'rad'
        q, qd = joints.position[:, k], joints.velocity[:, k]
        found.append(_beyond(times, q, joint.lower, joint.upper, f'{joint.name} at', unit))
        limit = margin * joint.velocity_limit
        found.append(_beyond(times, qd, -limit, limit, f'{joint.name} moves at', f'{unit}/s'))
    for a, k in enumerate(actuators):
        joint = robot.model.joints[k]
        unit = 'N' if joint.kind == 'prismatic' else 'N m'
        limit = margin * joint.effort_limit
        found.append(_beyond(times, efforts[:, a], -limit, limit, f'{joint.name} needs', unit))
    ratio, worst = _worst_condition(robot, motion)
    if ratio > condition_limit:
        what = (
            f'near a singularity: condition number {ratio:.3g} times that at home (expected '
            f'below {condition_limit:g})'
        )
        found.append(Violation(float(times[worst]), what))
    return TrajectoryCheck(
        tuple(sorted((v for v in found if v is not None), key=lambda v: v.time)),
        np.abs(efforts).max(axis=0),
        np.abs(joints.velocity[:, actuators]).max(axis=0),
        ratio,
    )


def require(check: TrajectoryCheck, name: str = 'trajectory') -> None:
    """Raise LimitError with the reason unless the check passed."""
    if not check.ok:
        raise LimitError(
            f'{name}: the robot cannot follow: {check.reason}. Make it smaller, slower or nearer '
            'to home',
            violations=check.violations,
        )


def largest_size(
    robot: Robot,
    make: Callable[[float], Trajectory],
    *,
    margin: float = 0.7,
    condition_limit: float = CONDITION_LIMIT,
) -> float:
    """Return about the largest size up to 1 for which the robot can follow ``make(size)``.

    Sizes are halved until one fits and then refined twice, so that the answer is quick and
    within 20 % of the largest.
    """

    def check(size: float) -> TrajectoryCheck:
        return check_trajectory(robot, make(size), margin=margin, condition_limit=condition_limit)

    size = 1.0
    verdict = check(size)
    while not verdict.ok:
        size *= 0.5
        if size < 1e-3:
            require(verdict, 'even a thousandth of the motion')
        verdict = check(size)
    step = 0.5 * size
    for _ in range(2 if size < 1.0 else 0):
        if check(size + step).ok:
            size += step
        step *= 0.5
    return size


def conditions(robot: Robot, pose: PlatformMotion) -> Array:
    """Return the condition numbers (3,) of legs, actuation and constraints at a pose."""
    found = robot.jacobians(pose)
    return np.array([found.leg_condition, found.actuation_condition, found.constraint_condition])


@lru_cache(maxsize=8)
def _home_conditions(robot: Robot) -> Array:
    return conditions(robot, robot.home)


def _worst_condition(robot: Robot, motion: PlatformMotion) -> tuple[float, int]:
    """Return the largest ratio of a condition number to that at home, and where it is."""
    picked = np.unique(np.linspace(0, len(motion) - 1, _POSES_FOR_CONDITION).astype(int))
    home = _home_conditions(robot)
    ratios = [float((conditions(robot, motion[int(k)]) / home).max()) for k in picked]
    worst = int(np.argmax(ratios))
    return ratios[worst], int(picked[worst])


def _beyond(
    times: Array, values: Array, lower: float, upper: float, what: str, unit: str
) -> Violation | None:
    """Return where values leave their limits by the most, or None."""
    excess = np.maximum(values - upper, lower - values)
    k = int(np.argmax(excess))
    if not excess[k] > 1e-9:
        return None
    return Violation(
        float(times[k]), f'{what} {values[k]:.4g} {unit} (allowed {lower:.4g} to {upper:.4g})'
    )
