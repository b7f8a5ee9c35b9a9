"""From a recording to the equations of least squares: tau = Psi p, filtered and thinned out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parallel_dynamics.errors import InputError
from parallel_dynamics.identification.logs import EffortLog
from parallel_dynamics.identification.signals import (
    automatic_cutoff,
    averaging_window,
    derivatives,
    low_pass,
    on_grid,
)
from parallel_dynamics.linear_form import ActuatedForm
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

WORKING = 1000.0
"""Hz: rate that motions and Psi are computed at, where the recording has as many samples."""
WIDER = 3.0
"""Cut-off for positions over that for Psi and efforts, so that the latter alone decides."""
THINNED = 2.0
"""Rate over cut-off of the equations: one for each independent sample."""
UNITS = 30.0
"""Ratio of recorded to expected efforts beyond which they are taken for other units."""
BLOCK = 64
"""Equations whose Psi is held in memory at a time, before it is filtered."""
TOO_FAST = 5.0
"""Ratio of speed to its limit beyond which times are taken for other units."""


@dataclass(frozen=True, eq=False)
class Observation:
    """What a recording says about a robot.

    Attributes
    ----------
    time : (M,)
        Of the equations, s.
    psi : (M, n, n_p)
        Psi, low-passed as the efforts are.
    effort : (M, n)
        Recorded efforts behind the low-pass.
    motion : PlatformMotion
        Batch at ``motion_time``, from the filtered positions.
    starts, window : (M,), (L,)
        The equations are averages over ``motion_time[start : start + L]`` with these weights.
    cutoff, rate : float, Hz
        Of the low-pass; of the recording.
    """

    source: str
    time: Array
    psi: Array
    effort: Array
    motion_time: Array
    motion: PlatformMotion
    starts: NDArray[np.intp]
    window: Array
    cutoff: float
    rate: float


Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


def observe(
    robot: Robot,
    log: EffortLog,
    cutoff: float | None = None,
    progress: Progress | None = None,
) -> Observation:
    """Turn a recording into equations.

    Positions are filtered and differentiated, the platform's motion follows from the actuators',
    and Psi and the efforts are averaged over the same windows, so that what a filter takes from
    one it takes from the other: the corners of Coulomb friction, above all.
    """
    time, values = on_grid(log.time, np.hstack([log.position, log.effort]))
    n, rate = robot.dof, log.rate
    fc = automatic_cutoff(rate, values[:, :n]) if cutoff is None else float(cutoff)
    position = low_pass(values[:, :n], rate, min(WIDER * fc, 0.4 * rate))
    velocity, acceleration = derivatives(time, position)
    # The ends of filtered signals lean on samples that are not there.
    lost = int(np.ceil(rate / fc))
    stride = max(1, round(rate / WORKING))
    picked = slice(lost, len(time) - lost, stride)
    window = averaging_window(rate / stride, fc)
    if len(time[picked]) < len(window) + 50:
        raise InputError(
            f'{log.source}: expected a longer recording, {log.duration:.3g} s is too short for a '
            f'cut-off of {fc:.3g} Hz'
        )
    _refuse_speed(robot, log, velocity[picked])

    def told(done: int, total: int) -> None:
        if progress is not None:
            progress(f'equations of {log.source}', done, total)

    motion = platform_motions(
        robot, log.source, position[picked], velocity[picked], acceleration[picked]
    )
    thin = max(1, int(rate / stride / (THINNED * fc)))
    starts = np.arange(0, len(motion) - len(window) + 1, thin, dtype=np.intp)
    found = Observation(
        log.source, time[picked][starts + len(window) // 2],
        _filtered(robot, motion, starts, window, told),
        averaged(values[picked, n:], starts, window),
        time[picked], motion, starts, window, fc, rate,
    )  # fmt: skip
    _refuse_efforts(robot, found)
    return found


def averaged(values: Array, starts: NDArray[np.intp], window: Array) -> Array:
    """Return the averages (M, n) of values (K, n) over windows."""
    return np.array([window @ values[k : k + len(window)] for k in starts])


def _filtered(
    robot: Robot,
    motion: PlatformMotion,
    starts: NDArray[np.intp],
    window: Array,
    told: Callable[[int, int], None],
) -> Array:
    """Return Psi (M, n, n_p) averaged over windows, a block at a time to spare memory."""
    psi = np.zeros((len(starts), robot.dof, len(robot.parameters)))
    for first in range(0, len(starts), BLOCK):
        told(first, len(starts))
        block = starts[first : first + BLOCK]
        rows = robot.regressor(motion[int(block[0]) : int(block[-1]) + len(window)])
        flat = rows.reshape(len(rows), -1)
        for k, start in enumerate(block - block[0]):
            psi[first + k] = (window @ flat[start : start + len(window)]).reshape(psi.shape[1:])
    told(len(starts), len(starts))
    return psi


def platform_motions(
    robot: Robot, source: str, position: Array, velocity: Array, acceleration: Array
) -> PlatformMotion:
    """Return the platform's motion (a batch) for motions (N, n) of the actuators."""
    found = robot.solve_forward_kinematics(position, invalid='nan').motion
    lost = ~np.isfinite(found.data).all(axis=1)
    if lost.any():
        k = int(np.argmax(lost))
        q = ', '.join(f'{v:.4g}' for v in position[k])
        raise InputError(
            f'{source}: expected positions of one pose, got [{q}] for {robot.name} (sample {k} '
            f'of {len(position)}), where it cannot go or is singular; check units and zero'
        )
    form = ActuatedForm(robot.engine)
    rows = form.motions(found, velocity, acceleration)
    return PlatformMotion._wrap(rows)  # type: ignore[no-any-return]


def _refuse_speed(robot: Robot, log: EffortLog, velocity: Array) -> None:
    joints = [robot.model.joints[j] for j in robot.model.actuators]
    ratio = np.abs(velocity).max(axis=0) / np.array([j.velocity_limit for j in joints])
    k = int(np.argmax(ratio))
    if ratio[k] > TOO_FAST:
        limit = joints[k].velocity_limit
        raise InputError(
            f'{log.source}: expected speeds of {robot.actuators[k]} up to {limit:.4g} (m/s or '
            f'rad/s), got {ratio[k] * limit:.4g}; give times in s and positions in m and rad'
        )


def _refuse_efforts(robot: Robot, found: Observation) -> None:
    expected = found.psi @ robot.parameters
    size = float(np.sqrt(np.mean(expected**2)))
    ratio = float(np.sqrt(np.mean(found.effort**2))) / size
    if not 1.0 / UNITS < ratio < UNITS:
        raise InputError(
            f'{found.source}: expected efforts of about {size:.3g} (rms, N or N m) for this '
            f'motion, got {ratio:.3g} times as much; give efforts in N and N m'
        )
    if float(np.sum(found.effort * expected)) < 0.0:
        raise InputError(
            f'{found.source}: expected efforts that push the way the joints count, got the '
            'opposite sign; change the sign of the efforts'
        )
