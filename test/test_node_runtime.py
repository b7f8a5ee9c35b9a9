"""What all nodes share: parameters, loops, refused messages, diagnostics, start and stop."""

from __future__ import annotations

import os
from pathlib import Path
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import AccelStamped, PoseStamped, WrenchStamped
from nav_msgs.msg import Odometry
import numpy as np
import pytest
import ros_process
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

import parallel_dynamics as pd
from parallel_dynamics.nodes import messages, middleware
from parallel_dynamics.nodes.statistics import LoopStatistics

pytestmark = pytest.mark.ros

NODE = """
import sys
from std_msgs.msg import Float64MultiArray
from parallel_dynamics.nodes import runtime
from parallel_dynamics.nodes.messages import read_numbers


class Echo(runtime.RobotNode):
    def __init__(self):
        super().__init__('echo')
        rate = self.parameters.declare(
            'rate', 100.0, 'Hz.', minimum=1.0, maximum=1000.0,
            change=lambda value: self.loop.set_rate(value))
        self.parameters.declare('mode', 'fast', 'How.', choices=('fast', 'slow'))
        self.parameters.declare('gains', [1.0, 2.0, 3.0], 'Gains.', length=3, minimum=0.0)
        self.parameters.declare('count', 3, 'How many.', minimum=1)
        self.last = [0.0]
        self.out = self.announce(Float64MultiArray, 'out')
        self.listen(Float64MultiArray, 'in', self.take)
        self.loop = runtime.Loop(self, rate, self.tick)

    def take(self, message):
        self.last = read_numbers('in', message.data, 3).tolist()

    def tick(self):
        self.out.publish(Float64MultiArray(data=self.last))

    def diagnose(self):
        yield self.loop_status('loop', self.loop.statistics)
        yield self.status('values', runtime.OK, 'fine', dict(self.parameters._values))


sys.exit(runtime.run(Echo))
"""


@pytest.fixture
def echo(tmp_path):
    script = tmp_path / 'echo.py'
    script.write_text(NODE)
    started = []

    def echo(*words, ready=True, **environment):
        process = ros_process.RosProcess([sys.executable, script, *words], **environment)
        started.append(process)
        if ready:
            process.wait_for_line('ready')
        return process

    yield echo
    for process in started:
        process.end()


@pytest.mark.parametrize('executor', ['events', 'single'])
def test_loop_input_and_diagnostics(echo, executor):
    node = echo('--ros-args', '-p', 'rate:=200', PARALLEL_DYNAMICS_EXECUTOR=executor)
    with ros_process.Peer() as peer:
        out = peer.listen(Float64MultiArray, 'out')
        reports = peer.listen(DiagnosticArray, '/diagnostics')
        send = peer.publisher(Float64MultiArray, 'in')
        send.publish(Float64MultiArray(data=[1.0, 2.0, 3.0]))
        peer.wait_for(lambda: out and list(out[-1].data) == [1.0, 2.0, 3.0], 'the echo')
        for bad in ([1.0], [1.0, float('nan'), 2.0], [], [float('inf')] * 3):
            send.publish(Float64MultiArray(data=bad))
        refused = 'in refused'

        def count():
            lines = [s for r in reports for s in r.status if s.name == 'echo: input']
            return [v.value for s in lines for v in s.values if v.key == refused][-1:] == ['4']

        peer.wait_for(count, 'four refused messages in the diagnostics')
        assert list(out[-1].data) == [1.0, 2.0, 3.0]
        assert node.alive
        loop = [s for r in reports for s in r.status if s.name == 'echo: loop'][-1]
        assert {'rate (Hz)', 'jitter 99 % (ms)', 'overruns'} <= {v.key for v in loop.values}
        assert loop.hardware_id == 'gough_stewart'


