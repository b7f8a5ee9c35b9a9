"""Inverse and direct dynamics after khalil_ibrahim_2007.

H_i, the dynamics of a leg, comes from a recursive Newton-Euler sweep started with the base's
motion and minus gravity, so a moving base costs nothing extra; F_p is that of the platform.
Then S^T [F_p + sum G_i^T H_i] = (L S)^T Gamma, of which only the passive part of H_i is
projected (20)-(22). Direct dynamics solves A V_r' = (L S)^T Gamma - h (28)-(30) with the same
sweep, run at the accelerations that the drift alone produces, as h.
"""

from __future__ import annotations

from typing import Any

from parallel_dynamics.kernels.compiler import kernel
from parallel_dynamics.kernels.layout import (
    ACTUATION_SINGULAR,
    FRICTION_VELOCITY,
    MASS_SINGULAR,
    OK,
    PRISMATIC,
    SINGULAR_PIVOT,
)
from parallel_dynamics.kernels.linear import solve_in_place, solve_symmetric
from parallel_dynamics.kernels.velocity import (
    actuation_share,
    move_joints,
    spread_accelerations,
)

# External input, packed: wrench (6,), flag of a moving base, then a packed BaseMotion (21,).
WRENCH, MOVING, BASE_R, BASE_W, BASE_A, BASE_AL = 0, 6, 7, 19, 22, 25
EXTERNAL = 28


@kernel
def friction_effort(joint: Any, qd: float) -> float:
    """Viscous and Coulomb effort that opposes ``qd``; Coulomb is linear below a small speed."""
    share = max(-1.0, min(1.0, qd / FRICTION_VELOCITY))
    return joint['damping'] * qd + joint['friction'] * share


@kernel
def set_roots(
    system: Any, bodies: Any, motion: Any, external: Any, rate: Any, offset: int, weight: float
) -> None:
    """Give base and platform their absolute motion, with minus gravity in the acceleration.

    ``rate`` holds V_p' from ``offset`` on; ``weight`` scales gravity.
    """
    base = bodies[0]
    platform = bodies[1]
    g = system['gravity']
    for i in range(3):
        base['w'][i] = external[BASE_W + i]
        base['al'][i] = external[BASE_AL + i]
        base['v'][i] = 0.0
        base['a'][i] = external[BASE_A + i]
        if external[MOVING] == 0.0:
            base['a'][i] -= weight * g[i]
        else:
            for k in range(3):
                base['a'][i] -= weight * external[BASE_R + 3 * k + i] * g[k]
    bx, by, bz = base['w'][0], base['w'][1], base['w'][2]
    cx, cy, cz = base['al'][0], base['al'][1], base['al'][2]
    px, py, pz = platform['p'][0], platform['p'][1], platform['p'][2]
    vx, vy, vz = motion[12], motion[13], motion[14]
    wx, wy, wz = motion[15], motion[16], motion[17]
    ux, uy, uz = by * pz - bz * py, bz * px - bx * pz, bx * py - by * px
    # v = w_B x p + v_rel; a = a_B + al_B x p + w_B x (w_B x p + 2 v_rel) + a_rel.
    platform['v'][0], platform['v'][1], platform['v'][2] = ux + vx, uy + vy, uz + vz
    ux, uy, uz = ux + 2.0 * vx, uy + 2.0 * vy, uz + 2.0 * vz
    platform['a'][0] = base['a'][0] + cy * pz - cz * py + by * uz - bz * uy + rate[offset]
    platform['a'][1] = base['a'][1] + cz * px - cx * pz + bz * ux - bx * uz + rate[offset + 1]
    platform['a'][2] = base['a'][2] + cx * py - cy * px + bx * uy - by * ux + rate[offset + 2]
    platform['w'][0], platform['w'][1], platform['w'][2] = bx + wx, by + wy, bz + wz
    platform['al'][0] = cx + by * wz - bz * wy + rate[offset + 3]
    platform['al'][1] = cy + bz * wx - bx * wz + rate[offset + 4]
    platform['al'][2] = cz + bx * wy - by * wx + rate[offset + 5]


