"""Legs: what is left of the robot when base and platform are taken out, by connection."""

from __future__ import annotations

from collections.abc import Sequence

from parallel_dynamics.model import FIRST_LEG_BODY, Closure, Joint, Leg


def find_legs(joints: Sequence[Joint], closures: Sequence[Closure]) -> tuple[Leg, ...]:
    """Return the connected components of the leg bodies, in the order of their first joint.

    Bodies are connected by joints, by closures and by mimic relations. Closures that join base
    and platform directly make one more leg, which has no joints.
    """
    group = list(range(len(joints)))

    def root(j: int) -> int:
        while group[j] != j:
            j = group[j]
        return j

    def connect(a: int, b: int) -> None:
        first, last = sorted((root(a), root(b)))
        group[last] = first

    for j, joint in enumerate(joints):
        if joint.parent >= FIRST_LEG_BODY:
            connect(j, joint.parent - FIRST_LEG_BODY)
        if joint.mimic is not None:
            connect(j, joint.mimic.joint)
    for closure in closures:
        ends = _leg_bodies(closure)
        if len(ends) == 2:
            connect(*ends)
    legs = []
    for first in sorted({root(j) for j in range(len(joints))}):
        members = tuple(j for j in range(len(joints)) if root(j) == first)
        own = [c for c, closure in enumerate(closures) if set(_leg_bodies(closure)) & set(members)]
        legs.append(Leg(members, tuple(own)))
    direct = tuple(c for c, closure in enumerate(closures) if not _leg_bodies(closure))
    return (*legs, Leg((), direct)) if direct else tuple(legs)


def _leg_bodies(closure: Closure) -> list[int]:
    """Return the joints that move the closure's bodies, base and platform left out."""
    bodies = (closure.first.body, closure.second.body)
    return [body - FIRST_LEG_BODY for body in bodies if body >= FIRST_LEG_BODY]
