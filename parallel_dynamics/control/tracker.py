"""What the platform should do now, from trajectories and set-points that may come at any time.

The rules:

- A trajectory starts at its start time; without one, on arrival. One that began in the past is
  joined where it would be by now; one that has ended already is refused.
- The motion goes over into a new trajectory smoothly, from wherever it is: the difference fades
  over ``blend_time`` or, when it is large, over the time that half of the actuators' top speed
  needs. A trajectory that starts farther away than ``start_tolerance`` of an actuator's range is
  refused, and so is one that the robot cannot follow; what ran before goes on.
- A later trajectory replaces an earlier one, whether running or waiting for its start.
- A trajectory that ends while moving is brought to rest smoothly; then its last pose is held.
- A set-point replaces a trajectory. Set-points go through a third-order low-pass of
  ``stream_bandwidth``: without twists it lags by ``3 / (2 pi stream_bandwidth)`` seconds, with
  twists and accelerations it does not lag. When none comes for ``stream_timeout`` the motion is
  brought to rest; a stream that ends at rest is over, one that ends while moving is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from parallel_dynamics.control.supervisor import everywhere
from parallel_dynamics.control.transition import (
    ExponentialFade,
    PolynomialFade,
    Transition,
    coasting,
    offset_between,
    resting,
)
from parallel_dynamics.errors import LimitError, ParallelDynamicsError
from parallel_dynamics.motion import BaseMotion, PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array
from parallel_dynamics.trajectories.limits import (
    CONDITION_LIMIT,
    RATE,
    check_motion,
    check_trajectory,
)
from parallel_dynamics.trajectories.trajectory import OnClosures, Trajectory

LONGEST = 7200.0
"""Seconds that a trajectory may take; each hundredth of one is looked at, in memory."""
STILL = 1e-3
"""m/s or rad/s below which the platform is at rest."""


@dataclass
class TrackerSettings:
    """Numbers of the rules above; seconds, Hz, and shares of an actuator's range."""

    blend_time: float = 0.3
    start_tolerance: float = 0.2
    stop_time: float = 0.3
    stream_bandwidth: float = 10.0
    stream_timeout: float = 0.2
    condition_limit: float = CONDITION_LIMIT


class Activity(str, Enum):
    """What the tracker is doing."""

    HOLDING = 'holding'
    WAITING = 'waiting'
    FOLLOWING = 'following'
    STREAMING = 'streaming'


@dataclass(frozen=True, eq=False)
class Plan:
    """A trajectory that was found good, ready to be followed from its start (s) on."""

    trajectory: Trajectory
    start: float

    @property
    def end(self) -> float:
        """When it ends, s."""
        return self.start + self.trajectory.duration

    def motion(self, time: float) -> Array:
        """Return the packed motion (24,) at a time; the tracker puts it on the closures."""
        found = self.trajectory
        inner = found.trajectory if isinstance(found, OnClosures) else found
        return inner.at(time - self.start).data


