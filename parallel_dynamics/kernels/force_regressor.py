"""The joint forces as a linear form: one wrench = W p, with the parameters of the efforts.

A component of a wrench is linear in what the bodies and drives ask for, so it is the virtual
power of those in one motion of the mechanism. ``kernels.forces`` finds multipliers from
H_i and F_p; here the same steps are taken backwards, from one component to its coefficients on
H_i (rates of the coordinates) and on F_p (twist of the platform), actuators at rest. The
Jacobians of all bodies in six such motions at once, one for each component, then turn the bodies'
own linear forms (codourey_burdet_1997, (28)-(34)) into W.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.kernels.assembly import write_report
from parallel_dynamics.kernels.compiler import entry, kernel
from parallel_dynamics.kernels.dynamics import set_roots
from parallel_dynamics.kernels.forces import (
    apply_closure,
    carry_load,
    leg_constraints,
    leg_null_space,
    orthogonal_basis,
    to_joint,
    to_link,
)
from parallel_dynamics.kernels.layout import OK, PRISMATIC
from parallel_dynamics.kernels.leading import find_positions
from parallel_dynamics.kernels.regressor import body_columns, joint_columns, platform_jacobian
from parallel_dynamics.kernels.velocity import move_joints, solve_accelerations, solve_velocities


@entry
def regress_wrench(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, scales: Any, frames: Any, columns: Any,
    place: int, motions: Any, external: Any, out: Any, reports: Any, first: int, last: int,
) -> int:  # fmt: skip
    """Write W (6, parameters) of states ``first`` to ``last - 1``; return the last status.

    ``place`` is a packed joint, or the number of joints plus a packed closure; ``scales`` are
    those of ``joint_forces``, ``frames`` and ``columns`` those of ``regress``.
    """
    s = system[0]
    w = work[0]
    n = s['dof']
    count = s['joints']
    free = s['rows'] - s['coordinates']
    widest = 1
    for k in range(s['legs']):
        widest = max(widest, legs[k]['rows'] - legs[k]['coordinates'])
    table = np.zeros((n, 2 * n))
    rotation = np.zeros((3, 3))
    load = np.zeros((count + 2, 6))
    unit = np.zeros(max(1, s['rows']))
    response = np.zeros((6, max(1, s['rows'])))
    null = np.zeros((max(1, s['rows']) if free > 0 else 1, widest))
    memory = np.zeros((3, max(1, free), max(6, widest)))
    weights = np.zeros((max(6, widest), max(6, widest)))
    order = np.zeros(max(6, widest), np.int64)
    at_actuators = np.zeros((n, 6))
    motion_of = np.zeros((count + 2, 6, 6))
    rates = np.zeros((max(1, count), 6))
    status = OK
    for i in range(first, last):
        motion = motions[i]
        push = external[i if external.shape[0] > 1 else 0]
        status = find_positions(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, scratch, motion
        )
        if status == OK:
            status = solve_velocities(
                s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
            )
        if status == OK:
            status = solve_accelerations(s, joints, bodies, coordinates, w, motion)
        if status == OK:
            status = platform_jacobian(s, w, table, at_actuators)
        write_report(w, status, reports[i if reports.shape[0] > 1 else 0])
        if status != OK:
            continue
        set_roots(s, bodies, motion, push, motion, 18, 1.0)
        move_joints(joints, bodies, 0, count)
        own = leg_of(s, legs, place)
        unit_loads(
            s, legs[own], joints, closures, bodies, frames, place, unit, load, response
        )
        rank = 0
        if free > 0:
            for r in range(s['rows']):
                unit[r] = 0.0
            done = 0
            for k in range(s['legs']):
                leg_null_space(legs[k], rows, scales, null)
                done = leg_constraints(
                    s, legs[k], w, pull, scales, null, unit, memory[0], done
                )
            for r in range(free):
                for m in range(6):
                    memory[2, r, m] = memory[0, r, m]
            rank = orthogonal_basis(memory[0], free, 6, 6 - n, memory[1], weights, order)
        for k in range(6):
            settle_component(
                s, legs, own, pull, scales, null, memory, weights, order, free, rank,
                response[k], motion_of[1, k],
            )  # fmt: skip
            find_rates(
                s, legs, joints, coordinates, rows, at_actuators, response[k], motion_of[1, k],
                rates, k,
            )  # fmt: skip
        virtual_twists(s, joints, bodies, frames, place, rates, motion_of)
        for b in range(1, count + 2):
            body_columns(bodies[b], frames[b], rotation, motion_of[b], 6, columns[b, 0], out[i])
        for j in range(count):
            joint_columns(bodies[j + 2], rates[j], 6, columns[j + 2, 1], out[i])
    return status


@kernel
def leg_of(system: Any, legs: Any, place: int) -> int:
    """Return the leg that a joint or closure belongs to."""
    for k in range(system['legs']):
        if place < system['joints']:
            if legs[k]['joint0'] <= place < legs[k]['joint1']:
                return k
        elif legs[k]['closure0'] <= place - system['joints'] < legs[k]['closure1']:
            return k
    return 0


@kernel
def unit_loads(
    system: Any, leg: Any, joints: Any, closures: Any, bodies: Any, frames: Any, place: int,
    unit: Any, load: Any, response: Any,
) -> None:  # fmt: skip
    """Write what each multiplier alone does to the six components at ``place`` (6, rows).

    Only multipliers of its own leg do anything; ``unit`` (rows) and ``load`` are scratch.
    """
    for r in range(system['rows']):
        unit[r] = 0.0
        for k in range(6):
            response[k, r] = 0.0
    wrench = np.zeros(6)
    for r in range(leg['row0'], leg['row0'] + leg['rows']):
        unit[r] = 1.0
        for b in range(leg['joint0'] + 2, leg['joint1'] + 2):
            for k in range(6):
                load[b, k] = 0.0
        for c in range(leg['closure0'], leg['closure1']):
            apply_closure(closures[c], bodies, unit, load, wrench)
            if c == place - system['joints']:
                for k in range(6):
                    response[k, r] = wrench[k]
        if place < system['joints']:
            carry_load(joints, bodies, load, leg['joint0'], leg['joint1'])
            a = load[place + 2]
            to_joint(bodies[place + 2], -a[0], -a[1], -a[2], wrench, 0)
            to_joint(bodies[place + 2], -a[3], -a[4], -a[5], wrench, 3)
            to_link(frames[place + 2], wrench)
            for k in range(6):
                response[k, r] = wrench[k]
        unit[r] = 0.0


@kernel
def settle_component(
    system: Any, legs: Any, own: int, pull: Any, scales: Any, null: Any, memory: Any,
    weights: Any, order: Any, free: int, rank: int, response: Any, needed: Any,
) -> None:  # fmt: skip
    """Make coefficients on the multipliers those on the multipliers at mu = 0, and on F_p.

    ``response`` (rows) is changed in place; ``needed`` (6) becomes the coefficients on what the
    platform still needs at mu = 0. Without any mu nothing changes.
    """
    for m in range(6):
        needed[m] = 0.0
    if free == 0:
        return
    leg = legs[own]
    start = 0
    for k in range(own):
        start += legs[k]['rows'] - legs[k]['coordinates']
    along = np.zeros(6)
    for c in range(leg['rows'] - leg['coordinates']):
        value = 0.0
        for r in range(leg['row0'], leg['row0'] + leg['rows']):
            value += response[r] * null[r, c] / scales[r]
        for k in range(rank):
            along[k] += memory[1, start + c, k] * value
        for r in range(leg['row0'], leg['row0'] + leg['rows']):
            response[r] -= value * null[r, c] * scales[r]
    for k in range(rank - 1, -1, -1):  # weights[order] is lower triangular
        for after in range(k + 1, rank):
            along[k] -= weights[order[after], k] * along[after]
        along[k] /= weights[order[k], k]
    inverse = 1.0 / system['length']
    for k in range(rank):
        needed[order[k]] = -along[k] * (inverse if order[k] >= 3 else 1.0)
    done = 0
    for k in range(system['legs']):
        top = legs[k]['row0']
        end = top + legs[k]['rows']
        for r in range(top, end):
            for m in range(6):
                response[r] += pull[r, m] * needed[m]
        for c in range(legs[k]['rows'] - legs[k]['coordinates']):
            value = 0.0
            for m in range(6):
                value += memory[2, done, m] * needed[m] * (system['length'] if m >= 3 else 1.0)
            for r in range(top, end):
                response[r] -= value * null[r, c] * scales[r]
            done += 1


@kernel
def find_rates(
    system: Any, legs: Any, joints: Any, coordinates: Any, rows: Any, at_actuators: Any,
    response: Any, twist: Any, rates: Any, k: int,
) -> None:  # fmt: skip
    """Write rates of the joints into column ``k``, and complete the platform's ``twist`` (6,).

    The efforts follow from H_i and F_p themselves; putting them in leaves the actuators at rest.
    """
    held = np.zeros(max(1, system['coordinates']))
    for i in range(system['legs']):
        leg = legs[i]
        n = leg['coordinates']
        for c in range(n):
            value = 0.0
            for r in range(leg['rows']):
                value += rows[leg['row0'] + c, n + r] * response[leg['row0'] + r]
            held[leg['coordinate0'] + c] = value
    back = np.zeros(6)
    for a in range(system['dof']):
        for m in range(6):
            back[m] += at_actuators[a, m] * held[system['actuator'][a]]
    for c in range(system['coordinates']):
        for m in range(6):
            held[c] -= coordinates[c]['G'][m] * back[m]
    for a in range(system['dof']):
        held[system['actuator'][a]] = 0.0
    for m in range(6):
        twist[m] -= back[m]
    for j in range(system['joints']):
        rates[j, k] = joints[j]['ratio'] * held[joints[j]['coordinate']]


@kernel
def virtual_twists(
    system: Any, joints: Any, bodies: Any, frames: Any, place: int, rates: Any, twists: Any
) -> None:
    """Twists (6, 6) of every leg body in the six motions, those of the platform being there.

    What stands behind the joint at ``place`` moves with a unit rate in each component besides.
    """
    for j in range(system['joints']):
        joint = joints[j]
        body = bodies[j + 2]
        parent = bodies[joint['parent']]
        z = body['z']
        rx = body['p'][0] - parent['p'][0]
        ry = body['p'][1] - parent['p'][1]
        rz = body['p'][2] - parent['p'][2]
        shift = 0 if joint['kind'] == PRISMATIC else 3
        for k in range(6):
            above = twists[joint['parent'], k]
            own = twists[j + 2, k]
            wx, wy, wz = above[3], above[4], above[5]
            own[0] = above[0] + wy * rz - wz * ry
            own[1] = above[1] + wz * rx - wx * rz
            own[2] = above[2] + wx * ry - wy * rx
            own[3], own[4], own[5] = wx, wy, wz
            for m in range(3):
                own[shift + m] += z[m] * rates[j, k]
            if j == place:
                part = k % 3
                for m in range(3):
                    value = 0.0
                    for c in range(3):
                        value += body['R'][m, c] * frames[j + 2, c, part]
                    own[k - part + m] += value