def test_parameters_take_integers_and_refuse_nonsense(echo):
    echo('--ros-args', '-p', 'rate:=50', '-p', 'gains:=[1, 2, 3]')
    with ros_process.Peer() as peer:
        good = peer.set_parameters('echo', rate=60, mode='slow', gains=[0, 1, 2], count=5)
        assert all(result.successful for result in good), good
        for name, value, words in (
            ('rate', 0, 'from 1 to 1000'), ('rate', float('nan'), 'range'),
            ('rate', 'fast', 'finite number'), ('mode', 'medium', 'one of fast, slow'),
            ('gains', [1.0, 2.0], '3 numbers'), ('gains', [-1.0, 0.0, 0.0], 'from 0'),
            ('count', 2.5, 'whole number'), ('robot', 'delta', 'read-only'),
        ):  # fmt: skip
            (result,) = peer.set_parameters('echo', **{name: value})
            assert not result.successful
            assert words in result.reason


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_ends_cleanly_within_a_second(echo, number):
    node = echo()
    code, seconds = node.stop(number)
    assert code == 0, node.output
    assert seconds < 1.0
    assert 'Traceback' not in node.output


def test_ends_within_a_second_while_it_starts(echo):
    node = echo(ready=False)
    time.sleep(0.5)
    _, seconds = node.stop(signal.SIGTERM)
    assert seconds < 1.5  # Python itself may still be importing


@pytest.mark.parametrize('words', [('-p', 'robot:=no_such_robot'), ('-p', 'rate:=-3.0')])
def test_bad_start_is_one_sentence(echo, words):
    node = echo('--ros-args', *words, ready=False)
    assert node.wait() == 2
    assert 'Traceback' not in node.output
    assert words[1].split(':=')[0] in node.output


# ---------------------------------------------------------------- statistics and messages


def test_statistics_see_lateness_and_overruns():
    statistics = LoopStatistics(0.005)
    for k in range(20):
        statistics.begin()
        if k == 10:
            time.sleep(0.02)
        statistics.end()
        time.sleep(0.004)
    summary = statistics.summary()
    assert summary.ticks == 20
    assert summary.overruns >= 2  # the tick itself was too long, and the next came late
    assert summary.jitter_worst > 0.01
    assert summary.jitter_median <= summary.jitter_99 <= summary.jitter_worst


def test_platform_messages_there_and_back():
    generator = np.random.default_rng(3)
    rotation = Rotation.from_rotvec(generator.normal(size=3)).as_matrix()
    m = pd.PlatformMotion(generator.normal(size=3), rotation, *generator.normal(size=(4, 3)))
    back = messages.read_trajectory_point(messages.trajectory_point(m, 1.25))
    np.testing.assert_allclose(back.data, m.data, atol=1e-15)
    stamp = messages.time_message(1_500_000_001)
    assert messages.seconds(stamp) == pytest.approx(1.500000001)
    pose = messages.read_pose(messages.pose_message(m, stamp, 'base').pose)
    np.testing.assert_allclose(pose.data[:12], m.data[:12], atol=1e-15)
    with pytest.raises(pd.InputError, match='norm'):
        messages.read_pose(_with_zero_quaternion())


def _with_zero_quaternion():
    pose = PoseStamped().pose
    pose.orientation.w = 0.0
    return pose


def test_joints_are_read_by_name():
    message = JointState(name=['b', 'x', 'a'], position=[2.0, 9.0, 1.0])
    assert messages.read_joints(message, ['a', 'b'], 'position').tolist() == [1.0, 2.0]
    with pytest.raises(pd.InputError, match='missing'):
        messages.read_joints(message, ['a', 'c'], 'position')
    with pytest.raises(pd.InputError, match='for each of its 3 names'):
        messages.read_joints(message, ['a'], 'velocity')


def test_wrench_is_turned_into_base_axes():
    message = WrenchStamped()
    message.wrench.force.x, message.wrench.torque.y = 1.0, 2.0
    turn = Rotation.from_euler('z', 90, degrees=True).as_matrix()
    same = messages.read_wrench(message, 'base', 'platform', turn)
    np.testing.assert_allclose(same, [1, 0, 0, 0, 2, 0])
    message.header.frame_id = 'platform'
    turned = messages.read_wrench(message, 'base', 'platform', turn)
    np.testing.assert_allclose(turned, [0, 1, 0, -2, 0, 0], atol=1e-15)
    message.header.frame_id = 'elsewhere'
    with pytest.raises(pd.InputError, match='elsewhere'):
        messages.read_wrench(message, 'base', 'platform', turn)


