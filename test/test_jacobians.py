"""Jacobians and the three measures of singularity, single and in batches."""

import numpy as np
import pytest
from robots import ALL, load, random_motion

import parallel_dynamics as pd


@pytest.fixture(params=ALL)
def robot(request):
    return load(request.param)


def test_a_batch_equals_its_states(robot):
    m = random_motion(robot, np.random.default_rng(0), batch=4)
    many = robot.jacobians(m)
    for k in range(4):
        one = robot.jacobians(m[k])
        for name in ('S', 'J_r_inv', 'J_r', 'J_p'):
            a, b = getattr(many, name)[k], getattr(one, name)
            np.testing.assert_allclose(a, b, atol=1e-9 * (1.0 + np.abs(b).max()))
        for name in ('leg_condition', 'actuation_condition', 'constraint_condition',
                     'manipulability', 'condition'):
            assert getattr(many, name)[k] == pytest.approx(getattr(one, name), rel=1e-7)
            assert isinstance(getattr(one, name), float)
        for left, right in zip(many.legs, one.legs):
            assert left.joints == right.joints
            np.testing.assert_allclose(left.J[k], right.J, atol=1e-11)
            np.testing.assert_allclose(left.G[k], right.G, atol=1e-8)


def test_they_are_the_derivatives_of_positions(robot):
    """Actuators and platform move as J_r_inv and J_p say: central differences."""
    m = random_motion(robot, np.random.default_rng(1), speed=0.0)
    J, h, active = robot.jacobians(m), 1e-6, list(robot.model.actuators)
    for k, component in enumerate(robot.engine.independent):
        ends = []
        for sign in (1.0, -1.0):
            twist = sign * h * J.S[:, k]
            turn = np.array([[0, -twist[5], twist[4]], [twist[5], 0, -twist[3]],
                             [-twist[4], twist[3], 0]])
            rotation = np.linalg.qr((np.eye(3) + turn) @ m.rotation)[0]
            rotation *= np.sign(np.diag(rotation.T @ m.rotation))
            x = robot.project(pd.PlatformMotion(m.position + twist[:3], rotation))
            ends.append(robot.inverse_kinematics(x).position[active])
        slope = (ends[0] - ends[1]) / (2.0 * h)
        scale = 1.0 + np.abs(J.J_r_inv).max()
        np.testing.assert_allclose(slope, J.J_r_inv[:, k], atol=1e-5 * scale)
        assert J.S[component, k] == pytest.approx(1.0)


def test_measures_do_not_depend_on_units(tmp_path):
    """The same robot a thousand times smaller has the same condition numbers."""
    from odder_robots import ODD

    for name in ('two_arms', 'sleeve', 'excavator_legs'):
        found = []
        for scale in (1.0, 1e-3):
            robot = pd.load_robot(ODD[name](0, scale).write(tmp_path / f'{name}{scale}'))
            J = robot.jacobians(robot.home)
            found.append([J.leg_condition, J.actuation_condition, J.constraint_condition,
                          J.manipulability])
        np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_manipulability_is_the_determinant():
    robot = load('gough_stewart')
    J = robot.jacobians(robot.home)
    scale = np.array([1.0] * 3 + [1.0 / J.length] * 3)
    assert J.manipulability == pytest.approx(1.0 / abs(np.linalg.det(J.J_r_inv * scale)))
    assert J.constraint_condition == 1.0
    s = np.linalg.svd(J.J_r_inv * scale, compute_uv=False)
    assert J.actuation_condition == pytest.approx(s[0] / s[-1])
