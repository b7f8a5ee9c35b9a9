"""Time of a performance map: 100,000 poses of the 6-UPS, with efforts and condition number.

The whole map is timed, as `parallel-dynamics map` makes it: workspace, condition number, static
efforts, efforts to accelerate, and the force and moment that are held, on all cores. The error is
that of the static efforts against inverse dynamics, called pose by pose for some of them.
"""

from __future__ import annotations

from functools import partial

from calls import error
import numpy as np
from timing import Effort, medians

import parallel_dynamics as pd
from parallel_dynamics.maps import free_coordinates, performance_map, pose_grid, reach

POSES = 100_000
JUDGED = 50


def measure(name: str = 'gough_stewart') -> dict[str, float]:
    """Return poses, seconds, the share that is reachable, and the error."""
    robot = pd.load_robot(name)
    names = free_coordinates(robot)[:3]
    wanted = min(POSES, Effort.states)
    points = round(wanted ** (1.0 / len(names)))
    counts = [points] * (len(names) - 1)
    counts.append(-(-wanted // int(np.prod(counts))))
    axes = {k: np.linspace(*reach(robot, k), n) for k, n in zip(names, counts)}
    make = partial(performance_map, robot, axes, acceleration=5.0)
    found = make()
    poses = pose_grid(robot, axes).poses
    efforts = found['efforts'].reshape(-1, robot.dof)
    good = np.flatnonzero(np.isfinite(efforts).all(axis=1))
    some = good[np.linspace(0, len(good) - 1, JUDGED).astype(int)]
    truth = np.array([robot.inverse_dynamics(poses[int(k)]) for k in some])
    return {
        'poses': found['condition'].size, 'reachable share': found.share,
        'time on all cores (s)': medians({'map': make}, round_time=0.0)['map'],
        'error': error(efforts[some], truth),
    }  # fmt: skip
