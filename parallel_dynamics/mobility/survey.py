"""A look at home and at its assembled neighbours: what is generic, and what home alone has."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from parallel_dynamics.mobility.assembly import Assembly, Configurations
from parallel_dynamics.mobility.motions import (
    ASSEMBLED,
    Motion,
    assemble,
    leg_blocks,
    motion_at,
    neighbours,
)
from parallel_dynamics.mobility.ranks import rank_of
from parallel_dynamics.model import RobotModel
from parallel_dynamics.spatial import Array

TWIST = (
    'platform_x', 'platform_y', 'platform_z', 'platform_roll', 'platform_pitch', 'platform_yaw',
)  # fmt: skip
"""Virtual joint that goes with each component of the platform's twist."""
OPEN = 1e-6
"""Closure residual at home, m or rad, above which a robot is not assembled."""
STRAYED = 0.3
"""Part of a step from home that re-assembly may take back; a finite motion loses a few percent."""
TAKES_PART = 1e-6
"""Least part in a null space that counts."""


@dataclass(frozen=True, eq=False)
class Survey:
    """All that was computed: motion at home and at assembled neighbours, and the generic one.

    ``start`` is home, or the nearest assembled configuration where home is open; ``assembled``
    is false where there is none, and then the ranks mean nothing.
    """

    assembly: Assembly
    residual: Array
    start: Configurations
    assembled: bool
    home: Motion
    near: tuple[Motion, ...]
    configurations: Configurations
    infinitesimal: bool  # whether the closures take some step from home back
    generic: Motion
    leg_ranks: tuple[int, ...]
    constraint_rank: int
    closure_rank: int

    @property
    def dof(self) -> int:
        """Degrees of freedom of the platform."""
        return 6 - self.constraint_rank


def survey(model: RobotModel) -> Survey:
    """Look at home and at its neighbours."""
    assembly = Assembly(model)
    start = assembly.home
    residual, jacobian = assembly.scaled(start)
    error = float(np.linalg.norm(residual))
    open_at_home, assembled = residual[0], True
    if np.abs(residual / assembly.row_scale).max(initial=0.0) > OPEN:
        start, errors = assemble(assembly, start)
        error = float(errors[0])
        assembled = error < OPEN * assembly.length
        jacobian = assembly.scaled(start)[1]
    home = motion_at(assembly, jacobian[0])
    near: list[Motion] = []
    at, infinitesimal = start, False
    if home.free.shape[1] and assembled:
        found, errors, strayed = neighbours(assembly, start, home.free)
        # Redundant closures of a description with few digits do not close better than home.
        closed = errors < assembly.length * ASSEMBLED + 2.0 * error
        infinitesimal = not bool(np.all(closed & (strayed < STRAYED)))
        good = np.flatnonzero(closed)
        if len(good):
            found = found[good]
            near = [motion_at(assembly, j) for j in assembly.scaled(found)[1]]
            at = found
    everywhere = [home, *near]
    # A rank can only drop at special poses, so the generic one is the largest.
    leg_ranks = tuple(
        max(motion.legs[i].value for motion in everywhere) for i in range(len(model.legs))
    )
    constraint = max(motion.constraint.value for motion in everywhere)
    closures = max(motion.closures.value for motion in everywhere)
    generic = next(
        (
            motion
            for motion in everywhere
            if motion.closures.value == closures and motion.constraint.value == constraint
        ),
        home,
    )
    return Survey(
        assembly, open_at_home, start, assembled, home, tuple(near), at, infinitesimal, generic,
        leg_ranks, constraint, closures,
    )  # fmt: skip


def choose_independent(found: Survey) -> tuple[int, ...]:
    """Return the twist components that fix all others: as described, or the best conditioned.

    The described ones are coordinates of the chain; where that is turned against the base they
    may be no such components, and the best conditioned serve.

    With ``dof`` of six there are at most twenty choices, so all are tried; what counts is the
    smallest singular value of the chosen rows of S over home and its neighbours. A later choice
    must be clearly better than an earlier one, so that ties go to translations.
    """
    dof, named = found.dof, found.assembly.model.independent
    if named is not None and len(named) == dof:
        rows = tuple(TWIST.index(name) for name in named)
        if independence(found, rows) > 0.0:
            return rows
    best, quality = tuple(range(dof)), -1.0
    for rows in combinations(range(6), dof):
        value = independence(found, rows)
        if value > 1.001 * quality + 1e-9:
            best, quality = rows, value
    return best


def independence(found: Survey, rows: tuple[int, ...]) -> float:
    """Return how well these twist components fix the others (1 is best, 0 not at all)."""
    worst = 1.0
    for motion in (found.home, *found.near):
        if motion.s.shape[1] != found.dof:
            continue
        chosen = rank_of(np.linalg.svd(motion.s[list(rows)], compute_uv=False))
        if chosen.value < found.dof:
            return 0.0
        worst = min(worst, float(chosen.values[-1])) if found.dof else worst
    return worst


def idle_joints(found: Survey, i: int) -> tuple[str, ...]:
    """Return the joints of leg ``i`` that can move while the platform stands still."""
    assembly = found.assembly
    parts = np.abs(found.generic.idle[i]).max(axis=1, initial=0.0)
    return tuple(
        assembly.model.joints[assembly.coordinates[column]].name
        for column, part in zip(leg_blocks(assembly)[i][1], parts, strict=True)
        if part > TAKES_PART
    )