@kernel
def accelerate(
    system: Any, joints: Any, bodies: Any, rate: Any, offset: int, weight: float
) -> None:
    """Add qdd, V_p' and minus gravity to the accelerations of bodies on a base at rest.

    The bodies hold their motion at zero qdd and V_p' (as the drift needs it), so only what is
    linear in the accelerations is left: kept in f and n until the wrenches take their place.
    """
    g = system['gravity']
    for i in range(3):
        bodies[0]['f'][i] = -weight * g[i]
        bodies[0]['n'][i] = 0.0
        bodies[1]['f'][i] = rate[offset + i] - weight * g[i]
        bodies[1]['n'][i] = rate[offset + 3 + i]
        bodies[1]['a'][i] = bodies[1]['f'][i]
        bodies[1]['al'][i] = bodies[1]['n'][i]
    for j in range(system['joints']):
        joint = joints[j]
        body = bodies[j + 2]
        parent = bodies[joint['parent']]
        qdd = body['qdd']
        zx, zy, zz = qdd * body['z'][0], qdd * body['z'][1], qdd * body['z'][2]
        bx, by, bz = parent['n'][0], parent['n'][1], parent['n'][2]
        rx = body['p'][0] - parent['p'][0]
        ry = body['p'][1] - parent['p'][1]
        rz = body['p'][2] - parent['p'][2]
        ax = parent['f'][0] + by * rz - bz * ry
        ay = parent['f'][1] + bz * rx - bx * rz
        az = parent['f'][2] + bx * ry - by * rx
        if joint['kind'] == PRISMATIC:
            ax, ay, az = ax + zx, ay + zy, az + zz
        else:
            bx, by, bz = bx + zx, by + zy, bz + zz
        body['f'][0], body['f'][1], body['f'][2] = ax, ay, az
        body['n'][0], body['n'][1], body['n'][2] = bx, by, bz
        body['a'][0] += ax
        body['a'][1] += ay
        body['a'][2] += az
        body['al'][0] += bx
        body['al'][1] += by
        body['al'][2] += bz


@kernel
def turn_inertia(body: Any, com: Any, tensor: Any) -> None:
    """Write a body's centre of mass from its origin (c) and its tensor (I), in base axes."""
    r = body['R']
    t = tensor
    for i in range(3):
        x, y, z = r[i, 0], r[i, 1], r[i, 2]
        body['c'][i] = x * com[0] + y * com[1] + z * com[2]
        u = x * t[0, 0] + y * t[1, 0] + z * t[2, 0]
        v = x * t[0, 1] + y * t[1, 1] + z * t[2, 1]
        w = x * t[0, 2] + y * t[1, 2] + z * t[2, 2]
        for k in range(i + 1):
            value = u * r[k, 0] + v * r[k, 1] + w * r[k, 2]
            body['I'][i, k] = value
            body['I'][k, i] = value


@kernel
def newton_euler(body: Any, mass: float, com: Any, tensor: Any) -> None:
    """Force f and moment n about the body's origin that its motion asks for (Khalil (12))."""
    turn_inertia(body, com, tensor)
    inertia = body['I']
    cx, cy, cz = body['c'][0], body['c'][1], body['c'][2]
    wx, wy, wz = body['w'][0], body['w'][1], body['w'][2]
    bx, by, bz = body['al'][0], body['al'][1], body['al'][2]
    ux, uy, uz = wy * cz - wz * cy, wz * cx - wx * cz, wx * cy - wy * cx
    fx = mass * (body['a'][0] + by * cz - bz * cy + wy * uz - wz * uy)
    fy = mass * (body['a'][1] + bz * cx - bx * cz + wz * ux - wx * uz)
    fz = mass * (body['a'][2] + bx * cy - by * cx + wx * uy - wy * ux)
    hx = inertia[0, 0] * wx + inertia[0, 1] * wy + inertia[0, 2] * wz
    hy = inertia[1, 0] * wx + inertia[1, 1] * wy + inertia[1, 2] * wz
    hz = inertia[2, 0] * wx + inertia[2, 1] * wy + inertia[2, 2] * wz
    nx = inertia[0, 0] * bx + inertia[0, 1] * by + inertia[0, 2] * bz + wy * hz - wz * hy
    ny = inertia[1, 0] * bx + inertia[1, 1] * by + inertia[1, 2] * bz + wz * hx - wx * hz
    nz = inertia[2, 0] * bx + inertia[2, 1] * by + inertia[2, 2] * bz + wx * hy - wy * hx
    body['f'][0], body['f'][1], body['f'][2] = fx, fy, fz
    body['n'][0] = nx + cy * fz - cz * fy
    body['n'][1] = ny + cz * fx - cx * fz
    body['n'][2] = nz + cx * fy - cy * fx


