"""The faults that only numbers show: ranks, actuation, mass matrix, platform chain."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from parallel_dynamics.errors import Fault
from parallel_dynamics.mobility.following import determined_by, unfollowed
from parallel_dynamics.mobility.mass import mass_matrix
from parallel_dynamics.mobility.motions import Motion, leg_blocks
from parallel_dynamics.mobility.ranks import Rank, as_text, rank_of
from parallel_dynamics.mobility.survey import OPEN, TWIST, Survey, idle_joints, independence

NEARLY = 300.0
"""Condition number of the platform's constraints that looks like an error of the geometry."""
MASSLESS = 1e-9
"""Least ratio of the mass matrix's eigenvalues (angles at the characteristic length)."""


@dataclass
class Verdict:
    """Faults and condition numbers."""

    faults: tuple[Fault, ...] = ()
    actuation_condition: float = np.inf
    mass_condition: float = np.inf


@dataclass
class _Judge:
    found: Survey
    faults: list[Fault] = field(default_factory=list)

    def add(self, element: str, problem: str, remedy: str, *, urdf: bool = False) -> None:
        model = self.found.assembly.model
        file = model.urdf_path if urdf else model.path
        self.faults.append(Fault(str(file or model.name), element, problem, remedy))


def judge(
    found: Survey, independent: tuple[int, ...], *, judge_mass: bool, judge_actuation: bool
) -> Verdict:
    """Return all faults with the condition numbers at home."""
    judge = _Judge(found)
    verdict = Verdict()
    _open(judge)
    if not found.assembled:
        verdict.faults = tuple(judge.faults)
        return verdict
    _idle(judge)
    _home(judge)
    _gaps(judge)
    if judge_actuation:
        _count(judge)
    idle = any(motion.shape[1] for motion in found.generic.idle)
    if found.dof and not idle:
        if judge_actuation:
            verdict.actuation_condition = _actuation(judge)
        if judge_mass:
            verdict.mass_condition = _mass(judge)
    _chain(judge)
    _independent(judge, independent)
    verdict.faults = tuple(judge.faults)
    return verdict


def _number(count: int, what: str) -> str:
    return f'{count} {what}' if count == 1 else f'{count} {what}s'


def _open(judge: _Judge) -> None:
    """Zero is home: every closure must hold there."""
    assembly = judge.found.assembly
    residual = judge.found.residual / assembly.row_scale
    for c, closure in enumerate(assembly.model.closures):
        gaps = {
            row.component: (abs(float(value)), 'm' if row.slides else 'rad', float(value))
            for row, value in zip(assembly.rows, residual, strict=True)
            if row.closure == c
        }
        worst = max(gaps, key=lambda component: gaps[component][0])
        if not gaps[worst][0] <= OPEN:
            text = ', '.join(f'{key} {value:.3g} {unit}' for key, (_, unit, value) in gaps.items())
            judge.add(
                f'closure {closure.name!r}',
                f'is open at zero by {gaps[worst][0]:.3g} {gaps[worst][1]} ({worst}); '
                f'{closure.first.name!r} seen from {closure.second.name!r}: {text}',
                'Zero is home: place the joints so that every closure holds to 1e-6 with all '
                'joints at zero.',
            )


def _idle(judge: _Judge) -> None:
    found = judge.found
    assembly = found.assembly
    for i, (rows, columns) in enumerate(leg_blocks(assembly)):
        freedoms = len(columns) - found.leg_ranks[i]
        if freedoms <= 0:
            continue
        judge.add(
            assembly.model.legs[i].label(assembly.model),
            f'{", ".join(idle_joints(found, i))} can move while the platform stands still: '
            f'{_number(freedoms, "idle freedom")} ({_number(len(columns), "joint")}, rank '
            f'{found.leg_ranks[i]} of {_number(len(rows), "closure equation")})',
            'Remove a joint, add a closure, or use a closure type with more equations (a leg '
            'with two balls turns about its own axis; give it a universal joint).',
        )


def _home(judge: _Judge) -> None:
    """Home must be as free as its neighbours, no freer."""
    found = judge.found
    model = found.assembly.model
    for i, leg in enumerate(model.legs):
        rank = found.home.legs[i]
        if rank.value < found.leg_ranks[i]:
            judge.add(
                leg.label(model),
                f'home is singular for this leg: rank {rank.value} there, {found.leg_ranks[i]} '
                f'nearby (singular values {as_text(rank.values)})',
                'Choose another home, in which the leg is not stretched or folded.',
            )
    extra = found.constraint_rank - found.home.constraint.value
    if extra > 0:
        judge.add(
            'closures',
            f'home is singular: the platform has {_number(found.dof + extra, "freedom")} there '
            f'but {found.dof} nearby (singular values of its constraints '
            f'{as_text(found.home.constraint.values)})',
            'Choose a home away from this pose.',
        )
    elif found.infinitesimal:
        judge.add(
            'closures',
            f'some of the motions that they allow at home ({found.home.free.shape[1]} in number) '
            'exist to first order only: steps along them cannot be assembled',
            'Correct the geometry of the closures or choose another home.',
        )
    if found.dof == 0:
        judge.add(
            'closures',
            f'they leave the platform no freedom{_nearly(found)}',
            'Remove closures, or use types with fewer equations.',
        )


