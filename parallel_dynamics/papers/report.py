"""What `reproduce` writes for a paper: pictures, a page, and the numbers behind both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
import json
from pathlib import Path
from typing import Any

import numpy as np

from parallel_dynamics.papers.drawn import drawn
from parallel_dynamics.resources import writing_to
from parallel_dynamics.spatial import Array

COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9')
"""Okabe and Ito's palette, which most readers can tell apart."""

STYLES = ('-', '--', '-.', ':', (0, (5, 1, 1, 1)), (0, (1, 1)))
GREY = '#777777'

_RC = {
    'font.size': 10,
    'axes.grid': True,
    'axes.axisbelow': True,
    'grid.color': '#dddddd',
    'grid.linewidth': 0.7,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'lines.linewidth': 1.8,
    'legend.frameon': False,
    'mathtext.fontset': 'dejavusans',
    'svg.hashsalt': 'parallel_dynamics',
}

SIGNIFICANT_DIGITS = 10


@dataclass
class Report:
    """Everything that is written for one paper.

    Attributes
    ----------
    key : str
        Citation key, which is also the stem of every file.
    title : str
    text : list of str
        Paragraphs of Markdown; a figure is placed with ``picture``.
    figures : stem of the file to a Matplotlib figure
    numbers : nested mapping of plain numbers, the key results
    """

    key: str
    title: str
    text: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)

    def add(self, *paragraphs: str) -> None:
        """Append paragraphs of Markdown."""
        self.text.extend(paragraphs)

    def picture(self, name: str, figure: Any, caption: str) -> None:
        """Append a figure with its caption; ``name`` is added to the key for the file's name."""
        stem = f'{self.key}_{name}'
        self.figures[stem] = figure
        self.text.append(f'![{caption}]({stem}.png)\n\n*{caption}*')

    def page(self) -> str:
        """Return the page in Markdown."""
        return '\n\n'.join([f'# {self.title}', *self.text]) + '\n'

    def write(self, folder: Path) -> list[Path]:
        """Write page, numbers and pictures into a folder and return their paths."""
        page, numbers = folder / f'{self.key}.md', folder / f'{self.key}.json'
        written = [page, numbers]
        with writing_to(folder):
            page.write_text(self.page(), encoding='utf-8')
            numbers.write_text(json.dumps(plain(self.numbers), indent=2) + '\n', encoding='utf-8')
            for stem, figure in self.figures.items():
                path = folder / f'{stem}.png'
                # No date and no version inside, so that the same numbers give the same file.
                inside = {'Software': None, 'Data': json.dumps(drawn(figure))}
                figure.savefig(path, dpi=130, metadata=inside)
                written.append(path)
        return written


def plain(value: Any) -> Any:
    """Return nested data as JSON has it, with floats rounded to ten significant digits."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (np.ndarray, list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (float, np.floating)):
        return float(f'{float(value):.{SIGNIFICANT_DIGITS}g}')
    if isinstance(value, np.integer):
        return int(value)
    return value


def new_figure(
    rows: int = 1, columns: int = 1, size: tuple[float, float] | None = None, **options: Any
) -> tuple[Any, Any]:
    """Return a figure in the style of all pages and its axes, without any window or global."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context(_RC):
        figure = Figure(
            figsize=size or (6.4 * columns**0.7, 4.0 * rows**0.8), layout='constrained'
        )
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, columns, **options)
    return figure, axes


def plot_lines(
    axes: Any, t: Array, curves: Mapping[str, Array], ylabel: str, title: str = ''
) -> None:
    """Draw curves over time with labels; each has its own colour and dash."""
    for k, (label, values) in enumerate(curves.items()):
        axes.plot(
            t,
            values,
            label=label,
            color=COLOURS[k % len(COLOURS)],
            linestyle=STYLES[k % len(STYLES)],
            linewidth=1.8,
        )
    axes.set_xlabel('t [s]')
    axes.set_ylabel(ylabel)
    axes.set_xlim(t[0], t[-1])
    legend_above(axes, len(curves))
    if title:
        axes.set_title(title, fontsize=10, pad=26)


def legend_above(axes: Any, columns: int) -> None:
    """Put the legend above the axes, where it hides nothing."""
    axes.legend(
        frameon=False,
        loc='lower left',
        bbox_to_anchor=(0.0, 1.0),
        ncols=min(columns, 6),
        borderaxespad=0.2,
        handlelength=2.4,
        columnspacing=1.4,
    )


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = ['| ' + ' | '.join(header) + ' |', '|' + '---|' * len(header)]
    lines += ['| ' + ' | '.join(str(cell) for cell in row) + ' |' for row in rows]
    return '\n'.join(lines)


def rms(values: Array) -> float:
    """Return the root mean square over all entries."""
    return float(np.sqrt(np.mean(np.square(values))))


def relative_error(values: Array, truth: Array) -> float:
    """Return the largest difference as a fraction of the largest true value."""
    values, truth = np.asarray(values), np.asarray(truth)
    return float(np.abs(values - truth).max() / np.abs(truth).max())
