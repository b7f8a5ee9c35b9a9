"""Parameters of the paper's manipulator, read from a robot description at home."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM, RobotModel
from parallel_dynamics.papers.layout import HomeLayout
from parallel_dynamics.papers.lopes_2010.leg import Leg
from parallel_dynamics.papers.lopes_2010.model import StewartPlatform
from parallel_dynamics.papers.notation import cross, unit


def stewart_platform(model: RobotModel, spin: bool = True) -> StewartPlatform:
    """Return the paper's model of a Gough-Stewart robot with U-P-S legs.

    The centres of mass of cylinder and piston must lie on the leg's axis and the cross of the
    universal joint must be massless, as in the paper; armature and friction are not in the paper.

    Parameters
    ----------
    model : RobotModel
    spin : bool
        True for the true law of the universal joint; False for the paper's leg that never spins.
    """
    layout = HomeLayout(model)
    R_p, P = layout.rotations[PLATFORM], layout.origins[PLATFORM]
    platform = layout.body(PLATFORM, R_p, P)
    centre = platform.com
    legs = []
    for closure in model.closures:
        cross_joint, cylinder_joint, piston_joint = layout.chain(closure.first.body)
        b = layout.joint_origin(cross_joint)
        tip = layout.frame(closure.first)[1]
        direction = unit(tip - b)
        a1 = layout.joint_axis(cross_joint)
        a2 = unit(cross(a1, direction))
        frame = np.stack([direction, a2, cross(direction, a2)], axis=1)
        values = []
        for j, point, sense in ((cylinder_joint, b, 1.0), (piston_joint, tip, -1.0)):
            body = j + FIRST_LEG_BODY
            com = layout.body(body, frame, point).com
            if np.abs(com[1:]).max() > 1e-9:
                raise InputError(
                    f'body {model.bodies[body].name!r}: expected its centre of mass on the axis '
                    f'of the leg, got {com[1:]} m beside it'
                )
            centred = layout.body(body, frame, point + frame @ com)
            values.append((centred.mass, sense * com[0], centred.tensor))
        legs.append(
            Leg(
                b=b,
                p=R_p.T @ (tip - P) - centre,
                m_C=values[0][0],
                b_C=values[0][1],
                I_C=values[0][2],
                m_S=values[1][0],
                b_S=values[1][1],
                I_S=values[1][2],
                first_axis=a1 if spin else None,
            )
        )
    inertia = layout.body(PLATFORM, R_p, P + R_p @ centre).tensor
    return StewartPlatform(legs, platform.mass, inertia, centre, np.array(model.gravity))
