"""Motions that a verb takes by name: CSV files, recordings and ready trajectories."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parallel_dynamics.motion import PlatformMotion
    from parallel_dynamics.robot import Robot
    from parallel_dynamics.spatial import Array

# Enough for smooth curves; more would only make figures large.
RATE = 250.0

HELP = (
    'CSV file of a motion (time,x,y,z,qx,qy,qz,qw,...), a recording (*.mcap) with platform/pose, '
    'or the name of a ready one such as circle or pick_and_place'
)


def read(robot: Robot, source: str) -> tuple[Array, PlatformMotion]:
    """Return times and motions of a file, a recording or a ready trajectory."""
    from pathlib import Path

    from parallel_dynamics import trajectories

    if source in trajectories.KINDS and not Path(source).exists():
        trajectory = trajectories.preset(robot, source)
        times = trajectory.grid(RATE)
        return times, trajectory.sample(times)
    if Path(source).suffix == '.mcap' or Path(source).is_dir():
        return _from_recording(robot, source)
    return trajectories.read_motion(source)


def ready_names() -> list[str]:
    """Return the names of ready motions that need nothing else to be said."""
    from parallel_dynamics import trajectories

    return [kind for kind in trajectories.KINDS if kind not in ('paper', 'file', 'hold')]


def _from_recording(robot: Robot, source: str) -> tuple[Array, PlatformMotion]:
    import numpy as np

    from parallel_dynamics.errors import InputError
    from parallel_dynamics.motion import PlatformMotion
    from parallel_dynamics.recording import Recording

    recording = Recording(source)
    time, position, rotation = recording.poses()
    if len(time) < 2:
        raise InputError(f'{source}: expected at least two messages on platform/pose')
    # Only what is newer than all before: two nodes may have said the same.
    keep = np.concatenate([[True], time[1:] > np.maximum.accumulate(time)[:-1]])
    time, position, rotation = time[keep], position[keep], rotation[keep]
    # Evenly thinned: a recording at 1 kHz has more instants than anybody looks at.
    step = max(1, round(len(time) / max(1.0, RATE * (time[-1] - time[0]))))
    time, position, rotation = time[::step], position[::step], rotation[::step]

    def at(times: Array, values: Array) -> Array:
        order = np.argsort(times, kind='stable')
        return np.stack([np.interp(time, times[order], v) for v in values[order].T], axis=1)

    twist = at(*recording.twists())
    rate = at(*recording.accelerations())
    motion = PlatformMotion(
        position, rotation, twist[:, :3], twist[:, 3:], rate[:, :3], rate[:, 3:]
    )
    # What was interpolated between stamps is near the closures, not on them.
    return time - time[0], motion if robot.dof == 6 else robot.project(motion)
