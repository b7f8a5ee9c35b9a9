"""Figures 1 to 5 of khalil_ibrahim_2007, drawn from the shipped robots."""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.model import PLATFORM, RobotModel
from parallel_dynamics.papers.drawing import BODY, Sketch
from parallel_dynamics.papers.khalil_ibrahim_2007.extract import c5_robot, ups_robot
from parallel_dynamics.papers.layout import HomeLayout
from parallel_dynamics.papers.notation import Array
from parallel_dynamics.papers.report import COLOURS, GREY


def _home(model: RobotModel) -> tuple[Array, Array]:
    layout = HomeLayout(model)
    return layout.origins[PLATFORM], layout.rotations[PLATFORM]


def tree_structure(model: RobotModel) -> Any:
    """Fig. 1: the Gough-Stewart robot and its tree, with the balls of legs 2 to 6 cut."""
    robot = ups_robot(model)
    P, R = _home(model)
    B = [leg.base_point for leg in robot.legs]
    tips = [P + R @ leg.attachment for leg in robot.legs]
    sketch = Sketch(2)
    for panel, title in enumerate(('parallel robot', 'equivalent tree: legs 2 to 6 cut')):
        sketch.panel(panel, title)
        sketch.plate(B, BODY)
        lift = np.array([0.0, 0.0, 0.14]) if panel else np.zeros(3)
        first = P + lift + R @ robot.legs[0].attachment
        sketch.plate([tip + lift for tip in tips], COLOURS[0])
        for k, (b, tip) in enumerate(zip(B, tips)):
            end = first if k == 0 else tip
            sketch.line(b, end, color=COLOURS[1] if k == 0 else BODY)
            sketch.dot(b, f'$B_{k + 1}$')
            sketch.dot(tip + lift, f'$P_{k + 1}$', COLOURS[0])
            if panel and k:
                sketch.line(tip, tip + lift, color=GREY, linestyle=':', linewidth=1.2)
    return sketch.finish()


def space_robot(model: RobotModel) -> Any:
    """Figs. 2 and 3: the Space robot with the frames of base and platform."""
    robot = ups_robot(model)
    P, R = _home(model)
    sketch = Sketch()
    B = [leg.base_point for leg in robot.legs]
    tips = [P + R @ leg.attachment for leg in robot.legs]
    sketch.plate(B, BODY)
    sketch.plate(tips, COLOURS[0])
    for k, (b, tip) in enumerate(zip(B, tips)):
        middle = b + 0.6 * (tip - b)
        sketch.line(b, middle, linewidth=4.0)
        sketch.line(middle, tip, linewidth=1.8)
        sketch.dot(b, f'$B_{k + 1}$' if k else '')
        sketch.dot(tip, f'$P_{k + 1}$' if k else '', COLOURS[0])
    # The first joints are the origins of the frames.
    sketch.frame(B[0], np.eye(3), 0.18, r'$B_1, \Sigma_0$')
    sketch.frame(P, R, 0.18, r'$P_1, \Sigma_P$')
    return sketch.finish(elevation=24.0, azimuth=-70.0)


def leg_frames(model: RobotModel) -> Any:
    """Fig. 4: the frames of one leg in Khalil and Kleinfinger's notation.

    z is along the joint, x of a frame perpendicular to its z and to the z after it.
    """
    leg = ups_robot(model).legs[0]
    # Not at home, where x_2 lies on z_1: a leg that leans to all sides shows every axis.
    q = leg.inverse_geometry(np.array([0.15, 0.3, 0.6]))
    rotations, origins = leg.frames(q)
    tip = origins[2]
    sketch = Sketch(size=(6.4, 6.0))
    sketch.line(leg.base_point, tip, linewidth=3.0)
    length = 0.42 * float(q[2])
    for k, (name, colour) in enumerate(zip(('1', '2', '3'), COLOURS[1:])):
        for column, axis in ((2, 'z'), (0, 'x')):
            shown = length if axis == 'z' else 0.7 * length
            label = f'${axis}_{{{name}i}}$'
            sketch.arrow(origins[k], rotations[k][:, column], shown, label, colour)
    sketch.note(leg.base_point + 0.62 * (tip - leg.base_point), '$L_i$', (14.0, 0.0))
    sketch.note(leg.base_point, '$B_i$', (-6.0, -14.0))
    sketch.dot(leg.base_point)
    sketch.dot(tip, colour=COLOURS[0])
    sketch.note(tip, '$P_i$', (-14.0, 4.0))
    return sketch.finish(elevation=18.0, azimuth=-28.0)


def c5_drawing(model: RobotModel) -> Any:
    """Fig. 5: the C5 robot, six legs on three faces of a cube."""
    robot = c5_robot(model)
    P, R = _home(model)
    side = 2.0 * float(np.max(robot.platform.MS) / robot.platform.M)
    sketch = Sketch()
    corners = {k: P + side * R @ np.array([(k >> 2) & 1, (k >> 1) & 1, k & 1]) for k in range(8)}
    for a in range(8):
        for bit in (1, 2, 4):
            if not a & bit:
                sketch.line(corners[a], corners[a | bit], color=COLOURS[0], linewidth=1.4)
    for k, leg in enumerate(robot.legs):
        start = leg.base_point - 0.16 * leg.axis
        sketch.line(start, leg.base_point, linewidth=3.0)
        sketch.dot(leg.base_point, colour=COLOURS[1], size=30.0)
        sketch.note(leg.base_point, f'$P_{k + 1}$', C5_LABELS[k])
        sketch.dot(start, f'$B_{k + 1}$')
    sketch.frame(P, R, 0.045, r'$\Sigma_P$')
    return sketch.finish(elevation=28.0, azimuth=-118.0)


C5_LABELS = ((4.0, 10.0), (0.0, 10.0), (-10.0, -10.0), (14.0, 8.0), (-8.0, 10.0), (10.0, 10.0))
"""Where the names of P_1 to P_6 are clear of legs, cube and axes in this view, points."""
