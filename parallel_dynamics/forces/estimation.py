"""Joint forces of a running robot, sample by sample, from what its drives tell.

Two ways, which differ in what they take for granted:

- With measured efforts the momentum observer finds the external wrench, and the platform's
  acceleration is the one that efforts and wrench give it. Nothing is differentiated twice.
- Without, the external wrench must be known (zero, or a sensor's), and the acceleration is that
  of the measured positions behind a filter, which delays everything by the same time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError
from parallel_dynamics.forces.filters import StateFilter
from parallel_dynamics.forces.observer import MomentumObserver
from parallel_dynamics.joint_forces import JointForces
from parallel_dynamics.kernels import batch
from parallel_dynamics.motion import BaseMotion, PlatformMotion, checked
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

OBSERVER, KNOWN = 'observer', 'known wrench'
"""Names of the two ways."""
LONGEST_GAP = 0.5
"""Seconds between two samples after which filters start anew."""


@dataclass(frozen=True, eq=False)
class ForceEstimate:
    """What is known after a sample.

    Attributes
    ----------
    time : float
        Of the sample, s; what is estimated is ``delay`` older.
    motion : PlatformMotion
    wrench : (6,)
        External, on the platform at its origin, base axes.
    efforts : (n,) or None
        As measured (and filtered where positions are); None where there were none.
    way : str
        ``OBSERVER`` or ``KNOWN``.
    delay : float
        Of wrench and forces against the robot, s, for loads that change slowly against the
        filters.
    """

    robot: Robot
    time: float
    motion: PlatformMotion
    wrench: Array
    efforts: Array | None
    base: BaseMotion | None
    way: str
    delay: float

    @cached_property
    def joint_forces(self) -> JointForces:
        """Wrench at every joint and closure."""
        return self.robot.joint_forces(self.motion, self.wrench, self.base)

    @property
    def effort_residual(self) -> Array | None:
        """Measured efforts less those of the model (n,); None where none are measured.

        With the observer it is zero but for rounding: what the model lacks is in the wrench.
        """
        return None if self.efforts is None else self.efforts - self.joint_forces.efforts


class ForceEstimator:
    """Turns samples of the drives into joint forces.

    Parameters
    ----------
    robot : Robot
    observe : bool
        Find the external wrench from measured efforts, where there are any.
    observer_cutoff : float
        Of the observer, Hz.
    state_cutoff : float
        Of the filter on positions, Hz; used where velocities are not measured, and without
        the observer.
    """

    def __init__(
        self,
        robot: Robot,
        observe: bool = True,
        observer_cutoff: float = 20.0,
        state_cutoff: float = 50.0,
    ) -> None:
        self.robot = robot
        self.observe = observe
        self.observer_cutoff = observer_cutoff
        self.state_cutoff = state_cutoff
        self._actuators = list(robot.model.actuators)
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next sample is looked for from home."""
        self._guess: PlatformMotion | None = None
        self._start_anew()

    def _start_anew(self) -> None:
        """Forget all but where the platform was."""
        self._time: float | None = None
        self._kind: tuple[bool, bool, bool] | None = None
        self._observer: MomentumObserver | None = None
        self._states = StateFilter(self.state_cutoff)
        self._speeds = StateFilter(self.state_cutoff)
        self._loads = StateFilter(self.state_cutoff)

    def update(
        self,
        time: float,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        efforts: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
    ) -> ForceEstimate:
        """Take one sample of the actuators.

        Parameters
        ----------
        time : float
            Of the sample, s; after a gap of half a second, and when time goes back, filters
            start anew. A sample as old as the last one is refused.
        positions, velocities, efforts : (n,)
            In the order of ``robot.actuators``; velocities and efforts where measured.
        wrench : (6,), optional
            External wrench as far as it is known otherwise; not read while observing.
        base : BaseMotion, optional
        """
        n = self.robot.dof
        q = checked('positions', positions, (n,), single=True)
        qd = None if velocities is None else checked('velocities', velocities, (n,), single=True)
        gamma = None if efforts is None else checked('efforts', efforts, (n,), single=True)
        observing = self.observe and gamma is not None
        if self._time is not None and time == self._time:
            raise InputError(f'time: expected later than the last sample, got {time:.6f} again')
        step = 0.0 if self._time is None else time - self._time
        kind = (observing, qd is None, gamma is None)
        if not 0.0 < step <= LONGEST_GAP or kind != self._kind:
            self._start_anew()
            self._kind = kind
            step = 1e-3  # no filter reads it at the first sample
        if observing and gamma is not None:
            found = self._by_observer(time, q, qd, gamma, step, base)
        else:
            load = checked('wrench', np.zeros(6) if wrench is None else wrench, (6,), single=True)
            found = self._by_filter(time, q, qd, gamma, load, step, base)
        self._time = time
        self._guess = found.motion
        return found

    def _by_observer(
        self, time: float, q: Array, qd: Array | None, gamma: Array, step: float,
        base: BaseMotion | None,
    ) -> ForceEstimate:  # fmt: skip
        if self._observer is None:
            filtered = self.state_cutoff if qd is None else None
            self._observer = MomentumObserver(
                self.robot, self.observer_cutoff, filtered, self._guess
            )
        o = self._observer
        found = o.update(q, qd, gamma, step, base)
        return ForceEstimate(
            self.robot, time, found.motion, found.wrench, found.efforts, found.base, OBSERVER,
            o.delay,
        )  # fmt: skip

    def _by_filter(
        self, time: float, q: Array, qd: Array | None, gamma: Array | None, load: Array,
        step: float, base: BaseMotion | None,
    ) -> ForceEstimate:  # fmt: skip
        x, v = self._states.update(q, step)
        # The filter's own acceleration is that of the input, as late as position and velocity.
        w = 2.0 * np.pi * self.state_cutoff
        a = w * w * (q - x) - 2.0 * w * v
        if qd is not None:
            v, a = self._speeds.update(qd, step)
        load = self._loads.update(load if gamma is None else np.append(load, gamma), step)[0]
        motion = self.robot.forward_kinematics(x, v, self._guess)
        motion = motion.replace(twist_rate=platform_acceleration(self.robot, motion, a))
        late = None if gamma is None else load[6:]
        return ForceEstimate(
            self.robot, time, motion, load[:6], late, base, KNOWN, self._states.delay
        )


def platform_acceleration(robot: Robot, m: PlatformMotion, actuators: ArrayLike) -> Array:
    """[acceleration; angular acceleration] (6,) of the platform for those of the actuators (n,).

    Pose and twist of ``m`` count. ``qdd_a = (L S) V_r' + drift``, the drift being what the
    actuators do at ``V_r' = 0``, where the platform accelerates by ``s``.
    """
    n = robot.dof
    robot.engine.solve(m, batch.VELOCITIES)
    work = robot.engine.work
    S, s, LS = (np.array(work[name]) for name in ('S', 's', 'LS'))
    coasting = robot.inverse_kinematics(m.replace(twist_rate=s))
    drift = coasting.acceleration[list(robot.model.actuators)]
    rate = np.linalg.solve(LS[:n, :n], np.asarray(actuators, float) - drift)
    return np.asarray(S[:, :n] @ rate + s)
