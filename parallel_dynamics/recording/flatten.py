"""Turn messages into rows of numbers with named columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from parallel_dynamics.spatial import Array

_HIDDEN = ('__msgtype__',)


class Columns:
    """Rows that grow message by message; columns appear with the first message that has them."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._rows: list[tuple[list[int], list[float]]] = []

    def add(self, message: Any) -> None:
        """Append the numbers of a message."""
        places, values = [], []
        for name, value in numbers(message):
            places.append(self._places.setdefault(name, len(self._places)))
            values.append(value)
        self._rows.append((places, values))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._places)

    @property
    def values(self) -> Array:
        """Rows (N, columns); NaN where a message had no such number."""
        table = np.full((len(self._rows), len(self._places)), np.nan)
        for row, (places, values) in zip(table, self._rows):
            row[places] = values
        return table


def numbers(message: Any, path: str = '') -> Iterator[tuple[str, float]]:
    """Yield name and value of every number in a message, header and layouts left out."""
    labels = None
    if not path and hasattr(message, 'name') and isinstance(message.name, list):
        labels = message.name  # a JointState: numbers are called by their joints
    for field in message.__dataclass_fields__:
        if field in _HIDDEN or field in ('header', 'layout') and not path:
            continue
        value = getattr(message, field)
        here = f'{path}.{field}' if path else field
        if isinstance(value, (bool, int, float, np.number)):
            yield here, float(value)
        elif hasattr(value, '__dataclass_fields__'):
            yield from numbers(value, here)
        elif isinstance(value, np.ndarray):
            named = labels if labels is not None and len(labels) == len(value) else None
            for k, entry in enumerate(value.tolist()):
                yield f'{here}[{named[k] if named else k}]', float(entry)
        elif isinstance(value, list):
            for k, entry in enumerate(value):
                if hasattr(entry, '__dataclass_fields__'):
                    yield from numbers(entry, f'{here}[{k}]')
