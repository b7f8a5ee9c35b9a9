"""Positions: where every body is, how far the closures are open, and the joints of a leg.

A leg's joints follow from the platform's pose by Newton's method on the leg's closures. A start
that is too far away for Newton to be trusted is replaced by a continuation from home, so that
the working mode of the home pose is kept.
"""

from __future__ import annotations

import math
from typing import Any

from parallel_dynamics.kernels.compiler import kernel
from parallel_dynamics.kernels.layout import (
    BALL,
    CYLINDER,
    LEG_SINGULAR,
    OK,
    PLANE,
    POSE_NOT_ALLOWED,
    PRISMATIC,
    REVOLUTE,
    SINGULAR_PIVOT,
    UNREACHABLE,
    WELD,
)
from parallel_dynamics.kernels.linear import reduce_rows, solve_symmetric

TRUSTED_STEP = 0.6
"""First Newton step (rad, or robot sizes) beyond which a start is not trusted."""
CONTRACTION = 0.3
"""Ratio of the second Newton step to the first, beyond which a start is not trusted.

Kantorovich's theorem: below about a quarter there is one solution near the start, it is the one
that Newton finds, and no singularity lies between; so the working mode is that of the start.
"""
SHORTEST_STRIDE = 1e-7
"""Part of the way below which no stride of a continuation is tried.

Before a turning point a mechanism moves with the root of what is left of the way, so that strides
must shrink with it: this one comes as near as some thousands in the condition number.
"""
MOST_STRIDES = 2000
"""Strides of a continuation, good and bad, after which the way counts as too hard."""


@kernel
def place_platform(bodies: Any, motion: Any) -> None:
    """Put the platform (body 1) at the pose of a packed motion (24,)."""
    b = bodies[1]
    for i in range(3):
        b['p'][i] = motion[i]
        for k in range(3):
            b['R'][i, k] = motion[3 + 3 * i + k]


@kernel
def place_joint(
    joint: Any, body: Any, parent: Any, q: float, c: float, s: float, slide: float
) -> None:
    """Place one body behind its joint, turned by an angle (cosine c, sine s) and moved."""
    body['q'] = q
    m = joint['R']
    t = joint['p']
    for i in range(3):
        x, y, z = parent['R'][i, 0], parent['R'][i, 1], parent['R'][i, 2]
        u = x * m[0, 0] + y * m[1, 0] + z * m[2, 0]
        v = x * m[0, 1] + y * m[1, 1] + z * m[2, 1]
        w = x * m[0, 2] + y * m[1, 2] + z * m[2, 2]
        body['R'][i, 0] = c * u + s * v
        body['R'][i, 1] = c * v - s * u
        body['R'][i, 2] = w
        body['z'][i] = w
        body['p'][i] = parent['p'][i] + x * t[0] + y * t[1] + z * t[2] + slide * w


@kernel
def place_joints(joints: Any, bodies: Any, coordinates: Any, first: int, last: int) -> None:
    """Forward recursion of positions over packed joints ``first`` to ``last - 1``."""
    for j in range(first, last):
        joint = joints[j]
        q = joint['ratio'] * coordinates[joint['coordinate']]['q'] + joint['offset']
        parent = bodies[joint['parent']]
        if joint['kind'] == REVOLUTE:
            place_joint(joint, bodies[j + 2], parent, q, math.cos(q), math.sin(q), 0.0)
        else:
            place_joint(joint, bodies[j + 2], parent, q, 1.0, 0.0, q)


@kernel
def point_on(body: Any, p: Any) -> tuple[float, float, float]:
    """Return the base coordinates of a point given in the body's frame."""
    r = body['R']
    o = body['p']
    return (
        o[0] + r[0, 0] * p[0] + r[0, 1] * p[1] + r[0, 2] * p[2],
        o[1] + r[1, 0] * p[0] + r[1, 1] * p[1] + r[1, 2] * p[2],
        o[2] + r[2, 0] * p[0] + r[2, 1] * p[1] + r[2, 2] * p[2],
    )


