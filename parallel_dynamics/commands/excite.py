"""`parallel-dynamics excite`: a motion that shows the dynamic parameters of a robot."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from parallel_dynamics.commands import _console

if TYPE_CHECKING:
    from parallel_dynamics.robot import Robot
    from parallel_dynamics.trajectories import Trajectory

NAME = 'excite'
HELP = 'find a periodic motion for identification, within all limits, and write it as CSV'
EXAMPLES = (
    'parallel-dynamics excite delta --output exciting.csv',
    'parallel-dynamics excite delta --budget 5 --periods 2 --simulate run.mcap --json',
)
UNITS = {'condition': '', 'raw_condition': '', 'period': 's', 'duration': 's'}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument('robot', help='a shipped robot, or the path of a YAML file')
    parser.add_argument(
        '--output', type=Path, metavar='FILE', help='CSV file (default: ROBOT_exciting.csv)'
    )
    parser.add_argument('--period', type=float, metavar='S', help='default: found by trial')
    parser.add_argument('--periods', type=float, default=5.0, help='repetitions (%(default)s)')
    parser.add_argument('--harmonics', type=int, default=5, help='(default: %(default)s)')
    parser.add_argument('--budget', type=int, default=200, help='motions to try (%(default)s)')
    parser.add_argument('--seed', type=int, default=0, help='another gives another motion')
    parser.add_argument('--rate', type=float, default=250.0, metavar='HZ', help='of the file')
    parser.add_argument(
        '--margin', type=float, default=0.8, metavar='SHARE',
        help='share of the limits of position, velocity and effort (default: %(default)s)',
    )  # fmt: skip
    parser.add_argument('--max-velocity', type=float, default=float('inf'), metavar='M/S')
    parser.add_argument('--max-acceleration', type=float, default=float('inf'), metavar='M/S2')
    parser.add_argument(
        '--simulate', type=Path, metavar='FILE',
        help='also let the simulator follow it, with encoders and noise, and record to this MCAP',
    )  # fmt: skip
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Search a motion and write it."""
    from parallel_dynamics.identification.excitation import ExcitationLimits, optimise_excitation
    from parallel_dynamics.loading import load_robot
    from parallel_dynamics.resources import writing_to
    from parallel_dynamics.trajectories import write_motion

    robot = load_robot(args.robot)
    limits = ExcitationLimits(
        args.margin, velocity=args.max_velocity, acceleration=args.max_acceleration
    )
    path = args.output or Path(f'{robot.name}_exciting.csv')
    if args.simulate is not None:
        _check_new(args.simulate)
    with (
        writing_to(path.parent),
        _console.progress(total=args.budget, unit='motion') as bar,
    ):

        def progress(done: int, _: int, best: float) -> None:
            bar.update(done - bar.n)
            bar.set_postfix(condition=f'{best:.4g}')

        found = optimise_excitation(
            robot, period=args.period, harmonics=args.harmonics, periods=args.periods,
            limits=limits, budget=args.budget, seed=args.seed, progress=progress,
        )  # fmt: skip
    times = found.trajectory.grid(args.rate)
    write_motion(path, times, found.trajectory.sample(times))
    files = [path]
    if args.simulate is not None:
        _simulate(robot, found.trajectory, args.seed, args.simulate)
        files.append(args.simulate)
    text = (
        f'condition number {found.condition:.4g} of {len(found.relevant)} base parameters that '
        f'can be told apart ({found.raw_condition:.4g} without scaling); period '
        f'{found.period:g} s, {found.trajectory.duration:g} s in all'
    )
    data = {
        'robot': robot.name,
        'condition': found.condition,
        'raw_condition': found.raw_condition,
        'base_parameters': [found.base.labels[k] for k in found.relevant],
        'period': found.period,
        'duration': found.trajectory.duration,
        'motions_tried': len(found.history),
        'rows': len(times),
        'files': files,
    }
    _console.tell(args, '\n'.join([text, *map(str, files)]), data, UNITS)
    return 0


def _check_new(path: Path) -> None:
    """Refuse a recording that could not be written, before anything is worked out."""
    from parallel_dynamics.errors import InputError

    folder = path.parent
    if path.exists() or not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise InputError(
            f'{path}: cannot write a recording here. Give a file that does not exist, in a folder '
            'that can be written to'
        )


def _simulate(robot: Robot, trajectory: Trajectory, seed: int, path: Path) -> None:
    from parallel_dynamics.identification.rehearsal import record, rehearse
    from parallel_dynamics.recording import Recorder

    with (
        Recorder(path, robot) as recorder,
        _console.progress(unit='step', unit_scale=True, desc='simulator') as bar,
    ):

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        record(rehearse(robot, trajectory, seed=seed, progress=progress), recorder)
