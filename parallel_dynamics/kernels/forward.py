"""Forward kinematics and projection: Newton's method on platform and joints at once.

Linearised closures read J_i dq_i = J_vi dX - e_i, which is the equation of the accelerations
with -e_i in place of the drift; so the same reduction gives dq_i = G_i dX + g_i and
dX = S dr + s. What is left is to choose dr: by the actuators (forward kinematics) or zero
(projection on the closures with the independent components kept).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from parallel_dynamics.kernels.assembly import solve_positions, write_report
from parallel_dynamics.kernels.compiler import entry, kernel
from parallel_dynamics.kernels.layout import (
    ACTUATION_SINGULAR,
    COLD,
    CONSTRAINT_SINGULAR,
    FREE,
    GIVEN,
    OK,
    SINGULAR_PIVOT,
    UNREACHABLE,
    WARM,
)
from parallel_dynamics.kernels.linear import orientation, solve_in_place
from parallel_dynamics.kernels.position import (
    CONTRACTION,
    MOST_STRIDES,
    SHORTEST_STRIDE,
    TRUSTED_STEP,
    leg_residual,
    place_joints,
    scaled_step,
)
from parallel_dynamics.kernels.velocity import (
    actuator_jacobian,
    leg_jacobian,
    platform_freedom,
    renew_components,
    solve_velocities,
    use_own_components,
)

STALLED = 30.0
"""Steps of up to so many times the residual are its own going to and fro."""


@kernel
def turn_platform(body: Any, x: float, y: float, z: float) -> None:
    """Turn the platform by a rotation vector in base axes (exponential map)."""
    angle = math.sqrt(x * x + y * y + z * z)
    if angle < 1e-300:
        return
    if angle < 1e-4:
        s = 1.0 - angle * angle / 6.0
        v = 0.5 - angle * angle / 24.0
    else:
        s = math.sin(angle) / angle
        v = (1.0 - math.cos(angle)) / (angle * angle)
    r = body['R']
    for k in range(3):
        a, b, c = r[0, k], r[1, k], r[2, k]
        ux, uy, uz = y * c - z * b, z * a - x * c, x * b - y * a
        r[0, k] = a + s * ux + v * (y * uz - z * uy)
        r[1, k] = b + s * uy + v * (z * ux - x * uz)
        r[2, k] = c + s * uz + v * (x * uy - y * ux)


@kernel
def orthonormalise(body: Any) -> None:
    """Remove rounding from a rotation that is all but orthonormal (one Newton step)."""
    r = body['R']
    g00 = g01 = g02 = g11 = g12 = g22 = 0.0
    for i in range(3):
        g00 += r[i, 0] * r[i, 0]
        g01 += r[i, 0] * r[i, 1]
        g02 += r[i, 0] * r[i, 2]
        g11 += r[i, 1] * r[i, 1]
        g12 += r[i, 1] * r[i, 2]
        g22 += r[i, 2] * r[i, 2]
    for i in range(3):
        a, b, c = r[i, 0], r[i, 1], r[i, 2]
        r[i, 0] = 1.5 * a - 0.5 * (a * g00 + b * g01 + c * g02)
        r[i, 1] = 1.5 * b - 0.5 * (a * g01 + b * g11 + c * g12)
        r[i, 2] = 1.5 * c - 0.5 * (a * g02 + b * g12 + c * g22)


@kernel
def linearise(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, work: Any,
) -> int:  # fmt: skip
    """Linearise all closures where platform and joints stand; residual in ``work``."""
    worst = 0.0
    for i in range(system['legs']):
        leg = legs[i]
        place_joints(joints, bodies, coordinates, leg['joint0'], leg['joint1'])
        worst = max(worst, leg_residual(leg, closures, bodies, pull, 6))
        status = leg_jacobian(leg, joints, closures, bodies, coordinates, rows, pull, work)
        if status != OK:
            work['leg'] = i
            return status
        n = leg['coordinates']
        top = leg['row0']
        for k in range(n):
            value = 0.0
            for r in range(leg['rows']):
                value += rows[top + k, n + r] * pull[top + r, 6]
            coordinates[leg['coordinate0'] + k]['g'] = value
    work['residual'] = worst
    status = platform_freedom(system, legs, rows, pull, stack, work)
    if status != OK:
        return status
    actuator_jacobian(system, coordinates, work)
    return OK


@kernel
def take_step(system: Any, joints: Any, bodies: Any, coordinates: Any, work: Any) -> float:
    """Move platform and joints by dr in ``work['b']``, clamped; return the step's size.

    The size is in rad, or robot sizes.
    """
    dof = system['dof']
    d = work['F']
    for m in range(6):
        d[m] = work['s'][m]
        for k in range(dof):
            d[m] += work['S'][m, k] * work['b'][k]
    size = 0.0
    for m in range(3):
        size = max(size, abs(d[m]) / system['size'], abs(d[3 + m]))
    for k in range(system['coordinates']):
        c = coordinates[k]
        value = c['g']
        for m in range(6):
            value += c['G'][m] * d[m]
        c['qdd'] = value  # scratch: the step of this coordinate
    size = max(size, scaled_step(system, joints, coordinates, 0, system['joints']))
    scale = 1.0 if size <= 0.3 else 0.3 / size
    for m in range(3):
        bodies[1]['p'][m] += scale * d[m]
    turn_platform(bodies[1], scale * d[3], scale * d[4], scale * d[5])
    for k in range(system['coordinates']):
        coordinates[k]['q'] += scale * coordinates[k]['qdd']
    return size


@kernel
def settled(system: Any, residual: float, before: float, size: float, enough: float) -> bool:
    """Return whether a step of a size (rad, or robot sizes) was the last that is worth taking.

    Newton's method is quadratic: after a step below ``enough`` only rounding is left. Rounded
    numbers of a description may also leave closures open that cannot all hold: then the residual
    does not shrink any more, and steps only go to and fro by as much.
    """
    if not residual < system['tolerance']:
        return False
    return size < enough or (
        residual > 0.3 * before and size * system['size'] < STALLED * residual
    )


@kernel
def newton_forward(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, work: Any, goal: Any, sign: float, usual: float, patience: int,
) -> int:  # fmt: skip
    """Newton's method to actuator positions ``goal``, on the side of ``sign``.

    Where the platform's constraints have become worse than they ``usual``-ly are, as before a
    pose at which the platform may go on in two ways, steps get shorter and do not pass it.
    """
    dof = system['dof']
    before = residual = 1e300
    for _ in range(patience):
        work['iterations'] += 1
        status = linearise(
            system, legs, joints, closures, bodies, coordinates, rows, pull, stack, work
        )
        if status != OK:
            return status
        if orientation(work['LS'], work['A'], dof) != sign:
            return ACTUATION_SINGULAR
        trusted = TRUSTED_STEP * min(1.0, 0.5 * work['freedom'] / usual)
        if trusted < 1e-3 * TRUSTED_STEP:
            work['pivot'] = work['freedom']
            return CONSTRAINT_SINGULAR
        worst = 0.0
        for i in range(dof):
            c = coordinates[system['actuator'][i]]
            gap = goal[i] - c['q']
            worst = max(worst, abs(gap))
            value = gap - c['g']
            for m in range(6):
                value -= work['L'][i, m] * work['s'][m]
            work['b'][i] = value
            for k in range(dof):
                work['A'][i, k] = work['LS'][i, k]
        work['residual'] = max(work['residual'], worst)
        pivot = solve_in_place(work['A'], work['b'], dof)
        work['pivot'] = pivot
        if pivot < SINGULAR_PIVOT:
            return ACTUATION_SINGULAR
        size = take_step(system, joints, bodies, coordinates, work)
        if settled(system, work['residual'], residual, size, 1e-9):
            return OK
        residual = work['residual']
        if size > trusted or size > CONTRACTION * before:
            return UNREACHABLE
        before = size
    return UNREACHABLE


@kernel
def forward_one(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, positions: Any, velocities: Any, guess: Any,
    guessed: int, memory: Any, out: Any,
) -> int:  # fmt: skip
    """Forward kinematics: platform pose and twist from actuator positions and velocities.

    Starts from the pose ``guess`` (24,) when ``guessed`` and that can be assembled, else from
    home, and leads the actuators to their positions by continuation, so that it never leaves the
    assembly mode of its start: a step that does not contract is halved, and the sign of
    det(L S) stays. ``out`` (24 + 2 + n n) takes the packed motion, residual, iterations and
    L S; ``memory`` (coordinates + 12) is scratch.
    """
    s = system[0]
    w = work[0]
    dof = s['dof']
    count = s['coordinates']
    goal = w['goal']
    start = w['start']
    w['warm'] = COLD
    w['leg'] = 0
    if guessed:
        status = solve_positions(
            s, legs, joints, closures, bodies, coordinates, rows, w, scratch, guess
        )
        w['warm'] = COLD
        if status != OK and w['residual'] > 0.1 * s['length']:
            guessed = 0
    if not guessed:
        for i in range(3):
            bodies[1]['p'][i] = s['home_p'][i]
            for k in range(3):
                bodies[1]['R'][i, k] = s['home_R'][i, k]
        for k in range(count):
            coordinates[k]['q'] = 0.0
    w['fraction'] = 0.0
    w['iterations'] = 0
    use_own_components(s, w)
    status = linearise(s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w)
    if status != OK:
        return status
    usual = w['freedom']
    sign = orientation(w['LS'], w['A'], dof)
    sign *= renew_components(s, legs, rows, pull, stack, w)
    for i in range(dof):
        start[i] = coordinates[s['actuator'][i]]['q']
    fraction = 0.0
    stride = 1.0
    for _ in range(MOST_STRIDES):
        target = min(1.0, fraction + stride)
        remember(bodies, coordinates, memory, count)
        for i in range(dof):
            goal[i] = start[i] + target * (positions[i] - start[i])
        status = newton_forward(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, goal, sign,
            usual, 10,
        )  # fmt: skip
        if status == OK:
            fraction = target
            stride = min(1.0, 2.0 * stride)
            sign *= renew_components(s, legs, rows, pull, stack, w)
            if fraction == 1.0:
                break
        else:
            recall(bodies, coordinates, memory, count)
            stride *= 0.5
            if stride < SHORTEST_STRIDE:
                break
    w['fraction'] = fraction
    if fraction < 1.0:
        return UNREACHABLE if status == OK else status
    orthonormalise(bodies[1])
    for m in range(24):
        out[m] = 0.0
    for i in range(3):
        out[i] = bodies[1]['p'][i]
        for k in range(3):
            out[3 + 3 * i + k] = bodies[1]['R'][i, k]
    out[24] = w['residual']
    out[25] = w['iterations']
    for leg in range(s['legs']):
        place_joints(joints, bodies, coordinates, legs[leg]['joint0'], legs[leg]['joint1'])
    w['warm'] = WARM
    status = solve_velocities(
        s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, out
    )
    if status != OK:
        return status
    for i in range(dof):
        w['b'][i] = velocities[i]
        for k in range(dof):
            w['A'][i, k] = w['LS'][i, k]
            out[26 + dof * i + k] = w['LS'][i, k]
    pivot = solve_in_place(w['A'], w['b'], dof)
    w['pivot'] = pivot
    if pivot < SINGULAR_PIVOT:
        return ACTUATION_SINGULAR
    for m in range(6):
        for k in range(dof):
            out[12 + m] += w['S'][m, k] * w['b'][k]
    return OK


@entry
def forward_many(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, positions: Any, velocities: Any,
    guesses: Any, guessed: int, out: Any, reports: Any, first: int, last: int,
) -> int:  # fmt: skip
    """Forward kinematics of states ``first`` to ``last - 1``; return the status of the last.

    ``velocities`` and ``guesses`` have one row for all states, or one for each.
    """
    memory = np.empty(system[0]['coordinates'] + 12)
    status = OK
    work[0]['choice'] = GIVEN
    for i in range(first, last):
        status = forward_one(
            system, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, work,
            positions[i], velocities[i if velocities.shape[0] > 1 else 0],
            guesses[i if guesses.shape[0] > 1 else 0], guessed, memory, out[i],
        )  # fmt: skip
        write_report(work[0], status, reports[i])
    work[0]['choice'] = FREE
    return status


@kernel
def remember(bodies: Any, coordinates: Any, memory: Any, count: int) -> None:
    """Keep the platform's pose and all coordinates."""
    for i in range(3):
        memory[count + i] = bodies[1]['p'][i]
        for k in range(3):
            memory[count + 3 + 3 * i + k] = bodies[1]['R'][i, k]
    for k in range(count):
        memory[k] = coordinates[k]['q']


@kernel
def recall(bodies: Any, coordinates: Any, memory: Any, count: int) -> None:
    """Put platform and coordinates back to what ``remember`` kept."""
    for i in range(3):
        bodies[1]['p'][i] = memory[count + i]
        for k in range(3):
            bodies[1]['R'][i, k] = memory[count + 3 + 3 * i + k]
    for k in range(count):
        coordinates[k]['q'] = memory[k]


@kernel
def project_rate(system: Any, work: Any, motion: Any, offset: int, with_drift: bool) -> None:
    """Replace the dependent components of a rate by what the independent ones ask for."""
    for i in range(6 - system['dof']):
        m = work['dependent'][i]
        value = work['s'][m] if with_drift else 0.0
        for k in range(system['dof']):
            value += work['S'][m, k] * motion[offset + work['independent'][k]]
        motion[offset + m] = value
