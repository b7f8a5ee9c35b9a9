"""The wrench at every joint and closure, and how far it is from being unique.

Motion and efforts known, the closure multipliers follow leg by leg. The reduction of a leg's rows
left T with T J_i = [1; 0]; its joints are in equilibrium, J_i^T lambda_i = x_i, for

    lambda_i = T^T [x_i; mu_i],   x_i = H_i less the actuator efforts,

whatever mu_i is: as many numbers as the leg has rows that its joints cannot reach. They are
settled by the equilibrium of the platform, six equations in all mu together, and what those leave
open is statically indeterminate. The rows of T that mu multiplies are made orthonormal first
(N and N m / length weigh alike), so that the least-norm mu gives the least-norm lambda.
One sweep from the tips to the roots then gives the wrench at every joint.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.kernels.assembly import write_report
from parallel_dynamics.kernels.compiler import entry, kernel
from parallel_dynamics.kernels.dynamics import bodies_dynamics, friction_effort, solve_efforts
from parallel_dynamics.kernels.layout import BALL, CYLINDER, OK, PLANE, PRISMATIC, WELD
from parallel_dynamics.kernels.leading import find_positions
from parallel_dynamics.kernels.position import axis_on, point_on
from parallel_dynamics.kernels.velocity import (
    actuation_share,
    solve_accelerations,
    solve_velocities,
)

NOTHING = 1e-13
"""Length below which what is left of unit vectors counts as zero."""

# Columns of ``evidence``: smallest singular value counted as one, largest counted as zero, and
# the smallest pivots of L S and of any J_i, all relative to the largest.
KEPT, DROPPED, ACTUATION, LEGS = range(4)


@entry
def joint_forces(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, options: Any, scales: Any, link_axes: Any,
    places: Any, motions: Any, external: Any, efforts: Any, wrenches: Any, spread: Any,
    evidence: Any, reports: Any, first: int, last: int,
) -> int:  # fmt: skip
    """Find all wrenches for states ``first`` to ``last - 1``; return the status of the last one.

    ``scales`` (rows) is 1 for multipliers that are forces and 1 / length for moments,
    ``link_axes`` (joints, 3, 3) canonical <- URDF link axes, and ``places`` (joints + closures)
    where each wrench stands in ``wrenches`` (N, joints + closures, 6). ``spread``, of the same
    shape, becomes the change of each component (moments over the length) that indeterminate
    loads of norm one can make; it may have no states when there are no such loads.
    """
    s = system[0]
    w = work[0]
    free = s['rows'] - s['coordinates']
    widest = 1
    closure_count = 0
    for k in range(s['legs']):
        widest = max(widest, legs[k]['rows'] - legs[k]['coordinates'])
        closure_count = max(closure_count, legs[k]['closure1'])
    load = np.zeros((s['joints'] + 2, 6))
    multipliers = np.zeros((2, max(1, s['rows'])))
    null = np.zeros((max(1, s['rows']) if free > 0 else 1, widest))
    memory = np.zeros((3, max(1, free), max(6, widest)))
    weights = np.zeros((max(6, widest), max(6, widest)))
    held = np.zeros(max(6, free))
    order = np.zeros(max(6, widest), np.int64)
    sharing = np.zeros(max(1, s['coordinates']), np.int64)  # joints on each coordinate
    drive = np.zeros(max(1, s['coordinates']))
    for j in range(s['joints']):
        sharing[joints[j]['coordinate']] += 1
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
            bodies_dynamics(
                s, joints, bodies, coordinates, w, motion, push, motion, 18, options[0]
            )
            status = solve_efforts(s, coordinates, w, efforts[i])
        write_report(w, status, reports[i if reports.shape[0] > 1 else 0])
        if status != OK:
            continue
        judge_pivots(s, w, evidence[i])
        subtract_efforts(s, coordinates, w, efforts[i])
        for k in range(s['legs']):
            leg_multipliers(legs[k], coordinates, rows, multipliers[0])
        if free > 0:
            count = 0
            for k in range(s['legs']):
                leg_null_space(legs[k], rows, scales, null)
                count = leg_constraints(
                    s, legs[k], w, pull, scales, null, multipliers[0], memory[0], count
                )
            hold_platform(s, w, memory[0], memory[1], weights, order, held, free, evidence[i])
            count = 0
            for k in range(s['legs']):
                count = add_held(legs[k], scales, null, held, multipliers[0], count)
        for b in range(s['joints'] + 2):
            for m in range(6):
                load[b, m] = 0.0
        for c in range(closure_count):
            target = wrenches[i, places[s['joints'] + c]]
            apply_closure(closures[c], bodies, multipliers[0], load, target)
        carry_load(joints, bodies, load, 0, s['joints'])
        for k in range(s['dof']):
            drive[s['actuator'][k]] = efforts[i, k]
        for j in range(s['joints']):
            c = joints[j]['coordinate']
            joint_wrench(
                joints[j], bodies[j + 2], link_axes[j], load[j + 2], sharing[c] == 1, drive[c],
                wrenches[i, places[j]],
            )  # fmt: skip
        if spread.shape[0] > i:
            find_spread(
                s, legs, joints, closures, bodies, scales, link_axes, places, null, memory,
                weights, order, multipliers[1], load, sharing, free, spread[i],
            )  # fmt: skip
    return status


@kernel
def judge_pivots(system: Any, work: Any, evidence: Any) -> None:
    """Note the pivots of L S, which the solution for the efforts left in A, and of the legs."""
    smallest = 1e300
    largest = 0.0
    for i in range(system['dof']):
        size = abs(work['A'][i, i])
        smallest = min(smallest, size)
        largest = max(largest, size)
    evidence[KEPT] = 1.0
    evidence[DROPPED] = 0.0
    evidence[ACTUATION] = smallest / largest * actuation_share(system, work)
    evidence[LEGS] = work['leg_pivot']


@kernel
def subtract_efforts(system: Any, coordinates: Any, work: Any, efforts: Any) -> None:
    """Make ``tau`` x_i, what the closures must do, and ``work['F']`` F_p + sum G_i^T x_i.

    The latter is the wrench that the platform still needs when all mu are zero, but for its sign.
    """
    for i in range(system['dof']):
        c = coordinates[system['actuator'][i]]
        c['tau'] -= efforts[i]
        for m in range(6):
            work['F'][m] += c['G'][m] * c['tau']


@kernel
def leg_multipliers(leg: Any, coordinates: Any, rows: Any, multipliers: Any) -> None:
    """lambda_i at mu_i = 0: the first rows of T, times x_i."""
    n = leg['coordinates']
    top = leg['row0']
    start = leg['coordinate0']
    for r in range(leg['rows']):
        value = 0.0
        for k in range(n):
            value += rows[top + k, n + r] * coordinates[start + k]['tau']
        multipliers[top + r] = value


@kernel
def leg_null_space(leg: Any, rows: Any, scales: Any, null: Any) -> None:
    """Write the scaled multipliers that no joint of the leg feels, as orthonormal columns."""
    n = leg['coordinates']
    top = leg['row0']
    m = leg['rows']
    for c in range(m - n):
        for r in range(m):
            null[top + r, c] = scales[top + r] * rows[top + n + c, n + r]
        for _ in range(2):  # twice, against what rounding left
            for before in range(c):
                value = 0.0
                for r in range(top, top + m):
                    value += null[r, c] * null[r, before]
                for r in range(top, top + m):
                    null[r, c] -= value * null[r, before]
            size = 0.0
            for r in range(top, top + m):
                size += null[r, c] * null[r, c]
            size = 1.0 / size**0.5
            for r in range(top, top + m):
                null[r, c] *= size


@kernel
def leg_constraints(
    system: Any, leg: Any, work: Any, pull: Any, scales: Any, null: Any, multipliers: Any,
    matrix: Any, count: int,
) -> int:  # fmt: skip
    """Write what unit loads along the leg's null space do to the platform, as rows of ``matrix``.

    Their share in the leg's multipliers goes into what the platform still needs, so that they
    start from zero. Moments count over the length.
    """
    top = leg['row0']
    m = leg['rows']
    inverse = 1.0 / system['length']
    for c in range(m - leg['coordinates']):
        share = 0.0
        for k in range(6):
            matrix[count, k] = 0.0
        for r in range(top, top + m):
            share += null[r, c] * scales[r] * multipliers[r]
            value = null[r, c] / scales[r]
            for k in range(6):
                matrix[count, k] += value * pull[r, k]
        for r in range(top, top + m):
            multipliers[r] -= share * null[r, c] / scales[r]
        for k in range(6):
            work['F'][k] -= share * matrix[count, k]
            if k >= 3:
                matrix[count, k] *= inverse
        count += 1
    return count


@kernel
def orthogonal_basis(
    a: Any, m: int, n: int, most: int, basis: Any, weights: Any, order: Any
) -> int:
    """Orthonormal ``basis`` of at most ``most`` columns for ``n`` columns of ``a`` (m rows each).

    Gram-Schmidt with column pivoting: ``a`` becomes ``a - basis @ weights^T``, what is left of
    it. Returns the number of columns; column ``k`` was made from column ``order[k]`` of ``a``,
    of whose remaining length ``weights[order[k], k]`` an estimate of a singular value is.
    """
    for k in range(most):
        at = 0
        best = -1.0
        for c in range(n):
            size = 0.0
            for r in range(m):
                size += a[r, c] * a[r, c]
            if size > best:
                at = c
                best = size
        if best <= NOTHING * NOTHING:
            return k
        order[k] = at
        for r in range(m):
            basis[r, k] = a[r, at]
        for before in range(k):  # again, against what rounding left
            value = 0.0
            for r in range(m):
                value += basis[r, before] * basis[r, k]
            for r in range(m):
                basis[r, k] -= value * basis[r, before]
        size = 0.0
        for r in range(m):
            size += basis[r, k] * basis[r, k]
        size = 1.0 / size**0.5
        for r in range(m):
            basis[r, k] *= size
        for c in range(n):
            value = 0.0
            for r in range(m):
                value += basis[r, k] * a[r, c]
            weights[c, k] = value
            for r in range(m):
                a[r, c] -= value * basis[r, k]
    return most


@kernel
def hold_platform(
    system: Any, work: Any, matrix: Any, basis: Any, weights: Any, order: Any, held: Any,
    free: int, evidence: Any,
) -> None:  # fmt: skip
    """Find the least-norm loads that hold the platform, into ``held``.

    Of the six equations as many count as the closures take freedoms away; that the others follow
    from them is what the robot's mobility says, and the evidence how clearly so at this pose.
    """
    rank = orthogonal_basis(matrix, free, 6, 6 - system['dof'], basis, weights, order)
    left = 0.0
    for c in range(6):
        size = 0.0
        for r in range(free):
            size += matrix[r, c] * matrix[r, c]
        left = max(left, size)
    largest = 1.0
    if system['dof'] < 6:
        largest = abs(weights[order[0], 0]) if rank > 0 else 0.0
        kept = abs(weights[order[rank - 1], rank - 1]) if rank == 6 - system['dof'] else 0.0
        evidence[KEPT] = kept / largest if largest > 0.0 else 0.0
    evidence[DROPPED] = left**0.5 / largest if largest > 0.0 else 1.0
    for r in range(free):
        held[r] = 0.0
    for k in range(rank):  # weights[order] is lower triangular
        at = order[k]
        value = -work['F'][at]
        if at >= 3:
            value /= system['length']
        for before in range(k):
            value -= weights[at, before] * work['b'][before]
        work['b'][k] = value / weights[at, k]
        for r in range(free):
            held[r] += basis[r, k] * work['b'][k]


@kernel
def add_held(
    leg: Any, scales: Any, null: Any, held: Any, multipliers: Any, count: int
) -> int:
    """Add the loads along the leg's null space to its multipliers."""
    top = leg['row0']
    for c in range(leg['rows'] - leg['coordinates']):
        for r in range(top, top + leg['rows']):
            multipliers[r] += held[count] * null[r, c] / scales[r]
        count += 1
    return count


