"""The engine against Pinocchio: joint motion, efforts and accelerations of every robot."""

import numpy as np
from oracle import Oracle
import pytest
from robots import ALL, load, path_of, random_base, random_motion

STATES = 3


@pytest.mark.parametrize('label', ALL)
def test_joint_motion_and_efforts_agree(label):
    robot, oracle = load(label), Oracle(path_of(label))
    rng = np.random.default_rng(len(label))
    assert oracle.names == robot.joints
    for _ in range(STATES):
        m = random_motion(robot, rng)
        joints = robot.inverse_kinematics(m)
        wrench, base = 50.0 * rng.normal(size=6), random_base(rng)
        for push, ship in ((None, None), (wrench, None), (wrench, base)):
            expected, _, residual, (_, v, a, worst) = oracle.inverse_dynamics(
                joints.position, m, push, ship)
            assert worst[0] < 1e-10, 'closures are open'
            columns = oracle.columns()
            np.testing.assert_allclose(joints.velocity, v[columns], rtol=1e-9, atol=1e-10)
            scale = 1.0 + np.abs(a[columns]).max()
            np.testing.assert_allclose(
                joints.acceleration, a[columns], rtol=1e-9, atol=1e-10 * scale)
            efforts = robot.inverse_dynamics(m, push, ship)
            scale = np.abs(expected).max()
            assert residual < 1e-9 * (1.0 + scale)
            np.testing.assert_allclose(efforts, expected, rtol=1e-9, atol=1e-9 * scale)
            back = robot.direct_dynamics(m, expected, push, ship)
            scale = 1.0 + np.abs(m.twist_rate).max()
            np.testing.assert_allclose(back, m.twist_rate, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize('label', ALL)
def test_platform_constraint_agrees(label):
    """S spans what Pinocchio's closure Jacobian leaves free."""
    robot, oracle = load(label), Oracle(path_of(label))
    m = random_motion(robot, np.random.default_rng(7))
    q = oracle.configuration(robot.inverse_kinematics(m).position, m)
    _, K, _, _ = oracle.closure_kinematics(q, np.zeros(oracle.model.nv), np.zeros(oracle.model.nv))
    K = np.vstack([K, oracle.mimic_rows()])
    pc = oracle.platform_columns()
    turn = np.kron(np.eye(2), m.rotation.T)  # Pinocchio's free flyer has body axes
    J = robot.jacobians(m)
    joints = K[:, oracle.columns()]
    for twist in J.S.T:
        rhs = K[:, pc] @ (turn @ twist)
        left = np.linalg.lstsq(joints, -rhs, rcond=1e-11)[0]
        assert np.abs(joints @ left + rhs).max() < 1e-10
    rank = np.linalg.matrix_rank(np.hstack([joints, K[:, pc]]), tol=1e-9)
    assert rank == joints.shape[1] + 6 - robot.dof
