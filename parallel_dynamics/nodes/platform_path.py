"""The last seconds of a platform's way, as RViz draws it."""

from __future__ import annotations

from collections import deque
from typing import Any

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.nodes.messages import pose_message


class PlatformPath:
    """Poses in the base frame, at most ``rate`` a second, none older than ``length`` seconds."""

    def __init__(self, frame: str, rate: float, length: float) -> None:
        self.frame = frame
        self._due = Every(rate)
        self._length = length
        self._poses: deque[tuple[float, PoseStamped]] = deque()

    def due(self, time: float) -> bool:
        """Whether a pose at this time (s) is wanted."""
        return self._due(time)

    def message(self, time: float, motion: PlatformMotion, stamp: Any) -> Path:
        """Append a pose and return the whole path."""
        if self._poses and time < self._poses[-1][0]:
            self._poses.clear()
        self._poses.append((time, pose_message(motion, stamp, self.frame)))
        while self._poses[0][0] < time - self._length:
            self._poses.popleft()
        path = Path(poses=[pose for _, pose in self._poses])
        path.header.stamp, path.header.frame_id = stamp, self.frame
        return path


class Every:
    """Tells which samples to act on, so that it happens ``rate`` times a second on average.

    Time is that of the samples, so that it also holds in simulated time; when it jumps, counting
    starts anew. A rate of zero is never.
    """

    def __init__(self, rate: float) -> None:
        self._period = 1.0 / rate if rate > 0.0 else 0.0
        self._next: float | None = None

    def __call__(self, time: float) -> bool:
        """Whether to act on the sample at this time (s)."""
        if not self._period:
            return False
        if self._next is None or abs(time - self._next) > 2.0 * self._period:
            self._next = time
        if time < self._next - 1e-6:
            return False
        self._next += self._period
        return True
