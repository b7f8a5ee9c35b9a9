"""Pictures of performance maps: slices as filled contours, volumes as stacks of slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.maps.grid import UNITS
from parallel_dynamics.maps.performance import PerformanceMap
from parallel_dynamics.plots.style import COLOURS, GREY, RED, SURFACE, in_style, new_figure
from parallel_dynamics.spatial import Array

TITLES = {
    'margin': 'distance from singularities\n1 / condition number',
    'joint_margin': 'joint nearest to its limits\nshare of its range',
    'effort': 'largest static effort',
    'effort_moving': 'largest effort to accelerate',
    'force': 'force held in every direction',
    'moment': 'moment held in every direction',
    'joint_force': 'largest joint force',
}
LOADS = ('effort', 'effort_moving', 'joint_force')
"""What grows without bound near a singularity."""
SLICES = 6
"""Levels of a volume's stack."""


@in_style
def map_figure(m: PerformanceMap, names: list[str] | None = None) -> Any:
    """Draw a map over one, two or three coordinates."""
    shown = names or [
        n for n in TITLES
        if n in m.values and np.isfinite(_within(m, n)).any()
        and not (n == 'effort_moving' and not any(m.settings.values()))
    ]  # fmt: skip
    draw = {1: _line_panel, 2: _slice_panel, 3: _stack_panel}.get(len(m.axes))
    if draw is None:
        raise InputError(f'map: expected one to three coordinates to draw, got {len(m.axes)}')
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    options: dict[str, Any] = {'subplot_kw': {'projection': '3d'}} if len(m.axes) == 3 else {}
    figure, axes = new_figure(
        rows, columns, size=(4.1 * columns, 3.7 * rows + 0.5), squeeze=False, **options
    )
    for ax in axes.ravel()[len(shown) :]:
        ax.remove()  # an invisible 3D panel has no extent, which the layout trips over
    for ax, name in zip(axes.ravel(), shown):
        unit = m.unit(name)
        title = TITLES[name]
        if name == 'effort_moving':
            title += f'\nat {_accelerations(m)} in the worst direction'
        if unit:
            title += f' [{unit}]'
        ax.set_title(title, fontsize=9, loc='left')
        draw(ax, m, name)
    figure.suptitle(_headline(m), fontsize=11, x=0.01, ha='left')
    borders = _borders(m)
    if borders:
        figure.legend(handles=borders, loc='outside lower left', ncols=len(borders))
    return figure


def _accelerations(m: PerformanceMap) -> str:
    parts = [f'{m.settings[k]:g} {u}' for k, u in (('acceleration', 'm/s²'),
             ('angular_acceleration', 'rad/s²')) if m.settings.get(k)]  # fmt: skip
    return ' and '.join(parts)


def _headline(m: PerformanceMap) -> str:
    fixed = ', '.join(
        f'{k} = {m.centre[k]:.3g} {UNITS[k]}' for k in m.centre if k not in m.axes
        and (k in 'xyz' or m.centre[k])
    )  # fmt: skip
    return f'{m.robot}: {100 * m.share:.0f} % of the poses shown are reachable' + (
        f'   ({fixed})' if fixed else ''
    )


def _borders(m: PerformanceMap) -> list[Any]:
    """Return what the legend says of the lines that are drawn."""
    from matplotlib.lines import Line2D

    beyond = bool((m['joint_margin'] < 0.0).any())
    lost = 0.0 < float((m['status'] != 0).mean()) < 1.0
    black, ways = {'color': 'black', 'linewidth': 1.2}, len(m.axes)
    lines: list[tuple[bool, str, dict[str, Any]]] = [
        (ways == 1 and beyond, 'beyond joint limits', {'color': GREY, 'linestyle': ':'}),
        (ways == 2 and beyond, 'limits of the joints', black),
        (ways == 2 and lost, 'beyond this it cannot be assembled',
         {'color': RED, 'linestyle': '--', 'linewidth': 1.2}),
        (ways == 3 and 0.0 < m.share < 1.0, 'border of what is reachable', black),
    ]  # fmt: skip
    return [Line2D([], [], label=label, **look) for drawn, label, look in lines if drawn]


def _within(m: PerformanceMap, name: str) -> Array:
    return np.where(m['reachable'], m[name], np.nan)


