"""The legs' Jacobians J_i and J_vi of many poses, unreduced, for analysis outside the kernels."""

from __future__ import annotations

from typing import Any

from parallel_dynamics.kernels.assembly import write_report
from parallel_dynamics.kernels.compiler import entry
from parallel_dynamics.kernels.layout import OK
from parallel_dynamics.kernels.leading import find_positions
from parallel_dynamics.kernels.position import leg_rows


@entry
def leg_matrices(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, motions: Any, out: Any, reports: Any,
    first: int, last: int,
) -> int:  # fmt: skip
    """Write J_i qd_i = J_vi V_p for states ``first`` to ``last - 1``; return the last status.

    ``out[i]`` has a row for each closure equation, leg by leg: J_vi in its first six columns, then
    J_i.
    """
    s = system[0]
    w = work[0]
    status = OK
    for i in range(first, last):
        status = find_positions(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, w, scratch,
            motions[i],
        )  # fmt: skip
        write_report(w, status, reports[i])
        if status != OK:
            continue
        for k in range(s['legs']):
            leg = legs[k]
            leg_rows(leg, joints, closures, bodies, rows, pull, w)
            for r in range(leg['row0'], leg['row0'] + leg['rows']):
                for c in range(6):
                    out[i, r, c] = pull[r, c]
                for c in range(leg['coordinates']):
                    out[i, r, 6 + c] = rows[r, c]
    return status
