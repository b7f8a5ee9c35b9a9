"""
Parametric families of parallel robots: parameters in, URDF and YAML out.

`create` makes a robot of a family, `irregular` one whose geometry and inertia have no symmetry
left. Families are imported when asked for, so that the command-line tool starts quickly.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

from parallel_dynamics.errors import InputError

if TYPE_CHECKING:
    from parallel_dynamics.families.family import Family
    from parallel_dynamics.families.writing import RobotText

__all__ = ['FAMILIES', 'create', 'family_class', 'irregular']

# Module of this folder, class in it, and what it is.
FAMILIES = {
    'stewart': ('Stewart', '6-UPS, slides actuated'),
    'space': ('Space', '3-UPS, first revolute joint and slide actuated'),
    'c5': ('C5', 'six sliders on three faces of a cube'),
    'delta': ('Delta', 'three arms, forearms of two rods'),
    'orthoglide': ('Orthoglide', 'three sliders and parallelograms'),
    'three_rps': ('ThreeRps', '3-RPS, revolute or prismatic joints actuated'),
    'hexaglide': ('Hexaglide', '6-PUS, carriages actuated'),
    'hexa': ('Hexa', '6-RUS, cranks actuated'),
    'planar_3rrr': ('Planar3rrr', 'planar 3-RRR'),
    'three_ups_passive_leg': ('ThreeUpsPassiveLeg', '3-UPS with a passive central leg'),
}


def family_class(name: str) -> type[Family]:
    """
    Class of a family, a dataclass whose fields are its parameters.

    Raises
    ------
    InputError
        If there is no such family.
    """
    if name not in FAMILIES:
        near = difflib.get_close_matches(name, FAMILIES, 1)
        hint = f' Did you mean {near[0]!r}?' if near else ''
        raise InputError(
            f'There is no family {name!r}; expected one of {", ".join(FAMILIES)}.{hint}')
    found: type[Family] = getattr(import_module(f'{__name__}.{name}'), FAMILIES[name][0])
    return found


def create(name: str, /, robot_name: str = '', **parameters: float | str) -> RobotText:
    """
    Make a robot of a family.

    Parameters
    ----------
    name : family, one of `FAMILIES`.
    robot_name : name of the robot and of its files; the family's when empty.
    parameters : fields of the family's dataclass, SI units; the others keep their defaults.

    Returns
    -------
    RobotText, whose `write(directory)` writes both files.
    """
    return _make(name, parameters).generate(robot_name)


def irregular(
    name: str, /, seed: int, robot_name: str = '', amount: float = 0.12,
    **parameters: float | str,
) -> RobotText:
    """
    Make a robot of a family with all symmetry taken out of it, the same for the same seed.

    Anchor points are displaced, legs unequal, joint axes tilted as far as the mobility allows;
    every body has a full inertia tensor and a centre of mass off its axis, every joint losses,
    every actuator an armature, and gravity is not along an axis. It is assembled at home.

    Parameters
    ----------
    name, robot_name, parameters : as for `create`; the robot's name ends in the seed by default.
    seed : of the random numbers.
    amount : relative size of the departures in geometry.
    """
    from parallel_dynamics.families.variation import Variation

    return _make(name, parameters).generate(
        robot_name or f'{name}_{seed}', Variation(seed, amount))


def _make(name: str, parameters: dict[str, float | str]) -> Family:
    kind = family_class(name)
    known = kind.parameters()
    unknown = [key for key in parameters if key not in known]
    if unknown:
        raise InputError(
            f'The family {name!r} has no parameter {", ".join(map(repr, unknown))}; '
            f'expected some of {", ".join(known)}.')
    return kind(**parameters)
