"""`parallel-dynamics check ROBOT`: a verdict on a description, with every fault in it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from parallel_dynamics.commands import _console

if TYPE_CHECKING:
    from parallel_dynamics.description import Examination
    from parallel_dynamics.mobility import Mobility
    from parallel_dynamics.model import RobotModel

NAME = 'check'
HELP = 'judge the description of a robot: freedoms, ranks, overconstraint, faults'
EXAMPLES = ('parallel-dynamics check delta', 'parallel-dynamics check delta --json')
UNITS = {
    'moving_mass': 'kg', 'masses': 'kg', 'residual': 'm', 'length': 'm', 'condition': '',
    'actuation_condition': '', 'mass_condition': '',
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument('robot', help='name of a shipped robot, or a YAML file')
    _console.add_json(parser)
    parser.epilog = 'The exit status is 0 for a robot that can be used, 1 for one with faults.'


def run(args: argparse.Namespace) -> int:
    """Print the verdict; return 0 for a good robot and 1 for one with faults."""
    from parallel_dynamics.description import examine

    found = examine(args.robot)
    _console.tell(args, _text(args, found), as_data(args.robot, found), UNITS)
    return 1 if found.faults else 0


def as_data(robot: str, found: Examination) -> dict[str, Any]:
    """Return the verdict as plain data; what could not be found out is left out."""
    import dataclasses

    data: dict[str, Any] = {
        'robot': robot,
        'good': not found.faults,
        'faults': [dataclasses.asdict(fault) for fault in found.faults],
        'notes': [dataclasses.asdict(note) for note in found.notes],
    }
    if found.model is not None:
        data |= _model_data(found.model)
    if found.model is not None and found.mobility is not None:
        data |= _mobility_data(found.model, found.mobility)
    return data


def _model_data(model: RobotModel) -> dict[str, Any]:
    moving = model.bodies[1:]
    return {
        'name': model.name,
        'yaml': str(model.path),
        'urdf': str(model.urdf_path.resolve()) if model.urdf_path else None,
        'source': model.source,
        'joints': model.joint_names,
        'actuators': model.actuator_names,
        'closures': [
            {'name': c.name, 'type': c.kind, 'between': [c.first.name, c.second.name]}
            for c in model.closures
        ],
        'outside_limits_at_home': outside_at_home(model),
        'moving_mass': sum(body.inertia.mass for body in moving),
        'masses': {body.name: body.inertia.mass for body in moving},
    }


def _mobility_data(model: RobotModel, mobility: Mobility) -> dict[str, Any]:
    legs = [
        {
            'joints': [model.joints[j].name for j in model.legs[leg.leg].joints],
            'closures': [model.closures[c].name for c in model.legs[leg.leg].closures],
            'coordinates': leg.coordinates,
            'equations': leg.equations,
            'rank': leg.rank,
            'idle': list(leg.idle),
            'condition': leg.condition,
        }
        for leg in mobility.legs
    ]
    return {
        'dof': mobility.dof,
        'independent': mobility.independent_names,
        'redundant': mobility.redundant,
        'overconstraints': [
            {'closures': list(group.closures), 'equations': group.equations}
            for group in mobility.overconstraints
        ],
        'legs': legs,
        'residual': mobility.residual,
        'length': mobility.length,
        'actuation_condition': mobility.actuation_condition,
        'mass_condition': mobility.mass_condition,
    }


def _text(args: argparse.Namespace, found: Examination) -> str:
    styled = _console.styled
    lines: list[str] = []
    if found.model is not None and found.mobility is not None:
        lines += _describe(found.model, found.mobility)
    elif found.model is not None:
        lines += [styled(found.model.name, 'bold'), '']
    for note in found.notes:
        lines += [styled(f'note: {note.element}: {note.problem}.', 'yellow'), f'  {note.remedy}']
    lines += [''] if found.notes else []
    count = len(found.faults)
    if not count:
        lines += [styled(f'{args.robot} can be used.', 'green')]
        return '\n'.join(lines)
    title = f'{args.robot} has {count} fault{"s" if count > 1 else ""}:'
    lines += [styled(title, 'red')]
    for fault in found.faults:
        lines += [f'- {styled(fault.element, "bold")}: {fault.problem}.', f'  {fault.remedy}']
        lines += [styled(f'  in {fault.file}', 'dim')]
    return '\n'.join(lines)


def _describe(model: RobotModel, mobility: Mobility) -> list[str]:
    styled = _console.styled
    free = ', '.join(mobility.independent_names) or 'none'
    legs = [
        (
            str(leg.leg + 1),
            ' '.join(_named(model, leg.leg)),
            ' '.join(model.closures[c].name for c in model.legs[leg.leg].closures) or '-',
            str(leg.equations),
            f'{leg.rank} of {leg.coordinates}',
            _condition(leg.condition),
        )
        for leg in mobility.legs
    ]
    kinds = [closure.kind for closure in model.closures]
    counted = ', '.join(f'{kinds.count(kind)} {kind}' for kind in dict.fromkeys(kinds))
    moving = model.bodies[1:]
    mass = sum(body.inertia.mass for body in moving)
    massless = [body.name for body in moving if not body.inertia.mass]
    lines = [
        styled(model.name, 'bold') + (f' (after {model.source})' if model.source else ''),
        '',
        f'degrees of freedom   {mobility.dof}, independent: {free}',
        f'actuators            {len(model.actuators)}: {" ".join(model.actuator_names) or "none"}',
        f'closures             {len(model.closures)} ({counted}), open at home by '
        f'{mobility.residual:.1e} m',
        f'moving mass          {mass:.4g} kg, platform {moving[0].inertia.mass:.4g} kg'
        + (f', massless: {" ".join(massless)}' if massless else ''),
        f'condition at home    actuation {_condition(mobility.actuation_condition)}, mass matrix '
        f'{_condition(mobility.mass_condition)} (angles at {mobility.length:.3g} m)',
        f'redundant equations  {mobility.redundant or "none"}',
    ]
    outside = outside_at_home(model)
    if outside:
        lines.insert(-1, f'outside limits       at home (zero): {" ".join(outside)}')
    for group in mobility.overconstraints:
        lines.append(f'  {group.equations} shared by {" ".join(group.closures)}')
    header = ('leg', 'joints (* actuated)', 'closures', 'equations', 'rank', 'condition')
    return [*lines, '', _console.table(header, legs), '']


def outside_at_home(model: RobotModel) -> list[str]:
    """Return the joints whose limits exclude zero, which is home."""
    return [joint.name for joint in model.joints if not joint.lower <= 0.0 <= joint.upper]


def _named(model: RobotModel, leg: int) -> list[str]:
    """Return the joints of a leg with a star on the actuated ones."""
    joints = model.legs[leg].joints
    names = [model.joints[j].name + ('*' if j in model.actuators else '') for j in joints]
    return names or ['(none: between base and platform)']


def _condition(value: float) -> str:
    return f'{value:.3g}' if value < float('inf') else 'singular'
