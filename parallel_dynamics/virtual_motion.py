"""Virtual motions of a mechanism with one component of one joint freed (staicu_3rps, (8)-(12)).

Lock the actuators and take one component of one joint's wrench away: what the mechanism may do
then, with a unit virtual velocity in that component, is one virtual motion of all its bodies. The
virtual power of inertia, gravity, losses and external wrench in it is the component. Where the
freed mechanism cannot move, the component is statically indeterminate; the motion that violates
the closures least then gives the value of the least-norm closure loads.

Plain NumPy on the model itself: nothing of the compiled kernels but the joint positions and rates
of a motion enters.
"""

from __future__ import annotations

import numpy as np

from parallel_dynamics.engine import Engine, single
from parallel_dynamics.kernels.layout import (
    ACTUATION_SINGULAR,
    FRICTION_VELOCITY,
    SINGULAR_PIVOT,
)
from parallel_dynamics.model import BASE, FIRST_LEG_BODY, PLATFORM, Joint, RobotModel
from parallel_dynamics.motion import BaseMotion, PlatformMotion
from parallel_dynamics.spatial import Array, skew

CONSTRAINED = {
    'ball': (0, 1, 2), 'weld': (0, 1, 2, 3, 4, 5), 'revolute': (0, 1, 2, 3, 4),
    'cylindrical': (0, 1, 3, 4), 'plane': (2,),
}  # fmt: skip
"""Components of the relative twist, in the second frame's axes, that each closure forbids."""


