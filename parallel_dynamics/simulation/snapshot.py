"""All that a simulation depends on, to save and to go on from, bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

from parallel_dynamics.errors import InputError
from parallel_dynamics.resources import writing_to

FORMAT = 1


@dataclass(frozen=True)
class Snapshot:
    """State of a simulation: plain numbers, which JSON keeps exactly.

    ``command`` (n,) is the one in force, where a plant holds one.
    """

    robot: str
    time: float
    row: tuple[float, ...]
    commands: tuple[tuple[float, tuple[float, ...]], ...]
    generators: Mapping[str, Any]
    command: tuple[float, ...] | None = None

    def write(self, path: str | Path) -> None:
        """Write the snapshot to a JSON file."""
        data = {
            'format': FORMAT,
            'robot': self.robot,
            'time': self.time,
            'row': list(self.row),
            'commands': [[time, list(command)] for time, command in self.commands],
            'generators': dict(self.generators),
            'command': None if self.command is None else list(self.command),
        }
        with writing_to(Path(path).parent):
            Path(path).write_text(json.dumps(data, indent=1) + '\n', encoding='utf-8')

    @classmethod
    def read(cls, path: str | Path) -> Snapshot:
        """Read a snapshot from a JSON file."""
        try:
            data = json.loads(Path(path).read_text(encoding='utf-8'))
        except (OSError, ValueError) as error:
            raise InputError(f'{path}: expected a snapshot of a simulation: {error}') from None
        if not isinstance(data, dict) or data.get('format') != FORMAT:
            raise InputError(f'{path}: expected a snapshot of format {FORMAT}')
        try:
            held = data.get('command')
            return cls(
                str(data['robot']),
                float(data['time']),
                tuple(float(v) for v in data['row']),
                tuple((float(t), tuple(float(v) for v in c)) for t, c in data['commands']),
                data['generators'],
                None if held is None else tuple(float(v) for v in held),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f'{path}: damaged snapshot: {error!r}') from None
