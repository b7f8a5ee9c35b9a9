"""What a robot's code depends on: robots that differ only in numbers can share it.

Zeros and ones of the packed robot stand in the code itself, which leaves out what is multiplied
by zero; all other numbers are parameters that it reads. Robots with the same zeros and ones, as
one robot with and without a load, have the same code and their own parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
import hashlib
from typing import Any

import numpy as np

from parallel_dynamics.kernels.packing import Packed
from parallel_dynamics.spatial import Array

ARRAYS = ('system', 'legs', 'joints', 'closures')
"""Names of the packed robot's arrays."""
ROTATIONS = ('R', 'R1', 'R2')
"""Fields whose entries of rounding size are taken for what they stand for: 0, 1 or -1."""
LOADED = (('system', 'mass'), ('system', 'com'), ('system', 'tensor'))
"""Never taken for what they happen to be, so that a robot and its loads share their code."""


@dataclass(frozen=True)
class Structure:
    """A robot as its code sees it.

    Attributes
    ----------
    written : dict
        By array and field the entries (n,) that stand in the code, NaN for those that are read.
    parameters : (k,)
        Those that are read, in the order of ``written``.
    digest : str
        The same for robots that can share code.
    """

    written: dict[tuple[str, str], Array]
    parameters: Array
    digest: str


def structure_of(packed: Packed) -> Structure:
    """Tell what stands in the code of a robot from what it reads."""
    digest = hashlib.sha256(repr([a.shape for a in packed.workspace()[0]]).encode())
    written: dict[tuple[str, str], Array] = {}
    parameters: list[Array] = []
    for name, array in zip(ARRAYS, packed.static):
        digest.update(f'{name} {array.shape} {array.dtype}'.encode())
        for field in array.dtype.names:
            values = np.array(array[field]).reshape(-1)
            if not is_number(array.dtype[field]):
                digest.update(np.ascontiguousarray(values).tobytes())
                continue
            if field in ROTATIONS:
                whole = np.round(values)
                values = np.where(np.abs(values - whole) < 2e-16, whole, values)
            stands = np.isin(values, (0.0, 1.0, -1.0)) & ((name, field) not in LOADED)
            # Adding zero makes the negative zero a plain one.
            written[name, field] = np.where(stands, values + 0.0, np.nan)
            parameters.append(values[~stands])
            digest.update(written[name, field].tobytes())
    return Structure(written, np.concatenate(parameters), digest.hexdigest())


def is_number(field: Any) -> bool:
    """Whether a field of a record holds numbers, and not counts, kinds or places."""
    return bool(field.base.kind == 'f')
