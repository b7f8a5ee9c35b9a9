"""Trajectories: derivatives, rests, closures, time grids."""

from __future__ import annotations

import numpy as np
import pytest
from robots import load
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd
from parallel_dynamics import trajectories as tr
from parallel_dynamics.trajectories.rotation_vectors import (
    rotation_from_vector,
    unwrapped,
    vector_rates,
)
from parallel_dynamics.trajectories.spline import _turn

START = pd.PlatformMotion(
    [0.1, -0.2, 0.9], Rotation.from_euler('xyz', [0.2, -0.1, 0.4]).as_matrix()
)
END = pd.PlatformMotion([0.3, 0.1, 0.8], Rotation.from_euler('xyz', [-0.3, 0.2, 1.0]).as_matrix())
MIDDLE = tr.displaced(START, [0.1, 0.2, 0.3, 0.3, 0.2, -0.2])


@pytest.fixture(scope='module')
def robots():
    return {name: pd.load_robot(name) for name in pd.shipped_robots()}


def samples(trajectory, rate=20.0, derivatives=2):
    times = trajectory.grid(rate)
    m = trajectory.sample(times)
    return tr.Spline(
        times, m.position, m.rotation,
        m.twist if derivatives > 0 else None, m.twist_rate if derivatives > 1 else None,
    )  # fmt: skip


SWING = tr.swing(START, [0.1, 0.2, 0.05, 0.3, 0.2, 0.4], 3.0)

TRAJECTORIES = {
    'quintic': tr.move(START, END, 1.5),
    'cruise': tr.move(START, END, 1.5, 'cruise'),
    'blended': tr.Moves([START, MIDDLE, END, START], [1.0, 0.7, 1.2], blend=0.4),
    'pick and place': tr.pick_and_place(START, END, [0.0, 0.0, 0.2], 2.0),
    'circle': tr.circle(START, [0.1, 0.0, 0.0], [0.0, 0.1, 0.0, 0.1, 0.0, 0.2], 1.0, 2.0),
    'sweep': tr.sweep(START, [0.1, 0.0, 0.05, 0.2, 0.1, 0.0], 0.5, 3.0, 4.0),
    'swept velocity': tr.sweep(START, [0.1] * 6, 0.5, 3.0, 4.0, constant_velocity=True),
    'steady sine': tr.sweep(START, [0.1] * 6, 1.0, 1.0, 4.0),
    'swing': SWING,
    'versine': tr.versine(START, [0.1, 0.0, 0.2, 0.1, 0.2, 0.3], 2.0),
    'scaled': tr.Scaled(SWING, 1.7),
    'spline of poses': samples(SWING, derivatives=0),
    'spline of twists': samples(SWING, derivatives=1),
    'spline': samples(SWING, derivatives=2),
    'trapezoidal': tr.move(START, END, 1.5, 'trapezoidal'),
}
JUMPS = {'trapezoidal'}  # where the acceleration jumps between two samples


@pytest.mark.parametrize('name', TRAJECTORIES)
def test_rates_are_derivatives(name):
    check_rates(TRAJECTORIES[name])


@pytest.mark.parametrize('label', ['three_rps', 'three_ups_passive_leg', 'delta'])
def test_rates_are_derivatives_on_closures(label):
    """Also where closures turn the platform away from the orientation that is asked for."""
    robot = load(f'irregular_{label}')
    length = robot.engine.packed.system[0]['length']
    size = 0.1 * np.array([length, -length, length, 1.0, 1.5, -1.2])
    check_rates(tr.on_closures(robot, tr.swing(robot.home, size, 2.0)))


def check_rates(trajectory):
    h = 1e-6 * trajectory.duration
    t = np.linspace(0.013, trajectory.duration - 0.017, 41)
    a, b, m = trajectory.sample(t - h), trajectory.sample(t + h), trajectory.sample(t)
    size = np.abs(m.twist).max()
    turn = Rotation.from_matrix(b.rotation @ a.rotation.transpose(0, 2, 1)).as_rotvec()
    shift = np.hstack([b.position - a.position, turn])
    np.testing.assert_allclose(shift / (2 * h), m.twist, atol=1e-6 * size)
    rate = np.abs(m.twist_rate).max()
    np.testing.assert_allclose((b.twist - a.twist) / (2 * h), m.twist_rate, atol=1e-4 * rate)


