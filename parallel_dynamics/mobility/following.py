"""Whether the platform's virtual chain can show every motion that the closures allow."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.mobility.assembly import turn
from parallel_dynamics.mobility.motions import STEP
from parallel_dynamics.mobility.ranks import rank_of
from parallel_dynamics.mobility.survey import OPEN, TWIST, Survey
from parallel_dynamics.model import RobotModel
from parallel_dynamics.spatial import Array

FOLLOWED = 1e-5
"""Part of a motion that the chain may miss: rounding, not a missing joint.

A description with few digits gets as much again as its closures are open at home."""
_ITERATIONS = 8


def unfollowed(found: Survey) -> list[str]:
    """Return the platform coordinates that the chain lacks, none if it can follow.

    The free directions at home must lie in the span of the chain, and the chain must reach the
    assembled neighbours: parasitic motion shows only there.
    """
    model, length = found.assembly.model, found.assembly.length
    scale = np.array([1.0] * 3 + [length] * 3)
    count = len(found.configurations.q)
    target = found.configurations
    c = np.zeros((count, len(model.chain)))
    rotation, position, jacobian = chain_pose(model, c)
    left = [_outside(scale[:, None] * jacobian[0], found.home.s)]
    if found.near:
        for _ in range(_ITERATIONS):
            error = scale * _difference(rotation, position, target.rotation, target.position)
            scaled = scale[:, None] * jacobian
            c = c + (np.linalg.pinv(scaled, 1e-9) @ error[:, :, None])[:, :, 0]
            rotation, position, jacobian = chain_pose(model, c)
        error = scale * _difference(rotation, position, target.rotation, target.position)
        left.append(np.abs(error).max(axis=0) / (STEP * length))
    worst = np.max(left, axis=0)
    gap = min(float(np.abs(found.residual).max(initial=0.0)), OPEN * max(1.0, length))
    most = FOLLOWED + gap / (STEP * length)
    return [name for name, part in zip(TWIST, worst, strict=True) if part > most]


def determined_by(found: Survey, names: tuple[str, ...]) -> bool:
    """Return whether these virtual joints fix the motion of the platform at home.

    They need not go with components of the twist in base axes: the chain may be turned.
    """
    model, length = found.assembly.model, found.assembly.length
    scale = np.array([1.0] * 3 + [length] * 3)
    jacobian = scale[:, None] * chain_pose(model, np.zeros((1, len(model.chain))))[2][0]
    rates = np.linalg.pinv(jacobian, 1e-9) @ found.home.s
    joints = [joint.name for joint in model.chain]
    slides = np.array([[1.0 if joint.kind == 'prismatic' else length] for joint in model.chain])
    chosen = (slides * rates)[[joints.index(name) for name in names]]
    rank = rank_of(np.linalg.svd(chosen, compute_uv=False)).value
    return rank == found.home.s.shape[1] == len(names)


def chain_pose(model: RobotModel, c: Array) -> tuple[Array, Array, Array]:
    """Return pose (P, 3, 3), (P, 3) of the platform and its Jacobian (P, 6, k) for (P, k)."""
    count = len(c)
    rotation, position = np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3))
    axes, origins, slides = [], [], []
    for k, joint in enumerate(model.chain):
        position = position + rotation @ joint.position
        rotation = rotation @ joint.rotation
        axis = rotation @ joint.axis
        axes.append(axis)
        origins.append(position)
        slides.append(joint.kind == 'prismatic')
        if slides[-1]:
            position = position + axis * c[:, k, None]
        else:
            rotation = rotation @ turn(joint.axis, c[:, k])
    position = position + rotation @ model.platform_position
    rotation = rotation @ model.platform_rotation
    jacobian = np.zeros((count, 6, len(model.chain)))
    for k, (axis, origin) in enumerate(zip(axes, origins, strict=True)):
        jacobian[:, :3, k] = axis if slides[k] else np.cross(axis, position - origin)
        jacobian[:, 3:, k] = 0.0 if slides[k] else axis
    return rotation, position, jacobian


def _difference(rotation: Array, position: Array, to_rotation: Array, to_position: Array) -> Array:
    """Return the small twist (P, 6) that leads from one pose to another."""
    turn_left = Rotation.from_matrix(to_rotation @ rotation.transpose(0, 2, 1)).as_rotvec()
    return np.concatenate([to_position - position, turn_left], axis=1)


def _outside(jacobian: Array, s: Array) -> Array:
    """Return how much of each twist component (6,) the span of a Jacobian leaves of S."""
    left = s - jacobian @ (np.linalg.pinv(jacobian, 1e-9) @ s)
    return np.abs(left).max(axis=1, initial=0.0)