@kernel
def axis_on(body: Any, m: Any, k: int) -> tuple[float, float, float]:
    """Return column ``k`` of a frame fixed to a body, in base axes."""
    r = body['R']
    return (
        r[0, 0] * m[0, k] + r[0, 1] * m[1, k] + r[0, 2] * m[2, k],
        r[1, 0] * m[0, k] + r[1, 1] * m[1, k] + r[1, 2] * m[2, k],
        r[2, 0] * m[0, k] + r[2, 1] * m[1, k] + r[2, 2] * m[2, k],
    )


@kernel
def closure_residual(closure: Any, bodies: Any, rows: Any, column: int) -> float:
    """Write minus the residual of a closure into a column of its rows; return its largest part.

    Row by row the residual's derivative is the relative velocity that the Jacobian rows in
    ``velocity`` describe.
    """
    a = bodies[closure['first']]
    b = bodies[closure['second']]
    row = closure['row0']
    kind = closure['kind']
    ax, ay, az = point_on(a, closure['p1'])
    bx, by, bz = point_on(b, closure['p2'])
    dx, dy, dz = ax - bx, ay - by, az - bz
    if kind == BALL:
        rows[row, column] = -dx
        rows[row + 1, column] = -dy
        rows[row + 2, column] = -dz
        return max(abs(dx), abs(dy), abs(dz))
    ux, uy, uz = axis_on(b, closure['R2'], 0)
    vx, vy, vz = axis_on(b, closure['R2'], 1)
    wx, wy, wz = axis_on(b, closure['R2'], 2)
    if kind == PLANE:
        e = wx * dx + wy * dy + wz * dz
        rows[row, column] = -e
        return abs(e)
    if kind == CYLINDER:
        e0 = ux * dx + uy * dy + uz * dz
        e1 = vx * dx + vy * dy + vz * dz
        rows[row, column] = -e0
        rows[row + 1, column] = -e1
        worst = max(abs(e0), abs(e1))
        row += 2
    else:
        rows[row, column] = -dx
        rows[row + 1, column] = -dy
        rows[row + 2, column] = -dz
        worst = max(abs(dx), abs(dy), abs(dz))
        row += 3
    zx, zy, zz = axis_on(a, closure['R1'], 2)
    if kind == WELD:
        # Half the sum of b_k x a_k is the axis of the remaining rotation times its sine.
        xx, xy, xz = axis_on(a, closure['R1'], 0)
        yx, yy, yz = axis_on(a, closure['R1'], 1)
        ex = 0.5 * (uy * xz - uz * xy + vy * yz - vz * yy + wy * zz - wz * zy)
        ey = 0.5 * (uz * xx - ux * xz + vz * yx - vx * yz + wz * zx - wx * zz)
        ez = 0.5 * (ux * xy - uy * xx + vx * yy - vy * yx + wx * zy - wy * zx)
        rows[row, column] = -ex
        rows[row + 1, column] = -ey
        rows[row + 2, column] = -ez
        turned = ux * xx + uy * xy + uz * xz + vx * yx + vy * yy + vz * yz
        turned += wx * zx + wy * zy + wz * zz
        if turned < 0.0:  # more than 120 degrees off: the sine alone would look small
            return 4.0
        return max(worst, abs(ex), abs(ey), abs(ez))
    e0 = -(vx * zx + vy * zy + vz * zz)
    e1 = ux * zx + uy * zy + uz * zz
    rows[row, column] = -e0
    rows[row + 1, column] = -e1
    if wx * zx + wy * zy + wz * zz < 0.0:
        return 4.0
    return max(worst, abs(e0), abs(e1))


@kernel
def leg_residual(leg: Any, closures: Any, bodies: Any, rows: Any, column: int) -> float:
    """Write minus the residuals of a leg's closures; return the largest."""
    worst = 0.0
    for c in range(leg['closure0'], leg['closure1']):
        worst = max(worst, closure_residual(closures[c], bodies, rows, column))
    return worst


