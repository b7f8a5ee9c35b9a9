"""The kernels' own source, run on symbols: what they calculate for one robot, as a tape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from parallel_dynamics.kernels import (
    assembly,
    dynamics,
    forces,
    joint_efforts,
    layout,
    position,
    velocity,
)
from parallel_dynamics.kernels.packing import Packed
from parallel_dynamics.kernels.starting import PHYSICS
from parallel_dynamics.spatial import Array
from parallel_dynamics.unrolling.structure import ARRAYS, Structure, is_number, structure_of
from parallel_dynamics.unrolling.tape import (
    Number,
    Symbol,
    Tape,
    choose,
    largest,
    smallest,
    square_root,
)


class TraceError(Exception):
    """The kernels took a way at the sample state that cannot be recorded."""


def reduce_rows(a: Any, top: int, m: int, n: int, width: int) -> Number:
    """As ``kernels.linear.reduce_rows``, with rows exchanged without a branch."""
    least: Number = 1e300
    most: Number = 0.0
    for k in range(n):
        row = top + k
        for i in range(row + 1, top + m):
            _exchange(a, row, i, k, width)
        pivot = a[row, k]
        least, most = smallest(least, abs(pivot)), largest(most, abs(pivot))
        inverse = 1.0 / pivot
        for j in range(k + 1, width):
            a[row, j] = a[row, j] * inverse
        a[row, k] = 1.0
        for i in range(top, top + m):
            if i != row:
                factor = a[i, k]
                a[i, k] = 0.0
                for j in range(k + 1, width):
                    a[i, j] = a[i, j] - factor * a[row, j]
    return least / most if n > 0 else 1.0


def solve_in_place(a: Any, b: Any, n: int) -> Number:
    """As ``kernels.linear.solve_in_place``, with rows exchanged without a branch.

    Of ``a`` only the pivots are left, on its diagonal.
    """
    whole = np.empty((n, n + 1), object)
    whole[:, :n], whole[:, n] = a[:n, :n], b[:n]
    least: Number = 1e300
    most: Number = 0.0
    for k in range(n):
        for i in range(k + 1, n):
            _exchange(whole, k, i, k, n + 1)
        least, most = smallest(least, abs(whole[k, k])), largest(most, abs(whole[k, k]))
        inverse = 1.0 / whole[k, k]
        for i in range(k + 1, n):
            factor = whole[i, k] * inverse
            for j in range(k + 1, n + 1):
                whole[i, j] = whole[i, j] - factor * whole[k, j]
        a[k, k], whole[k, k] = whole[k, k], inverse
    for i in range(n - 1, -1, -1):
        value = whole[i, n]
        for j in range(i + 1, n):
            value = value - whole[i, j] * b[j]
        b[i] = value * whole[i, i]
    return least / most if n > 0 else 1.0


def _exchange(a: Any, row: int, other: int, k: int, width: int) -> None:
    """Exchange two rows from column k on where that makes the entry in column k larger."""
    if not isinstance(a[other, k], Symbol) and a[other, k] == 0.0:
        return
    better = abs(a[other, k]) > abs(a[row, k])
    for j in range(k, width):
        here, there = a[row, j], a[other, j]
        a[row, j], a[other, j] = choose(better, there, here), choose(better, here, there)


class Trace:
    """One recording: symbols for the robot's numbers and for a state, and kernels run on them."""

    def __init__(self, packed: Packed, structure: Structure) -> None:
        self.tape = Tape()
        self._parameters = enumerate(structure.parameters.tolist())
        self._functions: dict[Any, Any] = {
            'reduce_rows': reduce_rows,
            'solve_in_place': solve_in_place,
            'min': smallest,
            'max': largest,
        }
        self.static = [self._symbolic(array, name, structure)
                       for name, array in zip(ARRAYS, packed.static)]  # fmt: skip
        self.scratch = [_emptied(a) for a in packed.workspace()[0]]
        self.scratch[0]['R'][0] = np.eye(3)

    def input(self, name: str, values: Any) -> Any:
        """Return a row of symbols (n,) for numbers that each state has its own of."""
        row = np.empty(len(values), object)
        for k, value in enumerate(values):
            row[k] = self.tape.source('input', (name, k), value)
        return row

    def _symbolic(self, array: Any, name: str, structure: Structure) -> Any:
        """Return a record array with symbols for the numbers that are read; the others stay."""
        new = _emptied(array)
        for field in array.dtype.names:
            if not is_number(array.dtype[field]):
                new[field] = array[field]
                continue
            entries: list[Number] = structure.written[name, field].tolist()
            for k, value in enumerate(entries):
                if value != value:
                    entries[k] = self.tape.source('parameter', *next(self._parameters))
            target = np.empty(len(entries), object)
            target[:] = entries
            new[field] = target.reshape(array[field].shape)
        return new

    def run(self, function: Any, *arguments: Any) -> Any:
        """Run a kernel's source, and that of what it calls, on symbols."""
        return self._plain(function)(*arguments)

    def _plain(self, function: Any) -> Callable[..., Any]:
        """Return a kernel as a plain function whose world knows symbols."""
        source = getattr(function, 'py_func', function)
        replaced = self._functions.get(source.__name__)
        if replaced is not None:
            return replaced  # type: ignore[no-any-return]
        world = dict(source.__globals__)
        plain = FunctionType(source.__code__, world, source.__name__)
        self._functions[source.__name__] = plain
        for name in source.__code__.co_names:
            if hasattr(world.get(name), 'py_func'):
                world[name] = self._plain(world[name])
        world['math'] = SimpleNamespace(
            sqrt=square_root, cos=self.cosine, sin=self.sine, atan2=_refuse
        )
        world['min'], world['max'] = smallest, largest
        return plain

    def cosine(self, angle: Any) -> Number:
        """Cosine of a joint's position."""
        return self._table('cosines', math.cos, angle)

    def sine(self, angle: Any) -> Number:
        """Sine of a joint's position."""
        return self._table('sines', math.sin, angle)

    def _table(self, name: str, function: Callable[[float], float], angle: Any) -> Number:
        """Return the cosine or sine of a joint's angle, which each state brings along."""
        if not isinstance(angle, Symbol):
            return function(angle)
        kind, place = self.tape.operations[angle.place]
        if kind != 'input' or place[0] != 'positions':
            raise TraceError('an angle that is calculated')
        return self.tape.source('input', (name, place[1]), function(angle.value))


