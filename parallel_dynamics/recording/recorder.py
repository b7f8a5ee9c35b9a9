"""Write a run to an MCAP file that rosbag2, PlotJuggler and Foxglove open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from parallel_dynamics.errors import InputError, ParallelDynamicsError
from parallel_dynamics.recording import messages
from parallel_dynamics.recording.mcap_file import McapFile

if TYPE_CHECKING:
    from parallel_dynamics.motion import PlatformMotion
    from parallel_dynamics.robot import Robot

FLUSH_PERIOD = 0.5
"""Seconds from flush to flush; what a killed program can lose, at most, is a little more."""
CHUNK_BYTES = 4 * 2**20
"""Pending bytes that are written without waiting for the period to end."""


class Recorder:
    """Writes messages to an MCAP file and puts them on the disk twice a second.

    Times are seconds on any clock that starts at zero or later; ``write`` and ``write_raw`` take
    nanoseconds, for clocks that count from 1970. Use it in a ``with`` statement, or call
    ``close``; a program that is killed leaves a complete file without its last half second.

    Parameters
    ----------
    path : path
        File to write, by custom ``*.mcap``; it must not exist.
    robot : Robot, optional
        Its URDF is written to the topic ``robot_description``, its name to the metadata.
    metadata : mapping of str to str, optional
        Anything worth knowing about the run.
    """

    def __init__(
        self,
        path: str | Path,
        robot: Robot | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        notes = dict(metadata or {})
        if robot is not None:
            notes.setdefault('robot', robot.name)
            notes.setdefault('actuators', ' '.join(robot.actuators))
        self._file = McapFile(path, notes)
        self.path = self._file.path
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, tuple[int, str]] = {}
        self._registering = threading.Lock()
        self._stop = threading.Event()
        self._failure: ParallelDynamicsError | None = None
        self._urdf = None
        if robot is not None and robot.model.urdf_path is not None:
            self._urdf = robot.model.urdf_path.read_text(encoding='utf-8')
        # Loading the message types takes a quarter of a second: now, not in the running loop.
        messages.serialise(messages.JOINT_STATE, {})
        self._thread = threading.Thread(target=self._keep_flushing, daemon=True)
        self._thread.start()

    # ---------------------------------------------------------------- any message

    def write(self, topic: str, kind: str, fields: Mapping[str, Any], time_ns: int) -> None:
        """Write a message given as a mapping of its fields; those left out are zero or empty.

        Parameters
        ----------
        topic : str
        kind : str
            Message type, ``package/msg/Type``.
        fields : mapping
            Nested mappings for nested messages; a ``stamp`` may be given in nanoseconds.
        time_ns : int
            When it was recorded, ns.
        """
        kind = messages.full_type(kind)
        self.write_raw(topic, kind, messages.serialise(kind, fields), time_ns)

    def write_raw(
        self, topic: str, kind: str, data: bytes, time_ns: int, sent_ns: int | None = None
    ) -> None:
        """Write a message that is already serialised as ROS 2 does it (CDR).

        ``sent_ns`` is when its publisher sent it, if that is known; else as ``time_ns``.
        """
        if self._failure is not None:
            raise self._failure
        channel, known = self._channels.get(topic) or self._register(topic, kind)
        if known != kind and known != messages.full_type(kind):
            raise InputError(f'{topic}: expected messages of type {known}, got {kind}')
        if self._urdf is not None:
            urdf, self._urdf = self._urdf, None
            self.write('robot_description', messages.STRING, {'data': urdf}, time_ns)
        self._file.message(channel, time_ns, data, sent_ns)
        if self._file.pending > CHUNK_BYTES:
            self.flush()

    def _register(self, topic: str, kind: str) -> tuple[int, str]:
        kind = messages.full_type(kind)
        with self._registering:
            if topic not in self._channels:
                if kind not in self._schemas:
                    text = messages.definition(kind)
                    self._schemas[kind] = self._file.add_schema(kind, text)
                notes = {'topic_type_hash': messages.type_hash(kind)}
                number = self._file.add_channel(topic, self._schemas[kind], notes)
                self._channels[topic] = number, kind
            return self._channels[topic]

    # ---------------------------------------------------------------- what robots say

    def joint_states(
        self,
        time: float,
        names: Sequence[str],
        position: ArrayLike = (),
        velocity: ArrayLike = (),
        effort: ArrayLike = (),
        topic: str = 'joint_states',
    ) -> None:
        """Write a sensor_msgs/JointState; ``feedforward`` is of the same type."""
        stamp = nanoseconds(time)
        arrays = {'position': position, 'velocity': velocity, 'effort': effort}
        fields: dict[str, Any] = {k: np.asarray(v, float) for k, v in arrays.items()}
        for key, value in fields.items():
            if value.shape not in ((0,), (len(names),)):
                raise InputError(f'{key}: expected {len(names)} numbers, got shape {value.shape}')
        fields.update(header=messages.header(stamp), name=list(names))
        self.write(topic, messages.JOINT_STATE, fields, stamp)

    def efforts(self, time: float, efforts: ArrayLike, topic: str = 'effort_commands') -> None:
        """Write efforts (n,) as a std_msgs/Float64MultiArray, in the order of the actuators."""
        fields = {'data': np.asarray(efforts, float)}
        self.write(topic, messages.MULTI_ARRAY, fields, nanoseconds(time))

    def platform(
        self,
        time: float,
        motion: PlatformMotion,
        frame: str = 'base_link',
        topic: str = 'platform',
    ) -> None:
        """Write one motion as ``platform/pose``, ``platform/twist`` and ``platform/accel``."""
        stamp = nanoseconds(time)
        head = messages.header(stamp, frame)
        x, y, z, w = Rotation.from_matrix(np.array(motion.rotation)).as_quat().tolist()
        turn = {'x': x, 'y': y, 'z': z, 'w': w}
        pose = {'position': messages.xyz(motion.position), 'orientation': turn}
        twist = messages.six(motion.twist, 'linear', 'angular')
        accel = messages.six(motion.twist_rate, 'linear', 'angular')
        self.write(f'{topic}/pose', messages.POSE, {'header': head, 'pose': pose}, stamp)
        self.write(f'{topic}/twist', messages.TWIST, {'header': head, 'twist': twist}, stamp)
        self.write(f'{topic}/accel', messages.ACCEL, {'header': head, 'accel': accel}, stamp)

    def wrench(
        self, time: float, wrench: ArrayLike, frame: str = '', topic: str = 'external_wrench'
    ) -> None:
        """Write [force; moment] (6,) as a geometry_msgs/WrenchStamped."""
        stamp = nanoseconds(time)
        fields = {
            'header': messages.header(stamp, frame),
            'wrench': messages.six(wrench, 'force', 'torque'),
        }
        self.write(topic, messages.WRENCH, fields, stamp)

    # ---------------------------------------------------------------- life

    def flush(self) -> None:
        """Put everything on the disk now.

        Where that fails (a full disk), this and every write from then on says so in a
        ParallelDynamicsError; closing tries once more.
        """
        try:
            self._file.flush()
        except ParallelDynamicsError as error:
            self._failure = error
            raise

    def close(self) -> None:
        """Finish the file; a second call does nothing."""
        self._stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join()
        self._file.close()

    def _keep_flushing(self) -> None:
        while not self._stop.wait(FLUSH_PERIOD):
            try:
                self.flush()
            except ParallelDynamicsError:  # told to whoever writes next
                return

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def nanoseconds(time: float) -> int:
    """Return seconds as whole nanoseconds; refuse what is no time."""
    if not (np.isfinite(time) and 0.0 <= time < 9e9):
        raise InputError(f'time: expected seconds of at least 0, got {time}')
    return round(float(time) * 1e9)
