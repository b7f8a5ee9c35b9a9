"""The node `simulator`: a robot on the wire, with its physics computed.

Time
----
``mode:=real_time`` (default): every ``step`` of simulated time takes ``step / real_time_factor``
on the wall; what cannot be made up within 0.1 s is dropped and counted. ``fast``: as fast as the
machine goes. ``lock_step``: time passes only with commands. Each command is held over one
publishing period and the state at its end is published: ``/clock`` and ``platform/*`` first,
``joint_states`` last.

A controller closes the loop in lock-step by answering every *new* stamp on ``joint_states`` with
exactly one command, computed from that state alone. While time stands still the state is repeated
some times a second, for those who come later and in case something got lost. A controller that
writes ``answers STAMP`` (ns, of the joint state) into the label of the command's first dimension
answers a repetition with the same command again: a second answer to a state that waits no more
is dropped and counted. Commands without a label count each. The first state carries time zero
and waits for the first command. A command as JointState whose stamp is not that of the state
that waits is refused.

Stamps are simulated time; in real time at factor 1 without ``publish_clock`` they are the time
of the computer. Time never goes back, except by a reset or a load with ``reset_time:=true``.

Services (std_srvs/Trigger; arguments are parameters): ``~/pause``, ``~/resume``, ``~/step``
(``step_count`` integration steps while paused), ``~/reset`` (to ``reset_pose``, or home),
``~/save`` and ``~/load`` (``snapshot`` is a file; without one it is kept in memory). A pose sent
to ``~/reset_to`` resets to that pose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import math
from pathlib import Path
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
import numpy as np
from rclpy.clock import Clock, ClockType
from rosgraph_msgs.msg import Clock as ClockMessage
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

import parallel_dynamics as pd
from parallel_dynamics.nodes import messages
from parallel_dynamics.nodes.pacing import Pacer
from parallel_dynamics.nodes.runtime import ERROR, LATCHED, OK, WARN, Loop, RobotNode, run
from parallel_dynamics.nodes.simulator_parameters import declare_clock, declare_physics
from parallel_dynamics.nodes.statistics import LoopStatistics
from parallel_dynamics.simulation import Plant, Simulator, Snapshot

REPEAT = 0.2
"""Seconds of wall time after which a state that stands still is published again."""
MOST_STEPS = 10_000
"""Steps that one call of ``~/step`` may take."""


class SimulatorNode(RobotNode):
    """Translates between topics and a :class:`Plant`."""

    most_steps = MOST_STEPS

    def __init__(self) -> None:
        super().__init__('simulator')
        declare_clock(self)
        options = declare_physics(self)
        p = self.parameters
        self.mode = p['mode']
        self.simulator = Simulator(self.robot, **options)
        lock_step = self.mode == 'lock_step'
        self.plant = Plant(
            self.simulator, self.simulator.step_size, 0.0 if lock_step else p['watchdog'],
            p['watchdog_action'], p['brakes'],
        )  # fmt: skip
        self.every = max(1, round(1.0 / (p['publish_rate'] * self.plant.tick)))
        self.paused = p['start_paused']
        self._limits = self._effort_limits()
        self._shift = 0
        self._system_clock = Clock(clock_type=ClockType.SYSTEM_TIME)
        self._snapshot: Snapshot | None = None
        self._odometry: Odometry | None = None
        self._base_accel: AccelStamped | None = None
        self._ticks = self._received = self._again = self._trips = 0
        self._residual = 0.0
        self._said: Any = None
        self.pacer = Pacer(self.plant.tick, p['real_time_factor'])
        self.statistics = LoopStatistics(self.every * self.plant.tick / p['real_time_factor'])
        self._open_topics()
        self._open_services()
        self._anchor()
        self._measured_from = (time.monotonic(), self.simulator.time)
        self._loops = [Loop(self, 1.0 / REPEAT, self._repeat)]
        if self.mode == 'real_time':
            rate = min(1000.0, 1.0 / self.plant.tick)
            self._loops.append(Loop(self, rate, self._follow_the_wall))
        self.publish_state()

    def _effort_limits(self) -> Any:
        if self.parameters['command_limits'] != 'refuse':
            return None
        return [self.robot.model.joints[j].effort_limit for j in self.robot.model.actuators]

    # ------------------------------------------------------------ topics

    def _open_topics(self) -> None:
        self._joints = self.announce(JointState, 'joint_states')
        self._pose = self.announce(PoseStamped, 'platform/pose')
        self._twist = self.announce(TwistStamped, 'platform/twist')
        self._accel = self.announce(AccelStamped, 'platform/accel')
        self._clock_out = None
        if self.parameters['publish_clock']:
            self._clock_out = self.announce(ClockMessage, '/clock')
        path = self.robot.model.urdf_path
        self._description = self.announce(String, 'robot_description', LATCHED)
        if path is not None:
            self._description.publish(String(data=path.read_text(encoding='utf-8')))
        self.listen(Float64MultiArray, 'effort_commands', self._take_efforts)
        self.listen(JointState, 'joint_commands', self._take_joint_command)
        self.listen(WrenchStamped, 'external_wrench', self._take_wrench)
        self.listen(Odometry, 'base_motion', self._take_base_motion)
        self.listen(AccelStamped, 'base_accel', self._take_base_accel)
        self.listen(PoseStamped, '~/reset_to', self._take_pose)

    def _take_efforts(self, message: Float64MultiArray) -> None:
        efforts = messages.read_numbers('effort command', message.data, self.robot.dof)
        if self.mode == 'lock_step' and messages.read_answered(message) not in (None, self.now()):
            self._again += 1
            return
        self._command(efforts)

    def _take_joint_command(self, message: JointState) -> None:
        stamp = messages.nanoseconds(message.header.stamp)
        if self.mode == 'lock_step' and stamp not in (0, self.now()):
            raise pd.InputError(
                f'joint command: expected the stamp of the state that waits, '
                f'{1e-9 * self.now():.9f} s, or none, got {1e-9 * stamp:.9f} s'
            )
        self._command(messages.read_joints(message, self.robot.actuators, 'effort'))

    def _command(self, efforts: Any) -> None:
        self.plant.command(efforts, self._limits)
        self._received += 1
        if self.mode == 'lock_step' and not self.paused:
            self._advance(self.every - self._ticks % self.every)

    def _take_wrench(self, message: WrenchStamped) -> None:
        # Kept in the axes it came in: one on the platform turns with the platform.
        wrench = messages.read_wrench(message, self.base_link, self.platform_link, np.eye(3))
        self.plant.push(wrench, message.header.frame_id == self.platform_link)

    def _take_base_motion(self, message: Odometry) -> None:
        self.plant.base = messages.read_base_motion(message, self._base_accel)
        self._odometry = message

    def _take_base_accel(self, message: AccelStamped) -> None:
        odometry = self._odometry or Odometry()
        self.plant.base = messages.read_base_motion(odometry, message)
        self._base_accel = message

    def _take_pose(self, message: PoseStamped) -> None:
        if message.header.frame_id not in ('', self.base_link):
            raise pd.InputError(
                f'reset_to: expected a pose in the frame {self.base_link!r}, '
                f'got {message.header.frame_id!r}'
            )
        self._reset(messages.read_pose(message.pose))

    # ------------------------------------------------------------ time

    def now(self) -> int:
        """Return the time of the state, ns, as it stands in stamps."""
        return round(1e9 * self.simulator.time) + self._shift

    def stamp(self) -> Any:
        """Return the time of the state, for headers."""
        return messages.time_message(self.now())

    def _on_wall_time(self) -> bool:
        p = self.parameters
        real = self.mode == 'real_time' and p['real_time_factor'] == 1.0
        return real and not p['publish_clock']

    def _anchor(self) -> None:
        """Go on from here: the wall owes nothing, and stamps catch up with it."""
        self.pacer.restart()
        if self._on_wall_time():
            behind = self._system_clock.now().nanoseconds - self.now()
            self._shift += max(0, behind)

    def change_factor(self, factor: float) -> None:
        """Run at another real-time factor."""
        self.pacer.set_factor(factor)
        self.statistics.restart(self.every * self.plant.tick / factor)
        self._anchor()

    def change_watchdog(self, seconds: float) -> None:
        """Wait another time for commands."""
        if self.mode != 'lock_step':
            self.plant.watchdog = seconds

    def change_watchdog_action(self, action: str) -> None:
        """Do something else when commands stay away."""
        self.plant.fallback = action

    def _follow_the_wall(self) -> None:
        if self.paused or self.plant.event is not None:
            return
        self._advance(self.pacer.due())
        if self.pacer.slipped:
            self._anchor()

    def background(self) -> float:
        """Advance without waiting where the simulation is to be as fast as it can."""
        if self.mode != 'fast' or self.paused or self.plant.event is not None:
            return 0.1
        self._advance(self.every - self._ticks % self.every)
        return 0.0

    def _advance(self, ticks: int) -> None:
        """Go on, and publish whenever a publishing period is over."""
        while ticks > 0 and self.plant.event is None:
            part = min(ticks, self.every - self._ticks % self.every)
            done = self.plant.advance(part)
            self._ticks += done
            self._residual = max(self._residual, self.simulator.residual)
            if self.plant.trips != self._trips:
                self._trips = self.plant.trips
                self.get_logger().warning(
                    f'no command for {self.plant.watchdog:g} s: {self.plant.fallback} efforts'
                )
            ticks -= part
            if done == part and self._ticks % self.every == 0:
                self.statistics.begin()
                self.publish_state()
                self.statistics.end()
        event = self.plant.event
        if event is not None and event is not self._said:
            self._said = event
            self.get_logger().error(f'{event}. The state is kept; call ~/reset or ~/load to go on')
            self.publish_state()

    def _repeat(self) -> None:
        if time.monotonic() - self._published > REPEAT:
            self.publish_state()

    def publish_state(self) -> None:
        """Publish clock, platform and joints, in this order."""
        stamp, state = self.stamp(), self.simulator.state
        if self._clock_out is not None:
            self._clock_out.publish(ClockMessage(clock=stamp))
        self._pose.publish(messages.pose_message(state, stamp, self.base_link))
        self._twist.publish(messages.twist_message(state, stamp, self.base_link))
        self._accel.publish(messages.accel_message(state, stamp, self.base_link))
        joints = self.plant.joints()
        self._joints.publish(
            messages.joint_state_message(
                joints.names, stamp, joints.position, joints.velocity, joints.effort
            )
        )
        self._published = time.monotonic()

    # ------------------------------------------------------------ services

    def _open_services(self) -> None:
        for name, action in (
            ('pause', self._pause), ('resume', self._resume), ('step', self._step),
            ('reset', self._reset_as_asked), ('save', self._save), ('load', self._load),
        ):  # fmt: skip
            self.create_service(Trigger, f'~/{name}', self._answer(name, action))

    def _answer(self, name: str, action: Callable[[], str]) -> Callable[[Any, Any], Any]:
        def answer(request: Any, response: Any) -> Any:
            try:
                response.message = action()
                response.success = True
            except (pd.ParallelDynamicsError, OSError) as error:
                response.message, response.success = f'{name}: {error}', False
                self.get_logger().warning(response.message)
            return response

        return answer

    def _at(self) -> str:
        return f'at t = {1e-9 * self.now():.6f} s'

    def _pause(self) -> str:
        self.paused = True
        return f'paused {self._at()}'

    def _resume(self) -> str:
        if self.plant.event is not None:
            raise pd.InputError(f'the simulation has stopped ({self.plant.event}); reset it first')
        self.paused = False
        self.statistics.restart()
        self._anchor()
        return f'running {self._at()}'

    def _step(self) -> str:
        if not self.paused:
            raise pd.InputError('expected a paused simulation; call ~/pause first')
        if self.plant.event is not None:
            raise pd.InputError(f'the simulation has stopped ({self.plant.event}); reset it first')
        done = self.plant.advance(self.parameters['step_count'])
        self._ticks += done
        self.publish_state()
        if self.plant.event is not None:
            raise pd.InputError(f'{done} steps, then: {self.plant.event}')
        return f'{done} steps of {self.plant.tick:g} s, now {self._at()}'

    def _reset_as_asked(self) -> str:
        numbers = self.parameters['reset_pose']
        if not numbers:
            return self._reset(None)
        rotation = Rotation.from_quat(np.array(numbers[3:])).as_matrix()
        return self._reset(pd.PlatformMotion(numbers[:3], rotation))

    def _reset(self, motion: pd.PlatformMotion | None) -> str:
        if motion is not None and self.parameters['reset_projected']:
            motion = self.robot.project(motion)
        back = self.parameters['reset_time']
        self.plant.reset(motion, 0.0 if back else None)
        self._went_on(back)
        return f'reset to {"home" if motion is None else "the pose"}, {self._at()}'

    def _save(self) -> str:
        self._snapshot = self.plant.save()
        path = self.parameters['snapshot']
        if path:
            self._snapshot.write(Path(path).expanduser())
        return f'saved {f"to {path}" if path else "in memory"}, {self._at()}'

    def _load(self) -> str:
        path = self.parameters['snapshot']
        snapshot = Snapshot.read(Path(path).expanduser()) if path else self._snapshot
        if snapshot is None:
            raise pd.InputError('nothing was saved; call ~/save or set the parameter snapshot')
        before = self.now()
        self.plant.load(snapshot)
        back = self.parameters['reset_time']
        if not back:
            self._shift += before - self.now()
        self._went_on(back)
        return f'loaded {f"from {path}" if path else "from memory"}, {self._at()}'

    def _went_on(self, time_went_back: bool) -> None:
        """Begin a publishing period from a state that was put in."""
        if time_went_back:
            self._shift = 0
        self._ticks, self._said = 0, None
        self._measured_from = (time.monotonic(), self.simulator.time)
        self._anchor()
        self.publish_state()

    # ------------------------------------------------------------ diagnostics

    def diagnose(self) -> Iterable[DiagnosticStatus]:
        """Return the simulation, its commands and its loop."""
        yield self._simulation_status()
        yield self._command_status()
        yield self.loop_status('publishing', self.statistics)

    def _real_time_factor(self) -> float:
        wall, simulated = self._measured_from
        now = (time.monotonic(), self.simulator.time)
        self._measured_from = now
        return (now[1] - simulated) / max(1e-9, now[0] - wall)

    def _simulation_status(self) -> DiagnosticStatus:
        level, message = OK, 'running'
        if self.plant.event is not None:
            level, message = ERROR, str(self.plant.event)
        elif self.paused:
            message = 'paused'
        elif self.plant.source == 'brakes':
            message = 'held by the brakes until the first command'
        try:
            condition = self.robot.jacobians(self.simulator.state).condition
        except pd.ParallelDynamicsError:
            condition = math.inf
        values = {
            'mode': self.mode,
            'time (s)': self.simulator.time,
            'real-time factor': self._real_time_factor(),
            'real-time factor wanted': 'any' if self.mode != 'real_time' else self.pacer.factor,
            'dropped to keep up (s)': self.pacer.dropped,
            'energy (J)': self.simulator.energy(),
            'closure residual (m, rad)': self._residual,
            'condition number': float(condition),
            'event': self.plant.event.event if self.plant.event is not None else 'none',
        }
        self._residual = 0.0
        return self.status('simulation', level, message, values)

    def _command_status(self) -> DiagnosticStatus:
        source = self.plant.source
        level, message = OK, f'efforts come from: {source}'
        if source == 'watchdog' and not self.paused:
            level = WARN
            message = f'no command for {self.plant.watchdog:g} s: {self.plant.fallback} efforts'
        values = {
            'commands': self._received,
            'answers that came again': self._again,
            'clamped': self.simulator.clamped,
            'watchdog trips': self.plant.trips,
            'efforts from': source,
        }
        return self.status('commands', level, message, values)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(SimulatorNode, args)


if __name__ == '__main__':
    sys.exit(main())
