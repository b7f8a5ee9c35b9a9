"""The joint force estimator as a process: forces against a simulated truth, input of all kinds."""

from __future__ import annotations

from collections import deque

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import AccelStamped, PoseStamped, WrenchStamped
from nav_msgs.msg import Odometry, Path
import numpy as np
import pytest
import robots
import ros_process
from rosgraph_msgs.msg import Clock
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

import parallel_dynamics as pd
from parallel_dynamics.nodes import messages
from parallel_dynamics.nodes.platform_path import Every
from parallel_dynamics.nodes.topics import topic_names
from parallel_dynamics.trajectories import preset

pytestmark = pytest.mark.ros

STEP = 0.002
START = 1_000_000_000  # ns, of the first sample
NODE = 'joint_force_estimator'


class Feed:
    """Publishes joint states of the actuators alone, in another order, and awaits each estimate.

    One at a time: no sample is lost, however busy the machine is.
    """

    def __init__(self, peer, robot):
        self.peer, self.robot = peer, robot
        self.poses = peer.listen(PoseStamped, 'platform/pose')
        self.states = peer.publisher(JointState, 'joint_states')
        self.order = list(reversed(range(robot.dof)))
        self.time = START
        self.done = {}

    def message(self, q, qd=None, efforts=None):
        names = [self.robot.actuators[k] for k in self.order]
        pick = [None if v is None else np.append(v[self.order], 0.0) for v in (q, qd, efforts)]
        stamp = messages.time_message(self.time)
        return messages.joint_state_message([*names, 'somebody_else'], stamp, *pick)

    def send(self, q, qd=None, efforts=None, wait=True):
        self.time += round(1e9 * STEP)
        self.states.publish(self.message(q, qd, efforts))
        if wait:
            self.peer.wait_for(self.arrived, 'the pose of a sample')
        return self.time

    def arrived(self):
        return self.poses and messages.nanoseconds(self.poses[-1].header.stamp) == self.time


def by_stamp(collected):
    return {messages.nanoseconds(m.header.stamp): m for m in list(collected)}


def six(message):
    f, t = message.wrench.force, message.wrench.torque
    return np.array([f.x, f.y, f.z, t.x, t.y, t.z])


def actuated(robot, joints):
    a = list(robot.model.actuators)
    return joints.position[a], joints.velocity[a]


def statuses(reports, task):
    return [s for r in list(reports) for s in r.status if s.name == f'{NODE}: {task}']


def value(status, key):
    return {v.key: v.value for v in status.values}[key]


@pytest.mark.parametrize('name', ['gough_stewart', 'orthoglide'])
def test_forces_match_the_simulated_truth_and_a_push_is_seen(name):
    robot = robots.load(name)
    every = (*robot.joints, *robot.closures)
    cutoff, pushed_at, samples = 30.0, 250, 550
    push = np.zeros(6)
    push[:3] = 0.1 * 9.81 * sum(b.inertia.mass for b in robot.model.bodies[1:])
    parameters = {'robot': name, 'rate': 2000.0, 'observer_cutoff': cutoff, 'marker_rate': 50.0}
    with ros_process.start(NODE, **parameters) as node, ros_process.Peer() as peer:
        feed = Feed(peer, robot)
        forces = {n: peer.listen(WrenchStamped, f'joint_forces/{n}') for n in every}
        wrenches = peer.listen(WrenchStamped, 'external_wrench_estimate')
        complete = peer.listen(JointState, 'joint_states_complete')
        arrows = peer.listen(MarkerArray, 'joint_forces/markers')
        peaks = peer.listen(Float64MultiArray, 'joint_forces/peaks')
        reports = peer.listen(DiagnosticArray, '/diagnostics')
        path = peer.listen(Path, 'path/actual')
        desired = peer.listen(Path, 'path/desired')
        feedforward = peer.publisher(JointState, 'feedforward')
        peer.wait_for(lambda: all(peer.node.count_publishers(f'joint_forces/{n}') for n in every))

        trajectory = preset(robot, 'swing', duration=samples * STEP)
        simulator = pd.Simulator(robot, step=STEP / 2)
        truth = {}
        loop = _Loop(robot, trajectory)
        for k in range(samples):
            wrench = push if k >= pushed_at else np.zeros(6)
            q, qd = actuated(robot, robot.inverse_kinematics(simulator.state))
            stamp = feed.send(q, qd, simulator.efforts)
            feedforward.publish(feed.message(q))
            if k:
                truth[stamp] = (simulator.state, wrench)
            simulator.step(loop(simulator.state, k * STEP), STEP, wrench)
        last = max(truth)
        peer.wait_for(lambda: all(last in by_stamp(f) for f in forces.values()), 'all forces')

        # The stated error: the observer lags behind the push, and efforts are half a step late.
        table = {n: by_stamp(f) for n, f in forces.items()}
        error, size = deque(), 0.0
        for stamp, (state, wrench) in truth.items():
            wanted = robot.joint_forces(state, wrench)
            got = np.array([six(table[n][stamp]) for n in every])
            fixed = np.asarray(wanted.determinate_array)
            assert np.isnan(got[~fixed]).all() and np.isfinite(got[fixed]).all()
            size = max(size, np.abs(wanted.array[fixed]).max())
            error.append(np.abs(got - wanted.array)[fixed].max())
        error = np.array(error) / size
        settled = np.r_[20 : pushed_at - 1, pushed_at + 60 : samples - 1]
        assert np.median(error[settled]) < 0.005
        assert np.quantile(error[settled], 0.95) < 0.04  # the rest: friction reverses

        seen = by_stamp(wrenches)
        turn = truth[last][0].rotation
        found = np.concatenate([turn @ six(seen[last])[:3], turn @ six(seen[last])[3:]])
        S = robot.jacobians(truth[last][0]).S
        np.testing.assert_allclose(S.T @ found, S.T @ push, atol=0.03 * np.abs(S.T @ push).max())
        assert seen[last].header.frame_id == robot.model.bodies[1].name
        before = np.abs(six(seen[START + round(1e9 * STEP) * pushed_at])).max()
        assert before < 0.05 * np.abs(push).max()

        _check_frames(robot, forces)
        _check_complete(robot, by_stamp(complete)[last], truth[last][0])
        _check_arrows(robot, arrows[-1])
        _check_reports(peer, reports, robot, cutoff)
        _check_peaks(peer, peaks, every, table)
        assert len(path[-1].poses) > 10 and len(desired[-1].poses) > 10
        assert path[-1].header.frame_id == robot.model.bodies[0].name
        assert node.alive


