"""The inverse dynamics of the 6-UPS in Pinocchio with all the help that it can get.

Leg kinematics and the last solve are compiled for this one robot by hand: what an expert would
write around ``rnea`` to be fast.
"""

from __future__ import annotations

import math

import numba
import numpy as np
import pinocchio as pin
from pinocchio_peer import PLATFORM, free_tree

import parallel_dynamics as pd

JOINTS = ('universal_1', 'universal_2', 'slide')


@numba.njit(cache=True, error_model='numpy', fastmath={'contract'})
def leg_kinematics(feet, frames, tips, lengths, columns, m, q, v, a):
    """Fill Pinocchio's q, v, a of six UPS legs and the platform from a packed motion."""
    p, w, al = m[0:3], m[15:18], m[21:24]
    for i in range(6):
        r = np.empty(3)
        for k in range(3):
            n = 3 + 3 * k
            r[k] = m[n] * tips[i, 0] + m[n + 1] * tips[i, 1] + m[n + 2] * tips[i, 2]
        u = np.array([w[1] * r[2] - w[2] * r[1], w[2] * r[0] - w[0] * r[2],
                      w[0] * r[1] - w[1] * r[0]])  # fmt: skip
        d, vt, at = np.empty(3), np.empty(3), np.empty(3)
        x = np.array([p[0] + r[0] - feet[i, 0], p[1] + r[1] - feet[i, 1],
                      p[2] + r[2] - feet[i, 2]])  # fmt: skip
        y = np.array([m[12] + u[0], m[13] + u[1], m[14] + u[2]])
        z = np.array([
            m[18] + al[1] * r[2] - al[2] * r[1] + w[1] * u[2] - w[2] * u[1],
            m[19] + al[2] * r[0] - al[0] * r[2] + w[2] * u[0] - w[0] * u[2],
            m[20] + al[0] * r[1] - al[1] * r[0] + w[0] * u[1] - w[1] * u[0]])
        f = frames[i]
        for k in range(3):
            d[k] = f[0, k] * x[0] + f[1, k] * x[1] + f[2, k] * x[2]
            vt[k] = f[0, k] * y[0] + f[1, k] * y[1] + f[2, k] * y[2]
            at[k] = f[0, k] * z[0] + f[1, k] * z[1] + f[2, k] * z[2]
        size = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        s2 = d[0] / size
        c2 = math.sqrt(1.0 - s2 * s2)
        s1, c1 = -d[1] / (size * c2), d[2] / (size * c2)
        # Into the leg's own axes: (Rx Ry)^T.
        vy, vz = c1 * vt[1] + s1 * vt[2], c1 * vt[2] - s1 * vt[1]
        ay, az = c1 * at[1] + s1 * at[2], c1 * at[2] - s1 * at[1]
        vx, vz = c2 * vt[0] - s2 * vz, s2 * vt[0] + c2 * vz
        ax, az = c2 * at[0] - s2 * az, s2 * at[0] + c2 * az
        q2d, q1d = vx / size, -vy / (size * c2)
        wx, wy, wz = q1d * c2, q2d, q1d * s2
        c = columns[i]
        q[c[0, 0]], q[c[1, 0]] = math.atan2(s1, c1), math.atan2(s2, c2)
        q[c[2, 0]] = size - lengths[i]
        v[c[0, 1]], v[c[1, 1]], v[c[2, 1]] = q1d, q2d, vz
        a[c[2, 1]] = az + size * (wx * wx + wy * wy)
        a[c[1, 1]] = (ax - wx * wz * size - 2.0 * vz * wy) / size
        wxd = -(ay - wy * wz * size + 2.0 * vz * wx) / size
        a[c[0, 1]] = (wxd + q1d * q2d * s2) / c2


