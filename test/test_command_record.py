"""`parallel-dynamics record` beside a running simulator, and `replay` of what it wrote."""

from __future__ import annotations

from collections import Counter
import errno
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import rclpy
from robots import load
import ros_process
from rosbags.highlevel import AnyReader
from sensor_msgs.msg import JointState

from parallel_dynamics.nodes.recorder import RecorderNode
from parallel_dynamics.nodes.runtime import ERROR, _end
from parallel_dynamics.recording import Recording
from parallel_dynamics.recording.messages import MULTI_ARRAY, serialise

pytestmark = pytest.mark.ros

TOOL = [sys.executable, '-m', 'parallel_dynamics.commands.main']
RATE = 100.0
SPACE = 'recorded'
KINDS = {
    'joint_states': 'sensor_msgs/msg/JointState',
    'platform/pose': 'geometry_msgs/msg/PoseStamped',
    'platform/twist': 'geometry_msgs/msg/TwistStamped',
    'platform/accel': 'geometry_msgs/msg/AccelStamped',
}


def spoken(process):
    """Return the JSON document that a process printed among its log lines."""
    text = process.output
    return json.loads(text[text.index('\n{\n') :])


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """A file recorded until SIGINT, what `record` said about it, and what a peer heard."""
    file = tmp_path_factory.mktemp('recorded') / 'run.mcap'
    words = [*TOOL, 'record', 'delta', '--namespace', SPACE, '--output', file, '--json']
    with (
        ros_process.start('simulator', namespace=SPACE, robot='delta', publish_rate=RATE),
        ros_process.RosProcess(words) as recorder,
        ros_process.Peer(namespace=SPACE) as peer,
    ):
        for topic in KINDS:
            recorder.wait_for_line(f'recording /{SPACE}/{topic}')
        heard = peer.listen(JointState, 'joint_states')
        peer.wait_for(lambda: len(heard) >= 3 * RATE, 'three seconds of joint states')
        code, _ = recorder.stop(signal.SIGINT)
        recorder.wait()
        assert code == 0, recorder.output
        said = spoken(recorder)
    return file, said, list(heard)


def test_the_outside_reader_finds_types_and_counts(recorded):
    file, said, heard = recorded
    assert Recording(file).complete
    with AnyReader([file]) as reader:
        found = {name: (t.msgtype, t.msgcount) for name, t in reader.topics.items()}
        stamps = set()
        for connection, _, data in reader.messages():
            if connection.topic == f'/{SPACE}/joint_states':
                message = reader.deserialize(data, connection.msgtype)
                assert set(message.name).issuperset(load('delta').joints)
                stamps.add((message.header.stamp.sec, message.header.stamp.nanosec))
    assert {name: found[f'/{SPACE}/{name}'][0] for name in KINDS} == KINDS
    # All that the peer heard in between is there: nothing was lost.
    known = [(m.header.stamp.sec, m.header.stamp.nanosec) for m in heard[: int(2 * RATE)]]
    assert stamps.issuperset(known)
    # What was said at the end is what is in the file; the description is the recorder's own.
    assert {t['topic']: (t['type'], t['messages']) for t in said['topics']} == {
        name: value for name, value in found.items() if name != 'robot_description'
    }
    assert said['messages'] == sum(t['messages'] for t in said['topics'])
    assert said['robot'] == 'delta' and said['file'] == str(file)
    assert said['duration'] == pytest.approx(Recording(file).duration, abs=0.5)


def test_a_full_disk_ends_in_a_sentence_and_a_whole_file(tmp_path, monkeypatch):
    """What comes then is not taken, and the process ends in good order, with an error code."""
    file, real, told = tmp_path / 'run.mcap', os.pwrite, []
    rclpy.init(args=['--ros-args', '-p', 'robot:=delta', '-p', f'file:={file}'])
    node = RecorderNode()
    room = file.stat().st_size

    def pwrite(descriptor, data, offset):
        if offset >= room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, data[: room - offset], offset)

    monkeypatch.setattr(os, 'pwrite', pwrite)
    data = serialise(MULTI_ARRAY, {'data': np.random.default_rng(0).normal(size=600_000)})
    for k in range(3):
        node._write('/numbers', MULTI_ARRAY, data, k, 0)
    (status,) = node.diagnose()
    assert status.level == ERROR and 'No space left' in status.message
    assert node.count == 0
    assert not _end(node, None, told.append)
    assert not told
    with AnyReader([file]) as reader:
        assert not reader.message_count


@pytest.mark.parametrize('kind', ['Numbers', 'nobodys_msgs/msg/Thing', 'std_msgs/msg/Thing'])
def test_topics_of_unknown_types_are_left_out(tmp_path, monkeypatch, kind):
    """Those of other programs on the same network, for one."""
    file = tmp_path / 'run.mcap'
    rclpy.init(args=['--ros-args', '-p', 'robot:=delta', '-p', f'file:={file}'])
    node = RecorderNode()
    monkeypatch.setattr(node, 'get_topic_names_and_types', lambda: [('/numbers', [kind])])
    monkeypatch.setattr(node, 'count_publishers', lambda _: 1)
    node._look()
    assert '/numbers' in node._known
    assert '/numbers' not in {s.topic_name for s in node.subscriptions}
    assert _end(node, None, None)


def test_what_was_recorded_is_played_to_a_peer(recorded):
    file, _, _ = recorded
    states = Recording(file).joint_states(f'/{SPACE}/joint_states')
    words = [*TOOL, 'replay', file, '--speed', '2', '--json']
    with ros_process.Peer() as peer:
        heard = peer.listen(JointState, 'joint_states')
        with ros_process.RosProcess(words) as replay:
            assert replay.wait() == 0, replay.output
            said = spoken(replay)
        # It begins when somebody listens, so that all of it is heard.
        peer.wait_for(lambda: len(heard) == len(states.time), 'the whole recording', 10.0)
    assert [tuple(m.name) for m in heard] == [states.names] * len(states.time)
    stamps = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in heard]
    np.testing.assert_allclose(stamps, states.time, rtol=0.0, atol=1e-6)
    np.testing.assert_array_equal([m.position for m in heard], states.position)
    played = Counter({name.removeprefix(f'/{SPACE}/'): topic.count
                      for name, topic in Recording(file).topics.items()})  # fmt: skip
    assert said['topics']['joint_states'] == len(states.time)
    assert said['topics'] == {name: played[name] for name in said['topics']}
    assert set(KINDS) <= set(said['topics']) and said['rounds'] == 1
    assert said['messages'] == sum(said['topics'].values())


def test_the_document_is_all_there_is_on_the_standard_output(recorded):
    """Logs go elsewhere, even where the user has sent them to the standard output."""
    file, _, _ = recorded
    words = [*TOOL, 'replay', str(file), '--speed', '20', '--json']
    with ros_process.Peer() as peer:
        heard = peer.listen(JointState, 'joint_states')
        environment = {**os.environ, 'RCUTILS_LOGGING_USE_STDOUT': '1'}
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=120, cwd=ros_process.REPOSITORY,
            env=environment,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)['messages'] > len(heard) > 0
    assert 'the recording is at its end' in done.stderr
