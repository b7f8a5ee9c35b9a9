"""URDF into plain data, element by element, so that one bad element does not hide the others.

``urdf_parser_py`` reads each link and each joint. It stops at its first exception and prints to
the standard error what it does not know; here both become faults that name the element.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import copy
from pathlib import Path
import re
import threading
from typing import Any

from lxml import etree
import numpy as np
from urdf_parser_py import urdf as parser
import urdf_parser_py.xml_reflection.core as reflection

from parallel_dynamics.description.faults import MASS, Faults, is_finite, nearest, suggest
from parallel_dynamics.description.inertia import check_inertia
from parallel_dynamics.description.tree import (
    JointData,
    LinkData,
    MimicData,
    Tree,
    rotation_of,
)
from parallel_dynamics.model import Inertia, frozen

JOINT_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed')
_XACRO = 'xacro}'  # how its namespace ends; it has been at several addresses
_NEEDS_LIMIT = ('revolute', 'prismatic')
_JOINT_ELEMENTS = tuple(parser.Joint.XML_REFL.element_map)
_LINK_ELEMENTS = tuple(parser.Link.XML_REFL.element_map)
_LOOKS = {'visual': parser.Visual, 'collision': parser.Collision}
# urdf_parser_py reports through a module variable; two threads must not swap it at once.
_LOCK = threading.Lock()


@contextmanager
def _remarks() -> Iterator[list[str]]:
    """Collect what urdf_parser_py would print."""
    remarks: list[str] = []
    with _LOCK:
        before = reflection.on_error
        reflection.on_error = remarks.append
        try:
            yield remarks
        finally:
            reflection.on_error = before


def read_urdf(path: Path, faults: Faults) -> Tree | None:
    """Read a URDF file; None if there is no robot in it at all."""
    root = read_xml(path, faults)
    if root is None:
        return None
    if root.tag != 'robot':
        faults.add(
            path,
            f'<{root.tag}>',
            'expected a URDF, whose outermost element is <robot>',
            'Give a URDF file (run xacro first if this is a xacro file).',
        )
        return None
    return tree_of(root, path, faults)


def read_xml(path: Path, faults: Faults) -> Any:
    """Return the outermost element of an XML file, or None with a fault."""
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        remedy = "Check the path; that of a robot's URDF is `urdf` in its YAML."
        faults.add(path, 'file', f'cannot be read: {reason}', remedy)
        return None
    # No entities, no network: a description comes from anywhere.
    safe = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(content, safe)
    except (etree.XMLSyntaxError, ValueError) as error:
        what = 'is empty' if not content.strip() else f'is not XML: {error}'
        faults.add(path, 'file', what, 'Give a well-formed file; a robot is a URDF.')
        return None


def tree_of(root: Any, path: Path, faults: Faults) -> Tree:
    """Return links and joints of a <robot> element."""
    tree = Tree(path)
    for node in root:
        if not isinstance(node.tag, str):
            continue  # comment or processing instruction
        if node.tag == 'link':
            link = _read_link(node, path, faults) or _unread_link(node)
            _add(tree.links, link, 'link', path, faults)
        elif node.tag == 'joint':
            joint = _read_joint(node, path, faults) or _unread_joint(node)
            if joint is None and node.get('name'):
                tree.unread.add(node.get('name'))
            _add(tree.joints, joint, 'joint', path, faults)
        elif _XACRO in node.tag:
            faults.add(
                path,
                f'<xacro:{node.tag.rpartition(_XACRO)[2]}> (line {node.sourceline})',
                'is an instruction to xacro, not a part of a robot',
                'Run xacro first and give the URDF that it writes.',
            )
        elif nearest(node.tag, ('link', 'joint')) is not None:
            faults.add(
                path,
                f'<{node.tag}> (line {node.sourceline})',
                'unknown element',
                suggest(node.tag, ('link', 'joint')),
            )
    return tree


def _add(known: dict[str, Any], item: Any, what: str, path: Path, faults: Faults) -> None:
    if item is None:
        return
    if item.name in known:
        faults.add(
            path,
            item.element,
            f'a second {what} with this name',
            f'Give every {what} a name of its own.',
        )
        return
    known[item.name] = item


def _unread_link(node: Any) -> LinkData | None:
    """Return a stand-in for a link that could not be read, if it has a name."""
    name = node.get('name')
    return LinkData(name, Inertia(), _element(node)) if name else None


def _unread_joint(node: Any) -> JointData | None:
    """Return a stand-in for a joint that could not be read, if it says what it connects."""
    name = node.get('name')
    ends = [node.find(role) for role in ('parent', 'child')]
    links = [None if end is None else end.get('link') for end in ends]
    if not name or not links[0] or not links[1]:
        return None
    kind = node.get('type') if node.get('type') in JOINT_TYPES else 'revolute'
    axis = np.array([1.0, 0.0, 0.0])
    return JointData(
        name, kind, links[0], links[1], np.eye(3), np.zeros(3), axis, _element(node),
        readable=False,
    )  # fmt: skip


def _element(node: Any) -> str:
    name = node.get('name')
    what = f"{node.tag} '{name}'" if name else f'{node.tag} without a name'
    return f'{what} (line {node.sourceline})'


def _parse(kind: Any, node: Any, path: Path, faults: Faults, known: tuple[str, ...]) -> Any:
    """Return the object that urdf_parser_py makes of a node, or None with a fault."""
    if not node.get('name'):
        faults.add(path, _element(node), 'has no name', 'Add the attribute name="...".')
        return None
    with _remarks() as remarks:
        try:
            item = kind.from_xml(node, reflection.Path(node.tag))
        except Exception as error:  # noqa: BLE001 - the parser raises bare exceptions
            faults.add(path, _element(node), _reason(error), 'Correct this element.')
            return None
    for remark in remarks:
        _report(remark, node, path, faults, known)
    return item


def _reason(error: Exception) -> str:
    """Return what urdf_parser_py found wrong, in one line."""
    where = ''
    if isinstance(error, reflection.ParseError):
        # The name of the link or joint is in the element already.
        inside = re.sub(r"^/?(link|joint)(\[@name='[^']*'\])?/?", '', str(error.path))
        where, error = f'in {inside}: ' if inside else '', error.e
    text = ' '.join(str(error).split()) or type(error).__name__
    if 'NoneType' in text:
        text = 'an element lacks its value (mass: value, axis: xyz, parent and child: link)'
    if text == 'Invalid vector length':
        text = 'a vector needs three numbers (xyz, rpy), or four (rgba), with blanks between'
    return f'cannot be read: {where}{text}'


def _report(remark: str, node: Any, path: Path, faults: Faults, known: tuple[str, ...]) -> None:
    """Turn a remark of urdf_parser_py into a fault where physics may be lost."""
    found = re.match(r'Unknown (tag|attribute) "([^"]*)" in (.*)', remark)
    if found is None:
        if remark.startswith('Scalar element'):
            faults.add(path, _element(node), remark, 'Keep one of them.', spoils=None)
        return
    kind, name, where = found.groups()
    if name.startswith('{'):
        return  # another tool's namespace
    if kind == 'tag' and nearest(name, (*known, 'mass', 'inertia')) is None:
        return  # an extension of another tool, not a slip of the pen
    remedy = suggest(name, known) if kind == 'tag' else 'Remove it or correct its spelling.'
    faults.add(path, _element(node), f'unknown {kind} {name!r}', remedy, spoils=None)


def _pose(origin: Any, element: str, path: Path, faults: Faults) -> tuple[Any, Any] | None:
    """Return rotation (3, 3) and position (3,) of an <origin>, or None with a fault."""
    if origin is None:
        return np.eye(3), np.zeros(3)
    xyz, rpy = origin.xyz or [0.0] * 3, origin.rpy or [0.0] * 3
    if len(xyz) != 3 or len(rpy) != 3:
        faults.add(path, element, 'origin needs three numbers', 'Write xyz="0 0 0" rpy="0 0 0".')
        return None
    if not is_finite([*xyz, *rpy]):
        faults.add(path, element, f'origin is not finite: {xyz} {rpy}', 'Give finite numbers.')
        return None
    return rotation_of(rpy), np.array(xyz, dtype=float)


def _note_looks(node: Any, path: Path, faults: Faults) -> None:
    """Keep a remark on looks of a link that cannot be read: no motion depends on them."""
    for tag, kind in _LOOKS.items():
        for part in node.findall(tag):
            with _remarks():
                try:
                    kind.from_xml(part, reflection.Path(tag))
                except Exception as error:  # noqa: BLE001 - the parser raises bare exceptions
                    faults.note(
                        path,
                        f'{_element(node)}, {tag} (line {part.sourceline})',
                        _reason(error),
                        'It counts for nothing here, but other tools may refuse the file.',
                    )


def _read_link(node: Any, path: Path, faults: Faults) -> LinkData | None:
    _note_looks(node, path, faults)
    body = copy.deepcopy(node)
    etree.strip_elements(body, *_LOOKS, with_tail=False)
    link = _parse(parser.Link, body, path, faults, _LINK_ELEMENTS)
    if link is None:
        return None
    element = _element(node)
    return LinkData(link.name, _read_inertia(link.inertial, element, path, faults), element)


def _read_inertia(inertial: Any, element: str, path: Path, faults: Faults) -> Inertia:
    """Return the inertia in the link's frame; a bad one is a fault and counts as none."""
    if inertial is None:
        return Inertia()
    pose = _pose(inertial.origin, f'{element}, inertial', path, faults)
    if pose is None:
        return Inertia()
    if inertial.inertia is None:
        faults.add(
            path,
            element,
            f'has a mass of {inertial.mass:g} kg but no <inertia>, which URDF requires',
            'Add <inertia ixx="..." .../>, all zeros for a point mass.',
            spoils=MASS,
        )
        return Inertia()
    tensor = np.array(inertial.inertia.to_matrix(), dtype=float)
    if not check_inertia(inertial.mass, tensor, element, path, faults):
        return Inertia()
    own = Inertia(float(inertial.mass), frozen(np.zeros(3), (3,)), frozen(tensor, (3, 3)))
    return own.moved(*pose)


