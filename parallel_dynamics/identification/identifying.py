"""From recordings to a robot: observe, estimate, make it physical, and try it on a second run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.identification.base_parameters import BaseParameters, find_base_parameters
from parallel_dynamics.identification.estimation import TRUST, Estimate, estimate
from parallel_dynamics.identification.logs import EffortLog
from parallel_dynamics.identification.observation import (
    Observation,
    Progress,
    averaged,
    observe,
)
from parallel_dynamics.identification.physical import physical_parameters
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

UNEXPLAINED = 0.5
"""Share of an actuator's efforts that may be left by the identified robot, root mean square."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A recording beside what two robots predict for it.

    Attributes
    ----------
    time : (M,)
        s.
    measured, identified, described : (M, n)
        Efforts behind the low-pass: recorded, of the identified robot, of the description.
    """

    source: str
    time: Array
    measured: Array
    identified: Array
    described: Array
    cutoff: float
    rate: float

    def residual(self) -> Array:
        """Return the root mean square (n,) that the identified robot does not explain."""
        return np.asarray(np.sqrt(np.mean((self.measured - self.identified) ** 2, axis=0)))

    def residual_of_description(self) -> Array:
        """Return the same for the description."""
        return np.asarray(np.sqrt(np.mean((self.measured - self.described) ** 2, axis=0)))

    def peak(self) -> Array:
        """Return the greatest measured effort (n,)."""
        return np.asarray(np.abs(self.measured).max(axis=0))


@dataclass(frozen=True, eq=False)
class Identification:
    """What recordings say about a robot.

    Attributes
    ----------
    described, robot : Robot
        Before and after.
    estimate : Estimate
        Base parameters with their deviations.
    consistent : bool
        Whether all bodies of ``robot`` are physical.
    changed : float
        What that cost: largest change of an identified base parameter, in its deviations.
    delay : float
        By how much efforts seem to come after positions, s, with its deviation.
    training, validation : Trial
        The recording itself, and the second one if there is one.
    """

    described: Robot
    robot: Robot
    estimate: Estimate
    consistent: bool
    changed: float
    delay: tuple[float, float]
    training: Trial
    validation: Trial | None


def identify(
    robot: Robot,
    data: EffortLog,
    validate: EffortLog | None = None,
    *,
    base: BaseParameters | None = None,
    cutoff: float | None = None,
    friction: str = 'actuated',
    trust: float = TRUST,
    consistent: bool = True,
    progress: Progress | None = None,
) -> Identification:
    """Identify a robot from a recording.

    Parameters
    ----------
    robot : Robot
        As described; how far off that may be, relative, is ``trust``.
    data, validate : EffortLog
        Recordings to identify from and to try the result on.
    cutoff : float, optional
        Hz, of the zero-phase low-pass; by default five times what the motion contains.
    friction : str
        Joints whose friction is identified: 'actuated', 'all' or 'none'.
    consistent : bool
        Take real bodies only: positive mass, possible moments of inertia, friction that brakes.
    progress : callable, optional
        Called with what is being done, how much of it is done, and how much there is.
    """
    say = (lambda what, done, total: None) if progress is None else progress
    say('base parameters', 0, 1)
    chosen = find_base_parameters(robot, friction=friction) if base is None else base
    seen = observe(robot, data, cutoff, say)
    second = None if validate is None else observe(robot, validate, seen.cutoff, say)
    say('least squares', 0, 1)
    try:
        found = estimate(chosen, seen.psi, seen.effort, robot.parameters, trust)
    except InputError as error:
        raise InputError(f'{data.source}: {error}') from None
    say('physical bodies', 0, 1)
    fit = physical_parameters(robot, found, trust, consistent)
    better = robot.with_parameters(fit.parameters)
    say('residuals', 0, 1)
    training = _trial(robot, better, seen)
    _refuse_unexplained(robot, training)
    return Identification(
        robot, better, found, consistent, fit.changed, _delay(found, seen, robot, better),
        training, None if second is None else _trial(robot, better, second),
    )  # fmt: skip


def _trial(described: Robot, robot: Robot, seen: Observation) -> Trial:
    return Trial(
        seen.source, seen.time, seen.effort, seen.psi @ robot.parameters,
        seen.psi @ described.parameters, seen.cutoff, seen.rate,
    )  # fmt: skip


def _refuse_unexplained(robot: Robot, trial: Trial) -> None:
    """Refuse efforts that no parameters make: those of another joint, sign, unit or time."""
    size = np.sqrt(np.mean(trial.measured**2, axis=0))
    share = trial.residual() / np.maximum(size, 1e-300)
    k = int(np.argmax(share))
    if not share[k] < UNEXPLAINED:
        raise InputError(
            f'{trial.source}: expected efforts that some parameters of {robot.name} explain, got '
            f'those of {robot.actuators[k]} of {size[k]:.3g} rms, of which '
            f'{trial.residual()[k]:.3g} are left; check order, signs, units and zeros of '
            'positions and efforts'
        )


def _delay(
    found: Estimate, seen: Observation, robot: Robot, better: Robot
) -> tuple[float, float]:
    """Return how late the efforts are, s, and the deviation: the coefficient of -d(effort)/dt."""
    W = found.base.regressor(seen.psi)[..., found.identified]
    known = found.base.known_efforts(seen.psi, robot.parameters)
    left = found.base.regressor(seen.psi)[..., ~found.identified]
    rest = seen.effort - known - left @ found.values[~found.identified]
    steep = np.gradient(better.inverse_dynamics(seen.motion), seen.motion_time, axis=0)
    rate = -averaged(steep, seen.starts, seen.window)
    A = np.concatenate([W, rate[..., None]], axis=-1) / found.noise[:, None]
    A = A[1:-1].reshape(-1, A.shape[-1])
    y = (rest / found.noise)[1:-1].ravel()
    scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    inverse = np.linalg.pinv((A / scale).T @ (A / scale))
    solution = inverse @ ((A / scale).T @ y) / scale
    return float(solution[-1]), float(np.sqrt(inverse[-1, -1]) / scale[-1])
