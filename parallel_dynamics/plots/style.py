"""One look for all figures: units on every axis, and lines that print in black and white.

Figures are made without windows and without Matplotlib's global state, so that they can be made
anywhere: in a thread, in a server, on a machine without a display.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from parallel_dynamics.resources import writing_to
from parallel_dynamics.spatial import Array

COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9')
"""Okabe and Ito's palette, which most readers can tell apart."""
DASHES: tuple[Any, ...] = ('-', '--', '-.', ':', (0, (7, 1.5, 1, 1.5, 1, 1.5)), (0, (2.5, 1)))
HATCHES = ('', '////', '....', '\\\\\\\\', 'xxxx', '----', '++++')
GREY = '#777777'
RED = '#B2182B'
SURFACE = 'cividis'
"""Grows in brightness from end to end, so that it also reads without colour."""

FORMATS = ('png', 'svg')

F = TypeVar('F', bound=Callable[..., Any])

_RC = {
    'font.size': 9.5,
    'axes.titlesize': 10.5,
    'axes.titleweight': 'bold',
    'axes.titlelocation': 'left',
    'axes.grid': True,
    'axes.axisbelow': True,
    'grid.color': '#dddddd',
    'grid.linewidth': 0.7,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'axes.edgecolor': '#555555',
    'lines.linewidth': 1.6,
    'legend.frameon': False,
    'legend.fontsize': 8.5,
    'hatch.linewidth': 0.6,
    'hatch.color': '#ffffff',
    'mathtext.fontset': 'dejavusans',
    'svg.hashsalt': 'parallel_dynamics',
    'svg.fonttype': 'path',
}


def styled() -> Any:
    """Return the context in which figures are made and saved."""
    from matplotlib import rc_context

    return rc_context(_RC)


def new_figure(
    rows: int = 1, columns: int = 1, size: tuple[float, float] | None = None, **options: Any
) -> tuple[Any, Any]:
    """Return a figure and its axes; ``size`` in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or (5.2 * columns, 2.9 * rows), layout='constrained')
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, **options)


def in_style(draw: F) -> F:
    """Make a function that draws a figure do so in this style, whatever the caller's own is."""

    @wraps(draw)
    def styled_draw(*args: Any, **options: Any) -> Any:
        with styled():
            return draw(*args, **options)

    return styled_draw  # type: ignore[return-value]


def line(k: int) -> dict[str, Any]:
    """Return colour and dash of the k-th curve of a plot."""
    return {'color': COLOURS[k % len(COLOURS)], 'linestyle': DASHES[k % len(DASHES)]}


def curves(
    axes: Any, t: Array, values: Mapping[str, Array], ylabel: str, title: str = ''
) -> None:
    """Draw curves over time, each with its own colour and dash, and their legend."""
    for k, (label, v) in enumerate(values.items()):
        axes.plot(t, v, label=label, linewidth=1.6, **line(k))
    over_time(axes, t, ylabel, title)
    if len(values) > 1:
        legend(axes)


def over_time(axes: Any, t: Array, ylabel: str, title: str = '') -> None:
    """Label axes that show something over time."""
    axes.set_xlabel('time [s]')
    axes.set_ylabel(ylabel)
    axes.set_xlim(float(t[0]), float(t[-1]))
    if title:
        axes.set_title(title)


def legend(axes: Any, columns: int = 1) -> None:
    """Put the legend beside the axes, where it hides nothing."""
    axes.legend(loc='upper left', bbox_to_anchor=(1.0, 1.02), ncols=columns, handlelength=3.2,
                borderaxespad=0.3, labelspacing=0.35)  # fmt: skip


def band(axes: Any, lower: float, upper: float, label: str = 'limit') -> None:
    """Mark limits by red dotted lines, where they are near enough to matter."""
    bottom, top = axes.get_ylim()
    reach = max(top - bottom, 1e-12)
    for value in (lower, upper):
        if np.isfinite(value) and bottom - reach < value < top + reach:
            known = label in axes.get_legend_handles_labels()[1]
            axes.axhline(value, color=RED, linewidth=1.0, linestyle=(0, (1, 1.2)),
                         label=f'_{label}' if known else label)  # fmt: skip
    if axes.get_legend() is not None:
        legend(axes)  # made anew, with the limits


def save(
    figure: Any, folder: str | Path, stem: str, formats: Iterable[str] = FORMATS, dpi: int = 130
) -> list[Path]:
    """Write a figure to a folder as ``stem.png``, ``stem.svg``, ...; return the paths."""
    written = []
    with writing_to(folder) as place, styled():
        for kind in formats:
            path = place / f'{stem}.{kind}'
            # No date and no version inside, so that the same numbers give the same file.
            nothing = {'Date': None} if kind == 'svg' else {'Software': None}
            figure.savefig(path, dpi=dpi, metadata=nothing if kind in FORMATS else None)
            written.append(path)
    return written
