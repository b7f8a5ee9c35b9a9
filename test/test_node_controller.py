"""The controller node as a real process, facing a robot that stands still (or says it moves)."""

from __future__ import annotations

import contextlib
import errno
import json
from pathlib import Path
import threading
import time
import xml.etree.ElementTree as ElementTree

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import AccelStamped, Transform, Twist
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.parameter import Parameter
from robots import load
import ros_process
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import (
    JointTrajectory,
    MultiDOFJointTrajectory,
    MultiDOFJointTrajectoryPoint,
)
import yaml

import parallel_dynamics as pd
from parallel_dynamics import control, trajectories
from parallel_dynamics.nodes import controller, messages
from parallel_dynamics.nodes.controller import ControllerNode
from parallel_dynamics.nodes.runtime import STOP_WITHIN

pytestmark = pytest.mark.ros

NAME = 'delta'
# Patient, since tests share a machine; and soft enough for a loop of 100 Hz that may be late.
GUARDS = {'hold_after': 1.0, 'ramp_after': 1.5, 'ramp_time': 0.2, 'bandwidth': 1.0}


class StandIn:
    """A robot that reports positions and velocities of its actuators, whatever is commanded."""

    def __init__(self, peer):
        self.names = load(NAME).actuators
        self.position = np.zeros(3)
        self.velocity = np.zeros(3)
        self.silent = False
        self.slow = 0.0  # s that its clock is behind
        self.peer = peer
        self.publisher = peer.publisher(JointState, 'joint_states', matched=False)
        self._ending = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def message(self, **changes):
        now = self.peer.node.get_clock().now().nanoseconds
        stamp = messages.time_message(now - round(1e9 * self.slow))
        message = messages.joint_state_message(self.names, stamp, self.position, self.velocity)
        for field, value in changes.items():
            setattr(message, field, value)
        return message

    def _run(self):
        while not self._ending:
            if not self.silent:
                self.publisher.publish(self.message())
            time.sleep(0.01)

    def close(self):
        self._ending = True
        self._thread.join(5.0)


class Bench:
    """A controller, its stand-in robot, and what the controller says."""

    def __init__(self, **parameters):
        loop = control.ControlLoop(load(NAME))  # compiled before a process waits for it
        loop.measure(0.0, np.zeros(3), np.zeros(3))
        loop.step(0.0)
        options = {'robot': NAME, 'rate': 100, 'diagnostics_rate': 20.0, **GUARDS, **parameters}
        self.node = ros_process.start('controller', **options)
        self.clients = {}
        self.peer = ros_process.Peer()
        self.efforts = self.peer.listen(Float64MultiArray, 'effort_commands')
        self.reports = self.peer.listen(DiagnosticArray, '/diagnostics')
        self.robot = StandIn(self.peer)
        self.desired = self.peer.publisher(MultiDOFJointTrajectory, 'desired_trajectory')

    def close(self):
        self.robot.close()
        self.peer.close()
        self.node.end()

    def status(self, task='control'):
        for report in reversed(list(self.reports)):
            for status in report.status:
                if status.name == f'controller: {task}':
                    return status
        return None

    def call(self, kind, service, request=None):
        """Call a service by a client that stays, since making one takes its time to be seen.

        An answer that got lost on a busy machine is asked for again: none of these services does
        anything twice.
        """
        client = self.clients.get(service)
        if client is None:
            client = self.clients[service] = self.peer.node.create_client(kind, service)
            assert client.wait_for_service(ros_process.PATIENCE), service
            time.sleep(0.3)  # the server, too, must have found the client
        end = time.monotonic() + ros_process.PATIENCE
        while time.monotonic() < end:
            future = client.call_async(kind.Request() if request is None else request)
            again = time.monotonic() + 10.0
            while time.monotonic() < again:
                if future.done():
                    return future.result()
                time.sleep(0.005)
        raise AssertionError(f'no answer of {service}:\n{self.node.output}')

    def level(self):
        status = self.status()
        return None if status is None else status.level

    def count(self, key, task='control'):
        return int(self.value(key, task) or 0)

    def value(self, key, task='control'):
        status = self.status(task)
        return None if status is None else {v.key: v.value for v in status.values}.get(key)

    def refuses(self, topic, publisher, message, what):
        """Send a message until it is refused: a newer one may take its place in the queue."""
        key = f'{topic} refused'
        before = self.count(key, 'input')
        end = time.monotonic() + ros_process.PATIENCE
        while time.monotonic() < end:
            publisher.publish(message)
            again = time.monotonic() + 2.0
            while time.monotonic() < again:
                if self.count(key, 'input') > before:
                    return
                time.sleep(0.005)
        raise AssertionError(f'{what} was not refused:\n{self.node.output}')

    def wait_for_effort(self, expected, what, tolerance=1e-3):
        def near():
            return self.efforts and np.allclose(self.efforts[-1].data, expected, atol=tolerance)

        self.peer.wait_for(near, f'{what}:\n{self.node.output}')

    def enable(self, on=True):
        return self.call(SetBool, 'controller/enable', SetBool.Request(data=on))

    def set(self, **values):
        request = SetParameters.Request(
            parameters=[Parameter(n, value=v).to_parameter_msg() for n, v in values.items()]
        )
        return self.call(SetParameters, 'controller/set_parameters', request).results

    def settle(self):
        """Take the robot anew, and wait until all is well."""
        self.robot.position, self.robot.velocity = np.zeros(3), np.zeros(3)
        self.robot.silent = False

        def taken():
            # Again and again: the first time it may still have seen the robot elsewhere.
            self.enable()
            time.sleep(0.1)
            near = np.allclose(self.efforts[-1].data, WEIGHT, atol=1e-3)
            return near and self.level() == b'\0'

        self.peer.wait_for(taken, f'all to be well:\n{self.node.output}')


