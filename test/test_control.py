"""Control without ROS: gains, state, laws, transitions."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from robots import load, random_motion
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd
from parallel_dynamics import control, trajectories
from parallel_dynamics.control.laws import pose_error
from parallel_dynamics.control.transition import (
    ExponentialFade,
    PolynomialFade,
    Transition,
    add_offset,
    coasting,
    offset_between,
    resting,
)

ROBOTS = pd.shipped_robots()


@cache
def moving(name):
    """A motion within reach that the closures allow."""
    robot = load(name)
    return random_motion(robot, np.random.default_rng(4), reach=0.05, turn=0.05, speed=0.1)


def actuated(robot, motion):
    joints = robot.inverse_kinematics(motion)
    a = list(robot.model.actuators)
    return joints.position[a], joints.velocity[a], joints.acceleration[a]


def desired(robot, motion):
    return control.Desired(motion, *actuated(robot, motion), robot.inverse_dynamics(motion))


def measured(robot, motion):
    return control.StateEstimator(robot).update(0.0, *actuated(robot, motion)[:2])


# ---------------------------------------------------------------- gains


@pytest.mark.parametrize('name', ROBOTS)
def test_actuator_inertia_gives_the_kinetic_energy(name):
    robot, m = load(name), moving(name)
    _, qd, _ = actuated(robot, m)
    M = control.actuator_inertia(robot, m)
    assert 0.5 * qd @ M @ qd == pytest.approx(robot.kinetic_energy(m), rel=1e-9)


def test_gains_give_the_bandwidth():
    robot = load('gough_stewart')
    gains = control.default_gains(robot, 5.0, damping=0.7)
    M = control.actuator_inertia(robot)
    np.testing.assert_allclose(np.linalg.eigvals(np.linalg.solve(M, gains.kp)), (10 * np.pi) ** 2)
    np.testing.assert_allclose(
        np.linalg.solve(M, gains.kd), 1.4 * 10 * np.pi * np.eye(6), atol=1e-9
    )
    alone = control.default_gains(robot, 5.0, coupled=False)
    np.testing.assert_allclose(alone.kp, np.diag(np.diag(alone.kp)))


def test_integral_action_stays_stable():
    gains = control.default_gains(load('delta'), 10.0, integral=0.99)
    assert np.roots([1.0, gains.d, gains.p, gains.i]).real.max() < 0.0
    for wrong in ({'bandwidth': 0.0}, {'damping': -1.0}, {'integral': 1.0}):
        with pytest.raises(pd.InputError):
            control.default_gains(load('delta'), **wrong)


# ---------------------------------------------------------------- state


@pytest.mark.parametrize('name', ROBOTS)
def test_the_platform_is_found_from_the_encoders(name):
    robot, m = load(name), moving(name)
    state = measured(robot, m)
    np.testing.assert_allclose(state.platform.data[:18], m.data[:18], atol=1e-7)


def test_velocities_are_differentiated_where_not_measured():
    robot = load('delta')
    trajectory = trajectories.preset(robot, 'swing')
    estimator = control.StateEstimator(robot, velocity_filter=80.0)
    errors = []
    for t in np.arange(0.0, 2.0, 0.002):
        q, qd, _ = actuated(robot, trajectory.at(t))
        state = estimator.update(t, q)
        errors.append(state.velocity - qd)
    delay = 1.0 / (2 * np.pi * 80.0) + 0.001
    qdd = np.abs([actuated(robot, trajectory.at(t))[2] for t in np.arange(0, 2, 0.01)]).max()
    assert np.abs(errors[5:]).max() < 1.5 * delay * qdd


def test_a_lost_platform_is_found_again():
    robot = load('gough_stewart')
    estimator = control.StateEstimator(robot)
    good = estimator.update(0.0, np.full(6, 0.01))
    with pytest.raises(pd.ParallelDynamicsError):
        estimator.update(0.1, np.full(6, -5.0))
    again = estimator.update(0.2, np.full(6, 0.01))
    np.testing.assert_allclose(again.platform.data, good.platform.data, atol=1e-9)


# ---------------------------------------------------------------- laws


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('mode', ['feedforward', 'pd_feedforward', 'computed_torque'])
def test_without_error_every_law_is_the_inverse_model(name, mode):
    robot, m = load(name), moving(name)
    model, gains = control.InverseModel(robot), control.default_gains(robot)
    law = control.make_law(mode, robot, model, gains)
    efforts = law.efforts(desired(robot, m), measured(robot, m), 0.002)
    scale = np.abs(robot.inverse_dynamics(m)).max()
    np.testing.assert_allclose(efforts, robot.inverse_dynamics(m), atol=1e-5 * scale)


@pytest.mark.parametrize('name', ROBOTS)
def test_computed_torque_makes_the_error_a_linear_system(name):
    """With the right model, V_r' is V_r'_d + Kd e' + Kp e exactly."""
    robot = load(name)
    rng = np.random.default_rng(7)
    wanted = random_motion(robot, rng, reach=0.02, turn=0.02, speed=0.1)
    actual = random_motion(robot, rng, reach=0.02, turn=0.02, speed=0.1)
    model, gains = control.InverseModel(robot), control.default_gains(robot)
    law = control.make_law('computed_torque', robot, model, gains)
    state = measured(robot, actual)
    efforts = law.efforts(desired(robot, wanted), state, 0.002)
    # The law compensates the friction of the desired motion: take that of the actual one off.
    efforts = efforts - model.friction(wanted) + model.friction(state.platform)
    free = list(robot.engine.independent)
    found = robot.direct_dynamics(state.platform, efforts)[free]
    error = pose_error(wanted.data, state.platform.data)[free]
    rate = (wanted.twist - state.platform.twist)[free]
    expected = wanted.twist_rate[free] + gains.d * rate + gains.p * error
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize('name', ROBOTS)
def test_gravity_compensation_holds_the_weight(name):
    robot, m = load(name), moving(name)
    rest = robot.project(pd.PlatformMotion(m.position, m.rotation))
    model = control.InverseModel(robot)
    law = control.make_law('gravity_compensation', robot, model, control.default_gains(robot))
    efforts = law.efforts(desired(robot, rest), measured(robot, rest), 0.002)
    np.testing.assert_allclose(robot.direct_dynamics(rest, efforts), 0.0, atol=1e-6)


