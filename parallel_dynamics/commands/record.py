"""`parallel-dynamics record`: write everything that a running loop says to an MCAP file."""

from __future__ import annotations

import argparse
from typing import Any

from parallel_dynamics.commands import _console

NAME = 'record'
HELP = 'record a running loop to an MCAP file until interrupted'
EXAMPLES = ('parallel-dynamics record delta --output run.mcap',)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument('robot', help='a shipped robot, or the path of a YAML file')
    parser.add_argument(
        '--output', metavar='FILE', help='file to write (default: robot, date and time, *.mcap)'
    )
    parser.add_argument('--namespace', default='', help='of the nodes to record')
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Record until interrupted, then say how much."""
    from pathlib import Path
    import sys
    import time

    from parallel_dynamics.errors import ParallelDynamicsError

    try:
        from parallel_dynamics.nodes import recorder
    except ImportError as error:
        raise ParallelDynamicsError(
            f'recording needs ROS 2, and {error.name} is not installed; source a ROS 2 or '
            "pip install 'parallel_dynamics[ros,record]'"
        ) from None
    default = f'{Path(args.robot).stem}_{time.strftime("%Y%m%d_%H%M%S")}.mcap'
    file = args.output or default
    words = ['--ros-args', '-p', f'robot:={args.robot}', '-p', f'file:={file}']
    if args.namespace:
        words += ['-r', f'__ns:=/{args.namespace.strip("/")}']
    print(f'recording to {file} (Ctrl-C ends it)', file=sys.stderr, flush=True)
    _console.keep_logs_away()

    def closed(node: Any) -> None:
        rows = [(topic, kind, number) for (topic, kind), number in sorted(node.counts.items())]
        text = f'{node.count} messages on {len(rows)} topics over {node.seconds:.1f} s in {file}'
        topics = [dict(zip(('topic', 'type', 'messages'), row)) for row in rows]
        data = {'robot': node.robot.name, 'file': file, 'messages': node.count,
                'duration': node.seconds, 'topics': topics}  # fmt: skip
        _console.tell(args, text, data, {'duration': 's'})

    return recorder.main(words, closed)