def _read_joint(node: Any, path: Path, faults: Faults) -> JointData | None:
    joint = _parse(parser.Joint, node, path, faults, _JOINT_ELEMENTS)
    if joint is None:
        return None
    element = _element(node)
    if joint.type not in JOINT_TYPES:
        faults.add(
            path,
            element,
            f'joints of type {joint.type!r} are not supported',
            f'Use one of {", ".join(JOINT_TYPES)}; a joint with more freedom is a chain of '
            'these with massless links between.',
        )
        return None
    if not joint.parent or not joint.child:
        faults.add(path, element, 'needs a parent and a child link', 'Name both links.')
        return None
    pose = _pose(joint.origin, element, path, faults)
    axis = _read_axis(joint, element, path, faults)
    numbers = _read_numbers(joint, element, path, faults)
    mimic = _read_mimic(joint, element, path, faults)
    if pose is None or axis is None:
        return None
    return JointData(
        joint.name, joint.type, joint.parent, joint.child, pose[0], pose[1], axis, element,
        mimic=mimic, **numbers,
    )  # fmt: skip


def _read_axis(joint: Any, element: str, path: Path, faults: Faults) -> Any:
    """Return the unit axis (3,); URDF's default is x."""
    axis = np.array([1.0, 0.0, 0.0] if joint.axis is None else joint.axis, dtype=float)
    if joint.type == 'fixed':
        return np.array([1.0, 0.0, 0.0])
    if axis.shape != (3,) or not is_finite(axis):
        faults.add(path, element, f'axis is not finite: {joint.axis}', 'Give a direction.')
        return None
    length = float(np.linalg.norm(axis))
    if length < 1e-9:
        faults.add(path, element, 'axis has no length', 'Give a direction, such as xyz="0 0 1".')
        return None
    return axis / length


