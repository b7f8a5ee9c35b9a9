"""Arithmetic operations of this engine's own programs, counted on their tapes."""

from __future__ import annotations

import numpy as np

import parallel_dynamics as pd
from parallel_dynamics.unrolling.machine_code import needed_places
from parallel_dynamics.unrolling.tracing import (
    DIRECT,
    INVERSE,
    NOTHING,
    Recording,
    Sample,
    record,
)

READ = ('parameter', 'input')


def count(recording: Recording) -> int:
    """Operations that results and guards rest on; reading a number is none."""
    operations = recording.tape.operations
    return sum(operations[place][0] not in READ for place in needed_places(recording))


def own_operations(robot: pd.Robot, m: pd.PlatformMotion, efforts: np.ndarray) -> dict[str, int]:
    """Count what the code written for a robot does for one state."""
    packed = robot.engine.packed
    positions = np.zeros(len(robot.joints))
    positions[list(packed.order)] = robot.inverse_kinematics(m).position
    sample = Sample(m.data, np.asarray(efforts), positions)
    return {task: count(record(packed, task, NOTHING, sample)) for task in (INVERSE, DIRECT)}
