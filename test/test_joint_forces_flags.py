"""Which joint forces are unique: flags, their evidence, and what is said about them."""

import warnings

from edited_robots import Edited
from forces_oracle import ForcesOracle
import numpy as np
import pytest
from robots import ALL, load, path_of, random_motion
from scipy.spatial.transform import Rotation
import tiny_robots

import parallel_dynamics as pd
from parallel_dynamics.forces import virtual_power_forces
from parallel_dynamics.joint_forces import UncertainRankWarning

QUARTER = 1.5707963267948966


# ---------------------------------------------------------------- opening redundant closures


def two_planes(edited, name):
    """Replace a hinge by what holds it in its plane alone: two plane closures across its axis."""
    closure = edited.closure(name)
    first, second = closure['between']
    edited.data['closures'].remove(closure)
    for k, turn in (('x', f'0 {QUARTER} 0'), ('y', f'{-QUARTER} 0 0')):
        fix(edited, second, f'{second}_{k}', '0 0 0', turn)
        edited.data['closures'].append(
            {'name': f'{name}_{k}', 'type': 'plane', 'between': [first, f'{second}_{k}']})


def ball_and_plane(edited, name):
    """Replace a hinge by a ball that may turn about two axes instead of one."""
    closure = edited.closure(name)
    first, second = closure['between']
    fix(edited, first, f'{first}_off', '0 0 0.1', '0 0 0')
    fix(edited, second, f'{second}_x', '0 0 0', f'0 {QUARTER} 0')
    closure['type'] = 'ball'
    edited.data['closures'].append(
        {'name': f'{name}_x', 'type': 'plane', 'between': [f'{first}_off', f'{second}_x']})


def ball(edited, name):
    edited.closure(name)['type'] = 'ball'


def cylinder(edited, name):
    edited.closure(name)['type'] = 'cylindrical'


def fix(edited, parent, name, xyz, rpy):
    edited.add(
        f'<link name="{name}"/><joint name="{name}_fixed" type="fixed"><parent link="{parent}"/>'
        f'<child link="{name}"/><origin xyz="{xyz}" rpy="{rpy}"/></joint>')


OPENED = [
    ({}, 12),
    ({'loop1': cylinder}, 11),
    ({'loop1': ball}, 10),
    ({'loop1': two_planes}, 9),
    ({'hinge1': ball}, 10),
    ({'loop1': two_planes, 'loop2': two_planes, 'loop3': two_planes}, 3),
    ({'loop1': two_planes, 'loop2': two_planes, 'loop3': two_planes, 'hinge1': ball}, 1),
    ({'loop1': two_planes, 'loop2': two_planes, 'loop3': two_planes, 'hinge1': ball,
      'hinge2': ball_and_plane}, 0),
]  # fmt: skip


@pytest.mark.parametrize(('opened', 'redundancy'), OPENED)
def test_opening_redundant_closures_of_the_orthoglide(opened, redundancy, tmp_path):
    """Fewer redundant equations, fewer loose forces, and those that were fixed stay as they are.

    A component that a redundant closure shares becomes determinate only when the last closure
    that it shares it with is opened: brute force says where.
    """
    edited = Edited('orthoglide')
    for name, change in opened.items():
        change(edited, name)
    path = edited.write(tmp_path)
    robot, whole, oracle = pd.load_robot(path), load('orthoglide'), ForcesOracle(path)
    rng = np.random.default_rng(1)
    m, wrench = random_motion(whole, rng), 20.0 * rng.normal(size=6)
    forces, before = robot.joint_forces(m, wrench), whole.joint_forces(m, wrench)
    assert forces.redundancy == redundancy
    flags = oracle.solve(robot, m, wrench).determinate(robot.engine.packed.system[0]['length'])
    scale = np.abs(before.array).max()
    for name, fixed in flags.items():
        np.testing.assert_array_equal(forces.determinate[name], fixed, name)
    for name in robot.joints:
        fixed = before.determinate[name]
        assert forces.determinate[name][fixed].all(), 'opening a closure made a force loose'
        gap = (forces.wrench[name] - before.wrench[name])[fixed]
        assert np.abs(gap).max(initial=0.0) < 1e-9 * scale
    assert forces.determinate_array.all() == (redundancy == 0)
    assert np.abs(oracle.unbalanced(forces)).max() < 1e-9 * scale


