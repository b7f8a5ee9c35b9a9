"""One run of the demo: start the nodes, wait, stop them, read the recording, draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
from dataclasses import dataclass, replace
import fcntl
import os
from pathlib import Path
import tempfile
import time
from typing import Any

from parallel_dynamics.control import LAWS
from parallel_dynamics.demo.evaluation import DemoReport, evaluate
from parallel_dynamics.demo.figures import figures
from parallel_dynamics.demo.processes import Processes
from parallel_dynamics.demo.warming import warm_up
from parallel_dynamics.errors import InputError
from parallel_dynamics.loading import load_robot
from parallel_dynamics.nodes.topics import (
    COMMANDS_BEGIN,
    MOTION_OVER,
    READY,
    recording_begins,
    topic_names,
)
from parallel_dynamics.plots import save
from parallel_dynamics.recording import Recording
from parallel_dynamics.resources import robot_files, writing_to
from parallel_dynamics.robot import Robot
from parallel_dynamics.trajectories import KINDS

RECORDING = 'recording.mcap'
FATAL = {
    'simulator': ('[ERROR]',),
    'controller': ('[ERROR]', 'desired_trajectory:'),
    'trajectory_source': ('[ERROR]',),
}
"""After these the motion does not come to its end: a stop, or a trajectory that was refused."""
REST = 1.2
"""Seconds of rest behind the motion; the estimator tells its peaks once a second."""
STARTING = 300.0
"""Seconds that a node may take to start: on a slow machine it may have to compile."""
MOVING = 60.0
"""Seconds that the motion may take on top of ten times its duration."""
MOTIONS = tuple(kind for kind in KINDS if kind not in ('paper', 'file', 'hold'))
MOST_BUSY = 0.35
"""Share of the processors that others may use beside a demo in real time."""
CLOCKS = ('auto', 'real_time', 'lock_step')
ESTIMATES = {
    f'platform/{part}': f'platform_estimate/{part}' for part in ('pose', 'twist', 'accel')
}
"""The simulator publishes platform/*: what the estimator finds stands beside it."""


@dataclass(frozen=True)
class DemoSettings:
    """What to show.

    Attributes
    ----------
    robot : str
        A shipped robot, or the path of a YAML file.
    mode : str
        Control law.
    trajectory : str
        One of ``MOTIONS``.
    duration : float
        Of the motion, s.
    rate : float
        Of states and commands, Hz.
    clock : str
        'real_time': the robot waits for nobody. 'lock_step': simulated time waits for each
        command, so that the result does not depend on how busy the machine is. 'auto': real
        time unless the machine is busy with something else.
    output : path
        Folder in which one for the robot is made.
    """

    robot: str = 'gough_stewart'
    mode: str = 'computed_torque'
    trajectory: str = 'swing'
    duration: float = 6.0
    rate: float = 500.0
    clock: str = 'auto'
    output: Path = Path('output') / 'demo'

    def check(self) -> None:
        """Refuse what cannot be shown."""
        for name, choices in (('mode', LAWS), ('trajectory', MOTIONS), ('clock', CLOCKS)):
            value = getattr(self, name)
            if value not in choices:
                raise InputError(f'{name}: expected one of {", ".join(choices)}, got {value!r}')
        for name, least, most in (('duration', 0.5, 600.0), ('rate', 10.0, 2000.0)):
            value = getattr(self, name)
            if not least <= value <= most:
                raise InputError(f'{name}: expected {least:g} to {most:g}, got {value!r}')


def run_demo(
    settings: DemoSettings, say: Callable[[str], None] = lambda text: None
) -> tuple[DemoReport, list[Path]]:
    """Run the closed loop and return its report and the files it left.

    Parameters
    ----------
    settings : DemoSettings
    say : function, optional
        Called with a line of text whenever something begins.
    """
    settings.check()
    if settings.clock == 'auto':
        settings = replace(settings, clock=_fitting_clock(say))
    robot = load_robot(settings.robot)
    folder = settings.output / robot.name
    with _alone():
        recording = folder / RECORDING
        with writing_to(folder):
            recording.unlink(missing_ok=True)
        warm_up(robot, settings.mode, say)
        _play(settings, robot, folder, recording, say)
    say('Reading the recording.')
    report = evaluate(Recording(recording), robot, settings.clock)
    written = [recording]
    for name, figure in figures(report).items():
        written += save(figure, folder, name, ('png',))
    return report, written


def _fitting_clock(say: Callable[[str], None]) -> str:
    """Return 'lock_step' where others leave no processor for a loop in real time."""
    cores = len(os.sched_getaffinity(0))
    busy = _busy_share()
    if busy <= MOST_BUSY:
        return 'real_time'
    say(
        f'The machine is busy ({100.0 * busy:.0f} % of {cores} cores): simulated time waits for '
        'the commands; --clock real_time does not.'
    )
    return 'lock_step'


def _busy_share() -> float:
    """Return the share of the processors that is in use, over half a second."""

    def times() -> tuple[int, int]:
        fields = [int(f) for f in Path('/proc/stat').read_text().split('\n')[0].split()[1:9]]
        return fields[3] + fields[4], sum(fields)

    try:
        idle, total = times()
        time.sleep(0.5)
        idle_then, total_then = times()
    except (OSError, ValueError, IndexError):  # not Linux: the load has to do
        return min(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    return 1.0 - (idle_then - idle) / max(1, total_then - total)


def _recorded(robot: Robot) -> list[str]:
    """Topics that the evaluation reads; a motion begins when they are being recorded."""
    forces = topic_names((*robot.joints, *robot.closures))
    return [
        'joint_states', 'platform/pose', 'effort_commands', 'feedforward', 'joint_forces/peaks',
        *(f'joint_forces/{name}' for name in forces),
    ]  # fmt: skip


def _play(
    settings: DemoSettings,
    robot: Robot,
    folder: Path,
    recording: Path,
    say: Callable[[str], None],
) -> None:
    source = settings.robot
    if source not in robot_files():
        source = str(Path(source).expanduser().resolve())
    stepping = settings.clock == 'lock_step'
    every = {'robot': source, 'use_sim_time': stepping}
    nodes: dict[str, dict[str, Any]] = {
        'recorder': {'file': recording.resolve(), 'rest': REST},
        'simulator': {
            'publish_rate': settings.rate, 'mode': settings.clock, 'publish_clock': stepping,
        },
        'joint_force_estimator': {'rate': 50.0, 'marker_rate': 0.0, 'path_rate': 0.0},
        'controller': {
            'rate': settings.rate, 'mode': settings.mode, 'autostart': True,
            'trigger': 'joint_states',
        },
    }  # fmt: skip
    with Processes(folder / 'log') as processes:
        say(f'Starting {", ".join(nodes)}.')
        for node, parameters in nodes.items():
            remaps = ESTIMATES if node == 'joint_force_estimator' else {}
            processes.start(node, {**every, **parameters}, remaps)
        for node in nodes:
            processes.wait_for(node, READY, STARTING)
        processes.wait_for('controller', COMMANDS_BEGIN, STARTING)
        for topic in _recorded(robot):
            processes.wait_for('recorder', recording_begins(f'/{topic}'), STARTING)
        say(f'Running: {settings.trajectory} of {settings.duration:g} s, {settings.mode}.')
        trajectory = {'kind': settings.trajectory, 'duration': settings.duration}
        processes.start('trajectory_source', {**every, **trajectory}, {})
        processes.wait_for('trajectory_source', READY, STARTING)
        longest = MOVING + 10.0 * settings.duration
        processes.wait_for('recorder', MOTION_OVER, longest, 'controller', FATAL)
        for node in ('trajectory_source', 'controller', 'joint_force_estimator', 'simulator'):
            processes.stop(node)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """See that no other demo talks on the same ROS domain of this machine."""
    domain = os.environ.get('ROS_DOMAIN_ID', '0') or '0'
    path = Path(tempfile.gettempdir()) / f'parallel_dynamics_demo_{os.getuid()}_{domain}'
    with open(path, 'w', encoding='utf-8') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f'demo: another one runs on ROS domain {domain}; wait for its end, or set '
                'ROS_DOMAIN_ID to another number'
            ) from None
        yield
