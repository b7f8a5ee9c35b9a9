"""The momentum observer on a simulated robot: what it finds, and how late."""

import numpy as np
import pytest
from robots import load, random_base
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd
from parallel_dynamics.forces import MomentumObserver, StateFilter
from parallel_dynamics.simulation import Simulator

DT = 1e-3
CUTOFF = 20.0
GAIN = 2.0 * np.pi * CUTOFF


def without_coulomb(label):
    """A robot without dry friction, which at rest could hide a push."""
    robot = load(label)
    dry = [name.endswith('/coulomb') for name in robot.parameter_names]
    return robot.with_parameters(np.where(dry, 0.0, robot.parameters))


class Held:
    """A simulated robot that soft drives hold near home, watched by an observer."""

    def __init__(self, label, base=None, **options):
        self.robot = robot = without_coulomb(label)
        self.base = base
        self.sim = Simulator(robot, step=DT / 2)
        self.actuated = list(robot.model.actuators)
        self.start = robot.inverse_kinematics(robot.home).position[self.actuated]
        self.rest = robot.inverse_dynamics(robot.home, None, base)
        inverse = robot.jacobians(robot.home).J_r
        # 2 Hz and well damped, in all directions alike.
        self.mass = inverse.T @ robot.mass_matrix(robot.home) @ inverse
        self.observer = MomentumObserver(robot, CUTOFF, guess=robot.home, **options)
        self.look(np.zeros(robot.dof))

    def look(self, efforts):
        joints = self.robot.inverse_kinematics(self.sim.state)
        self.q, self.qd = (
            v[self.actuated] for v in (joints.position, joints.velocity))
        self.seen = self.observer.update(self.q, self.qd, efforts, DT, self.base)
        return self.seen

    def step(self, wrench):
        w = 2.0 * np.pi * 2.0
        efforts = self.rest - self.mass @ (w * w * (self.q - self.start) + 2.0 * w * self.qd)
        self.sim.step(efforts, DT, wrench, self.base)
        return self.look(efforts)


PUSH = np.array([30.0, -20.0, 25.0, 2.0, 3.0, -1.5])


@pytest.mark.parametrize('label', ['gough_stewart', 'c5', 'hanging_legs'])
@pytest.mark.parametrize('moving', [False, True])
def test_constant_push_on_a_robot_with_six_freedoms(label, moving):
    base = random_base(np.random.default_rng(1)) if moving else None
    held = Held(label, base)
    for _ in range(250):  # ten time constants take 80
        seen = held.step(PUSH)
    assert seen.observable
    np.testing.assert_allclose(seen.wrench, PUSH, atol=2e-4 * np.abs(PUSH).max())
    np.testing.assert_allclose(seen.generalized, seen.wrench, atol=1e-12)
    state = held.sim.state
    np.testing.assert_allclose(seen.motion.position, state.position, atol=1e-9)
    np.testing.assert_allclose(seen.motion.twist, state.twist, atol=1e-7)
    np.testing.assert_allclose(
        seen.motion.twist_rate, state.twist_rate,
        atol=2e-3 * (1.0 + np.abs(state.twist_rate).max()))
    truth = held.robot.joint_forces(state, PUSH, base)
    scale = np.abs(truth.array).max()
    np.testing.assert_allclose(seen.joint_forces().array, truth.array, atol=2e-3 * scale)


@pytest.mark.parametrize('label', ['delta', 'three_rps_prismatic', 'on_a_table', 'orthoglide'])
def test_fewer_freedoms_show_the_part_that_moves_the_platform(label):
    held = Held(label)
    for _ in range(250):
        seen = held.step(PUSH)
    assert not seen.observable
    S = held.robot.jacobians(seen.motion).S
    scale = np.abs(S.T @ PUSH).max()
    np.testing.assert_allclose(seen.generalized, S.T @ PUSH, atol=1e-3 * scale)
    np.testing.assert_allclose(S.T @ seen.wrench, seen.generalized, atol=1e-9 * scale)
    # No smaller wrench, moments over the length, moves the platform alike.
    length = held.robot.engine.packed.system[0]['length']
    weight = 1.0 / np.repeat([1.0, length], 3)
    assert np.linalg.norm(weight * seen.wrench) <= np.linalg.norm(weight * PUSH) * (1.0 + 1e-3)


