"""What those who read topics and logs must know; without ROS, so that they can use it."""

from __future__ import annotations

from collections.abc import Sequence
import re

TAKEN = ('markers', 'peaks')
"""Names below ``joint_forces`` that are not those of joints."""
READY = 'ready:'
"""What a node says when it has started."""
COMMANDS_BEGIN = 'commands begin'
"""What the controller says with its first command since it was activated."""
MOTION_OVER = 'the motion is over'
"""What the recorder says after a motion and some rest."""
AT_REST = 1e-6
"""Speed of actuators (m/s, rad/s) below which a desired motion counts as rest."""


def recording_begins(topic: str) -> str:
    """Return what the recorder says when it begins to record a topic."""
    return f'recording {topic}'


def topic_names(names: Sequence[str]) -> list[str]:
    """Return a legal and unique topic for each joint name; legal names stay as they are."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r'[^A-Za-z0-9_]', '_', name)
        plain = re.sub(r'__+', '_', plain) if plain != name else plain
        if not plain or plain[0].isdigit():
            plain = f'joint_{plain}'
        unique, k = plain, 2
        while unique in (*found, *TAKEN):
            unique, k = f'{plain}_{k}', k + 1
        found.append(unique)
    return found