@kernel
def apply_closure(closure: Any, bodies: Any, multipliers: Any, load: Any, wrench: Any) -> None:
    """Add a closure's wrench to ``load`` of both bodies, each about its own origin, base axes.

    ``wrench`` becomes what the first frame's link exerts on the second's, at the first frame's
    origin in the second frame's axes. Multipliers act on the first.
    """
    row = closure['row0']
    kind = closure['kind']
    second = bodies[closure['second']]
    ux, uy, uz = axis_on(second, closure['R2'], 0)
    vx, vy, vz = axis_on(second, closure['R2'], 1)
    wx, wy, wz = axis_on(second, closure['R2'], 2)
    nx = ny = nz = 0.0
    if kind == PLANE:
        e = multipliers[row]
        fx, fy, fz = e * wx, e * wy, e * wz
    elif kind == CYLINDER:
        e, g = multipliers[row], multipliers[row + 1]
        fx, fy, fz = e * ux + g * vx, e * uy + g * vy, e * uz + g * vz
        row += 2
    else:
        fx, fy, fz = multipliers[row], multipliers[row + 1], multipliers[row + 2]
        row += 3
    if kind == WELD:
        nx, ny, nz = multipliers[row], multipliers[row + 1], multipliers[row + 2]
    elif kind != BALL and kind != PLANE:
        e, g = multipliers[row], multipliers[row + 1]
        nx, ny, nz = e * ux + g * vx, e * uy + g * vy, e * uz + g * vz
    x, y, z = point_on(bodies[closure['first']], closure['p1'])
    add_load(bodies, load, closure['first'], 1.0, x, y, z, fx, fy, fz, nx, ny, nz)
    add_load(bodies, load, closure['second'], -1.0, x, y, z, fx, fy, fz, nx, ny, nz)
    wrench[0] = 0.0 - (ux * fx + uy * fy + uz * fz)
    wrench[1] = 0.0 - (vx * fx + vy * fy + vz * fz)
    wrench[2] = 0.0 - (wx * fx + wy * fy + wz * fz)
    wrench[3] = 0.0 - (ux * nx + uy * ny + uz * nz)
    wrench[4] = 0.0 - (vx * nx + vy * ny + vz * nz)
    wrench[5] = 0.0 - (wx * nx + wy * ny + wz * nz)
    # What a joint of this type cannot transmit is zero, not nearly so.
    if kind == CYLINDER:
        wrench[2] = 0.0
    if kind == PLANE:
        wrench[0] = wrench[1] = 0.0
    if kind != WELD:
        wrench[5] = 0.0


