"""`parallel-dynamics analyse`: what a motion asks of a robot, as figures and one page."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from parallel_dynamics.commands import _console, _motions

if TYPE_CHECKING:
    from parallel_dynamics.robot import Robot

NAME = 'analyse'
HELP = 'plot kinematics, efforts, energy and joint forces of a motion, with an HTML report'
EXAMPLES = (
    'parallel-dynamics analyse delta --motion circle --output analysis',
    'parallel-dynamics analyse gough_stewart --motion swing --payload 20 --formats png --json',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument('robot', help='a shipped robot, or the path of a YAML file')
    parser.add_argument('--motion', required=True, metavar='FILE', help=_motions.HELP)
    parser.add_argument('--output', default='analysis', metavar='DIR', help='folder to write to')
    parser.add_argument('--payload', type=float, default=0.0, metavar='KG', help='on the platform')
    parser.add_argument(
        '--project', action='store_true',
        help='put the motion on the closures of a robot with fewer than six freedoms',
    )  # fmt: skip
    parser.add_argument(
        '--formats', default='png,svg', help='of the figures, separated by commas (png,svg,pdf)'
    )
    parser.add_argument('--no-joint-forces', action='store_true', help='leave them out')
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write figures and report."""
    from dataclasses import asdict
    from pathlib import Path

    from parallel_dynamics import plots
    from parallel_dynamics.errors import InputError
    from parallel_dynamics.loading import load_robot
    from parallel_dynamics.plots.report import loads, summary

    formats = [f.strip() for f in args.formats.split(',') if f.strip()]
    if not formats or set(formats) - {'png', 'svg', 'pdf'}:
        raise InputError(f'formats: expected some of png, svg, pdf, got {args.formats!r}')
    robot = load_robot(args.robot)
    if args.payload:
        robot = robot.with_payload(args.payload)
    times, motion = _motions.read(robot, args.motion)
    if args.project:
        motion = robot.project(motion)
    analysis = plots.analyse(robot, times, motion, joint_forces=not args.no_joint_forces)
    found = plots.figures(analysis)
    folder = Path(args.output)
    paths: list[Path] = []
    for name, (figure, _) in found.items():
        paths += plots.save(figure, folder, f'{robot.name}_{name}', formats)
    load = f' with {args.payload:g} kg on the platform' if args.payload else ''
    page = plots.write_report(
        folder / f'{robot.name}.html', analysis, found, f'{robot.name}: {args.motion}',
        f'{len(times)} instants over {times[-1] - times[0]:.3g} s{load}.',
    )  # fmt: skip
    beyond = [
        f'beyond its limit: {violation.joint}, {violation.quantity} {violation.value:.4g}'
        for violation in analysis.violations
    ]
    text = '\n'.join([f'{len(found)} figures in {folder}, and the report {page}', *beyond])
    effort = analysis.effort_unit
    data = {
        'robot': robot.name,
        'motion': args.motion,
        'instants': len(times),
        'duration': times[-1] - times[0],
        'summary': [{'name': n, 'value': v, 'unit': u} for n, v, u in summary(analysis)],
        'actuators': loads(analysis),
        'violations': [
            {**asdict(v), 'unit': _unit(robot, v.joint, v.quantity)} for v in analysis.violations
        ],
        'files': [*paths, page],
    }
    units = {'duration': 's', 'actuators': effort, 'greatest_power': 'W'}
    _console.tell(args, text, data, units)
    return 0


def _unit(robot: Robot, name: str, quantity: str) -> str:
    kind = next(joint.kind for joint in robot.model.joints if joint.name == name)
    slides = kind == 'prismatic'
    return {
        'position': 'm' if slides else 'rad',
        'velocity': 'm/s' if slides else 'rad/s',
        'effort': 'N' if slides else 'N m',
    }[quantity]
