"""Compile what the nodes will need, once, before several of them would do it side by side."""

from __future__ import annotations

from collections.abc import Callable
import threading

import numpy as np

from parallel_dynamics.control import ControlLoop
from parallel_dynamics.forces.estimation import ForceEstimator
from parallel_dynamics.robot import Robot
from parallel_dynamics.simulation import Simulator
from parallel_dynamics.trajectories import check_trajectory, preset

PATIENCE = 3.0
"""Seconds after which somebody should be told why nothing happens."""


def warm_up(robot: Robot, mode: str, say: Callable[[str], None]) -> None:
    """Run each part of the closed loop once; from the cache this takes a moment."""
    timer = threading.Timer(
        PATIENCE, say, ['Compiling the kernels: once on this machine, a minute or two.']
    )
    timer.daemon = True
    timer.start()
    try:
        simulator = Simulator(robot)
        joints = robot.inverse_kinematics(robot.home)
        q = joints.position[list(robot.model.actuators)]
        still = np.zeros(robot.dof)
        loop = ControlLoop(robot, mode)
        loop.enable(0.0)
        loop.measure(0.0, q, still)
        simulator.step(loop.step(0.0).efforts, 1e-3)
        estimator = ForceEstimator(robot)
        for k in range(2):
            estimator.update(0.002 * k, q, still, still).joint_forces  # noqa: B018
        robot.virtual_joints(robot.home)
        robot.jacobians(robot.home)
        check_trajectory(robot, preset(robot, 'quintic', duration=0.5, size=0.1))
    finally:
        timer.cancel()
