"""Single calls and batches of this engine and of its peers, with the error of every answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from casadi_peer import CasadiPeer
from generated_c import compiler
from mujoco_peer import MujocoPeer
import numpy as np
from numpy_peer import NumpyPeer
from operations import own_operations
from page import (
    BY_HAND,
    DIRECT,
    FORCES,
    GENERATED,
    INVERSE,
    KERNELS,
    MUJOCO,
    NUMPY,
    OURS,
    PINOCCHIO,
)
from pinocchio_peer import PinocchioPeer
from pinocchio_ups import UpsPeer
from scipy.spatial.transform import Rotation
from timing import Effort, medians, one_core

import parallel_dynamics as pd
from parallel_dynamics.forces import virtual_power_forces
from parallel_dynamics.unrolling.tracing import closed_form

ROBOTS = ('gough_stewart', 'delta', 'three_rps')
JUDGED = 20
"""States that answers are judged on, of a batch too."""
ON_TRACK = 16
"""States that single calls are timed on, one after the other."""

REGRESSOR, JOINTS = 'regressor', 'inverse kinematics'
FORWARD, FROM_HOME = 'forward kinematics, 1 ms away', 'forward kinematics, from home'
KINDS = (INVERSE, DIRECT, FORCES, REGRESSOR, JOINTS, FORWARD, FROM_HOME)
LARGE = {REGRESSOR: 10, FORWARD: 10, FROM_HOME: 10}
"""Batches divided by this: a regressor is large, and forward kinematics takes long."""


def random_motions(robot: pd.Robot, count: int, seed: int = 0) -> pd.PlatformMotion:
    """Return states around home that the closures allow."""
    rng = np.random.default_rng(seed)
    length = float(robot.engine.packed.system[0]['length'])
    free = np.zeros(6)
    free[list(robot.engine.independent)] = 1.0
    shift = rng.uniform(-0.1, 0.1, (count, 6)) * free
    position = robot.home.position + length * shift[:, :3]
    rotation = Rotation.from_rotvec(2.0 * shift[:, 3:]).as_matrix() @ robot.home.rotation
    rates = [rng.normal(size=(count, 3)) for _ in range(4)]
    return robot.project(pd.PlatformMotion(position, rotation, *rates))


def earlier(robot: pd.Robot, m: pd.PlatformMotion, time: float) -> pd.PlatformMotion:
    """Return the poses of a batch some time (s) before, at constant velocity."""
    back = Rotation.from_rotvec(-time * m.angular_velocity).as_matrix()
    return robot.project(pd.PlatformMotion(m.position - time * m.velocity, back @ m.rotation))


def track(robot: pd.Robot, m: pd.PlatformMotion) -> pd.PlatformMotion:
    """Return states on a way to and fro, 1 ms from one to the next: what a controller sees.

    The same state again and again would spare those who start from the last one all their work.
    """
    half = ON_TRACK // 2
    times = 1e-3 * (half - np.abs(np.arange(ON_TRACK) - half))
    turn = Rotation.from_rotvec(times[:, None] * m.angular_velocity).as_matrix()
    position = m.position + times[:, None] * m.velocity
    rates = [np.tile(v, (ON_TRACK, 1)) for v in
             (m.velocity, m.angular_velocity, m.acceleration, m.angular_acceleration)]  # fmt: skip
    return robot.project(pd.PlatformMotion(position, turn @ m.rotation, *rates))


def error(values: np.ndarray, truth: np.ndarray) -> float:
    """Largest error relative to the largest value (to 1 where the truth is zero)."""
    return float(np.abs(values - truth).max() / (np.abs(truth).max() or 1.0))


@dataclass
class Case:
    """One engine doing one thing.

    ``prepare(m, u)`` gives the call for one state, ``answer(m, found)`` what its result means and
    ``truth(m, u)`` what that should be; ``batch(m, u)`` gives the call for many states and
    ``pick(m, found, k)`` the answer for one of them.
    """

    kind: str
    peer: str
    prepare: Callable[[pd.PlatformMotion, np.ndarray], Callable[[], object]]
    truth: Callable[[pd.PlatformMotion, np.ndarray], np.ndarray]
    answer: Callable[[pd.PlatformMotion, object], np.ndarray] = lambda m, found: found
    batch: Callable[[pd.PlatformMotion, np.ndarray], Callable[[], object]] | None = None
    pick: Callable[[pd.PlatformMotion, object, int], np.ndarray] = lambda m, found, k: found[k]
    operations: int | None = None

    def error(self, m: pd.PlatformMotion, u: np.ndarray) -> float:
        """Error of single calls, over some states."""
        found = [np.array(self.answer(x, self.prepare(x, y)())) for x, y in zip(m, u)]
        return error(np.array(found), np.array([self.truth(x, y) for x, y in zip(m, u)]))

    def batch_error(
        self, call: Callable[[], object], m: pd.PlatformMotion, u: np.ndarray
    ) -> float:
        """Error of a batch, over some of its states."""
        found = call()
        some = np.linspace(0, len(m) - 1, JUDGED).astype(int).tolist()
        values = np.array([self.pick(m, found, k) for k in some])
        return error(values, np.array([self.truth(m[k], u[k]) for k in some]))


class Cases:
    """One robot in all engines."""

    def __init__(self, name: str) -> None:
        self.robot, self.plain = pd.load_robot(name), pd.load_robot(name)
        self.plain.engine.unrolls = False
        self.motions = random_motions(self.robot, JUDGED)
        self.efforts = self.robot.inverse_dynamics(self.motions)
        self.numpy = NumpyPeer(self.robot)
        self.pinocchio = PinocchioPeer(self.robot)
        self.mujoco = MujocoPeer(self.robot)
        self.by_hand = UpsPeer(self.robot) if name == 'gough_stewart' else None
        self.iterates = not closed_form(self.robot.engine.packed)
        self.generated = None
        if compiler():
            self.generated = CasadiPeer(self.robot, random_motions(self.robot, 200, seed=2))
        self.cases = [*self._own(self.robot, OURS), *self._own(self.plain, KERNELS)]
        self.cases += [*self._generated(), *self._peers(), *self._alone()]

    # ------------------------------------------------------------ this engine

    def _own(self, robot: pd.Robot, peer: str) -> list[Case]:
        """What a program written for one robot makes faster."""
        counted = {}
        if peer == OURS:
            counted = own_operations(robot, self.motions[0], self.efforts[0])
        return [
            Case(INVERSE, peer, lambda m, u: partial(robot.inverse_dynamics, m),
                 lambda m, u: self.pinocchio.inverse(m),
                 batch=lambda m, u: partial(robot.inverse_dynamics, m),
                 operations=counted.get('inverse')),
            Case(DIRECT, peer, lambda m, u: partial(robot.direct_dynamics, m, u), _acceleration,
                 batch=lambda m, u: partial(robot.direct_dynamics, m, u),
                 operations=counted.get('direct')),
            Case(FORCES, peer, lambda m, u: partial(robot.joint_forces, m),
                 lambda m, u: virtual_power_forces(robot, m).array,
                 lambda m, found: found.array,
                 lambda m, u: partial(robot.joint_forces, m),
                 lambda m, found, k: found.array[k]),
        ]  # fmt: skip

    def _alone(self) -> list[Case]:
        """What only the kernels do, the same for every robot."""
        robot = self.robot
        drives = list(robot.model.actuators)

        def forward(near: bool, m: pd.PlatformMotion) -> Callable[[], object]:
            joints = robot.inverse_kinematics(m)
            start = earlier(robot, m, 1e-3) if near else None
            q, qd = joints.position[..., drives], joints.velocity[..., drives]
            return partial(robot.forward_kinematics, q, qd, start)

        found = [
            Case(REGRESSOR, OURS, lambda m, u: partial(robot.regressor, m),
                 lambda m, u: u, lambda m, found: found @ robot.parameters,
                 lambda m, u: partial(robot.regressor, m),
                 lambda m, found, k: found[k] @ robot.parameters),
            Case(JOINTS, OURS, lambda m, u: partial(robot.inverse_kinematics, m),
                 lambda m, u: np.zeros(3), self._open,
                 lambda m, u: partial(robot.inverse_kinematics, m),
                 lambda m, found, k: self._open(m[k], _joints(found, k))),
        ]  # fmt: skip
        for kind, near in ((FORWARD, True), (FROM_HOME, False)):
            found.append(Case(
                kind, OURS, lambda m, u, near=near: forward(near, m), lambda m, u: m.data[:18],
                lambda m, found: found.data[:18], lambda m, u, near=near: forward(near, m),
                lambda m, found, k: found.data[k, :18],
            ))  # fmt: skip
        return found

    def _open(self, m: pd.PlatformMotion, joints: pd.JointMotion) -> np.ndarray:
        """By how much closures are open, drift apart and accelerate apart, by the NumPy peer."""
        peer = self.numpy
        peer._prepare(m, joints.position)
        gap = peer.x - m.position - peer.head @ m.rotation.T
        drifting = peer.K_q @ joints.velocity + peer.K_p @ m.twist
        parting = peer.K_q @ joints.acceleration + peer.K_p @ m.twist_rate + peer.drift
        length = float(self.robot.engine.packed.system[0]['length'])
        scales = length, np.abs(m.twist).max(), np.abs(peer.drift).max()
        return np.array([np.abs(x).max() / s for x, s in zip((gap, drifting, parting), scales)])

    # ------------------------------------------------------------ the others

    def _generated(self) -> list[Case]:
        peer = self.generated
        if peer is None:
            return []
        return [
            Case(kind, GENERATED, partial(_ready, peer, name),
                 truth, batch=partial(_many, peer, name), operations=peer.operations[name])
            for kind, name, truth in (
                (INVERSE, 'inverse', self._efforts), (DIRECT, 'direct', _acceleration))
        ]  # fmt: skip

    def _efforts(self, m: pd.PlatformMotion, u: np.ndarray) -> np.ndarray:
        return u

    def _peers(self) -> list[Case]:
        pinocchio, mujoco = self.pinocchio, self.mujoco

        def given(m: pd.PlatformMotion) -> np.ndarray:
            return self.robot.inverse_kinematics(m).position

        cases = [
            Case(INVERSE, PINOCCHIO, lambda m, u: partial(pinocchio.inverse, m), self._efforts),
            Case(DIRECT, PINOCCHIO,
                 lambda m, u: partial(pinocchio.direct, pinocchio.prepare(m, u)), _acceleration,
                 pinocchio.platform_acceleration),
            Case(INVERSE, MUJOCO, lambda m, u: partial(mujoco.inverse, mujoco.prepare(m, u)),
                 self._efforts),
            Case(DIRECT, MUJOCO, lambda m, u: partial(mujoco.direct, mujoco.prepare(m, u)),
                 _acceleration, mujoco.platform_acceleration),
            Case(INVERSE, NUMPY, lambda m, u: partial(self.numpy.inverse, m, given(m)),
                 self._efforts),
            Case(DIRECT, NUMPY, lambda m, u: partial(self.numpy.direct, m, given(m), u),
                 _acceleration),
        ]  # fmt: skip
        if self.by_hand is not None:
            by_hand = self.by_hand
            cases.append(Case(INVERSE, BY_HAND, lambda m, u: partial(by_hand.inverse, m),
                              self._efforts))  # fmt: skip
        return cases

    # ------------------------------------------------------------ measuring

    def measure(self) -> list[dict[str, object]]:
        """Return one row for each engine and thing: times (s), errors, operations."""
        m, u = self.motions, self.efforts
        rows = {}
        for case in self.cases:
            rows[case.kind, case.peer] = {
                'kind': case.kind, 'peer': case.peer, 'single': None,
                'single_error': case.error(m, u), 'batch': None, 'batch_error': None,
                'operations': case.operations,
            }  # fmt: skip
        there = track(self.robot, m[0])
        on_way = list(zip(there, self.robot.inverse_dynamics(there)))
        calls = {(c.kind, c.peer): [c.prepare(*x) for x in on_way] for c in self.cases}
        with one_core():
            for key, time in medians(calls).items():
                rows[key]['single'] = time
        for kind in KINDS:
            self._measure_batches([c for c in self.cases if c.kind == kind and c.batch], rows)
        return list(rows.values())

    def _measure_batches(self, cases: list[Case], rows: dict) -> None:
        """Fill in batches of one kind, one after the other in memory."""
        count = max(JUDGED, Effort.states // LARGE.get(cases[0].kind, 1))
        m = random_motions(self.robot, count, seed=1)
        u = self.robot.inverse_dynamics(m)
        calls = {(c.kind, c.peer): c.batch(m, u) for c in cases}
        for case in cases:
            row = rows[case.kind, case.peer]
            row['batch_error'] = case.batch_error(calls[case.kind, case.peer], m, u)
        for key, time in medians(calls, round_time=0.0).items():
            rows[key]['batch'], rows[key]['states'] = time / count, count

    def call_time(self) -> float | None:
        """Median time (s) of a call into C that does nothing: what ctypes takes."""
        if self.generated is None:
            return None
        call, _ = self.generated.prepare('nothing', self.motions[0], self.efforts[0])
        with one_core():
            return medians({'nothing': call})['nothing']


def _acceleration(m: pd.PlatformMotion, u: np.ndarray) -> np.ndarray:
    return m.twist_rate


def _joints(found: pd.JointMotion, k: int) -> pd.JointMotion:
    return pd.JointMotion(
        found.names, found.position[k], found.velocity[k], found.acceleration[k]
    )


def _ready(peer: CasadiPeer, name: str, m: pd.PlatformMotion, u: np.ndarray):
    call, out = peer.prepare(name, m, u)

    def once() -> np.ndarray:
        call()
        return out

    return once


def _many(peer: CasadiPeer, name: str, m: pd.PlatformMotion, u: np.ndarray):
    return partial(peer.many, name, m, u)
