"""How the nodes want Fast DDS, the usual middleware of ROS 2; others do not look at this.

Its defaults do not suit a control loop on a busy machine. Through its shared memory a node that
was killed and started again may hear nothing at all; UDP is as fast for messages of this size.
And what gets lost is sent again up to three seconds later, with everything behind it waiting:
``fastdds.xml`` makes that a tenth of a second.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path

TRANSPORT = 'FASTDDS_BUILTIN_TRANSPORTS'
PROFILES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')
"""Under both names that versions of Fast DDS know."""


def prefer(environment: MutableMapping[str, str]) -> None:
    """Set what nobody has set in an environment, before a node is made."""
    environment.setdefault(TRANSPORT, 'UDPv4')
    if not any(name in environment for name in PROFILES):
        environment.update(dict.fromkeys(PROFILES, str(Path(__file__).with_name('fastdds.xml'))))
