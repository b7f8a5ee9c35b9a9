"""MJCF into a description: bodies, joints, equality constraints, motors.

Read are bodies with <inertial>, hinge, slide, ball and free joints, <equality> with connect, weld
and linear joint, actuators on joints, defaults and the ways to write a rotation. Shapes are not:
a body whose inertia comes from its geoms is a fault, since that is MuJoCo's to compute (save the
model with ``mj_saveLastXML`` first, which writes it out).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lxml import etree
import numpy as np

from parallel_dynamics.description.conversion.carrying import carry_on_chain, carry_platform
from parallel_dynamics.description.conversion.document import Document, numbers, set_origin
from parallel_dynamics.description.conversion.mjcf_poses import Compiler, floats, number
from parallel_dynamics.description.faults import Faults, suggest
from parallel_dynamics.description.urdf import read_xml
from parallel_dynamics.spatial import Array

WORLD = 'world'
_AXES = {'x': '1 0 0', 'y': '0 1 0', 'z': '0 0 1'}


def import_mjcf(
    path: Path,
    platform: str,
    base: str | None = None,
    actuators: list[str] | None = None,
) -> Document:
    """Read an MJCF file.

    Parameters
    ----------
    path : Path
        The file.
    platform : str
        The body that is the platform; free, or at the end of a leg.
    base : str
        The base; the world unless given.
    actuators : list of str
        Actuated joints; those of the file unless given.

    Raises
    ------
    DescriptionError
        With all faults of the file.
    """
    faults = Faults()
    root = read_xml(path, faults)
    if root is not None and root.tag != 'mujoco':
        faults.add(path, f'<{root.tag}>', 'expected <mujoco>', 'Give an MJCF file.')
    if root is None or faults.found:
        raise faults.error(path)
    reader = _Reader(path, root, faults, platform)
    document = reader.read()
    if faults.found:
        raise faults.error(path)
    if base is not None and base not in reader.places:
        faults.add(path, 'base', f'unknown body {base!r}', suggest(base, reader.places))
        raise faults.error(path)
    document.data['base'] = base or WORLD
    if actuators is not None:
        document.data['actuators'] = actuators
    if reader.free is not None:
        (r0, p0), (r1, p1) = reader.places[document.data['base']], reader.free
        carry_on_chain(document, platform, r0.T @ r1, r0.T @ (p1 - p0))
    carry_platform(document)
    return document


@dataclass
class _Reader:
    path: Path
    root: Any
    faults: Faults
    platform: str
    free: tuple[Array, Array] | None = None  # pose of a free platform in the world
    compiler: Compiler = field(default_factory=Compiler)
    places: dict[str, tuple[Array, Array]] = field(default_factory=dict)  # bodies at home
    sites: dict[str, tuple[str, Array, Array]] = field(default_factory=dict)

    def read(self) -> Document:
        robot = etree.Element('robot', name=self.root.get('model', 'robot'))
        document = Document(robot, {}, self.path)
        self.compiler = Compiler.of(self.root)
        etree.SubElement(robot, 'link', name=WORLD)
        self.places[WORLD] = (np.eye(3), np.zeros(3))
        for world in self.root.findall('worldbody'):
            self._sites(world, WORLD, 'main')
            for body in world.findall('body'):
                self._guarded(body, self._body, document, body, WORLD, 'main')
        names = [link.get('name') for link in robot.findall('link')]
        if self.platform not in names:
            self._add('platform', f'unknown body {self.platform!r}', suggest(self.platform, names))
        document.data = {
            'name': robot.get('name'),
            'urdf': '',
            'base': WORLD,
            'platform': self.platform,
            'actuators': self._actuators(),
            'closures': self._closures(document),
        }
        armature = {
            joint.get('name'): float(joint.attrib.pop('armature'))
            for joint in robot.findall('joint')
            if 'armature' in joint.attrib
        }
        if armature:
            document.data['armature'] = armature
        document.data['gravity'] = [float(value) for value in self._gravity()]
        return document

    def _add(self, element: str, problem: str, remedy: str) -> None:
        self.faults.add(self.path, element, problem, remedy)

    def _guarded(self, element: Any, read: Any, *arguments: Any) -> Any:
        """Run a reader; a number that is none becomes a fault of the element."""
        try:
            return read(*arguments)
        except (ValueError, TypeError, KeyError, FloatingPointError) as error:
            what = f'{element.tag} {element.get("name", "")!r} (line {element.sourceline})'
            self._add(what, f'cannot be read: {error}', 'Correct this element.')
            return None

    def _gravity(self) -> Array:
        option = self.root.find('option')
        try:
            return floats({} if option is None else option.attrib, 'gravity', '0 0 -9.81')
        except ValueError as error:
            self._add('option', str(error), 'Give three numbers.')
            return np.zeros(3)

    def _body(self, document: Document, body: Any, parent: str, childclass: str) -> None:
        childclass = body.get('childclass', childclass)
        name = body.get('name') or document.free_name('body')
        rotation, position = self.compiler.pose(dict(body.attrib))
        above = self.places[parent]
        self.places[name] = (above[0] @ rotation, above[1] + above[0] @ position)
        joints = [child for child in body if child.tag in ('joint', 'freejoint')]
        free = [j for j in joints if j.tag == 'freejoint' or j.get('type') == 'free']
        if name in document.link_names():
            raise ValueError(f'a second body {name!r}')
        link = etree.SubElement(document.root, 'link', name=name)
        self._inertial(link, body, bool(joints))
        if free and name != self.platform:
            raise ValueError('only the platform may be free; every other body needs a joint')
        if free:
            self.free = self.places[name]
        else:
            self._carry(document, joints, parent, name, rotation, position, childclass)
        self._sites(body, name, childclass)
        for child in body.findall('body'):
            self._guarded(child, self._body, document, child, name, childclass)

    def _carry(
        self, document: Document, joints: list[Any], parent: str, name: str, rotation: Array,
        position: Array, childclass: str,
    ) -> None:  # fmt: skip
        """Write the joints of a body as a chain of URDF joints with massless links between."""
        steps: list[tuple[str, str, Array, dict[str, str]]] = []
        for k, joint in enumerate(joints):
            values = self.compiler.values(joint, childclass)
            kind = values.get('type', 'hinge')
            own = values.get('name') or f'{name}_joint{k + 1 if len(joints) > 1 else ""}'
            if kind == 'ball':
                values.pop('range', None)  # limits the whole rotation there
                steps += [
                    (f'{own}_{axis}', 'hinge', floats(_AXES, axis, None), values) for axis in 'xyz'
                ]
            elif kind in ('hinge', 'slide'):
                steps.append((own, kind, floats(values, 'axis', '0 0 1'), values))
            else:
                raise ValueError(f'joint of type {kind!r}')
        if not steps:
            element = _joint(document, f'{name}_fixed', 'fixed', parent, name)
            set_origin(element, rotation, position)
            return
        # A joint sits at `pos` of the body's frame; step there, turn, and step back at the end.
        at = position
        for k, (own, kind, axis, values) in enumerate(steps):
            anchor = floats(values, 'pos', '0 0 0')
            last = k == len(steps) - 1
            child = name if last and not anchor.any() else document.free_name(f'{own}_link')
            if child != name:
                etree.SubElement(document.root, 'link', name=child)
            element = _joint(
                document, own, 'prismatic' if kind == 'slide' else 'revolute', parent, child
            )
            set_origin(element, rotation, at + rotation @ anchor)
            self._properties(element, kind, axis, values)
            parent, rotation, at = child, np.eye(3), -anchor
        if parent != name:
            element = _joint(document, f'{name}_fixed', 'fixed', parent, name)
            set_origin(element, np.eye(3), at)

    def _properties(self, element: Any, kind: str, axis: Array, values: dict[str, str]) -> None:
        etree.SubElement(element, 'axis', xyz=numbers(axis))
        limit = etree.SubElement(element, 'limit', effort='0', velocity='0')
        if 'range' in values and values.get('limited', 'auto') != 'false':
            ends = floats(values, 'range', None, '2')
            for key, value in zip(('lower', 'upper'), ends, strict=True):
                limit.set(key, numbers(self.compiler.angle(value) if kind == 'hinge' else value))
        elif kind == 'hinge':
            element.set('type', 'continuous')
            element.remove(limit)
        damping = floats(values, 'damping', '0', '1 2 3')
        friction, armature = (number(values, key, '0') for key in ('frictionloss', 'armature'))
        if damping[1:].any():
            raise ValueError('a joint with damping that is not linear in the speed')
        if damping[0] or friction:
            losses = {'damping': numbers(damping[0]), 'friction': numbers(friction)}
            etree.SubElement(element, 'dynamics', **losses)
        if armature:
            element.set('armature', numbers(armature))
        if floats(values, 'stiffness', '0', '1 2 3').any() or number(values, 'ref', '0'):
            raise ValueError('a joint with stiffness or ref')

    def _inertial(self, link: Any, body: Any, moves: bool) -> None:
        inertial = body.find('inertial')
        if inertial is None:
            if moves and body.find('geom') is not None:
                raise ValueError(
                    'has no <inertial>; its inertia comes from geoms (save the model with '
                    'mj_saveLastXML, which writes it out)'
                )
            return
        rotation, position = self.compiler.pose(dict(inertial.attrib))
        if 'fullinertia' in inertial.attrib:
            xx, yy, zz, xy, xz, yz = floats(inertial.attrib, 'fullinertia', None, '6')
        else:
            xx, yy, zz = floats(inertial.attrib, 'diaginertia', '0 0 0')
            xy = xz = yz = 0.0
        element = etree.SubElement(link, 'inertial')
        set_origin(element, rotation, position)
        etree.SubElement(element, 'mass', value=numbers(number(inertial.attrib, 'mass', None)))
        moments = {'ixx': xx, 'ixy': xy, 'ixz': xz, 'iyy': yy, 'iyz': yz, 'izz': zz}
        etree.SubElement(
            element, 'inertia', **{key: numbers(value) for key, value in moments.items()}
        )

    def _sites(self, body: Any, name: str, childclass: str) -> None:
        for site in body.findall('site'):
            values = self.compiler.values(site, childclass)
            pose = self._guarded(site, self.compiler.pose, values)
            if pose is not None and site.get('name'):
                self.sites[site.get('name')] = (name, *pose)

    def _actuators(self) -> list[str]:
        driven = []
        for group in self.root.findall('actuator'):
            for actuator in group:
                if isinstance(actuator.tag, str) and actuator.get('joint'):
                    driven.append(str(actuator.get('joint')))
        return list(dict.fromkeys(driven))

    def _closures(self, document: Document) -> list[dict[str, Any]]:
        closures: list[dict[str, Any]] = []
        for group in self.root.findall('equality'):
            for k, equality in enumerate(group):
                if not isinstance(equality.tag, str) or equality.get('active') == 'false':
                    continue
                name = equality.get('name') or f'{equality.tag}{k + 1}'
                read = {'connect': self._pair, 'weld': self._pair, 'joint': self._mimic}
                if equality.tag not in read:
                    what = f'equality {name!r} (line {equality.sourceline})'
                    problem = f'no closure for <{equality.tag}>'
                    self._add(what, problem, 'Use connect, weld or a linear joint.')
                    continue
                found = self._guarded(equality, read[equality.tag], document, equality, name)
                if found is not None:
                    closures.append(found)
        return closures

    def _pair(self, document: Document, equality: Any, name: str) -> dict[str, Any]:
        """Return the closure of a <connect> or <weld>, by sites or by bodies and an anchor."""
        kind = 'ball' if equality.tag == 'connect' else 'weld'
        if equality.get('site1'):
            frames = []
            for key in ('site1', 'site2'):
                site = equality.get(key)
                if site not in self.sites:
                    raise ValueError(f'unknown site {site!r}. {suggest(site, self.sites)}')
                body, rotation, position = self.sites[site]
                frames.append(document.add_frame(site, body, rotation, position))
            return {'name': name, 'type': kind, 'between': frames}
        bodies = [equality.get('body1', ''), equality.get('body2', WORLD)]
        for body in bodies:
            if body not in self.places:
                raise ValueError(f'unknown body {body!r}. {suggest(body, self.places)}')
        if kind == 'weld' and floats(equality.attrib, 'relpose', '0 1 0 0 0 0 0', '7')[3:].any():
            raise ValueError('a weld with relpose; use sites')
        anchor = floats(equality.attrib, 'anchor', '0 0 0')
        # The anchor is in the first body's frame for connect, in the second's for weld; the other
        # side is where it is at home.
        holder = bodies[0] if kind == 'ball' else bodies[1]
        rotation, position = self.places[holder]
        point = position + rotation @ anchor
        frames = []
        for k, body in enumerate(bodies):
            turned, origin = self.places[body]
            frame = document.add_frame(
                f'{name}_{k + 1}', body, turned.T, turned.T @ (point - origin)
            )
            frames.append(frame)
        return {'name': name, 'type': kind, 'between': frames}

    def _mimic(self, document: Document, equality: Any, name: str) -> None:
        """Write a linear <joint> equality as a mimic joint."""
        first, second = equality.get('joint1'), equality.get('joint2')
        coefficients = np.array([0.0, 1.0, 0.0, 0.0, 0.0])  # MuJoCo's default, also of the rest
        given = floats(equality.attrib, 'polycoef', '0', '1 2 3 4 5')
        coefficients[: len(given)] = given
        joint = document.joint(first)
        if joint is None or not second:
            raise ValueError(f'needs two joints that exist, got {first!r} and {second!r}')
        if coefficients[2:].any():
            raise ValueError('polycoef is not linear, which mimic is')
        etree.SubElement(
            joint, 'mimic', joint=second, multiplier=numbers(coefficients[1]),
            offset=numbers(coefficients[0]),
        )  # fmt: skip


def _joint(document: Document, name: str, kind: str, parent: str, child: str) -> Any:
    element = etree.SubElement(
        document.root, 'joint', name=document.free_name(name), type=kind
    )  # fmt: skip
    etree.SubElement(element, 'parent', link=parent)
    etree.SubElement(element, 'child', link=child)
    return element
