"""What every trajectory offers: a duration, the motion at a time, and batches over time grids."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError, NotAllowedMotionError
from parallel_dynamics.motion import PlatformMotion, positive
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

POSE = slice(0, 12)
TWIST = slice(12, 18)
TWIST_RATE = slice(18, 24)


class Trajectory(ABC):
    """A motion of the platform over ``0 <= t <= duration`` (s); it rests before and after."""

    duration: float

    @abstractmethod
    def rows(self, times: Array) -> Array:
        """Return packed motions (N, 24) at times (N,) within the duration."""

    def sample(self, times: ArrayLike) -> PlatformMotion:
        """Return the batch of motions at times (N,), s."""
        t = np.asarray(times, dtype=float)
        if t.ndim != 1 or not np.isfinite(t).all():
            raise InputError(f'times: expected finite numbers of shape (N,), got shape {t.shape}')
        return PlatformMotion._wrap(self._held_rows(t))  # type: ignore[no-any-return]

    def at(self, time: float) -> PlatformMotion:
        """Return the motion at one time, s."""
        return PlatformMotion._wrap(self._held_rows(np.array([float(time)]))[0])  # type: ignore[no-any-return]

    def grid(self, rate: float) -> Array:
        """Return evenly spaced times (N,) from 0 to the duration, at about ``rate`` (Hz)."""
        if not rate > 0.0:
            raise InputError(f'rate: expected a positive number of Hz, got {rate!r}')
        return np.linspace(0.0, self.duration, max(2, int(np.ceil(self.duration * rate)) + 1))

    def _held_rows(self, t: Array) -> Array:
        out = np.array(self.rows(np.clip(t, 0.0, self.duration)))
        out[(t < 0.0) | (t > self.duration), 12:] = 0.0
        return out


class Scaled(Trajectory):
    """The same path at another speed: ``speed`` 2 takes half the time."""

    def __init__(self, trajectory: Trajectory, speed: float) -> None:
        self.trajectory = trajectory
        self.speed = positive('speed', speed)
        self.duration = trajectory.duration / self.speed

    def rows(self, times: Array) -> Array:
        """Return packed motions (N, 24)."""
        inner = np.minimum(times * self.speed, self.trajectory.duration)
        out = np.array(self.trajectory.rows(inner))
        out[:, TWIST] *= self.speed
        out[:, TWIST_RATE] *= self.speed**2
        return out


class Joined(Trajectory):
    """Trajectories one after the other; each should start where the one before it ends."""

    def __init__(self, parts: Sequence[Trajectory]) -> None:
        if not parts:
            raise InputError('parts: expected at least one trajectory, got none')
        self.parts = tuple(parts)
        self._starts = np.concatenate([[0.0], np.cumsum([part.duration for part in parts])])
        self.duration = float(self._starts[-1])

    def rows(self, times: Array) -> Array:
        """Return packed motions (N, 24)."""
        which = np.clip(np.searchsorted(self._starts, times, 'right') - 1, 0, len(self.parts) - 1)
        out = np.empty((len(times), 24))
        for k in np.unique(which):
            chosen = which == k
            own = np.clip(times[chosen] - self._starts[k], 0.0, self.parts[k].duration)
            out[chosen] = self.parts[k].rows(own)
        return out


class Hold(Trajectory):
    """Rest in one pose."""

    def __init__(self, pose: PlatformMotion, duration: float) -> None:
        self.duration = positive('duration', duration)
        self._row = np.array(pose.data)
        self._row[12:] = 0.0

    def rows(self, times: Array) -> Array:
        """Return packed motions (N, 24)."""
        return np.tile(self._row, (len(times), 1))


TURNED = 1e-12
"""Difference of rotation matrices below which closures have not turned the platform."""


class OnClosures(Trajectory):
    """A trajectory put on the closures of a robot with fewer than six degrees of freedom.

    Independent components are kept, the others follow from the closures (``Robot.project``).
    Where closures turn the platform away from the orientation given, its rates turn with it, so
    that they remain the derivatives of the pose: exactly where closures turn it about one of the
    base's axes, to second order of the angle where about two.
    """

    def __init__(self, robot: Robot, trajectory: Trajectory) -> None:
        self.robot = robot
        self.trajectory = trajectory
        self.duration = trajectory.duration

    def rows(self, times: Array) -> Array:
        """Return packed motions (N, 24)."""
        rows = self.trajectory.rows(times)
        if self.robot.dof == 6:
            return rows
        found = self.robot.project(PlatformMotion._wrap(rows))
        turn = found.rotation @ np.swapaxes(rows[:, 3:12].reshape(-1, 3, 3), 1, 2)
        if np.abs(turn - np.eye(3)).max(initial=0.0) < TURNED:
            return found.data
        # R = turn R0, so w = turn w0 + u and w' = turn w0' + u x turn w0 + u', where u, the rate
        # of the turn, has no independent components.
        rates = np.array(rows[:, 12:])
        rates[:, 3:6] = np.einsum('nik,nk->ni', turn, rates[:, 3:6])
        rates[:, 9:12] = np.einsum('nik,nk->ni', turn, rates[:, 9:12])
        found = self.robot.project(found.replace(rates[:, :6], rates[:, 6:]))
        rate_of_turn = found.angular_velocity - rates[:, 3:6]
        rates[:, 9:12] += np.cross(rate_of_turn, rates[:, 3:6])
        return self.robot.project(found.replace(rates[:, :6], rates[:, 6:])).data


def on_closures(robot: Robot, trajectory: Trajectory) -> Trajectory:
    """Return the trajectory as the robot can follow it; unchanged for six degrees of freedom."""
    return trajectory if robot.dof == 6 else OnClosures(robot, trajectory)


CLOSURE_TOLERANCE = 1e-4
"""How far, in m or rad, a given pose may be from what the closures allow."""


def allowed_trajectory(robot: Robot, trajectory: Trajectory, times: ArrayLike) -> Trajectory:
    """Return :func:`on_closures`, but refuse a trajectory whose poses the closures do not allow.

    The poses at ``times`` (N,), s, are those that were given; between them, where a spline runs
    past the closures, it is put back on them.
    """
    if robot.dof == 6:
        return trajectory
    t = np.asarray(times, dtype=float)
    given = trajectory.sample(t)
    gap = np.abs(robot.project(given).data[:, POSE] - given.data[:, POSE]).max(axis=1)
    k = int(np.argmax(gap))
    if gap[k] > CLOSURE_TOLERANCE:
        raise NotAllowedMotionError(
            f'trajectory: the pose at {t[k]:.3f} s is {gap[k]:.3g} (m or rad) away from what the '
            f'closures allow (expected below {CLOSURE_TOLERANCE:g}); use robot.project(motion)',
            residual=float(gap[k]),
        )
    return OnClosures(robot, trajectory)
