"""`parallel-dynamics map`: where a robot can go and how well it works there."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from parallel_dynamics.commands import _assignments, _console

if TYPE_CHECKING:
    from parallel_dynamics.maps import PerformanceMap
    from parallel_dynamics.robot import Robot
    from parallel_dynamics.spatial import Array

NAME = 'map'
HELP = 'map workspace, singularities, efforts and forces over a slice or a volume'
EXAMPLES = (
    'parallel-dynamics map delta --axis x --axis y --at z=-0.7 --output map',
    'parallel-dynamics map gough_stewart --axis x=-0.2:0.2:50 --axis yaw=-0.5:0.5:50 --json',
)
UNITS = {
    'reachable': '', 'seconds': 's', 'acceleration': 'm/s^2', 'angular_acceleration': 'rad/s^2',
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument('robot', help='a shipped robot, or the path of a YAML file')
    parser.add_argument(
        '--axis', action='append', default=[], metavar='NAME[=FROM:TO[:POINTS]]',
        help='free coordinate that varies: x, y, z (m, base frame) or roll, pitch, yaw (rad); '
        'give it once, twice (slice) or three times (volume)',
    )  # fmt: skip
    parser.add_argument(
        '--at', action='append', default=[], metavar='NAME=VALUE',
        help='value of another coordinate; home unless given',
    )  # fmt: skip
    parser.add_argument(
        '--acceleration', type=float, default=5.0, metavar='A',
        help='m/s^2 that efforts are asked for (default 5)',
    )  # fmt: skip
    parser.add_argument(
        '--angular-acceleration', type=float, default=0.0, metavar='A', help='rad/s^2, likewise'
    )
    parser.add_argument('--payload', type=float, default=0.0, metavar='KG', help='on the platform')
    parser.add_argument(
        '--joint-forces', action='store_true', help='the largest joint force too (slower)'
    )
    parser.add_argument('--output', default='map', metavar='DIR', help='folder to write to')
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write picture and data."""
    from pathlib import Path
    import time

    from parallel_dynamics import plots
    from parallel_dynamics.loading import load_robot
    from parallel_dynamics.maps import performance_map
    from parallel_dynamics.resources import writing_to

    robot = load_robot(args.robot)
    if args.payload:
        robot = robot.with_payload(args.payload)
    axes = _axes(robot, args.axis)
    centre = _assignments.numbers('at', args.at)
    count = 1
    for values in axes.values():
        count *= len(values)
    started = time.monotonic()
    folder = Path(args.output)
    with (
        writing_to(folder),
        _console.progress(total=count, unit='pose', unit_scale=True) as bar,
    ):
        found = performance_map(
            robot, axes, centre, args.acceleration, args.angular_acceleration,
            joint_forces=args.joint_forces, progress=bar.update,
        )  # fmt: skip
    seconds = time.monotonic() - started
    stem = f'{robot.name}_{"".join(axes)}' if max(map(len, axes)) == 1 else (
        f'{robot.name}_{"_".join(axes)}'
    )  # fmt: skip
    paths = plots.save(plots.map_figure(found), folder, stem)
    paths.append(found.save(folder / f'{stem}.npz'))
    text = f'{count} poses in {seconds:.1f} s, {100 * found.share:.1f} % reachable'
    data = {**_data(found), 'seconds': seconds, 'files': paths}
    _console.tell(args, '\n'.join([text, *map(str, paths)]), data, UNITS)
    return 0


def _data(found: PerformanceMap) -> dict[str, Any]:
    """Return grid, share and the range of every quantity over the poses that can be reached."""
    from parallel_dynamics.maps.grid import UNITS as COORDINATES

    return {
        'robot': found.robot,
        'axes': {
            name: {'from': v[0], 'to': v[-1], 'points': len(v), 'unit': COORDINATES[name]}
            for name, v in found.axes.items()
        },
        'at': {
            name: {'value': value, 'unit': COORDINATES[name]}
            for name, value in found.centre.items() if name not in found.axes
        },
        'settings': found.settings,
        'poses': found['reachable'].size,
        'reachable': found.share,
        'ranges': {
            name: {'least': least, 'greatest': greatest, 'unit': found.unit(name)}
            for name, (least, greatest) in found.ranges().items()
        },
    }  # fmt: skip


def _axes(robot: Robot, words: list[str]) -> dict[str, Array]:
    """Return the axes that were asked for; by default two free ones, as far as the robot goes."""
    import numpy as np

    from parallel_dynamics.errors import InputError
    from parallel_dynamics.maps import free_coordinates, reach

    if not words:
        free = free_coordinates(robot)
        words = free[:2]
    if len(words) > 3:
        raise InputError(f'axis: expected at most three, got {len(words)}')
    points = {1: 400, 2: 120, 3: 48}[len(words)]
    axes = {}
    for word in words:
        name, _, rest = word.partition('=')
        if name in axes:
            raise InputError(f'axis: expected each coordinate once, got {name} again')
        if not rest:
            low, high = reach(robot, name)
            axes[name] = np.linspace(low, high, points)
            continue
        parts = rest.split(':')
        try:
            if len(parts) not in (2, 3):
                raise ValueError
            low, high = float(parts[0]), float(parts[1])
            count = int(parts[2]) if len(parts) == 3 else points
            if not (low < high and 2 <= count <= 10_000):
                raise ValueError
        except ValueError:
            raise InputError(
                f'axis: expected NAME=FROM:TO or NAME=FROM:TO:POINTS with FROM below TO and 2 to '
                f'10000 points, got {word!r}'
            ) from None
        axes[name] = np.linspace(low, high, count)
    return axes
