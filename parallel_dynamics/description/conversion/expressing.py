"""Closures in terms of fewer types, for formats that do not have all five.

What a closure leaves free can stand in the tree instead: a plane is two slides and a ball, a
cylinder a slide and a hinge, a hinge a joint and a weld. The joints hang on massless links from
the second frame, so the robot moves as before.
"""

from __future__ import annotations

from collections.abc import Collection

from parallel_dynamics.description.conversion.document import Document
from parallel_dynamics.errors import ParallelDynamicsError

# For each type: joints to add (suffix, type, axis) and the type that is left, best first.
_WAYS: dict[str, list[tuple[tuple[tuple[str, str, str], ...], str]]] = {
    'revolute': [((('hinge', 'continuous', '0 0 1'),), 'weld')],
    'cylindrical': [
        ((('slide', 'prismatic', '0 0 1'),), 'revolute'),
        ((('slide', 'prismatic', '0 0 1'), ('hinge', 'continuous', '0 0 1')), 'weld'),
    ],
    'plane': [((('slide_x', 'prismatic', '1 0 0'), ('slide_y', 'prismatic', '0 1 0')), 'ball')],
}


def express(document: Document, allowed: Collection[str]) -> None:
    """Rewrite the closures of a document with these types only; notes say what was added."""
    for closure in document.data['closures']:
        kind = closure['type']
        if kind in allowed:
            continue
        ways = [way for way in _WAYS.get(kind, []) if way[1] in allowed]
        if not ways:
            raise ParallelDynamicsError(
                f'closure {closure["name"]!r}: type {kind!r} cannot be expressed with '
                f'{", ".join(sorted(allowed))}'
            )
        joints, left = ways[0]
        link = closure['between'][1]
        names = []
        for suffix, joint_kind, axis in joints:
            name = f'{closure["name"]}_{suffix}'
            names.append(name)
            link = document.add_link(f'{name}_link', joint_kind, name, link, axis=axis)
        closure['type'] = left
        closure['between'] = [closure['between'][0], link]
        document.notes.append(
            f'closure {closure["name"]!r}: {kind} became {left} with the passive joint'
            f'{"s" if len(names) > 1 else ""} {", ".join(names)} on massless links'
        )
