"""The demo: numbers that hold, plots, a recording, nothing left behind, nothing sent outside."""

from __future__ import annotations

import ast
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import robots
import ros_process

import parallel_dynamics as pd
from parallel_dynamics.commands import main as tool
from parallel_dynamics.demo import evaluate
from parallel_dynamics.demo.processes import loopback_only
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.nodes.topics import topic_names
from parallel_dynamics.recording import Recording

pytestmark = pytest.mark.ros

DEMO = [sys.executable, '-m', 'parallel_dynamics.commands.main', 'demo']
SHORT = ('--clock', 'lock_step', '--duration', '1.5', '--rate', '250')

# A network of its own, whose only way out is a cable that nobody holds the other end of.
ISOLATED = """
set -e
ip link set lo up
ip link add way_out type veth peer name far_end
sysctl -qw net.ipv6.conf.all.disable_ipv6=1
ip link set far_end up
ip addr add 10.9.8.7/24 dev way_out
ip link set way_out up
ip route add default dev way_out
"""
COUNT = "awk '/way_out:/ {print $11}' /proc/net/dev"
BEFORE = f'before=$({COUNT})'
AFTER = f'echo packets $(( $({COUNT}) - before ))'


def isolated(script):
    """Return the words that run a script in a network of its own; None where that is forbidden."""
    unshare = shutil.which('unshare')
    if unshare is None or shutil.which('ip') is None:
        return None
    words = [unshare, '-rn', 'sh', '-c']
    allowed = subprocess.run([*words, ISOLATED], capture_output=True).returncode == 0
    return [*words, ISOLATED + script] if allowed else None


@pytest.mark.slow
@pytest.mark.parametrize('label', ['gough_stewart', 'irregular_delta'])
def test_demo_of_a_shipped_robot_and_of_a_users_file(label, tmp_path):
    source = label if label in robots.SHIPPED else str(robots.path_of(label))
    robot = robots.load(label)
    words = [*DEMO, source, *SHORT, '--output', tmp_path]
    alone = isolated('\n'.join([BEFORE, ' '.join(map(str, words)), AFTER]))
    with ros_process.RosProcess(alone or words) as process:
        code = process.wait(300.0)
    assert code == 0, process.output
    if alone:  # no message leaves the machine; test_packets_that_leave_would_be_seen says if not
        assert 'packets 0' in process.lines, process.output
    for row in ('tracking error', 'effort', 'peak joint force', 'control loop', 'jitter',
                'joint state to effort'):  # fmt: skip
        assert row in process.output
    folder = tmp_path / robot.name
    for name in ('tracking.png', 'efforts.png', 'joint_forces.png', 'recording.mcap'):
        assert str(folder / name) in process.output
        assert (folder / name).stat().st_size > 10_000

    recording = Recording(folder / 'recording.mcap')
    assert recording.complete
    report = evaluate(recording, robot, 'lock_step')
    way, turn = report.amplitude
    assert np.sqrt((report.position_error**2).mean()) < 0.01 * way
    assert np.sqrt((report.rotation_error**2).mean()) < 0.01 * max(turn, 1e-6)
    size = np.sqrt((report.commanded**2).mean())
    assert np.sqrt(((report.commanded - report.feedforward) ** 2).mean()) < 0.1 * size
    assert report.loop_rate > 0.0 and report.latency.worst >= report.latency.median > 0.0
    recorded = np.linalg.norm(np.nan_to_num(report.forces[..., :3]), axis=2).max(axis=0)
    assert (report.peak_force >= recorded - 1e-9).all()
    check_forces_against_the_simulator(recording, robot, report)


def check_forces_against_the_simulator(recording, robot, report):
    """What the estimator found from the drives against the state that the simulator was in.

    Topics begin to be recorded one after the other: samples belong together by their stamps.
    """
    poses, turns = (by_stamp(recording.poses('platform/pose'), part) for part in (1, 2))
    twists = by_stamp(recording.twists('platform/twist'))
    rates = by_stamp(recording.accelerations('platform/accel'))
    every = (*robot.joints, *robot.closures)
    tables = [by_stamp(recording.wrenches(f'joint_forces/{t}')) for t in topic_names(every)]
    estimated = set.intersection(*map(set, tables))
    complete = estimated.intersection(poses, turns, twists, rates)
    # Every estimate of the motion, and all that it is compared with, was recorded.
    first, last = (report.origin + report.time[k] for k in (0, -1))
    moving = [ns for ns in set().union(*tables) if first < 1e-9 * ns < last]
    assert len(moving) > 20 and complete.issuperset(moving)
    error, size = [], 0.0
    for ns in moving:
        m = PlatformMotion(
            poses[ns], turns[ns], *np.split(twists[ns], 2), *np.split(rates[ns], 2)
        )
        wanted = robot.joint_forces(robot.project(m) if robot.dof < 6 else m)
        got = np.array([table[ns] for table in tables])
        fixed = np.asarray(wanted.determinate_array)
        error.append(np.abs(got - wanted.array)[fixed].max())
        size = max(size, np.abs(wanted.array[fixed]).max())
    assert np.median(error) < 0.02 * size


