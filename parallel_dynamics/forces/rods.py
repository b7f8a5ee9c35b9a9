"""Axial force of rods, and whether they buckle.

A rod is a member between two passive ends: balls, universal joints or hinges. But for its own
inertia and weight only two forces act on it, along the line between the centres of its ends; what
a hinge bends it with besides, out of its plane, is in the hinge's wrench. A rod may be telescopic
(the leg of a Stewart platform) or plain (a rod of a Delta's forearm, a bar of a parallelogram).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parallel_dynamics.errors import InputError
from parallel_dynamics.forces.poses import body_poses
from parallel_dynamics.joint_forces import JointForces
from parallel_dynamics.model import FIRST_LEG_BODY, Closure, Joint, RobotModel
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

CONCURRENT = 1e-6
"""Distance (m) up to which two axes count as crossing, and two centres as one."""
PARALLEL = 1e-6
"""Sine of the angle between two axes that counts as zero."""
ACROSS = 1e-9
"""Cosine of the angle between a rod and an axis that counts as zero."""


@dataclass(frozen=True, eq=False)
class RodEnd:
    """Where a rod is held.

    ``kind`` is 'ball', 'universal' or 'hinge', ``name`` that of the joint or closure, ``body`` a
    body of the rod with ``centre`` (3,) in its frame. The wrench of ``name`` acts on the rod with
    ``sign``, in the axes of frame ``axes`` = (body, rotation).
    """

    kind: str
    name: str
    body: int
    centre: Array
    sign: float
    axes: tuple[int, Array]


@dataclass(frozen=True, eq=False)
class Rod:
    """A member between two passive ends; its name is that of the link with the second one."""

    name: str
    first: RodEnd
    second: RodEnd


@dataclass(frozen=True, eq=False)
class RodForce:
    """Axial forces of a rod over a batch of N states, tension positive, N.

    They differ at the two ends by what the rod's own weight and inertia take. ``length`` (N,) is
    the distance of the centres, m. ``determinate`` (N,) tells where equilibrium alone fixes them;
    elsewhere they belong to the smallest closure loads, or are NaN if asked for.
    """

    rod: Rod
    at_first: Array
    at_second: Array
    length: Array
    determinate: NDArray[np.bool_]

    @property
    def compression(self) -> Array:
        """Largest compression along the rod (N,), N; negative where it is only pulled."""
        return np.maximum(-self.at_first, -self.at_second)


@dataclass(frozen=True)
class BucklingCheck:
    """Largest compression of a rod against its critical load, N; time of the worst state, s.

    ``safety`` is critical over actual, infinite for a rod that is only pulled, and NaN where
    nothing is known. ``determinate`` tells whether equilibrium fixed the axial force at all times;
    if not, the verdict holds for the least-norm loads only.
    """

    rod: str
    compression: float
    tension: float
    critical: float
    safety: float
    time: float
    determinate: bool

    @property
    def holds(self) -> bool:
        """Whether the rod stays below its critical load."""
        return self.safety > 1.0


def find_rods(model: RobotModel) -> list[Rod]:
    """Find the members between two passive ends that carry nothing else."""
    found = (_rod(model, j) for j, joint in enumerate(model.joints) if joint.kind == 'revolute')
    return [rod for rod in found if rod is not None]


def _rod(model: RobotModel, j: int) -> Rod | None:
    """Return the rod that begins with a revolute joint, or None."""
    first = _first_end(model, j)
    members = {j + FIRST_LEG_BODY: np.eye(3)}  # with the rotation of each, first member <- it
    ends: list[RodEnd | None] = []
    waiting = [j + FIRST_LEG_BODY]
    while waiting:
        body = waiting.pop()
        for k, joint in enumerate(model.joints):
            if joint.parent == body and joint.kind == 'prismatic':
                members[k + FIRST_LEG_BODY] = members[body] @ joint.rotation
                waiting.append(k + FIRST_LEG_BODY)
            elif joint.parent == body:
                ends.append(_joint_end(model, k))
        ends += [_closure_end(closure, body) for closure in model.closures
                 if body in (closure.first.body, closure.second.body)]  # fmt: skip
    second = ends[0] if len(ends) == 1 else None
    if first is None or second is None:
        return None
    if first.kind == second.kind == 'hinge':
        axis = members[second.body] @ _hinge_axis(model, second)
        if np.linalg.norm(np.cross(model.joints[j].axis, axis)) > PARALLEL:
            return None  # the cross of a universal joint, or a member that is bent
    if first.body == second.body:
        if np.linalg.norm(first.centre - second.centre) < CONCURRENT:
            return None
    return Rod(model.bodies[second.body].name, first, second)


def _first_end(model: RobotModel, j: int) -> RodEnd | None:
    """Return the end at the joint that moves a member, or None if it is driven."""
    joint, body = model.joints[j], j + FIRST_LEG_BODY
    kind, centre = 'hinge', np.zeros(3)
    if joint.parent >= FIRST_LEG_BODY:
        below = model.joints[joint.parent - FIRST_LEG_BODY]
        crossing = _crossing(below, joint)
        if crossing is not None and _carries(model, joint.parent) == 1:
            if joint.parent - FIRST_LEG_BODY in model.actuators:
                return None  # a driven universal joint bends the member
            kind, centre = 'universal', joint.rotation.T @ (crossing - joint.position)
    if j in model.actuators or joint.mimic is not None:
        return None
    return RodEnd(kind, joint.name, body, centre, 1.0, (body, np.eye(3)))


def _joint_end(model: RobotModel, k: int) -> RodEnd | None:
    """Return the end at a revolute joint that a member carries, or None if it is driven."""
    joint, body = model.joints[k], k + FIRST_LEG_BODY
    kind, centre = 'hinge', np.zeros(3)
    above = [j for j, other in enumerate(model.joints) if other.parent == body]
    if len(above) == 1 and _carries(model, body) == 1:
        crossing = _crossing(joint, model.joints[above[0]])
        if crossing is not None:
            if above[0] in model.actuators:
                return None
            kind, centre = 'universal', crossing
    if k in model.actuators or joint.mimic is not None:
        return None
    # The centre lies on the joint's axis, which stands still in the member.
    return RodEnd(
        kind, joint.name, joint.parent, joint.position + joint.rotation @ centre, -1.0,
        (body, np.eye(3)),
    )  # fmt: skip


def _closure_end(closure: Closure, body: int) -> RodEnd | None:
    """Return the end at a ball or a hinge that closes a loop, or None."""
    if closure.kind not in ('ball', 'revolute') or closure.first.body == closure.second.body:
        return None
    own = closure.first if closure.first.body == body else closure.second
    kind = 'ball' if closure.kind == 'ball' else 'hinge'
    sign = -1.0 if own is closure.first else 1.0
    axes = (closure.second.body, closure.second.rotation)
    return RodEnd(kind, closure.name, body, own.position, sign, axes)


def _hinge_axis(model: RobotModel, end: RodEnd) -> Array:
    """Axis (3,) of a hinge in the frame of the rod's body that it is on."""
    for joint in model.joints:
        if joint.name == end.name:
            return np.asarray(joint.rotation @ joint.axis)
    closure = next(c for c in model.closures if c.name == end.name)
    own = closure.first if closure.first.body == end.body else closure.second
    return own.rotation[:, 2]


