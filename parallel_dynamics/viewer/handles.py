"""Handles that drag the platform, only along the directions in which it is free."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array
from parallel_dynamics.viewer.posing import Posing

_TURNS = ('roll', 'pitch', 'yaw')


class DragHandles:
    """One handle for all free translations, and a ring for each free rotation.

    All stand in base axes at the platform's origin. ``wish`` is called with free coordinates
    while a handle is dragged.
    """

    def __init__(
        self, server: Any, posing: Posing, size: float, wish: Callable[[dict[str, float]], None]
    ) -> None:
        self._posing, self._wish = posing, wish
        self._held: str | None = None
        self._start: PlatformMotion = posing.shown.motion
        self._handles: dict[str, Any] = {}
        free = posing.names
        self._shifts = [name for name in 'xyz' if name in free]
        if self._shifts:
            self._add(
                server, 'shift', 0.42 * size, active_axes=tuple(name in free for name in 'xyz'),
                disable_rotations=True,
            )  # fmt: skip
        for k, name in enumerate(_TURNS):
            if name in free:
                # A ring belongs to the plane of the two axes that are active.
                axes = tuple(i != k for i in range(3))
                self._add(
                    server, name, 0.36 * size, active_axes=axes, disable_axes=True,
                    disable_sliders=True,
                )  # fmt: skip
        self.follow(posing.shown.motion)

    def _add(self, server: Any, name: str, size: float, **options: Any) -> None:
        handle = server.scene.add_transform_controls(
            f'/robot/handles/{name}', scale=size, line_width=2.0, depth_test=False, opacity=0.75,
            **options,
        )  # fmt: skip
        handle.on_update(lambda event: self._dragged(name, event))
        self._handles[name] = handle

    def _dragged(self, name: str, event: Any) -> None:
        phase = getattr(event, 'phase', 'update')
        if phase == 'start':
            self._held, self._start = name, self._posing.shown.motion
            return
        if phase == 'end':
            self._held = None
            self.follow(self._posing.shown.motion)
            return
        handle = event.target
        if name == 'shift':
            position = dict(zip('xyz', np.asarray(handle.position).tolist()))
            self._wish({k: position[k] for k in self._shifts})
            return
        self._wish(turned(self._posing.robot, self._start, np.asarray(handle.wxyz)))

    @property
    def visible(self) -> bool:
        """Whether the handles are shown."""
        return any(handle.visible for handle in self._handles.values())

    @visible.setter
    def visible(self, value: bool) -> None:
        for handle in self._handles.values():
            handle.visible = value

    def follow(self, motion: PlatformMotion) -> None:
        """Move all handles, but the one that is held, to the platform."""
        for name, handle in self._handles.items():
            if name != self._held:
                handle.position = motion.position
                handle.wxyz = np.array([1.0, 0.0, 0.0, 0.0])


def turned(robot: Robot, start: PlatformMotion, wxyz: Array) -> dict[str, float]:
    """Return roll, pitch and yaw from home of a pose that is turned about base axes."""
    turn = Rotation.from_quat(wxyz[[1, 2, 3, 0]]).as_matrix() @ start.rotation
    yaw, pitch, roll = Rotation.from_matrix(turn @ robot.home.rotation.T).as_euler('ZYX').tolist()
    free = {_TURNS[k - 3] for k in robot.engine.independent if k >= 3}
    return {k: v for k, v in zip(_TURNS, (roll, pitch, yaw)) if k in free}