@numba.njit(cache=True, error_model='numpy', fastmath={'contract'})
def solve_efforts(
    J, tau, v, a, losses, columns, platform, tips, m, work, out
):
    """Efforts from rnea's tau and Pinocchio's joint Jacobians: balls out leg by leg, then 6 x 6.

    With leg i: J_i^T f_i + e Gamma_i = tau_i; platform: F_p + sum [1, r~]^T f_i = 0.
    """
    for k in range(6):
        out[k] = 0.0
    R = m[3:12].reshape(3, 3)
    force = np.zeros(6)  # of rnea on the platform, base axes
    for k in range(3):
        for j in range(3):
            force[k] += R[k, j] * tau[platform + j]
            force[3 + k] += R[k, j] * tau[platform + 3 + j]
    for i in range(6):
        c = columns[i]
        rx = R[0, 0] * tips[i, 0] + R[0, 1] * tips[i, 1] + R[0, 2] * tips[i, 2]
        ry = R[1, 0] * tips[i, 0] + R[1, 1] * tips[i, 1] + R[1, 2] * tips[i, 2]
        rz = R[2, 0] * tips[i, 0] + R[2, 1] * tips[i, 1] + R[2, 2] * tips[i, 2]
        x, y, z = m[0] + rx, m[1] + ry, m[2] + rz
        t = np.empty((3, 3))
        for k in range(3):
            n = c[k, 1]
            t[0, k] = J[0, n] + J[4, n] * z - J[5, n] * y
            t[1, k] = J[1, n] + J[5, n] * x - J[3, n] * z
            t[2, k] = J[2, n] + J[3, n] * y - J[4, n] * x
        inverse = np.empty((3, 3))
        for k in range(3):
            b, e = (k + 1) % 3, (k + 2) % 3
            for j in range(3):
                g, h = (j + 1) % 3, (j + 2) % 3
                inverse[k, j] = t[g, b] * t[h, e] - t[h, b] * t[g, e]
        volume = t[0, 0] * inverse[0, 0] + t[1, 0] * inverse[0, 1] + t[2, 0] * inverse[0, 2]
        own = np.empty(3)
        for k in range(3):
            n = c[k, 1]
            sign = 1.0 if v[n] > 0.0 else -1.0
            own[k] = tau[n] + losses[n, 0] * v[n] + losses[n, 1] * sign + losses[n, 2] * a[n]
        out[i] += own[2]
        # Passive share: f = sum_k own_k row_k; actuated: one column of the 6 x 6 system.
        fx = (inverse[0, 0] * own[0] + inverse[1, 0] * own[1]) / volume
        fy = (inverse[0, 1] * own[0] + inverse[1, 1] * own[1]) / volume
        fz = (inverse[0, 2] * own[0] + inverse[1, 2] * own[1]) / volume
        force[0] += fx
        force[1] += fy
        force[2] += fz
        force[3] += ry * fz - rz * fy
        force[4] += rz * fx - rx * fz
        force[5] += rx * fy - ry * fx
        ex, ey, ez = inverse[2, 0] / volume, inverse[2, 1] / volume, inverse[2, 2] / volume
        work[0, i], work[1, i], work[2, i] = ex, ey, ez
        work[3, i], work[4, i] = ry * ez - rz * ey, rz * ex - rx * ez
        work[5, i] = rx * ey - ry * ex
    out += np.linalg.solve(work, force)


class UpsPeer:
    """The shipped 6-UPS in Pinocchio: leg kinematics and the last solve written for it alone."""

    def __init__(self, robot: pd.Robot) -> None:
        self.model = pin.buildModelFromXML(free_tree(robot))
        self.model.gravity.linear = np.array(robot.model.gravity)
        self.data = self.model.createData()
        model = self.model
        self.platform = model.joints[model.getJointId(PLATFORM)]
        ids = [[model.getJointId(f'leg{i}_{n}') for n in JOINTS] for i in range(1, 7)]
        self.columns = np.array([[[model.joints[j].idx_q, model.joints[j].idx_v] for j in leg]
                                 for leg in ids])  # fmt: skip
        pin.framesForwardKinematics(model, self.data, pin.neutral(model))
        placed = [[self.data.oMi[j].copy() for j in leg] for leg in ids]
        self.feet = np.array([leg[0].translation for leg in placed])
        self.frames = np.array([leg[0].rotation for leg in placed])
        self.tips, self.lengths = np.zeros((6, 3)), np.zeros(6)
        for i, closure in enumerate(robot.model.closures):
            first, second = (model.frames[model.getFrameId(f.name)]
                             for f in (closure.first, closure.second))  # fmt: skip
            self.tips[i] = second.placement.translation
            tip = self.data.oMi[ids[i][2]] * first.placement.translation
            self.lengths[i] = np.linalg.norm(tip - self.feet[i])
        self.losses = np.zeros((model.nv, 3))
        for joint in robot.model.joints:
            row = self.losses[model.joints[model.getJointId(joint.name)].idx_v]
            row[:] = joint.damping, joint.friction, joint.armature
        self.model.armature = self.losses[:, 2].copy()
        self.q, self.v, self.a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        self.work, self.out = np.zeros((6, 6)), np.zeros(6)
        self.without_armature = self.losses.copy()
        self.without_armature[:, 2] = 0.0  # rnea adds the model's own

    def kinematics(self, m: pd.PlatformMotion) -> None:
        """Joint positions, velocities and accelerations of tree and platform."""
        q, v, a, data = self.q, self.v, self.a, m.data
        leg_kinematics(
            self.feet, self.frames, self.tips, self.lengths, self.columns, data, q, v, a)
        i, n = self.platform.idx_q, self.platform.idx_v
        R = m.rotation
        q[i : i + 3] = data[:3]
        q[i + 3 : i + 7] = pin.Quaternion(R).coeffs()
        vl, w = R.T @ data[12:15], R.T @ data[15:18]
        v[n : n + 3], v[n + 3 : n + 6] = vl, w
        a[n : n + 3], a[n + 3 : n + 6] = R.T @ data[18:21], R.T @ data[21:24]
        a[n] -= w[1] * vl[2] - w[2] * vl[1]
        a[n + 1] -= w[2] * vl[0] - w[0] * vl[2]
        a[n + 2] -= w[0] * vl[1] - w[1] * vl[0]

    def inverse(self, m: pd.PlatformMotion) -> np.ndarray:
        """Compiled leg kinematics, rnea, Jacobians, compiled solve."""
        self.kinematics(m)
        tau = pin.rnea(self.model, self.data, self.q, self.v, self.a)
        J = pin.computeJointJacobians(self.model, self.data, self.q)
        solve_efforts(
            J, tau, self.v, self.a, self.without_armature, self.columns, self.platform.idx_v,
            self.tips, m.data, self.work, self.out)
        return self.out.copy()
