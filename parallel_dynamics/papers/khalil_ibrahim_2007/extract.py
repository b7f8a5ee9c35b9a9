"""Parameters of the paper's models, read from a robot description at home."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM, Closure, RobotModel
from parallel_dynamics.papers.khalil_ibrahim_2007.c5 import C5Leg, C5Robot
from parallel_dynamics.papers.khalil_ibrahim_2007.chain import Link
from parallel_dynamics.papers.khalil_ibrahim_2007.platform import Platform
from parallel_dynamics.papers.khalil_ibrahim_2007.ups import Leg, UpsRobot, leg_table
from parallel_dynamics.papers.layout import HomeLayout
from parallel_dynamics.papers.notation import Array, cross, unit


def read_platform(layout: HomeLayout) -> Platform:
    """Return (14)'s parameters about the origin of the platform frame."""
    rotation, origin = layout.rotations[PLATFORM], layout.origins[PLATFORM]
    p = layout.body(PLATFORM, rotation, origin)
    return Platform(M=p.mass, MS=p.moment, I=p.tensor)


def _table_frame(a1: Array) -> Array:
    """Return axes (3, 3) whose y is the first joint's axis and whose z is as upright as can be."""
    upright = np.array([0.0, 0.0, 1.0]) - a1[2] * a1
    z = unit(upright) if np.linalg.norm(upright) > 1e-6 else np.array([1.0, 0.0, 0.0])
    return np.stack([cross(a1, z), a1, z], axis=1)


def _ups_leg(layout: HomeLayout, closure: Closure) -> Leg:
    """Return the leg of Table 1 that ends in this ball closure."""
    model = layout.model
    joints = layout.chain(closure.first.body)
    kinds = [model.joints[j].kind for j in joints]
    if kinds != ['revolute', 'revolute', 'prismatic'] or closure.kind != 'ball':
        raise InputError(
            f'closure {closure.name!r}: expected a U-P-S leg (revolute, revolute, prismatic, '
            f'ball), got {[*kinds, closure.kind]}'
        )
    B = layout.joint_origin(joints[0])
    P = layout.frame(closure.first)[1]
    a1, a2 = layout.joint_axis(joints[0]), layout.joint_axis(joints[1])
    leg_axis = unit(P - B)
    faults = [
        abs(float(a1 @ a2)),
        abs(float(a2 @ leg_axis)),
        float(np.linalg.norm(layout.joint_origin(joints[1]) - B)),
        float(np.linalg.norm(cross(layout.joint_axis(joints[2]), leg_axis))),
    ]
    if max(faults) > 1e-9:
        raise InputError(
            f'closure {closure.name!r}: expected two crossing perpendicular axes with the leg '
            f'perpendicular to the second, as in Table 1, got an error of {max(faults):.3g}'
        )
    attachment = layout.rotations[PLATFORM].T @ (P - layout.origins[PLATFORM])
    # gamma = d = 0 in a frame of the leg's own; the paper's gamma and d are that frame's pose.
    frame = _table_frame(a1)
    bare = Leg(
        rows=leg_table(0.0, 0.0),
        links=(Link(), Link(), Link()),
        rotation=frame,
        origin=B,
        attachment=attachment,
    )
    q = bare.inverse_geometry(P - B)
    rotations, origins = bare.frames(q)
    links, signs = [], []
    for k, j in enumerate(joints):
        p = layout.body(j + FIRST_LEG_BODY, rotations[k], origins[k])
        joint = model.joints[j]
        links.append(
            Link(p.mass, p.moment, p.tensor, joint.armature, joint.damping, joint.friction)
        )
        signs.append(float(np.sign(layout.joint_axis(j) @ rotations[k][:, 2])))
    return Leg(
        rows=bare.rows,
        links=tuple(links),
        rotation=frame,
        origin=B,
        attachment=attachment,
        signs=np.array(signs),
    )


def ups_robot(model: RobotModel) -> UpsRobot:
    """Return the paper's model of a robot with U-P-S legs (Space robot, Gough-Stewart robot)."""
    layout = HomeLayout(model)
    legs = [_ups_leg(layout, closure) for closure in model.closures]
    active: set[tuple[int, ...]] = set()
    order: list[int] = []
    for closure in model.closures:
        joints = layout.chain(closure.first.body)
        active.add(tuple(k for k, j in enumerate(joints) if j in model.actuators))
        order.extend(j for j in joints if j in model.actuators)
    if len(active) != 1 or tuple(order) != model.actuators:
        raise InputError(
            'expected the same active joints in every leg, listed leg by leg, '
            f'got {model.actuator_names}'
        )
    return UpsRobot(legs, active.pop(), read_platform(layout), np.array(model.gravity))


def c5_robot(model: RobotModel) -> C5Robot:
    """Return the paper's model of a C5 robot: prismatic legs with plane closures."""
    layout = HomeLayout(model)
    R_p, P = layout.rotations[PLATFORM], layout.origins[PLATFORM]
    legs = []
    for closure in model.closures:
        joints = layout.chain(closure.first.body)
        kinds = [model.joints[j].kind for j in joints]
        if kinds != ['prismatic'] or closure.kind != 'plane' or closure.second.body != PLATFORM:
            raise InputError(
                f'closure {closure.name!r}: expected one prismatic joint that ends in a plane '
                f'of the platform, got {[*kinds, closure.kind]}'
            )
        joint = model.joints[joints[0]]
        face, point = layout.frame(closure.second)
        legs.append(
            C5Leg(
                base_point=layout.frame(closure.first)[1],
                axis=layout.joint_axis(joints[0]),
                face_point=R_p.T @ (point - P),
                face_normal=R_p.T @ face[:, 2],
                mass=model.bodies[joints[0] + FIRST_LEG_BODY].inertia.mass,
                Ia=joint.armature,
                Fv=joint.damping,
                Fs=joint.friction,
            )
        )
    return C5Robot(legs, read_platform(layout), np.array(model.gravity))