WEIGHT = load(NAME).inverse_dynamics(load(NAME).home)


@pytest.fixture(scope='module')
def shared():
    bench = Bench()
    yield bench
    bench.close()


@pytest.fixture
def bench(shared):
    shared.settle()
    yield shared
    assert shared.node.alive
    assert 'Traceback' not in shared.node.output


def trajectory_message(times, motion, **changes):
    robot = load(NAME)
    points = list(zip(np.asarray(times).tolist(), motion))
    message = messages.trajectory_message(
        points, 'platform', messages.time_message(0), robot.model.bodies[0].name
    )
    for field, value in changes.items():
        setattr(message, field, value)
    return message


def small_motion():
    robot = load(NAME)
    up = trajectories.displaced(robot.home, [0.0, 0.0, 0.01, 0.0, 0.0, 0.0])
    move = trajectories.move(robot.home, up, 0.5)
    times = move.grid(50.0)
    return times, move.sample(times)


def set_point(shift=0.0, velocity=0.0):
    home = load(NAME).home
    m = pd.PlatformMotion(home.position + [0.0, 0.0, shift], home.rotation, [0, 0, velocity])
    return trajectory_message([0.0], [m])


# ---------------------------------------------------------------- life


def test_life_cycle_and_services():
    bench = Bench(autostart=False)
    try:
        state = lambda: bench.call(GetState, 'controller/get_state').current_state.label  # noqa: E731

        def change(number):
            request = ChangeState.Request(transition=Transition(id=number))
            return bench.call(ChangeState, 'controller/change_state', request).success

        assert state() == 'unconfigured'
        for _ in range(2):
            assert change(Transition.TRANSITION_CONFIGURE)
            assert state() == 'inactive'
            assert not bench.enable().success
            assert change(Transition.TRANSITION_ACTIVATE)
            bench.wait_for_effort(WEIGHT, 'the holding efforts')
            assert change(Transition.TRANSITION_DEACTIVATE)
            bench.wait_for_effort(np.zeros(3), 'zero efforts')
            count = len(bench.efforts)
            assert change(Transition.TRANSITION_CLEANUP)
            assert state() == 'unconfigured'
            assert len(bench.efforts) <= count + 1
        client = bench.peer.node.create_client(GetState, 'controller/get_state')
        assert client.wait_for_service(ros_process.PATIENCE)
        code, _ = bench.node.stop()
        assert code == 0
        assert 'Traceback' not in bench.node.output
        # It takes leave: whoever only goes missing is believed to be there for 20 s.
        bench.peer.wait_for(lambda: not client.service_is_ready(), 'its leave', timeout=10.0)
    finally:
        bench.close()


