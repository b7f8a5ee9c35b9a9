"""The page that stands alone: pose a robot, load it, play motions, and see what it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import threading
import time
from typing import Any

import numpy as np

from parallel_dynamics.errors import ParallelDynamicsError
from parallel_dynamics.maps.grid import UNITS
from parallel_dynamics.model import PLATFORM
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array
from parallel_dynamics.viewer import html
from parallel_dynamics.viewer.arrow_controls import ArrowControls
from parallel_dynamics.viewer.handles import DragHandles
from parallel_dynamics.viewer.player import Player
from parallel_dynamics.viewer.posing import Posing
from parallel_dynamics.viewer.scene import ACTUAL, RobotScene, nice

RATE = 60.0
"""Poses per second while something moves."""
NUMBERS_RATE = 12.0
"""Tables per second: faster than anybody reads, slow enough for a weak browser."""
SETTLE = 0.8
"""Seconds without a new wish after which sliders go back from a pose that was refused."""

Motions = Mapping[str, Callable[[], tuple[Array, PlatformMotion]]]


class Page:
    """A robot to play with, on a viser server.

    Callbacks of the browser only note what is wanted; ``tick``, called by one thread, does it.

    Parameters
    ----------
    server : viser.ViserServer
    robot : Robot
    motions : mapping of str to function
        Motions that can be played: each function returns times (N,) and a batch.
    """

    def __init__(self, server: Any, robot: Robot, motions: Motions) -> None:
        self.server, self.posing, self._motions = server, Posing(robot), motions
        self._lock = threading.Lock()
        self._wishes: dict[str, float] = {}
        self._load: dict[str, Any] = {}
        self._player: Player | None = None
        self._chosen: str | None = None
        self._asked = self._ticked = self._written = time.monotonic()
        self._stale = True
        self.frames = 0
        self.scene = RobotScene(server, robot, self.posing.shown)
        self._build_panel()
        self.tick()

    # ---------------------------------------------------------------- building

    def _build_panel(self) -> None:
        gui = self.server.gui
        self._banner = gui.add_html('')
        self._gauge = gui.add_html('')
        self._actuators = gui.add_html('')
        self._limits = gui.add_html('')
        tabs = gui.add_tab_group()
        with tabs.add_tab('Pose'):
            self._add_sliders()
            home = gui.add_button('Home', icon=self._icon('HOME'))
            home.on_click(lambda _: self.wish(self._home()))
        with tabs.add_tab('Load'):
            self._add_loads()
        with tabs.add_tab('Motion'):
            self._add_player()
        with tabs.add_tab('Forces'):
            self._arrows = ArrowControls(self.server, self.scene, self.refresh)
            self._forces = gui.add_html('')
        self._handles = DragHandles(self.server, self.posing, self.scene.size, self.wish)

    def _icon(self, name: str) -> Any:
        from viser import Icon

        return getattr(Icon, name)

    def _add_sliders(self) -> None:
        self._sliders: dict[str, Any] = {}
        now = self.posing.coordinates()
        for name in self.posing.names:
            low, high = self.posing.ranges[name]
            turning = UNITS[name] == 'rad'
            if turning:
                low, high = html.degrees(low), html.degrees(high)
            step = 0.1 if turning else nice((high - low) / 1000.0)
            slider = self.server.gui.add_slider(
                f'{name} [{"deg" if turning else "m"}]', min=float(np.floor(low / step) * step),
                max=float(np.ceil(high / step) * step), step=step,
                initial_value=self._shown_value(name, now[name]),
            )  # fmt: skip
            slider.on_update(lambda event, name=name: self._slid(name, event))
            self._sliders[name] = slider
        shown = self.server.gui.add_checkbox('drag handles', True)
        shown.on_update(lambda event: setattr(self._handles, 'visible', event.target.value))

    def _add_loads(self) -> None:
        gui = self.server.gui
        mass = max(self.posing.bare.model.bodies[PLATFORM].inertia.mass, 1e-3)
        most = 5.0 * nice(2.0 * mass)
        payload = gui.add_slider('payload [kg]', min=0.0, max=most, step=most / 500,
                                 initial_value=0.0)  # fmt: skip
        payload.on_update(lambda event: self._set_load(payload=float(event.target.value)))
        tilts = [
            gui.add_slider(f'base {name} [deg]', min=-90.0, max=90.0, step=0.5, initial_value=0.0)
            for name in ('roll', 'pitch')
        ]
        force = gui.add_vector3('push, force [N]', (0.0, 0.0, 0.0), step=10.0)
        moment = gui.add_vector3('push, moment [N m]', (0.0, 0.0, 0.0), step=1.0)

        def tilted(_: Any) -> None:
            self._set_load(tilt=np.radians([slider.value for slider in tilts]))

        def pushed(_: Any) -> None:
            self._set_load(wrench=np.array([*force.value, *moment.value], float))

        for slider in tilts:
            slider.on_update(tilted)
        for vector in (force, moment):
            vector.on_update(pushed)

    def _add_player(self) -> None:
        gui = self.server.gui
        names = list(self._motions)
        self._choice = gui.add_dropdown('motion', names, initial_value=names[0])
        self._play = gui.add_button('Play', icon=self._icon('PLAYER_PLAY'))
        self._clock = gui.add_slider('time [s]', min=0.0, max=1.0, step=0.01, initial_value=0.0)
        speed = gui.add_slider('speed', min=0.1, max=3.0, step=0.1, initial_value=1.0)
        self._play.on_click(lambda _: self._set_load(play=True))
        self._choice.on_update(lambda _: self._set_load(choose=True))
        speed.on_update(lambda event: self._set_load(speed=float(event.target.value)))

        def moved(event: Any) -> None:
            if event.client is not None:
                self._set_load(seek=float(event.target.value))

        self._clock.on_update(moved)

    # ---------------------------------------------------------------- what is wanted

    def wish(self, coordinates: dict[str, float]) -> None:
        """Ask for a pose by its free coordinates; the next tick goes there or refuses."""
        with self._lock:
            self._wishes.update(coordinates)
            self._asked = time.monotonic()

    def _slid(self, name: str, event: Any) -> None:
        if event.client is not None:  # None: this program moved it
            value = float(event.target.value)
            self.wish({name: np.radians(value) if UNITS[name] == 'rad' else value})

    def _set_load(self, **changes: Any) -> None:
        with self._lock:
            self._load.update(changes)

    def refresh(self) -> None:
        """Draw everything anew at the next tick."""
        self._stale = True

    def _home(self) -> dict[str, float]:
        from parallel_dynamics.maps.grid import home_coordinates

        every = home_coordinates(self.posing.robot)
        return {name: every[name] for name in self.posing.names}

    # ---------------------------------------------------------------- what happens

    def run(self, stop: threading.Event) -> None:
        """Tick until told to stop."""
        while not stop.wait(1.0 / RATE):
            self.tick()

    def tick(self) -> None:
        """Do what was wanted since the last call, and show it."""
        now = time.monotonic()
        with self._lock:
            wishes, self._wishes = self._wishes, {}
            load, self._load = self._load, {}
        self._apply(load)
        if wishes:
            if self._player is not None:
                self._player.playing = False
            self._stale |= self.posing.ask(wishes)
        elif self._player is not None and self._player.playing:
            self._player.advance(now - self._ticked)
            self._follow(self._player)
        self._ticked = now
        late = now - self._written > 1.0 / NUMBERS_RATE
        if self._stale:
            self._stale = False
            self.frames += 1
            with self.server.atomic():
                self.scene.show(self.posing.shown)
                self._handles.follow(self.posing.shown.motion)
        if late:
            self._written = now
            self._write_numbers(settled=now - self._asked > SETTLE)

    def _apply(self, load: dict[str, Any]) -> None:
        loads = {k: load[k] for k in ('payload', 'tilt', 'wrench') if k in load}
        if loads:
            self.posing.load(**loads)
            self.scene.tilt(self.posing.base_rotation)
            self._stale = True
        if 'choose' in load or 'play' in load or 'seek' in load:
            player = self._selected()
            if player is not None and 'play' in load:
                player.playing = not player.playing
            if player is not None and 'seek' in load:
                player.playing, player.time = False, load['seek']
                self._follow(player)
        if self._player is not None:
            self._player.speed = load.get('speed', self._player.speed)

    def _selected(self) -> Player | None:
        """Return the player of the motion that is chosen, made anew when another was chosen."""
        if self._chosen != self._choice.value:
            self._chosen, self._player = self._choice.value, None
            self.scene.path('motion', np.zeros((0, 3)), ACTUAL)
            try:
                self._player = Player(*self._motions[self._choice.value]())
            except ParallelDynamicsError as error:
                self.posing.refusal = str(error)
                return None
            self.scene.path('motion', self._player.path, ACTUAL)
            self._clock.max = max(round(self._player.duration, 2), 0.01)
        return self._player

    def _follow(self, player: Player) -> None:
        if self.posing.ask_motion(player.motion()):
            self._stale = True
        else:
            player.playing = False

    # ---------------------------------------------------------------- numbers

    def _write_numbers(self, settled: bool) -> None:
        posing, shown = self.posing, self.posing.shown
        playing = self._player is not None and self._player.playing
        if posing.refusal:
            text = f'Refused, the last good pose stays: {posing.refusal}'
        elif shown.violations:
            text = 'This pose can be assembled, but it is beyond the limits named in red.'
        else:
            text = 'Playing a motion.' if playing else 'Drag the platform or move a slider.'
        fine = not (posing.refusal or shown.violations)
        self._set(self._banner, html.banner(text, fine))
        self._set(self._gauge, html.gauge(shown))
        self._set(self._actuators, html.actuators(posing.robot, shown))
        self._set(self._limits, html.beyond_limits(posing.robot, shown))
        self._set(self._forces, html.joint_forces(shown))
        self._arrows.write()
        label = 'Pause' if playing else 'Play'
        if self._play.label != label:
            self._play.label = label
        if playing and self._player is not None:
            self._clock.value = round(self._player.time, 2)
        if settled or playing:
            self._move_sliders()

    def _move_sliders(self) -> None:
        """Put the sliders where the robot is."""
        now = self.posing.coordinates()
        for name, slider in self._sliders.items():
            value = self._shown_value(name, now[name])
            if abs(slider.value - value) > 0.51 * slider.step:
                slider.value = min(slider.max, max(slider.min, value))

    @staticmethod
    def _shown_value(name: str, value: float) -> float:
        return round(html.degrees(value), 1) if UNITS[name] == 'rad' else round(value, 4)

    @staticmethod
    def _set(handle: Any, content: str) -> None:
        if handle.content != content:
            handle.content = content
