"""What Python calls, through a ``handle``: one function for the states of a batch, or for one.

All kernels take the robot (system, legs, joints, closures), the scratch of one thread (bodies,
coordinates, rows, pull, stack, scratch, work) and then their own input and output. A motion is a
packed PlatformMotion (24,), ``external`` packed as ``dynamics`` says. That there is one entry for
all tasks keeps the time to compile short: the shared kinematics is compiled once.
"""

from __future__ import annotations

import math
from typing import Any

from parallel_dynamics.kernels.assembly import write_report
from parallel_dynamics.kernels.compiler import kernel
from parallel_dynamics.kernels.dynamics import (
    bias,
    bodies_dynamics,
    mass_matrix,
    solve_acceleration,
    solve_efforts,
)
from parallel_dynamics.kernels.layout import NOT_FINITE, OK
from parallel_dynamics.kernels.leading import find_positions
from parallel_dynamics.kernels.velocity import solve_accelerations, solve_velocities
from parallel_dynamics.motion import LARGEST

# Tasks: kinematics up to positions, velocities or accelerations; and the dynamics.
POSITIONS, VELOCITIES, ACCELERATIONS, INVERSE, DIRECT, INERTIA, ALLOWED = range(1, 8)


@kernel
def evaluate(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, options: Any, task: int, motions: Any,
    external: Any, efforts: Any, out: Any, reports: Any, first: int, last: int,
) -> int:  # fmt: skip
    """Do ``task`` for states ``first`` to ``last - 1``; return the status of the last one.

    A row of ``out`` holds: for kinematics the joints' positions, velocities and accelerations
    (3 x joints, packed order); INVERSE the efforts (n); DIRECT the acceleration (6); INERTIA
    mass matrix (n x n), bias (n), kinetic and potential energy; ALLOWED the acceleration (6)
    with its dependent components as the closures ask, for robots of less than six freedoms.
    ``external`` and ``efforts`` have one row for all states, or one for each.
    """
    s = system[0]
    w = work[0]
    status = OK
    w['angles_unwanted'] = task > ACCELERATIONS and task != INERTIA
    for i in range(first, last):
        motion = motions[i]
        push = external[i if external.shape[0] > 1 else 0]
        status = find_positions(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, scratch, motion
        )
        if status == OK and task >= VELOCITIES:
            status = solve_velocities(
                s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
            )
        if status == OK and (task == ACCELERATIONS or task == INVERSE):
            status = solve_accelerations(s, joints, bodies, coordinates, w, motion)
        if status == OK:
            if task <= ACCELERATIONS:
                write_joints(s, bodies, task, out[i])
            elif task == INVERSE:
                bodies_dynamics(
                    s, joints, bodies, coordinates, w, motion, push, motion, 18, options[0]
                )
                status = solve_efforts(s, coordinates, w, out[i])
            elif task == DIRECT:
                gamma = efforts[i if efforts.shape[0] > 1 else 0]
                status = solve_acceleration(
                    s, legs, joints, bodies, coordinates, scratch, w, motion, push, options[0],
                    gamma, out[i],
                )  # fmt: skip
                for k in range(s['dof']):
                    if not abs(gamma[k]) < LARGEST:
                        status = NOT_FINITE
            elif task == ALLOWED:
                for m in range(6):
                    out[i, m] = w['s'][m]
                    for k in range(s['dof']):
                        out[i, m] += w['S'][m, k] * motion[18 + w['independent'][k]]
            else:
                bias(s, joints, bodies, coordinates, w, motion, push, options[0])
                mass_matrix(s, legs, joints, bodies, coordinates, scratch, w)
                write_inertia(s, joints, bodies, w, motion, out[i])
        write_report(w, status, reports[i if reports.shape[0] > 1 else 0])
    w['angles_unwanted'] = 0
    return status


@kernel
def write_joints(system: Any, bodies: Any, task: int, out: Any) -> None:
    """Write joint positions, velocities and accelerations, as far as the task solved them."""
    count = system['joints']
    for j in range(count):
        body = bodies[j + 2]
        out[j] = body['q']
        if task >= VELOCITIES:
            out[count + j] = body['qd']
        if task >= ACCELERATIONS:
            out[2 * count + j] = body['qdd']


@kernel
def write_inertia(
    system: Any, joints: Any, bodies: Any, work: Any, motion: Any, out: Any
) -> None:
    """Write mass matrix, bias and energies; twist and positions must be solved.

    Matrix and bias are NaN where V_r cannot be the robot's own.
    """
    dof = system['dof']
    own = True
    for k in range(dof):
        own = own and (dof == 6 or work['independent'][k] == system['independent'][k])
    for i in range(dof):
        out[dof * dof + i] = work['b'][i] if own else math.nan
        for k in range(dof):
            out[dof * i + k] = work['A'][i, k] if own else math.nan
    kinetic = 0.0
    for i in range(6):
        for k in range(6):
            kinetic += 0.5 * motion[12 + i] * work['M'][i, k] * motion[12 + k]
    potential = 0.0
    for m in range(3):
        moment = system['mass'] * (bodies[1]['p'][m] + bodies[1]['c'][m])
        for j in range(system['joints']):
            if joints[j]['has_mass']:
                moment += joints[j]['mass'] * (bodies[j + 2]['p'][m] + bodies[j + 2]['c'][m])
        potential -= system['gravity'][m] * moment
    out[dof * dof + dof] = kinetic
    out[dof * dof + dof + 1] = potential
