"""Trajectories against the robot's limits, and ready ones for every robot."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import parallel_dynamics as pd
from parallel_dynamics import trajectories as tr

ROBOTS = pd.shipped_robots()
SHAPES = [kind for kind in tr.KINDS if kind not in ('file', 'paper', 'hold')]


@cache
def robot_of(name):
    return pd.load_robot(name)


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('kind', SHAPES)
def test_every_robot_has_every_motion_within_its_limits(name, kind):
    robot = robot_of(name)
    trajectory = tr.preset(robot, kind, duration=3.0)
    verdict = tr.check_trajectory(robot, trajectory, rate=173.0)
    assert verdict.ok, verdict.reason
    m = trajectory.sample([0.0, trajectory.duration])
    np.testing.assert_allclose(m.data[0, :12], robot.home.data[:12], atol=1e-8)
    np.testing.assert_allclose(m.data[1, :12], robot.home.data[:12], atol=1e-8)
    np.testing.assert_allclose(m.twist, 0.0, atol=1e-9)
    moved = trajectory.sample(trajectory.grid(50.0))
    q = robot.inverse_kinematics(moved).position[:, list(robot.model.actuators)]
    assert np.ptp(q, axis=0).max() > 0.01, 'a motion that one can see'


def test_size_and_speed_scale_a_motion():
    robot = robot_of('delta')
    small, large = (tr.preset(robot, 'circle', size=size) for size in (0.3, 0.6))
    spans = [np.ptp(t.sample(t.grid(50.0)).position[:, 0]) for t in (small, large)]
    assert spans[1] == pytest.approx(2.0 * spans[0], rel=1e-6)
    assert tr.preset(robot, 'circle', speed=2.0).duration == pytest.approx(2.0)


def test_papers_motions():
    orthoglide = robot_of('orthoglide')
    motion = tr.preset(orthoglide, 'paper', paper='chablat_wenger_staicu_2009', size=1.0)
    at_2s = motion.at(2.0).position - orthoglide.home.position
    # The paper's axes are (x, -y, -z) of base_link; 1 - cos(2 pi / 3) = 1.5.
    np.testing.assert_allclose(at_2s, 1.5 * np.array([0.05, -0.10, 0.20]), atol=1e-9)
    rps = robot_of('three_rps_prismatic')
    heave = tr.preset(rps, 'paper', paper='staicu_3rps_heave', size=1.0)
    assert heave.at(3.0).position[2] - rps.home.position[2] == pytest.approx(-0.2)
    roll = tr.preset(rps, 'paper', paper='staicu_3rps_roll', size=1.0)
    assert np.degrees(np.arccos(roll.at(3.0).rotation[2, 2])) == pytest.approx(20.0, abs=0.01)
    for trajectory in (heave, roll):
        assert tr.check_trajectory(rps, trajectory).ok


def raised(robot, height, duration):
    """Return a move by a height, m."""
    return tr.move(robot.home, tr.displaced(robot.home, [0, 0, height, 0, 0, 0]), duration)


CAUSES = {
    'reach': ('delta', -0.8, 9.0, 'unreachable'),
    'position': ('gough_stewart', 0.25, 9.0, 'leg1_slide at'),
    'velocity': ('gough_stewart', 0.1, 0.15, 'moves at'),
    'effort': ('gough_stewart', 0.1, 0.04, 'needs'),
}


@pytest.mark.parametrize('cause', CAUSES)
def test_what_the_robot_cannot_follow_is_named(cause):
    name, height, duration, words = CAUSES[cause]
    robot = robot_of(name)
    verdict = tr.check_trajectory(robot, raised(robot, height, duration))
    assert not verdict.ok
    assert any(words in str(v) for v in verdict.violations), verdict.reason
    with pytest.raises(pd.LimitError, match='cannot follow'):
        tr.require(verdict)


def test_singularities_are_seen_from_afar():
    # staicu_3rps: with revolute actuation singular at a roll of 21.8 deg and z = 1.2 m.
    robot = robot_of('three_rps')
    near = tr.on_closures(
        robot, tr.versine(robot.home, [0, 0, 0, 0.5 * np.radians(21.0), 0, 0], 8.0)
    )
    verdict = tr.check_trajectory(robot, near)
    assert any('singularity' in v.what for v in verdict.violations), verdict.reason
    assert verdict.condition > tr.limits.CONDITION_LIMIT


def test_a_pose_that_closures_cannot_take_is_a_reason_not_a_crash():
    robot = robot_of('delta')
    far = tr.on_closures(robot, tr.versine(robot.home, [0.9, 0, 0, 0, 0, 0], 4.0))
    verdict = tr.check_trajectory(robot, far)
    assert not verdict.ok and 0.0 < verdict.violations[0].time < 4.0


def test_a_load_counts():
    robot = robot_of('gough_stewart')
    hold = tr.preset(robot, 'hold')
    assert tr.check_trajectory(robot, hold).ok
    verdict = tr.check_trajectory(robot, hold, wrench=[0, 0, -60e3, 0, 0, 0])
    assert 'needs' in verdict.reason


def test_margins_leave_room():
    robot = robot_of('gough_stewart')
    trajectory = tr.preset(robot, 'quintic', size=1.0)
    assert tr.check_trajectory(robot, trajectory, margin=0.75).ok
    assert not tr.check_trajectory(robot, trajectory, margin=0.01).ok


def test_bad_kinds_are_refused():
    robot = robot_of('delta')
    with pytest.raises(pd.InputError, match='pick_and_place'):
        tr.preset(robot, 'dance')
    with pytest.raises(pd.InputError, match='size'):
        tr.preset(robot, 'circle', size=2.0)
    with pytest.raises(pd.InputError, match='duration'):
        tr.preset(robot, 'circle', duration=0.0)
    with pytest.raises(pd.InputError, match='cannot be read'):
        tr.preset(robot, 'file', file='nowhere.csv')


def test_a_motion_shorter_than_the_grid_hides_nothing():
    robot = pd.load_robot('delta')
    end = tr.displaced(robot.home, [0.0, 0.0, 0.05, 0.0, 0.0, 0.0])
    move = tr.move(robot.home, end, 0.004)
    assert 'moves at' in tr.check_trajectory(robot, move).reason
