"""The same models in plain NumPy, all joints and bodies at once.

Screws of joints, velocities and wrenches of bodies are about the base's origin in base axes,
[linear; angular], so that sums along the legs are products with one matrix of zeros and ones:
what a good engineer writes in a day for any robot whose closures are balls and whose legs hang
on the base. Joint positions are given.
"""

from __future__ import annotations

import numpy as np

import parallel_dynamics as pd

NEXT = np.array([1, 2, 0])
ONES = np.eye(3)
SKEW = np.zeros((3, 9))
"""v @ SKEW is the matrix of v x, row by row."""
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    SKEW[_i, 3 * _k + _j], SKEW[_i, 3 * _j + _k] = 1.0, -1.0


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rows of a x b; NumPy's own is several times slower."""
    return (a * b[..., NEXT] - a[..., NEXT] * b)[..., NEXT]


def skew(v: np.ndarray) -> np.ndarray:
    """Matrices (..., 3, 3) of v x."""
    return (v @ SKEW).reshape(*v.shape, 3)


def times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Products of matrices (n, 3, 3) and vectors (n, 3), one by one."""
    return (matrices @ vectors[:, :, None])[:, :, 0]


class NumpyPeer:
    """Inverse and direct dynamics of one robot without mimic joints."""

    def __init__(self, robot: pd.Robot) -> None:
        self.robot, model = robot, robot.model
        joints, bodies = model.joints, model.bodies
        self.n, self.drives = len(joints), list(model.actuators)
        self.gravity = np.array(model.gravity)
        self.rotation = np.array([joint.rotation for joint in joints])
        self.position = np.array([joint.position for joint in joints])
        self.axis = np.array([joint.axis for joint in joints])
        self.turns = np.array([joint.kind == 'revolute' for joint in joints], float)
        self.axis_skew = skew(self.axis)
        self.axis_square = self.axis_skew @ self.axis_skew
        self.damping = np.array([joint.damping for joint in joints])
        self.friction = np.array([joint.friction for joint in joints])
        self.armature = np.array([joint.armature for joint in joints])
        self.parent = np.array([joint.parent for joint in joints])
        depth = np.zeros(len(bodies), int)
        self.carries = np.zeros((len(bodies), self.n))  # body above joint
        for j in sorted(range(self.n), key=lambda j: self._depth(joints, j)):
            depth[j + 2] = depth[joints[j].parent] + 1
            self.carries[j + 2] = self.carries[joints[j].parent]
            self.carries[j + 2, j] = 1.0
        self.levels = [np.flatnonzero(depth[2:] == d) for d in range(1, depth.max() + 1)]
        self.mass = np.array([body.inertia.mass for body in bodies])[:, None]
        self.mass[0] = 0.0  # the base rests
        self.com = np.array([body.inertia.com for body in bodies])
        self.tensor = np.array([body.inertia.tensor for body in bodies])
        self.tensor[0] = 0.0
        closures = [sorted((c.first, c.second), key=lambda f: f.body == 1) for c in model.closures]
        self.tip_body = np.array([leg.body for leg, _ in closures])
        self.tip = np.array([leg.position for leg, _ in closures])
        self.head = np.array([platform.position for _, platform in closures])
        self.on_tip = self.carries[self.tip_body][:, None, :]
        self.rows = 3 * len(closures)

    @staticmethod
    def _depth(joints, j: int) -> int:
        parent = joints[j].parent
        return 0 if parent < 2 else 1 + NumpyPeer._depth(joints, parent - 2)

    # ------------------------------------------------------------ kinematics

    def _pose(self, m: pd.PlatformMotion, q: np.ndarray) -> None:
        """Rotations, origins, joint screws and closure rows K_q, K_p at a pose."""
        angle = (q * self.turns)[:, None, None]
        turn = ONES + np.sin(angle) * self.axis_skew + (1.0 - np.cos(angle)) * self.axis_square
        local = self.rotation @ turn
        slide = self.position + times(self.rotation, self.axis) * (q * (1 - self.turns))[:, None]
        R = np.zeros((self.n + 2, 3, 3))
        p = np.zeros((self.n + 2, 3))
        R[0], R[1], p[1] = ONES, m.rotation, m.position
        for level in self.levels:
            above = R[self.parent[level]]
            R[level + 2] = above @ local[level]
            p[level + 2] = p[self.parent[level]] + times(above, slide[level])
        self.R, self.p = R, p
        z, turns = times(R[2:], self.axis), self.turns[:, None]
        self.screws = np.concatenate([turns * cross(p[2:], z) + (1 - turns) * z, turns * z], 1)
        x = p[self.tip_body] + times(R[self.tip_body], self.tip)
        self.x = x
        reach = -skew(x)
        velocity = self.screws[:, :3].T + reach @ self.screws[:, 3:].T  # (closures, 3, n)
        self.K_q = (velocity * self.on_tip).reshape(self.rows, self.n)
        K_p = np.empty((len(x), 3, 6))
        K_p[:, :, :3], K_p[:, :, 3:] = -ONES, skew(x - m.position)
        self.K_p = K_p.reshape(self.rows, 6)
        if self.rows == self.n:
            self.solver = np.linalg.inv(self.K_q)
        else:
            self.solver = np.linalg.solve(self.K_q.T @ self.K_q, self.K_q.T)
        self.G = -self.solver @ self.K_p

    def _move(self, m: pd.PlatformMotion) -> None:
        """Velocities of the bodies, the screws' share of accelerations, and closure drift."""
        twist = m.twist
        v, w = twist[:3], twist[3:]
        self.rates = self.G @ twist
        V = self.carries @ (self.screws * self.rates[:, None])
        V[1, :3], V[1, 3:] = v - cross(w, m.position), w
        self.V = V
        above = V[self.parent]
        turned = cross(above[:, None, 3:], self.screws.reshape(-1, 2, 3)).reshape(-1, 6)
        turned[:, :3] += cross(above[:, :3], self.screws[:, 3:])
        self.turning = turned * self.rates[:, None]
        self.steady = self.carries @ self.turning
        tip = self._points(self.steady[self.tip_body], V[self.tip_body], self.x)
        arm = self.x - m.position
        self.drift = (tip - cross(w, cross(w, arm))).ravel()

    @staticmethod
    def _points(rate: np.ndarray, V: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Accelerations of points x of bodies with these spatial velocities and their rates."""
        w = V[:, 3:]
        return rate[:, :3] + cross(rate[:, 3:], x) + cross(w, V[:, :3] + cross(w, x))

    def _platform(self) -> tuple[np.ndarray, np.ndarray]:
        """S and s of V_p' = S V_r' + s: what the closures leave free."""
        if self.robot.dof == 6:
            return np.eye(6), np.zeros(6)
        bound = self.K_p + self.K_q @ self.G
        left = self.drift - self.K_q @ (self.solver @ self.drift)
        u, sigma, vt = np.linalg.svd(bound, full_matrices=False)
        k = 6 - self.robot.dof
        return vt[k:].T, -vt[:k].T @ ((u[:, :k].T @ left) / sigma[:k])

    # ------------------------------------------------------------ dynamics

    def _force(self, m: pd.PlatformMotion, twist_rate: np.ndarray) -> np.ndarray:
        """F_p + G^T H: all bodies' forces as one on the platform."""
        qdd = self.G @ twist_rate - self.solver @ self.drift
        rate = self.steady + self.carries @ (self.screws * qdd[:, None])
        a, al, w, p = twist_rate[:3], twist_rate[3:], m.angular_velocity, m.position
        rate[1, :3], rate[1, 3:] = a - cross(al, p) - cross(w, m.velocity), al
        force = self.mass * (self._points(rate, self.V, self.c) - self.gravity)
        spin = self.V[:, 3:]
        moment = times(self.world, rate[:, 3:]) + cross(spin, times(self.world, spin))
        wrench = np.concatenate([force, moment + cross(self.c, force)], 1)
        H = (self.screws * (self.carries.T @ wrench)).sum(1)
        H += self.damping * self.rates + self.armature * qdd
        H += self.friction * np.minimum(1.0, np.maximum(-1.0, self.rates / 1e-4))
        total = self.G.T @ H + wrench[1]
        total[3:] -= cross(p, wrench[1, :3])
        return total

    def _prepare(self, m: pd.PlatformMotion, q: np.ndarray) -> None:
        self._pose(m, q)
        self._move(m)
        self.c = self.p + times(self.R, self.com)
        self.world = self.R @ self.tensor @ self.R.transpose(0, 2, 1)

    def inverse(self, m: pd.PlatformMotion, q: np.ndarray) -> np.ndarray:
        """Actuator efforts (n,)."""
        self._prepare(m, q)
        S, _ = self._platform()
        return np.linalg.solve((self.G[self.drives] @ S).T, S.T @ self._force(m, m.twist_rate))

    def direct(self, m: pd.PlatformMotion, q: np.ndarray, efforts: np.ndarray) -> np.ndarray:
        """Platform acceleration (6,)."""
        self._prepare(m, q)
        S, s = self._platform()
        B = self.G @ S
        k = S.shape[1]
        Y = self.carries @ (self.screws[:, :, None] * B[:, None, :]).reshape(self.n, 6 * k)
        Y = Y.reshape(-1, 6, k)
        Y[1, :3], Y[1, 3:] = S[:3] + skew(m.position) @ S[3:], S[3:]
        linear = Y[:, :3] - skew(self.c) @ Y[:, 3:]  # of the centres of mass
        A = (linear.transpose(0, 2, 1) @ (self.mass[:, :, None] * linear)).sum(0)
        A += (Y[:, 3:].transpose(0, 2, 1) @ (self.world @ Y[:, 3:])).sum(0)
        A += B.T @ (self.armature[:, None] * B)
        right = B[self.drives].T @ efforts - S.T @ self._force(m, s)
        return S @ np.linalg.solve(A, right) + s
