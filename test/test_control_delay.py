"""States that come late: how late a loop acts, what that leaves of its bandwidth, and the loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robots import load

import parallel_dynamics as pd
from parallel_dynamics import control, simulation, trajectories
from parallel_dynamics.control import delay
from parallel_dynamics.control.laws import pose_error

STEP = 0.002


@pytest.mark.parametrize(('bandwidth', 'damping'), [(10.0, 1.0), (3.0, 0.4), (40.0, 2.0)])
def test_the_allowed_delay_takes_half_of_the_phase_margin(bandwidth, damping):
    gains = control.default_gains(load('delta'), bandwidth, damping)
    w = np.geomspace(0.1, 1e5, 1_000_001)
    open_loop = (gains.d * 1j * w + gains.p) / (1j * w) ** 2
    crossover = np.argmin(np.abs(np.abs(open_loop) - 1.0))
    margin = np.pi + np.angle(open_loop[crossover])
    lost = w[crossover] * delay.allowed_delay(gains)
    assert lost == pytest.approx(0.5 * margin, rel=1e-3)


def test_relaxed_gains_slow_the_loop_down_and_keep_its_damping():
    gains = control.default_gains(load('delta'), integral=0.2)
    slow = delay.relaxed(gains, 0.3)
    poles = [np.sort_complex(np.roots([1.0, g.d, g.p, g.i])) for g in (gains, slow)]
    np.testing.assert_allclose(poles[1], 0.3 * poles[0], rtol=1e-9)
    for name, power in (('kd', 1), ('kp', 2), ('ki', 3)):
        np.testing.assert_allclose(getattr(slow, name), 0.3**power * getattr(gains, name))


def test_the_delay_is_that_of_age_and_held_commands():
    gains = control.default_gains(load('delta'))
    watch = delay.DelayWatch(gains)
    for _ in range(2000):
        used = watch.cycle(0.001, 0.002)
    assert watch.mean == pytest.approx(0.002, rel=1e-6)
    assert used is gains and watch.share == 1.0
    for _ in range(2000):
        used = watch.cycle(0.009, 0.002)
    assert watch.mean == pytest.approx(0.010, rel=1e-6)
    assert watch.share == pytest.approx(delay.allowed_delay(gains) / 0.010, rel=delay.STEP)
    assert used.p == pytest.approx(watch.share**2 * gains.p)
    for _ in range(2000):
        used = watch.cycle(0.0, 0.002)
    assert used is gains


class LateRobot:
    """A robot whose states reach the controller some steps after they were measured."""

    def __init__(self, name, late, mode, stamped=True):
        self.robot = load(name)
        self.simulator = pd.Simulator(self.robot)
        self.loop = control.ControlLoop(self.robot, mode)
        self.loop.enable(0.0)
        self.actuators = list(self.robot.model.actuators)
        self.late, self.stamped, self.count, self.sent = late, stamped, 0, []

    def run(self, seconds):
        """Return the pose's error at every step."""
        errors = []
        for _ in range(round(seconds / STEP)):
            now = self.count * STEP
            m = self.simulator.measure()
            self.sent.append((now, m.position[self.actuators], m.velocity[self.actuators]))
            if self.count >= self.late:
                stamp, q, v = self.sent[self.count - self.late]
                self.loop.measure(now, q, v, stamp if self.stamped else None)
            command = self.loop.step(now)
            if command.desired is not None:
                wanted, got = command.desired.platform.data, self.simulator.state.data
                errors.append(pose_error(wanted, got))
            efforts = command.efforts
            if self.count < self.late:  # brakes
                self.simulator.hold(STEP)
            else:
                self.simulator.step(efforts, STEP)
            self.count += 1
        return np.array(errors)


@pytest.mark.parametrize('mode', ['computed_torque', 'pd_feedforward'])
@pytest.mark.parametrize('name', ['gough_stewart', 'delta'])
def test_a_late_loop_gets_softer_and_stays_on_its_way(name, mode):
    """Twenty milliseconds late, where the same gains would swing the robot up."""
    plant = LateRobot(name, 10, mode)
    plant.run(0.1)
    motion = trajectories.preset(plant.robot, 'swing', size=0.4, duration=2.0)
    tracker, now = plant.loop.tracker, plant.count * STEP
    tracker.accept(tracker.judge(motion, None, now), now)
    errors = plant.run(2.5)
    size = np.ptp([pose_error(m.data, plant.robot.home.data) for m in
                   motion.sample(motion.grid(100.0))], axis=0)  # fmt: skip
    moving = size > 1e-6
    assert (np.abs(errors).max(axis=0)[moving] < 0.05 * size[moving].max()).all()
    assert set(plant.loop.supervisor.counts) == {'late states'}
    assert plant.loop.delay.mean == pytest.approx(0.021, rel=0.01)
    # The message gives numbers; and the full gains come back with states that are in time.
    assert '% of the bandwidth' in plant.loop.supervisor.active['late states']
    plant.late = 0
    plant.run(2.0)
    assert plant.loop.delay.share == 1.0
    assert plant.loop.law.gains is plant.loop.gains
    assert not plant.loop.supervisor.active


def test_the_same_loop_without_knowing_how_late_it_is_loses_the_robot():
    """What the test above would be worth without the remedy: nothing is hidden by slack."""
    plant = LateRobot('delta', 10, 'computed_torque', stamped=False)
    plant.run(0.1)
    push = np.array([0.05, 0.05, 0.05, 0.0, 0.0, 0.0])
    plant.simulator.reset(plant.robot.project(plant.simulator.state.replace(twist=push)))
    with pytest.raises(simulation.SimulationStopped):
        plant.run(1.5)


def test_gains_that_are_set_are_relaxed_too():
    loop = control.ControlLoop(load('delta'))
    for _ in range(500):
        loop.delay.cycle(0.03, STEP)
    assert loop.delay.share < 0.5
    stiff = replace(loop.gains, p=4.0 * loop.gains.p, d=2.0 * loop.gains.d)
    loop.set_gains(stiff)
    assert loop.law.gains is stiff
    assert loop.delay.cycle(0.03, STEP).p < 0.25 * stiff.p
