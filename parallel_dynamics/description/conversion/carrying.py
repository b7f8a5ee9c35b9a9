"""Platforms that hang in the tree: cut loose, put on virtual joints, zero made home.

Other conventions leave the platform at the end of one of its legs, and need not be assembled at
zero. Here the joint above the platform becomes a closure, the virtual chain is added, and the
zero of every joint is moved to the assembled pose that Newton's method finds from zero.
"""

from __future__ import annotations

from typing import Any

from lxml import etree
import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.description.chain import COORDINATES
from parallel_dynamics.description.conversion.document import Document, set_origin
from parallel_dynamics.description.faults import Faults, suggest
from parallel_dynamics.description.topology import check_tree, place_links
from parallel_dynamics.description.tree import JointData, Tree
from parallel_dynamics.description.urdf import tree_of
from parallel_dynamics.mobility.assembly import Assembly, Configurations, turn
from parallel_dynamics.mobility.motions import assemble
from parallel_dynamics.spatial import Array, rotation_between

CHAIN = (
    ('platform_x', '1 0 0'),
    ('platform_y', '0 1 0'),
    ('platform_z', '0 0 1'),
    ('platform_yaw', '0 0 1'),
    ('platform_pitch', '0 1 0'),
    ('platform_roll', '1 0 0'),
)
_CLOSED = 1e-9
_STARTS, _ROUNDS = 24, 6


def carry_platform(document: Document) -> None:
    """Put the platform on virtual joints, if it is not, and make zero the assembled pose.

    Raises
    ------
    DescriptionError
        If the links make no tree, or base or platform is not in it.
    """
    faults = Faults()
    tree = tree_of(document.root, document.urdf or document.path, faults)
    check_tree(tree, faults)
    for role in ('base', 'platform'):
        name = document.data[role]
        if name not in tree.links:
            faults.add(document.path, role, f'unknown link {name!r}', suggest(name, tree.links))
    if faults.found:
        raise faults.error(document.path)
    if not _is_carried(document, tree):
        _cut_loose(document, tree, faults)
        if faults.found:
            raise faults.error(document.path)
    _move_zero_home(document)


def _is_carried(document: Document, tree: Tree) -> bool:
    """Return whether only virtual joints lie between root and platform."""
    above = tree.parent_joints()
    link, joints = document.data['platform'], []
    while link in above:
        if above[link].movable:
            joints.append(above[link].name)
        link = above[link].parent
    return bool(joints) and all(name in COORDINATES for name in joints)


def _cut_loose(document: Document, tree: Tree, faults: Faults) -> None:
    """Replace the joint above the platform by a closure and hang the platform on the chain."""
    above, placed = tree.parent_joints(), place_links(tree)
    top = placed[document.data['platform']].top
    if top not in above:
        faults.add(
            document.path,
            'platform',
            f'{document.data["platform"]!r} is the root or fixed to it',
            'Name the link that moves.',
        )
        return
    rotation, position = _pose_at_zero(tree, top, document.data['base'])
    joint = above[top]
    element = document.joint(joint.name)
    closure = _closure_instead(document, joint, element)
    document.data['closures'] = [*document.data['closures'], closure]
    document.notes.append(
        f'joint {joint.name!r} above the platform became the closure {closure["name"]!r} of type '
        f'{closure["type"]}; the platform is on virtual joints now'
    )
    carry_on_chain(document, top, rotation, position)


def carry_on_chain(document: Document, top: str, rotation: Array, position: Array) -> None:
    """Hang a link on virtual joints of the base, at this pose when they are at zero."""
    parent = document.data['base']
    for k, (name, axis) in enumerate(CHAIN):
        last = k == len(CHAIN) - 1
        child = top if last else document.free_name(f'{name}_link')
        if not last:
            etree.SubElement(document.root, 'link', name=child)
        link = etree.SubElement(
            document.root, 'joint', name=name, type='revolute' if k > 2 else 'prismatic'
        )
        etree.SubElement(link, 'parent', link=parent)
        etree.SubElement(link, 'child', link=child)
        if k == 0:
            set_origin(link, np.eye(3), position)
        if k == 3:
            set_origin(link, rotation, np.zeros(3))
        etree.SubElement(link, 'axis', xyz=axis)
        limit = '10' if k < 3 else '6.283185'
        etree.SubElement(
            link, 'limit', lower=f'-{limit}', upper=limit, effort='0', velocity='100'
        )  # fmt: skip
        parent = child


