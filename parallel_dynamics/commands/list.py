"""`parallel-dynamics list`: the robots that come with the package."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from parallel_dynamics.commands import _console

NAME = 'list'
HELP = 'list the robots that come with the package'
EXAMPLES = ('parallel-dynamics list', 'parallel-dynamics list --json')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the shipped robots."""
    from parallel_dynamics import resources

    robots = [_summary(name, file) for name, file in resources.robot_files().items()]
    rows = [
        (r['name'], str(len(r['actuators'])), str(len(r['closures'])), r['source'] or '-')
        for r in robots
    ]
    text = _console.table(('robot', 'actuators', 'closures', 'source'), rows)
    _console.tell(args, text, robots)
    return 0


def _summary(name: str, file: Path) -> dict[str, Any]:
    """Return what the YAML file says, without building the model: this must stay quick."""
    import yaml

    data = yaml.safe_load(file.read_text(encoding='utf-8'))
    return {
        'name': name,
        'file': str(file),
        'urdf': str((file.parent / data['urdf']).resolve()),
        'actuators': list(data['actuators']),
        'closures': [closure['name'] for closure in data['closures']],
        'source': data.get('source'),
    }
