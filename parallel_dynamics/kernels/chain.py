"""Values and rates of the platform's virtual joints, by Newton's method from a guess."""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.kernels.compiler import entry, kernel
from parallel_dynamics.kernels.linear import solve_symmetric
from parallel_dynamics.kernels.rotation import turned
from parallel_dynamics.model import RobotModel

# One record per virtual joint, in chain order; a last one holds the platform on the last joint.
CHAIN_JOINT = np.dtype(
    [('turns', 'i8'), ('p', 'f8', 3), ('R', 'f8', (3, 3)), ('axis', 'f8', 3)], align=True
)
ITERATIONS = 20
CLOSE = 1e-9  # a last step below this leaves its square


def pack_chain(model: RobotModel) -> Any:
    """Return the chain of a model as the kernels read it."""
    chain = np.zeros(len(model.chain) + 1, CHAIN_JOINT)
    for record, joint in zip(chain, model.chain):
        record['turns'] = joint.kind != 'prismatic'
        record['p'], record['R'], record['axis'] = joint.position, joint.rotation, joint.axis
    chain[-1]['p'], chain[-1]['R'] = model.platform_position, model.platform_rotation
    return chain


@kernel
def place_chain(chain: Any, values: Any, frame: Any, next_frame: Any, jacobian: Any) -> None:
    """Write the platform's pose to ``frame`` and [origin; axis] of each joint to ``jacobian``.

    A frame holds position (3) and rotation (9); jacobian is (6, joints).
    """
    count = len(chain) - 1
    for m in range(12):
        frame[m] = 1.0 if m in (3, 7, 11) else 0.0
    for k in range(count + 1):
        joint = chain[k]
        for i in range(3):
            for m in range(3):
                frame[i] += frame[3 + 3 * i + m] * joint['p'][m]
                value = 0.0
                for q in range(3):
                    value += frame[3 + 3 * i + q] * joint['R'][q, m]
                next_frame[3 + 3 * i + m] = value
        for m in range(3, 12):
            frame[m] = next_frame[m]
        if k == count:
            return
        for i in range(3):
            value = 0.0
            for m in range(3):
                value += frame[3 + 3 * i + m] * joint['axis'][m]
            jacobian[i, k] = frame[i]
            jacobian[3 + i, k] = value
        x, y, z = jacobian[3, k], jacobian[4, k], jacobian[5, k]
        v = values[k]
        if joint['turns']:
            for m in range(12):
                next_frame[m] = frame[m]
            turned(v * x, v * y, v * z, next_frame, frame)
        else:
            frame[0] += v * x
            frame[1] += v * y
            frame[2] += v * z


@kernel
def velocities_of_chain(chain: Any, frame: Any, jacobian: Any) -> None:
    """Turn [origin; axis] of each joint into [velocity; angular velocity] at unit rate."""
    for k in range(len(chain) - 1):
        x, y, z = jacobian[3, k], jacobian[4, k], jacobian[5, k]
        rx, ry = frame[0] - jacobian[0, k], frame[1] - jacobian[1, k]
        rz = frame[2] - jacobian[2, k]
        if chain[k]['turns']:
            jacobian[0, k], jacobian[1, k], jacobian[2, k] = (
                y * rz - z * ry, z * rx - x * rz, x * ry - y * rx,
            )  # fmt: skip
        else:
            jacobian[0, k], jacobian[1, k], jacobian[2, k] = x, y, z
            jacobian[3, k], jacobian[4, k], jacobian[5, k] = 0.0, 0.0, 0.0


@kernel
def least_squares(jacobian: Any, count: int, error: Any, matrix: Any, x: Any) -> bool:
    """Solve jacobian x = error (6,) for ``count`` unknowns; False where columns are dependent."""
    for i in range(count):
        x[i] = 0.0
        for m in range(6):
            x[i] += jacobian[m, i] * error[m]
        for k in range(count):
            matrix[i, k] = 0.0
            for m in range(6):
                matrix[i, k] += jacobian[m, i] * jacobian[m, k]
    return solve_symmetric(matrix, x, count) > 1e-9


@entry
def solve_chain(chain: Any, motions: Any, values: Any, rates: Any, scratch: Any) -> float:
    """Solve for ``values`` (from the guess in them) and ``rates`` of a motion (1, 24).

    Returns what is left (m, rad), or -1 where the chain is singular or does not get there;
    scratch is (24, 12).
    """
    count = len(chain) - 1
    motion = motions[0]
    frame, other, error, step = scratch[0], scratch[1], scratch[2], scratch[3]
    jacobian, matrix = scratch[4:10], scratch[10:]
    for _ in range(ITERATIONS):
        place_chain(chain, values, frame, other, jacobian)
        velocities_of_chain(chain, frame, jacobian)
        left = 0.0
        trace = 0.0
        for i in range(3):
            error[i] = motion[i] - frame[i]
            error[3 + i] = 0.0
        # For a small error its rotation vector is half the skew part of R R_chain^T.
        for m in range(3):
            ax, ay, az = frame[3 + m], frame[6 + m], frame[9 + m]
            bx, by, bz = motion[3 + m], motion[6 + m], motion[9 + m]
            error[3] += 0.5 * (ay * bz - az * by)
            error[4] += 0.5 * (az * bx - ax * bz)
            error[5] += 0.5 * (ax * by - ay * bx)
            trace += ax * bx + ay * by + az * bz
        for i in range(6):
            left = max(left, abs(error[i]))
        if not least_squares(jacobian, count, error, matrix, step):
            return -1.0
        size = 0.0
        for k in range(count):
            values[k] += step[k]
            size = max(size, abs(step[k]))
        if size < CLOSE:
            if trace < 2.0:  # half a turn away the skew part is zero as well
                return -1.0
            for i in range(6):
                error[i] = motion[12 + i]
            least_squares(jacobian, count, error, matrix, rates)
            return left
    return -1.0