@kernel
def inertial_wrenches(
    system: Any, joints: Any, bodies: Any, platform_share: float, leg_share: float
) -> None:
    """Newton-Euler wrench of every body about its own origin, for its motion in ``bodies``."""
    newton_euler(
        bodies[1], platform_share * system['mass'], system['com'], system['tensor']
    )
    if platform_share != 1.0:
        for i in range(3):
            bodies[1]['n'][i] *= platform_share
    for j in range(system['joints']):
        joint = joints[j]
        body = bodies[j + 2]
        if joint['has_mass'] and leg_share != 0.0:
            newton_euler(body, joint['mass'], joint['com'], joint['tensor'])
        else:
            for i in range(3):
                body['f'][i] = 0.0
                body['n'][i] = 0.0


@kernel
def sweep_to_roots(
    system: Any, joints: Any, bodies: Any, coordinates: Any, drives: float, friction: float
) -> None:
    """Sum wrenches from the tips to the roots; leaves H_i in ``coordinates`` as ``tau``."""
    for k in range(system['coordinates']):
        coordinates[k]['tau'] = 0.0
    for j in range(system['joints'] - 1, -1, -1):
        joint = joints[j]
        body = bodies[j + 2]
        parent = bodies[joint['parent']]
        f = body['f']
        n = body['n']
        z = body['z']
        if joint['kind'] == PRISMATIC:
            tau = z[0] * f[0] + z[1] * f[1] + z[2] * f[2]
        else:
            tau = z[0] * n[0] + z[1] * n[1] + z[2] * n[2]
        body['tau'] = tau
        effort = tau + drives * joint['armature'] * body['qdd']
        if friction != 0.0:
            effort += friction * friction_effort(joint, body['qd'])
        coordinates[joint['coordinate']]['tau'] += joint['ratio'] * effort
        if joint['parent'] > 0:
            rx = body['p'][0] - parent['p'][0]
            ry = body['p'][1] - parent['p'][1]
            rz = body['p'][2] - parent['p'][2]
            parent['f'][0] += f[0]
            parent['f'][1] += f[1]
            parent['f'][2] += f[2]
            parent['n'][0] += n[0] + ry * f[2] - rz * f[1]
            parent['n'][1] += n[1] + rz * f[0] - rx * f[2]
            parent['n'][2] += n[2] + rx * f[1] - ry * f[0]


@kernel
def bodies_dynamics(
    system: Any, joints: Any, bodies: Any, coordinates: Any, work: Any, motion: Any,
    external: Any, rate: Any, offset: int, options: Any,
) -> None:  # fmt: skip
    """F_p and H_i for the acceleration V_p' in ``rate``; leaves F_p in ``work['F']``."""
    if external[MOVING] == 0.0:
        accelerate(system, joints, bodies, rate, offset, options['weight'])
    else:
        set_roots(system, bodies, motion, external, rate, offset, options['weight'])
        move_joints(joints, bodies, 0, system['joints'])
    inertial_wrenches(system, joints, bodies, options['platform'], options['legs'])
    sweep_to_roots(system, joints, bodies, coordinates, options['drives'], options['friction'])
    for i in range(3):
        work['F'][i] = bodies[1]['f'][i] - options['push'] * external[WRENCH + i]
        work['F'][3 + i] = bodies[1]['n'][i] - options['push'] * external[WRENCH + 3 + i]