class FreedMechanism:
    """All virtual motions of a robot in one state of motion, and what they tell.

    Columns of every motion: the coordinates (joints that mimic no other), the platform's twist,
    then six freed components for each joint, in the child link's axes at its origin.

    Attributes
    ----------
    value : (k, 6)
        Wrenches of joints, then closures, by virtual power.
    spread : (k, 6)
        How far each is from unique: by how much the freed mechanism would have to violate its
        closures to move with a unit velocity; moments over the characteristic length.
    efforts : (n,)
        Of the actuators, each freed with the others locked.
    singular_values : (c,)
        Of the closures' Jacobian with actuators locked, largest first.
    """

    def __init__(
        self, engine: Engine, m: PlatformMotion, base: BaseMotion | None = None
    ) -> None:
        single(m)
        engine.external(None, base, None)  # refuses what is no single motion of a base
        self.engine = engine
        self.motion = m
        self.model = engine.model
        self.length = float(engine.packed.system[0]['length'])
        self._place(m, BaseMotion() if base is None else base)
        self._close()
        self._solve()

    # ---------------------------------------------------------------- motion

    def _place(self, m: PlatformMotion, base: BaseMotion) -> None:
        """Move all bodies; ``twists`` (bodies, 6, columns) [velocity of origin; rotation]."""
        model = self.model
        self.engine.solve(m)
        state = np.array([[self.engine.bodies[2 + int(p)][k] for k in ('q', 'qd', 'qdd')]
                          for p in self.engine.packed.order]).reshape(-1, 3)  # fmt: skip
        self.rates, self.accelerations = state[:, 1], state[:, 2]
        own = [j for j, joint in enumerate(model.joints) if joint.mimic is None]
        self.coordinate = {j: k for k, j in enumerate(own)}
        n, joints = len(own), len(model.joints)
        count = joints + FIRST_LEG_BODY
        self.columns = n + 6 + 6 * joints
        self.R, self.p = np.zeros((count, 3, 3)), np.zeros((count, 3))
        self.w, self.al, self.a = (np.zeros((count, 3)) for _ in range(3))
        self.twists = np.zeros((count, 6, self.columns))
        self.w[BASE], self.al[BASE] = base.angular_velocity, base.angular_acceleration
        self.a[BASE] = base.acceleration - base.rotation.T @ model.gravity
        self.R[BASE], self.R[PLATFORM], self.p[PLATFORM] = np.eye(3), m.rotation, m.position
        w, al, a = self._carried(BASE, m.position, m.velocity)
        self.w[PLATFORM] = w + m.angular_velocity
        self.al[PLATFORM] = al + m.angular_acceleration + np.cross(w, m.angular_velocity)
        self.a[PLATFORM] = a + m.acceleration
        self.twists[PLATFORM, :, n : n + 6] = np.eye(6)
        for j in _parents_first(model):
            self._move(j, model.joints[j], state[j], n + 6 + 6 * j)

    def _carried(self, body: int, point: Array, velocity: Array) -> tuple[Array, Array, Array]:
        """Rotation and its rate of a body, and acceleration of a point that moves on it."""
        w, al, r = self.w[body], self.al[body], point - self.p[body]
        a = self.a[body] + np.cross(al, r) + np.cross(w, np.cross(w, r) + 2.0 * velocity)
        return w, al, a

    def _move(self, j: int, joint: Joint, state: Array, freed: int) -> None:
        q, qd, qdd = state
        body, parent = j + FIRST_LEG_BODY, joint.parent
        turn = self.R[parent] @ joint.rotation
        axis = turn @ joint.axis
        origin = self.p[parent] + self.R[parent] @ joint.position
        spin = skew(joint.axis)
        mimic = joint.mimic
        column = self.coordinate[j if mimic is None else mimic.joint]
        ratio = 1.0 if mimic is None else mimic.multiplier
        if joint.kind == 'prismatic':
            self.R[body], self.p[body] = turn, origin + q * axis
            w, al, a = self._carried(parent, self.p[body], qd * axis)
            self.w[body], self.al[body], self.a[body] = w, al, a + qdd * axis
        else:
            rotation = np.eye(3) + np.sin(q) * spin + (1.0 - np.cos(q)) * spin @ spin
            self.R[body], self.p[body] = turn @ rotation, origin
            w, al, a = self._carried(parent, origin, np.zeros(3))
            self.w[body] = w + qd * axis
            self.al[body] = al + qdd * axis + qd * np.cross(w, axis)
            self.a[body] = a
        self.twists[body] = self._twist_at(parent, self.p[body])
        rows = slice(0, 3) if joint.kind == 'prismatic' else slice(3, 6)
        self.twists[body, rows, column] += ratio * axis
        self.twists[body, :3, freed : freed + 3] += self.R[body]
        self.twists[body, 3:, freed + 3 : freed + 6] += self.R[body]

    def _twist_at(self, body: int, point: Array) -> Array:
        """(6, columns): virtual twist of a body at a point of it."""
        twist = self.twists[body].copy()
        twist[:3] -= skew(point - self.p[body]) @ twist[3:]
        return twist

    # ---------------------------------------------------------------- closures

    def _close(self) -> None:
        """Relative virtual twists (closures, 6, columns), first less second, second's axes."""
        relative = []
        for closure in self.model.closures:
            first, second = closure.first, closure.second
            point = self.p[first.body] + self.R[first.body] @ first.position
            axes = self.R[second.body] @ second.rotation
            twist = self._twist_at(first.body, point) - self._twist_at(second.body, point)
            relative.append(np.vstack([axes.T @ twist[:3], axes.T @ twist[3:]]))
        self.relative = np.array(relative).reshape(-1, 6, self.columns)
        self.rows = [(c, k) for c, closure in enumerate(self.model.closures)
                     for k in CONSTRAINED[closure.kind]]  # fmt: skip

    def _solve(self) -> None:
        """Find the virtual motion of every freed component, actuators locked."""
        scale = np.array([1.0 if k < 3 else self.length for _, k in self.rows])
        K = np.array([self.relative[c, k] for c, k in self.rows]).reshape(-1, self.columns)
        K = scale[:, None] * K
        moving = len(self.coordinate) + 6
        actuated = [self.coordinate[j] for j in self.model.actuators]
        passive = [k for k in range(moving) if k not in actuated]
        # What is freed: actuators, joint components, closure components (their own rows).
        freed = np.hstack([K[:, actuated], K[:, moving:], -np.diag(scale)])
        units = np.array([1.0] * 3 + [1.0 / self.length] * 3)
        u, self.singular_values, vt = np.linalg.svd(K[:, passive], full_matrices=False)
        ratio = self.singular_values[-1] / self.singular_values[0]
        if not ratio > SINGULAR_PIVOT:
            raise self.engine.error([ACTUATION_SINGULAR, 0, 0.0, float(ratio), 1.0], self.motion)
        inside = u.T @ freed
        follow = -(vt.T / self.singular_values) @ inside
        left = np.linalg.norm(freed - u @ inside, axis=0)
        n, joints = len(actuated), 6 * len(self.model.joints)
        motions = np.zeros((self.columns, freed.shape[1]))
        motions[passive] = follow
        motions[actuated, range(n)] = 1.0
        motions[range(moving, moving + joints), range(n, n + joints)] = 1.0
        self.motions = motions  # (columns, freed), one virtual motion each
        self._effort_motions = motions[:, :n]
        self._joint_motions = motions[:, n : n + joints].reshape(self.columns, -1, 6)
        closures = np.zeros((self.columns, len(self.model.closures), 6))
        spread = np.zeros((len(self.model.closures), 6))
        for r, (c, k) in enumerate(self.rows):
            # First on second: the power of the pair is minus the component's.
            closures[:, c, k] = -motions[:, n + joints + r]
            spread[c, k] = left[n + joints + r] * units[k]
        self._closure_motions = closures
        of_joints = left[n : n + joints].reshape(-1, 6) * units
        self.spread = np.vstack([of_joints, spread])

    # ---------------------------------------------------------------- power

    def regressor(self) -> Array:
        """Virtual power (columns, n_p) in each column of a motion per unit of each parameter."""
        model = self.model
        blocks = []
        for b in range(PLATFORM, len(model.bodies)):
            R = self.R[b]
            omega = body_regressor(R.T @ self.a[b], R.T @ self.w[b], R.T @ self.al[b])
            twist = self.twists[b]
            blocks.append(np.vstack([R.T @ twist[:3], R.T @ twist[3:]]).T @ omega)
        for j, joint in enumerate(model.joints):
            mimic = joint.mimic
            block = np.zeros((self.columns, 3))
            ratio = 1.0 if mimic is None else mimic.multiplier
            share = np.clip(self.rates[j] / FRICTION_VELOCITY, -1.0, 1.0)
            losses = np.array([self.rates[j], share, self.accelerations[j]])
            block[self.coordinate[j if mimic is None else mimic.joint]] = ratio * losses
            blocks.append(block)
        return np.hstack(blocks)

    def of_joint(self, place: int) -> Array:
        """Virtual motions (columns, 6) for the wrench at a place: joints, then closures."""
        joints = len(self.model.joints)
        if place < joints:
            return np.asarray(self._joint_motions[:, place])
        return np.asarray(self._closure_motions[:, place - joints])

    def forces(self, parameters: Array, wrench: Array) -> tuple[Array, Array]:
        """Wrenches (k, 6) and efforts (n,) for parameters (n_p,) and an external wrench (6,)."""
        power = self.regressor() @ parameters
        n = len(self.coordinate)
        power[n : n + 6] -= wrench
        joints = np.tensordot(power, self._joint_motions, 1)
        closures = np.tensordot(power, self._closure_motions, 1)
        return np.vstack([joints, closures]), power @ self._effort_motions


def body_regressor(a: Array, w: Array, al: Array) -> Array:
    """(6, 10): wrench about a body's origin per parameter (codourey_burdet_1997, (28)-(31)).

    ``a`` is the acceleration of the origin less gravity, all in the body's axes; parameters are
    mass, first moment and the tensor's upper triangle about the origin.
    """
    out = np.zeros((6, 10))
    out[:3, 0] = a
    out[:3, 1:4] = skew(al) + skew(w) @ skew(w)
    out[3:, 1:4] = -skew(a)
    out[3:, 4:] = _on_tensor(al) + skew(w) @ _on_tensor(w)
    return out


def _on_tensor(v: Array) -> Array:
    """(3, 6): ``I v`` per entry ixx, ixy, ixz, iyy, iyz, izz."""
    x, y, z = v
    return np.array([[x, y, z, 0, 0, 0], [0, x, 0, y, z, 0], [0, 0, x, 0, y, z]])


def _parents_first(model: RobotModel) -> list[int]:
    def depth(j: int) -> int:
        parent = model.joints[j].parent
        return 0 if parent < FIRST_LEG_BODY else 1 + depth(parent - FIRST_LEG_BODY)

    return sorted(range(len(model.joints)), key=depth)