@kernel
def add_joint_columns(
    joints: Any, bodies: Any, body: int, closure: Any, coordinate0: int, sign: float,
    x: float, y: float, z: float, axes: Any, rows: Any,
) -> int:  # fmt: skip
    """Add what the joints that carry ``body`` do to a closure's relative velocity at (x, y, z).

    Returns the root that the chain of joints stands on: 0 the base, 1 the platform.
    """
    row = closure['row0']
    kind = closure['kind']
    while body > 1:
        joint = joints[body - 2]
        carrier = bodies[body]
        factor = sign * joint['ratio']
        zx, zy, zz = factor * carrier['z'][0], factor * carrier['z'][1], factor * carrier['z'][2]
        k = joint['coordinate'] - coordinate0
        if joint['kind'] == PRISMATIC:
            lx, ly, lz = zx, zy, zz
            zx = zy = zz = 0.0
        else:
            rx, ry, rz = x - carrier['p'][0], y - carrier['p'][1], z - carrier['p'][2]
            lx, ly, lz = zy * rz - zz * ry, zz * rx - zx * rz, zx * ry - zy * rx
        add_relative_velocity(kind, row, k, lx, ly, lz, zx, zy, zz, axes, rows)
        body = joint['parent']
    return body


@kernel
def add_relative_velocity(
    kind: int, row: int, k: int, lx: float, ly: float, lz: float,
    wx: float, wy: float, wz: float, u: Any, rows: Any,
) -> None:  # fmt: skip
    """Add a relative velocity to column ``k`` of a closure's rows.

    ``l`` is that of the first frame's origin, ``w`` the angular one; ``u`` (3, 3) has the second
    frame's axes as rows.
    """
    if kind == PLANE:
        rows[row, k] += u[2, 0] * lx + u[2, 1] * ly + u[2, 2] * lz
        return
    if kind == CYLINDER:
        rows[row, k] += u[0, 0] * lx + u[0, 1] * ly + u[0, 2] * lz
        rows[row + 1, k] += u[1, 0] * lx + u[1, 1] * ly + u[1, 2] * lz
        row += 2
    else:
        rows[row, k] += lx
        rows[row + 1, k] += ly
        rows[row + 2, k] += lz
        if kind == BALL:
            return
        row += 3
    if kind == WELD:
        rows[row, k] += wx
        rows[row + 1, k] += wy
        rows[row + 2, k] += wz
    else:
        rows[row, k] += u[0, 0] * wx + u[0, 1] * wy + u[0, 2] * wz
        rows[row + 1, k] += u[1, 0] * wx + u[1, 1] * wy + u[1, 2] * wz


@kernel
def set_axes(closure: Any, bodies: Any, axes: Any) -> None:
    """Write the second frame's axes, in base axes, as rows of ``axes``."""
    b = bodies[closure['second']]
    for k in range(3):
        axes[k, 0], axes[k, 1], axes[k, 2] = axis_on(b, closure['R2'], k)


