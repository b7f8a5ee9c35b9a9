"""Where all bodies are over a batch of motions, for reductions that need more than wrenches."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array


def body_poses(robot: Robot, m: PlatformMotion) -> tuple[Array, Array]:
    """Rotations (N, bodies, 3, 3) base <- link and origins (N, bodies, 3), m, of all bodies.

    Body 0 is the base, 1 the platform, and ``2 + j`` the child of joint ``j``; N is 1 for a
    single motion.
    """
    q = np.atleast_2d(robot.inverse_kinematics(m).position)
    model = robot.model
    rotations = np.tile(np.eye(3), (len(q), len(model.bodies), 1, 1))
    origins = np.zeros((len(q), len(model.bodies), 3))
    rotations[:, PLATFORM] = m.rotation
    origins[:, PLATFORM] = m.position
    done = {0, PLATFORM}
    waiting = list(range(len(model.joints)))
    while waiting:
        j = next(k for k in waiting if model.joints[k].parent in done)
        waiting.remove(j)
        done.add(j + FIRST_LEG_BODY)
        joint, body = model.joints[j], j + FIRST_LEG_BODY
        turn = rotations[:, joint.parent]
        origins[:, body] = origins[:, joint.parent] + turn @ joint.position
        rotations[:, body] = turn @ joint.rotation
        if joint.kind == 'prismatic':
            origins[:, body] += q[:, j, None] * (rotations[:, body] @ joint.axis)
        else:
            spin = Rotation.from_rotvec(q[:, j, None] * joint.axis).as_matrix()
            rotations[:, body] = rotations[:, body] @ spin
    return rotations, origins