def _read_numbers(joint: Any, element: str, path: Path, faults: Faults) -> dict[str, Any]:
    """Return limits, damping and friction."""
    numbers: dict[str, Any] = {}
    limit, dynamics = joint.limit, joint.dynamics
    if limit is None and joint.type in _NEEDS_LIMIT:
        faults.note(
            path,
            element,
            f'a {joint.type} joint has no <limit>, which URDF requires; here it is unlimited, '
            'other tools will refuse the file',
            'Add <limit lower="..." upper="..." effort="..." velocity="..."/>.',
        )
    if limit is not None and joint.type != 'fixed':
        # URDF's default of both is zero: not given, since a joint that cannot move is fixed.
        if joint.type != 'continuous' and (limit.lower or limit.upper):
            numbers['lower'], numbers['upper'] = limit.lower, limit.upper
        # A zero means "not known" in the files of most exporters, and cannot mean a limit.
        numbers['effort_limit'] = limit.effort or np.inf
        numbers['velocity_limit'] = limit.velocity or np.inf
        if not np.isfinite([limit.lower, limit.upper, limit.effort, limit.velocity]).all():
            faults.add(path, element, 'limit is not finite', 'Give finite numbers.', spoils=None)
        elif limit.effort < 0.0 or limit.velocity < 0.0:
            faults.add(
                path, element, 'a limit of effort or velocity is negative', 'Give its magnitude.',
                spoils=None,
            )  # fmt: skip
        if limit.lower > limit.upper:
            faults.add(
                path,
                element,
                f'the lower limit {limit.lower:g} is above the upper one {limit.upper:g}',
                'Swap them.',
                spoils=None,
            )
    if dynamics is not None:
        for key in ('damping', 'friction'):
            value = getattr(dynamics, key)
            numbers[key] = 0.0 if value is None else value
            if not is_finite([numbers[key]]) or numbers[key] < 0.0:
                faults.add(
                    path,
                    element,
                    f'{key} is {numbers[key]:g}, expected a finite number that is not negative',
                    'A negative loss would drive the robot.',
                    spoils=None,
                )
    return numbers


def _read_mimic(joint: Any, element: str, path: Path, faults: Faults) -> MimicData | None:
    if joint.mimic is None or joint.type == 'fixed':
        return None
    multiplier = 1.0 if joint.mimic.multiplier is None else joint.mimic.multiplier
    offset = 0.0 if joint.mimic.offset is None else joint.mimic.offset
    if not is_finite([multiplier, offset]):
        faults.add(path, element, 'mimic is not finite', 'Give finite numbers.')
        return None
    return MimicData(joint.mimic.joint, multiplier, offset)
