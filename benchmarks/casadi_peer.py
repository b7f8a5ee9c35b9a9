"""The near-limit: straight-line C generated for one robot by CasADi, compiled by the C compiler.

The formulation is the engine's, written to cost little: legs in closed form, recursions in the
links' own axes, closures in those of the leg's last link, systems solved in an order of pivots
that is fixed beforehand, whatever is constant folded and whatever is common shared. It does the
same job, joint positions included, and checks nothing.
"""

from __future__ import annotations

import casadi as ca
from elimination import Elimination, solve_symmetric
from generated_c import Library
from generated_legs import LegPlacer, tidy
import numpy as np
import scipy.linalg

import parallel_dynamics as pd

SMOOTH = 1e-4
"""Speed (rad/s, m/s) up to which Coulomb friction grows, as in the package."""
NOTHING = 1e-9
"""What varies by less over all samples is taken for a constant."""


def turn(axis: np.ndarray, c, s) -> ca.SX:
    """Rotation matrix about a constant axis; the entries of a principal one are single terms."""
    R = ca.SX.eye(3)
    place = int(np.argmax(np.abs(axis)))
    if abs(axis[place]) > 1.0 - 1e-14:
        i, j = (place + 1) % 3, (place + 2) % 3
        s = s if axis[place] > 0.0 else -s
        R[i, i] = R[j, j] = c
        R[i, j], R[j, i] = -s, s
        return R
    k = ca.skew(tidy(axis))
    return R + s * k + (1 - c) * (k @ k)


def rate_matrix(w: ca.SX, al: ca.SX) -> ca.SX:
    """U = al~ + w~ w~, with which U r is the acceleration of a point at r."""
    x, y, z = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, yz, xz = w[0] * w[1], w[1] * w[2], w[0] * w[2]
    return ca.vertcat(
        ca.horzcat(-(y + z), xy - al[2], xz + al[1]),
        ca.horzcat(xy + al[2], -(x + z), yz - al[0]),
        ca.horzcat(xz - al[1], yz + al[0], -(x + y)),
    )


