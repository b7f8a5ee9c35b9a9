"""The same robot in Pinocchio: rnea + constraint Jacobian + solve, and constraintDynamics.

The tree is the robot's own URDF, its platform on a free joint. Joint positions, velocities and
accelerations come from the package's compiled inverse kinematics, which is fair to Pinocchio: it
has none of its own.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numba
import numpy as np
import pinocchio as pin

import parallel_dynamics as pd
from parallel_dynamics.kernels import batch

PLATFORM = 'free_platform'


def free_tree(robot: pd.Robot) -> str:
    """Return the robot's URDF with the platform's virtual chain as one floating joint."""
    root = ElementTree.parse(robot.model.urdf_path).getroot()
    base, platform = robot.model.bodies[0].name, robot.model.bodies[1].name
    above = {j.find('child').get('link'): j for j in root.findall('joint')}
    link = platform
    while link != base:
        joint = above[link]
        root.remove(joint)
        if link != platform:
            root.remove(next(k for k in root.findall('link') if k.get('name') == link))
        link = joint.find('parent').get('link')
    joint = ElementTree.SubElement(root, 'joint', name=PLATFORM, type='floating')
    ElementTree.SubElement(joint, 'parent', link=base)
    ElementTree.SubElement(joint, 'child', link=platform)
    return ElementTree.tostring(root, encoding='unicode')


@numba.njit(cache=True)
def fill_state(m, joints, order, places, columns, first_q, first_v, nq, nv):
    """Pinocchio's q, v and a from a packed motion (24,) and joints (1, 3 n) in packed order."""
    q, v, a = np.zeros(nq), np.zeros(nv), np.zeros(nv)
    n = len(order)
    for k in range(n):
        q[places[k]] = joints[0, order[k]]
        v[columns[k]] = joints[0, n + order[k]]
        a[columns[k]] = joints[0, 2 * n + order[k]]
    R = m[3:12].copy().reshape(3, 3)
    q[first_q : first_q + 3] = m[:3]
    # Shepperd's quaternion; the platform turns by less than half a turn.
    w = 0.5 * np.sqrt(max(0.0, 1.0 + R[0, 0] + R[1, 1] + R[2, 2]))
    q[first_q + 3] = 0.25 * (R[2, 1] - R[1, 2]) / w
    q[first_q + 4] = 0.25 * (R[0, 2] - R[2, 0]) / w
    q[first_q + 5] = 0.25 * (R[1, 0] - R[0, 1]) / w
    q[first_q + 6] = w
    spatial = m[18:21] - np.cross(m[15:18], m[12:15])
    v[first_v : first_v + 3], v[first_v + 3 : first_v + 6] = R.T @ m[12:15], R.T @ m[15:18]
    a[first_v : first_v + 3], a[first_v + 3 : first_v + 6] = R.T @ spatial, R.T @ m[21:24]
    return q, v, a


@numba.njit(cache=True)
def friction(rates, viscous, coulomb):
    """Friction of the joints, as the package has it."""
    return viscous * rates + coulomb * np.minimum(1.0, np.maximum(-1.0, rates / 1e-4))


@numba.njit(cache=True)
def solve_efforts(drives, K, tau, v, columns, viscous, coulomb):
    """Solve [drives, K^T] [efforts; multipliers] = tau; least squares where not square."""
    n = drives.shape[1]
    rows = K.shape[0]
    tau = tau.copy()
    tau[columns] += friction(v[columns], viscous, coulomb)
    system = np.zeros((drives.shape[0], n + rows))
    system[:, :n] = drives
    system[:, n:] = K.T
    if system.shape[0] == system.shape[1]:
        return np.linalg.solve(system, tau)[:n]
    return np.linalg.lstsq(system, tau, 1e-11)[0][:n]


