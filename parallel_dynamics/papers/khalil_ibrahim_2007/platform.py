"""The platform as one rigid body: khalil_ibrahim_2007 (12), (14), (15)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.notation import Array, cross, skew


@dataclass(frozen=True)
class Platform:
    """Inertial parameters about the origin P of the platform frame, in platform axes.

    Attributes
    ----------
    M : float, kg
    MS : (3,), kg m
    I : (3, 3), kg m^2
        About P, not about the centre of mass.
    """

    M: float
    MS: Array = field(default_factory=lambda: np.zeros(3))
    I: Array = field(default_factory=lambda: np.zeros((3, 3)))  # noqa: E741

    def spatial_inertia(self, rotation: Array) -> Array:
        """Return ``I_S`` (6, 6) in base axes, khalil_ibrahim_2007 (14)."""
        MS = skew(rotation @ self.MS)
        inertia = rotation @ self.I @ rotation.T
        return np.block([[self.M * np.eye(3), -MS], [MS, inertia]])

    def bias(self, m: PlatformMotion, g: Array) -> Array:
        """Return the part of ``F_p`` (6,) that does not depend on the acceleration, base axes."""
        MS = m.rotation @ self.MS
        inertia = m.rotation @ self.I @ m.rotation.T
        w = m.angular_velocity
        velocity_terms = np.concatenate([cross(w, cross(w, MS)), cross(w, inertia @ w)])
        weight = np.concatenate([self.M * g, cross(MS, g)])
        return velocity_terms - weight

    def force(self, m: PlatformMotion, g: Array, wrench: Array | None = None) -> Array:
        """Return ``F_p`` (6,) [force; moment] at P in base axes, khalil_ibrahim_2007 (12).

        This is inertia minus weight about P; differs from paper: an external ``wrench`` (6,) on
        the platform at P, base axes, is subtracted.
        """
        acceleration = np.concatenate([m.acceleration, m.angular_acceleration])
        total = self.spatial_inertia(m.rotation) @ acceleration + self.bias(m, g)
        return total if wrench is None else total - wrench
