"""Programs of one robot, made when first asked for, and batches run through them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
import gc
import hashlib
import logging
import threading
import time
from typing import Any

import numpy as np

from parallel_dynamics.kernels.dynamics import EXTERNAL
from parallel_dynamics.kernels.dynamics import MOVING as MOVES
from parallel_dynamics.kernels.joint_efforts import ACTING
from parallel_dynamics.kernels.packing import Packed
from parallel_dynamics.kernels.starting import (
    ADDRESS,
    COUNT,
    HANDLE,
    LAST,
    ORDER,
    PHYSICS,
    SINGLE,
)
from parallel_dynamics.spatial import Array
from parallel_dynamics.unrolling.library import code_for
from parallel_dynamics.unrolling.machine_code import LANES, Code, Program, write_code
from parallel_dynamics.unrolling.structure import Structure, structure_of
from parallel_dynamics.unrolling.tape import TapeTooLong
from parallel_dynamics.unrolling.tracing import (
    MOVING,
    NOTHING,
    STAGE,
    WRENCH,
    Sample,
    TraceError,
    closed_form,
    record,
)

_LOG = logging.getLogger('parallel_dynamics')
CHUNK = 2048
"""States whose joint positions are worked out before the program takes them over."""


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """Keep Python from looking for garbage among many new objects none of which is any."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


