"""The 3-RPS of staicu_3rps against finite differences, energy, statics and the engine."""

from __future__ import annotations

import numpy as np
from paper_motions import FINITE_DIFFERENCE, TOLERANCE, error
import pytest
from scipy.spatial.transform import Rotation

from parallel_dynamics.errors import InputError
from parallel_dynamics.loading import load_robot
from parallel_dynamics.papers import staicu_3rps as staicu
from parallel_dynamics.papers.staicu_3rps.reproduce import singular_angle

ROBOTS = {'revolute': 'three_rps', 'prismatic': 'three_rps_prismatic'}
GEOMETRY = staicu.Geometry()


@pytest.fixture(scope='module')
def engines():
    return {actuation: load_robot(name) for actuation, name in ROBOTS.items()}


def motions(seed, count=5):
    """Independent motions of z, alpha_1, alpha_2, away from the singularity."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        value = np.array([1.15, 0.0, 0.0]) + np.array([0.1, 0.2, 0.2]) * rng.uniform(-1, 1, 3)
        yield staicu.Coordinates(value, *rng.normal(size=(2, 3)))


def later(c, dt):
    return staicu.Coordinates(
        c.value + c.rate * dt + 0.5 * c.acceleration * dt * dt,
        c.rate + c.acceleration * dt,
        c.acceleration,
    )


def derivative(function, c, dt=1e-5):
    return (np.asarray(function(later(c, dt))) - function(later(c, -dt))) / (2.0 * dt)


def test_platform_matrices_are_successive_rotations():
    angles = np.array([0.2, -0.3, 0.4])
    R10, R21, R32 = staicu.platform_matrices(angles)
    expected = Rotation.from_euler('XYZ', angles).as_matrix()
    assert (R32 @ R21 @ R10).T == pytest.approx(expected)


def test_parasitic_motions_close_the_loops():
    for c in motions(1):
        p = staicu.pose(GEOMETRY, c.value)
        assert np.abs(staicu.loop_error(GEOMETRY, p)).max() < 1e-12
        assert p.R30[0, 1] == pytest.approx(p.R30[1, 0], abs=1e-12)


def test_lengths_follow_from_the_home_pose():
    assert np.tan(GEOMETRY.beta) == pytest.approx(0.5 / 1.2)
    assert GEOMETRY.l2 == pytest.approx(0.95)
    home = staicu.pose(GEOMETRY, np.array([GEOMETRY.h, 0.0, 0.0]))
    assert home.lambda21 == pytest.approx(np.zeros(3), abs=1e-12)
    assert home.phi10 == pytest.approx(np.zeros(3), abs=1e-12)


def velocities(c):
    p = staicu.pose(GEOMETRY, c.value)
    return staicu.rates(GEOMETRY, p, c.rate)


def test_velocities_and_accelerations_by_finite_differences():
    for c in motions(2):
        p = staicu.pose(GEOMETRY, c.value)
        v, angle_rates = velocities(c)
        checks = (
            (v.omega10, lambda x: staicu.pose(GEOMETRY, x.value).phi10),
            (v.v21, lambda x: staicu.pose(GEOMETRY, x.value).lambda21),
            (v.platform[:3], lambda x: staicu.pose(GEOMETRY, x.value).G),
            (angle_rates, lambda x: staicu.pose(GEOMETRY, x.value).angles),
        )
        for value, function in checks:
            assert error(value, derivative(function, c)) < FINITE_DIFFERENCE
        turn = derivative(lambda x: staicu.pose(GEOMETRY, x.value).R30.T, c) @ p.R30
        omega = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
        assert error(v.platform[3:], omega) < FINITE_DIFFERENCE
        a = staicu.accelerations(GEOMETRY, p, v, angle_rates, c.acceleration)
        for name in ('omega10', 'v21', 'platform'):
            expected = derivative(lambda x: getattr(velocities(x)[0], name), c)  # noqa: B023
            assert error(getattr(a, name), expected) < FINITE_DIFFERENCE


@pytest.mark.parametrize('actuation', ROBOTS)
def test_efforts_are_the_engines(engines, actuation):
    robot = staicu.three_rps(engines[actuation].model)
    assert robot.actuation == actuation
    for c in motions(3):
        expected = engines[actuation].inverse_dynamics(staicu.platform_motion(robot.geometry, c))
        assert error(robot.joint_forces(c).efforts, expected) < TOLERANCE


@pytest.mark.parametrize('actuation', ROBOTS)
def test_leg_rates_and_accelerations_are_those_of_the_engines_joints(engines, actuation):
    """phi_10, w_10, eps_10 of the revolutes and lambda_21, v_21, gamma_21 of the slides."""
    engine = engines[actuation]
    geometry = staicu.three_rps(engine.model).geometry
    for c in motions(8):
        p = staicu.pose(geometry, c.value)
        v, angle_rates = staicu.rates(geometry, p, c.rate)
        a = staicu.accelerations(geometry, p, v, angle_rates, c.acceleration)
        joints = engine.inverse_kinematics(staicu.platform_motion(geometry, c))
        for leg in range(3):
            turn = (p.phi10[leg], v.omega10[leg], a.omega10[leg])
            slide = (p.lambda21[leg], v.v21[leg], a.v21[leg])
            for kind, values in (('revolute', turn), ('slide', slide)):
                expected = np.array(joints[f'leg{leg + 1}_{kind}'])
                assert values == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize('actuation', ROBOTS)
def test_joint_forces_are_the_engines(engines, actuation):
    """Closure forces are given in platform axes; the paper has them along y1, -z1, x1."""
    engine = engines[actuation]
    robot = staicu.three_rps(engine.model)
    for c in motions(4):
        m = staicu.platform_motion(robot.geometry, c)
        p = staicu.pose(robot.geometry, c.value)
        forces = engine.joint_forces(m)
        expected = []
        for leg, name in enumerate(engine.closures):
            x, y, z = p.a10[leg] @ m.rotation @ forces.wrench[name][:3]
            expected.append((y, -z, x))
            assert forces.determinate[name][:3].all()
        computed = robot.joint_forces(c)
        values = np.stack([computed.f32, computed.f43, computed.f54], axis=1)
        assert error(values, np.array(expected)) < TOLERANCE


@pytest.mark.parametrize('actuation', ROBOTS)
def test_power_is_the_rate_of_energy(engines, actuation):
    engine = engines[actuation]
    robot = staicu.three_rps(engine.model)

    def energy(c):
        m = staicu.platform_motion(robot.geometry, c)
        return engine.kinetic_energy(m) + engine.potential_energy(m)

    for c in motions(5, count=2):
        p = staicu.pose(robot.geometry, c.value)
        v, _ = staicu.rates(robot.geometry, p, c.rate)
        rates = v.omega10 if actuation == 'revolute' else v.v21
        power = robot.joint_forces(c).efforts @ rates
        assert power == pytest.approx(float(derivative(energy, c)), rel=1e-7)


@pytest.mark.parametrize('actuation', ROBOTS)
def test_ball_forces_hold_the_platform(actuation):
    """Newton's law of the platform alone: the three forces are its inertia less its weight."""
    robot = staicu.ThreeRps.from_paper(actuation)
    for c in motions(6, count=2):
        p = staicu.pose(robot.geometry, c.value)
        m = staicu.platform_motion(robot.geometry, c)
        f = robot.joint_forces(c)
        total, moment = np.zeros(3), np.zeros(3)
        for leg, a10 in enumerate(p.a10):
            force = a10.T @ np.array([f.f54[leg], f.f32[leg], -f.f43[leg]])
            turn = Rotation.from_rotvec([0.0, 0.0, (0.0, 2.0, -2.0)[leg] * np.pi / 3]).as_matrix()
            arm = m.rotation @ turn @ np.array([robot.geometry.r, 0.0, 0.0])
            total, moment = total + force, moment + np.cross(arm, force)
        mass, tensor = robot.platform.m, m.rotation @ robot.platform.J @ m.rotation.T
        assert total == pytest.approx(mass * (m.acceleration - robot.g), abs=1e-9)
        w, wd = m.angular_velocity, m.angular_acceleration
        assert moment == pytest.approx(tensor @ wd + np.cross(w, tensor @ w), abs=1e-9)


