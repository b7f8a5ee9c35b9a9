"""The physics around the robot, against what can be worked out by hand on a slider of 2 kg."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots
from scipy.spatial.transform import Rotation
from simulated import apart, pushed
from tiny_robots import Tiny

import parallel_dynamics as pd
from parallel_dynamics.simulation import LimitReached, Payload, Spring

MASS = 2.0  # kg: slide and platform
FRICTION = 3.0  # N


@pytest.fixture(scope='module')
def slider(tmp_path_factory):
    """Return a slider along x: one freedom, mass 2 kg, nothing else."""
    tiny = Tiny(coordinates='x')
    tiny.body('slide', 'prismatic', 'base', '1 0 0')
    tiny.close('weld', 'weld', ('slide_link', '0 0 0'), ('platform', '0 0 0'))
    tiny.actuators = ['slide']
    return pd.load_robot(tiny.write(tmp_path_factory.mktemp('slider')))


def changed(robot, **fields):
    """Return the robot with other numbers in all of its joints."""
    joints = tuple(replace(joint, **fields) for joint in robot.model.joints)
    return pd.Robot(replace(robot.model, joints=joints), robot.mobility)


def moving(speed):
    return pd.PlatformMotion([0, 0, 0], velocity=[speed, 0, 0], rotation=np.eye(3))


def x(sim):
    return float(sim.state.position[0])


def v(sim):
    return float(sim.state.velocity[0])


# ---------------------------------------------------------------- friction


@pytest.mark.parametrize('method', ['rk4', 'dop853', 'gauss'])
@pytest.mark.parametrize('effort', [0.0, 2.9, -2.999999])
def test_stick_holds_below_breakaway_exactly(slider, method, effort):
    sim = pd.Simulator(changed(slider, friction=FRICTION), method, friction='stick')
    for _ in range(50):
        sim.step([effort], 2e-3)
    assert x(sim) == 0.0
    assert v(sim) == 0.0
    assert abs(sim.state.acceleration[0]) < 1e-12
    assert sim.friction_efforts[0] == pytest.approx(effort)


def test_stick_breaks_away_above(slider):
    sim = pd.Simulator(changed(slider, friction=FRICTION), friction='stick')
    for _ in range(100):
        sim.step([5.0], 1e-3)
    a = (5.0 - FRICTION) / MASS
    assert v(sim) == pytest.approx(0.1 * a, rel=1e-12)
    assert x(sim) == pytest.approx(0.5 * a * 0.1**2, rel=1e-12)


@pytest.mark.parametrize('friction', ['stick', 'smooth'])
def test_sliding_slows_down_as_the_formula_says_and_stops(slider, friction):
    sim = pd.Simulator(changed(slider, friction=FRICTION), friction=friction)
    start = 0.6
    sim.reset(moving(start))
    a = FRICTION / MASS
    for _ in range(200):
        sim.step([0.0], 1e-3)
    assert v(sim) == pytest.approx(start - 0.2 * a, rel=1e-12)
    assert x(sim) == pytest.approx(start * 0.2 - 0.5 * a * 0.2**2, rel=1e-12)
    for _ in range(300):
        sim.step([0.0], 1e-3)
    way = start**2 / (2.0 * a)
    assert x(sim) == pytest.approx(way, abs=1e-6)
    assert abs(v(sim)) < 1e-12
    if friction == 'stick':
        assert v(sim) == 0.0
        still = x(sim)
        sim.step([0.0], 1.0)
        assert x(sim) == still


def test_damping_decays_as_an_exponential(slider):
    sim = pd.Simulator(changed(slider, damping=4.0))
    sim.reset(moving(1.0))
    sim.run([0.0], 1e-3, 500)
    assert v(sim) == pytest.approx(np.exp(-0.5 * 4.0 / MASS), rel=1e-10)
    free = pd.Simulator(changed(slider, damping=4.0, friction=FRICTION), friction='none')
    free.reset(moving(1.0))
    free.run([0.0], 1e-3, 500)
    assert v(free) == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize('label', robots.SHIPPED)
def test_robots_stand_still_on_stick_friction(label):
    robot = robots.load(label)
    joints = tuple(
        replace(j, friction=5.0 if k in robot.model.actuators else 0.0)
        for k, j in enumerate(robot.model.joints)
    )
    robot = pd.Robot(replace(robot.model, joints=joints), robot.mobility)
    weight = robot.inverse_dynamics(robot.home)
    push = np.resize([4.0, -4.9, 3.0], robot.dof)
    sim = pd.Simulator(robot, friction='stick')
    for _ in range(100):
        sim.step(weight + push, 1e-3)
    assert np.abs(sim.state.twist).max() < 1e-12
    assert apart(sim.state, robot.home, robot) < 1e-11
    columns = list(robot.model.actuators)
    np.testing.assert_allclose(sim.friction_efforts[columns], push, rtol=1e-6, atol=1e-6)
    for _ in range(20):
        sim.step(weight + 3.0 * push, 1e-3)
    assert np.abs(sim.state.twist).max() > 1e-5


@pytest.mark.parametrize('friction', ['stick', 'smooth'])
def test_friction_never_adds_energy(friction):
    robot = robots.load('gough_stewart')
    sim = pd.Simulator(robot, friction=friction)
    sim.reset(pushed(robot, 0.1))
    weight = robot.inverse_dynamics(robot.home)
    columns = list(robot.model.actuators)

    def energy():  # with the work that constant efforts can do as a potential
        q = robot.inverse_kinematics(sim.state.replace(twist_rate=np.zeros(6))).position
        return sim.energy() - float(weight @ q[columns])

    before = energy()
    for _ in range(60):
        sim.step(weight, 2e-3)
        now = energy()
        assert now < before + 1e-9 * abs(before)
        before = now


# ---------------------------------------------------------------- drives


def test_effort_lag_is_of_first_order(slider):
    lag = 0.02
    sim = pd.Simulator(slider, effort_lag=lag)
    for k in range(1, 51):
        sim.step([4.0], 1e-3)
        t = 1e-3 * k
        assert sim.efforts[0] == pytest.approx(4.0 * (1.0 - np.exp(-t / lag)), rel=1e-12)
        gained = 4.0 / MASS * (t - lag * (1.0 - np.exp(-t / lag)))
        assert v(sim) == pytest.approx(gained, rel=1e-6)


@pytest.mark.parametrize('tick', [1e-3, 3e-3])
def test_transport_delay_shifts_the_commands(slider, tick):
    delay = 9e-3
    sim = pd.Simulator(slider, effort_delay=delay)
    exerted = []
    for k in range(20):
        sim.step([1.0 + k], tick)
        exerted.append(sim.efforts[0])
    late = round(delay / tick)
    expected = [0.0] * late + [1.0 + k for k in range(20 - late)]
    assert exerted == expected
    assert v(sim) == pytest.approx(tick * sum(expected) / MASS, rel=1e-12)


def test_effort_limits_of_the_description_or_given(slider):
    by_urdf = pd.Simulator(slider, effort_limits=True)  # 9 N
    by_urdf.step([50.0], 1e-3)
    assert by_urdf.efforts[0] == 9.0
    assert by_urdf.clamped == 1
    given = pd.Simulator(slider, effort_limits=[2.0])
    given.run([-50.0], 1e-3, 10)
    assert v(given) == pytest.approx(-0.01 * 2.0 / MASS)
    free = pd.Simulator(slider)
    free.step([50.0], 1e-3)
    assert free.efforts[0] == 50.0


def test_effort_noise_is_white_and_new_each_step(slider):
    sim = pd.Simulator(slider, effort_noise=0.5, seed=3)
    seen = np.array([(sim.step([1.0], 1e-3), sim.efforts[0])[1] for _ in range(2000)])
    assert seen.mean() == pytest.approx(1.0, abs=4 * 0.5 / 2000**0.5)
    assert seen.std() == pytest.approx(0.5, rel=0.08)
    assert abs(np.corrcoef(seen[1:], seen[:-1])[0, 1]) < 0.1
    # What is reported is what acts.
    assert v(sim) == pytest.approx(1e-3 * seen.sum() / MASS, rel=1e-9)


def test_armature_and_payload_add_inertia_and_weight(slider):
    heavy = pd.Simulator(slider, armature={'slide': 3.0}, payload=Payload(1.0))
    heavy.step([6.0], 1e-3)
    assert heavy.state.acceleration[0] == pytest.approx(6.0 / (MASS + 3.0 + 1.0), rel=1e-12)
    robot = robots.load('delta')
    load = Payload(0.5, (0.02, 0.0, -0.03), np.diag([1e-3, 1e-3, 1e-3]))
    sim = pd.Simulator(robot, payload=load)
    carried = robot.with_payload(load.mass, load.com, load.inertia)
    assert sim.gravity_efforts() == pytest.approx(carried.inverse_dynamics(robot.home))
    for _ in range(100):
        sim.step(sim.gravity_efforts(), 1e-3)
    assert apart(sim.state, robot.home, robot) < 1e-9


def test_spring_swings_at_its_frequency(slider):
    stiffness = MASS * (2.0 * np.pi) ** 2  # 1 Hz
    sim = pd.Simulator(slider, springs={'slide': Spring(stiffness, 0.1, 0.0)})
    sim.run([0.0], 1e-3, 500)
    assert x(sim) == pytest.approx(0.2, abs=1e-9)
    sim.run([0.0], 1e-3, 500)
    assert x(sim) == pytest.approx(0.0, abs=1e-9)


# ---------------------------------------------------------------- limits


def test_halt_stops_at_a_limit_and_keeps_the_state(slider):
    sim = pd.Simulator(changed(slider, lower=-0.1, upper=0.05), limits='halt')
    sim.reset(moving(1.0))
    with pytest.raises(LimitReached, match=r'slide leaves \[-0.1, 0.05\]') as caught:
        sim.run([0.0], 1e-3, 1000)
    assert 0.049 <= x(sim) <= 0.05
    assert v(sim) == 1.0
    assert caught.value.time == sim.time == pytest.approx(0.05, abs=1.1e-3)
    assert len(caught.value.run.time) == pytest.approx(50, abs=1)
    with pytest.raises(pd.InputError, match='slide would start at'):
        sim.reset(pd.PlatformMotion([0.2, 0, 0], np.eye(3)))


def test_stiff_stops_push_back_and_take_energy(slider):
    robot = changed(slider, lower=-0.1, upper=0.05)
    sim = pd.Simulator(robot, limits='stiff', stop_time=0.01, stop_damping=0.0)
    sim.reset(moving(1.0))
    run = sim.run([0.0], 1e-3, 2000)
    deep = 1.0 * 0.01  # speed over the stop's natural frequency
    assert run.motion.position[:, 0].max() == pytest.approx(0.05 + deep, rel=2e-2)
    assert run.motion.position[:, 0].min() == pytest.approx(-0.1 - deep, rel=2e-2)
    assert np.abs(run.motion.velocity[:, 0]).max() < 1.01
    damped = pd.Simulator(robot, limits='stiff')
    damped.reset(moving(1.0))
    run = damped.run([2.0], 1e-3, 3000)
    # Rests in the stop, as deep as the effort presses it.
    assert abs(v(damped)) < 1e-6
    assert x(damped) == pytest.approx(0.05 + 2.0 * 4e-3**2 / MASS, abs=1e-7)
    assert (np.diff(run.energy[-500:]) < 1e-9).all()


@pytest.mark.parametrize('label', ['gough_stewart', 'delta'])
def test_a_robot_without_efforts_comes_to_rest_on_its_stops(label):
    robot = robots.load(label)
    home = robot.inverse_kinematics(robot.home).position
    joints = tuple(
        replace(j, lower=home[k] - 0.05, upper=home[k] + 0.05)
        if k in robot.model.actuators
        else replace(j, lower=-np.inf, upper=np.inf)
        for k, j in enumerate(robot.model.joints)
    )
    robot = pd.Robot(replace(robot.model, joints=joints), robot.mobility)
    sim = pd.Simulator(robot, limits='stiff', friction='none')
    run = sim.run(np.zeros(robot.dof), 1e-3, 3000)
    assert np.abs(sim.state.twist).max() < 1e-3
    depth = np.abs(run.joints.position[-1] - home)[list(robot.model.actuators)]
    assert (depth < 0.06).all()
    assert depth.max() > 0.05


# ---------------------------------------------------------------- sensors


def test_measurements_are_noisy_and_quantised(slider):
    exact = pd.Simulator(slider)
    exact.reset(pd.PlatformMotion([0.123456, 0, 0], np.eye(3), [0.5, 0, 0]))
    seen = exact.measure()
    assert seen.position[0] == pytest.approx(0.123456, abs=1e-12)
    assert seen.velocity[0] == pytest.approx(0.5, abs=1e-12)
    coarse = pd.Simulator(slider, encoder_resolution={'slide': 1e-3})
    coarse.reset(exact.state)
    assert coarse.measure().position[0] == pytest.approx(0.123, abs=1e-12)
    assert x(coarse) == pytest.approx(0.123456)  # the state itself is exact
    noisy = pd.Simulator(slider, position_noise=1e-3, velocity_noise=0.1)
    noisy.reset(exact.state)
    rows = [noisy.measure() for _ in range(1000)]
    position = np.array([m.position[0] for m in rows])
    velocity = np.array([m.velocity[0] for m in rows])
    assert position.mean() == pytest.approx(0.123456, abs=2e-4)
    assert position.std() == pytest.approx(1e-3, rel=0.1)
    assert velocity.std() == pytest.approx(0.1, rel=0.1)


# ---------------------------------------------------------------- wrench and base


def test_external_wrench_pushes(slider):
    sim = pd.Simulator(slider)
    sim.step([0.0], 0.1, wrench=[4.0, 0, 0, 0, 0, 0])
    assert v(sim) == pytest.approx(0.1 * 4.0 / MASS)
    sim.step([0.0], 0.1)
    assert v(sim) == pytest.approx(0.1 * 4.0 / MASS)


def test_base_motion_is_held_over_a_step(slider):
    tilt = pd.BaseMotion(Rotation.from_euler('y', 30, degrees=True).as_matrix())
    sim = pd.Simulator(slider)
    sim.step([0.0], 0.1, base=tilt)  # x points down by 30 degrees
    assert v(sim) == pytest.approx(0.1 * 9.81 * 0.5, rel=1e-9)
    shaken = pd.Simulator(slider)
    shaken.step([0.0], 0.1, base=pd.BaseMotion(acceleration=[2.0, 0, 0]))
    assert v(shaken) == pytest.approx(-0.2, rel=1e-9)
    spun = pd.Simulator(slider)
    spun.reset(pd.PlatformMotion([0.1, 0, 0], np.eye(3)))
    spun.run([0.0], 1e-3, 500, base=pd.BaseMotion(angular_velocity=[0, 0, 2.0]))
    assert x(spun) == pytest.approx(0.1 * np.cosh(1.0), rel=1e-10)


@pytest.mark.parametrize('label', robots.SHIPPED)
def test_base_motion_is_cancelled_by_the_inverse_model(label):
    robot = robots.load(label)
    turn = Rotation.from_euler('xyz', [0.2, -0.1, 0.3]).as_matrix()
    sim = pd.Simulator(robot)
    for k in range(50):
        base = pd.BaseMotion(
            turn, [0.1, 0, 0], [0.3, 0.2 * k / 50, -0.1], [1.0, -2.0, 0.5], [0.5, 1.0, -2.0]
        )
        efforts = robot.inverse_dynamics(robot.home, base=base)
        sim.step(efforts, 1e-3, base=base)
        sim.step(robot.inverse_dynamics(robot.home), 1e-3)  # and a base at rest in between
    assert apart(sim.state, robot.home, robot) < 1e-9
