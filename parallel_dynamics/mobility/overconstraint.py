"""Redundant closure equations, and which closures share them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.mobility.assembly import Assembly
from parallel_dynamics.mobility.motions import leg_blocks
from parallel_dynamics.mobility.ranks import split
from parallel_dynamics.mobility.survey import TAKES_PART, Survey
from parallel_dynamics.spatial import Array


@dataclass(frozen=True)
class Overconstraint:
    """Closures that share redundant equations, and how many."""

    closures: tuple[str, ...]
    equations: int


def overconstraints(found: Survey) -> tuple[Overconstraint, ...]:
    """Group the closures by the redundant equations that they share.

    First come those that a leg has by itself (a parallelogram of four parallel hinges, say), then
    those that only several legs together have.
    """
    assembly, null = found.assembly, found.generic.redundancy
    groups: list[Overconstraint] = []
    for rows, _ in leg_blocks(assembly):
        own = _within(null, rows)
        groups += _groups(assembly, own)
        null = _without(null, own)
    return (*groups, *_groups(assembly, null))


def _within(null: Array, rows: list[int]) -> Array:
    """Return the part (r, k) of a null space whose vectors vanish outside these rows."""
    outside = np.delete(null, rows, axis=0)
    return null @ split(outside)[1] if null.shape[1] else null


def _without(null: Array, part: Array) -> Array:
    """Return what is left (r, k) of a null space when a part of it is taken out."""
    if not part.shape[1]:
        return null
    return null @ split(part.T @ null)[1]


def _groups(assembly: Assembly, null: Array) -> list[Overconstraint]:
    """Return the groups of closures that the vectors of a null space (r, k) connect.

    The projector on it does not depend on a choice of basis; closures between which it has no
    entries share nothing.
    """
    count = len(assembly.model.closures)
    owner = np.array([row.closure for row in assembly.rows], dtype=int)
    projector = null @ null.T
    group = list(range(count))
    takes_part = np.zeros(count, dtype=bool)
    for a in range(count):
        for b in range(a + 1):
            if np.abs(projector[np.ix_(owner == a, owner == b)]).max(initial=0.0) > TAKES_PART:
                takes_part[a] = takes_part[b] = True
                first, last = sorted((group[a], group[b]))
                group = [first if member == last else member for member in group]
    groups = []
    for first in sorted(set(group)):
        members = [c for c in range(count) if group[c] == first and takes_part[c]]
        if members:
            rows = np.isin(owner, members)
            equations = round(float(np.trace(projector[np.ix_(rows, rows)])))
            names = tuple(assembly.model.closures[c].name for c in members)
            groups.append(Overconstraint(names, equations))
    return groups
