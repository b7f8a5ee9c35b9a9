"""Exciting trajectories: periodic motions that show every base parameter as well as possible.

The criterion is the condition number of the base regressor over one period, of the columns that
motions can tell apart, each scaled by what its parameter is expected to be, so that all come out
with the same relative accuracy; the limits are those of joints, drives and workspace, and a
distance from singularities. Each candidate is first made as large as the limits allow, then
judged; the search keeps the best and varies it at random, with steps that grow after a success
and shrink after a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from parallel_dynamics.errors import InputError, LimitError, ParallelDynamicsError
from parallel_dynamics.identification.base_parameters import (
    BaseParameters,
    find_base_parameters,
    telling_parameters,
)
from parallel_dynamics.identification.fourier import fourier_motion
from parallel_dynamics.identification.motions import coordinate_ranges
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array
from parallel_dynamics.trajectories import Trajectory, check_trajectory, require

SAMPLES_PER_HARMONIC = 12
"""Samples of a period for each of its harmonics, while searching."""
TRIALS = 5
"""Random motions from which period and the parameters that matter are told."""
PERIODS = (1.0, 2.0, 4.0, 8.0)
"""s, among which a period is chosen."""
FINISHED_RATE = 250.0
"""Hz, at which the whole motion is held against the platform's limits."""
CONDITION_POSES = 8
"""Poses of a period whose distance from singularities is looked at, while searching."""

Progress = Callable[[int, int, float], None]
"""Called with evaluations done, evaluations in all, and the best condition number."""


@dataclass(frozen=True)
class ExcitationLimits:
    """What an exciting motion may use.

    Attributes
    ----------
    margin : float
        Share of the joints' position, velocity and effort limits.
    condition : float
        Largest ratio of a Jacobian's condition number to that at home.
    acceleration, angular_acceleration : float
        Of the platform, m/s^2 and rad/s^2.
    velocity, angular_velocity : float
        Of the platform, m/s and rad/s.
    """

    margin: float = 0.8
    condition: float = 10.0
    acceleration: float = np.inf
    angular_acceleration: float = np.inf
    velocity: float = np.inf
    angular_velocity: float = np.inf


@dataclass(frozen=True, eq=False)
class Excitation:
    """An exciting motion, as good as the search found it.

    Attributes
    ----------
    trajectory : Trajectory
        From rest to rest, ``periods`` periods between lead-in and lead-out.
    relevant : tuple of int
        Base parameters that the criterion looks at (``telling_parameters``).
    condition : float
        Condition number of their scaled columns: the criterion.
    raw_condition : float
        The same in SI units without scaling.
    history : (evaluations,)
        Best criterion after each evaluation.
    """

    trajectory: Trajectory
    base: BaseParameters
    sines: Array
    cosines: Array
    period: float
    relevant: tuple[int, ...]
    condition: float
    raw_condition: float
    history: Array


def regressor_condition(stacked: Array) -> float:
    """Return the condition number of stacked rows (rows, b), up to about 1e7."""
    squares = np.linalg.eigvalsh(stacked.T @ stacked)
    floor = 1e-15 * squares[-1]
    return float(np.sqrt(squares[-1] / max(squares[0], floor)))


