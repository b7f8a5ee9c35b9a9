"""Gepetto's convention: a URDF tree with robot.yaml (closed_loop, type, name_mot).

As read by ``example_parallel_robots.loader_tools``: ``closed_loop`` lists pairs of frames, which
may be links or joints; ``type`` says 3d or 6d for each, anything but 3d meaning 6d; ``name_mot``
are the motors; ``joint_name`` and ``joint_type`` replace joints of the URDF by SPHERICAL,
UJOINT_<axis><axis> or FIXED ones.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from lxml import etree

from parallel_dynamics.description.conversion.carrying import carry_platform
from parallel_dynamics.description.conversion.document import Document, yaml_text
from parallel_dynamics.description.conversion.expressing import express
from parallel_dynamics.description.faults import Faults, suggest
from parallel_dynamics.description.settings import read_yaml
from parallel_dynamics.description.urdf import read_xml

_TYPES = {'ball': '3d', 'weld': '6d'}
_AXES = {'X': '1 0 0', 'Y': '0 1 0', 'Z': '0 0 1'}
_KEYS = ('closed_loop', 'type', 'name_mot', 'joint_name', 'joint_type')


def export_gepetto(document: Document) -> dict[str, str]:
    """Return robot.urdf and robot.yaml; the platform stays on its virtual joints."""
    document = document.copy()
    express(document, _TYPES)
    closures = document.data['closures']
    data = {
        'closed_loop': [list(closure['between']) for closure in closures],
        'type': [_TYPES[closure['type']] for closure in closures],
        'name_mot': list(document.data['actuators']),
    }
    document.notes.append(
        "robot.yaml has no place for base, platform, armature and gravity; the platform's "
        'virtual joints are ordinary joints there'
    )
    return {'robot.urdf': document.urdf_text(), 'robot.yaml': yaml_text(data, document.path.stem)}


def import_gepetto(
    path: Path,
    platform: str,
    base: str | None = None,
    actuators: list[str] | None = None,
) -> Document:
    """Read robot.yaml with the URDF beside it: of the same name, or the only one there.

    Parameters
    ----------
    path : Path
        The YAML file.
    platform : str
        The link that is the platform; the format does not say.
    base : str
        The base link; the root of the URDF unless given.
    actuators : list of str
        Actuated joints; those of the file unless given.

    Raises
    ------
    DescriptionError
        With all faults of both files.
    """
    faults = Faults()
    data = read_yaml(path, faults, _KEYS)
    urdf = _urdf_beside(path)
    root = read_xml(urdf, faults)
    if data is None or root is None:
        raise faults.error(path)
    document = Document(root, {}, path, urdf=urdf)
    lists = {key: _list(data, key, path, faults) for key in _KEYS}
    for key in data:
        if key not in _KEYS:
            faults.add(path, str(key), 'unknown key', suggest(key, _KEYS))
    _replace_joints(document, lists['joint_name'], lists['joint_type'], faults)
    closures = _closures(document, lists['closed_loop'], lists['type'], faults)
    if faults.found:
        raise faults.error(path)
    driven = lists['name_mot'] if actuators is None else actuators
    document.describe(root.get('name') or path.parent.name, platform, base, driven, closures)
    carry_platform(document)
    return document


def _urdf_beside(path: Path) -> Path:
    named = path.with_suffix('.urdf')
    others = sorted(path.parent.glob('*.urdf'))
    if named.is_file() or len(others) != 1:
        return named
    return others[0]


def _list(data: dict[Any, Any], key: str, path: Path, faults: Faults) -> list[Any]:
    value = data.get(key, [])
    if isinstance(value, list):
        return value
    faults.add(path, key, f'expected a list, got {value!r}', 'Write [a, b].')
    return []


def _closures(
    document: Document, pairs: list[Any], kinds: list[Any], faults: Faults
) -> list[dict[str, Any]]:
    """Return closures of this package's format, with frames that are links."""
    closures = []
    if len(kinds) < len(pairs):
        document.notes.append('closed loops without a type are taken for 6d')
    for k, pair in enumerate(pairs):
        element = f'closed_loop {k + 1}'
        if not isinstance(pair, list) or len(pair) != 2:
            faults.add(document.path, element, f'expected two frames, got {pair!r}', 'Name two.')
            continue
        frames = [_frame(document, name, element, faults) for name in pair]
        three = k < len(kinds) and str(kinds[k]).lower() == '3d'
        closures.append(
            {'name': f'loop{k + 1}', 'type': 'ball' if three else 'weld', 'between': frames}
        )
    return closures


def _frame(document: Document, name: object, element: str, faults: Faults) -> str:
    """Return the link of a frame: itself, or the child of the joint of this name."""
    links = document.link_names()
    if name in links:
        return str(name)
    joints = {joint.get('name'): joint for joint in document.root.findall('joint')}
    if name in joints and joints[name].find('child') is not None:
        return str(joints[name].find('child').get('link'))
    known = [*links, *(joint for joint in joints if joint)]
    faults.add(document.path, element, f'unknown frame {name!r}', suggest(name, known))
    return ''


def _replace_joints(
    document: Document, names: list[Any], kinds: list[Any], faults: Faults
) -> None:
    """Write SPHERICAL, UJOINT and FIXED joints as URDF has them."""
    if len(names) != len(kinds):
        faults.add(
            document.path,
            'joint_type',
            f'{len(kinds)} types for {len(names)} joints',
            'Give one type for each name.',
        )
        return
    for name, kind in zip(names, kinds, strict=True):
        joint = document.joint(name)
        if joint is None:
            known = [j.get('name', '') for j in document.root.findall('joint')]
            faults.add(
                document.path, 'joint_name', f'unknown joint {name!r}', suggest(name, known)
            )
        elif kind == 'FIXED':
            joint.set('type', 'fixed')
        elif kind == 'SPHERICAL':
            _split(document, joint, 'XYZ')
        elif isinstance(kind, str) and kind.startswith('UJOINT_') and set(kind[7:]) <= set(_AXES):
            _split(document, joint, kind[7:])
        else:
            faults.add(
                document.path,
                f'joint_type of {name!r}',
                f'unknown type {kind!r}',
                'Types: SPHERICAL, UJOINT_XY (and other axes), FIXED.',
            )


def _split(document: Document, joint: Any, axes: str) -> None:
    """Replace a joint by hinges about these axes of its frame, on massless links between."""
    name, last = joint.get('name'), joint.find('child').get('link')
    parent = joint.find('parent').get('link')
    origin = copy.deepcopy(joint.find('origin'))
    document.root.remove(joint)
    for k, axis in enumerate(axes):
        hinge = etree.SubElement(
            document.root, 'joint', name=f'{name}_{axis}', type='continuous'
        )  # fmt: skip
        child = last if k == len(axes) - 1 else document.free_name(f'{name}_{axis}_link')
        if child != last:
            etree.SubElement(document.root, 'link', name=child)
        etree.SubElement(hinge, 'parent', link=parent)
        etree.SubElement(hinge, 'child', link=child)
        if k == 0 and origin is not None:
            hinge.append(origin)
        etree.SubElement(hinge, 'axis', xyz=_AXES[axis])
        parent = child
    document.notes.append(f'joint {name!r} became hinges about {", ".join(axes)}')