class _Loop:
    """Computed torque in platform space, good enough to follow a trajectory under a push."""

    def __init__(self, robot, trajectory):
        self.robot, self.trajectory = robot, trajectory

    def __call__(self, state, time):
        wanted = self.trajectory.at(time)
        turn = Rotation.from_matrix(wanted.rotation @ state.rotation.T).as_rotvec()
        error = np.concatenate([wanted.position - state.position, turn])
        rate = wanted.twist_rate + 40.0 * (wanted.twist - state.twist) + 400.0 * error
        robot = self.robot
        moving = state.replace(twist_rate=rate)
        return robot.inverse_dynamics(moving if robot.dof == 6 else robot.project(moving))


def _check_frames(robot, forces):
    links = [b.name for b in robot.model.bodies[2:]]
    links += [c.second.name for c in robot.model.closures]
    for collected, link in zip(forces.values(), links):
        assert collected[-1].header.frame_id == link


def _check_complete(robot, message, state):
    joints = robot.inverse_kinematics(state)
    chain, values, _ = robot.virtual_joints(state)
    assert list(message.name) == [*joints.names, *chain]
    np.testing.assert_allclose(message.position, [*joints.position, *values], atol=1e-6)
    np.testing.assert_allclose(message.velocity[: len(joints.names)], joints.velocity, atol=1e-6)
    assert len(message.effort) == len(message.name)


def _check_arrows(robot, array):
    drawn = [m for m in array.markers if m.action == Marker.ADD]
    assert {'force', 'external_force'} <= {m.ns for m in drawn}
    assert len(array.markers) == 2 * (len(robot.joints) + len(robot.closures) + 1)
    for marker in drawn:
        (a, b) = marker.points
        ends = np.array([[a.x, a.y, a.z], [b.x, b.y, b.z]])
        assert np.isfinite(ends).all()
        assert 0.0 < np.linalg.norm(ends[1] - ends[0])
        assert min(marker.scale.x, marker.scale.y, marker.scale.z) > 0.0


def _check_reports(peer, reports, robot, cutoff):
    peer.wait_for(lambda: statuses(reports, 'estimate'), 'diagnostics of the estimate')
    estimate = statuses(reports, 'estimate')[-1]
    delay = 1e3 / (2 * np.pi * cutoff)
    assert float(value(estimate, 'filter delay (ms)')) == pytest.approx(delay, rel=1e-3)
    forces = statuses(reports, 'joint forces')[-1]
    shared = robot.joint_forces(robot.home).sharing
    named = [v.value for v in forces.values if v.key.startswith('group')]
    assert len(named) == len(shared)
    for group, text in zip(shared, named):
        assert all(n in text and n in forces.message for n in group.names)
    samples = statuses(reports, 'joint states')[-1]
    assert float(value(samples, 'time per sample (ms)')) > 0.0


