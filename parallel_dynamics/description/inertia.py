"""Whether a mass and a tensor can belong to a real body."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parallel_dynamics.description.faults import HUGE, MASS, Faults, is_finite
from parallel_dynamics.spatial import Array

ROUNDING = 1e-3
"""Part of the largest principal moment by which rounded digits may break an inequality."""


def check_inertia(mass: float, tensor: Array, element: str, path: Path, faults: Faults) -> bool:
    """Report what is not physical about a mass and a tensor (3, 3) about the centre of mass.

    Returns
    -------
    bool
        Whether the inertia can be used.
    """
    if not is_finite([mass, *tensor.flat]):
        faults.add(
            path,
            element,
            f'mass or inertia is not finite, or above {HUGE:g}',
            'Give numbers in kg and kg m^2.',
            spoils=MASS,
        )
        return False
    good = True
    if mass < 0.0:
        good = False
        faults.add(path, element, f'mass is {mass:g} kg', 'A mass is not negative.', spoils=MASS)
    moments = np.linalg.eigvalsh(tensor)
    slack = ROUNDING * float(np.abs(moments).max())
    if moments[0] < -slack:
        good = False
        faults.add(
            path,
            element,
            f'inertia has a negative principal moment ({_row(moments)} kg m^2)',
            'Check the signs and the products of inertia; the tensor is about the centre of mass.',
            spoils=MASS,
        )
    elif moments[2] > moments[0] + moments[1] + slack:
        good = False
        faults.add(
            path,
            element,
            'inertia breaks the triangle inequality: of the principal moments '
            f'{_row(moments)} kg m^2 the largest exceeds the sum of the others',
            'No body has such a tensor; check units and the centre of mass it refers to.',
            spoils=MASS,
        )
    if mass == 0.0 and slack > 0.0:
        good = False
        faults.add(
            path,
            element,
            f'has inertia ({_row(moments)} kg m^2) but no mass',
            'Give the mass, or leave <inertial> out for a massless link.',
            spoils=MASS,
        )
    return good


def _row(values: NDArray[np.floating[Any]]) -> str:
    return ', '.join(f'{value:.4g}' for value in values)
