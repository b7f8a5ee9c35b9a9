"""What the kernels see of a robot: record types, codes and tolerances.

Joints stand leg by leg, each parent before its children, and body ``j + 2`` is moved by packed
joint ``j``; body 0 is the base and body 1 the platform. A body's frame here has its joint's axis
as z (the *canonical* frame).
"""

from __future__ import annotations

from typing import Any

import numpy as np

REVOLUTE, PRISMATIC = 0, 1
BALL, WELD, HINGE, CYLINDER, PLANE = range(5)
CLOSURE_CODES = {'ball': BALL, 'weld': WELD, 'revolute': HINGE, 'cylindrical': CYLINDER,
                 'plane': PLANE}

OK = 0
UNREACHABLE = 1
LEG_SINGULAR = 2
POSE_NOT_ALLOWED = 3
TWIST_NOT_ALLOWED = 4
ACCELERATION_NOT_ALLOWED = 5
CONSTRAINT_SINGULAR = 6
ACTUATION_SINGULAR = 7
MASS_SINGULAR = 8
NOT_FINITE = 9

POSITION_TOLERANCE = 1e-6
"""Largest closure residual (m, rad) of a pose that counts as allowed, on robots of 1 m or more.

On smaller ones it shrinks with them, and it grows with what the description leaves open at home;
see ``packing.set_tolerances``.
"""
RATE_TOLERANCE = 1e-6
"""Largest part of a twist or acceleration, relative to 1 + its size, that closures may refuse.

On robots with a characteristic length below 1 m, lengths are counted in that length.
"""
SINGULAR_PIVOT = 1e-9
"""Ratio of pivots below which a matrix counts as singular."""
POOR_PIVOT = 1e-5
"""Ratio of pivots below which other components of the twist are tried as V_r."""
FRICTION_VELOCITY = 1e-4
"""Speed (rad/s, m/s) up to which Coulomb friction grows linearly from zero to its full value."""

# How ``work['warm']`` tells where a solution of positions starts.
COLD, WARM, HINTED, TRUSTED = 0, 1, 2, 3
"""From home; from the joints as they stand; from there if that cannot change the result.

Calls from outside start HINTED where something was solved before, and WARM only where the joints
are TRUSTED, as those of a simulation.
"""

# How ``work['choice']`` tells which components of the twist are V_r.
FREE, OWN, GIVEN = 0, 1, 2
"""The robot's own unless others are much better; its own; those that stand in ``work``."""

LARGEST_STEPS = 4
"""Steps that a leg may have which is placed in closed form; others are placed by iteration."""

_vector, _matrix = ('f8', (3,)), ('f8', (3, 3))

SYSTEM = np.dtype(
    [
        ('legs', 'i8'), ('joints', 'i8'), ('coordinates', 'i8'), ('rows', 'i8'), ('dof', 'i8'),
        ('width', 'i8'), ('actuator', 'i8', (6,)), ('dependent', 'i8', (6,)),
        ('independent', 'i8', (6,)), ('gravity', *_vector), ('mass', 'f8'), ('com', *_vector),
        ('tensor', *_matrix), ('home_p', *_vector), ('home_R', *_matrix), ('length', 'f8'),
        ('size', 'f8'), ('tolerance', 'f8'), ('rate_tolerance', 'f8'), ('loose', 'f8'),
    ],
    align=True,
)  # fmt: skip
LEG = np.dtype(
    [
        ('joint0', 'i8'), ('joint1', 'i8'), ('coordinate0', 'i8'), ('coordinates', 'i8'),
        ('closure0', 'i8'), ('closure1', 'i8'), ('row0', 'i8'), ('rows', 'i8'),
        ('on_platform', 'i8'), ('point', 'i8'), ('steps', 'i8'), ('step', 'i8', (LARGEST_STEPS,)),
    ],
    align=True,
)  # fmt: skip
JOINT = np.dtype(
    [
        ('parent', 'i8'), ('kind', 'i8'), ('coordinate', 'i8'), ('ratio', 'f8'), ('offset', 'f8'),
        ('R', *_matrix), ('p', *_vector), ('has_mass', 'i8'), ('mass', 'f8'), ('com', *_vector),
        ('tensor', *_matrix), ('damping', 'f8'), ('friction', 'f8'), ('armature', 'f8'),
    ],
    align=True,
)  # fmt: skip
CLOSURE = np.dtype(
    [
        ('kind', 'i8'), ('first', 'i8'), ('second', 'i8'), ('row0', 'i8'), ('rows', 'i8'),
        ('R1', *_matrix), ('p1', *_vector), ('R2', *_matrix), ('p2', *_vector),
        # How it helps to place its leg, if it does; see ``closed_form``.
        ('form', 'i8'), ('j0', 'i8'), ('j1', 'i8'), ('j2', 'i8'), ('onto', 'i8'),
        ('target', *_vector), ('centre', *_vector), ('arm', *_vector), ('length', 'f8'),
        ('sign0', 'f8'), ('sign1', 'f8'),
    ],
    align=True,
)  # fmt: skip

# What a computation leaves behind, all in base axes.
BODY = np.dtype(
    [
        ('R', *_matrix), ('p', *_vector), ('z', *_vector), ('v', *_vector), ('w', *_vector),
        ('a', *_vector), ('al', *_vector), ('c', *_vector), ('I', *_matrix), ('f', *_vector),
        ('n', *_vector), ('cm', 'f8'), ('cc', *_vector), ('cI', *_matrix),
        ('q', 'f8'), ('qd', 'f8'), ('qdd', 'f8'), ('tau', 'f8'),
    ],
    align=True,
)  # fmt: skip
COORDINATE = np.dtype(
    [('q', 'f8'), ('qd', 'f8'), ('qdd', 'f8'), ('tau', 'f8'), ('G', 'f8', (6,)), ('g', 'f8')],
    align=True,
)
WORK = np.dtype(
    [
        ('S', 'f8', (6, 6)), ('s', 'f8', (6,)), ('L', 'f8', (6, 6)), ('LS', 'f8', (6, 6)),
        ('A', 'f8', (6, 6)), ('M', 'f8', (6, 6)), ('F', 'f8', (6,)), ('b', 'f8', (6,)),
        ('leg', 'i8'), ('row', 'i8'), ('iterations', 'i8'), ('residual', 'f8'), ('pivot', 'f8'),
        ('fraction', 'f8'), ('warm', 'i8'), ('angles_unwanted', 'i8'), ('leg_pivot', 'f8'),
        ('goal', 'f8', (6,)), ('start', 'f8', (6,)), ('freedom', 'f8'), ('choice', 'i8'),
        ('dependent', 'i8', (6,)), ('independent', 'i8', (6,)),
    ],
    align=True,
)  # fmt: skip

OPTIONS = np.dtype([(name, 'f8') for name in
                    ('weight', 'platform', 'legs', 'drives', 'friction', 'push')])


def options(**changes: float) -> Any:
    """Return which parts of the dynamics count: all (1.0) but those given."""
    record = np.ones(1, OPTIONS)
    for name, value in changes.items():
        record[name] = value
    return record
