"""Shipped robots made as special as the papers have them, so that both describe one machine.

The papers leave out what real machines have: drives and friction, crosses of universal joints,
thickness of bars. These functions return robots of the engine without them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from parallel_dynamics.model import FIRST_LEG_BODY, Inertia, RobotModel, frozen
from parallel_dynamics.papers.layout import HomeLayout
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array


def with_model(robot: Robot, model: RobotModel) -> Robot:
    """Return the engine on changed masses or drives; the mechanism must be the same."""
    return Robot(model, robot.mobility)


def without_drives(robot: Robot, friction_only: bool = False) -> Robot:
    """Return the robot without friction and, unless ``friction_only``, without armature."""
    joints = tuple(
        replace(
            joint,
            damping=0.0,
            friction=0.0,
            armature=joint.armature if friction_only else 0.0,
        )
        for joint in robot.model.joints
    )
    return with_model(robot, replace(robot.model, joints=joints))


def _crosses(model: RobotModel) -> list[int]:
    """Return the bodies between the two revolute joints of a universal joint."""
    layout = HomeLayout(model)
    found = []
    for j, joint in enumerate(model.joints):
        body = j + FIRST_LEG_BODY
        children = layout.children(body)
        if joint.kind != 'revolute' or len(children) != 1:
            continue
        child = model.joints[children[0]]
        together = np.linalg.norm(layout.joint_origin(children[0]) - layout.joint_origin(j))
        if child.kind == 'revolute' and together < 1e-9:
            found.append(body)
    return found


def lopes_robot(robot: Robot, slender: bool = False) -> Robot:
    """Return a Gough-Stewart robot as lopes_2010 has it: no drives, massless crosses.

    With ``slender=True`` cylinders and pistons also have no inertia about the leg's axis, which
    is what a leg that never spins needs.
    """
    bare = without_drives(robot)
    model = bare.model
    layout = HomeLayout(model)
    changes = {body: Inertia() for body in _crosses(model)}
    if slender:
        for closure in model.closures:
            for joint in layout.chain(closure.first.body)[1:]:
                body = joint + FIRST_LEG_BODY
                axis = layout.rotations[body].T @ layout.joint_axis(
                    layout.chain(closure.first.body)[2]
                )
                changes[body] = _without_spin(model.bodies[body].inertia, axis)
    return with_model(robot, model.with_bodies(changes))


def _without_spin(inertia: Inertia, axis: Array) -> Inertia:
    """Return the inertia of a bar with the same transverse moment and none about its axis."""
    across = 0.5 * (np.trace(inertia.tensor) - axis @ inertia.tensor @ axis)
    tensor = across * (np.eye(3) - np.outer(axis, axis))
    return Inertia(inertia.mass, inertia.com, frozen(tensor, (3, 3)))


def lumped_delta_robot(robot: Robot) -> Robot:
    """Return a Delta whose forearm rods are what codourey_burdet_1997 takes them for.

    Each rod has 2/3 of its mass in a point at the elbow and 1/3 in a point at the plate, and the
    crosses of the elbows are points. Friction is left out; the drives' inertia stays.
    """
    bare = without_drives(robot, friction_only=True)
    model = bare.model
    layout = HomeLayout(model)
    changes = {}
    for closure in model.closures:
        _, first, second = layout.chain(closure.first.body)
        body = second + FIRST_LEG_BODY
        mass = model.bodies[body].inertia.mass
        tip = closure.first.position  # from the elbow, in the rod's frame
        com = tip / 3.0
        tensor = mass * 2.0 / 9.0 * (tip @ tip * np.eye(3) - np.outer(tip, tip))
        changes[body] = Inertia(mass, frozen(com, (3,)), frozen(tensor, (3, 3)))
        pin = first + FIRST_LEG_BODY
        changes[pin] = Inertia(model.bodies[pin].inertia.mass)
    return with_model(robot, model.with_bodies(changes))
