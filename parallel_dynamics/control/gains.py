"""Feedback gains from a bandwidth and the robot's own mass matrix, so that none need tuning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

BANDWIDTH = 10.0
"""Hz; stays stable with some milliseconds of delay, and is stiff enough for most robots."""


@dataclass(frozen=True, eq=False)
class Gains:
    """Gains in actuator space, and their rates for laws in platform space.

    Attributes
    ----------
    kp, kd, ki : (n, n)
        Effort per error of position, velocity, and integral of the position's error.
    p, d, i : float
        The same per unit of inertia: 1/s^2, 1/s, 1/s^3.
    """

    kp: Array
    kd: Array
    ki: Array
    p: float
    d: float
    i: float


def actuator_inertia(robot: Robot, pose: PlatformMotion | None = None) -> Array:
    """Return the inertia (n, n) that the actuators feel at a pose, ``J_r^T A J_r``; home if None.

    A is the mass matrix of khalil_ibrahim_2007 (29).
    """
    m = robot.home if pose is None else pose
    J_r = robot.jacobians(m).J_r
    return np.asarray(J_r.T @ robot.mass_matrix(m) @ J_r)


def default_gains(
    robot: Robot,
    bandwidth: float = BANDWIDTH,
    damping: float = 1.0,
    integral: float = 0.0,
    coupled: bool = True,
) -> Gains:
    """Return gains that make every error of a robot at home a second-order system.

    Parameters
    ----------
    bandwidth : float, Hz
        Natural frequency of that system.
    damping : float
        Its damping ratio.
    integral : float
        Integral action, as a share of the largest that keeps the loop stable, in [0, 1).
    coupled : bool
        With the whole inertia matrix, all directions get the same bandwidth. With its diagonal
        alone, each actuator has its own pair of gains, as most drives want them.
    """
    for name, value in (('bandwidth', bandwidth), ('damping', damping)):
        if not (np.isfinite(value) and value > 0.0):
            raise InputError(f'{name}: expected a positive number, got {value!r}')
    if not 0.0 <= integral < 1.0:
        raise InputError(f'integral: expected a share in [0, 1), got {integral!r}')
    w = 2.0 * np.pi * bandwidth
    p, d = w**2, 2.0 * damping * w
    # s^3 + d s^2 + p s + i is stable for i < p d (Routh).
    i = integral * p * d
    inertia = actuator_inertia(robot)
    if not coupled:
        inertia = np.diag(np.diag(inertia))
    return Gains(p * inertia, d * inertia, i * inertia, p, d, i)
