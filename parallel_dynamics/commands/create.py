"""`parallel-dynamics create FAMILY`: a robot of a parametric family, as URDF and YAML."""

from __future__ import annotations

import argparse
from typing import Any

from parallel_dynamics import families
from parallel_dynamics.commands import _console

NAME = 'create'
HELP = 'write the URDF and YAML of a robot of a parametric family'
EXAMPLES = (
    'parallel-dynamics create stewart --base-radius 0.6 --platform-radius 0.35 --name mine',
    'parallel-dynamics create delta --irregular 1 --output odd',
)


class _FamilyParser(argparse.ArgumentParser):
    """Parser of one family, whose options are looked up only when it is used: that needs NumPy."""

    _filled = False

    def parse_known_args(  # type: ignore[override]
        self, args: Any = None, namespace: Any = None, **options: Any,
    ) -> Any:
        """Add one option for each parameter, then parse."""
        if not self._filled:
            self._filled = True
            _add_options(self, self.prog.split()[-1])
        return super().parse_known_args(args, namespace, **options)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.epilog = 'Each family has its own options: parallel-dynamics create FAMILY --help'
    parser.add_argument(
        '--shipped', action='store_true',
        help='write the robots of the package again, into config/robots and urdf of the output')
    parser.add_argument(
        '--output', metavar='DIR', default='.', help='folder to write to (default: this one)')
    _console.add_json(parser)
    kinds = parser.add_subparsers(
        dest='family', metavar='FAMILY', title='families', parser_class=_FamilyParser)
    for name, (_, text) in families.FAMILIES.items():
        kinds.add_parser(name, help=text, description=text)


def run(args: argparse.Namespace) -> int:
    """Write the files and print their paths; 1 if the parameters make a robot with faults."""
    from dataclasses import asdict

    from parallel_dynamics.description import examine
    from parallel_dynamics.errors import InputError
    from parallel_dynamics.families import shipped

    if args.shipped == (args.family is not None):
        raise InputError(
            'Expected either a family or --shipped; got '
            f'{"both" if args.shipped else "neither"}. See parallel-dynamics create --help.')
    if args.shipped:
        written = shipped.write_shipped(args.output)
    else:
        known = families.family_class(args.family).parameters()
        given = {key: getattr(args, key) for key in known if hasattr(args, key)}
        if args.irregular is None:
            robot = families.create(args.family, args.name, **given)
        else:
            robot = families.irregular(args.family, args.irregular, args.name, **given)
        written = list(robot.write(args.output))
    faults = () if args.shipped else examine(written[0]).faults
    lines = list(map(str, written))
    lines += [_console.styled('fault: ', 'red') + str(fault) for fault in faults]
    data = {
        'family': args.family,
        'files': written,
        'faults': [asdict(fault) for fault in faults],
    }
    _console.tell(args, '\n'.join(lines), data)
    return 1 if faults else 0


def _add_options(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument(
        '--output', metavar='DIR', default=argparse.SUPPRESS, help='folder to write to')
    _console.add_json(parser, argparse.SUPPRESS)
    parser.add_argument(
        '--name', default='', help=f'name of the robot and its files (default: {name})')
    parser.add_argument(
        '--irregular', metavar='SEED', type=int,
        help='take all symmetry out of geometry, inertia and friction, the same for each SEED')
    group = parser.add_argument_group('parameters')
    for key, field in families.family_class(name).parameters().items():
        about, option = field.metadata, f'--{key.replace("_", "-")}'
        if 'options' in about:
            group.add_argument(
                option, choices=about['options'], default=argparse.SUPPRESS,
                help=f'{about["text"]} (default: {field.default})')
        else:
            shown = f'{field.default:.6g} {about["unit"]}'.rstrip()
            group.add_argument(
                option, type=float, metavar=about['unit'] or 'RATIO', default=argparse.SUPPRESS,
                help=f'{about["text"]} (default: {shown})')
