"""Never a wrong number silently: what is refused, and what the message says."""

import numpy as np
import pytest
from robots import load, random_motion
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd

ROBOT = 'gough_stewart'


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('field', [
    'position', 'rotation', 'velocity', 'angular_velocity', 'acceleration',
    'angular_acceleration'])
def test_not_finite_motion(field, bad):
    values = {'position': np.zeros(3), 'rotation': np.eye(3)}
    values[field] = np.array(values.get(field, np.zeros(3)))
    values[field].flat[1] = bad
    with pytest.raises(pd.InputError, match=f'{field}: expected finite numbers'):
        pd.PlatformMotion(**values)


@pytest.mark.parametrize(('field', 'value', 'said'), [
    ('position', [0.0, 1.0], r'expected shape \(3,\).*got \(2,\)'),
    ('rotation', np.eye(4), r'expected shape \(3, 3\).*got \(4, 4\)'),
    ('rotation', 2.0 * np.eye(3), 'not orthonormal'),
    ('rotation', np.diag([1.0, 1.0, -1.0]), 'reflection'),
    ('velocity', 'fast', 'expected real numbers'),
    ('velocity', ['1', '0', '0'], 'expected real numbers'),
    ('position', np.zeros(3) + 1j, 'expected real numbers'),
    ('position', None, 'expected real numbers'),
    ('acceleration', [None, 0.0, 0.0], 'expected real numbers'),
])
def test_motion_of_the_wrong_kind(field, value, said):
    values = {'position': np.zeros(3), 'rotation': np.eye(3), field: value}
    with pytest.raises(pd.InputError, match=said):
        pd.PlatformMotion(**values)


def test_batches_of_different_lengths():
    with pytest.raises(pd.InputError, match='batch of 4'):
        pd.PlatformMotion(np.zeros((4, 3)), velocity=np.zeros((5, 3)))
    robot = load(ROBOT)
    m = random_motion(robot, np.random.default_rng(0), batch=4)
    with pytest.raises(pd.InputError, match='wrench: expected a batch of 4, got 3'):
        robot.inverse_dynamics(m, np.zeros((3, 6)))
    with pytest.raises(pd.InputError, match='efforts: a batch of 4 was given for a single'):
        robot.direct_dynamics(m[0], np.zeros((4, 6)))


@pytest.mark.parametrize(('call', 'said'), [
    (lambda r, m: r.inverse_dynamics(np.zeros(3)), 'expected a PlatformMotion, got ndarray'),
    (lambda r, m: r.inverse_dynamics(m, np.zeros(5)), r'wrench: expected shape \(6,\)'),
    (lambda r, m: r.inverse_dynamics(m, [np.nan] * 6), 'wrench: expected finite'),
    (lambda r, m: r.inverse_dynamics(m, base='ship'), 'base: expected a BaseMotion'),
    (lambda r, m: r.direct_dynamics(m, np.zeros(5)), r'efforts: expected shape \(6,\)'),
    (lambda r, m: r.direct_dynamics(m, [np.inf] * 6), 'efforts: expected finite'),
    (lambda r, m: r.forward_kinematics([0.0] * 5), r'actuator_positions: expected shape \(6,\)'),
    (lambda r, m: r.forward_kinematics([np.nan] * 6), 'actuator_positions: expected finite'),
    (lambda r, m: r.forward_kinematics([0.0] * 6, guess='home'), 'guess: expected a Platform'),
    (lambda r, m: r.with_payload(-1.0), 'mass: expected a finite number of at least 0'),
    (lambda r, m: r.with_payload(1.0, inertia=np.diag([1.0, 1.0, 3.0])), 'principal moments'),
    (lambda r, m: r.with_payload('heavy'), 'mass: expected a finite number of at least 0'),
    (lambda r, m: r.with_payload(np.ones(2)), 'mass: expected a finite number of at least 0'),
    (lambda r, m: r.pose_from_virtual_joints([0.0]), 'virtual joints: expected values by name'),
    (lambda r, m: r.pose_from_virtual_joints({'platform_x': 'far'}), 'platform_x: expected a fin'),
    (lambda r, m: r.joint_forces(m, indeterminate=np.zeros(3)), "expected 'least-norm' or 'nan'"),
    (lambda r, m: r.inverse_kinematics(m)['leg9'], 'joint: expected one of leg1_.*, got'),
    (lambda r, m: r.with_payload(1.0, np.zeros((2, 3))), r'com: expected shape \(3,\), got'),
    (lambda r, m: r.with_payload(1.0, inertia=np.zeros((1, 3, 3))), r'shape \(3, 3\), got'),
    (lambda r, m: r.with_gravity(np.zeros((1, 3))), r'gravity: expected shape \(3,\), got'),
    (lambda r, m: r.virtual_joints(m, np.zeros((2, 6))), r'guess: expected shape \(6,\), got'),
])
def test_arguments_of_the_wrong_kind(call, said):
    robot = load(ROBOT)
    with pytest.raises(pd.InputError, match=said):
        call(robot, robot.home)


