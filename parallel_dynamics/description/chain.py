"""The chain of virtual joints on which the URDF carries the platform."""

from __future__ import annotations

from dataclasses import dataclass

from parallel_dynamics.description.faults import Faults, suggest
from parallel_dynamics.description.settings import Settings
from parallel_dynamics.description.topology import Placement, check_tree, place_links
from parallel_dynamics.description.tree import JointData, Tree
from parallel_dynamics.model import VirtualJoint, frozen
from parallel_dynamics.spatial import Array

TRANSLATIONS = ('platform_x', 'platform_y', 'platform_z')
ROTATIONS = ('platform_roll', 'platform_pitch', 'platform_yaw')
COORDINATES = (*TRANSLATIONS, *ROTATIONS)
"""Virtual joints; the index is that of the matching component of the platform's twist."""


@dataclass(frozen=True, eq=False)
class Chain:
    """The virtual joints from base to platform, and where every link sits."""

    base: str
    platform: str
    joints: tuple[VirtualJoint, ...]
    names: tuple[str, ...]
    links: tuple[str, ...]  # topmost links of the virtual bodies, the platform's not included
    platform_rotation: Array
    platform_position: Array
    placed: dict[str, Placement]


def find_chain(settings: Settings, tree: Tree, faults: Faults) -> Chain | None:
    """Find the chain, or None where there is no tree, base or platform to speak of."""
    connected = check_tree(tree, faults)
    ends = [_link(settings, tree, role, faults) for role in ('base', 'platform')]
    if not connected or ends[0] is None or ends[1] is None:
        return None
    base, platform = ends[0], ends[1]
    placed = place_links(tree)
    above = tree.parent_joints()
    if placed[base].top in above:
        faults.add(
            settings.path,
            'base',
            f'{base!r} is carried by the joint {above[placed[base].top].name!r}',
            'The base is the root of the URDF or fixed to it.',
        )
        return None
    path: list[JointData] = []
    top = placed[platform].top
    while top in above:
        path.append(above[top])
        top = placed[above[top].parent].top
    path.reverse()
    if not path:
        faults.add(
            settings.path,
            'platform',
            f'{platform!r} is fixed to the base',
            'Carry it on virtual joints platform_x, platform_y, ... for the motions it can make.',
        )
        return None
    _check_names(path, tree, faults)
    joints, previous = [], placed[base]
    for k, joint in enumerate(path):
        # Each joint is seen from the frame of the one before it; the first from the base frame.
        seat = placed[joint.parent]
        rotation, position = seat.rotation, seat.position
        if k == 0:
            rotation = previous.rotation.T @ rotation
            position = previous.rotation.T @ (position - previous.position)
        joints.append(
            VirtualJoint(
                joint.name,
                'prismatic' if joint.kind == 'prismatic' else 'revolute',
                frozen(rotation @ joint.rotation, (3, 3)),
                frozen(position + rotation @ joint.position, (3,)),
                frozen(joint.axis, (3,)),
            )
        )
    end = placed[platform]
    return Chain(
        base,
        platform,
        tuple(joints),
        tuple(joint.name for joint in path),
        tuple(joint.child for joint in path[:-1]),
        frozen(end.rotation, (3, 3)),
        frozen(end.position, (3,)),
        placed,
    )


def _link(settings: Settings, tree: Tree, role: str, faults: Faults) -> str | None:
    name: str | None = getattr(settings, role)
    if name is not None and name not in tree.links:
        faults.add(settings.path, role, f'unknown link {name!r}', suggest(name, tree.links))
        return None
    return name


def _check_names(path: list[JointData], tree: Tree, faults: Faults) -> None:
    """Report joints of the path that are no platform coordinates, and the other way round."""
    for joint in path:
        if not joint.readable:
            continue
        if joint.name not in COORDINATES:
            faults.add(
                tree.path,
                joint.element,
                'carries the platform but is not one of its coordinates',
                f'Carry the platform on massless virtual joints named {", ".join(COORDINATES)} '
                'only, and attach the legs to it by closures.',
            )
            continue
        slides = joint.name in TRANSLATIONS
        if slides != (joint.kind == 'prismatic'):
            faults.add(
                tree.path,
                joint.element,
                f'is a {joint.kind} joint',
                f'{joint.name} is {"prismatic" if slides else "revolute"} by its name.',
            )
        if joint.damping > 0.0 or joint.friction > 0.0:
            faults.note(
                tree.path,
                joint.element,
                'has damping or friction, which counts for nothing: the virtual chain carries no '
                'load',
                'Remove <dynamics>, or give it to a joint of a leg.',
            )
        if joint.mimic is not None:
            faults.add(
                tree.path,
                joint.element,
                'a coordinate of the platform cannot mimic another joint',
                'Remove <mimic>; the closures move the platform.',
            )
    names = {joint.name for joint in path}
    for joint in tree.joints.values():
        if joint.name in COORDINATES and joint.name not in names and joint.movable:
            faults.add(
                tree.path,
                joint.element,
                'has the name of a platform coordinate but does not carry the platform',
                'Rename it; these names belong to the chain from base to platform.',
            )
