"""Recordings as identification reads them: actuator positions and efforts over time, checked.

A recording that cannot be used is refused with one sentence, before anything is computed from it.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.recording import JointLog, Recording
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

SHORTEST = 2.0
"""Seconds below which a recording tells too little."""
RATES = (20.0, 50e3)
"""Hz, between which sampling rates are taken for real ones."""
LONGEST_GAP = 0.05
"""Seconds without a sample that are bridged by straight lines."""
LEAST_TRAVEL = 0.004
"""Share of an actuator's range that the busiest one must use."""
TURN = 2.0 * np.pi
"""rad or m: range that actuators without limits count with."""


@dataclass(frozen=True, eq=False)
class EffortLog:
    """Actuators over time, in the robot's order.

    Attributes
    ----------
    time : (N,)
        Seconds, increasing.
    position, effort : (N, n)
        m or rad, N or N m.
    source : str
        Where it comes from, for messages.
    """

    time: Array
    position: Array
    effort: Array
    source: str = 'recording'

    @property
    def rate(self) -> float:
        """Mean sampling rate, Hz."""
        return float((len(self.time) - 1) / (self.time[-1] - self.time[0]))

    @property
    def duration(self) -> float:
        """Seconds from the first sample to the last."""
        return float(self.time[-1] - self.time[0])


def read_log(
    path: str | PathLike[str], robot: Robot, topic: str = 'joint_states'
) -> EffortLog:
    """Read a recording and check it for a robot.

    A CSV file has the columns ``time``, ``position[JOINT]`` and ``effort[JOINT]``, as the export
    of recordings writes them; anything else is read as a rosbag2 bag or MCAP file with joint
    states and their efforts on ``topic``.
    """
    path = Path(path)
    if path.suffix.lower() == '.csv':
        return make_log(robot, _read_csv(path), path.name)
    log = Recording(path).joint_states(topic, robot.actuators)
    return make_log(robot, log, path.name)


def make_log(robot: Robot, log: JointLog, source: str = 'recording') -> EffortLog:
    """Return the actuators' columns of joint states, or raise InputError with what is wrong."""
    missing = [name for name in robot.actuators if name not in log.names]
    if missing:
        raise InputError(
            f'{source}: expected all actuators of {robot.name}, found no column of '
            f'{", ".join(missing)}; it has {", ".join(log.names) or "no joints"}'
        )
    chosen = log.of(robot.actuators)
    time, position, effort = chosen.time, chosen.position, chosen.effort
    if len(time) < 2:
        raise InputError(f'{source}: expected a recording of a motion, got {len(time)} samples')
    # A driver that does not measure sends nothing, or the same number all the time.
    silent = [name for name, e in zip(robot.actuators, effort.T)
              if np.isnan(e).all() or (e == e[0]).all()]  # fmt: skip
    if silent:
        raise InputError(
            f'{source}: expected efforts of the actuators beside their positions, got none of '
            f'{", ".join(silent)}; record joint states with effort'
        )
    _refuse_gaps_in_values(robot, source, time, position, effort)
    if (np.diff(time) < 0.0).any():
        k = int(np.argmax(np.diff(time) < 0.0))
        raise InputError(
            f'{source}: expected times that increase, got {time[k + 1]:.6f} s after '
            f'{time[k]:.6f} s (row {k + 2}); cut the recording there or sort it'
        )
    keep = np.concatenate([[True], np.diff(time) > 0.0])  # a message that came twice
    log_ = EffortLog(time[keep], position[keep], effort[keep], source)
    _refuse_times(log_)
    _refuse_positions(robot, log_)
    return log_


def _refuse_gaps_in_values(
    robot: Robot, source: str, time: Array, position: Array, effort: Array
) -> None:
    for what, values in (('time', time[:, None]), ('position', position), ('effort', effort)):
        bad = ~np.isfinite(values)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            of = '' if what == 'time' else f' of {robot.actuators[column]}'
            raise InputError(
                f'{source}: expected finite numbers, got {int(bad.sum())} NaN or infinite values, '
                f'the first as {what}{of} in row {row + 1}; cut these rows out'
            )


