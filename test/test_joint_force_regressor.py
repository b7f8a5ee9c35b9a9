"""Joint forces are linear in the parameters of the efforts: W @ parameters, for every wrench."""

import numpy as np
import pytest
from robots import ALL, load, random_base, random_motion

import parallel_dynamics as pd
from parallel_dynamics.virtual_motion import FreedMechanism


@pytest.mark.parametrize('label', ALL)
def test_regressor_times_parameters_is_the_wrench(label):
    robot, rng = load(label), np.random.default_rng(len(label))
    m, base = random_motion(robot, rng), random_base(rng)
    forces = robot.joint_forces(m, None, base)
    freed = FreedMechanism(robot.engine, m, base)
    by_virtual_power = freed.regressor()
    scale = np.abs(forces.array).max()
    for k, name in enumerate(forces.names):
        W = robot.joint_force_regressor(m, name, base)
        assert W.shape == (6, len(robot.parameters))
        assert np.abs(W @ robot.parameters - forces.wrench[name]).max() < 1e-10 * scale, name
        # Every column, also of parameters that are zero here, by the other derivation.
        expected = freed.of_joint(k).T @ by_virtual_power
        np.testing.assert_allclose(W, expected, atol=1e-10 * np.abs(expected).max(initial=1.0))


def test_other_parameters_give_other_forces():
    """W knows the motion only: it holds for any masses, friction and drives."""
    robot, rng = load('two_stage_telescopes'), np.random.default_rng(1)
    m = random_motion(robot, rng)
    p = robot.parameters + 0.3 * rng.uniform(size=robot.parameters.shape)
    forces = robot.with_parameters(p).joint_forces(m)
    for name in ('leg0_geared', 'leg3_slide', 'leg5_ball'):
        W = robot.joint_force_regressor(m, name)
        np.testing.assert_allclose(W @ p, forces.wrench[name], atol=1e-10 * np.abs(p).max())


def test_rows_along_actuated_axes_are_those_of_the_efforts():
    """But for the joint's own friction and drive inertia, which the child link does not see."""
    robot = load('gough_stewart')
    m = random_motion(robot, np.random.default_rng(2))
    efforts = robot.regressor(m)
    own = {name: k for k, name in enumerate(robot.parameter_names)}
    for k, name in enumerate(robot.actuators):
        axis = robot.model.joints[robot.joints.index(name)].axis
        along = axis @ robot.joint_force_regressor(m, name)[:3]
        expected = efforts[k].copy()
        expected[[own[f'{name}/{part}'] for part in ('viscous', 'coulomb', 'armature')]] = 0.0
        np.testing.assert_allclose(along, expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize('label', ['orthoglide', 'irregular_hexa'])
def test_batch_is_the_same_as_one_by_one(label):
    robot, rng = load(label), np.random.default_rng(3)
    m = random_motion(robot, rng, batch=5)
    base = pd.BaseMotion._wrap(np.array([random_base(rng).data for _ in range(5)]))
    name = robot.closures[1]
    many = robot.joint_force_regressor(m, name, base)
    assert many.shape == (5, 6, len(robot.parameters))
    for k in range(5):
        one = robot.joint_force_regressor(m[k], name, base[k])
        np.testing.assert_allclose(many[k], one, atol=1e-11 * np.abs(one).max())
    with pytest.raises(pd.InputError, match='base: expected a batch of 5, got 4'):
        robot.joint_force_regressor(m, name, base[:4])
    rows = m.data.copy()
    rows[2, :3] += 100.0
    bad = pd.PlatformMotion._wrap(rows)
    with pytest.raises(pd.UnreachableError, match='state 2 of the batch'):
        robot.joint_force_regressor(bad, name)
    marked = robot.joint_force_regressor(bad, name, invalid='nan')
    np.testing.assert_array_equal(np.isnan(marked).all(axis=(1, 2)), [0, 0, 1, 0, 0])
