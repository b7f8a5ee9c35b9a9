"""The bridge between a robot's public functions and the compiled kernels.

An engine holds the packed model, which is never written to, and one workspace per thread; it
calls the kernels, spreads batches over the cores, and turns status codes into errors.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
import os
import threading
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import (
    InputError,
    NotAllowedMotionError,
    ParallelDynamicsError,
    SingularityError,
    UnreachableError,
)
from parallel_dynamics.kernels import batch, handle, layout, packing
from parallel_dynamics.kernels.compiler import entry_point
from parallel_dynamics.kernels.dynamics import EXTERNAL, MOVING
from parallel_dynamics.kernels.layout import OK
from parallel_dynamics.kernels.starting import OUTSIDE, SINGLE, run_program
from parallel_dynamics.model import RobotModel
from parallel_dynamics.motion import BaseMotion, PlatformMotion, checked
from parallel_dynamics.spatial import Array
from parallel_dynamics.unrolling import tracing
from parallel_dynamics.unrolling.programs import Programs

# Plain Python has no use for addresses.
EVALUATE = batch.evaluate if numba.config.DISABLE_JIT else handle.evaluate
UNROLLED_TASKS = {batch.INVERSE: tracing.INVERSE, batch.DIRECT: tracing.DIRECT}
UNROLL_FROM = 16384
"""States from which on a batch is worth a program written for the robot."""
BATCH_CHUNK = 64
"""States below which a batch is not worth a second thread."""


@lru_cache(maxsize=1)
def cores() -> int:
    """Cores that this process may use; ``PARALLEL_DYNAMICS_THREADS`` sets another number."""
    wanted = os.environ.get('PARALLEL_DYNAMICS_THREADS', '')
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix='parallel_dynamics')


if hasattr(os, 'register_at_fork'):
    # A forked process has the pool but not its threads, and would wait for them for ever.
    os.register_at_fork(after_in_child=_pool.cache_clear)


class Engine:
    """Packed model and workspaces of one robot.

    Attributes
    ----------
    unrolls : bool
        Whether single states go through code written for the robot; large batches do as well.
    specialised : bool
        Whether small batches do so too.
    """

    def __init__(self, model: RobotModel, dof: int, independent: tuple[int, ...]) -> None:
        self.model = model
        self.dof = dof
        self.independent = independent
        self.packed = packing.pack(model, dof, independent)
        self.options = layout.options()
        self.at_rest = np.zeros((1, EXTERNAL))
        self._report = np.zeros((1, 5))
        self._joints_out = np.zeros((1, max(1, 3 * len(model.joints))))
        self._local = threading.local()
        self._entries: dict[Any, Any] = {}
        self.programs = Programs(self.packed, _home_row(model), self._solve_positions)
        self.unrolls = not numba.config.DISABLE_JIT
        self.specialised = False
        self._evaluate = self.compiled(
            EVALUATE, self.options, 0, np.zeros((1, 24)), self.at_rest, self.at_rest,
            self._joints_out, self._report, 0, 0,
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        return Engine, (self.model, self.dof, self.independent)

    # ---------------------------------------------------------------- calling kernels

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Robot and workspace of this thread, as every kernel takes them first."""
        try:
            return self._local.arguments  # type: ignore[no-any-return]
        except AttributeError:
            self._local.arguments = (*self.packed.static, *self.packed.workspace()[0])
            return self._local.arguments  # type: ignore[no-any-return]

    @property
    def bodies(self) -> Any:
        """Bodies of this thread's workspace, as the last kernel left them."""
        return self.arguments[4]

    @property
    def coordinates(self) -> Any:
        """Coordinates of this thread's workspace."""
        return self.arguments[5]

    @property
    def work(self) -> Any:
        """The record of this thread's workspace that holds S, L S and the outcome."""
        return self.arguments[10][0]

    @property
    def _first(self) -> tuple[Any, ...]:
        """Robot and workspace of this thread, as ``EVALUATE`` takes them."""
        try:
            return self._local.first  # type: ignore[no-any-return]
        except AttributeError:
            self._local.first = _taken_by(EVALUATE, self.arguments)
            return self._local.first  # type: ignore[no-any-return]

    def compiled(self, function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
        """Return the entry point of a kernel for this engine's arrays and some more arguments."""
        return entry_point(function, *_taken_by(function, self.arguments), *arguments)

    def forget(self) -> None:
        """Make the next solution start from home, not from the last one."""
        self.work['warm'] = 0

    def evaluate(
        self,
        task: int,
        motion: PlatformMotion,
        out: Array,
        external: Array | None = None,
        efforts: Array | None = None,
        options: Any = None,
    ) -> None:
        """Do a task of ``kernels.batch`` for one motion; raise if it fails.

        ``out``, ``external`` and ``efforts`` have one row. The workspace of this thread keeps
        what the kernels found.
        """
        status = self._evaluate(
            *self._first,
            self.options if options is None else options,
            task,
            motion.rows,
            self.at_rest if external is None else external,
            self.at_rest if efforts is None else efforts,
            out,
            self._report,
            0,
            1,
        )
        if status:
            self.fail(status, motion)

    def evaluate_plain(
        self, task: int, motion: PlatformMotion, out: Array, efforts: Array | None = None
    ) -> None:
        """As :meth:`evaluate` without external input or options, and quicker."""
        if self.unrolls and task in UNROLLED_TASKS:
            given = self.at_rest if efforts is None else efforts
            if self.run_program(UNROLLED_TASKS[task], motion, given, out):
                return
        self.evaluate(task, motion, out, None, efforts)

    def specialise(self, home: PlatformMotion, batches: bool) -> None:
        """Make the programs of the dynamics now, and use those of batches for small ones too."""
        if not numba.config.DISABLE_JIT:
            self.unrolls = True
            self.specialised = self.specialised or batches
            for task in UNROLLED_TASKS.values():
                self.make_programs(task, home, (), batches)

    def make_programs(
        self, task: str, home: PlatformMotion, tables: Any, batches: bool
    ) -> None:
        """Make the programs of a task with nothing external, for single states and batches."""
        self._make_program(task, home, tables)
        if batches:
            self.programs.find(task, home.rows, self.at_rest, np.zeros((1, self.dof)), tables)

    def run_program(
        self, task: str, motion: PlatformMotion, efforts: Array, out: Array, tables: Any = ()
    ) -> bool:
        """Do a task of ``unrolling`` for one motion, with nothing external.

        Returns False for a state that the program does not speak for.
        """
        try:
            run, order = self._local.programs[task]
        except (AttributeError, KeyError):
            run, order = self._make_program(task, motion, tables)
        return bool(run(order, motion.rows, efforts, out) == OK)

    def _make_program(
        self, task: str, motion: PlatformMotion, tables: Any = ()
    ) -> tuple[Callable[..., int], Any]:
        """Return how this thread runs the program of a task."""
        (held,) = self._first
        order, kept = self.programs.one(task, motion.rows, self.at_rest, held, tables)
        run: Callable[..., int] = _outside
        if order is not None:
            run = entry_point(run_program, order, motion.rows, self.at_rest, self.at_rest)
        if not hasattr(self._local, 'programs'):
            self._local.programs, self._local.kept_by_programs = {}, []
        self._local.programs[task] = run, order
        self._local.kept_by_programs.append(kept)
        return run, order

    def stage_program(self, physics: Any, moving: bool) -> tuple[Any, tuple[Any, ...]]:
        """Return the order for the stages of a simulation step, and what it must keep."""
        if numba.config.DISABLE_JIT:
            return np.zeros(SINGLE, np.int64), ()
        return self.programs.stage(physics, moving)

    def evaluate_batch(
        self,
        task: int,
        motion: PlatformMotion,
        out: Array,
        external: Array | None = None,
        efforts: Array | None = None,
        options: Any = None,
    ) -> Array:
        """Do a task for all states of a batch, on all cores; return the reports (N, 5)."""
        external = self.at_rest if external is None else external
        efforts = self.at_rest if efforts is None else efforts
        wanted = UNROLLED_TASKS.get(task)
        left = None
        if wanted is not None and options is None and np.isfinite(efforts).all():
            left = self.run_unrolled(wanted, motion, external, efforts, out)
        arguments = (self.options if options is None else options, task)
        if left is None:
            return self.run_batch(
                EVALUATE, len(motion), *arguments, motion.rows, external, efforts, out
            )
        reports = np.zeros((len(motion), 5))
        if len(left):
            rest = np.zeros((len(left), out.shape[1]))
            given = [a[left] if len(a) > 1 else a for a in (external, efforts)]
            reports[left] = self.run_batch(
                EVALUATE, len(left), *arguments, motion.rows[left], *given, rest
            )
            out[left] = rest
        return reports

    def run_unrolled(
        self, task: str, motion: PlatformMotion, external: Array, efforts: Array, out: Array,
        tables: Any = (),
    ) -> Any:  # fmt: skip
        """Do a task of ``unrolling`` for a large batch; return the states left to the kernels.

        None where the batch is small or the robot has no such program.
        """
        count = len(motion)
        if not self.unrolls or count < (BATCH_CHUNK if self.specialised else UNROLL_FROM):
            return None
        program = self.programs.find(task, motion.rows, external, efforts, tables)
        if program is None:
            return None
        inputs = {'motions': motion.rows, 'external': external, 'efforts': efforts}
        good = np.zeros(count, np.uint8)

        def work(first: int, last: int) -> None:
            self.programs.run(program, inputs, out, good, first, last)

        self._spread(work, count)
        return np.flatnonzero(good == 0)

    def _solve_positions(self, motions: Array, positions: Array, first: int, last: int) -> Array:
        """Write joint positions (packed order) of some states; return the status of each."""
        count = len(self.model.joints)
        out, reports = np.zeros((len(motions), 3 * count)), np.zeros((max(2, len(motions)), 5))
        arrays = (*self.packed.static, *self.packed.workspace()[0])
        self._evaluate(
            *_taken_by(EVALUATE, arrays), self.options, batch.POSITIONS, motions, self.at_rest,
            self.at_rest, out, reports, first, last,
        )  # fmt: skip
        positions[first:last] = out[first:last, :count]
        return reports[first:last, 0]

    def solve(
        self, motion: PlatformMotion, task: int = batch.ACCELERATIONS, own: bool = False
    ) -> None:
        """Solve one motion's kinematics and leave the result in this thread's workspace.

        With ``own``, S is that of the robot's own independent components wherever it has one.
        """
        single(motion)
        self.work['choice'] = layout.OWN if own else layout.FREE
        try:
            self.evaluate(task, motion, self._joints_out)
        finally:
            self.work['choice'] = layout.FREE

    def run_batch(self, function: Callable[..., Any], count: int, *arguments: Any) -> Array:
        """Run a kernel over ranges of states on all cores; return the reports (N, 5).

        The kernel takes robot, workspace, ``arguments``, reports, first and last state. One state
        alone uses this thread's workspace.
        """
        reports = np.zeros((max(2, count), 5))
        key = (function, *(_kind(argument) for argument in arguments))
        call = self._entries.get(key)
        if call is None:
            call = self._entries[key] = self.compiled(function, *arguments, reports, 0, 0)

        def work(first: int, last: int) -> None:
            scratch = self.arguments[4:] if count == 1 else self.packed.workspace()[0]
            arrays = (*self.packed.static, *scratch)
            call(*_taken_by(function, arrays), *arguments, reports, first, last)

        self._spread(work, count)
        return reports[:count]

    @staticmethod
    def _spread(work: Callable[[int, int], None], count: int) -> None:
        """Call ``work`` for ranges of states that cover all of a batch, one for each core."""
        parts = max(1, min(cores(), count // BATCH_CHUNK))
        if parts == 1:
            work(0, count)
        else:
            edges = np.linspace(0, count, parts + 1).astype(int).tolist()
            list(_pool().map(work, edges[:-1], edges[1:]))

    # ---------------------------------------------------------------- input

    def external(
        self, wrench: ArrayLike | None, base: BaseMotion | None, count: int | None
    ) -> Array:
        """Pack wrench and base motion, (1 or N, 28); ``count`` is None for a single motion."""
        if wrench is None and base is None:
            return self.at_rest
        w = np.zeros(6) if wrench is None else checked('wrench', wrench, (6,))
        if base is not None and not isinstance(base, BaseMotion):
            raise InputError(f'base: expected a BaseMotion or None, got {type(base).__name__}')
        b = np.zeros(21) if base is None else base.data
        for name, array in (('wrench', w), ('base', b)):
            self.check_batch(name, array.ndim > 1, len(array), count)
        batches = [len(array) for array in (w, b) if array.ndim > 1]  # alike, and may be empty
        packed = np.zeros((batches[0] if batches else 1, EXTERNAL))
        packed[:, :6] = w
        packed[:, MOVING] = base is not None
        packed[:, MOVING + 1 :] = b
        return packed

    def efforts(self, efforts: ArrayLike, count: int | None) -> Array:
        """Return efforts as (1 or N, n), checked; the kernels see whether they are finite."""
        if type(efforts) is np.ndarray and count is None:
            if efforts.dtype == np.float64 and efforts.shape == (self.dof,):
                return np.ascontiguousarray(efforts)[None]
        array = checked('efforts', efforts, (self.dof,))
        self.check_batch('efforts', array.ndim > 1, len(array), count)
        return np.ascontiguousarray(np.atleast_2d(array))

    @staticmethod
    def check_batch(name: str, batched: bool, length: int, count: int | None) -> None:
        """Refuse a batch where the motion has none, or one of another length."""
        if batched and count is None:
            raise InputError(f'{name}: a batch of {length} was given for a single motion')
        if batched and length != count:
            raise InputError(f'{name}: expected a batch of {count}, got {length}')

    # ---------------------------------------------------------------- errors

    def fail(self, status: int, motion: PlatformMotion | None = None) -> None:
        """Raise the error that a status code stands for, from this thread's workspace."""
        w = self.work
        w['warm'] = 0
        report = [float(status), w['leg'], w['residual'], w['pivot'], w['fraction']]
        raise self.error(report, motion)

    def fail_batch(self, reports: Array, motions: PlatformMotion | None) -> None:
        """Raise the error of the first failed state of a batch, with how many failed.

        ``motions`` is None where poses were sought for actuator positions.
        """
        bad = np.flatnonzero(reports[:, 0])
        if not len(bad):
            return
        first = int(bad[0])
        error = self.error(
            reports[first].tolist(), None if motions is None else motions[first]
        )
        message = f'state {first} of the batch ({len(bad)} of {len(reports)} fail): {error}'
        raise type(error)(message, **{**error.evidence, 'index': first, 'failed': bad})

    def error(self, report: list[float], motion: PlatformMotion | None) -> ParallelDynamicsError:
        """Describe a failure from its report (status, leg, residual, pivot, fraction).

        ``motion`` is None where a pose was sought for actuator positions.
        """
        status, leg, residual, pivot, fraction = report
        if motion is None and status != layout.NOT_FINITE:
            return self._forward_error(status, residual, pivot, fraction)
        where = '' if motion is None else f' at position {_short(motion.position)} m'
        label = self.model.legs[int(leg)].label(self.model) if self.model.legs else 'no leg'
        evidence: dict[str, Any] = {'residual': residual, 'pivot': pivot, 'leg': int(leg)}
        tolerance = float(self.packed.system[0]['tolerance'])
        rate = float(self.packed.system[0]['rate_tolerance'])
        if status == layout.UNREACHABLE:
            return UnreachableError(
                f'unreachable pose{where}: {label} cannot follow beyond '
                f'{100.0 * min(1.0, max(0.0, fraction)):.0f} % of the way from home and stays '
                f'open by {residual:.3g} (m or rad; expected below {tolerance:.3g}). Choose a '
                'pose nearer to home',
                **evidence,
            )
        if status == layout.POSE_NOT_ALLOWED:
            return NotAllowedMotionError(
                f'pose not allowed by the closures{where}: {label} stays open by '
                f'{residual:.3g} (m or rad; expected below {tolerance:.3g}). '
                'Use robot.project(motion) for the allowed pose with the same independent '
                'coordinates',
                **evidence,
            )
        if status in (layout.TWIST_NOT_ALLOWED, layout.ACCELERATION_NOT_ALLOWED):
            what = 'twist' if status == layout.TWIST_NOT_ALLOWED else 'acceleration'
            unit = 'm/s, rad/s' if what == 'twist' else 'm/s^2, rad/s^2'
            return NotAllowedMotionError(
                f'{what} of the platform not allowed by the closures{where}: its dependent '
                f'components are off by {residual:.3g} ({unit}; expected below '
                f'{rate:g} relative). Use robot.project(motion)',
                **evidence,
            )
        if status == layout.NOT_FINITE:
            return InputError('efforts: expected finite numbers, got NaN or infinite values')
        condition = float('inf') if pivot <= 0.0 else 1.0 / pivot
        evidence['condition_number'] = condition
        kind = {
            layout.LEG_SINGULAR: f'leg singularity of {label}',
            layout.CONSTRAINT_SINGULAR: 'constraint singularity of the platform',
            layout.ACTUATION_SINGULAR: 'actuation singularity: locked actuators would not hold '
            'the platform',
            layout.MASS_SINGULAR: 'mass matrix is singular: a moving part has no inertia',
        }[int(status)]
        limit = 1.0 / layout.SINGULAR_PIVOT
        return SingularityError(
            f'{kind}{where}: condition number about {condition:.3g} (expected below {limit:.0e}). '
            'Keep away from this pose; robot.jacobians(motion) tells how near it is',
            **evidence,
        )

    def _forward_error(
        self, status: float, residual: float, pivot: float, fraction: float
    ) -> ParallelDynamicsError:
        """Describe why actuator positions could not be reached from home, or from a guess."""
        condition = float('inf') if pivot <= 0.0 else 1.0 / pivot
        kind = {
            layout.LEG_SINGULAR: 'a leg becomes singular',
            layout.CONSTRAINT_SINGULAR: "the platform's constraints become singular",
            layout.ACTUATION_SINGULAR: 'the robot comes to a singularity of its actuation or of a '
            'leg, behind which it would be assembled in another way',
        }.get(int(status), 'the closures cannot be assembled any further')
        message = (
            f'actuator positions out of reach: {100.0 * fraction:.1f} % of the way from the '
            f'start {kind} (residual {residual:.3g} m or rad, condition number about '
            f'{condition:.3g}). Choose positions nearer to home, or give a guess nearer to the '
            'pose that is sought'
        )
        evidence = {
            'residual': residual, 'pivot': pivot, 'fraction': fraction,
            'condition_number': condition,
        }  # fmt: skip
        if status == layout.UNREACHABLE:
            return UnreachableError(message, **evidence)
        return SingularityError(message, **evidence)


def _taken_by(function: Callable[..., Any], arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return robot and workspace as a kernel takes them, which must be kept meanwhile."""
    return (handle.make_handle(*arrays),) if function is handle.evaluate else arrays


def _home_row(model: RobotModel) -> Array:
    """Return the home pose at rest as a row (24,)."""
    row = np.zeros(24)
    position, rotation = packing.home_pose(model)
    row[:3], row[3:12] = position, rotation.ravel()
    return row


def _outside(*_: Any) -> int:
    """Stand in for a program that a robot cannot have."""
    return OUTSIDE


def single(motion: PlatformMotion) -> None:
    """Refuse what is not one PlatformMotion."""
    if not isinstance(motion, PlatformMotion):
        raise InputError(f'motion: expected a PlatformMotion, got {type(motion).__name__}')
    if motion.data.ndim != 1:
        raise InputError(f'motion: expected a single motion, got a batch of {len(motion)}')


def _kind(argument: Any) -> Any:
    """Return what a compiled function depends on: layout of an array, type of anything else."""
    if isinstance(argument, np.ndarray):
        return argument.ndim, argument.dtype.char, argument.flags.c_contiguous
    return type(argument)


def _short(values: Array) -> str:
    return '[' + ', '.join(f'{float(v):.4g}' for v in values) + ']'
