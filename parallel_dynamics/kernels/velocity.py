"""Velocities and accelerations: the legs' Jacobians, Khalil's S, and the drift of the closures.

Everything here is motion of the robot against its base, in base axes. Each leg's rows
[J_i | J_vi | drift] are reduced once; the reduction leaves in ``coordinates`` the rows of
G_i = J_i^+ J_vi with the drift g_i, and hands the rows that J_i cannot reach to the platform:
they constrain it, and their reduction gives S (khalil_ibrahim_2007, (9)) with its drift s.
"""

from __future__ import annotations

import math
from typing import Any

from parallel_dynamics.kernels.compiler import kernel
from parallel_dynamics.kernels.layout import (
    ACCELERATION_NOT_ALLOWED,
    BALL,
    CONSTRAINT_SINGULAR,
    CYLINDER,
    FREE,
    GIVEN,
    LEG_SINGULAR,
    OK,
    PLANE,
    POOR_PIVOT,
    PRISMATIC,
    SINGULAR_PIVOT,
    TWIST_NOT_ALLOWED,
    WELD,
)
from parallel_dynamics.kernels.linear import orientation, reduce_rows
from parallel_dynamics.kernels.position import axis_on, leg_rows, point_on

GROWN = 2.0
"""Entry of S, angles counted at the characteristic length, from which on V_r is chosen anew."""


@kernel
def set_twist(bodies: Any, motion: Any) -> None:
    """Give the platform the twist of a packed motion (24,); base at rest."""
    base = bodies[0]
    platform = bodies[1]
    for i in range(3):
        platform['v'][i] = motion[12 + i]
        platform['w'][i] = motion[15 + i]
        platform['a'][i] = 0.0
        platform['al'][i] = 0.0
        base['v'][i] = 0.0
        base['w'][i] = 0.0
        base['a'][i] = 0.0
        base['al'][i] = 0.0


@kernel
def move_joints(joints: Any, bodies: Any, first: int, last: int) -> None:
    """Forward recursion of velocity and acceleration, from ``qd`` and ``qdd`` in ``bodies``.

    ``v`` and ``a`` are those of the body frame's origin. The roots (bodies 0 and 1) must be set.
    """
    for j in range(first, last):
        joint = joints[j]
        body = bodies[j + 2]
        parent = bodies[joint['parent']]
        qd = body['qd']
        qdd = body['qdd']
        zx, zy, zz = body['z'][0], body['z'][1], body['z'][2]
        wx, wy, wz = parent['w'][0], parent['w'][1], parent['w'][2]
        bx, by, bz = parent['al'][0], parent['al'][1], parent['al'][2]
        rx = body['p'][0] - parent['p'][0]
        ry = body['p'][1] - parent['p'][1]
        rz = body['p'][2] - parent['p'][2]
        ux, uy, uz = wy * rz - wz * ry, wz * rx - wx * rz, wx * ry - wy * rx  # w x r
        vx, vy, vz = parent['v'][0] + ux, parent['v'][1] + uy, parent['v'][2] + uz
        ax = parent['a'][0] + by * rz - bz * ry + wy * uz - wz * uy
        ay = parent['a'][1] + bz * rx - bx * rz + wz * ux - wx * uz
        az = parent['a'][2] + bx * ry - by * rx + wx * uy - wy * ux
        cx, cy, cz = wy * zz - wz * zy, wz * zx - wx * zz, wx * zy - wy * zx  # w x z
        if joint['kind'] == PRISMATIC:
            vx += zx * qd
            vy += zy * qd
            vz += zz * qd
            ax += zx * qdd + 2.0 * qd * cx
            ay += zy * qdd + 2.0 * qd * cy
            az += zz * qdd + 2.0 * qd * cz
        else:
            wx += zx * qd
            wy += zy * qd
            wz += zz * qd
            bx += zx * qdd + qd * cx
            by += zy * qdd + qd * cy
            bz += zz * qdd + qd * cz
        body['v'][0], body['v'][1], body['v'][2] = vx, vy, vz
        body['w'][0], body['w'][1], body['w'][2] = wx, wy, wz
        body['a'][0], body['a'][1], body['a'][2] = ax, ay, az
        body['al'][0], body['al'][1], body['al'][2] = bx, by, bz