@kernel
def leg_rows(
    leg: Any, joints: Any, closures: Any, bodies: Any, rows: Any, pull: Any, work: Any
) -> None:
    """Fill a leg's rows of J_i and of J_vi (in ``pull``; khalil_ibrahim_2007, (18), (19)).

    J_i qd_i = J_vi V_p, with inner closures of the leg as rows that are zero on the right.
    """
    n = leg['coordinates']
    for i in range(leg['row0'], leg['row0'] + leg['rows']):
        for k in range(n):
            rows[i, k] = 0.0
        for k in range(6):
            pull[i, k] = 0.0
    px, py, pz = bodies[1]['p'][0], bodies[1]['p'][1], bodies[1]['p'][2]
    axes = work['A']
    for c in range(leg['closure0'], leg['closure1']):
        closure = closures[c]
        x, y, z, side = closure_rows(leg, joints, closure, bodies, rows, axes)
        if side != 0.0:
            kind = closure['kind']
            row = closure['row0']
            rx, ry, rz = side * (x - px), side * (y - py), side * (z - pz)
            add_relative_velocity(kind, row, 0, side, 0.0, 0.0, 0.0, 0.0, 0.0, axes, pull)
            add_relative_velocity(kind, row, 1, 0.0, side, 0.0, 0.0, 0.0, 0.0, axes, pull)
            add_relative_velocity(kind, row, 2, 0.0, 0.0, side, 0.0, 0.0, 0.0, axes, pull)
            add_relative_velocity(kind, row, 3, 0.0, -rz, ry, side, 0.0, 0.0, axes, pull)
            add_relative_velocity(kind, row, 4, rz, 0.0, -rx, 0.0, side, 0.0, axes, pull)
            add_relative_velocity(kind, row, 5, -ry, rx, 0.0, 0.0, 0.0, side, axes, pull)


@kernel
def closure_rows(
    leg: Any, joints: Any, closure: Any, bodies: Any, rows: Any, axes: Any
) -> tuple[float, float, float, float]:
    """Add a closure's rows of J_i; return its point and the sign of the platform's share.

    The sign is 0 for a closure that the platform does not move, or moves on both sides alike.
    """
    if closure['kind'] != BALL:
        set_axes(closure, bodies, axes)
    x, y, z = point_on(bodies[closure['first']], closure['p1'])
    start = leg['coordinate0']
    first = closure['first']
    second = closure['second']
    side = 0.0
    if add_joint_columns(joints, bodies, first, closure, start, 1.0, x, y, z, axes, rows) == 1:
        side -= 1.0
    if add_joint_columns(joints, bodies, second, closure, start, -1.0, x, y, z, axes, rows) == 1:
        side += 1.0
    return x, y, z, side


@kernel
def joint_rows(leg: Any, joints: Any, closures: Any, bodies: Any, rows: Any, work: Any) -> None:
    """Fill the first columns of a leg's rows with J_i alone."""
    for i in range(leg['row0'], leg['row0'] + leg['rows']):
        for k in range(leg['coordinates']):
            rows[i, k] = 0.0
    for c in range(leg['closure0'], leg['closure1']):
        closure_rows(leg, joints, closures[c], bodies, rows, work['A'])


@kernel
def scaled_step(system: Any, joints: Any, coordinates: Any, first: int, last: int) -> float:
    """Return the largest step (rad, or robot sizes) of joints ``first`` to ``last - 1``.

    The coordinates hold their step as ``qdd``. A rotor that turns faster than the joint that it
    follows does not count for more than that one.
    """
    largest = 0.0
    for j in range(first, last):
        joint = joints[j]
        step = min(1.0, abs(joint['ratio'])) * abs(coordinates[joint['coordinate']]['qdd'])
        if joint['kind'] == PRISMATIC:
            step /= system['size']
        largest = max(largest, step)
    return largest