def test_forces_in_the_plane_of_a_planar_robot_are_determinate():
    """A planar 3-RRR: in its plane all is fixed, out of it nothing that two legs share."""
    robot = load('irregular_planar_3rrr')
    forces = robot.joint_forces(random_motion(robot, np.random.default_rng(2)))
    for joint in robot.model.joints:
        assert np.abs(joint.axis).tolist() == [0.0, 0.0, 1.0]
        np.testing.assert_array_equal(
            forces.determinate[joint.name], [True, True, False, False, False, True])


# ---------------------------------------------------------------- values that are not unique


@pytest.mark.parametrize('label', ['orthoglide', 'irregular_planar_3rrr', 'irregular_orthoglide'])
def test_values_have_the_least_norm(label):
    """No self-stress can be added that would make the closure loads smaller."""
    robot, oracle = load(label), ForcesOracle(path_of(label))
    rng = np.random.default_rng(3)
    m, wrench = random_motion(robot, rng), 50.0 * rng.normal(size=6)
    length = robot.engine.packed.system[0]['length']
    weights = 1.0 / np.repeat([1.0, length], 3)
    loads = np.concatenate([
        robot.joint_forces(m, wrench).wrench[name] * weights for name in robot.closures])
    oracle.solve(robot, m, wrench)
    for stress in oracle.self_stresses(length):
        changes, _ = oracle.joint_forces(stress, moving=False)
        change = np.concatenate([changes[name] * weights for name in robot.closures])
        assert abs(change @ loads) < 1e-9 * np.linalg.norm(change) * np.linalg.norm(loads)


def test_nan_on_request():
    robot = load('orthoglide')
    m = random_motion(robot, np.random.default_rng(4), batch=3)
    plain, marked = robot.joint_forces(m), robot.joint_forces(m, indeterminate='nan')
    np.testing.assert_array_equal(np.isnan(marked.array), ~plain.determinate_array)
    fixed = plain.determinate_array
    np.testing.assert_array_equal(marked.array[fixed], plain.array[fixed])
    assert np.isfinite(marked.efforts).all()
    single = robot.joint_forces(m[1], indeterminate='nan')
    np.testing.assert_array_equal(np.isnan(single.array), ~fixed[1])
    determinate = load('delta')
    assert np.isfinite(determinate.joint_forces(determinate.home, indeterminate='nan').array).all()


@pytest.mark.parametrize('label', ALL)
def test_report_names_those_that_share(label):
    robot = load(label)
    forces = robot.joint_forces(random_motion(robot, np.random.default_rng(5)))
    loose = {n for n in forces.names if not forces.determinate[n].all()}
    assert loose == {name for group in forces.sharing for name in group.names}
    assert sum(group.loads for group in forces.sharing) == forces.redundancy
    report = forces.report()
    assert all(name in report for name in loose)
    assert ('All joint forces are statically determinate' in report) == (not loose)


def test_parallelograms_of_the_orthoglide_share_by_themselves():
    forces = load('orthoglide').joint_forces(load('orthoglide').home)
    assert forces.sharing[0].names == (
        'leg1_parallel_a', 'leg1_parallel_b', 'leg1_parallel_tip', 'loop1')
    assert [group.loads for group in forces.sharing] == [3, 3, 3, 3]


