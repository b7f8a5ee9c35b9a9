"""Kinematics: the working mode of home whatever came before, evidence, and batches."""

import numpy as np
from odder_robots import ODD
import pytest
from robots import load, random_motion
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd
from parallel_dynamics.spatial import rotation_between

ROBOTS = ['gough_stewart', 'delta', 'three_rps', 'orthoglide', 'c5', 'irregular_hexa',
          'irregular_planar_3rrr', 'serial_arm', 'cut_in_the_middle', 'sleeve', 'schoenflies']
_odd = {}


@pytest.fixture(params=ROBOTS)
def robot(request, tmp_path_factory):
    name = request.param
    if name not in ODD:
        return load(name)
    if name not in _odd:
        _odd[name] = pd.load_robot(ODD[name](0).write(tmp_path_factory.mktemp(name)))
    return _odd[name]


def far_motions(robot, seed, count=16):
    """Allowed poses from near home to the ends of the workspace, those that can be reached."""
    rng = np.random.default_rng(seed)
    length = robot.engine.packed.system[0]['length']
    size = np.tile([1.0, 0.6, 0.3, 0.1], count // 4)[:, None]
    turn = Rotation.from_rotvec(size * rng.uniform(-0.8, 0.8, (count, 3))).as_matrix()
    m = robot.project(pd.PlatformMotion(
        robot.home.position + 0.6 * size * length * rng.uniform(-1, 1, (count, 3)),
        turn @ robot.home.rotation), invalid='nan')
    m = m[np.isfinite(m.data).all(axis=1)]
    q = robot.inverse_kinematics(m, invalid='nan').position
    m = m[np.isfinite(q).all(axis=1)]
    assert len(m) > 1
    return m


def test_a_result_does_not_depend_on_what_came_before(robot):
    """Pose A alone equals A after B, A in a batch, and A in the batch reversed."""
    m = far_motions(robot, 1)
    together = robot.inverse_kinematics(m).position
    reverse = robot.inverse_kinematics(m[::-1]).position[::-1]
    np.testing.assert_allclose(reverse, together, atol=1e-11)
    for k in range(len(m)):
        after = robot.inverse_kinematics(m[k]).position
        robot.engine.forget()
        alone = robot.inverse_kinematics(m[k]).position
        np.testing.assert_allclose(after, alone, atol=1e-11)
        np.testing.assert_allclose(together[k], alone, atol=1e-11)


def test_joints_move_continuously_from_home(robot):
    """In small steps on the way from home no joint jumps, and the end is that of one step."""
    for m in far_motions(robot, 2, 8):
        share = np.linspace(0.0, 1.0, 120)
        turn = Rotation.from_matrix(m.rotation @ robot.home.rotation.T).as_rotvec()
        path = pd.PlatformMotion(
            robot.home.position + share[:, None] * (m.position - robot.home.position),
            Rotation.from_rotvec(share[:, None] * turn).as_matrix() @ robot.home.rotation)
        path = robot.project(path, invalid='nan')
        if not np.isfinite(path.data).all():
            continue
        q = robot.inverse_kinematics(path, invalid='nan').position
        if not np.isfinite(q).all():
            continue
        size = robot.engine.packed.system[0]['size']
        jump = np.abs(np.diff(q, axis=0)).max()
        assert jump < 0.35 * max(1.0, size)
        if np.allclose(path.data[-1, :12], m.data[:12], atol=1e-9):
            np.testing.assert_allclose(q[-1], robot.inverse_kinematics(m).position, atol=1e-8)


def test_forward_kinematics_returns_or_tells(robot):
    """From home to far actuator positions: the same working mode, or refused with evidence."""
    m = far_motions(robot, 3)
    q = robot.inverse_kinematics(m).position[:, list(robot.model.actuators)]
    for k in range(len(m)):
        try:
            found = robot.solve_forward_kinematics(q[k])
        except pd.ParallelDynamicsError as error:
            assert isinstance(error, (pd.UnreachableError, pd.SingularityError))
            assert 0.0 <= error.evidence['fraction'] <= 1.0
            assert error.evidence['condition_number'] > 0.0
            continue
        assert found.residual < 1e-6 and found.iterations > 0 and found.condition >= 1.0
        back = robot.inverse_kinematics(found.motion, invalid='nan').position
        np.testing.assert_allclose(back[list(robot.model.actuators)], q[k], atol=1e-9)
        near = robot.forward_kinematics(q[k], guess=m[k])
        np.testing.assert_allclose(near.data[:12], m[k].data[:12], atol=1e-8)


def test_forward_kinematics_of_a_batch(robot):
    m = random_motion(robot, np.random.default_rng(4), 0.03, 0.04, batch=70)
    joints, active = robot.inverse_kinematics(m), list(robot.model.actuators)
    q, qd = joints.position[:, active], joints.velocity[:, active]
    found = robot.solve_forward_kinematics(q, qd)
    np.testing.assert_allclose(found.motion.data[:, :18], m.data[:, :18], atol=1e-8)
    assert found.residual.shape == found.iterations.shape == found.condition.shape == (70,)
    one = robot.solve_forward_kinematics(q[5], qd[5])
    np.testing.assert_allclose(one.motion.data, found.motion.data[5], atol=1e-12)
    assert one.condition == pytest.approx(found.condition[5], rel=1e-9)
    near = robot.forward_kinematics(q, qd, guess=m)
    np.testing.assert_allclose(near.data[:, :18], m.data[:, :18], atol=1e-8)
    with pytest.raises(pd.InputError, match='guess: expected a batch of 70, got 3'):
        robot.forward_kinematics(q, guess=m[:3])
    with pytest.raises(pd.InputError, match='actuator_velocities: a batch of 70'):
        robot.forward_kinematics(q[0], qd)


def test_a_batch_is_projected_like_its_states(robot):
    rng = np.random.default_rng(5)
    m = random_motion(robot, rng, batch=5)
    off = m.replace(m.twist + 0.1 * rng.normal(size=(5, 6)))
    together = robot.project(off)
    for k in range(5):
        np.testing.assert_allclose(robot.project(off[k]).data, together.data[k], atol=1e-12)
    kept = list(robot.engine.independent)
    np.testing.assert_allclose(together.twist[:, kept], off.twist[:, kept], atol=1e-12)


def test_a_failed_state_of_a_forward_batch_is_named_or_left_out():
    robot = load('delta')
    q = np.zeros((4, 3))
    q[2] = [3.0, -3.0, 3.0]
    with pytest.raises(pd.ParallelDynamicsError, match=r'state 2 of the batch \(1 of 4 fail\)'):
        robot.forward_kinematics(q)
    found = robot.solve_forward_kinematics(q, invalid='nan')
    assert np.isnan(found.motion.data[2]).all() and np.isnan(found.condition[2])
    assert np.isfinite(np.delete(found.motion.data, 2, axis=0)).all()


def test_a_platform_that_turns_round_counts_from_home():
    """Yaw past half a turn: the pose cannot tell the turns, so history must not either."""
    robot = load('irregular_planar_3rrr')
    yaw = np.linspace(0.0, 1.2, 7)
    path = pd.PlatformMotion(
        np.tile(robot.home.position, (7, 1)),
        Rotation.from_rotvec(yaw[:, None] * [0, 0, 1]).as_matrix() @ robot.home.rotation)
    walked = [robot.inverse_kinematics(one, invalid='nan').position for one in path]
    robot.engine.forget()
    np.testing.assert_allclose(
        robot.inverse_kinematics(path[6]).position, walked[6], atol=1e-11)


def test_a_fast_rotor_does_not_disturb(tmp_path):
    """A rotor geared 1 : 200 to a joint costs neither reach nor convergence."""
    from odd_robots import Odd
    from odder_robots import around, ups

    def built(geared):
        robot = Odd(3)
        feet, tips = around(robot, 6, 0.6), around(robot, 6, 0.35, 0.9, 0.5)
        for k in range(6):
            ups(robot, f'leg{k}', feet[k], tips[k], flip=True)  # not in closed form
        if geared:
            robot.body('rotor', 'revolute', 'base', feet[0], [0, 0, 1], 0.1,
                       ('leg0_u1', 200.0, 0.0))
        return pd.load_robot(robot.write(tmp_path / str(geared)))

    plain, geared = built(False), built(True)
    m = far_motions(plain, 6, 8)
    np.testing.assert_allclose(
        geared.inverse_kinematics(m).position[:, : len(plain.joints)],
        plain.inverse_kinematics(m).position, atol=1e-10)
    m = random_motion(plain, np.random.default_rng(0))
    q = geared.inverse_kinematics(m).position[list(geared.model.actuators)]
    np.testing.assert_allclose(
        geared.forward_kinematics(q).data[:12], m.data[:12], atol=1e-9)


@pytest.mark.parametrize('axis', [
    [0, 0, 1], [0, 0, -1], [1e-9, 0, -1], [1e-6, -2e-6, -1], [1e-3, 0, -1], [1, 2, -3], [1, 0, 0],
    [-1e-7, 1e-7, 1], [0, 3, 0]])
def test_a_joint_axis_is_kept_to_the_last_digit(axis):
    r = rotation_between(axis)
    np.testing.assert_allclose(r[:, 2], np.array(axis) / np.linalg.norm(axis), atol=4e-16)
    np.testing.assert_allclose(r @ r.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(r) > 0.0


@pytest.mark.parametrize('left', [0.1, 0.01, 0.002])
def test_solutions_are_followed_up_to_a_turning_point(left):
    """Shortly before it, poses and joints go with the root of the way that is left."""
    # Forward: a 3-RPS that tilts up to where locked actuators no longer hold it (staicu_3rps).
    robot = load('three_rps')
    tilt = Rotation.from_euler('x', np.radians(21.8276) * (1.0 - left)).as_matrix()
    m = robot.project(pd.PlatformMotion(robot.home.position, tilt @ robot.home.rotation))
    q = robot.inverse_kinematics(m).position[list(robot.model.actuators)]
    found = robot.solve_forward_kinematics(q)
    np.testing.assert_allclose(found.motion.data[:12], m.data[:12], atol=1e-9)
    # Inverse: an arm of six joints that is turned up to its own singularity.
    robot = load('serial_arm')
    way = np.array([0.0, -2.5, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(pd.SingularityError) as refused:
        robot.forward_kinematics(way)
    q = (1.0 - left) * refused.value.evidence['fraction'] * way
    m = robot.forward_kinematics(q)
    robot.engine.forget()  # from home, not from where forward kinematics ended
    np.testing.assert_allclose(robot.inverse_kinematics(m).position, q, atol=1e-8)
