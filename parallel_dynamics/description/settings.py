"""The YAML file of a robot: which links, closures and actuators make the tree parallel."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from parallel_dynamics.description.faults import (
    ACTUATION,
    MODEL,
    Faults,
    as_number,
    is_finite,
    nearest,
    suggest,
)
from parallel_dynamics.model import CLOSURE_EQUATIONS

REQUIRED = ('name', 'urdf', 'base', 'platform', 'actuators', 'closures')
OPTIONAL = ('independent', 'armature', 'gravity', 'source')
CLOSURE_KEYS = ('name', 'type', 'between')
# What cannot be judged without a key; the model itself for those not named here.
_SPOILS = {'name': None, 'source': None, 'actuators': ACTUATION}
DEFAULT_GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class ClosureData:
    """A closure as written."""

    name: str
    kind: str
    between: tuple[str, str]
    element: str


@dataclass
class Settings:
    """What the YAML file says; names are not looked up yet, and None stands for a fault."""

    path: Path
    name: str | None = None
    urdf: Path | None = None
    base: str | None = None
    platform: str | None = None
    actuators: list[str] = field(default_factory=list)
    closures: list[ClosureData] = field(default_factory=list)
    independent: tuple[str, ...] | None = None
    armature: dict[str, float] = field(default_factory=dict)
    gravity: tuple[float, float, float] = DEFAULT_GRAVITY
    source: str | None = None


class _UniqueKeyLoader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses a key that is written twice, which YAML itself would let pass."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == 'tag:yaml.org,2002:merge':
                continue  # << brings keys in; those written beside it count more
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f'the key {key!r} stands twice', key_node.start_mark
                )
            if isinstance(key, Hashable):
                seen.add(key)
        return super().construct_mapping(node, deep=deep)


def read_settings(path: Path, faults: Faults) -> Settings | None:
    """Read a YAML file; None if it holds no mapping at all."""
    data = read_yaml(path, faults)
    return None if data is None else settings_of(data, path, faults)


def read_yaml(
    path: Path, faults: Faults, keys: tuple[str, ...] = REQUIRED
) -> dict[Any, Any] | None:
    """Return the mapping in a YAML file, or None with a fault that names the keys to expect."""
    try:
        text = path.read_bytes().decode('utf-8')
    except UnicodeDecodeError as error:
        line = 1 + error.object.count(b'\n', 0, error.start)
        faults.add(
            path,
            'file',
            f'is not text in UTF-8: byte 0x{error.object[error.start]:02x} in line {line}',
            'Give the YAML file of a robot, saved as UTF-8.',
        )
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        faults.add(path, 'file', f'cannot be read: {reason}', 'Check the path.')
        return None
    if text.lstrip('\ufeff \t\r\n').startswith(('<?xml', '<!--', '<robot')):
        remedy = 'Give the YAML file of a robot, not its URDF.'
        faults.add(path, 'file', 'is not YAML but XML', remedy)
        return None
    try:
        data = yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506 - derives from SafeLoader
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        reason = ' '.join(str(error).split()).replace('in "<unicode string>", ', 'at ')
        faults.add(path, 'file', f'is not YAML: {reason}', 'Correct the syntax.')
        return None
    if not isinstance(data, dict):
        what = 'is empty' if data is None else f'holds a {type(data).__name__}'
        faults.add(
            path,
            'file',
            f'{what}, expected a mapping with the keys {", ".join(keys)}',
            'Give the YAML file of a robot, not its URDF.',
        )
        return None
    return data


def settings_of(data: dict[Any, Any], path: Path, faults: Faults) -> Settings:
    """Check types and keys of the mapping."""
    known = (*REQUIRED, *OPTIONAL)
    for key in data:
        if key not in known:
            faults.add(path, repr(key), 'unknown key', suggest(key, known), spoils=None)
    for key in REQUIRED:
        if key not in data:
            spoils = _SPOILS.get(key, MODEL)
            faults.add(path, key, 'is missing', f'Add the key `{key}`.', spoils=spoils)
    settings = Settings(path)
    for key in ('name', 'base', 'platform', 'source'):
        if key in data and (key != 'source' or data[key] is not None):
            spoils = _SPOILS.get(key, MODEL)
            setattr(settings, key, _text(data[key], key, path, faults, spoils))
    urdf = _text(data['urdf'], 'urdf', path, faults) if 'urdf' in data else None
    if urdf is not None and '://' in urdf:
        problem = f'expected a path, got the address {urdf!r}'
        faults.add(path, 'urdf', problem, 'Write the path of the URDF relative to this file.')
    elif urdf is not None:
        settings.urdf = path.parent / urdf
    if 'actuators' in data:
        settings.actuators = _names(data['actuators'], 'actuators', path, faults) or []
    if 'closures' in data:
        settings.closures = _closures(data['closures'], path, faults)
    if data.get('independent') is not None:
        names = _names(data['independent'], 'independent', path, faults)
        settings.independent = None if names is None else tuple(names)
    if data.get('armature') is not None:
        settings.armature = _armature(data['armature'], path, faults)
    if data.get('gravity') is not None:
        settings.gravity = _gravity(data['gravity'], path, faults)
    return settings


def _text(
    value: object, element: str, path: Path, faults: Faults, spoils: str | None = MODEL
) -> str | None:
    if isinstance(value, str) and value.strip() and '\0' not in value:
        return value
    remedy = 'Write a name; put it in quotes if YAML takes it for something else.'
    faults.add(path, element, f'expected text, got {value!r}', remedy, spoils=spoils)
    return None


def _names(value: object, element: str, path: Path, faults: Faults) -> list[str] | None:
    """Return a list of distinct names."""
    spoils = ACTUATION if element == 'actuators' else None
    if not isinstance(value, list):
        problem = f'expected a list of names, got {value!r}'
        faults.add(path, element, problem, 'Write [a, b, c].', spoils=spoils)
        return None
    names: list[str] = []
    for item in value:
        name = _text(item, element, path, faults, spoils=spoils)
        if name is None:
            continue
        if name in names:
            faults.add(path, element, f'{name!r} stands twice', 'Name it once.', spoils=spoils)
            continue
        names.append(name)
    return names


def _closures(value: object, path: Path, faults: Faults) -> list[ClosureData]:
    if not isinstance(value, list) or not value:
        faults.add(
            path,
            'closures',
            f'expected a list of closures, got {value!r}',
            'Write - {name: ball1, type: ball, between: [leg1_tip, platform_p1]}.',
        )
        return []
    closures: list[ClosureData] = []
    for number, item in enumerate(value, start=1):
        closure = _closure(item, number, path, faults)
        if closure is None:
            continue
        if closure.name in {other.name for other in closures}:
            faults.add(
                path, closure.element, 'a second closure with this name', 'Give it its own name.'
            )
            continue
        closures.append(closure)
    return closures


def _closure(item: object, number: int, path: Path, faults: Faults) -> ClosureData | None:
    element = f'closure {number}'
    if not isinstance(item, dict):
        faults.add(
            path, element, f'expected a mapping, got {item!r}', 'Give name, type and between.'
        )
        return None
    if isinstance(item.get('name'), str):
        element = f'closure {item["name"]!r}'
    for key in item:
        if key not in CLOSURE_KEYS:
            faults.add(path, element, f'unknown key {key!r}', suggest(key, CLOSURE_KEYS))
    missing = [key for key in CLOSURE_KEYS if key not in item]
    for key in missing:
        faults.add(path, element, f'{key!r} is missing', f'Add the key `{key}`.')
    if missing:
        return None
    name = _text(item['name'], element, path, faults)
    kind = item['type']
    if not isinstance(kind, str) or kind not in CLOSURE_EQUATIONS:
        close = nearest(kind, CLOSURE_EQUATIONS)
        hint = f'Did you mean {close!r}? ' if close else ''
        types = ', '.join(CLOSURE_EQUATIONS)
        faults.add(path, element, f'unknown type {kind!r}', f'{hint}Types: {types}.')
        kind = None
    between = item['between']
    if not isinstance(between, list) or len(between) != 2:
        faults.add(
            path,
            element,
            f'`between` needs two frames, got {between!r}',
            'Write [frame on the leg, frame on the platform].',
        )
        return None
    frames = [_text(frame, element, path, faults) for frame in between]
    if name is None or kind is None or frames[0] is None or frames[1] is None:
        return None
    return ClosureData(name, kind, (frames[0], frames[1]), element)


def _armature(value: object, path: Path, faults: Faults) -> dict[str, float]:
    if not isinstance(value, dict):
        faults.add(
            path,
            'armature',
            f'expected a mapping from joint to inertia, got {value!r}',
            'Write {leg1_slide: 12.5}.',
            spoils=None,
        )
        return {}
    armature: dict[str, float] = {}
    for joint, item in value.items():
        number = as_number(item)
        if number is None or not is_finite([number]) or number < 0.0:
            faults.add(
                path,
                f'armature of {joint!r}',
                f'expected a finite number that is not negative, got {item!r}',
                'Give the inertia that the drive adds (kg or kg m^2).',
                spoils=None,
            )
            continue
        armature[str(joint)] = number
    return armature


def _gravity(value: object, path: Path, faults: Faults) -> tuple[float, float, float]:
    numbers = [as_number(item) for item in value] if isinstance(value, list) else []
    g = [number for number in numbers if number is not None]
    if len(numbers) != 3 or len(g) != 3 or not is_finite(g):
        faults.add(
            path,
            'gravity',
            f'expected three finite numbers, got {value!r}',
            'Write [0, 0, -9.81], in m/s^2 and the axes of the base.',
            spoils=None,
        )
        return DEFAULT_GRAVITY
    return (g[0], g[1], g[2])