class _Search:
    """One search: what stays the same from candidate to candidate."""

    def __init__(
        self, robot: Robot, base: BaseParameters, period: float, harmonics: int,
        limits: ExcitationLimits, ranges: Array,
    ) -> None:  # fmt: skip
        self.robot, self.base, self.limits = robot, base, limits
        self.period, self.harmonics = period, harmonics
        self.reach = np.abs(ranges).min(axis=1)
        self.reach = np.maximum(self.reach, 0.2 * np.abs(ranges).max(axis=1))
        count = max(24, SAMPLES_PER_HARMONIC * harmonics)
        # Over one period without lead-in; the last sample would repeat the first.
        self.times = period * np.arange(count) / count
        self.joints = robot.model.joints
        self.actuators = list(robot.model.actuators)
        self.home_condition = np.array(self._conditions(robot.home))
        self.chosen = list(range(len(base)))
        self.scale = np.ones(len(base))

    def look_at(self, motions: list[PlatformMotion]) -> None:
        """Choose the parameters that matter over some motions that the robot can do."""
        psi = np.concatenate([self.robot.regressor(m) for m in motions])
        self.chosen, self.scale = telling_parameters(self.base, self.robot, psi)

    def motion(self, x: Array) -> PlatformMotion:
        s, c = self.coefficients(x)
        return fourier_motion(self.robot, s, c, self.period, 1.0, 0.0).sample(self.times)

    def coefficients(self, x: Array) -> tuple[Array, Array]:
        s, c = x.reshape(2, self.robot.dof, self.harmonics) * self.reach[:, None]
        return s, c

    def use(self, m: PlatformMotion) -> float:
        """Return the largest share of any limit that a motion uses."""
        robot, limits = self.robot, self.limits
        joints = robot.inverse_kinematics(m)
        efforts = robot.inverse_dynamics(m)
        worst = 0.0
        for k, joint in enumerate(self.joints):
            if joint.mimic is None:
                middle = 0.5 * (joint.upper + joint.lower)
                half = 0.5 * (joint.upper - joint.lower)
                if np.isfinite(half) and half > 0.0:
                    worst = max(worst, np.abs(joints.position[:, k] - middle).max() / half)
                worst = max(worst, np.abs(joints.velocity[:, k]).max() / joint.velocity_limit)
        for a, k in enumerate(self.actuators):
            worst = max(worst, np.abs(efforts[:, a]).max() / self.joints[k].effort_limit)
        worst = max(worst / limits.margin, self.platform_use(m))
        for k in np.linspace(0, len(m), CONDITION_POSES, endpoint=False).astype(int):
            ratio = np.array(self._conditions(m[int(k)])) / self.home_condition
            # Not proportional to the size of the motion; 1 at home, above 1 when refused.
            worst = max(worst, float(ratio.max()) / limits.condition)
        return float(worst)

    def platform_use(self, m: PlatformMotion) -> float:
        """Return the largest share of the platform's own limits that a motion uses."""
        limits = self.limits
        shares = [
            float(np.linalg.norm(values, axis=1).max()) / limit
            for values, limit in (
                (m.velocity, limits.velocity),
                (m.angular_velocity, limits.angular_velocity),
                (m.acceleration, limits.acceleration),
                (m.angular_acceleration, limits.angular_acceleration),
            )
        ]
        return max(shares)

    def _conditions(self, pose: PlatformMotion) -> tuple[float, float, float]:
        j = self.robot.jacobians(pose)
        return j.leg_condition, j.actuation_condition, j.constraint_condition

    def fit(self, x: Array) -> tuple[Array, PlatformMotion] | None:
        """Scale a candidate to the limits; None if not even a small one fits."""
        for _ in range(8):
            try:
                m = self.motion(x)
                used = self.use(m)
            except ParallelDynamicsError:
                x = 0.6 * x
                continue
            if used <= 1.0 and (used > 0.9 or np.abs(x).max() > 2.0):
                return x, m
            x = x * float(np.clip(0.95 / used, 0.4, 1.6))
        try:
            m = self.motion(x)
            return (x, m) if self.use(m) <= 1.0 else None
        except ParallelDynamicsError:
            return None

    def stacked(self, m: PlatformMotion) -> Array:
        rows = self.base.regressor(self.robot.regressor(m))[..., self.chosen]
        return rows.reshape(-1, len(self.chosen))

    def judge(self, fitted: tuple[Array, PlatformMotion] | None) -> float:
        """Return the criterion of a motion that fits the limits."""
        if fitted is None:
            return np.inf
        return regressor_condition(self.stacked(fitted[1]) * self.scale)