class Programs:
    """Unrolled programs of one robot.

    Parameters
    ----------
    packed : Packed
        The robot.
    home : (24,)
        Its home pose as a row; code is written from what the kernels do there, if they do not
        refuse it.
    solve_positions : callable
        Writes the joints' positions (packed order) for rows of motions ``first`` to ``last - 1``
        to an array (N, joints) and returns the status of each (last - first,).
    """

    def __init__(
        self, packed: Packed, home: Array,
        solve_positions: Callable[[Array, Array, int, int], Array],
    ) -> None:  # fmt: skip
        self._packed = packed
        self._home = home
        self._solve_positions = solve_positions
        self._iterative = not closed_form(packed)
        self._joints = int(packed.system[0]['joints'])
        self._structure: Structure | None = None
        self._made: dict[Any, Program | None] = {}
        self._lock = threading.Lock()

    def find(
        self, task: str, motions: Array, external: Array, efforts: Array, tables: Any = (),
        lanes: int = LANES,
    ) -> Program | None:  # fmt: skip
        """Return the program of a task for such input, or None where there can be none."""
        acting = MOVING if external[0, MOVES] else WRENCH if external[:, :6].any() else NOTHING
        key = (task, acting, lanes, *(table.tobytes() for table in tables))
        with self._lock:
            if key not in self._made:
                self._made[key] = self._make(task, acting, motions, efforts, tables, lanes)
        return self._made[key]

    def _make(
        self, task: str, acting: str, motions: Array, efforts: Array, tables: Any, lanes: int
    ) -> Program | None:  # fmt: skip
        if self._joints == 0:
            return None
        if self._structure is None:
            self._structure = structure_of(self._packed)
        structure = self._structure

        def write() -> Code | None:
            return self._write(structure, task, acting, motions, efforts, tables, lanes)

        fixed = hashlib.sha256(b''.join(np.ascontiguousarray(t).tobytes() for t in tables))
        what = f'{structure.digest} {task} {acting} {fixed.hexdigest()}'
        code = code_for(what, lanes, write)
        return None if code is None else Program(code, structure.parameters)

    @_without_collection()
    def _write(
        self, structure: Structure, task: str, acting: str, motions: Array, efforts: Array,
        tables: Any, lanes: int,
    ) -> Code | None:  # fmt: skip
        started = time.monotonic()
        # Any state will do that the kernels do not refuse.
        count = len(motions)
        samples = np.vstack([self._home, motions[[0, count // 2, count - 1]]])
        positions = np.zeros((len(samples), self._joints))
        refused = self._solve_positions(samples, positions, 0, len(samples))
        for row in np.flatnonzero(refused == 0):
            sample = Sample(samples[row], np.zeros(efforts.shape[1]), positions[row])
            try:
                recording = record(self._packed, task, acting, sample, tables, structure)
            except TapeTooLong:
                _LOG.debug('%s is not unrolled: too long for %d joints', task, self._joints)
                return None
            except (TraceError, ZeroDivisionError) as error:
                _LOG.debug('%s is not unrolled at sample %d: %s', task, row, error)
                continue
            code = write_code(recording, lanes)
            _LOG.info('%s unrolled in %.2f s', task, time.monotonic() - started)
            return code
        return None

    def one(
        self, task: str, motions: Array, external: Array, handle: Any, tables: Any = ()
    ) -> tuple[Any, tuple[Any, ...]]:
        """Return the order that ``kernels.starting.run_program`` takes, and what it must keep.

        ``handle`` is that of the kernels' arrays. None where there is no program.
        """
        efforts = np.zeros((1, int(self._packed.system[0]['dof'])))
        program = self.find(task, motions, external, efforts, tables, lanes=1)
        if program is None:
            return None, ()
        joints, good = np.zeros((3, self._joints)), np.zeros(1, np.uint8)
        placed = dict(zip(('positions', 'cosines', 'sines'), joints[:, None]))
        inputs = {'motions': motions, 'external': external, 'efforts': efforts, **placed}
        order = self._single(program, inputs, efforts, good)
        order[HANDLE] = handle.ctypes.data
        order[COUNT] = self._joints if self._iterative else 0
        return order, (program, joints, good, handle, external)

    def stage(self, physics: Any, moving: bool) -> tuple[Any, tuple[Any, ...]]:
        """Return the order that ``kernels.stages.evaluate_stage`` takes, and what it must keep.

        It is for joints of such ``physics`` and a base that moves or not. All zero where there is
        no program: only robots of six freedoms whose legs have a closed form need no iteration.
        """
        nothing = np.zeros(SINGLE, np.int64), ()
        dof = int(self._packed.system[0]['dof'])
        if self._iterative or dof < 6:
            return nothing
        external, efforts = np.zeros((1, EXTERNAL)), np.zeros((1, dof))
        external[0, 0], external[0, MOVES] = 1.0, moving
        acting = np.column_stack([physics[name] != 0.0 for name in ACTING]).astype(np.uint8)
        program = self.find(STAGE, self._home[None], external, efforts, (acting,), lanes=1)
        if program is None:
            return nothing
        values = np.column_stack([physics[name] for name in PHYSICS]).reshape(1, -1)
        good = np.zeros(1, np.uint8)
        tables = {'motions': self._home[None], 'external': external, 'efforts': efforts,
                  'held': np.zeros((1, self._joints)), 'physics': values}  # fmt: skip
        return self._single(program, tables, efforts, good), (program, values, good)

    @staticmethod
    def _single(program: Program, inputs: dict[str, Array], out: Array, good: Any) -> Any:
        """Return the order (SINGLE,) for one state."""
        order = np.zeros(SINGLE, np.int64)
        order[:ORDER] = program.order(inputs, out, good)
        order[LAST], order[ADDRESS] = 1, program.address
        return order

    def run(
        self, program: Program, inputs: dict[str, Array], out: Array, good: Any, first: int,
        last: int,
    ) -> None:  # fmt: skip
        """Calculate rows ``first`` to ``last - 1`` of ``out``; ``good`` (N,) says which are.

        There must be at least as many rows as the program has lanes.
        """
        if not self._iterative:
            program.run(inputs, out, good, first, last)
            return
        motions = inputs['motions']
        edges = list(range(first, last, CHUNK))
        for start, end in zip(edges, [*edges[1:], last]):
            start = min(start, last - program.lanes)
            rows = {name: a[start:end] if len(a) > 1 else a for name, a in inputs.items()}
            positions = np.zeros((end - start, self._joints))
            failed = self._solve_positions(motions[start:end], positions, 0, end - start)
            rows.update(positions=positions, cosines=np.cos(positions), sines=np.sin(positions))
            program.run(rows, out[start:end], good[start:end], 0, end - start)
            good[start:end][failed != 0] = 0
