"""Regular grids of platform poses: slices and volumes of the workspace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.errors import InputError
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

COORDINATES = ('x', 'y', 'z', 'roll', 'pitch', 'yaw')
"""Position of the platform's origin in the base frame, and its rotation from the home pose:
Rz(yaw) Ry(pitch) Rx(roll), about the axes of the base."""

UNITS = {'x': 'm', 'y': 'm', 'z': 'm', 'roll': 'rad', 'pitch': 'rad', 'yaw': 'rad'}


@dataclass(frozen=True, eq=False)
class PoseGrid:
    """Poses on a grid.

    Attributes
    ----------
    axes : mapping of coordinate to (k,)
        The coordinates that vary, with their values, m or rad, in the order of the array axes.
    centre : mapping of coordinate to float
        All six coordinates; those of ``axes`` are replaced.
    poses : PlatformMotion
        A batch, in C order of ``shape``.
    """

    axes: dict[str, Array]
    centre: dict[str, float]
    poses: PlatformMotion

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each axis."""
        return tuple(len(values) for values in self.axes.values())


def pose_grid(
    robot: Robot, axes: Mapping[str, Array], centre: Mapping[str, float] | None = None
) -> PoseGrid:
    """Return the grid spanned by some coordinates, the others as at home or as in ``centre``."""
    require_free(robot, {**axes, **(centre or {})})
    point = {**home_coordinates(robot), **{k: float(v) for k, v in (centre or {}).items()}}
    if not axes:
        raise InputError('axes: expected at least one coordinate that varies, got none')
    values = {name: np.asarray(v, float) for name, v in axes.items()}
    for name, array in values.items():
        if array.ndim != 1 or not len(array) or not np.isfinite(array).all():
            raise InputError(f'{name}: expected finite numbers in one row, got {array}')
    mesh = np.meshgrid(*values.values(), indexing='ij')
    count = mesh[0].size
    columns = {name: np.full(count, value) for name, value in point.items()}
    columns.update({name: m.ravel() for name, m in zip(values, mesh)})
    position = np.stack([columns[k] for k in 'xyz'], axis=1)
    angles = np.stack([columns[k] for k in ('yaw', 'pitch', 'roll')], axis=1)
    rotation = Rotation.from_euler('ZYX', angles).as_matrix() @ robot.home.rotation
    return PoseGrid(values, point, PlatformMotion(position, rotation))


def home_coordinates(robot: Robot) -> dict[str, float]:
    """Return the six coordinates of the home pose."""
    return {**dict(zip(COORDINATES, robot.home.position.tolist())), 'roll': 0.0, 'pitch': 0.0,
            'yaw': 0.0}  # fmt: skip


def free_coordinates(robot: Robot) -> list[str]:
    """Return the coordinates that this robot can be asked for: those of its independent twist."""
    return [COORDINATES[k] for k in robot.engine.independent]


def require_free(robot: Robot, names: Iterable[str]) -> None:
    """Refuse coordinates that a robot cannot be asked for: they follow from the free ones."""
    free = free_coordinates(robot)
    others = [name for name in names if name not in free]
    if others:
        raise InputError(
            f'coordinates: expected some of {", ".join(free)}, in which {robot.name} is free, '
            f'got {", ".join(others)}'
        )
