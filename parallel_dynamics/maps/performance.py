"""Maps of the workspace: what a robot reaches, and how well it works there.

All poses are judged at rest, in compiled code on all cores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.kernels import maps as kernel
from parallel_dynamics.maps.grid import (
    UNITS,
    free_coordinates,
    home_coordinates,
    pose_grid,
    require_free,
)
from parallel_dynamics.motion import BaseMotion, PlatformMotion
from parallel_dynamics.resources import writing_to
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

CHUNK = 10_000
"""Poses from one report of progress to the next."""

QUANTITIES = {
    'reachable': '',
    'status': '',
    'condition': '',
    'margin': '',
    'joint_margin': '',
    'effort': 'actuator',
    'effort_moving': 'actuator',
    'force': 'N',
    'moment': 'N m',
    'joint_force': 'N',
}
"""What a map can hold, with units; ``efforts`` (..., n) comes with it."""


@dataclass(frozen=True, eq=False)
class PerformanceMap:
    """Quantities over a grid of poses; NaN where the robot cannot be.

    Attributes
    ----------
    robot : str
    axes, centre
        Of the grid, see ``PoseGrid``; the centre tells of the free coordinates.
    values : mapping of str to array
        Shaped like the grid:

        - ``reachable``: assembled, not singular, and within the joints' limits;
        - ``status``: 0, or why the pose cannot be assembled (``kernels.layout``);
        - ``condition``: of the actuators' Jacobian, angles on the characteristic length;
        - ``margin``: its inverse, 1 at best and 0 at a singularity;
        - ``joint_margin``: of the joint nearest to its limits, 0.5 in the middle of its range;
        - ``effort``: largest static effort, N or N m; ``efforts`` (..., n) holds all of them;
        - ``effort_moving``: largest effort to accelerate by ``settings['acceleration']`` m/s^2
          and ``settings['angular_acceleration']`` rad/s^2 in the worst directions;
        - ``force``, ``moment``: external force (N) or moment (N m) on the platform that the
          drives hold in every direction within their effort limits, besides the weight;
        - ``joint_force``: largest force in a joint or closure, N, where it was asked for.
    settings : mapping of str to float
    """

    robot: str
    axes: dict[str, Array]
    centre: dict[str, float]
    values: dict[str, Array]
    settings: dict[str, float] = field(default_factory=dict)
    effort_unit: str = 'N'

    def __getitem__(self, name: str) -> Array:
        return self.values[name]

    @property
    def share(self) -> float:
        """Part of the grid that is reachable."""
        return float(np.mean(self.values['reachable']))

    def unit(self, name: str) -> str:
        """Return the unit of a quantity."""
        unit = QUANTITIES.get(name, '')
        return self.effort_unit if unit == 'actuator' else unit

    def ranges(self) -> dict[str, tuple[float, float]]:
        """Return least and greatest value of every quantity over the reachable poses."""
        inside = np.asarray(self.values['reachable'], bool)
        found = {}
        for name, values in self.values.items():
            if name not in ('reachable', 'status', 'efforts'):
                kept = values[inside & np.isfinite(values)]
                found[name] = (
                    (float(kept.min()), float(kept.max())) if kept.size else (np.nan, np.nan)
                )
        return found

    def save(self, path: str | Path) -> Path:
        """Write everything to a NumPy archive, ``*.npz``."""
        path = Path(path)
        data: dict[str, Any] = {f'value_{k}': v for k, v in self.values.items()}
        data.update({f'axis_{k}': v for k, v in self.axes.items()})
        data.update({f'centre_{k}': v for k, v in self.centre.items()})
        data.update({f'setting_{k}': v for k, v in self.settings.items()})
        data.update(robot=self.robot, order=list(self.axes), effort_unit=self.effort_unit)
        with writing_to(path.parent), open(path, 'wb') as file:
            np.savez_compressed(file, **data)
        return path


def load_map(path: str | Path) -> PerformanceMap:
    """Read a map that ``PerformanceMap.save`` wrote."""
    try:
        with np.load(path) as file:
            data = {key: file[key] for key in file.files}

        def named(prefix: str) -> dict[str, Any]:
            return {k[len(prefix) :]: v for k, v in data.items() if k.startswith(prefix)}

        return PerformanceMap(
            str(data['robot']),
            {str(name): data[f'axis_{name}'] for name in data['order']},
            {k: float(v) for k, v in named('centre_').items()},
            named('value_'),
            {k: float(v) for k, v in named('setting_').items()},
            str(data['effort_unit']),
        )
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f'{path}: expected a map in a NumPy archive, got {error}') from None


def performance_map(
    robot: Robot,
    axes: Mapping[str, Array],
    centre: Mapping[str, float] | None = None,
    acceleration: float = 0.0,
    angular_acceleration: float = 0.0,
    base: BaseMotion | None = None,
    joint_forces: bool = False,
    progress: Callable[[int], None] | None = None,
) -> PerformanceMap:
    """Judge all poses of a grid.

    Parameters
    ----------
    robot : Robot
    axes : mapping of coordinate to (k,)
        Coordinates that vary, of those that ``free_coordinates`` names, m or rad.
    centre : mapping of coordinate to float, optional
        Values of the others; those of home unless given.
    acceleration, angular_acceleration : float
        m/s^2 and rad/s^2, in the worst direction.
    base : BaseMotion, optional
        Of which tilt and acceleration count.
    joint_forces : bool
        Whether to find the largest joint force too, which takes longer.
    progress : function, optional
        Called with the number of poses that were done since the last call.
    """
    for name, value in (('acceleration', acceleration),
                        ('angular_acceleration', angular_acceleration)):  # fmt: skip
        if not (np.isfinite(value) and value >= 0.0):
            raise InputError(f'{name}: expected a number of at least 0, got {value}')
    grid = pose_grid(robot, axes, centre)
    poses, refused = allowed_poses(robot, grid.poses)
    rates = np.array([acceleration, angular_acceleration])
    external = robot.engine.external(None, base, None)
    rows, status = [], []
    peaks = []
    for start in range(0, len(poses), CHUNK):
        part = poses[start : start + CHUNK]
        found, reports = survey(robot, part, external, rates)
        rows.append(found)
        status.append(reports[:, 0])
        if joint_forces:
            peaks.append(_peak_joint_force(robot, part, base))
        if progress is not None:
            progress(len(part))
    table = np.concatenate(rows)
    codes = np.where(refused != 0, refused, np.concatenate(status))
    table[codes != 0] = np.nan
    values = _values(table, codes)
    if joint_forces:
        values['joint_force'] = np.where(codes == 0, np.concatenate(peaks), np.nan)
    values = {k: v.reshape(*grid.shape, *v.shape[1:]) for k, v in values.items()}
    settings = {'acceleration': acceleration, 'angular_acceleration': angular_acceleration}
    # What is not free differs from pose to pose: there is no one value to tell.
    centre = {k: grid.centre[k] for k in free_coordinates(robot)}
    return PerformanceMap(
        robot.name, grid.axes, centre, values, settings, effort_unit(robot)
    )


def allowed_poses(robot: Robot, poses: PlatformMotion) -> tuple[PlatformMotion, Array]:
    """Return the poses on the closures and a status for each; six freedoms need no change."""
    if robot.dof == 6:
        return poses, np.zeros(len(poses))
    motions = np.array(poses.rows)
    reports = robot.engine.run_batch(kernel.project_poses, len(motions), motions)
    status = reports[:, 0].copy()
    motions[status != 0] = poses.rows[status != 0]
    return PlatformMotion._wrap(motions), status


def survey(
    robot: Robot, poses: PlatformMotion, external: Array, rates: Array
) -> tuple[Array, Array]:
    """Return rows of ``kernels.maps.survey`` (N, 7 + n) and the reports (N, 5)."""
    engine, model = robot.engine, robot.model
    limits = np.zeros((max(1, len(model.joints)), 2))
    for j, joint in enumerate(model.joints):
        limits[engine.packed.order[j]] = joint.lower, joint.upper
    length = float(engine.packed.system[0]['length'])
    drives = np.array([
        [1.0 if model.joints[j].kind == 'prismatic' else length, model.joints[j].effort_limit]
        for j in model.actuators
    ])  # fmt: skip
    out = np.full((len(poses), kernel.FIRST_EFFORT + robot.dof), np.nan)
    reports = engine.run_batch(
        kernel.survey, len(poses), engine.options, poses.rows, external, limits, drives, rates, out
    )
    return out, reports


def _values(table: Array, codes: Array) -> dict[str, Array]:
    condition = table[:, kernel.CONDITION]
    margin = table[:, kernel.MARGIN]
    return {
        'reachable': (codes == 0) & (margin >= 0.0),
        'status': codes.astype(np.int64),
        'condition': condition,
        'margin': 1.0 / condition,
        'joint_margin': margin,
        'effort': table[:, kernel.EFFORT],
        'effort_moving': table[:, kernel.MOVING],
        'force': table[:, kernel.FORCE],
        'moment': table[:, kernel.MOMENT],
        'efforts': table[:, kernel.FIRST_EFFORT :],
    }


def _peak_joint_force(robot: Robot, poses: PlatformMotion, base: BaseMotion | None) -> Array:
    """Return the largest force in a joint or closure for each pose (N,)."""
    forces = robot.joint_forces(poses, base=base, invalid='nan')
    every = np.stack([forces.wrench[k][:, :3] for k in (*robot.joints, *robot.closures)])
    return np.linalg.norm(every, axis=2).max(axis=0)


def effort_unit(robot: Robot) -> str:
    """Return the unit of the efforts: N, N m, or both where the drives differ."""
    kinds = {robot.model.joints[j].kind for j in robot.model.actuators}
    return ' or '.join(unit for kind, unit in (('prismatic', 'N'), ('revolute', 'N m'))
                       if kind in kinds)  # fmt: skip


def reach(robot: Robot, name: str) -> tuple[float, float]:
    """Return how far from home one coordinate can go with the others held, with some margin.

    Robots without limits are followed for one and a half times their size.
    """
    home = home_coordinates(robot)
    require_free(robot, [name])
    size = max(float(np.linalg.norm(robot.home.position)),
               float(robot.engine.packed.system[0]['length']))  # fmt: skip
    far = 1.5 * size if UNITS[name] == 'm' else np.pi / 2
    steps = np.linspace(0.0, far, 200)
    ends = []
    for sign in (-1.0, 1.0):
        found = performance_map(robot, {name: home[name] + sign * steps})['reachable']
        last = int(np.argmin(found)) if not found.all() else len(steps)
        # A rotated or shifted platform often goes on where a straight line from home stops.
        ends.append(home[name] + sign * min(far, 1.25 * steps[max(1, last - 1)]))
    return ends[0], ends[1]
