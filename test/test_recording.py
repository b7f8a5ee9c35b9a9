"""Recordings: others see types, times and counts; a killed program leaves a whole file."""

from __future__ import annotations

import csv
import errno
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from mcap.reader import make_reader
import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd
from parallel_dynamics.recording import Recorder, Recording, export_csv, recover
from parallel_dynamics.recording import messages as ros_messages
from parallel_dynamics.recording.mcap_file import McapFile

NAMES = ['a', 'b', 'c']
MOTION = pd.PlatformMotion(
    [0.1, -0.2, 0.8],
    Rotation.from_rotvec([0.1, 0.2, -0.3]).as_matrix(),
    [1.0, 2.0, 3.0],
    [4.0, 5.0, 6.0],
    [7.0, 8.0, 9.0],
    [10.0, 11.0, 12.0],
)


def record(path, count=50, close=True):
    """Record ``count`` instants, 10 ms apart, of everything a robot says."""
    recorder = Recorder(path, metadata={'purpose': 'test'})
    for k in range(count):
        t = 0.01 * k
        recorder.joint_states(t, NAMES, [t, 2 * t, 3 * t], effort=[k, -k, 0.5])
        recorder.efforts(t, [k, k + 1])
        recorder.platform(t, MOTION)
        recorder.wrench(t, np.arange(6) + t, frame='platform')
    if close:
        recorder.close()
    return recorder


def test_the_outside_reader_sees_types_times_and_counts(tmp_path):
    record(tmp_path / 'run.mcap', 50)
    with AnyReader([tmp_path / 'run.mcap']) as reader:
        seen = {name: (topic.msgtype, topic.msgcount) for name, topic in reader.topics.items()}
        assert seen == {
            'effort_commands': ('std_msgs/msg/Float64MultiArray', 50),
            'external_wrench': ('geometry_msgs/msg/WrenchStamped', 50),
            'joint_states': ('sensor_msgs/msg/JointState', 50),
            'platform/accel': ('geometry_msgs/msg/AccelStamped', 50),
            'platform/pose': ('geometry_msgs/msg/PoseStamped', 50),
            'platform/twist': ('geometry_msgs/msg/TwistStamped', 50),
        }
        times = {}
        for connection, time_ns, data in reader.messages():
            times.setdefault(connection.topic, []).append(time_ns)
            message = reader.deserialize(data, connection.msgtype)
            if hasattr(message, 'header'):
                assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == time_ns
            if connection.topic == 'external_wrench':
                assert message.header.frame_id == 'platform'
                assert message.wrench.torque.z == pytest.approx(5 + time_ns * 1e-9)
    expected = [10_000_000 * k for k in range(50)]
    assert all(found == expected for found in times.values())


def test_mcaps_own_reader_agrees_and_checksums_hold(tmp_path):
    record(tmp_path / 'run.mcap', 30)
    with open(tmp_path / 'run.mcap', 'rb') as file:
        reader = make_reader(file, validate_crcs=True)
        assert reader.get_header().profile == 'ros2'
        summary = reader.get_summary()
        assert summary.statistics.message_count == 6 * 30
        assert sum(1 for _ in reader.iter_messages()) == 6 * 30
        assert [m.metadata['purpose'] for m in reader.iter_metadata()] == ['test']
        hashes = {c.metadata['topic_type_hash'] for c in summary.channels.values()}
        assert all(text.startswith('RIHS01_') for text in hashes)


