"""External wrench on the platform from actuator positions, velocities and efforts.

A momentum observer: of the platform's equation of motion in its independent components,

    A V_r' + h = (L S)^T Gamma + S^T w,

the momentum A V_r is known from measured velocities, and the unknown S^T w is what its rate lacks,
seen through a first-order filter. Between two samples the rate of momentum less A' V_r is the
mean A times the change of V_r, so that no acceleration is ever measured or differentiated.

What the model does not know goes into the wrench: an unmodelled load, and dry friction of joints
that stand still, which may be anything up to its limit.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError
from parallel_dynamics.forces.filters import StateFilter
from parallel_dynamics.joint_forces import JointForces
from parallel_dynamics.motion import BaseMotion, PlatformMotion, checked, positive
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array


@dataclass(frozen=True, eq=False)
class WrenchEstimate:
    """What an observer knows after a sample.

    Attributes
    ----------
    motion : PlatformMotion
        Pose and twist from forward kinematics, acceleration from direct dynamics under the
        measured efforts and the estimated wrench.
    generalized : (n,)
        S^T w: the part of the external wrench that moves the platform, N and N m.
    wrench : (6,)
        The smallest wrench (moments over the characteristic length) with that part, on the
        platform at its origin, base axes. With six degrees of freedom it is the wrench; with
        fewer, what acts against the closures alone cannot be seen and is not in it.
    efforts : (n,)
        Of the actuators, as used.
    base : BaseMotion or None
        Of the base, as used.
    """

    robot: Robot
    motion: PlatformMotion
    generalized: Array
    wrench: Array
    efforts: Array
    base: BaseMotion | None

    @property
    def observable(self) -> bool:
        """Whether the whole wrench is seen: only with six degrees of freedom."""
        return self.robot.dof == 6

    def joint_forces(self, indeterminate: str = 'least-norm') -> JointForces:
        """Wrench at every joint for this motion and the estimated wrench."""
        return self.robot.joint_forces(self.motion, self.wrench, self.base, indeterminate)


class MomentumObserver:
    """Estimates the external wrench on the platform, sample by sample.

    Parameters
    ----------
    robot : Robot
    cutoff : float
        Of the first-order filter on the estimate, Hz; its gain is ``2 pi cutoff`` (1/s).
    state_cutoff : float, optional
        Hz. If given, velocities need not be measured: positions go through a
        :class:`StateFilter`, efforts and the motion of the base through one like it, so that all
        are equally late.
    guess : PlatformMotion, optional
        Where forward kinematics starts; home by default.
    """

    def __init__(
        self,
        robot: Robot,
        cutoff: float,
        state_cutoff: float | None = None,
        guess: PlatformMotion | None = None,
    ) -> None:
        self.robot = robot
        self.gain = 2.0 * math.pi * positive('cutoff', cutoff)
        self._state_cutoff = state_cutoff
        self._filters = None if state_cutoff is None else _filters(state_cutoff)
        self._guess = guess
        self._length = float(robot.engine.packed.system[0]['length'])
        self._last: tuple[Array, Array, Array, Array] | None = None
        self._value = np.zeros(robot.dof)

    @property
    def delay(self) -> float:
        """Delay of the estimate, s: by how much it is late on a wrench that grows steadily.

        A sudden wrench is seen to 63 % after ``1 / gain``. With a state filter its own delay comes
        on top. Sampling adds next to nothing (gain dt^2 / 12).
        """
        return 1.0 / self.gain + (0.0 if self._filters is None else self._filters[0].delay)

    def reset(self, guess: PlatformMotion | None = None) -> None:
        """Forget everything, but for where forward kinematics starts."""
        self._guess = self._guess if guess is None else guess
        self._last = None
        self._value = np.zeros(self.robot.dof)
        if self._state_cutoff is not None:
            self._filters = _filters(self._state_cutoff)

    def update(
        self,
        positions: ArrayLike,
        velocities: ArrayLike | None,
        efforts: ArrayLike,
        dt: float,
        base: BaseMotion | None = None,
    ) -> WrenchEstimate:
        """Take one sample of the actuators.

        Parameters
        ----------
        positions, velocities : (n,)
            Now; ``velocities`` may be None with ``state_cutoff``, and are not read then.
        efforts : (n,)
            Mean over the time since the last sample (a held command is its own mean).
        dt : float
            Time since the last sample, s; not used with the first one.
        base : BaseMotion, optional
            Motion of the base now; with every sample or with none.
        """
        n = self.robot.dof
        q = checked('positions', positions, (n,), single=True)
        gamma = np.array(checked('efforts', efforts, (n,), single=True))
        step = positive('dt', dt)
        if self._filters is not None:
            q, qd = self._filters[0].update(q, step)
            gamma, _ = self._filters[1].update(gamma, step)
            base = None if base is None else _late(base, self._filters[2], step)
        else:
            given = np.nan if velocities is None else velocities
            qd = checked('velocities', given, (n,), single=True)
        motion = self.robot.forward_kinematics(q, qd, self._guess)
        self._guess = motion
        mass, bias = self.robot.mass_matrix(motion), self.robot.bias(motion, None, base)
        work = self.robot.engine.work
        S, LS = np.array(work['S'][:, :n]), np.array(work['LS'][:n, :n])
        rate = motion.twist[list(self.robot.engine.independent)]
        now = (mass, bias, LS, rate)
        if self._last is not None:
            A, h, drive = (0.5 * (a + b) for a, b in zip(self._last[:3], now[:3]))
            pushed = A @ (rate - self._last[3]) / step + h - drive.T @ gamma
            self._value = self._value + (1.0 - math.exp(-self.gain * step)) * (
                pushed - self._value
            )
        self._last = now
        wrench = self._smallest(S)
        twist_rate = self.robot.direct_dynamics(motion, gamma, wrench, base)
        complete = motion.replace(motion.twist, twist_rate)
        return WrenchEstimate(self.robot, complete, self._value.copy(), wrench, gamma, base)

    def _smallest(self, S: Array) -> Array:
        """The smallest w (6,) with S^T w as estimated."""
        weight = np.array([1.0] * 3 + [self._length**2] * 3)
        return np.asarray(weight * (S @ np.linalg.solve(S.T @ (weight[:, None] * S), self._value)))


def _filters(cutoff: float) -> tuple[StateFilter, StateFilter, StateFilter]:
    """Filters of positions, efforts and the base's motion."""
    return StateFilter(cutoff), StateFilter(cutoff), StateFilter(cutoff)


def _late(base: BaseMotion, delaying: StateFilter, step: float) -> BaseMotion:
    """Return the base's motion behind a filter; its rotation is the one next to the filtered."""
    if not isinstance(base, BaseMotion) or base.batch is not None:
        raise InputError('base: expected a single BaseMotion or None')
    row, _ = delaying.update(base.data, step)
    u, _, vt = np.linalg.svd(row[:9].reshape(3, 3))
    return BaseMotion(u @ vt, row[9:12], row[12:15], row[15:18], row[18:21])
