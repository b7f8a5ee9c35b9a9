"""The simulator's door: stepping, resetting, time, events, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import robots
from simulated import apart, pushed

import parallel_dynamics as pd
from parallel_dynamics.simulation import (
    ClosureLost,
    Plant,
    SingularityApproached,
    Snapshot,
    Spring,
    StepTooLarge,
)
from parallel_dynamics.simulation.plant import BRAKING


@pytest.fixture(scope='module')
def robot():
    return robots.load('gough_stewart')


@pytest.fixture(scope='module')
def weight(robot):
    return robot.inverse_dynamics(robot.home)


# ---------------------------------------------------------------- stepping


@pytest.mark.parametrize('label', robots.SHIPPED)
def test_home_with_gravity_efforts_stays_home(label):
    robot = robots.load(label)
    sim = pd.Simulator(robot)
    sim.reset(robot.home)
    for _ in range(50):
        state = sim.step(robot.inverse_dynamics(robot.home), 2e-3)
    assert sim.time == pytest.approx(0.1, abs=1e-12)
    assert apart(state, robot.home, robot) < 1e-9
    np.testing.assert_array_equal(state.data, sim.state.data)


@pytest.mark.parametrize('label', robots.ALL)
def test_acceleration_is_the_direct_model(label):
    robot = robots.load(label)
    weight = robot.inverse_dynamics(robot.home)
    sim = pd.Simulator(robot)
    sim.reset(pushed(robot, 0.2))
    wrench = 0.01 * np.abs(weight).max() * np.ones(6)
    state = sim.step(1.01 * weight, 1e-3, wrench=wrench)
    expected = robot.direct_dynamics(state, 1.01 * weight, wrench=wrench)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(state.twist_rate, expected, atol=1e-7 * scale + 1e-9)


@pytest.mark.parametrize('friction', ['none', 'smooth', 'stick'])
@pytest.mark.parametrize('label', ['gough_stewart', 'orthoglide', 'three_rps'])
def test_steps_and_a_run_are_the_same(label, friction):
    robot = robots.load(label)
    rows = robot.inverse_dynamics(robot.home) * np.linspace(1.0, 1.1, 40)[:, None]
    one, other = (pd.Simulator(robot, friction=friction) for _ in range(2))
    one.reset(pushed(robot, 0.3))
    other.reset(pushed(robot, 0.3))
    states = np.array([one.step(row, 2e-3).data for row in rows])
    run = other.run(rows, 2e-3)
    np.testing.assert_allclose(run.motion.data[1:, :18], states[:, :18], rtol=0, atol=1e-9)
    assert run.time[-1] == one.time == pytest.approx(0.08)
    assert other.run(rows, 2e-3, every=20).motion.batch == 3


def test_other_users_of_the_robot_do_not_disturb(robot, weight):
    rows = weight * np.linspace(1.0, 1.1, 20)[:, None]
    alone, disturbed = pd.Simulator(robot), pd.Simulator(robot)
    for row in rows:
        alone.step(row, 1e-3)
        disturbed.step(row, 1e-3)
        robot.inverse_dynamics(robots.random_motion(robot, np.random.default_rng(1)))
        disturbed.measure(), disturbed.energy()
    np.testing.assert_array_equal(alone.state.data, disturbed.state.data)


def test_time_is_counted_not_summed(robot, weight):
    sim = pd.Simulator(robot)
    sim.reset(time=5.0)
    for _ in range(1000):
        sim.step(weight, 1e-3)
    assert sim.time == 6.0
    sim.hold(0.5)
    assert sim.time == 6.5


def test_hold_brakes(robot):
    sim = pd.Simulator(robot)
    sim.reset(pushed(robot))
    where = sim.state.data[:12]
    sim.hold(1.0)
    np.testing.assert_array_equal(sim.state.data[:12], where)
    assert not sim.state.twist.any()
    assert not sim.efforts.any()


# ---------------------------------------------------------------- events


def test_singularity_is_approached_and_said(robot):
    three = robots.load('three_rps')  # revolute drives: singular at 21.8 degrees of roll
    sim = pd.Simulator(three, singularity=100.0)
    with pytest.raises(SingularityApproached, match=r'condition number .* Keep away') as caught:
        sim.run(1.5 * three.inverse_dynamics(three.home), 1e-3, 5000,
                wrench=[0, 0, 0, 60.0, 0, 0])  # fmt: skip
    stopped = caught.value
    assert isinstance(stopped, pd.SingularityError)
    assert stopped.time == sim.time > 0.0
    assert stopped.evidence['condition_number'] > 10.0
    three.inverse_kinematics(sim.state)  # the state that is kept is a good one
    assert len(stopped.run.time) == round(sim.time / 1e-3) + 1
    sim.reset()
    assert sim.time == 0.0
    sim.step(three.inverse_dynamics(three.home), 1e-3)


@pytest.mark.parametrize('step', [1e-3, 1.03e-3, 0.7e-3])
def test_legs_that_end_stop_a_fall_with_step_control(step):
    robot = robots.load('delta')
    sim = pd.Simulator(robot, 'dop853', singularity=np.inf, friction='none')
    before = sim.energy()
    with pytest.raises((ClosureLost, SingularityApproached), match='position') as caught:
        sim.run(np.zeros(3), step, 1000)
    assert caught.value.time == sim.time
    assert sim.energy() == pytest.approx(before, rel=1e-5)  # arms that swing on have it all
    # The kept state is that of arms all but stretched: closed, yet too near for a cold start.
    assert sim.residual < 1e-9
    assert np.isfinite(sim.state.data).all()


def test_a_motion_too_fast_for_its_step_is_said():
    robot = robots.load('delta')
    sim = pd.Simulator(robot, friction='none', singularity=np.inf)
    with pytest.raises(StepTooLarge, match='smaller step'):
        sim.run(np.zeros(3), 1e-3, 1000)  # falls into its stretched arms
    robot.inverse_kinematics(sim.state.replace(twist_rate=np.zeros(6)))


def test_a_leap_out_of_reach_loses_the_closures(robot, weight):
    sim = pd.Simulator(robot, step=0.05)
    with pytest.raises(ClosureLost, match='working mode'):
        sim.run(400.0 * weight, 0.05, 20)
    assert sim.residual < 1e-10


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ('options', 'words'),
    [
        ({'method': 'euler'}, 'one of rk4, dop853, gauss'),
        ({'step': 0.0}, 'step: expected seconds'),
        ({'tolerance': 1.0}, 'tolerance'),
        ({'singularity': 0.5}, 'condition number above 1'),
        ({'friktion': 'none'}, 'expected fields among'),
        ({'friction': 'viscous'}, 'one of none, smooth, stick'),
        ({'limits': 'soft'}, 'one of off, stiff, halt'),
        ({'effort_lag': -1.0}, 'effort_lag: expected a finite number of at least 0'),
        ({'effort_delay': float('nan')}, 'effort_delay'),
        ({'effort_limits': [1.0, 2.0]}, 'one number or 6'),
        ({'effort_noise': -1.0}, 'at least 0'),
        ({'armature': {'leg9': 1.0}}, "got ['leg9']"),
        ({'springs': {'nothing': None}}, "got ['nothing']"),
        ({'position_noise': {'leg9': 1.0}}, "got ['leg9']"),
        ({'position_noise': float('inf')}, 'finite'),
    ],
)
def test_bad_options_are_refused(robot, options, words):
    with pytest.raises(pd.InputError) as caught:
        pd.Simulator(robot, **options)
    assert words in str(caught.value)


@pytest.mark.parametrize('bad', ['x', np.zeros(3), [1.0], {'leg9': 1.0}, pd], ids=str)
@pytest.mark.parametrize('option', [
    'method', 'step', 'tolerance', 'singularity', 'seed', 'friction', 'limits', 'effort_lag',
    'effort_limits', 'effort_noise', 'springs', 'armature', 'payload', 'position_noise'])
def test_options_of_the_wrong_type_are_refused(robot, option, bad):
    with pytest.raises(pd.InputError, match='expected .* got'):
        pd.Simulator(robot, **{option: bad})


def test_bad_calls_are_refused_and_change_nothing(robot, weight):
    sim = pd.Simulator(robot)
    before = sim.save()
    three = robots.load('three_rps')
    two = pd.PlatformMotion(np.tile(robot.home.position, (2, 1)))
    for call in (
        lambda: sim.step(weight[:5], 1e-3),
        lambda: sim.step(np.full(6, np.nan), 1e-3),
        lambda: sim.step(np.full(6, 1e200) * np.inf, 1e-3),
        lambda: sim.step(weight[None], 1e-3),
        lambda: sim.reset(efforts=weight[None]),
        lambda: sim.step(weight, 0.0),
        lambda: sim.step(weight, float('nan')),
        lambda: sim.step(weight, '1 ms'),
        lambda: pd.Simulator('delta'),
        lambda: sim.step(weight, 1e-3, wrench=[0, 0, np.inf, 0, 0, 0]),
        lambda: sim.step(weight, 1e-3, wrench=[0.0]),
        lambda: sim.step(weight, 1e-3, base='level'),
        lambda: sim.run(weight, 1e-3),
        lambda: sim.run(weight, 1e-3, 0),
        lambda: sim.run(weight, 1e-3, 5, between='linear'),
        lambda: sim.run(np.tile(weight, (4, 1)), 1e-3, between='smooth'),
        lambda: sim.run(weight, 1e-3, 2.5),
        lambda: sim.run(weight, 1e-3, 5, every=0),
        lambda: sim.run(np.zeros((0, 6)), 1e-3),
        lambda: sim.run_many(robot.home, weight, 1e-3, 5),
        lambda: sim.run_many('home', weight, 1e-3, 5),
        lambda: sim.run_many(two, weight, 1e-3, 5, every=0),
        lambda: sim.run_many(two, weight, 1e-3, 0),
        lambda: sim.run_many(two, weight, 1e-3, 5.0),
        lambda: sim.run_many(two, 'weight', 1e-3, 5),
        lambda: sim.run_many(two, np.zeros((3, 6)), 1e-3, 5),
        lambda: sim.run_many(two, np.zeros((2, 4, 6)), 1e-3, 5),
        lambda: sim.reset(robot.inverse_kinematics(robot.home)),
        lambda: sim.load(pd.Simulator(three).save()),
        lambda: sim.load('state.json'),
        lambda: sim.reset(time='now'),
        lambda: sim.gravity_efforts('level'),
        lambda: pd.Simulator(robot, springs={'leg1_slide': 3.0}),
        lambda: pd.Simulator(robot, springs={'leg1_slide': Spring(1.0, 'here')}),
    ):
        with pytest.raises(pd.InputError):
            call()
    with pytest.raises(pd.ParallelDynamicsError):
        pd.Simulator(robots.load('delta')).reset(pd.PlatformMotion([9, 9, 9], np.eye(3)))
    with pytest.raises(pd.NotAllowedMotionError):
        pd.Simulator(three).reset(three.home.replace(twist=[1, 0, 0, 0, 0, 0]))
    assert sim.save() == before


@pytest.mark.parametrize('count', [0, 1])
def test_many_runs_of_none_and_of_one(robot, weight, count):
    starts = pd.PlatformMotion(np.tile(robot.home.position, (count, 1)))
    for efforts in (weight, np.tile(weight, (count, 1)), np.tile(weight, (count, 4, 1))):
        many = pd.Simulator(robot).run_many(starts, efforts, 1e-3, 4, every=2)
        assert many.motion.batch == count and many.events == (None,) * count
        assert many.trace.shape == (count, 3, 24) and many.time.shape == (count,)


@pytest.mark.parametrize('text', ['', '[]', '{"format": 7}', '{"format": 1, "robot": "x"}'])
def test_damaged_snapshots_are_refused(tmp_path, text):
    file = tmp_path / 'saved.json'
    file.write_text(text)
    with pytest.raises(pd.InputError, match=r'saved\.json'):
        Snapshot.read(file)
    with pytest.raises(pd.InputError, match=r'missing\.json'):
        Snapshot.read(tmp_path / 'missing.json')


# ---------------------------------------------------------------- behind its drives


def test_plant_holds_brakes_then_commands_then_the_watchdog(robot, weight):
    plant = Plant(pd.Simulator(robot), 1e-3, watchdog=0.01, fallback='zero')
    assert plant.source == 'brakes'
    plant.advance(100)
    assert plant.simulator.time == pytest.approx(0.1)
    np.testing.assert_array_equal(plant.simulator.state.data, robot.home.data)
    plant.command(weight)
    assert plant.advance(10) == 10
    np.testing.assert_array_equal(plant.simulator.efforts, weight)
    assert plant.source == 'watchdog'
    plant.advance(1)
    assert not plant.simulator.efforts.any()
    assert plant.trips == 1
    plant.command(weight)
    plant.advance(1)
    np.testing.assert_array_equal(plant.simulator.efforts, weight)


def test_plant_compensates_gravity_on_a_tilted_base():
    robot = robots.load('delta')
    plant = Plant(pd.Simulator(robot), watchdog=0.01, fallback='gravity', brakes=False)
    turn = np.array([[0.96, 0, 0.28], [0, 1, 0], [-0.28, 0, 0.96]])
    plant.base = pd.BaseMotion(turn)
    plant.advance(200)
    assert apart(plant.simulator.state, robot.home, robot) < 1e-9


@pytest.mark.parametrize('name', ['gough_stewart', 'three_rps', 'delta'])
def test_brakes_of_the_watchdog_bring_a_robot_to_rest(name):
    """Speeds fall by a factor of e in each time constant, and then the robot stays."""
    robot = robots.load(name)
    plant = Plant(pd.Simulator(robot, friction='none'), watchdog=0.1, fallback='brake')
    plant.command(np.zeros(robot.dof))
    plant.advance(100)
    falling = np.abs(plant.simulator.state.twist).max()
    plant.advance(round(1e3 * BRAKING))
    assert np.abs(plant.simulator.state.twist).max() == pytest.approx(falling / np.e, rel=0.1)
    plant.advance(1000)
    rest = plant.simulator.state
    plant.advance(1000)
    assert apart(plant.simulator.state, rest, robot) < 1e-6


def test_plant_turns_a_wrench_with_the_platform(robot):
    plant = Plant(pd.Simulator(robot))
    turn = np.array([[0.96, -0.28, 0], [0.28, 0.96, 0], [0, 0, 1]])
    plant.reset(pd.PlatformMotion(robot.home.position, turn @ robot.home.rotation))
    plant.push([1, 0, 0, 0, 2, 0], on_platform=True)
    np.testing.assert_allclose(plant.wrench[:3], turn @ robot.home.rotation @ [1, 0, 0])
    plant.push([1, 0, 0, 0, 2, 0])
    np.testing.assert_array_equal(plant.wrench, [1, 0, 0, 0, 2, 0])
    plant.push(None)
    assert plant.wrench is None


def test_plant_stops_with_its_event_until_reset(robot):
    plant = Plant(pd.Simulator(robot))
    plant.command(np.zeros(6))
    done = plant.advance(5000)
    assert done < 5000
    assert plant.source == 'stopped'
    assert plant.event.time == plant.simulator.time
    assert plant.advance(10) == 0
    stopped_at = plant.simulator.time
    plant.reset()
    assert plant.simulator.time == stopped_at
    assert plant.source == 'brakes'


def test_plant_goes_on_from_a_snapshot(robot, weight):
    plant = Plant(pd.Simulator(robot))
    plant.command(1.1 * weight)
    plant.advance(20)
    saved = plant.save()
    plant.advance(20)
    end = plant.simulator.state.data
    plant.load(saved)
    plant.advance(20)
    np.testing.assert_array_equal(plant.simulator.state.data, end)
    alone = plant.simulator.save()  # moving, without a command
    plant.load(alone)
    assert plant.source == 'commands'
    fresh = Plant(pd.Simulator(robot))
    fresh.load(pd.Simulator(robot).save())
    assert fresh.source == 'brakes'


def test_plant_refuses(robot, weight):
    simulator = pd.Simulator(robot)
    for options in (
        {'tick': 0.0}, {'tick': 'ms'}, {'watchdog': -1.0}, {'watchdog': None},
        {'fallback': 'hope'}, {'fallback': np.zeros(6)},
    ):  # fmt: skip
        with pytest.raises(pd.InputError):
            Plant(simulator, **options)
    plant = Plant(simulator)
    with pytest.raises(pd.InputError):
        plant.command(weight[:3])
    with pytest.raises(pd.InputError, match=r'wrench: expected shape \(6,\), got \(4, 6\)'):
        plant.push(np.zeros((4, 6)))
    with pytest.raises(pd.InputError, match='refuse_beyond: expected one number or 6'):
        plant.command(weight, refuse_beyond=[1.0, 2.0])
    with pytest.raises(pd.InputError, match='ticks: expected a whole number'):
        plant.advance(2.5)
    with pytest.raises(pd.LimitError, match='leg1_slide'):
        plant.command([1e6, 0, 0, 0, 0, 0], refuse_beyond=5000.0)
    assert plant.source == 'brakes'
