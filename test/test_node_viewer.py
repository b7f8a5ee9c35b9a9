"""The viewer node in a real browser, beside real nodes; and recordings played back into it."""

from __future__ import annotations

import re
import socket
import time

import browser as page_of
from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
import numpy as np
import pytest
import rclpy
from rclpy.serialization import serialize_message
import ros_process
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

import parallel_dynamics as pd
from parallel_dynamics import trajectories
from parallel_dynamics.nodes.messages import joint_state_message, seconds, time_message
from parallel_dynamics.nodes.viewer import ViewerNode
from parallel_dynamics.recording import Recorder

pytestmark = pytest.mark.ros

ROBOT = 'delta'
TIMES = np.arange(0.0, 3.01, 0.02)  # of a recording: a motion of 2 s, then rest


def address(node):
    line = node.wait_for_line('page: http')
    return re.search(r'http://\S+', line).group(0)


@pytest.mark.browser
def test_page_of_a_running_loop():
    """One loop for all buttons: starting it is what takes time."""
    if page_of.chromium.find() is None:
        pytest.skip('there is no Chromium here; apt install chromium brings one')
    with (
        ros_process.start('simulator', ready=False, robot=ROBOT) as simulator,
        ros_process.start('controller', ready=False, robot=ROBOT,
                          enabled_at_start=False) as controller,
        ros_process.start('viewer', ready=False, robot=ROBOT, port=0) as viewer,
        ros_process.Peer() as peer,
    ):  # fmt: skip
        for node in (simulator, controller, viewer):
            node.wait_for_line('ready')
        states = peer.listen(JointState, 'joint_states')
        poses = peer.listen(PoseStamped, 'platform/pose')
        commands = peer.listen(Float64MultiArray, 'effort_commands')
        pushes = peer.listen(WrenchStamped, 'external_wrench')
        with page_of.open_page(address(viewer)) as browser:
            page_of.wait_for_banner(browser, 'Running')
            check_buttons(browser, peer, states, poses, commands, pushes)
            assert not browser.errors
        assert viewer.alive and 'Traceback' not in viewer.output


def height(poses):
    return poses[-1].pose.position.z


def check_buttons(browser, peer, states, poses, commands, pushes):
    home = height(poses)
    # The robot moves: without brakes and controller it falls, and the page with it.
    before, table = page_of.picture(browser), page_of.part(browser, 'actuators')
    efforts = peer.publisher(Float64MultiArray, 'effort_commands')
    efforts.publish(Float64MultiArray(data=[0.0, 0.0, 0.0]))
    peer.wait_for(lambda: abs(height(poses) - home) > 0.02, 'the robot to fall')
    assert page_of.changed_picture(browser, before, 0.004)
    assert page_of.part(browser, 'actuators') != table
    # Pause: time stands still. Step: it moves by a step. Reset: back home.
    assert page_of.ask(browser, 'Pause')[0]
    page_of.wait_for_banner(browser, 'Paused')
    peer.wait_for(lambda: stands_still(states), 'time to stand still')
    stopped = seconds(states[-1].header.stamp)
    assert page_of.ask(browser, 'Step')[0]
    peer.wait_for(lambda: seconds(states[-1].header.stamp) > stopped, 'a step')
    assert page_of.ask(browser, 'Reset')[0]
    peer.wait_for(lambda: abs(height(poses) - home) < 1e-3, 'the robot at home')
    assert page_of.ask(browser, 'Resume')[0]
    # Enable: the controller holds the robot. Push: the simulator is told. Stop: it answers.
    commands.clear()
    enable(browser)
    peer.wait_for(lambda: len(commands) > 10, 'efforts')
    assert page_of.ask(browser, 'Push')[0]
    peer.wait_for(lambda: any(p.wrench.force.x != 0.0 for p in pushes), 'a push')
    peer.wait_for(lambda: pushes[-1].wrench.force.x == 0.0, 'the end of the push')
    done, text = page_of.ask(browser, 'Stop')
    assert done and 'stop' in text


def enable(browser, attempts=10):
    """Press Enable until the controller, which wants fresh states, has taken the robot."""
    for _ in range(attempts):
        done, text = page_of.ask(browser, 'Enable')
        if done:
            return
        time.sleep(1.0)
    raise AssertionError(text)


def stands_still(states, count=3):
    """Return whether the last states carry the same time; the simulator repeats the last one."""
    last = list(states)[-count:]
    return len(last) == count and len({seconds(s.header.stamp) for s in last}) == 1


@pytest.fixture
def alone():
    """Return a viewer in this process that nobody talks to, and what its page is shown."""
    rclpy.init(args=['--ros-args', '-p', f'robot:={ROBOT}', '-p', 'port:=0'])
    node = ViewerNode()
    shown = []
    node.page.show = lambda *values: shown.append(values)
    yield node, shown
    node.close()
    node.destroy_node()
    rclpy.shutdown()


def bad_messages():
    """Return messages by topic that cannot be used, or only in part."""
    wrench, skewed, twist = WrenchStamped(), Odometry(), TwistStamped()
    wrench.header.frame_id = 'tool0'
    skewed.pose.pose.orientation.w = 2.0
    twist.twist.linear.x = float('nan')
    accel = AccelStamped()
    accel.accel.linear.x = float('inf')
    return {
        'external_wrench': wrench,
        'base_motion': skewed,
        'platform/twist': twist,
        'effort_commands': Float64MultiArray(data=[1.0]),
        'desired_trajectory': MultiDOFJointTrajectory(points=[MultiDOFJointTrajectoryPoint()]),
        'base_accel': accel,
        'platform/accel': accel,
    }