def _check_peaks(peer, peaks, every, table):
    largest = {n: max(np.linalg.norm(np.nan_to_num(six(m)[:3])) for m in t.values())
               for n, t in table.items()}  # fmt: skip
    count = len(peaks)
    peer.wait_for(lambda: len(peaks) > count + 1, 'peaks after the last sample')
    got = np.array(peaks[-1].data).reshape(-1, 2)[:, 0]
    assert peaks[-1].layout.dim[0].label.split() == list(every)
    np.testing.assert_allclose(got, [largest[n] for n in every], rtol=1e-6, atol=1e-9)
    answer = peer.call(Trigger, f'{NODE}/reset_peaks')
    assert answer.success and 'N in' in answer.message
    peer.wait_for(lambda: not any(peaks[-1].data), 'peaks that start anew')


# ---------------------------------------------------------------- input of all kinds


@pytest.fixture(scope='module')
def delta():
    return robots.load('delta')


@pytest.fixture
def running(delta):
    with ros_process.start(NODE, robot='delta', rate=2000.0, diagnostics_rate=20.0) as node:
        with ros_process.Peer() as peer:
            feed = Feed(peer, delta)
            feed.node = node
            feed.reports = peer.listen(DiagnosticArray, '/diagnostics')
            feed.forces = peer.listen(WrenchStamped, f'joint_forces/{delta.joints[0]}')
            feed.wrenches = peer.listen(WrenchStamped, 'external_wrench_estimate')
            peer.wait_for(lambda: peer.node.count_publishers(f'joint_forces/{delta.joints[0]}'))
            yield feed


def refusals(feed, topic):
    lines = statuses(feed.reports, 'input')
    counts = [v.value for s in lines for v in s.values if v.key == f'{topic} refused']
    return int(counts[-1]) if counts else 0


def test_bad_messages_of_every_kind_leave_it_running(running, delta):
    feed, peer = running, running.peer
    q = actuated(delta, delta.inverse_kinematics(delta.home))[0]
    zero, holding = np.zeros(3), delta.inverse_dynamics(delta.home)
    feed.send(q, zero, holding)
    nan, huge = np.full(3, np.nan), np.full(3, 1e300)
    bad = [
        (nan, zero, holding), (huge, zero, holding), (q + 40.0, zero, holding),
        (q, np.array([np.nan, 0.0, 0.0]), holding), (q, zero, np.array([np.inf, 0.0, 0.0])),
    ]  # fmt: skip
    for values in bad:
        feed.send(*values, wait=False)
    short = feed.message(q, zero, holding)
    short.position = short.position[:2]
    feed.states.publish(short)
    feed.states.publish(JointState(name=['nobody'], position=[1.0]))
    feed.states.publish(JointState())
    peer.wait_for(lambda: refusals(feed, 'joint_states') == len(bad) + 3, 'all to be refused')

    wrench = WrenchStamped()
    wrench.header.frame_id = 'no_such_link'
    peer.publisher(WrenchStamped, 'external_wrench').publish(wrench)
    odometry = Odometry()  # its quaternion is zero
    odometry.pose.pose.orientation.w = 0.0
    peer.publisher(Odometry, 'base_motion').publish(odometry)
    accel = AccelStamped()
    accel.accel.linear.x = float('nan')
    peer.publisher(AccelStamped, 'base_accel').publish(accel)
    peer.publisher(JointState, 'feedforward').publish(JointState(name=['x']))
    for topic in ('external_wrench', 'base_motion', 'base_accel'):
        peer.wait_for(lambda topic=topic: refusals(feed, topic) == 1, f'{topic} to be refused')

    feed.send(q, zero, holding)
    stamp = feed.send(q, zero, holding)
    peer.wait_for(lambda: stamp in by_stamp(feed.forces), 'forces again')
    wanted = delta.joint_forces(delta.home).wrench[delta.joints[0]]
    np.testing.assert_allclose(six(by_stamp(feed.forces)[stamp]), wanted, atol=1e-6)
    assert feed.node.alive and 'Traceback' not in feed.node.output


