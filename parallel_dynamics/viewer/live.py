"""The page of a running loop: where it is, where it should be, what it costs, and buttons."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
import queue
from time import strftime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import ParallelDynamicsError
from parallel_dynamics.maps.performance import effort_unit
from parallel_dynamics.motion import BaseMotion, PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array
from parallel_dynamics.viewer import html
from parallel_dynamics.viewer.arrow_controls import ArrowControls
from parallel_dynamics.viewer.scene import ACTUAL, DESIRED, RobotScene, nice
from parallel_dynamics.viewer.states import Shown, evaluate

CONTROLLER = (('Emergency stop', 'emergency_stop', 'red'), ('Stop', 'stop', 'orange'),
              ('Enable', 'enable', 'green'))  # fmt: skip
"""Buttons for the controller: label, action and colour; what is urgent comes first."""
SIMULATOR = ('Pause', 'Resume', 'Step', 'Reset')
"""Buttons for simulated time; the action is the same word in small letters."""
COLOURS = ('#1a5299', '#e87e18', '#168c4e', '#8048b2', '#d02c2c', '#0f868c', '#7a5c30', '#555555')
ANSWERS = 12
"""How many answers to buttons are kept."""
PATH_POINTS = 1500
PLOT_POINTS = 400


@dataclass(frozen=True)
class Action:
    """A button that was pressed; a push has a wrench (6,) and a duration, s."""

    name: str
    wrench: tuple[float, ...] = ()
    duration: float = 0.0


class LivePage:
    """Shows a robot that something else moves.

    Attributes
    ----------
    actions : queue of Action
        Buttons that were pressed; whoever runs the page acts on them.
    """

    def __init__(self, server: Any, robot: Robot, history: float = 10.0) -> None:
        self.server, self.robot, self.history = server, robot, history
        self.actions: queue.SimpleQueue[Action] = queue.SimpleQueue()
        self.shown: Shown = evaluate(robot, robot.home)
        self.scene = RobotScene(server, robot, self.shown)
        self._times: deque[float] = deque(maxlen=PLOT_POINTS)
        self._efforts: deque[Array] = deque(maxlen=PLOT_POINTS)
        self._actual: deque[Array] = deque(maxlen=PATH_POINTS)
        self._desired: deque[Array] = deque(maxlen=PATH_POINTS)
        self._answers: deque[tuple[str, bool]] = deque(maxlen=ANSWERS)
        self._answered = 0
        self._build_panel()
        self.scene.show(self.shown)
        self.say('Waiting for joint_states.', good=False)

    # ---------------------------------------------------------------- building

    def _build_panel(self) -> None:
        gui = self.server.gui
        self._banner = gui.add_html('')
        self._gauge = gui.add_html(html.gauge(self.shown))
        self._actuators = gui.add_html(html.actuators(self.robot, self.shown))
        self._limits = gui.add_html(html.beyond_limits(self.robot, self.shown))
        tabs = gui.add_tab_group()
        with tabs.add_tab('Run'):
            self._answers_html = gui.add_html(html.answers((), 0))
            for label, action, colour in CONTROLLER:
                button = gui.add_button(label, color=colour)
                button.on_click(lambda _, name=action: self.actions.put(Action(name)))
            times = gui.add_button_group('simulator', SIMULATOR)
            times.on_click(lambda event: self.actions.put(Action(event.target.value.lower())))
            with gui.add_folder('External wrench'):
                self._add_push()
        with tabs.add_tab('Plots'):
            self._add_plot()
            gui.add_html(html.lines({'desired path': DESIRED, 'actual path': ACTUAL}))
            clear = gui.add_button('Clear paths and plots')
            clear.on_click(lambda _: self.clear())
        with tabs.add_tab('Forces'):
            self._arrows = ArrowControls(self.server, self.scene, lambda: None)
            self._forces = gui.add_html('')
        with tabs.add_tab('Nodes'):
            self._facts = gui.add_html('')

    def _add_push(self) -> None:
        gui = self.server.gui
        weight = self.robot.model.bodies[1].inertia.mass * np.linalg.norm(self.robot.model.gravity)
        first = nice(max(0.5 * float(weight), 1e-3))
        force = gui.add_vector3('force [N]', (first, 0.0, 0.0), step=first / 10.0)
        moment = gui.add_vector3('moment [N m]', (0.0, 0.0, 0.0), step=1.0)
        duration = gui.add_number('for [s]', 0.3, min=0.01, max=10.0, step=0.05)
        button = gui.add_button('Push')

        def push(_: Any) -> None:
            wrench = (*map(float, force.value), *map(float, moment.value))
            self.actions.put(Action('push', wrench, float(duration.value)))

        button.on_click(push)

    def _add_plot(self) -> None:
        series: list[dict[str, Any]] = [{'label': 's'}]
        series += [
            {'label': name, 'stroke': COLOURS[k % len(COLOURS)], 'width': 1.5}
            for k, name in enumerate(self.robot.actuators)
        ]
        empty = tuple(np.zeros(0) for _ in series)
        self._plot = self.server.gui.add_uplot(
            empty, tuple(series), title=f'efforts [{effort_unit(self.robot)}], time from now [s]',
            aspect=1.2, axes=({}, {'size': 64}),
            # A fixed range: that of a chart which began without data does not grow.
            scales={'x': {'time': False, 'range': (-self.history, 0.0)}, 'y': {'auto': True}},
        )  # fmt: skip

    # ---------------------------------------------------------------- what happens

    def show(
        self,
        time: float,
        motion: PlatformMotion,
        efforts: Array | None = None,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
    ) -> None:
        """Show the robot at a time (s); refused states leave the last good one on the page.

        ``efforts`` (n,) are those applied; those that the motion needs where there are none.
        """
        try:
            self.shown = evaluate(self.robot, motion, wrench, base, efforts)
        except ParallelDynamicsError as error:
            self.say(f'Cannot be shown, the last good pose stays: {error}', good=False)
            return
        if self._times and time < self._times[-1]:
            self.clear()  # somebody set the clock back
        since = time - self._times[-1] if self._times else np.inf
        if since > 0.0:
            self._actual.append(motion.position)
        if since >= self.history / PLOT_POINTS:  # so many points are to last for so long
            self._times.append(time)
            self._efforts.append(self.shown.efforts)
        with self.server.atomic():
            self.scene.show(self.shown)
            if base is not None:
                self.scene.tilt(base.rotation)

    def desire(self, points: Array) -> None:
        """Add positions (k, 3) to the desired path; more than one begin it anew."""
        if len(points) > 1:
            self._desired.clear()
        self._desired.extend(points)

    def clear(self) -> None:
        """Forget paths and curves."""
        for memory in (self._times, self._efforts, self._actual, self._desired):
            memory.clear()

    def say(self, text: str, good: bool = True) -> None:
        """Write the line at the top."""
        self._set(self._banner, html.banner(text, good))

    def answer(self, text: str, good: bool = True) -> None:
        """Write what came of a button; it stays until others have come."""
        self._answered += 1
        self._answers.appendleft((f'{strftime("%H:%M:%S")} {text}', good))
        self._set(self._answers_html, html.answers(tuple(self._answers), self._answered))

    def write(self, facts: list[tuple[str, str]]) -> None:
        """Write all numbers, curves and paths; ``facts`` are what the nodes say."""
        shown = self.shown
        self._set(self._gauge, html.gauge(shown))
        self._set(self._actuators, html.actuators(self.robot, shown))
        self._set(self._limits, html.beyond_limits(self.robot, shown))
        self._set(self._forces, html.joint_forces(shown))
        self._set(self._facts, html.facts(facts))
        self._arrows.write()
        with self.server.atomic():  # a line that is replaced must not blink
            self.scene.path('desired', _thin(self._desired), DESIRED)
            self.scene.path('actual', _thin(self._actual), ACTUAL)
        if len(self._times) > 1:
            t = np.array(self._times)
            recent = t > t[-1] - self.history
            values = np.array(self._efforts)[recent]
            self._plot.data = (t[recent] - t[-1], *(np.ascontiguousarray(v) for v in values.T))

    @staticmethod
    def _set(handle: Any, content: str) -> None:
        if handle.content != content:
            handle.content = content


def _thin(points: deque[Array]) -> Array:
    """Return at most some hundred of the points, (k, 3)."""
    step = max(1, len(points) // 300)
    return np.array(list(points)[::step]).reshape(-1, 3)
