"""Text of a built robot: URDF and YAML, the same bytes on every machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
import math
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from parallel_dynamics.families.builder import BASE, PLATFORM, Joint, Link, RobotBuilder
from parallel_dynamics.families.geometry import Array, frame, roll_pitch_yaw, times
from parallel_dynamics.families.shapes import Inertia, Visual
from parallel_dynamics.resources import writing_to

COLOURS = {
    'graphite': (0.2, 0.21, 0.23, 1.0),
    'steel': (0.62, 0.65, 0.68, 1.0),
    'chrome': (0.85, 0.87, 0.89, 1.0),
    'blue': (0.1, 0.32, 0.6, 1.0),
    'orange': (0.93, 0.46, 0.1, 1.0),
    'carbon': (0.1, 0.1, 0.11, 1.0),
    'brass': (0.78, 0.62, 0.25, 1.0),
    'glass': (0.35, 0.6, 0.85, 0.45),
    'haze': (0.62, 0.65, 0.68, 0.2),
}


@dataclass(frozen=True)
class RobotText:
    """A generated robot: its `name` and the text of its two files."""

    name: str
    urdf: str
    yaml: str

    def write(self, directory: str | Path) -> tuple[Path, Path]:
        """Write `<name>.yaml` and `<name>.urdf` side by side; return their paths in this order."""
        with writing_to(directory) as folder:
            yaml_path, urdf_path = folder / f'{self.name}.yaml', folder / f'{self.name}.urdf'
            yaml_path.write_text(self.yaml, encoding='utf-8', newline='\n')
            urdf_path.write_text(self.urdf, encoding='utf-8', newline='\n')
        return yaml_path, urdf_path


@dataclass(frozen=True)
class Writer:
    """
    Turns a robot into text.

    Parameters
    ----------
    exact : print every digit; otherwise 12 decimals, which read better and hide by how much the
        last bit of a sine differs between machines. Never '-0'.
    """

    exact: bool = False

    def number(self, value: float) -> str:
        """Text of one number."""
        if self.exact:
            return repr(float(value) + 0.0)
        return f'{round(float(value), 12) + 0.0:.12g}'

    def numbers(self, values: Iterable[float]) -> str:
        """Numbers separated by blanks."""
        return ' '.join(self.number(v) for v in values)

    def angle(self, value: float) -> str:
        """Text of an angle; multiples of 15 deg keep every digit, since they must stay square."""
        twelfths = value / (math.pi / 12.0)
        exact = twelfths != 0.0 and twelfths == round(twelfths)
        return repr(float(value)) if exact else self.number(value)

    def urdf(self, name: str, robot: RobotBuilder, notes: list[str]) -> str:
        """URDF of a built robot, with `notes` in a comment on top."""
        lines = ['<?xml version="1.0"?>', '<!--']
        lines += [f'  {note}'.rstrip() for note in notes]
        lines += ['-->', f'<robot name={quoteattr(name)}>']
        used = {visual.colour for link in robot.links.values() for visual in link.visuals}
        for colour, rgba in COLOURS.items():
            if colour in used:
                lines += [
                    f'  <material name="{colour}">',
                    f'    <color rgba="{self.numbers(rgba)}"/>', '  </material>']
        for link in robot.links.values():
            lines += self._link(link)
        for joint in robot.joints:
            lines += self._joint(joint)
        return '\n'.join([*lines, '</robot>', ''])

    def yaml(
        self, name: str, urdf: str, robot: RobotBuilder, notes: list[str], source: str = '',
    ) -> str:
        """YAML of a built robot with its closures; `urdf` is the path from it to the URDF."""
        lines = [f'# {note}'.rstrip() for note in notes]
        lines += [f'name: {name}', f'urdf: {urdf}', f'base: {BASE}', f'platform: {PLATFORM}']
        lines += _flow_list('actuators', robot.actuators)
        lines.append('closures:')
        for closure in robot.closures:
            between = ', '.join(closure.between)
            lines.append(
                f'  - {{name: {closure.name}, type: {closure.kind}, between: [{between}]}}')
        if robot.independent:
            lines += _flow_list('independent', robot.independent)
        if robot.armature:
            lines.append('armature:  # kg or kg m^2, what the drive adds to its joint')
            lines += [f'  {joint}: {self.number(a)}' for joint, a in robot.armature.items()]
        gravity = ', '.join(self.number(g) for g in robot.gravity)
        lines.append(f'gravity: [{gravity}]')
        if source:
            lines.append(f'source: {source}')
        return '\n'.join([*lines, ''])

    def _origin(self, point: Array, rotation: Array, indent: str) -> str:
        rpy = ' '.join(self.angle(a) for a in roll_pitch_yaw(rotation))
        return f'{indent}<origin xyz="{self.numbers(point)}" rpy="{rpy}"/>'

    def _link(self, link: Link) -> list[str]:
        if link.inertia is None and not link.visuals:
            return [f'  <link name="{link.name}"/>']
        lines = [f'  <link name="{link.name}">']
        if link.inertia is not None:
            lines += self._inertial(link.inertia)
        for visual in link.visuals:
            lines += self._visual(visual, link)
        return [*lines, '  </link>']

    def _inertial(self, inertia: Inertia) -> list[str]:
        tensor = inertia.tensor
        tensor = np.where(np.abs(tensor) < 1e-10 * np.abs(tensor).max(), 0.0, tensor)
        digits = '.17g' if self.exact else '.9g'  # Significant ones: small bodies count as well.
        values = ' '.join(
            f'i{"xyz"[i]}{"xyz"[j]}="{tensor[i, j] + 0.0:{digits}}"'
            for i in range(3) for j in range(i, 3))
        return [
            '    <inertial>', self._origin(inertia.com, np.eye(3), '      '),
            f'      <mass value="{self.number(inertia.mass)}"/>', f'      <inertia {values}/>',
            '    </inertial>']

    def _visual(self, visual: Visual, link: Link) -> list[str]:
        rotation = times(link.rotation.T, visual.rotation)
        if visual.kind == 'cylinder':
            rotation = frame(rotation[:, 2])  # Turning it about its own axis shows nothing.
        if visual.kind == 'box':
            size = f'size="{self.numbers(visual.size)}"'
        else:
            size = ' '.join(
                f'{key}="{self.number(value)}"'
                for key, value in zip(('radius', 'length'), visual.size, strict=False))
        point = times(link.rotation.T, visual.point - link.point)
        return [
            '    <visual>', self._origin(point, rotation, '      '), '      <geometry>',
            f'        <{visual.kind} {size}/>', '      </geometry>',
            f'      <material name="{visual.colour}"/>', '    </visual>']

    def _joint(self, joint: Joint) -> list[str]:
        lines = [
            f'  <joint name="{joint.name}" type="{joint.kind}">',
            self._origin(joint.point, joint.rotation, '    '),
            f'    <parent link="{joint.parent}"/>', f'    <child link="{joint.child}"/>']
        if joint.axis is not None:
            lines.append(f'    <axis xyz="{self.numbers(joint.axis)}"/>')
        if joint.limits is not None:
            limits = joint.limits
            lines.append(
                f'    <limit lower="{self.number(limits.lower)}" '
                f'upper="{self.number(limits.upper)}" effort="{self.number(limits.effort)}" '
                f'velocity="{self.number(limits.speed)}"/>')
        if joint.damping > 0.0 or joint.friction > 0.0:
            lines.append(
                f'    <dynamics damping="{self.number(joint.damping)}" '
                f'friction="{self.number(joint.friction)}"/>')
        return [*lines, '  </joint>']


def _flow_list(key: str, items: list[str], width: int = 95) -> list[str]:
    """Return `key: [a, b, c]`, wrapped."""
    lines, line = [], f'{key}: ['
    for index, item in enumerate(items):
        piece = item + (']' if index == len(items) - 1 else ', ')
        if len(line) + len(piece) > width:
            lines.append(line.rstrip())
            line = '  '
        line += piece
    return [*lines, line]
