"""ROS 2 messages without ROS: types, definitions and CDR from rosbags' store of Jazzy's types."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError

JOINT_STATE = 'sensor_msgs/msg/JointState'
MULTI_ARRAY = 'std_msgs/msg/Float64MultiArray'
POSE = 'geometry_msgs/msg/PoseStamped'
TWIST = 'geometry_msgs/msg/TwistStamped'
ACCEL = 'geometry_msgs/msg/AccelStamped'
WRENCH = 'geometry_msgs/msg/WrenchStamped'
STRING = 'std_msgs/msg/String'


@lru_cache(maxsize=1)
def typestore() -> Any:
    """Return the store of the message types that ROS 2 Jazzy ships."""
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_JAZZY)


def full_type(name: str) -> str:
    """Return ``package/msg/Type`` for that or for ``package/Type``; refuse unknown types."""
    parts = name.split('/')
    known = '/'.join([parts[0], 'msg', parts[-1]])
    if known not in typestore().fielddefs:
        raise InputError(
            f'message type: expected one of ROS 2 Jazzy such as {JOINT_STATE}, got {name!r}'
        )
    return known


@lru_cache(maxsize=64)
def definition(name: str) -> str:
    """Return the full text of a message definition, with those of the types that it uses."""
    return str(typestore().generate_msgdef(name, ros_version=2)[0])


@lru_cache(maxsize=64)
def type_hash(name: str) -> str:
    """Return the hash by which ROS 2 tells versions of a type apart."""
    return str(typestore().hash_rihs01(name))


def serialise(name: str, fields: Mapping[str, Any]) -> bytes:
    """Return a message of a type in CDR; fields that are not given are zero or empty.

    Nested messages are nested mappings; the header's ``stamp`` may be given as nanoseconds.
    """
    return bytes(typestore().serialize_cdr(_build(name, fields), name))


def deserialise(name: str, data: bytes) -> Any:
    """Return the message that CDR stands for."""
    return typestore().deserialize_cdr(data, name)


def header(time_ns: int, frame: str = '') -> dict[str, Any]:
    """Return a std_msgs/Header for ``serialise``."""
    return {'stamp': time_ns, 'frame_id': frame}


def xyz(values: ArrayLike) -> dict[str, float]:
    """Return a geometry_msgs/Vector3 or Point for ``serialise``."""
    return dict(zip('xyz', np.asarray(values, float).tolist()))


def six(values: ArrayLike, first: str, second: str) -> dict[str, dict[str, float]]:
    """Return six numbers as the two vectors of a twist, an acceleration or a wrench."""
    array = np.asarray(values, float)
    return {first: xyz(array[:3]), second: xyz(array[3:])}


def _build(name: str, fields: Mapping[str, Any]) -> Any:
    """Make an object of a message type, recursively."""
    if name == 'builtin_interfaces/msg/Time' and not isinstance(fields, Mapping):
        seconds, nanoseconds = divmod(int(fields), 10**9)
        fields = {'sec': seconds, 'nanosec': nanoseconds}
    names, values = _defaults(name)
    unknown = set(fields) - set(names)
    if unknown:
        raise InputError(f'{name}: expected fields among {list(names)}, got {sorted(unknown)}')
    made = []
    for field, (kind, detail, default) in zip(names, values):
        value = fields.get(field, default)
        if kind == 'message':
            made.append(_build(detail, value))
        elif kind == 'messages':
            made.append([_build(detail, one) for one in value])
        elif kind == 'numbers':
            made.append(np.asarray(value, detail))
        else:
            made.append(value)
    return typestore().types[name](*made)


@lru_cache(maxsize=64)
def _defaults(name: str) -> tuple[tuple[str, ...], tuple[tuple[str, Any, Any], ...]]:
    """Return the fields of a type, each with what it holds and its zero."""
    from rosbags.interfaces import Nodetype

    names, values = [], []
    for field, (node, detail) in typestore().fielddefs[name][1]:
        names.append(field)
        if node == Nodetype.BASE:
            values.append(('plain', None, _zero(detail[0])))
        elif node == Nodetype.NAME:
            values.append(('message', detail, {}))
        else:
            (inner, what), length = detail
            count = length if node == Nodetype.ARRAY else 0
            if inner == Nodetype.NAME:
                values.append(('messages', what, [{}] * count))
            elif what[0] == 'string':
                values.append(('plain', None, [''] * count))
            else:
                kind = {'octet': 'uint8', 'bool': 'bool'}.get(what[0], what[0])
                values.append(('numbers', kind, np.zeros(count, kind)))
    return tuple(names), tuple(values)


def _zero(kind: str) -> Any:
    if kind == 'string':
        return ''
    if kind == 'bool':
        return False
    return 0.0 if kind.startswith('float') else 0
