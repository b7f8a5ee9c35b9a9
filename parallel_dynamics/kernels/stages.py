"""What an integrator evaluates: the acceleration of a state, and the efforts at a time.

A state row holds, in this order: packed motion (24), lagged efforts (6), last controlled step,
sign of det(L S), substeps taken, components of V_r, spare, joint coordinates, friction efforts of
the joints. It is all that a run depends on, so that a run goes on bit by bit from a saved row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from parallel_dynamics.kernels.assembly import solve_positions
from parallel_dynamics.kernels.compiler import kernel
from parallel_dynamics.kernels.dynamics import solve_acceleration
from parallel_dynamics.kernels.forward import linearise, project_rate, settled, take_step
from parallel_dynamics.kernels.joint_efforts import HELD, add_joint_efforts
from parallel_dynamics.kernels.layout import (
    OK,
    TWIST_NOT_ALLOWED,
    UNREACHABLE,
)
from parallel_dynamics.kernels.linear import solve_factored
from parallel_dynamics.kernels.position import place_joints, place_platform
from parallel_dynamics.kernels.starting import (
    ADDRESS,
    EFFORTS,
    EXTERNAL,
    HELD_EFFORTS,
    MOTIONS,
    OUT,
    start_program,
)
from parallel_dynamics.kernels.velocity import solve_velocities

FIXED, CONTROLLED, GAUSS = 0, 1, 2  # methods
FRICTIONLESS, SMOOTH, STICK = 0, 1, 2  # friction
NO_STOPS, STIFF, HALT = 0, 1, 2  # joint position limits

# Ends of a run, beside the status codes of kernels.layout.
LIMIT_REACHED, STEP_TOO_LARGE, NEAR_SINGULAR, CLOSURE_LOST, NO_PROGRESS = 101, 102, 103, 104, 105

LAG, SUBSTEP, SIGN, SUBSTEPS, CHOICE, COORDINATES = 24, 30, 31, 32, 33, 35
"""Columns of a state row; the friction efforts follow the coordinates."""

SETTINGS = np.dtype(
    [
        ('method', 'i8'), ('stages', 'i8'), ('friction', 'i8'), ('stops', 'i8'),
        ('joint_efforts', 'i8'), ('joints_with_friction', 'i8'), ('lag', 'f8'),
        ('tolerance', 'f8'), ('singular', 'f8'), ('rough', 'f8'), ('alone', 'i8'),
        ('fresh', 'i8'), ('gamma', 'f8', 6), ('wrench', 'f8', 6),
    ],
    align=True,
)  # fmt: skip
"""``alone``: one simulation, whose last efforts and wrench are kept in ``gamma`` and ``wrench``.
``fresh``: the workspace is that of the state, so that they are all that can have changed."""


@kernel
def settle(
    s: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, w: Any, motion: Any, enough: float,
) -> int:  # fmt: skip
    """Put pose and twist on the closures, in place, from joints that all but suit them.

    Newton's method; it stops after a step below ``enough``, whose square is what is left.
    """
    place_platform(bodies, motion)
    status = UNREACHABLE
    residual = 1e300
    for _ in range(12):
        status = linearise(s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w)
        if status != OK:
            return status
        for i in range(s['dof']):
            w['b'][i] = 0.0
        size = take_step(s, joints, bodies, coordinates, w)
        status = UNREACHABLE
        if settled(s, w['residual'], residual, size, enough):
            status = OK
            break
        residual = w['residual']
    for i in range(3):
        motion[i] = bodies[1]['p'][i]
        for k in range(3):
            motion[3 + 3 * i + k] = bodies[1]['R'][i, k]
    for leg in range(s['legs']):
        place_joints(joints, bodies, coordinates, legs[leg]['joint0'], legs[leg]['joint1'])
    project_rate(s, w, motion, 12, False)
    return status


@kernel
def evaluate_motion(
    s: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, w: Any, options: Any, physics: Any, settings: Any,
    external: Any, gamma: Any, mode: int, held: Any, pushed: Any, motion: Any, enough: float,
) -> int:  # fmt: skip
    """V_p' for pose and twist of ``motion``, into its last six places.

    The coordinates must hold a guess. For less than six degrees of freedom pose and twist are
    put on the closures first.
    """
    if s['dof'] == 6:
        w['warm'] = 1
        status = solve_positions(
            s, legs, joints, closures, bodies, coordinates, rows, w, scratch, motion
        )
    else:
        status = settle(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion, enough
        )
    if status != OK:
        return status
    status = solve_velocities(
        s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
    )
    if status == TWIST_NOT_ALLOWED or (status == OK and s['dof'] < 6 and enough < 1e-8):
        # Now with the S of this very pose.
        project_rate(s, w, motion, 12, False)
        status = solve_velocities(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
        )
    if status != OK:
        return status
    for i in range(28):
        pushed[i] = external[i]
    if settings['joint_efforts']:
        add_joint_efforts(
            s, joints, bodies, coordinates, physics, int(settings['stops'] == STIFF), mode, held,
            pushed,
        )  # fmt: skip
    return solve_acceleration(
        s, legs, joints, bodies, coordinates, scratch, w, motion, pushed, options, gamma,
        motion[18:24],
    )  # fmt: skip


@kernel
def evaluate_stage(
    s: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, w: Any, options: Any, physics: Any, settings: Any,
    order: Any, external: Any, gamma: Any, mode: int, held: Any, pushed: Any, motion: Any,
    enough: float,
) -> int:  # fmt: skip
    """As ``evaluate_motion`` where only V_p' is wanted: by the robot's own program if it has one.

    The workspace is then left as it is. A state that the program does not speak for goes to
    ``evaluate_motion``.
    """
    if order[ADDRESS] != 0 and mode == HELD:
        order[MOTIONS] = motion.ctypes.data
        order[EXTERNAL] = external.ctypes.data
        order[EFFORTS] = gamma.ctypes.data
        order[HELD_EFFORTS] = held.ctypes.data
        order[OUT] = motion[18:24].ctypes.data
        if start_program(order):
            return OK
    return evaluate_motion(
        s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w, options,
        physics, settings, external, gamma, mode, held, pushed, motion, enough,
    )  # fmt: skip


@kernel
def evaluate_again(
    s: Any, w: Any, settings: Any, external: Any, gamma: Any, right: Any, motion: Any
) -> None:
    """V_p' under other efforts and another wrench, where ``evaluate_motion`` was just now.

    The base must move as it did then: what changes is linear, and A is still factored.
    """
    n = s['dof']
    for i in range(n):
        value = 0.0
        for k in range(n):
            value += w['LS'][k, i] * (gamma[k] - settings['gamma'][k])
        for m in range(6):
            value += w['S'][m, i] * (external[m] - settings['wrench'][m])
        right[i] = value
    solve_factored(w['A'], right, n)
    for m in range(6):
        for k in range(n):
            motion[18 + m] += w['S'][m, k] * right[k]


@kernel
def effort_now(
    n: int, efforts: Any, noise: Any, step: int, steps: int, at: float, h: float, lag: float,
    lagged: Any, gamma: Any,
) -> None:  # fmt: skip
    """Efforts at ``at`` seconds into a step of length h.

    ``efforts`` has one row (held all the time), one for each step (held over it), or
    2 steps + 1: then the efforts go through start, middle and end of each step as a parabola.
    A first-order lag follows its exact solution, from ``lagged`` at the start of the step.
    """
    count = efforts.shape[0]
    for i in range(n):
        if count == 2 * steps + 1 and count > 1:
            a, b, c = efforts[2 * step, i], efforts[2 * step + 1, i], efforts[2 * step + 2, i]
            slope = (4.0 * b - 3.0 * a - c) / h
            bend = 2.0 * (a - 2.0 * b + c) / (h * h)
        else:
            a = efforts[step if count > 1 else 0, i]
            slope = 0.0
            bend = 0.0
        value = a + at * (slope + at * bend)
        if lag > 0.0:
            value += lag * (2.0 * bend * (lag - at) - slope)
            start = a + lag * (2.0 * bend * lag - slope)
            value += (lagged[i] - start) * math.exp(-at / lag)
        gamma[i] = value + noise[step if noise.shape[0] > 1 else 0, i]