def _gaps(judge: _Judge) -> None:
    found = judge.found
    model = found.assembly.model
    ranks: list[tuple[str, Rank]] = [('closures', found.generic.closures)]
    ranks += [
        (leg.label(model), rank) for leg, rank in zip(model.legs, found.generic.legs, strict=True)
    ]
    for element, rank in ranks:
        if not rank.clear:
            judge.add(
                element,
                'the rank of the closure Jacobian cannot be told: no clear gap in the singular '
                f'values {as_text(rank.values)}',
                'Home is close to singular, or redundant closures do not quite fit each other; '
                'give the geometry more digits or move home.',
            )


def _count(judge: _Judge) -> None:
    found = judge.found
    count, dof = len(found.assembly.model.actuators), found.dof
    if count != dof and dof > 0:
        kind = 'missing' if count < dof else 'redundant'
        judge.add(
            'actuators',
            f'{_number(count, "actuator")} for {_number(dof, "degree")} of freedom: actuation is '
            f'{kind}{_nearly(found)}',
            f'Name {_number(dof, "joint")}.',
        )


def _nearly(found: Survey) -> str:
    """Return a hint where constraints are so weak that an error may have made them."""
    rank = found.generic.constraint
    if not rank.value or rank.condition < NEARLY:
        return ''
    return (
        f'; the closures nearly allow more (singular values {as_text(rank.values)}), as joints '
        'do that are not quite parallel or of equal length'
    )


def _actuation(judge: _Judge) -> float:
    """Judge ``J_r^-1 = L S`` at home; return its condition number."""
    found = judge.found
    model = found.assembly.model
    if len(model.actuators) != found.dof or found.home.s.shape[1] != found.dof:
        return float(np.inf)
    columns = [found.assembly.coordinates.index(j) for j in model.actuators]

    def rank(motion: Motion) -> Rank:
        return rank_of(np.linalg.svd(motion.spread[columns], compute_uv=False))

    home = rank(found.home)
    if home.value < found.dof:
        best = max([home.value, *(rank(motion).value for motion in found.near)])
        everywhere = best < found.dof
        judge.add(
            'actuators',
            f'they drive {best if everywhere else home.value} of {found.dof} degrees of freedom'
            f'{"" if everywhere else " at home, an actuation singularity"} (singular values of '
            f'the inverse Jacobian {as_text(home.values)})',
            'Actuate other joints.' if everywhere else 'Choose another home.',
        )
        return float(np.inf)
    return home.condition


def _mass(judge: _Judge) -> float:
    found = judge.found
    if found.home.s.shape[1] != found.dof:
        return float(np.inf)
    values, vectors = np.linalg.eigh(mass_matrix(found.assembly, found.home.spread, found.start))
    if values[-1] > 0.0 and values[0] > MASSLESS * values[-1]:
        return float(values[-1] / values[0])
    twist = np.abs(found.home.s @ vectors[:, 0])
    along = [name for name, part in zip(TWIST, twist, strict=True) if part > 0.1]
    bodies = found.assembly.model.bodies[1:]
    massless = [body.name for body in bodies if body.inertia.mass == 0.0]
    without = f'; without mass: {", ".join(massless)}' if massless else ''
    judge.add(
        'bodies',
        f'the mass matrix is singular at home: nothing has inertia against a motion of '
        f'{", ".join(along)} (eigenvalues {as_text(values[::-1])} kg){without}',
        'Give mass to the platform or to the bodies that move with it, or armature to the drives.',
        urdf=True,
    )
    return float(np.inf)


def _chain(judge: _Judge) -> None:
    found = judge.found
    names = [joint.name for joint in found.assembly.model.chain]
    missing = unfollowed(found)
    if missing:
        turned = ' in base axes' if set(missing) & set(names) else ''
        judge.add(
            'platform chain',
            f'cannot follow the closures: the platform also moves along {", ".join(missing)}'
            f'{turned}, the virtual joints are {", ".join(names)}',
            'Add virtual joints for these motions, or closures that prevent them.',
            urdf=True,
        )


def _independent(judge: _Judge, chosen: tuple[int, ...]) -> None:
    found = judge.found
    named = found.assembly.model.independent
    if named is None or not found.dof:
        return
    better = f'Use [{", ".join(TWIST[row] for row in chosen)}], or leave it out.'
    if len(named) != found.dof:
        judge.add(
            'independent',
            f'{_number(len(named), "coordinate")} for {_number(found.dof, "degree")} of freedom',
            better,
        )
    elif independence(
        found, tuple(TWIST.index(name) for name in named)
    ) == 0.0 and not determined_by(found, named):
        judge.add(
            'independent',
            f'{", ".join(named)} do not fix the other motions of the platform',
            better,
        )
