"""Axial forces of rods, and their buckling."""

import numpy as np
import pytest
from robots import load, random_motion

import parallel_dynamics as pd
from parallel_dynamics.forces import check_buckling, euler_load, find_rods, rod_forces
from parallel_dynamics.forces.poses import body_poses

RODS = {
    'gough_stewart': (6, 'universal ball'), 'delta': (6, 'universal ball'),
    'hanging_legs': (6, 'universal ball'), 'with_a_strut': (6, 'universal ball'),
    'two_stage_telescopes': (6, 'universal ball'), 'irregular_hexaglide': (6, 'universal ball'),
    'hinged_tips': (6, 'universal universal'), 'three_rps_prismatic': (3, 'hinge ball'),
    'orthoglide': (6, 'hinge hinge'), 'irregular_planar_3rrr': (3, 'hinge hinge'),
    'c5': (0, ''), 'space': (0, ''), 'three_rps': (0, ''), 'serial_arm': (0, ''),
    'cut_in_the_middle': (0, ''),
}  # fmt: skip


@pytest.mark.parametrize(('label', 'expected'), RODS.items())
def test_members_between_two_passive_ends_are_found(label, expected):
    robot = load(label)
    rods = find_rods(robot.model)
    count, kinds = expected
    assert len(rods) == len({rod.name for rod in rods}) == count
    for rod in rods:
        assert f'{rod.first.kind} {rod.second.kind}' == kinds
        assert {rod.first.name, rod.second.name} <= {*robot.joints, *robot.closures}


def test_bars_of_a_parallelogram_are_rods():
    names = [rod.name for rod in find_rods(load('orthoglide').model)]
    assert names == [f'leg{k}_bar_{bar}' for k in (1, 2, 3) for bar in 'ab']


def light(robot):
    """The robot with a heavy platform and rods that weigh next to nothing."""
    p = robot.parameters.copy()
    names = robot.parameter_names
    own = [k for k, name in enumerate(names) if not name.startswith('platform/')]
    p[own] *= 1e-9
    return robot.with_parameters(p)


@pytest.mark.parametrize('label', [
    'gough_stewart', 'delta', 'hanging_legs', 'with_a_strut', 'hinged_tips', 'orthoglide',
    'irregular_planar_3rrr', 'three_rps_prismatic'])
def test_rods_without_weight_are_two_force_members(label):
    """Both ends carry the same along the line between their centres, and balls nothing across."""
    robot = light(load(label))
    m = random_motion(robot, np.random.default_rng(1), batch=5)
    forces = robot.joint_forces(m, [100.0, 50.0, -200.0, 5.0, 3.0, 2.0])
    scale = np.abs(forces.array).max()
    for rod in rod_forces(robot, m, forces):
        np.testing.assert_allclose(rod.at_first, rod.at_second, atol=1e-6 * scale)
        np.testing.assert_allclose(rod.compression, -rod.at_second, atol=1e-6 * scale)
        if 'hinge' not in (rod.rod.first.kind, rod.rod.second.kind):
            for end in (rod.rod.first, rod.rod.second):
                size = np.linalg.norm(forces.wrench[end.name][:, :3], axis=1)
                np.testing.assert_allclose(np.abs(rod.at_second), size, atol=1e-6 * scale)


@pytest.mark.parametrize('label', ['gough_stewart', 'hanging_legs'])
def test_sign_and_size_at_rest(label):
    """Standing legs are pressed, and together hold the platform's weight; pulled up, tensed."""
    robot = light(load(label))
    weight = -robot.model.bodies[1].inertia.mass * robot.model.gravity
    rods = rod_forces(robot, robot.home, robot.joint_forces(robot.home))
    pulled = rod_forces(robot, robot.home, robot.joint_forces(
        robot.home, np.concatenate([2.0 * weight, np.cross(
            robot.home.rotation @ robot.model.bodies[1].inertia.com, 2.0 * weight)])))
    for pressed, tensed in zip(rods, pulled):
        np.testing.assert_allclose(pressed.at_second, -tensed.at_second, rtol=1e-5)
    assert sum(rod.compression[0] for rod in rods) > np.linalg.norm(weight)


@pytest.mark.parametrize('label', ['gough_stewart', 'orthoglide'])
def test_ends_differ_by_the_rods_own_weight(label):
    """At rest, the axial forces of a rod differ by the part of its weight along it."""
    robot = load(label)
    rotations, origins = (a[0] for a in body_poses(robot, robot.home))
    for rod in rod_forces(robot, robot.home, robot.joint_forces(robot.home)):
        ends = rod.rod.first, rod.rod.second
        mass = sum(robot.model.bodies[b].inertia.mass for b in {end.body for end in ends})
        foot, tip = (origins[e.body] + rotations[e.body] @ e.centre for e in ends)
        rise = (tip - foot)[2] / rod.length[0]
        assert rod.at_second[0] - rod.at_first[0] == pytest.approx(9.81 * mass * rise, abs=1e-9)


