"""Poses far from home, where other components of the twist fix the motion than at home.

The coupler of a parallelogram goes round on a circle: at 30 degrees it mostly rises, at 90 degrees
it only moves sideways. Its dynamics are those of one wheel, so everything is known in closed form.
"""

from __future__ import annotations

import math

import numpy as np
import odder_robots
import pytest
import robots
from scipy.spatial.transform import Rotation
import tiny_robots

import parallel_dynamics as pd
from parallel_dynamics import trajectories
from parallel_dynamics.simulation import Spring

HOME = math.radians(30.0)
INERTIA = 1.0 + 0.1 + 0.1  # the coupler's mass at 1 m, and two bars that turn about their joints
ANGLES = [math.radians(d) for d in (5, 60, 89.9999, 90, 90.0001, 120, 150, 165, 175)]


@pytest.fixture(scope='module')
def robot(tmp_path_factory):
    return pd.load_robot(tiny_robots.four_bar().write(tmp_path_factory.mktemp('four_bar')))


def turning(angle, rate=1.3, growth=0.7):
    """The coupler's motion with the cranks at an angle, rad from the x axis."""
    out = np.array([math.cos(angle), math.sin(angle), 0.0])
    along = np.array([-math.sin(angle), math.cos(angle), 0.0])
    acceleration = growth * along - rate**2 * out
    return pd.PlatformMotion(out, np.eye(3), rate * along, np.zeros(3), acceleration, np.zeros(3))


def batch(motions):
    return pd.PlatformMotion._wrap(np.stack([m.data for m in motions]))


@pytest.mark.parametrize('angle', ANGLES)
def test_everything_has_a_value_wherever_the_crank_stands(robot, angle):
    m = turning(angle)
    joints = robot.inverse_kinematics(m)
    np.testing.assert_allclose(joints.position, angle - HOME, atol=1e-9)
    np.testing.assert_allclose(joints.velocity, 1.3, rtol=1e-9)
    np.testing.assert_allclose(joints.acceleration, 0.7, rtol=1e-9)
    effort = robot.inverse_dynamics(m)
    np.testing.assert_allclose(effort, 0.7 * INERTIA, rtol=1e-9)
    found = robot.direct_dynamics(m, effort)
    np.testing.assert_allclose(found, m.twist_rate, atol=1e-9)
    assert robot.kinetic_energy(m) == pytest.approx(0.5 * INERTIA * 1.3**2, rel=1e-12)
    np.testing.assert_allclose(robot.joint_forces(m).efforts, effort, rtol=1e-9)
    np.testing.assert_allclose(robot.regressor(m) @ robot.parameters, effort, rtol=1e-9)


def test_batches_and_programs_agree_there(robot):
    motions = batch([turning(a) for a in ANGLES])
    efforts = np.full((len(ANGLES), 1), 0.7 * INERTIA)
    for other in (robot, pd.Robot(robot.model, robot.mobility).specialise()):
        np.testing.assert_allclose(other.inverse_dynamics(motions), efforts, rtol=1e-9)
        found = other.direct_dynamics(motions, efforts)
        np.testing.assert_allclose(found, motions.twist_rate, atol=1e-9)
        for m in motions:
            np.testing.assert_allclose(other.inverse_dynamics(m), efforts[0], rtol=1e-9)


@pytest.mark.parametrize('angle', ANGLES)
def test_forward_kinematics_goes_all_the_way(robot, angle):
    found = robot.forward_kinematics([angle - HOME], [1.3])
    wanted = turning(angle)
    np.testing.assert_allclose(found.position, wanted.position, atol=1e-9)
    np.testing.assert_allclose(found.velocity, wanted.velocity, atol=1e-9)


def test_mass_matrix_says_where_its_components_have_no_value(robot):
    assert robot.mass_matrix(turning(HOME)).shape == (1, 1)
    with pytest.raises(pd.SingularityError, match='platform_y'):
        robot.mass_matrix(turning(math.radians(90)))