@kernel
def add_load(
    bodies: Any, load: Any, b: int, sign: float, x: float, y: float, z: float,
    fx: float, fy: float, fz: float, nx: float, ny: float, nz: float,
) -> None:  # fmt: skip
    """Add a wrench at the point (x, y, z) to the load of body ``b``, unless it is a root."""
    if b < 2:
        return
    rx, ry, rz = x - bodies[b]['p'][0], y - bodies[b]['p'][1], z - bodies[b]['p'][2]
    load[b, 0] += sign * fx
    load[b, 1] += sign * fy
    load[b, 2] += sign * fz
    load[b, 3] += sign * (nx + ry * fz - rz * fy)
    load[b, 4] += sign * (ny + rz * fx - rx * fz)
    load[b, 5] += sign * (nz + rx * fy - ry * fx)


@kernel
def carry_load(joints: Any, bodies: Any, load: Any, first: int, last: int) -> None:
    """Hand the closures' loads on from the tips to the roots."""
    for j in range(last - 1, first - 1, -1):
        parent = joints[j]['parent']
        if parent > 1:
            rx = bodies[j + 2]['p'][0] - bodies[parent]['p'][0]
            ry = bodies[j + 2]['p'][1] - bodies[parent]['p'][1]
            rz = bodies[j + 2]['p'][2] - bodies[parent]['p'][2]
            a = load[j + 2]
            b = load[parent]
            for m in range(6):
                b[m] += a[m]
            b[3] += ry * a[2] - rz * a[1]
            b[4] += rz * a[0] - rx * a[2]
            b[5] += rx * a[1] - ry * a[0]


