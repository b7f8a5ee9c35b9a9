"""The simulator node as a real process: what it publishes, how it keeps time, what it refuses."""

from __future__ import annotations

import contextlib
import signal

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile
import robots
import ros_process
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

import parallel_dynamics as pd
from parallel_dynamics.nodes import messages

pytestmark = pytest.mark.ros


def stamp(message):
    return messages.nanoseconds(message.header.stamp)


class Wire:
    """A controller's end of the wire in lock-step: one command for every new stamp."""

    def __init__(self, peer, namespace=''):
        self.peer, self.name = peer, f'{namespace}simulator'
        self.states = peer.listen(JointState, f'{namespace}joint_states')
        self.reports = peer.listen(DiagnosticArray, '/diagnostics')
        self.out = peer.publisher(Float64MultiArray, f'{namespace}effort_commands')
        peer.wait_for(lambda: self.states, 'a first state')
        self.last = self.states[-1]

    def tick(self, efforts):
        """Send a command and return the state after it."""
        before = stamp(self.last)
        self.out.publish(Float64MultiArray(data=list(efforts)))
        self.peer.wait_for(lambda: stamp(self.states[-1]) > before, 'the next state')
        self.last = self.states[-1]
        return self.last

    def call(self, service):
        return self.peer.call(Trigger, f'{self.name}/{service}')

    def status(self, task, condition, what):
        """Wait for diagnostics that satisfy a condition on level, message and values."""

        def found():
            for report in reversed(list(self.reports)):
                for s in report.status:
                    values = {v.key: v.value for v in s.values}
                    if s.name.endswith(f'simulator: {task}') and condition(s, values):
                        return s, values
            return None

        return self.peer.wait_for(found, what)


@contextlib.contextmanager
def lock_step(**parameters):
    with ros_process.start('simulator', mode='lock_step', **parameters) as node:
        with ros_process.Peer() as peer:
            yield node, Wire(peer)


@pytest.mark.parametrize('name', ['three_rps', 'gough_stewart'])
def test_lock_step_is_the_library_bit_by_bit(name):
    robot = robots.load(name)
    rng = np.random.default_rng(5)
    commands = robot.inverse_dynamics(robot.home) * (1 + 0.2 * rng.normal(size=(20, robot.dof)))
    simulator = pd.Simulator(robot, effort_limits=True, tolerance=1e-7)
    with lock_step(robot=name, publish_clock=True) as (node, wire):
        clocks = wire.peer.listen(Clock, '/clock')
        poses = wire.peer.listen(PoseStamped, 'platform/pose')
        twists = wire.peer.listen(TwistStamped, 'platform/twist')
        accels = wire.peer.listen(AccelStamped, 'platform/accel')
        assert stamp(wire.last) == 0
        for k, row in enumerate(commands):
            state = wire.tick(row)
            for _ in range(2):
                simulator.step(row, 1e-3)
            measured = simulator.measure()
            assert stamp(state) == 2_000_000 * (k + 1)
            count = len(measured.names)
            assert list(state.position[:count]) == measured.position.tolist()
            assert list(state.velocity[:count]) == measured.velocity.tolist()
        efforts = dict(zip(state.name, state.effort))
        assert [efforts.pop(a) for a in robot.actuators] == row.tolist()
        assert set(efforts.values()) == {0.0}
        virtual = [j.name for j in robot.model.chain]
        assert list(state.name) == [*robot.joints, *virtual]
        pose = robot.pose_from_virtual_joints(
            dict(zip(virtual, state.position[len(robot.joints) :]))
        )
        np.testing.assert_allclose(pose.data[:12], simulator.state.data[:12], atol=1e-9)
        last = stamp(state)
        for found in (poses, twists, accels):
            wire.peer.wait_for(lambda f=found: f and stamp(f[-1]) == last, 'the platform')
            assert found[-1].header.frame_id == robot.model.bodies[0].name
        m = messages.read_pose(poses[-1].pose)
        np.testing.assert_allclose(m.data[:12], simulator.state.data[:12], atol=1e-12)
        assert [getattr(accels[-1].accel.linear, a) for a in 'xyz'] == (
            simulator.state.acceleration.tolist()
        )
        assert messages.nanoseconds(clocks[-1].clock) == last
        assert node.stop(signal.SIGTERM)[0] == 0


