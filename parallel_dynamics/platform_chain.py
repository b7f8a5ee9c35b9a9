"""The virtual joints that carry the platform in the URDF: their values for a pose, and back.

They are bookkeeping for ``robot_state_publisher`` and RViz; no dynamics depends on them.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.errors import UnreachableError
from parallel_dynamics.model import RobotModel
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.spatial import Array


def chain_pose(model: RobotModel, values: Array) -> tuple[Array, Array, Array]:
    """Return position (3,), rotation (3, 3) and Jacobian (6, k) of the platform for joint values.

    The Jacobian maps the virtual joints' rates to [velocity; angular velocity], base axes.
    """
    position, rotation = np.zeros(3), np.eye(3)
    origins, axes = [], []
    for joint, value in zip(model.chain, values):
        position = position + rotation @ joint.position
        rotation = rotation @ joint.rotation
        axis = rotation @ joint.axis
        origins.append(position)
        axes.append(axis)
        if joint.kind == 'prismatic':
            position = position + axis * value
        else:
            rotation = Rotation.from_rotvec(axis * value).as_matrix() @ rotation
    position = position + rotation @ model.platform_position
    rotation = rotation @ model.platform_rotation
    jacobian = np.zeros((6, len(model.chain)))
    for k, (joint, origin, axis) in enumerate(zip(model.chain, origins, axes)):
        if joint.kind == 'prismatic':
            jacobian[:3, k] = axis
        else:
            jacobian[:3, k] = np.cross(axis, position - origin)
            jacobian[3:, k] = axis
    return position, rotation, jacobian


def chain_coordinates(
    model: RobotModel, motion: PlatformMotion, guess: Array | None = None
) -> tuple[Array, Array]:
    """Return positions and velocities (k,) of the virtual joints for one platform motion.

    Newton's method from ``guess`` (zero by default); raises UnreachableError where the chain
    cannot take the pose.
    """
    values = np.zeros(len(model.chain)) if guess is None else np.array(guess, float)
    turning = np.array([joint.kind != 'prismatic' for joint in model.chain])
    for _ in range(50):
        position, rotation, jacobian = chain_pose(model, values)
        error = np.concatenate(
            [
                motion.position - position,
                Rotation.from_matrix(motion.rotation @ rotation.T).as_rotvec(),
            ]
        )
        step = np.linalg.lstsq(jacobian, error, rcond=1e-12)[0] if len(values) else values
        largest = np.abs(step[turning]).max(initial=0.0)
        values = values + step * min(1.0, 0.5 / max(largest, 1e-300))
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    residual = float(np.abs(error).max()) if len(values) else 0.0
    if residual > 1e-6:
        raise UnreachableError(
            f'the virtual joints of {model.name} cannot take the pose at position '
            f'{np.round(motion.position, 4).tolist()} m: {residual:.3g} is left (m or rad; '
            'expected below 1e-6)',
            residual=residual,
        )
    jacobian = chain_pose(model, values)[2]
    rates = np.linalg.lstsq(jacobian, motion.twist, rcond=1e-12)[0]
    return np.asarray(values, dtype=np.float64), np.asarray(rates, dtype=np.float64)
