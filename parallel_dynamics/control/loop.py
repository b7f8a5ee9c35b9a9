"""One cycle of control: measured state and desired motion in, efforts out, guards around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.control import supervisor as conditions
from parallel_dynamics.control.delay import DelayWatch
from parallel_dynamics.control.gains import Gains, default_gains
from parallel_dynamics.control.guards import Guards
from parallel_dynamics.control.inverse_model import InverseModel
from parallel_dynamics.control.laws import Desired, Law, make_law
from parallel_dynamics.control.state import MeasuredState, StateEstimator
from parallel_dynamics.control.supervisor import Limits, Supervisor, default_limits
from parallel_dynamics.control.tracker import Tracker, TrackerSettings
from parallel_dynamics.errors import ParallelDynamicsError
from parallel_dynamics.motion import BaseMotion, PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array


class Phase(str, Enum):
    """What the loop does with its efforts."""

    DISABLED = 'disabled'
    ENABLED = 'enabled'
    HOLDING_EFFORT = 'holding the last effort'
    RAMPING_DOWN = 'ramping down'
    STOPPED = 'emergency stop'


@dataclass
class LoopSettings:
    """Times of the guards, s, and the share of the feed-forward that is used.

    Attributes
    ----------
    hold_after : float
        Age of the joint states at which efforts are held.
    ramp_after : float
        Age at which they begin to go to zero.
    ramp_time : float
        How long that takes; also when the loop is disabled.
    emergency_ramp : float
        The same for the emergency stop.
    tracking_time : float
        How long an actuator's error must be too large before the robot is stopped.
    runaway_time : float
        How long an actuator may stay too fast while it is being held, before efforts go to zero.
    base_timeout : float
        Age of the base's motion at which its rates count as zero.
    feedforward : float
        Share of the inverse dynamics in the efforts; 0 leaves the feedback alone.
    use_stamps : bool
        Whether the time in a joint state tells its age; else it counts from its arrival on.
    """

    hold_after: float = 0.1
    ramp_after: float = 0.3
    ramp_time: float = 0.5
    emergency_ramp: float = 0.1
    tracking_time: float = 0.05
    runaway_time: float = 0.6
    base_timeout: float = 0.5
    feedforward: float = 1.0
    use_stamps: bool = True


@dataclass(frozen=True, eq=False)
class Command:
    """What the loop decided in one cycle.

    ``efforts`` are (n,); ``desired`` is None while no desired motion is followed.
    """

    efforts: Array
    desired: Desired | None
    phase: Phase


class ControlLoop:
    """The controller of one robot, without any clock or messages of its own.

    ``measure`` takes joint states as they come, ``step`` is called once a cycle; all times are
    seconds of one clock that never goes back.
    """

    def __init__(
        self,
        robot: Robot,
        mode: str = 'computed_torque',
        *,
        gains: Gains | None = None,
        limits: Limits | None = None,
        settings: LoopSettings | None = None,
        tracking: TrackerSettings | None = None,
    ) -> None:
        self.robot = robot
        self.model = InverseModel(robot)
        self.gains = default_gains(robot) if gains is None else gains
        self.guards = Guards(robot, default_limits(robot) if limits is None else limits)
        self.settings = LoopSettings() if settings is None else settings
        self.tracker = Tracker(robot, tracking)
        self.supervisor = Supervisor()
        self.estimator = StateEstimator(robot)
        self.delay = DelayWatch(self.gains)
        self.phase = Phase.DISABLED
        self.state: MeasuredState | None = None
        self._learnt: dict[str, dict[str, Any]] = {}
        self._law = make_law(mode, robot, self.model, self.gains)
        self.mode = mode
        self.limits = self.guards.limits
        self._actuators = list(robot.model.actuators)
        self._efforts = np.zeros(robot.dof)
        self._measured_at = self._stamp = -np.inf
        self._acceleration: Array | None = None
        self._pending: tuple[float, float, Array, Array | None] | None = None
        self._stepped_at: float | None = None
        self._ramp_from: tuple[float, Array, float] | None = None
        self._fast_since = np.inf
        self._first = True
        self._cut = False
        self._base: tuple[float, BaseMotion] | None = None

    # ---------------------------------------------------------------- orders

    @property
    def law(self) -> Law:
        """The control law in force."""
        return self._law

    @property
    def limits(self) -> Limits:
        """Limits of the guards."""
        return self.guards.limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self.guards.limits = limits
        self.tracker.box = limits.box

    @property
    def efforts(self) -> Array:
        """The last efforts (n,)."""
        return self._efforts.copy()

    def age(self, now: float) -> float:
        """Return how old the state is, s; infinite if there is none."""
        return now - self._measured_at

    def save_laws(self) -> dict[str, dict[str, Any]]:
        """Return what the laws have learnt, by mode."""
        self._learnt[self.mode] = self._law.save()
        return {mode: learnt for mode, learnt in self._learnt.items() if learnt}

    def restore_laws(self, saved: Mapping[str, Mapping[str, Any]]) -> None:
        """Go on from what :meth:`save_laws` returned."""
        for mode, learnt in saved.items():
            make_law(mode, self.robot, self.model, self.gains).restore(learnt)  # refuses
            self._learnt[mode] = dict(learnt)
        if self.mode in saved:
            self._law.restore(saved[self.mode])

    def set_mode(self, mode: str) -> None:
        """Go over to another control law.

        The desired motion goes on, unless the law until now followed none: then the robot is
        held where it is. What a law has learnt is kept for its return.
        """
        new = make_law(mode, self.robot, self.model, self.gains)
        self._learnt[self.mode] = self._law.save()
        new.restore(self._learnt.get(mode, {}))
        if not self._law.tracks and self.state is not None and self._stepped_at is not None:
            self.tracker.hold(self.state.platform, self._stepped_at)
        self._law, self.mode = new, mode
        self._law.gains = self.delay.gains

    def set_robot(self, robot: Robot, gains: Gains) -> None:
        """Go on with other inertias: the same robot under another load, say."""
        model = InverseModel(robot)
        model.set_base(self.tracker.base)
        self.robot = self.tracker.robot = robot
        self.model = model
        self.set_gains(gains)

    def set_base(self, now: float, base: BaseMotion) -> None:
        """Take the motion of the base as it is now."""
        self._base = (now, base)
        self._use_base(base)

    def _use_base(self, base: BaseMotion | None) -> None:
        self.model.set_base(base)
        self.tracker.base = base

    def restart(self) -> None:
        """Forget all times and states, as after a clock that went back; orders go as well.

        Of the base, its attitude stays.
        """
        self.state = self._stepped_at = self._pending = self._ramp_from = None
        self._measured_at, self._fast_since = -np.inf, np.inf
        self.estimator.reset()
        self.delay.reset()
        self._acceleration = None
        self.supervisor.restart()
        base, self._base = self.tracker.base, None
        self.tracker = Tracker(self.robot, self.tracker.settings)
        self.tracker.box = self.limits.box
        self._use_base(None if base is None else BaseMotion(base.rotation))
        if self.phase in (Phase.HOLDING_EFFORT, Phase.RAMPING_DOWN):
            self.phase = Phase.ENABLED

    def set_gains(self, gains: Gains) -> None:
        """Use other gains from now on."""
        self.gains = gains
        self.delay.set_gains(gains)
        self.set_mode(self.mode)

    def enable(self, now: float) -> None:
        """Take the robot where it stands and hold it there; also ends an emergency stop.

        Takes effect with the next joint states, if there are none yet.
        """
        self.supervisor.clear(now, conditions.ESTOP)
        self.phase = Phase.ENABLED
        self._take_over(now)

    def disable(self, now: float) -> None:
        """Let efforts go to zero, and stay there."""
        self._ramp_down(now, Phase.DISABLED, self.settings.ramp_time)

    def emergency_stop(self, now: float, reason: str = 'asked for') -> None:
        """Let efforts go to zero at once, until the loop is enabled again."""
        self.supervisor.note(now, conditions.ESTOP, reason, stops=True)
        self._ramp_down(now, Phase.STOPPED, self.settings.emergency_ramp)

    def measure(
        self,
        now: float,
        position: ArrayLike,
        velocity: ArrayLike | None = None,
        stamp: float | None = None,
    ) -> None:
        """Take actuator positions (n,), and velocities (n,) if measured, that came now.

        ``stamp`` (s) is when they were measured, if that is known better. The state is brought
        forward from then to the time of the next cycle.
        """
        q = np.asarray(position, dtype=float)
        v = None if velocity is None else np.asarray(velocity, dtype=float)
        self._pending = (now, now if stamp is None else stamp, q, v)

    # ---------------------------------------------------------------- the cycle

    def step(self, now: float) -> Command:
        """Return the efforts of this cycle."""
        step = 0.0 if self._stepped_at is None else max(now - self._stepped_at, 0.0)
        self._stepped_at = now
        fresh = self._update_state(now)
        self._check_base(now)
        if self.phase is Phase.STOPPED:
            self.supervisor.renew(now, conditions.ESTOP)
        self.supervisor.settle(now)
        if self.phase in (Phase.DISABLED, Phase.STOPPED):
            return self._command(self._ramped(now))
        age = now - self._measured_at
        if self.state is None or age > self.settings.hold_after:
            return self._without_states(now, age)
        if self.phase is not Phase.ENABLED:
            self._recover(now)
        try:
            desired = self._desired(now)
            if self._guard(now, desired, self.state):
                desired = self._desired(now)
            if self.phase is not Phase.ENABLED:
                return self._command(self._ramped(now))
            # An error that the drives cannot do away with must not pile up in an integral.
            passed = step if fresh and not self._cut else 0.0
            self._heed_delay(now, step)
            self._acceleration = desired.acceleration
            wanted = self._law.efforts(desired, self.state, passed)
        except ParallelDynamicsError as error:
            if self.supervisor.note(now, conditions.MODEL, str(error), stops=True):
                self.tracker.hold(self.state.platform, now)
            return self._command(self._efforts)
        return self._command(self._limited(now, wanted, step), desired)

    def _command(self, efforts: Array, desired: Desired | None = None) -> Command:
        self._efforts = efforts
        if desired is None:
            self._acceleration = None
        return Command(efforts, desired, self.phase)

    def _update_state(self, now: float) -> bool:
        """Bring the platform's state up to date; return whether a new one has come."""
        if self._pending is None:
            return False
        time, stamp, q, v = self._pending
        self._pending = None
        first = self.state is None
        try:
            since = stamp if self.settings.use_stamps else time
            ahead = min(max(now - since, 0.0), self.settings.hold_after)
            self.state = self.estimator.update(stamp, q, v, ahead, self._acceleration)
        except ParallelDynamicsError as error:
            self.supervisor.note(time, conditions.LOST, str(error))
            return False
        self._measured_at, self._stamp = time, now - ahead
        if first:
            self._take_over(time)
        return True

    def _heed_delay(self, now: float, step: float) -> None:
        """Lower the bandwidth where commands come too late for it."""
        self._law.gains = self.delay.cycle(now - self._stamp, step)
        if self.delay.share < 1.0:
            self.supervisor.note(
                now, conditions.LATE,
                f'commands act {1e3 * self.delay.mean:.1f} ms late: gains for '
                f'{100.0 * self.delay.share:.0f} % of the bandwidth',
            )  # fmt: skip

    def _take_over(self, now: float) -> None:
        self._law.reset()
        self.guards.reset()
        self._first = True
        if self.state is not None:
            self.tracker.hold(self.state.platform, now)

    def _recover(self, now: float) -> None:
        self.supervisor.clear(now, conditions.STALE)
        self.phase = Phase.ENABLED
        self._ramp_from = None
        self._take_over(now)

    def _check_base(self, now: float) -> None:
        """Keep only the attitude of a base whose motion is not heard of any more."""
        if self._base is None:
            return
        time, base = self._base
        if now - time > self.settings.base_timeout:
            text = f'none for {self.settings.base_timeout:g} s; it counts as at rest'
            if self.supervisor.note(now, conditions.BASE, text):
                self._use_base(BaseMotion(base.rotation))

    def _desired(self, now: float) -> Desired:
        if self._law.tracks or self.state is None:
            motion = self.tracker.at(now)
        else:  # led by hand: what is wanted is what there is
            row = np.zeros(24)
            row[:12] = self.state.platform.data[:12]
            motion = PlatformMotion._wrap(row)
        if self.tracker.lost_stream:
            self.tracker.lost_stream = False
            self.supervisor.note(now, conditions.SOURCE, 'no set-point came in time', stops=True)
        joints = self.robot.inverse_kinematics(motion)
        a = self._actuators
        feedforward = self.model.efforts(motion)
        if self.settings.feedforward != 1.0:
            feedforward *= self.settings.feedforward
        return Desired(
            motion, joints.position[a], joints.velocity[a], joints.acceleration[a], feedforward
        )

    # ---------------------------------------------------------------- guards

    def _without_states(self, now: float, age: float) -> Command:
        """Hold the last effort for a while, then let it go."""
        if self.state is None:
            return self._command(np.zeros(self.robot.dof))
        text = f'none for {self.settings.hold_after:g} s'
        self.supervisor.note(now, conditions.STALE, text, stops=True)
        if age <= self.settings.ramp_after:
            self.phase = Phase.HOLDING_EFFORT
            return self._command(self._efforts)
        if self.phase is not Phase.RAMPING_DOWN:
            self._ramp_down(now, Phase.RAMPING_DOWN, self.settings.ramp_time)
        return self._command(self._ramped(now))

    def _guard(self, now: float, desired: Desired, state: MeasuredState) -> bool:
        """Bring the robot to rest if something is wrong with it; return whether it was."""
        found = self.guards.state(state)
        if found is None and self._law.tracks:
            patience = self.settings.tracking_time
            found = self.guards.tracking(now, desired.position, state, patience)
        fast = found is not None and found[0] == conditions.SPEED
        self._fast_since = min(self._fast_since, now) if fast else np.inf
        if found is None or not self.supervisor.note(now, *found, stops=True):
            if found is not None and now - self._fast_since > self.settings.runaway_time:
                self.emergency_stop(now, f'{found[1]}, and holding it did not help')
            return False
        self.tracker.hold(state.platform, now)
        self._law.reset()
        return True

    def _limited(self, now: float, wanted: Array, step: float) -> Array:
        """Cut efforts at their limits, and their change."""
        top = self.limits.effort
        efforts = np.clip(wanted, -top, top)
        self._cut = bool((np.abs(wanted) > top).any())
        if self._cut:
            k = int(np.argmax(np.abs(wanted) - top))
            self.supervisor.note(
                now, conditions.EFFORT,
                f'{self.robot.actuators[k]} would need {wanted[k]:.4g} (allowed {top[k]:.4g})',
            )  # fmt: skip
        reach = self.limits.effort_rate * max(step, 1e-3)
        change = efforts - self._efforts
        if self._first:  # what holds the robot must be there at once when it is taken over
            self._first = False
        elif (np.abs(change) > reach).any():
            k = int(np.argmax(np.abs(change) - reach))
            self.supervisor.note(
                now, conditions.RATE,
                f'{self.robot.actuators[k]} would jump by {change[k]:.4g} in a cycle '
                f'(allowed {reach[k]:.4g})',
            )  # fmt: skip
            efforts = self._efforts + np.clip(change, -reach, reach)
        return np.asarray(efforts)

    def _ramp_down(self, now: float, phase: Phase, duration: float) -> None:
        if self.phase is not phase:
            self._ramp_from = (now, self._efforts, max(duration, 1e-6))
        self.phase = phase

    def _ramped(self, now: float) -> Array:
        if self._ramp_from is None:
            return np.zeros(self.robot.dof)
        start, efforts, duration = self._ramp_from
        return efforts * min(1.0, max(0.0, 1.0 - (now - start) / duration))
