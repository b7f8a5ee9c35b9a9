"""Figures of joint forces: which joints carry most, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from parallel_dynamics.forces import JointEnvelope, RodForce
from parallel_dynamics.joint_forces import JointForces
from parallel_dynamics.plots.style import (
    COLOURS,
    GREY,
    HATCHES,
    band,
    curves,
    in_style,
    legend,
    new_figure,
)
from parallel_dynamics.spatial import Array

CURVES = 6
"""Joints that are drawn over time: those with the largest loads."""
LOOSE = 'not all components unique'


@in_style
def force_figure(
    times: Array,
    forces: JointForces,
    rows: Sequence[JointEnvelope],
    rods: Sequence[RodForce] = (),
    critical: Array | None = None,
    title: str = '',
) -> Any:
    """Draw the largest force and moment of every joint, those of the most loaded over time.

    Parameters
    ----------
    times : (N,)
        s.
    forces : JointForces
        Of the N states.
    rows : list of JointEnvelope
        Their envelope.
    rods : list of RodForce
        Whose axial forces are drawn too; ``critical`` (r,) are their least critical loads, N.
    """
    height = max(2.6, 0.9 + 0.17 * len(rows))
    count = 3 if rods else 2
    figure, axes = new_figure(
        count, 2, (12.0, height + 2.9 * (count - 1)), height_ratios=[height] + [2.9] * (count - 1)
    )
    for k, (quantity, unit) in enumerate((('force', 'N'), ('moment', 'N m'))):
        _bars(axes[0, k], rows, quantity, unit)
        sizes = np.linalg.norm(forces.array[..., 3 * k : 3 * k + 3], axis=-1)
        _most_loaded(axes[1, k], times, forces.names, sizes, f'{quantity} [{unit}]')
    if rods:
        _rods(axes[2], times, rods, critical)
    if title:
        figure.suptitle(title, x=0.01, ha='left')
    return figure


def _bars(axes: Any, rows: Sequence[JointEnvelope], quantity: str, unit: str) -> None:
    """Draw one bar for each joint, hatched where its load is not unique."""
    values = [getattr(row, quantity).value for row in rows]
    places = np.arange(len(rows))
    for fixed, colour, hatch, label in (
        (True, COLOURS[0], HATCHES[0], 'determinate'), (False, COLOURS[1], HATCHES[1], LOOSE),
    ):  # fmt: skip
        mine = [k for k, row in enumerate(rows) if row.determinate is fixed]
        if mine:
            lengths = [0.0 if np.isnan(values[k]) else values[k] for k in mine]
            axes.barh(places[mine], lengths, height=0.7, color=colour, hatch=hatch, label=label)
    axes.set_yticks(places, [row.name for row in rows], fontsize=7.5)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(visible=False, axis='y')
    axes.set_xlabel(f'largest {quantity} [{unit}]')
    axes.set_title(f'Largest {quantity} of each joint')
    if not all(row.determinate for row in rows):
        legend(axes)


def _most_loaded(
    axes: Any, times: Array, names: Sequence[str], sizes: Array, label: str
) -> None:
    """Draw the joints with the largest loads over time."""
    peaks = np.nan_to_num(np.nanmax(np.nan_to_num(sizes, nan=-1.0), axis=0), nan=-1.0)
    order = [int(k) for k in np.argsort(-peaks, kind='stable')[:CURVES] if peaks[k] > 0.0]
    title = f'The {len(order)} most loaded' if order else 'Nothing is loaded'
    curves(axes, times, {names[k]: sizes[:, k] for k in order}, label, title)


def _rods(axes: Any, times: Array, rods: Sequence[RodForce], critical: Array | None) -> None:
    """Draw the axial forces of rods, and how long they are."""
    shown = sorted(rods, key=lambda r: -float(np.nan_to_num(np.abs(r.at_second)).max()))[:CURVES]
    shown = [rod for rod in rods if rod in shown]
    curves(
        axes[0], times, {r.rod.name: r.at_second for r in shown}, 'axial force [N]',
        'Rods at their far end, tension positive',
    )  # fmt: skip
    axes[0].axhline(0.0, color=GREY, linewidth=0.8)
    if critical is not None:
        band(axes[0], -float(np.min(critical)), np.inf, 'critical')
    curves(
        axes[1], times, {r.rod.name: r.length for r in shown}, 'length [m]',
        'Rods between their centres',
    )  # fmt: skip