def _closure_instead(document: Document, joint: JointData, element: Any) -> dict[str, Any]:
    """Return the closure that stands for a joint; it stays in the tree if it may be driven."""
    turns = joint.kind in ('revolute', 'continuous')
    has_losses = joint.damping > 0.0 or joint.friction > 0.0
    # A closure has no drive and no losses, so a joint that has some stays in the tree.
    if turns and not has_losses and joint.name not in document.data['actuators']:
        document.root.remove(element)
        along = rotation_between(joint.axis)
        on_leg = document.add_frame(
            f'{joint.name}_leg', joint.parent, joint.rotation @ along, joint.position
        )
        on_platform = document.add_frame(f'{joint.name}_platform', joint.child, along, np.zeros(3))
        return {'name': joint.name, 'type': 'revolute', 'between': [on_leg, on_platform]}
    tip = document.free_name(f'{joint.name}_tip')
    etree.SubElement(document.root, 'link', name=tip)
    element.find('child').set('link', tip)
    name = f'{joint.name}_weld'
    return {'name': name, 'type': 'weld', 'between': [tip, joint.child]}


def _pose_at_zero(tree: Tree, link: str, base: str) -> tuple[Array, Array]:
    """Return the pose of a link in the base frame with all joints at zero."""

    def from_root(name: str) -> tuple[Array, Array]:
        above, path = tree.parent_joints(), []
        while name in above:
            path.append(above[name])
            name = above[name].parent
        rotation, position = np.eye(3), np.zeros(3)
        for joint in reversed(path):
            position = position + rotation @ joint.position
            rotation = rotation @ joint.rotation
        return rotation, position

    (r0, p0), (r1, p1) = from_root(base), from_root(link)
    return r0.T @ r1, r0.T @ (p1 - p0)


def _move_zero_home(document: Document) -> None:
    """Assemble from zero and move every joint's zero to where it ends up."""
    model = document.model()
    assembly = Assembly(model)
    residual = np.abs(assembly.closures(assembly.home)[0]).max(initial=0.0)
    if residual < _CLOSED:
        return
    at, errors = _assemble_from_afar(assembly)
    if [joint.name for joint in model.chain] != [name for name, _ in CHAIN]:
        document.notes.append(
            f'the closures are open at zero by {residual:.3g}; zero was left where it is, since '
            f'the platform is not on the virtual joints {", ".join(name for name, _ in CHAIN)}'
        )
        return
    if errors[0] > _CLOSED * assembly.length:
        document.notes.append(
            f'the closures are open at zero by {residual:.3g} and no assembled pose was found '
            f'from there (left open by {errors[0]:.3g} m)'
        )
        return
    values = (at.q @ assembly.follow.T + assembly.offset)[0]
    for joint, value in zip(model.joints, values, strict=True):
        _move_zero(document.joint(joint.name), joint.axis, float(value))
    # The chain ends at the link below its last joint, to which the platform link is fixed.
    rotation = at.rotation[0] @ model.platform_rotation.T
    _move_chain(document, rotation, at.position[0] - rotation @ model.platform_position)
    document.notes.append(
        f'the closures were open at zero by {residual:.3g}; zero of the joints is now an '
        'assembled pose near it'
    )


def _assemble_from_afar(assembly: Assembly) -> tuple[Configurations, Array]:
    """Close the loops from zero, or failing that from ever larger random steps away from it."""
    random = np.random.default_rng(1)
    sizes = np.linspace(0.0, 1.0, _STARTS)[:, None] * assembly.length
    step = sizes * random.standard_normal((_STARTS, len(assembly.scale)))
    at = assembly.moved(assembly.home[np.zeros(_STARTS, dtype=int)], step)
    errors = np.full(_STARTS, np.inf)
    for _ in range(_ROUNDS):
        at, errors = assemble(assembly, at)
        if errors[0] < _CLOSED * assembly.length:
            break
    closed = np.flatnonzero(errors < _CLOSED * assembly.length)
    best = closed[:1] if len(closed) else np.array([np.argmin(errors)])
    return at[best], errors[best]


def _move_zero(element: Any, axis: Array, value: float) -> None:
    """Make a joint's position ``value`` its new zero."""
    origin = element.find('origin')
    words = {
        key: '0 0 0' if origin is None else origin.get(key, '0 0 0') for key in ('xyz', 'rpy')
    }
    position = np.array(words['xyz'].split(), float)
    rotation = Rotation.from_euler('xyz', np.array(words['rpy'].split(), float)).as_matrix()
    if element.get('type') == 'prismatic':
        position = position + rotation @ axis * value
    else:
        rotation = rotation @ turn(axis, np.array([value]))[0]
    set_origin(element, rotation, position)
    limit, mimic = element.find('limit'), element.find('mimic')
    if limit is not None and element.get('type') != 'continuous':
        for key in ('lower', 'upper'):
            if limit.get(key) is not None:
                limit.set(key, f'{float(limit.get(key)) - value:.15g}')
    if mimic is not None:
        mimic.set('offset', '0')


def _move_chain(document: Document, rotation: Array, position: Array) -> None:
    """Let the virtual joints carry the platform to a pose when they are at zero."""
    chain = [document.joint(name) for name, _ in CHAIN]
    for joint in chain:
        set_origin(joint, np.eye(3), np.zeros(3))
    set_origin(chain[0], np.eye(3), position)
    set_origin(chain[3], rotation, np.zeros(3))
