"""One array in place of eleven: unpacking arrays is most of what a call from Python costs.

A handle (42,) of int64 holds address and shape of the arrays that a robot's kernels take first,
and of a report. Whoever makes one must keep those arrays alive.
"""

from __future__ import annotations

from typing import Any

from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic
import numpy as np

from parallel_dynamics.kernels.batch import evaluate
from parallel_dynamics.kernels.compiler import entry
from parallel_dynamics.kernels.layout import (
    BODY,
    CLOSURE,
    COORDINATE,
    JOINT,
    LEG,
    OPTIONS,
    SYSTEM,
    WORK,
)


def make_handle(*arrays: Any) -> Any:
    """Return the handle of system ... work, options, a report and the input of a base at rest."""
    rows = [(a.ctypes.data, a.shape[0], a.shape[1] if a.ndim > 1 else 1) for a in arrays]
    return np.array(rows, np.int64).ravel()


@intrinsic  # type: ignore[misc]
def _pointer(typing_context: Any, address: Any) -> Any:
    """Return an address as a pointer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


@entry
def evaluate_one(handle: Any, task: int, motions: Any, efforts: Any, out: Any) -> int:
    """``batch.evaluate`` for one state, a base at rest and nothing external."""
    h = handle
    return evaluate(
        carray(_pointer(h[0]), (h[1],), SYSTEM), carray(_pointer(h[3]), (h[4],), LEG),
        carray(_pointer(h[6]), (h[7],), JOINT), carray(_pointer(h[9]), (h[10],), CLOSURE),
        carray(_pointer(h[12]), (h[13],), BODY), carray(_pointer(h[15]), (h[16],), COORDINATE),
        carray(_pointer(h[18]), (h[19], h[20]), np.float64),
        carray(_pointer(h[21]), (h[22], h[23]), np.float64),
        carray(_pointer(h[24]), (h[25], h[26]), np.float64),
        carray(_pointer(h[27]), (h[28], h[29]), np.float64),
        carray(_pointer(h[30]), (h[31],), WORK), carray(_pointer(h[33]), (h[34],), OPTIONS), task,
        motions, carray(_pointer(h[39]), (h[40], h[41]), np.float64), efforts, out,
        carray(_pointer(h[36]), (h[37], h[38]), np.float64), 0, 1,
    )  # fmt: skip
