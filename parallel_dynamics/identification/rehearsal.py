"""A recording before the robot is there: the simulator follows a motion, sensors included."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from parallel_dynamics.control import default_gains
from parallel_dynamics.recording import JointLog, Recorder
from parallel_dynamics.robot import Robot
from parallel_dynamics.simulation import Simulator
from parallel_dynamics.spatial import Array
from parallel_dynamics.trajectories import Trajectory

RATE = 1000.0
NOISE = 0.02
"""Standard deviation of measured efforts, as a share of each actuator's peak."""
STEPS = 2.0**17
"""Encoder steps in a turn, or in the range of a slide."""


def rehearse(
    robot: Robot,
    trajectory: Trajectory,
    *,
    believed: Robot | None = None,
    rate: float = RATE,
    noise: float = NOISE,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> JointLog:
    """Return what a run of the simulator along a motion would have recorded.

    Parameters
    ----------
    robot : Robot
        The machine as it is.
    believed : Robot, optional
        The one that the controller has in mind; the same by default.
    noise : float
        Of measured efforts, as a share of each actuator's peak.
    progress : callable, optional
        Called with steps done and steps in all.
    """
    resolution = encoder_resolution(robot)
    simulator = Simulator(robot, step=1.0 / rate, seed=seed, encoder_resolution=resolution)
    times = np.arange(int(trajectory.duration * rate) + 1) / rate
    motion = trajectory.sample(times)
    a = list(robot.model.actuators)
    joints = robot.inverse_kinematics(motion)
    wanted, speed = joints.position[:, a], joints.velocity[:, a]
    model = robot if believed is None else believed
    feedforward = model.inverse_dynamics(motion)
    gains = default_gains(model)
    simulator.reset(motion[0])
    position, velocity, effort = np.zeros((3, len(times), robot.dof))
    before = feedforward[0]
    for k in range(len(times)):
        found = simulator.measure()
        position[k], velocity[k] = found.position[a], found.velocity[a]
        command = feedforward[k] + gains.kp @ (wanted[k] - position[k])
        command += gains.kd @ (speed[k] - velocity[k])
        # The effort steps at this instant; what a sensor sees is between before and after.
        effort[k] = 0.5 * (before + command)
        before = command
        simulator.step(command, 1.0 / rate)
        if progress is not None:
            progress(k + 1, len(times))
    rng = np.random.default_rng((seed, 3))
    effort += noise * np.abs(effort).max(axis=0) * rng.standard_normal(effort.shape)
    return JointLog(times, tuple(robot.actuators), position, velocity, effort)


def encoder_resolution(robot: Robot) -> dict[str, float]:
    """Return a usual encoder step for each actuator: of a turn, or of a slide's range."""
    steps = {}
    for j in robot.model.actuators:
        joint = robot.model.joints[j]
        span = joint.upper - joint.lower
        turn = joint.kind == 'revolute' or not np.isfinite(span)
        steps[joint.name] = float(2.0 * np.pi if turn else span) / STEPS
    return steps


def record(log: JointLog, recorder: Recorder) -> None:
    """Write joint states to a recording."""
    rows: zip[tuple[Array, ...]] = zip(log.time, log.position, log.velocity, log.effort)
    for time, position, velocity, effort in rows:
        recorder.joint_states(float(time), log.names, position, velocity, effort)
