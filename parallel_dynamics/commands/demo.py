"""`parallel-dynamics demo`: the closed loop of real nodes, with a table, plots and a recording."""

from __future__ import annotations

import argparse
import sys

from parallel_dynamics.commands import _console

NAME = 'demo'
HELP = 'run simulator, controller, estimator and trajectory source for some seconds, and report'
EXAMPLES = (
    'parallel-dynamics demo delta --trajectory circle --duration 4',
    'parallel-dynamics demo gough_stewart --mode pd_feedforward --clock lock_step --json',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument(
        'robot', nargs='?', default='gough_stewart',
        help='a shipped robot, or the path of a YAML file (default gough_stewart)',
    )  # fmt: skip
    parser.add_argument('--mode', default='computed_torque', help='control law')
    parser.add_argument('--trajectory', default='swing', metavar='KIND', help='what to follow')
    parser.add_argument('--duration', type=float, default=6.0, metavar='S', help='of the motion')
    parser.add_argument(
        '--rate', type=float, default=500.0, metavar='HZ', help='of states and commands'
    )
    parser.add_argument(
        '--clock', default='auto', choices=['auto', 'real_time', 'lock_step'],
        help='lock_step: simulated time waits for each command; auto: where the machine is busy',
    )  # fmt: skip
    parser.add_argument(
        '--output', default='output/demo', metavar='DIR', help='folder for the results'
    )
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the demo and print its table."""
    from pathlib import Path

    from parallel_dynamics.demo import DemoSettings, run_demo

    settings = DemoSettings(
        args.robot, args.mode, args.trajectory, args.duration, args.rate, args.clock,
        Path(args.output),
    )  # fmt: skip
    report, files = run_demo(settings, _say)
    rows = report.rows()
    width = max(len(what) for what, _ in rows)
    lines = ['', _console.styled(f'{report.robot.name}, {args.mode}', 'bold')]
    lines += [f'{what.ljust(width)}  {value}' for what, value in rows]
    kept_up = report.clock == 'lock_step' or report.loop_rate >= 0.9 * args.rate
    if not kept_up:
        lines.append(_console.styled(
            f'This machine did not keep up with {args.rate:g} Hz, which the tracking suffers '
            'from: try --rate 200, or --clock lock_step.', 'yellow',
        ))  # fmt: skip
    lines += ['', *map(str, files)]
    data = {
        'robot': report.robot.name,
        'mode': args.mode,
        'trajectory': args.trajectory,
        'clock': report.clock,
        'kept_up': kept_up,
        **report.numbers(),
        'files': files,
    }
    _console.tell(args, '\n'.join(lines), data, report.units())
    return 0


def _say(text: str) -> None:
    print(_console.styled(text, 'dim', sys.stderr), file=sys.stderr, flush=True)
