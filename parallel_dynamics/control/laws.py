"""Control laws: from the desired motion and the measured state to actuator efforts.

Each law is an object with ``efforts(desired, state, step)``; they hold no time of their own, so
that they can be exchanged while the robot moves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import atan2, sqrt
from typing import Any

import numpy as np

from parallel_dynamics.control.gains import Gains
from parallel_dynamics.control.inverse_model import InverseModel
from parallel_dynamics.control.state import MeasuredState
from parallel_dynamics.errors import InputError
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array


@dataclass(frozen=True, eq=False)
class Desired:
    """What is wanted now: platform motion, actuator positions, velocities, and feed-forward.

    ``position, velocity, acceleration, feedforward`` are (n,) in the order of the actuators.
    """

    platform: PlatformMotion
    position: Array
    velocity: Array
    acceleration: Array
    feedforward: Array


class Law(ABC):
    """A control law of one robot.

    ``gains`` may be exchanged from cycle to cycle; integrals are kept as what they contribute.
    A law that learns overrides :meth:`save`, :meth:`restore` and :meth:`report`; its state then
    outlives a change of mode or gains. ``reset`` empties integrals, never what was learnt.
    """

    tracks = True
    """Whether the law follows a desired motion."""
    needs_kd = False
    """Whether the derivative gain of each actuator must be positive."""

    def __init__(self, robot: Robot, model: InverseModel, gains: Gains) -> None:
        self.robot = robot
        self.model = model
        self.gains = gains
        self.reset()

    @abstractmethod
    def efforts(self, desired: Desired, state: MeasuredState, step: float) -> Array:
        """Return actuator efforts (n,); ``step`` (s) is the time since the last call."""

    def reset(self) -> None:
        """Empty the integral action, before the law takes over."""
        self._integral = np.zeros(self.robot.dof)

    def save(self) -> dict[str, Any]:
        """Return what the law has learnt, in types that JSON knows; empty if it does not learn."""
        return {}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Go on from what :meth:`save` returned; raise InputError if it is not the law's own."""
        if saved:
            raise InputError(
                f'{type(self).__name__} has nothing to restore, got {sorted(saved)}'
            )

    def report(self) -> dict[str, float | str]:
        """Return numbers for diagnostics, by name."""
        return {}


class Feedforward(Law):
    """Inverse dynamics of the desired motion alone; nothing corrects an error."""

    def efforts(self, desired: Desired, state: MeasuredState, step: float) -> Array:
        """Return the feed-forward."""
        return desired.feedforward


class PdFeedforward(Law):
    """Feed-forward plus proportional and derivative action in actuator space."""

    def __init__(self, robot: Robot, model: InverseModel, gains: Gains) -> None:
        super().__init__(robot, model, gains)
        self._integrates = bool(gains.ki.any())

    def efforts(self, desired: Desired, state: MeasuredState, step: float) -> Array:
        """Return feed-forward + Kp e + Kd e' (+ Ki times the integral of e)."""
        error = desired.position - state.position
        out = desired.feedforward + self.gains.kp @ error
        out += self.gains.kd @ (desired.velocity - state.velocity)
        if self._integrates:
            self._integral += step * (self.gains.ki @ error)
            out += self._integral
        return out


class ComputedTorque(Law):
    """Computed torque in platform space (khalil_ibrahim_2007, remark after (20)).

    The inverse model at the measured state, with the acceleration
    ``V_r' = V_r'_d + Kd (V_r_d - V_r) + Kp e``, where e are the independent components of the
    pose's error: shift, and rotation vector of ``R_d R^T``. Friction is that of the desired
    motion.
    """

    def __init__(self, robot: Robot, model: InverseModel, gains: Gains) -> None:
        super().__init__(robot, model, gains)
        self._independent = np.array(robot.engine.independent)

    def efforts(self, desired: Desired, state: MeasuredState, step: float) -> Array:
        """Return the efforts that make the error a second-order system."""
        chosen = self._independent
        wanted, measured = desired.platform.data, state.platform.data
        error = pose_error(wanted, measured)[chosen]
        rate = (wanted[12:18] - measured[12:18])[chosen]
        acceleration = wanted[18:24][chosen] + self.gains.d * rate + self.gains.p * error
        if self.gains.i > 0.0:
            self._integral += (step * self.gains.i) * error
            acceleration += self._integral
        motion = self.model.with_acceleration(state.platform, acceleration)
        return self.model.without_friction(motion) + self.model.friction(desired.platform)


class GravityCompensation(Law):
    """Hold the weight at the measured pose, so that the platform can be led by hand.

    A twentieth of the derivative gain keeps it from drifting away.
    """

    DAMPING = 0.05
    tracks = False

    def efforts(self, desired: Desired, state: MeasuredState, step: float) -> Array:
        """Return the weight's efforts less some damping."""
        weight = self.model.holding(state.platform)
        return np.asarray(weight - self.DAMPING * (self.gains.kd @ state.velocity))


def pose_error(wanted: Array, measured: Array) -> Array:
    """Return shift and rotation vector (6,) from one packed motion to another, base axes."""
    error = np.empty(6)
    error[:3] = wanted[:3] - measured[:3]
    m = wanted[3:12].reshape(3, 3) @ measured[3:12].reshape(3, 3).T
    (a, b, c), (d, e, f), (g, h, i) = m.tolist()
    x, y, z = h - f, c - g, d - b
    sine = 0.5 * sqrt(x * x + y * y + z * z)
    angle = atan2(sine, 0.5 * (a + e + i - 1.0))
    # Near half a turn the axis is lost; an error so large is caught by the guards before.
    scale = 0.5 if sine < 1e-9 else 0.5 * angle / sine
    error[3:] = x * scale, y * scale, z * scale
    return error


LAWS: dict[str, Callable[[Robot, InverseModel, Gains], Law]] = {
    'feedforward': Feedforward,
    'pd_feedforward': PdFeedforward,
    'computed_torque': ComputedTorque,
    'gravity_compensation': GravityCompensation,
}
"""Laws by the name of their mode."""


def make_law(mode: str, robot: Robot, model: InverseModel, gains: Gains) -> Law:
    """Return a law by the name of its mode."""
    if mode not in LAWS:
        raise InputError(f'mode: expected one of {", ".join(LAWS)}, got {mode!r}')
    return LAWS[mode](robot, model, gains)
