"""Base parameters: what of the parameters can be seen in the actuators' efforts.

Columns of Psi without effect are dropped; columns that depend on others over all motions are
grouped with them (codourey_burdet_1997, after (34)). With W = [W_1, W_2] over many motions, W_1
independent and W_2 = W_1 K, efforts are W_1 (p_1 + K p_2): the bracket is the base parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr

from parallel_dynamics.errors import InputError
from parallel_dynamics.identification.motions import random_motions
from parallel_dynamics.linear_form import BODY_SUFFIXES, JOINT_SUFFIXES
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

RANK_TOLERANCE = 1e-7
"""Part of a column's length, outside of those before it, below which it counts as dependent."""
LEAST_SHARE = 1e-3
"""Share of the efforts that any base parameter is expected to make at least."""
ZERO_TOLERANCE = 1e-10
"""Length of a column, relative to the longest of its kind, below which it has no effect."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Base parameters of a robot: ``values = matrix @ parameters``.

    Attributes
    ----------
    names : tuple of str
        All parameters of the robot.
    candidates : tuple of int
        Those that are looked at; the others count as known.
    no_effect : tuple of int
        Candidates that no effort depends on.
    independent : tuple of int
        The parameter that each base parameter is called by; its column of Psi belongs to it.
    matrix : (b, n_p)
        Grouping relations.
    """

    names: tuple[str, ...]
    candidates: tuple[int, ...]
    no_effect: tuple[int, ...]
    independent: tuple[int, ...]
    matrix: Array

    def __len__(self) -> int:
        return len(self.independent)

    @property
    def labels(self) -> list[str]:
        """Return the name of each base parameter, that of its independent parameter."""
        return [self.names[k] for k in self.independent]

    def values(self, parameters: ArrayLike) -> Array:
        """Return the base parameters (b,) of physical parameters (n_p,)."""
        return np.asarray(self.matrix @ np.asarray(parameters, float))

    def regressor(self, psi: Array) -> Array:
        """Return the columns (..., n, b) of Psi (..., n, n_p) that belong to base parameters."""
        return psi[..., list(self.independent)]

    def known_efforts(self, psi: Array, parameters: Array) -> Array:
        """Return the efforts (..., n) of the parameters that are not candidates."""
        known = np.array(parameters, float)
        known[list(self.candidates)] = 0.0
        return np.asarray(psi @ known)

    def members(self, base: int) -> list[tuple[str, float]]:
        """Return the physical parameters that add up to a base parameter, with their factors."""
        row = self.matrix[base]
        first = self.independent[base]
        others = [k for k in np.flatnonzero(row).tolist() if k != first]
        return [(self.names[k], float(row[k])) for k in [first, *others]]

    def relation(self, base: int, most: int = 0) -> str:
        """Return a grouping relation as text; ``most`` cuts long ones (0: never)."""
        members = self.members(base)
        shown = members[:most] if most else members
        text = members[0][0]
        for name, factor in shown[1:]:
            sign = '-' if factor < 0.0 else '+'
            size = '' if abs(abs(factor) - 1.0) < 1e-9 else f'{abs(factor):.6g} '
            text += f' {sign} {size}{name}'
        left = len(members) - len(shown)
        return text + (f' + ... ({left} more)' if left else '')


def default_candidates(
    robot: Robot, friction: str = 'actuated', symmetric: bool = False
) -> list[int]:
    """Return the parameters worth looking at.

    All ten of every body that has mass or inertia; of joints, friction and armature of the
    actuated ones (``friction='actuated'``), of all (``'all'``) or of none (``'none'``), and
    whatever is not zero in the description unless ``'none'``. ``symmetric`` leaves out first
    moments and products of inertia that are zero in the description.
    """
    if friction not in ('actuated', 'all', 'none'):
        raise InputError(f"friction: expected 'actuated', 'all' or 'none', got {friction!r}")
    p, chosen = robot.parameters, []
    actuated = set(robot.actuators)
    heavy = {
        body.name for body in robot.model.bodies
        if body.inertia.mass != 0.0 or np.any(body.inertia.tensor)
    }  # fmt: skip
    for k, name in enumerate(robot.parameter_names):
        owner, _, suffix = name.rpartition('/')
        if suffix in BODY_SUFFIXES:
            take = owner in heavy and (p[k] != 0.0 or not symmetric)
        elif suffix == 'armature':
            take = p[k] != 0.0
        else:
            take = friction == 'all' or friction == 'actuated' and (owner in actuated or p[k] != 0)
        if take:
            chosen.append(k)
    return chosen


