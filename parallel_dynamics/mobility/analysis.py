"""Degrees of freedom, ranks and overconstraint of a robot, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.errors import Fault
from parallel_dynamics.mobility.motions import leg_blocks
from parallel_dynamics.mobility.overconstraint import Overconstraint
from parallel_dynamics.mobility.overconstraint import overconstraints as find_overconstraints
from parallel_dynamics.mobility.survey import (
    TWIST,
    Survey,
    choose_independent,
    idle_joints,
    survey,
)
from parallel_dynamics.mobility.verdict import judge
from parallel_dynamics.model import RobotModel


@dataclass(frozen=True)
class LegMobility:
    """Ranks of one leg.

    ``leg`` is its index in the model, ``coordinates`` the number of joints that follow no other,
    ``idle`` the joints that can move while the platform stands still, ``condition`` the condition
    number of the leg's Jacobian at home with angles counted at the characteristic length.
    """

    leg: int
    equations: int
    coordinates: int
    rank: int
    idle: tuple[str, ...]
    condition: float


@dataclass(frozen=True, eq=False)
class Mobility:
    """What the closures leave free.

    ``independent`` are indices into the platform's twist [vx vy vz wx wy wz] (base axes, at its
    origin). Condition numbers are at home, with angles counted at ``length`` (m), the root mean
    square distance of the closures from the platform's origin.
    """

    dof: int
    legs: tuple[LegMobility, ...]
    constraint_rank: int
    independent: tuple[int, ...]
    redundant: int
    overconstraints: tuple[Overconstraint, ...]
    length: float
    residual: float
    actuation_condition: float
    mass_condition: float
    faults: tuple[Fault, ...] = ()

    @property
    def independent_names(self) -> list[str]:
        """Names of the virtual joints that go with the independent components."""
        return [TWIST[component] for component in self.independent]

    @property
    def overconstrained(self) -> tuple[tuple[str, ...], ...]:
        """Names of the closures that share each group of redundant equations."""
        return tuple(group.closures for group in self.overconstraints)


def analyse(
    model: RobotModel, *, judge_mass: bool = True, judge_actuation: bool = True
) -> Mobility:
    """Count what the closures leave free and judge whether the robot can be driven.

    Parameters
    ----------
    model : RobotModel
        A model whose structure is sound.
    judge_mass : bool
        Whether the inertias are good enough for a word on the mass matrix.
    judge_actuation : bool
        Whether the actuators are known well enough for a word on them.

    Returns
    -------
    Mobility
        With ``faults`` empty if the robot can be used.
    """
    found = survey(model)
    legs = tuple(_leg(found, i) for i in range(len(model.legs)))
    independent = choose_independent(found)
    overconstraints = find_overconstraints(found)
    verdict = judge(found, independent, judge_mass=judge_mass, judge_actuation=judge_actuation)
    return Mobility(
        dof=found.dof,
        legs=legs,
        constraint_rank=found.constraint_rank,
        independent=independent,
        redundant=len(found.assembly.rows) - found.closure_rank,
        overconstraints=overconstraints,
        length=found.assembly.length,
        residual=float(np.abs(found.residual).max(initial=0.0)),
        actuation_condition=verdict.actuation_condition,
        mass_condition=verdict.mass_condition,
        faults=verdict.faults,
    )


def _leg(found: Survey, i: int) -> LegMobility:
    rows, columns = leg_blocks(found.assembly)[i]
    rank = found.leg_ranks[i]
    values = found.home.legs[i].values
    condition = float(values[0] / values[rank - 1]) if rank and values[rank - 1] else np.inf
    return LegMobility(
        leg=i,
        equations=len(rows),
        coordinates=len(columns),
        rank=rank,
        idle=idle_joints(found, i),
        condition=condition if columns else 1.0,
    )
