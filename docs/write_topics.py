# ruff: noqa: E501 - the rows of Markdown tables cannot be broken
"""Write topics.md: what every node says of itself, asked from the running nodes.

    python docs/write_topics.py [FILE]
"""

from __future__ import annotations

import importlib
import inspect
import os
from pathlib import Path
import sys
import tempfile
import time

os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'

import rclpy  # noqa: E402
from rclpy.node import Node  # noqa: E402

NODES = (
    'controller', 'joint_force_estimator', 'simulator', 'trajectory_source', 'viewer', 'recorder',
)  # fmt: skip
# Every node has these by itself.
COMMON_TOPICS = {'/rosout', '/parameter_events', '/clock'}
COMMON_SERVICES = ('parameter', 'type_description', 'logger')
INTRODUCTION = """# Topics, services and parameters

Written by `python docs/write_topics.py` from the nodes themselves, with the robot `gough_stewart`; a test
fails when it is not current. Names are relative, so namespaces and remaps work; quality of service can be
changed by `qos_overrides` parameters. All nodes take `use_sim_time`.

| executable | does |
|---|---|
| `controller` | desired platform trajectories and joint states in, efforts out |
| `joint_force_estimator` | joint states in; platform motion, external wrench and the wrench at every joint out |
| `simulator` | efforts in, joint states out: direct dynamics in time |
| `trajectory_source` | publishes desired trajectories, checked against the robot's limits |
| `viewer` | a page in the browser that follows a running loop |
| `recorder` | writes every topic of its namespace to an MCAP file, with `/diagnostics`, `/clock` and `/tf` |
| `replay` | plays a recording into its topics; parameters `file`, `speed`, `loop`, `publish_clock`, `wait_for_reader` |

With Fast DDS, the usual middleware, the nodes talk by UDP and repair losses within a tenth of a second
(`parallel_dynamics/nodes/fastdds.xml`), so that a node that was killed is heard again when it comes back and a busy
machine does not make others wait. Where `ROS_AUTOMATIC_DISCOVERY_RANGE` is `LOCALHOST` they also do without the shared
memory that ROS 2 then adds (`fastdds_loopback.xml`); other nodes find them as usual. Set `FASTDDS_BUILTIN_TRANSPORTS`
(`LARGE_DATA`, say) or `FASTRTPS_DEFAULT_PROFILES_FILE` to have it another way.
"""


def node_class(module: str) -> type:
    """Return the node that a module's executable runs."""
    found = importlib.import_module(f'parallel_dynamics.nodes.{module}')
    (mine,) = (
        value for value in vars(found).values()
        if inspect.isclass(value) and issubclass(value, Node)
        and value.__module__ == found.__name__
    )  # fmt: skip
    return mine


def rows(pairs: list[tuple[str, list[str]]], hidden) -> list[str]:
    """Return table rows of names and types."""
    return [
        f'| `{name}` | {", ".join(types).replace("/msg/", "/").replace("/srv/", "/")} |'
        for name, types in sorted(pairs)
        if not hidden(name)
    ]


def relative(name: str, node: Node) -> str:
    """Return a name as it stands in a node without a namespace."""
    own = f'/{node.get_name()}/'
    if name.startswith(own):
        return f'~/{name[len(own):]}'
    return name if name == '/diagnostics' else name.lstrip('/')


def shown(value: object) -> str:
    """Return a parameter's value as YAML would have it."""
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, bool):
        return str(value).lower()
    return str([float(v) for v in value]) if hasattr(value, '__len__') else f'{value:g}'


def parameter_rows(node: Node) -> list[str]:
    """Return the rows of the parameter table."""
    found = []
    for name in sorted(node._parameters):
        if name == 'use_sim_time' or name.startswith(('qos_overrides', 'start_type_desc')):
            continue
        descriptor = node.describe_parameter(name)
        text = descriptor.description.replace('|', '\\|')
        if descriptor.additional_constraints:
            text += f' ({descriptor.additional_constraints})'
        fixed = ', fixed' if descriptor.read_only else ''
        found.append(f'| `{name}` | {shown(node.get_parameter(name).value)}{fixed} | {text} |')
    return found


def section(module: str) -> str:
    """Return the part of the page about one node."""
    node = node_class(module)()
    try:
        name, space = node.get_name(), node.get_namespace()
        deadline = time.monotonic() + 2.0
        while time.monotonic() < deadline:
            rclpy.spin_once(node, timeout_sec=0.1)

        def listed(kind: str) -> list[tuple[str, list[str]]]:
            ask = getattr(node, f'get_{kind}_names_and_types_by_node')
            found = {relative(n, node): t for n, t in ask(name, space)}
            wrenches = {f'joint_forces/{n}' for n in (*node.robot.joints, *node.robot.closures)}
            if wrenches & set(found):
                found['joint_forces/<name>'] = found[min(wrenches & set(found))]
            return [(n, t) for n, t in found.items() if n not in wrenches]

        def common(topic: str) -> bool:
            return f'/{topic}' in COMMON_TOPICS and topic != 'clock'

        def internal(service: str) -> bool:
            return any(word in service for word in COMMON_SERVICES)

        parts = [f'## `{module}`\n', '| parameter | default | meaning |', '|---|---|---|']
        parts += parameter_rows(node)
        for title, found in (
            ('subscribes', rows(listed('subscriber'), common)),
            ('publishes', rows(listed('publisher'), common)),
            ('service', rows(listed('service'), internal)),
        ):
            if found:
                parts += ['', f'| {title} | type |', '|---|---|', *found]
        return '\n'.join(parts) + '\n'
    finally:
        close = getattr(node, 'close', None)
        if close is not None:
            close()
        node.destroy_node()


def page() -> str:
    """Return the page."""
    rclpy.init()
    here = Path.cwd()
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)  # the recorder writes a file
            return '\n'.join([INTRODUCTION, *(section(module) for module in NODES)])
    finally:
        os.chdir(here)
        rclpy.try_shutdown()


if __name__ == '__main__':
    target = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / 'topics.md')
    target.write_text(page(), encoding='utf-8')