def test_joint_forces_from_the_estimate_on_a_delta():
    """A push that the actuators see entirely gives all joint forces, not only efforts."""
    held = Held('delta')
    push = np.array([20.0, 10.0, -15.0, 0.0, 0.0, 0.0])
    for _ in range(250):
        seen = held.step(push)
    np.testing.assert_allclose(seen.wrench, push, atol=0.02)
    truth = held.robot.joint_forces(held.sim.state, push)
    scale = np.abs(truth.array).max()
    np.testing.assert_allclose(seen.joint_forces().array, truth.array, atol=2e-3 * scale)


def test_sudden_push_is_seen_as_stated():
    """First-order: 1 - exp(-gain t) of it after a time t, neither more nor less."""
    held = Held('gough_stewart')
    for _ in range(20):
        held.step(None)
    for k in range(1, 60):
        seen = held.step(PUSH)
        share = 1.0 - np.exp(-GAIN * k * DT)
        np.testing.assert_allclose(seen.wrench, share * PUSH, atol=0.01 * np.abs(PUSH).max())


@pytest.mark.parametrize('state_cutoff', [None, 60.0])
def test_growing_push_is_late_by_the_stated_delay(state_cutoff):
    held = Held('gough_stewart', state_cutoff=state_cutoff)
    delay = held.observer.delay
    extra = 0.0 if state_cutoff is None else 2.0 / (2.0 * np.pi * state_cutoff)
    assert delay == pytest.approx(1.0 / GAIN + extra)
    rate = np.array([60.0, -40.0, 50.0, 4.0, 6.0, -3.0])  # N/s, N m/s
    for k in range(300):
        seen = held.step(rate * (k + 0.5) * DT)  # held at the mean of the step
    late = 0.3 - seen.wrench / rate
    np.testing.assert_allclose(late[:3], delay, rtol=0.05)


def test_filtered_positions_on_a_moving_base():
    """Without measured velocities everything is equally late, the base's motion too."""
    robot = without_coulomb('gough_stewart')
    observer = MomentumObserver(robot, CUTOFF, state_cutoff=60.0, guess=robot.home)
    actuated = list(robot.model.actuators)
    w = 2.0 * np.pi * 1.0
    worst = 0.0
    for k in range(700):
        t = k * DT

        def at(time):
            s, c = np.sin(w * time), np.cos(w * time)
            # A ship that rolls about x: the motion of its frame in its own axes.
            roll, rate, growth = 0.2 * s, 0.2 * w * c, -0.2 * w * w * s
            base = pd.BaseMotion(
                Rotation.from_euler('x', roll).as_matrix(), [0.0, 0.0, 0.0], [rate, 0.0, 0.0],
                [0.0, 2.0 * s, 3.0 * c], [growth, 0.0, 0.0])
            lift = np.array([0.0, 0.0, 0.05 * s])
            m = pd.PlatformMotion(
                robot.home.position + lift, robot.home.rotation, [0.0, 0.0, 0.05 * w * c], None,
                [0.0, 0.0, -0.05 * w * w * s])
            return m, base

        m, base = at(t)
        middle = robot.inverse_dynamics(*(lambda mb: (mb[0], PUSH, mb[1]))(at(t - 0.5 * DT)))
        q = robot.inverse_kinematics(m).position[actuated]
        seen = observer.update(q, None, middle, DT, base)
        if k > 200:
            worst = max(worst, float(np.abs(seen.wrench - PUSH).max()))
    weight = 9.81 * sum(body.inertia.mass for body in robot.model.bodies[1:])
    assert worst < 2e-3 * weight
    assert seen.base is not None and seen.base is not base


