"""An unknown load on the platform, from one short motion of a robot that is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.identification.base_parameters import group_columns
from parallel_dynamics.identification.logs import EffortLog
from parallel_dynamics.identification.observation import Progress, observe
from parallel_dynamics.linear_form import BODY_SUFFIXES
from parallel_dynamics.robot import Robot
from parallel_dynamics.simulation import Payload
from parallel_dynamics.spatial import Array, parallel_axis

TELLING = 3.0
"""Deviations that a parameter must have to be told from zero."""


@dataclass(frozen=True, eq=False)
class PayloadEstimate:
    """A load on the platform, as far as the robot feels it.

    Attributes
    ----------
    names : tuple of str
        Of the parameters that can be told from zero: ``m``, ``mcx``, ``ixx`` and so on, about the
        platform frame. A robot that only translates feels nothing but the mass.
    values, deviation : (k,)
        kg, kg m, kg m^2.
    noise : (n,)
        Residual of each actuator behind the low-pass.
    """

    names: tuple[str, ...]
    values: Array
    deviation: Array
    noise: Array

    def __getitem__(self, name: str) -> float:
        """Return a parameter; zero if it does not show."""
        return float(self.values[self.names.index(name)]) if name in self.names else 0.0

    @property
    def mass(self) -> float:
        """kg."""
        return self['m']

    @property
    def com(self) -> Array:
        """Centre of mass (3,) in the platform frame, m; zero where the robot cannot tell."""
        return np.array([self[f'mc{axis}'] for axis in 'xyz']) / self.mass

    @property
    def inertia(self) -> Array:
        """Tensor (3, 3) about the centre of mass, platform axes, kg m^2; zero if not told."""
        about = np.array([[self[f'i{min(a, b)}{max(a, b)}'] for b in 'xyz'] for a in 'xyz'])
        if not all(f'i{axis}{axis}' in self.names for axis in 'xyz'):
            return np.zeros((3, 3))
        return np.asarray(parallel_axis(-self.mass, self.com, about))

    @property
    def payload(self) -> Payload:
        """The load as ``Simulator`` and ``Robot.with_payload`` take it, made physical."""
        return Payload(self.mass, self.com, nearest_tensor(self.inertia))


def identify_payload(
    robot: Robot,
    log: EffortLog,
    cutoff: float | None = None,
    progress: Progress | None = None,
) -> PayloadEstimate:
    """Identify a load on the platform of a known robot.

    Parameters
    ----------
    robot : Robot
        Without the load, its friction and masses as they are (by :func:`identify`, say).
    log : EffortLog
        A short motion with the load, a few seconds.
    progress : callable, optional
        Called with what is being done, how much of it is done, and how much there is.

    Raises
    ------
    InputError
        If the motion does not show the load.
    """
    seen = observe(robot, log, cutoff, progress)
    names = robot.parameter_names
    columns = [names.index(f'{robot.model.bodies[1].name}/{suffix}') for suffix in BODY_SUFFIXES]
    psi = seen.psi
    base = group_columns(psi.reshape(-1, psi.shape[-1]), names, columns)
    short = tuple(label.rpartition('/')[2] for label in base.labels)
    rest = seen.effort - psi @ robot.parameters
    W, told = base.regressor(psi), list(range(len(base)))
    values, deviation, noise = np.zeros(0), np.zeros(0), np.zeros(rest.shape[1])
    while told:
        values, deviation, noise = _solve(W[..., told], rest)
        doubt = np.array([np.inf if short[k] == 'm' else np.abs(v) / d
                          for k, v, d in zip(told, values, deviation)])  # fmt: skip
        if doubt.min() >= TELLING:
            break
        told.pop(int(np.argmin(doubt)))
    found = PayloadEstimate(tuple(short[k] for k in told), values, deviation, noise)
    if 'm' not in found.names:
        raise InputError(
            f'{log.source}: expected a load that shows in the efforts, got no efforts that depend '
            'on a mass'
        )
    spread = float(deviation[found.names.index('m')])
    if found.mass <= TELLING * spread:
        raise InputError(
            f'{log.source}: expected a load that shows in the efforts, got {found.mass:.3g} kg '
            f'with a deviation of {spread:.2g} kg; move more, or there is no load'
        )
    return found


def _solve(W: Array, rest: Array) -> tuple[Array, Array, Array]:
    """Return values, deviations and noise of each actuator by weighted least squares."""
    noise = np.ones(rest.shape[1])
    for _ in range(3):
        A = (W / noise[:, None]).reshape(-1, W.shape[-1])
        scale = np.linalg.norm(A, axis=0)
        Q, R = np.linalg.qr(A / scale)
        values = np.linalg.solve(R, Q.T @ (rest / noise).ravel()) / scale
        inverse = np.linalg.inv(R) / scale[:, None]
        left = rest - W @ values
        noise = np.maximum(np.sqrt(np.mean(left**2, axis=0)), 1e-9 * np.abs(rest).max())
    return values, np.sqrt(np.sum(inverse**2, axis=1)), noise


def nearest_tensor(tensor: Array) -> Array:
    """Return the tensor of a body nearest to a symmetric one, by its principal moments."""
    symmetric = 0.5 * (tensor + tensor.T)
    second = 0.5 * np.trace(symmetric) * np.eye(3) - symmetric  # of the mass distribution
    values, vectors = np.linalg.eigh(second)
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(np.trace(clipped) * np.eye(3) - clipped)
