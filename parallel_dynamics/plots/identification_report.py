"""The report of an identification: one Markdown page, its figures, and the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from parallel_dynamics.identification.identifying import Identification, Trial
from parallel_dynamics.plots.identification_figures import (
    effort_figure,
    parameter_figure,
    residual_figure,
)
from parallel_dynamics.plots.style import save
from parallel_dynamics.resources import version, writing_to

LATE = 5.0
"""Deviations from which on efforts count as late."""


def write_identification(found: Identification, folder: str | Path, robot_file: str) -> list[Path]:
    """Write ``report.md`` with its figures and return the paths."""
    folder = Path(folder)
    trials = {'training': found.training}
    if found.validation is not None:
        trials['validation'] = found.validation
    written: list[Path] = []
    for name, trial in trials.items():
        written += save(effort_figure(found, trial), folder, f'efforts_{name}', ('png',))
        written += save(residual_figure(found, trial), folder, f'residuals_{name}', ('png',))
    written += save(parameter_figure(found), folder, 'parameters', ('png',))
    page = folder / 'report.md'
    with writing_to(folder):
        page.write_text('\n\n'.join(_page(found, trials, robot_file)) + '\n', encoding='utf-8')
    return [page, *written]


def _page(found: Identification, trials: dict[str, Trial], robot_file: str) -> Iterable[str]:
    e = found.estimate
    t = found.training
    yield f'# {found.described.name}: identified from {t.source}'
    yield (
        f'{int(e.identified.sum())} of {len(e.base)} base parameters are told by the recording, '
        f'{int(e.essential.sum())} of them within 1 % (two standard deviations; *essential*). '
        f'The others keep the value of the description. The robot is in `{robot_file}`.'
    )
    yield (
        f'Recorded at {t.rate:.4g} Hz for {t.time[-1] - t.time[0]:.3g} s. Zero-phase low-pass: '
        f'efforts and regressor {t.cutoff:.3g} Hz, positions {3.0 * t.cutoff:.3g} Hz before they '
        f'are differentiated. Condition number of the identified columns, each times its '
        f'parameter: {e.condition:.3g}.'
    )
    late, spread = found.delay
    if abs(late) > LATE * spread and abs(late) > 1e-4:
        yield (
            f'**Efforts come {1e3 * late:.2f} ms after positions** (deviation '
            f'{1e3 * spread:.2f} ms); correct the time stamps, or viscous friction is wrong.'
        )
    if found.consistent:
        yield (
            'All bodies are physical. That moved no identified base parameter by more than '
            f'{found.changed:.2g} of its standard deviations.'
        )
    for name, trial in trials.items():
        yield f'## Efforts, {name} ({trial.source})'
        yield f'![measured and predicted efforts](efforts_{name}.png)'
        yield _table(
            ('actuator', 'peak', 'residual of the description', 'residual identified', 'noise'),
            [
                (actuator, *(f'{v:.4g}' for v in row))
                for actuator, *row in zip(
                    found.robot.actuators, trial.peak(), trial.residual_of_description(),
                    trial.residual(), e.noise,
                )
            ],
        )  # fmt: skip
        yield (
            'Root mean squares in N or N m, behind the low-pass; *noise* is the residual of the '
            'training recording.'
        )
        yield f'![histogram of the residuals](residuals_{name}.png)'
    yield '## Parameters'
    yield '![parameters relative to the description](parameters.png)'
    yield _table(
        ('base parameter', 'described', 'identified', 'std. dev.', 'rel. std. dev.', ''),
        [_row(found, k) for k in range(len(e.base))],
    )
    yield '## What the base parameters are made of'
    yield '\n'.join(f'- {e.base.relation(k)}' for k in range(len(e.base)))
    silent = [e.base.names[k] for k in e.base.no_effect]
    if silent:
        yield f'No effort depends on: {", ".join(silent)}.'
    yield f'Made by parallel_dynamics {version()}.'


def _row(found: Identification, k: int) -> tuple[str, ...]:
    e = found.estimate
    told = bool(e.identified[k])
    relative = float(e.relative[k])
    status = 'essential' if e.essential[k] else 'identified' if told else 'as described'
    return (
        f'`{e.base.labels[k]}`', _number(e.described[k]), _number(e.values[k]) if told else '',
        f'{e.deviation[k]:.2g}' if told else '',
        f'{100.0 * relative:.2g} %' if told and np.isfinite(relative) else '', status,
    )  # fmt: skip


def _number(value: float) -> str:
    return '0' if abs(value) < 1e-12 else f'{value:.5g}'


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ['---'] * len(header), *rows]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines)
