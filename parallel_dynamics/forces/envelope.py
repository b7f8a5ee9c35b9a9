"""The largest loads of every joint over a motion: what a designer sizes bearings by."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError
from parallel_dynamics.joint_forces import COMPONENTS, JointForces
from parallel_dynamics.model import RobotModel
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

QUANTITIES = (
    'force', 'axial_force', 'radial_force', 'moment', 'axial_moment', 'tilting_moment',
)  # fmt: skip
"""What an envelope holds the largest value of, in N and N m."""


@dataclass(frozen=True)
class Peak:
    """Largest value of a quantity (N or N m) and its time (s)."""

    value: float
    time: float


@dataclass(frozen=True)
class JointEnvelope:
    """Largest loads of one joint or closure over a motion.

    Axial and radial parts are those along and across the joint's axis (of a closure that turns or
    slides about z: that z; a ball or a weld has none, and NaN there). The axial part of the
    actuated direction contains the actuator's effort. ``unique`` names the components that
    equilibrium fixed at all times, and ``determinate`` tells whether these are all six.
    """

    name: str
    kind: str
    force: Peak
    axial_force: Peak
    radial_force: Peak
    moment: Peak
    axial_moment: Peak
    tilting_moment: Peak
    unique: tuple[str, ...]
    determinate: bool


def load_axis(model: RobotModel, name: str) -> Array | None:
    """Axis (3,) of a joint or closure in the axes of its wrench; None if it has none."""
    for joint in model.joints:
        if joint.name == name:
            return joint.axis
    kind = next(c.kind for c in model.closures if c.name == name)
    return np.array([0.0, 0.0, 1.0]) if kind in ('revolute', 'cylindrical', 'plane') else None


def envelope(robot: Robot, forces: JointForces, times: ArrayLike) -> list[JointEnvelope]:
    """Reduce the forces of a batch to the largest loads of each joint and closure.

    Parameters
    ----------
    robot : Robot
    forces : JointForces
        Of a batch of N states. States that are NaN (invalid ones) do not count.
    times : (N,)
        Of the states, s.
    """
    t = _checked_times(forces, times)
    kinds = {joint.name: joint.kind for joint in robot.model.joints}
    kinds |= {closure.name: closure.kind for closure in robot.model.closures}
    fixed = forces.determinate_array[forces.valid]
    rows = []
    for k, joint in enumerate(forces.names):
        force, moment = forces.array[:, k, :3], forces.array[:, k, 3:]
        axis = load_axis(robot.model, joint)
        peaks = (*_peaks(force, axis, t), *_peaks(moment, axis, t))
        unique = tuple(name for c, name in enumerate(COMPONENTS) if fixed[:, k, c].all())
        rows.append(JointEnvelope(joint, kinds[joint], *peaks, unique, len(unique) == 6))
    return rows


def _checked_times(forces: JointForces, times: ArrayLike) -> Array:
    t = np.asarray(times, float)
    if forces.array.ndim != 3 or t.shape != (len(forces.array),) or not len(t):
        raise InputError(
            'times: expected the forces of a batch and one time for each state, got wrenches of '
            f'shape {forces.array.shape} and times of shape {t.shape}'
        )
    return t


def _peaks(vectors: Array, axis: Array | None, times: Array) -> tuple[Peak, Peak, Peak]:
    """Largest size, axial part and part across the axis, of vectors (N, 3)."""
    size = np.linalg.norm(vectors, axis=1)
    if axis is None:
        return _peak(size, times), Peak(np.nan, np.nan), Peak(np.nan, np.nan)
    along = _combined(axis[None], vectors)[:, 0]
    across = np.linalg.norm(_combined(np.eye(3) - np.outer(axis, axis), vectors), axis=1)
    return _peak(size, times), _peak(np.abs(along), times), _peak(across, times)


def _combined(matrix: Array, vectors: Array) -> Array:
    """``matrix @ v`` for vectors (N, 3); a NaN spoils only what it has a part in."""
    parts = np.where(matrix != 0.0, vectors[:, None, :], 0.0) * matrix
    return np.asarray(parts.sum(axis=-1))


def _peak(values: Array, times: Array) -> Peak:
    if not np.isfinite(values).any():
        return Peak(np.nan, np.nan)
    k = int(np.nanargmax(values))
    return Peak(float(values[k]), float(times[k]))


def write_envelope(path: str | PathLike[str], rows: list[JointEnvelope]) -> None:
    """Write an envelope as CSV: name, kind, each quantity with its time, what is unique."""
    header = []
    for field in fields(JointEnvelope):
        header += [field.name, f'{field.name}_time'] if field.name in QUANTITIES else [field.name]
    with open(path, 'w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for row in rows:
            cells: list[object] = [row.name, row.kind]
            for quantity in QUANTITIES:
                peak: Peak = getattr(row, quantity)
                cells += [f'{peak.value:.9g}', f'{peak.time:.9g}']
            writer.writerow([*cells, ' '.join(row.unique), row.determinate])


def write_forces(
    path: str | PathLike[str], robot: Robot, forces: JointForces, times: ArrayLike
) -> None:
    """Write all wrenches over time as CSV.

    Columns: time, ``<actuator>/effort``, then ``<name>/fx`` to ``<name>/mz``; N and N m.
    """
    t = _checked_times(forces, times)
    names = [f'{name}/{part}' for name in forces.names for part in COMPONENTS]
    efforts = [f'{name}/effort' for name in robot.actuators]
    table = np.column_stack([t, forces.efforts, forces.array.reshape(len(t), -1)])
    header = ','.join(['time', *efforts, *names])
    np.savetxt(path, table, delimiter=',', header=header, comments='', fmt='%.9g')