def test_what_was_written_is_read(tmp_path):
    record(tmp_path / 'run.mcap', 20)
    recording = Recording(tmp_path / 'run.mcap')
    assert recording.complete and recording.metadata['purpose'] == 'test'
    assert recording.duration == pytest.approx(0.19)
    joints = recording.joint_states()
    assert joints.names == tuple(NAMES)
    np.testing.assert_allclose(joints.time, 0.01 * np.arange(20), atol=1e-12)
    np.testing.assert_array_equal(joints.position, np.outer(joints.time, [1, 2, 3]))
    assert np.isnan(joints.velocity).all()
    np.testing.assert_array_equal(joints.of(['c', 'a']).effort[:, 1], np.arange(20))
    _, position, rotation = recording.poses()
    np.testing.assert_array_equal(position[3], MOTION.position)
    np.testing.assert_allclose(rotation[3], MOTION.rotation, atol=1e-15)
    np.testing.assert_array_equal(recording.twists()[1][0], MOTION.twist)
    np.testing.assert_array_equal(recording.accelerations()[1][0], MOTION.twist_rate)
    np.testing.assert_allclose(recording.wrenches()[1][:, 0], joints.time)
    assert recording.table('effort_commands')[1] == ('data[0]', 'data[1]')


def test_when_messages_were_sent_stands_beside_when_they_were_recorded(tmp_path):
    """Messages overtake each other on the way; what was sent first can be told."""
    data = ros_messages.serialise(ros_messages.STRING, {'data': 'x'})
    with Recorder(tmp_path / 'run.mcap') as recorder:
        for recorded, sent in ((30, 10), (31, 12), (50, 40)):
            recorder.write_raw('late', ros_messages.STRING, data, recorded, sent)
        recorder.write_raw('plain', ros_messages.STRING, data, 60)
    recover(tmp_path / 'run.mcap', tmp_path / 'copy.mcap')
    for name in ('run.mcap', 'copy.mcap'):
        recording = Recording(tmp_path / name)
        assert [time_ns for time_ns, _ in recording.messages('late')] == [30, 31, 50]
        assert recording.sent_ns('late').tolist() == [10, 12, 40]
        assert recording.sent_ns('plain').tolist() == [60]
        with open(tmp_path / name, 'rb') as file:
            found = [m.publish_time for _, _, m in make_reader(file).iter_messages(['late'])]
        assert found == [10, 12, 40]


def test_robot_goes_with_the_recording(tmp_path):
    robot = pd.load_robot('delta')
    with Recorder(tmp_path / 'run.mcap', robot) as recorder:
        recorder.joint_states(0.5, robot.joints, np.zeros(len(robot.joints)))
    recording = Recording(tmp_path / 'run.mcap')
    assert recording.metadata['robot'] == 'delta'
    (_, description), = recording.messages('robot_description')
    assert description.data == robot.model.urdf_path.read_text()


def test_csv_holds_the_same_numbers(tmp_path):
    record(tmp_path / 'run.mcap', 20)
    recording = Recording(tmp_path / 'run.mcap')
    paths = export_csv(recording, tmp_path / 'csv')
    assert [p.name for p in paths] == [
        'effort_commands.csv', 'external_wrench.csv', 'joint_states.csv', 'platform.accel.csv',
        'platform.pose.csv', 'platform.twist.csv',
    ]  # fmt: skip
    with open(tmp_path / 'csv' / 'joint_states.csv', newline='') as file:
        rows = list(csv.reader(file))
    assert rows[0] == ['time', *(f'{q}[{n}]' for q in ('position', 'effort') for n in NAMES)]
    table = np.array(rows[1:], float)
    joints = recording.joint_states()
    np.testing.assert_array_equal(table[:, 1:4], joints.position)
    np.testing.assert_array_equal(table[:, 4:], joints.effort)


def test_recordings_on_a_clock_that_counts_from_1970(tmp_path):
    with Recorder(tmp_path / 'run.mcap') as recorder:
        for k in range(3):
            stamp = 1_700_000_000_123_456_789 + k
            fields = {'header': ros_messages.header(stamp, 'world'), 'name': ['a']}
            recorder.write('/ns/joint_states', 'sensor_msgs/JointState', fields, stamp)
    recording = Recording(tmp_path / 'run.mcap')
    assert [t for t, _ in recording.messages('joint_states')] == [stamp - 2 + k for k in range(3)]