def find_base_parameters(
    robot: Robot,
    candidates: Sequence[int] | None = None,
    *,
    friction: str = 'actuated',
    prefer: Sequence[int] = (),
    count: int = 0,
    seed: int = 0,
) -> BaseParameters:
    """Find the base parameters of a robot over random motions.

    Parameters
    ----------
    candidates : sequence of int, optional
        Parameters to look at; :func:`default_candidates` with ``friction`` if not given.
    prefer : sequence of int
        Candidates that shall stand for their group, before those that come first by order.
    count : int
        Number of random motions; enough for three equations per candidate by default.
    """
    chosen = default_candidates(robot, friction) if candidates is None else list(candidates)
    needed = count or max(40, 3 * len(chosen) // robot.dof)
    psi = robot.regressor(random_motions(robot, needed, seed))
    return group_columns(psi.reshape(-1, psi.shape[-1]), robot.parameter_names, chosen, prefer)


def expected_sizes(base: BaseParameters, robot: Robot, psi: Array) -> Array:
    """Return how large (b,) each base parameter is expected to be, never zero.

    ``psi`` (N, n, n_p) are regressors of motions. One that is zero in the description is expected
    to make ``LEAST_SHARE`` of the efforts.
    """
    whole = np.sqrt(np.mean((psi @ robot.parameters) ** 2))
    lengths = np.sqrt(np.mean(base.regressor(psi) ** 2, axis=(0, 1)))
    least = LEAST_SHARE * whole / np.maximum(lengths, 1e-300)
    return np.asarray(np.maximum(np.abs(base.values(robot.parameters)), least))


def telling_parameters(
    base: BaseParameters, robot: Robot, psi: Array, share: float = 0.01
) -> tuple[list[int], Array]:
    """Return the base parameters that motions can tell apart, and their expected sizes.

    A pivoted QR decomposition takes the columns, each times the expected size of its parameter,
    in the order of what they add to the efforts; those that add less than ``share`` are left out.
    """
    sizes = expected_sizes(base, robot, psi)
    stacked = base.regressor(psi).reshape(-1, len(base)) * sizes
    _, R, order = qr(stacked, mode='economic', pivoting=True)
    added = np.abs(np.diag(R)) / np.linalg.norm(psi @ robot.parameters)
    chosen = sorted(order[: int(np.sum(added >= share))].tolist())
    return chosen, sizes[chosen]


def group_columns(
    stacked: Array, names: Sequence[str], candidates: Sequence[int], prefer: Sequence[int] = ()
) -> BaseParameters:
    """Group the columns of stacked regressors (rows, n_p) by rank.

    Each column in turn is projected on those kept so far (Gram-Schmidt, twice for accuracy, on
    columns of unit length); it is kept if something of it is left.
    """
    lengths = np.linalg.norm(stacked, axis=0)
    longest = _longest_of_kind(names, lengths)
    order = [k for k in prefer if k in set(candidates)]
    order += [k for k in candidates if k not in set(order)]
    seen = [k for k in order if lengths[k] > ZERO_TOLERANCE * longest[k]]
    basis = np.zeros((len(stacked), 0))
    independent: list[int] = []
    for k in seen:
        column = stacked[:, k] / lengths[k]
        for _ in range(2):
            column = column - basis @ (basis.T @ column)
        rest = float(np.linalg.norm(column))
        if rest > RANK_TOLERANCE:
            basis = np.column_stack([basis, column / rest])
            independent.append(k)
    dependent = [k for k in seen if k not in set(independent)]
    matrix = np.zeros((len(independent), stacked.shape[1]))
    matrix[range(len(independent)), independent] = 1.0
    if dependent:
        scaled = stacked[:, independent] / lengths[independent]
        wanted = stacked[:, dependent] / lengths[dependent]
        factors = np.linalg.lstsq(scaled, wanted, rcond=None)[0]
        factors[np.abs(factors) < 1e-6] = 0.0
        factors *= lengths[dependent] / lengths[independent][:, None]
        matrix[:, dependent] = factors
    silent = tuple(k for k in candidates if k not in set(seen))
    return BaseParameters(
        tuple(names), tuple(candidates), silent, tuple(independent), matrix
    )


def _longest_of_kind(names: Sequence[str], lengths: Array) -> Array:
    """Return for each column the longest of the same unit: masses, moments, tensors, joints."""
    kinds = [name.rpartition('/')[2] for name in names]
    kinds = [kind if kind in JOINT_SUFFIXES else kind[:2] for kind in kinds]
    kinds = ['i' if kind.startswith('i') else kind for kind in kinds]
    return np.array([max(lengths[j] for j, other in enumerate(kinds) if other == kind)
                     for kind in kinds])  # fmt: skip
