"""MJCF: the robot for MuJoCo, loops closed by equality constraints.

The platform is a free body, without virtual joints. A ball closure is a <connect>, a weld a <weld>
and a hinge two <connect> along its axis, whose sixth equation is redundant. MuJoCo has no cylinder
and no plane; those get passive joints first (see ``expressing``).

MuJoCo gives every moving body an inertia. A massless link that carries one other link and nothing
else, the cross of a universal joint, needs none: its joint moves to that link, which then has two.
Any other gets a mass too small to matter, and a note.

Equality constraints are springs there: with the options written here loops stay closed to about a
micrometre for robots of ordinary size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lxml import etree
import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.description.conversion.document import Document, numbers
from parallel_dynamics.description.conversion.expressing import express
from parallel_dynamics.description.conversion.looks import add_geoms
from parallel_dynamics.mobility.assembly import Assembly
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM, Closure, Frame, Inertia, RobotModel
from parallel_dynamics.spatial import Array

_KINDS = ('ball', 'weld', 'revolute')
LIGHT = 1e-3
"""Mass of a body that must not be massless, as a part of the lightest body's."""
TIMESTEP = 5e-4


def export_mjcf(document: Document, timestep: float = TIMESTEP) -> dict[str, str]:
    """Return one MJCF file.

    Parameters
    ----------
    document : Document
        The robot.
    timestep : float
        Step of the simulation, s; the closures' time constant is twice as long, the least that
        MuJoCo takes.
    """
    document = document.copy()
    express(document, _KINDS)
    model = document.model()
    root = _Writer(model, document).write(timestep)
    etree.indent(root)
    text = etree.tostring(root, encoding='unicode')
    return {f'{document.path.stem}.xml': f'{text}\n'}


