"""Maps: every number of a map is the one that the single functions give at that pose."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_dynamics as pd
from parallel_dynamics.commands.map import _axes
from parallel_dynamics.maps import free_coordinates, load_map, performance_map, pose_grid, reach
from parallel_dynamics.maps.grid import UNITS, home_coordinates
from parallel_dynamics.maps.performance import allowed_poses

ROBOTS = ['gough_stewart', 'c5', 'delta', 'three_rps_prismatic']


@pytest.fixture(scope='module', params=ROBOTS)
def mapped(request):
    """Return a robot, a map of it over three coordinates, and the poses of that map."""
    robot = pd.load_robot(request.param)
    home = home_coordinates(robot)
    axes = {k: home[k] + (0.06 if UNITS[k] == 'm' else 0.15) * np.linspace(-1.0, 1.2, 5)
            for k in free_coordinates(robot)[-3:]}  # fmt: skip
    found = performance_map(robot, axes, acceleration=3.0, angular_acceleration=2.0)
    poses, _ = allowed_poses(robot, pose_grid(robot, axes).poses)
    return robot, found, poses


def good(found, step=7):
    """Return indices of some poses that can be assembled."""
    return np.flatnonzero(found['status'].ravel() == 0)[::step].tolist()


def test_condition_is_that_of_the_jacobians(mapped):
    robot, found, poses = mapped
    for i in good(found):
        expected = robot.jacobians(poses[i]).actuation_condition
        assert found['condition'].ravel()[i] == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(found['margin'] * found['condition'], 1.0)


def test_efforts_are_those_of_the_inverse_dynamics(mapped):
    robot, found, poses = mapped
    efforts = found['efforts'].reshape(-1, robot.dof)
    for i in good(found):
        expected = robot.inverse_dynamics(poses[i])
        np.testing.assert_allclose(efforts[i], expected, rtol=1e-8, atol=1e-8)
        assert found['effort'].ravel()[i] == pytest.approx(np.abs(expected).max(), abs=1e-8)


def test_no_acceleration_asks_for_more_than_the_map_says(mapped):
    """And some acceleration asks for just as much."""
    robot, found, poses = mapped
    chosen = list(robot.engine.independent)
    rng = np.random.default_rng(1)
    for i in good(found, 31):
        pose = poses[i]
        jacobians = robot.jacobians(pose)
        bound = found['effort_moving'].ravel()[i]
        held = robot.inverse_dynamics(pose)
        # Efforts are linear in V_r' at rest: these are the rows of that map.
        linear = np.stack([robot.inverse_dynamics(pose.replace(None, jacobians.S[:, k])) - held
                           for k in range(robot.dof)], axis=1)  # fmt: skip
        sizes = np.where(np.array(chosen) < 3, 3.0, 2.0)
        groups = [np.array(chosen) < 3, np.array(chosen) >= 3]
        tried = [rng.normal(size=robot.dof) for _ in range(20)]
        tried += [sign * row for row in linear for sign in (1.0, -1.0)]
        worst = 0.0
        for direction in tried:
            for group in groups:
                direction[group] /= max(np.linalg.norm(direction[group]), 1e-300)
            efforts = held + linear @ (sizes * direction)
            worst = max(worst, np.abs(efforts).max())
        assert worst <= bound * (1.0 + 1e-9)
        assert worst == pytest.approx(bound, rel=1e-6)


def test_the_force_held_is_the_largest_that_keeps_every_drive_within_its_limit(mapped):
    robot, found, poses = mapped
    limits = np.array([robot.model.joints[k].effort_limit for k in robot.model.actuators])
    rng = np.random.default_rng(2)
    for i in good(found, 31):
        for name, columns in (('force', slice(0, 3)), ('moment', slice(3, 6))):
            size = found[name].ravel()[i]
            if not 0.0 < size < 1e9:
                continue
            held = robot.inverse_dynamics(poses[i])
            pull = np.stack([robot.inverse_dynamics(poses[i], np.eye(6)[k]) - held
                             for k in range(6)], axis=1)[:, columns]  # fmt: skip
            directions = [*rng.normal(size=(20, 3)), *pull, *-pull]
            use = max(
                (np.abs(held + pull @ (size * d / np.linalg.norm(d))) / limits).max()
                for d in directions if np.linalg.norm(d) > 1e-9
            )  # fmt: skip
            assert use == pytest.approx(1.0, rel=1e-6)


def test_reachable_means_assembled_and_within_joint_limits(mapped):
    robot, found, poses = mapped
    for i in good(found):
        joints = robot.inverse_kinematics(poses[i])
        beyond = [v for v in robot.limit_violations(joints) if v.quantity == 'position']
        assert found['reachable'].ravel()[i] == (not beyond)
        assert (found['joint_margin'].ravel()[i] >= 0.0) == (not beyond)


@pytest.mark.parametrize(
    ('name', 'wide'), [('gough_stewart', 2.0), ('three_rps', 2.0), ('delta', 6.0)]
)
def test_limits_of_joints_that_turn_are_seen(name, wide):
    """Also where the dynamics can do with cosines and sines of their angles."""
    robot = pd.load_robot(name)
    home = home_coordinates(robot)
    length = robot.engine.packed.system[0]['length']
    free = [k for k in 'xz' if k in free_coordinates(robot)]
    axes = {k: home[k] + wide * length * np.linspace(-1.0, 1.0, 9 if len(free) > 1 else 81)
            for k in free}  # fmt: skip
    found = performance_map(robot, axes)
    poses, _ = allowed_poses(robot, pose_grid(robot, axes).poses)
    limited = 0
    for i in good(found, 1):
        joints = robot.inverse_kinematics(poses[i])
        beyond = [v for v in robot.limit_violations(joints) if v.quantity == 'position']
        assert found['reachable'].ravel()[i] == (not beyond)
        limited += bool(beyond)
    assert limited > 3


def test_what_cannot_be_reached_is_nan_and_says_why():
    robot = pd.load_robot('delta')
    found = performance_map(robot, {'z': np.linspace(-3.0, -0.5, 30)})
    refused = found['status'] != 0
    assert refused.any() and not refused.all()
    assert not found['reachable'][refused].any()
    assert np.isnan(found['condition'][refused]).all()
    assert np.isfinite(found['condition'][~refused]).all()
    assert found.share == found['reachable'].mean()


def test_only_the_structure_carries_what_the_drives_do_not_feel():
    """A moment on a Delta's platform goes into its arms."""
    robot = pd.load_robot('delta')
    found = performance_map(robot, {'x': np.array([-0.05, 0.05])})
    assert np.isinf(found['moment']).all()
    assert np.isfinite(found['force']).all()


