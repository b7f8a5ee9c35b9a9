"""The linear form: Psi p is the inverse dynamics, and parameters are what their names say."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robots import SHIPPED, load, random_motion
from scipy.spatial.transform import Rotation
from strange_robots import STRANGE

import parallel_dynamics as pd
from parallel_dynamics.linear_form import (
    BODY_SUFFIXES,
    JOINT_SUFFIXES,
    ActuatedForm,
    body_inertia,
    body_values,
)

ROBOTS = [*SHIPPED, 'irregular_delta', 'irregular_three_rps', *STRANGE]


@pytest.fixture(scope='module', params=ROBOTS)
def robot(request):
    """Each shipped robot, and some without symmetry, with friction in every joint."""
    plain = load(request.param)
    rng = np.random.default_rng(1)
    p = np.array(plain.parameters)
    for k, parameter in enumerate(plain.parameter_names):
        if parameter.endswith(JOINT_SUFFIXES):
            p[k] = rng.uniform(0.1, 2.0)
    return plain.with_parameters(p)


def motions(robot, count=20, seed=0):
    """Random allowed motions near home, and base motions."""
    rng = np.random.default_rng(seed)
    base = pd.BaseMotion(
        Rotation.random(count, random_state=seed).as_matrix(), *rng.normal(size=(4, count, 3))
    )
    return random_motion(robot, rng, reach=0.02, turn=0.08, batch=count), base


def test_psi_times_parameters_is_the_inverse_dynamics(robot):
    m, base = motions(robot)
    for b in (None, base):
        efforts = robot.inverse_dynamics(m, base=b)
        error = robot.regressor(m, b) @ robot.parameters - efforts
        assert np.abs(error).max() < 1e-9 * max(1.0, np.abs(efforts).max())


def test_slow_joints_have_the_friction_of_the_inverse_model(robot):
    m, _ = motions(robot, 5)
    slow = robot.project(m.replace(1e-5 * m.twist, m.twist_rate))
    error = robot.regressor(slow) @ robot.parameters - robot.inverse_dynamics(slow)
    assert np.abs(error).max() < 1e-9 * max(1.0, np.abs(robot.inverse_dynamics(slow)).max())


def test_the_form_is_linear_in_any_parameters(robot):
    m, base = motions(robot, 4)
    rng = np.random.default_rng(5)
    p = rng.normal(size=len(robot.parameters))
    efforts = robot.with_parameters(p).inverse_dynamics(m, base=base)
    error = robot.regressor(m, base) @ p - efforts
    assert np.abs(error).max() < 1e-9 * max(1.0, np.abs(efforts).max())


def test_single_motions_and_batches_agree(robot):
    m, base = motions(robot, 3)
    batch = robot.regressor(m, base)
    assert batch.shape == (3, robot.dof, len(robot.parameters))
    for k in range(3):
        assert np.allclose(robot.regressor(m[k], base[k]), batch[k], rtol=1e-10, atol=1e-10)


def test_names_are_unique_and_those_of_links_and_joints(robot):
    names = robot.parameter_names
    assert len(names) == len(set(names)) == len(robot.parameters)
    bodies = {n.split('/')[0] for n in names if n.endswith(BODY_SUFFIXES)}
    joints = {n.split('/')[0] for n in names if n.endswith(JOINT_SUFFIXES)}
    assert joints == set(robot.joints)
    assert bodies == {body.name for body in robot.model.bodies[1:]}


def test_parameters_come_back(robot):
    p = np.array(robot.parameters)
    again = robot.with_parameters(p)
    assert np.abs(again.parameters - p).max() <= 1e-12 * np.abs(p).max()
    assert again.parameter_names == robot.parameter_names


def test_mass_counts_as_mass():
    robot = pd.load_robot('delta')
    p = np.array(robot.parameters)
    names = robot.parameter_names
    centre = np.array([0.01, -0.02, 0.03])
    point = [2.0, *(2.0 * centre), *_upper(2.0 * (centre @ centre * np.eye(3)
                                                 - np.outer(centre, centre)))]  # fmt: skip
    first = names.index('platform/m')
    p[first : first + 10] += point
    m, _ = motions(robot, 5)
    loaded = robot.with_payload(2.0, centre).inverse_dynamics(m)
    assert np.allclose(robot.with_parameters(p).inverse_dynamics(m), loaded, atol=1e-10)
    assert np.allclose(robot.regressor(m) @ p, loaded, atol=1e-10)


def _upper(tensor):
    return tensor[np.triu_indices(3)]


@given(values=st.lists(st.floats(-10, 10), min_size=10, max_size=10))
def test_ten_numbers_make_a_body_and_back(values):
    if abs(values[0]) < 1e-3:
        values[0] = 1.0
    again = body_values(body_inertia(np.array(values), 'body'))
    assert np.allclose(again, values, atol=1e-9, rtol=1e-9)


def test_bad_input_is_refused():
    robot = pd.load_robot('delta')
    p = np.array(robot.parameters)
    with pytest.raises(pd.InputError, match=r'parameters: expected shape'):
        robot.with_parameters(p[:-1])
    with pytest.raises(pd.InputError, match='NaN'):
        robot.with_parameters(np.full_like(p, np.nan))
    with pytest.raises(pd.InputError, match=r'shape \(\d+,\), got'):
        robot.with_parameters(np.tile(p, (2, 1)))
    p[0] = 0.0
    with pytest.raises(pd.InputError, match='platform/m'):
        robot.with_parameters(p)
    with pytest.raises(pd.InputError, match='PlatformMotion'):
        robot.regressor(robot.home.position)
    with pytest.raises(pd.NotAllowedMotionError):
        robot.regressor(robot.home.replace([0, 0, 0, 1, 0, 0]))
    far = pd.PlatformMotion(np.stack([robot.home.position, robot.home.position + [9, 0, 0]]))
    with pytest.raises(pd.UnreachableError, match='state 1'):
        robot.regressor(far)
    rows = robot.regressor(far, invalid='nan')
    assert np.isfinite(rows[0]).all() and np.isnan(rows[1]).all()


def test_symmetry_of_the_base_at_rest():
    """A platform at rest under gravity: the column of a mass is its lift, as weight times g."""
    robot = pd.load_robot('gough_stewart')
    psi = robot.regressor(robot.home)
    lift = robot.jacobians(robot.home).J_p.T @ np.array([0, 0, 9.81, 0, 0, 0])
    assert np.allclose(psi[:, robot.parameter_names.index('platform/m')], lift, atol=1e-9)


# ---------------------------------------------------------------- by the actuators


def actuated(robot, m):
    joints = robot.inverse_kinematics(m)
    a = list(robot.model.actuators)
    return joints.position[..., a], joints.velocity[..., a], joints.acceleration[..., a]


def test_motions_follow_from_the_rates_of_the_actuators(robot):
    m, _ = motions(robot, 6)
    _, qd, qdd = actuated(robot, m)
    found = ActuatedForm(robot.engine).motions(m, qd, qdd)
    assert np.allclose(found, m.data, rtol=1e-8, atol=1e-8)


def test_the_mixed_form_is_the_plain_one_where_both_velocities_agree(robot):
    m, base = motions(robot, 3)
    form = ActuatedForm(robot.engine)
    for k in range(3):
        _, qd, qdd = actuated(robot, m[k])
        external = robot.engine.external(None, base[k], None)
        psi = robot.regressor(m[k], base[k])
        found = form.mixed(m[k], qd, qd, qdd, external)
        assert np.allclose(found @ robot.parameters, psi @ robot.parameters, rtol=1e-8, atol=1e-7)


def test_coriolis_of_the_mixed_form_is_passive(robot):
    """v^T (H' - 2 C) v = 0 along any motion, and C is linear in the reference."""
    m, _ = motions(robot, 2)
    form, frictionless = ActuatedForm(robot.engine), np.array(robot.parameters)
    for k, name in enumerate(robot.parameter_names):
        if name.endswith(('viscous', 'coulomb')):
            frictionless[k] = 0.0
    zero = np.zeros(robot.dof)
    rng = np.random.default_rng(3)
    for k in range(2):
        _, qd, _ = actuated(robot, m[k])
        v, other = rng.normal(size=(2, robot.dof)) * np.abs(qd).max()

        def efforts(pose, velocity, acceleration, measured=qd):
            return form.mixed(pose, measured, velocity, acceleration) @ frictionless

        def inertia(pose):
            weight = efforts(pose, zero, zero, zero)
            columns = [efforts(pose, zero, a, zero) - weight for a in np.eye(robot.dof)]
            return np.array(columns).T

        weight = efforts(m[k], zero, zero)
        coriolis = efforts(m[k], v, zero) - weight
        both = efforts(m[k], v + other, zero) - weight
        assert np.allclose(both - coriolis, efforts(m[k], other, zero) - weight, atol=1e-7)
        h = 1e-5
        ahead, behind = (moved(robot, m[k], sign * h) for sign in (1.0, -1.0))
        rate = (inertia(ahead) - inertia(behind)) / (2.0 * h)
        power = v @ rate @ v
        assert power == pytest.approx(2.0 * v @ coriolis, abs=1e-5 * max(1.0, abs(power)))


def moved(robot, m, time):
    turn = Rotation.from_rotvec(time * m.angular_velocity).as_matrix() @ m.rotation
    return robot.project(pd.PlatformMotion(m.position + time * m.velocity, turn))