@kernel
def motion_of_point(
    body: Any, x: float, y: float, z: float
) -> tuple[float, float, float, float, float, float]:
    """Return velocity and acceleration of the point of a body that is now at (x, y, z)."""
    rx, ry, rz = x - body['p'][0], y - body['p'][1], z - body['p'][2]
    wx, wy, wz = body['w'][0], body['w'][1], body['w'][2]
    bx, by, bz = body['al'][0], body['al'][1], body['al'][2]
    ux, uy, uz = wy * rz - wz * ry, wz * rx - wx * rz, wx * ry - wy * rx
    return (
        body['v'][0] + ux,
        body['v'][1] + uy,
        body['v'][2] + uz,
        body['a'][0] + by * rz - bz * ry + wy * uz - wz * uy,
        body['a'][1] + bz * rx - bx * rz + wz * ux - wx * uz,
        body['a'][2] + bx * ry - by * rx + wx * uy - wy * ux,
    )


@kernel
def closure_drift(closure: Any, bodies: Any, rows: Any, column: int) -> None:
    """Write minus a closure's relative acceleration into a column of its rows.

    It is the second derivative of the residual for the accelerations that ``bodies`` hold now.
    """
    a = bodies[closure['first']]
    b = bodies[closure['second']]
    row = closure['row0']
    kind = closure['kind']
    x, y, z = point_on(a, closure['p1'])
    avx, avy, avz, aax, aay, aaz = motion_of_point(a, x, y, z)
    bvx, bvy, bvz, bax, bay, baz = motion_of_point(b, x, y, z)
    # Acceleration of the first origin seen from the second body: less the Coriolis part.
    dx, dy, dz = avx - bvx, avy - bvy, avz - bvz
    wx, wy, wz = b['w'][0], b['w'][1], b['w'][2]
    gx, gy, gz = aax - bax, aay - bay, aaz - baz
    if kind == BALL or kind == WELD or (kind != PLANE and kind != CYLINDER):
        rows[row, column] = -gx
        rows[row + 1, column] = -gy
        rows[row + 2, column] = -gz
        row += 3
        if kind == BALL:
            return
    else:
        gx -= 2.0 * (wy * dz - wz * dy)
        gy -= 2.0 * (wz * dx - wx * dz)
        gz -= 2.0 * (wx * dy - wy * dx)
        if kind == PLANE:
            ux, uy, uz = axis_on(b, closure['R2'], 2)
            rows[row, column] = -(ux * gx + uy * gy + uz * gz)
            return
        for k in range(2):
            ux, uy, uz = axis_on(b, closure['R2'], k)
            rows[row, column] = -(ux * gx + uy * gy + uz * gz)
            row += 1
    ax = a['al'][0] - b['al'][0]
    ay = a['al'][1] - b['al'][1]
    az = a['al'][2] - b['al'][2]
    if kind == WELD:
        rows[row, column] = -ax
        rows[row + 1, column] = -ay
        rows[row + 2, column] = -az
        return
    # d/dt (u . w_rel) with u fixed to the second body: u . (al_rel - w_b x w_rel).
    sx = a['w'][0] - wx
    sy = a['w'][1] - wy
    sz = a['w'][2] - wz
    ax -= wy * sz - wz * sy
    ay -= wz * sx - wx * sz
    az -= wx * sy - wy * sx
    for k in range(2):
        ux, uy, uz = axis_on(b, closure['R2'], k)
        rows[row, column] = -(ux * ax + uy * ay + uz * az)
        row += 1


@kernel
def leg_jacobian(
    leg: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any, pull: Any,
    work: Any,
) -> int:  # fmt: skip
    """Fill a leg's rows and reduce them: T J_i = [1; 0], and G_i = the first rows of T J_vi.

    T stands in ``rows`` right of the columns of J_i, J_vi in ``pull``.
    """
    leg_rows(leg, joints, closures, bodies, rows, pull, work)
    n = leg['coordinates']
    m = leg['rows']
    top = leg['row0']
    for r in range(m):
        for k in range(m):
            rows[top + r, n + k] = 0.0
        rows[top + r, n + r] = 1.0
    pivot = reduce_rows(rows, top, m, n, n + m)
    if pivot < SINGULAR_PIVOT:
        work['pivot'] = pivot
        return LEG_SINGULAR
    work['leg_pivot'] = min(work['leg_pivot'], pivot)
    for k in range(n):
        g = coordinates[leg['coordinate0'] + k]['G']
        for c in range(6):
            g[c] = 0.0
        for r in range(m):
            t = rows[top + k, n + r]
            for c in range(6):
                g[c] += t * pull[top + r, c]
    return OK


