"""The node `controller`: follows desired platform motions by actuator efforts.

What comes on ``desired_trajectory``
------------------------------------
One point at time zero is a set-point, everything else a trajectory. The time in the header is
when it starts; zero means on arrival. Derivatives must stand in all points or in none: those of
a trajectory that are missing come from a spline of fifth order, those of set-points from a
third-order low-pass of ``stream_bandwidth``. A trajectory whose first point is later than its
start begins with the way there from where the platform then is.

A new trajectory replaces the one before, smoothly; it is refused, and the one before goes on,
when it cannot be followed (reach, limits, singularities, closures), starts too far away, or is
over already. The whole rules are those of ``parallel_dynamics.control.tracker``. What is refused
is said in the log and counted in the diagnostics.

Time
----
With ``trigger:=timer`` cycles come at ``rate``. With ``trigger:=joint_states`` every new joint
state is answered by one command, and the timer only sees whether they stay away. Where time is
simulated as well, a joint state that is said again gets the same answer again, so that nothing
that gets lost can stop a simulator in lock-step; the label of the command's first dimension says
which state it answers. A clock that goes back makes the node start anew with the next joint state.

Safety
------
Efforts, their rate, velocities, workspace, tracking error and the distance from singularities
are watched; stale joint states hold efforts, then let them go to zero. Each event is logged once
when it begins and when it ends; /diagnostics has them all. Services: ``~/enable`` (SetBool),
``~/emergency_stop`` (Trigger; ``~/enable`` ends it), ``~/stop`` (Trigger: brake and hold).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import contextlib
import json
from pathlib import Path
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import AccelStamped
from nav_msgs.msg import Odometry
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

import parallel_dynamics as pd
from parallel_dynamics.control import Activity, ControlLoop, Desired, Phase, Plan
from parallel_dynamics.nodes import controller_parameters as settings
from parallel_dynamics.nodes import messages
from parallel_dynamics.nodes.background import BackgroundWork
from parallel_dynamics.nodes.controller_report import ControllerReport
from parallel_dynamics.nodes.lifecycle import LifecycleRobotNode
from parallel_dynamics.nodes.runtime import NEWEST, OK, STOP_WITHIN, Loop, run
from parallel_dynamics.nodes.statistics import LoopStatistics
from parallel_dynamics.nodes.topics import COMMANDS_BEGIN
from parallel_dynamics.trajectories import Hold, Spline, Trajectory, allowed_trajectory

BACK = 0.1
"""Seconds by which a clock may go back before that counts as a new beginning."""
RAMP_STEPS = 20
RAMP_AT_END = 0.5 * STOP_WITHIN
"""Seconds that efforts may take to zero when the process ends; the rest is for what follows."""


class ControllerNode(LifecycleRobotNode):
    """Translates between topics and a :class:`ControlLoop`."""

    def __init__(self) -> None:
        super().__init__('controller')
        settings.declare_control(self)
        settings.declare_safety(self)
        for names, check in settings.COMBINATIONS:
            self.parameters.together(names, check)
        self._control: ControlLoop | None = None
        self._taken = self._closing = False
        self._open()
        self.autostart()

    @property
    def control(self) -> ControlLoop:
        """The control loop; there is one once the node is configured."""
        if self._control is None:
            raise pd.InputError('the controller is not configured')
        return self._control

    @property
    def configured(self) -> bool:
        """Whether there is a control loop."""
        return self._control is not None

    # ------------------------------------------------------------ life

    def configure(self) -> None:
        """Make the control loop."""
        self._control = settings.make_loop(self)
        self._restore_law()
        _warm_up(self.control)
        self.work = BackgroundWork()
        self.report = ControllerReport(self)

    def activate(self) -> None:
        """Begin to control; enabled unless ``enabled_at_start`` is false."""
        self.control.restart()
        self._forget_times()
        self._said_taken = False
        self._taken = self.parameters['enabled_at_start']
        if self._taken:
            self.control.enable(self.now())
        self._statistics.restart()

    def deactivate(self) -> None:
        """Keep what was learnt, let efforts go to zero, and stop."""
        self._save_law()  # first: whoever ends the process does not wait for a long ramp
        self._let_go(self.parameters['emergency_ramp'])
        self.control.phase = Phase.DISABLED

    def _let_go(self, duration: float) -> None:
        if not self._taken or self.control.state is None:
            return
        duration = min(duration, RAMP_AT_END) if self._closing else duration
        efforts = self.control.efforts
        for k in range(1, RAMP_STEPS + 1):
            messages.set_answered(self._effort_message, None)
            self._send(efforts * (1.0 - k / RAMP_STEPS))
            time.sleep(duration / RAMP_STEPS)

    def close(self) -> None:
        """Stop working, in the time that a process has to end."""
        self._closing = True
        super().close()

    def cleanup(self) -> None:
        """Let go of the control loop; topics stay, executors do not like them to go."""
        self.work.end()
        self._control = None

    def _open(self) -> None:
        p = self.parameters
        self._sim_time = bool(self.get_parameter('use_sim_time').value)
        # Seconds since now keep more digits than seconds since 1970.
        self._origin = 0 if self._sim_time else self.get_clock().now().nanoseconds
        self._triggered = p['trigger'] == 'joint_states'
        self._stepping = self._sim_time and self._triggered
        self._voided = 0  # how often what was ordered before has come to nothing
        self._odometry = Odometry()
        self._accel: AccelStamped | None = None
        self._odometry.pose.pose.orientation.w = 1.0
        self._forget_times()
        self._reader = messages.JointReader(self.robot.actuators)
        self._effort_message = messages.effort_message(self.robot.dof)
        self._feedforward_message = JointState(name=self.robot.actuators)
        self._efforts_out = self.announce(Float64MultiArray, 'effort_commands')
        self._feedforward_out = self.announce(JointState, 'feedforward')
        self._trajectory_out = self.announce(JointTrajectory, 'joint_trajectory')
        self.listen(JointState, 'joint_states', self._take_joint_states, NEWEST)
        self.listen(MultiDOFJointTrajectory, 'desired_trajectory', self._take_desired)
        self.listen(Odometry, 'base_motion', self._take_base_motion)
        self.listen(AccelStamped, 'base_accel', self._take_base_accel)
        self.create_service(SetBool, '~/enable', self._enable)
        self.create_service(Trigger, '~/emergency_stop', self._emergency_stop)
        self.create_service(Trigger, '~/stop', self._stop)
        self._timer = Loop(self, p['rate'], self._tick, ros_clock=self._sim_time)
        self._statistics = self._timer.statistics
        if self._triggered:
            self._statistics = LoopStatistics(1.0 / p['rate'])

    # ------------------------------------------------------------ time

    def now(self) -> float:
        """Return the time of this node's clock, s since it was configured (or of /clock)."""
        return self._seconds(self.get_clock().now().nanoseconds)

    def _seconds(self, nanoseconds: int) -> float:
        return 1e-9 * (nanoseconds - self._origin)

    def _forget_times(self) -> None:
        self._cycled_at = self._state_stamp = self._point_stamp = -np.inf
        self._published_trajectory_at, self._published_revision = -np.inf, 0
        self._answered = False
        self._voided += 1
        self._forget_rates()

    def _forget_rates(self) -> None:
        """Keep only the attitude of the base."""
        before, self._accel = self._odometry, None
        self._odometry = Odometry(header=before.header, child_frame_id=before.child_frame_id)
        self._odometry.pose = before.pose

    def _restart(self, back: float) -> None:
        self.get_logger().warning(f'the clock went back by {back:.3f} s: starting anew')
        self.control.restart()
        self._forget_times()

    # ------------------------------------------------------------ the cycle

    def _tick(self) -> None:
        if not self.is_active:
            return
        now = self.now()
        if now < self._cycled_at - BACK:
            self._restart(self._cycled_at - now)
        if self._triggered and now - self._cycled_at < self.parameters['hold_after']:
            return
        self._cycle(max(now, self._cycled_at))

    def _cycle(self, now: float) -> None:
        control = self.control
        self._cycled_at = now
        self.work.collect()
        command = control.step(now)
        # Until there is something to say, brakes and watchdogs know better.
        if self._taken and control.state is not None:
            self._send(command.efforts)
            if command.desired is not None:
                self._send_feedforward(now, command.desired)
        self.report.cycle(now, command)
        if control.tracker.revision != self._published_revision:
            self._offer_joint_trajectory(now)

    def _send(self, efforts: Any) -> None:
        self._effort_message.data = efforts.tolist()
        self._efforts_out.publish(self._effort_message)
        self._answered = True
        if not self._said_taken:
            self._said_taken = True
            self.get_logger().info(COMMANDS_BEGIN)

    def _send_feedforward(self, now: float, desired: Desired) -> None:
        message = self._feedforward_message
        message.header.stamp = messages.time_message(self._origin + round(1e9 * now))
        message.position = desired.position.tolist()
        message.velocity = desired.velocity.tolist()
        message.effort = desired.feedforward.tolist()
        self._feedforward_out.publish(message)

    def _offer_joint_trajectory(self, now: float) -> None:
        """Publish the motion to come for ros2_control's joint_trajectory_controller."""
        rate = self.parameters['joint_trajectory_rate']
        streaming = self.control.tracker.activity is Activity.STREAMING
        if streaming and now - self._published_trajectory_at < 1.0 / rate:
            return
        self._published_revision = self.control.tracker.revision
        self._published_trajectory_at = now
        if self._trajectory_out.get_subscription_count() == 0:
            return
        control = self.control
        stamp = messages.time_message(self._origin + round(1e9 * now))

        def job() -> JointTrajectory:
            times, motion = control.tracker.preview(now, rate)
            joints, a = control.robot.inverse_kinematics(motion), list(self.robot.model.actuators)
            efforts = control.robot.inverse_dynamics(motion, base=control.tracker.base)
            rows = joints.position[:, a], joints.velocity[:, a], joints.acceleration[:, a]
            return messages.joint_trajectory_message(
                self.robot.actuators, stamp, times - now, *rows, efforts
            )

        self.work.submit('joint_trajectory', job, self._trajectory_out.publish,
                         lambda reason: self.refuse('joint_trajectory', reason),
                         said=False)  # fmt: skip

    # ------------------------------------------------------------ states

    def _take_joint_states(self, message: JointState) -> None:
        if not self.is_active:
            return
        position, velocity = self._reader.read(message)
        now, stamp = self.now(), None
        nanoseconds = messages.nanoseconds(message.header.stamp)
        if nanoseconds or self._sim_time:
            stamp = self._seconds(nanoseconds)
            if stamp == self._state_stamp:  # said again, while time stands still
                self.work.collect()
                if not self._stepping:
                    return
                if self._answered:
                    self._efforts_out.publish(self._effort_message)
                    return
            self._judge_stamp(stamp, now)
            self._state_stamp = stamp
            if self._stepping:
                self._answered, now = False, stamp
                messages.set_answered(self._effort_message, nanoseconds)
        self.control.measure(now, position, velocity, stamp)
        if self._triggered:
            self._statistics.begin()
            self._cycle(max(now, self._cycled_at))
            self._statistics.end()

    def _judge_stamp(self, stamp: float, now: float) -> None:
        back = self._state_stamp - stamp
        agree = self.parameters['use_stamps']  # this clock and that of the robot
        if back > 0.0:
            if back <= BACK or (agree and now >= self._state_stamp):
                raise pd.InputError(
                    f'joint state: its time is {back:.6f} s before that of the last one'
                )
            self._restart(back)
        if self._stepping or not agree:
            return
        allowed = self.parameters['ramp_after']
        if now - stamp > allowed or stamp - now > 1.0:
            raise pd.InputError(
                f'joint state: it is {now - stamp:.3f} s old (expected 0 to {allowed:g} s); are '
                'the clocks of both computers the same, and use_sim_time of all nodes? Set '
                'use_stamps to false where clocks cannot agree'
            )

    # ------------------------------------------------------------ desired motions

    def _take_desired(self, message: MultiDOFJointTrajectory) -> None:
        points = messages.read_trajectory_message(message, self.platform_link, self.base_link)
        control = self._ready_to_follow()
        now = self.now()
        start = None if points.start is None else self._seconds(points.start)
        if len(points.times) == 1 and points.times[0] == 0.0:
            if start is not None and start < self._point_stamp - 1e-9:
                raise pd.InputError(
                    f'set-point: its time is {self._point_stamp - start:.6f} s before that of the '
                    'last one'
                )
            control.tracker.set_point(points.motion[0], now, start)
            self._point_stamp = -np.inf if start is None else start
            return

        until = self._voided

        def job() -> Plan:
            begins = now if start is None else start
            trajectory = _trajectory(control, points, begins)
            return control.tracker.judge(trajectory, start, self.now())

        def accept(plan: Plan) -> None:
            if until != self._voided:
                raise pd.InputError('trajectory: while it was looked at, the robot was stopped')
            at = self.now()
            plan = Plan(plan.trajectory, at) if start is None else plan
            control.tracker.accept(plan, at)
            self.get_logger().info(
                f'trajectory of {plan.trajectory.duration:.3f} s accepted, starts in '
                f'{max(0.0, plan.start - at):.3f} s'
            )

        self.work.submit('trajectory', job, accept,
                         lambda reason: self.refuse('desired_trajectory', reason))  # fmt: skip

    def _ready_to_follow(self) -> ControlLoop:
        if not self.is_active:
            raise pd.InputError('the controller is not active')
        control = self.control
        if control.state is None:
            raise pd.InputError('no joint states have come yet')
        if control.phase is not Phase.ENABLED:
            raise pd.InputError(f'the controller is not enabled ({control.phase.value})')
        if not control.law.tracks:
            raise pd.InputError(f'mode {control.mode} follows no motion')
        return control

    # ------------------------------------------------------------ base

    def _take_base_motion(self, message: Odometry) -> None:
        self._set_base(message, self._accel)
        self._odometry = message

    def _take_base_accel(self, message: AccelStamped) -> None:
        self._set_base(self._odometry, message)
        self._accel = message

    def _set_base(self, odometry: Odometry, accel: AccelStamped | None) -> None:
        base = messages.read_base_motion(odometry, accel)
        if self.configured:
            self.control.set_base(self.now(), base)

    # ------------------------------------------------------------ services

    def _enable(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        now = self.now()
        if not self.is_active:
            response.message = 'the controller is not active'
        elif not request.data:
            self._voided += 1
            self.control.disable(now)
            response.success, response.message = True, 'disabled: efforts go to zero'
        elif self.control.age(now) > self.parameters['hold_after'] and not self._sim_time:
            response.message = 'no joint states: nothing to take hold of'
        else:
            self._taken = True
            self._voided += 1
            self.control.enable(now)
            response.success, response.message = True, 'enabled: the robot is held where it is'
        # Two lines: rclpy allows a line one severity only.
        if response.success:
            self.get_logger().info(f'enable: {response.message}')
        else:
            self.get_logger().warning(f'enable: {response.message}')
        return response

    def _emergency_stop(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        if self.is_active:
            self._voided += 1
            self.control.emergency_stop(self.now())
            response.success, response.message = True, 'stopped; ~/enable takes the robot again'
        else:
            response.message = 'the controller is not active: it commands nothing'
        return response

    def _stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self.is_active and self.control.state is not None:
            self._voided += 1
            self.control.tracker.stop(max(self.now(), self._cycled_at))
            response.success, response.message = True, 'braking; the pose is then held'
        else:
            response.message = 'the controller follows nothing'
        return response

    # ------------------------------------------------------------ changes at run time

    def change_rate(self, rate: float) -> None:
        """Go on at another rate."""
        self._timer.set_rate(rate)
        self._statistics.restart(1.0 / rate)

    def change_mode(self, mode: str) -> None:
        """Go over to another law."""
        if self.configured:
            self.control.set_mode(mode)
            self.get_logger().info(f'mode: {mode}')

    def change_gains(self, value: Any) -> None:
        """Take new gains."""
        if self.configured:
            self.control.set_gains(settings.gains(self, self.control.robot))

    def change_payload(self, value: Any) -> None:
        """Count with another load; its model is made beside the loop."""
        if not self.configured:
            return
        control = self.control

        def job() -> Any:
            robot = settings.loaded(self)
            robot.inverse_dynamics(robot.home)
            return robot, settings.gains(self, robot)

        def take(made: Any) -> None:
            control.set_robot(*made)
            self.get_logger().info(f'payload: {self.parameters["payload_mass"]:g} kg')

        self.work.submit('payload', job, take, lambda reason: self.refuse('payload', reason))

    def change_limits(self, value: Any) -> None:
        """Take new limits."""
        if self.configured:
            self.control.limits = settings.limits(self, self.control.robot)
            self.change_settings(value)

    def change_settings(self, value: Any) -> None:
        """Take new times and rules."""
        if self.configured:
            self.control.settings = settings.loop_settings(self)
            self.control.tracker.settings = settings.tracker_settings(self)

    def change_filter(self, bandwidth: float) -> None:
        """Filter differentiated velocities otherwise."""
        if self.configured:
            self.control.estimator.velocity_filter = bandwidth

    # ------------------------------------------------------------ what laws learn

    def _restore_law(self) -> None:
        path = Path(self.parameters['law_state']).expanduser()
        if not self.parameters['law_state'] or not path.exists():
            return
        try:
            saved = json.loads(path.read_text(encoding='utf-8'))
            self.control.restore_laws(saved)
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise pd.InputError(f'law_state: {path} cannot be read: {error}') from None

    def _save_law(self) -> None:
        if not self.parameters['law_state']:
            return
        path = Path(self.parameters['law_state']).expanduser().resolve()
        new = path.with_name(f'{path.name}.new')
        try:
            # Beside the old file, then in its place: a full disk or a kill leaves that whole.
            new.write_text(json.dumps(self.control.save_laws(), indent=1), encoding='utf-8')
            new.replace(path)
        except OSError as error:
            self.get_logger().error(f'law_state: {path} cannot be written: {error}')
            with contextlib.suppress(OSError):
                new.unlink()

    # ------------------------------------------------------------ diagnostics

    def diagnose(self) -> Iterable[DiagnosticStatus]:
        """Return control, loop, and what the law has to say."""
        if not self.configured:
            yield self.status('control', OK, f'life cycle: {self.life}')
            return
        yield from self.report.statuses()
        yield self.loop_status('loop', self._statistics)


def _trajectory(
    control: ControlLoop, points: messages.TrajectoryPoints, begins: float
) -> Trajectory:
    """Return points as a smooth trajectory, with the way to the first one if that comes later."""
    times, rows = points.times, points.motion.data
    if times[0] > 0.0:
        here = control.tracker.row(begins)
        times, rows = np.concatenate([[0.0], times]), np.vstack([here, rows])
    motion = pd.PlatformMotion._wrap(rows)
    spline = Spline(
        times, motion.position, motion.rotation,
        motion.twist if points.twist_given else None,
        motion.twist_rate if points.rate_given else None,
    )  # fmt: skip
    return allowed_trajectory(control.robot, spline, times - times[0])


def _warm_up(control: ControlLoop) -> None:
    """Load all compiled code before the first cycle, and have what is missing written."""
    control.robot.specialise(batches=False)
    trial = ControlLoop(control.robot, control.mode)
    trial.enable(0.0)
    zero = np.zeros(control.robot.dof)
    for k in range(3):
        trial.measure(0.01 * k, zero, zero)
        trial.step(0.01 * k)
    trial.tracker.judge(Hold(control.robot.home, 0.1), None, 0.0)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node."""
    # The thread that judges trajectories must not keep the loop waiting for long.
    sys.setswitchinterval(5e-4)
    return run(ControllerNode, args)


if __name__ == '__main__':
    sys.exit(main())
