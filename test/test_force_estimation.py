"""Joint forces from samples of the drives: both ways, their delay, gaps, and the peak-hold."""

from __future__ import annotations

import numpy as np
import pytest
from robots import SHIPPED

import parallel_dynamics as pd
from parallel_dynamics.forces.estimation import (
    KNOWN,
    OBSERVER,
    ForceEstimator,
    platform_acceleration,
)
from parallel_dynamics.forces.peaks import PeakHold
from parallel_dynamics.trajectories import preset

STEP = 1e-3
ROBOTS = ['gough_stewart', 'orthoglide', 'three_rps']


def samples(robot, kind='swing', duration=2.0, **options):
    """Return times, motions of a trajectory, and the motions of the joints."""
    trajectory = preset(robot, kind, duration=duration, **options)
    t = np.arange(0.0, duration, STEP)
    m = trajectory.sample(t)
    return t, m, robot.inverse_kinematics(m)


@pytest.fixture(scope='module')
def loaded():
    made = {}

    def load(name):
        if name not in made:
            made[name] = pd.load_robot(name)
        return made[name]

    return load


@pytest.mark.parametrize('name', SHIPPED)
def test_acceleration_of_the_platform_from_that_of_the_actuators(loaded, name):
    robot = loaded(name)
    _, m, joints = samples(robot)
    for k in (300, 900, 1500):
        a = joints.acceleration[k, list(robot.model.actuators)]
        found = platform_acceleration(robot, m[k], a)
        np.testing.assert_allclose(found, m[k].twist_rate, atol=1e-8 * (1 + np.abs(a).max()))


def without_coulomb(robot):
    """Return the robot without dry friction, whose forces have no jumps."""
    dry = [name.endswith('/coulomb') for name in robot.parameter_names]
    return robot.with_parameters(np.where(dry, 0.0, robot.parameters))


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('way', [OBSERVER, KNOWN])
@pytest.mark.parametrize('measured', [True, False])
def test_forces_are_those_of_the_motion_a_delay_ago(loaded, name, way, measured):
    """A push of constant size, a smooth motion: estimate and truth agree up to the delay."""
    robot = without_coulomb(loaded(name))
    t, m, joints = samples(robot, duration=1.5)
    a = list(robot.model.actuators)
    push = np.zeros(6)
    free = list(robot.engine.independent)
    push[free] = np.where(np.array(free) < 3, 20.0, 2.0)
    efforts = robot.inverse_dynamics(m, np.tile(push, (len(t), 1)))
    truth = robot.joint_forces(m, np.tile(push, (len(t), 1)))
    estimator = ForceEstimator(robot, way == OBSERVER, 40.0, 40.0)
    found = []
    for k in range(len(t)):
        qd = joints.velocity[k, a] if measured else None
        middle = efforts[max(k - 1, 0) : k + 1].mean(axis=0)
        gamma = middle if way == OBSERVER else None
        known = push if way == KNOWN else None
        found.append(estimator.update(t[k], joints.position[k, a], qd, gamma, known))
    assert found[-1].way == way
    moving = slice(500, 1300)
    estimated = np.array([f.joint_forces.array for f in found])[moving]
    # With measured velocities the observer delays a changing wrench only, and this one is steady;
    # efforts are the mean of the last step, hence half a step late.
    late = 0.5 * STEP if way == OBSERVER and measured else 2.0 / (2.0 * np.pi * 40.0)
    flat = truth.array.reshape(len(t), -1)
    wanted = np.array([np.interp(t[moving] - late, t, column) for column in flat.T]).T
    error = np.abs(estimated - wanted.reshape(estimated.shape))
    error[~np.asarray(truth.determinate_array)[moving]] = 0.0
    assert error.max() < (0.005 if late < STEP else 0.02) * np.abs(truth.array).max()
    np.testing.assert_allclose(
        np.array([f.wrench for f in found])[-1] @ push / (push @ push), 1.0, atol=0.05
    )


