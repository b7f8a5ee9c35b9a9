"""Mimic joints: each follows, perhaps through others, one joint that follows none."""

from __future__ import annotations

from collections.abc import Sequence

from parallel_dynamics.description.faults import MODEL, Faults, suggest
from parallel_dynamics.description.tree import MimicData, Tree
from parallel_dynamics.model import Mimic


def resolve_mimics(
    tree: Tree, names: Sequence[str], virtual: Sequence[str], faults: Faults
) -> dict[str, Mimic]:
    """Return for each mimic joint the root that it follows, with multiplier and offset.

    Parameters
    ----------
    tree : Tree
        All joints of the URDF.
    names : sequence of str
        Joints that move bodies, in the model's order.
    virtual : sequence of str
        Joints of the platform's chain, which nothing can follow.
    faults : Faults
        Collects what is wrong.
    """
    index = {name: j for j, name in enumerate(names)}
    resolved: dict[str, Mimic] = {}
    for name in names:
        joint = tree.joints[name]
        if joint.mimic is None:
            continue
        multiplier, offset, seen = 1.0, 0.0, [name]
        step: MimicData | None = joint.mimic
        while step is not None:
            # q = k (k' q' + b') + b, followed up to a joint that follows none.
            multiplier, offset = multiplier * step.multiplier, offset + multiplier * step.offset
            leader = step.joint
            if leader not in index:
                problem, remedy = _why_not(leader, tree, names, virtual)
                faults.add(tree.path, tree.joints[seen[-1]].element, problem, remedy)
                break
            if leader in seen:
                cycle = ' -> '.join([*seen[seen.index(leader) :], leader])
                # Say it once for a cycle, not once for each of its joints.
                if leader == min(seen[seen.index(leader) :], key=index.__getitem__):
                    faults.add(
                        tree.path,
                        tree.joints[leader].element,
                        f'mimic goes round in a circle: {cycle}',
                        'Let one of them follow none.',
                    )
                faults.spoiled.add(MODEL)
                break
            seen.append(leader)
            step = tree.joints[leader].mimic
        else:
            resolved[name] = Mimic(index[seen[-1]], multiplier, offset)
    return resolved


def _why_not(
    leader: str, tree: Tree, names: Sequence[str], virtual: Sequence[str]
) -> tuple[str, str]:
    if leader in virtual:
        return (
            f'mimics {leader!r}, a virtual joint of the platform',
            'The platform is a free body; join the leg to it by a closure instead.',
        )
    if leader in tree.joints:
        return f'mimics {leader!r}, a fixed joint', 'Name a joint that moves.'
    return f'mimics the unknown joint {leader!r}', suggest(leader, names)
