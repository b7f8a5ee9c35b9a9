"""Figures 1 to 4 of lopes_2010, drawn from the robot's data."""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.drawing import BODY, Sketch
from parallel_dynamics.papers.lopes_2010.leg import leg_state
from parallel_dynamics.papers.lopes_2010.model import StewartPlatform
from parallel_dynamics.papers.report import COLOURS, GREY, new_figure


def structure(robot: StewartPlatform, home: PlatformMotion) -> Any:
    """Fig. 1: cylinders, pistons, base and platform."""
    at = robot.at_centre(home)
    sketch = Sketch(size=(6.0, 5.6))
    tips = [at.position + at.rotation @ leg.p for leg in robot.legs]
    sketch.plate([leg.b for leg in robot.legs], BODY)
    sketch.plate(tips, COLOURS[0])
    for k, (leg, tip) in enumerate(zip(robot.legs, tips)):
        middle = leg.b + 0.6 * (tip - leg.b)
        sketch.line(leg.b, middle, linewidth=4.5)
        sketch.line(middle, tip, linewidth=1.8)
        sketch.dot(leg.b, f'$B_{k + 1}$')
        sketch.dot(tip, f'$P_{k + 1}$', COLOURS[0])
    sketch.frame(np.zeros(3), np.eye(3), 0.2, '{B}')
    sketch.frame(at.position, at.rotation, 0.2, '{P}')
    return sketch.finish()


def connecting_points(robot: StewartPlatform) -> tuple[Any, dict[str, float]]:
    """Fig. 2: the connecting points with their radii and separation angles.

    Returns the figure and ``r_B, r_P`` (m), ``phi_B, phi_P`` (rad).
    """
    base = np.array([leg.b[:2] for leg in robot.legs])
    platform = np.array([leg.p[:2] for leg in robot.legs])
    sizes = {
        'r_B': float(np.linalg.norm(base[0])),
        'r_P': float(np.linalg.norm(platform[0])),
        'phi_B': _half_angle(base[0], base[5]),
        'phi_P': _half_angle(platform[0], platform[1]),
    }
    figure, axes = new_figure(1, 2, size=(9.4, 4.6))
    panels = (
        (axes[0], base, 'B', (0, 5), BODY, 'base platform {B}'),
        (axes[1], platform, 'P', (0, 1), COLOURS[0], 'payload platform {P}'),
    )
    for panel, points, name, pair, colour, title in panels:
        radius = sizes[f'r_{name}']
        turn = np.linspace(0.0, 2.0 * np.pi, 200)
        panel.plot(radius * np.cos(turn), radius * np.sin(turn), color=GREY, linewidth=1.0)
        ring = np.vstack([points, points[:1]])
        panel.fill(*ring.T, facecolor=colour, alpha=0.15, edgecolor=colour)
        panel.scatter(*points.T, color=colour, zorder=3)
        for k, point in enumerate(points):
            panel.annotate(f'${name}_{k + 1}$', 1.13 * point, ha='center', va='center')
        for k in pair:
            panel.plot([0.0, points[k, 0]], [0.0, points[k, 1]], color=COLOURS[1], linewidth=1.2)
        between = 0.55 * points[list(pair)].mean(axis=0)
        value = np.degrees(2.0 * sizes[f'phi_{name}'])
        panel.annotate(
            rf'$2\phi_{name}$ = {value:.1f}°',
            between,
            color=COLOURS[1],
            ha='center',
            bbox={'facecolor': 'white', 'edgecolor': 'none', 'pad': 1.0},
        )
        panel.set_title(f'{title}, $r_{name}$ = {radius:.2f} m', fontsize=10)
        panel.set_xlabel('x [m]')
        panel.set_ylabel('y [m]')
        panel.set_aspect('equal')
        panel.margins(0.14)
    return figure, sizes


def _half_angle(a: Any, b: Any) -> float:
    cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    return float(0.5 * np.arccos(cosine))


def centres_of_mass(robot: StewartPlatform, home: PlatformMotion) -> Any:
    """Figs. 3 and 4: where the centres of mass of cylinder and piston are on a leg."""
    leg = robot.legs[0]
    state = leg_state(leg, robot.at_centre(home))
    length = state.length
    figure, axes = new_figure(size=(7.6, 2.6))
    axes.plot([0.0, 0.6 * length], [0.0, 0.0], color=BODY, linewidth=9.0, solid_capstyle='butt')
    axes.plot([0.38 * length, length], [0.0, 0.0], color=GREY, linewidth=3.0)
    for x, name in ((0.0, '$B_i$'), (length, '$P_i$')):
        axes.scatter([x], [0.0], color='black', zorder=4)
        axes.annotate(name, (x, 0.0), xytext=(0, 12), textcoords='offset points', ha='center')
    marks = (
        (leg.b_C, 0.0, f'$b_C$ = {leg.b_C:.3f} m', 'cylinder', COLOURS[1]),
        (length - leg.b_S, length, f'$b_S$ = {leg.b_S:.3f} m', 'piston', COLOURS[0]),
    )
    for level, (x, end, text, name, colour) in enumerate(marks):
        y = -0.35 - 0.35 * level
        axes.scatter([x], [0.0], color=colour, zorder=5, s=60, label=f'centre of mass, {name}')
        axes.annotate('', (x, y), (end, y), arrowprops={'arrowstyle': '<->', 'color': colour})
        axes.plot([x, x], [0.0, y], color=colour, linewidth=0.8, linestyle=':')
        axes.annotate(text, (0.5 * (x + end), y), xytext=(0, -14), textcoords='offset points',
                      ha='center', color=colour)  # fmt: skip
    axes.set_ylim(-1.1, 0.6)
    axes.set_yticks([])
    axes.grid(False)
    axes.spines['left'].set_visible(False)
    axes.set_xlabel('along the leg [m]')
    axes.legend(frameon=False, loc='upper center', ncols=2)
    return figure
