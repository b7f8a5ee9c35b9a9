"""How the nodes want Fast DDS, the usual middleware of ROS 2; others do not look at this.

Its defaults do not suit a control loop on a busy machine. Through its shared memory a node that
was killed and started again may hear nothing at all, and what a node leaves there that is killed
while it starts makes others wait for ever; UDP is as fast for messages of this size. And what
gets lost is sent again up to three seconds later, with everything behind it waiting:
``fastdds.xml`` makes that a tenth of a second.

Where ROS 2 is to keep to this machine, it chooses the transports itself, shared memory among them.
``fastdds_loopback.xml`` then takes its place: the same addresses, by UDP alone, and sockets that
only this machine can reach.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from pathlib import Path

TRANSPORT = 'FASTDDS_BUILTIN_TRANSPORTS'
PROFILES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')
"""Under both names that versions of Fast DDS know."""
RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
PEERS = 'ROS_STATIC_PEERS'
IMPLEMENTATION = 'RMW_IMPLEMENTATION'
USUAL = 'rmw_fastrtps_cpp'

NETWORK = str(Path(__file__).with_name('fastdds.xml'))
LOOPBACK = str(Path(__file__).with_name('fastdds_loopback.xml'))


def prefer(environment: MutableMapping[str, str]) -> None:
    """Set what nobody has set in an environment, before a node is made.

    A process may inherit what this has set in its parent: that is understood, and follows the
    range if that has been set anew.
    """
    environment.setdefault(TRANSPORT, 'UDPv4')
    files = {environment.get(name, '') for name in PROFILES} - {''}
    if files - {NETWORK, LOOPBACK}:
        return
    if environment.get(RANGE) == 'LOCALHOST' and _ours_to_choose(environment):
        environment[RANGE] = 'SYSTEM_DEFAULT'
        files = {LOOPBACK}
    alone = LOOPBACK in files and environment.get(RANGE) == 'SYSTEM_DEFAULT'
    environment.update(dict.fromkeys(PROFILES, LOOPBACK if alone else NETWORK))


def _ours_to_choose(environment: Mapping[str, str]) -> bool:
    """Return whether this is Fast DDS, and nobody has asked for transports or peers."""
    fast_dds = environment.get(IMPLEMENTATION, USUAL).startswith('rmw_fastrtps')
    return fast_dds and environment[TRANSPORT] == 'UDPv4' and not environment.get(PEERS)
