"""Figures of a run of the closed loop: tracking, efforts, joint forces."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.demo.evaluation import LOST, DemoReport
from parallel_dynamics.plots.style import (
    COLOURS,
    GREY,
    curves,
    in_style,
    legend,
    new_figure,
    over_time,
)
from parallel_dynamics.spatial import Array

CURVES_AT_MOST = 6
"""Joint forces that are drawn over time: those with the largest peaks."""
SMALL = 1e-3
"""Share of the largest peak below which a joint is not worth a curve."""
BARS_AT_MOST = 24
"""Joints whose peaks are drawn as bars."""


def figures(report: DemoReport) -> dict[str, Any]:
    """Return the figures of a run by name."""
    return {
        'tracking': tracking(report),
        'efforts': efforts(report),
        'joint_forces': joint_forces(report),
    }


def broken(t: Array, *values: Array) -> tuple[Array, ...]:
    """Return times and values with NaN where samples are missing, so that lines break there."""
    gaps = np.diff(t)
    at = np.flatnonzero(gaps > LOST * np.median(gaps)) + 1 if len(gaps) else np.zeros(0, int)
    return np.insert(t, at, t[at]), *(np.insert(v, at, np.nan, axis=0) for v in values)


@in_style
def tracking(r: DemoReport) -> Any:
    """Desired and actual motion above, what is between them below."""
    way, turn = r.amplitude
    home = Rotation.from_matrix(np.array(r.robot.home.rotation)).inv()

    def turned(m: Any) -> Array:
        return np.degrees((Rotation.from_matrix(np.array(m.rotation)) * home).as_rotvec())

    start = r.desired.position[0]
    columns = []
    if way > 1e-6 or turn <= 1e-6:
        ways = (1e3 * (m.position - start) for m in (r.desired, r.actual))
        columns.append(('way from the start', 'mm', *ways, 1e3 * r.position_error, 'mm'))
    if turn > 1e-6:
        columns.append(('rotation vector from home', 'deg', turned(r.desired), turned(r.actual),
                        1e3 * r.rotation_error, 'mrad'))  # fmt: skip
    figure, axes = new_figure(2, len(columns), size=(5.6 * len(columns) + 1.0, 6.0), sharex=True,
                              squeeze=False)  # fmt: skip
    for (top, bottom), (title, unit, wanted, actual, error, small) in zip(axes.T, columns):
        rms = float(np.sqrt((error**2).mean()))
        t, wanted, actual, error = broken(r.time, wanted, actual, error)
        for k, name in enumerate('xyz'):
            top.plot(t, wanted[:, k], color=GREY, linewidth=3.0, alpha=0.5,
                     label='desired' if k == 0 else None)  # fmt: skip
            top.plot(t, actual[:, k], color=COLOURS[k], linewidth=1.3, label=f'{name} actual')
        over_time(top, r.time, f'[{unit}]', title)
        top.set_xlabel('')
        legend(top)
        bottom.plot(t, error, color=COLOURS[1], linewidth=1.0)
        over_time(bottom, r.time, f'[{small}]', f'tracking error, rms {rms:.3g} {small}')
        bottom.set_ylim(bottom=0.0)
    return figure


@in_style
def efforts(r: DemoReport) -> Any:
    """Each actuator's effort, and the part of it that the model knew beforehand."""
    count = len(r.robot.actuators)
    columns = 2 if count > 1 else 1
    rows = -(-count // columns)
    figure, axes = new_figure(rows, columns, size=(10.5, 2.4 * rows + 0.5), sharex=True,
                              squeeze=False)  # fmt: skip
    handles: list[Any] = []
    t, commanded, feedforward = broken(r.time, r.commanded, r.feedforward)
    for k, (ax, name) in enumerate(zip(axes.ravel(), r.robot.actuators)):
        handles = ax.plot(t, commanded[:, k], color=COLOURS[0], linewidth=1.6,
                          label='commanded')  # fmt: skip
        handles += ax.plot(t, feedforward[:, k], color=COLOURS[1], linewidth=1.2,
                           linestyle='--', label='feed-forward')  # fmt: skip
        over_time(ax, r.time, f'[{r.effort_unit}]', name)
    for ax in axes.ravel()[count:]:
        ax.set_visible(False)
    for ax in axes.ravel()[: count - columns]:
        ax.set_xlabel('')
    for ax in axes.ravel()[max(0, count - columns) : count]:
        ax.tick_params(labelbottom=True)
    figure.legend(handles=handles, loc='outside upper center', ncols=2)
    return figure


@in_style
def joint_forces(r: DemoReport) -> Any:
    """Peaks of the joints as bars, the largest loads over time."""
    w = np.where(np.isnan(r.forces), 0.0, r.forces)
    kinds = (('force', 'N', np.linalg.norm(w[..., :3], axis=2), r.peak_force),
             ('moment', 'N m', np.linalg.norm(w[..., 3:], axis=2), r.peak_moment))  # fmt: skip
    bars_shown = min(len(r.names), BARS_AT_MOST)
    height = max(6.0, 2 * (0.17 * bars_shown + 1.0))
    figure, axes = new_figure(2, 2, size=(11.5, height), width_ratios=(1.0, 1.6))
    for (bars, over), (what, unit, values, peaks) in zip(axes, kinds):
        order = np.argsort(-peaks)[:bars_shown]
        labels = [r.names[k] for k in order]
        bars.barh(range(bars_shown), peaks[order], color=COLOURS[0], height=0.7)
        bars.set_yticks(range(bars_shown), labels, fontsize=7)
        bars.invert_yaxis()
        bars.set_xlabel(f'peak of the run [{unit}]')
        bars.grid(axis='y', visible=False)
        bars.set_title(what)
        top = [k for k in order[:CURVES_AT_MOST] if peaks[k] > SMALL * peaks.max()]
        if top and len(r.force_time):
            named = {r.names[k]: values[:, k] for k in top}
            curves(over, r.force_time, named, f'|{what}| [{unit}]', 'largest, estimated')
        else:
            over.set_visible(False)
    return figure
