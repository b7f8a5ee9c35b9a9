"""Closures inside the URDF, as the <constraint> element proposed for it has them.

The proposal is ros/urdfdom#264 with ros/urdfdom_headers#108 (which answer ros/urdf#13)::

    <constraint name="..." type="revolute | spherical | link | universal | prismatic">
      <parent link="..."/> <parent_origin xyz="..." rpy="..."/> <parent_axis xyz="..."/>
      <child link="..."/>  <child_origin xyz="..." rpy="..."/>  <child_axis xyz="..."/>
    </constraint>

``link`` is a link that was cut, a weld. There is no cylinder and no plane, and this package has
no closure for ``universal`` and ``prismatic``; those are expressed by joints in the tree.
Actuators are the joints with a command interface in <ros2_control>, or those of <transmission>.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lxml import etree
import numpy as np

from parallel_dynamics.description.conversion.carrying import carry_platform
from parallel_dynamics.description.conversion.document import Document
from parallel_dynamics.description.conversion.expressing import express
from parallel_dynamics.description.faults import Faults, suggest
from parallel_dynamics.description.tree import rotation_of
from parallel_dynamics.description.urdf import read_xml
from parallel_dynamics.spatial import Array, rotation_between

_TYPES = {'ball': 'spherical', 'weld': 'link', 'revolute': 'revolute'}
_KINDS = {**{tag: kind for kind, tag in _TYPES.items()}, 'fixed': 'weld'}
_NO_CLOSURE = {
    'universal': 'Cut the loop at another joint, or put the cross in the tree: a massless link '
    'with two hinges and a constraint of type link.',
    'prismatic': 'Put the slide in the tree, on a massless link, with a constraint of type link.',
}


def export_constraints(document: Document) -> dict[str, str]:
    """Return one URDF with <constraint> elements and the actuators in <ros2_control>."""
    document = document.copy()
    express(document, _TYPES)
    for closure in document.data['closures']:
        element = etree.SubElement(
            document.root, 'constraint', name=closure['name'], type=_TYPES[closure['type']]
        )
        for role, link in zip(('parent', 'child'), closure['between'], strict=True):
            etree.SubElement(element, role, link=link)
            etree.SubElement(element, f'{role}_origin', xyz='0 0 0', rpy='0 0 0')
            if closure['type'] == 'revolute':
                etree.SubElement(element, f'{role}_axis', xyz='0 0 1')
    _write_actuators(document)
    document.notes.append('a URDF has no place for armature and gravity')
    return {f'{document.path.stem}.urdf': document.urdf_text()}


def _write_actuators(document: Document) -> None:
    for control in document.root.findall('ros2_control'):
        document.root.remove(control)
    control = etree.SubElement(
        document.root, 'ros2_control', name=str(document.data['name']), type='system'
    )
    for actuator in document.data['actuators']:
        joint = etree.SubElement(control, 'joint', name=actuator)
        etree.SubElement(joint, 'command_interface', name='effort')
        for state in ('position', 'velocity', 'effort'):
            etree.SubElement(joint, 'state_interface', name=state)


def import_constraints(
    path: Path,
    platform: str,
    base: str | None = None,
    actuators: list[str] | None = None,
) -> Document:
    """Read a URDF with <constraint> elements.

    Parameters
    ----------
    path : Path
        The URDF.
    platform : str
        The link that is the platform; the proposal does not say.
    base : str
        The base link; the root of the URDF unless given.
    actuators : list of str
        Actuated joints; those of the file unless given.

    Raises
    ------
    DescriptionError
        With all faults of the file.
    """
    faults = Faults()
    root = read_xml(path, faults)
    if root is None:
        raise faults.error(path)
    document = Document(root, {}, path)
    closures = []
    for element in root.findall('constraint'):
        closure = _closure(document, element, faults)
        if closure is not None:
            closures.append(closure)
        root.remove(element)
    if not closures and not faults.found:
        faults.add(path, 'robot', 'has no <constraint> elements', 'Give a URDF with closures.')
    if faults.found:
        raise faults.error(path)
    driven = _actuators(root) if actuators is None else actuators
    document.describe(root.get('name') or path.stem, platform, base, driven, closures)
    carry_platform(document)
    return document


def _actuators(root: Any) -> list[str]:
    driven = [
        joint.get('name')
        for joint in root.iterfind('ros2_control/joint')
        if joint.find('command_interface') is not None
    ]
    driven += [joint.get('name') for joint in root.iterfind('transmission/joint')]
    return [str(name) for name in dict.fromkeys(driven)]


def _closure(document: Document, element: Any, faults: Faults) -> dict[str, Any] | None:
    """Return a closure of this package's format; its frames are added to the tree."""
    name, kind = element.get('name') or 'constraint', (element.get('type') or '').lower()
    where = f'constraint {name!r} (line {element.sourceline})'
    if kind not in _KINDS:
        remedy = _NO_CLOSURE.get(kind, f'Types: {", ".join(_KINDS)}.')
        faults.add(document.path, where, f'no closure for the type {kind!r}', remedy)
        return None
    links = document.link_names()
    frames = []
    for role in ('parent', 'child'):
        link = element.find(role)
        link_name = None if link is None else link.get('link')
        if link_name not in links:
            faults.add(
                document.path, where, f'{role} link {link_name!r} is unknown',
                suggest(link_name, links),
            )  # fmt: skip
            return None
        pose = _pose(element, role, kind == 'revolute')
        if pose is None:
            faults.add(
                document.path, where, f'{role}_origin or {role}_axis is not three numbers',
                'Write xyz="0 0 0" rpy="0 0 0".',
            )  # fmt: skip
            return None
        rotation, position = pose
        if np.allclose(rotation, np.eye(3), atol=1e-15) and not position.any():
            frames.append(link_name)
        else:
            frames.append(document.add_frame(f'{name}_{role}', link_name, rotation, position))
    return {'name': name, 'type': _KINDS[kind], 'between': frames}


def _pose(element: Any, role: str, has_axis: bool) -> tuple[Array, Array] | None:
    """Return the frame of one side in its link, with z along the axis of a hinge.

    The axis is in the constraint's frame; the child's is the parent's where it is not given, and
    URDF's default of both is x.
    """
    try:
        xyz, rpy = (_row(element, f'{role}_origin', key, '0 0 0') for key in ('xyz', 'rpy'))
        along = _row(element, 'parent_axis', 'xyz', '1 0 0')
        if role == 'child' and element.find('child_axis') is not None:
            along = _row(element, 'child_axis', 'xyz', '1 0 0')
    except ValueError:
        return None
    rows = (xyz, rpy, along)
    if any(row.shape != (3,) or not np.isfinite(row).all() for row in rows) or not along.any():
        return None
    rotation = rotation_of(rpy)
    return (rotation @ rotation_between(along) if has_axis else rotation), xyz


def _row(element: Any, tag: str, key: str, default: str) -> Array:
    part = element.find(tag)
    return np.array((default if part is None else part.get(key, default)).split(), dtype=float)