def _line_panel(ax: Any, m: PerformanceMap, name: str) -> None:
    ((axis, x),) = m.axes.items()
    ax.plot(x, m[name], color=GREY, linestyle=':')
    ax.plot(x, _within(m, name), color=COLOURS[0])
    ax.set_xlabel(f'{axis} [{UNITS[axis]}]')


def _slice_panel(ax: Any, m: PerformanceMap, name: str) -> None:
    from matplotlib.patheffects import withStroke

    (a, x), (b, y) = m.axes.items()
    values = m[name]
    if len(x) < 2 or len(y) < 2 or not np.isfinite(_within(m, name)).any():
        return
    levels = _levels(_within(m, name), name in LOADS)
    shading = ax.contourf(x, y, values.T, levels=levels, cmap=SURFACE, extend='both')
    if levels[-1] > levels[0]:
        # Only where it is reachable: a label beyond would be white on white.
        lines = ax.contour(x, y, _within(m, name).T, levels=levels[1:-1:2], colors='white',
                           linewidths=0.7)  # fmt: skip
        for label in ax.clabel(lines, fontsize=7, fmt='%.4g'):
            label.set_path_effects([withStroke(linewidth=1.6, foreground='#333333')])
    margin = m['joint_margin'].T
    if np.nanmin(margin) < 0.0:
        # Drawn over: the border of the joints' limits is then as smooth as the margin is.
        ax.contourf(x, y, margin, levels=[-1e9, 0.0], colors='white')
        ax.contour(x, y, margin, levels=[0.0], colors='black', linewidths=1.2)
    assembled = (m['status'] == 0).astype(float)
    if 0.0 < assembled.mean() < 1.0:
        ax.contour(x, y, assembled.T, levels=[0.5], colors=RED, linestyles='--', linewidths=1.2)
    ax.figure.colorbar(shading, ax=ax, shrink=0.85, pad=0.02)
    ax.set_xlabel(f'{a} [{UNITS[a]}]')
    ax.set_ylabel(f'{b} [{UNITS[b]}]')
    if UNITS[a] == UNITS[b]:
        ax.set_aspect('equal')
    ax.grid(visible=False)


def _stack_panel(ax: Any, m: PerformanceMap, name: str) -> None:
    (a, x), (b, y), (c, z) = m.axes.items()
    values = _within(m, name)
    if min(len(x), len(y), len(z)) < 2 or not np.isfinite(values).any():
        return
    levels = _levels(values, name in LOADS)
    drawn = None
    for k in np.unique(np.linspace(0, len(z) - 1, SLICES).astype(int)):
        if np.isfinite(values[:, :, k]).sum() > 3:
            drawn = ax.contourf(x, y, values[:, :, k].T, levels=levels, cmap=SURFACE,
                                extend='both', zdir='z', offset=float(z[k]),
                                alpha=0.9)  # fmt: skip
            inside = m['reachable'][:, :, k].astype(float)
            if 0.0 < inside.mean() < 1.0:
                ax.contour(x, y, inside.T, levels=[0.5], colors='black', linewidths=0.9,
                           zdir='z', offset=float(z[k]))  # fmt: skip
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(y[0], y[-1])
    ax.set_zlim(z[0], z[-1])
    for axis, label in zip('xyz', (a, b, c)):
        getattr(ax, f'set_{axis}label')(f'{label} [{UNITS[label]}]', fontsize=8)
        getattr(ax, f'{axis}axis').set_tick_params(labelsize=7)
        getattr(ax, f'{axis}axis').set_pane_color((1.0, 1.0, 1.0, 0.0))
    ax.view_init(22.0, -58.0)
    if drawn is not None:
        ax.figure.colorbar(drawn, ax=ax, shrink=0.7, pad=0.09)


def _levels(values: Array, load: bool = False) -> Array:
    """Return round levels for the middle 98 % of the values; the rest is in the end colours.

    Near a singularity loads grow without bound: beyond five times the median they are all the
    same to the reader, and would leave one colour for the rest.
    """
    from matplotlib.ticker import MaxNLocator

    low, middle, high = np.nanpercentile(values[np.isfinite(values)], [1, 50, 99])
    if load and middle > 0.0:
        high = min(high, 5.0 * middle)
    if high - low <= 1e-9 * max(abs(high), abs(low)):
        high = low + max(1e-9, 1e-6 * abs(low))
    return np.asarray(MaxNLocator(11).tick_values(low, high))
