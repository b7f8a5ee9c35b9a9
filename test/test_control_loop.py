"""The control loop without ROS: rules for desired motions, guards, phases, laws that learn."""

from __future__ import annotations

import numpy as np
import pytest
from robots import load
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd
from parallel_dynamics import control, trajectories
from parallel_dynamics.control import LAWS, Activity, Phase
from parallel_dynamics.control.laws import PdFeedforward, pose_error

STEP = 0.002


class Plant:
    """A robot in the simulator under a control loop, on one clock."""

    def __init__(self, name='gough_stewart', mode='computed_torque', **options):
        self.robot = load(name)
        self.simulator = pd.Simulator(self.robot)
        self.loop = control.ControlLoop(self.robot, mode, **options)
        self.loop.enable(0.0)
        self.now = 0.0
        self.speaks = True
        self.actuators = list(self.robot.model.actuators)

    def run(self, seconds, each=None):
        for _ in range(round(seconds / STEP)):
            if self.speaks:
                m = self.simulator.measure()
                q, v = m.position[self.actuators], m.velocity[self.actuators]
                self.loop.measure(self.now, q, v)
            command = self.loop.step(self.now)
            if each is not None:
                each(command)
            self.simulator.step(command.efforts, STEP)
            self.now += STEP
        return command

    def follow(self, trajectory, start=None):
        tracker = self.loop.tracker
        tracker.accept(tracker.judge(trajectory, start, self.now), self.now)


def small(robot, size=0.2, duration=1.0):
    return trajectories.preset(robot, 'swing', size=size, duration=duration)


@pytest.mark.parametrize('name', ['gough_stewart', 'three_rps'])
def test_motions_go_over_into_each_other_smoothly(name):
    """Through trajectory, replacement, stream and stop: twist and acceleration are derivatives."""
    plant = Plant(name)
    rows = []
    keep = lambda command: rows.append(command.desired.platform.data)  # noqa: E731
    plant.run(0.02, keep)
    plant.follow(small(plant.robot))
    plant.run(0.4, keep)
    plant.follow(small(plant.robot, 0.3), plant.now + 0.05)
    assert plant.loop.tracker.plan is not None
    plant.run(0.5, keep)
    plant.loop.tracker.stop(plant.now)
    plant.run(0.5, keep)
    assert plant.loop.tracker.activity is Activity.HOLDING
    data = np.array(rows)
    steps = np.array([pose_error(b, a) for a, b in zip(data[:-1], data[1:])]) / STEP
    mean = 0.5 * (data[1:, 12:18] + data[:-1, 12:18])
    scale = np.abs(data[:, 12:18]).max()
    np.testing.assert_allclose(steps, mean, atol=0.01 * scale)
    jumps = np.abs(np.diff(data[:, 12:18], axis=0)).max()
    assert jumps < 2.0 * STEP * np.abs(data[:, 18:24]).max()
    assert not plant.loop.supervisor.counts


def test_what_cannot_be_followed_is_refused_with_the_reason():
    robot = load('gough_stewart')
    tracker = control.Tracker(robot)
    up = lambda d: trajectories.displaced(robot.home, [0.0, 0.0, d, 0.0, 0.0, 0.0])  # noqa: E731
    good = trajectories.move(robot.home, up(0.02), 1.0)
    for trajectory, start, words in (
        (good, -2.0, 'ended'),
        (trajectories.move(robot.home, up(9.0), 1.0), None, 'cannot follow'),
        (trajectories.move(robot.home, up(0.1), 0.01), None, 'cannot follow'),
        (trajectories.move(up(0.12), up(0.1), 1.0), None, 'away from where the robot is'),
        (trajectories.move(robot.home, up(0.02), 1e9), None, 'send it in parts'),
    ):
        with pytest.raises(pd.LimitError, match=words):
            tracker.judge(trajectory, start, 0.0)
    tracker.box = np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, robot.home.position[2] + 0.01]])
    with pytest.raises(pd.LimitError, match='workspace'):
        tracker.judge(good, None, 0.0)
    with pytest.raises(pd.LimitError, match='workspace'):
        tracker.set_point(up(0.02), 0.0)
    with pytest.raises(pd.LimitError, match='old'):
        tracker.set_point(robot.home, 5.0, 1.0)
    with pytest.raises(pd.LimitError, match='ahead'):
        tracker.set_point(robot.home, 5.0, 50.0)
    assert tracker.activity is Activity.HOLDING


