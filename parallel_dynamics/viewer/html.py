"""Small pieces of HTML for the panel: a gauge, bars, tables and a banner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
import math

import numpy as np

from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array
from parallel_dynamics.viewer.scene import KINDS
from parallel_dynamics.viewer.states import Shown

GOOD, FAIR, BAD = '#1c8a4e', '#c98a12', '#d02c2c'
UNITS = {'position': ('m', 'rad'), 'velocity': ('m/s', 'rad/s'), 'effort': ('N', 'N m')}
"""Of what a limit is about: at a prismatic joint, and at a revolute one."""
_FONT = 'font-family:inherit;font-size:12px;line-height:1.45'
_INSET = 'margin:0 10px 4px'
_CELL = 'padding:1px 5px 1px 0;white-space:nowrap'
_NUMBER = f'{_CELL};text-align:right;font-variant-numeric:tabular-nums'


def banner(text: str, good: bool) -> str:
    """Return the line at the top: green when all is well, red with the reason when not.

    It has room for two lines, so that what is below it rarely moves.
    """
    colour, back = (GOOD, '#e9f6ef') if good else (BAD, '#fdecec')
    kind = 'fine' if good else 'refused'
    return (
        f'<div data-state="{kind}" style="{_FONT};margin:2px 10px 4px;padding:5px 10px;'
        f'min-height:2.9em;border-left:4px solid {colour};background:{back};color:#222;'
        f'border-radius:3px;overflow-wrap:anywhere">{escape(text)}</div>'
    )


def gauge(shown: Shown) -> str:
    """Return a dial of the singularity margin, and the condition numbers beside it."""
    margin = shown.margin if math.isfinite(shown.margin) else 0.0
    # A logarithmic dial from 1/1000 to 1: what matters are the orders of magnitude.
    share = min(1.0, max(0.0, 1.0 + math.log10(max(margin, 1e-3)) / 3.0))
    colour = GOOD if margin > 0.1 else FAIR if margin > 0.02 else BAD
    angle = math.pi * (1.0 - share)
    x, y = 60.0 + 46.0 * math.cos(angle), 58.0 - 46.0 * math.sin(angle)
    arcs = ''.join(
        f'<path d="{_arc(a, b)}" stroke="{c}" stroke-width="9" fill="none" opacity="0.85"/>'
        for a, b, c in ((0.0, 0.434, BAD), (0.434, 0.667, FAIR), (0.667, 1.0, GOOD))
    )
    j = shown.jacobians
    rows = (('actuation', j.actuation_condition), ('legs', j.leg_condition),
            ('constraints', j.constraint_condition))  # fmt: skip
    lines = ''.join(
        f'<tr><td style="{_CELL};color:#555">{name}</td>'
        f'<td style="{_NUMBER}">{_short(value)}</td></tr>' for name, value in rows
    )  # fmt: skip
    return (
        f'<div data-part="gauge" style="{_FONT};{_INSET};display:flex;align-items:center;'
        'gap:14px">'
        f'<svg width="120" height="90" viewBox="0 0 120 90">{arcs}'
        f'<line x1="60" y1="58" x2="{x:.1f}" y2="{y:.1f}" stroke="#222" stroke-width="2.5"/>'
        f'<circle cx="60" cy="58" r="4" fill="#222"/>'
        f'<text x="60" y="75" text-anchor="middle" font-size="12" font-weight="600" '
        f'fill="{colour}">{margin:.3f}</text>'
        '<text x="60" y="88" text-anchor="middle" font-size="11" fill="#555">singularity margin'
        '</text></svg>'
        f'<table><tr><td colspan="2" style="font-weight:600">condition numbers</td></tr>{lines}'
        '</table></div>'
    )


def _arc(first: float, last: float) -> str:
    a, b = math.pi * (1.0 - first), math.pi * (1.0 - last)
    return (f'M {60 + 50 * math.cos(a):.1f} {58 - 50 * math.sin(a):.1f} A 50 50 0 0 1 '
            f'{60 + 50 * math.cos(b):.1f} {58 - 50 * math.sin(b):.1f}')  # fmt: skip


def actuators(robot: Robot, shown: Shown) -> str:
    """Return a table of efforts and positions with bars; what is beyond a limit is red."""
    rows = []
    broken = {(v.joint, v.quantity) for v in shown.violations}
    for a, j in enumerate(robot.model.actuators):
        joint = robot.model.joints[j]
        unit, length = ('N', 'm') if joint.kind == 'prismatic' else ('N m', 'rad')
        effort, position = float(shown.efforts[a]), float(shown.joints.position[j])
        limit = joint.effort_limit
        load = effort / limit if math.isfinite(limit) and limit > 0.0 else math.nan
        span = joint.upper - joint.lower
        place = 2.0 * (position - joint.lower) / span - 1.0 if math.isfinite(span) else math.nan
        too_much, beyond = (joint.name, 'effort') in broken, (joint.name, 'position') in broken
        rows.append(
            f'<tr>{_name(joint.name, 110)}'
            f'<td style="{_NUMBER}{_red(too_much)}">{_steady(effort, 1)} {unit}</td>'
            f'<td>{_bar(load, too_much, from_middle=True)}</td>'
            f'<td style="{_NUMBER}{_red(beyond)};padding-left:4px">{_steady(position, 3)} {length}'
            f'</td>'
            f'<td>{_bar(place, beyond, from_middle=False)}</td></tr>'
        )
    head = (
        f'<tr style="color:#555"><td style="{_CELL}">drive</td>'
        f'<td style="{_NUMBER}">effort</td><td style="{_CELL}">of limit</td>'
        f'<td style="{_NUMBER}">position</td><td style="{_CELL}">in range</td></tr>'
    )
    return f'<table data-part="actuators" style="{_FONT};{_INSET}">{head}{"".join(rows)}</table>'


def beyond_limits(robot: Robot, shown: Shown) -> str:
    """Return a line for each limit that is exceeded, in red.

    The place has room for three lines and scrolls beyond, so that buttons below it stay where
    they are while a robot runs in and out of its limits.
    """
    kinds = {joint.name: joint.kind for joint in robot.model.joints}
    lines = ''.join(
        f'<div>{escape(v.joint)}: {v.quantity} {v.value:.4g} {unit}, limit '
        f'{v.lower if v.value < v.lower else v.upper:.4g} {unit}</div>'
        for v in shown.violations
        for unit in [UNITS[v.quantity][kinds[v.joint] == 'revolute']]
    )
    kept = '<div style="color:#777">All limits are kept.</div>'
    return (f'<div data-part="limits" style="{_FONT};{_INSET};height:4.35em;overflow-y:auto;'
            f'color:{BAD}">{lines or kept}</div>')  # fmt: skip


def answers(lines: Sequence[tuple[str, bool]], count: int) -> str:
    """Return what was answered to the buttons, newest first; ``count`` of them so far."""
    rows = ''.join(
        f'<div data-good="{str(good).lower()}" style="color:{GOOD if good else BAD};'
        f'overflow-wrap:anywhere">{escape(text)}</div>' for text, good in lines
    ) or '<div style="color:#777">Answers to the buttons come here.</div>'  # fmt: skip
    return (f'<div data-part="answers" data-count="{count}" style="{_FONT};{_INSET};'
            f'height:4.35em;overflow-y:auto">{rows}</div>')  # fmt: skip


def joint_forces(shown: Shown) -> str:
    """Return a table of the forces and moments of all joints and closures."""
    rows = []
    wrench, unique = shown.forces.wrench, shown.forces.determinate
    for name in shown.forces.names:
        w = wrench[name]
        doubt = '' if unique[name].all() else ' *'
        rows.append(
            f'<tr>{_name(name, 210, doubt)}'
            f'<td style="{_NUMBER}">{np.linalg.norm(w[:3]):.1f} N</td>'
            f'<td style="{_NUMBER}">{np.linalg.norm(w[3:]):.2f} N m</td></tr>'
        )
    note = '' if all(u.all() for u in unique.values()) else (
        '<div style="color:#555">* not unique: the structure is statically indeterminate, and '
        'the smallest loads are shown</div>'
    )  # fmt: skip
    head = (f'<tr style="color:#555"><td style="{_CELL}">joint or closure</td>'
            f'<td style="{_NUMBER}">force</td><td style="{_NUMBER}">moment</td></tr>')  # fmt: skip
    table = f'<table data-part="joint_forces" style="{_FONT}">{head}{"".join(rows)}</table>'
    return f'<div style="{_FONT};{_INSET}">{table}{note}</div>'


def legend(scales: dict[str, float], kinds: Sequence[str]) -> str:
    """Return what the arrows mean and how long they are; N and N m have their own scales."""
    if not kinds:
        return ''
    rows = []
    for kind in kinds:
        colour, name, unit = KINDS[kind]
        rows.append(_line(colour, f'{name}: 0.1 m is {0.1 / scales[unit]:.3g} {unit}'))
    return f'<div data-part="legend" style="{_FONT};{_INSET}">{"".join(rows)}</div>'


def lines(colours: Mapping[str, tuple[int, int, int]]) -> str:
    """Return what the lines in the scene mean."""
    rows = ''.join(_line(colour, name) for name, colour in colours.items())
    return f'<div data-part="lines" style="{_FONT};{_INSET}">{rows}</div>'


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Return names and values, one pair a line."""
    lines = ''.join(
        f'<tr><td style="{_CELL};color:#555">{escape(k)}</td><td>{escape(v)}</td>'
        '</tr>' for k, v in pairs
    )  # fmt: skip
    return f'<table data-part="facts" style="{_FONT};{_INSET}">{lines}</table>'


