"""codourey_burdet_1997: a body-oriented linear form of the dynamics of fully parallel robots."""

from parallel_dynamics.papers.codourey_burdet_1997.delta import (
    ExactDelta,
    Geometry,
    LumpedDelta,
    State,
    arm_rotation,
    state,
)
from parallel_dynamics.papers.codourey_burdet_1997.extract import exact_delta, lumped_delta
from parallel_dynamics.papers.codourey_burdet_1997.linear_form import (
    BodyMotion,
    body_matrix,
    dynamic_matrix,
    inertial_wrench,
    parameters,
    tilde,
)
from parallel_dynamics.papers.codourey_burdet_1997.virtual_work import (
    actuator,
    efforts,
    motor_jacobian,
    transmission,
    wrench_at_centre,
)

__all__ = [
    'BodyMotion',
    'ExactDelta',
    'Geometry',
    'LumpedDelta',
    'State',
    'actuator',
    'arm_rotation',
    'body_matrix',
    'dynamic_matrix',
    'efforts',
    'exact_delta',
    'inertial_wrench',
    'lumped_delta',
    'motor_jacobian',
    'parameters',
    'state',
    'tilde',
    'transmission',
    'wrench_at_centre',
]