@kernel
def newton_leg(
    system: Any, leg: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    work: Any, scratch: Any, trusted: float, steady: float,
) -> int:  # fmt: skip
    """Close a leg by Newton's method from where its coordinates stand.

    With more equations than unknowns steps are those of least squares: the numbers of a
    description are rounded, so that the equations may not hold all at once. ``scratch`` is
    (n + 2, n) or larger. Returns OK, POSE_NOT_ALLOWED (joints settle but equations stay open),
    LEG_SINGULAR, or UNREACHABLE when the start is too far away (a step above ``trusted``, or a
    ratio of pivots below ``steady``) or Newton does not contract.
    """
    n = leg['coordinates']
    start = leg['coordinate0']
    top = leg['row0']
    tiny = 4e-15 * system['size']
    before = 1e300
    for iteration in range(20):
        place_joints(joints, bodies, coordinates, leg['joint0'], leg['joint1'])
        worst = leg_residual(leg, closures, bodies, rows, n)
        work['residual'] = worst
        work['iterations'] = iteration
        if worst <= tiny:
            return OK
        if iteration > 0 and before < 1e-8:
            # Newton is quadratic: what is left after so small a step is rounding or a gap.
            return OK if worst <= system['tolerance'] else POSE_NOT_ALLOWED
        joint_rows(leg, joints, closures, bodies, rows, work)
        fitted = leg['rows'] > n and least_squares(leg, rows, scratch)
        pivot = reduce_rows(rows, top, leg['rows'], n, n + 1)
        work['pivot'] = pivot
        if pivot < SINGULAR_PIVOT:
            return LEG_SINGULAR
        if pivot < steady:
            return UNREACHABLE
        for k in range(n):
            coordinates[start + k]['qdd'] = scratch[n, k] if fitted else rows[top + k, n]
        step = scaled_step(system, joints, coordinates, leg['joint0'], leg['joint1'])
        if not step < trusted or step > CONTRACTION * before:
            return UNREACHABLE
        before = step
        for k in range(n):
            coordinates[start + k]['q'] += coordinates[start + k]['qdd']
    return UNREACHABLE


@kernel
def least_squares(leg: Any, rows: Any, scratch: Any) -> bool:
    """Solve a leg's rows [J_i | e] by least squares, all but undamped, into ``scratch[n]``.

    Returns False where the columns of J_i are too near to dependent. ``scratch`` is (n + 1, n) or
    larger.
    """
    n = leg['coordinates']
    top = leg['row0']
    step = scratch[n]
    for i in range(n):
        step[i] = 0.0
        for r in range(top, top + leg['rows']):
            step[i] += rows[r, i] * rows[r, n]
        for k in range(i + 1):
            value = 0.0
            for r in range(top, top + leg['rows']):
                value += rows[r, i] * rows[r, k]
            scratch[i, k] = value
            scratch[k, i] = value
        scratch[i, i] *= 1.0 + 1e-14
    return solve_symmetric(scratch, step, n) > 0.0


@kernel
def least_squares_step(
    system: Any, leg: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    work: Any, scratch: Any,
) -> float:  # fmt: skip
    """Leave a leg's Gauss-Newton step in ``coordinates`` as ``qdd``; return its scaled size."""
    n = leg['coordinates']
    joint_rows(leg, joints, closures, bodies, rows, work)
    if not least_squares(leg, rows, scratch):
        return 1e300
    for k in range(n):
        coordinates[leg['coordinate0'] + k]['qdd'] = scratch[n, k]
    return scaled_step(system, joints, coordinates, leg['joint0'], leg['joint1'])


@kernel
def follow_leg(
    system: Any, leg: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    work: Any, scratch: Any, target: Any,
) -> int:  # fmt: skip
    """Lead a leg from home to the platform pose ``target`` by continuation.

    The platform goes on a straight line with a turn about a fixed axis; between its ends the
    closures need not hold exactly (a constrained platform leaves its manifold on that line), so
    the joints follow in the sense of least squares.
    """
    n = leg['coordinates']
    start = leg['coordinate0']
    saved = scratch[n + 1]
    for k in range(n):
        coordinates[start + k]['q'] = 0.0
    fraction = 0.0
    stride = 0.25
    for _ in range(MOST_STRIDES):
        goal = min(1.0, fraction + stride)
        place_between(system, bodies, target, goal)
        for k in range(n):
            saved[k] = coordinates[start + k]['q']
        good = False
        before = TRUSTED_STEP
        for iteration in range(20):
            place_joints(joints, bodies, coordinates, leg['joint0'], leg['joint1'])
            leg_residual(leg, closures, bodies, rows, n)
            size = least_squares_step(
                system, leg, joints, closures, bodies, coordinates, rows, work, scratch
            )
            if size < 1e-6:  # enough to keep the branch; Newton's method ends the way
                good = True
                break
            # Off the manifold least squares converge linearly, hence the patience later on.
            if size > (1.0 if iteration == 0 else CONTRACTION if iteration == 1 else 0.7) * before:
                break
            before = size
            for k in range(n):
                coordinates[start + k]['q'] += coordinates[start + k]['qdd']
        if good:
            fraction = goal
            stride = min(0.5, 2.0 * stride)
            if fraction == 1.0:
                break
        else:
            for k in range(n):
                coordinates[start + k]['q'] = saved[k]
            stride *= 0.5
            if stride < SHORTEST_STRIDE:
                break
    work['fraction'] = fraction
    place_platform(bodies, target)
    if fraction < 1.0:
        place_joints(joints, bodies, coordinates, leg['joint0'], leg['joint1'])
        work['residual'] = leg_residual(leg, closures, bodies, rows, n)
        return UNREACHABLE
    return newton_leg(
        system, leg, joints, closures, bodies, coordinates, rows, work, scratch, TRUSTED_STEP, 0.0
    )