@kernel
def project_passive(system: Any, coordinates: Any, work: Any) -> None:
    """Write S^T [F_p + sum G_i^T H_i] without the actuated rows into ``work['b']``."""
    actuator = system['actuator']
    dof = system['dof']
    for k in range(system['coordinates']):
        passive = True
        for i in range(dof):
            if actuator[i] == k:
                passive = False
        if passive:
            c = coordinates[k]
            for m in range(6):
                work['F'][m] += c['G'][m] * c['tau']
    for i in range(dof):
        value = 0.0
        for m in range(6):
            value += work['S'][m, i] * work['F'][m]
        work['b'][i] = value


@kernel
def solve_efforts(system: Any, coordinates: Any, work: Any, efforts: Any) -> int:
    """Gamma from F_p and H_i: khalil_ibrahim_2007 (21), (22)."""
    project_passive(system, coordinates, work)
    dof = system['dof']
    for i in range(dof):
        for k in range(dof):
            work['A'][i, k] = work['LS'][k, i]
    pivot = solve_in_place(work['A'], work['b'], dof) * actuation_share(system, work)
    if not pivot >= SINGULAR_PIVOT:
        work['pivot'] = pivot
        return ACTUATION_SINGULAR
    for i in range(dof):
        efforts[i] = work['b'][i] + coordinates[system['actuator'][i]]['tau']
    return OK


@kernel
def composite_inertias(system: Any, joints: Any, bodies: Any) -> None:
    """Mass, centre of mass and tensor of everything that each body carries.

    About the platform's origin, base axes: ``cm``, ``cc`` (first moment) and ``cI``. The tensors
    in ``bodies`` must be turned already.
    """
    px, py, pz = bodies[1]['p'][0], bodies[1]['p'][1], bodies[1]['p'][2]
    for j in range(-1, system['joints']):
        body = bodies[j + 2]
        if j < 0:
            mass = system['mass']
            solid = True
        else:
            mass = joints[j]['mass']
            solid = joints[j]['has_mass'] != 0
        if not solid:
            body['cm'] = 0.0
            for i in range(3):
                body['cc'][i] = 0.0
                for k in range(3):
                    body['cI'][i, k] = 0.0
            continue
        x = body['p'][0] - px + body['c'][0]
        y = body['p'][1] - py + body['c'][1]
        z = body['p'][2] - pz + body['c'][2]
        t = body['I']
        i_c = body['cI']
        body['cm'] = mass
        body['cc'][0], body['cc'][1], body['cc'][2] = mass * x, mass * y, mass * z
        i_c[0, 0] = t[0, 0] + mass * (y * y + z * z)
        i_c[1, 1] = t[1, 1] + mass * (x * x + z * z)
        i_c[2, 2] = t[2, 2] + mass * (x * x + y * y)
        i_c[0, 1] = t[0, 1] - mass * x * y
        i_c[0, 2] = t[0, 2] - mass * x * z
        i_c[1, 2] = t[1, 2] - mass * y * z
        i_c[1, 0], i_c[2, 0], i_c[2, 1] = i_c[0, 1], i_c[0, 2], i_c[1, 2]
    for j in range(system['joints'] - 1, -1, -1):
        parent = bodies[joints[j]['parent']]
        if joints[j]['parent'] == 0:
            continue
        body = bodies[j + 2]
        parent['cm'] += body['cm']
        for i in range(3):
            parent['cc'][i] += body['cc'][i]
            for k in range(3):
                parent['cI'][i, k] += body['cI'][i, k]