def test_a_pose_off_the_circle_is_still_refused(robot):
    m = turning(math.radians(150))
    for position in (1.01 * m.position, 0.5 * m.position):
        with pytest.raises(pd.ParallelDynamicsError, match='open by'):
            robot.inverse_dynamics(pd.PlatformMotion(position, np.eye(3)))


@pytest.mark.parametrize('way', ['step', 'run', 'run_many', 'saved'])
def test_a_simulation_passes_the_quarter_turn(robot, way):
    """Free of efforts the crank goes on at its rate: 2 s from 30 to about 145 degrees."""
    simulator = pd.Simulator(robot)
    start = turning(HOME, 1.0, 0.0)
    simulator.reset(start)
    if way == 'run':
        state = simulator.run([0.0], 1e-3, ticks=2000).motion[-1]
    elif way == 'run_many':
        many = simulator.run_many(batch([start, start]), [0.0], 1e-3, 2000)
        assert many.events == (None, None)
        state = many.motion[1]
    else:
        for k in range(2000):
            if way == 'saved' and k % 100 == 0:
                snapshot = simulator.save()
                simulator = pd.Simulator(robot)
                simulator.load(snapshot)
            simulator.step([0.0], 1e-3)
        state = simulator.state
    expected = turning(HOME + 2.0, 1.0, 0.0)
    np.testing.assert_allclose(state.data, expected.data, atol=1e-8)


def test_a_swing_through_the_quarter_turn_keeps_its_energy(robot):
    """A spring that is slack at 90 degrees: the crank swings from one side to the other."""
    spring = Spring(40.0, math.radians(90) - HOME, 0.0)
    simulator = pd.Simulator(robot, springs={'crank': spring})
    simulator.reset(turning(HOME, 0.0, 0.0))
    start, angles = simulator.energy(), []
    for _ in range(20):
        simulator.run([0.0], 1e-3, ticks=100)
        angles.append(simulator.measure().position[0])
        assert simulator.energy() == pytest.approx(start, rel=1e-7)
    assert max(angles) > math.radians(110) and simulator.residual < 1e-10


@pytest.mark.parametrize('way', ['step', 'run', 'loaded'])
def test_sensors_and_energy_count_the_turns_of_a_crank(tmp_path, way):
    """A spring winds up: it slows the crank down well beyond half a turn."""
    robot = pd.load_robot(tiny_robots.wheel().write(tmp_path))
    simulator = pd.Simulator(robot, 'dop853', springs={'crank': Spring(1.0)})
    simulator.reset(robot.home.replace([0.0, 9.0, 0.0, 0.0, 0.0, 9.0]))
    start = simulator.energy()
    assert start == pytest.approx(robot.kinetic_energy(simulator.state), rel=1e-12)
    frequency = math.sqrt(81.0 / (2.0 * start))  # of the crank's oscillation, 1/s
    for _ in range(12):
        if way == 'step':
            for _ in range(50):
                simulator.step([0.0], 1e-3)
        else:
            simulator.run([0.0], 1e-3, ticks=50)
        if way == 'loaded':
            snapshot = simulator.save()
            simulator = pd.Simulator(robot, 'dop853', springs={'crank': Spring(1.0)})
            simulator.load(snapshot)
        found, turned = simulator.measure(), frequency * simulator.time
        assert found.position[0] == pytest.approx(9.0 / frequency * math.sin(turned), rel=1e-8)
        assert found.velocity[0] == pytest.approx(9.0 * math.cos(turned), rel=1e-8)
        assert simulator.energy() == pytest.approx(start, rel=1e-9)
        np.testing.assert_allclose(simulator.gravity_efforts(), 0.0, atol=1e-9)
    assert found.position[0] > math.radians(200)


def test_a_reset_where_the_own_components_fail(robot):
    simulator = pd.Simulator(robot)
    simulator.reset(turning(math.radians(90), 1.0, 0.0))
    simulator.step([0.0], 1e-3)
    expected = turning(math.radians(90) + 1e-3, 1.0, 0.0)
    np.testing.assert_allclose(simulator.state.position, expected.position, atol=1e-9)