WRITER = """
import sys, time
from parallel_dynamics.recording import Recorder
recorder = Recorder(sys.argv[1])
start = time.monotonic()
while True:
    t = time.monotonic() - start
    recorder.joint_states(t, ['a', 'b'], [t, -t])
    recorder.efforts(t, [t])
    print(t, flush=True)
    time.sleep(0.002)
"""


@pytest.mark.parametrize('after', [0.3, 0.8, 1.31, 2.0])
def test_killed_without_warning_loses_at_most_the_last_second(tmp_path, repository, after):
    """The file is opened by the outside reader as it is, index and all."""
    path = tmp_path / 'run.mcap'
    child = subprocess.Popen(
        [sys.executable, '-c', WRITER, str(path)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, 'PYTHONPATH': str(repository)},
    )  # fmt: skip
    child.stdout.readline()
    time.sleep(after)
    child.send_signal(signal.SIGKILL)
    told = [float(line) for line in child.stdout.read().splitlines() if line]
    child.wait()
    with AnyReader([path]) as reader:
        assert not reader.connections or set(reader.topics) == {'joint_states', 'effort_commands'}
        last = reader.end_time / 1e9 if reader.message_count else 0.0
        counts = [topic.msgcount for topic in reader.topics.values()]
        seen = sum(1 for _ in reader.messages()) if reader.connections else 0
    assert sum(counts) == seen
    assert told[-1] - last < 1.0


def test_what_is_not_flushed_yet_is_flushed_without_new_messages(tmp_path):
    recorder = record(tmp_path / 'run.mcap', 5, close=False)
    deadline = time.monotonic() + 20.0
    while not Recording(tmp_path / 'run.mcap').topics and time.monotonic() < deadline:
        time.sleep(0.05)
    assert Recording(tmp_path / 'run.mcap').topics['joint_states'].count == 5
    recorder.close()
    recorder.close()


