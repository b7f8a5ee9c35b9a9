"""Coulomb friction at the level of velocities: which joints stick, and with which effort.

Over a step h, friction efforts f_j within +-F_j change the velocity to
V = V_free - h A^-1 B^T f, where B maps V_r to the speeds u of the joints with friction. Of all
admissible f those dissipate most that have f_j = F_j sign(u_j) where a joint slides, and keep
u_j = 0 where |f_j| < F_j: a convex problem with box constraints. With a compliance
r_j = eps / F_j it becomes f_j = F_j sat(u_j / eps), the law of the inverse model, taken
implicitly. Solved by projected Gauss-Seidel, which finds out who sticks, and a direct solution
for those who do.
"""

from __future__ import annotations

from typing import Any

from parallel_dynamics.kernels.compiler import kernel
from parallel_dynamics.kernels.linear import solve_symmetric

SWEEPS = 60
ROUNDS = 4


@kernel
def joint_directions(
    system: Any, joints: Any, coordinates: Any, work: Any, physics: Any, index: Any, b: Any
) -> int:
    """Write the rows of B (m, n) and which joint each belongs to; return m."""
    dof = system['dof']
    count = 0
    for j in range(system['joints']):
        if physics[j]['friction'] == 0.0:
            continue
        ratio = joints[j]['ratio']
        g = coordinates[joints[j]['coordinate']]['G']
        for k in range(dof):
            value = 0.0
            for m in range(6):
                value += g[m] * work['S'][m, k]
            b[count, k] = ratio * value
        index[count] = j
        count += 1
    return count


@kernel
def half_inverse(factor: Any, b: Any, count: int, n: int, w: Any) -> None:
    """Write W (m, n) with rows L^-1 B_j^T, for A = L L^T: then B A^-1 B^T = W W^T."""
    for j in range(count):
        for i in range(n):
            value = b[j, i]
            for k in range(i):
                value -= factor[i, k] * w[j, k]
            w[j, i] = value / factor[i, i]


@kernel
def solve_box(
    w: Any, count: int, n: int, h: float, u_free: Any, limit: Any, compliance: Any, f: Any,
    z: Any, matrix: Any, right: Any, member: Any,
) -> None:  # fmt: skip
    """Find f (m,), from the guess in it: |f_j| <= limit_j, and interior where u_j = r_j f_j.

    ``u_free`` (m,) are the joint speeds without friction. z (n,), matrix (m, m), right (m,) and
    member (m,) are scratch.
    """
    for i in range(n):
        z[i] = 0.0
    for j in range(count):
        f[j] = min(limit[j], max(-limit[j], f[j]))
        for i in range(n):
            z[i] += w[j, i] * f[j]
    for _ in range(ROUNDS):
        for _sweep in range(SWEEPS):
            worst = 0.0
            for j in range(count):
                own = compliance[j]
                u = u_free[j] - compliance[j] * f[j]
                for i in range(n):
                    own += h * w[j, i] * w[j, i]
                    u -= h * w[j, i] * z[i]
                if own <= 0.0:
                    continue
                new = min(limit[j], max(-limit[j], f[j] + u / own))
                change = new - f[j]
                if change != 0.0:
                    f[j] = new
                    for i in range(n):
                        z[i] += w[j, i] * change
                    worst = max(worst, abs(change) / limit[j])
            if worst < 1e-9:
                break
        if polish(w, count, n, h, u_free, limit, compliance, f, z, matrix, right, member):
            return


@kernel
def polish(
    w: Any, count: int, n: int, h: float, u_free: Any, limit: Any, compliance: Any, f: Any,
    z: Any, matrix: Any, right: Any, member: Any,
) -> bool:  # fmt: skip
    """Solve for those inside their limits exactly; return whether they stay inside."""
    size = 0
    for j in range(count):
        if abs(f[j]) < limit[j]:
            member[size] = j
            size += 1
    for i in range(n):
        z[i] = 0.0
    for j in range(count):
        if abs(f[j]) >= limit[j]:
            for i in range(n):
                z[i] += w[j, i] * f[j]
    trace = 0.0
    for a in range(size):
        j = int(member[a])
        right[a] = u_free[j]
        for i in range(n):
            right[a] -= h * w[j, i] * z[i]
        for c in range(size):
            k = int(member[c])
            value = 0.0
            for i in range(n):
                value += h * w[j, i] * w[k, i]
            matrix[a, c] = value
        matrix[a, a] += compliance[j]
        trace += matrix[a, a]
    for a in range(size):
        matrix[a, a] += 1e-13 * trace  # more sticking joints than freedoms: share the load
    inside = solve_symmetric(matrix, right, size) > 0.0
    for a in range(size):
        j = int(member[a])
        if inside and not abs(right[a]) <= limit[j]:
            inside = False
    for a in range(size):
        j = int(member[a])
        if inside:
            f[j] = right[a]
        for i in range(n):
            z[i] += w[j, i] * f[j]
    return inside
