"""The node `viewer`: a page in the browser that shows a running loop and has its buttons.

It moves with ``joint_states`` (all joints, or the actuated ones alone) and looks at
``platform/twist``, ``platform/accel``, ``desired_trajectory``, ``effort_commands``,
``external_wrench``, ``base_motion``, ``base_accel`` and ``/diagnostics``. Its buttons call the
services of the nodes that the parameters ``simulator`` and ``controller`` name; Push publishes on
``external_wrench``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import contextlib
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import AccelStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory

import parallel_dynamics as pd
from parallel_dynamics import viewer
from parallel_dynamics.nodes import messages
from parallel_dynamics.nodes.runtime import BAD_MESSAGE, ERROR, OK, WARN, Loop, RobotNode, run
from parallel_dynamics.spatial import Array
from parallel_dynamics.viewer.live import Action, LivePage

LATEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""A page shows the newest; what it missed is of no use to it."""
TOPICS = {
    'joint_states': JointState,
    'platform/twist': TwistStamped,
    'platform/accel': AccelStamped,
    'desired_trajectory': MultiDOFJointTrajectory,
    'effort_commands': Float64MultiArray,
    'external_wrench': WrenchStamped,
    'base_motion': Odometry,
    'base_accel': AccelStamped,
}
SILENCE = 1.5
"""Seconds without joint_states after which the page says so."""
STANDSTILL = 0.5
"""Seconds without a new time in joint_states after which the page says that it stands still."""
SIMULATOR_ACTIONS = ('pause', 'resume', 'step', 'reset')