def test_reset_forgets():
    held = Held('gough_stewart')
    for _ in range(30):
        held.step(PUSH)
    held.observer.reset()
    fresh = held.look(held.rest)
    np.testing.assert_array_equal(fresh.generalized, np.zeros(6))


def test_irregular_sampling_makes_no_difference():
    """A gap of several periods is one longer period, with the mean of the efforts."""
    held = Held('gough_stewart')
    other = MomentumObserver(held.robot, CUTOFF, guess=held.robot.home)
    other.update(held.q, held.qd, held.rest, DT)
    gathered, steps = np.zeros(6), 0
    for k in range(240):
        w = 2.0 * np.pi * 2.0
        gathered += held.rest - held.mass @ (
            w * w * (held.q - held.start) + 2.0 * w * held.qd)
        steps += 1
        held.step(PUSH)
        if k % 7 in (0, 2, 6):
            seen = other.update(held.q, held.qd, gathered / steps, steps * DT)
            gathered, steps = np.zeros(6), 0
    np.testing.assert_allclose(seen.wrench, PUSH, atol=5e-3 * np.abs(PUSH).max())


# ---------------------------------------------------------------- the state filter


def test_state_filter_delays_a_ramp_and_keeps_its_slope():
    smooth = StateFilter(10.0)
    smooth.reset([0.0, 1.0])
    for k in range(1, 600):
        position, velocity = smooth.update([2.0 * k * DT, 1.0 - k * DT], DT)
    t = 599 * DT
    np.testing.assert_allclose(velocity, [2.0, -1.0], rtol=1e-9)
    np.testing.assert_allclose(
        position, [2.0 * (t - smooth.delay), 1.0 - (t - smooth.delay)], rtol=1e-9)


def test_state_filter_started_in_motion_has_no_transient():
    smooth = StateFilter(5.0)
    smooth.reset([0.3], [1.5])
    for k in range(1, 20):
        _, velocity = smooth.update([0.3 + 1.5 * k * DT], DT)
        assert velocity[0] == pytest.approx(1.5, rel=1e-12)


def test_state_filter_halves_the_amplitude_at_its_cutoff():
    smooth, cutoff = StateFilter(8.0), 8.0
    out = [smooth.update([np.sin(2 * np.pi * cutoff * k * 1e-4)], 1e-4)[0][0]
           for k in range(20000)]
    assert max(out[10000:]) == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize(('call', 'said'), [
    (lambda r: MomentumObserver(r, 0.0), 'cutoff: expected a positive number, got 0.0'),
    (lambda r: MomentumObserver(r, np.nan), 'cutoff: expected a positive number, got nan'),
    (lambda r: MomentumObserver(r, 10.0, -1.0), 'cutoff: expected a positive number'),
    (lambda r: MomentumObserver(r, 10.0).update([0.0] * 5, None, [0.0] * 6, DT), 'positions:'),
    (lambda r: MomentumObserver(r, 10.0).update([0.0] * 6, None, [0.0] * 6, DT), 'velocities:'),
    (lambda r: MomentumObserver(r, 10.0).update([0.0] * 6, [0.0] * 6, [np.inf] * 6, DT),
     'efforts: expected finite'),
    (lambda r: MomentumObserver(r, 10.0).update([0.0] * 6, [0.0] * 6, [0.0] * 6, 0.0), 'dt: exp'),
    (lambda r: MomentumObserver(r, 10.0, 20.0).update([0.0] * 6, None, [0.0] * 6, DT, 'ship'),
     'base: expected'),
    (lambda r: StateFilter('fast'), 'cutoff: expected a positive number'),
])  # fmt: skip
def test_arguments_of_the_wrong_kind(call, said):
    with pytest.raises(pd.InputError, match=said):
        call(load('gough_stewart'))