def by_stamp(columns, part=1):
    """A column of a recorded topic by time, ns."""
    return {round(1e9 * t): value for t, value in zip(columns[0], columns[part])}


@pytest.mark.slow
@pytest.mark.parametrize(
    ('number', 'when'), [(signal.SIGINT, 'Running'), (signal.SIGKILL, 'Starting')]
)
def test_no_process_is_left_behind(number, when, tmp_path):
    words = [*DEMO, 'delta', '--duration', '60', '--clock', 'lock_step', '--output', tmp_path]
    with ros_process.RosProcess(words) as demo:
        demo.wait_for_line(when, timeout=300.0)
        logs = tmp_path / 'delta' / 'log'
        wait_until(lambda: len(list(logs.glob('*.log'))) >= 4)
        family = descendants(demo.process.pid)
        assert len(family) >= 4
        demo.process.send_signal(number)
        demo.process.wait(20.0)
        wait_until(lambda: not running(family))
        if number == signal.SIGINT:
            assert demo.process.returncode == 130
            assert 'Traceback' not in demo.output


def wait_until(condition, timeout=30.0):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def descendants(pid):
    """Return the ids of all processes that a process has started, and theirs."""
    found = []
    for task in Path(f'/proc/{pid}/task').glob('*/children'):
        for child in map(int, task.read_text().split()):
            found += [child, *descendants(child)]
    return found


def running(pids):
    """Return those that still run; one that only waits for its parent to notice does not."""
    found = []
    for pid in pids:
        try:
            state = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
        except OSError:
            continue
        if state != 'Z':
            found.append(pid)
    return found


def test_packets_that_leave_would_be_seen():
    """Without the demo's setting a node does send, and the count above notices."""
    node = 'import rclpy; rclpy.init(); rclpy.create_node("loud"); rclpy.shutdown()'
    words = isolated(f"""{BEFORE}
        unset FASTRTPS_DEFAULT_PROFILES_FILE FASTDDS_DEFAULT_PROFILES_FILE
        export ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET
        {sys.executable} -c '{node}'
        {AFTER}""")
    if words is None:
        pytest.skip('a network of its own is not to be had here (unshare, ip)')
    with ros_process.RosProcess(words) as process:
        assert process.wait(60.0) == 0, process.output
    assert 'packets 0' not in process.lines and 'packets' in process.output


def test_settings_of_other_machines_are_not_passed_on():
    found = loopback_only({'ROS_STATIC_PEERS': '10.0.0.1', 'ROS_DISCOVERY_SERVER': 'x', 'A': 'b',
                           'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'})  # fmt: skip
    assert found['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
    assert found['A'] == 'b'
    assert not {'ROS_STATIC_PEERS', 'ROS_DISCOVERY_SERVER'} & set(found)


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        (['delta', '--mode', 'magic'], 'mode: expected one of'),
        (['delta', '--trajectory', 'hold'], 'trajectory: expected one of'),
        (['delta', '--rate', '0'], 'rate: expected'),
        (['no_such_robot'], 'no_such_robot'),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(words, sentence, capsys):
    assert tool.main(['demo', *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_node_that_fails_is_named_with_its_log(tmp_path):
    from parallel_dynamics.demo.processes import NodeFailedError, Processes
    from parallel_dynamics.nodes.topics import READY

    with Processes(tmp_path) as processes:
        processes.start('simulator', {'robot': 'delta', 'step': -1.0}, {})
        with pytest.raises(NodeFailedError, match='simulator ended by itself') as failure:
            processes.wait_for('simulator', READY, 60.0)
    assert 'step' in str(failure.value)
    assert issubclass(NodeFailedError, pd.ParallelDynamicsError)


def test_what_nodes_say_and_a_demo_waits_for_stands_in_one_place(repository):
    from parallel_dynamics.nodes import topics

    texts = {topics.READY, topics.COMMANDS_BEGIN, topics.MOTION_OVER}
    for path in (repository / 'parallel_dynamics').rglob('*.py'):
        found = {node.value for node in ast.walk(ast.parse(path.read_text('utf-8')))
                 if isinstance(node, ast.Constant) and isinstance(node.value, str)}  # fmt: skip
        assert not texts & found or path.name == 'topics.py', path


def test_two_demos_on_one_domain_are_refused():
    from parallel_dynamics.demo import session

    with session._alone():
        with pytest.raises(pd.InputError, match=f'domain {os.environ["ROS_DOMAIN_ID"]}'):
            with session._alone():
                pass
