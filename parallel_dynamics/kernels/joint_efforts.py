"""Efforts inside the joints during a simulation: friction, damping, springs, stops.

An effort at a joint does the work of a wrench on the platform: tau_j qd_j = (G_j^T tau_j) . V_p.
So all of them together enter the dynamics as one wrench, and passive joints need no extra path.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.kernels.compiler import entry, kernel
from parallel_dynamics.kernels.layout import FRICTION_VELOCITY

# One record per packed joint. friction N or N m; damping per m/s or rad/s; spring per m or rad,
# about rest, with preload; stops at lower and upper. ``acts``: whether any of them but a stop.
JOINT_PHYSICS = np.dtype(
    [('acts', 'i8')]
    + [(name, 'f8') for name in ('friction', 'damping', 'spring', 'rest', 'preload', 'lower',
                                 'upper', 'stop_stiffness', 'stop_damping')]
)  # fmt: skip
ACTING = ('friction', 'damping', 'spring', 'preload')

# How Coulomb friction acts during a step: by its law (saturated), or held at a given effort.
BY_LAW, HELD = 0, 1


@kernel
def coulomb(friction: float, qd: float) -> float:
    """Saturated Coulomb effort that opposes ``qd``: the law of the inverse model."""
    share = qd / FRICTION_VELOCITY
    if share > 1.0:
        share = 1.0
    elif share < -1.0:
        share = -1.0
    return friction * share


@kernel
def stop_effort(record: Any, q: float, qd: float) -> float:
    """Effort of a compliant stop; it pushes, damps, and never pulls."""
    if q < record['lower']:
        push = record['stop_stiffness'] * (record['lower'] - q) - record['stop_damping'] * qd
        return max(0.0, push)
    if q > record['upper']:
        push = record['stop_stiffness'] * (q - record['upper']) + record['stop_damping'] * qd
        return -max(0.0, push)
    return 0.0


@kernel
def add_joint_efforts(
    system: Any, joints: Any, bodies: Any, coordinates: Any, physics: Any, stops: int, mode: int,
    held: Any, wrench: Any,
) -> None:  # fmt: skip
    """Add the joints' efforts to ``wrench`` (6,) on the platform; velocities must be solved."""
    for j in range(system['joints']):
        record = physics[j]
        if record['acts'] == 0 and stops == 0:
            continue
        q = bodies[j + 2]['q']
        qd = bodies[j + 2]['qd']
        tau = record['preload'] - record['spring'] * (q - record['rest'])
        tau -= record['damping'] * qd
        if record['friction'] != 0.0:
            if mode == BY_LAW:
                tau -= coulomb(record['friction'], qd)
            else:
                tau -= held[j]
        if stops:
            tau += stop_effort(record, q, qd)
        tau *= joints[j]['ratio']
        g = coordinates[joints[j]['coordinate']]['G']
        for m in range(6):
            wrench[m] += tau * g[m]


@entry
def joint_energy(system: Any, bodies: Any, physics: Any, stops: int) -> float:
    """Potential energy of springs and stops, J; positions must be solved."""
    energy = 0.0
    for j in range(system['joints']):
        record = physics[j]
        q = bodies[j + 2]['q']
        stretch = q - record['rest']
        energy += 0.5 * record['spring'] * stretch * stretch - record['preload'] * stretch
        if stops:
            depth = max(0.0, record['lower'] - q, q - record['upper'])
            energy += 0.5 * record['stop_stiffness'] * depth * depth
    return energy
