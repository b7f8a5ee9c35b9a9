"""Parameters of the paper's models, read from a robot description at home."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM, Closure, RobotModel
from parallel_dynamics.papers.khalil_ibrahim_2007.c5 import C5Leg, C5Robot
from parallel_dynamics.papers.khalil_ibrahim_2007.chain import Chain, Link
from parallel_dynamics.papers.khalil_ibrahim_2007.platform import Platform
from parallel_dynamics.papers.khalil_ibrahim_2007.rps import RpsLeg, RpsRobot, rps_table
from parallel_dynamics.papers.khalil_ibrahim_2007.ups import Leg, UpsRobot, leg_table
from parallel_dynamics.papers.layout import HomeLayout
from parallel_dynamics.papers.notation import Array, cross, rot_z, unit


def read_platform(layout: HomeLayout) -> Platform:
    """Return the parameters of khalil_ibrahim_2007 (14) about the origin of the platform frame."""
    rotation, origin = layout.rotations[PLATFORM], layout.origins[PLATFORM]
    p = layout.body(PLATFORM, rotation, origin)
    return Platform(M=p.mass, MS=p.moment, I=p.tensor)


def _first_row(a1: Array, B: Array) -> tuple[dict[str, float], Array, Array]:
    """Return ``gamma, d, b, r`` of a leg's first row, and rotation and origin of the table.

    Table 1 of khalil_ibrahim_2007 stands in the base frame and has the first axis along
    ``Rz(gamma) y``. A leg whose first axis is not horizontal has a table of its own instead, with
    ``gamma = d = 0`` in a frame at B.
    """
    if abs(a1[2]) < 1e-9:
        gamma = float(np.arctan2(-a1[0], a1[1]))
        d, r, b = (float(x) for x in rot_z(gamma).T @ B)
        if d < -1e-9:  # count the distance from the base frame's origin positive
            gamma += -np.pi if gamma > 0.0 else np.pi
            d, r = -d, -r
        return {'gamma': gamma, 'd': d, 'b': b, 'r': r}, np.eye(3), np.zeros(3)
    upright = np.array([0.0, 0.0, 1.0]) - a1[2] * a1
    z = unit(upright) if np.linalg.norm(upright) > 1e-6 else np.array([1.0, 0.0, 0.0])
    return {'gamma': 0.0, 'd': 0.0}, np.stack([cross(a1, z), a1, z], axis=1), B


def _links(
    layout: HomeLayout, joints: list[int], chain: Chain, q: Array
) -> tuple[tuple[Link, ...], Array]:
    """Return the links of a chain that stands at ``q`` at home, and the senses of its joints."""
    rotations, origins = chain.frames(q)
    links, signs = [], []
    for j, rotation, origin in zip(joints, rotations, origins):
        p = layout.body(j + FIRST_LEG_BODY, rotation, origin)
        joint = layout.model.joints[j]
        links.append(
            Link(p.mass, p.moment, p.tensor, joint.armature, joint.damping, joint.friction)
        )
        signs.append(float(np.sign(layout.joint_axis(j) @ rotation[:, 2])))
    return tuple(links), np.array(signs)


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
    active = tuple(k for k, j in enumerate(joints) if j in model.actuators)
    first, rotation, origin = _first_row(a1, B)
    bare = Leg(
        rows=leg_table(**first, active=active),
        links=(Link(),) * 3,
        rotation=rotation,
        origin=origin,
        attachment=attachment,
    )
    links, signs = _links(layout, joints, bare, bare.inverse_geometry(P - B))
    return replace(bare, links=links, signs=signs)


def _rps_leg(layout: HomeLayout, closure: Closure) -> RpsLeg:
    """Return the leg with a revolute and a prismatic joint that ends in this ball closure."""
    model = layout.model
    joints = layout.chain(closure.first.body)
    kinds = [model.joints[j].kind for j in joints]
    if kinds != ['revolute', 'prismatic'] or closure.kind != 'ball':
        raise InputError(
            f'closure {closure.name!r}: expected an R-P-S leg (revolute, prismatic, ball), '
            f'got {[*kinds, closure.kind]}'
        )
    B = layout.joint_origin(joints[0])
    P = layout.frame(closure.first)[1]
    a1 = layout.joint_axis(joints[0])
    faults = [
        abs(float(a1 @ unit(P - B))),
        float(np.linalg.norm(cross(layout.joint_axis(joints[1]), unit(P - B)))),
    ]
    if max(faults) > 1e-9:
        raise InputError(
            f'closure {closure.name!r}: expected a slide that passes through the revolute axis '
            f'at a right angle and ends in the ball, got an error of {max(faults):.3g}'
        )
    first, rotation, origin = _first_row(a1, B)
    bare = RpsLeg(
        rows=rps_table(**first),
        links=(Link(),) * 2,
        rotation=rotation,
        origin=origin,
        attachment=layout.rotations[PLATFORM].T @ (P - layout.origins[PLATFORM]),
    )
    links, signs = _links(layout, joints, bare, bare.inverse_geometry(P - B))
    return replace(bare, links=links, signs=signs)


def _active(layout: HomeLayout) -> tuple[int, ...]:
    """Return the places of the active joints in every leg, which must be the same in all."""
    model = layout.model
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
    return active.pop()


def ups_robot(model: RobotModel) -> UpsRobot:
    """Return the paper's model of a robot with U-P-S legs (Space robot, Gough-Stewart robot)."""
    layout = HomeLayout(model)
    legs = [_ups_leg(layout, closure) for closure in model.closures]
    return UpsRobot(legs, _active(layout), read_platform(layout), np.array(model.gravity))


def rps_robot(model: RobotModel) -> RpsRobot:
    """Return the paper's method for a 3-RPS robot, which has three freedoms: heave and tilt."""
    layout = HomeLayout(model)
    legs = [_rps_leg(layout, closure) for closure in model.closures]
    return RpsRobot(legs, _active(layout), read_platform(layout), np.array(model.gravity))


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
