"""Ready trajectories for any robot, by name, sized so that the robot can follow them.

All start and end at rest in one pose, home by default. Displacements use only the components
that the robot has, so that a Delta circles in a plane and a 3-RPS cones about its vertical.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.motion import PlatformMotion, positive
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array
from parallel_dynamics.trajectories import curves, moves
from parallel_dynamics.trajectories.files import read_trajectory
from parallel_dynamics.trajectories.limits import largest_size
from parallel_dynamics.trajectories.trajectory import (
    Hold,
    Joined,
    Scaled,
    Trajectory,
    on_closures,
)

_SHIFT = np.array([0.5, 0.4, 0.3])  # m, of the largest preset that is tried
_TURN = np.array([0.4, 0.5, 0.6])  # rad
_PAIRS = ((0, 1), (3, 4), (0, 2), (1, 2))  # planes of a circle, the best first


def free_components(robot: Robot) -> Array:
    """Return which of the six displacement components [x y z; rx ry rz] the robot can choose."""
    free = np.zeros(6, dtype=bool)
    free[list(robot.engine.independent)] = True
    return free


def _all_components(robot: Robot) -> Array:
    return np.concatenate([_SHIFT, _TURN]) * free_components(robot)


def _there_and_back(law: str) -> Callable[[Robot, PlatformMotion, float, float], Trajectory]:
    def make(robot: Robot, start: PlatformMotion, duration: float, size: float) -> Trajectory:
        end = moves.displaced(start, size * _all_components(robot))
        half = 0.5 * duration
        return Joined([moves.move(start, end, half, law), moves.move(end, start, half, law)])

    return make


def _circle(robot: Robot, start: PlatformMotion, duration: float, size: float) -> Trajectory:
    free = free_components(robot)
    first, second = next(((a, b) for a, b in _PAIRS if free[a] and free[b]), (None, None))
    if first is None or second is None:
        raise InputError(f'{robot.name} has no two components in which it could circle')
    radius = 0.4 * size
    to_centre, across = np.zeros(6), np.zeros(6)
    to_centre[first], across[second] = -radius, radius
    return curves.circle(start, to_centre, across, 0.5 * duration, 2.0)


def _swing(robot: Robot, start: PlatformMotion, duration: float, size: float) -> Trajectory:
    return curves.swing(start, size * _all_components(robot), duration)


def _sweep(robot: Robot, start: PlatformMotion, duration: float, size: float) -> Trajectory:
    amplitude = 0.2 * size * _all_components(robot)
    last = max(0.6, 40.0 / duration) if duration < 20.0 else 4.0
    return curves.sweep(start, amplitude, 0.5, min(last, 4.0), duration, constant_velocity=True)


def _pick_and_place(
    robot: Robot, start: PlatformMotion, duration: float, size: float
) -> Trajectory:
    free = free_components(robot)
    lift = np.zeros(6)
    lift[2 if free[2] else int(np.argmax(free))] = 0.25 * size
    across = size * _all_components(robot)
    across[lift != 0.0] = 0.0
    place = moves.displaced(start, across)
    return moves.pick_and_place(start, place, lift, 0.55 * duration)


_SHAPES: dict[str, Callable[[Robot, PlatformMotion, float, float], Trajectory]] = {
    'quintic': _there_and_back('quintic'),
    'trapezoidal': _there_and_back('trapezoidal'),
    'circle': _circle,
    'swing': _swing,
    'sweep': _sweep,
    'pick_and_place': _pick_and_place,
}

KINDS = (*_SHAPES, 'paper', 'file', 'hold')
"""Names that :func:`preset` takes."""


def preset(
    robot: Robot,
    kind: str,
    *,
    duration: float = 4.0,
    size: float = 0.6,
    speed: float = 1.0,
    start: PlatformMotion | None = None,
    paper: str = '',
    file: str | PathLike[str] = '',
) -> Trajectory:
    """Return a ready trajectory.

    Parameters
    ----------
    kind : str
        One of :data:`KINDS`.
    duration : float, s
        About how long it takes at speed 1.
    size : float
        Share of the largest size that the robot's limits allow, in (0, 1]; for 'paper' the
        factor of the printed amplitude.
    speed : float
        Speed factor.
    start : PlatformMotion, optional
        Pose to start and end at; home by default. A file says its poses itself.
    paper : str
        For 'paper': a key of ``curves.PAPER_MOTIONS``.
    file : path
        For 'file': a CSV file (``files``).
    """
    here = robot.home if start is None else start
    positive('duration', duration)
    positive('size', size)
    if kind == 'file':
        if not file:
            raise InputError(f'file: expected the path of a CSV file of motions, got {file!r}')
        found: Trajectory = read_trajectory(file)
    elif kind == 'paper':
        found = curves.paper_motion(here, paper, size)
    elif kind == 'hold':
        found = Hold(here, duration)
    elif kind in _SHAPES:
        if size > 1.0:
            raise InputError(f'size: expected a share in (0, 1], got {size!r}')
        found = _fitted_shape(robot, kind, here, duration, size)
    else:
        raise InputError(f'kind: expected one of {", ".join(KINDS)}, got {kind!r}')
    return on_closures(robot, found if speed == 1.0 else Scaled(found, speed))


def _fitted_shape(
    robot: Robot, kind: str, start: PlatformMotion, duration: float, size: float
) -> Trajectory:
    def make(scale: float) -> Trajectory:
        return on_closures(robot, _SHAPES[kind](robot, start, duration, scale))

    return _SHAPES[kind](robot, start, duration, size * largest_size(robot, make))
