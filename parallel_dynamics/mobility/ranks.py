"""Rank by the widest gap in the singular values, with a word on how clear the gap is.

Matrices come scaled by a characteristic length, so that their entries are of order one and a
small singular value means a small motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parallel_dynamics.spatial import Array

FLOOR = 1e-8
"""Singular values below this part of the largest are rounding."""
SURELY_ZERO = 1e-7
SURELY_NOT = 1e-3
CLEAR_GAP = 30.0
"""Ratio of neighbours below which a gap between those two bounds convinces nobody."""


@dataclass(frozen=True, eq=False)
class Rank:
    """A rank with its evidence: all singular values, and the ratio at the gap."""

    value: int
    values: Array
    gap: float

    @property
    def clear(self) -> bool:
        """Whether the gap is wide enough to be believed."""
        return self.gap >= CLEAR_GAP

    @property
    def condition(self) -> float:
        """Largest over smallest singular value that counts."""
        return float(self.values[0] / self.values[self.value - 1]) if self.value else np.inf


def rank_of(values: NDArray[np.floating[Any]], scale: float | None = None) -> Rank:
    """Judge a rank by singular values in decreasing order.

    The cut lies where the ratio of neighbours is largest among all places that leave no value
    above ``SURELY_NOT`` out and none below ``SURELY_ZERO`` in. Values count relative to ``scale``,
    the largest of them by default; one is given where all of them may be what rounding left.
    """
    found = np.asarray(values, float)
    if not len(found) or found[0] < FLOOR:
        return Rank(0, found, np.inf)
    s = np.maximum(found / (found[0] if scale is None else max(scale, found[0])), FLOOR)
    padded = np.concatenate([[1.0], s, [FLOOR]])
    lowest = int(np.count_nonzero(s >= SURELY_NOT))
    highest = int(np.count_nonzero(s > SURELY_ZERO))
    places = np.arange(lowest, max(highest, lowest) + 1)
    gaps = padded[places] / padded[places + 1]
    best = int(np.argmax(gaps))
    return Rank(int(places[best]), found, float(gaps[best]))


def split(
    matrix: Array, rank: int | None = None, scale: float | None = None
) -> tuple[Rank, Array, Array]:
    """Return rank, null space (c, c - rank) and left null space (r, r - rank) of a matrix."""
    rows, columns = matrix.shape
    if rows == 0 or columns == 0:
        return Rank(0, np.zeros(0), np.inf), np.eye(columns), np.eye(rows)
    u, s, vt = np.linalg.svd(matrix)
    judged = rank_of(s, scale)
    value = judged.value if rank is None else rank
    return judged, vt[value:].T, u[:, value:]


def as_text(values: Array) -> str:
    """Return singular values as a short row."""
    return ', '.join(f'{value:.3g}' for value in values)
