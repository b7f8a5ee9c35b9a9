"""The node `replay`: plays a recording into the topics, for the viewer, the estimator and RViz.

It publishes the messages of ``file`` as they are, byte by byte, at the pace at which they were
recorded. Only what a robot and its surroundings say is played; what the nodes of this package
work out from it (joint forces, diagnostics) is left to them. With ``publish_clock:=true`` the
recording's time goes out on ``/clock``, for nodes with ``use_sim_time``. The node ends with the
recording, unless ``loop:=true``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
import importlib
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
import rclpy
from rosgraph_msgs.msg import Clock

import parallel_dynamics as pd
from parallel_dynamics.nodes import messages
from parallel_dynamics.nodes.runtime import OK, Loop, RobotNode, run
from parallel_dynamics.recording import Recording

TOPICS = (
    'joint_states', 'platform/pose', 'platform/twist', 'platform/accel', 'desired_trajectory',
    'effort_commands', 'feedforward', 'external_wrench', 'base_motion', 'base_accel',
)  # fmt: skip
"""What is played, by its relative name."""
PACE = 500.0
"""How many times a second it looks whether something is due."""


class ReplayNode(RobotNode):
    """Publishes what was recorded, when it is due."""

    def __init__(self) -> None:
        super().__init__('replay')
        declare = self.parameters.declare
        file = declare('file', '', 'Recording to play (MCAP, or a rosbag2 bag).', fixed=True)
        self._speed = declare('speed', 1.0, 'Speed factor.', minimum=0.01, maximum=100.0,
                              fixed=True)  # fmt: skip
        self._again = declare('loop', False, 'Start again at the end.', fixed=True)
        clock = declare('publish_clock', False, 'Publish /clock.', fixed=True)
        wait = declare('wait_for_reader', True, 'Begin when somebody listens.', fixed=True)
        recording = Recording(file)
        names = {topic: name for topic in recording.topics if (name := relative(topic))}
        if not names:
            raise pd.InputError(
                f'{file}: expected some of the topics {", ".join(TOPICS)}, got '
                f'{", ".join(recording.topics)}'
            )
        self._due = [(t, names[topic], data)
                     for topic, _, t, data in recording.raw() if topic in names]  # fmt: skip
        self._out = {
            name: self.announce(message_type(recording.topics[topic].kind), name)
            for topic, name in names.items()
        }
        self._clock_out = self.announce(Clock, '/clock') if clock else None
        self._next, self.rounds = 0, 0
        self.played: Counter[str] = Counter()
        self._began: float | None = None if wait else time.monotonic()
        self._ended = False
        self._loop = Loop(self, PACE, self._tick)
        self.get_logger().info(
            f'{len(self._due)} messages on {len(names)} topics over {recording.duration:.1f} s'
        )

    def _tick(self) -> None:
        if self._ended:
            return
        if self._began is None:
            if not any(out.get_subscription_count() for out in self._out.values()):
                return
            self._began = time.monotonic()
        start = self._due[0][0]
        now = start + round((time.monotonic() - self._began) * self._speed * 1e9)
        if self._clock_out is not None:
            last = self._due[-1][0]
            self._clock_out.publish(Clock(clock=messages.time_message(min(now, last))))
        while self._next < len(self._due) and self._due[self._next][0] <= now:
            _, name, data = self._due[self._next]
            self._out[name].publish(bytes(data))
            self.played[name] += 1
            self._next += 1
        if self._next == len(self._due):
            self.rounds += 1
            self._next, self._began = 0, time.monotonic()
            self._ended = not self._again

    def background(self) -> float:
        """End the process after the last message."""
        if self._ended:
            self.get_logger().info('the recording is at its end')
            time.sleep(0.2)  # for what is still on its way
            rclpy.try_shutdown()
        return 0.1

    def diagnose(self) -> Iterable[DiagnosticStatus]:
        """Return how far the recording has been played."""
        values = {'messages': self._next, 'of': len(self._due), 'rounds': self.rounds}
        yield self.status('replay', OK, 'playing' if self._began else 'waits for a reader', values)


def relative(topic: str) -> str | None:
    """Return the relative name of a recorded topic, or None if it is not played."""
    whole = '/' + topic.lstrip('/')
    return next((name for name in TOPICS if whole.endswith('/' + name)), None)


def message_type(kind: str) -> Any:
    """Return the class of a message type such as ``sensor_msgs/msg/JointState``."""
    package, _, name = kind.split('/')
    try:
        return getattr(importlib.import_module(f'{package}.msg'), name)
    except (ImportError, AttributeError):
        raise pd.InputError(
            f'message type: expected one that is installed, got {kind}; install {package}'
        ) from None


def main(
    args: Sequence[str] | None = None, closed: Callable[[ReplayNode], None] | None = None
) -> int:
    """Run the node; ``closed`` is called with it at the end."""
    return run(ReplayNode, args, closed)


if __name__ == '__main__':
    sys.exit(main())