def test_an_answer_said_twice_counts_once():
    """A state that waits is said again; an answer to one that waits no more is dropped."""
    weight = robots.load('delta').inverse_dynamics(robots.load('delta').home)
    with lock_step(robot='delta', diagnostics_rate=10.0) as (_, wire):
        count = len(wire.states)
        wire.peer.wait_for(lambda: len(wire.states) > count + 1, 'the state again')
        assert {stamp(state) for state in wire.states} == {0}
        command = messages.effort_message(3)
        command.data = weight.tolist()
        for k in range(5):
            messages.set_answered(command, stamp(wire.last))
            for _ in range(1 + k % 2):
                wire.out.publish(command)
            wire.peer.wait_for(lambda: stamp(wire.states[-1]) > stamp(wire.last), 'the next')
            wire.last = wire.states[-1]
        wire.status('commands', lambda s, v: v['answers that came again'] == '2', 'the count')
        assert {stamp(state) for state in wire.states} == {2_000_000 * k for k in range(6)}


def test_services_of_a_paused_simulation(tmp_path):
    robot = robots.load('delta')
    weight = robot.inverse_dynamics(robot.home)
    with lock_step(robot='delta', publish_clock=True) as (_, wire):
        clocks = wire.peer.listen(Clock, '/clock')
        for _ in range(5):
            wire.tick(1.1 * weight)
        assert wire.call('save').success
        rows = [list(wire.tick((1.1 + 0.01 * k) * weight).position) for k in range(5)]
        before = stamp(wire.last)
        assert wire.call('load').success  # the state goes back, the clock does not
        again = [list(wire.tick((1.1 + 0.01 * k) * weight).position) for k in range(5)]
        assert again == rows
        assert stamp(wire.last) == before + 10_000_000
        # To a file, and from it.
        wire.peer.set_parameters('simulator', snapshot=str(tmp_path / 'saved.json'))
        assert wire.call('save').success
        here = list(wire.last.position)
        wire.tick(1.2 * weight)
        assert wire.call('load').success
        wire.peer.wait_for(lambda: list(wire.states[-1].position) == here, 'the saved state')
        wire.peer.set_parameters('simulator', snapshot=str(tmp_path / 'missing.json'))
        answer = wire.call('load')
        assert not answer.success
        assert 'missing.json' in answer.message
        # Step while paused only; commands are held and do not pass time then.
        assert not wire.call('step').success
        assert wire.call('pause').success
        assert wire.peer.set_parameters('simulator', step_count=7)[0].successful
        answer = wire.call('step')
        assert answer.success, answer
        assert answer.message.startswith('7 steps')
        after = stamp(wire.peer.wait_for(lambda: wire.states[-1], 'a state'))
        wire.out.publish(Float64MultiArray(data=weight.tolist()))
        assert wire.call('pause').success
        assert stamp(wire.states[-1]) == after
        assert not wire.peer.set_parameters('simulator', step_count=0)[0].successful
        # Reset to home, to a pose by parameter and by topic; refused where it cannot be.
        assert wire.call('resume').success
        assert wire.call('reset').success
        wire.peer.wait_for(lambda: _near(wire.states[-1], robot, robot.home), 'home')
        assert stamp(wire.states[-1]) >= after
        pose = [0.03, 0.0, float(robot.home.position[2]), 0.0, 0.0, 0.0, 1.0]
        wire.peer.set_parameters('simulator', reset_pose=pose)
        assert wire.call('reset').success
        there = pd.PlatformMotion(pose[:3], np.eye(3))
        wire.peer.wait_for(lambda: _near(wire.states[-1], robot, there), 'the pose')
        wire.peer.set_parameters('simulator', reset_pose=[9.0, *pose[1:]])
        answer = wire.call('reset')
        assert not answer.success
        assert 'unreachable' in answer.message
        send = wire.peer.publisher(PoseStamped, 'simulator/reset_to')
        send.publish(messages.pose_message(robot.home, messages.time_message(0), ''))
        wire.peer.wait_for(lambda: _near(wire.states[-1], robot, robot.home), 'home again')
        # Until now the clock never went back; with reset_time it does.
        times = [messages.nanoseconds(c.clock) for c in clocks]
        assert times == sorted(times)
        wire.peer.set_parameters('simulator', reset_time=True, reset_pose=[])
        answer = wire.call('reset')
        assert answer.success, answer
        wire.peer.wait_for(lambda: messages.nanoseconds(clocks[-1].clock) == 0, 'time zero')


