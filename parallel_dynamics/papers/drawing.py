"""Line drawings of robots from their data, for the figures that the papers draw by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parallel_dynamics.papers.report import COLOURS, GREY, new_figure
from parallel_dynamics.spatial import Array

BODY = '#444444'


@dataclass(frozen=True)
class _Name:
    """What is written beside a point, away from another or from the middle of the drawing."""

    point: Array
    text: str
    away_from: Array | None
    colour: str
    offset: tuple[float, float] | None = None


class Sketch:
    """A drawing in space, in metres, with equal scales on all axes."""

    def __init__(self, panels: int = 1, size: tuple[float, float] | None = None) -> None:
        self.figure, axes = new_figure(
            1,
            panels,
            size=size or (5.6 * panels, 5.2),
            subplot_kw={'projection': '3d'},
            squeeze=False,
        )
        self.panels = list(axes[0])
        self.axes = self.panels[0]
        self._points: dict[int, list[Array]] = {k: [] for k in range(panels)}
        self._names: dict[int, list[_Name]] = {k: [] for k in range(panels)}

    def panel(self, index: int, title: str = '') -> None:
        """Draw into another panel from now on."""
        self.axes = self.panels[index]
        if title:
            self.axes.set_title(title, fontsize=10)

    def _see(self, *points: Array) -> None:
        self._points[self.panels.index(self.axes)].extend(points)

    def _name(
        self, point: Array, text: str, away_from: Array | None = None, colour: str = 'black'
    ) -> None:
        name = _Name(point, text, away_from, colour)
        self._names[self.panels.index(self.axes)].append(name)

    def line(self, *points: Array, closed: bool = False, **style: Any) -> None:
        """Draw a polygon through points (3,)."""
        corners = [*points, points[0]] if closed else list(points)
        self._see(*points)
        style = {'color': BODY, 'linewidth': 2.0, **style}
        self.axes.plot(*np.array(corners).T, **style)

    def plate(self, corners: Sequence[Array], colour: str) -> None:
        """Draw a filled polygon."""
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        self._see(*corners)
        self.axes.add_collection3d(
            Poly3DCollection([np.array(corners)], facecolor=colour, edgecolor=colour, alpha=0.25)
        )

    def dot(
        self,
        point: Array,
        label: str = '',
        colour: str = BODY,
        size: float = 22.0,
        away_from: Array | None = None,
    ) -> None:
        """Draw a joint, with its name beside it, away from another point or from the middle."""
        self._see(point)
        self.axes.scatter(*point, color=colour, s=size, depthshade=False)
        if label:
            self._name(point, label, away_from)

    def frame(self, origin: Array, rotation: Array, length: float, name: str) -> None:
        """Draw a frame with its axes x, y, z."""
        self._name(origin, name, away_from=origin + rotation @ np.ones(3))
        for k, axis in enumerate('xyz'):
            self.arrow(origin, rotation[:, k], length, axis, COLOURS[k + 1])

    def arrow(
        self, origin: Array, direction: Array, length: float, label: str, colour: str
    ) -> None:
        """Draw an arrow with a label at its tip."""
        tip = origin + length * direction
        self._see(origin, tip)
        self.axes.quiver(*origin, *(length * direction), color=colour, linewidth=1.6)
        self._name(tip, label, origin, colour)

    def note(self, point: Array, text: str, offset: tuple[float, float]) -> None:
        """Write beside a point, ``offset`` in points of the page to the right and up."""
        self._see(point)
        name = _Name(point, text, None, 'black', offset)
        self._names[self.panels.index(self.axes)].append(name)

    def finish(self, elevation: float = 22.0, azimuth: float = -60.0) -> Any:
        """Set scales and view, and return the figure."""
        for k, axes in enumerate(self.panels):
            points = np.array(self._points[k])
            centre = 0.5 * (points.max(axis=0) + points.min(axis=0))
            half = 0.55 * np.ptp(points, axis=0).max()
            for axis, middle in zip('xyz', centre):
                getattr(axes, f'set_{axis}lim')(middle - half, middle + half)
                getattr(axes, f'set_{axis}label')(f'{axis} [m]', fontsize=9)
                getattr(axes, f'{axis}axis').set_tick_params(labelsize=8)
            axes.set_box_aspect((1, 1, 1), zoom=1.0)
            axes.view_init(elevation, azimuth)
            for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
                axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
                axis.line.set_color(GREY)
                axis.set_major_locator(_few_ticks())
            _write_names(axes, points, self._names[k])
        return self.figure


def _write_names(axes: Any, points: Array, names: list[_Name]) -> None:
    """Write names beside their points as they are seen, with a white rim."""
    from matplotlib.patheffects import withStroke
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    def seen(where: Array) -> Array:
        return np.array(proj_transform(*np.atleast_2d(where).T, axes.get_proj())[:2]).T

    middle = seen(points).mean(axis=0)
    for name in names:
        at = seen(name.point)[0]
        away = at - (middle if name.away_from is None else seen(name.away_from)[0])
        away /= max(float(np.linalg.norm(away)), 1e-9)
        if name.offset is not None:
            away = np.array(name.offset) / 8.0
        side = 'center' if abs(away[0]) < 0.5 else 'left' if away[0] > 0.0 else 'right'
        axes.annotate(
            name.text,
            at,
            xytext=8.0 * away,
            textcoords='offset points',
            ha=side,
            va='center' if side != 'center' else 'bottom' if away[1] > 0.0 else 'top',
            fontsize=9,
            color=name.colour,
            path_effects=[withStroke(linewidth=2.5, foreground='white')],
        )


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(5)