@pytest.mark.parametrize('name', TRAJECTORIES)
def test_starts_and_ends_at_rest_and_holds(name):
    trajectory = TRAJECTORIES[name]
    ends = trajectory.sample([0.0, trajectory.duration])
    speed = np.abs(trajectory.sample(trajectory.grid(50.0)).twist).max()
    np.testing.assert_allclose(ends.twist, 0.0, atol=1e-9 * speed)
    for time, end in ((-1.0, ends[0]), (trajectory.duration + 1.0, ends[1])):
        held = trajectory.at(time)
        np.testing.assert_allclose(held.position, end.position, atol=1e-12)
        np.testing.assert_allclose(held.rotation, end.rotation, atol=1e-12)
        assert not held.twist.any() and not held.twist_rate.any()


@pytest.mark.parametrize('name', TRAJECTORIES)
def test_a_time_and_a_batch_agree(name):
    trajectory = TRAJECTORIES[name]
    times = np.linspace(-0.1, trajectory.duration + 0.1, 23)
    batch = trajectory.sample(times)
    for k, time in enumerate(times):
        np.testing.assert_allclose(trajectory.at(time).data, batch[k].data, atol=1e-10)
    rotations = batch.rotation
    squares = rotations @ rotations.transpose(0, 2, 1)
    np.testing.assert_allclose(squares, np.tile(np.eye(3), (23, 1, 1)), atol=1e-12)


@pytest.mark.parametrize('law', ['quintic', 'trapezoidal', 'cruise'])
def test_a_move_ends_in_its_pose(law):
    trajectory = tr.move(START, END, 0.8, law)
    np.testing.assert_allclose(trajectory.at(0.8).data[:12], END.data[:12], atol=1e-12)
    np.testing.assert_allclose(trajectory.at(0.0).data[:12], START.data[:12], atol=1e-12)


@pytest.mark.parametrize('law', ['quintic', 'cruise'])
def test_smooth_laws_have_no_jump_in_acceleration(law):
    motion = tr.move(START, END, 1.0, law).sample(np.linspace(0.0, 1.0, 2001))
    jumps = np.abs(np.diff(motion.twist_rate, axis=0)).max()
    assert jumps < 0.02 * np.abs(motion.twist_rate).max()
    assert np.abs(motion.twist_rate[[0, -1]]).max() < 1e-9


def test_trapezoid_cruises_at_its_top_speed():
    law = tr.trapezoidal(0.2)
    x = np.linspace(0.25, 0.75, 11)
    np.testing.assert_allclose(law(x)[1], 1.0 / 0.8)
    np.testing.assert_allclose(law(x)[2], 0.0)


def test_blending_passes_near_the_corner_without_a_stop():
    corner = [START, MIDDLE, END]
    sharp, round_ = tr.Moves(corner, 1.0), tr.Moves(corner, 1.0, blend=0.4)
    assert round_.duration == pytest.approx(1.6)
    t = np.linspace(0.3, 1.2, 400)
    assert np.linalg.norm(round_.sample(t).velocity, axis=1).min() > 0.01
    assert np.linalg.norm(sharp.at(1.0).velocity) < 1e-12
    gap = np.linalg.norm(round_.sample(t).position - MIDDLE.position, axis=1).min()
    assert 0.0 < gap < 0.1
    np.testing.assert_allclose(round_.at(1.6).data[:12], END.data[:12], atol=1e-12)


def test_pick_and_place_rests_at_both_poses():
    cycle = tr.pick_and_place(START, END, [0.0, 0.0, 0.2], 1.0)
    for time, pose in ((0.5 * cycle.duration, END), (cycle.duration, START)):
        np.testing.assert_allclose(cycle.at(time).data[:12], pose.data[:12], atol=1e-12)
        assert np.abs(cycle.at(time).twist).max() < 1e-9
    assert cycle.sample(cycle.grid(200.0)).position[:, 2].max() > 1.0


