"""Parameters of the paper's 3-RPS, read from a robot description at home."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM, RobotModel
from parallel_dynamics.papers.layout import HomeLayout
from parallel_dynamics.papers.notation import Array
from parallel_dynamics.papers.staicu_3rps.forces import Body, ThreeRps
from parallel_dynamics.papers.staicu_3rps.kinematics import Geometry, leg_matrix


def three_rps(model: RobotModel) -> ThreeRps:
    """Return the paper's model of a 3-RPS whose legs stand at 0, 120 and -120 degrees.

    The actuated joints of the description decide between revolute and prismatic actuation.
    """
    layout = HomeLayout(model)
    chains = [layout.chain(closure.first.body) for closure in model.closures]
    kinds = [[model.joints[j].kind for j in chain] for chain in chains]
    if kinds != [['revolute', 'prismatic']] * 3:
        raise InputError(f'expected three R-P-S legs, got the joints {kinds}')
    actuated = {model.joints[j].kind for j in model.actuators}
    if len(actuated) != 1:
        raise InputError(
            f'expected all actuators revolute or all prismatic, got {model.actuator_names}'
        )
    A1, A2 = (layout.joint_origin(j) for j in chains[0])
    A3 = layout.frame(model.closures[0].first)[1]
    G = layout.origins[PLATFORM]
    geometry = Geometry(
        l0=float(np.linalg.norm(A1[:2])),
        r=float(np.linalg.norm((A3 - G)[:2])),
        h=float(G[2]),
        lambda0=float(np.linalg.norm(A2 - A1)),
    )

    def read(body: int, rotation: Array, point: Array) -> Body:
        p = layout.body(body, rotation, point)
        return Body(p.mass, p.com, p.tensor)

    cylinders, pistons = [], []
    theta3 = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    for leg, (revolute, slide) in enumerate(chains):
        a10 = leg_matrix(geometry, leg, 0.0)
        a20 = theta3.T @ a10
        point = layout.joint_origin(revolute)
        cylinders.append(read(revolute + FIRST_LEG_BODY, a10.T, point))
        pistons.append(read(slide + FIRST_LEG_BODY, a20.T, layout.joint_origin(slide)))
    platform = read(PLATFORM, layout.rotations[PLATFORM], G)
    return ThreeRps(
        geometry, cylinders, pistons, platform, actuated.pop(), np.array(model.gravity)
    )
