"""Poses and defaults of MJCF, as its compiler reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.spatial import Array, rotation_between


def floats(values: Mapping[str, str], key: str, default: str | None, counts: str = '3') -> Array:
    """Return the numbers of an attribute.

    Parameters
    ----------
    values : mapping
        Attributes of an element.
    key : str
        The attribute.
    default : str
        What it is where it is not given; None where it must be.
    counts : str
        How many numbers it may have, such as '1 2'.

    Raises
    ------
    ValueError
        If it is missing, or has other than that many finite numbers.
    """
    text = values.get(key, default)
    if text is None:
        raise ValueError(f'{key} is missing')
    found = np.array(text.split(), dtype=float)
    if not np.isfinite(found).all():
        raise ValueError(f'{key} is not finite: {text}')
    if len(found) not in map(int, counts.split()):
        raise ValueError(f'{key} needs {" or ".join(counts.split())} numbers, got {text!r}')
    return found


def number(values: Mapping[str, str], key: str, default: str | None, counts: str = '1') -> float:
    """Return the first number of an attribute; see ``floats``."""
    return float(floats(values, key, default, counts)[0])


@dataclass
class Compiler:
    """Settings of <compiler> and <default> that change how numbers are read."""

    degrees: bool = True
    sequence: str = 'xyz'
    defaults: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Any) -> Compiler:
        """Read the settings of a <mujoco> element."""
        compiler = cls()
        for element in root.findall('compiler'):
            compiler.degrees = element.get('angle', 'degree') != 'radian'
            compiler.sequence = element.get('eulerseq', compiler.sequence)
        for element in root.findall('default'):
            compiler._read_default(element, {})
        return compiler

    def _read_default(self, element: Any, above: dict[str, dict[str, str]]) -> None:
        own = {tag: dict(values) for tag, values in above.items()}
        for child in element:
            if isinstance(child.tag, str) and child.tag != 'default':
                own[child.tag] = {**own.get(child.tag, {}), **dict(child.attrib)}
        self.defaults[element.get('class', 'main')] = own
        for child in element.findall('default'):
            self._read_default(child, own)

    def values(self, element: Any, childclass: str) -> dict[str, str]:
        """Return the attributes of an element with the defaults of its class."""
        name = element.get('class', childclass)
        default = self.defaults.get(name, self.defaults.get('main', {}))
        return {**default.get(element.tag, {}), **dict(element.attrib)}

    def angle(self, value: float) -> float:
        """Return an angle in rad."""
        return float(np.deg2rad(value)) if self.degrees else value

    def pose(self, values: dict[str, str]) -> tuple[Array, Array]:
        """Return rotation (3, 3) and position (3,) of an element in its parent."""
        return self.rotation(values), floats(values, 'pos', '0 0 0')

    def rotation(self, values: dict[str, str]) -> Array:
        """Return the rotation (3, 3) of an element, from whichever attribute gives it."""
        if 'quat' in values:
            w, x, y, z = floats(values, 'quat', None, '4')
            return np.asarray(Rotation.from_quat([x, y, z, w]).as_matrix())
        if 'axisangle' in values:
            *axis, angle = floats(values, 'axisangle', None, '4')
            turn = self.angle(angle) * _unit(np.array(axis), 'axisangle')
            return np.asarray(Rotation.from_rotvec(turn).as_matrix())
        if 'euler' in values:
            angles = [self.angle(value) for value in floats(values, 'euler', None)]
            return np.asarray(Rotation.from_euler(_scipy(self.sequence), angles).as_matrix())
        if 'xyaxes' in values:
            x_axis, y_axis = floats(values, 'xyaxes', None, '6').reshape(2, 3)
            x_axis = _unit(x_axis, 'xyaxes')
            z_axis = _unit(np.cross(x_axis, y_axis), 'xyaxes')
            return np.column_stack([x_axis, np.cross(z_axis, x_axis), z_axis])
        if 'zaxis' in values:
            return rotation_between(_unit(floats(values, 'zaxis', None), 'zaxis'))
        return np.eye(3)


def _unit(axis: Array, key: str) -> Array:
    length = float(np.linalg.norm(axis))
    if length < 1e-9:
        raise ValueError(f'{key} gives no direction')
    return axis / length


def _scipy(sequence: str) -> str:
    """Return an Euler sequence in SciPy's letters: capitals turn with the body in both worlds.

    MuJoCo writes the axes that turn in lower case and the fixed ones in upper case; SciPy has it
    the other way round.
    """
    return sequence.swapcase()