def test_states_that_cannot_be_solved_say_nothing_about_the_others():
    for label in ('orthoglide', 'delta'):
        robot = load(label)
        m = random_motion(robot, np.random.default_rng(6), batch=3)
        good = robot.joint_forces(m)
        rows = m.data.copy()
        rows[1, :3] += 100.0
        bad = pd.PlatformMotion._wrap(rows)
        with pytest.raises(pd.UnreachableError, match='state 1 of the batch'):
            robot.joint_forces(bad)
        forces = robot.joint_forces(bad, invalid='nan')
        np.testing.assert_array_equal(forces.valid, [True, False, True])
        assert np.isnan(forces.array[1]).all() and np.isnan(forces.efforts[1]).all()
        assert not forces.determinate_array[1].any() and not forces.uncertain_array[1].any()
        np.testing.assert_allclose(forces.array[[0, 2]], good.array[[0, 2]], rtol=1e-9, atol=1e-9)
        assert repr(forces.sharing) == repr(good.sharing)


# ---------------------------------------------------------------- too close to call


def crank_pose(angle):
    """Pose of the slider-crank's platform; dead at arcsin(0.8 / 3)."""
    rise = 0.8 - np.sin(angle)
    turn = Rotation.from_euler('z', np.arctan2(rise, np.sqrt(4.0 - rise * rise)))
    return pd.PlatformMotion([np.cos(angle), np.sin(angle), 0.0], turn.as_matrix())


DEAD = np.arcsin(0.8 / 3.0)


@pytest.fixture(scope='module')
def crank(tmp_path_factory):
    return pd.load_robot(tiny_robots.slider_crank().write(tmp_path_factory.mktemp('crank')))


def test_near_a_singularity_of_the_actuation(crank):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert not crank.joint_forces(crank_pose(DEAD + 0.01)).uncertain_array.any()
    with pytest.warns(UncertainRankWarning, match='too close to call.*robot.project') as caught:
        forces = crank.joint_forces(crank_pose(DEAD + 1e-7))
    assert caught[0].filename == __file__
    assert forces.uncertain_array.all() and forces.uncertain['slide'].all()
    assert forces.rank_unclear
    assert 'too close to call' in forces.report()


def test_singular_actuation_is_refused_by_every_way(crank):
    for call in (
        crank.inverse_dynamics,
        crank.joint_forces,
        lambda m: crank.joint_force_regressor(m, 'hinge1'),
        crank.regressor,
        lambda m: virtual_power_forces(crank, m),
    ):
        with pytest.raises(pd.SingularityError, match='actuation singularity'):
            call(crank_pose(DEAD))


def test_only_the_states_in_doubt_are_marked(crank):
    poses = [crank_pose(DEAD + d).data for d in (0.1, 1e-7, -0.1)]
    with pytest.warns(UncertainRankWarning):
        forces = crank.joint_forces(pd.PlatformMotion._wrap(np.array(poses)))
    np.testing.assert_array_equal(forces.rank_unclear, [False, True, False])
    assert forces.uncertain_array[1].all() and not forces.uncertain_array[[0, 2]].any()


def stretched_pose(bend):
    """Pose of the five-bar whose hinged leg is bent by this angle (rad) only."""
    near, far = np.array([0.2, 1.0]), np.array([-1.2, 0.3])

    def turned(v, angle):
        return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ v

    def heading(v):
        return np.arctan2(v[1], v[0])

    first = np.radians(135.0) - heading(near)
    second = heading(near) - heading(far) + bend
    tip = [2.0, 0.0] + turned(near, first) + turned(far, first + second)
    # The other leg: bars of 1 m and |(1, 0.3)|, elbow on the left as at home.
    reach, bar = np.linalg.norm(tip), np.hypot(1.0, 0.3)
    elbow = heading(tip) + np.arccos((1.0 + reach**2 - bar**2) / (2.0 * reach))
    yaw = heading(tip - [np.cos(elbow), np.sin(elbow)]) - heading([1.0, 0.3])
    return pd.PlatformMotion([*tip, 0.0], Rotation.from_euler('z', yaw).as_matrix())


