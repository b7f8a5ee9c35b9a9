"""The trajectory source as a real process: what it publishes can be followed."""

from __future__ import annotations

import threading
import time

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import pytest
from robots import load
import ros_process
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory

import parallel_dynamics as pd
from parallel_dynamics import trajectories
from parallel_dynamics.nodes import messages

pytestmark = pytest.mark.ros

NAME = 'delta'


class Listener:
    """Somebody who listens to the source, on a robot that stands still."""

    def __init__(self, position=(0.0, 0.0, 0.0)):
        self.position = np.array(position)
        self.peer = ros_process.Peer()
        self.received = self.peer.listen(MultiDOFJointTrajectory, 'desired_trajectory')
        self.reports = self.peer.listen(DiagnosticArray, '/diagnostics')
        self._out = self.peer.publisher(JointState, 'joint_states', matched=False)
        self._ending = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        names = load(NAME).actuators
        while not self._ending:
            stamp = self.peer.node.get_clock().now().to_msg()
            self._out.publish(messages.joint_state_message(names, stamp, self.position))
            time.sleep(0.02)

    def next(self, points=2):
        self.received.clear()
        return self.peer.wait_for(
            lambda: next((m for m in list(self.received) if len(m.points) >= points), None),
            'a trajectory',
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ending = True
        self._thread.join(5.0)
        self.peer.close()


def check(message):
    """Assert that a message is a smooth motion within limits; return times and motions."""
    robot = load(NAME)
    points = messages.read_trajectory_message(message, 'platform', robot.model.bodies[0].name)
    assert points.twist_given
    assert points.rate_given
    verdict = trajectories.check_motion(robot, points.times, points.motion)
    assert verdict.ok, verdict.reason
    h = np.diff(points.times)[:, None]
    p, v = points.motion.position, points.motion.velocity
    # The trapezoidal rule on the velocity, with the end corrections of the acceleration.
    a = points.motion.acceleration
    gap = np.diff(p, axis=0) - 0.5 * h * (v[1:] + v[:-1]) + h**2 / 12.0 * np.diff(a, axis=0)
    assert np.abs(gap).max() < 1e-4
    for end in (0, -1):
        np.testing.assert_allclose(points.motion.data[end, 12:18], 0.0, atol=1e-9)
    return points.times, points.motion


def test_every_kind_is_smooth_and_within_limits(tmp_path):
    robot = load(NAME)
    file = tmp_path / 'motion.csv'
    swing = trajectories.preset(robot, 'swing', duration=0.5, size=0.2)
    trajectories.write_motion(file, swing.grid(100.0), swing.sample(swing.grid(100.0)))
    home = robot.home.position
    poses = [*home, 0, 0, 0, 1, *(home + [0.02, 0, 0.01]), 0, 0, 0, 1, *home, 0, 0, 0, 1]
    options = {'robot': NAME, 'duration': 0.5, 'size': 0.3, 'repeat': 0, 'pause': 0.0}
    with ros_process.start('trajectory_source', kind='hold', **options) as node, Listener() as own:
        for change in (
            *({'kind': kind} for kind in trajectories.KINDS if kind not in ('paper', 'file')),
            {'file': str(file), 'kind': 'file'},
            {'paper': 'chablat_wenger_staicu_2009', 'kind': 'paper', 'size': 0.2},
            {'poses': [float(x) for x in poses], 'kind': 'quintic', 'blend': 0.3},
            {'kind': 'trapezoidal', 'speed': 0.5},
        ):
            results = own.peer.set_parameters('trajectory_source', **change)
            assert all(result.successful for result in results)
            node.wait_for_line(f'{change["kind"]} 1 begins')
            times, motion = check(own.next())
            if change['kind'] == 'file':
                same = swing.sample(times).position
                np.testing.assert_allclose(motion.position, same, atol=1e-6)
        # Two moves of a quarter of a second that overlap by 0.3 of it, at half the speed.
        assert times[-1] == pytest.approx((0.5 - 0.3 * 0.25) / 0.5, rel=1e-6)
        # What cannot be followed is refused, and the last motion stays.
        own.peer.set_parameters('trajectory_source', poses=[float(x) for x in poses[:7]])
        node.wait_for_line('at least two poses')
        own.peer.set_parameters('trajectory_source', poses=[], kind='quintic', speed=100.0)
        node.wait_for_line('cannot follow')
        check(own.next())
        began = [line for line in node.output.splitlines() if ' begins: ' in line]
        assert 'trapezoidal' in began[-1]
        assert own.peer.call(Trigger, 'trajectory_source/stop').success
        own.peer.wait_for(lambda: own.received and len(own.received[-1].points) == 1, 'a stop')
        assert own.peer.call(Trigger, 'trajectory_source/start').success
        check(own.next())
        assert node.stop()[0] == 0
        assert 'Traceback' not in node.output


def test_leads_to_the_start_and_streams():
    robot = load(NAME)
    away = robot.inverse_kinematics(
        pd.PlatformMotion(robot.home.position + [0.03, 0.0, 0.02], robot.home.rotation)
    ).position[list(robot.model.actuators)]
    options = {'robot': NAME, 'kind': 'circle', 'duration': 0.6, 'size': 0.3}
    with ros_process.start('trajectory_source', **options), Listener(away) as own:
        _, motion = check(own.next())
        first = robot.forward_kinematics(away)
        np.testing.assert_allclose(motion.position[0], first.position, atol=1e-6)
        np.testing.assert_allclose(motion.position[-1], robot.home.position, atol=1e-6)
    with ros_process.start('trajectory_source', output='stream', **options), Listener() as own:
        # The motion is over once its last pose has come at rest.
        own.peer.wait_for(lambda: len(own.received) > 20, 'set-points')
        points = list(own.received)
        assert all(len(m.points) == 1 for m in points)
        assert all(messages.seconds(m.points[0].time_from_start) == 0.0 for m in points)
        stamps = [messages.nanoseconds(m.header.stamp) for m in points]
        assert (np.diff(stamps) > 0).all()


def test_what_cannot_be_followed_ends_it_with_the_reason():
    with ros_process.start(
        'trajectory_source', robot=NAME, kind='paper', paper='staicu_3rps_heave', size=10.0,
        ready=False,
    ) as node:  # fmt: skip
        assert node.wait() == 2
        assert 'cannot follow' in node.output
        assert 'Traceback' not in node.output