def test_a_step_of_the_wrench_is_seen_a_delay_later(loaded):
    robot = loaded('gough_stewart')
    home, a = robot.home, list(robot.model.actuators)
    q = robot.inverse_kinematics(home).position[a]
    push = np.array([0.0, 30.0, -50.0, 1.0, 0.0, 2.0])
    held = robot.inverse_dynamics(home, push), robot.inverse_dynamics(home)
    estimator = ForceEstimator(robot, observer_cutoff=20.0)
    seen = []
    for k in range(400):
        efforts = held[0] if k >= 100 else held[1]
        seen.append(estimator.update(k * STEP, q, np.zeros(6), efforts).wrench)
    share = np.array(seen) @ push / (push @ push)
    assert np.abs(share[:100]).max() < 1e-9
    assert share[-1] == pytest.approx(1.0, abs=1e-6)
    # The area above a filtered step is its delay.
    delay = (1.0 - share[100:]).sum() * STEP
    assert delay == pytest.approx(1.0 / (2 * np.pi * 20.0), rel=0.1)


def test_measured_efforts_beside_a_known_wrench_tell_what_the_model_lacks(loaded):
    robot = loaded('delta')
    heavier = robot.with_payload(0.5)
    a = list(robot.model.actuators)
    q = robot.inverse_kinematics(robot.home).position[a]
    efforts = heavier.inverse_dynamics(robot.home)
    found = ForceEstimator(robot, observe=False).update(0.0, q, np.zeros(3), efforts)
    np.testing.assert_allclose(
        found.effort_residual, efforts - robot.inverse_dynamics(robot.home), atol=1e-9
    )


@pytest.mark.parametrize('measured_first', [True, False])
def test_efforts_may_come_and_go_beside_a_known_wrench(loaded, measured_first):
    """Not a sample is refused; filters start anew, as where velocities come and go."""
    robot = loaded('delta')
    q = robot.inverse_kinematics(robot.home).position[list(robot.model.actuators)]
    estimator = ForceEstimator(robot, observe=False)
    wrench = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
    for k in range(40):
        efforts = np.ones(3) if (k // 10 % 2 == 0) == measured_first else None
        found = estimator.update(STEP * k, q, np.zeros(3), efforts, wrench)
        np.testing.assert_allclose(found.wrench, wrench, atol=1e-9)
        assert (found.efforts is None) == (efforts is None)


def test_gaps_and_jumps_of_time_start_anew_and_doubles_are_refused(loaded):
    robot = loaded('delta')
    a = list(robot.model.actuators)
    q = robot.inverse_kinematics(robot.home).position[a]
    efforts = robot.inverse_dynamics(robot.home)
    estimator = ForceEstimator(robot)
    estimator.update(1.0, q, np.zeros(3), 2.0 * efforts)
    pushed = estimator.update(1.1, q, np.zeros(3), 2.0 * efforts)
    assert np.abs(pushed.wrench).max() > 0.1
    with pytest.raises(pd.InputError, match='later'):
        estimator.update(1.1, q, np.zeros(3), efforts)
    for time in (5.0, 0.5):  # after a gap; after a reset of the clock
        assert np.abs(estimator.update(time, q, np.zeros(3), efforts).wrench).max() == 0.0
    with pytest.raises(pd.InputError, match='finite'):
        estimator.update(0.6, q, np.zeros(3), [np.nan, 0.0, 0.0])
    with pytest.raises(pd.ParallelDynamicsError):
        estimator.update(0.6, q + 50.0, np.zeros(3), efforts)
    assert np.isfinite(estimator.update(0.6, q, np.zeros(3), efforts).wrench).all()


def test_peaks_hold_the_largest_until_reset():
    peaks = PeakHold(['a', 'b'])
    peaks.update(1.0, np.array([[3.0, 4.0, 0, 0, 0, 1], [1.0, 0, 0, 0, 2, 0]]))
    peaks.update(2.0, np.array([[0.0, 0.0, 0, 0, 0, 2], [np.nan, 2, 0, 0, 1, np.nan]]))
    assert peaks.force.tolist() == [5.0, 2.0]
    assert peaks.moment.tolist() == [2.0, 2.0]
    assert peaks.force_time.tolist() == [1.0, 2.0]
    assert peaks.moment_time.tolist() == [2.0, 1.0]
    assert peaks.largest() == ('a', 5.0, 'a', 2.0)
    peaks.reset()
    assert peaks.force.tolist() == [0.0, 0.0]
