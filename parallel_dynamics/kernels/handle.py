"""One array in place of eleven: unpacking arrays is most of what a call from Python costs.

A handle (33,) of int64 holds address and shape of the arrays that a robot's kernels take first.
Whoever makes one must keep those arrays alive.
"""

from __future__ import annotations

from typing import Any

from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic
import numpy as np

from parallel_dynamics.kernels.batch import evaluate as evaluate_states
from parallel_dynamics.kernels.compiler import entry
from parallel_dynamics.kernels.layout import (
    BODY,
    CLOSURE,
    COORDINATE,
    JOINT,
    LEG,
    SYSTEM,
    WORK,
)


def make_handle(*arrays: Any) -> Any:
    """Return the handle of robot and workspace: system, legs, ... scratch, work."""
    rows = [(a.ctypes.data, a.shape[0], a.shape[1] if a.ndim > 1 else 1) for a in arrays]
    return np.array(rows, np.int64).ravel()


@intrinsic  # type: ignore[misc]
def _pointer(typing_context: Any, address: Any) -> Any:
    """Return an address as a pointer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


@entry
def evaluate(
    handle: Any, options: Any, task: int, motions: Any, external: Any, efforts: Any, out: Any,
    reports: Any, first: int, last: int,
) -> int:  # fmt: skip
    """``batch.evaluate`` for a robot and a workspace behind a handle."""
    h = handle
    return evaluate_states(
        carray(_pointer(h[0]), (h[1],), SYSTEM), carray(_pointer(h[3]), (h[4],), LEG),
        carray(_pointer(h[6]), (h[7],), JOINT), carray(_pointer(h[9]), (h[10],), CLOSURE),
        carray(_pointer(h[12]), (h[13],), BODY), carray(_pointer(h[15]), (h[16],), COORDINATE),
        carray(_pointer(h[18]), (h[19], h[20]), np.float64),
        carray(_pointer(h[21]), (h[22], h[23]), np.float64),
        carray(_pointer(h[24]), (h[25], h[26]), np.float64),
        carray(_pointer(h[27]), (h[28], h[29]), np.float64),
        carray(_pointer(h[30]), (h[31],), WORK),
        options, task, motions, external, efforts, out, reports, first, last,
    )  # fmt: skip