def test_positions_alone_a_known_wrench_and_a_tilted_base(running, delta):
    feed, peer = running, running.peer
    q = actuated(delta, delta.inverse_kinematics(delta.home))[0]
    push = np.array([1.0, -2.0, 5.0, 0.0, 0.0, 0.0])
    tilt = Rotation.from_euler('x', 20, degrees=True)
    odometry, accel = Odometry(), AccelStamped()
    o = odometry.pose.pose.orientation
    o.x, o.y, o.z, o.w = tilt.as_quat()
    accel.accel.linear.y = 0.7
    peer.publisher(WrenchStamped, 'external_wrench').publish(
        messages.wrench_message(push, messages.time_message(0), '')
    )
    peer.publisher(Odometry, 'base_motion').publish(odometry)
    peer.publisher(AccelStamped, 'base_accel').publish(accel)
    base = pd.BaseMotion(tilt.as_matrix(), acceleration=[0.0, 0.7, 0.0])
    wanted = delta.joint_forces(delta.home, push, base).wrench[delta.joints[0]]

    def there():
        stamp = feed.send(q)
        got = by_stamp(feed.forces).get(stamp)
        return got is not None and np.allclose(six(got), wanted, atol=1e-6)

    peer.wait_for(there, 'forces of the tilted robot')
    line = peer.wait_for(
        lambda: [s for s in statuses(feed.reports, 'joint states') if 'no measured' in s.message],
        'a word about the missing efforts',
    )[-1]
    assert value(line, 'velocity measured') == value(line, 'effort measured') == 'False'
    # What ros2_control's broadcaster sends for interfaces that a drive does not have.
    feed.send(q, np.full(3, np.nan), np.full(3, np.nan))
    (result,) = peer.set_parameters(NODE, wrench_source='none')
    assert result.successful
    alone = delta.joint_forces(delta.home, None, base).wrench[delta.joints[0]]

    def without():
        stamp = feed.send(q)
        got = by_stamp(feed.forces).get(stamp)
        return got is not None and np.allclose(six(got), alone, atol=1e-6)

    peer.wait_for(without, 'forces without the wrench')


def test_silence_is_said_and_nothing_old_is_published(running, delta):
    feed, peer = running, running.peer
    q = actuated(delta, delta.inverse_kinematics(delta.home))[0]
    waiting = peer.wait_for(lambda: statuses(feed.reports, 'joint states'), 'diagnostics')[0]
    assert 'waiting' in waiting.message
    feed.send(q, np.zeros(3), np.zeros(3))

    def level():
        return statuses(feed.reports, 'joint states')[-1].level

    peer.wait_for(lambda: level() == b'\x02', 'silence in the diagnostics')
    count = len(feed.poses)
    peer.wait_for(lambda: 'no usable joint states' in feed.node.output, 'silence in the log')
    assert len(feed.poses) == count
    peer.wait_for(lambda: feed.send(q, np.zeros(3), np.zeros(3)) and level() == b'\x00', 'life')
    # A simulator that stands still repeats its last state: neither new nor bad.
    before = refusals(feed, 'joint_states')
    feed.states.publish(feed.message(q, np.zeros(3), np.zeros(3)))
    feed.send(q, np.zeros(3), np.zeros(3))
    assert refusals(feed, 'joint_states') == before == 0


def test_follows_a_simulator_in_another_process(delta):
    """All joints are published by the simulator: nothing is completed."""
    options = {'robot': 'delta', 'namespace': 'pair'}
    with (
        ros_process.start('simulator', **options, mode='lock_step', publish_clock=True),
        ros_process.start(NODE, **options, remaps={'platform/pose': 'estimate/pose'}),
        ros_process.Peer(namespace='pair') as peer,
    ):
        clock = peer.listen(Clock, '/clock')
        poses = peer.listen(PoseStamped, 'estimate/pose')
        wrenches = peer.listen(WrenchStamped, 'external_wrench_estimate')
        complete = peer.listen(JointState, 'joint_states_complete')
        push = peer.publisher(WrenchStamped, 'external_wrench')
        commands = peer.publisher(Float64MultiArray, 'effort_commands')
        weight = 9.81 * delta.model.bodies[1].inertia.mass
        lift = [0.0, 0.0, weight, 0.0, 0.0, 0.0]
        push.publish(messages.wrench_message(lift, messages.time_message(0), ''))
        holding = delta.inverse_dynamics(delta.home, lift)
        peer.wait_for(lambda: poses, 'the first estimate')

        def seen():
            count = len(clock)
            commands.publish(Float64MultiArray(data=holding.tolist()))
            peer.wait_for(lambda: len(clock) > count, 'a step')
            return wrenches and wrenches[-1].wrench.force.z > 0.9 * weight

        peer.wait_for(seen, 'the push in the estimate')
        assert not complete


# ---------------------------------------------------------------- small parts


def test_every_joint_gets_a_legal_topic_of_its_own():
    assert topic_names(['leg1_slide', 'leg1_slide_2']) == ['leg1_slide', 'leg1_slide_2']
    odd = ['leg-1', 'leg 1', '1st', 'markers', 'Gelenk ß', 'leg.1/x']
    names = topic_names(odd)
    assert len(set(names)) == len(odd)
    from rclpy.validate_topic_name import validate_topic_name

    for name in names:
        validate_topic_name(f'joint_forces/{name}')
        assert name not in ('markers', 'peaks')


def test_every_keeps_its_rate_in_the_time_of_the_samples():
    every = Every(100.0)
    assert sum(every(k * 0.002) for k in range(1000)) == 200
    assert sum(every(50.0 + k * 0.003) for k in range(1000)) == pytest.approx(300, abs=1)
    assert every(1.0)  # time went back
    assert not any(Every(0.0)(k) for k in range(5))
