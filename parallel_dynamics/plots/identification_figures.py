"""Figures of an identification: measured against predicted efforts, residuals, deviations."""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.identification.identifying import Identification, Trial
from parallel_dynamics.plots.style import COLOURS, GREY, in_style, new_figure, over_time

SHOWN = 10.0
"""Seconds of a recording that a figure shows at most."""


@in_style
def effort_figure(found: Identification, trial: Trial) -> Any:
    """Draw measured, identified and described efforts of every actuator over time."""
    names = found.robot.actuators
    count = len(names)
    figure, axes = new_figure(count, 1, (9.5, 1.9 * count + 0.4), sharex=True, squeeze=False)
    inside = trial.time <= trial.time[0] + SHOWN
    t = trial.time[inside]
    for k, (name, ax) in enumerate(zip(names, axes[:, 0])):
        ax.plot(t, trial.described[inside, k], color=GREY, linestyle=':', label='description')
        ax.plot(t, trial.measured[inside, k], color=COLOURS[0], label='measured')
        ax.plot(t, trial.identified[inside, k], color=COLOURS[1], linestyle='--',
                label='identified')  # fmt: skip
        kind = found.robot.model.joints[found.robot.model.actuators[k]].kind
        over_time(ax, t, 'effort [N m]' if kind == 'revolute' else 'effort [N]', name)
        if k < count - 1:
            ax.set_xlabel('')
    axes[0, 0].legend(loc='lower right', bbox_to_anchor=(1.0, 1.0), ncols=3)
    return figure


@in_style
def residual_figure(found: Identification, trial: Trial) -> Any:
    """Draw what is left unexplained, as a histogram of each actuator beside a normal one."""
    names = found.robot.actuators
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    figure, axes = new_figure(rows, columns, (3.3 * columns, 2.5 * rows), squeeze=False)
    for k, ax in enumerate(axes.ravel()):
        if k >= len(names):
            ax.axis('off')
            continue
        left = trial.measured[:, k] - trial.identified[:, k]
        spread = float(np.std(left)) or 1.0
        edges = np.linspace(-4.0 * spread, 4.0 * spread, 33)
        ax.hist(left, edges, density=True, color=COLOURS[5], edgecolor='white', linewidth=0.4)
        x = np.linspace(edges[0], edges[-1], 200)
        noise = float(found.estimate.noise[k])
        ax.plot(x, np.exp(-0.5 * (x / noise) ** 2) / (noise * np.sqrt(2.0 * np.pi)),
                color=COLOURS[1])  # fmt: skip
        kind = found.robot.model.joints[found.robot.model.actuators[k]].kind
        ax.set_xlabel('residual [N m]' if kind == 'revolute' else 'residual [N]')
        ax.set_title(names[k])
        ax.set_yticks([])
    return figure


@in_style
def parameter_figure(found: Identification) -> Any:
    """Draw identified parameters relative to the description, with three deviations."""
    e = found.estimate
    rows = [k for k in np.flatnonzero(e.identified).tolist()
            if e.described[k] and e.relative[k] < 0.5]  # fmt: skip
    figure, ax = new_figure(1, 1, (7.6, 0.24 * len(rows) + 1.2))
    ratio = np.array([e.values[k] / e.described[k] for k in rows])
    bars = np.array([3.0 * e.deviation[k] / abs(e.described[k]) for k in rows])
    y = np.arange(len(rows))
    ax.errorbar(ratio, y, xerr=bars, fmt='o', color=COLOURS[0], markersize=4, capsize=3)
    ax.axvline(1.0, color=GREY, linewidth=1.0)
    ax.set_yticks(y, [e.base.labels[k] for k in rows])
    ax.invert_yaxis()
    ax.set_xlabel('identified / described, with three standard deviations')
    return figure