def test_no_lost_message_stops_a_loop_in_lock_step():
    """A state that is said again gets the same answer again, also one that had none before."""
    options = {'robot': NAME, 'use_sim_time': True, 'trigger': 'joint_states',
               'enabled_at_start': False}  # fmt: skip
    with ros_process.start('controller', **options) as node, ros_process.Peer() as peer:
        states = peer.publisher(JointState, 'joint_states')

        def say(nanoseconds, position):
            stamp = messages.time_message(nanoseconds)
            states.publish(
                messages.joint_state_message(load(NAME).actuators, stamp, position, np.zeros(3))
            )

        say(0, np.zeros(3))  # nobody is to answer that yet, and nobody would hear it
        efforts = peer.listen(Float64MultiArray, 'effort_commands')
        request = SetBool.Request(data=True)
        assert peer.call(SetBool, 'controller/enable', request).success

        def answered(nanoseconds, position):
            while not efforts or messages.read_answered(efforts[-1]) != nanoseconds:
                say(nanoseconds, position)
                time.sleep(0.05)
            count = len(efforts)
            say(nanoseconds, position)
            peer.wait_for(lambda: len(efforts) > count, 'the same answer')
            data = {tuple(e.data) for e in efforts if messages.read_answered(e) == nanoseconds}
            assert len(data) == 1
            return np.array(data.pop())

        np.testing.assert_allclose(answered(0, np.zeros(3)), WEIGHT, atol=1e-6)
        assert answered(2_000_000, np.full(3, 1e-4)).sum() < WEIGHT.sum()
        assert node.alive


def test_what_a_law_learns_is_kept_in_a_file(tmp_path):
    """Written when the node is deactivated and taken up by the next; a broken one is refused."""
    file = tmp_path / 'law.json'
    bench = Bench(mode='adaptive', law_state=str(file))
    try:
        bench.wait_for_effort(WEIGHT, 'the holding efforts', 0.1)
        request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_DEACTIVATE))
        assert bench.call(ChangeState, 'controller/change_state', request).success
    finally:
        bench.close()
    saved = json.loads(file.read_text('utf-8'))
    assert set(saved) == {'adaptive'}
    again = Bench(mode='adaptive', law_state=str(file))
    try:
        again.wait_for_effort(WEIGHT, 'the holding efforts', 0.1)
    finally:
        again.close()
    file.write_text('{"adaptive": 7', encoding='utf-8')
    with ros_process.start('controller', ready=False, robot=NAME, law_state=str(file)) as node:
        node.wait_for_line('cannot be read')
        assert 'Traceback' not in node.output


@contextlib.contextmanager
def inside(**parameters):
    """Give a controller in this process that has taken a robot at rest; nobody spins it."""
    words = [f'{name}:={ros_process.parameter_text(value)}'
             for name, value in {'robot': NAME, **parameters}.items()]  # fmt: skip
    rclpy.init(args=['--ros-args', *(part for word in words for part in ('-p', word))])
    try:
        node = ControllerNode()
        node.control.measure(node.now(), np.zeros(3), np.zeros(3))
        node._cycle(node.now())
        yield node
        node.destroy_node()
    finally:
        rclpy.shutdown()


def test_what_was_learnt_is_safe_before_efforts_go_to_zero(tmp_path, monkeypatch):
    """However long that takes; when the process ends there is no time to wait."""
    file = tmp_path / 'law.json'
    slept = []

    def sleep(seconds):
        assert 'parameters' in json.loads(file.read_text('utf-8'))['adaptive']
        slept.append(seconds)

    with inside(mode='adaptive', law_state=str(file), emergency_ramp=60.0) as node:
        monkeypatch.setattr(controller.time, 'sleep', sleep)
        node.deactivate()
        assert sum(slept) == pytest.approx(60.0)
        slept.clear()
        node.close()
        assert 0.0 < sum(slept) < STOP_WITHIN
        monkeypatch.undo()


