"""From commands to what the drives are told at each step: limits, transport delay, noise."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.robot import Robot
from parallel_dynamics.simulation.physics import Physics, per_actuator
from parallel_dynamics.spatial import Array

ROUNDING = 1e-9
"""Share of a step by which times may be off and still count as equal."""


def limits_of(robot: Robot, physics: Physics) -> Array | None:
    """Return the effort limits (n,) that a physics asks for, or None."""
    if physics.effort_limits is False:
        return None
    if physics.effort_limits is True:
        return np.array([robot.model.joints[j].effort_limit for j in robot.model.actuators])
    return per_actuator(robot, 'effort_limits', physics.effort_limits)


class Drives:
    """Clamps, delays and disturbs commands; remembers those still on their way."""

    def __init__(self, robot: Robot, physics: Physics, seed: int) -> None:
        self.dof = robot.dof
        self.limits = limits_of(robot, physics)
        self.delay = physics.effort_delay
        self.deviation = per_actuator(robot, 'effort_noise', physics.effort_noise)
        self.noisy = bool(self.deviation.any())
        self.plain = not (self.noisy or self.delay > 0.0 or physics.effort_lag > 0.0)
        self.clamped = 0
        self.generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, 1))))
        self._sent: deque[tuple[float, Array]] = deque()
        self._silence = np.zeros((1, 1, robot.dof))

    def clear(self) -> None:
        """Forget the commands on their way."""
        self._sent.clear()

    def clamp(self, efforts: Array) -> Array:
        """Return efforts within their limits; counts the rows that were not."""
        if self.limits is None:
            return efforts
        inside = np.clip(efforts, -self.limits, self.limits)
        self.clamped += int(np.count_nonzero((inside != efforts).any(axis=-1)))
        return inside

    def arriving(self, efforts: Array, time: float, tick: float, substeps: int) -> Array:
        """Return what reaches the drives in each step (ticks * substeps, n).

        ``efforts`` (ticks, n) are sent at ``time``, ``time + tick`` and so on. Before the first
        command arrives there is no effort.
        """
        h = tick / substeps
        starts = time + h * np.arange(len(efforts) * substeps)
        for k, row in enumerate(efforts):
            self._sent.append((time + k * tick, row.copy()))
        times = np.array([t for t, _ in self._sent])
        rows = np.vstack([np.zeros(self.dof), *(row for _, row in self._sent)])
        arrived = np.searchsorted(times, starts - self.delay + ROUNDING * h, side='right')
        # What is older than the command in force now is not needed any more.
        for _ in range(int(arrived[-1]) - 1):
            self._sent.popleft()
        return rows[arrived]

    def noise(self, steps: int) -> Array:
        """Return new noise for each step, (1, steps or 1, n)."""
        if not self.noisy:
            return self._silence
        return self.deviation * self.generator.standard_normal((1, steps, self.dof))

    # ---------------------------------------------------------------- saving

    @property
    def sent(self) -> tuple[tuple[float, tuple[float, ...]], ...]:
        """Commands on their way, with the time they were sent."""
        return tuple((time, tuple(row.tolist())) for time, row in self._sent)

    def restore(self, sent: Any) -> None:
        """Put back commands on their way."""
        self._sent.clear()
        for time, row in sent:
            if len(row) != self.dof:
                raise InputError(f'snapshot: expected commands of {self.dof} numbers')
            self._sent.append((float(time), np.array(row, float)))