def test_near_a_singularity_of_a_leg(tmp_path):
    """A leg that is all but stretched can take any force along itself, and hardly one across."""
    robot = pd.load_robot(tiny_robots.five_bar().write(tmp_path))
    forces = robot.joint_forces(stretched_pose(0.4))
    nearer = robot.joint_forces(stretched_pose(0.2))
    assert not forces.rank_unclear and not nearer.rank_unclear
    # A ratio of pivots follows the bend (the largest one changes along), it need not equal it.
    assert 0.4 < nearer.rank[3] / forces.rank[3] < 0.6
    nearer.rank[3] *= 1e-7  # as near as the solution of positions may not get
    assert nearer.rank_unclear and nearer.uncertain_array.all()
    assert 'too close to call here' in nearer.report()


def test_pose_slightly_off_the_closures():
    """An error of a micrometre leaves no clear gap between what counts as zero and what not."""
    robot = load('orthoglide')
    turned = Rotation.from_rotvec([3e-7, -2e-7, 1e-7]).as_matrix()
    m = random_motion(robot, np.random.default_rng(7), speed=0.0)
    forces = robot.joint_forces(m)
    assert not forces.uncertain_array.any()
    off = pd.PlatformMotion(m.position, turned @ m.rotation)
    near = robot.joint_forces(off)
    # Never rounded silently: either the flags are the same, or the doubt is reported.
    same = near.determinate_array == forces.determinate_array
    assert (same | near.uncertain_array).all()
    assert near.rank[1] > 10.0 * forces.rank[1]


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(('call', 'said'), [
    (lambda r, m: r.joint_forces(np.zeros(3)), 'motion: expected a PlatformMotion, got ndarray'),
    (lambda r, m: r.joint_forces(m, np.zeros(5)), r'wrench: expected shape \(6,\)'),
    (lambda r, m: r.joint_forces(m, [np.nan] * 6), 'wrench: expected finite'),
    (lambda r, m: r.joint_forces(m, np.zeros((2, 6))), 'wrench: a batch of 2 was given'),
    (lambda r, m: r.joint_forces(m, base='ship'), 'base: expected a BaseMotion'),
    (lambda r, m: r.joint_forces(m, indeterminate='zero'), "'least-norm' or 'nan', got 'zero'"),
    (lambda r, m: r.joint_forces(m, invalid='ignore'), "'raise' or 'nan', got 'ignore'"),
    (lambda r, m: r.joint_force_regressor(m, 'leg9'), "one of leg1_.*got 'leg9'"),
    (lambda r, m: r.joint_force_regressor(m, []), r'name: expected a joint or closure'),
    (lambda r, m: r.joint_force_regressor(7, 'ball1'), 'expected a PlatformMotion, got int'),
    (lambda r, m: r.joint_force_regressor(m, 'ball1', base=3), 'base: expected a BaseMotion'),
    (lambda r, m: r.joint_force_regressor(m, 'ball1', invalid='no'), "'raise' or 'nan'"),
    (lambda r, m: virtual_power_forces(r, m, [0.0] * 7), r'wrench: expected shape \(6,\)'),
    (lambda r, m: virtual_power_forces(r, m, base='ship'), 'base: expected a BaseMotion'),
    (lambda r, m: virtual_power_forces(r, 3), 'expected a PlatformMotion'),
])  # fmt: skip
def test_arguments_of_the_wrong_kind(call, said):
    robot = load('gough_stewart')
    with pytest.raises(pd.InputError, match=said):
        call(robot, robot.home)


def test_motion_that_the_closures_do_not_allow():
    robot = load('three_rps')
    moved = pd.PlatformMotion(robot.home.position, robot.home.rotation, [0.3, 0.0, 0.0])
    for call in (robot.joint_forces, lambda m: robot.joint_force_regressor(m, 'ball1'),
                 lambda m: virtual_power_forces(robot, m)):
        with pytest.raises(pd.NotAllowedMotionError, match='twist of the platform not allowed'):
            call(moved)
    with pytest.raises(KeyError):
        robot.joint_forces(robot.home).wrench['ball9']
