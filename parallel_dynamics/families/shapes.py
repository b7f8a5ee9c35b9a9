"""
Primitive shapes: what a body looks like and the inertia that follows from it.

A shape is placed where it stands with the robot at home, in the axes of the base link; the
builder moves it into the link's own frame. Inertia is computed from the shape and its mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.families.geometry import Array, distance, frame, times, unit


@dataclass(frozen=True)
class Inertia:
    """Mass (kg), centre of mass (3,) (m) and tensor (3, 3) about it (kg m^2), in common axes."""

    mass: float
    com: Array
    tensor: Array

    def __add__(self, other: Inertia) -> Inertia:
        """Inertia of both bodies welded together (parallel axes)."""
        mass = self.mass + other.mass
        com = (self.mass * self.com + other.mass * other.com) / mass
        tensor = sum(
            part.tensor + part.mass * steiner(part.com - com) for part in (self, other))
        return Inertia(mass, com, np.asarray(tensor))

    def seen_from(self, point: Array, rotation: Array) -> Inertia:
        """Return it in a frame at `point` (3,) with `rotation` (3, 3), old <- new."""
        return Inertia(
            self.mass, times(rotation.T, self.com - point),
            times(rotation.T, times(self.tensor, rotation)))


@dataclass(frozen=True)
class Visual:
    """A URDF primitive: `size` is (radius, length), (x, y, z) or (radius,) by its `kind`."""

    kind: str
    size: tuple[float, ...]
    point: Array
    rotation: Array
    colour: str


@dataclass(frozen=True)
class Shape:
    """Inertia (None for something drawn only) and the primitives that draw it."""

    inertia: Inertia | None
    visuals: tuple[Visual, ...]


def steiner(offset: Array) -> Array:
    """Tensor (3, 3), m^2, of a unit mass at `offset` (3,) m."""
    return np.asarray((offset**2).sum() * np.eye(3) - np.outer(offset, offset))


def tube(
    start: ArrayLike, end: ArrayLike, radius: float, mass: float, colour: str,
    bore: float = 0.0,
) -> Shape:
    """
    Round bar from `start` to `end` (3,), m, with outer `radius` and `bore` radius, uniform `mass`.

    I_axial = m (r^2 + b^2) / 2, I_across = m (3 (r^2 + b^2) + l^2) / 12.
    """
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    axis, centre, length = unit(b - a), (a + b) / 2.0, distance(a, b)
    square = radius**2 + bore**2
    across, axial = (3.0 * square + length**2) / 12.0, square / 2.0
    tensor = mass * (across * np.eye(3) + (axial - across) * np.outer(axis, axis))
    visual = Visual('cylinder', (radius, length), centre, frame(axis), colour)
    return Shape(Inertia(mass, centre, tensor) if mass > 0.0 else None, (visual,))


def disc(
    centre: ArrayLike, normal: ArrayLike, radius: float, thickness: float, mass: float,
    colour: str,
) -> Shape:
    """Round plate about `centre` (3,), m, of the given `thickness` along `normal` (3,)."""
    c, half = np.asarray(centre, dtype=float), unit(normal) * thickness / 2.0
    return tube(c - half, c + half, radius, mass, colour)


def ball(centre: ArrayLike, radius: float, mass: float, colour: str) -> Shape:
    """Solid ball: I = 2 m r^2 / 5."""
    c = np.asarray(centre, dtype=float)
    visual = Visual('sphere', (radius,), c, np.eye(3), colour)
    tensor = 0.4 * mass * radius**2 * np.eye(3)
    return Shape(Inertia(mass, c, tensor) if mass > 0.0 else None, (visual,))


def box(
    centre: ArrayLike, size: ArrayLike, mass: float, colour: str,
    rotation: Array | None = None,
) -> Shape:
    """Solid box of `size` (3,), m, along the axes of `rotation` (3, 3): I_xx = m (y^2+z^2)/12."""
    c, edge = np.asarray(centre, dtype=float), np.asarray(size, dtype=float)
    r = np.eye(3) if rotation is None else rotation
    tensor = mass / 12.0 * times(r, times(np.diag((edge**2).sum() - edge**2), r.T))
    visual = Visual('box', tuple(float(e) for e in edge), c, r, colour)
    return Shape(Inertia(mass, c, tensor) if mass > 0.0 else None, (visual,))


def polygon_plate(
    corners: ArrayLike, thickness: float, mass: float, colour: str, edge: str,
) -> Shape:
    """
    Uniform plate over a flat convex polygon with `corners` (n, 3), m, in order.

    The tensor adds the triangles of the fan about the mean corner: a triangle has the second
    moments of three thirds of its mass at the middles of its sides. URDF has no prism: the plate
    is drawn as its edges and the largest disc about its centre.
    """
    points = np.asarray(corners, dtype=float)
    after, centre = np.roll(points, -1, axis=0), points.mean(axis=0)
    areas = np.sqrt((np.cross(points - centre, after - centre) ** 2).sum(axis=1))
    normal = unit(np.cross(points[0] - centre, points[1] - centre))
    parts = []
    for a, b, area in zip(points, after, areas, strict=True):
        share = mass * float(area / areas.sum())
        middles = np.array([a + b, b + centre, centre + a]) / 2.0
        com = middles.mean(axis=0)
        flat = sum(steiner(m - com) for m in middles) / 3.0
        # Thickness: a uniform rod of that length along the normal.
        thick = thickness**2 / 12.0 * (np.eye(3) - np.outer(normal, normal))
        parts.append(Inertia(share, com, share * (flat + thick)))
    inner = min(
        distance(np.zeros(3), np.cross(a - centre, unit(b - a)))
        for a, b in zip(points, after, strict=True))
    visuals = disc(centre, normal, inner, thickness, 0.0, colour).visuals
    for a, b in zip(points, after, strict=True):
        visuals += tube(a, b, 0.6 * thickness, 0.0, edge).visuals
    return Shape(reduce(add, parts) if mass > 0.0 else None, visuals)


def together(*shapes: Shape, weightless: bool = False) -> Shape:
    """Shapes welded into one, without their masses when `weightless`."""
    parts = [s.inertia for s in shapes if s.inertia is not None and not weightless]
    visuals = tuple(visual for shape in shapes for visual in shape.visuals)
    return Shape(reduce(add, parts) if parts else None, visuals)