def load(inertia, a: ca.SX, U: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Force and moment about its origin that move a body, own axes.

    With the pseudo-inertia P = int r r^T dm the moment is int r x U r dm, twice the
    antisymmetric part of U P.
    """
    moment = tidy(inertia.mass * inertia.com)
    tensor = inertia.about_origin()
    P = U @ tidy(0.5 * np.trace(tensor) * np.eye(3) - tensor)
    spin = ca.vertcat(P[2, 1] - P[1, 2], P[0, 2] - P[2, 0], P[1, 0] - P[0, 1])
    return inertia.mass * a + U @ moment, spin + ca.cross(moment, a)


class CasadiPeer:
    """Inverse and direct dynamics of a robot whose legs have a closed form, as generated C."""

    def __init__(self, robot: pd.Robot, samples: pd.PlatformMotion) -> None:
        self.robot, self.model = robot, robot.model
        self._sample(samples)
        self._structure(samples)
        self.cs: dict[int, tuple] = {}
        placer = LegPlacer(self.model.joints, self._value, self.joints)
        for leg, joints in self.legs:
            tips = [(frame, self._target(other)) for frame, other in self._tips(leg)]
            self.cs |= placer.place(joints, tips)
        inverse, direct = self._models()
        inputs, names = [self.free, self.efforts], ['m', 'u']
        options = {'cse': True}
        self.functions = {
            'inverse': ca.Function('inverse', inputs, [inverse], names, ['out'], options),
            'direct': ca.Function('direct', inputs, [direct], names, ['out'], options),
        }
        self.library = Library(self.functions)
        self.operations = self.library.operations

    # ------------------------------------------------------------ structure, decided by numbers

    def _sample(self, samples: pd.PlatformMotion) -> None:
        """Symbols for the motion; what never varies (a Delta's rotation) is a constant."""
        self.free = ca.SX.sym('m', 24)
        self.efforts = ca.SX.sym('u', self.robot.dof)
        rows = samples.rows
        fixed = np.ptp(rows, axis=0) < NOTHING
        constants = tidy(np.where(np.abs(rows[0]) < NOTHING, 0.0, rows[0]))
        self.motion = ca.vertcat(*(constants[k] if fixed[k] else self.free[k] for k in range(24)))
        self.first = samples[0]
        self.joints = self.robot.inverse_kinematics(samples).position
        R = ca.reshape(self.motion[3:12], 3, 3).T
        self.R, self.p = R, self.motion[0:3]

    def _values(self, expression: ca.SX) -> np.ndarray:
        """Numbers of an expression at the first sample."""
        at = ca.Function('at', [self.free], [expression])
        return np.array(at(self.first.data))

    def _value(self, expression: ca.SX) -> float:
        return float(self._values(expression)[0, 0])

    def _structure(self, samples: pd.PlatformMotion) -> None:
        """Find what the platform is free to do."""
        robot = self.robot
        self.independent = list(robot.engine.independent)
        self.dependent = [k for k in range(6) if k not in self.independent]
        self.legs = [(leg, sorted(leg.joints)) for leg in self.model.legs]
        # Components that follow from the others as constants do: a Delta never turns.
        found = robot.jacobians(samples).S
        self.constant_S = None
        if np.ptp(found, axis=0).max() < NOTHING:
            self.constant_S = tidy(np.where(np.abs(found[0]) < NOTHING, 0.0, found[0]))

    def _tips(self, leg):
        """Frames of a leg's closures: on the leg, and on the platform."""
        for c in leg.closures:
            pair = self.model.closures[c].first, self.model.closures[c].second
            yield pair if pair[1].body == 1 else pair[::-1]

    def _target(self, frame) -> ca.SX:
        return self.p + self.R @ tidy(frame.position)

    # ------------------------------------------------------------ recursions, own axes

    def _path(self, body: int) -> list[int]:
        """Joints from the base to a body."""
        joints = []
        while body >= 2:
            joints.append(body - 2)
            body = self.model.joints[body - 2].parent
        return joints[::-1]

    def _turn(self, j: int) -> ca.SX:
        """Rotation of joint j without the constant part in front of it."""
        joint = self.model.joints[j]
        c, s, _ = self.cs[j]
        return ca.SX.eye(3) if joint.kind == 'prismatic' else turn(joint.axis, c, s)

    def _into(self, j: int, vector: ca.SX) -> ca.SX:
        """A vector of the parent's axes in those of the body behind joint j."""
        return self._turn(j).T @ (tidy(self.model.joints[j].rotation).T @ vector)

    def _back(self, j: int, vector: ca.SX) -> ca.SX:
        return tidy(self.model.joints[j].rotation) @ (self._turn(j) @ vector)

    def _arm(self, j: int) -> ca.SX:
        joint = self.model.joints[j]
        slide = self.cs[j][2]
        return tidy(joint.position) + tidy(joint.rotation @ joint.axis) * slide

    def _accelerate(self, joints, rates, accelerations, gravity: bool = True):
        """Return (w, al, a, U) of a leg's bodies, minus gravity in the acceleration."""
        zero = ca.SX.zeros(3)
        g = tidy(self.model.gravity) if gravity else zero
        state = {0: (zero, zero, -g, ca.SX.zeros(3, 3))}
        for j in joints:
            joint = self.model.joints[j]
            w, al, a, U = state[joint.parent]
            axis = tidy(joint.axis)
            a = self._into(j, a + U @ self._arm(j))
            w, al = self._into(j, w), self._into(j, al)
            if joint.kind == 'prismatic':
                a = a + axis * accelerations[j] + 2 * rates[j] * ca.cross(w, axis)
            else:
                al = al + axis * accelerations[j] + rates[j] * ca.cross(w, axis)
                w = w + axis * rates[j]
            state[j + 2] = (w, al, a, rate_matrix(w, al))
        return state

    def _efforts(self, joints, state, rates=None, accelerations=None):
        """Efforts H of a leg's joints that move its bodies as they do."""
        H = {}
        total = {b: [ca.SX.zeros(3), ca.SX.zeros(3)] for b in state}
        for j in reversed(joints):
            joint, b = self.model.joints[j], j + 2
            f, n = load(self.model.bodies[b].inertia, state[b][2], state[b][3])
            f, n = f + total[b][0], n + total[b][1]
            H[j] = ca.dot(tidy(joint.axis), f if joint.kind == 'prismatic' else n)
            if accelerations is not None:
                H[j] += joint.armature * accelerations[j]
            if rates is not None:
                H[j] += joint.damping * rates[j]
                if joint.friction:
                    slip = ca.fmax(-1, ca.fmin(1, rates[j] * (1 / SMOOTH)))
                    H[j] += joint.friction * slip
            if joint.parent != 0:
                f = self._back(j, f)
                total[joint.parent][0] += f
                total[joint.parent][1] += self._back(j, n) + ca.cross(self._arm(j), f)
        return ca.vertcat(*(H[j] for j in joints))

    # ------------------------------------------------------------ closures, axes of the tip

    def _rows(self, leg, joints):
        """J of a leg, axes of its tips, and the rotations base <- tip."""
        J, turns = [], []
        for frame, _ in self._tips(leg):
            path = self._path(frame.body)
            row, R = ca.SX.zeros(3, len(joints)), ca.SX.eye(3)
            for j in path:
                R = (R @ tidy(self.model.joints[j].rotation)) @ self._turn(j)
            for k, j in enumerate(path):
                axis = tidy(self.model.joints[j].axis)
                slides = self.model.joints[j].kind == 'prismatic'
                v, w = (axis, ca.SX.zeros(3)) if slides else (ca.SX.zeros(3), axis)
                for i in path[k + 1 :]:
                    v, w = self._into(i, v + ca.cross(w, self._arm(i))), self._into(i, w)
                row[:, joints.index(j)] = v + ca.cross(w, tidy(frame.position))
            J.append(row)
            turns.append(R)
        return ca.vertcat(*J), turns

    def _split(self, J: ca.SX) -> tuple[list[int], list[int]]:
        """Rows that solve a leg, the fewest terms first, and the rest."""
        values = self._values(J)
        terms = [sum(not J[i, k].is_zero() for k in range(J.shape[1])) for i in
                 range(J.shape[0])]  # fmt: skip
        solving: list[int] = []
        for i in sorted(range(J.shape[0]), key=lambda i: (terms[i], i)):
            singular = scipy.linalg.svdvals(values[[*solving, i]])
            if singular[-1] > 1e-3 * singular[0] and len(solving) < J.shape[1]:
                solving.append(i)
        solving.sort()
        return solving, [i for i in range(J.shape[0]) if i not in solving]

    def _models(self):
        V, m = self.motion[12:18], self.motion
        nothing = {j: ca.SX(0) for j in range(len(self.model.joints))}
        spin = rate_matrix(m[15:18], ca.SX.zeros(3))  # of the platform, no acceleration
        legs, bound, left = [], [], []
        for leg, joints in self.legs:
            J, turns = self._rows(leg, joints)
            solving, rest = self._split(J)
            lu = Elimination(J[solving, :], self._values(J[solving, :]))
            arms = [self.R @ tidy(other.position) for _, other in self._tips(leg)]
            rates, drift = dict(nothing), dict(nothing)
            y = self._at_tips(turns, arms, V)
            for j, rate in zip(joints, ca.vertsplit(lu.solve(y[solving]))):
                rates[j] = rate
            moving = self._accelerate(joints, rates, nothing)
            gap = ca.vertcat(*(
                R.T @ (spin @ r - tidy(self.model.gravity))
                - moving[frame.body][2] - moving[frame.body][3] @ tidy(frame.position)
                for R, r, (frame, _) in zip(turns, arms, self._tips(leg))
            ))  # fmt: skip
            # J q'' = y(V') + gap
            for j, value in zip(joints, ca.vertsplit(lu.solve(gap[solving]))):
                drift[j] = value
            legs.append((joints, J, turns, arms, solving, rest, lu, rates, drift, gap))
            if rest and self.constant_S is None:
                columns = [self._at_tips(turns, arms, ca.SX(ca.DM.eye(6)[:, k])) for k in range(6)]
                whole = ca.horzcat(*columns)
                mixed = ca.vertcat(*(lu.solve_transposed(J[i, :].T).T for i in rest))
                bound.append(whole[rest, :] - mixed @ whole[solving, :])
                left.append(gap[rest] - mixed @ gap[solving])
        S, s = self._platform(bound, left)
        LS = ca.vertcat(*(self._drive_row(j, legs) for j in self.model.actuators)) @ S
        final = Elimination(LS.T, self._values(LS.T))
        wanted = m[18:24]
        inverse = final.solve(self._projected(legs, S, wanted))
        bias = self._projected(legs, S, s)
        rate = solve_symmetric(self._mass(legs, S), LS.T @ self.efforts - bias)
        return inverse, S @ rate + s

    def _at_tips(self, turns, arms, twist):
        """J_v twist: velocity of the platform's points, axes of the tips."""
        return ca.vertcat(*(
            R.T @ (twist[0:3] + ca.cross(twist[3:6], r)) for R, r in zip(turns, arms)
        ))  # fmt: skip

    def _to_platform(self, turns, arms, forces):
        """J_v^T forces: [force; moment] of forces at the tips."""
        total = ca.SX.zeros(6)
        for k, (R, r) in enumerate(zip(turns, arms)):
            f = R @ forces[3 * k : 3 * k + 3]
            total += ca.vertcat(f, ca.cross(r, f))
        return total

    def _spread(self, legs_entry, solved):
        """Forces at a leg's solving rows, zero at the rest."""
        _, J, _, _, solving, *_ = legs_entry
        forces = ca.SX.zeros(J.shape[0])
        for k, row in enumerate(solving):
            forces[row] = solved[k]
        return forces

    def _drive_row(self, actuator, legs):
        """Row of G of an actuated joint: J_v^T J^-T e."""
        entry = next(e for e in legs if actuator in e[0])
        joints, _, turns, arms, _, _, lu, *_ = entry
        unit = ca.SX(ca.DM([float(j == actuator) for j in joints]))
        return self._to_platform(turns, arms, self._spread(entry, lu.solve_transposed(unit))).T

    def _platform(self, bound, left):
        """S and s of V_p' = S V_r' + s."""
        s = ca.SX.zeros(6)
        if self.constant_S is not None:
            return self.constant_S, s
        S = ca.SX.zeros(6, len(self.independent))
        for k, row in enumerate(self.independent):
            S[row, k] = 1
        if self.dependent:
            C, right = ca.vertcat(*bound), ca.vertcat(*left)
            values = self._values(C[:, self.dependent])
            _, _, order = scipy.linalg.qr(values.T, pivoting=True)
            rows = sorted(order[: len(self.dependent)].tolist())
            lu = Elimination(C[rows, self.dependent], values[rows])
            for k, column in enumerate(self.independent):
                S[self.dependent, k] = -lu.solve(C[rows, column])
            # C V_p' + left = 0: rows that no joint can close.
            s[self.dependent] = -lu.solve(right[rows])
        return S, s

    def _projected(self, legs, S, twist_rate):
        """S^T [F_p + sum G_i^T H_i]."""
        R, w, al = self.R, self.motion[15:18], twist_rate[3:6]
        inertia = self.model.bodies[1].inertia
        U = rate_matrix(R.T @ w, R.T @ al)
        f, n = load(inertia, R.T @ (twist_rate[0:3] - tidy(self.model.gravity)), U)
        total = ca.vertcat(R @ f, R @ n)
        for entry in legs:
            joints, _, turns, arms, solving, _, lu, rates, drift, gap = entry
            y = self._at_tips(turns, arms, twist_rate) + gap
            qdd = dict(zip(joints, ca.vertsplit(lu.solve(y[solving]))))
            state = self._accelerate(joints, rates, qdd)
            H = self._efforts(joints, state, rates, qdd)
            total += self._to_platform(
                turns, arms, self._spread(entry, lu.solve_transposed(H)))
        return S.T @ total

    def _mass(self, legs, S):
        """Lower half of S^T A S."""
        A = self._platform_mass()
        nothing = {j: ca.SX(0) for j in range(len(self.model.joints))}
        for entry in legs:
            joints, _, turns, arms, solving, _, lu, *_ = entry
            n = len(joints)
            columns = []
            for j in joints:
                unit = {**nothing, j: ca.SX(1)}
                state = self._accelerate(joints, nothing, unit, gravity=False)
                columns.append(self._efforts(joints, state, None, unit))
            inertia = ca.horzcat(*columns)
            inertia = ca.tril(inertia) + ca.tril(inertia, False).T
            half = ca.horzcat(*(lu.solve_transposed(inertia[:, k]) for k in range(n)))
            W = ca.horzcat(*(lu.solve_transposed(half[k, :].T) for k in range(n)))
            W = ca.tril(W) + ca.tril(W, False).T
            A += self._carried(turns, arms, solving, W)
        whole = ca.tril(A) + ca.tril(A, False).T
        if self.constant_S is None or S.shape[1] < 6:
            whole = S.T @ (whole @ S)
        return whole

    def _platform_mass(self):
        inertia = self.model.bodies[1].inertia
        c = ca.skew(self.R @ tidy(inertia.mass * inertia.com))
        tensor = self.R @ tidy(inertia.about_origin()) @ self.R.T
        A = ca.SX.zeros(6, 6)
        A[0:3, 0:3], A[3:6, 0:3], A[3:6, 3:6] = inertia.mass * ca.SX.eye(3), c, tensor
        return A

    def _carried(self, turns, arms, solving, W):
        """J_v^T W J_v, lower half, with J_v = R^T [1, -r~] of each tip."""
        A = ca.SX.zeros(6, 6)
        full = ca.SX.zeros(3 * len(turns), 3 * len(turns))
        for a, i in enumerate(solving):
            for b, j in enumerate(solving):
                full[i, j] = W[a, b]
        for i, (Ri, ri) in enumerate(zip(turns, arms)):
            for j, (Rj, rj) in enumerate(zip(turns, arms)):
                block = Ri @ (full[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] @ Rj.T)
                if i == j:
                    block = ca.tril(block) + ca.tril(block, False).T
                turned = ca.skew(ri) @ block
                A[0:3, 0:3] += block
                A[3:6, 0:3] += turned
                A[3:6, 3:6] -= turned @ ca.skew(rj)
        return A

    # ------------------------------------------------------------ calls

    def prepare(self, name: str, m: pd.PlatformMotion, u: np.ndarray):
        """Return a call for one state, with all its arguments ready, and where the result goes."""
        return self.library.prepare(name, m.rows, np.atleast_2d(u))

    def many(self, name: str, m: pd.PlatformMotion, u: np.ndarray) -> np.ndarray:
        """Evaluate N states on all cores: 'inverse' (N, n) or 'direct' (N, 6)."""
        return self.library.many(name, m.rows, np.atleast_2d(u))