@kernel
def place_between(system: Any, bodies: Any, target: Any, fraction: float) -> None:
    """Put the platform between home (0) and the pose in ``target`` (1)."""
    h = system['home_R']
    d = bodies[1]['R']
    # Relative rotation D = target home^T, its axis and angle.
    t = target
    d00 = t[3] * h[0, 0] + t[4] * h[0, 1] + t[5] * h[0, 2]
    d01 = t[3] * h[1, 0] + t[4] * h[1, 1] + t[5] * h[1, 2]
    d02 = t[3] * h[2, 0] + t[4] * h[2, 1] + t[5] * h[2, 2]
    d10 = t[6] * h[0, 0] + t[7] * h[0, 1] + t[8] * h[0, 2]
    d11 = t[6] * h[1, 0] + t[7] * h[1, 1] + t[8] * h[1, 2]
    d12 = t[6] * h[2, 0] + t[7] * h[2, 1] + t[8] * h[2, 2]
    d20 = t[9] * h[0, 0] + t[10] * h[0, 1] + t[11] * h[0, 2]
    d21 = t[9] * h[1, 0] + t[10] * h[1, 1] + t[11] * h[1, 2]
    d22 = t[9] * h[2, 0] + t[10] * h[2, 1] + t[11] * h[2, 2]
    kx, ky, kz = 0.5 * (d21 - d12), 0.5 * (d02 - d20), 0.5 * (d10 - d01)
    sine = math.sqrt(kx * kx + ky * ky + kz * kz)
    angle = math.atan2(sine, 0.5 * (d00 + d11 + d22 - 1.0))
    if sine > 1e-9:
        kx, ky, kz = kx / sine, ky / sine, kz / sine
    elif angle > 1.0:  # a half turn: the axis is the largest column of D + 1
        if d00 >= d11 and d00 >= d22:
            kx, ky, kz = d00 + 1.0, d10, d20
        elif d11 >= d22:
            kx, ky, kz = d01, d11 + 1.0, d21
        else:
            kx, ky, kz = d02, d12, d22 + 1.0
        size = math.sqrt(kx * kx + ky * ky + kz * kz)
        kx, ky, kz = kx / size, ky / size, kz / size
    c, s = math.cos(fraction * angle), math.sin(fraction * angle)
    v = 1.0 - c
    for k in range(3):
        x, y, z = h[0, k], h[1, k], h[2, k]
        along = (kx * x + ky * y + kz * z) * v
        d[0, k] = c * x + s * (ky * z - kz * y) + along * kx
        d[1, k] = c * y + s * (kz * x - kx * z) + along * ky
        d[2, k] = c * z + s * (kx * y - ky * x) + along * kz
    for i in range(3):
        home = system['home_p'][i]
        bodies[1]['p'][i] = home + fraction * (t[i] - home)
