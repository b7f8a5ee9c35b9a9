"""From a model to the record arrays that the kernels read, once per robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from parallel_dynamics.kernels.closed_form import find_closed_form
from parallel_dynamics.kernels.layout import (
    BODY,
    CLOSURE,
    CLOSURE_CODES,
    COORDINATE,
    JOINT,
    LEG,
    POSITION_TOLERANCE,
    PRISMATIC,
    RATE_TOLERANCE,
    REVOLUTE,
    SYSTEM,
    WORK,
)
from parallel_dynamics.model import (
    CLOSURE_EQUATIONS,
    FIRST_LEG_BODY,
    PLATFORM,
    Frame,
    Inertia,
    RobotModel,
)
from parallel_dynamics.spatial import Array, rotation_about, rotation_between

OPEN_ELSEWHERE = 10.0
"""How much more than at home closures may be open elsewhere, from rounded numbers."""


@dataclass(frozen=True, eq=False)
class Packed:
    """A robot as the kernels read it, and the maps from packed to public order."""

    system: Any
    legs: Any
    joints: Any
    closures: Any
    order: Any  # packed index of each public joint
    link_rotation: Array  # (joints, 3, 3) packed: canonical frame <- URDF link frame
    closure_order: Any  # packed index of each public closure

    @property
    def static(self) -> tuple[Any, ...]:
        """The four arrays in the order in which kernels take them."""
        return self.system, self.legs, self.joints, self.closures

    def workspace(self, lanes: int = 1) -> list[tuple[Any, ...]]:
        """Return sets of scratch arrays, in the order in which kernels take them.

        They are bodies, coordinates, rows, pull, stack, scratch and work.
        """
        s = self.system[0]
        rows = max(1, int(s['rows']))
        n = max(1, int(self.legs['coordinates'].max()))
        sets = []
        for _ in range(lanes):
            bodies = np.zeros(int(s['joints']) + 2, BODY)
            bodies['R'][:] = np.eye(3)
            sets.append(
                (
                    bodies,
                    np.zeros(max(1, int(s['coordinates'])), COORDINATE),
                    np.zeros((rows, int(s['width']))),
                    np.zeros((rows, 7)),
                    np.zeros((rows + 6, 7)),
                    np.zeros((n + 2, n)),
                    np.zeros(1, WORK),
                )
            )
        return sets

    @property
    def nbytes(self) -> int:
        """Bytes of the packed arrays."""
        return int(sum(a.nbytes for a in self.static))


def pack(model: RobotModel, dof: int, independent: tuple[int, ...]) -> Packed:
    """Pack a model; ``independent`` are the twist components (0..5) taken as V_r."""
    count = len(model.joints)
    order = np.zeros(count, np.int64)
    sequence: list[int] = []
    for leg in model.legs:
        sequence += sorted(leg.joints, key=lambda j: (_depth(model, j), j))
    for packed, j in enumerate(sequence):
        order[j] = packed
    canonical = [rotation_between(model.joints[j].axis) for j in sequence]  # link <- canonical

    def body_index(body: int) -> int:
        return body if body < FIRST_LEG_BODY else int(order[body - 2]) + 2

    def to_canonical(body: int) -> Array:
        return np.eye(3) if body < FIRST_LEG_BODY else canonical[int(order[body - 2])].T

    joints = np.zeros(count, JOINT)
    coordinate_of: dict[int, int] = {}
    for j in sequence:
        if model.joints[j].mimic is None:
            coordinate_of[j] = len(coordinate_of)
    for packed, j in enumerate(sequence):
        joint, record = model.joints[j], joints[packed]
        mimic = joint.mimic
        turn = to_canonical(joint.parent)
        record['parent'] = body_index(joint.parent)
        record['kind'] = PRISMATIC if joint.kind == 'prismatic' else REVOLUTE
        record['coordinate'] = coordinate_of[j if mimic is None else mimic.joint]
        record['ratio'] = 1.0 if mimic is None else mimic.multiplier
        record['offset'] = 0.0 if mimic is None else mimic.offset
        record['R'] = turn @ joint.rotation @ canonical[packed]
        record['p'] = turn @ joint.position
        _set_inertia(record, model.bodies[j + 2].inertia, canonical[packed].T)
        record['damping'] = joint.damping
        record['friction'] = joint.friction
        record['armature'] = joint.armature

    legs = np.zeros(max(1, len(model.legs)), LEG)
    closures = np.zeros(max(1, len(model.closures)), CLOSURE)
    closure_order = np.zeros(len(model.closures), np.int64)
    joint0 = coordinate0 = closure0 = row0 = 0
    for leg, record in zip(model.legs, legs):
        coordinates = sum(j in coordinate_of for j in leg.joints)
        record['joint0'], record['joint1'] = joint0, joint0 + len(leg.joints)
        record['coordinate0'], record['coordinates'] = coordinate0, coordinates
        record['closure0'], record['closure1'] = closure0, closure0 + len(leg.closures)
        record['row0'] = row0
        record['on_platform'] = any(model.joints[j].parent == PLATFORM for j in leg.joints)
        for c in leg.closures:
            closure, target = model.closures[c], closures[closure0]
            closure_order[c] = closure0
            target['kind'] = CLOSURE_CODES[closure.kind]
            target['row0'], target['rows'] = row0, CLOSURE_EQUATIONS[closure.kind]
            for which, frame in (('1', closure.first), ('2', closure.second)):
                turn = to_canonical(frame.body)
                target['first' if which == '1' else 'second'] = body_index(frame.body)
                target['R' + which] = turn @ frame.rotation
                target['p' + which] = turn @ frame.position
            row0 += CLOSURE_EQUATIONS[closure.kind]
            closure0 += 1
        record['rows'] = row0 - record['row0']
        joint0 += len(leg.joints)
        coordinate0 += coordinates

    system = np.zeros(1, SYSTEM)
    s = system[0]
    home_p, home_R = home_pose(model)
    s['legs'], s['joints'], s['coordinates'] = len(model.legs), count, coordinate0
    s['rows'], s['dof'] = row0, dof
    s['width'] = int((legs['coordinates'] + np.maximum(legs['rows'], 1)).max())
    s['independent'][:dof] = independent
    s['dependent'][: 6 - dof] = [k for k in range(6) if k not in independent]
    s['actuator'][: len(model.actuators)] = [coordinate_of[j] for j in model.actuators]
    s['gravity'] = model.gravity
    s['home_p'], s['home_R'] = home_p, home_R
    s['length'] = characteristic_length(model)
    set_tolerances(s, *size_and_gap(model))
    _set_inertia(s, model.bodies[PLATFORM].inertia, np.eye(3))
    for record in legs[: len(model.legs)]:
        find_closed_form(record, joints, closures, s)
    rotations = np.array([c.T for c in canonical]).reshape(count, 3, 3)
    return Packed(system, legs, joints, closures, order, rotations, closure_order)


def home_pose(model: RobotModel) -> tuple[Array, Array]:
    """Position (3,) and rotation (3, 3) of the platform with every virtual joint at zero."""
    position, rotation = np.zeros(3), np.eye(3)
    for joint in model.chain:
        position = position + rotation @ joint.position
        rotation = rotation @ joint.rotation
    return position + rotation @ model.platform_position, rotation @ model.platform_rotation


def characteristic_length(model: RobotModel) -> float:
    """Root mean square distance of the closure points on the platform from its origin, m.

    Where no closure stands off the platform's origin, the distance of home from the base.
    """
    points = [
        frame.position
        for closure in model.closures
        for frame in (closure.first, closure.second)
        if frame.body == PLATFORM
    ]
    if points:
        length = float(np.sqrt(np.mean([p @ p for p in points])))
        if length > 1e-6:
            return length
    length = float(np.linalg.norm(home_pose(model)[0]))
    return length if length > 1e-6 else 1.0


def set_tolerances(system: Any, size: float, gap: float) -> None:
    """Set what counts as closed, for a robot of a size (m) that is open at home by a gap (m, rad).

    Numbers of a description are rounded, and what they leave open at home is open by some more in
    other poses. A leg with more equations than unknowns may be ``loose`` by that much.
    """
    system['size'] = size
    system['tolerance'] = max(POSITION_TOLERANCE * min(1.0, size), OPEN_ELSEWHERE * gap)
    system['rate_tolerance'] = max(RATE_TOLERANCE, OPEN_ELSEWHERE * gap / size)
    system['loose'] = max(1e-10 * size, 0.5 * OPEN_ELSEWHERE * gap)


def size_and_gap(model: RobotModel) -> tuple[float, float]:
    """Return how far the robot reaches from its base's origin at home, and what is open, m."""
    placed = _home_placement(model)

    def put(frame: Frame) -> tuple[Array, Array]:
        rotation, position = placed[frame.body]
        return rotation @ frame.rotation, position + rotation @ frame.position

    points, gap = [position for _, position in placed.values()], 0.0
    for closure in model.closures:
        (r1, p1), (r2, p2) = put(closure.first), put(closure.second)
        points += [p1, p2]
        apart = np.abs(r2.T @ (p1 - p2))
        kept = {'cylindrical': apart[:2], 'plane': apart[2:]}.get(closure.kind, apart)
        turned = r2.T @ r1
        tilt = {'weld': np.abs(turned - turned.T).max() / 2.0, 'ball': 0.0, 'plane': 0.0}
        gap = max(gap, *kept, tilt.get(closure.kind, np.abs(turned[:2, 2]).max()))
    size = float(max([np.linalg.norm(p) for p in points]))
    size = size if size > 0.0 else 1.0
    return size, float(gap)


