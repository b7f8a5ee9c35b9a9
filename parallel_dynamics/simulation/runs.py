"""What simulations return: runs with their time, and measurements."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from parallel_dynamics.motion import JointMotion, PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array


@dataclass(frozen=True, eq=False)
class Measurement:
    """What sensors say: positions, velocities (joints,) in ``names`` order, efforts (n,)."""

    names: tuple[str, ...]
    position: Array
    velocity: Array
    efforts: Array


@dataclass(frozen=True, eq=False)
class Run:
    """One simulation over time.

    Attributes
    ----------
    time : (N,)
        Seconds.
    motion : PlatformMotion
        Batch of N: pose, twist and acceleration.
    efforts : (N, n)
        What the drives exerted.
    residual : float
        Largest closure residual of all steps, m or rad.
    """

    robot: Robot
    time: Array
    motion: PlatformMotion
    efforts: Array
    residual: float

    @cached_property
    def joints(self) -> JointMotion:
        """Motion of all joints."""
        return self.robot.inverse_kinematics(self.motion)

    @cached_property
    def energy(self) -> Array:
        """Kinetic and potential energy (N,), J; of the robot alone, without springs."""
        return np.asarray(
            self.robot.kinetic_energy(self.motion) + self.robot.potential_energy(self.motion)
        )


@dataclass(frozen=True, eq=False)
class ManyRuns:
    """Many simulations at once.

    Attributes
    ----------
    motion : PlatformMotion
        Batch of N: where each one ended.
    time : (N,)
        When it ended, s.
    events : tuple of str or None
        Why it ended early, if it did.
    residual : (N,)
        Largest closure residual of each, m or rad.
    trace : (N, rows, 24) or None
        Packed motions along the way, where asked for.
    """

    motion: PlatformMotion
    time: Array
    events: tuple[str | None, ...]
    residual: Array
    trace: Array | None = None
