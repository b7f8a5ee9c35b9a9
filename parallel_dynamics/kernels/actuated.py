"""Platform motions from what the actuators do: twist and acceleration for rates qd_a, qdd_a.

V_p = J_p qd_a and V_p' = s + J_p (qdd_a - qdd_0), where qdd_0 is the actuators' acceleration at
V_r' = 0 (khalil_ibrahim_2007, (8), (13)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.kernels.assembly import write_report
from parallel_dynamics.kernels.compiler import entry
from parallel_dynamics.kernels.layout import OK
from parallel_dynamics.kernels.leading import find_positions
from parallel_dynamics.kernels.regressor import platform_jacobian
from parallel_dynamics.kernels.velocity import solve_velocities


@entry
def actuate(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, rates: Any, motions: Any, reports: Any,
    first: int, last: int,
) -> int:  # fmt: skip
    """Write twist and acceleration of states ``first`` to ``last - 1`` beside their poses.

    ``rates`` (N, 2, n) are velocities and accelerations of the actuators.
    """
    s = system[0]
    w = work[0]
    n = s['dof']
    table = np.zeros((n, 2 * n))
    jacobian = np.zeros((n, 6))
    status = OK
    for i in range(first, last):
        motion = motions[i]
        motion[12:] = 0.0
        status = find_positions(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, scratch, motion
        )
        if status == OK:
            status = solve_velocities(
                s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
            )
        if status == OK:
            status = platform_jacobian(s, w, table, jacobian)
        if status == OK:
            for k in range(n):
                for m in range(6):
                    motion[12 + m] += jacobian[k, m] * rates[i, 0, k]
            status = solve_velocities(  # again, for the drift of this twist
                s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, motion
            )
        if status == OK:
            for m in range(6):
                motion[18 + m] = w['s'][m]
            for k in range(n):
                c = coordinates[s['actuator'][k]]
                missing = rates[i, 1, k] - c['g']
                for m in range(6):
                    missing -= c['G'][m] * w['s'][m]
                for m in range(6):
                    motion[18 + m] += jacobian[k, m] * missing
        write_report(w, status, reports[i if reports.shape[0] > 1 else 0])
    return status
