"""Robots and random states for tests: shipped, irregular and strange ones, by one label each."""

from functools import cache, lru_cache
from pathlib import Path
import tempfile

import numpy as np
from scipy.spatial.transform import Rotation
from strange_robots import STRANGE, write

import parallel_dynamics as pd
from parallel_dynamics import families
from parallel_dynamics.resources import robot_files

SHIPPED = list(robot_files())
IRREGULAR = [f'irregular_{name}' for name in families.FAMILIES]
ALL = [*SHIPPED, *IRREGULAR, *STRANGE]


@lru_cache(maxsize=1)
def _folder():
    folder = tempfile.TemporaryDirectory(prefix='parallel_dynamics_robots_')
    _folder.keep = folder  # removed when the process ends
    return Path(folder.name)


@cache
def path_of(label):
    """Path of a robot's YAML; generated ones are written once per process."""
    if label in SHIPPED:
        return robot_files()[label]
    if label in STRANGE:
        return write(label, _folder() / label)
    return families.irregular(label.removeprefix('irregular_'), 1).write(_folder() / label)[0]


@cache
def load(label):
    """Load a robot once per process."""
    return pd.load_robot(path_of(label))


def random_motion(robot, rng, reach=0.1, turn=0.12, speed=1.0, batch=None):
    """A motion within reach that the closures allow, with all rates."""
    if batch is not None:
        rows = [random_motion(robot, rng, reach, turn, speed).data for _ in range(batch)]
        return pd.PlatformMotion._wrap(np.array(rows))
    length = robot.engine.packed.system[0]['length']
    for _ in range(20):
        rotation = Rotation.from_rotvec(turn * rng.uniform(-1, 1, 3)).as_matrix()
        m = pd.PlatformMotion(
            robot.home.position + reach * length * rng.uniform(-1, 1, 3),
            rotation @ robot.home.rotation,
            *(speed * rng.normal(size=(4, 3))),
        )
        try:
            return robot.project(m)
        except pd.ParallelDynamicsError:
            continue
    raise AssertionError(f'{robot.name}: no reachable pose found near home')


def random_base(rng):
    """A base in any attitude that moves in every way."""
    return pd.BaseMotion(Rotation.random(random_state=rng).as_matrix(), *rng.normal(size=(4, 3)))
