"""`parallel-dynamics reproduce`: the figures and numbers of a paper, with a page about them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from parallel_dynamics.commands import _console

NAME = 'reproduce'
HELP = 'write the figures of a paper, the numbers behind them and a page about both'
EXAMPLES = (
    'parallel-dynamics reproduce staicu_3rps --output papers',
    'parallel-dynamics reproduce all --json',
)
ALL = 'all'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    from parallel_dynamics.papers import KEYS

    parser.add_argument(
        'paper', choices=(*KEYS, ALL), metavar='PAPER', help=f'one of {", ".join((*KEYS, ALL))}'
    )
    parser.add_argument(
        '--output',
        type=Path,
        default=Path('output', 'papers'),
        metavar='DIR',
        help='folder to write to (default: %(default)s)',
    )
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the reports of the papers asked for."""
    from parallel_dynamics.papers import KEYS, reproduce

    keys = KEYS if args.paper == ALL else (args.paper,)
    data: dict[str, Any] = {}
    files: list[Path] = []
    with _console.progress(total=len(keys), unit='paper') as bar:
        for key in keys:
            bar.set_description(key)
            report = reproduce(key)
            files += report.write(args.output)
            data[key] = {'title': report.title, 'numbers': report.numbers}
            bar.update()
    _console.tell(args, '\n'.join(map(str, files)), {'papers': data, 'files': files})
    return 0
