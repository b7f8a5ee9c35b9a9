"""Trajectories of the platform: moves, curves, splines and files, checked against limits."""

from parallel_dynamics.trajectories.approach import approach
from parallel_dynamics.trajectories.curves import (
    PAPER_MOTIONS,
    Curve,
    circle,
    paper_motion,
    sweep,
    swing,
    versine,
)
from parallel_dynamics.trajectories.files import read_motion, read_trajectory, write_motion
from parallel_dynamics.trajectories.laws import LAWS, cruise, quintic, trapezoidal
from parallel_dynamics.trajectories.limits import (
    TrajectoryCheck,
    Violation,
    check_motion,
    check_trajectory,
    largest_size,
    require,
)
from parallel_dynamics.trajectories.moves import Moves, displaced, move, pick_and_place
from parallel_dynamics.trajectories.presets import KINDS, preset
from parallel_dynamics.trajectories.spline import Spline
from parallel_dynamics.trajectories.trajectory import (
    Hold,
    Joined,
    OnClosures,
    Scaled,
    Trajectory,
    allowed_trajectory,
    on_closures,
)

__all__ = [
    'KINDS',
    'LAWS',
    'PAPER_MOTIONS',
    'Curve',
    'Hold',
    'Joined',
    'Moves',
    'OnClosures',
    'Scaled',
    'Spline',
    'Trajectory',
    'TrajectoryCheck',
    'Violation',
    'allowed_trajectory',
    'approach',
    'check_motion',
    'check_trajectory',
    'circle',
    'cruise',
    'displaced',
    'largest_size',
    'move',
    'on_closures',
    'paper_motion',
    'pick_and_place',
    'preset',
    'quintic',
    'read_motion',
    'read_trajectory',
    'require',
    'sweep',
    'swing',
    'trapezoidal',
    'versine',
    'write_motion',
]
