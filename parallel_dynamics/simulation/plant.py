"""A simulated robot behind its drives: commands that are held, a watchdog, brakes, what pushes.

A controller sends commands whenever it likes; the plant advances tick by tick with what it was
told last. This is what the simulator node runs, and it works just as well without ROS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError, LimitError, ParallelDynamicsError
from parallel_dynamics.motion import (
    BaseMotion,
    PlatformMotion,
    checked,
    number,
    one_of,
    positive,
)
from parallel_dynamics.simulation.drives import ROUNDING
from parallel_dynamics.simulation.events import SimulationStopped
from parallel_dynamics.simulation.physics import per_actuator
from parallel_dynamics.simulation.simulator import Simulator
from parallel_dynamics.simulation.snapshot import Snapshot
from parallel_dynamics.spatial import Array

FALLBACKS = ('zero', 'gravity', 'brake')
"""What a watchdog can put in the place of commands that do not come."""
BRAKING = 0.05
"""Seconds in which 'brake' slows the platform down by a factor of e."""


@dataclass(frozen=True, eq=False)
class PlantJoints:
    """All joints, then the platform's virtual ones: names, positions, velocities, efforts."""

    names: tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array


class Plant:
    """A simulator with the last command held.

    Parameters
    ----------
    simulator : Simulator
    tick : float
        Seconds from one look at the commands to the next.
    watchdog : float
        Simulated seconds without a command after which ``fallback`` takes over; 0 for never.
    fallback : str
        'zero': no efforts. 'gravity': those that hold the platform against its weight where it
        is, in the attitude that the base has. 'brake': those, and what slows it down to rest; a
        platform that moves goes on moving under its weight compensated alone.
    brakes : bool
        From a reset to the first command the brakes hold the robot at rest while time passes.
        Without brakes the fallback acts at once.

    Attributes
    ----------
    base : BaseMotion or None
        Motion of the base, held until another is set.
    event : SimulationStopped or None
        Why the simulation stands still; a reset or a snapshot gets it going again.
    trips : int
        How often the watchdog took over.
    """

    def __init__(
        self,
        simulator: Simulator,
        tick: float = 1e-3,
        watchdog: float = 0.0,
        fallback: str = 'zero',
        brakes: bool = True,
    ) -> None:
        positive('tick', tick, 'seconds above 0')
        number('watchdog', watchdog, 'seconds, at least 0', 0.0)
        one_of('fallback', fallback, FALLBACKS)
        self.simulator = simulator
        self.tick = tick
        self.watchdog = watchdog
        self.fallback = fallback
        self.brakes = brakes
        self.base: BaseMotion | None = None
        self.event: SimulationStopped | None = None
        self._wrench: Array | None = None
        self._on_platform = False
        self._command: Array | None = None
        self._told = 0.0
        self._late = False
        self.trips = 0
        self._chain = np.zeros(len(simulator.robot.model.chain))

    # ---------------------------------------------------------------- what comes in

    def command(self, efforts: ArrayLike, refuse_beyond: ArrayLike | None = None) -> None:
        """Hold efforts (n,) from now on; refuse those beyond the limits (n,) given."""
        robot, n = self.simulator.robot, self.simulator.robot.dof
        row = checked('efforts', efforts, (n,), single=True)
        if refuse_beyond is not None:
            limits = per_actuator(robot, 'refuse_beyond', refuse_beyond)
            k = int(np.argmax(np.abs(row) - limits))
            if abs(row[k]) > limits[k]:
                raise LimitError(
                    f'efforts: expected at most {limits[k]:g} for {robot.actuators[k]}, '
                    f'got {row[k]:g}'
                )
        self._command, self._told = row.copy(), self.simulator.time

    def push(self, wrench: ArrayLike | None, on_platform: bool = False) -> None:
        """Hold an external wrench (6,) from now on, in base axes or in those of the platform."""
        given = None if wrench is None else checked('wrench', wrench, (6,), single=True)
        self._wrench = None if given is None else given.copy()
        self._on_platform = on_platform

    @property
    def wrench(self) -> Array | None:
        """The external wrench (6,) now, in base axes."""
        if self._wrench is None or not self._on_platform:
            return self._wrench
        rotation = self.simulator.state.rotation
        return np.concatenate([rotation @ self._wrench[:3], rotation @ self._wrench[3:]])

    # ---------------------------------------------------------------- time

    @property
    def source(self) -> str:
        """Where efforts come from now: 'commands', 'watchdog', 'brakes', or 'stopped'."""
        if self.event is not None:
            return 'stopped'
        if self._command is None:
            return 'brakes' if self.brakes else 'watchdog'
        age = self.simulator.time - self._told
        late = 0.0 < self.watchdog <= age + ROUNDING * self.tick
        return 'watchdog' if late else 'commands'

    def advance(self, ticks: int = 1) -> int:
        """Go on by some ticks, as far as it goes; return how many. ``event`` says why it ended."""
        if not isinstance(ticks, (int, np.integer)):
            raise InputError(f'ticks: expected a whole number, got {ticks!r}')
        for done in range(ticks):
            source = self.source
            if source == 'stopped':
                return done
            if source == 'brakes':
                self.simulator.hold(self.tick)
                continue
            late = source == 'watchdog'
            self.trips += late and not self._late and self._command is not None
            self._late = late
            efforts = self._command
            if late or efforts is None:
                efforts = self.fallback_efforts()
            try:
                self.simulator.step(efforts, self.tick, self.wrench, self.base)
            except SimulationStopped as event:
                self.event = event
                return done
        return ticks

    def fallback_efforts(self) -> Array:
        """Return what the watchdog commands now (n,)."""
        zero = np.zeros(self.simulator.robot.dof)
        if self.fallback == 'zero':
            return zero
        try:
            if self.fallback == 'brake':
                return self.simulator.braking_efforts(BRAKING, self.base)
            return self.simulator.gravity_efforts(self.base)
        except ParallelDynamicsError:
            return zero  # nothing holds the platform in a singular pose

    def reset(self, motion: PlatformMotion | None = None, time: float | None = None) -> None:
        """Start again from a motion (home by default), at a time (now by default).

        The last command is forgotten; wrench and base motion go on.
        """
        self.simulator.reset(motion, self.simulator.time if time is None else time)
        self._command, self.event = None, None
        self._chain[:] = 0.0

    # ---------------------------------------------------------------- what goes out

    def joints(self) -> PlantJoints:
        """Return what sensors say of all joints, and where the virtual joints are."""
        robot = self.simulator.robot
        measured = self.simulator.measure()
        names, position, velocity = robot.virtual_joints(self.simulator.state, self._chain)
        self._chain = position
        effort = np.zeros(len(measured.names) + len(names))
        effort[list(robot.model.actuators)] = measured.efforts
        return PlantJoints(
            (*measured.names, *names),
            np.concatenate([measured.position, position]),
            np.concatenate([measured.velocity, velocity]),
            effort,
        )

    # ---------------------------------------------------------------- saving

    def save(self) -> Snapshot:
        """Return the state of the simulation with the command in force."""
        held = None if self._command is None else tuple(self._command.tolist())
        return replace(self.simulator.save(), command=held)

    def load(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot; its command counts as sent just now.

        A snapshot of a simulator alone has no command: its robot goes on with the efforts it
        had if it moves, and is held by the brakes if it does not.
        """
        self.simulator.load(snapshot)
        held = snapshot.command
        if held is None and self.simulator.state.twist.any():
            held = tuple(self.simulator.efforts.tolist())
        self._command, self._told = None, self.simulator.time
        if held is not None:
            self.command(np.array(held))
        self.event = None
        self._chain[:] = 0.0
