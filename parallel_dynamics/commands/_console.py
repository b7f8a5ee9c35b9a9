"""What verbs print: text for people, JSON for programs, and progress while they wait."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import os
import sys
from typing import Any, TextIO

_CODES = {'bold': '1', 'dim': '2', 'red': '31', 'green': '32', 'yellow': '33', 'cyan': '36'}


def has_colour(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that wants colours (https://no-color.org)."""
    wanted = not os.environ.get('NO_COLOR') and os.environ.get('TERM') != 'dumb'
    return wanted and stream.isatty()


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """Return the text in a style: bold, dim, red, green, yellow or cyan; unchanged off terminal.

    Parameters
    ----------
    text : str
        What to show.
    style : str
        One of the styles above.
    stream : file, optional
        Where the text will be written; the standard output unless given.
    """
    if not has_colour(sys.stdout if stream is None else stream):
        return text
    return f'\x1b[{_CODES[style]}m{text}\x1b[0m'


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return left-aligned columns with a bold header, two spaces apart."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        return '  '.join(padded).rstrip()

    return '\n'.join([styled(line(header), 'bold'), *map(line, rows)])


def add_json(parser: argparse.ArgumentParser, default: Any = False) -> None:
    """Add ``--json``, which :func:`tell` obeys."""
    parser.add_argument(
        '--json', action='store_true', default=default,
        help='print one JSON document instead of text: all digits, SI units',
    )  # fmt: skip


def tell(
    args: argparse.Namespace, text: str, data: Any, units: Mapping[str, str] | None = None
) -> None:
    """Print the text, or with ``--json`` the data: one document and nothing else.

    Parameters
    ----------
    args : Namespace
        Of the verb, with what ``add_json`` added.
    text : str
        For people.
    data : mapping or list
        The same for programs; arrays, paths and numbers that JSON lacks are taken care of.
    units : mapping of name to unit, optional
        Of every number that does not stand beside its own ``unit``; it goes in with the data. A
        name counts for all that is below it, and the unit of a pure number is empty.
    """
    if not args.json:
        print(text)
        return
    import json

    document = data if units is None else {**data, 'units': dict(units)}
    print(json.dumps(plain(document), indent=2, allow_nan=False))


def plain(value: Any) -> Any:
    """Return nested data as JSON has it: lists for arrays, null for NaN and infinity."""
    if isinstance(value, Mapping):
        return {str(name): plain(v) for name, v in value.items()}
    if hasattr(value, 'tolist'):  # of NumPy, which need not be imported for this
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def progress(**options: Any) -> Any:
    """Return a bar of tqdm on the standard error, shown on a terminal only."""
    from tqdm import tqdm

    return tqdm(file=sys.stderr, disable=None, **options)


def keep_logs_away() -> None:
    """See that nodes in this process log to the standard error, whatever the user has set."""
    os.environ.pop('RCUTILS_LOGGING_USE_STDOUT', None)