@kernel
def add_leg_inertia(
    leg: Any, joints: Any, bodies: Any, coordinates: Any, matrix: Any, mass: Any
) -> None:
    """Add G_i^T A_i G_i of one leg (Khalil (29)) to the lower triangle of ``mass`` (6, 6).

    A_i comes from composite bodies. Bodies that hang from the platform move with it too: their
    coupling is added as well.
    """
    n = leg['coordinates']
    start = leg['coordinate0']
    px, py, pz = bodies[1]['p'][0], bodies[1]['p'][1], bodies[1]['p'][2]
    for i in range(n):
        for k in range(n):
            matrix[i, k] = 0.0
    for j in range(leg['joint0'], leg['joint1']):
        joint = joints[j]
        body = bodies[j + 2]
        ratio = joint['ratio']
        i = joint['coordinate'] - start
        zx, zy, zz = body['z'][0], body['z'][1], body['z'][2]
        cx, cy, cz = body['cc'][0], body['cc'][1], body['cc'][2]
        m = body['cm']
        # Momentum (l, h about P) of what the joint carries, at unit rate.
        if joint['kind'] == PRISMATIC:
            lx, ly, lz = m * zx, m * zy, m * zz
            hx, hy, hz = cy * zz - cz * zy, cz * zx - cx * zz, cx * zy - cy * zx
        else:
            t = body['cI']
            rx, ry, rz = body['p'][0] - px, body['p'][1] - py, body['p'][2] - pz
            vx, vy, vz = ry * zz - rz * zy, rz * zx - rx * zz, rx * zy - ry * zx
            lx = m * vx + zy * cz - zz * cy
            ly = m * vy + zz * cx - zx * cz
            lz = m * vz + zx * cy - zy * cx
            hx = t[0, 0] * zx + t[0, 1] * zy + t[0, 2] * zz + cy * vz - cz * vy
            hy = t[1, 0] * zx + t[1, 1] * zy + t[1, 2] * zz + cz * vx - cx * vz
            hz = t[2, 0] * zx + t[2, 1] * zy + t[2, 2] * zz + cx * vy - cy * vx
        matrix[i, i] += ratio * ratio * joint['armature']
        at = j + 2
        while at > 1:
            other = joints[at - 2]
            carrier = bodies[at]
            k = other['coordinate'] - start
            z = carrier['z']
            if other['kind'] == PRISMATIC:
                value = z[0] * lx + z[1] * ly + z[2] * lz
            else:
                rx = carrier['p'][0] - px
                ry = carrier['p'][1] - py
                rz = carrier['p'][2] - pz
                value = z[0] * (hx - ry * lz + rz * ly)
                value += z[1] * (hy - rz * lx + rx * lz)
                value += z[2] * (hz - rx * ly + ry * lx)
            value *= ratio * other['ratio']
            matrix[i, k] += value
            if at != j + 2:
                matrix[k, i] += value
            at = other['parent']
        if at == 1:
            g = coordinates[start + i]['G']
            for c in range(6):
                gc = ratio * g[c]
                mass[c, 0] += gc * lx
                mass[c, 1] += gc * ly
                mass[c, 2] += gc * lz
                mass[c, 3] += gc * hx
                mass[c, 4] += gc * hy
                mass[c, 5] += gc * hz
                mass[0, c] += gc * lx
                mass[1, c] += gc * ly
                mass[2, c] += gc * lz
                mass[3, c] += gc * hx
                mass[4, c] += gc * hy
                mass[5, c] += gc * hz
    for i in range(n):
        gi = coordinates[start + i]['G']
        # B = A_i G_i, row i; then only the lower triangle of G_i^T B.
        b0 = b1 = b2 = b3 = b4 = b5 = 0.0
        for k in range(n):
            value = matrix[i, k]
            g = coordinates[start + k]['G']
            b0 += value * g[0]
            b1 += value * g[1]
            b2 += value * g[2]
            b3 += value * g[3]
            b4 += value * g[4]
            b5 += value * g[5]
        for c in range(6):
            mass[c, 0] += gi[c] * b0
            if c > 0:
                mass[c, 1] += gi[c] * b1
            if c > 1:
                mass[c, 2] += gi[c] * b2
            if c > 2:
                mass[c, 3] += gi[c] * b3
            if c > 3:
                mass[c, 4] += gi[c] * b4
            if c > 4:
                mass[c, 5] += gi[c] * b5


