"""From what the encoders say to the state of the platform."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

VELOCITY_FILTER = 50.0
"""Hz, of the low-pass behind differentiated positions."""


@dataclass(frozen=True, eq=False)
class MeasuredState:
    """Actuator positions and velocities (n,), and the platform's motion that goes with them.

    They are those of the time that the estimator was asked for, which may be a little later than
    the measurement.

    ``condition`` is the condition number of ``J_r^-1`` (``qd_a = J_r^-1 V_r``).
    """

    position: Array
    velocity: Array
    platform: PlatformMotion
    condition: float


class StateEstimator:
    """Forward kinematics from measurement to measurement, each started from the last one.

    Velocities that are not measured are differences of positions behind a first-order low-pass
    of ``velocity_filter`` (Hz), which delays them by ``1 / (2 pi velocity_filter)``.
    """

    def __init__(self, robot: Robot, velocity_filter: float = VELOCITY_FILTER) -> None:
        if not velocity_filter > 0.0:
            raise InputError(f'velocity_filter: expected a positive number, got {velocity_filter}')
        self.robot = robot
        self.velocity_filter = velocity_filter
        self.reset()

    def reset(self) -> None:
        """Forget what was measured, and start from home again."""
        self._guess: PlatformMotion | None = None
        self._time = -np.inf
        self._position: Array | None = None
        self._velocity = np.zeros(self.robot.dof)

    def update(
        self,
        time: float,
        position: ArrayLike,
        velocity: ArrayLike | None = None,
        ahead: float = 0.0,
        acceleration: Array | None = None,
    ) -> MeasuredState:
        """Take actuator positions (n,), and velocities (n,) if measured, at a time (s).

        Returns the state ``ahead`` seconds later, with the acceleration (n,) that the actuators
        are to have meanwhile (none by default).

        Raises UnreachableError or SingularityError where the platform cannot be found; the next
        measurement then starts from the last good one again.
        """
        q = np.array(position, dtype=float)
        v = self._differentiate(time, q) if velocity is None else np.array(velocity, dtype=float)
        measured = q, v
        if ahead > 0.0:
            change = ahead * acceleration if acceleration is not None else np.zeros(len(q))
            q, v = q + ahead * (v + 0.5 * change), v + change
        found = self.robot.solve_forward_kinematics(q, v, self._guess)
        self._guess = found.motion
        self._time, (self._position, self._velocity) = time, measured
        return MeasuredState(q, v, found.motion, found.condition)

    def _differentiate(self, time: float, position: Array) -> Array:
        step = time - self._time
        if step == 0.0:
            return self._velocity
        if self._position is None or not 0.0 < step < 1.0:
            return np.zeros(self.robot.dof)
        share = 1.0 - np.exp(-2.0 * np.pi * self.velocity_filter * step)
        rate = (position - self._position) / step
        return np.asarray(self._velocity + share * (rate - self._velocity))
