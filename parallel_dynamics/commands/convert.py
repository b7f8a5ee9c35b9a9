"""`parallel-dynamics convert`: robots from and to the conventions of other tools."""

from __future__ import annotations

import argparse
from pathlib import Path

from parallel_dynamics.commands import _console

NAME = 'convert'
HELP = 'convert a robot from or to the files of other tools'
EXAMPLES = (
    'parallel-dynamics convert delta --to gepetto --output cad',
    'parallel-dynamics convert cad/robot.yaml --from gepetto --platform platform --name mine',
)
_CONVENTIONS = ('gepetto', 'constraint', 'mjcf')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.description = (
        'Write a robot for other tools (--to), or read theirs (--from). gepetto: a URDF with '
        'robot.yaml (closed_loop, type, name_mot). constraint: a URDF with <constraint> elements '
        'as ros/urdfdom#264 proposes them. mjcf: MuJoCo with equality constraints. What a format '
        'cannot say is printed.'
    )
    parser.add_argument('robot', help='shipped robot or YAML file; with --from, the file to read')
    direction = parser.add_mutually_exclusive_group(required=True)
    direction.add_argument('--to', choices=_CONVENTIONS, help='write this convention')
    direction.add_argument('--from', dest='source', choices=_CONVENTIONS, help='read this one')
    parser.add_argument('--output', default='.', metavar='DIR', help='folder for the files')
    reading = parser.add_argument_group('with --from, what the other conventions do not say')
    reading.add_argument('--platform', metavar='LINK', help='link that is the platform')
    reading.add_argument('--base', metavar='LINK', help='base link (the root)')
    reading.add_argument('--actuators', nargs='+', metavar='JOINT', help='(those of the file)')
    reading.add_argument('--name', help='name of the robot and of its files')
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Convert, print what was written and what to know; 1 if the robot read has faults."""
    from dataclasses import asdict

    from parallel_dynamics.description import examine
    from parallel_dynamics.description.conversion import export_robot, import_robot
    from parallel_dynamics.errors import InputError

    if args.to:
        converted = export_robot(args.robot, args.to)
    elif not args.platform:
        raise InputError(
            f'--platform is missing: the {args.source} convention does not say which link is the '
            'platform'
        )
    else:
        converted = import_robot(
            args.robot, args.source, args.platform,
            base=args.base, actuators=args.actuators, name=args.name,
        )  # fmt: skip
    paths = converted.write(args.output)
    faults = () if args.to else examine(_description(paths)).faults
    lines = [f'wrote {path}' for path in paths]
    lines += [_console.styled(f'note: {note}', 'yellow') for note in converted.notes]
    lines += [_console.styled('fault: ', 'red') + str(fault) for fault in faults]
    data = {
        'robot': args.robot,
        'convention': args.to or args.source,
        'files': paths,
        'notes': converted.notes,
        'faults': [asdict(fault) for fault in faults],
    }
    _console.tell(args, '\n'.join(lines), data)
    return 1 if faults else 0


def _description(paths: list[Path]) -> Path:
    return next(path for path in paths if path.suffix == '.yaml')