def _carries(model: RobotModel, body: int) -> int:
    """Count the joints and closures that stand on a body."""
    frames = [f.body for c in model.closures for f in (c.first, c.second)]
    return [joint.parent for joint in model.joints].count(body) + frames.count(body)


def _crossing(first: Joint, second: Joint) -> Array | None:
    """Point in the frame between two joints where the axes of a universal joint cross, or None.

    That frame is the first joint's child, in which the second's axis is fixed.
    """
    if first.kind == 'prismatic' or second.kind == 'prismatic':
        return None
    a, b, p = first.axis, second.rotation @ second.axis, second.position
    normal = np.cross(a, b)
    size = float(normal @ normal)
    if size < PARALLEL or abs(p @ normal) > CONCURRENT * np.sqrt(size):
        return None
    along = np.cross(a, p) @ normal / size  # p - along b lies on the first axis
    return np.asarray(p - along * b)


def rod_forces(robot: Robot, m: PlatformMotion, forces: JointForces) -> list[RodForce]:
    """Axial forces of all rods for motions and their joint forces (both a batch, or both one)."""
    array = forces.array.reshape(-1, *forces.array.shape[-2:])
    fixed = forces.determinate_array.reshape(array.shape)
    rotations, origins = body_poses(robot, m)
    if len(array) != len(origins):
        raise InputError(
            f'rod_forces: expected forces for {len(origins)} states like the motion, got '
            f'{len(array)}'
        )
    place = {name: k for k, name in enumerate(forces.names)}

    def centre(end: RodEnd) -> Array:
        return np.asarray(origins[:, end.body] + rotations[:, end.body] @ end.centre)

    def pull(end: RodEnd, outward: Array) -> tuple[Array, NDArray[np.bool_]]:
        body, turn = end.axes
        axes = rotations[:, body] @ turn
        direction = end.sign * np.einsum('nij,ni->nj', axes, outward)
        # What acts across the rod plays no part, known or not.
        takes_part = np.abs(direction) > ACROSS
        force = np.where(takes_part, array[:, place[end.name], :3], 0.0)
        unique = (fixed[:, place[end.name], :3] | ~takes_part).all(axis=1)
        return np.sum(force * direction, axis=1), unique

    found = []
    for rod in find_rods(robot.model):
        span = centre(rod.second) - centre(rod.first)
        length = np.linalg.norm(span, axis=1)
        along = span / length[:, None]
        (low, low_unique), (high, high_unique) = pull(rod.first, -along), pull(rod.second, along)
        found.append(RodForce(rod, low, high, length, low_unique & high_unique))
    return found


