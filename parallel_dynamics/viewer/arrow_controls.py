"""Which arrows are shown, and how long they are: separate scales for N and N m."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from parallel_dynamics.viewer import html
from parallel_dynamics.viewer.scene import KINDS, RobotScene


class ArrowControls:
    """Check boxes, two scales and a legend; ``changed`` is called after a change."""

    def __init__(self, server: Any, scene: RobotScene, changed: Callable[[], None]) -> None:
        self._scene, self._changed = scene, changed
        self._first = dict(scene.scales)
        gui = server.gui
        self._legend = gui.add_html('')
        for kind in scene.kinds:
            name = KINDS[kind][1]
            box = gui.add_checkbox(f'{name}s', scene.visible[kind])
            box.on_update(lambda event, kind=kind: self._show(kind, event.target.value))
        for unit in dict.fromkeys(KINDS[kind][2] for kind in scene.kinds):
            slider = gui.add_slider(
                f'scale of {unit}', min=0.1, max=5.0, step=0.1, initial_value=1.0
            )
            slider.on_update(lambda event, unit=unit: self._scale(unit, event.target.value))
        self.write()

    def _show(self, kind: str, visible: bool) -> None:
        self._scene.visible[kind] = visible
        self._changed()

    def _scale(self, unit: str, factor: float) -> None:
        self._scene.scales[unit] = self._first[unit] * factor
        self._changed()

    def write(self) -> None:
        """Write the legend."""
        kinds = [kind for kind in self._scene.kinds if self._scene.visible[kind]]
        content = html.legend(self._scene.scales, kinds)
        if self._legend.content != content:
            self._legend.content = content
