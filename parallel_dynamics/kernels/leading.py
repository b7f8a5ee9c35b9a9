"""Positions for poses far from home: the whole robot is led there along its closures.

``assembly`` leads each leg on its own, along the straight line from home to a pose. A platform
with fewer than six freedoms leaves its closures on that line, and legs that are left hanging far
from it lose their way. Here all closures hold on the way: from where it stands, the platform goes
in that allowed direction which brings it nearest to the pose.
"""

from __future__ import annotations

import math
from typing import Any

from parallel_dynamics.kernels.assembly import solve_positions
from parallel_dynamics.kernels.compiler import kernel
from parallel_dynamics.kernels.forward import linearise, take_step
from parallel_dynamics.kernels.layout import COLD, GIVEN, HINTED, OK, TRUSTED, WARM
from parallel_dynamics.kernels.linear import solve_symmetric
from parallel_dynamics.kernels.velocity import renew_components, use_own_components

LONGEST = 0.15
"""Step of the platform, rad or characteristic lengths; Newton's method closes it behind."""
STEPS = 18.0
"""Length of the way, in the same units, after which it is given up."""
THERE, ASIDE, LOST = 0, 1, 2


@kernel
def take_hint(work: Any) -> None:
    """Let the next solution start where the joints stand, as far as a call may count on them."""
    if work['warm'] != COLD:
        work['warm'] = WARM if work['warm'] == TRUSTED else HINTED


@kernel
def find_positions(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, work: Any, scratch: Any, motion: Any,
) -> int:  # fmt: skip
    """As ``solve_positions``; a pose that the legs do not find alone is approached by all.

    What was solved before may save time but does not change the result.
    """
    take_hint(work)
    status = solve_positions(
        system, legs, joints, closures, bodies, coordinates, rows, work, scratch, motion
    )
    if status == OK or system['dof'] == 6:
        return status
    leg, residual, pivot = work['leg'], work['residual'], work['pivot']
    fraction = work['fraction']
    outcome = lead_home_to(
        system, legs, joints, closures, bodies, coordinates, rows, pull, stack, work, motion
    )
    if outcome == THERE:
        work['warm'] = WARM
        if OK == solve_positions(
            system, legs, joints, closures, bodies, coordinates, rows, work, scratch, motion
        ):
            return OK
    work['leg'], work['residual'], work['pivot'] = leg, residual, pivot
    work['fraction'] = fraction
    return status


@kernel
def lead_home_to(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, work: Any, motion: Any,
) -> int:  # fmt: skip
    """``lead`` in long steps, or where that loses its way in short ones."""
    choice = work['choice']
    work['choice'] = GIVEN
    outcome = lead(
        system, legs, joints, closures, bodies, coordinates, rows, pull, stack, work, motion,
        LONGEST,
    )  # fmt: skip
    if outcome == LOST:
        outcome = lead(
            system, legs, joints, closures, bodies, coordinates, rows, pull, stack, work, motion,
            0.2 * LONGEST,
        )  # fmt: skip
    work['choice'] = choice
    return int(outcome)


@kernel
def lead(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, work: Any, motion: Any, longest: float,
) -> int:  # fmt: skip
    """Move platform and joints from home towards the pose in ``motion``, in steps of ``longest``.

    Each step dX = S b + s is the one of least squares to what is missing, angles counted at the
    characteristic length; s closes what the last step has opened. Returns THERE, LOST where the
    closures came open, or ASIDE: as near as they let it come.
    """
    dof = system['dof']
    length = system['length']
    for i in range(3):
        bodies[1]['p'][i] = system['home_p'][i]
        for k in range(3):
            bodies[1]['R'][i, k] = system['home_R'][i, k]
    for k in range(system['coordinates']):
        coordinates[k]['q'] = 0.0
    use_own_components(system, work)
    missing = work['goal']
    nudged = False
    for _ in range(int(STEPS / longest)):
        status = linearise(
            system, legs, joints, closures, bodies, coordinates, rows, pull, stack, work
        )
        if status != OK or work['residual'] > longest * length:
            return LOST
        distance = pose_missing(bodies[1], motion, missing, length)
        if distance < 1e-4 * length:
            return THERE
        share = min(1.0, longest * length / distance)
        if work['residual'] > 0.07 * longest * length:
            share = 0.0  # close first what the last step has opened
        for i in range(dof):
            value = 0.0
            for m in range(6):
                weight = 1.0 if m < 3 else length * length
                value += weight * work['S'][m, i] * (share * missing[m] - work['s'][m])
                for k in range(i + 1):
                    if m == 0:
                        work['A'][i, k] = 0.0
                    work['A'][i, k] += weight * work['S'][m, i] * work['S'][m, k]
            work['b'][i] = value
        if solve_symmetric(work['A'], work['b'], dof) <= 0.0:
            return LOST
        size = take_step(system, joints, bodies, coordinates, work)
        # As long as closures are open, a step may be one that closes them and no more.
        closed = work['residual'] < 1e-4 * longest * length
        if closed and share > 0.0 and size < 1e-3 * share:
            if distance < longest * length or nudged:
                return ASIDE
            # Half round: both ways are as good, but it must be one.
            nudged = True
            work['b'][0] += longest * length
            take_step(system, joints, bodies, coordinates, work)
        renew_components(system, legs, rows, pull, stack, work)
    return LOST


@kernel
def pose_missing(platform: Any, motion: Any, missing: Any, length: float) -> float:
    """Write the twist that would bring the platform to a pose in unit time; return its size, m."""
    r = platform['R']
    x = y = z = 0.0
    trace = 0.0
    for k in range(3):
        a, b, c = r[0, k], r[1, k], r[2, k]
        u, v, w = motion[3 + k], motion[6 + k], motion[9 + k]
        x += 0.5 * (b * w - c * v)
        y += 0.5 * (c * u - a * w)
        z += 0.5 * (a * v - b * u)
        trace += a * u + b * v + c * w
    sine = math.sqrt(x * x + y * y + z * z)
    angle = math.atan2(sine, 0.5 * (trace - 1.0))
    factor = angle / sine if sine > 1e-9 else 1.0
    missing[3], missing[4], missing[5] = factor * x, factor * y, factor * z
    square = length * length * angle * angle
    for i in range(3):
        missing[i] = motion[i] - platform['p'][i]
        square += missing[i] * missing[i]
    return math.sqrt(square)
