"""The engine on robots that are not in the repository, against Pinocchio, from 1 mm to 10 m."""

import numpy as np
from odd_robots import random_six
from odder_robots import ODD
from oracle import Oracle
import pytest
from robots import random_base
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd


def motion(robot, rng, scale, reach=0.05, turn=0.1):
    """An allowed motion; at scale s lengths go with s and times with its root."""
    root = np.sqrt(scale)
    for _ in range(8):
        m = pd.PlatformMotion(
            robot.home.position + scale * reach * rng.uniform(-1, 1, 3),
            Rotation.from_rotvec(turn * rng.uniform(-1, 1, 3)).as_matrix() @ robot.home.rotation,
            root * rng.normal(size=3), rng.normal(size=3) / root,
            rng.normal(size=3), rng.normal(size=3) / scale)
        try:
            return robot.project(m)
        except pd.ParallelDynamicsError:
            reach, turn = reach / 2, turn / 2
    raise AssertionError(f'{robot.name}: no reachable pose found near home')


def compare(path, scale, seed, relative):
    """Joint motion, efforts and accelerations against Pinocchio; two states."""
    robot, oracle, rng = pd.load_robot(path), Oracle(path), np.random.default_rng(seed)
    assert oracle.names == robot.joints
    root, columns = np.sqrt(scale), oracle.columns()
    for _ in range(2):
        m = motion(robot, rng, scale)
        joints = robot.inverse_kinematics(m)
        wrench = 10.0 * scale**3 * rng.normal(size=6) * np.repeat([1.0, scale], 3)
        b = random_base(rng)
        base = pd.BaseMotion(b.rotation, root * b.velocity, b.angular_velocity / root,
                             b.acceleration, b.angular_acceleration / scale)
        for push, ship in ((None, None), (wrench, base)):
            expected, _, residual, (_, v, a, worst) = oracle.inverse_dynamics(
                joints.position, m, push, ship)
            assert worst[0] < 1e-12 * max(1.0, scale), 'closures are open'
            for found, true in ((joints.velocity, v[columns]), (joints.acceleration, a[columns])):
                np.testing.assert_allclose(
                    found, true, rtol=relative, atol=relative * np.abs(true).max())
            efforts = robot.inverse_dynamics(m, push, ship)
            size = np.abs(expected).max()
            assert residual < relative * size
            np.testing.assert_allclose(efforts, expected, rtol=relative, atol=relative * size)
            # Forces, not accelerations, so that a badly conditioned mass matrix does no harm.
            back = robot.direct_dynamics(m, expected, push, ship)
            chosen = list(robot.engine.independent)
            left = robot.mass_matrix(m) @ (back - m.twist_rate)[chosen]
            forces = np.abs(robot.bias(m, push, ship)) + np.abs(
                robot.mass_matrix(m) @ m.twist_rate[chosen])
            assert np.abs(left).max() < relative * forces.max()


@pytest.mark.parametrize('name', ODD)
def test_special_robots(name, tmp_path):
    compare(ODD[name](1).write(tmp_path), 1.0, 1, 1e-9)


@pytest.mark.parametrize('seed', range(2, 8))
def test_random_robots(seed, tmp_path):
    compare(random_six(seed).write(tmp_path), 1.0, seed, 1e-9)


@pytest.mark.parametrize(('name', 'scale'), [
    *((name, 1e-3) for name in ODD if name != 'geared'),
    *((name, 10.0) for name in ('triangles', 'schoenflies', 'two_arms'))])
def test_tiny_and_huge_robots(name, scale, tmp_path):
    """A hexapod of a millimetre and grams, and a machine of ten metres and tons."""
    compare(ODD[name](0, scale).write(tmp_path), scale, 3, 1e-9)
