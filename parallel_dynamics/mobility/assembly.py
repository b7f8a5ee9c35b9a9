"""Poses, closure residuals and closure Jacobians of a model, in plain NumPy.

It serves the judgement of a robot at load and is independent of the compiled kernels. Everything
is evaluated for P configurations at once. A configuration is the coordinates ``q`` (P, n) of the
joints that follow no other, with the platform's pose ``rotation`` (P, 3, 3) and ``position``
(P, 3) in the base frame.

Velocities are ``x' = [q', v, w]``: joint rates, then the twist of the platform's origin in base
axes. They are scaled by a characteristic length so that one number can be set against another:
angles are counted as the path at that length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM, Closure, Frame, RobotModel
from parallel_dynamics.spatial import Array, skew

# Which rows a closure type has, as columns of the second frame: translations, rotations.
_ROWS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    'ball': ((0, 1, 2), ()),
    'weld': ((0, 1, 2), (0, 1, 2)),
    'revolute': ((0, 1, 2), (0, 1)),
    'cylindrical': ((0, 1), (0, 1)),
    'plane': ((2,), ()),
}
_COMPONENTS = {
    (True, 0): 'x', (True, 1): 'y', (True, 2): 'z',
    (False, 0): 'rotation about x', (False, 1): 'rotation about y', (False, 2): 'rotation about z',
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Configurations:
    """P configurations."""

    q: Array
    rotation: Array
    position: Array

    def __getitem__(self, chosen: NDArray[np.intp]) -> Configurations:
        return Configurations(self.q[chosen], self.rotation[chosen], self.position[chosen])


@dataclass(frozen=True, eq=False)
class Poses:
    """Where everything is: bodies (P, b, ...), joint axes and origins (P, j, 3), base axes."""

    rotation: Array
    position: Array
    axis: Array
    origin: Array


class Assembly:
    """A model prepared for evaluation."""

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        self.coordinates = [j for j, joint in enumerate(model.joints) if joint.mimic is None]
        self.order = _parents_first(model)
        self.follow, self.offset = self._follow()
        self.carriers, self.on_platform = self._carriers()
        self.sliding = np.array([joint.kind == 'prismatic' for joint in model.joints], dtype=bool)
        self.rows = _closure_rows(model)
        self.home = self._home()
        self.length = self._length()

    def _follow(self) -> tuple[Array, Array]:
        """Return E (j, n) and b (j,) with joint positions E q + b."""
        model = self.model
        column = {j: k for k, j in enumerate(self.coordinates)}
        follow = np.zeros((len(model.joints), len(self.coordinates)))
        offset = np.zeros(len(model.joints))
        for j, joint in enumerate(model.joints):
            if joint.mimic is None:
                follow[j, column[j]] = 1.0
            else:
                follow[j, column[joint.mimic.joint]] = joint.mimic.multiplier
                offset[j] = joint.mimic.offset
        return follow, offset

    def _carriers(self) -> tuple[Array, Array]:
        """Return which joints carry each body (b, j), and which bodies ride on the platform."""
        model = self.model
        carriers = np.zeros((len(model.bodies), len(model.joints)))
        on_platform = np.zeros(len(model.bodies))
        on_platform[PLATFORM] = 1.0
        for j in self.order:
            body, parent = j + FIRST_LEG_BODY, model.joints[j].parent
            carriers[body] = carriers[parent]
            carriers[body, j] = 1.0
            on_platform[body] = on_platform[parent]
        return carriers, on_platform

    def _home(self) -> Configurations:
        """All coordinates at zero; the virtual chain says where the platform is."""
        rotation, position = np.eye(3), np.zeros(3)
        for joint in self.model.chain:
            position = position + rotation @ joint.position
            rotation = rotation @ joint.rotation
        position = position + rotation @ self.model.platform_position
        rotation = rotation @ self.model.platform_rotation
        return Configurations(np.zeros((1, len(self.coordinates))), rotation[None], position[None])

    def _length(self) -> float:
        """Root mean square distance of the closures from the platform's origin at home, m."""
        poses = self.poses(self.home)
        distances = [
            np.linalg.norm(_frame(poses, closure.first)[1] - self.home.position)
            for closure in self.model.closures
        ]
        length = float(np.sqrt(np.mean(np.square(distances)))) if distances else 0.0
        return length if length > 1e-9 else 1.0

    @property
    def scale(self) -> Array:
        """Factors (n + 6,) that turn scaled velocities into velocities."""
        joints = np.where(self.sliding[self.coordinates], 1.0, 1.0 / self.length)
        return np.concatenate([joints, np.ones(3), np.full(3, 1.0 / self.length)])

    @property
    def row_scale(self) -> Array:
        """Factors (r,) that turn closure rows into lengths."""
        return np.array([1.0 if row.slides else self.length for row in self.rows])

    def poses(self, at: Configurations) -> Poses:
        """Place all bodies; (Khalil's notation aside, one product of transforms per joint)."""
        model, count = self.model, len(at.q)
        bodies, joints = len(model.bodies), len(model.joints)
        rotation = np.zeros((count, bodies, 3, 3))
        position = np.zeros((count, bodies, 3))
        axis, origin = np.zeros((count, joints, 3)), np.zeros((count, joints, 3))
        rotation[:, 0] = np.eye(3)
        rotation[:, PLATFORM], position[:, PLATFORM] = at.rotation, at.position
        values = at.q @ self.follow.T + self.offset
        for j in self.order:
            joint = model.joints[j]
            above = rotation[:, joint.parent]
            here = above @ joint.rotation
            axis[:, j] = here @ joint.axis
            origin[:, j] = position[:, joint.parent] + above @ joint.position
            body = j + FIRST_LEG_BODY
            if self.sliding[j]:
                rotation[:, body] = here
                position[:, body] = origin[:, j] + axis[:, j] * values[:, j, None]
            else:
                rotation[:, body] = here @ turn(joint.axis, values[:, j])
                position[:, body] = origin[:, j]
        return Poses(rotation, position, axis, origin)

    def body_jacobian(self, poses: Poses, body: int, point: Array) -> tuple[Array, Array]:
        """Return velocity of a point (P, 3) and angular velocity of a body, each (P, 3, n + 6)."""
        axis = poses.axis * self.carriers[body][:, None]
        arms = point[:, None] - poses.origin
        linear = np.where(self.sliding[:, None], axis, np.cross(axis, arms))
        angular = np.where(self.sliding[:, None], 0.0, axis)
        rides = self.on_platform[body]
        count, n = len(point), len(self.coordinates)
        velocity, spin = np.zeros((count, 3, n + 6)), np.zeros((count, 3, n + 6))
        velocity[:, :, :n] = linear.transpose(0, 2, 1) @ self.follow
        spin[:, :, :n] = angular.transpose(0, 2, 1) @ self.follow
        velocity[:, :, n : n + 3] = rides * np.eye(3)
        velocity[:, :, n + 3 :] = -rides * skew(point - poses.position[:, PLATFORM])
        spin[:, :, n + 3 :] = rides * np.eye(3)
        return velocity, spin

    def closures(self, at: Configurations) -> tuple[Array, Array]:
        """Return residuals (P, r) and their Jacobian (P, r, n + 6), rows in closure order.

        A row is the motion of the first frame seen from the second: ``u . d`` with d = pA - pB,
        or the rotation about u, where u is an axis of the second frame.
        """
        poses = self.poses(at)
        residuals, jacobians = [], []
        for closure in self.model.closures:
            turned, point = _frame(poses, closure.first)
            base, seat = _frame(poses, closure.second)
            slides, turns = _ROWS[closure.kind]
            first = self.body_jacobian(poses, closure.first.body, point)
            second = self.body_jacobian(poses, closure.second.body, point)
            back = base.transpose(0, 2, 1)
            gap = (back @ (point - seat)[:, :, None])[:, :, 0]
            residuals.append(gap[:, slides])
            jacobians.append((back @ (first[0] - second[0]))[:, slides])
            if turns:
                residuals.append(_twist(back @ turned, closure)[:, turns])
                jacobians.append((back @ (first[1] - second[1]))[:, turns])
        count, width = len(at.q), len(self.coordinates) + 6
        if not residuals:
            return np.zeros((count, 0)), np.zeros((count, 0, width))
        return np.concatenate(residuals, axis=1), np.concatenate(jacobians, axis=1)

    def scaled(self, at: Configurations) -> tuple[Array, Array]:
        """Return residuals and Jacobian in scaled rows and velocities (lengths throughout)."""
        residual, jacobian = self.closures(at)
        rows = self.row_scale
        return residual * rows, rows[:, None] * jacobian * self.scale

    def moved(self, at: Configurations, step: Array) -> Configurations:
        """Return the configurations after a scaled step (P, n + 6)."""
        step, n = step * self.scale, len(self.coordinates)
        turned = Rotation.from_rotvec(step[:, n + 3 :]).as_matrix()
        return Configurations(
            at.q + step[:, :n], turned @ at.rotation, at.position + step[:, n : n + 3]
        )

    def between(self, start: Configurations, end: Configurations) -> Array:
        """Return the scaled step (P, n + 6) that leads from one to the other; see ``moved``."""
        turned = end.rotation @ start.rotation.transpose(0, 2, 1)
        turns = Rotation.from_matrix(turned).as_rotvec()
        step = np.concatenate([end.q - start.q, end.position - start.position, turns], axis=1)
        return np.asarray(step / self.scale)