def test_what_cannot_be_used_is_refused_once_and_the_page_goes_on(alone):
    node, shown = alone
    n = node.robot.dof
    state = joint_state_message(node.robot.actuators, time_message(1), np.zeros(n))
    good = Odometry()
    good.pose.pose.orientation.w = 1.0
    for k, (topic, message) in enumerate(bad_messages().items()):
        if topic == 'base_accel':
            node._keep('base_motion', serialize_message(good))
        if topic == 'platform/accel':
            node._keep('platform/twist', serialize_message(TwistStamped()))
        node._keep(topic, serialize_message(message))
        for _ in range(3):
            node._keep('joint_states', serialize_message(state))
            node._tick()
        assert len(shown) == 3 * (k + 1), topic
        assert node.refused[topic] == 1
    assert 'joint_states' not in node.refused
    assert shown[-1][4] == pd.BaseMotion()
    # Where efforts are not measured, those that are commanded are shown.
    node._keep('effort_commands', serialize_message(Float64MultiArray(data=[1.0] * n)))
    state.effort = [float('nan')] * n
    node._keep('joint_states', serialize_message(state))
    node._tick()
    assert shown[-1][2].tolist() == [1.0] * n


@pytest.fixture
def recording(tmp_path):
    """Return a recording of a Delta on a circle and at rest: actuated joints and platform."""
    robot = pd.load_robot(ROBOT)
    trajectory = trajectories.preset(robot, 'circle', duration=2.0)
    path = tmp_path / 'run.mcap'
    with Recorder(path, robot) as recorder:
        for t in TIMES:
            motion = trajectory.at(min(t, trajectory.duration))
            joints = robot.inverse_kinematics(motion)
            picked = [robot.joints.index(name) for name in robot.actuators]
            recorder.joint_states(100.0 + t, robot.actuators, joints.position[picked],
                                  joints.velocity[picked], robot.inverse_dynamics(motion))
            recorder.platform(100.0 + t, motion)
            recorder.wrench(100.0 + t, np.zeros(6), topic='joint_forces/leg1_shoulder')
    return path, trajectory


def test_recording_is_played_back_as_it_was(recording):
    path, trajectory = recording
    with ros_process.Peer() as peer:
        states = peer.listen(JointState, 'joint_states')
        forces = peer.listen(WrenchStamped, 'joint_forces/leg1_shoulder')
        poses = peer.listen(PoseStamped, 'platform/pose')
        node = ros_process.start('replay', robot=ROBOT, file=path, speed=4.0, ready=False)
        with node:
            assert node.wait() == 0, node.output
        peer.wait_for(lambda: len(states) >= len(TIMES) - 1, 'all states')
        assert not forces
        times = [seconds(s.header.stamp) - 100.0 for s in states]
        np.testing.assert_allclose(np.diff(times), np.diff(times)[0], atol=1e-6)
        last = poses[-1].pose.position
        np.testing.assert_allclose(
            [last.x, last.y, last.z], trajectory.at(trajectory.duration).position, atol=1e-12
        )


def test_recording_is_played_into_the_estimator(recording):
    """What it finds at the end of the motion, at rest, is what the library says."""
    path, trajectory = recording
    robot = pd.load_robot(ROBOT)
    name = robot.closures[0]
    with (
        ros_process.start('joint_force_estimator', robot=ROBOT) as estimator,
        ros_process.Peer() as peer,
    ):
        forces = peer.listen(WrenchStamped, f'joint_forces/{name}')
        with ros_process.start('replay', robot=ROBOT, file=path, speed=2.0, ready=False) as node:
            assert node.wait() == 0, node.output
        peer.wait_for(lambda: forces, 'joint forces')
        assert 'Traceback' not in estimator.output
    assert all(100.0 <= seconds(f.header.stamp) <= 100.0 + TIMES[-1] for f in forces)
    expected = robot.joint_forces(trajectory.at(trajectory.duration)).wrench[name][:3]
    last = forces[-1].wrench.force
    np.testing.assert_allclose(
        [last.x, last.y, last.z], expected, atol=0.01 * np.linalg.norm(expected)
    )


@pytest.mark.browser
def test_recording_moves_the_robot_on_the_page(recording):
    """From the actuated joints alone: the pose comes from forward kinematics."""
    if page_of.chromium.find() is None:
        pytest.skip('there is no Chromium here; apt install chromium brings one')
    path, _ = recording
    with ros_process.start('viewer', robot=ROBOT, port=0) as viewer:
        with page_of.open_page(address(viewer)) as browser:
            assert page_of.banner(browser) == ('refused', 'Waiting for joint_states.')
            before = page_of.picture(browser)
            with ros_process.start('replay', robot=ROBOT, file=path, loop=True):
                page_of.wait_for_banner(browser, 'Running')
                assert page_of.changed_picture(browser, before, 0.003)
            page_of.wait_for_banner(browser, 'No joint_states')


def test_bad_start_is_one_sentence(tmp_path):
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        port = taken.getsockname()[1]
        with ros_process.start('viewer', robot=ROBOT, port=port, ready=False) as node:
            assert node.wait() == 2
        assert str(port) in node.output and 'Traceback' not in node.output
    with ros_process.start('replay', robot=ROBOT, file=tmp_path / 'no.mcap', ready=False) as node:
        assert node.wait() == 2
    assert 'no.mcap' in node.output and 'Traceback' not in node.output