@kernel
def joint_wrench(
    joint: Any, body: Any, link_axes: Any, load: Any, alone: bool, drive: float, wrench: Any
) -> None:
    """Wrench through a joint: what its subtree needs less what closures give, in link axes.

    Along its own axis a joint that shares its coordinate with no other transmits ``drive``, what
    its actuator gives, less friction and less what the drive's inertia takes: written so, and
    not as what rounding leaves of the sweep.
    """
    f = body['f']
    n = body['n']
    to_joint(body, f[0] - load[0], f[1] - load[1], f[2] - load[2], wrench, 0)
    to_joint(body, n[0] - load[3], n[1] - load[4], n[2] - load[5], wrench, 3)
    if alone:
        effort = drive - joint['armature'] * body['qdd'] - friction_effort(joint, body['qd'])
        wrench[2 if joint['kind'] == PRISMATIC else 5] = effort
    to_link(link_axes, wrench)


@kernel
def to_joint(body: Any, x: float, y: float, z: float, wrench: Any, at: int) -> None:
    """Write a vector given in base axes into three places of ``wrench``, z along the joint."""
    r = body['R']
    for m in range(3):
        wrench[at + m] = r[0, m] * x + r[1, m] * y + r[2, m] * z


@kernel
def to_link(link_axes: Any, wrench: Any) -> None:
    """Turn a wrench from the joint's axes into the link's, in place."""
    r = link_axes
    for at in range(0, 6, 3):
        x, y, z = wrench[at], wrench[at + 1], wrench[at + 2]
        for m in range(3):
            wrench[at + m] = r[0, m] * x + r[1, m] * y + r[2, m] * z


