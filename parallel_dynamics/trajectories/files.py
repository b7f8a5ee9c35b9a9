"""Motions in CSV files, one row for each time.

The header names the columns: ``time,x,y,z`` and either ``qx,qy,qz,qw`` (base <- platform) or
``roll,pitch,yaw`` (rad, about fixed x, y, z in this order, as in URDF); then, if given,
``vx,vy,vz,wx,wy,wz`` and ``ax,ay,az,alx,aly,alz``: velocity and acceleration of the platform's
origin and of its rotation, base axes. Columns may stand in any order; lines that start with # are
comments.
"""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from parallel_dynamics.errors import InputError
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.resources import writing_to
from parallel_dynamics.spatial import Array
from parallel_dynamics.trajectories.spline import Spline, checked_times

POSITION = ('x', 'y', 'z')
QUATERNION = ('qx', 'qy', 'qz', 'qw')
ANGLES = ('roll', 'pitch', 'yaw')
TWIST = ('vx', 'vy', 'vz', 'wx', 'wy', 'wz')
TWIST_RATE = ('ax', 'ay', 'az', 'alx', 'aly', 'alz')
_GROUPS = (('time',), POSITION, QUATERNION, ANGLES, TWIST, TWIST_RATE)


def read_trajectory(path: str | PathLike[str]) -> Spline:
    """Read a file as a smooth trajectory; what is missing of the derivatives is filled in."""
    columns = _read_columns(Path(path))
    place = f'{path}'
    try:
        return Spline(
            columns['time'][:, 0], columns['position'], columns['rotation'],
            columns.get('twist'), columns.get('twist_rate'),
        )  # fmt: skip
    except InputError as error:
        raise InputError(f'{place}: {error}', **error.evidence) from None


def read_motion(path: str | PathLike[str]) -> tuple[Array, PlatformMotion]:
    """Read times (N,) and motions from a file; missing derivatives come from a spline."""
    columns = _read_columns(Path(path))
    t = columns['time'][:, 0]
    if 'twist_rate' in columns:
        v, a = columns['twist'], columns['twist_rate']
        return t, PlatformMotion(
            columns['position'], columns['rotation'], v[:, :3], v[:, 3:], a[:, :3], a[:, 3:]
        )
    return t, read_trajectory(path).sample(t - t[0])


def write_motion(path: str | PathLike[str], times: ArrayLike, motion: PlatformMotion) -> None:
    """Write times (N,) and a batch of motions, with all derivatives, as a CSV file."""
    t = np.asarray(times, dtype=float)
    if motion.batch is None or t.shape != (motion.batch,):
        raise InputError(f'times: expected one for each of {motion.batch} motions, got {t.shape}')
    quaternion = Rotation.from_matrix(np.array(motion.rotation)).as_quat()
    # q and -q are the same rotation; a column without jumps is easier to plot.
    flips = np.cumprod(np.where(np.sum(quaternion[1:] * quaternion[:-1], axis=1) < 0.0, -1.0, 1.0))
    quaternion[1:] *= flips[:, None]
    table = np.column_stack([t, motion.position, quaternion, motion.twist, motion.twist_rate])
    header = ','.join(['time', *POSITION, *QUATERNION, *TWIST, *TWIST_RATE])
    with writing_to(Path(path).parent):
        np.savetxt(path, table, delimiter=',', header=header, comments='', fmt='%.17g')


def _read_columns(path: Path) -> dict[str, Array]:
    """Return time (N, 1), position, rotation and, where there, twist and twist_rate."""
    try:
        text = path.read_text(encoding='utf-8-sig').splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f'{path}: cannot be read as a CSV file of motions ({error})') from None
    lines = [(k + 1, line) for k, line in enumerate(text)
             if line.strip() and not line.lstrip().startswith('#')]  # fmt: skip
    if len(lines) < 3:
        raise InputError(
            f'{path}: expected a header and at least two rows, got {len(lines)} lines'
        )
    names = [name.strip() for name in next(csv.reader([lines[0][1]]))]
    groups = _groups(path, names)
    data = np.array([_numbers(path, number, line, len(names)) for number, line in lines[1:]])
    columns = {group: data[:, [names.index(name) for name in group]] for group in groups}
    found = {'time': columns[('time',)], 'position': columns[POSITION]}
    checked_times(found['time'][:, 0])
    if QUATERNION in columns:
        found['rotation'] = _rotations(path, columns[QUATERNION], lines)
    else:
        found['rotation'] = Rotation.from_euler('xyz', columns[ANGLES]).as_matrix()
    if TWIST in columns:
        found['twist'] = columns[TWIST]
        if TWIST_RATE in columns:
            found['twist_rate'] = columns[TWIST_RATE]
    return found


def _groups(path: Path, names: list[str]) -> list[tuple[str, ...]]:
    """Return the groups of columns that a header has, or refuse the header."""
    known = {name for group in _GROUPS for name in group}
    faults = [f'unknown column {name!r}' for name in names if name not in known]
    faults += [
        f'column {name!r} appears twice' for name in {n for n in names if names.count(n) > 1}
    ]
    present: list[tuple[str, ...]] = [group for group in _GROUPS if set(group) & set(names)]
    for group in present:
        missing = [name for name in group if name not in names]
        if missing:
            faults.append(f'{", ".join(missing)} missing of {",".join(group)}')
    for group in (('time',), POSITION):
        if group not in present:
            faults.append(f'{",".join(group)} missing')
    if (QUATERNION in present) == (ANGLES in present):
        faults.append('expected either qx,qy,qz,qw or roll,pitch,yaw')
    if TWIST_RATE in present and TWIST not in present:
        faults.append('accelerations without velocities')
    if faults:
        raise InputError(
            f'{path}: header: {"; ".join(faults)}. Expected time,x,y,z,qx,qy,qz,qw and, if known, '
            f'{",".join(TWIST)} and {",".join(TWIST_RATE)}'
        )
    return present


def _numbers(path: Path, number: int, line: str, count: int) -> list[float]:
    cells = next(csv.reader([line]))
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        raise InputError(f'{path}: line {number}: expected numbers, got {line!r}') from None
    if len(values) != count or not np.isfinite(values).all():
        raise InputError(
            f'{path}: line {number}: expected {count} finite numbers like the header, '
            f'got {len(values)}: {line!r}'
        )
    return values


def _rotations(path: Path, quaternions: Array, lines: list[tuple[int, str]]) -> Array:
    norms = np.linalg.norm(quaternions, axis=1)
    if (np.abs(norms - 1.0) > 1e-3).any():
        k = int(np.argmax(np.abs(norms - 1.0) > 1e-3))
        raise InputError(
            f'{path}: line {lines[k + 1][0]}: expected a unit quaternion, got one of length '
            f'{norms[k]:.6g}'
        )
    return np.asarray(Rotation.from_quat(quaternions).as_matrix())
