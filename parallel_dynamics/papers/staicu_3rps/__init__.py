"""staicu_3rps: joint forces in the dynamics of a spatial parallel manipulator."""

from parallel_dynamics.papers.staicu_3rps.extract import three_rps
from parallel_dynamics.papers.staicu_3rps.forces import (
    Body,
    JointForces,
    ThreeRps,
    paper_motion,
    slender,
    triangle,
)
from parallel_dynamics.papers.staicu_3rps.kinematics import (
    Coordinates,
    Geometry,
    accelerations,
    loop_error,
    parasitic_angle,
    platform_matrices,
    platform_motion,
    pose,
    rates,
)

__all__ = [
    'Body',
    'Coordinates',
    'Geometry',
    'JointForces',
    'ThreeRps',
    'accelerations',
    'loop_error',
    'paper_motion',
    'parasitic_angle',
    'platform_matrices',
    'platform_motion',
    'pose',
    'rates',
    'slender',
    'three_rps',
    'triangle',
]