@dataclass(frozen=True)
class Row:
    """One closure equation: which closure, whether of length or angle, and what it says."""

    closure: int
    slides: bool
    component: str


def _closure_rows(model: RobotModel) -> list[Row]:
    rows: list[Row] = []
    for c, closure in enumerate(model.closures):
        for slides, axes in zip((True, False), _ROWS[closure.kind], strict=True):
            rows.extend(Row(c, slides, _COMPONENTS[slides, axis]) for axis in axes)
    return rows


def _parents_first(model: RobotModel) -> list[int]:
    """Return the joints so that each stands after the one that carries it."""
    order: list[int] = []
    below: dict[int, list[int]] = {}
    for j, joint in enumerate(model.joints):
        below.setdefault(joint.parent, []).append(j)
    stack = [*below.get(PLATFORM, []), *below.get(0, [])]
    while stack:
        j = stack.pop()
        order.append(j)
        stack.extend(below.get(j + FIRST_LEG_BODY, []))
    return order


def _frame(poses: Poses, frame: Frame) -> tuple[Array, Array]:
    turned = poses.rotation[:, frame.body]
    return (
        turned @ frame.rotation,
        poses.position[:, frame.body] + turned @ frame.position,
    )


def _twist(relative: Array, closure: Closure) -> Array:
    """Return the rotation (P, 3) of the first frame against the second, in the second's axes.

    A joint about z lets the frames turn about it, so only the tilt of z is counted there.
    """
    if closure.kind == 'weld':
        return Rotation.from_matrix(relative).as_rotvec()
    # Rotating z by a small t gives z + t x z = (t_y, -t_x, 1); beyond 90 degrees keep it large.
    tilt = np.stack([-relative[:, 1, 2], relative[:, 0, 2], 0.0 * relative[:, 2, 2]], axis=1)
    flipped = relative[:, 2, 2] < 0.0
    tilt[flipped] += np.where(tilt[flipped] >= 0.0, 1.0, -1.0) * [1.0, 1.0, 0.0]
    return tilt


def turn(axis: Array, angle: Array) -> Array:
    """Return the rotations (P, 3, 3) about a unit axis (3,) by angles (P,)."""
    k = skew(axis)
    return (
        np.eye(3)
        + np.sin(angle)[:, None, None] * k
        + (1.0 - np.cos(angle))[:, None, None] * (k @ k)
    )