def test_the_way_onto_a_trajectory_is_judged_on_the_base_as_it_is():
    """On a base that takes most of the efforts nothing is left for a quick way to the start."""
    robot = load('delta')
    at = lambda z: trajectories.displaced(robot.home, [0.0, 0.0, z, 0.0, 0.0, 0.0])  # noqa: E731
    tracker = control.Tracker(robot, control.TrackerSettings(blend_time=0.02))
    move = trajectories.move(at(0.005), at(0.006), 1.0)
    tracker.judge(move, None, 0.0)
    top = np.array([robot.model.joints[a].effort_limit for a in robot.model.actuators])
    unit = pd.BaseMotion(acceleration=[0.0, 0.0, 1.0])
    weight = robot.inverse_dynamics(robot.home)
    share = ((robot.inverse_dynamics(robot.home, base=unit) - weight) / top).min()
    tracker.base = pd.BaseMotion(acceleration=[0.0, 0.0, -0.9 / share])
    with pytest.raises(pd.LimitError, match='the way onto it'):
        tracker.judge(move, None, 0.0)


def test_a_trajectory_waits_for_its_time_and_may_be_joined_late():
    plant = Plant()
    plant.run(0.01)
    up = trajectories.displaced(plant.robot.home, [0.0, 0.0, 0.02, 0.0, 0.0, 0.0])
    move = trajectories.move(plant.robot.home, up, 1.0)
    plant.follow(move, 0.5)
    assert plant.loop.tracker.activity is Activity.WAITING
    late = control.Tracker(plant.robot)
    late.accept(late.judge(move, 0.5, 0.8), 0.8)
    for tracker in (plant.loop.tracker, late):
        wanted = [tracker.at(t) for t in np.arange(0.81, 1.3, 0.01)]
        np.testing.assert_allclose(wanted[-1].data, move.at(1.29 - 0.5).data, atol=1e-3)


def test_a_stream_is_followed_and_missed():
    plant = Plant()
    plant.run(0.02)
    motion = small(plant.robot, 0.2, 2.0)
    errors = []
    for k in range(100):
        plant.loop.tracker.set_point(motion.at(0.01 * k), plant.now)
        command = plant.run(0.01)
        wanted = motion.at(0.01 * k + 0.01 - STEP)
        errors.append(pose_error(command.desired.platform.data, wanted.data))
    assert np.abs(errors).max() < 1e-3
    plant.run(1.0)
    assert plant.loop.supervisor.counts['trajectory source lost'] == 1
    assert plant.loop.tracker.activity is Activity.HOLDING


# ---------------------------------------------------------------- phases


def test_stale_states_hold_then_ramp_and_recover():
    plant = Plant()
    plant.run(0.1)
    plant.speaks = False
    efforts = []
    seen = []

    def keep(command):
        efforts.append(command.efforts)
        if not seen or seen[-1] is not command.phase:
            seen.append(command.phase)

    for _ in range(500):  # the robot itself stands by its brakes meanwhile
        keep(plant.loop.step(plant.now))
        plant.now += STEP
    assert seen == [Phase.ENABLED, Phase.HOLDING_EFFORT, Phase.RAMPING_DOWN]
    assert not efforts[-1].any()
    size = np.linalg.norm(efforts, axis=1)
    assert (np.diff(size) <= 1e-9).all()
    plant.speaks = True
    assert plant.run(0.1).phase is Phase.ENABLED
    texts = [(e.condition, e.begins) for e in plant.loop.supervisor.take_events()]
    assert texts.count(('joint states stale', True)) == 1
    assert texts.count(('joint states stale', False)) == 1


def test_emergency_stop_lasts_until_enabled():
    plant = Plant()
    plant.run(0.05)
    plant.loop.emergency_stop(plant.now)
    for _ in range(600):
        plant.loop.measure(plant.now, np.zeros(6), np.zeros(6))
        command = plant.loop.step(plant.now)
        plant.now += STEP
    assert command.phase is Phase.STOPPED
    assert not command.efforts.any()
    assert 'emergency stop' in plant.loop.supervisor.active
    plant.loop.enable(plant.now)
    plant.simulator.reset()
    assert plant.run(0.1).phase is Phase.ENABLED
    assert not plant.loop.supervisor.active


def test_a_runaway_ends_in_an_emergency_stop():
    robot = load('delta')
    loop = control.ControlLoop(robot)
    loop.enable(0.0)
    for k in range(600):
        loop.measure(STEP * k, np.zeros(3), np.array([0.0, 0.0, 1e3]) if k > 10 else np.zeros(3))
        command = loop.step(STEP * k)
    assert command.phase is Phase.STOPPED
    assert loop.supervisor.counts['velocity limit'] == 1