def test_circle_is_round_and_closes():
    circle = tr.circle(START, [0.2, 0.0, 0.0], [0.0, 0.2, 0.0], 1.5, 2.0)
    motion = circle.sample(circle.grid(100.0))
    centre = START.position + [0.2, 0.0, 0.0]
    np.testing.assert_allclose(np.linalg.norm(motion.position - centre, axis=1), 0.2, atol=1e-12)
    np.testing.assert_allclose(motion.position[-1], START.position, atol=1e-12)


def test_speed_keeps_the_path():
    fast = tr.Scaled(SWING, 2.0)
    assert fast.duration == pytest.approx(1.5)
    np.testing.assert_allclose(fast.at(0.6).data[:12], SWING.at(1.2).data[:12])
    np.testing.assert_allclose(fast.at(0.6).twist, 2.0 * SWING.at(1.2).twist)


def test_sweep_reaches_its_frequencies():
    sweep = tr.sweep(START, [0.1, 0, 0, 0, 0, 0], 1.0, 8.0, 10.0)
    times = np.linspace(0.0, 10.0, 20001)
    x = sweep.sample(times).position[:, 0] - START.position[0]
    crossings = times[np.flatnonzero(np.diff(np.sign(x)) > 0)]
    frequencies = 1.0 / np.diff(crossings)
    assert frequencies[0] == pytest.approx(1.0, rel=0.15)
    assert np.median(frequencies[-5:]) == pytest.approx(8.0, rel=0.15)
    assert np.abs(x).max() == pytest.approx(0.1, rel=1e-3)


# ---------------------------------------------------------------- rotation vectors


@pytest.mark.parametrize('size', [0.0, 1e-9, 1e-3, 0.049, 0.051, 1.0, 3.0, 5.5])
def test_rotation_vectors_and_their_rates(size):
    rng = np.random.default_rng(3)
    r = rng.normal(size=(7, 3))
    r *= size / np.linalg.norm(r, axis=1, keepdims=True)
    rd, rdd = rng.normal(size=(2, 7, 3))
    rotation, w, wd = rotation_from_vector(r, rd, rdd)
    h = 1e-5
    later = rotation_from_vector(r + h * rd + 0.5 * h * h * rdd, rd + h * rdd, rdd)
    before = rotation_from_vector(r - h * rd + 0.5 * h * h * rdd, rd - h * rdd, rdd)
    turn = Rotation.from_matrix(later[0] @ before[0].transpose(0, 2, 1)).as_rotvec()
    np.testing.assert_allclose(turn / (2 * h), w, atol=1e-8)
    np.testing.assert_allclose((later[1] - before[1]) / (2 * h), wd, atol=1e-7)
    back = vector_rates(r, w, wd)
    np.testing.assert_allclose(back[0], rd, atol=1e-9 * (1 + size**4))
    np.testing.assert_allclose(back[1], rdd, atol=1e-8 * (1 + size**4))
    for k in range(7):
        one = _turn(*r[k], *rd[k], *rdd[k])
        for ours, theirs in zip(one, (rotation[k], w[k], wd[k])):
            np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_unwrapping_follows_more_than_half_a_turn():
    angles = np.linspace(-5.0, 5.0, 101)
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    wrapped = Rotation.from_rotvec(angles[:, None] * axis).as_rotvec()
    half = 50
    up = unwrapped(wrapped[half:])
    np.testing.assert_allclose(up, angles[half:, None] * axis, atol=1e-12)


# ---------------------------------------------------------------- splines


@pytest.mark.parametrize('derivatives, tolerance', [(0, 1e-3), (1, 1e-4), (2, 2e-5)])
def test_splines_come_close_to_what_they_sample(derivatives, tolerance):
    times = np.linspace(0.1, 2.9, 333)
    truth, found = SWING.sample(times), samples(SWING, 25.0, derivatives).sample(times)
    for quantity, factor in (('position', 1.0), ('twist', 20.0), ('twist_rate', 400.0)):
        error = np.abs(getattr(found, quantity) - getattr(truth, quantity)).max()
        assert error < factor * tolerance, quantity