def test_forward_kinematics_does_not_guess_behind_a_change_point(robot):
    """Flat, the linkage may go on as a parallelogram or crossed: no answer is better than luck."""
    for beyond in (1, 5, 10, 25, 50):
        with pytest.raises(pd.ParallelDynamicsError, match='out of reach'):
            robot.forward_kinematics([math.radians(180 + beyond) - HOME])


@pytest.mark.parametrize('name', ['excavator_legs', 'sleeve', 'planar_welded'])
def test_what_was_solved_before_does_not_change_a_result(name, tmp_path):
    """Far apart, one after the other: each pose as if it were the first."""
    path = odder_robots.ODD[name](3).write(tmp_path)
    robot, rng = pd.load_robot(path), np.random.default_rng(1)
    poses = []
    for _ in range(400):
        m = trajectories.displaced(robot.home, 0.3 * rng.uniform(-1, 1, 6))
        try:
            m = robot.project(m)
            robot.engine.forget()
            poses.append((m, robot.inverse_kinematics(m).position))
        except pd.ParallelDynamicsError:
            continue
        if len(poses) == 25:
            break
    assert len(poses) > 10
    for first, _ in poses:
        for second, cold in poses:
            robot.engine.forget()
            robot.inverse_kinematics(first)
            np.testing.assert_allclose(
                robot.inverse_kinematics(second).position, cold, atol=1e-9
            )
        robot.engine.forget()
        alone = robot.joint_forces(first).array, robot.regressor(first)
        robot.inverse_kinematics(poses[-1][0])
        found = robot.joint_forces(first).array, robot.regressor(first)
        for value, cold in zip(found, alone):
            np.testing.assert_allclose(value, cold, atol=1e-7 * np.abs(cold).max())


@pytest.mark.parametrize('axis', range(3))
def test_virtual_joints_half_a_turn_away(axis):
    robot = pd.load_robot('gough_stewart')
    turn = Rotation.from_rotvec(np.pi * np.eye(3)[axis]).as_matrix()
    m = pd.PlatformMotion(robot.home.position, turn @ robot.home.rotation)
    names, values, _ = robot.virtual_joints(m)
    back = robot.pose_from_virtual_joints(dict(zip(names, values)))
    np.testing.assert_allclose(back.rotation, m.rotation, atol=1e-9)


def test_numbers_that_would_overflow_are_refused():
    home = pd.load_robot('delta').home
    with pytest.raises(pd.InputError, match='below 1e\\+60'):
        pd.PlatformMotion(home.position, home.rotation, [1e160, 0.0, 0.0])


@pytest.mark.parametrize('angle', [90.0, 89.99999])
def test_efforts_have_parts_where_another_component_moves_it(robot, angle):
    m = turning(math.radians(angle))
    parts = robot.effort_parts(m)
    np.testing.assert_allclose(sum(parts.values()), robot.inverse_dynamics(m), rtol=1e-9)
    moved = parts['platform_inertia'] + parts['leg_inertia']
    np.testing.assert_allclose(moved, 0.7 * INERTIA, rtol=1e-6)


@pytest.mark.parametrize('label', ['delta', 'orthoglide'])
def test_a_pose_is_projected_on_the_assembly_that_home_belongs_to(label):
    """The plate of a Delta that is turned far enough has another place among the same rods."""
    robot = robots.load(label)
    rng = np.random.default_rng(5)
    size = float(robot.engine.packed.system[0]['size'])
    found = 0
    for angle in np.repeat([0.8, 1.3, 1.6], 25):
        axis = rng.normal(size=3)
        turn = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
        shift = 0.25 * size * rng.uniform(-1, 1, 3)
        try:
            m = robot.project(
                pd.PlatformMotion(robot.home.position + shift, turn @ robot.home.rotation)
            )
        except pd.ParallelDynamicsError:
            continue
        found += 1
        np.testing.assert_allclose(m.position, robot.home.position + shift, atol=1e-9)
        np.testing.assert_allclose(m.rotation, robot.home.rotation, atol=1e-7)
        back = robot.forward_kinematics(
            robot.inverse_kinematics(m).position[list(robot.model.actuators)]
        )
        np.testing.assert_allclose(back.position, m.position, atol=1e-7)
    assert found > 50