def _refuse_times(log: EffortLog) -> None:
    if len(log.time) < 2:
        raise InputError(f'{log.source}: expected a recording of a motion, got one instant')
    low, high = RATES
    if not low <= log.rate <= high:
        raise InputError(
            f'{log.source}: expected {low:g} to {high:g} samples a second, got {log.rate:.4g}; '
            'times are in seconds'
        )
    if log.duration < SHORTEST:
        raise InputError(
            f'{log.source}: expected at least {SHORTEST:g} s of motion, got {log.duration:.3g} s; '
            'record a longer one'
        )
    steps = np.diff(log.time)
    k = int(np.argmax(steps))
    if steps[k] > max(LONGEST_GAP, 4.0 / log.rate):
        raise InputError(
            f'{log.source}: expected samples without gaps, got none for {steps[k]:.3g} s after '
            f'{log.time[k]:.3f} s; cut the recording there'
        )


def actuator_ranges(robot: Robot) -> tuple[Array, Array]:
    """Return middle and half width (n,) of the actuators' ranges; a turn where unlimited."""
    joints = [robot.model.joints[j] for j in robot.model.actuators]
    finite = [np.isfinite(j.lower) and np.isfinite(j.upper) for j in joints]
    middle = [0.5 * (j.lower + j.upper) if f else 0.0 for j, f in zip(joints, finite)]
    half = [0.5 * (j.upper - j.lower) if f else TURN for j, f in zip(joints, finite)]
    return np.array(middle), np.array(half)


def _refuse_positions(robot: Robot, log: EffortLog) -> None:
    middle, half = actuator_ranges(robot)
    beyond = np.abs(log.position - middle).max(axis=0) / half
    if beyond.max() > 1.2:
        k = int(np.argmax(beyond))
        low, high = middle[k] - half[k], middle[k] + half[k]
        turns = [robot.model.joints[j].kind == 'revolute' for j in robot.model.actuators]
        looks = [
            name for name, factor in (
                ('1000 times too large', 1000.0),
                ('like degrees', np.where(turns, np.degrees(1.0), 1.0)),
            )
            if (np.abs(log.position / factor - middle).max(axis=0) < 1.2 * half).all()
        ]  # fmt: skip
        hint = f'; they look {" or ".join(looks)}' if looks else ''
        raise InputError(
            f'{log.source}: expected positions of {robot.actuators[k]} between {low:.4g} and '
            f'{high:.4g} (m or rad), got up to {np.abs(log.position[:, k]).max():.4g}{hint}; '
            'give m and rad'
        )
    travel = np.ptp(log.position, axis=0) / (2.0 * half)
    if travel.max() < LEAST_TRAVEL:
        k = int(np.argmax(travel))
        large = 1000.0 * np.abs(log.position - middle).max(axis=0) / half
        hint = ''
        if 1000.0 * travel.max() > LEAST_TRAVEL and large.max() < 1.2:
            hint = ', or positions 1000 times too small'
        raise InputError(
            f'{log.source}: expected an exciting motion, got a robot that hardly moves '
            f'({robot.actuators[k]} uses {100.0 * travel[k]:.2g} % of its range, the others '
            f'less){hint}; record one made by `parallel-dynamics excite`'
        )


def _read_csv(path: Path) -> JointLog:
    try:
        with open(path, newline='', encoding='utf-8-sig') as file:
            rows = [row for row in csv.reader(file) if row and not row[0].startswith('#')]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f'{path}: cannot be read as a CSV file ({error})') from None
    header = [cell.strip() for cell in rows[0]] if rows else []
    if 'time' not in header or not any(cell.startswith('position[') for cell in header):
        raise InputError(
            f'{path.name}: expected a header with time, position[JOINT] and effort[JOINT], got '
            f'{",".join(header[:8]) or "nothing"}'
        )
    twice = sorted({cell for cell in header if header.count(cell) > 1})
    if twice:
        raise InputError(
            f'{path.name}: expected every column once, got {", ".join(twice)} more than once'
        )
    table = np.full((len(rows) - 1, len(header)), np.nan)
    for k, row in enumerate(rows[1:]):
        if len(row) != len(header):
            raise InputError(
                f'{path.name}: expected {len(header)} columns, got {len(row)} in line {k + 2}'
            )
        for c, cell in enumerate(row):
            try:
                table[k, c] = float(cell) if cell.strip() else np.nan
            except ValueError:
                raise InputError(
                    f'{path.name}: expected numbers, got {cell!r} as {header[c]} in line {k + 2}'
                ) from None
    names = [cell[len('position[') : -1] for cell in header if cell.startswith('position[')]
    columns = {
        kind: np.stack(
            [table[:, header.index(f'{kind}[{name}]')] if f'{kind}[{name}]' in header
             else np.full(len(table), np.nan) for name in names], axis=1,
        )
        for kind in ('position', 'velocity', 'effort')
    }  # fmt: skip
    return JointLog(table[:, header.index('time')], tuple(names), **columns)
