"""The same robot in MuJoCo, from the exported MJCF, whose constraints are stiff.

MuJoCo's loops are soft even so: accelerations differ from the rigid answer by their softness.
Efforts do not, since the forces in the loops are solved for here: `mj_inverse` would take those
that its soft constraints have at the given state.
"""

from __future__ import annotations

import mujoco
import numpy as np
from pinocchio_peer import friction, solve_efforts
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd
from parallel_dynamics.description.conversion import export_robot


class MujocoPeer:
    """Inverse and direct dynamics of one robot whose closures are balls; joint state given."""

    def __init__(self, robot: pd.Robot) -> None:
        self.robot = robot
        (text,) = export_robot(robot.model.path, 'mjcf').files.values()
        self.model = mujoco.MjModel.from_xml_string(text)
        # Friction is applied as this package has it and limits are off: only the loops differ.
        self.model.dof_frictionloss[:] = 0.0
        self.model.dof_damping[:] = 0.0
        self.model.jnt_limited[:] = 0
        self.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        ids = [mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, n) for n in robot.joints]
        self.places, self.columns = self.model.jnt_qposadr[ids], self.model.jnt_dofadr[ids]
        free = int(np.flatnonzero(self.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)[0])
        self.platform_q = int(self.model.jnt_qposadr[free])
        self.platform_v = int(self.model.jnt_dofadr[free])
        joints = robot.model.joints
        self.damping = np.array([joint.damping for joint in joints])
        self.friction = np.array([joint.friction for joint in joints])
        self.drives = np.zeros((self.model.nv, robot.dof))
        actuated = self.columns[list(robot.model.actuators)]
        self.drives[actuated, range(robot.dof)] = 1.0
        self.equations = 3 * len(robot.closures)

    def prepare(
        self, m: pd.PlatformMotion, efforts: np.ndarray
    ) -> tuple[mujoco.MjData, np.ndarray]:
        """Set state, accelerations and efforts, outside of what is timed."""
        joints = self.robot.inverse_kinematics(m)
        data, i, k = mujoco.MjData(self.model), self.platform_q, self.platform_v
        data.qpos[self.places], data.qvel[self.columns] = joints.position, joints.velocity
        data.qpos[i : i + 3] = m.position
        data.qpos[i + 3 : i + 7] = Rotation.from_matrix(m.rotation).as_quat()[[3, 0, 1, 2]]
        data.qvel[k : k + 3] = m.velocity
        data.qvel[k + 3 : k + 6] = m.rotation.T @ m.angular_velocity
        applied = -friction(np.array(joints.velocity), self.damping, self.friction)
        applied[list(self.robot.model.actuators)] += efforts
        data.qfrc_applied[:] = 0.0
        data.qfrc_applied[self.columns] = applied
        data.qacc[self.columns] = joints.acceleration
        data.qacc[k : k + 3] = m.acceleration
        data.qacc[k + 3 : k + 6] = m.rotation.T @ m.angular_acceleration
        return data, data.qacc.copy()

    def inverse(self, state: tuple[mujoco.MjData, np.ndarray]) -> np.ndarray:
        """Efforts (n,): mj_inverse without its constraint forces, then [drives, J^T] solved."""
        data, wanted = state
        data.qacc[:] = wanted  # a forward call overwrites it
        mujoco.mj_inverse(self.model, data)
        K = data.efc_J.reshape(-1, self.model.nv)[: self.equations]
        tau = data.qfrc_inverse + data.qfrc_constraint
        return solve_efforts(
            self.drives, K, tau, data.qvel, self.columns, self.damping, self.friction
        )

    def direct(self, state: tuple[mujoco.MjData, np.ndarray]) -> np.ndarray:
        """All joint accelerations by mj_forward."""
        data, _ = state
        mujoco.mj_forward(self.model, data)
        return data.qacc

    def platform_acceleration(self, m: pd.PlatformMotion, qacc: np.ndarray) -> np.ndarray:
        """Ordinary acceleration (6,) of the platform from MuJoCo's."""
        k = self.platform_v
        return np.concatenate([qacc[k : k + 3], m.rotation @ qacc[k + 3 : k + 6]])
