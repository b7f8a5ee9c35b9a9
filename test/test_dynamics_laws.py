"""Laws that the dynamics must obey, whatever the robot."""

from zlib import crc32

import numpy as np
import pytest
from robots import ALL, load, random_base, random_motion
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd
from parallel_dynamics.robot import EFFORT_PARTS


def moved(m, h):
    """The pose after time h of a motion with constant acceleration (to second order)."""
    turn = h * m.angular_velocity + 0.5 * h * h * m.angular_acceleration
    # The rotation vector of w t + w' t^2 / 2 is exact to second order (w x w = 0).
    return pd.PlatformMotion(
        m.position + h * m.velocity + 0.5 * h * h * m.acceleration,
        Rotation.from_rotvec(turn).as_matrix() @ m.rotation,
        m.velocity + h * m.acceleration,
        m.angular_velocity + h * m.angular_acceleration,
    )


@pytest.fixture(params=ALL)
def robot(request):
    return load(request.param)


@pytest.fixture
def rng(request):
    return np.random.default_rng(crc32(request.node.name.encode()))


def test_direct_after_inverse_returns_the_acceleration(robot, rng):
    for base in (None, random_base(rng)):
        m = random_motion(robot, rng)
        wrench = 30.0 * rng.normal(size=6)
        efforts = robot.inverse_dynamics(m, wrench, base)
        scale = 1.0 + np.abs(m.twist_rate).max()
        back = robot.direct_dynamics(m, efforts, wrench, base)
        np.testing.assert_allclose(back, m.twist_rate, atol=1e-9 * scale, rtol=1e-9)


def test_velocities_and_accelerations_are_derivatives(robot, rng):
    m, h = random_motion(robot, rng, speed=0.3), 1e-4
    joints = robot.inverse_kinematics(m)
    ahead, behind = (robot.project(moved(m, t)) for t in (h, -h))
    ahead, behind = (robot.inverse_kinematics(x) for x in (ahead, behind))
    slope = (ahead.position - behind.position) / (2 * h)
    scale = 1.0 + np.abs(joints.velocity).max() + np.abs(joints.acceleration).max()
    np.testing.assert_allclose(joints.velocity, slope, atol=2e-6 * scale**2)
    curve = (ahead.position - 2 * joints.position + behind.position) / h**2
    np.testing.assert_allclose(joints.acceleration, curve, atol=2e-4 * scale**2)


def test_power_of_efforts_is_rate_of_energy_and_losses(robot, rng):
    """Gamma . qd_a + w . V = d(T + U)/dt + losses, the rate by a difference of fourth order."""
    m = random_motion(robot, rng, speed=0.3)
    wrench = 10.0 * rng.normal(size=6)
    efforts = robot.inverse_dynamics(m, wrench)
    joints = robot.inverse_kinematics(m)
    active = list(robot.model.actuators)
    power = efforts @ joints.velocity[active] + wrench @ m.twist
    losses = sum(
        (joint.damping * qd + joint.friction * np.clip(qd / 1e-4, -1, 1)) * qd
        for joint, qd in zip(robot.model.joints, joints.velocity)
    )

    def energy(t):
        x = robot.project(moved(m, t))
        return robot.kinetic_energy(x) + robot.potential_energy(x)

    h = 1e-3
    rate = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    scale = abs(power) + abs(losses) + abs(rate) + 1.0
    assert power == pytest.approx(rate + losses, abs=1e-8 * scale + 1e-7)


def test_mass_matrix_is_symmetric_and_positive(robot, rng):
    m = random_motion(robot, rng)
    A = robot.mass_matrix(m)
    np.testing.assert_allclose(A, A.T, atol=1e-12 * np.abs(A).max())
    assert np.linalg.eigvalsh(A)[0] > 0.0
    v = m.twist[list(robot.engine.independent)]
    assert robot.kinetic_energy(m) == pytest.approx(0.5 * v @ A @ v, rel=1e-12)


def test_platform_space_and_actuator_space_agree(robot, rng):
    m = random_motion(robot, rng)
    wrench, base = rng.normal(size=6), random_base(rng)
    J = robot.jacobians(m)
    rate = m.twist_rate[list(robot.engine.independent)]
    left = robot.mass_matrix(m) @ rate + robot.bias(m, wrench, base)
    right = J.J_r_inv.T @ robot.inverse_dynamics(m, wrench, base)
    np.testing.assert_allclose(left, right, atol=1e-9 * (1.0 + np.abs(right).max()))


def test_wrench_and_efforts_are_dual(robot, rng):
    """An external wrench changes the efforts by -J_p^T w."""
    m, wrench = random_motion(robot, rng), rng.normal(size=6)
    change = robot.inverse_dynamics(m, wrench) - robot.inverse_dynamics(m)
    expected = -robot.jacobians(m).J_p.T @ wrench
    scale = np.abs(robot.inverse_dynamics(m)).max() + np.abs(expected).max()
    np.testing.assert_allclose(change, expected, atol=1e-11 * scale, rtol=1e-9)


def test_jacobians_map_the_velocities(robot, rng):
    m = random_motion(robot, rng)
    J = robot.jacobians(m)
    joints = robot.inverse_kinematics(m)
    active = joints.velocity[list(robot.model.actuators)]
    np.testing.assert_allclose(J.J_p @ active, m.twist, atol=1e-9)
    np.testing.assert_allclose(J.J_r @ J.J_r_inv, np.eye(robot.dof), atol=1e-9)
    for leg in J.legs:
        qd = np.array([joints[name][1] for name in leg.joints])
        np.testing.assert_allclose(leg.G @ m.twist, qd, atol=1e-9)
        np.testing.assert_allclose(leg.J @ qd, leg.J_v @ m.twist, atol=1e-9)


