"""Closed loops with Pinocchio alone: an opinion that owes nothing to the package's engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml

ROTATION_ROWS = {'ball': [], 'weld': [0, 1, 2], 'revolute': [0, 1], 'cylindrical': [0, 1],
                 'plane': []}
TRANSLATION_ROWS = {'ball': [0, 1, 2], 'weld': [0, 1, 2], 'revolute': [0, 1, 2],
                    'cylindrical': [0, 1], 'plane': [2]}


class Loops:
    """
    A robot as tree joints `q` (virtual joints left at zero) and a platform that is a free body.

    The platform's displacement from home is (position, rotation); unknowns are leg joint rates and
    the twist [v; w] of the platform frame in base axes.
    """

    def __init__(self, yaml_path: str | Path) -> None:
        path = Path(yaml_path)
        self.data = yaml.safe_load(path.read_text())
        self.model = pin.buildModelFromUrdf(str(path.parent / self.data['urdf']))
        self.state = self.model.createData()
        self.names = [n for n in self.model.names[1:] if not n.startswith('platform_')]
        self.columns = [self.model.joints[self.model.getJointId(n)].idx_v for n in self.names]
        self.q = np.zeros(self.model.nq)
        pin.framesForwardKinematics(self.model, self.state, self.q)
        self.home = self._placed(self.data['platform'])
        self.position, self.rotation = self.home.translation.copy(), self.home.rotation.copy()
        # Frames fixed to the platform, by their placement in it.
        last = self.model.frames[self.model.getFrameId(self.data['platform'])].parentJoint
        self.on_platform = {
            f.name: self.home.actInv(self._placed(f.name))
            for f in self.model.frames if f.parentJoint == last}

    def _placed(self, name: str) -> pin.SE3:
        return self.state.oMf[self.model.getFrameId(name)].copy()

    def _frame(self, name: str) -> tuple[pin.SE3, np.ndarray]:
        """Placement and Jacobian (6, n + 6), [linear; angular], base axes, at its origin."""
        jacobian = np.zeros((6, len(self.columns) + 6))
        if name in self.on_platform:
            placed = pin.SE3(self.rotation, self.position) * self.on_platform[name]
            arm = placed.translation - self.position
            jacobian[:3, -6:] = np.hstack([np.eye(3), -pin.skew(arm)])
            jacobian[3:, -3:] = np.eye(3)
            return placed, jacobian
        full = pin.getFrameJacobian(
            self.model, self.state, self.model.getFrameId(name), pin.LOCAL_WORLD_ALIGNED)
        jacobian[:, :-6] = full[:, self.columns]
        return self._placed(name), jacobian

    def constraints(self) -> tuple[np.ndarray, np.ndarray]:
        """Closure residual (m,) and its Jacobian (m, n + 6)."""
        pin.computeJointJacobians(self.model, self.state, self.q)
        pin.updateFramePlacements(self.model, self.state)
        residuals, rows = [], []
        for closure in self.data['closures']:
            (one, j_one), (two, j_two) = (self._frame(f) for f in closure['between'])
            gap, axes = one.translation - two.translation, two.rotation
            relative = j_one - j_two
            relative[:3] += pin.skew(gap) @ j_two[3:]  # second body's point at the first's origin
            turn = pin.log3(axes.T @ one.rotation)
            pick, spin = TRANSLATION_ROWS[closure['type']], ROTATION_ROWS[closure['type']]
            if closure['type'] in ('revolute', 'cylindrical'):
                turn = np.cross([0.0, 0.0, 1.0], axes.T @ one.rotation[:, 2])
            residuals += [(axes.T @ gap)[pick], turn[spin]]
            rows += [(axes.T @ relative[:3])[pick], (axes.T @ relative[3:])[spin]]
        return np.concatenate(residuals), np.vstack(rows)

    def step(self, rates: np.ndarray) -> None:
        """Displace leg joints and platform by `rates` (n + 6,)."""
        self.q[self.columns] += rates[:-6]
        self.position = self.position + rates[-6:-3]
        self.rotation = pin.exp3(rates[-3:]) @ self.rotation

    def assemble(self, iterations: int = 30) -> float:
        """Close the loops by Newton steps of least norm; return the residual that is left."""
        for _ in range(iterations):
            residual, jacobian = self.constraints()
            if np.abs(residual).max() < 1e-13:
                break
            self.step(-np.linalg.pinv(jacobian, rcond=1e-7) @ residual)
        return float(np.abs(self.constraints()[0]).max())

    def wander(self, random: np.random.Generator, size: float) -> float:
        """Go a random way of `size` (m, rad) along the freedoms; return the residual."""
        direction = random.normal(size=len(self.columns) + 6)
        for _ in range(5):
            free = null_space(self.constraints()[1])
            along = free @ (free.T @ direction)
            self.step(along * size / 5.0 / np.abs(along).max())
            residual = self.assemble()
        return residual

    def mobility(self) -> dict[str, float]:
        """Count freedoms here, and tell how well legs and actuators hold them."""
        jacobian = self.constraints()[1]
        n = len(self.columns)
        actuated = [self.names.index(a) for a in self.data['actuators']]
        free = null_space(jacobian)
        passive = np.delete(jacobian, actuated, axis=1)
        legs = np.linalg.svd(jacobian[:, :n], compute_uv=False)
        locked = np.linalg.svd(passive, compute_uv=False)
        return {
            'dof': free.shape[1],
            'idle': n - rank(legs),  # freedoms left with the platform held
            'loose': passive.shape[1] - rank(locked),  # freedoms left with the actuators held
            'redundant': jacobian.shape[0] - (n + 6 - free.shape[1]),
            'leg_condition': legs[0] / legs[min(len(legs), n) - 1],
            'actuation_condition': np.linalg.cond(free[actuated]),
        }


def rank(singular_values: np.ndarray, relative: float = 1e-6) -> int:
    """Return the number of singular values that are not noise."""
    return int(np.sum(singular_values > relative * singular_values[0]))


def null_space(matrix: np.ndarray) -> np.ndarray:
    """Orthonormal basis (n, k) of what `matrix` (m, n) maps to zero."""
    _, singular_values, right = np.linalg.svd(matrix)
    return right[rank(singular_values):].T
