"""Read recordings: those made here, anybody's rosbag2 bags, and files that were cut off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from parallel_dynamics.errors import InputError
from parallel_dynamics.recording import messages, recovery
from parallel_dynamics.recording.flatten import Columns
from parallel_dynamics.spatial import Array


@dataclass(frozen=True)
class Topic:
    """Message type and number of messages of a topic."""

    kind: str
    count: int


@dataclass(frozen=True, eq=False)
class JointLog:
    """Joint states over time.

    Attributes
    ----------
    time : (N,)
        Of the messages' stamps, or of their recording where none has one, s.
    names : tuple of str
        Joints, the columns of the other arrays.
    position, velocity, effort : (N, n)
        NaN where a message did not tell.
    """

    time: Array
    names: tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array

    def of(self, names: Sequence[str]) -> JointLog:
        """Return the columns of some joints, in the order given."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise InputError(
                f'joints: expected {missing} in the recording, got {list(self.names)}'
            )
        pick = [self.names.index(name) for name in names]
        return JointLog(
            self.time,
            tuple(names),
            self.position[:, pick],
            self.velocity[:, pick],
            self.effort[:, pick],
        )


class Recording:
    """A recording on the disk.

    Parameters
    ----------
    path : path
        An MCAP or SQLite file, or the folder of a bag. A file that was cut off is read as far as
        it goes, and ``complete`` is False.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.complete = True
        self.metadata: dict[str, str] = {}
        self._messages: list[tuple[str, str, int, bytes]] = []
        self._store: Any = None
        if not self.path.exists():
            raise InputError(f'{self.path}: expected a recording, found no such file')
        try:
            self._read_with_rosbags()
        except Exception as error:  # noqa: BLE001  a broken file can make any reader stumble
            if self.path.suffix != '.mcap':
                raise InputError(
                    f'{self.path}: expected an MCAP file or a rosbag2 bag, cannot read it: {error}'
                ) from None
            self._read_what_there_is()
        if self.path.suffix == '.mcap' and self.path.is_file():
            self.metadata = _metadata(self.path)

    def _read_with_rosbags(self) -> None:
        from rosbags.highlevel import AnyReader

        with AnyReader([self.path], default_typestore=messages.typestore()) as reader:
            self._store = reader.typestore
            self._messages = [(c.topic, c.msgtype, time, data)
                              for c, time, data in reader.messages()]  # fmt: skip

    def _read_what_there_is(self) -> None:
        from rosbags.typesys import get_types_from_msg
        from rosbags.typesys.stores import Stores, get_typestore

        self.complete = False
        types: dict[str, Any] = {}
        found = []
        for raw in recovery.scan(self.path):
            if raw.kind not in types:
                types.update(get_types_from_msg(raw.definition, raw.kind))
            found.append((raw.topic, raw.kind, raw.time_ns, raw.data))
        if not found:
            raise InputError(f'{self.path}: expected an MCAP file with messages, found none')
        self._store = get_typestore(Stores.EMPTY)
        self._store.register(types)
        self._messages = sorted(found, key=lambda m: m[2])

    # ---------------------------------------------------------------- what there is

    @cached_property
    def topics(self) -> dict[str, Topic]:
        """Topics by name, with type and number of messages."""
        found: dict[str, Topic] = {}
        for topic, kind, _, _ in self._messages:
            before = found.get(topic)
            found[topic] = Topic(kind, 1 + (before.count if before else 0))
        return dict(sorted(found.items()))

    @property
    def start_ns(self) -> int:
        """Time of the first message, ns."""
        return self._messages[0][2] if self._messages else 0

    @property
    def duration(self) -> float:
        """Seconds from the first message to the last."""
        return (self._messages[-1][2] - self.start_ns) / 1e9 if self._messages else 0.0

    def raw(self, topic: str | None = None) -> Iterator[tuple[str, str, int, bytes]]:
        """Yield topic, type, time in ns and CDR of all messages, or of one topic."""
        wanted = None if topic is None else self.resolve(topic)
        return (m for m in self._messages if wanted is None or m[0] == wanted)

    def messages(self, topic: str) -> Iterator[tuple[int, Any]]:
        """Yield time in ns and the message of every message of a topic."""
        for _, kind, time_ns, data in self.raw(topic):
            yield time_ns, self._store.deserialize_cdr(data, kind)

    def resolve(self, topic: str) -> str:
        """Return the full name of a topic: itself, or the only one that ends with it."""
        for name in (topic, f'/{topic}'):
            if name in self.topics:
                return name
        matches = [name for name in self.topics if name.endswith('/' + topic.lstrip('/'))]
        if len(matches) == 1:
            return matches[0]
        raise InputError(
            f'topic: expected {topic!r} in {self.path.name}, got topics {list(self.topics)}'
        )

    def sent_ns(self, topic: str) -> NDArray[np.int64]:
        """Return when the messages of a topic were sent (N,), ns, in the order of ``messages``.

        It is on the clock of the publisher, and does not depend on how long a message took. Where
        a file does not tell, as one that is not MCAP, it is when they were recorded.
        """
        name = self.resolve(topic)
        recorded = np.array([time_ns for _, _, time_ns, _ in self.raw(name)], dtype=np.int64)
        pairs = np.array(sorted(self._sent.get(name, ())), dtype=np.int64).reshape(-1, 2)
        told = np.array_equal(pairs[:, 0], recorded) and bool((pairs[:, 1] > 0).all())
        return pairs[:, 1] if told else recorded

    @cached_property
    def _sent(self) -> dict[str, list[tuple[int, int]]]:
        """When messages were recorded and when they were sent, by topic, ns."""
        found: dict[str, list[tuple[int, int]]] = {}
        if self.path.suffix == '.mcap' and self.path.is_file():
            for raw in recovery.scan(self.path):
                found.setdefault(raw.topic, []).append((raw.time_ns, raw.sent_ns))
        return found

    # ---------------------------------------------------------------- as arrays

    def joint_states(self, topic: str = 'joint_states', of: Sequence[str] = ()) -> JointLog:
        """Return the joint states of a topic as arrays; joints are those of all messages.

        Messages that name none of the joints ``of`` are left out, where there are others: a
        gripper may publish beside the robot.
        """
        self._expect(topic, messages.JOINT_STATE)
        found = list(self.messages(topic))
        found = [(t, m) for t, m in found if not set(of).isdisjoint(m.name)] or found
        names = list(dict.fromkeys(name for _, m in found for name in m.name))
        arrays = {key: np.full((len(found), len(names)), np.nan)
                  for key in ('position', 'velocity', 'effort')}  # fmt: skip
        order: tuple[list[str], list[int]] = ([], [])
        for row, (_, message) in enumerate(found):
            if message.name != order[0]:
                order = message.name, [names.index(name) for name in message.name]
            for key, array in arrays.items():
                values = getattr(message, key)
                if len(values) == len(order[1]):
                    array[row, order[1]] = values
        return JointLog(self._times(found), tuple(names), **arrays)

    def table(self, topic: str) -> tuple[Array, tuple[str, ...], Array]:
        """Return time (N,), names of columns and values (N, k) of any topic's numbers.

        A number inside a message is named by its path, as ``pose.position.x`` or ``data[2]``;
        those of joint states by their joint, as ``effort[leg1_slide]``. NaN where missing.
        """
        found = list(self.messages(topic))
        columns = Columns()
        for _, message in found:
            columns.add(message)
        return self._times(found), columns.names, columns.values

    def wrenches(self, topic: str = 'external_wrench') -> tuple[Array, Array]:
        """Return time (N,) and [force; moment] (N, 6) of a topic of WrenchStamped."""
        return self._six(topic, messages.WRENCH, 'wrench', 'force', 'torque')

    def twists(self, topic: str = 'platform/twist') -> tuple[Array, Array]:
        """Return time (N,) and [velocity; angular velocity] (N, 6) of TwistStamped."""
        return self._six(topic, messages.TWIST, 'twist', 'linear', 'angular')

    def accelerations(self, topic: str = 'platform/accel') -> tuple[Array, Array]:
        """Return time (N,) and [acceleration; angular one] (N, 6) of AccelStamped."""
        return self._six(topic, messages.ACCEL, 'accel', 'linear', 'angular')

    def poses(self, topic: str = 'platform/pose') -> tuple[Array, Array, Array]:
        """Return time (N,), position (N, 3) and rotation (N, 3, 3) of PoseStamped."""
        self._expect(topic, messages.POSE)
        found = list(self.messages(topic))
        p = np.array([_vector(m.pose.position) for _, m in found]).reshape(-1, 3)
        q = np.array([[*_vector(m.pose.orientation), m.pose.orientation.w] for _, m in found])
        return self._times(found), p, Rotation.from_quat(q.reshape(-1, 4)).as_matrix()

    def _six(
        self, topic: str, kind: str, part: str, first: str, second: str
    ) -> tuple[Array, Array]:
        self._expect(topic, kind)
        found = list(self.messages(topic))
        values = [(getattr(getattr(m, part), first), getattr(getattr(m, part), second))
                  for _, m in found]  # fmt: skip
        rows = np.array([[*_vector(a), *_vector(b)] for a, b in values]).reshape(-1, 6)
        return self._times(found), rows

    def _expect(self, topic: str, kind: str) -> None:
        got = self.topics[self.resolve(topic)].kind
        if got != kind:
            raise InputError(f'{topic}: expected messages of type {kind}, got {got}')

    @staticmethod
    def _times(found: Sequence[tuple[int, Any]]) -> Array:
        # A simulation's first stamp is zero; zeros alone are stamps that nobody set.
        stamps = [stamp_ns(message) for _, message in found]
        return np.array(stamps if any(stamps) else [time_ns for time_ns, _ in found]) / 1e9


def stamp_ns(message: Any) -> int:
    """Return the time in a message's header, ns; 0 where it has none."""
    stamp = getattr(getattr(message, 'header', None), 'stamp', None)
    return 0 if stamp is None else int(stamp.sec) * 10**9 + int(stamp.nanosec)


def _vector(v: Any) -> tuple[float, float, float]:
    return v.x, v.y, v.z


def _metadata(path: Path) -> dict[str, str]:
    """Return what the metadata records at the head of an MCAP file say."""
    from mcap.records import Header, Metadata
    from mcap.stream_reader import StreamReader

    notes: dict[str, str] = {}
    with open(path, 'rb') as file:
        for record in StreamReader(file, emit_chunks=True).records:
            if isinstance(record, Metadata):
                notes.update(record.metadata)
            elif not isinstance(record, Header):
                break
    return notes
