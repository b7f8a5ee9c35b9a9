"""The linear form tau = Psi p, body by body: codourey_burdet_1997 (28)-(34).

Each body has its Jacobian J_b with respect to the actuators' rates, J_b (6, n) = [velocity of the
body's origin; angular velocity], built by a sweep from the roots to the tips: that of the
platform is J_p = S (L S)^-1 (khalil_ibrahim_2007, (8)), and a joint adds its axis times the
rate at which it follows the actuators. Psi_b = J_b^T Omega_b then needs no forces at all.
The frame of a body is its URDF link's; gravity and base motion are in its acceleration.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.kernels.assembly import write_report
from parallel_dynamics.kernels.compiler import entry, kernel
from parallel_dynamics.kernels.dynamics import set_roots
from parallel_dynamics.kernels.layout import (
    ACTUATION_SINGULAR,
    FRICTION_VELOCITY,
    OK,
    PRISMATIC,
    SINGULAR_PIVOT,
)
from parallel_dynamics.kernels.leading import find_positions
from parallel_dynamics.kernels.linear import reduce_rows
from parallel_dynamics.kernels.velocity import (
    actuation_share,
    move_joints,
    solve_accelerations,
    solve_velocities,
)

BODY_PARAMETERS = 10
JOINT_PARAMETERS = 3


@kernel
def platform_jacobian(system: Any, work: Any, table: Any, jacobian: Any) -> int:
    """Write J_p (6, n) of V_p = J_p qd_a, transposed, into ``jacobian`` (n, 6).

    ``table`` (n, 2 n) is scratch.
    """
    n = system['dof']
    for i in range(n):
        for k in range(n):
            table[i, k] = work['LS'][i, k]
            table[i, n + k] = 0.0
        table[i, n + i] = 1.0
    pivot = reduce_rows(table, 0, n, n, 2 * n) * actuation_share(system, work)
    if not pivot >= SINGULAR_PIVOT:
        work['pivot'] = pivot
        return ACTUATION_SINGULAR
    for i in range(n):
        for m in range(6):
            value = 0.0
            for k in range(n):
                value += work['S'][m, k] * table[k, n + i]
            jacobian[i, m] = value
    return OK


@kernel
def body_jacobians(
    system: Any, joints: Any, bodies: Any, coordinates: Any, rates: Any, jacobians: Any
) -> None:
    """Write the Jacobian of every leg body, transposed (n, 6), and each joint's rates (n).

    ``jacobians[0]`` (the base: zero) and ``jacobians[1]`` (the platform) must be there.
    ``rates[j]`` is d(qd_j) / d(qd_a).
    """
    n = system['dof']
    for j in range(system['joints']):
        joint = joints[j]
        body = bodies[j + 2]
        parent = bodies[joint['parent']]
        g = coordinates[joint['coordinate']]['G']
        z = body['z']
        rx = body['p'][0] - parent['p'][0]
        ry = body['p'][1] - parent['p'][1]
        rz = body['p'][2] - parent['p'][2]
        for i in range(n):
            rate = 0.0
            for m in range(6):
                rate += g[m] * jacobians[1, i, m]
            rate *= joint['ratio']
            rates[j, i] = rate
            above = jacobians[joint['parent'], i]
            own = jacobians[j + 2, i]
            wx, wy, wz = above[3], above[4], above[5]
            own[0] = above[0] + wy * rz - wz * ry
            own[1] = above[1] + wz * rx - wx * rz
            own[2] = above[2] + wx * ry - wy * rx
            own[3], own[4], own[5] = wx, wy, wz
            first = 0 if joint['kind'] == PRISMATIC else 3
            for m in range(3):
                own[first + m] += z[m] * rate


@kernel
def turned(rotation: Any, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return ``rotation^T [x, y, z]``."""
    r = rotation
    return (
        r[0, 0] * x + r[1, 0] * y + r[2, 0] * z,
        r[0, 1] * x + r[1, 1] * y + r[2, 1] * z,
        r[0, 2] * x + r[1, 2] * y + r[2, 2] * z,
    )