@pytest.fixture
def disk(monkeypatch):
    """Return a list with one number: the bytes that fit into a file of this disk."""
    size, real = [2**40], os.pwrite

    def pwrite(file, data, offset):
        if offset >= size[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(file, data[: size[0] - offset], offset)

    monkeypatch.setattr(os, 'pwrite', pwrite)
    return size


def noise(file, channel, times):
    for k in times:
        data = {'data': np.random.default_rng(k).bytes(300).hex()}
        file.message(channel, k, ros_messages.serialise(ros_messages.STRING, data))


def seen_by_others(path):
    """Return the times of all messages as an outside reader finds them by the index."""
    with open(path, 'rb') as file:
        reader = make_reader(file, validate_crcs=True)
        times = [message.log_time for _, _, message in reader.iter_messages()]
        assert reader.get_summary().statistics.message_count == len(times)
    return times


@pytest.mark.parametrize('room', [0, 7, 300, 4000])
def test_a_full_disk_leaves_a_whole_file_and_loses_nothing(tmp_path, disk, room):
    """However much of a chunk was written; what waits is written when there is room again."""
    path = tmp_path / 'run.mcap'
    file = McapFile(path)
    kind = ros_messages.STRING
    channel = file.add_channel('a', file.add_schema(kind, ros_messages.definition(kind)), {})
    noise(file, channel, range(20))
    file.flush()
    before = path.read_bytes()
    disk[0] = len(before) + room
    for more in (range(20, 40), range(40, 50)):
        noise(file, channel, more)
        with pytest.raises(pd.ParallelDynamicsError, match='No space left'):
            file.flush()
        assert path.read_bytes() == before
    assert seen_by_others(path) == list(range(20))
    disk[0] = 2**40
    noise(file, channel, range(50, 55))
    file.close()
    assert seen_by_others(path) == list(range(55))


def test_a_full_disk_is_said_in_a_sentence_and_the_file_is_closed(tmp_path, disk):
    recorder = record(tmp_path / 'run.mcap', 5, close=False)
    recorder.flush()
    disk[0] = (tmp_path / 'run.mcap').stat().st_size
    recorder.efforts(1.0, [1.0])
    with pytest.raises(pd.ParallelDynamicsError, match='cannot go on'):
        recorder.flush()
    with pytest.raises(pd.ParallelDynamicsError, match='cannot go on'):
        recorder.efforts(2.0, [1.0])
    with pytest.raises(pd.ParallelDynamicsError, match='cannot go on'):
        recorder.close()
    recorder.close()
    with pytest.raises(OSError, match='Bad file descriptor'):
        os.fstat(recorder._file._file)
    assert Recording(tmp_path / 'run.mcap').topics['effort_commands'].count == 5
    disk[0] = 100
    with pytest.raises(pd.InputError, match='No space left'):
        Recorder(tmp_path / 'none.mcap')
    assert not (tmp_path / 'none.mcap').exists()


def test_much_at_once_on_a_full_disk_is_said_in_a_sentence(tmp_path, disk, monkeypatch):
    monkeypatch.setattr('parallel_dynamics.recording.recorder.CHUNK_BYTES', 1000)
    with pytest.raises(pd.ParallelDynamicsError, match='cannot go on'):
        with Recorder(tmp_path / 'run.mcap') as recorder:
            disk[0] = (tmp_path / 'run.mcap').stat().st_size
            recorder.efforts(0.0, np.random.default_rng(0).normal(size=500))


@pytest.mark.parametrize('share', [0.999, 0.7, 0.4])
def test_cut_off_file_is_read_as_far_as_it_goes_and_recovered(tmp_path, share):
    recorder = Recorder(tmp_path / 'run.mcap')
    for k in range(200):
        recorder.efforts(0.01 * k, np.sin([k, k + 1.0]))
        if k % 20 == 19:
            recorder.flush()
    recorder.close()
    data = (tmp_path / 'run.mcap').read_bytes()
    broken = tmp_path / 'broken.mcap'
    broken.write_bytes(data[: int(share * len(data))])
    recording = Recording(broken)
    assert not recording.complete
    count = recording.topics['effort_commands'].count
    assert 0 < count <= 200 and count % 20 == 0
    saved = recover(broken, tmp_path / 'whole.mcap')
    assert saved.messages == count
    with AnyReader([tmp_path / 'whole.mcap']) as reader:
        assert reader.message_count == count
        assert reader.topics['effort_commands'].msgtype == 'std_msgs/msg/Float64MultiArray'


def test_anybodys_bag_is_read(tmp_path):
    store = get_typestore(Stores.ROS2_HUMBLE)
    kind = 'sensor_msgs/msg/JointState'
    data = ros_messages.serialise(kind, {'name': ['x'], 'position': [1.5]})
    for plugin in StoragePlugin:
        folder = tmp_path / f'bag_{plugin.name}'
        with Writer(folder, version=9, storage_plugin=plugin) as writer:
            connection = writer.add_connection('/joint_states', kind, typestore=store)
            writer.write(connection, 42, data)
        joints = Recording(folder).joint_states()
        assert joints.names == ('x',) and joints.position.tolist() == [[1.5]]
        assert joints.time.tolist() == [42e-9]


def test_joints_may_come_and_go(tmp_path):
    with Recorder(tmp_path / 'run.mcap') as recorder:
        recorder.joint_states(0.0, ['a', 'b'], [1, 2])
        recorder.joint_states(1.0, ['b', 'c'], [3, 4])
    joints = Recording(tmp_path / 'run.mcap').joint_states()
    assert joints.names == ('a', 'b', 'c')
    np.testing.assert_array_equal(joints.position, [[1, 2, np.nan], [np.nan, 3, 4]])


def not_a_recording(tmp_path, content):
    path = tmp_path / 'bad.mcap'
    path.write_bytes(content)
    return path


BAD = {
    'exists': lambda p: Recorder(not_a_recording(p, b'')),
    'no folder': lambda p: Recorder(p / 'none' / 'run.mcap'),
    'no file': lambda p: Recording(p / 'none.mcap'),
    'empty': lambda p: Recording(not_a_recording(p, b'')),
    'text': lambda p: Recording(not_a_recording(p, b'time,position\n0,1\n')),
    'folder': lambda p: Recording(p),
    'nothing to save': lambda p: recover(not_a_recording(p, b'\x89MCAP0\r\n'), p / 'new.mcap'),
    'size': lambda p: Recorder(p / 'r.mcap').joint_states(0.0, ['a'], [1.0, 2.0]),
    'time': lambda p: Recorder(p / 'r.mcap').efforts(-1.0, [1.0]),
    'nan': lambda p: Recorder(p / 'r.mcap').efforts(np.nan, [1.0]),
    'type': lambda p: Recorder(p / 'r.mcap').write('a', 'my_msgs/msg/Thing', {}, 0),
    'field': lambda p: Recorder(p / 'r.mcap').write('a', 'std_msgs/msg/String', {'x': 1}, 0),
    'topic': lambda p: Recording(record(p / 'r.mcap').path).joint_states('nothing'),
    'kind': lambda p: Recording(record(p / 'r.mcap').path).joint_states('platform/pose'),
    'joint': lambda p: Recording(record(p / 'r.mcap').path).joint_states().of(['z']),
}


@pytest.mark.parametrize('what', BAD)
def test_bad_input_is_one_sentence(tmp_path: Path, what):
    with pytest.raises(pd.InputError) as error:
        BAD[what](tmp_path)
    assert '\n' not in str(error.value)


def test_one_topic_has_one_type(tmp_path):
    with Recorder(tmp_path / 'run.mcap') as recorder:
        recorder.efforts(0.0, [1.0], topic='a')
        with pytest.raises(pd.InputError, match='Float64MultiArray'):
            recorder.wrench(0.0, np.zeros(6), topic='a')


def test_command_exports_and_saves(command, tmp_path):
    path = record(tmp_path / 'run.mcap').path
    result = command('export', path, '--output', tmp_path / 'csv')
    assert 'joint_states' in result.stdout and 'sensor_msgs/msg/JointState' in result.stdout
    header = (tmp_path / 'csv' / 'joint_states.csv').read_text().splitlines()[0]
    assert header.startswith('time,position[')
    broken = tmp_path / 'broken.mcap'
    broken.write_bytes(path.read_bytes()[:-100])
    command('export', broken, '--recover', tmp_path / 'saved.mcap')
    assert Recording(tmp_path / 'saved.mcap').complete


@pytest.mark.parametrize('verb', ['export', 'replay'])
def test_commands_refuse_in_one_sentence(command, tmp_path, verb):
    (tmp_path / 'bad.mcap').write_text('no recording')
    result = command(verb, tmp_path / 'bad.mcap', check=False)
    assert result.returncode == 2 and not result.stdout
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr


def test_a_gripper_beside_the_robot_and_a_stamp_of_zero(tmp_path):
    """Stamps of a simulation begin at zero, long before the time at which a bag is recorded."""
    store = get_typestore(Stores.ROS2_HUMBLE)
    kinds = ('sensor_msgs/msg/JointState', 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time')
    state, header, stamp = (store.types[kind] for kind in kinds)
    none = np.zeros(0)
    with Writer(tmp_path / 'bag', version=8, storage_plugin=StoragePlugin.SQLITE3) as bag:
        connection = bag.add_connection('/joint_states', state.__msgtype__, typestore=store)
        for k in range(5):
            for names in (['b', 'a'], ['hand']):
                position = np.array([float(k), 10.0 + k][: len(names)])
                message = state(header(stamp(k, 0), ''), names, position, none, none)
                data = store.serialize_cdr(message, state.__msgtype__)
                bag.write(connection, 10**18 + k, data)
    recording = Recording(tmp_path / 'bag')
    log = recording.joint_states(of=['a', 'b'])
    assert log.names == ('b', 'a') and log.time.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert log.position.tolist() == [[k, 10.0 + k] for k in range(5)]
    assert recording.joint_states().names == ('b', 'a', 'hand')
    assert recording.joint_states(of=['nobody']).names == ('b', 'a', 'hand')
