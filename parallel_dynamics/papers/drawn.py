"""What a figure shows, as words and a few numbers: stored in its PNG file by ``report``.

A picture cannot be compared with a fresh one bit by bit, since fonts and last digits differ
between machines. Its data can, with a tolerance, so a stale or swapped picture is found out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from parallel_dynamics.spatial import Array

SAMPLES = 9
"""Points of a curve that are kept."""

Drawn = list[dict[str, Any]]


def _few(values: Any) -> list[float]:
    """Return some of the values, the first and the last among them, with six digits."""
    flat: Array = np.ravel(np.asarray(values, dtype=float))
    picks = np.unique(np.linspace(0, len(flat) - 1, min(len(flat), SAMPLES)).round().astype(int))
    return [float(f'{value:.6g}') for value in flat[picks]]


def _lines(axes: Any) -> Iterable[dict[str, Any]]:
    for line in axes.lines:
        data = line.get_data_3d() if hasattr(line, 'get_data_3d') else line.get_data()
        yield {
            'label': str(line.get_label()),
            'look': f'{line.get_color()} {line.get_linestyle()} {line.get_linewidth():g}',
            'data': [_few(coordinate) for coordinate in data],
        }


def _texts(axes: Any) -> Iterable[dict[str, Any]]:
    for text in axes.texts:
        yield {
            'text': text.get_text(),
            'at': _few(getattr(text, 'xy', text.get_position())),
            'offset': _few(text.get_position()),
        }


def _patches(axes: Any) -> Iterable[list[float]]:
    for patch in axes.patches:
        corners = patch.get_patch_transform().transform(patch.get_path().vertices)
        yield _few(corners.T)


def drawn(figure: Any) -> Drawn:
    """Return what each of the axes of a Matplotlib figure shows, ready for JSON."""
    shown = []
    for axes in figure.axes:
        names = ('x', 'y', 'z') if hasattr(axes, 'get_zlim') else ('x', 'y')
        legend = axes.get_legend()
        shown.append(
            {
                'title': axes.get_title(),
                'labels': [getattr(axes, f'get_{name}label')() for name in names],
                'limits': [_few(getattr(axes, f'get_{name}lim')()) for name in names],
                'ticks': [label.get_text() for label in axes.get_yticklabels()]
                if names == ('x', 'y') and axes.patches
                else [],
                'legend': [text.get_text() for text in legend.get_texts()] if legend else [],
                'lines': list(_lines(axes)),
                'texts': list(_texts(axes)),
                'patches': list(_patches(axes)),
            }
        )
    return shown
