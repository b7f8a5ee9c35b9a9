"""Conservative motions for tests of the simulator: springs about home, and a push to start."""

import numpy as np

from parallel_dynamics.simulation import Spring
from parallel_dynamics.simulation.physics import joint_masses


def size(robot):
    """Characteristic length of a robot, m."""
    return float(robot.engine.packed.system[0]['length'])


def springs(robot, frequency=1.7):
    """Springs in the actuators that carry the weight at home and pull back to it."""
    weight = robot.inverse_dynamics(robot.home)
    position = robot.inverse_kinematics(robot.home).position
    masses = joint_masses(robot)
    found = {}
    for name, preload in zip(robot.actuators, weight):
        k = robot.joints.index(name)
        stiffness = masses[k] * (2.0 * np.pi * frequency) ** 2
        found[name] = Spring(stiffness, float(position[k]), float(preload))
    return found


def pushed(robot, speed=0.8, seed=1):
    """Home, with a twist in every direction that the closures allow."""
    rng = np.random.default_rng(seed)
    twist = np.concatenate([size(robot) * rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)])
    return robot.project(robot.home.replace(twist=speed * twist))


def apart(a, b, robot):
    """How far two poses are from each other: m by the robot's size, and rotation."""
    length = size(robot)
    there = np.abs(a.position - b.position).max() / length
    return float(max(there, np.abs(a.rotation - b.rotation).max()))
