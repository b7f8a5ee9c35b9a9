"""`parallel-dynamics replay`: play a recording into ROS 2, for viewer, estimator and RViz."""

from __future__ import annotations

import argparse
from typing import Any

from parallel_dynamics.commands import _console

NAME = 'replay'
HELP = 'play a recording into ROS 2 topics, for the viewer, the estimator and RViz'
EXAMPLES = ('parallel-dynamics replay run.mcap --speed 0.5 --loop',)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument('recording', help='an MCAP file, or the folder of a rosbag2 bag')
    parser.add_argument('--robot', help='name or YAML file, where the recording does not say it')
    parser.add_argument('--speed', type=float, default=1.0, help='speed factor (default 1)')
    parser.add_argument('--loop', action='store_true', help='start again at the end')
    parser.add_argument('--clock', action='store_true', help='publish /clock too')
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Play until the end, then say how much."""
    from parallel_dynamics.errors import InputError, ParallelDynamicsError
    from parallel_dynamics.recording import Recording

    robot = args.robot or Recording(args.recording).metadata.get('robot')
    if robot is None:
        raise InputError(
            f'{args.recording}: does not say which robot it is of; give its name with --robot'
        )
    try:
        from parallel_dynamics.nodes import replay
    except ImportError as error:
        raise ParallelDynamicsError(
            f'replaying needs ROS 2, and {error.name} is not installed; source a ROS 2 or '
            "pip install 'parallel_dynamics[ros]'"
        ) from None
    parameters = {'robot': robot, 'file': args.recording, 'speed': float(args.speed),
                  'loop': str(args.loop).lower(),
                  'publish_clock': str(args.clock).lower()}  # fmt: skip
    words = ['--ros-args']
    for name, value in parameters.items():
        words += ['-p', f'{name}:={value}']
    _console.keep_logs_away()

    def closed(node: Any) -> None:
        text = f'{node.played.total()} messages on {len(node.played)} topics played'
        data = {'robot': node.robot.name, 'recording': args.recording, 'speed': args.speed,
                'rounds': node.rounds, 'messages': node.played.total(),
                'topics': dict(sorted(node.played.items()))}  # fmt: skip
        _console.tell(args, text, data, {'speed': ''})

    return replay.main(words, closed)
