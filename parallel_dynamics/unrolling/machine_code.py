"""From a tape to machine code: LLVM, and a vector lane for each state.

Only the selection of instructions is left to LLVM: the tape has no branches, no loops and no
operation twice. The code is that of one group of states, as many as there are lanes, in a loop
over groups.
"""

from __future__ import annotations

from collections.abc import Sequence
import ctypes
from typing import Any

from llvmlite import binding, ir
import numpy as np

from parallel_dynamics.kernels.starting import (
    FIRST,
    GOOD,
    INPUTS,
    LAST,
    ORDER,
    OUT,
    PARAMETERS,
    TABLES,
)
from parallel_dynamics.spatial import Array
from parallel_dynamics.unrolling.tape import Number, Symbol, Tape
from parallel_dynamics.unrolling.tracing import Recording

LANES = 8
"""States that one instruction works on; a processor with shorter vectors takes several."""
_REAL, _INDEX, _BYTE = ir.DoubleType(), ir.IntType(64), ir.IntType(8)


class Code:
    """Machine code for ``lanes`` states at once, which robots of one structure share.

    Attributes
    ----------
    objects : bytes
        The code as an object file.
    inputs : list of str
        Tables that it reads of each state.
    address : int
        Where it begins; ``call`` starts it with the address of an order.
    """

    def __init__(self, objects: bytes, inputs: Sequence[str], lanes: int) -> None:
        self.objects, self.inputs, self.lanes = objects, list(inputs), lanes
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(''), _machine())
        self._engine.add_object_file(binding.ObjectFileRef.from_data(objects))
        self._engine.finalize_object()
        self.address = self._engine.get_function_address('run')
        self.call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.address)


def processor() -> tuple[str, str]:
    """Return the name and the features of the processor that code is written for."""
    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()


def _machine() -> Any:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    name, features = processor()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=1, jit=True
    )


class Program:
    """Code with what it reads of one robot: ``parameters`` (k,)."""

    def __init__(self, code: Code, parameters: Array) -> None:
        self.code = code
        self.parameters = parameters
        self.lanes, self.address = code.lanes, code.address

    def order(self, inputs: dict[str, Array], out: Array, good: Any) -> Any:
        """Return the order (ORDER,) to calculate rows of ``out``; tables must be kept."""
        order = np.zeros(ORDER, np.int64)
        order[PARAMETERS], order[OUT] = self.parameters.ctypes.data, out.ctypes.data
        order[GOOD] = good.ctypes.data
        for k, name in enumerate(INPUTS):
            if name in self.code.inputs:
                table = inputs[name]
                order[TABLES + k] = table.ctypes.data
                order[TABLES + len(INPUTS) + k] = table.shape[1] if len(table) > 1 else 0
        return order

    def run(self, inputs: dict[str, Array], out: Array, good: Any, first: int, last: int) -> None:
        """Calculate rows ``first`` to ``last - 1`` of ``out``, at least as many as lanes.

        ``good`` (N,) of bytes becomes 1 where all guards held and 0 elsewhere. An input has one
        row for all states, or one for each. The lock of the interpreter is released.
        """
        order = self.order(inputs, out, good)
        whole = last - (last - first) % self.lanes
        order[FIRST], order[LAST] = first, whole
        self.code.call(order.ctypes.data)
        if whole < last:  # the last group overlaps the one before it
            order[FIRST], order[LAST] = last - self.lanes, last
            self.code.call(order.ctypes.data)


# ---------------------------------------------------------------------- writing the code


def write_code(recording: Recording, lanes: int = LANES) -> Code:
    """Return the machine code of a recording."""
    tape, results = recording.tape, recording.results
    needed = needed_places(recording)
    inputs = sorted({op[1][0] for op in tape.operations if op[0] == 'input'})
    module = binding.parse_assembly(str(_module(tape, results, needed, lanes)))
    return Code(_machine().emit_object(module), inputs, lanes)


def _module(
    tape: Tape, results: Sequence[Number], needed: Sequence[int], lanes: int
) -> ir.Module:
    """Return the module with the one function ``run``."""
    module = ir.Module(name='unrolled')
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_INDEX]), name='run')
    writer = _Writer(function, lanes)
    b = writer.builder
    order = [writer.load(function.args[0], k, _INDEX) for k in range(ORDER)]
    tables = dict(zip(INPUTS, zip(order[TABLES:], order[TABLES + len(INPUTS) :])))
    parameters, out, good, first, last = order[:TABLES]
    head, done = function.append_basic_block('head'), function.append_basic_block('done')
    entry = b.block
    b.branch(head)
    b.position_at_end(head)
    state = b.phi(_INDEX)
    state.add_incoming(first, entry)
    work = function.append_basic_block('work')
    b.cbranch(b.icmp_signed('<', state, last), work, done)
    b.position_at_end(work)
    writer.read = {
        'parameter': lambda place: writer.spread(writer.load(parameters, place)),
        'input': lambda place: writer.gather(*tables[place[0]], state, place[1]),
    }
    for place in needed:
        writer.write(place, tape.operations[place])
    held: Any = None
    for place, wanted in tape.guards.items():
        condition = writer.values[place]
        condition = condition if wanted else b.not_(condition)
        held = condition if held is None else b.and_(held, condition)
    for k, result in enumerate(results):
        value = result.place if isinstance(result, Symbol) else float(result)
        writer.scatter(writer.operand(value), out, len(results), state, k)
    writer.scatter_flags(held, good, state)
    after = b.add(state, ir.Constant(_INDEX, lanes))
    state.add_incoming(after, b.block)
    b.branch(head)
    b.position_at_end(done)
    b.ret_void()
    return module