@kernel
def body_columns(
    body: Any, frame: Any, rotation: Any, jacobian: Any, n: int, column: int, out: Any
) -> None:
    """Write J_b^T Omega_b (n, 10) of one body (34) into ``out`` (n, parameters) at ``column``.

    ``frame`` is canonical <- link; ``rotation`` (3, 3) is scratch for base <- link. In row 2 of
    (31) this differs from the paper, which prints [0, wx, wy, wz, 0, 0].
    """
    for i in range(3):
        for k in range(3):
            value = 0.0
            for m in range(3):
                value += body['R'][i, m] * frame[m, k]
            rotation[i, k] = value
    ax, ay, az = turned(rotation, body['a'][0], body['a'][1], body['a'][2])
    wx, wy, wz = turned(rotation, body['w'][0], body['w'][1], body['w'][2])
    bx, by, bz = turned(rotation, body['al'][0], body['al'][1], body['al'][2])
    for i in range(n):
        j = jacobian[i]
        fx, fy, fz = turned(rotation, j[0], j[1], j[2])
        nx, ny, nz = turned(rotation, j[3], j[4], j[5])
        row = out[i]
        # Force m a, and for the first moments Lambda = w~ w~ + al~ (29) with moment c x a.
        row[column] = fx * ax + fy * ay + fz * az
        row[column + 1] = (
            -fx * (wy * wy + wz * wz) + fy * (wx * wy + bz) + fz * (wx * wz - by)
            + nz * ay - ny * az
        )
        row[column + 2] = (
            fx * (wx * wy - bz) - fy * (wx * wx + wz * wz) + fz * (wy * wz + bx)
            + nx * az - nz * ax
        )
        row[column + 3] = (
            fx * (wx * wz + by) + fy * (wy * wz - bx) - fz * (wx * wx + wy * wy)
            + ny * ax - nx * ay
        )
        # Moment I al + w x I w = psi_w I_p (30); (n . (w x u)) = ((n x w) . u).
        ux, uy, uz = ny * wz - nz * wy, nz * wx - nx * wz, nx * wy - ny * wx
        row[column + 4] = nx * bx + ux * wx
        row[column + 5] = nx * by + ny * bx + ux * wy + uy * wx
        row[column + 6] = nx * bz + nz * bx + ux * wz + uz * wx
        row[column + 7] = ny * by + uy * wy
        row[column + 8] = ny * bz + nz * by + uy * wz + uz * wy
        row[column + 9] = nz * bz + uz * wz


@kernel
def joint_columns(body: Any, rates: Any, n: int, column: int, out: Any) -> None:
    """Write the columns of viscous and Coulomb friction and of the drive's inertia."""
    share = body['qd'] / FRICTION_VELOCITY
    if share > 1.0:
        share = 1.0
    elif share < -1.0:
        share = -1.0
    for i in range(n):
        out[i, column] = rates[i] * body['qd']
        out[i, column + 1] = rates[i] * share
        out[i, column + 2] = rates[i] * body['qdd']


@entry
def regress(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, frames: Any, columns: Any, motions: Any,
    external: Any, out: Any, reports: Any, first: int, last: int,
) -> int:  # fmt: skip
    """Write Psi (n, parameters) of states ``first`` to ``last - 1``; return the last status.

    ``frames`` (joints + 2, 3, 3) turn link axes into those of the packed bodies, ``columns``
    (joints + 2, 2) say where the columns of each body and of the joint that moves it begin.
    """
    s = system[0]
    w = work[0]
    n = s['dof']
    count = s['joints']
    table = np.zeros((n, 2 * n))
    rotation = np.zeros((3, 3))
    rates = np.zeros((max(1, count), n))
    jacobians = np.zeros((count + 2, n, 6))
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
            status = platform_jacobian(s, w, table, jacobians[1])
        if status == OK:
            set_roots(s, bodies, motion, push, motion, 18, 1.0)
            move_joints(joints, bodies, 0, count)
            body_jacobians(s, joints, bodies, coordinates, rates, jacobians)
            for b in range(1, count + 2):
                body_columns(
                    bodies[b], frames[b], rotation, jacobians[b], n, columns[b, 0], out[i]
                )
            for j in range(count):
                joint_columns(bodies[j + 2], rates[j], n, columns[j + 2, 1], out[i])
        write_report(w, status, reports[i if reports.shape[0] > 1 else 0])
    return status