def _near(state, robot, pose):
    q = robot.inverse_kinematics(pose).position
    return np.allclose(state.position[: len(q)], q, atol=1e-9)


def test_bad_input_is_refused_counted_and_said():
    robot = robots.load('gough_stewart')
    weight = robot.inverse_dynamics(robot.home)
    with lock_step(diagnostics_rate=10.0) as (node, wire):
        named = wire.peer.publisher(JointState, 'joint_commands')
        push = wire.peer.publisher(WrenchStamped, 'external_wrench')
        moved = wire.peer.publisher(Odometry, 'base_motion')
        for bad in ([], [1.0] * 5, [float('nan')] * 6, [float('inf')] * 6):
            wire.out.publish(Float64MultiArray(data=bad))
        named.publish(JointState(name=robot.actuators[:3], effort=[0.0] * 3))
        named.publish(JointState(name=robot.actuators, effort=[float('nan')] * 6))
        late = JointState(name=robot.actuators, effort=weight.tolist())
        late.header.stamp = messages.time_message(123)
        named.publish(late)
        wrench = WrenchStamped()
        wrench.wrench.force.x = float('nan')
        push.publish(wrench)
        odometry = Odometry()
        odometry.pose.pose.orientation.w = 0.0
        moved.publish(odometry)
        expected = {'effort_commands': 4, 'joint_commands': 3, 'external_wrench': 1,
                    'base_motion': 1}  # fmt: skip
        wire.status(
            'input',
            lambda s, v: all(v.get(f'{t} refused') == str(n) for t, n in expected.items()),
            'all refusals',
        )
        assert stamp(wire.states[-1]) == 0  # none of them passed time
        # By name, in another order; beyond the limits it is clamped.
        names = list(reversed(robot.actuators))
        named.publish(JointState(name=names, effort=[1e6, *weight[::-1][1:].tolist()]))
        state = wire.peer.wait_for(
            lambda: stamp(wire.states[-1]) == 2_000_000 and wire.states[-1], 'a tick'
        )
        efforts = dict(zip(state.name, state.effort))
        assert efforts[names[0]] == robot.model.joints[robot.model.actuators[-1]].effort_limit
        assert efforts[names[1]] == weight[-2]
        wire.status('commands', lambda s, v: v['clamped'] != '0', 'a clamped command')
        assert node.alive