def _line(colour: tuple[int, int, int], text: str) -> str:
    return (
        '<div><span style="display:inline-block;width:18px;height:4px;margin:0 6px 3px 0;'
        f'background:rgb{colour}"></span>{text}</div>'
    )


def _name(name: str, width: int, mark: str = '') -> str:
    """Return a cell with a name; a long one is cut, and told when the mouse is over it."""
    return (
        f'<td title="{escape(name)}" style="{_CELL};max-width:{width}px;overflow:hidden;'
        f'text-overflow:ellipsis">{escape(name)}{mark}</td>'
    )


def _red(broken: bool) -> str:
    return f';color:{BAD};font-weight:600' if broken else ''


def _bar(share: float, broken: bool, from_middle: bool) -> str:
    """Return a bar for a share in [-1, 1]: filled from the middle, or a mark on a rail."""
    if not math.isfinite(share):
        return '<span style="color:#999">no limit</span>'
    at = 22.0 + 22.0 * min(1.0, max(-1.0, share))
    colour = BAD if broken else '#1a5299'
    if from_middle:
        left, width = min(22.0, at), abs(at - 22.0)
        inner = f'<rect x="{left:.1f}" y="1" width="{width:.1f}" height="8" fill="{colour}"/>'
    else:
        inner = f'<circle cx="{min(40.0, max(4.0, at)):.1f}" cy="5" r="4" fill="{colour}"/>'
    return (
        '<svg width="44" height="10" style="display:block"><rect x="0" y="3.5" width="44" '
        f'height="3" fill="#dfe3e8"/><rect x="21.5" y="0" width="1" height="10" fill="#aab"/>'
        f'{inner}</svg>'
    )


def _steady(value: float, digits: int) -> str:
    """Return a number with its sign, and zero with none that flickers."""
    return f'{round(value, digits) + 0.0:+.{digits}f}'


def _short(value: float) -> str:
    return f'{value:.2f}' if value < 1e4 else 'singular' if math.isinf(value) else f'{value:.1e}'


def degrees(values: Array | float) -> float:
    """Return radians in degrees."""
    return float(np.degrees(values))