class ViewerNode(RobotNode):
    """Serves the page; every callback runs in the executor's thread."""

    def __init__(self) -> None:
        super().__init__('viewer')
        declare = self.parameters.declare
        host = declare('host', '127.0.0.1', 'Address to listen on.', fixed=True)
        port = declare('port', 8080, 'Port of the page; 0 for any that is free.', minimum=0,
                       maximum=65535, fixed=True)  # fmt: skip
        rate = declare('rate', 30.0, 'Pictures per second.', minimum=1.0, maximum=120.0,
                       change=lambda value: self._loop.set_rate(value))  # fmt: skip
        history = declare('history', 10.0, 'Seconds of the curves.', minimum=1.0, maximum=600.0,
                          fixed=True)  # fmt: skip
        names = {
            'simulator': declare('simulator', 'simulator', 'Node whose time the buttons move.',
                                 fixed=True),
            'controller': declare('controller', 'controller', 'Node that the buttons enable.',
                                  fixed=True),
        }  # fmt: skip
        self._server = viewer.start_server(self.robot.name, host, port)
        self.page = LivePage(self._server, self.robot, history)
        # Kept as bytes: at the rate of a control loop most are never looked at.
        self._raw: dict[str, bytes] = {}
        self._fresh: set[str] = set()
        self._read: dict[str, Any] = {}
        for topic, kind in TOPICS.items():
            self.create_subscription(
                kind, topic, lambda data, topic=topic: self._keep(topic, data), LATEST, raw=True
            )
        self.listen(DiagnosticArray, '/diagnostics', self._take_diagnostics)
        self._push = self.announce(WrenchStamped, 'external_wrench')
        self._push_until: float | None = None
        self._push_wrench = np.zeros(6)
        self._callers = {
            **{name: self.create_client(Trigger, f'{names["simulator"]}/{name}')
               for name in SIMULATOR_ACTIONS},
            'enable': self.create_client(SetBool, f'{names["controller"]}/enable'),
            'stop': self.create_client(Trigger, f'{names["controller"]}/stop'),
            'emergency_stop': self.create_client(
                Trigger, f'{names["controller"]}/emergency_stop'),
        }  # fmt: skip
        self._reports: dict[str, str] = {}
        self._simulator = names['simulator'].strip('/').split('/')[-1]
        self._faults: dict[str, str] = {}
        self._heard: float | None = None
        self._time, self._time_changed = -1.0, 0.0
        self._guess = self.robot.home
        self._chain = [joint.name for joint in self.robot.model.chain]
        self._ticks = 0
        self._loop = Loop(self, rate, self._tick)
        self.get_logger().info(f'page: {viewer.address(self._server)}')

    def close(self) -> None:
        """Close the page."""
        viewer.stop_server(self._server)

    # ------------------------------------------------------------ input

    def _keep(self, topic: str, data: bytes) -> None:
        self._raw[topic] = data
        self._fresh.add(topic)

    def _latest(self, topic: str) -> Any:
        """Return the newest message of a topic, or None."""
        if topic in self._fresh:
            self._fresh.discard(topic)
            self._read[topic] = deserialize_message(self._raw[topic], TOPICS[topic])
        return self._read.get(topic)

    def _optional(self, topic: str, read: Callable[[Any], Any]) -> Any:
        """Return what the newest message of a topic says, or None; drop one that is refused."""
        message = self._latest(topic)
        if message is None:
            return None
        try:
            return read(message)
        except BAD_MESSAGE as error:
            del self._read[topic]
            self.refuse(topic, str(error))
            return None

    def _take_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if not status.name.startswith(f'{self.get_name()}:'):
                self._reports[status.name] = status.message
                if status.name.startswith(f'{self._simulator}:'):
                    self._faults[status.name] = status.message if status.level == ERROR else ''

    # ------------------------------------------------------------ the page

    def _tick(self) -> None:
        self._ticks += 1
        while not self.page.actions.empty():
            self._act(self.page.actions.get())
        self._go_on_pushing()
        try:
            self._show()
        except BAD_MESSAGE as error:
            self.refuse('joint_states', str(error))
            self.page.say(f'Cannot be shown: {error}', good=False)
        if self._ticks % 4 == 0:
            self.page.write(sorted(self._reports.items()))

    def _show(self) -> None:
        now = time.monotonic()
        if 'joint_states' not in self._fresh:
            if self._heard is not None and now - self._heard > SILENCE:
                self.page.say(
                    f'No joint_states for {now - self._heard:.0f} s: is the loop running?',
                    good=False,
                )
            return
        self._heard = now
        state = self._latest('joint_states')
        motion = self._motion(state)
        desired = self._desired()
        if desired is not None:
            self.page.desire(desired)
        stamp = messages.seconds(state.header.stamp)
        self._say_what_goes_on(now, stamp)
        self.page.show(
            stamp, motion, self._efforts(state),
            self._wrench(motion), self._base(),
        )  # fmt: skip

    def _say_what_goes_on(self, now: float, stamp: float) -> None:
        if stamp != self._time:
            self._time, self._time_changed = stamp, now
        if now - self._time_changed > STANDSTILL:
            why = '; '.join(text for text in self._faults.values() if text)
            self.page.say(
                f'Paused or stopped: joint_states stay at {stamp:.3f} s. {why}'.rstrip(),
                good=not (why or self.page.shown.violations),
            )
        elif self.page.shown.violations:
            self.page.say('Running, beyond the limits named in red.', good=False)
        else:
            self.page.say('Running: the page follows joint_states.')

    def _motion(self, state: JointState) -> pd.PlatformMotion:
        """Return the platform's motion, as far as the messages tell."""
        robot = self.robot
        if set(self._chain) <= set(state.name):
            values = messages.read_joints(state, self._chain, 'position')
            pose = robot.pose_from_virtual_joints(dict(zip(self._chain, values.tolist())))
        else:
            position = messages.read_joints(state, robot.actuators, 'position')
            pose = robot.forward_kinematics(position, guess=self._guess)
        self._guess = pose
        twist = self._optional('platform/twist', _twist)
        if twist is None:
            return pose
        accel = self._optional('platform/accel', _accel)
        moving = pose.replace(twist, np.zeros(6) if accel is None else accel)
        return moving if robot.dof == 6 else robot.project(moving)

    def _efforts(self, state: JointState) -> Array | None:
        if len(state.effort) == len(state.name):
            with contextlib.suppress(pd.InputError):  # NaN where they are not measured
                return messages.read_joints(state, self.robot.actuators, 'effort')
        return self._optional(
            'effort_commands',
            lambda message: messages.read_numbers('efforts', message.data, self.robot.dof),
        )  # fmt: skip

    def _desired(self) -> Array | None:
        if 'desired_trajectory' not in self._fresh:
            return None
        return self._optional('desired_trajectory', _positions)

    def _wrench(self, motion: pd.PlatformMotion) -> Array | None:
        return self._optional(
            'external_wrench',
            lambda message: messages.read_wrench(
                message, self.base_link, self.platform_link, motion.rotation
            ),
        )

    def _base(self) -> pd.BaseMotion | None:
        base = self._optional('base_motion', messages.read_base_motion)
        if base is None:
            return None
        odometry = self._latest('base_motion')
        moving = self._optional(
            'base_accel', lambda message: messages.read_base_motion(odometry, message)
        )
        return base if moving is None else moving

    # ------------------------------------------------------------ buttons

    def _act(self, action: Action) -> None:
        if action.name == 'push':
            self._push_wrench = np.array(action.wrench)
            self._push_until = time.monotonic() + action.duration
            self.page.answer(f'push: {action.wrench[:3]} N for {action.duration:g} s', True)
            return
        client = self._callers[action.name]
        if not client.service_is_ready():
            self.page.answer(f'{action.name}: nobody offers the service {client.srv_name}', False)
            return
        request = SetBool.Request(data=True) if action.name == 'enable' else Trigger.Request()
        future = client.call_async(request)
        future.add_done_callback(lambda done: self._answered(action.name, done))

    def _answered(self, name: str, future: Any) -> None:
        if future.exception() is not None:
            self.page.answer(f'{name}: {future.exception()}', False)
            return
        response = future.result()
        done = 'done' if response.success else 'refused'
        self.page.answer(f'{name}: {response.message or done}', bool(response.success))

    def _go_on_pushing(self) -> None:
        if self._push_until is None:
            return
        over = time.monotonic() > self._push_until
        wrench = np.zeros(6) if over else self._push_wrench
        self._push.publish(messages.wrench_message(wrench, self.stamp(), self.base_link))
        if over:
            self._push_until = None

    # ------------------------------------------------------------ diagnostics

    def diagnose(self) -> Iterable[DiagnosticStatus]:
        """Return how steady the page is, and whether it has something to show."""
        yield self.loop_status('page', self._loop.statistics)
        seen = self._heard is not None and time.monotonic() - self._heard < SILENCE
        yield self.status(
            'input', OK if seen else WARN, 'joint_states come' if seen else 'no joint_states',
            {'address': viewer.address(self._server), 'browsers': len(self._server.get_clients())},
        )  # fmt: skip


def _twist(message: TwistStamped) -> Array:
    return _six('twist', message.twist)


def _accel(message: AccelStamped) -> Array:
    return _six('acceleration', message.accel)


def _six(name: str, message: Any) -> Array:
    parts = (message.linear, message.angular)
    return messages.read_numbers(name, [v for part in parts for v in (part.x, part.y, part.z)])


def _positions(message: MultiDOFJointTrajectory) -> Array:
    motions = [messages.read_trajectory_point(point) for point in message.points]
    return np.array([motion.position for motion in motions]).reshape(-1, 3)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(ViewerNode, args)


if __name__ == '__main__':
    sys.exit(main())
