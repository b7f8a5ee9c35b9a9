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
    """Fig. 4: the joint axes of one leg in Khalil and Kleinfinger's notation."""
    robot = ups_robot(model)
    P, R = _home(model)
    leg = robot.legs[0]
    tip = P + R @ leg.attachment
    q = leg.inverse_geometry(tip - leg.base_point)
    rotations, origins = leg.frames(q)
    sketch = Sketch()
    sketch.line(leg.base_point, tip, linewidth=3.0)
    length = 0.4 * float(q[2])
    for k, (name, colour) in enumerate(zip(('1', '2', '3'), COLOURS[1:])):
        sketch.arrow(origins[k], rotations[k][:, 2], length, f'$z_{{{name}}}$', colour)
    sketch.dot(leg.base_point, '$B_i$')
    sketch.dot(tip, '$P_i$', COLOURS[0], away_from=tip - np.array([0.0, 1.0, 0.0]))
    return sketch.finish(elevation=20.0, azimuth=-25.0)


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
        sketch.dot(leg.base_point, f'$P_{k + 1}$', COLOURS[1], 30.0)
        sketch.dot(start, f'$B_{k + 1}$')
    sketch.frame(P, R, 0.07, r'$\Sigma_P$')
    return sketch.finish(elevation=28.0, azimuth=-118.0)
