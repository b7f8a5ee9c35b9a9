"""Friction over one step of a simulation: before it by prediction, after it by correction."""

from __future__ import annotations

from typing import Any

from parallel_dynamics.kernels.compiler import kernel
from parallel_dynamics.kernels.joint_efforts import BY_LAW, HELD, coulomb
from parallel_dynamics.kernels.layout import FRICTION_VELOCITY
from parallel_dynamics.kernels.stages import SMOOTH
from parallel_dynamics.kernels.stick import half_inverse, joint_directions, solve_box

UNCHANGED, REST = 2, 3  # outcomes beside BY_LAW and HELD
STILL = 1e-12  # m/s or rad/s: below it is rounding, where friction blocks every freedom


@kernel
def plan_friction(
    s: Any, joints: Any, bodies: Any, coordinates: Any, w: Any, physics: Any, settings: Any,
    h: float, motion: Any, held: Any, box: Any, after: bool,
) -> int:  # fmt: skip
    """Choose the friction efforts of a step from the state just evaluated; writes ``held``.

    Before a step the velocities V + h V' count, and V' in ``motion`` becomes that of the efforts
    chosen. After it the velocities V count, which contain the efforts held so far, and V becomes
    that of the efforts chosen.

    Returns HELD; or, for SMOOTH friction, BY_LAW when a joint passes between sliding and
    creeping, so that its law must be followed in time; or ``UNCHANGED`` when nothing was to be
    changed after a step; or ``REST`` when sticking joints block a robot at rest, so that it
    stays exactly where it is.
    """
    n = s['dof']
    u_free, limit, compliance, f = box[1], box[2], box[3], box[4]
    z, right, member, speed = box[5], box[6], box[7], box[8]
    count = joint_directions(s, joints, coordinates, w, physics, box[0], box[9:])
    b = box[9 : 9 + count]
    half = box[9 + count : 9 + 2 * count]
    matrix = box[9 + 2 * count : 9 + 3 * count]
    half_inverse(w['A'], b, count, n, half)
    smooth = settings['friction'] == SMOOTH
    for a in range(count):
        j = int(box[0, a])
        speed[a] = bodies[j + 2]['qd']
        limit[a] = physics[j]['friction']
        compliance[a] = FRICTION_VELOCITY / limit[a] if smooth else 0.0
        f[a] = coulomb(limit[a], speed[a]) if smooth and not after else held[j]
        right[a] = f[a]
        u_free[a] = speed[a]
        if not after:
            c = coordinates[joints[j]['coordinate']]
            rate = c['g']
            for m in range(6):
                rate += c['G'][m] * motion[18 + m]
            u_free[a] += h * joints[j]['ratio'] * rate
    for i in range(n):  # take out the friction that these velocities contain
        z[i] = 0.0
        for a in range(count):
            z[i] += half[a, i] * f[a]
    for a in range(count):
        for i in range(n):
            u_free[a] += h * half[a, i] * z[i]
    solve_box(
        half, count, n, h, u_free, limit, compliance, f, z, matrix, box[9 + 3 * count], member
    )
    outcome = HELD
    change = 0.0
    for a in range(count):
        u = u_free[a]
        for i in range(n):
            u -= h * half[a, i] * z[i]
        if smooth:
            crept = abs(speed[a]) < FRICTION_VELOCITY
            creeps = abs(u) < FRICTION_VELOCITY
            if crept != creeps or (not creeps and u * speed[a] < 0.0):
                outcome = BY_LAW
        right[a] = f[a] - right[a]
        change = max(change, abs(right[a]) / limit[a])
        held[int(box[0, a])] = f[a]
    stuck = not smooth and blocked(limit, f, count, n)
    if outcome == HELD and after and change < 1e-14:
        moves = False
        for m in range(12, 18):
            moves = moves or motion[m] != 0.0
        if not (stuck and moves):
            return UNCHANGED
    first = 12 if after else 18
    apply_impulse(s, w, half, count, n, h if after else 1.0, right, z, motion, first)
    if stuck:
        scale = 1.0 if after else h
        still = True
        for m in range(6):
            still = still and scale * abs(motion[first + m]) < STILL
            still = still and (after or motion[12 + m] == 0.0)
        if still:
            for m in range(6):
                motion[first + m] = 0.0
            return HELD if after else REST
    return outcome


@kernel
def blocked(limit: Any, f: Any, count: int, n: int) -> bool:
    """Return whether as many joints stick as there are freedoms."""
    sticking = 0
    for a in range(count):
        if abs(f[a]) < limit[a]:
            sticking += 1
    return sticking >= n


@kernel
def apply_impulse(
    s: Any, w: Any, half: Any, count: int, n: int, h: float, change: Any, z: Any, motion: Any,
    offset: int,
) -> None:  # fmt: skip
    """Take S h A^-1 B^T change from six numbers of ``motion``; A's factor is in ``work``."""
    factor = w['A']
    for i in range(n):
        z[i] = 0.0
        for a in range(count):
            z[i] += half[a, i] * change[a]
    for i in range(n - 1, -1, -1):
        value = z[i]
        for k in range(i + 1, n):
            value -= factor[k, i] * z[k]
        z[i] = value / factor[i, i]
    for i in range(n):
        for m in range(6):
            motion[offset + m] -= h * w['S'][m, i] * z[i]