@pytest.mark.parametrize('derivatives, order', [(0, 6), (1, 6), (2, 6)])
def test_splines_converge_with_their_order(derivatives, order):
    times = np.linspace(1.0, 2.0, 200)
    truth = SWING.sample(times).position
    error = [
        np.abs(samples(SWING, rate, derivatives).sample(times).position - truth).max()
        for rate in (20.0, 40.0)
    ]
    assert error[0] / error[1] > 2.0 ** (order - 1)


def test_a_spline_goes_through_its_points_with_uneven_times():
    rng = np.random.default_rng(5)
    times = np.cumsum(0.05 + rng.random(12))
    motion = SWING.sample(np.linspace(0.0, 3.0, 12))
    for twist, rate in ((None, None), (motion.twist, None), (motion.twist, motion.twist_rate)):
        spline = tr.Spline(times, motion.position, motion.rotation, twist, rate)
        through = spline.sample(times - times[0])
        np.testing.assert_allclose(through.data[:, :12], motion.data[:, :12], atol=1e-9)
        if twist is not None:
            np.testing.assert_allclose(through.twist, twist, atol=1e-8)


def test_splines_of_few_points():
    for count in (2, 3, 4, 5):
        motion = tr.move(START, END, 1.0).sample(np.linspace(0.0, 1.0, count))
        spline = tr.Spline(np.arange(count), motion.position, motion.rotation)
        assert np.isfinite(spline.sample(spline.grid(10.0)).data).all()


def test_a_spline_follows_more_than_half_a_turn():
    angles = np.linspace(0.0, 4.0, 21)
    rotation = Rotation.from_rotvec(angles[:, None] * [0.0, 0.0, 1.0]).as_matrix()
    spline = tr.Spline(np.linspace(0.0, 2.0, 21), np.zeros((21, 3)), rotation)
    w = spline.sample([0.8, 1.0, 1.2]).angular_velocity
    np.testing.assert_allclose(w, [[0.0, 0.0, 2.0]] * 3, atol=0.02)


@pytest.mark.parametrize(
    'times, word',
    [([0.0, 1.0, 1.0], 'increasing'), ([0.0, np.nan, 1.0], 'finite'), ([0.0], 'two')],
)
def test_bad_times_are_refused(times, word):
    with pytest.raises(pd.InputError, match=word):
        tr.Spline(times, np.zeros((len(times), 3)), np.tile(np.eye(3), (len(times), 1, 1)))


def test_bad_arguments_are_refused():
    with pytest.raises(pd.InputError, match='durations'):
        tr.move(START, END, 0.0)
    with pytest.raises(pd.InputError, match='quintic'):
        tr.move(START, END, 1.0, 'cubic')
    with pytest.raises(pd.InputError, match='blend'):
        tr.Moves([START, END], 1.0, blend=0.9)
    with pytest.raises(pd.InputError, match='at least two'):
        tr.Moves([START], 1.0)
    with pytest.raises(pd.InputError, match='three or six'):
        tr.circle(START, [1.0], [0.0, 1.0, 0.0], 1.0)
    with pytest.raises(pd.InputError, match='staicu_3rps_heave'):
        tr.paper_motion(START, 'lopes_2010')
    with pytest.raises(pd.InputError, match='shape'):
        SWING.sample([[0.0]])


# ---------------------------------------------------------------- on robots


@pytest.mark.parametrize('name', ['delta', 'three_rps', 'orthoglide'])
def test_projected_motions_stay_on_the_closures(robots, name):
    robot = robots[name]
    amplitude = np.array([0.02, 0.02, 0.02, 0.03, 0.03, 0.0])
    raw = tr.swing(robot.home, amplitude, 3.0)
    trajectory = tr.on_closures(robot, raw)
    motion = trajectory.sample(trajectory.grid(50.0))
    robot.inverse_dynamics(motion)  # raises where pose, twist or acceleration are not allowed
    free = list(robot.engine.independent)
    inside = raw.sample(raw.grid(50.0))
    np.testing.assert_allclose(motion.twist[:, free], inside.twist[:, free], atol=1e-9)


def test_six_degrees_of_freedom_need_no_projection(robots):
    assert tr.on_closures(robots['gough_stewart'], SWING) is SWING