def optimise_excitation(
    robot: Robot,
    base: BaseParameters | None = None,
    *,
    period: float | None = None,
    harmonics: int = 5,
    periods: float = 2.0,
    limits: ExcitationLimits | None = None,
    budget: int = 300,
    seed: int = 0,
    progress: Progress | None = None,
) -> Excitation:
    """Search a periodic motion that excites the base parameters within all limits.

    Parameters
    ----------
    period : float, s
        The best of ``PERIODS`` by a few trials if not given.
    harmonics : int
        Sines and cosines of each free coordinate.
    periods : float
        Repetitions between lead-in and lead-out.
    budget : int
        Motions to judge.
    progress : callable, optional
        Called after each judgement.

    Raises
    ------
    LimitError
        If no motion within the limits was found.
    """
    if harmonics < 1 or budget < 1 or not (period is None or period > 0.0):
        raise InputError(
            'excitation: expected a positive period and at least one harmonic and one '
            f'evaluation, got period {period}, harmonics {harmonics}, budget {budget}'
        )
    chosen = find_base_parameters(robot) if base is None else base
    rng = np.random.default_rng(seed)
    size = 2 * robot.dof * harmonics
    fall = np.tile(1.0 / np.arange(1, harmonics + 1), 2 * robot.dof)
    starts = 0.5 * rng.normal(size=(TRIALS, size)) * fall
    ranges = coordinate_ranges(robot)
    searches = [
        _Search(robot, chosen, T, harmonics, limits or ExcitationLimits(), ranges)
        for T in (PERIODS if period is None else (period,))
    ]
    search, trials = _best_search(searches, starts)
    best, x, step = np.inf, np.zeros(size), 0.5
    history = np.zeros(budget)
    for k in range(budget):
        fresh = k < max(TRIALS, budget // 5)
        change = rng.normal(size=size) * fall
        y = 0.5 * change if fresh else x + step * np.abs(x).max() * change
        trial = trials[k] if k < TRIALS else search.fit(y)
        cost = search.judge(trial)
        if not fresh:
            # One success in five keeps the step (rechenberg_1973).
            step = float(np.clip(step * (1.5 if cost < best else 0.9), 0.02, 1.0))
        if trial is not None and cost < best:
            best, x = cost, trial[0]
        history[k] = best
        if progress is not None:
            progress(k + 1, budget, best)
    return _finished(search, x, best, periods, history)


def _best_search(
    searches: list[_Search], starts: Array
) -> tuple[_Search, list[tuple[Array, PlatformMotion] | None]]:
    """Return the search whose period does best on some random motions, and those motions."""
    tried = [[search.fit(x) for x in starts] for search in searches]
    motions = [trial[1] for trials in tried for trial in trials if trial is not None]
    if not motions:
        robot, why = searches[0].robot, f'no motion of period {searches[-1].period:g} s stays'
        choose = 'a longer period or wider limits'
        standing = searches[0].use(PlatformMotion._wrap(robot.home.data[None]))
        if standing > 1.0:
            why = f'standing at home takes {standing:.3g} times what is allowed, so nothing stays'
            choose = 'wider limits'
        raise LimitError(f'{robot.name}: {why} within the limits; choose {choose}')
    costs = []
    for search, trials in zip(searches, tried):
        search.look_at(motions)
        costs.append(np.median([search.judge(trial) for trial in trials]))
    k = int(np.argmin(costs))
    return searches[k], tried[k]


def _finished(
    search: _Search, x: Array, best: float, periods: float, history: Array
) -> Excitation:
    """Lead the motion in and out, shrinking it a little where that breaks a limit."""
    limits = search.limits
    for _ in range(6):
        sines, cosines = search.coefficients(x)
        trajectory = fourier_motion(search.robot, sines, cosines, search.period, periods)
        check = check_trajectory(
            search.robot, trajectory, rate=60.0, margin=min(1.0, 1.1 * limits.margin),
            condition_limit=2.0 * limits.condition,
        )  # fmt: skip
        if not check.ok:
            x = 0.9 * x
            continue
        # Leading in adds to velocity and acceleration; nothing else knows the platform's limits.
        used = search.platform_use(trajectory.sample(trajectory.grid(FINISHED_RATE)))
        if used <= 1.0:
            break
        x = min(0.9, 0.98 / used) * x
    else:
        require(check, 'exciting motion')
        raise LimitError(
            f'{search.robot.name}: expected a motion within the limits of the platform, found '
            f'none that also leads in and out; choose a longer period'
        )
    stacked = search.stacked(search.motion(x))
    return Excitation(
        trajectory, search.base, sines, cosines, search.period, tuple(search.chosen),
        regressor_condition(stacked * search.scale), regressor_condition(stacked), history,
    )  # fmt: skip
