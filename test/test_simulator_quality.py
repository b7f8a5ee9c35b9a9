"""The simulator's promises: closures, energy, order, and motions followed, for every robot."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import robots
from simulated import apart, pushed, size, springs

import parallel_dynamics as pd
from parallel_dynamics import trajectories
from parallel_dynamics.simulation import SimulationStopped, Snapshot
from parallel_dynamics.simulation.physics import joint_masses

STRANGE = [label for label in robots.ALL if label not in robots.SHIPPED]


@cache
def reference(label, seconds):
    """Where a conservative motion ends, by a tolerance far below every error judged here."""
    robot = robots.load(label)
    exact = pd.Simulator(
        robot, 'dop853', 5e-3, tolerance=1e-13, friction='none', springs=springs(robot)
    )
    exact.reset(pushed(robot))
    return exact.run(np.zeros(robot.dof), 5e-3, round(seconds / 5e-3)).motion[-1]


# ---------------------------------------------------------------- closures and energy


@pytest.mark.parametrize('label', robots.SHIPPED)
def test_a_minute_keeps_closures_and_energy(label):
    robot = robots.load(label)
    sim = pd.Simulator(robot, friction='none', springs=springs(robot))
    start = pushed(robot, 0.5)
    sim.reset(start)
    total, moving = sim.energy(), robot.kinetic_energy(start)
    run = sim.run(np.zeros(robot.dof), 1e-3, 60_000, every=500)
    assert sim.time == pytest.approx(60.0, abs=1e-9)
    assert run.residual < 1e-10
    # Against the energy of the motion alone, which is harder than against the whole.
    assert abs(sim.energy() - total) < 1e-6 * moving
    reach = np.ptp(run.motion.position, axis=0).max() / size(robot)
    turn = np.ptp(run.motion.rotation, axis=0).max()
    assert max(reach, turn) > 0.03  # it did move
    # No state along the way is off the closures when solved afresh, from home.
    robot.inverse_kinematics(run.motion)


@pytest.mark.parametrize('label', STRANGE)
def test_strange_robots_keep_closures_and_energy(label):
    robot = robots.load(label)
    sim = pd.Simulator(robot, friction='none', springs=springs(robot, 4.0))
    start = pushed(robot, 0.2)
    sim.reset(start)
    total, moving = sim.energy(), robot.kinetic_energy(start)
    run = sim.run(np.zeros(robot.dof), 1e-3, 1000, every=100)
    assert run.residual < 1e-10
    assert abs(sim.energy() - total) < 1e-6 * moving


@pytest.mark.parametrize('label', ['gough_stewart', 'delta', 'three_rps'])
def test_gauss_has_no_drift_of_energy(label):
    robot = robots.load(label)
    sim = pd.Simulator(robot, 'gauss', 5e-3, friction='none', springs=springs(robot))
    start = pushed(robot, 0.5)
    sim.reset(start)
    total, moving = sim.energy(), robot.kinetic_energy(start)
    errors = []
    for _ in range(10):
        sim.run(np.zeros(robot.dof), 5e-3, 100)
        errors.append(abs(sim.energy() - total) / moving)
    # The error swings with the motion; over time it does not grow.
    assert max(errors[5:]) < 2.0 * max(errors[:5])
    assert max(errors) < 1e-3


@pytest.mark.parametrize('label', ['space', 'orthoglide'])
def test_power_of_efforts_wrench_and_friction_is_the_change_of_energy(label):
    robot = robots.load(label)
    weight = robot.inverse_dynamics(robot.home)
    wrench = 0.02 * np.abs(weight).max() * np.array([1, -1, 0.5, 0.1, 0.1, -0.1])
    sim = pd.Simulator(robot)
    sim.reset(pushed(robot, 0.3))
    run = sim.run(weight, 1e-3, 200, wrench=wrench)
    columns = [robot.joints.index(a) for a in robot.actuators]
    joints = run.joints.velocity
    friction = np.array([j.friction for j in robot.model.joints])
    damping = np.array([j.damping for j in robot.model.joints])
    lost = damping * joints**2 + friction * np.minimum(1.0, np.abs(joints) / 1e-4) * np.abs(joints)
    power = joints[:, columns] @ weight + run.motion.twist @ wrench - lost.sum(axis=1)
    work = 1e-3 * (power.sum() - 0.5 * (power[0] + power[-1]))
    assert run.energy[-1] - run.energy[0] == pytest.approx(work, rel=2e-3)


# ---------------------------------------------------------------- order


@pytest.mark.parametrize('method', ['rk4', 'gauss'])
@pytest.mark.parametrize('label', robots.SHIPPED)
def test_methods_have_order_four(label, method):
    robot = robots.load(label)
    exact, errors = reference(label, 0.2), []
    for step in (5e-3, 2.5e-3, 1.25e-3):
        sim = pd.Simulator(robot, method, step, friction='none', springs=springs(robot))
        sim.reset(pushed(robot))
        sim.run(np.zeros(robot.dof), step, round(0.2 / step))
        errors.append(apart(sim.state, exact, robot))
    order = np.log2(errors[-2] / errors[-1])
    assert 3.6 < order < 4.4, errors


@pytest.mark.parametrize('label', robots.SHIPPED)
def test_dop853_keeps_its_tolerance_and_has_order_eight(label):
    robot = robots.load(label)
    exact, errors, taken = reference(label, 0.5), [], []
    for tolerance in (1e-6, 1e-9):
        sim = pd.Simulator(
            robot, 'dop853', 0.5, tolerance, friction='none', springs=springs(robot)
        )
        sim.reset(pushed(robot))
        sim.step(np.zeros(robot.dof), 0.5)
        errors.append(apart(sim.state, exact, robot))
        taken.append(sim.substeps)
    assert errors[0] < 1e-4
    assert errors[1] < 1e-8
    # A method of order p takes 10^(3/p) times as many steps for a thousandth of the error: 2.4.
    assert 1.4 < taken[1] / taken[0] < 3.2, taken


# ---------------------------------------------------------------- following a motion


def way(robot):
    """A displacement from home in every component that the robot has."""
    free = trajectories.presets.free_components(robot)
    return free * np.array([*(size(robot) * np.array([0.09, -0.06, 0.07])), 0.06, 0.07, -0.06])


def away(robot, duration):
    """A move by it, from rest to rest."""
    end = trajectories.displaced(robot.home, way(robot))
    return trajectories.on_closures(robot, trajectories.move(robot.home, end, duration))


def follow(robot, motion, efforts, dt, **physics):
    """Simulate efforts at every half tick; return how far it gets from the motion."""
    sim = pd.Simulator(robot, **physics)
    sim.reset(motion[0])
    run = sim.run(efforts, dt, between='smooth')
    return max(apart(run.motion[k], motion[2 * k], robot) for k in range(0, len(run.time), 10))


@pytest.mark.parametrize('label', robots.SHIPPED)
def test_open_loop_follows_the_inverse_model_from_rest_to_rest(label):
    robot = robots.load(label)
    motion = away(robot, 0.5).sample(np.linspace(0.0, 0.5, 1001))
    # Friction that sets in would be a kink between two samples of the efforts.
    efforts = robot.inverse_dynamics(motion) - robot.effort_parts(motion)['friction']
    assert follow(robot, motion, efforts, 1e-3, friction='none') < 1e-6


@pytest.mark.parametrize('label', robots.SHIPPED)
def test_open_loop_follows_the_inverse_model_with_friction(label):
    robot = robots.load(label)
    motion = away(robot, 1.0).sample(np.linspace(0.25, 0.75, 1001))
    assert follow(robot, motion, robot.inverse_dynamics(motion), 1e-3) < 1e-6


@pytest.mark.parametrize('label', robots.SHIPPED)
def test_small_gains_follow_indefinitely(label):
    robot = robots.load(label)
    dt, count, rounds = 2e-3, 250, 10
    swing = trajectories.versine(robot.home, 0.5 * way(robot), count * dt)
    motion = trajectories.on_closures(robot, swing).sample(0.5 * dt * np.arange(2 * count + 1))
    efforts = robot.inverse_dynamics(motion)[1::2]  # held over the tick: its value half-way
    wanted = robot.inverse_kinematics(motion[::2])
    columns = [robot.joints.index(a) for a in robot.actuators]
    masses = joint_masses(robot)[columns]
    sim = pd.Simulator(robot)
    sim.reset(motion[0])
    worst = []
    for _ in range(rounds):
        far = 0.0
        for k in range(count):
            seen = sim.measure()
            error = wanted.position[k, columns] - seen.position[columns]
            rate = wanted.velocity[k, columns] - seen.velocity[columns]
            sim.step(efforts[k] + masses * (400.0 * error + 40.0 * rate), dt)
            if k % 25 == 0:
                far = max(far, apart(sim.state, motion[2 * k + 2], robot))
        worst.append(far)
    assert max(worst) < 5e-4
    assert max(worst[2:]) < 1.01 * max(worst[1:3])  # no round is worse than the first ones


# ---------------------------------------------------------------- same again


@pytest.mark.parametrize('method', ['rk4', 'dop853', 'gauss'])
@pytest.mark.parametrize('label', robots.SHIPPED)
def test_same_seed_same_bits_and_a_snapshot_goes_on(label, method, tmp_path):
    robot = robots.load(label)
    options = {
        'effort_noise': 0.01, 'position_noise': 1e-5, 'velocity_noise': 1e-4,
        'effort_lag': 2e-3, 'effort_delay': 3e-3, 'friction': 'stick',
    }  # fmt: skip
    weight = robot.inverse_dynamics(robot.home)
    commands = weight * (1 + 0.02 * np.random.default_rng(2).normal(size=(40, robot.dof)))

    def go_on(sim, rows):
        out = []
        for row in rows:
            sim.step(row, 1e-3)
            seen = sim.measure()
            out.append(np.concatenate([sim.state.data, seen.position, seen.velocity]))
        return np.array(out)

    first = pd.Simulator(robot, method, seed=4, **options)
    whole = go_on(first, commands[:20])
    snapshot = first.save()
    whole = np.vstack([whole, go_on(first, commands[20:])])
    again = pd.Simulator(robot, method, seed=4, **options)
    np.testing.assert_array_equal(go_on(again, commands[:20]), whole[:20])
    snapshot.write(tmp_path / 'saved.json')
    other = pd.Simulator(robot, method, seed=99, **options)
    other.load(Snapshot.read(tmp_path / 'saved.json'))
    assert other.time == pytest.approx(0.02, abs=1e-12)
    np.testing.assert_array_equal(go_on(other, commands[20:]), whole[20:])
    different = pd.Simulator(robot, method, seed=5, **options)
    assert (go_on(different, commands[:20]) != whole[:20]).any()


@pytest.mark.parametrize('label', robots.SHIPPED)
def test_many_runs_are_the_single_ones(label):
    robot = robots.load(label)
    weight = robot.inverse_dynamics(robot.home)
    starts = pd.PlatformMotion._wrap(
        np.array([pushed(robot, 0.3, seed).data for seed in range(140)])
    )
    rng = np.random.default_rng(0)
    efforts = weight * (1 + 0.05 * rng.normal(size=(140, 20, robot.dof)))
    sim = pd.Simulator(robot, friction='none')
    before = sim.save()
    many = sim.run_many(starts, efforts, 1e-3, 20, every=10)
    assert sim.save() == before
    assert many.events == (None,) * 140
    assert many.trace.shape == (140, 3, 24)
    for k in (0, 77, 139):
        sim.reset(starts[k])
        run = sim.run(efforts[k], 1e-3)
        np.testing.assert_allclose(many.motion.data[k], run.motion.data[-1], rtol=0, atol=1e-9)
        np.testing.assert_allclose(many.trace[k, 1], run.motion.data[10], rtol=0, atol=1e-9)


def test_stopped_runs_do_not_stop_the_others():
    robot = robots.load('gough_stewart')
    starts = pd.PlatformMotion._wrap(np.tile(robot.home.data, (3, 1)))
    weight = robot.inverse_dynamics(robot.home)
    efforts = np.array([weight, 0.0 * weight, weight])
    many = pd.Simulator(robot).run_many(starts, efforts, 1e-3, 3000)
    assert many.events[0] is None
    assert many.events[1] is not None
    np.testing.assert_allclose(many.time[[0, 2]], 3.0)
    assert many.time[1] < 3.0
    np.testing.assert_array_equal(many.motion.data[0], many.motion.data[2])
    sim = pd.Simulator(robot)
    with pytest.raises(SimulationStopped) as caught:
        sim.run(efforts[1], 1e-3, 3000)
    assert caught.value.event == many.events[1]
    assert caught.value.time == pytest.approx(many.time[1])


# ---------------------------------------------------------------- code written for the robot


@pytest.mark.parametrize('method', ['rk4', 'gauss', 'dop853'])
@pytest.mark.parametrize('friction', ['none', 'smooth', 'stick'])
def test_steps_by_code_written_for_the_robot_are_those_of_the_kernels(method, friction):
    """Stages of a step are evaluated by it where there is such code; nothing else may change."""
    robot = robots.load('irregular_stewart')
    rng = np.random.default_rng(3)
    efforts = robot.inverse_dynamics(robot.home) + 5.0 * rng.normal(size=(200, 6))
    base = pd.BaseMotion(np.eye(3), [0.1, 0, 0], [0, 0.2, 0.1], [0.3, 0, 0.5], [0.1, 0, 0.2])
    wrench = rng.normal(size=6)
    ends = []
    for code in (True, False):
        sim = pd.Simulator(robot, method, friction=friction, springs=springs(robot, 0.1))
        assert all(order.any() for order, _ in sim._orders)  # for a base at rest and a moving one
        if not code:
            sim._orders = [(np.zeros_like(order), kept) for order, kept in sim._orders]
        sim.reset(pushed(robot, 0.2))
        sim.run(efforts[:100], 1e-3, wrench=wrench)
        sim.run(efforts[100:], 1e-3, base=base)
        ends.append(sim.state.data)
    # A reversal in smooth friction is followed to a tolerance, and where it ends may differ.
    atol = 1e-7 if friction == 'smooth' else 1e-9
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=atol)
    assert not np.array_equal(ends[0], ends[1])  # it was not the same code twice


def test_stops_and_fewer_freedoms_do_without_such_code():
    for sim in (
        pd.Simulator(robots.load('delta')),
        pd.Simulator(robots.load('gough_stewart'), limits='stiff'),
    ):
        assert not any(order.any() for order, _ in sim._orders)
