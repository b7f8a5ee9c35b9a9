"""Parameters of the paper's DELTA, read from a robot description at home."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM, RobotModel
from parallel_dynamics.papers.codourey_burdet_1997.delta import (
    ExactDelta,
    Geometry,
    LumpedDelta,
)
from parallel_dynamics.papers.codourey_burdet_1997.linear_form import parameters
from parallel_dynamics.papers.layout import HomeLayout
from parallel_dynamics.papers.notation import Array, cross, rot_z, unit


@dataclass(frozen=True)
class _Leg:
    """Joints of one leg and its frames at home."""

    shoulder: int
    rods: list[tuple[int, int, Array]]  # first elbow joint, second elbow joint, tip
    theta: float
    arm: Array
    elbow: Array


def _legs(layout: HomeLayout) -> list[_Leg]:
    model = layout.model
    legs = []
    for shoulder in model.actuators:
        origin = layout.joint_origin(shoulder)
        theta = float(np.arctan2(origin[1], origin[0]))
        frame = rot_z(theta)
        if np.linalg.norm(layout.joint_axis(shoulder) - frame[:, 1]) > 1e-9:
            raise InputError(
                f'joint {model.joints[shoulder].name!r}: expected its axis along y of its '
                f'own frame (positive downward), got {layout.joint_axis(shoulder)}'
            )
        rods, elbows = [], []
        for closure in model.closures:
            joints = layout.chain(closure.first.body)
            if joints[0] == shoulder:
                rods.append((joints[1], joints[2], layout.frame(closure.first)[1]))
                elbows.append(layout.joint_origin(joints[1]))
        elbow = np.mean(elbows, axis=0)
        x = unit(elbow - origin)
        arm = np.stack([x, frame[:, 1], cross(x, frame[:, 1])], axis=1)
        legs.append(_Leg(shoulder, rods, theta, arm, elbow))
    return legs


def _geometry(layout: HomeLayout, legs: list[_Leg]) -> Geometry:
    origin = layout.joint_origin(legs[0].shoulder)
    tips = np.array([tip for _, _, tip in legs[0].rods])
    R_B = np.linalg.norm((tips.mean(axis=0) - layout.origins[PLATFORM])[:2])
    first, _, tip = legs[0].rods[0]
    return Geometry(
        R=float(np.linalg.norm(origin[:2]) - R_B),
        L_A=float(np.linalg.norm(legs[0].elbow - origin)),
        L_B=float(np.linalg.norm(tip - layout.joint_origin(first))),
        theta=tuple(leg.theta for leg in legs),  # type: ignore[arg-type]
    )


def plate_offset(model: RobotModel) -> Array:
    """Return P of the paper in the platform frame (3,), m: the level of the balls."""
    layout = HomeLayout(model)
    tips = [layout.frame(closure.first)[1] for closure in model.closures]
    return np.array([0.0, 0.0, np.mean(tips, axis=0)[2] - layout.origins[PLATFORM][2]])


def lumped_delta(model: RobotModel) -> LumpedDelta:
    """Return the paper's seven-parameter model, with 2/3 of each forearm at the elbow.

    The crosses of universal joints, which the paper does not have, go to the elbow.
    """
    layout = HomeLayout(model)
    legs = _legs(layout)
    geometry = _geometry(layout, legs)
    moment, inertia = np.zeros(3), np.zeros(3)
    plate = model.bodies[PLATFORM].inertia.mass
    for i, leg in enumerate(legs):
        own = layout.body(
            leg.shoulder + FIRST_LEG_BODY, leg.arm, layout.joint_origin(leg.shoulder)
        )
        at_elbow = 0.0
        for first, second, _ in leg.rods:
            rod = model.bodies[second + FIRST_LEG_BODY].inertia.mass
            at_elbow += 2.0 / 3.0 * rod + model.bodies[first + FIRST_LEG_BODY].inertia.mass
            plate += rod / 3.0
        moment[i] = own.moment[0] + at_elbow * geometry.L_A
        inertia[i] = own.tensor[1, 1] + at_elbow * geometry.L_A**2
        inertia[i] += model.joints[leg.shoulder].armature
    return LumpedDelta(geometry, moment, inertia, plate, float(-model.gravity[2]))


def exact_delta(model: RobotModel) -> ExactDelta:
    """Return the model with every body of the description, by the paper's general method."""
    layout = HomeLayout(model)
    legs = _legs(layout)
    blocks: list[Array] = []
    offsets: list[float] = []
    for leg in legs:
        y = leg.arm[:, 1]
        body = layout.body(
            leg.shoulder + FIRST_LEG_BODY, leg.arm, layout.joint_origin(leg.shoulder)
        )
        blocks.append(parameters(body.mass, body.moment, body.tensor))
        offsets = []
        for first, second, tip in leg.rods:
            ball = layout.joint_origin(first)
            offsets.append(float(y @ (ball - leg.elbow)))
            d = unit(tip - ball)
            a2 = unit(cross(d, y))
            cross_frame = np.stack([a2, y, cross(a2, y)], axis=1)
            rod_frame = np.stack([cross(a2, d), a2, d], axis=1)
            for joint, frame in ((first, cross_frame), (second, rod_frame)):
                p = layout.body(joint + FIRST_LEG_BODY, frame, ball)
                blocks.append(parameters(p.mass, p.moment, p.tensor))
    plate = layout.body(PLATFORM, np.eye(3), layout.origins[PLATFORM] + plate_offset(model))
    blocks.append(parameters(plate.mass, plate.moment, plate.tensor))
    armature = np.array([model.joints[leg.shoulder].armature for leg in legs])
    return ExactDelta(
        _geometry(layout, legs), offsets, np.concatenate(blocks), armature, -model.gravity[2]
    )
