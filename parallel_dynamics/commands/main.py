"""Entry point of `parallel-dynamics`: find the verbs, parse, run, report errors."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import importlib
import os
import pkgutil
import sys
from typing import Protocol, cast

from parallel_dynamics import commands
from parallel_dynamics.errors import ParallelDynamicsError

PROGRAM = 'parallel-dynamics'
STATUS_ERROR = 2
# What a shell reports for a program that SIGINT or SIGPIPE ended.
STATUS_INTERRUPTED = 128 + 2
STATUS_PIPE_CLOSED = 128 + 13
# Which extra of the package brings a module that some verbs need and the library does not.
EXTRAS = {
    'mcap': 'record',
    'mcap_ros2': 'record',
    'rosbags': 'record',
    'zstandard': 'record',
    'viser': 'view',
    'yourdfpy': 'view',
    'rclpy': 'ros',
    'casadi': 'bench',
}


class Verb(Protocol):
    """What every module in this folder offers."""

    NAME: str
    HELP: str
    EXAMPLES: tuple[str, ...]

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do the work and return the exit status."""


class _HelpFormatter(argparse.HelpFormatter):
    """Wraps paragraphs, and leaves lines that are indented as they are: examples to copy."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        lines = text.splitlines()
        return '\n'.join(s if s.startswith(' ') else fill(s, width, indent) for s in lines)


class _VersionAction(argparse.Action):
    """Look the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from parallel_dynamics import resources

        print(f'{PROGRAM} {resources.version()}')
        parser.exit()


def find_verbs() -> list[Verb]:
    """Return the verb modules of this folder by name, in alphabetical order."""
    names = (module.name for module in pkgutil.iter_modules(commands.__path__))
    verbs = [
        cast(Verb, importlib.import_module(f'{commands.__name__}.{name}'))
        for name in names
        if name != 'main' and not name.startswith('_')
    ]
    return sorted(verbs, key=lambda verb: verb.NAME)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the tool with one sub-parser for each verb."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description='Dynamics of parallel robots from the command line.',
        epilog=f'Options and examples of a verb: {PROGRAM} VERB --help',
    )
    parser.add_argument('--version', action=_VersionAction, nargs=0, help='show the version')
    subparsers = parser.add_subparsers(metavar='VERB', title='verbs')
    for verb in find_verbs():
        subparser = subparsers.add_parser(
            verb.NAME, help=verb.HELP, description=verb.HELP, formatter_class=_HelpFormatter
        )
        verb.add_arguments(subparser)
        examples = '\n'.join(['examples:', *(f'  {line}' for line in verb.EXAMPLES)])
        subparser.epilog = '\n\n'.join(filter(None, [subparser.epilog, examples]))
        subparser.set_defaults(run=verb.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool with the given arguments and return its exit status.

    An error of this package becomes its message on the standard error and exit status 2; anything
    else is a bug and keeps its traceback.
    """
    if sys.stdout is None:  # as Python leaves it where it was closed (>&-)
        sys.stdout = open(os.devnull, 'w', encoding='utf-8')  # noqa: SIM115 - until the end
    parser = make_parser()
    if '_ARGCOMPLETE' in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)
    args = parser.parse_args(argv)
    if not hasattr(args, 'run'):
        parser.print_help(sys.stderr)
        return STATUS_ERROR
    try:
        status = int(args.run(args))
        sys.stdout.flush()
        return status
    except ParallelDynamicsError as error:
        print(f'{PROGRAM}: {error}', file=sys.stderr)
        return STATUS_ERROR
    except ModuleNotFoundError as error:
        module = str(error.name).partition('.')[0]
        if module not in EXTRAS:
            raise
        print(
            f'{PROGRAM}: this needs the module {module!r}, which is not installed. '
            f"Run: pip install 'parallel_dynamics[{EXTRAS[module]}]'",
            file=sys.stderr,
        )
        return STATUS_ERROR
    except BrokenPipeError:
        # The reader (head, less) has gone; keep Python from complaining again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return STATUS_PIPE_CLOSED
    except KeyboardInterrupt:
        return STATUS_INTERRUPTED


if __name__ == '__main__':
    sys.exit(main())