@kernel
def point_jacobian(
    leg: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any, pull: Any,
    work: Any,
) -> int:  # fmt: skip
    """As ``leg_jacobian`` for a ball on three joints (``leg['point']``), written out.

    J_i^-1 comes from cross products of its columns and G_i = J_i^-1 [1, -r~].
    """
    j = leg['joint0']
    top = leg['row0']
    closure = closures[leg['closure0']]
    platform = bodies[1]
    x, y, z = point_on(bodies[j + 4], closure['p1'])
    ax, ay, az = tip_velocity(joints[j], bodies[j + 2], x, y, z)
    bx, by, bz = tip_velocity(joints[j + 1], bodies[j + 3], x, y, z)
    cx, cy, cz = tip_velocity(joints[j + 2], bodies[j + 4], x, y, z)
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    volume = ax * ux + ay * uy + az * uz
    size = (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz)
    size *= cx * cx + cy * cy + cz * cz
    if volume * volume <= SINGULAR_PIVOT * SINGULAR_PIVOT * size:
        work['pivot'] = abs(volume) / math.sqrt(size) if size > 0.0 else 0.0
        return LEG_SINGULAR
    work['leg_pivot'] = min(work['leg_pivot'], abs(volume) / math.sqrt(size))
    f = 1.0 / volume
    rx, ry, rz = x - platform['p'][0], y - platform['p'][1], z - platform['p'][2]
    set_point_row(
        coordinates[leg['coordinate0']], rows, top, f * ux, f * uy, f * uz, rx, ry, rz
    )
    ux, uy, uz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
    set_point_row(
        coordinates[leg['coordinate0'] + 1], rows, top + 1, f * ux, f * uy, f * uz, rx, ry, rz
    )
    ux, uy, uz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    set_point_row(
        coordinates[leg['coordinate0'] + 2], rows, top + 2, f * ux, f * uy, f * uz, rx, ry, rz
    )
    for i in range(3):
        for k in range(6):
            pull[top + i, k] = 0.0
        pull[top + i, i] = 1.0
    pull[top, 4], pull[top, 5] = rz, -ry
    pull[top + 1, 3], pull[top + 1, 5] = -rz, rx
    pull[top + 2, 3], pull[top + 2, 4] = ry, -rx
    return OK


