"""`parallel-dynamics export`: a recording as CSV files, or what is left of one as a whole file."""

from __future__ import annotations

import argparse

from parallel_dynamics.commands import _console

NAME = 'export'
HELP = 'write the topics of a recording as CSV, or save what is left of a broken one'
EXAMPLES = (
    'parallel-dynamics export run.mcap --topic joint_states --output csv',
    'parallel-dynamics export run.mcap --recover whole.mcap',
)
UNITS = {'duration': 's'}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument('recording', help='an MCAP file, or the folder of a rosbag2 bag')
    parser.add_argument('--output', default='export', metavar='DIR', help='folder for CSV files')
    parser.add_argument(
        '--topic', action='append', metavar='NAME', help='only this topic; may be given again'
    )
    parser.add_argument(
        '--recover', metavar='FILE',
        help='write no CSV, but every message that can be read into this new MCAP file',
    )  # fmt: skip
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the files."""
    from dataclasses import asdict

    from parallel_dynamics.errors import InputError
    from parallel_dynamics.recording import Recording, recover
    from parallel_dynamics.recording.csv_export import export_topics

    if args.recover:
        saved = recover(args.recording, args.recover)
        text = f'{saved.messages} messages over {saved.duration:.3g} s saved to {args.recover}'
        _console.tell(args, text, {**asdict(saved), 'file': args.recover}, UNITS)
        return 0
    recording = Recording(args.recording)
    try:
        paths = export_topics(recording, args.output, args.topic)
    except OSError as error:
        raise InputError(f'output: cannot write to {args.output} ({error.strerror})') from None
    rows = [(name, topic.kind, str(topic.count)) for name, topic in recording.topics.items()]
    lines = [
        _console.table(('topic', 'type', 'messages'), rows),
        f'{recording.duration:.3f} s; {len(paths)} files in {args.output}',
    ]
    if not recording.complete:
        lines.append(
            'The file is cut off; it was read as far as it goes. --recover makes a whole one.'
        )
    data = {
        'recording': args.recording,
        'complete': recording.complete,
        'duration': recording.duration,
        'topics': [{'topic': n, 'type': kind, 'messages': int(m)} for n, kind, m in rows],
        'files': [
            {'topic': topic, 'file': path, 'rows': recording.topics[topic].count}
            for topic, path in paths.items()
        ],
    }
    _console.tell(args, '\n'.join(lines), data, UNITS)
    return 0
