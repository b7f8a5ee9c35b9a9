"""The pose that somebody asks for, and the last one that the robot could take."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.errors import ParallelDynamicsError
from parallel_dynamics.maps.grid import COORDINATES, free_coordinates, home_coordinates
from parallel_dynamics.maps.performance import reach
from parallel_dynamics.motion import BaseMotion, PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array
from parallel_dynamics.viewer.states import Shown, evaluate


class Posing:
    """A robot that is put into poses by its free coordinates, under a load.

    Attributes
    ----------
    names : list of str
        The coordinates that the robot has, of ``maps.COORDINATES``.
    ranges : dict of str to (float, float)
        A little more than what the robot reaches from home along each, m or rad.
    shown : Shown
        The last good state.
    refusal : str
        Why the last wish was refused; empty if it was not.
    """

    def __init__(self, robot: Robot) -> None:
        self.bare = self.robot = robot
        self.names = free_coordinates(robot)
        self.ranges = {k: (float(a), float(b)) for k in self.names for a, b in [reach(robot, k)]}
        self.payload = 0.0
        self.wrench = np.zeros(6)
        self.tilt = np.zeros(2)
        self.refusal = ''
        self.shown: Shown = evaluate(robot, robot.home)
        self.pose({})  # what the first slider would otherwise wait for is compiled now

    @property
    def base(self) -> BaseMotion:
        """The tilted base: rolled, then pitched, about the world's x and y."""
        return BaseMotion(self.base_rotation)

    @property
    def base_rotation(self) -> Array:
        """(3, 3) world <- base."""
        return np.asarray(Rotation.from_euler('xy', self.tilt).as_matrix())

    def coordinates(self) -> dict[str, float]:
        """Return the six coordinates of the pose shown, m and rad."""
        motion, home = self.shown.motion, self.robot.home
        turn = Rotation.from_matrix(motion.rotation @ home.rotation.T)
        yaw, pitch, roll = turn.as_euler('ZYX').tolist()
        return dict(zip(COORDINATES, [*motion.position.tolist(), roll, pitch, yaw]))

    def pose(self, wanted: Mapping[str, float]) -> PlatformMotion:
        """Return the pose on the closures with these free coordinates, the others as at home."""
        values = {**home_coordinates(self.robot), **wanted}
        turn = Rotation.from_euler('ZYX', [values[k] for k in ('yaw', 'pitch', 'roll')])
        rotation = turn.as_matrix() @ self.robot.home.rotation
        pose = PlatformMotion([values[k] for k in 'xyz'], rotation)
        return pose if self.robot.dof == 6 else self.robot.project(pose)

    def ask(self, wanted: Mapping[str, float]) -> bool:
        """Go to the pose with these free coordinates, or refuse it and stay."""
        free = {**{k: v for k, v in self.coordinates().items() if k in self.names}, **wanted}
        try:
            return self.ask_motion(self.pose(free))
        except ParallelDynamicsError as error:
            self.refusal = str(error)
            return False

    def ask_motion(self, motion: PlatformMotion) -> bool:
        """Take on a motion, or refuse it and keep the last good one."""
        try:
            shown = evaluate(self.robot, motion, self.wrench, self.base)
        except ParallelDynamicsError as error:
            self.refusal = str(error)
            return False
        self.shown, self.refusal = shown, ''
        return True

    def load(
        self, payload: float | None = None, tilt: Array | None = None, wrench: Array | None = None
    ) -> None:
        """Change payload (kg), tilt of the base (roll, pitch in rad) or external wrench (6,)."""
        if payload is not None and payload != self.payload:
            self.robot = self.bare.with_payload(payload) if payload else self.bare
            self.payload = payload
        self.tilt = self.tilt if tilt is None else tilt
        self.wrench = self.wrench if wrench is None else wrench
        refusal = self.refusal
        if self.ask_motion(self.shown.motion):
            self.refusal = refusal  # a wish that was refused before stays refused