def test_friction_and_the_rest_are_the_whole():
    robot, m = load('gough_stewart'), moving('gough_stewart')
    model = control.InverseModel(robot)
    both = model.without_friction(m) + model.friction(m)
    np.testing.assert_allclose(both, robot.inverse_dynamics(m))
    assert np.abs(model.friction(m)).max() > 1.0


def test_a_moving_base_counts():
    robot, m = load('gough_stewart'), moving('gough_stewart')
    base = pd.BaseMotion(Rotation.from_rotvec([0.2, 0.1, 0.0]).as_matrix(), acceleration=[0, 1, 2])
    model = control.InverseModel(robot)
    model.set_base(base)
    np.testing.assert_allclose(model.efforts(m), robot.inverse_dynamics(m, base=base))
    model.set_base(None)
    np.testing.assert_allclose(model.efforts(m), robot.inverse_dynamics(m))


def test_with_nothing_external_the_code_written_for_the_robot_answers(monkeypatch):
    robot, m = load('gough_stewart'), moving('gough_stewart')
    model, expected = control.InverseModel(robot), robot.inverse_dynamics(m)
    monkeypatch.setattr(robot.engine, 'evaluate', lambda *_: pytest.fail('kernels'))
    np.testing.assert_allclose(model.efforts(m), expected, rtol=1e-12)


def test_unknown_modes_are_refused():
    robot = load('delta')
    with pytest.raises(pd.InputError, match='computed_torque'):
        control.make_law('magic', robot, control.InverseModel(robot), control.default_gains(robot))


@pytest.mark.parametrize('angle', [0.0, 1e-10, 1e-4, 1.0, 3.0])
def test_pose_error_is_the_rotation_vector(angle):
    axis = np.array([1.0, -2.0, 2.0]) / 3.0
    R = Rotation.random(random_state=1).as_matrix()
    a = pd.PlatformMotion([1.0, 2.0, 3.0], Rotation.from_rotvec(angle * axis).as_matrix() @ R)
    b = pd.PlatformMotion([0.5, 2.0, 3.5], R)
    expected = np.concatenate([[0.5, 0.0, -0.5], angle * axis])
    np.testing.assert_allclose(pose_error(a.data, b.data), expected, atol=1e-9)


# ---------------------------------------------------------------- transitions


def two_motions():
    start = pd.PlatformMotion([0.1, 0.2, 0.9], Rotation.from_rotvec([0.2, 0.1, 0.3]).as_matrix())
    old = trajectories.swing(start, [0.1, 0.2, 0.1, 0.3, 0.2, 0.1], 3.0)
    new = trajectories.swing(
        pd.PlatformMotion([0.15, 0.2, 0.8]), [0.2, 0.1, 0.1, -0.2, 0.3, 0.1], 2.0
    )
    return (lambda t: old.at(t).data), (lambda t: new.at(t).data)


def test_offsets_are_undone_by_adding_them():
    old, new = (motion(0.7) for motion in two_motions())
    np.testing.assert_allclose(add_offset(new, *offset_between(old, new)), old, atol=1e-10)


@pytest.mark.parametrize('kind', ['polynomial', 'exponential'])
def test_a_transition_is_smooth_and_arrives(kind):
    old, new = two_motions()
    offset = offset_between(old(0.5), new(0.5))
    fade = PolynomialFade(*offset, 0.4) if kind == 'polynomial' else ExponentialFade(*offset, 60.0)
    blend = Transition(new, 0.5, fade)
    np.testing.assert_allclose(blend(0.5), old(0.5), atol=1e-10)
    np.testing.assert_allclose(blend(1.6), new(1.6), atol=1e-8)
    h = 1e-6
    for t in np.linspace(0.51, 1.0, 9):
        a, b, m = blend(t - h), blend(t + h), blend(t)
        np.testing.assert_allclose(pose_error(b, a) / (2 * h), m[12:18], atol=1e-6)
        np.testing.assert_allclose((b[12:18] - a[12:18]) / (2 * h), m[18:24], atol=1e-4)


def test_the_exponential_fade_is_a_triple_pole():
    rng = np.random.default_rng(2)
    x, v, a = rng.normal(size=(3, 6))
    w, h = 20.0, 1e-5
    fade = ExponentialFade(x, v, a, w)
    for t in (0.0 + h, 0.05, 0.2):
        e, e1, e2 = fade.at(t)
        jerk = (fade.at(t + h)[2] - fade.at(t - h)[2]) / (2 * h)
        right = -(w**3) * e - 3 * w**2 * e1 - 3 * w * e2
        np.testing.assert_allclose(jerk, right, rtol=1e-3, atol=1e-2 * w**2)


def test_coasting_keeps_its_acceleration():
    old, _ = two_motions()
    row = old(0.6)
    coast = coasting(row, 0.6)
    np.testing.assert_allclose(coast(0.6), row, atol=1e-12)
    later = coast(0.8)
    np.testing.assert_allclose(later[0:3], row[:3] + 0.2 * row[12:15] + 0.02 * row[18:21])
    held = resting(row)(5.0)
    np.testing.assert_allclose(held[:12], row[:12])
    assert not held[12:].any()
