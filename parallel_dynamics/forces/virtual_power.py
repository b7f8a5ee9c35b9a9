"""Joint forces one component at a time, by virtual power (staicu_3rps, (8)-(12)).

A second derivation, for checking: it shares no equation with the closure multipliers of
``Robot.joint_forces``. It holds for any robot, moves the base if asked to, and counts friction
and drive inertia. Differs from the paper, which derives three components of one joint of one
robot by hand and neglects losses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.joint_forces import JointForces, JointForceSolver
from parallel_dynamics.motion import BaseMotion, PlatformMotion, checked
from parallel_dynamics.robot import Robot
from parallel_dynamics.virtual_motion import FreedMechanism


def virtual_power_forces(
    robot: Robot,
    m: PlatformMotion,
    wrench: ArrayLike | None = None,
    base: BaseMotion | None = None,
) -> JointForces:
    """Wrenches of all joints and closures of one motion by virtual power.

    Parameters and result are those of ``Robot.joint_forces``. Indeterminate components have the
    least-norm value too: it belongs to the virtual motion that violates the closures least.
    """
    external = checked('wrench', np.zeros(6) if wrench is None else wrench, (6,), single=True)
    freed = FreedMechanism(robot.engine, m, base)
    values, efforts = freed.forces(robot.parameters, external)
    solver = JointForceSolver(robot.engine, robot.mobility)
    sigma = freed.singular_values
    rank = np.array([sigma[-1] / sigma[0], 0.0, 1.0, 1.0])
    return JointForces(solver, values, freed.spread, efforts, rank)