def test_unreachable_pose_names_the_leg_and_the_gap():
    robot = load('delta')
    far = pd.PlatformMotion(robot.home.position + [0.0, 0.0, -2.0], robot.home.rotation)
    for call in (robot.inverse_kinematics, robot.inverse_dynamics, robot.jacobians):
        with pytest.raises(pd.UnreachableError, match=r'leg \[leg1_shoulder.*stays open by') as e:
            call(far)
        assert e.value.evidence['residual'] > 0.1
    # Nothing is lost: the next call works.
    assert np.isfinite(robot.inverse_dynamics(robot.home)).all()


def test_unreachable_actuator_positions():
    robot = load('delta')
    with pytest.raises(pd.ParallelDynamicsError) as e:
        robot.forward_kinematics([2.5, -2.5, 2.5])
    assert isinstance(e.value, (pd.UnreachableError, pd.SingularityError))
    assert np.isfinite(robot.forward_kinematics([0.0, 0.0, 0.0]).data).all()


@pytest.mark.parametrize('label', ['three_rps', 'delta', 'orthoglide', 'four_freedoms'])
def test_motion_that_the_closures_do_not_allow(label):
    robot = load(label)
    turned = Rotation.from_euler('z', 0.1).as_matrix() @ robot.home.rotation
    if label == 'four_freedoms':
        turned = Rotation.from_euler('x', 0.1).as_matrix() @ robot.home.rotation
    with pytest.raises(pd.ParallelDynamicsError, match='open by'):
        robot.inverse_dynamics(pd.PlatformMotion(robot.home.position, turned))
    dependent = [k for k in range(6) if k not in robot.engine.independent][0]
    twist = np.zeros(6)
    twist[dependent] = 0.2
    with pytest.raises(pd.NotAllowedMotionError, match='twist.*off by 0.2') as e:
        robot.inverse_dynamics(robot.home.replace(twist=twist))
    assert e.value.evidence['residual'] == pytest.approx(0.2, rel=1e-6)
    with pytest.raises(pd.NotAllowedMotionError, match='acceleration.*off by'):
        robot.inverse_dynamics(robot.home.replace(twist_rate=twist))
    with pytest.raises(pd.NotAllowedMotionError, match='twist'):
        robot.direct_dynamics(robot.home.replace(twist=twist), np.zeros(robot.dof))


def test_actuation_singularity_is_refused_with_the_condition_number():
    """The 3-RPS with revolute actuation is singular at a roll of 21.8 deg for z = 1.2 m."""
    robot = load('three_rps')

    def posed(roll):
        pose = robot.pose_from_virtual_joints({'platform_roll': roll})
        offset = np.array([0.0, 0.0, 1.2 - pose.position[2]])
        return robot.project(pd.PlatformMotion(pose.position + offset, pose.rotation))

    low, high = np.radians(20.0), np.radians(24.0)

    def side(roll):
        return np.sign(np.linalg.det(robot.jacobians(posed(roll)).J_r_inv))

    start = side(low)
    assert side(high) != start
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if side(middle) == start else (low, middle)
    assert np.degrees(low) == pytest.approx(21.8, abs=0.05)
    m = posed(low)
    assert robot.jacobians(m).actuation_condition > 1e8
    with pytest.raises(pd.SingularityError, match='actuation singularity.*condition number') as e:
        robot.inverse_dynamics(m)
    assert e.value.evidence['condition_number'] > 1e8
    # Near it the answer is finite and the measure tells.
    near = posed(low - 1e-3)
    assert np.isfinite(robot.inverse_dynamics(near)).all()
    assert 1e2 < robot.jacobians(near).actuation_condition < 1e6


