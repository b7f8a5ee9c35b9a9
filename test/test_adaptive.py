"""Adaptive control: the load is learnt, efforts stay within limits, and nothing learnt is lost."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
import json

import numpy as np
import pytest
from robots import load

import parallel_dynamics as pd
from parallel_dynamics import control, trajectories

LOADS = {'delta': 1.0, 'gough_stewart': 60.0, 'three_rps': 2.0}
STEP = 2e-3


def believed(name):
    return load(name).with_payload(LOADS[name], [0.0, 0.0, 0.02])


def real(name, share=1.5):
    return load(name).with_payload(share * LOADS[name], [0.0, 0.0, 0.02])


def state_of(robot, m):
    joints = robot.inverse_kinematics(m)
    a = list(robot.model.actuators)
    return control.MeasuredState(joints.position[a], joints.velocity[a], m, 1.0)


def desired_of(robot, m):
    joints = robot.inverse_kinematics(m)
    a = list(robot.model.actuators)
    return control.Desired(
        m, joints.position[a], joints.velocity[a], joints.acceleration[a], np.zeros(robot.dof)
    )


def make(name, kind=control.Adaptive, **options):
    robot = believed(name)
    model, gains = control.InverseModel(robot), control.default_gains(robot, 6.0)
    return kind(robot, model, gains, control.Adaptation(**options))


def run(law, plant, seconds):
    """Follow a swing in lock-step; return errors of the actuators and efforts."""
    robot = law.robot
    swing = trajectories.preset(robot, 'swing')
    simulator = pd.Simulator(plant, step=STEP)
    simulator.reset(swing.at(0.0))
    errors, efforts = [], []
    for k in range(int(seconds / STEP)):
        wanted = desired_of(robot, swing.at(k * STEP % swing.duration))
        state = state_of(plant, simulator.state)
        tau = law.efforts(wanted, state, STEP)
        errors.append(wanted.position - state.position)
        efforts.append(tau)
        simulator.step(tau, STEP)
    return np.array(errors), np.array(efforts)


def rms(values):
    return float(np.sqrt(np.mean(values**2)))


@cache
def error_without(name, kind):
    law = make(name, kind, rate=0.0)
    errors, _ = run(law, real(name), 3.0)
    return rms(errors[-500:])


@pytest.mark.parametrize('kind', [control.Adaptive, control.PlatformAdaptive])
@pytest.mark.parametrize('name', LOADS)
def test_a_wrong_load_is_learnt(name, kind):
    law = make(name, kind)
    errors, efforts = run(law, real(name), 6.0)
    assert rms(errors[-500:]) < 0.1 * error_without(name, kind)
    top = [law.robot.model.joints[j].effort_limit for j in law.robot.model.actuators]
    assert (np.abs(efforts) <= top).all()
    mass = law.save()['parameters']['platform/m']
    truth = real(name).model.bodies[1].inertia.mass
    start = law.robot.model.bodies[1].inertia.mass
    assert abs(mass - truth) < 0.2 * abs(start - truth)


# ---------------------------------------------------------------- guards of learning


def one_step(law, error=0.02, step=STEP):
    """A step with a position error at home, at rest."""
    robot = law.robot
    wanted = desired_of(robot, robot.home)
    at = state_of(robot, robot.home)
    off = control.MeasuredState(at.position + error, at.velocity, at.platform, 1.0)
    return law.efforts(wanted, off, step)


def test_without_error_it_is_the_inverse_model():
    for kind in (control.Adaptive, control.PlatformAdaptive):
        law = make('gough_stewart', kind)
        robot = law.robot
        m = trajectories.preset(robot, 'swing').at(1.3)
        efforts = law.efforts(desired_of(robot, m), state_of(robot, m), STEP)
        np.testing.assert_allclose(efforts, robot.inverse_dynamics(m), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(law.parameters, robot.parameters, rtol=1e-9, atol=1e-9)


def test_learning_stays_within_bounds_and_its_rate():
    law = make('delta', rate=1e6, bounds={'platform/m': (1.0, 3.0)}, quickest=2.0)
    before = law.learnt.copy()
    one_step(law)
    assert 0.0 < np.abs(law.learnt - before).max() <= 2.0 * STEP * 2.0 + 1e-12
    for sign in (1.0, -1.0):
        for _ in range(1000):
            one_step(law, 0.01 * sign)
        assert 1.0 <= law.learnt[0] <= 3.0
    assert law.learnt[0] in (1.0, 3.0)


def test_small_errors_are_not_learnt_from():
    law = make('delta', dead_zone=1.0)
    before = law.learnt.copy()
    one_step(law, 1e-3)
    np.testing.assert_array_equal(law.learnt, before)


def test_saturation_freezes_learning_and_cuts_efforts():
    law = make('delta')
    before = law.learnt.copy()
    efforts = one_step(law, 3.0)
    top = np.array([law.robot.model.joints[j].effort_limit for j in law.robot.model.actuators])
    assert law.frozen and (np.abs(efforts) == top).any() and (np.abs(efforts) <= top).all()
    np.testing.assert_array_equal(law.learnt, before)
    one_step(law, 0.01, step=0.0)  # no fresh measurement: nothing to learn from
    np.testing.assert_array_equal(law.learnt, before)


def test_what_was_learnt_is_saved_and_restored():
    law = make('gough_stewart')
    for _ in range(20):
        one_step(law, 0.003)
    saved = json.loads(json.dumps(law.save()))
    other = make('gough_stewart')
    assert np.abs(other.learnt - law.learnt).max() > 0.0
    other.restore(saved)
    np.testing.assert_array_equal(other.learnt, law.learnt)
    other.restore({})
    np.testing.assert_array_equal(other.learnt, law.learnt)
    for wrong in ({'parameters': {'platform/m': 1.0}}, {'parameters': 3}, {'a': 1}):
        with pytest.raises(pd.InputError, match='saved state'):
            other.restore(wrong)
    saved['parameters']['platform/m'] = 1e9
    other.restore(saved)
    assert other.learnt[other.names.index('platform/m')] == other.upper[0]
    assert other.report()['platform/m'] == other.upper[0]


def test_the_loop_offers_it_as_a_mode_and_keeps_what_it_learnt():
    robot = believed('delta')
    loop = control.ControlLoop(robot, 'adaptive')
    law = loop.law
    law.parameters[law._columns[0]] *= 1.2
    learnt = law.learnt.copy()
    loop.set_mode('pd_feedforward')
    loop.set_mode('adaptive')
    np.testing.assert_allclose(loop.law.learnt, learnt)
    saved = loop.save_laws()
    fresh = control.ControlLoop(robot, 'adaptive')
    fresh.restore_laws(saved)
    np.testing.assert_allclose(fresh.law.learnt, learnt)
    assert 'adaptive_platform' in control.LAWS


def test_bad_settings_are_refused():
    for wrong in ({'rate': -1.0}, {'dead_zone': np.nan}, {'bounds': {'nobody/m': (0.0, 1.0)}},
                  {'bounds': {'platform/m': (2.0, 1.0)}}):  # fmt: skip
        with pytest.raises(pd.InputError):
            make('delta', **wrong)


def test_gains_without_damping_are_refused():
    robot = believed('delta')
    gains = replace(control.default_gains(robot), kd=np.zeros((3, 3)))
    with pytest.raises(pd.InputError, match='kd'):
        control.make_law('adaptive', robot, control.InverseModel(robot), gains)
