"""Irregularity: random but repeatable departures from a family's symmetric design."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.families.geometry import Array, rotation_about, times, unit
from parallel_dynamics.families.shapes import Inertia


class Variation:
    """
    Perturbs what a family passes through it; without a seed it returns everything unchanged.

    A family passes each quantity that may vary without changing the robot's mobility. Since all
    shapes, joints and closures are placed at home, the robot is assembled there by construction.

    Parameters
    ----------
    seed : seed of the random numbers, or None for the regular robot.
    amount : relative size of the departures (0.1 moves a point by up to a tenth of its size).
    """

    def __init__(self, seed: int | None = None, amount: float = 0.12) -> None:
        self.seed = seed
        self._random = None if seed is None else np.random.default_rng(seed)
        self._amount = amount

    def point(self, point: ArrayLike, size: float) -> Array:
        """Point (3,), m, displaced in every direction by up to `amount` times `size` (m)."""
        p = np.asarray(point, dtype=float)
        if self._random is None:
            return p
        return p + self._amount * size * self._random.uniform(-1.0, 1.0, 3)

    def scale(self, value: float) -> float:
        """Return a length, mass or angle, changed by up to `amount` of itself."""
        if self._random is None:
            return value
        return value * (1.0 + self._amount * float(self._random.uniform(-1.0, 1.0)))

    def direction(self, direction: ArrayLike) -> Array:
        """Direction (3,), tilted by up to `amount` (rad) about a random axis."""
        d = unit(direction)
        if self._random is None:
            return d
        axis = np.cross(d, self._random.normal(size=3))
        angle = self._amount * float(self._random.uniform(0.3, 1.0))
        return times(rotation_about(axis, angle), d)

    def inertia(self, inertia: Inertia) -> Inertia:
        """
        Body with an off-axis centre of mass and a full tensor of no symmetry.

        The second moments Sigma = tr(I)/2 - I are sheared by a random matrix: they stay positive,
        so that the tensor tr(Sigma) - Sigma stays physical.
        """
        if self._random is None:
            return inertia
        sigma = np.trace(inertia.tensor) / 2.0 * np.eye(3) - inertia.tensor
        spread = float(np.trace(sigma))
        shear = np.eye(3) + 0.25 * self._random.normal(size=(3, 3))
        sigma = shear @ (sigma + 0.02 * spread * np.eye(3)) @ shear.T
        size = np.sqrt(spread / inertia.mass)
        return Inertia(
            inertia.mass * float(self._random.uniform(0.7, 1.4)),
            inertia.com + 0.2 * size * self._random.uniform(-1.0, 1.0, 3),
            np.trace(sigma) * np.eye(3) - sigma,
        )

    def loss(self, value: float, kind: str) -> float:
        """Viscous or Coulomb coefficient of a joint of `kind`, not zero on an irregular robot."""
        if self._random is None:
            return value
        typical = 4.0 if kind == 'prismatic' else 0.08
        return (value + typical) * float(self._random.uniform(0.3, 1.5))

    def armature(self, value: float, kind: str) -> float:
        """Drive inertia (kg, kg m^2) of a joint of `kind`, not zero on an irregular robot."""
        if self._random is None:
            return value
        typical = 0.5 if kind == 'prismatic' else 0.01
        return (value + typical) * float(self._random.uniform(0.5, 1.5))

    def gravity(self, gravity: Array) -> Array:
        """Gravity (3,), m/s^2, base axes, as a base that is not mounted level sees it."""
        if self._random is None:
            return gravity
        return float(np.linalg.norm(gravity)) * self.direction(gravity)


REGULAR = Variation()
