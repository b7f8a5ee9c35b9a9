"""`parallel-dynamics identify`: masses, inertias and friction of a robot from recordings."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parallel_dynamics.commands import _console

if TYPE_CHECKING:
    from parallel_dynamics.identification.identifying import Identification, Trial
    from parallel_dynamics.identification.logs import EffortLog
    from parallel_dynamics.robot import Robot

NAME = 'identify'
HELP = 'identify the dynamic parameters of a robot, or its payload, from a recording'
EXAMPLES = (
    'parallel-dynamics identify delta --data run.mcap --output found',
    'parallel-dynamics identify delta --data loaded.mcap --payload --json',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument('robot', help='a shipped robot, or the path of a YAML file')
    parser.add_argument(
        '--data', required=True, metavar='FILE',
        help='recording to identify from: CSV (time, position[JOINT], effort[JOINT]), MCAP file '
        'or rosbag2 folder with joint_states and their efforts',
    )  # fmt: skip
    parser.add_argument('--validate', metavar='FILE', help='a second one to try the result on')
    parser.add_argument(
        '--output', type=Path, default=Path('identification'), metavar='DIR',
        help='folder for the robot, report and figures (default: %(default)s)',
    )  # fmt: skip
    parser.add_argument('--topic', default='joint_states', help='of bags (default: %(default)s)')
    parser.add_argument('--cutoff', type=float, metavar='HZ', help='of the zero-phase low-pass')
    parser.add_argument(
        '--friction', choices=('actuated', 'all', 'none'), default='actuated',
        help='joints whose friction is identified (default: %(default)s)',
    )  # fmt: skip
    parser.add_argument(
        '--trust', type=float, default=0.1, metavar='SHARE',
        help='how far off the description may be (default: %(default)s)',
    )  # fmt: skip
    parser.add_argument(
        '--unconstrained', action='store_true',
        help='do not ask for physical bodies; refused if no robot can be loaded from that',
    )  # fmt: skip
    parser.add_argument(
        '--payload', action='store_true',
        help='take the robot as it is, and identify the load on its platform',
    )  # fmt: skip
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Identify, write robot and report, and say how good they are."""
    from parallel_dynamics.identification.logs import read_log
    from parallel_dynamics.loading import load_robot

    robot = load_robot(args.robot)
    data = read_log(args.data, robot, args.topic)
    if args.payload:
        _payload(robot, data, args)
        return 0
    validate = read_log(args.validate, robot, args.topic) if args.validate else None

    from parallel_dynamics.identification.describing import write_robot
    from parallel_dynamics.identification.identifying import identify
    from parallel_dynamics.plots.identification_report import write_identification
    from parallel_dynamics.resources import writing_to

    # Base parameters, equations, least squares, bodies, residuals and report.
    with writing_to(args.output), _Steps(6 if validate is None else 7) as show:
        found = identify(
            robot, data, validate, cutoff=args.cutoff, friction=args.friction, trust=args.trust,
            consistent=not args.unconstrained, progress=show,
        )  # fmt: skip
        show('report', 0, 1)
        name = f'{robot.name}_identified'
        notes = f'{robot.name}, identified from {data.source} by parallel-dynamics identify.'
        files = write_robot(found.robot, args.output, name, notes)
        files += write_identification(found, args.output, f'{name}.yaml')
        show('report', 1, 1)
    text = '\n'.join([*_lines(found), *map(str, files)])
    _console.tell(args, text, {**_data(found), 'files': files}, _units(robot))
    return 0


class _Steps:
    """Shows steps of different kinds in one bar; all of them count the same."""

    def __init__(self, steps: int) -> None:
        self.bar = _console.progress(total=steps, bar_format='{desc} {percentage:3.0f}% |{bar}|')
        self._what, self._before = '', -1

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show what is being done, and how much of it."""
        if what != self._what:
            self._what, self._before = what, self._before + 1
        self.bar.set_description_str(what, refresh=False)
        self.bar.n = self._before + done / total
        self.bar.refresh()

    def __enter__(self) -> _Steps:
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()


def _lines(found: Identification) -> list[str]:
    e = found.estimate
    lines = [
        f'{int(e.identified.sum())} of {len(e.base)} base parameters identified, '
        f'{int(e.essential.sum())} of them within 1 %; low-pass {found.training.cutoff:.3g} Hz'
    ]
    for what, trial in (('training', found.training), ('validation', found.validation)):
        if trial is not None:
            ratio = 100.0 * (trial.residual() / trial.peak()).max()
            before = 100.0 * (trial.residual_of_description() / trial.peak()).max()
            lines.append(
                f'{what}: residual {ratio:.2f} % of the peak effort, before {before:.2f} %'
            )
    return lines


def _data(found: Identification) -> dict[str, Any]:
    from parallel_dynamics.linear_form import parameter_units

    e = found.estimate
    units = parameter_units(found.described.model)
    columns = zip(e.base.independent, e.values, e.deviation, e.described, e.identified,
                  e.essential)  # fmt: skip
    return {
        'robot': found.described.name,
        'base_parameters': [
            {'name': e.base.names[k], 'value': value, 'deviation': deviation,
             'described': described, 'unit': units[k], 'identified': told,
             'within_one_percent': good}
            for k, value, deviation, described, told, good in columns
        ],
        'condition': e.condition,
        'physical': found.consistent,
        'changed': found.changed,
        'delay': {'value': found.delay[0], 'deviation': found.delay[1]},
        'training': _trial(found.described, found.training),
        'validation': found.validation and _trial(found.described, found.validation),
    }  # fmt: skip


def _trial(robot: Robot, trial: Trial) -> dict[str, Any]:
    names = robot.actuators
    return {
        'source': trial.source,
        'rate': trial.rate,
        'low_pass': trial.cutoff,
        'peak_effort': dict(zip(names, trial.peak())),
        'residual': dict(zip(names, trial.residual())),
        'residual_before': dict(zip(names, trial.residual_of_description())),
    }


def _units(robot: Robot) -> dict[str, str]:
    from parallel_dynamics.maps.performance import effort_unit

    effort = effort_unit(robot)
    return {
        'condition': '', 'changed': 'standard deviations', 'delay': 's', 'rate': 'Hz',
        'low_pass': 'Hz', 'peak_effort': effort, 'residual': effort, 'residual_before': effort,
    }  # fmt: skip


def _payload(robot: Robot, data: EffortLog, args: argparse.Namespace) -> None:
    from parallel_dynamics.identification.payload import identify_payload

    with _Steps(1) as show:
        found = identify_payload(robot, data, args.cutoff, show)
    units = {'m': 'kg', 'mc': 'kg m', 'i': 'kg m^2'}
    rows = [
        (name, value, deviation, units['m' if name == 'm' else 'mc' if 'mc' in name else 'i'])
        for name, value, deviation in zip(found.names, found.values, found.deviation)
    ]
    lines = [f'{name:4s} {v:10.5g} +- {deviation:.2g} {unit}' for name, v, deviation, unit in rows]
    lines.append('centre [m]  ' + ' '.join(f'{v:.4f}' for v in found.com))
    parameters = [dict(zip(('name', 'value', 'deviation', 'unit'), row)) for row in rows]
    document = {'robot': robot.name, 'payload': parameters, 'centre': found.com}
    _console.tell(args, '\n'.join(lines), document, {'centre': 'm'})