@dataclass
class _Writer:
    model: RobotModel
    document: Document
    elements: dict[int, Any] = field(default_factory=dict)  # body element of each body
    merged: dict[int, int] = field(default_factory=dict)  # massless body -> body that took it in

    def write(self, timestep: float) -> Any:
        root = etree.Element('mujoco', model=self.model.name)
        etree.SubElement(
            root, 'compiler', angle='radian', autolimits='true', inertiafromgeom='false'
        )  # fmt: skip
        option = etree.SubElement(
            root, 'option', timestep=f'{timestep:g}', gravity=numbers(self.model.gravity),
            integrator='implicitfast', solver='Newton', iterations='100', tolerance='1e-12',
        )  # fmt: skip
        etree.SubElement(option, 'flag', contact='disable')
        default = etree.SubElement(root, 'default')
        etree.SubElement(
            default, 'equality', solref=f'{2.0 * timestep:g} 1',
            solimp='0.9999 0.9999 0.001 0.5 2',
        )  # fmt: skip
        world = etree.SubElement(root, 'worldbody')
        etree.SubElement(world, 'light', pos='0 0 4', directional='true')
        self.elements[0] = world
        self._bodies(world)
        self._equalities(root)
        self._motors(root)
        add_geoms(self.document.root, self.model, self.elements, self._seat)
        return root

    def _bodies(self, world: Any) -> None:
        self._find_merged()
        assembly = Assembly(self.model)
        platform = self._body(
            world, PLATFORM, assembly.home.rotation[0], assembly.home.position[0]
        )  # fmt: skip
        etree.SubElement(platform, 'freejoint', name=self._free_name('platform_free'))
        self._inertial(platform, PLATFORM)
        for j in assembly.order:
            body = j + FIRST_LEG_BODY
            if body in self.merged:
                continue
            joints = self._joints_of(body)
            parent = self.model.joints[joints[0]].parent
            rotation, position = self._relative(joints)
            element = self._body(self.elements[parent], body, rotation, position)
            for k in range(len(joints)):
                self._joint(element, joints[k], *self._relative(joints[k + 1 :]))
            self._inertial(element, body)

    def _find_merged(self) -> None:
        """Find massless bodies whose joints can move to the one body that they carry."""
        carried: dict[int, list[int]] = {}
        for j, joint in enumerate(self.model.joints):
            carried.setdefault(joint.parent, []).append(j + FIRST_LEG_BODY)
        used = {
            frame.body
            for closure in self.model.closures
            for frame in (closure.first, closure.second)
        }
        for b, body in enumerate(self.model.bodies):
            alone = len(carried.get(b, [])) == 1
            if b >= FIRST_LEG_BODY and alone and b not in used and body.inertia.mass == 0.0:
                self.merged[b] = carried[b][0]

    def _joints_of(self, body: int) -> list[int]:
        """Return the joints that move a body's element, from the parent outwards."""
        joints = [body - FIRST_LEG_BODY]
        while self.model.joints[joints[0]].parent in self.merged:
            joints.insert(0, self.model.joints[joints[0]].parent - FIRST_LEG_BODY)
        return joints

    def _relative(self, joints: list[int]) -> tuple[Array, Array]:
        """Return the pose of the last joint's body in the first one's parent, at zero."""
        rotation, position = np.eye(3), np.zeros(3)
        for j in joints:
            joint = self.model.joints[j]
            position = position + rotation @ joint.position
            rotation = rotation @ joint.rotation
        return rotation, position

    def _seat(self, body: int) -> tuple[int, Array, Array]:
        """Return the body whose element shows this one, and its pose in it at home."""
        joints: list[int] = []
        while body in self.merged:
            body = self.merged[body]
            joints.append(body - FIRST_LEG_BODY)
        rotation, position = self._relative(joints)
        return body, rotation.T, -rotation.T @ position

    def _body(self, parent: Any, body: int, rotation: Array, position: Array) -> Any:
        element = etree.SubElement(
            parent, 'body', name=self.model.bodies[body].name, pos=numbers(position),
            quat=_quaternion(rotation),
        )  # fmt: skip
        self.elements[body] = element
        return element

    def _joint(self, element: Any, j: int, rotation: Array, position: Array) -> None:
        """Write a joint in the frame of the body that it moves, which may be farther out."""
        joint = self.model.joints[j]
        slides = joint.kind == 'prismatic'
        written = etree.SubElement(
            element, 'joint', name=joint.name, type='slide' if slides else 'hinge',
            axis=numbers(rotation.T @ joint.axis), pos=numbers(-rotation.T @ position),
        )  # fmt: skip
        if np.isfinite([joint.lower, joint.upper]).all():
            written.set('range', numbers([joint.lower, joint.upper]))
        for key, value in (
            ('damping', joint.damping),
            ('frictionloss', joint.friction),
            ('armature', joint.armature),
        ):
            if value > 0.0:
                written.set(key, numbers(value))

    def _inertial(self, element: Any, body: int) -> None:
        inertia = self.model.bodies[body].inertia
        if inertia.mass == 0.0:
            inertia = self._light()
            self.document.notes.append(
                f'MuJoCo has no massless bodies: {self.model.bodies[body].name!r} weighs '
                f'{inertia.mass:.3g} kg in the MJCF file'
            )
        ixx, iyy, izz, ixy, ixz, iyz = _physical(inertia)
        etree.SubElement(
            element, 'inertial', pos=numbers(inertia.com), mass=numbers(inertia.mass),
            fullinertia=numbers([ixx, iyy, izz, ixy, ixz, iyz]),
        )  # fmt: skip

    def _light(self) -> Inertia:
        masses = [body.inertia.mass for body in self.model.bodies[1:] if body.inertia.mass > 0.0]
        mass = LIGHT * min(masses, default=1.0)
        radius = 0.1 * Assembly(self.model).length
        return Inertia(mass, tensor=mass * radius**2 * np.eye(3))

    def _equalities(self, root: Any) -> None:
        equality = etree.SubElement(root, 'equality')
        for closure in self.model.closures:
            self._closure(equality, closure)
        for joint in self.model.joints:
            if joint.mimic is not None:
                etree.SubElement(
                    equality, 'joint', name=f'{joint.name}_mimic', joint1=joint.name,
                    joint2=self.model.joints[joint.mimic.joint].name,
                    polycoef=numbers([joint.mimic.offset, joint.mimic.multiplier, 0, 0, 0]),
                )  # fmt: skip

    def _closure(self, equality: Any, closure: Closure) -> None:
        first, second = self._site(closure.first), self._site(closure.second)
        kind = 'weld' if closure.kind == 'weld' else 'connect'
        etree.SubElement(equality, kind, name=closure.name, site1=first, site2=second)
        if closure.kind == 'revolute':
            along = 0.3 * Assembly(self.model).length
            first, second = (self._site(frame, along) for frame in (closure.first, closure.second))
            etree.SubElement(
                equality, 'connect', name=f'{closure.name}_axis', site1=first, site2=second
            )  # fmt: skip

    def _site(self, frame: Frame, along: float = 0.0) -> str:
        """Add the site of a frame, or of a point on its z axis, to its body; return its name."""
        name = f'{frame.name}_axis' if along else frame.name
        element = self.elements[frame.body]
        if name not in {site.get('name') for site in element.findall('site')}:
            etree.SubElement(
                element, 'site', name=name, size='0.005',
                pos=numbers(frame.position + along * frame.rotation[:, 2]),
                quat=_quaternion(frame.rotation),
            )  # fmt: skip
        return name

    def _motors(self, root: Any) -> None:
        actuator = etree.SubElement(root, 'actuator')
        for j in self.model.actuators:
            joint = self.model.joints[j]
            motor = etree.SubElement(actuator, 'motor', name=joint.name, joint=joint.name)
            if np.isfinite(joint.effort_limit):
                motor.set('ctrlrange', numbers([-joint.effort_limit, joint.effort_limit]))

    def _free_name(self, name: str) -> str:
        taken = set(self.model.joint_names)
        while name in taken:
            name += '_'
        return name


def _quaternion(rotation: Array) -> str:
    """Return a rotation as MuJoCo writes it, w first."""
    x, y, z, w = Rotation.from_matrix(np.array(rotation)).as_quat()
    return numbers([w, x, y, z])


def _physical(inertia: Inertia) -> tuple[float, ...]:
    """Return the six components of a tensor that MuJoCo accepts.

    Principal moments must be positive, and rounded digits may miss the triangle inequality.
    """
    moments, axes = np.linalg.eigh(inertia.tensor)
    least = 1e-9 * max(float(moments[2]), inertia.mass * 1e-6)
    moments = np.maximum(moments, least)
    moments[2] = min(moments[2], moments[0] + moments[1])
    tensor = (axes * moments) @ axes.T
    return (
        tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2],
    )  # fmt: skip