def test_axial_force_with_passive_slides_is_the_pistons_own_load():
    robot = staicu.ThreeRps.from_paper('revolute')
    for c in motions(7, count=2):
        p = staicu.pose(robot.geometry, c.value)
        v, angle_rates = staicu.rates(robot.geometry, p, c.rate)
        a = staicu.accelerations(robot.geometry, p, v, angle_rates, c.acceleration)
        own = [robot.leg_loads(leg, p, v, a)[1] for leg in range(3)]
        assert robot.joint_forces(c).f32 == pytest.approx(-np.array(own), abs=1e-9)


@pytest.mark.parametrize('actuation', ROBOTS)
def test_a_vertical_motion_is_symmetric_and_has_no_lateral_force(actuation):
    robot = staicu.ThreeRps.from_paper(actuation)
    for c in staicu.paper_motion(np.array([0.0, 1.0, 3.0]), heave=0.1, roll=0.0, pitch=0.0):
        f = robot.joint_forces(c)
        assert f.f43 == pytest.approx(np.zeros(3), abs=1e-9)
        for values in (f.f32, f.f54, f.efforts):
            assert np.ptp(values) < 1e-9


def test_revolute_actuation_is_singular_just_beyond_the_published_motion(engines):
    robot = staicu.ThreeRps.from_paper('revolute')
    angle = singular_angle(robot, 1.2)
    assert np.degrees(angle) == pytest.approx(21.8, abs=0.05)
    conditions = [
        robot.condition(staicu.pose(GEOMETRY, np.array([1.2, a, 0.0])))
        for a in (0.0, np.radians(20.0), angle - 1e-4)
    ]
    assert conditions[0] < 2.0 < 20.0 < conditions[1] < 100.0 < conditions[2]
    # The engine says the same at the same pose.
    at_rest = staicu.Coordinates(np.array([1.2, angle - 1e-4, 0.0]), np.zeros(3), np.zeros(3))
    m = staicu.platform_motion(staicu.three_rps(engines['revolute'].model).geometry, at_rest)
    assert engines['revolute'].jacobians(m).actuation_condition > 1e3
    assert engines['prismatic'].jacobians(m).actuation_condition < 10.0


def test_wrong_robots_are_refused(engines):
    with pytest.raises(InputError, match='R-P-S'):
        staicu.three_rps(load_robot('space').model)
    with pytest.raises(InputError, match='actuation'):
        staicu.ThreeRps.from_paper('hydraulic')
