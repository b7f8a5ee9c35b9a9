"""Inverse kinematics of positions: every leg closed for a pose of the platform."""

from __future__ import annotations

import math
from typing import Any

from parallel_dynamics.kernels.closed_form import solve_closed_form
from parallel_dynamics.kernels.compiler import inner_kernel, kernel
from parallel_dynamics.kernels.layout import COLD, HINTED, OK, REVOLUTE, UNREACHABLE, WARM
from parallel_dynamics.kernels.position import (
    TRUSTED_STEP,
    follow_leg,
    leg_residual,
    newton_leg,
    place_platform,
)

HALF_ROUND = 3.0
"""Angle (rad) of a joint from which on its turns are counted from home."""
NEAR, STEADY = 0.1, 0.02
"""A hint is taken only this near (rad, or sizes of the robot), and only where the leg's ratio of
pivots says that no singularity, behind which its other working mode lies, can be in between."""

PLACED, NEARBY, NOWHERE = 0, 1, 2
CLOSED = 1e-13
"""Residual, in sizes of the robot, of a leg with as many equations as unknowns that is placed."""


@kernel
def solve_positions(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    work: Any, scratch: Any, motion: Any,
) -> int:  # fmt: skip
    """Inverse kinematics of positions: close every leg for the pose in ``motion``.

    ``work['warm']`` says where Newton's method starts: COLD, from home; WARM, from the
    coordinates as they stand; HINTED, the same but for a joint that has gone half round, whose
    turns the pose alone cannot tell. What cannot be reached so is led there from home.
    With ``work['angles_unwanted']`` the angles of legs in closed form are left out.
    ``scratch`` is (n + 2, n) or larger, for n coordinates in the longest leg.
    """
    place_platform(bodies, motion)
    warm = work['warm']
    work['warm'] = COLD
    iterations = 0
    for i in range(system['legs']):
        leg = legs[i]
        n = leg['coordinates']
        work['leg'] = i
        ready = warm != COLD
        if leg['steps'] > 0:
            outcome = place_leg(
                system, leg, joints, closures, bodies, coordinates, rows, work, warm
            )
            if outcome == PLACED:
                continue
            ready = outcome == NEARBY
        status = UNREACHABLE
        if ready:
            hinted = warm == HINTED and leg['steps'] == 0
            status = newton_leg(
                system, leg, joints, closures, bodies, coordinates, rows, work, scratch,
                NEAR if hinted else TRUSTED_STEP, STEADY if hinted else 0.0,
            )  # fmt: skip
            if status == OK and warm == HINTED and half_round(leg, joints, coordinates):
                status = UNREACHABLE
        if status != OK:
            for k in range(n):
                coordinates[leg['coordinate0'] + k]['q'] = 0.0
            status = newton_leg(
                system, leg, joints, closures, bodies, coordinates, rows, work, scratch,
                TRUSTED_STEP, 0.0,
            )  # fmt: skip
        if status != OK and n > 0:
            status = follow_leg(
                system, leg, joints, closures, bodies, coordinates, rows, work, scratch, motion,
            )  # fmt: skip
        if status != OK:
            return status
        iterations = max(iterations, work['iterations'])
    work['iterations'] = iterations
    work['warm'] = WARM
    return OK


@inner_kernel
def place_leg(
    system: Any, leg: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    work: Any, warm: int,
) -> int:  # fmt: skip
    """Place a leg in closed form; return PLACED, NEARBY if Newton has to end it, or NOWHERE.

    With WARM the joints go on from where they stand, also by more than a turn.
    """
    n = leg['coordinates']
    angles = warm == WARM or work['angles_unwanted'] == 0
    if warm == WARM:
        for k in range(n):
            c = coordinates[leg['coordinate0'] + k]
            c['qdd'] = c['q']
    limit = CLOSED * system['size'] if leg['rows'] == n else system['loose']
    for _ in range(2):
        if not solve_closed_form(leg, joints, closures, bodies, coordinates, angles):
            break
        if warm == WARM:
            count_turns(leg, joints, bodies, coordinates)
        if leg_residual(leg, closures, bodies, rows, n) < limit:
            return PLACED
        if angles:
            return NEARBY
        angles = True  # Newton's method goes on from them
    if warm != WARM:
        return NOWHERE
    for k in range(n):
        c = coordinates[leg['coordinate0'] + k]
        c['q'] = c['qdd']
    return NEARBY


@kernel
def count_turns(leg: Any, joints: Any, bodies: Any, coordinates: Any) -> None:
    """Bring angles to the turn of those that the coordinates hold as ``qdd``."""
    for j in range(leg['joint0'], leg['joint1']):
        if joints[j]['kind'] == REVOLUTE:
            c = coordinates[joints[j]['coordinate']]
            turns = math.floor((c['qdd'] - c['q']) / (2.0 * math.pi) + 0.5)
            if turns != 0.0:
                c['q'] += 2.0 * math.pi * turns
                bodies[j + 2]['q'] = c['q']


@kernel
def half_round(leg: Any, joints: Any, coordinates: Any) -> bool:
    """Return whether a revolute joint that follows no other is about half a turn from home."""
    for j in range(leg['joint0'], leg['joint1']):
        joint = joints[j]
        if joint['kind'] == REVOLUTE and joint['ratio'] == 1.0:
            if abs(coordinates[joint['coordinate']]['q']) > HALF_ROUND:
                return True
    return False


@kernel
def write_report(work: Any, status: int, report: Any) -> None:
    """Write what there is to tell of one state: status, leg, residual, pivot and fraction."""
    report[0] = status
    report[1] = work['leg']
    report[2] = work['residual']
    report[3] = work['pivot']
    report[4] = work['fraction']