class Tracker:
    """Turns trajectories and set-points into one smooth motion.

    Attributes
    ----------
    activity : Activity
    base : BaseMotion or None
        Motion of the base that trajectories are judged with.
    box : (2, 3)
        Where the platform's position must stay, m.
    revision : int
        Grows with every new order, so that others see that the motion to come has changed.
    lost_stream : bool
        Whether a stream of set-points has ended; for the reader to reset.
    """

    def __init__(self, robot: Robot, settings: TrackerSettings | None = None) -> None:
        self.robot = robot
        self.settings = TrackerSettings() if settings is None else settings
        self.activity = Activity.HOLDING
        self.base: BaseMotion | None = None
        self.box = everywhere()
        self.revision = 0
        self._motion = resting(robot.home.data)
        self._end = np.inf
        self._next: Plan | None = None
        self._plan: Plan | None = None
        self._set_point_time = -np.inf
        self.lost_stream = False
        joints = [robot.model.joints[a] for a in robot.model.actuators]
        self._actuators = list(robot.model.actuators)
        spans = np.array([joint.upper - joint.lower for joint in joints])
        self._range = np.where(np.isfinite(spans), spans, 2.0 * np.pi)
        self._speed = np.array([joint.velocity_limit for joint in joints])
        self._lower = np.array([joint.lower for joint in robot.model.joints])
        self._upper = np.array([joint.upper for joint in robot.model.joints])
        self._top = np.array([joint.velocity_limit for joint in robot.model.joints])

    # ---------------------------------------------------------------- where it is

    def at(self, now: float) -> PlatformMotion:
        """Return the desired motion at a time, on the closures; times must not go back."""
        if self._next is not None and now >= self._next.start:
            self._follow(self._next, self._next.start)
            self._next = None
        if now > self._end:
            self._finish()
        if self.activity is Activity.STREAMING:
            if now > self._set_point_time + self.settings.stream_timeout:
                row = self._motion(now)
                self.lost_stream = bool(np.abs(row[12:18]).max() > STILL)
                self._rest_from(row, now)
        return self._projected(self._motion(now))

    def row(self, time: float) -> Array:
        """Return the packed motion (24,) as it is known now, not put on the closures.

        May run in another thread than the loop.
        """
        return self._motion(time)

    @property
    def plan(self) -> Plan | None:
        """The trajectory that runs, or else waits."""
        return self._plan if self._plan is not None else self._next

    def preview(self, now: float, rate: float, most: float = 60.0) -> tuple[Array, PlatformMotion]:
        """Return times (N,) and motions to come as they are known now, at ``rate`` (Hz).

        They end with the trajectory, or with the braking. May run in another thread.
        """
        motion, end = self._motion, self._end
        if not np.isfinite(end):
            end = now + self.settings.stop_time
        span = min(max(end - now, 1.0 / rate), most)
        times = now + np.linspace(0.0, span, max(2, int(np.ceil(span * rate)) + 1))
        rows = np.array([motion(t) for t in times.tolist()])
        return times, self._projected(rows)

    # ---------------------------------------------------------------- orders

    def hold(self, state: PlatformMotion, now: float) -> None:
        """Come to rest from a motion (the measured one, say) and hold; forget all orders."""
        self._next = None
        self._rest_from(np.array(state.data), now)

    def stop(self, now: float) -> None:
        """Bring the desired motion to rest, and forget all orders."""
        self._next = None
        self._rest_from(self._motion(now), now)

    def judge(self, trajectory: Trajectory, start: float | None, now: float) -> Plan:
        """Return a plan for a trajectory, or raise an error that says why it is refused.

        Changes nothing, and may run in another thread than the loop.
        """
        plan = Plan(trajectory, now if start is None else start)
        if plan.end <= now:
            raise LimitError(
                f'trajectory: it ended {now - plan.end:.3f} s before it came; set the time in its '
                'header to zero (start on arrival) or to a time to come'
            )
        if trajectory.duration > LONGEST:
            raise LimitError(
                f'trajectory: expected at most {LONGEST:g} s, got {trajectory.duration:g} s; send '
                'it in parts'
            )
        verdict = check_trajectory(
            self.robot, trajectory, condition_limit=self.settings.condition_limit, base=self.base
        )
        if not verdict.ok:
            raise LimitError(f'trajectory: the robot cannot follow: {verdict.reason}')
        self._refuse_outside('trajectory', trajectory.sample(trajectory.grid(RATE)).data)
        self._judge_start(plan, now)
        return plan

    def accept(self, plan: Plan, now: float) -> None:
        """Follow a plan from its start on, or from now if that is past."""
        self.revision += 1
        if plan.start <= now:
            self._next = None
            self._follow(plan, now)
        else:
            self._next = plan
            if self.activity is Activity.HOLDING:
                self.activity = Activity.WAITING

    def set_point(self, target: PlatformMotion, now: float, stamp: float | None = None) -> None:
        """Go for a set-point; its rates are zero where they are not known."""
        measured_at = now if stamp is None else min(stamp, now)
        if now - measured_at > self.settings.stream_timeout:
            raise LimitError(
                f'set-point: it is {now - measured_at:.3f} s old (expected below '
                f'{self.settings.stream_timeout:g} s)'
            )
        if stamp is not None and stamp - now > self.settings.stream_timeout:
            raise LimitError(
                f'set-point: its time is {stamp - now:.3f} s ahead (expected at most '
                f'{self.settings.stream_timeout:g} s); send what is to begin later as a trajectory'
            )
        goal = self._projected(np.array(target.data))
        self._refuse_unreachable(goal)
        here = self._motion(now)
        self._refuse_far('set-point', here, goal.data)
        self._refuse_outside('set-point', goal.data[None])
        self.revision += 1
        self._next = self._plan = None
        new = coasting(goal.data, measured_at)
        w = 2.0 * np.pi * self.settings.stream_bandwidth
        self._motion = Transition(new, now, ExponentialFade(*offset_between(here, new(now)), w))
        self._end = np.inf
        self._set_point_time = now
        self.lost_stream = False
        self.activity = Activity.STREAMING

    # ---------------------------------------------------------------- inside

    def _projected(self, row: Array) -> PlatformMotion:
        motion: PlatformMotion = PlatformMotion._wrap(row)
        return motion if self.robot.dof == 6 else self.robot.project(motion)

    def _follow(self, plan: Plan, now: float) -> None:
        here, there = self._motion(now), plan.motion(now)
        fade = PolynomialFade(*offset_between(here, there), self._blend_time(here, there))
        self._motion = Transition(plan.motion, now, fade)
        self._end = max(plan.end, now + fade.duration)
        self._plan = plan
        self.revision += 1
        self.activity = Activity.FOLLOWING

    def _finish(self) -> None:
        """Hold the pose that a trajectory ends in; brake if it ends while moving."""
        row = self._motion(self._end - 1e-9)
        self._rest_from(row, self._end)

    def _rest_from(self, row: Array, now: float) -> None:
        """Come to rest within ``stop_time``, half as far ahead as the twist would go."""
        T = self.settings.stop_time
        ahead = coasting(np.concatenate([row[:18], np.zeros(6)]), now)(now + 0.5 * T)
        goal = resting(ahead)
        try:
            self.robot.inverse_kinematics(self._projected(goal(now)))
        except ParallelDynamicsError:
            goal = resting(row)
        self._motion = Transition(goal, now, PolynomialFade(*offset_between(row, goal(now)), T))
        self._end = np.inf
        self._plan = None
        self.revision += 1
        self.activity = Activity.HOLDING

    def _positions(self, row: Array) -> Array:
        pose = self._projected(np.concatenate([row[:12], np.zeros(12)]))
        return self.robot.inverse_kinematics(pose).position[self._actuators]

    def _blend_time(self, here: Array, there: Array) -> float:
        gap = np.abs(self._positions(here) - self._positions(there))
        # A fifth-order move peaks at 1.875 of its mean speed.
        return float(max(self.settings.blend_time, (1.875 * gap / (0.5 * self._speed)).max()))

    def _refuse_far(self, what: str, here: Array, there: Array) -> None:
        gap = np.abs(self._positions(here) - self._positions(there)) / self._range
        if gap.max() > self.settings.start_tolerance:
            k = int(np.argmax(gap))
            raise LimitError(
                f'{what}: it is {100.0 * gap[k]:.0f} % of the range of {self.robot.actuators[k]} '
                f'away from where the robot is (expected below '
                f'{100.0 * self.settings.start_tolerance:.0f} %); lead the robot there first'
            )

    def _refuse_outside(self, what: str, rows: Array) -> None:
        low, high = self.box
        if not np.isfinite(self.box).any():
            return
        excess = np.maximum(rows[:, :3] - high, low - rows[:, :3])
        row, k = np.unravel_index(int(np.argmax(excess)), excess.shape)
        if excess[row, k] > 0.0:
            raise LimitError(
                f'{what}: {"xyz"[k]} = {rows[row, k]:.4g} m leaves the workspace (allowed '
                f'{low[k]:.4g} to {high[k]:.4g})'
            )

    def _refuse_unreachable(self, goal: PlatformMotion) -> None:
        """Refuse a set-point beyond the joints' limits; quicker than ``check_motion``."""
        joints = self.robot.inverse_kinematics(goal)
        for quantity, values, lower, upper in (
            ('position', joints.position, self._lower, self._upper),
            ('velocity', joints.velocity, -self._top, self._top),
        ):
            excess = np.maximum(values - upper, lower - values)
            k = int(np.argmax(excess))
            if excess[k] > 1e-9:
                raise LimitError(
                    f'set-point: {quantity} {values[k]:.4g} of {joints.names[k]} is beyond its '
                    f'limits (allowed {lower[k]:.4g} to {upper[k]:.4g})'
                )
        self.robot.inverse_dynamics(goal)  # raises at a singularity

    def _judge_start(self, plan: Plan, now: float) -> None:
        """Refuse a start too far away, and a way there that the robot cannot follow."""
        at = max(plan.start, now)
        here, there = self._motion(at), plan.motion(at)
        self._refuse_far('trajectory', here, there)
        offset = offset_between(here, there)
        if max(float(np.abs(part).max()) for part in offset) < 1e-9:
            return
        T = self._blend_time(here, there)
        blend = Transition(plan.motion, at, PolynomialFade(*offset, T))
        times = np.linspace(at, at + T, 40)
        try:
            rows = np.array([self._projected(blend(t)).data for t in times.tolist()])
        except ParallelDynamicsError as error:
            raise LimitError(f'trajectory: no way onto it from here: {error}') from None
        verdict = check_motion(
            self.robot, times - at, PlatformMotion._wrap(rows),
            condition_limit=self.settings.condition_limit, base=self.base,
        )  # fmt: skip
        if not verdict.ok:
            raise LimitError(f'trajectory: the way onto it from here: {verdict.reason}')
