"""Motions put on the closures, in the assembly mode of home.

Newton's method moves pose and joints at once; the independent components are kept. From a pose
far off it may end in another assembly of the same parts, as a Delta whose plate is turned. So what
went far, or ended far from home's orientation, has to be reached from home along the closures;
motions that are all but allowed have been judged before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.kernels.assembly import solve_positions, write_report
from parallel_dynamics.kernels.compiler import entry, kernel
from parallel_dynamics.kernels.forward import (
    linearise,
    orthonormalise,
    project_rate,
    settled,
    take_step,
    turn_platform,
)
from parallel_dynamics.kernels.layout import COLD, FREE, OK, OWN, UNREACHABLE
from parallel_dynamics.kernels.leading import THERE, lead_home_to, pose_missing
from parallel_dynamics.kernels.position import place_joints, place_platform
from parallel_dynamics.kernels.velocity import solve_velocities

FAR = 0.5
"""rad, or characteristic lengths, from which on Newton's method is not trusted alone."""


@entry
def project_many(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, choice: int, motions: Any, reports: Any,
    first: int, last: int,
) -> int:  # fmt: skip
    """Put motions ``first`` to ``last - 1`` on the closures; return the status of the last.

    ``choice`` is OWN where the robot's own independent components are to be kept, FREE where any
    may be, since the motions are all but allowed.
    """
    status = OK
    poses = np.empty((2, 12))
    work[0]['choice'] = choice
    for i in range(first, last):
        work[0]['warm'] = COLD
        status = project_one(
            system, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, work,
            motions[i], poses,
        )  # fmt: skip
        write_report(work[0], status, reports[i])
    work[0]['choice'] = FREE
    return status


@kernel
def project_one(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, motion: Any, poses: Any,
) -> int:  # fmt: skip
    """Put a motion on the closures, in place: pose, twist and acceleration.

    Only dependent components change. Starts from the joints as they stand when
    ``work['warm']``, else from those that suit the pose best. ``poses`` (2, 12) is scratch.
    """
    s = system[0]
    w = work[0]
    for m in range(12):
        poses[0, m] = motion[m]
    if w['warm'] == 0:
        solve_positions(s, legs, joints, closures, bodies, coordinates, rows, w, scratch, motion)
    w['warm'] = 0
    status = close_pose(
        s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
    )
    own = s['dof'] < 6 and w['choice'] == OWN
    if own and (status != OK or strayed(s, bodies, w, poses)):
        kept, pivot = status, w['pivot']
        if status != OK or not reached_from_home(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
        ):
            bring_home(s, bodies, w, poses, motion)
            solve_positions(
                s, legs, joints, closures, bodies, coordinates, rows, w, scratch, motion
            )
            w['warm'] = 0
            status = close_pose(
                s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
            )
            if status == OK and not reached_from_home(
                s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
            ):
                status = UNREACHABLE
            if status != OK and kept != OK:
                status, w['pivot'] = kept, pivot
    if status != OK:
        return status
    for i in range(3):
        motion[i] = bodies[1]['p'][i]
        for k in range(3):
            motion[3 + 3 * i + k] = bodies[1]['R'][i, k]
    for leg in range(s['legs']):
        place_joints(joints, bodies, coordinates, legs[leg]['joint0'], legs[leg]['joint1'])
    w['warm'] = 1
    for _ in range(1 if s['dof'] == 6 else 2):
        # The first S is that of the last iterate; the second is exact, and its drift with it.
        project_rate(s, w, motion, 12, False)
        status = solve_velocities(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
        )
        if status != OK:
            return status
    project_rate(s, w, motion, 18, True)
    return OK


@kernel
def close_pose(
    s: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, w: Any, motion: Any,
) -> int:  # fmt: skip
    """Close all closures by Newton's method, from a pose and from joints as they stand."""
    place_platform(bodies, motion)
    status = UNREACHABLE
    for i in range(s['dof']):
        w['b'][i] = 0.0
    residual = 1e300
    for iteration in range(30):
        status = linearise(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w
        )
        if status != OK:
            return status
        size = take_step(s, joints, bodies, coordinates, w)
        w['iterations'] = iteration + 1
        status = UNREACHABLE
        if settled(s, w['residual'], residual, size, 1e-9):
            status = OK
            break
        residual = w['residual']
    if status == OK:
        orthonormalise(bodies[1])
    return status


@kernel
def strayed(s: Any, bodies: Any, w: Any, poses: Any) -> bool:
    """Return whether the platform stands far from the pose given, or is turned far from home."""
    length = s['length']
    if pose_missing(bodies[1], poses[0], w['goal'], length) > FAR * length:
        return True
    for i in range(3):
        poses[1, i] = s['home_p'][i]
        for k in range(3):
            poses[1, 3 + 3 * i + k] = s['home_R'][i, k]
    pose_missing(bodies[1], poses[1], w['goal'], length)
    far = False
    for i in range(6 - s['dof']):
        m = s['dependent'][i]
        far = far or abs(w['goal'][m]) > FAR * (length if m < 3 else 1.0)
    return far


@kernel
def reached_from_home(
    s: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, w: Any, motion: Any,
) -> bool:  # fmt: skip
    """Return whether the pose where the platform stands can be reached from home.

    Platform and joints then stand there, as the way from home brought them.
    """
    for i in range(3):
        motion[i] = bodies[1]['p'][i]
        for k in range(3):
            motion[3 + 3 * i + k] = bodies[1]['R'][i, k]
    outcome = lead_home_to(
        s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
    )
    if outcome != THERE:
        return False
    return OK == close_pose(
        s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
    )


@kernel
def bring_home(s: Any, bodies: Any, w: Any, poses: Any, motion: Any) -> None:
    """Write home's pose, moved by what the independent components of the given one say."""
    platform = bodies[1]
    for i in range(3):
        platform['p'][i] = s['home_p'][i]
        for k in range(3):
            platform['R'][i, k] = s['home_R'][i, k]
    pose_missing(platform, poses[0], w['goal'], s['length'])
    for i in range(6 - s['dof']):
        w['goal'][s['dependent'][i]] = 0.0
    turn_platform(platform, w['goal'][3], w['goal'][4], w['goal'][5])
    for i in range(3):
        motion[i] = platform['p'][i] + w['goal'][i]
        for k in range(3):
            motion[3 + 3 * i + k] = platform['R'][i, k]
