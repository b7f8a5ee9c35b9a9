"""Rigid bodies of the robot: links merged with what is fixed to them."""

from __future__ import annotations

from dataclasses import dataclass

from parallel_dynamics.description.chain import Chain
from parallel_dynamics.description.faults import Faults
from parallel_dynamics.description.tree import JointData, Tree
from parallel_dynamics.model import BASE, FIRST_LEG_BODY, PLATFORM, Body, Frame, Inertia, frozen


@dataclass(frozen=True, eq=False)
class Bodies:
    """Bodies in the model's order, the frame of every link, and the joints that move bodies."""

    bodies: tuple[Body, ...]
    frames: dict[str, Frame]
    moving: tuple[JointData, ...]
    virtual: frozenset[str]  # links of the virtual chain


def find_bodies(tree: Tree, chain: Chain, faults: Faults) -> Bodies | None:
    """Merge fixed links; report what the virtual chain must not carry."""
    placed = chain.placed
    tops = {placed[chain.base].top: BASE, placed[chain.platform].top: PLATFORM}
    moving = [
        joint for joint in tree.joints.values() if joint.movable and joint.name not in chain.names
    ]
    for j, joint in enumerate(moving):
        tops[joint.child] = FIRST_LEG_BODY + j
    heads = [chain.base, chain.platform, *(joint.child for joint in moving)]
    frames: dict[str, Frame] = {}
    virtual: set[str] = set()
    for name, place in placed.items():
        if place.top not in tops:
            virtual.add(name)
            continue
        head = placed[heads[tops[place.top]]]
        frames[name] = Frame(
            name,
            tops[place.top],
            frozen(head.rotation.T @ place.rotation, (3, 3)),
            frozen(head.rotation.T @ (place.position - head.position), (3,)),
        )
    _check_virtual(tree, virtual, moving, faults)
    if any(joint.parent in virtual for joint in moving):
        return None
    return Bodies(_merge(tree, heads, frames), frames, tuple(moving), frozenset(virtual))


def _check_virtual(tree: Tree, virtual: set[str], moving: list[JointData], faults: Faults) -> None:
    for name in virtual:
        link = tree.links[name]
        if link.inertia.mass > 0.0:
            faults.add(
                tree.path,
                link.element,
                f'weighs {link.inertia.mass:g} kg, but the virtual chain of the platform is '
                'massless',
                'Remove its <inertial>, or fix the link to the platform if it is a part of it.',
                spoils=None,
            )
    for joint in moving:
        if joint.parent in virtual:
            faults.add(
                tree.path,
                joint.element,
                f'hangs on {joint.parent!r} of the virtual chain, which carries no load',
                'Attach it to the base, to the platform link or to a leg.',
            )


def _merge(tree: Tree, heads: list[str], frames: dict[str, Frame]) -> tuple[Body, ...]:
    inertias = [Inertia() for _ in heads]
    links: list[list[str]] = [[] for _ in heads]
    for name, frame in frames.items():
        links[frame.body].append(name)
        inertia = tree.links[name].inertia
        if inertia.mass > 0.0:
            inertias[frame.body] += inertia.moved(frame.rotation, frame.position)
    return tuple(
        Body(head, inertia, tuple(names))
        for head, inertia, names in zip(heads, inertias, links, strict=True)
    )
