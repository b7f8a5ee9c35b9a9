"""Whether links and joints of a URDF make one tree, and which links are fixed together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parallel_dynamics.description.faults import Faults, suggest
from parallel_dynamics.description.tree import Tree
from parallel_dynamics.spatial import Array


@dataclass(frozen=True, eq=False)
class Placement:
    """Pose of a link in the topmost link that it is fixed to."""

    top: str
    rotation: Array  # (3, 3) top <- link
    position: Array  # (3,) m, top's axes


def check_tree(tree: Tree, faults: Faults) -> bool:
    """Report what keeps the URDF from being one tree; return whether it is one."""
    before = len(faults.found)
    if not tree.links:
        faults.add(tree.path, 'robot', 'has no links', 'Describe the bodies with <link>.')
        return False
    carried: dict[str, str] = {}
    for joint in tree.joints.values():
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in tree.links:
                problem = f'{role} link {link!r} is unknown'
                faults.add(tree.path, joint.element, problem, suggest(link, tree.links))
        if joint.child in carried:
            faults.add(
                tree.path,
                joint.element,
                f'link {joint.child!r} is already the child of joint {carried[joint.child]!r}',
                'URDF is a tree: keep one parent and close the loop in the YAML with a closure.',
            )
        carried.setdefault(joint.child, joint.name)
    if len(faults.found) > before:
        return False
    return _check_connected(tree, carried, faults)


def _check_connected(tree: Tree, carried: dict[str, str], faults: Faults) -> bool:
    roots = [name for name in tree.links if name not in carried]
    if len(roots) != 1:
        problem = 'has no root: every link is a child' if not roots else (
            f'has {len(roots)} roots: {", ".join(map(repr, roots))}'
        )  # fmt: skip
        remedy = 'Connect the links by joints into one tree with one root, usually the base.'
        faults.add(tree.path, 'robot', problem, remedy)
        return False
    below = tree.child_joints()
    reached, stack = set(roots), list(roots)
    while stack:
        for joint in below[stack.pop()]:
            reached.add(joint.child)
            stack.append(joint.child)
    lost = [name for name in tree.links if name not in reached]
    if lost:
        faults.add(
            tree.path,
            'robot',
            f'links {", ".join(map(repr, lost))} form a cycle that is not connected to the root '
            f'{roots[0]!r}',
            'URDF is a tree: cut the cycle and close it in the YAML with a closure.',
        )
    return not lost


def place_links(tree: Tree) -> dict[str, Placement]:
    """Return where each link sits in the topmost link that it is fixed to."""
    above = tree.parent_joints()
    placed: dict[str, Placement] = {}

    def place(link: str) -> Placement:
        # Walk up without recursion: a chain of fixed links may be long.
        path = [link]
        while path[-1] not in placed:
            joint = above.get(path[-1])
            if joint is None or joint.movable:
                placed[path[-1]] = Placement(path[-1], np.eye(3), np.zeros(3))
            else:
                path.append(joint.parent)
        for name in reversed(path[:-1]):
            joint = above[name]
            parent = placed[joint.parent]
            placed[name] = Placement(
                parent.top,
                parent.rotation @ joint.rotation,
                parent.position + parent.rotation @ joint.position,
            )
        return placed[link]

    return {name: place(name) for name in tree.links}
