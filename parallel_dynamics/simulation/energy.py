"""Energy of a robot whose bodies are known, however its joints have turned."""

from __future__ import annotations

from typing import Any

import numpy as np


def mechanical_energy(system: Any, joints: Any, bodies: Any) -> float:
    """Kinetic and potential energy, J, armature included; base level and at rest.

    Parameters
    ----------
    system, joints :
        Of the packed robot.
    bodies :
        Of a workspace in which a kernel has just solved the dynamics.
    """
    mass = np.array([system['mass'], *(joints['mass'] * joints['has_mass'])])
    heavy = mass > 0.0
    mass, solid = mass[heavy], bodies[1:][heavy]
    spin, centre = solid['w'], solid['c']
    velocity = solid['v'] + np.cross(spin, centre)
    kinetic = mass @ np.sum(velocity**2, axis=1)
    kinetic += np.einsum('bi,bik,bk', spin, solid['I'], spin)
    kinetic += joints['armature'] @ bodies['qd'][2:] ** 2
    potential = -mass @ (solid['p'] + centre) @ system['gravity']
    return float(0.5 * kinetic + potential)
