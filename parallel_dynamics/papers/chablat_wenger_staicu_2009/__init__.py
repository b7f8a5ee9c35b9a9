"""chablat_wenger_staicu_2009: dynamics of the Orthoglide parallel robot."""

from parallel_dynamics.papers.chablat_wenger_staicu_2009.dynamics import (
    Body,
    Orthoglide,
    paper_bodies,
    paper_motion,
    slender,
)
from parallel_dynamics.papers.chablat_wenger_staicu_2009.extract import TO_BASE, orthoglide
from parallel_dynamics.papers.chablat_wenger_staicu_2009.kinematics import (
    PLATFORM_MATRICES,
    PRINTED_C50,
    PRINTED_FORMS,
    Geometry,
    attitude_error,
    body_states,
    jacobians,
    leg_accelerations,
    leg_pose,
    leg_rates,
    platform_centre,
)

__all__ = [
    'PLATFORM_MATRICES',
    'PRINTED_C50',
    'PRINTED_FORMS',
    'TO_BASE',
    'Body',
    'Geometry',
    'Orthoglide',
    'attitude_error',
    'body_states',
    'jacobians',
    'leg_accelerations',
    'leg_pose',
    'leg_rates',
    'orthoglide',
    'paper_bodies',
    'paper_motion',
    'platform_centre',
    'slender',
]
