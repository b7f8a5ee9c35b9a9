"""A description in memory that can be edited: the <robot> element and the YAML mapping."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lxml import etree
import numpy as np
import yaml

from parallel_dynamics.description.building import build_model
from parallel_dynamics.description.faults import Faults
from parallel_dynamics.description.reading import NameOrPath, find_file
from parallel_dynamics.description.settings import read_yaml, settings_of
from parallel_dynamics.description.tree import rpy_of
from parallel_dynamics.description.urdf import read_xml, tree_of
from parallel_dynamics.model import RobotModel
from parallel_dynamics.spatial import Array

_PASSIVE = {'lower': '-10', 'upper': '10', 'effort': '0', 'velocity': '100'}


@dataclass
class Document:
    """URDF and YAML of a robot; ``notes`` says what a conversion had to change or leave out."""

    root: Any
    data: dict[str, Any]
    path: Path
    notes: list[str] = field(default_factory=list)
    urdf: Path | None = None

    def copy(self) -> Document:
        """Return a copy to edit, which takes its notes to the same list."""
        root, data = copy.deepcopy(self.root), copy.deepcopy(self.data)
        return Document(root, data, self.path, self.notes, self.urdf)

    def model(self) -> RobotModel:
        """Return the model, without a judgement on its mobility.

        Raises
        ------
        DescriptionError
            With the faults of structure.
        """
        faults = Faults()
        settings = settings_of({**self.data, 'urdf': 'robot.urdf'}, self.path, faults)
        model = build_model(settings, tree_of(self.root, self.urdf or self.path, faults), faults)
        if model is None or faults.found:
            raise faults.error(self.path)
        return model

    def link_names(self) -> list[str]:
        """Return the names of all links."""
        return [link.get('name', '') for link in self.root.findall('link')]

    def describe(
        self,
        name: str,
        platform: str,
        base: str | None,
        actuators: list[str],
        closures: list[dict[str, Any]],
    ) -> None:
        """Fill in the YAML; the base is the root of the tree unless given."""
        children = {child.get('link') for child in self.root.iterfind('joint/child')}
        roots = [link for link in self.link_names() if link not in children]
        self.data = {
            'name': name,
            'urdf': '',
            'base': base or (roots[0] if roots else ''),
            'platform': platform,
            'actuators': actuators,
            'closures': closures,
        }

    def joint(self, name: object) -> Any:
        """Return the <joint> of a name, or None."""
        return next((j for j in self.root.findall('joint') if j.get('name') == name), None)

    def free_name(self, name: str) -> str:
        """Return the name, with a number if it is taken."""
        taken = {element.get('name') for element in (*self.root.iter('link', 'joint'),)}
        candidate, k = name, 2
        while candidate in taken:
            candidate, k = f'{name}_{k}', k + 1
        return candidate

    def add_frame(self, name: str, parent: str, rotation: Array, position: Array) -> str:
        """Add a massless link fixed to another at a pose; return its name."""
        return self.add_link(name, 'fixed', f'{name}_fixed', parent, rotation, position)

    def add_link(
        self,
        name: str,
        kind: str,
        joint: str,
        parent: str,
        rotation: Array | None = None,
        position: Array | None = None,
        axis: str = '0 0 1',
    ) -> str:
        """Add a massless link with the joint that carries it; return the link's name."""
        name, joint = self.free_name(name), self.free_name(joint)
        etree.SubElement(self.root, 'link', name=name)
        element = etree.SubElement(self.root, 'joint', name=joint, type=kind)
        etree.SubElement(element, 'parent', link=parent)
        etree.SubElement(element, 'child', link=name)
        set_origin(
            element,
            np.eye(3) if rotation is None else rotation,
            np.zeros(3) if position is None else position,
        )
        if kind != 'fixed':
            etree.SubElement(element, 'axis', xyz=axis)
        if kind in ('revolute', 'prismatic'):
            etree.SubElement(element, 'limit', **_PASSIVE)
        return name

    def urdf_text(self) -> str:
        """Return the URDF."""
        etree.indent(self.root)
        text: str = etree.tostring(self.root, encoding='unicode')
        return f'<?xml version="1.0"?>\n{text}\n'


def read_document(name_or_path: NameOrPath) -> Document:
    """Read a shipped robot or a YAML file of this package's own format.

    Raises
    ------
    DescriptionError
        If one of the two files cannot be read.
    """
    faults = Faults()
    path = find_file(name_or_path, faults)
    data = None if path is None else read_yaml(path, faults)
    if path is None or data is None:
        raise faults.error(name_or_path)
    settings = settings_of(data, path, faults)
    root = None if settings.urdf is None else read_xml(settings.urdf, faults)
    if root is None or faults.found:
        raise faults.error(name_or_path)
    return Document(root, data, path, urdf=settings.urdf)


def set_origin(element: Any, rotation: Array, position: Array) -> None:
    """Write the pose of an element as its <origin>."""
    origin = element.find('origin')
    if origin is None:
        origin = etree.SubElement(element, 'origin')
    origin.set('xyz', numbers(position))
    origin.set('rpy', numbers(rpy_of(rotation)))


def numbers(values: Any) -> str:
    """Return numbers in a row, with digits enough to close loops and no tails of rounding."""
    return ' '.join(f'{0.0 if abs(value) < 1e-15 else value:.15g}' for value in np.ravel(values))


def yaml_text(data: dict[str, Any], comment: str) -> str:
    """Return a YAML file of this package's format under a comment."""
    lines = [f'# {line}'.rstrip() for line in comment.splitlines()]
    for key, value in data.items():
        if key == 'closures':
            lines += ['closures:', *(f'  - {_flow(closure)}' for closure in value)]
        elif key == 'armature':
            lines += ['armature:', *(f'  {_scalar(k)}: {_scalar(v)}' for k, v in value.items())]
        else:
            lines.append(f'{key}: {_flow(value)}')
    return '\n'.join(lines) + '\n'


def _flow(value: Any) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10**6, sort_keys=False)
    return text.strip().removesuffix('...').strip()


def _scalar(value: Any) -> str:
    return _flow(value)