def test_base_motion_is_in_base_axes():
    turn = Rotation.from_euler('z', 90, degrees=True)
    odometry, accel = Odometry(), AccelStamped()
    odometry.header.frame_id, odometry.child_frame_id = 'world', 'base_link'
    odometry.pose.pose.orientation.w = odometry.pose.pose.orientation.z = 0.5**0.5
    odometry.twist.twist.linear.x = 3.0
    accel.header.frame_id, accel.accel.linear.x = 'base_link', 1.0
    base = messages.read_base_motion(odometry, accel)
    np.testing.assert_allclose(base.rotation, turn.as_matrix(), atol=1e-15)
    np.testing.assert_allclose(base.velocity, [3, 0, 0])
    np.testing.assert_allclose(base.acceleration, [1, 0, 0])
    accel.header.frame_id = 'world'
    base = messages.read_base_motion(odometry, accel)
    np.testing.assert_allclose(base.acceleration, [0, -1, 0], atol=1e-15)


def test_middleware_is_set_up_unless_the_user_has_done_so():
    environment = {}
    middleware.prefer(environment)
    assert environment[middleware.TRANSPORT] == 'UDPv4'
    (file,) = {environment[name] for name in middleware.PROFILES}
    period = ElementTree.parse(file).getroot().find('.//{*}heartbeatPeriod/{*}nanosec')
    assert int(period.text) == 100_000_000
    own = {middleware.TRANSPORT: 'SHM', middleware.PROFILES[0]: 'mine.xml'}
    given = dict(own)
    middleware.prefer(given)
    assert given == own


def test_on_this_machine_alone_nodes_use_no_shared_memory():
    environment = {middleware.RANGE: 'LOCALHOST'}
    for _ in range(2):  # as a process and one that it starts
        middleware.prefer(environment)
        assert environment[middleware.RANGE] == 'SYSTEM_DEFAULT'
        assert {environment[name] for name in middleware.PROFILES} == {middleware.LOOPBACK}
    (kind,) = ElementTree.parse(middleware.LOOPBACK).getroot().findall('.//{*}type')
    assert kind.text == 'UDPv4'
    environment[middleware.RANGE] = 'LOCALHOST'
    middleware.prefer(environment)
    assert environment[middleware.RANGE] == 'SYSTEM_DEFAULT'
    environment[middleware.RANGE] = 'SUBNET'
    middleware.prefer(environment)
    assert environment[middleware.RANGE] == 'SUBNET'
    assert {environment[name] for name in middleware.PROFILES} == {middleware.NETWORK}
    for own in (
        {middleware.IMPLEMENTATION: 'rmw_cyclonedds_cpp'}, {middleware.TRANSPORT: 'SHM'},
        {middleware.PEERS: '10.0.0.1'},
    ):  # fmt: skip
        given = {middleware.RANGE: 'LOCALHOST', **own}
        middleware.prefer(given)
        assert given[middleware.RANGE] == 'LOCALHOST'


STRANGER = """
import sys, time
import rclpy
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
rclpy.init()
node, heard = rclpy.create_node('stranger'), []
node.create_subscription(JointState, 'joint_states', heard.append, 10)
client = node.create_client(Trigger, 'simulator/pause')
assert client.wait_for_service(60.0)
answer = client.call_async(Trigger.Request())
end = time.monotonic() + 60.0
while not (heard and answer.done()):
    assert time.monotonic() < end, heard
    rclpy.spin_once(node, timeout_sec=0.1)
assert answer.result().success
rclpy.shutdown()
"""


@pytest.mark.parametrize('reach', ['LOCALHOST', 'SUBNET'])
def test_nodes_set_up_in_the_usual_way_are_understood(reach):
    usual = {name: value for name, value in os.environ.items()
             if name not in (*middleware.PROFILES, middleware.TRANSPORT)}  # fmt: skip
    with ros_process.start('simulator', robot='delta') as simulator:
        stranger = subprocess.run(
            [sys.executable, '-c', STRANGER], env={**usual, middleware.RANGE: reach},
            capture_output=True, text=True, timeout=180.0,
        )  # fmt: skip
        assert stranger.returncode == 0, stranger.stderr + simulator.output
        assert not segments(simulator.process.pid)


def segments(pid):
    """Return what a process holds of Fast DDS's shared memory."""
    maps = Path(f'/proc/{pid}/maps').read_text(encoding='utf-8')
    return [line for line in maps.splitlines() if 'fastrtps' in line and '/dev/shm' in line]
