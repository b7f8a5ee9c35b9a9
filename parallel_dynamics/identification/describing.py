"""Write a robot with other parameters as files: a URDF and a YAML that ``load_robot`` takes."""

from __future__ import annotations

import os
from pathlib import Path
import re
import shutil
import tempfile
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import yaml

from parallel_dynamics.errors import InputError, ParallelDynamicsError
from parallel_dynamics.loading import load_robot
from parallel_dynamics.model import PLATFORM, Body, Joint
from parallel_dynamics.resources import writing_to
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

DIGITS = 12


def write_robot(robot: Robot, folder: str | Path, name: str, notes: str = '') -> list[Path]:
    """Write ``<name>.yaml`` and ``<name>.urdf`` and return their paths.

    They are the files that the robot was loaded from, with its masses, inertias, friction and
    armature of now. Bodies made of several links have all of their mass in the first. The files
    are loaded once before they are put in place, so that what is written can be used.
    """
    model = robot.model
    if model.path is None or model.urdf_path is None:
        raise InputError(f'{robot.name}: expected a robot that was loaded from files')
    folder = Path(folder)
    tree = ET.parse(model.urdf_path, ET.XMLParser(target=ET.TreeBuilder(insert_comments=True)))  # noqa: S314
    root = tree.getroot()
    root.set('name', name)
    links = {link.get('name'): link for link in root.iter('link')}
    for body in model.bodies[PLATFORM:]:
        _set_body(body, links)
    joints = {joint.get('name'): joint for joint in root.findall('joint')}
    for joint in model.joints:
        _set_dynamics(joint, joints[joint.name])
    _move_meshes(root, model.urdf_path.resolve().parent, folder.resolve())
    ET.indent(tree)
    data = yaml.safe_load(model.path.read_text(encoding='utf-8'))
    data.update(name=name, urdf=f'{name}.urdf')
    armature = {j.name: _round(j.armature) for j in model.joints if j.armature}
    data.pop('armature', None)
    if armature:
        data['armature'] = armature
    head = ''.join(f'# {line}\n' for line in notes.splitlines())
    text = head + yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=100)
    with tempfile.TemporaryDirectory() as scratch:
        trial = Path(scratch)
        tree.write(trial / f'{name}.urdf', encoding='utf-8', xml_declaration=True)
        (trial / f'{name}.yaml').write_text(text, encoding='utf-8')
        _try(robot, trial / f'{name}.yaml')
        written = [folder / f'{name}{kind}' for kind in ('.yaml', '.urdf')]
        with writing_to(folder):
            for path in written:
                shutil.copyfile(trial / path.name, path)
    return written


def _try(robot: Robot, path: Path) -> None:
    try:
        again = load_robot(path)
    except ParallelDynamicsError as error:
        raise InputError(
            f'{robot.name}: the identified parameters make no robot that can be loaded '
            f'({error}); identify with physical consistency'
        ) from None
    size = np.abs(robot.parameters).max()
    if np.abs(again.parameters - robot.parameters).max() > 1e-8 * size:
        raise ParallelDynamicsError(f'{robot.name}: written parameters do not read back')


def _set_body(body: Body, links: dict[str | None, ET.Element]) -> None:
    """Put all inertia of a body into its first link."""
    for name in {body.name, *body.links}:
        link = links.get(name)
        if link is not None:
            for old in link.findall('inertial'):
                link.remove(old)
    inertia = body.inertia
    if inertia.mass == 0.0 and not np.any(inertia.tensor):
        return
    element = ET.Element('inertial')
    ET.SubElement(element, 'origin', xyz=_numbers(inertia.com), rpy='0 0 0')
    ET.SubElement(element, 'mass', value=_number(inertia.mass))
    t = inertia.tensor
    entries = {f'i{a}{b}': _number(t[i, j]) for i, a in enumerate('xyz')
               for j, b in enumerate('xyz') if i <= j}  # fmt: skip
    ET.SubElement(element, 'inertia', entries)
    links[body.name].insert(0, element)


def _set_dynamics(joint: Joint, element: ET.Element) -> None:
    for old in element.findall('dynamics'):
        element.remove(old)
    if joint.damping or joint.friction:
        ET.SubElement(
            element, 'dynamics', damping=_number(joint.damping), friction=_number(joint.friction)
        )


def _move_meshes(root: ET.Element, before: Path, after: Path) -> None:
    """Let relative names of meshes start from the new folder."""
    for mesh in root.iter('mesh'):
        name = mesh.get('filename', '')
        if name and not re.match(r'[a-z]+://', name) and not os.path.isabs(name):
            mesh.set('filename', os.path.relpath(before / name, after))


def _round(value: float) -> float:
    return float(_number(value))


def _number(value: Any) -> str:
    return f'{float(value):.{DIGITS}g}'


def _numbers(values: Array) -> str:
    return ' '.join(_number(v) for v in values)