@kernel
def mass_matrix(
    system: Any, legs: Any, joints: Any, bodies: Any, coordinates: Any, scratch: Any, work: Any
) -> None:
    """A = S^T (I_s + sum G_i^T A_i G_i) S (Khalil (29)) into the leading block of ``work['A']``.

    The 6 x 6 matrix before the projection by S stays in ``work['M']``.
    """
    composite_inertias(system, joints, bodies)
    mass = work['M']
    platform = bodies[1]
    c = platform['cc']
    for i in range(6):
        for k in range(6):
            mass[i, k] = 0.0
    for i in range(3):
        mass[i, i] = platform['cm']
        for k in range(3):
            mass[3 + i, 3 + k] = platform['cI'][i, k]
    mass[0, 4], mass[0, 5], mass[1, 5] = c[2], -c[1], c[0]
    mass[1, 3], mass[2, 3], mass[2, 4] = -c[2], c[1], -c[0]
    mass[4, 0], mass[5, 0], mass[5, 1] = c[2], -c[1], c[0]
    mass[3, 1], mass[3, 2], mass[4, 2] = -c[2], c[1], -c[0]
    for i in range(system['legs']):
        add_leg_inertia(legs[i], joints, bodies, coordinates, scratch, mass)
    for i in range(6):
        for k in range(i):
            mass[k, i] = mass[i, k]
    dof = system['dof']
    s = work['S']
    if dof == 6:
        for i in range(6):
            for k in range(6):
                work['A'][i, k] = mass[i, k]
        return
    for i in range(dof):
        for k in range(dof):
            value = 0.0
            for m in range(6):
                inner = 0.0
                for q in range(6):
                    inner += mass[m, q] * s[q, k]
                value += s[m, i] * inner
            work['A'][i, k] = value


@kernel
def bias(
    system: Any, joints: Any, bodies: Any, coordinates: Any, work: Any, motion: Any,
    external: Any, options: Any,
) -> None:  # fmt: skip
    """h of Khalil (30) with all rows of H_i, into ``work['b']``: the inverse model at V_r' = 0."""
    constrained = system['dof'] < 6
    for k in range(system['coordinates']):
        c = coordinates[k]
        value = c['g']
        if constrained:
            for m in range(6):
                value += c['G'][m] * work['s'][m]
        c['qdd'] = value
    spread_accelerations(system, joints, bodies, coordinates)
    bodies_dynamics(
        system, joints, bodies, coordinates, work, motion, external, work['s'], 0, options
    )
    for k in range(system['coordinates']):
        c = coordinates[k]
        for m in range(6):
            work['F'][m] += c['G'][m] * c['tau']
    for i in range(system['dof']):
        value = 0.0
        for m in range(6):
            value += work['S'][m, i] * work['F'][m]
        work['b'][i] = value


@kernel
def solve_acceleration(
    system: Any, legs: Any, joints: Any, bodies: Any, coordinates: Any, scratch: Any, work: Any,
    motion: Any, external: Any, options: Any, efforts: Any, acceleration: Any,
) -> int:  # fmt: skip
    """V_p' from the efforts: khalil_ibrahim_2007 (28). ``work['b']`` keeps V_r'."""
    bias(system, joints, bodies, coordinates, work, motion, external, options)
    mass_matrix(system, legs, joints, bodies, coordinates, scratch, work)
    dof = system['dof']
    for i in range(dof):
        value = -work['b'][i]
        for k in range(dof):
            value += work['LS'][k, i] * efforts[k]
        work['b'][i] = value
    pivot = solve_symmetric(work['A'], work['b'], dof)
    if pivot < 1e-14:
        work['pivot'] = pivot
        return MASS_SINGULAR
    for m in range(6):
        value = work['s'][m]
        for k in range(dof):
            value += work['S'][m, k] * work['b'][k]
        acceleration[m] = value
    return OK