def test_leg_singularity_is_refused():
    """A Delta stretched to its reach has a straight leg."""
    robot = load('delta')
    low, high = 0.0, 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        pose = pd.PlatformMotion(robot.home.position - [0.0, 0.0, middle], robot.home.rotation)
        try:
            robot.inverse_kinematics(pose)
            low = middle
        except pd.ParallelDynamicsError:
            high = middle
    edge = pd.PlatformMotion(robot.home.position - [0.0, 0.0, low - 1e-6], robot.home.rotation)
    assert robot.jacobians(edge).leg_condition > 100.0
    assert np.isfinite(robot.inverse_dynamics(edge)).all()
    beyond = pd.PlatformMotion(robot.home.position - [0.0, 0.0, low + 1e-3], robot.home.rotation)
    with pytest.raises(pd.ParallelDynamicsError):
        robot.inverse_dynamics(beyond)


def test_a_bad_state_in_a_batch_is_named_and_can_be_left_out():
    robot = load('delta')
    m = random_motion(robot, np.random.default_rng(3), batch=6)
    data = np.array(m.data)
    data[4, 2] -= 3.0
    m = pd.PlatformMotion._wrap(data)
    with pytest.raises(pd.UnreachableError, match=r'state 4 of the batch \(1 of 6 fail\)') as e:
        robot.inverse_dynamics(m)
    assert list(e.value.evidence['failed']) == [4]
    efforts = robot.inverse_dynamics(m, invalid='nan')
    assert np.isnan(efforts[4]).all() and np.isfinite(np.delete(efforts, 4, axis=0)).all()
    with pytest.raises(pd.InputError, match="expected 'raise' or 'nan'"):
        robot.inverse_dynamics(m, invalid='ignore')


@pytest.mark.parametrize('count', [None, 2])
@pytest.mark.parametrize('call', [
    lambda r, m, **how: r.inverse_kinematics(m, **how),
    lambda r, m, **how: r.inverse_dynamics(m, **how),
    lambda r, m, **how: r.direct_dynamics(m, np.zeros(6), **how),
    lambda r, m, **how: r.joint_forces(m, **how),
    lambda r, m, **how: r.joint_force_regressor(m, r.joints[0], **how),
    lambda r, m, **how: r.regressor(m, **how),
    lambda r, m, **how: r.project(m, **how),
    lambda r, m, **how: r.solve_forward_kinematics(
        np.zeros((*m.position.shape[:-1], 6)), **how),
])  # fmt: skip
def test_what_to_do_with_failures_is_one_of_two_words(call, count):
    robot = load(ROBOT)
    m = robot.home
    if count is not None:
        m = pd.PlatformMotion(np.tile(m.position, (count, 1)))
    call(robot, m, invalid='nan')
    with pytest.raises(pd.InputError, match="invalid: expected 'raise' or 'nan', got 'typo'"):
        call(robot, m, invalid='typo')


def test_working_mode_is_that_of_home():
    """After a call far away, or a failed one, the joints are still on home's branch."""
    rng = np.random.default_rng(5)
    for label in ('delta', 'gough_stewart', 'irregular_hexa', 'three_rps'):
        robot = load(label)
        m = random_motion(robot, rng)
        first = robot.inverse_kinematics(m).position
        for _ in range(5):
            robot.inverse_kinematics(random_motion(robot, rng, reach=0.3, turn=0.3))
            np.testing.assert_allclose(robot.inverse_kinematics(m).position, first, atol=1e-9)


def test_joint_limits_are_reported():
    robot = load(ROBOT)
    m = pd.PlatformMotion(robot.home.position + [0.0, 0.0, 0.6], robot.home.rotation)
    found = robot.limit_violations(robot.inverse_kinematics(m), robot.inverse_dynamics(m))
    slides = {v.joint for v in found if v.quantity == 'position'}
    assert slides == set(robot.actuators)
    assert all(v.value > v.upper for v in found if v.quantity == 'position')
    assert robot.limit_violations(robot.inverse_kinematics(robot.home)) == []
    none = pd.PlatformMotion(np.zeros((0, 3)))
    nothing = robot.inverse_kinematics(none), robot.inverse_dynamics(none)
    assert robot.limit_violations(*nothing) == []
    for wrong in ('home', load('delta').inverse_kinematics(load('delta').home)):
        with pytest.raises(pd.InputError, match='expected a JointMotion of'):
            robot.limit_violations(wrong)
    with pytest.raises(pd.InputError, match='efforts: expected'):
        robot.limit_violations(robot.inverse_kinematics(m), 'weight')