def _refuse(*_: Any) -> Any:
    raise TraceError('an angle from its sine and cosine')


def _emptied(array: Any) -> Any:
    """Return an array of the same shape and fields, zero, that can hold symbols."""
    if array.dtype.names is None:
        new = np.empty(array.shape, object)
        new[...] = 0.0
        return new
    fields = [
        (name, array.dtype[name].base if array.dtype[name].base.kind == 'i' else object,
         array.dtype[name].shape)
        for name in array.dtype.names
    ]  # fmt: skip
    new = np.empty(array.shape, np.dtype(fields))
    for name, kind, _ in fields:
        new[name] = 0.0 if kind is object else 0
    return new


def closed_form(packed: Packed) -> bool:
    """Return whether all legs are placed in closed form, so that no iteration is needed."""
    return bool((packed.legs['steps'][: int(packed.system[0]['legs'])] > 0).all())


@dataclass(frozen=True)
class Sample:
    """The state at which a recording takes its branches: packed rows, and joints (packed)."""

    motion: Array  # (24,)
    efforts: Array  # (n,)
    positions: Array  # (joints,)


@dataclass(frozen=True)
class Recording:
    """What was recorded: the tape, and what it gives."""

    tape: Tape
    results: tuple[Number, ...]


def record(
    packed: Packed, task: str, external: str, sample: Sample, tables: Any = (),
    structure: Structure | None = None,
) -> Recording:  # fmt: skip
    """Record a task of ``TASKS`` for one robot.

    ``external`` says what acts from outside: NOTHING, a WRENCH on the platform, or that and a
    MOVING base. ``tables`` are the axes of the links (joints, 3, 3) and the places of the wrenches
    that joint forces need. Joint positions are read where they have no closed form.
    """
    trace = Trace(packed, structure_of(packed) if structure is None else structure)
    dynamics = Dynamics(trace, sample, external, closed_form(packed))
    results = TASKS[task](dynamics, *tables)
    return Recording(trace.tape, tuple(results))