def _home_placement(model: RobotModel) -> dict[int, tuple[Array, Array]]:
    """Rotation and position of every body with all coordinates at zero."""
    position, rotation = home_pose(model)
    placed = {0: (np.eye(3), np.zeros(3)), PLATFORM: (rotation, position)}
    for j in sorted(range(len(model.joints)), key=lambda j: _depth(model, j)):
        joint = model.joints[j]
        above, seat = placed[joint.parent]
        here, at = above @ joint.rotation, seat + above @ joint.position
        offset = 0.0 if joint.mimic is None else joint.mimic.offset
        if joint.kind == 'prismatic':
            at = at + offset * (here @ joint.axis)
        elif offset:
            here = here @ rotation_about(joint.axis, offset)
        placed[j + FIRST_LEG_BODY] = here, at
    return placed


def _depth(model: RobotModel, j: int) -> int:
    parent, depth = model.joints[j].parent, 0
    while parent >= FIRST_LEG_BODY:
        parent = model.joints[parent - 2].parent
        depth += 1
    return depth


def _set_inertia(record: Any, inertia: Inertia, turn: Array) -> None:
    record['mass'] = inertia.mass
    record['com'] = turn @ inertia.com
    record['tensor'] = turn @ inertia.tensor @ turn.T
    if 'has_mass' in record.dtype.names:
        record['has_mass'] = inertia.mass != 0.0 or bool(np.any(inertia.tensor))
