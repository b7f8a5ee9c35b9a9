"""Parameters of the paper's Orthoglide, read from a robot description at home."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM, RobotModel
from parallel_dynamics.papers.chablat_wenger_staicu_2009.dynamics import Body, Orthoglide
from parallel_dynamics.papers.chablat_wenger_staicu_2009.kinematics import (
    FIRST,
    Geometry,
    leg_pose,
)
from parallel_dynamics.papers.layout import HomeLayout
from parallel_dynamics.papers.notation import Array

TO_BASE: Array = np.diag([1.0, -1.0, -1.0])
"""Base axes of the description from the paper's axes, whose z0 points down (its own inverse)."""


def _leg_bodies(layout: HomeLayout, slide: int) -> dict[int, int]:
    """Return the model's bodies that are the paper's bodies 1, 2, 3, 4, 6 of a leg."""
    (hinge,) = layout.children(slide + FIRST_LEG_BODY)
    bars = layout.children(hinge + FIRST_LEG_BODY)
    with_tip = [j for j in bars if layout.children(j + FIRST_LEG_BODY)]
    if len(bars) != 2 or len(with_tip) != 1:
        raise InputError(
            f'joint {layout.model.joints[slide].name!r}: expected a slider, a bar and two '
            'parallel bars of which one carries a fourth, got another structure'
        )
    first = with_tip[0]
    second = next(j for j in bars if j != first)
    (tip,) = layout.children(first + FIRST_LEG_BODY)
    joints = {1: slide, 2: hinge, 3: first, 4: tip, 6: second}
    return {k: j + FIRST_LEG_BODY for k, j in joints.items()}


def _geometry(layout: HomeLayout, bodies: dict[int, int]) -> Geometry:
    A = {k: TO_BASE @ layout.origins[body] for k, body in bodies.items()}
    r21 = FIRST[0] @ (A[2] - A[1])
    l1 = float(np.linalg.norm(r21))
    alpha = float(np.arctan2(r21[1], r21[2]))
    l3 = float(np.linalg.norm(A[4] - A[3]))
    l = -2.0 * (float(A[1][0]) + l1 * np.cos(alpha) + l3)
    return Geometry(l=l, l1=l1, l2=float(np.linalg.norm(A[6] - A[3])), l3=l3, alpha=alpha)


def orthoglide(model: RobotModel) -> Orthoglide:
    """Return the paper's model of an Orthoglide whose base axes are (x, -y, -z) of the paper."""
    layout = HomeLayout(model)
    legs = [_leg_bodies(layout, slide) for slide in model.actuators]
    geometry = _geometry(layout, legs[0])
    tables: list[dict[int, Body]] = []
    for leg, bodies in enumerate(legs):
        a = leg_pose(geometry, leg, np.zeros(3)).a
        table = {}
        points = {k: layout.origins[body] for k, body in bodies.items()}
        if leg == 0:
            bodies = {**bodies, 5: PLATFORM}
            points[5] = TO_BASE @ -(a[5].T @ geometry.r5G) + layout.origins[PLATFORM]
        for k, body in bodies.items():
            p = layout.body(body, TO_BASE @ a[k].T, points[k])
            table[k] = Body(p.mass, p.com, p.tensor)
        tables.append(table)
    return Orthoglide(geometry, tables, TO_BASE @ model.gravity)
