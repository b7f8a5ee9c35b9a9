"""`parallel-dynamics view`: a page in the browser with the robot, its forces and its limits."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from parallel_dynamics.commands import _assignments, _motions

if TYPE_CHECKING:
    from parallel_dynamics.robot import Robot

NAME = 'view'
HELP = 'show a robot in the browser: drag it, load it, play motions and recordings'
EXAMPLES = (
    'parallel-dynamics view delta --motion circle --open',
    'parallel-dynamics view gough_stewart --pose z=0.9 --screenshot stewart.png',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument('robot', help='a shipped robot, or the path of a YAML file')
    parser.add_argument('--motion', metavar='FILE', help=f'play a motion: {_motions.HELP}')
    parser.add_argument(
        '--host', default='127.0.0.1', help='address to listen on (default: this machine only)'
    )
    parser.add_argument('--port', type=int, default=8080, help='default 8080; 0 for any free one')
    parser.add_argument('--open', action='store_true', help='open the page in the browser')
    parser.add_argument(
        '--screenshot', metavar='FILE',
        help='write a picture of the page (PNG, by a headless Chromium) and end',
    )  # fmt: skip
    parser.add_argument(
        '--size', default='1600x900', metavar='WxH', help='of the picture (default 1600x900)'
    )
    parser.add_argument(
        '--pose', action='append', default=[], metavar='NAME=VALUE',
        help='coordinate to start with: x, y, z (m) or roll, pitch, yaw (rad)',
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Serve the page until interrupted."""
    import threading
    import webbrowser

    from parallel_dynamics import viewer
    from parallel_dynamics.errors import InputError
    from parallel_dynamics.loading import load_robot
    from parallel_dynamics.viewer.server import require_viser

    width, height = _size(args.size)
    require_viser()
    robot = load_robot(args.robot)
    motions = _named_motions(robot, args.motion)
    pose = _assignments.numbers('pose', args.pose)
    server = viewer.start_server(robot.name, args.host, 0 if args.screenshot else args.port)
    stop = threading.Event()
    try:
        page = viewer.Page(server, robot, motions)
        unknown = set(pose) - set(page.posing.names)
        if unknown:
            raise InputError(
                f'pose: expected coordinates among {", ".join(page.posing.names)}, '
                f'got {", ".join(sorted(unknown))}'
            )
        if pose and not page.posing.ask(pose):
            raise InputError(f'pose: {page.posing.refusal}')
        page.refresh()
        if args.screenshot:
            return _photograph(page, server, args.screenshot, width, height)
        print(f'{robot.name}: {viewer.address(server)} (Ctrl-C ends it)', flush=True)
        if args.open:
            webbrowser.open(viewer.address(server))
        page.run(stop)
    finally:
        stop.set()
        viewer.stop_server(server)
    return 0


def _photograph(page: Any, server: Any, file: str, width: int, height: int) -> int:
    from pathlib import Path
    import threading

    from parallel_dynamics import viewer
    from parallel_dynamics.errors import InputError
    from parallel_dynamics.viewer.chromium import take_picture

    stop = threading.Event()
    ticking = threading.Thread(target=page.run, args=(stop,), daemon=True)
    ticking.start()
    try:
        picture = take_picture(viewer.address(server), width, height)
    finally:
        stop.set()
        ticking.join()
    try:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes(picture)
    except OSError as error:
        raise InputError(f'screenshot: cannot write {file} ({error.strerror})') from None
    print(file)
    return 0


def _named_motions(robot: Robot, source: str | None) -> dict[str, Any]:
    """Return the motions to choose from; one that was asked for is read now and comes first."""
    motions: dict[str, Any] = {}
    if source is not None:
        found = _motions.read(robot, source)
        motions[source] = lambda: found
    for name in _motions.ready_names():
        motions.setdefault(name, lambda name=name: _motions.read(robot, name))
    return motions


def _size(text: str) -> tuple[int, int]:
    from parallel_dynamics.errors import InputError

    try:
        width, height = (int(part) for part in text.split('x'))
        if not (100 <= width <= 10_000 and 100 <= height <= 10_000):
            raise ValueError
    except ValueError:
        raise InputError(f'size: expected WIDTHxHEIGHT in pixels, got {text!r}') from None
    return width, height
