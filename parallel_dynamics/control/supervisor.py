"""Safety: what may go wrong, whether it does, and what has been said about it.

A supervisor holds the conditions that are active. Each is told once when it begins (``events``)
and stays in ``active`` until it has been gone for ``rearm`` seconds.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

STALE = 'joint states stale'
LOST = 'platform lost'
EFFORT = 'effort limit'
RATE = 'effort rate limit'
SPEED = 'velocity limit'
WORKSPACE = 'workspace limit'
TRACKING = 'tracking error'
SINGULAR = 'singularity'
SOURCE = 'trajectory source lost'
BASE = 'base motion lost'
LATE = 'late states'
ESTOP = 'emergency stop'
MODEL = 'model'


@dataclass(frozen=True)
class Event:
    """Something that began or ended; ``stops`` if the robot was brought to rest for it."""

    time: float
    condition: str
    text: str
    begins: bool = True
    stops: bool = False


def everywhere() -> Array:
    """Return a box (2, 3) without walls."""
    return np.array([[-np.inf] * 3, [np.inf] * 3])


@dataclass
class Limits:
    """Limits of the guards.

    Attributes
    ----------
    effort : (n,)
        N or N m; efforts are cut there.
    effort_rate : (n,)
        Per second; efforts change no faster.
    velocity : (n,)
        Measured actuator speed at which the robot is brought to rest.
    lower, upper : (n,)
        Actuator positions; beyond them the robot is brought to rest, once.
    tracking : (n,)
        Error of an actuator's position at which the robot is brought to rest.
    condition : float
        Condition number of the actuation at which the robot is brought to rest.
    box : (2, 3)
        Lowest and highest position of the platform, m, base frame; beyond it the robot is
        brought to rest, once, and set-points are refused.
    """

    effort: Array
    effort_rate: Array
    velocity: Array
    lower: Array
    upper: Array
    tracking: Array
    condition: float
    box: Array = field(default_factory=everywhere)


def default_limits(
    robot: Robot,
    *,
    effort: float = 1.0,
    effort_rate: float = 100.0,
    velocity: float = 1.5,
    tracking: float = 0.1,
    condition: float = 20.0,
    box: ArrayLike | None = None,
) -> Limits:
    """Return limits from the robot's description.

    Parameters
    ----------
    effort, velocity : float
        Shares of the URDF's limits. The velocity guards what is measured, so it leaves room
        above what trajectories may ask for.
    effort_rate : float, 1/s
        Shares of the effort limit in a second.
    tracking : float
        Share of an actuator's range.
    condition : float
        How much worse than at home the condition number of ``J_r^-1`` may be.
    box : (2, 3), optional
        Lowest and highest position of the platform, m.
    """
    walls = everywhere() if box is None else np.array(box, dtype=float)
    if walls.shape != (2, 3) or not (walls[0] < walls[1]).all():
        raise InputError(f'box: expected a lower and a higher position (2, 3), got {box!r}')
    joints = [robot.model.joints[a] for a in robot.model.actuators]
    top = np.array([joint.effort_limit for joint in joints])
    lower = np.array([joint.lower for joint in joints])
    upper = np.array([joint.upper for joint in joints])
    span = np.where(np.isfinite(upper - lower), upper - lower, 2.0 * np.pi)
    home = float(np.linalg.cond(robot.jacobians(robot.home).J_r_inv))
    return Limits(
        effort=effort * top,
        effort_rate=effort_rate * top,
        velocity=velocity * np.array([joint.velocity_limit for joint in joints]),
        lower=lower - 0.01 * span,
        upper=upper + 0.01 * span,
        tracking=tracking * span,
        condition=condition * home,
        box=walls,
    )


class Supervisor:
    """Keeps the books of conditions."""

    def __init__(self, rearm: float = 0.5) -> None:
        self.rearm = rearm
        self.active: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self._events: list[Event] = []
        self._last: dict[str, float] = {}

    def note(self, now: float, condition: str, text: str, stops: bool = False) -> bool:
        """Note that a condition holds; return whether it has just begun."""
        self._last[condition] = now
        if condition in self.active:
            return False
        self.active[condition] = text
        self.counts[condition] += 1
        self._events.append(Event(now, condition, text, True, stops))
        return True

    def renew(self, now: float, condition: str) -> None:
        """Note that an active condition still holds."""
        if condition in self.active:
            self._last[condition] = now

    def restart(self) -> None:
        """Begin the times anew, after a clock that went back; what is active stays."""
        self._last = dict.fromkeys(self.active, 0.0)

    def settle(self, now: float) -> None:
        """Let conditions end that have not been noted for ``rearm`` seconds."""
        if not self.active:
            return
        for condition in [c for c in self.active if now - self._last[c] >= self.rearm]:
            self.clear(now, condition)

    def clear(self, now: float, condition: str) -> None:
        """End a condition now."""
        text = self.active.pop(condition, None)
        if text is not None:
            self._events.append(Event(now, condition, text, False))

    def take_events(self) -> list[Event]:
        """Return what began and ended since the last call."""
        if not self._events:
            return []
        events, self._events = self._events, []
        return events