def test_what_was_learnt_before_outlives_a_full_disk(tmp_path, monkeypatch):
    file = tmp_path / 'law.json'

    def write_half(path, text, **options):
        path.write_bytes(text[: len(text) // 2].encode())
        raise OSError(errno.ENOSPC, 'No space left on device')

    with inside(mode='adaptive', law_state=str(file), emergency_ramp=0.01) as node:
        node.deactivate()
        before = file.read_text('utf-8')
        monkeypatch.setattr(Path, 'write_text', write_half)
        node.deactivate()
        monkeypatch.undo()
    assert file.read_text('utf-8') == before
    assert [path.name for path in tmp_path.iterdir()] == ['law.json']


@pytest.mark.parametrize('text', ['[1]', '{"adaptive": 7}', '{"adaptive": {"parameters": 7}}'])
def test_a_file_that_holds_something_else_is_refused(tmp_path, text):
    file = tmp_path / 'law.json'
    file.write_text(text, encoding='utf-8')
    with pytest.raises(pd.InputError, match='law_state'):
        with inside(mode='adaptive', law_state=str(file)):
            pass


def looked_at(node, message):
    """Send a trajectory, and wait until it has been looked at; nobody has told the node yet."""
    node._take_desired(message)
    deadline = time.monotonic() + 10.0
    while node.work._finished.empty() and time.monotonic() < deadline:
        time.sleep(0.01)


def begin_anew(node):
    node._restart(100.0)
    node.control.measure(0.0, np.zeros(3), np.zeros(3))


VOID = {
    'a clock that goes back': begin_anew,
    'stop': lambda node: node._stop(None, Trigger.Response()),
    'emergency stop': lambda node: node._emergency_stop(None, Trigger.Response()),
    'disable': lambda node: node._enable(SetBool.Request(data=False), SetBool.Response()),
    'enable': lambda node: node._enable(SetBool.Request(data=True), SetBool.Response()),
}


def test_a_trajectory_from_before_a_stop_is_not_followed_after_it():
    """However long it was looked at; one that comes then is."""
    message = trajectory_message(*small_motion())
    with inside(hold_after=30.0, ramp_after=30.0) as node:
        for count, void in enumerate(VOID.values(), 1):
            looked_at(node, message)
            void(node)
            node._cycle(node.now())
            assert node.control.tracker.plan is None
            assert node.refused['desired_trajectory'] == count
            node._enable(SetBool.Request(data=True), SetBool.Response())
            node._cycle(node.now())
        looked_at(node, message)
        node._cycle(node.now())
        assert node.control.tracker.plan is not None


def test_how_the_base_moved_by_the_old_clock_does_not_count():
    tilted, accel = Odometry(), AccelStamped()
    tilted.pose.pose.orientation.x, tilted.pose.pose.orientation.w = np.sin(0.1), np.cos(0.1)
    attitude = messages.read_base_motion(tilted)
    tilted.twist.twist.angular.z = accel.accel.linear.z = 3.0
    with inside() as node:
        node._take_base_motion(tilted)
        node._take_base_accel(accel)
        node._published_trajectory_at = 1e9
        begin_anew(node)
        assert node.control.tracker.base == attitude
        node._take_base_accel(AccelStamped())
        assert node.control.tracker.base == attitude
        assert node._published_trajectory_at < 1.0


def test_starts_wrong_with_a_sentence():
    with ros_process.start('controller', ready=False, hold_after=2.0, ramp_after=1.0) as node:
        assert node.wait() == 2
        assert 'ramp_after: expected at least hold_after' in node.output
        assert 'Traceback' not in node.output


# ---------------------------------------------------------------- outputs


def test_feedforward_and_joint_trajectory(bench):
    robot = load(NAME)
    feedforward = bench.peer.listen(JointState, 'feedforward')
    joint = bench.peer.listen(JointTrajectory, 'joint_trajectory')
    bench.peer.wait_for(lambda: feedforward, 'feed-forward')
    assert list(feedforward[-1].name) == list(robot.actuators)
    np.testing.assert_allclose(feedforward[-1].effort, WEIGHT, atol=1e-6)
    times, motion = small_motion()
    bench.desired.publish(trajectory_message(times, motion))
    message = bench.peer.wait_for(
        lambda: next((m for m in joint if len(m.points) > 20), None), 'the joint trajectory'
    )
    assert list(message.joint_names) == list(robot.actuators)
    last = message.points[-1]
    joints = robot.inverse_kinematics(motion[len(motion) - 1])
    a = list(robot.model.actuators)
    np.testing.assert_allclose(last.positions, joints.position[a], atol=1e-6)
    rest = pd.PlatformMotion(motion.position[-1], motion.rotation[-1])
    np.testing.assert_allclose(last.effort, robot.inverse_dynamics(rest), rtol=1e-4)
    middle = [p for p in message.points if np.abs(p.velocities).max() > 1e-3]
    assert len(middle) > 10
    assert all(len(p.accelerations) == 3 and len(p.effort) == 3 for p in message.points)


def test_modes_change_while_it_runs(bench):
    for mode in ('pd_feedforward', 'feedforward', 'gravity_compensation', 'adaptive',
                 'adaptive_platform', 'computed_torque'):  # fmt: skip
        (result,) = bench.set(mode=mode)
        assert result.successful
        bench.peer.wait_for(lambda m=mode: bench.value('mode') == m, mode)
        bench.wait_for_effort(WEIGHT, f'the weight in {mode}')
    (result,) = bench.set(mode='magic')
    assert not result.successful
    assert 'one of' in result.reason
    for values in ({'bandwidth': 2.0}, {'kp': [1.0, 2.0, 3.0]}, {'kp': [0.0, 0.0, 0.0]},
                   {'bandwidth': GUARDS['bandwidth']}):  # fmt: skip
        assert all(result.successful for result in bench.set(**values))


# ---------------------------------------------------------------- safety


def test_stale_states_hold_then_let_go_and_come_back(bench):
    bench.robot.silent = True
    bench.wait_for_effort(np.zeros(3), 'efforts to go to zero')
    assert bench.value('phase') in ('ramping down', 'holding the last effort')
    bench.peer.wait_for(lambda: bench.level() == b'\2', 'an error in the diagnostics')
    assert not bench.enable().success
    bench.robot.silent = False
    bench.wait_for_effort(WEIGHT, 'the holding efforts')
    bench.node.wait_for_line('joint states stale: over')


def test_emergency_stop_and_enable(bench):
    assert bench.call(Trigger, 'controller/emergency_stop').success
    bench.wait_for_effort(np.zeros(3), 'zero efforts')
    bench.peer.wait_for(lambda: bench.value('phase') == 'emergency stop', 'the stop')
    assert bench.level() == b'\2'
    refused = bench.count('desired_trajectory refused', 'input')
    bench.desired.publish(trajectory_message(*small_motion()))
    bench.peer.wait_for(
        lambda: bench.count('desired_trajectory refused', 'input') > refused, 'refusal'
    )
    assert bench.enable().success
    bench.wait_for_effort(WEIGHT, 'the holding efforts')
    assert bench.enable(False).success
    bench.wait_for_effort(np.zeros(3), 'zero efforts')


@pytest.mark.parametrize(
    ('condition', 'change'),
    [
        ('tracking error', {'tracking_limit': 0.001}),
        ('velocity limit', {'velocity': [0.0, 0.0, 1e3]}),
        ('workspace limit', {'workspace_upper': [9.0, 9.0, -9.0]}),
        ('singularity', {'condition_limit': 0.01}),
        ('effort limit', {'effort_limit': 0.001}),
    ],
)
def test_every_guard_speaks_once_and_always_in_the_diagnostics(bench, condition, change):
    before = bench.node.output.count(f'{condition}: ')
    counted = bench.count(f'events: {condition}')
    if 'velocity' in change:
        bench.robot.velocity = np.array(change['velocity'])
    else:
        assert all(result.successful for result in bench.set(**change))
    if condition == 'tracking error':
        bench.robot.position = np.array([0.0, 0.05, 0.0])
    bench.peer.wait_for(
        lambda: bench.count(f'events: {condition}') > counted,
        f'{condition}:\n{bench.node.output}',
    )
    bench.peer.wait_for(lambda: bench.level() != b'\0', 'a level in the diagnostics')
    bench.robot.velocity = np.zeros(3)
    bench.set(workspace_upper=[], tracking_limit=0.1, condition_limit=20.0, effort_limit=1.0)
    bench.peer.wait_for(lambda: not bench.value(f'active: {condition}'), 'the end of it')
    said = bench.node.output.count(f'{condition}: ') - before
    assert said <= 2 * (bench.count(f'events: {condition}') - counted)  # begin and end


def test_a_stream_that_ends_while_moving_is_lost(bench):
    for k in range(30):
        bench.desired.publish(set_point(shift=0.002 * k / 30, velocity=0.01))
        time.sleep(0.01)
    bench.node.wait_for_line('trajectory source lost')
    bench.peer.wait_for(lambda: bench.value('activity') == 'holding', 'rest')


# ---------------------------------------------------------------- bad messages


def bad_trajectories():
    times, motion = small_motion()

    def point(**parts):
        good = messages.trajectory_point(load(NAME).home, 0.0)
        for field, value in parts.items():
            setattr(good, field, value)
        return good

    def changed(**changes):
        return trajectory_message(times, motion, **changes)

    nan, skewed = Transform(), Transform()
    nan.translation.x, nan.rotation.w = float('nan'), 1.0
    skewed.rotation.w = 2.0
    moving = Twist()
    moving.linear.z = float('inf')
    past = changed()
    past.header.stamp.sec = 1000
    framed = changed()
    framed.header.frame_id = 'elsewhere'
    mixed = changed()
    mixed.points[3].velocities = []
    back = changed(points=list(reversed(changed().points)))
    return {
        'empty message': MultiDOFJointTrajectory(),
        'no points': changed(points=[]),
        'no names': changed(joint_names=[]),
        'wrong name': changed(joint_names=['tool']),
        'two names': changed(joint_names=['platform', 'tool']),
        'empty point': changed(points=[MultiDOFJointTrajectoryPoint()]),
        'two transforms': changed(points=[point(transforms=[nan, nan])]),
        'NaN': changed(points=[point(transforms=[nan])]),
        'no unit quaternion': changed(points=[point(transforms=[skewed])]),
        'infinite twist': changed(points=[point(velocities=[moving])]),
        'time going back': back,
        'over already': past,
        'unknown frame': framed,
        'velocities here and there': mixed,
        'out of reach': set_point(shift=9.0),
        'far away': set_point(shift=-0.3),
        'too fast': set_point(shift=0.0, velocity=1e3),
    }


def test_bad_trajectories_are_refused_with_the_reason(bench):
    for what, message in bad_trajectories().items():
        bench.refuses('desired_trajectory', bench.desired, message, what)
    bench.wait_for_effort(WEIGHT, 'the holding efforts')
    bench.peer.wait_for(lambda: bench.level() == b'\0', 'all to be well')


def test_bad_states_are_refused_and_the_loop_goes_on(bench):
    good = bench.robot.message
    old, ahead = good(), good()
    old.header.stamp.sec -= 100
    ahead.header.stamp.sec += 100
    nan = float('nan')
    for what, message in {
        'empty': JointState(),
        'old': old,
        'from the future': ahead,
        'too short': good(position=[0.0]),
        'NaN': good(position=[nan] * 3),
        'infinite velocity': good(velocity=[float('inf')] * 3),
        'other joints': good(name=['a', 'b', 'c']),
        'one joint missing': good(name=['leg1_shoulder', 'leg2_shoulder', 'x']),
        'no positions': good(position=[]),
    }.items():
        bench.refuses('joint_states', bench.robot.publisher, message, what)
    bench.robot.publisher.publish(good(position=[50.0, 50.0, 50.0]))  # nowhere to be found
    base = bench.peer.publisher(Odometry, 'base_motion')
    skewed = Odometry()
    skewed.pose.pose.orientation.w = 2.0
    base.publish(skewed)
    bench.peer.wait_for(lambda: bench.value('base_motion refused', 'input'), 'refusal')
    count = len(bench.efforts)
    bench.peer.wait_for(lambda: len(bench.efforts) > count + 20, 'the loop to go on')
    bench.wait_for_effort(WEIGHT, 'the holding efforts')


def test_a_robot_whose_clock_is_another(bench):
    bench.robot.slow = 100.0
    bench.peer.wait_for(lambda: bench.level() != b'\0', 'its states to be refused')
    bench.set(use_stamps=False)
    bench.peer.wait_for(lambda: bench.level() == b'\0', 'its states to count again')
    bench.wait_for_effort(WEIGHT, 'the holding efforts')
    bench.robot.slow = 0.0
    bench.set(use_stamps=True)
    bench.peer.wait_for(lambda: bench.level() == b'\0', 'all to be well')


def test_a_tilted_base_counts(bench):
    robot = load(NAME)
    base = bench.peer.publisher(Odometry, 'base_motion')
    message = Odometry()
    message.pose.pose.orientation.x, message.pose.pose.orientation.w = np.sin(0.1), np.cos(0.1)
    tilted = robot.inverse_dynamics(robot.home, base=messages.read_base_motion(message))
    assert np.abs(tilted - WEIGHT).max() > 0.01
    base.publish(message)
    bench.wait_for_effort(tilted, 'the efforts on a tilted base')
    message.pose.pose.orientation.x, message.pose.pose.orientation.w = 0.0, 1.0
    base.publish(message)
    bench.wait_for_effort(WEIGHT, 'the efforts on a level base')


# ---------------------------------------------------------------- examples


def test_ros2_control_examples_name_the_actuators(repository):
    folder = repository / 'config' / 'ros2_control'
    actuators = list(load('gough_stewart').actuators)
    for path in sorted(folder.glob('*.yaml')):
        for node, values in yaml.safe_load(path.read_text()).items():
            joints = values['ros__parameters'].get('joints')
            assert node == 'controller_manager' or joints == actuators
    tree = ElementTree.parse(folder / 'topic_based_hardware.xml').getroot()
    assert [joint.get('name') for joint in tree.findall('joint')] == actuators
