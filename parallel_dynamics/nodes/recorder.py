"""Node: writes every topic of its namespace to an MCAP file, with the diagnostics.

Messages are stored as they come, without being looked into, at the time they arrive; beside it
stands the time at which they were sent, by the clock of their publisher.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
import importlib
import inspect
import sys
import time
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

import parallel_dynamics as pd
from parallel_dynamics.nodes import messages
from parallel_dynamics.nodes.runtime import ERROR, OK, Loop, RobotNode, run
from parallel_dynamics.nodes.topics import AT_REST, MOTION_OVER, recording_begins
from parallel_dynamics.recording import Recorder

SHARED = ('/diagnostics', '/clock', '/tf', '/tf_static')
"""Topics outside any namespace that are recorded too."""
LEFT_OUT = ('/parameter_events', '/rosout')
DESCRIPTION = 'robot_description'
"""The recorder itself writes it, once, whether or not anybody publishes it."""
LOOK = 5.0
"""How many times a second new topics are looked for."""


class RecorderNode(RobotNode):
    """Records what is said about one robot."""

    def __init__(self) -> None:
        super().__init__('recorder')
        path = self.parameters.declare(
            'file', 'recording.mcap', 'MCAP file to write; it must not exist.', fixed=True
        )
        self._recorder = Recorder(path, self.robot)
        self._rest = self.parameters.declare(
            'rest', 0.0, 'Say in the log when a motion on feedforward has been over for so many '
            'seconds; 0 for never.', minimum=0.0, fixed=True,
        )  # fmt: skip
        self._moved_at: float | None = None
        if self._rest > 0.0:
            self.listen(JointState, 'feedforward', self._watch)
        self._known: set[str] = set()
        self._failure = ''
        self._times = (0, 0)
        self.counts: Counter[tuple[str, str]] = Counter()
        self._loop = Loop(self, LOOK, self._look)
        self._look()

    def _look(self) -> None:
        """Subscribe to the topics that have appeared."""
        space = self.get_namespace().rstrip('/') + '/'
        for topic, kinds in self.get_topic_names_and_types():
            own = topic.startswith(space) and topic not in (*LEFT_OUT, f'{space}{DESCRIPTION}')
            wanted = own or topic in SHARED
            if wanted and topic not in self._known and self.count_publishers(topic):
                self._known.add(topic)
                self._subscribe(topic, kinds[0])

    def _watch(self, message: JointState) -> None:
        now = messages.seconds(message.header.stamp)
        if max(map(abs, message.velocity)) > AT_REST:
            self._moved_at = now
        elif self._moved_at is not None and now - self._moved_at > self._rest:
            self._moved_at = None
            self.get_logger().info(MOTION_OVER)

    def _subscribe(self, topic: str, kind: str) -> None:
        try:
            package, _, name = kind.split('/')
            message = getattr(importlib.import_module(f'{package}.msg'), name)
        except (ImportError, AttributeError, ValueError):  # or no type of ROS at all
            self.get_logger().warning(f'{topic}: {kind} is not installed here, not recorded')
            return

        def write(*taken: Any) -> None:
            # The events executor of Jazzy hands both over as one tuple.
            data, info = taken if len(taken) == 2 else taken[0]
            self._write(topic, kind, data, time.time_ns(), info['source_timestamp'])

        # By the signature rclpy sees that the callback wants to know when messages were sent.
        write.__signature__ = inspect.signature(lambda data, info: None)  # type: ignore[attr-defined]

        self.create_subscription(message, topic, write, self._qos(topic), raw=True)
        self.get_logger().info(recording_begins(topic))

    def _qos(self, topic: str) -> QoSProfile:
        """Return what all publishers of a topic can offer."""
        offers = [info.qos_profile for info in self.get_publishers_info_by_topic(topic)]
        latched = all(o.durability == DurabilityPolicy.TRANSIENT_LOCAL for o in offers)
        reliable = all(o.reliability == ReliabilityPolicy.RELIABLE for o in offers)
        return QoSProfile(
            depth=2000,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
            reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        )

    def _write(self, topic: str, kind: str, data: bytes, time_ns: int, sent_ns: int) -> None:
        if self._failure:
            return
        try:
            self._recorder.write_raw(topic, kind, data, time_ns, sent_ns or None)
            self._times = (self._times[0] if self.counts else time_ns, time_ns)
            self.counts[topic, kind] += 1
        except pd.InputError as error:  # a type that is not known by heart
            self.refuse(topic, str(error))
        except pd.ParallelDynamicsError as error:  # a full disk
            self._failure = str(error)
            self.get_logger().error(self._failure)

    @property
    def count(self) -> int:
        """Messages in the file so far."""
        return self.counts.total()

    @property
    def seconds(self) -> float:
        """From the first message to the last, s."""
        return 1e-9 * (self._times[1] - self._times[0])

    def diagnose(self) -> Any:
        """Return how much is in the file."""
        values = {'file': str(self._recorder.path), 'messages': self.count,
                  'topics': len(self._known)}  # fmt: skip
        if self._failure:
            yield self.status('recording', ERROR, self._failure, values)
        else:
            yield self.status('recording', OK, f'{self.count} messages', values)

    def close(self) -> None:
        """Finish the file."""
        self._recorder.close()


def main(
    args: Sequence[str] | None = None, closed: Callable[[RecorderNode], None] | None = None
) -> int:
    """Run the node; ``closed`` is called with it once the file is finished."""
    return run(RecorderNode, args, closed)


if __name__ == '__main__':
    sys.exit(main())