def needed_places(recording: Recording) -> list[int]:
    """Return the places of the operations that results and guards rest on, in order."""
    tape = recording.tape
    needed = set(tape.guards) | {r.place for r in recording.results if isinstance(r, Symbol)}
    for place in range(len(tape.operations) - 1, -1, -1):
        operator, *operands = tape.operations[place]
        if place in needed and operator not in ('parameter', 'input'):
            needed.update(operand for operand in operands if type(operand) is int)
    return sorted(needed)


class _Writer:
    """Instructions for vectors of ``lanes`` numbers, or for plain numbers where that is 1."""

    def __init__(self, function: ir.Function, lanes: int) -> None:
        self.builder = ir.IRBuilder(function.append_basic_block('entry'))
        self.lanes = lanes
        self.module = function.module
        self.values: dict[int, Any] = {}
        self.read: dict[str, Any] = {}
        self.type: Any = _REAL if lanes == 1 else ir.VectorType(_REAL, lanes)

    def write(self, place: int, operation: tuple[Any, ...]) -> None:
        """Write one operation of the tape."""
        operator, *operands = operation
        if operator in self.read:
            self.values[place] = self.read[operator](operands[0])
            return
        x = [self.operand(operand) for operand in operands]
        b, flags = self.builder, ('contract',)
        if operator in ('<', '<=', '>', '>=', '==', '!='):
            self.values[place] = b.fcmp_ordered(operator, *x)
        elif operator == 'choose':
            self.values[place] = b.select(*x)
        elif operator in ('min', 'max'):
            sign = '<' if operator == 'min' else '>'
            self.values[place] = b.select(b.fcmp_ordered(sign, *x), *x)
        elif operator in ('sqrt', 'abs'):
            self.values[place] = b.call(self._intrinsic(operator), x)
        else:
            method = {'+': b.fadd, '-': b.fsub, '*': b.fmul, '/': b.fdiv, 'neg': b.fneg}[operator]
            self.values[place] = method(*x, flags=flags)

    def _intrinsic(self, operator: str) -> Any:
        lanes = '' if self.lanes == 1 else f'v{self.lanes}'
        name = f'llvm.{"fabs" if operator == "abs" else operator}.{lanes}f64'
        if name not in self.module.globals:
            ir.Function(self.module, ir.FunctionType(self.type, [self.type]), name)
        return self.module.globals[name]

    def operand(self, place: int | float) -> Any:
        """Return the value at a place of the tape, or a number as it stands."""
        if type(place) is int:
            return self.values[place]
        value = ir.Constant(_REAL, place)
        return value if self.lanes == 1 else ir.Constant(self.type, [value] * self.lanes)

    def address(self, base: Any, index: Any, kind: Any = _REAL) -> Any:
        """Return a pointer to an entry of an array of bytes or of numbers of eight bytes."""
        b = self.builder
        offset = index if kind is _BYTE else b.mul(index, ir.Constant(_INDEX, 8))
        return b.inttoptr(b.add(base, offset), kind.as_pointer())

    def load(self, base: Any, index: Any, kind: Any = _REAL) -> Any:
        """Load one number."""
        if isinstance(index, int):
            index = ir.Constant(_INDEX, index)
        return self.builder.load(self.address(base, index, kind))

    def spread(self, value: Any) -> Any:
        """Give all lanes the same number."""
        if self.lanes == 1:
            return value
        b = self.builder
        one = b.insert_element(ir.Constant(self.type, ir.Undefined), value, _lane(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return b.shuffle_vector(one, ir.Constant(self.type, ir.Undefined), zeros)

    def gather(self, base: Any, stride: Any, state: Any, column: int) -> Any:
        """Load a column of as many rows as there are lanes, from row ``state`` on."""
        b = self.builder
        vector = ir.Constant(self.type, ir.Undefined)
        for lane in range(self.lanes):
            row = b.mul(b.add(state, ir.Constant(_INDEX, lane)), stride)
            value = self.load(base, b.add(row, ir.Constant(_INDEX, column)))
            if self.lanes == 1:
                return value
            vector = b.insert_element(vector, value, _lane(lane))
        return vector

    def scatter(self, value: Any, base: Any, width: int, state: Any, column: int) -> None:
        """Store a column of as many rows of ``width`` numbers as there are lanes."""
        b = self.builder
        for lane in range(self.lanes):
            row = b.mul(b.add(state, ir.Constant(_INDEX, lane)), ir.Constant(_INDEX, width))
            one = value if self.lanes == 1 else b.extract_element(value, _lane(lane))
            b.store(one, self.address(base, b.add(row, ir.Constant(_INDEX, column))))

    def scatter_flags(self, held: Any, base: Any, state: Any) -> None:
        """Store a byte for each lane: whether its guards held."""
        b = self.builder
        for lane in range(self.lanes):
            if held is None:
                one = ir.Constant(_BYTE, 1)
            else:
                bit = held if self.lanes == 1 else b.extract_element(held, _lane(lane))
                one = b.zext(bit, _BYTE)
            b.store(one, self.address(base, b.add(state, ir.Constant(_INDEX, lane)), _BYTE))


def _lane(index: int) -> Any:
    return ir.Constant(ir.IntType(32), index)