def test_efforts_change_no_faster_than_allowed():
    robot = load('delta')
    limits = control.default_limits(robot, effort_rate=1.0)
    loop = control.ControlLoop(robot, limits=limits)
    loop.enable(0.0)
    before = None
    for k in range(50):
        loop.measure(STEP * k, np.full(3, 0.01 if k > 5 else 0.0), np.zeros(3))
        efforts = loop.step(STEP * k).efforts
        if before is not None:
            assert (np.abs(efforts - before) <= limits.effort_rate * STEP * (1 + 1e-9)).all()
        before = efforts
    assert loop.supervisor.counts['effort rate limit'] == 1


def test_a_clock_that_went_back_begins_anew():
    plant = Plant()
    plant.now = 100.0
    plant.run(0.05)
    plant.loop.restart()
    plant.now = 0.0
    command = plant.run(0.05)
    assert command.phase is Phase.ENABLED
    np.testing.assert_allclose(command.efforts, plant.robot.inverse_dynamics(plant.robot.home),
                               rtol=1e-3)  # fmt: skip


def test_of_a_base_its_attitude_outlives_a_clock_that_went_back():
    """For the model and for what is judged alike; what moved by the old clock is at rest."""
    robot = load('delta')
    loop = control.ControlLoop(robot)
    tilted = Rotation.from_euler('x', 0.3).as_matrix()
    loop.set_base(100.0, pd.BaseMotion(tilted, acceleration=[0.0, 0.0, 5.0]))
    loop.restart()
    attitude = pd.BaseMotion(tilted)
    assert loop.tracker.base == attitude
    expected = robot.inverse_dynamics(robot.home, base=attitude)
    np.testing.assert_allclose(loop.model.holding(robot.home), expected)
    loop.step(0.0)
    loop.step(1.0)
    assert not loop.supervisor.counts['base motion lost']


# ---------------------------------------------------------------- model and laws


def test_another_load_and_a_base_that_falls_silent():
    plant = Plant('delta')
    plant.run(0.02)
    heavy = plant.robot.with_payload(1.0)
    plant.loop.set_robot(heavy, control.default_gains(heavy))
    still = plant.loop.model.holding(plant.robot.home)
    np.testing.assert_allclose(still, heavy.inverse_dynamics(heavy.home))
    moving = pd.BaseMotion(acceleration=[0.0, 0.0, 2.0])
    plant.loop.set_base(plant.now, moving)
    np.testing.assert_allclose(
        plant.loop.model.holding(heavy.home), heavy.inverse_dynamics(heavy.home, base=moving)
    )
    plant.run(1.0)
    assert 'base motion lost' in plant.loop.supervisor.active
    np.testing.assert_allclose(plant.loop.model.holding(heavy.home), still)


def test_what_a_law_learns_outlives_changes(monkeypatch):
    class Learning(PdFeedforward):
        learnt = 0.0

        def save(self):
            return {'learnt': self.learnt}

        def restore(self, saved):
            self.learnt = saved.get('learnt', 0.0)

    monkeypatch.setitem(LAWS, 'learning', Learning)
    loop = control.ControlLoop(load('delta'), 'learning')
    loop.law.learnt = 3.0
    loop.set_mode('computed_torque')
    loop.set_mode('learning')
    loop.set_gains(control.default_gains(load('delta'), 5.0))
    assert loop.law.learnt == 3.0
    other = control.ControlLoop(load('delta'), 'learning')
    other.restore_laws(loop.save_laws())
    assert other.law.learnt == 3.0
    with pytest.raises(pd.InputError, match='nothing to restore'):
        other.restore_laws({'computed_torque': {'x': 1.0}})


def test_leaving_gravity_compensation_holds_the_robot_where_it_was_led():
    plant = Plant(mode='gravity_compensation')
    plant.run(0.05)
    for _ in range(300):  # pushed upwards
        m = plant.simulator.measure()
        a = plant.actuators
        plant.loop.measure(plant.now, m.position[a], m.velocity[a])
        efforts = plant.loop.step(plant.now).efforts
        plant.simulator.step(efforts, STEP, wrench=[0.0, 0.0, 300.0, 0.0, 0.0, 0.0])
        plant.now += STEP
    led = plant.simulator.state
    assert led.position[2] - plant.robot.home.position[2] > 1e-3
    plant.loop.set_mode('computed_torque')
    plant.run(0.6)
    assert 'tracking error' not in plant.loop.supervisor.counts
    assert plant.simulator.state.position[2] > led.position[2] - 1e-3
    assert np.abs(plant.simulator.state.twist).max() < 1e-3