def test_wrench_and_base_act_as_in_the_library():
    robot = robots.load('gough_stewart')
    weight = robot.inverse_dynamics(robot.home)
    with lock_step() as (_, wire):
        push = wire.peer.publisher(WrenchStamped, 'external_wrench')
        moved = wire.peer.publisher(Odometry, 'base_motion')
        shaken = wire.peer.publisher(AccelStamped, 'base_accel')
        wrench = np.array([30.0, -20.0, 10.0, 1.0, 2.0, 3.0])
        push.publish(messages.wrench_message(wrench, messages.time_message(0), ''))
        odometry, accel = Odometry(), AccelStamped()
        odometry.pose.pose.orientation.x, odometry.pose.pose.orientation.w = 0.6, 0.8
        odometry.twist.twist.angular.z = 0.3
        accel.accel.linear.x = 1.5
        moved.publish(odometry)
        shaken.publish(accel)
        base = messages.read_base_motion(odometry, accel)
        expected = pd.Simulator(robot, effort_limits=True, tolerance=1e-7)

        def follows():  # the inputs come on topics of their own: until all are there, try again
            expected.reset()
            wire.call('reset')
            wire.peer.wait_for(lambda: _near(wire.states[-1], robot, robot.home), 'home')
            wire.last = wire.states[-1]
            for _ in range(5):
                state = wire.tick(weight)
                for _ in range(2):
                    expected.step(weight, 1e-3, wrench=wrench, base=base)
            q = expected.measure().position
            return np.allclose(state.position[: len(q)], q, rtol=0, atol=1e-13)

        wire.peer.wait_for(follows, 'the motion of the library')


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_real_time_watchdog_description_and_end(number):
    robot = robots.load('three_rps')
    with ros_process.start(
        'simulator', robot='three_rps', publish_clock=True, watchdog_action='zero', watchdog=0.05,
        diagnostics_rate=10.0, limits='stiff',
    ) as node, ros_process.Peer() as peer:  # fmt: skip
        wire = Wire(peer)
        clocks = peer.listen(Clock, '/clock')
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        description = peer.listen(String, 'robot_description', latched)
        peer.wait_for(lambda: description, 'the description')
        assert description[-1].data == robot.model.urdf_path.read_text(encoding='utf-8')
        peer.wait_for(lambda: len(clocks) > 100, 'a clock that runs')
        times = [messages.nanoseconds(c.clock) for c in list(clocks)]
        assert times == sorted(times)
        gaps = np.diff(sorted(set(times)))
        assert np.median(gaps) == 2_000_000  # states every 2 ms of simulated time
        wire.status('simulation', lambda s, v: 'brakes' in s.message, 'brakes')
        _, values = wire.status('publishing', lambda s, v: True, 'the loop')
        assert {'rate (Hz)', 'jitter 99 % (ms)', 'overruns'} <= set(values)
        _, values = wire.status('simulation', lambda s, v: True, 'the simulation')
        assert {'real-time factor', 'energy (J)', 'closure residual (m, rad)',
                'condition number'} <= set(values)  # fmt: skip
        wire.out.publish(Float64MultiArray(data=robot.inverse_dynamics(robot.home).tolist()))
        wire.status('commands', lambda s, v: v['watchdog trips'] == '1', 'the watchdog')
        peer.wait_for(lambda: not any(wire.states[-1].effort), 'no efforts')
        code, seconds = node.stop(number)
        assert code == 0, node.output
        assert seconds < 1.0
        assert 'Traceback' not in node.output


def test_as_fast_as_possible_until_an_event_and_on_after_a_reset():
    robot = robots.load('gough_stewart')
    with ros_process.start(
        'simulator', mode='fast', watchdog=0.0, publish_clock=True, diagnostics_rate=10.0,
        publish_rate=50.0, brakes=False, watchdog_action='gravity',
    ) as node, ros_process.Peer() as peer:  # fmt: skip
        wire = Wire(peer)
        _, first = wire.status('simulation', lambda s, v: True, 'the simulation')
        _, values = wire.status(
            'simulation', lambda s, v: float(v['time (s)']) > float(first['time (s)']) + 5, 'time'
        )
        assert _near(wire.states[-1], robot, robot.home)
        wire.out.publish(Float64MultiArray(data=[0.0] * 6))  # falls, until it cannot any more
        status, values = wire.status('simulation', lambda s, v: v['event'] != 'none', 'an event')
        assert status.level == b'\x02'
        assert 'position' in status.message
        node.wait_for_line(values['event'])
        stopped = stamp(wire.states[-1])
        assert not wire.call('resume').success
        assert wire.call('reset').success
        peer.wait_for(lambda: stamp(wire.states[-1]) > stopped + 1_000_000_000, 'time again')
        assert node.alive