def test_length_follows_the_actuators():
    robot = load('gough_stewart')
    m = random_motion(robot, np.random.default_rng(2), batch=4)
    slides = robot.inverse_kinematics(m).position[:, list(robot.model.actuators)]
    rods = rod_forces(robot, m, robot.joint_forces(m))
    for k, rod in enumerate(rods):
        np.testing.assert_allclose(rod.length - slides[:, k], rod.length[0] - slides[0, k])


def test_buckling_check():
    robot = load('gough_stewart')
    m = random_motion(robot, np.random.default_rng(3), batch=6)
    times = np.linspace(0.0, 1.0, 6)
    rods = rod_forces(robot, m, robot.joint_forces(m))
    worst = max(float(rod.compression.max()) for rod in rods)
    for check, rod in zip(check_buckling(rods, times, worst), rods):
        assert check.rod == rod.rod.name and check.critical == worst
        assert check.compression == pytest.approx(max(0.0, rod.compression.max()))
        assert check.safety == pytest.approx(worst / rod.compression.max())
        assert times[rod.compression.argmax()] == check.time
    assert not all(c.holds for c in check_buckling(rods, times, 0.99 * worst))
    assert all(c.holds for c in check_buckling(rods, times, 1.01 * worst))
    # With Euler's load the longest state may be the worst, not the most pressed one.
    euler = {rod.rod.name: euler_load(800.0, rod.length) for rod in rods}
    for check, rod in zip(check_buckling(rods, times, euler), rods):
        assert check.safety == pytest.approx((euler[check.rod] / rod.compression).min())
    assert euler_load(100.0, 2.0) == pytest.approx(100.0 * np.pi**2 / 4.0)


def test_a_rod_that_is_only_pulled_does_not_buckle():
    robot = light(load('gough_stewart'))
    up = np.array([0.0, 0.0, 3.0 * 9.81 * robot.model.bodies[1].inertia.mass, 0.0, 0.0, 0.0])
    rods = rod_forces(robot, robot.home, robot.joint_forces(robot.home, up))
    for check in check_buckling(rods, 0.0, 1.0):
        assert check.compression == 0.0 and check.safety == np.inf and check.holds
        assert check.tension > 0.0


def test_axial_forces_that_are_not_unique_say_so():
    """Never a silent guess: flagged, and NaN if asked for; then no rod is said to hold."""
    robot = load('orthoglide')
    m = random_motion(robot, np.random.default_rng(5), batch=3)
    plain, marked = (rod_forces(robot, m, robot.joint_forces(m, indeterminate=how))
                     for how in ('least-norm', 'nan'))
    loose = [rod for rod in plain if not rod.determinate.all()]
    assert loose
    for rod, other in zip(plain, marked):
        np.testing.assert_array_equal(np.isfinite(other.compression), rod.determinate)
    checks = zip(check_buckling(marked, np.arange(3.0), 1e9), plain)
    for check, rod in checks:
        assert check.determinate == check.holds == rod.determinate.all()
        assert np.isnan(check.safety) != check.holds
    legs = load('gough_stewart')
    rods = rod_forces(legs, legs.home, legs.joint_forces(legs.home))
    assert all(rod.determinate.all() for rod in rods)


def test_arguments_that_do_not_fit():
    robot = load('gough_stewart')
    m = random_motion(robot, np.random.default_rng(4), batch=3)
    forces = robot.joint_forces(m)
    with pytest.raises(pd.InputError, match='expected forces for 2 states'):
        rod_forces(robot, m[:2], forces)
    rods = rod_forces(robot, m, forces)
    for critical, said in (
        (0.0, 'positive load'), (np.nan, 'positive load'), ([1.0, 2.0], 'each of 3 states'),
        ({'leg1_piston': 5.0}, 'got none for leg2_piston'),
    ):  # fmt: skip
        with pytest.raises(pd.InputError, match=said):
            check_buckling(rods, np.arange(3.0), critical)
    with pytest.raises(pd.InputError, match='times'):
        check_buckling(rods, np.arange(2.0), 5.0)
    with pytest.raises(pd.InputError, match='positive stiffness'):
        euler_load(-1.0, 1.0)