def test_largest_joint_force_is_that_of_the_joint_forces():
    robot = pd.load_robot('three_rps_prismatic')
    axes = {'roll': np.array([-0.1, 0.2])}
    found = performance_map(robot, axes, joint_forces=True)
    poses, _ = allowed_poses(robot, pose_grid(robot, axes).poses)
    for i in range(2):
        wrench = robot.joint_forces(poses[i]).wrench
        largest = max(np.linalg.norm(w[:3]) for w in wrench.values())
        assert found['joint_force'][i] == pytest.approx(largest)


def test_progress_counts_every_pose():
    robot = pd.load_robot('delta')
    seen = []
    performance_map(robot, {'x': np.linspace(-0.1, 0.1, 150), 'y': np.linspace(-0.1, 0.1, 150)},
                    progress=seen.append)  # fmt: skip
    assert sum(seen) == 150 * 150 and len(seen) > 1


def test_tilting_the_base_changes_efforts_and_nothing_else():
    robot = pd.load_robot('delta')
    tilt = pd.BaseMotion(rotation=[[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    axes = {'x': np.linspace(-0.1, 0.1, 3)}
    level, tilted = performance_map(robot, axes), performance_map(robot, axes, base=tilt)
    np.testing.assert_array_equal(level['condition'], tilted['condition'])
    poses, _ = allowed_poses(robot, pose_grid(robot, axes).poses)
    expected = robot.inverse_dynamics(poses, base=tilt)
    np.testing.assert_allclose(tilted['efforts'], expected, rtol=1e-8, atol=1e-8)


def test_a_map_is_read_as_it_was_written(tmp_path):
    robot = pd.load_robot('delta')
    found = performance_map(robot, {'x': np.linspace(-0.1, 0.1, 4), 'z': np.array([-0.7, -0.8])},
                            {'y': 0.05}, acceleration=4.0)  # fmt: skip
    again = load_map(found.save(tmp_path / 'map.npz'))
    assert list(again.axes) == ['x', 'z'] and again.robot == 'delta'
    assert again.centre == found.centre and again.settings == found.settings
    for name in found.values:
        np.testing.assert_array_equal(again[name], found[name])
    (tmp_path / 'no.npz').write_text('nothing')
    with pytest.raises(pd.InputError, match='NumPy archive'):
        load_map(tmp_path / 'no.npz')


def test_a_map_tells_only_of_coordinates_that_it_holds():
    robot = pd.load_robot('three_rps_prismatic')  # shifts sideways as it rolls and pitches
    found = performance_map(robot, {'roll': np.array([-0.1, 0.2])})
    assert set(found.centre) == {'z', 'roll', 'pitch'}


def test_reach_ends_near_the_border_of_the_workspace():
    robot = pd.load_robot('delta')
    low, high = reach(robot, 'x')
    inside = performance_map(robot, {'x': np.linspace(low, high, 201)})['reachable']
    assert inside.any() and not inside.all()
    assert not inside[0] and not inside[-1]


BAD = {
    'name': lambda r: performance_map(r, {'height': np.zeros(2)}),
    'centre': lambda r: performance_map(r, {'x': np.zeros(2)}, {'height': 1.0}),
    'nothing': lambda r: performance_map(r, {}),
    'nan': lambda r: performance_map(r, {'x': np.array([0.0, np.nan])}),
    'shape': lambda r: performance_map(r, {'x': np.zeros((2, 2))}),
    'negative': lambda r: performance_map(r, {'x': np.zeros(2)}, acceleration=-1.0),
    'reach': lambda r: reach(r, 'height'),
    # A Delta does not turn: such a map would show the same pose again and again.
    'not free': lambda r: performance_map(r, {'roll': np.zeros(2)}),
    'centre not free': lambda r: performance_map(r, {'x': np.zeros(2)}, {'roll': 0.1}),
    'reach not free': lambda r: reach(r, 'roll'),
    'twice': lambda r: _axes(r, ['x=0.0:0.1:5', 'x=0.0:0.2:5']),
}


@pytest.mark.parametrize('what', BAD)
def test_bad_input_is_refused(what):
    with pytest.raises(pd.InputError):
        BAD[what](pd.load_robot('delta'))


def test_command_writes_picture_and_data(command, tmp_path):
    result = command('map', 'delta', '--axis', 'x=-0.2:0.2:20', '--axis', 'y=-0.2:0.2:20', '--at',
                     'z=-0.8', '--output', tmp_path)  # fmt: skip
    assert '400 poses' in result.stdout and 'reachable' in result.stdout
    assert {p.name for p in tmp_path.glob('delta_xy.*')} == {
        'delta_xy.png', 'delta_xy.svg', 'delta_xy.npz'
    }  # fmt: skip
    assert load_map(tmp_path / 'delta_xy.npz').centre['z'] == -0.8


@pytest.mark.parametrize(
    'words',
    [
        ('nobody',),
        ('delta', '--axis', 'height'),
        ('delta', '--axis', 'x=1:0'),
        ('delta', '--axis', 'x=a:b'),
        ('delta', '--at', 'z'),
        ('delta', '--axis', 'x=0:1:2', '--output', '/dev/null/map'),
    ],
)
def test_command_refuses_in_one_sentence(command, words):
    result = command('map', *words, check=False)
    assert result.returncode == 2 and not result.stdout
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
