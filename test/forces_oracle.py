"""Joint forces by Pinocchio: closure forces as external forces, `rnea`, and `data.f`."""

import numpy as np
from oracle import Oracle
import pinocchio as pin

LINEAR = {'ball': 3, 'weld': 3, 'revolute': 3, 'cylindrical': 2, 'plane': 1}
ANGULAR = {'ball': 0, 'weld': 3, 'revolute': 2, 'cylindrical': 2, 'plane': 0}


class ForcesOracle(Oracle):
    """Wrenches, flags and the equilibrium of each body, of one robot."""

    def solve(self, robot, m, wrench=None, base=None):
        """Solve the motion; keep q, v, a and the multipliers."""
        position = robot.inverse_kinematics(m).position
        efforts, multipliers, residual, (q, v, a, _) = self.inverse_dynamics(
            position, m, wrench, base)
        self.q, self.v, self.a, self.efforts, self.residual = q, v, a, efforts, residual
        self.m, self.external = m, wrench
        closure_rows = sum(LINEAR[c['type']] + ANGULAR[c['type']]
                           for c in self.settings['closures'])
        self.multipliers = multipliers[:closure_rows]
        return self

    def closure_loads(self, multipliers):
        """Return for every closure: frames, force and moment on the first (second's axes)."""
        loads, row = {}, 0
        for closure in self.settings['closures']:
            kind = closure['type']
            force, moment = np.zeros(3), np.zeros(3)
            n, k = LINEAR[kind], ANGULAR[kind]
            places = [2] if kind == 'plane' else range(n)
            force[list(places)] = multipliers[row : row + n]
            moment[:k] = multipliers[row + n : row + n + k]
            loads[closure['name']] = (*closure['between'], force, moment)
            row += n + k
        return loads

    def joint_forces(self, multipliers, moving=True):
        """Return wrenches of joints and closures by name, and of the platform's own joint."""
        model, data = self.model, self.data
        pin.forwardKinematics(model, data, self.q)
        pin.updateFramePlacements(model, data)
        forces = [pin.Force.Zero() for _ in range(model.njoints)]
        out = {}
        for name, (first, second, f, n) in self.closure_loads(multipliers).items():
            A, B = (data.oMf[model.getFrameId(x)] for x in (first, second))
            at = pin.SE3(B.rotation, A.translation)
            world = at.act(pin.Force(f, n))
            for frame, sign in ((first, 1.0), (second, -1.0)):
                joint = model.frames[model.getFrameId(frame)].parentJoint
                forces[joint] += data.oMi[joint].actInv(pin.Force(sign * world.vector))
            out[name] = -np.concatenate([f, n])
        v, a = (self.v, self.a) if moving else (0 * self.v, 0 * self.a)
        model.gravity.linear = self.gravity if moving else np.zeros(3)
        if moving and self.external is not None:
            R = self.m.rotation
            w = np.asarray(self.external)
            forces[self.platform_joint] += pin.Force(R.T @ w[:3], R.T @ w[3:])
        pin.rnea(model, data, self.q, v, a, forces)
        for name, joint in self.ids.items():
            out[name] = data.f[joint].vector.copy()
        return out, data.f[self.platform_joint].vector.copy()

    def self_stresses(self, length):
        """Return multipliers that no joint and not the platform feels, one in each row.

        Orthonormal where moments count over the length; ties of mimic joints are left out.
        """
        _, K, _, _ = self.closure_kinematics(self.q, self.v, self.a)
        scale = []
        for closure in self.settings['closures']:
            scale += [1.0] * LINEAR[closure['type']] + [length] * ANGULAR[closure['type']]
        scale = np.array(scale)
        stack = np.vstack([K * scale[:, None], self.mimic_rows()])
        u, s, _ = np.linalg.svd(stack[:, 6:])
        rank = int(np.count_nonzero(s > 1e-9 * s[0]))
        return [null[: len(scale)] * scale for null in u[:, rank:].T]

    def determinate(self, length, tolerance=1e-7):
        """Return flags by name: what no self-stress takes part in."""
        names = [*self.ids, *self.closure_loads(self.multipliers)]
        flags = {name: np.ones(6, bool) for name in names}
        for stress in self.self_stresses(length):
            changes, _ = self.joint_forces(stress, moving=False)
            for name, change in changes.items():
                flags[name] &= np.abs(change / np.repeat([1.0, length], 3)) < tolerance
        return flags

    def unbalanced(self, forces):
        """Return Newton-Euler residuals (bodies, 6) with the given wrenches, world axes at 0.

        Every body's rate of momentum less gravity, less what its own joint, the joints that stand
        on it, closures and the external wrench do. The platform has no joint of its own.
        """
        model, data = self.model, self.data
        model.gravity.linear = self.gravity
        pin.rnea(model, data, self.q, self.v, self.a)  # leaves velocities and a - g
        pin.updateFramePlacements(model, data)
        total = np.zeros((model.njoints, 6))
        for j in range(1, model.njoints):
            need = model.inertias[j] * data.a_gf[j] + model.inertias[j].vxiv(data.v[j])
            total[j] += data.oMi[j].act(need).vector
        for name, j in self.ids.items():
            given = data.oMi[j].act(pin.Force(forces.wrench[name])).vector
            total[j] -= given
            total[model.parents[j]] += given
        for closure in self.settings['closures']:
            first, second = closure['between']
            A, B = (data.oMf[model.getFrameId(x)] for x in (first, second))
            at = pin.SE3(B.rotation, A.translation)
            given = at.act(pin.Force(forces.wrench[closure['name']])).vector
            total[model.frames[model.getFrameId(second)].parentJoint] -= given
            total[model.frames[model.getFrameId(first)].parentJoint] += given
        if self.external is not None:
            place = data.oMi[self.platform_joint]
            R = self.m.rotation
            w = np.asarray(self.external)
            total[self.platform_joint] -= place.act(
                pin.Force(R.T @ w[:3], R.T @ w[3:])).vector
        return total[2:]  # but universe and base
