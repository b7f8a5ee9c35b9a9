"""`parallel-dynamics parameters`: the dynamic parameters of a robot, and its base parameters."""

from __future__ import annotations

import argparse
from typing import Any

from parallel_dynamics.commands import _console

NAME = 'parameters'
HELP = 'list the dynamic parameters of a robot and how they group into base parameters'
EXAMPLES = (
    'parallel-dynamics parameters delta',
    'parallel-dynamics parameters delta --lumped thirds --symmetric --friction none',
)
UNITS = {
    'effort_error': '',  # root mean square, as a share of the efforts
    'factor': 'unit of the base parameter over that of the parameter',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument('robot', help='a shipped robot, or the path of a YAML file')
    parser.add_argument(
        '--friction', choices=('actuated', 'all', 'none'), default='actuated',
        help='joints whose friction counts (default: %(default)s)',
    )  # fmt: skip
    parser.add_argument('--all', action='store_true', help='list all parameters, ungrouped')
    parser.add_argument(
        '--symmetric', action='store_true',
        help='moments and products that are zero in the description stay zero',
    )  # fmt: skip
    parser.add_argument(
        '--lumped', choices=('thirds', 'halves'),
        help='rods as points at their ends: 2/3 and 1/3 of their mass, or halves',
    )  # fmt: skip
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print parameters or base parameters with their relations."""
    from parallel_dynamics.identification.base_parameters import (
        default_candidates,
        find_base_parameters,
    )
    from parallel_dynamics.identification.lumping import lumped_model
    from parallel_dynamics.linear_form import parameter_units
    from parallel_dynamics.loading import load_robot

    robot = load_robot(args.robot)
    lines: list[str] = []
    data: dict[str, Any] = {'robot': robot.name}
    if args.lumped:
        lumped = lumped_model(robot, args.lumped)
        robot = lumped.robot
        off = f'efforts are off by {100.0 * lumped.error:.2g} % rms'
        lines.append(f'lumped: {" ".join(lumped.rods)}; {off}')
        data['lumped'] = {'rods': lumped.rods, 'effort_error': lumped.error}
    names, units = robot.parameter_names, parameter_units(robot.model)
    if args.all:
        rows = [(n, f'{v:.6g}') for n, v in zip(names, robot.parameters)]
        lines.append(_console.table(('parameter', 'value'), rows))
        data['parameters'] = [
            {'name': n, 'value': v, 'unit': u} for n, v, u in zip(names, robot.parameters, units)
        ]
        _console.tell(args, '\n'.join(lines), data, UNITS)
        return 0
    chosen = default_candidates(robot, args.friction, symmetric=args.symmetric)
    base = find_base_parameters(robot, chosen)
    values = base.values(robot.parameters)
    groups = [(base.labels[k], f'{values[k]:.6g}', base.relation(k, 6)) for k in range(len(base))]
    lines.append(_console.table(('base parameter', 'value', 'made of'), groups))
    lines.append(
        f'{len(base)} base parameters of {len(base.candidates)} ({len(robot.parameters)} in all); '
        f'{len(base.no_effect)} have no effect on any effort'
    )
    data['base_parameters'] = [
        {
            'name': base.labels[k],
            'value': values[k],
            'unit': units[base.independent[k]],
            'made_of': [{'name': name, 'factor': f} for name, f in base.members(k)],
        }
        for k in range(len(base))
    ]
    data['candidates'] = [names[k] for k in base.candidates]
    data['no_effect'] = [names[k] for k in base.no_effect]
    data['in_all'] = len(names)
    _console.tell(args, '\n'.join(lines), data, UNITS)
    return 0
