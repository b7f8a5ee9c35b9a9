"""Lumped models by name: rods as points at their ends, and what that costs.

``codourey_burdet_1997`` puts 2/3 of each forearm of the DELTA at the elbow and 1/3 at the plate;
the dynamics then has seven parameters. That is an approximation, and its error is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.identification.motions import random_motions
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM, Inertia, RobotModel, frozen
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

SPLITS = {'thirds': 2.0 / 3.0, 'halves': 0.5}
"""Share of a rod's mass at the joint that carries it, by the name of the model."""


@dataclass(frozen=True, eq=False)
class LumpedModel:
    """A robot whose rods are points, and how far its efforts are off.

    Attributes
    ----------
    robot : Robot
        Rods without mass; the bodies at their ends have it.
    rods : tuple of str
        What was lumped.
    error : float
        Root mean square of the efforts' error over random motions, as a share of the efforts.
    """

    robot: Robot
    rods: tuple[str, ...]
    error: float


def lumped_model(robot: Robot, split: str = 'thirds', seed: int = 0) -> LumpedModel:
    """Return a robot with its rods lumped: ``'thirds'`` (2/3 - 1/3) or ``'halves'``.

    A rod hangs on passive joints that meet in a point and ends in one ball on the platform.
    """
    if split not in SPLITS:
        raise InputError(f'split: expected one of {", ".join(SPLITS)}, got {split!r}')
    model = robot.model
    rods = find_rods(model)
    if not rods:
        raise InputError(
            f'{robot.name}: expected rods between passive joints and balls on the platform, found '
            'none; this robot has no lumped model'
        )
    inertias = {b: body.inertia for b, body in enumerate(model.bodies)}
    for closure, chain in rods:
        rod = chain[-1]
        carrier = model.joints[chain[0] - FIRST_LEG_BODY].parent
        joint = model.joints[chain[0] - FIRST_LEG_BODY]
        mass = inertias[rod].mass
        crosses = sum(inertias[b].mass for b in chain[:-1])
        near = SPLITS[split] * mass + crosses
        inertias[carrier] = inertias[carrier] + _point(near, joint.position)
        end = model.closures[closure].second.position
        inertias[PLATFORM] = inertias[PLATFORM] + _point((1.0 - SPLITS[split]) * mass, end)
        for body in chain:
            inertias[body] = Inertia()
    lumped = Robot(model.with_bodies(inertias), robot.mobility)
    m = random_motions(robot, 60, seed)
    exact = robot.inverse_dynamics(m)
    error = np.sqrt(np.mean((lumped.inverse_dynamics(m) - exact) ** 2) / np.mean(exact**2))
    names = tuple(model.bodies[chain[-1]].name for _, chain in rods)
    return LumpedModel(lumped, names, float(error))


def find_rods(model: RobotModel) -> list[tuple[int, list[int]]]:
    """Return closure and bodies (crosses first, the rod last) of every rod."""
    found = []
    parents = [joint.parent for joint in model.joints]
    for c, closure in enumerate(model.closures):
        body = closure.first.body
        ends = [k for k in model.closures if body in (k.first.body, k.second.body)]
        if closure.kind != 'ball' or closure.second.body != PLATFORM or len(ends) != 1:
            continue
        if body < FIRST_LEG_BODY or body in parents:
            continue
        chain = _chain_through_a_point(model, body)
        if chain and not set(model.actuators) & {b - FIRST_LEG_BODY for b in chain}:
            found.append((c, chain))
    return found


def _chain_through_a_point(model: RobotModel, rod: int) -> list[int]:
    """Return the bodies from the first of a rod's intersecting revolute joints to the rod."""
    chain = [rod]
    while True:
        joint = model.joints[chain[0] - FIRST_LEG_BODY]
        if joint.kind != 'revolute':
            return []
        above = joint.parent
        alone = above >= FIRST_LEG_BODY and sum(j.parent == above for j in model.joints) == 1
        if not alone or np.linalg.norm(joint.position) > 1e-9 or len(chain) == 3:
            return chain
        chain.insert(0, above)


def _point(mass: float, place: Array) -> Inertia:
    return Inertia(mass, frozen(place, (3,)), frozen(np.zeros((3, 3)), (3, 3)))