class PinocchioPeer:
    """Inverse and direct dynamics of a robot whose closures are balls."""

    def __init__(self, robot: pd.Robot) -> None:
        self.robot = robot
        self.model = pin.buildModelFromXML(free_tree(robot))
        self.model.gravity.linear = np.array(robot.model.gravity)
        joints = robot.model.joints
        ids = [self.model.getJointId(name) for name in robot.joints]
        self.columns = np.array([self.model.joints[i].idx_v for i in ids])
        self.places = np.array([self.model.joints[i].idx_q for i in ids])
        free = self.model.joints[self.model.getJointId(PLATFORM)]
        self.platform_q, self.platform_v = free.idx_q, free.idx_v
        self.damping = np.array([joint.damping for joint in joints])
        self.friction = np.array([joint.friction for joint in joints])
        self.armature = np.array([joint.armature for joint in joints])
        armature = np.zeros(self.model.nv)
        armature[self.columns] = self.armature
        self.model.armature = armature
        self.data = self.model.createData()
        self.constraints = pin.StdVec_RigidConstraintModel()
        for closure in robot.model.closures:
            one, two = (self.model.frames[self.model.getFrameId(f.name)]
                        for f in (closure.first, closure.second))  # fmt: skip
            self.constraints.append(pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, self.model, one.parentJoint, one.placement,
                two.parentJoint, two.placement, pin.ReferenceFrame.LOCAL,
            ))  # fmt: skip
        self.constraint_data = pin.StdVec_RigidConstraintData()
        for constraint in self.constraints:
            self.constraint_data.append(constraint.createData())
        pin.initConstraintDynamics(
            self.model, self.data, self.constraints, self.constraint_data
        )
        self.settings = pin.ProximalSettings(1e-12, 1e-12, 2)
        n = robot.dof
        self.order = np.array(robot.engine.packed.order)
        self._joints = np.zeros((1, 3 * len(robot.joints)))
        self._drives = np.zeros((self.model.nv, n))
        self._drives[self.columns[list(robot.model.actuators)], range(n)] = 1.0

    def state(self, m: pd.PlatformMotion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pinocchio's q, v and a of one motion; all of it compiled."""
        self.robot.engine.evaluate(batch.ACCELERATIONS, m, self._joints)
        return fill_state(
            m.data, self._joints, self.order, self.places, self.columns, self.platform_q,
            self.platform_v, self.model.nq, self.model.nv,
        )  # fmt: skip

    def inverse(self, m: pd.PlatformMotion) -> np.ndarray:
        """Efforts (n,): leg kinematics, rnea, constraint Jacobian, least squares."""
        q, v, a = self.state(m)
        tau = pin.rnea(self.model, self.data, q, v, a)
        pin.computeJointJacobians(self.model, self.data, q)
        for model, data in zip(self.constraints, self.constraint_data):
            model.calc(self.model, self.data, data)
        K = pin.getConstraintsJacobian(
            self.model, self.data, self.constraints, self.constraint_data
        )
        return solve_efforts(
            self._drives, K, tau, v, self.columns, self.damping, self.friction
        )

    def prepare(self, m: pd.PlatformMotion, efforts: np.ndarray):
        """State and joint efforts for :meth:`direct`, outside of what is timed."""
        q, v, _ = self.state(m)
        tau = self._drives @ efforts
        tau[self.columns] -= friction(v[self.columns], self.damping, self.friction)
        return q, v, tau

    def direct(self, state) -> np.ndarray:
        """All joint accelerations by constraintDynamics; the state is given."""
        return pin.constraintDynamics(
            self.model, self.data, *state, self.constraints, self.constraint_data, self.settings
        )

    def platform_acceleration(self, m: pd.PlatformMotion, vdot: np.ndarray) -> np.ndarray:
        """Ordinary acceleration (6,) of the platform from Pinocchio's."""
        k, R = self.platform_v, m.rotation
        linear = R @ vdot[k : k + 3] + np.cross(m.angular_velocity, m.velocity)
        return np.concatenate([linear, R @ vdot[k + 3 : k + 6]])