@kernel
def tip_velocity(
    joint: Any, body: Any, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Return the velocity that a unit rate of a joint gives a point of what it carries."""
    a = body['z']
    if joint['kind'] == PRISMATIC:
        return a[0], a[1], a[2]
    rx, ry, rz = x - body['p'][0], y - body['p'][1], z - body['p'][2]
    return a[1] * rz - a[2] * ry, a[2] * rx - a[0] * rz, a[0] * ry - a[1] * rx


@kernel
def set_point_row(
    coordinate: Any, rows: Any, row: int, x: float, y: float, z: float,
    rx: float, ry: float, rz: float,
) -> None:  # fmt: skip
    """Write one row of J_i^-1, and of G_i = J_i^-1 [1, -r~]."""
    rows[row, 3], rows[row, 4], rows[row, 5] = x, y, z
    g = coordinate['G']
    g[0], g[1], g[2] = x, y, z
    g[3], g[4], g[5] = ry * z - rz * y, rz * x - rx * z, rx * y - ry * x


@kernel
def leg_drift(
    leg: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any, pull: Any
) -> None:
    """Joint velocities of a leg, and its drift g_i: qdd_i = G_i V_p' + g_i.

    The drift of a closure is its acceleration at zero qdd and zero V_p', so it comes from the
    forward recursion and not from derivatives of Jacobians.
    """
    platform = bodies[1]
    n = leg['coordinates']
    top = leg['row0']
    for k in range(n):
        c = coordinates[leg['coordinate0'] + k]
        qd = 0.0
        for i in range(3):
            qd += c['G'][i] * platform['v'][i] + c['G'][3 + i] * platform['w'][i]
        c['qd'] = qd
    for j in range(leg['joint0'], leg['joint1']):
        body = bodies[j + 2]
        body['qd'] = joints[j]['ratio'] * coordinates[joints[j]['coordinate']]['qd']
        body['qdd'] = 0.0
    move_joints(joints, bodies, leg['joint0'], leg['joint1'])
    for c in range(leg['closure0'], leg['closure1']):
        closure_drift(closures[c], bodies, pull, 6)
    for k in range(n):
        value = 0.0
        for r in range(leg['rows']):
            value += rows[top + k, n + r] * pull[top + r, 6]
        coordinates[leg['coordinate0'] + k]['g'] = value


@kernel
def point_drift(
    leg: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any, pull: Any
) -> None:
    """As ``leg_drift`` for a ball on three joints, written out."""
    platform = bodies[1]
    j = leg['joint0']
    start = leg['coordinate0']
    top = leg['row0']
    vx, vy, vz = platform['v'][0], platform['v'][1], platform['v'][2]
    wx, wy, wz = platform['w'][0], platform['w'][1], platform['w'][2]
    for k in range(3):
        c = coordinates[start + k]
        g = c['G']
        qd = g[0] * vx + g[1] * vy + g[2] * vz + g[3] * wx + g[4] * wy + g[5] * wz
        c['qd'] = qd
        bodies[j + 2 + k]['qd'] = qd
        bodies[j + 2 + k]['qdd'] = 0.0
    move_joints(joints, bodies, j, j + 3)
    x, y, z = point_on(platform, closures[leg['closure0']]['p2'])
    _, _, _, ax, ay, az = motion_of_point(bodies[j + 4], x, y, z)
    _, _, _, bx, by, bz = motion_of_point(platform, x, y, z)
    dx, dy, dz = bx - ax, by - ay, bz - az
    pull[top, 6], pull[top + 1, 6], pull[top + 2, 6] = dx, dy, dz
    for k in range(3):
        row = top + k
        coordinates[start + k]['g'] = rows[row, 3] * dx + rows[row, 4] * dy + rows[row, 5] * dz


@kernel
def use_own_components(system: Any, work: Any) -> None:
    """Take the robot's own components of the twist as V_r."""
    for k in range(6):
        work['dependent'][k] = system['dependent'][k]
        work['independent'][k] = system['independent'][k]


@kernel
def collect_constraints(
    system: Any, legs: Any, rows: Any, pull: Any, stack: Any, work: Any
) -> int:
    """Stack the rows that the legs' joints cannot reach: they constrain the platform.

    Columns of V_p stand in the order (dependent, independent), the right-hand side last. Returns
    how many rows there are.
    """
    free = 6 - system['dof']
    count = 0
    for k in range(system['legs']):
        leg = legs[k]
        n = leg['coordinates']
        top = leg['row0']
        for i in range(n, leg['rows']):
            for c in range(7):
                stack[count, c] = 0.0
            for r in range(leg['rows']):
                t = rows[top + i, n + r]
                for c in range(free):
                    stack[count, c] += t * pull[top + r, work['dependent'][c]]
                for c in range(6 - free):
                    stack[count, free + c] += t * pull[top + r, work['independent'][c]]
                stack[count, 6] -= t * pull[top + r, 6]
            count += 1
    return count


@kernel
def choose_components(
    system: Any, legs: Any, rows: Any, pull: Any, stack: Any, work: Any
) -> None:
    """Take those components of the twist as V_r that fix the others best where the robot stands.

    A crank that drives its platform sideways at home lifts it a quarter turn later: the motion is
    as good as before, but no multiple of the sideways one. Gauss's elimination of the platform's
    constraints by complete pivoting, angles counted at the characteristic length, finds the
    components that follow from the others.
    """
    free = 6 - system['dof']
    for c in range(6):
        if c < free:
            work['dependent'][c] = c
        else:
            work['independent'][c - free] = c
    count = collect_constraints(system, legs, rows, pull, stack, work)
    taken = 0
    for k in range(free):
        best = 0.0
        row = k
        column = -1
        for i in range(k, count):
            for c in range(6):
                size = abs(stack[i, c]) / (1.0 if c < 3 else system['length'])
                if (taken >> c) & 1 == 0 and size > best:
                    best = size
                    row = i
                    column = c
        if column < 0:
            break
        taken |= 1 << column
        for c in range(6):
            stack[k, c], stack[row, c] = stack[row, c], stack[k, c]
        for i in range(k + 1, count):
            factor = stack[i, column] / stack[k, column]
            for c in range(6):
                stack[i, c] -= factor * stack[k, c]
    first = 0
    second = 0
    for c in range(6):
        if (taken >> c) & 1 == 1:
            work['dependent'][first] = c
            first += 1
    for c in range(6):
        if (taken >> c) & 1 == 0:
            if first < free:
                work['dependent'][first] = c
                first += 1
            else:
                work['independent'][second] = c
                second += 1


@kernel
def platform_freedom(
    system: Any, legs: Any, rows: Any, pull: Any, stack: Any, work: Any
) -> int:
    """Reduce the platform's constraints to S and s: V_p' = S V_r' + s (Khalil (9), (13)).

    ``work['choice']`` says which components V_r has; they stand in ``work`` then.
    """
    dof = system['dof']
    free = 6 - dof
    if free == 0:
        for m in range(6):
            work['s'][m] = 0.0
            for k in range(6):
                work['S'][m, k] = 0.0
            work['S'][m, m] = 1.0
        work['freedom'] = 1.0
        return OK
    if work['choice'] != GIVEN:
        use_own_components(system, work)
    count = collect_constraints(system, legs, rows, pull, stack, work)
    pivot = reduce_rows(stack, 0, count, free, 7)
    work['freedom'] = pivot
    if work['choice'] == FREE and pivot < POOR_PIVOT:
        choose_components(system, legs, rows, pull, stack, work)
        count = collect_constraints(system, legs, rows, pull, stack, work)
        pivot = reduce_rows(stack, 0, count, free, 7)
        work['freedom'] = pivot
    if pivot < SINGULAR_PIVOT:
        work['pivot'] = pivot
        return CONSTRAINT_SINGULAR
    for m in range(6):
        work['s'][m] = 0.0
        for k in range(dof):
            work['S'][m, k] = 0.0
    for k in range(dof):
        work['S'][work['independent'][k], k] = 1.0
    for i in range(free):
        m = work['dependent'][i]
        work['s'][m] = stack[i, 6]
        for k in range(dof):
            work['S'][m, k] = -stack[i, free + k]
    return OK


@kernel
def renew_components(
    system: Any, legs: Any, rows: Any, pull: Any, stack: Any, work: Any
) -> float:
    """Choose V_r anew where S has grown; return the sign by which det(L S) changes with that.

    For what follows a motion with ``choice`` GIVEN: S is that of the last reduction, and it has to
    be made again before it is used with the new components. L and M are scratch here.
    """
    dof = system['dof']
    if dof == 6:
        return 1.0
    largest = 0.0
    for m in range(6):
        size = 1.0 if m < 3 else system['length']
        for k in range(dof):
            unit = 1.0 if work['independent'][k] < 3 else system['length']
            largest = max(largest, abs(work['S'][m, k]) * size / unit)
    if largest < GROWN:
        return 1.0
    choose_components(system, legs, rows, pull, stack, work)
    for i in range(dof):
        for k in range(dof):
            work['L'][i, k] = work['S'][work['independent'][i], k]
    return orientation(work['L'], work['M'], dof)


@kernel
def actuator_jacobian(system: Any, coordinates: Any, work: Any) -> None:
    """Stack the actuated rows of the G_i into L and L S = J_r^-1 (Khalil (80))."""
    n = system['dof']
    for i in range(n):
        g = coordinates[system['actuator'][i]]['G']
        for m in range(6):
            work['L'][i, m] = g[m]
        if n == 6:  # S is the identity
            for k in range(6):
                work['LS'][i, k] = g[k]
            continue
        for k in range(n):
            value = 0.0
            for m in range(6):
                value += g[m] * work['S'][m, k]
            work['LS'][i, k] = value


@kernel
def actuation_share(system: Any, work: Any) -> float:
    """Return the largest entry of L S over the largest sum of the products that it is made of.

    Near zero where the actuators feel no motion of the platform at all. The ratio of the pivots
    of L S does not tell: with one degree of freedom there is one pivot.
    """
    n = system['dof']
    if n == 6:  # S is the identity
        return 1.0
    largest = 0.0
    made_of = 0.0
    for i in range(n):
        for k in range(n):
            largest = max(largest, abs(work['LS'][i, k]))
            value = 0.0
            for m in range(6):
                value += abs(work['L'][i, m] * work['S'][m, k])
            made_of = max(made_of, value)
    return largest / made_of if made_of > 0.0 else 0.0


@kernel
def outside(system: Any, work: Any, v: Any, offset: int, with_drift: bool, size: float) -> float:
    """Return how far six numbers of ``v`` from ``offset`` on are from S V_r (+ s); 0 if allowed.

    ``size`` is that of the rate at which the tolerance counts, rad/s or rad/s^2.
    """
    dof = system['dof']
    unit = min(1.0, system['length'])
    worst = 0.0
    largest = 0.0
    for i in range(6 - dof):
        m = work['dependent'][i]
        value = v[offset + m]
        if with_drift:
            value -= work['s'][m]
        for k in range(dof):
            value -= work['S'][m, k] * v[offset + work['independent'][k]]
        worst = max(worst, abs(value))
        largest = max(largest, abs(value) / unit if m < 3 else abs(value))
    return worst if largest > system['rate_tolerance'] * size else 0.0


@kernel
def solve_velocities(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, work: Any, motion: Any,
) -> int:  # fmt: skip
    """Jacobians, S, joint velocities and drifts for the twist of ``motion``.

    Positions must be solved. ``work['leg_pivot']`` tells how near the worst leg is to singular.
    """
    set_twist(bodies, motion)
    work['leg_pivot'] = 1.0
    for i in range(system['legs']):
        leg = legs[i]
        if leg['point']:
            status = point_jacobian(leg, joints, closures, bodies, coordinates, rows, pull, work)
        else:
            status = leg_jacobian(leg, joints, closures, bodies, coordinates, rows, pull, work)
        if status != OK:
            work['leg'] = i
            return status
        if leg['point']:
            point_drift(leg, joints, closures, bodies, coordinates, rows, pull)
        else:
            leg_drift(leg, joints, closures, bodies, coordinates, rows, pull)
    status = platform_freedom(system, legs, rows, pull, stack, work)
    if status != OK:
        return status
    actuator_jacobian(system, coordinates, work)
    unit = min(1.0, system['length'])
    size = 1.0
    for m in range(12, 15):
        size += abs(motion[m]) / unit + abs(motion[m + 3])
    residual = outside(system, work, motion, 12, False, size)
    if residual > 0.0:
        work['residual'] = residual
        return TWIST_NOT_ALLOWED
    return OK


@kernel
def solve_accelerations(
    system: Any, joints: Any, bodies: Any, coordinates: Any, work: Any, motion: Any
) -> int:
    """Joint accelerations qdd_i = G_i V_p' + g_i for the acceleration in ``motion``."""
    unit = min(1.0, system['length'])
    size = 1.0
    for m in range(12, 15):
        v, w = motion[m] / unit, motion[m + 3]
        size += v * v + w * w + abs(motion[m + 6]) / unit + abs(motion[m + 9])
    residual = outside(system, work, motion, 18, True, size)
    if residual > 0.0:
        work['residual'] = residual
        return ACCELERATION_NOT_ALLOWED
    for k in range(system['coordinates']):
        c = coordinates[k]
        value = c['g']
        for m in range(6):
            value += c['G'][m] * motion[18 + m]
        c['qdd'] = value
    spread_accelerations(system, joints, bodies, coordinates)
    return OK


@kernel
def spread_accelerations(system: Any, joints: Any, bodies: Any, coordinates: Any) -> None:
    """Hand the coordinates' accelerations to the joints (mimic joints included)."""
    for j in range(system['joints']):
        bodies[j + 2]['qdd'] = joints[j]['ratio'] * coordinates[joints[j]['coordinate']]['qdd']
