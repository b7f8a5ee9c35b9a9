"""Inverse dynamics as a control loop calls it: few allocations, friction apart."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.kernels import batch, layout
from parallel_dynamics.motion import BaseMotion, PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array


class InverseModel:
    """Efforts of a robot on a base that may move.

    Friction is asked for by itself, since a law that feeds back the measured motion should
    compensate the friction of the desired one: at rest, measured velocities are only noise.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._out = np.empty((1, robot.dof))
        self._external: Array | None = None
        nothing = dict.fromkeys(layout.OPTIONS.names or (), 0.0)
        self._without_friction = layout.options(friction=0.0)
        self._friction_alone = layout.options(**{**nothing, 'friction': 1.0})
        self._no_rate = np.zeros(robot.dof)

    def set_base(self, base: BaseMotion | None) -> None:
        """Let the base move, from now on, as given; None is level and at rest."""
        self._external = None if base is None else self.robot.engine.external(None, base, None)

    @property
    def external(self) -> Array | None:
        """Base motion (1, 28) as the kernels take it; None while level and at rest."""
        return self._external

    def efforts(self, m: PlatformMotion) -> Array:
        """Return all efforts (n,) of a motion."""
        return self._evaluate(m, None)

    def without_friction(self, m: PlatformMotion) -> Array:
        """Return the efforts (n,) of a motion but those that friction takes."""
        return self._evaluate(m, self._without_friction)

    def friction(self, m: PlatformMotion) -> Array:
        """Return the efforts (n,) that friction takes; the acceleration of ``m`` is not read."""
        return self._evaluate(self.with_acceleration(m, self._no_rate), self._friction_alone)

    def holding(self, pose: PlatformMotion) -> Array:
        """Return the efforts (n,) that hold a pose at rest."""
        data = np.zeros(24)
        data[:12] = pose.data[:12]
        return self.without_friction(PlatformMotion._wrap(data))

    def with_acceleration(self, m: PlatformMotion, acceleration: Array) -> PlatformMotion:
        """Return pose and twist of ``m`` with independent accelerations V_r' (n,).

        The dependent ones follow from the closures: V_p' = S V_r' + s.
        """
        data = np.empty(24)
        data[:18] = m.data[:18]
        if self.robot.dof == 6:
            data[18:] = acceleration
        else:
            engine = self.robot.engine
            engine.solve(m, batch.VELOCITIES, own=True)
            work = engine.work
            data[18:] = work['S'][:, : self.robot.dof] @ acceleration + work['s']
        return PlatformMotion._wrap(data)  # type: ignore[no-any-return]

    def _evaluate(self, m: PlatformMotion, options: object) -> Array:
        engine = self.robot.engine
        if self._external is None and options is None:
            engine.evaluate_plain(batch.INVERSE, m, self._out)
        else:
            engine.evaluate(batch.INVERSE, m, self._out, self._external, None, options)
        return self._out[0].copy()
