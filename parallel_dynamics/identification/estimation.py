"""Weighted least squares of the base parameters, with their deviations, and pruning.

The description counts as one more equation for each parameter, weighted by how far it is
trusted. What a recording tells next to nothing about keeps the description's value, as long as
the efforts do not contradict it (an F test of the residuals).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import qr

from parallel_dynamics.errors import InputError
from parallel_dynamics.identification.base_parameters import BaseParameters
from parallel_dynamics.spatial import Array

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

TRUST = 0.1
"""Relative deviation that parameters of a description are expected to have."""
CONTRADICTION = 2.5
"""Deviations of the description from which on it does not count."""
TELLS = 0.7
"""Ratio of deviations with and without the recording below which it tells something."""
DOUBT = 1e-5
"""Probability below which a misfit (F test) is not taken for chance."""
ESSENTIAL = 0.01 / 2.0
"""Relative standard deviation of an essential parameter: within 1 % at two deviations."""
DEPENDENT = 1e-6
"""Part of a column outside of the others, relative to the efforts, below which it is unseen."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Base parameters as a recording tells them.

    Attributes
    ----------
    values, deviation : (b,)
        Those not identified have the description's value, and what it is trusted for.
    described : (b,)
        By the description.
    identified : (b,) bool
        Whether the recording tells, not the description.
    noise : (n,)
        Standard deviation of each actuator's residual behind the low-pass.
    covariance : (b, b)
        Of ``values``; includes what an error of the parameters left at the description would do.
    condition : float
        Condition number of the identified columns, each scaled by its parameter.
    """

    base: BaseParameters
    values: Array
    deviation: Array
    described: Array
    identified: Flags
    noise: Array
    covariance: Array
    condition: float

    @property
    def relative(self) -> Array:
        """Return the relative standard deviations (b,); infinite where a value is zero."""
        size = np.abs(self.values)
        with np.errstate(divide='ignore', invalid='ignore'):
            return np.asarray(np.where(size > 0.0, self.deviation / size, np.inf))

    @property
    def essential(self) -> Flags:
        """Return which parameters (b,) are identified within 1 % at two deviations."""
        return np.asarray(self.identified & (self.relative <= ESSENTIAL))


def estimate(
    base: BaseParameters, psi: Array, effort: Array, parameters: Array, trust: float = TRUST
) -> Estimate:
    """Estimate base parameters from Psi (M, n, n_p) and efforts (M, n).

    Parameters
    ----------
    parameters : (n_p,)
        Of the description; those that are no candidates are taken as they are.
    trust : float
        How far off the description may be, relative.
    """
    if not 0.0 < trust < np.inf:
        raise InputError(f'trust: expected a finite share above 0, got {trust}')
    W = base.regressor(psi)
    y = effort - base.known_efforts(psi, parameters)
    described = base.values(parameters)
    rows, n, count = W.shape
    if rows * n < 2 * count:
        raise InputError(
            f'expected at least {2 * count} equations for {count} base parameters, got '
            f'{rows * n}; record a longer motion'
        )
    prior = trust * np.sqrt((base.matrix**2) @ np.asarray(parameters) ** 2)
    kept = _independent(W, y, described)
    noise = np.sqrt(np.mean(y**2, axis=0))
    values, _ = _Equations(W, y, noise, described).solve(kept)
    noise = _residual(W, y, values, len(kept))
    equations = _Equations(W, y, noise, described)
    kept = _prune(equations, prior, kept, rows * n)
    if not len(kept):
        raise InputError(
            f'expected a motion that tells something about {count} base parameters, got one that '
            'tells less than the description; record a more exciting motion'
        )
    values, weights = _weigh(equations, kept, described, prior)
    covariance = equations.covariance(kept, prior, weights)
    identified = np.zeros(count, bool)
    identified[kept] = True
    return Estimate(
        base, values, np.sqrt(np.diag(covariance)), described, identified,
        _residual(W, y, values, len(kept)), covariance, equations.condition(kept, values),
    )  # fmt: skip


def _independent(W: Array, y: Array, described: Array) -> Indices:
    """Return the columns that a motion tells apart, by a pivoted QR decomposition."""
    weight = np.sqrt(np.mean(y**2, axis=0))
    A = (W / weight[:, None]).reshape(-1, W.shape[-1])
    lengths = np.linalg.norm(A, axis=0)
    size = np.maximum(np.abs(described), 1e-3 * np.sqrt(A.shape[0]) / np.maximum(lengths, 1e-12))
    size[lengths == 0.0] = 0.0
    _, R, order = qr(A * size, mode='economic', pivoting=True)
    outside = np.abs(np.diag(R))
    return np.sort(order[: int(np.sum(outside > DEPENDENT * np.sqrt(A.shape[0])))])


class _Equations:
    """Normal equations of A x = y, columns of unit length, for many choices of columns."""

    def __init__(self, W: Array, y: Array, noise: Array, described: Array) -> None:
        A = (W / noise[:, None]).reshape(-1, W.shape[-1])
        self.scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        A = A / self.scale
        self.described = described * self.scale
        self.matrix = A.T @ A
        rest = (y / noise).ravel() - A @ self.described
        self.right = A.T @ rest
        self.square = float(rest @ rest)

    def solve(self, kept: Indices, prior: Array | None = None) -> tuple[Array, Array]:
        """Return all values, those not kept as described, and the covariance of those kept.

        ``prior`` (b,) are deviations of the description, which counts as one more equation for
        each parameter; infinite ones do not.
        """
        normal = self.matrix[np.ix_(kept, kept)]
        if prior is not None:
            normal = normal + np.diag(1.0 / (prior[kept] * self.scale[kept]) ** 2)
        inverse = np.linalg.inv(normal)
        values = self.described.copy()
        values[kept] += inverse @ self.right[kept]
        return values / self.scale, inverse / np.outer(self.scale[kept], self.scale[kept])

    def misfit(self, kept: Indices) -> float:
        """Return the sum of squares that is left."""
        if not len(kept):
            return self.square
        part = self.right[kept]
        M = self.matrix[np.ix_(kept, kept)]
        return float(max(self.square - part @ np.linalg.solve(M, part), 0.0))

    def most_missed(self, kept: Indices, left: Indices) -> int:
        """Return which column of those left out would explain most of what is left."""
        M = self.matrix
        rest, own = self.right[left], np.diag(M)[left]
        if len(kept):
            across = np.linalg.solve(M[np.ix_(kept, kept)], M[np.ix_(kept, left)])
            rest = rest - across.T @ self.right[kept]
            own = own - np.einsum('ij,ij->j', across, M[np.ix_(kept, left)])
        return int(left[np.argmax(rest**2 / np.maximum(own, 1e-9))])

    def covariance(self, kept: Indices, prior: Array, weights: Array) -> Array:
        """Return the covariance of all values, with what those left out may add to it."""
        count = len(self.scale)
        left = np.setdiff1d(np.arange(count), kept)
        full = np.zeros((count, count))
        full[left, left] = prior[left] ** 2
        _, own = self.solve(kept, weights)
        cross = self.matrix * np.outer(self.scale, self.scale)
        gain = -own @ cross[np.ix_(kept, left)]
        spread = gain * prior[left] ** 2
        full[np.ix_(kept, kept)] = own + spread @ gain.T
        full[np.ix_(kept, left)], full[np.ix_(left, kept)] = spread, spread.T
        return full

    def condition(self, kept: Indices, values: Array) -> float:
        """Return the condition number of the columns kept, each times its value."""
        size = np.where(values != 0.0, np.abs(values), 1.0) * self.scale
        scaled = (self.matrix * np.outer(size, size))[np.ix_(kept, kept)]
        squares = np.linalg.eigvalsh(scaled)
        return float(np.sqrt(squares[-1] / max(squares[0], 1e-15 * squares[-1])))


def _prune(equations: _Equations, prior: Array, seen: Indices, rows: int) -> Indices:
    """Return the columns that the recording tells more about than the description.

    Those whose deviation, with description and recording together, is hardly below that of the
    description alone are left out. If the others cannot explain the efforts by themselves, the
    description is wrong about some of those left out: the worst are taken in again.
    """
    scaled = np.maximum(prior * equations.scale, 1e-300)
    known = seen[prior[seen] > 0.0]
    together = equations.matrix[np.ix_(known, known)] + np.diag(1.0 / scaled[known] ** 2)
    deviation = np.sqrt(np.diag(np.linalg.inv(together)))
    kept = known[deviation < TELLS * scaled[known]]
    best, size = equations.misfit(seen), max(1, rows - len(seen))
    while len(kept) < len(seen):
        gain = equations.misfit(kept) - best
        missing = len(seen) - len(kept)
        if gain / missing <= stats.f.isf(DOUBT, missing, size) * best / size:
            break
        kept = np.append(kept, equations.most_missed(kept, np.setdiff1d(seen, kept)))
    return np.sort(kept)


def _weigh(
    equations: _Equations, kept: Indices, described: Array, prior: Array
) -> tuple[Array, Array]:
    """Return values by recording and description, and the deviations the latter counted with.

    Where both contradict each other the recording is right.
    """
    weights = np.where(prior > 0.0, prior, np.inf)
    while True:
        values, _ = equations.solve(kept, weights)
        off = kept[np.abs(values - described)[kept] > CONTRADICTION * weights[kept]]
        if not len(off):
            return values, weights
        weights[off] = np.inf


def _residual(W: Array, y: Array, values: Array, count: int) -> Array:
    """Return the residuals' standard deviation (n,) of each actuator."""
    free = max(1.0, len(y) - count / y.shape[1])
    residual = y - W @ values
    floor = 1e-9 * np.abs(y).max()
    return np.asarray(np.maximum(np.sqrt((residual**2).sum(axis=0) / free), floor))