class Dynamics:
    """The kernels of one state in their order, each run on symbols."""

    def __init__(self, trace: Trace, sample: Sample, external: str, closed: bool) -> None:
        self.trace = trace
        self.legs, self.joints, self.closures = trace.static[1:]
        system = trace.static[0][0]
        self.bodies, self.coordinates, self.rows, pull, stack, self.scratch = trace.scratch[:6]
        work = trace.scratch[6][0]
        self.system, self.work, self.sample = system, work, sample
        self.motion = trace.input('motions', sample.motion)
        self.external = _emptied(np.zeros(dynamics.EXTERNAL))
        read = {NOTHING: 0, WRENCH: dynamics.MOVING, MOVING: dynamics.EXTERNAL}[external]
        self.external[:read] = trace.input('external', ACTING[:read])
        self.external[dynamics.MOVING] = float(external == MOVING)
        self.options = layout.options()[0]
        robot = (system, self.legs, self.joints, self.closures, self.bodies, self.coordinates,
                 self.rows)  # fmt: skip
        work['angles_unwanted'] = 1
        if closed:
            self.run(assembly.solve_positions, *robot, work, self.scratch, self.motion)
        else:
            trace.run(position.place_platform, self.bodies, self.motion)
            angles = trace.input('positions', sample.positions)
            for j in range(int(system['joints'])):
                self._place_joint(j, angles[j])
        self.run(velocity.solve_velocities, *robot, pull, stack, work, self.motion)

    def run(self, function: Any, *arguments: Any) -> None:
        """Run a kernel; whatever goes wrong at the sample is not recorded."""
        status = self.trace.run(function, *arguments)
        if status is not None and status != layout.OK:
            raise TraceError(f'{function.__name__} returned {status}')

    def _place_joint(self, j: int, q: Number) -> None:
        """Place a body behind its joint, as ``position.place_joints`` does, at a position."""
        joint = self.joints[j]
        c: Number = 1.0
        s: Number = 0.0
        slide = q
        if joint['kind'] == layout.REVOLUTE:
            c, s, slide = self.trace.cosine(q), self.trace.sine(q), 0.0
        self.trace.run(
            position.place_joint, joint, self.bodies[j + 2], self.bodies[joint['parent']], q, c, s,
            slide,
        )  # fmt: skip

    def inverse(self) -> Any:
        """Efforts (n,)."""
        s, w = self.system, self.work
        moving = (s, self.joints, self.bodies, self.coordinates, w, self.motion)
        self.run(velocity.solve_accelerations, *moving)
        self.run(dynamics.bodies_dynamics, *moving, self.external, self.motion, 18, self.options)
        efforts = np.empty(int(s['dof']), object)
        self.run(dynamics.solve_efforts, s, self.coordinates, w, efforts)
        return efforts

    def direct(self) -> Any:
        """V_p' (6,)."""
        acceleration = np.empty(6, object)
        self.run(
            dynamics.solve_acceleration, self.system, self.legs, self.joints, self.bodies,
            self.coordinates, self.scratch, self.work, self.motion, self.external, self.options,
            self.trace.input('efforts', self.sample.efforts), acceleration,
        )  # fmt: skip
        return acceleration

    def stage(self, acting: Any) -> Any:
        """V_p' (6,) in a simulation: friction is held, and joints may have springs.

        ``acting`` (joints, 4) says which of ``joint_efforts.ACTING`` each joint has.
        """
        count = len(acting)
        held = self.trace.input('held', np.zeros(count))
        values = self.trace.input('physics', np.ones(len(PHYSICS) * count)).reshape(count, -1)
        physics = _emptied(np.zeros(count, joint_efforts.JOINT_PHYSICS))
        for j, has in enumerate(acting.astype(bool)):
            present = dict(zip(joint_efforts.ACTING, has))
            if present['spring'] and self.joints[j]['kind'] == layout.REVOLUTE:
                raise TraceError('an angle that is not worked out')
            physics['acts'][j], physics['friction'][j] = has.any(), float(present['friction'])
            for name, value in zip(PHYSICS, values[j]):
                if present['spring' if name == 'rest' else name]:
                    physics[name][j] = value
        self.run(
            joint_efforts.add_joint_efforts, self.system, self.joints, self.bodies,
            self.coordinates, physics, 0, joint_efforts.HELD, held, self.external,
        )  # fmt: skip
        self.options = layout.options(friction=0.0)[0]
        return self.direct()

    def joint_forces(self, link_axes: Any, places: Any) -> Any:
        """Efforts (n,), evidence (4,) and all wrenches, of robots without redundant closures."""
        s, w = self.system, self.work
        efforts, evidence = self.inverse(), np.empty(4, object)
        self.run(forces.judge_pivots, s, w, evidence)
        self.run(forces.subtract_efforts, s, self.coordinates, w, efforts)
        multipliers = np.empty(max(1, int(s['rows'])), object)
        for leg in self.legs[: int(s['legs'])]:
            self.run(forces.leg_multipliers, leg, self.coordinates, self.rows, multipliers)
        count = int(s['joints'])
        load, wrenches = _emptied(np.zeros((count + 2, 6))), np.empty((len(places), 6), object)
        for c in range(len(places) - count):
            self.run(forces.apply_closure, self.closures[c], self.bodies, multipliers, load,
                     wrenches[places[count + c]])  # fmt: skip
        self.run(forces.carry_load, self.joints, self.bodies, load, 0, count)
        of = self.joints['coordinate'].tolist()
        drives = dict(zip(s['actuator'].tolist(), efforts))
        for j in range(count):
            self.run(
                forces.joint_wrench, self.joints[j], self.bodies[j + 2], link_axes[j], load[j + 2],
                of.count(of[j]) == 1, drives.get(of[j], 0.0), wrenches[places[j]],
            )  # fmt: skip
        return [*efforts, *evidence, *wrenches.ravel()]


INVERSE, DIRECT, STAGE, JOINT_FORCES = 'inverse', 'direct', 'stage', 'joint_forces'
TASKS: dict[str, Callable[..., Any]] = {
    INVERSE: Dynamics.inverse, DIRECT: Dynamics.direct, STAGE: Dynamics.stage,
    JOINT_FORCES: Dynamics.joint_forces,
}  # fmt: skip
NOTHING, WRENCH, MOVING = 'nothing', 'wrench', 'moving base'
ACTING = np.concatenate([np.ones(dynamics.BASE_R), np.eye(3).ravel(), 0.1 * np.ones(12)])
