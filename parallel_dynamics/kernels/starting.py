"""Start a program that was unrolled for the robot, for one state and without Python's detours.

A program takes one argument: the address of its order, (ORDER,) of int64.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic
import numpy as np

from parallel_dynamics.kernels.assembly import solve_positions
from parallel_dynamics.kernels.compiler import entry, kernel
from parallel_dynamics.kernels.handle import _pointer
from parallel_dynamics.kernels.layout import (
    BODY,
    CLOSURE,
    COORDINATE,
    JOINT,
    LEG,
    OK,
    SYSTEM,
    WORK,
)
from parallel_dynamics.kernels.leading import take_hint
from parallel_dynamics.motion import LARGEST

INPUTS = ('motions', 'external', 'efforts', 'positions', 'cosines', 'sines', 'held', 'physics')
"""What a program may read of a state: rows as the kernels take them, and joints (packed).

Of joints in a simulation also the friction efforts held, and ``PHYSICS`` of each."""
PHYSICS = ('damping', 'spring', 'rest', 'preload')
PARAMETERS, OUT, GOOD, FIRST, LAST, TABLES = range(6)
"""Where an order has its addresses, and the range of states.

From TABLES on follow the addresses of the inputs, then as many strides: numbers in a row, 0 where
one row serves all states.
"""
ORDER = TABLES + 2 * len(INPUTS)
MOTIONS, EXTERNAL, EFFORTS, POSITIONS = range(TABLES, TABLES + 4)
HELD_EFFORTS = TABLES + 6
ADDRESS, HANDLE, COUNT, SINGLE = range(ORDER, ORDER + 4)
OUTSIDE = -1
"""Returned for a state that the program does not speak for."""


@intrinsic  # type: ignore[misc]
def _start(typing_context: Any, address: Any, order: Any) -> Any:
    """Call the program at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [arguments[1]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@kernel
def start_program(order: Any) -> bool:
    """Start the program of an order; return whether it speaks for the state."""
    _start(order[ADDRESS], order.ctypes.data)
    return bool(carray(_pointer(order[GOOD]), (1,), np.uint8)[0])


@entry
def run_program(order: Any, motions: Any, efforts: Any, out: Any) -> int:
    """Calculate one state; return OK, or OUTSIDE where the kernels have to judge it.

    ``order`` is (SINGLE,): the program's order, its address, and where it does not place the legs
    itself the robot's handle and the table (3, joints) of positions, cosines and sines.
    """
    for k in range(efforts.shape[1]):
        if not abs(efforts[0, k]) < LARGEST:  # the kernels say what is wrong
            return OUTSIDE
    count = order[COUNT]
    if count > 0:
        h = carray(_pointer(order[HANDLE]), (33,), np.int64)
        system = carray(_pointer(h[0]), (h[1],), SYSTEM)[0]
        work = carray(_pointer(h[30]), (h[31],), WORK)[0]
        bodies = carray(_pointer(h[12]), (h[13],), BODY)
        take_hint(work)
        status = solve_positions(
            system, carray(_pointer(h[3]), (h[4],), LEG), carray(_pointer(h[6]), (h[7],), JOINT),
            carray(_pointer(h[9]), (h[10],), CLOSURE), bodies,
            carray(_pointer(h[15]), (h[16],), COORDINATE),
            carray(_pointer(h[18]), (h[19], h[20]), np.float64), work,
            carray(_pointer(h[27]), (h[28], h[29]), np.float64), motions[0],
        )  # fmt: skip
        if status != OK:
            return OUTSIDE
        table = carray(_pointer(order[POSITIONS]), (3, count), np.float64)
        for j in range(count):
            q = bodies[j + 2]['q']
            table[0, j], table[1, j], table[2, j] = q, math.cos(q), math.sin(q)
    order[MOTIONS] = motions.ctypes.data
    order[EFFORTS] = efforts.ctypes.data
    order[OUT] = out.ctypes.data
    return OK if start_program(order) else OUTSIDE