@kernel
def find_spread(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, scales: Any, link_axes: Any,
    places: Any, null: Any, memory: Any, weights: Any, order: Any, multipliers: Any, load: Any,
    sharing: Any, free: int, spread: Any,
) -> None:  # fmt: skip
    """Say how far each component is from being unique.

    With U the basis of the loads that the platform's equilibrium settles, 1 - U U^T projects on
    the loads that it leaves open. A component that is a . nu for loads nu along the null spaces
    can change by |(1 - U U^T) a|. Only the loads of its own leg count in a; the columns of the
    projector that belong to them, taken apart as V W^T, turn this into |W^T a|, and a sweep of
    the leg with the loads in each column of W gives one part of it for all its joints at once.
    """
    rank = 6 - system['dof']
    basis = memory[1]
    for p in range(places.shape[0]):
        for m in range(6):
            spread[p, m] = 0.0
    unit = np.zeros(6)
    inverse = 1.0 / system['length']
    start = 0
    for i in range(system['legs']):
        leg = legs[i]
        own = leg['rows'] - leg['coordinates']
        for c in range(own):
            for r in range(free):
                value = 1.0 if r == start + c else 0.0
                for k in range(rank):
                    value -= basis[r, k] * basis[start + c, k]
                memory[0, r, c] = value
        count = orthogonal_basis(memory[0], free, own, own, memory[2], weights, order)
        for k in range(count):
            for r in range(leg['row0'], leg['row0'] + leg['rows']):
                value = 0.0
                for c in range(own):
                    value += null[r, c] * weights[c, k]
                multipliers[r] = value / scales[r]
            for b in range(leg['joint0'] + 2, leg['joint1'] + 2):
                for m in range(6):
                    load[b, m] = 0.0
            for c in range(leg['closure0'], leg['closure1']):
                apply_closure(closures[c], bodies, multipliers, load, unit)
                add_squares(unit, inverse, spread[places[system['joints'] + c]])
            carry_load(joints, bodies, load, leg['joint0'], leg['joint1'])
            for j in range(leg['joint0'], leg['joint1']):
                a = load[j + 2]
                to_joint(bodies[j + 2], a[0], a[1], a[2], unit, 0)
                to_joint(bodies[j + 2], a[3], a[4], a[5], unit, 3)
                if sharing[joints[j]['coordinate']] == 1:
                    unit[2 if joints[j]['kind'] == PRISMATIC else 5] = 0.0
                to_link(link_axes[j], unit)
                add_squares(unit, inverse, spread[places[j]])
        start += own
    for p in range(places.shape[0]):
        for m in range(6):
            spread[p, m] = spread[p, m] ** 0.5


@kernel
def add_squares(wrench: Any, inverse: float, total: Any) -> None:
    """Add the squares of a wrench's components, moments over the length."""
    for m in range(3):
        total[m] += wrench[m] * wrench[m]
        total[3 + m] += wrench[3 + m] * inverse * wrench[3 + m] * inverse