def euler_load(bending_stiffness: float, length: ArrayLike) -> Array:
    """Critical load pi^2 E I / l^2 of a rod hinged at both ends; E I in N m^2, l in m, N."""
    l = np.asarray(length, float)
    if not (np.isfinite(bending_stiffness) and bending_stiffness > 0.0 and (l > 0.0).all()):
        raise InputError(
            f'euler_load: expected a positive stiffness and length, got {bending_stiffness} N m^2 '
            f'and {l.tolist()} m'
        )
    return np.asarray(np.pi**2 * bending_stiffness / l**2)


def check_buckling(
    rods: list[RodForce],
    times: ArrayLike,
    critical: float | Mapping[str, ArrayLike],
) -> list[BucklingCheck]:
    """Hold rods against critical loads.

    Parameters
    ----------
    rods : list of RodForce
    times : (N,)
        Of the states, s.
    critical : float or mapping of rod name to float or (N,)
        Critical load, N; one for all rods, or one for each (for each state, if its length
        changes: see ``euler_load``).
    """
    t = np.atleast_1d(np.asarray(times, float))
    checks = []
    for force in rods:
        name = force.rod.name
        if t.shape != force.length.shape:
            raise InputError(
                f'times: expected one for each of {len(force.length)} states, got shape {t.shape}'
            )
        if isinstance(critical, Mapping) and name not in critical:
            raise InputError(
                f'critical: expected a load for each of {", ".join(r.rod.name for r in rods)}, '
                f'got none for {name}'
            )
        limit = np.asarray(critical[name] if isinstance(critical, Mapping) else critical, float)
        if limit.shape not in ((), t.shape) or not (limit > 0.0).all():
            raise InputError(
                f'critical: expected a positive load or one for each of {len(t)} states, got '
                f'{limit}'
            )
        known = np.isfinite(force.compression)
        load = np.broadcast_to(limit, t.shape)
        fixed = bool(force.determinate[known].all())
        if not known.any():
            nothing = (np.nan,) * 2
            checks.append(BucklingCheck(name, *nothing, float(load.min()), *nothing, False))
            continue
        pressed = np.where(known, force.compression, -np.inf)
        worst = int(np.argmax(pressed / load))
        compression = float(pressed[worst])
        checks.append(BucklingCheck(
            name, max(0.0, compression), _largest(force.at_first, force.at_second),
            float(load[worst]), float(load[worst]) / compression if compression > 0.0 else np.inf,
            float(t[worst]), fixed,
        ))  # fmt: skip
    return checks


def _largest(*forces: Array) -> float:
    values = np.concatenate(forces)
    return max(0.0, float(np.max(values[np.isfinite(values)], initial=0.0)))