def test_parts_sum_to_the_whole(robot, rng):
    m, wrench, base = random_motion(robot, rng), 20.0 * rng.normal(size=6), random_base(rng)
    parts = robot.effort_parts(m, wrench, base)
    assert tuple(parts) == EFFORT_PARTS
    whole = robot.inverse_dynamics(m, wrench, base)
    np.testing.assert_allclose(
        sum(parts.values()), whole, rtol=1e-9, atol=1e-9 * np.abs(whole).max())


def test_parts_depend_on_what_they_are_named_after(robot, rng):
    m = random_motion(robot, rng)
    fast = m.replace(2.0 * m.twist, 4.0 * m.twist_rate)  # the same path, twice as fast
    slow_parts, fast_parts = robot.effort_parts(m), robot.effort_parts(fast)
    scale = max(np.abs(p).max() for p in fast_parts.values())
    for name in ('platform_inertia', 'leg_inertia', 'coriolis'):
        np.testing.assert_allclose(fast_parts[name], 4.0 * slow_parts[name], atol=1e-9 * scale)
    np.testing.assert_allclose(fast_parts['gravity'], slow_parts['gravity'], atol=1e-9 * scale)
    weightless = robot.with_gravity([0.0, 0.0, 0.0])
    assert np.abs(weightless.effort_parts(m)['gravity']).max() < 1e-12 * scale


def test_a_batch_equals_its_states(robot, rng):
    m = random_motion(robot, rng, batch=5)
    wrench, base = rng.normal(size=(5, 6)), random_base(rng)
    efforts = robot.inverse_dynamics(m, wrench, base)
    back = robot.direct_dynamics(m, efforts, wrench, base)
    joints = robot.inverse_kinematics(m)
    mass, energy = robot.mass_matrix(m), robot.kinetic_energy(m)
    for k in range(5):
        one = robot.inverse_dynamics(m[k], wrench[k], base)
        scale = np.abs(one).max()
        np.testing.assert_allclose(efforts[k], one, rtol=1e-10, atol=1e-10 * scale)
        np.testing.assert_allclose(back[k], m[k].twist_rate, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(
            joints.position[k], robot.inverse_kinematics(m[k]).position, atol=1e-11)
        np.testing.assert_allclose(mass[k], robot.mass_matrix(m[k]), rtol=1e-9)
        assert energy[k] == pytest.approx(robot.kinetic_energy(m[k]), rel=1e-9)


def test_a_tilted_base_is_a_turned_gravity(robot, rng):
    m = random_motion(robot, rng)
    base = pd.BaseMotion(Rotation.random(random_state=rng).as_matrix())
    turned = robot.with_gravity(base.rotation.T @ robot.model.gravity)
    np.testing.assert_allclose(
        robot.inverse_dynamics(m, base=base), turned.inverse_dynamics(m), rtol=1e-9, atol=1e-9)


def test_a_falling_base_takes_the_weight_away(robot, rng):
    m = random_motion(robot, rng)
    falling = pd.BaseMotion(acceleration=robot.model.gravity)
    weightless = robot.with_gravity([0.0, 0.0, 0.0])
    scale = np.abs(robot.inverse_dynamics(m)).max()
    np.testing.assert_allclose(
        robot.inverse_dynamics(m, base=falling), weightless.inverse_dynamics(m),
        atol=1e-11 * scale)


def test_payload_is_a_body_fixed_to_the_platform(robot, rng):
    """A load of mass m at c feels m (a + g) like an external wrench of the same size."""
    m = random_motion(robot, rng)
    mass, com = 3.0, rng.normal(size=3)
    r = m.rotation @ com
    w, al = m.angular_velocity, m.angular_acceleration
    a = m.acceleration + np.cross(al, r) + np.cross(w, np.cross(w, r)) - robot.model.gravity
    wrench = -np.concatenate([mass * a, np.cross(r, mass * a)])
    loaded = robot.with_payload(mass, com).inverse_dynamics(m)
    pushed = robot.inverse_dynamics(m, wrench)
    np.testing.assert_allclose(loaded, pushed, rtol=1e-9, atol=1e-10 * np.abs(pushed).max())


def test_forward_kinematics_returns_pose_and_twist(robot, rng):
    m = random_motion(robot, rng)
    joints = robot.inverse_kinematics(m)
    active = list(robot.model.actuators)
    found = robot.solve_forward_kinematics(joints.position[active], joints.velocity[active])
    np.testing.assert_allclose(found.motion.data[:18], m.data[:18], atol=1e-9)
    assert found.residual < 1e-6 and found.iterations > 0 and found.condition >= 1.0
    near = robot.forward_kinematics(joints.position[active], guess=m)
    np.testing.assert_allclose(near.data[:12], m.data[:12], atol=1e-9)


def test_virtual_joints_carry_the_platform(robot, rng):
    m = random_motion(robot, rng)
    names, values, _ = robot.virtual_joints(m)
    back = robot.pose_from_virtual_joints(dict(zip(names, values)))
    np.testing.assert_allclose(back.data[:12], m.data[:12], atol=1e-8)
