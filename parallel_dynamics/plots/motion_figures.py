"""Figures about a motion: kinematics, efforts, powers and energy, joint forces, singularities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.plots.analysis import MotionAnalysis
from parallel_dynamics.plots.style import (
    COLOURS,
    GREY,
    HATCHES,
    band,
    curves,
    in_style,
    legend,
    line,
    new_figure,
    over_time,
)
from parallel_dynamics.spatial import Array

CURVES_AT_MOST = 6
"""Joint forces that are drawn over time: those with the largest peaks."""

FILL_POINTS = 400
"""Points along an area; more would only make the file large."""

LIMIT_UNITS = {'position': ('m', 'rad'), 'velocity': ('m/s', 'rad/s'), 'effort': ('N', 'N m')}
"""Of what a limit is about: at a prismatic joint, and at one that turns."""

PART_NAMES = {
    'platform_inertia': 'platform inertia',
    'leg_inertia': 'leg inertia',
    'coriolis': 'Coriolis and centrifugal',
    'gravity': 'gravity',
    'base_motion': 'motion of the base',
    'friction': 'friction',
    'external': 'external wrench',
}


def figures(a: MotionAnalysis) -> dict[str, tuple[Any, str]]:
    """Return all figures of a motion by name, each with its caption."""
    found = {
        'platform': (platform(a), 'Motion of the platform: pose, twist and its derivative.'),
        'actuators': (actuators(a), 'Motion of the actuated joints, with their limits.'),
        'efforts': (efforts(a), 'Efforts of the actuators, with their limits.'),
        'effort_parts': (effort_parts(a), 'What each effort is made of; the parts sum to the '
                         'black line.'),
        'energy': (energy(a), 'Power of the drives, and energy: what the drives bring is stored '
                   f'or lost. The two sides differ by {100 * a.energy_gap:.2g} % at most.'),
        'condition': (condition(a), 'Condition numbers; kinds that stay at 1 are left out; '
                      'infinite at a singularity.'),
    }  # fmt: skip
    if a.joint_forces is not None:
        found['joint_forces'] = (
            joint_forces(a), 'Forces and moments in the joints and closures.' + (
                ' Those marked * are not unique: the structure is statically indeterminate, and '
                'the smallest loads are shown.' if any(a.indeterminate.values()) else ''
            )
        )  # fmt: skip
    return found


@in_style
def platform(a: MotionAnalysis) -> Any:
    """Pose, velocity and acceleration of the platform."""
    m = a.motion
    home = Rotation.from_matrix(np.array(a.robot.home.rotation))
    turned = (Rotation.from_matrix(np.array(m.rotation)) * home.inv()).as_rotvec()
    panels = [
        ('position', 'm', m.position), ('rotation vector from home', 'deg', np.degrees(turned)),
        ('velocity', 'm/s', m.velocity), ('angular velocity', 'rad/s', m.angular_velocity),
        ('acceleration', 'm/s²', m.acceleration),
        ('angular acceleration', 'rad/s²', m.angular_acceleration),
    ]  # fmt: skip
    figure, axes = new_figure(3, 2, size=(10.5, 7.6), sharex=True)
    for ax, (name, unit, values) in zip(axes.ravel(), panels):
        curves(ax, a.time, dict(zip('xyz', values.T)), f'[{unit}]', name)
        ax.set_xlabel('')
    for ax in axes[-1]:
        ax.set_xlabel('time [s]')
    return figure


@in_style
def actuators(a: MotionAnalysis) -> Any:
    """Position, velocity and acceleration of the actuated joints."""
    columns = a.actuator_columns
    joints = [a.robot.model.joints[k] for k in columns]
    unit = ' or '.join(sorted({'m' if j.kind == 'prismatic' else 'rad' for j in joints}))
    figure, axes = new_figure(3, 1, size=(9.2, 7.6), sharex=True)
    panels = [
        ('position', unit, a.joints.position, [(j.lower, j.upper) for j in joints]),
        ('velocity', f'{unit}/s', a.joints.velocity,
         [(-j.velocity_limit, j.velocity_limit) for j in joints]),
        ('acceleration', f'{unit}/s²', a.joints.acceleration, []),
    ]  # fmt: skip
    for ax, (name, unit_, values, limits) in zip(axes, panels):
        named = {a.robot.actuators[k]: values[:, c] for k, c in enumerate(columns)}
        curves(ax, a.time, named, f'[{unit_}]', name)
        for lower, upper in dict.fromkeys(limits):
            band(ax, lower, upper)
        ax.set_xlabel('')
    axes[-1].set_xlabel('time [s]')
    return figure


@in_style
def efforts(a: MotionAnalysis) -> Any:
    """Efforts of the actuators."""
    figure, ax = new_figure(size=(9.2, 3.6))
    named = dict(zip(a.robot.actuators, a.efforts.T))
    curves(ax, a.time, named, f'effort [{a.effort_unit}]', 'actuator efforts')
    for limit in {a.robot.model.joints[k].effort_limit for k in a.actuator_columns}:
        band(ax, -limit, limit)
    return figure


@in_style
def effort_parts(a: MotionAnalysis) -> Any:
    """Stack the parts of each actuator's effort, one panel for each actuator."""
    count = len(a.robot.actuators)
    columns = 2 if count > 1 else 1
    rows = -(-count // columns)
    figure, axes = new_figure(
        rows, columns, size=(10.5, 2.5 * rows + 0.6), sharex=True, squeeze=False
    )
    size = max(np.abs(a.efforts).max(), 1e-12)
    present = [name for name, v in a.parts.items() if np.abs(v).max() > 1e-9 * size]
    handles: list[Any] = []
    every = slice(None, None, -(-len(a.time) // FILL_POINTS))
    for k, (ax, name) in enumerate(zip(axes.ravel(), a.robot.actuators)):
        values = [a.parts[p][every, k] for p in present]
        handles = _stack(ax, a.time[every], values, present)
        handles += ax.plot(a.time, a.efforts[:, k], color='black', linewidth=1.5, label='effort')
        over_time(ax, a.time, f'[{a.effort_unit}]', name)
    for ax in axes.ravel()[count:]:
        ax.set_visible(False)
    for ax in axes.ravel()[: count - columns]:
        ax.set_xlabel('')
    figure.legend(handles=handles, loc='outside upper center', ncols=min(5, len(handles)))
    return figure


def _stack(ax: Any, t: Array, values: list[Array], names: list[str]) -> list[Any]:
    """Stack positive parts upwards and negative parts downwards; each has colour and hatch."""
    up, down = np.zeros_like(t), np.zeros_like(t)
    handles = []
    for value, name in zip(values, names):
        k = list(PART_NAMES).index(name)
        colour = (*COLOURS, GREY)[k % 7]
        style = {'facecolor': colour, 'hatch': HATCHES[k % len(HATCHES)], 'edgecolor': 'white',
                 'linewidth': 0.0, 'alpha': 0.85}  # fmt: skip
        above, below = np.maximum(value, 0.0), np.minimum(value, 0.0)
        handles.append(ax.fill_between(t, up, up + above, label=PART_NAMES[name], **style))
        ax.fill_between(t, down, down + below, **style)
        up, down = up + above, down + below
    ax.axhline(0.0, color='#555555', linewidth=0.8)
    return handles


@in_style
def energy(a: MotionAnalysis) -> Any:
    """Powers above, energy and work below."""
    figure, (top, middle, bottom) = new_figure(3, 1, size=(9.2, 8.2), sharex=True)
    curves(top, a.time, dict(zip(a.robot.actuators, a.powers.T)), 'power [W]', 'drives')
    total = {'all drives': a.powers.sum(axis=1)}
    if np.any(a.friction_power):
        total['friction'] = a.friction_power
    if np.any(a.external_power):
        total['external wrench'] = a.external_power
    curves(middle, a.time, total, 'power [W]', 'sum')
    stored = {
        'kinetic energy': a.kinetic,
        'potential energy, from start': a.potential - a.potential[0],
        **{f'work of {"the " if k != "friction" else ""}{k}': w for k, w in a.work.items()},
    }
    curves(bottom, a.time, stored, 'energy [J]', 'energy')
    for ax in (top, middle):
        ax.set_xlabel('')
    return figure


@in_style
def condition(a: MotionAnalysis) -> Any:
    """Condition numbers over the motion, on a logarithmic scale where they grow large."""
    figure, ax = new_figure(size=(9.2, 3.4))
    shown = [
        ('actuators', a.time, a.condition), ('worst leg', a.condition_time, a.leg_condition),
        ('constraints', a.condition_time, a.constraint_condition),
    ]  # fmt: skip
    for k, (name, t, values) in enumerate(shown):
        if np.isfinite(values).any() and np.nanmax(values) > 1.0 + 1e-9:
            ax.plot(t, values, label=name, **line(k))
    if ax.get_ylim()[1] > 20.0:
        ax.set_yscale('log')
    ax.set_ylim(bottom=1.0)
    over_time(ax, a.time, 'condition number [1]', 'singularities are at infinity')
    if ax.get_legend_handles_labels()[0]:
        legend(ax)
    return figure


@in_style
def joint_forces(a: MotionAnalysis) -> Any:
    """Largest forces and moments of all joints as bars, and the largest ones over time."""
    wrenches = a.joint_forces or {}
    # As in the viewer: a load that equilibrium does not fix is marked.
    force, moment = (
        {f'{n} *' if n in a.indeterminate[what] else n: np.linalg.norm(w[:, part], axis=1)
         for n, w in wrenches.items()}
        for what, part in (('force', slice(0, 3)), ('moment', slice(3, 6)))
    )  # fmt: skip
    figure, axes = new_figure(2, 2, size=(11.5, max(6.0, 0.17 * len(wrenches) * 2 + 2.0)),
                              width_ratios=(1.0, 1.6))  # fmt: skip
    for (bars, over), (what, unit, values) in zip(
        axes, (('force', 'N', force), ('moment', 'N m', moment))
    ):
        names = list(values)
        peaks = np.array([values[n].max() for n in names])
        bars.barh(range(len(names)), peaks, color=COLOURS[0], height=0.7)
        bars.set_yticks(range(len(names)), names, fontsize=7)
        bars.invert_yaxis()
        bars.set_xlabel(f'largest {what} [{unit}]')
        bars.grid(axis='y', visible=False)
        bars.set_title(what)
        top = [names[k] for k in np.argsort(-peaks)[:CURVES_AT_MOST] if peaks[k] > 0.0]
        if top:
            curves(over, a.time, {n: values[n] for n in top}, f'|{what}| [{unit}]')
        else:
            over.set_visible(False)
    if any(a.indeterminate.values()):
        figure.supxlabel('* not unique: the smallest loads are shown', fontsize=8.5, x=0.01,
                         ha='left')  # fmt: skip
    return figure


def violations_text(a: MotionAnalysis) -> list[str]:
    """Return a sentence for each limit that the motion exceeds."""
    kinds = {joint.name: joint.kind for joint in a.robot.model.joints}
    return [
        f'{v.joint}: {v.quantity} reaches {v.value:.4g} {unit}, allowed is {v.lower:.4g} to '
        f'{v.upper:.4g} {unit}'
        for v in a.violations
        for unit in [LIMIT_UNITS[v.quantity][kinds[v.joint] != 'prismatic']]
    ]

