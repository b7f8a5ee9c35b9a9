"""One HTML page that holds figures and numbers, and opens anywhere without a network."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
import html
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from parallel_dynamics.plots.analysis import MotionAnalysis
from parallel_dynamics.plots.motion_figures import violations_text
from parallel_dynamics.plots.style import styled
from parallel_dynamics.resources import version, writing_to

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; margin: 2rem auto; max-width: 62rem;
       padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0.2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p.note { color: #666; margin-top: 0; }
table { border-collapse: collapse; margin: 0.8rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.9rem 0.25rem 0; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1.2rem 0; } img { max-width: 100%; } figcaption { color: #444; }
.bad { color: #b2182b; } .good { color: #1b7837; }
@media print { figure { break-inside: avoid; } }
"""


def write_report(
    path: str | Path,
    analysis: MotionAnalysis,
    figures: Mapping[str, tuple[Any, str]],
    title: str,
    note: str = '',
) -> Path:
    """Write the report of a motion; figures are put inside the page."""
    path = Path(path)
    body = [
        f'<h1>{html.escape(title)}</h1>',
        f'<p class="note">{html.escape(note)}</p>' if note else '',
        *_verdict(analysis),
        '<h2>In numbers</h2>',
        table(
            ('quantity', 'value', 'unit'),
            [(name, f'{value:.4g}', unit) for name, value, unit in summary(analysis)],
        ),
        table(
            ('actuator', 'least', 'greatest', 'rms', f'limit [{analysis.effort_unit}]',
             'greatest power [W]'),
            [(name, *map(_cell, values.values())) for name, values in loads(analysis).items()],
        ),
    ]  # fmt: skip
    for name, (figure, caption) in figures.items():
        body.append(f'<h2>{html.escape(name.replace("_", " ").capitalize())}</h2>')
        body.append(
            f'<figure><img alt="{html.escape(caption)}" src="{_inline(figure)}">'
            f'<figcaption>{html.escape(caption)}</figcaption></figure>'
        )
    body.append(f'<p class="note">Made by parallel_dynamics {version()}.</p>')
    page = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f'<title>{html.escape(title)}</title>\n<style>{_STYLE}</style></head>\n<body>\n'
        + '\n'.join(part for part in body if part)
        + '\n</body></html>\n'
    )
    with writing_to(path.parent):
        path.write_text(page, encoding='utf-8')
    return path


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table."""

    def row(cells: Sequence[str], tag: str) -> str:
        return '<tr>' + ''.join(f'<{tag}>{html.escape(c)}</{tag}>' for c in cells) + '</tr>'

    return '\n'.join(
        ['<table>', row(header, 'th'), *(row(cells, 'td') for cells in rows), '</table>']
    )


def _inline(figure: Any) -> str:
    """Return a figure as a data address that a page can hold."""
    file = BytesIO()
    with styled():
        figure.savefig(file, format='svg', metadata={'Date': None})
    return 'data:image/svg+xml;base64,' + base64.b64encode(file.getvalue()).decode('ascii')


def _verdict(a: MotionAnalysis) -> list[str]:
    found = violations_text(a)
    if not found:
        return ['<p class="good">All joints stay within their limits.</p>']
    items = ''.join(f'<li>{html.escape(text)}</li>' for text in found)
    return [f'<p class="bad">Limits are exceeded:</p><ul class="bad">{items}</ul>']


def summary(a: MotionAnalysis) -> list[tuple[str, float, str]]:
    """Return what a motion asks for: names, values and units."""
    speed = np.linalg.norm(a.motion.velocity, axis=1).max()
    accel = np.linalg.norm(a.motion.acceleration, axis=1).max()
    turn = np.linalg.norm(a.motion.angular_velocity, axis=1).max()
    power = a.powers.sum(axis=1)
    rows = [
        ('duration', a.time[-1] - a.time[0], 's'),
        ('greatest speed', speed, 'm/s'),
        ('greatest acceleration', accel, 'm/s²'),
        ('greatest angular velocity', turn, 'rad/s'),
        ('greatest power of all drives', power.max(), 'W'),
        ('work of the drives', a.work.get('drives', np.zeros(1))[-1], 'J'),
        ('greatest condition number of the actuators', np.nanmax(a.condition), ''),
    ]
    if a.joint_forces:
        peaks = {k: np.linalg.norm(v[:, :3], axis=1).max() for k, v in a.joint_forces.items()}
        worst = max(peaks, key=lambda k: peaks[k])
        doubt = ' (not unique)' if worst in a.indeterminate['force'] else ''
        rows.append((f'greatest joint force, in {worst}{doubt}', peaks[worst], 'N'))
    return [(name, float(value), unit) for name, value, unit in rows]


def loads(a: MotionAnalysis) -> dict[str, dict[str, float]]:
    """Return efforts (N or N m), their limit and the greatest power (W) of every actuator."""
    found = {}
    for k, name in enumerate(a.robot.actuators):
        e = a.efforts[:, k]
        found[name] = {
            'least': float(e.min()),
            'greatest': float(e.max()),
            'rms': float(np.sqrt(np.mean(e**2))),
            'limit': float(a.robot.model.joints[a.actuator_columns[k]].effort_limit),
            'greatest_power': float(np.abs(a.powers[:, k]).max()),
        }
    return found


def _cell(value: float) -> str:
    return f'{value:.4g}' if np.isfinite(value) else 'none'
