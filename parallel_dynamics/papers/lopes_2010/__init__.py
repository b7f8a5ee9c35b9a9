"""lopes_2010: fast dynamic model of a moving-base 6-DOF parallel manipulator."""

from parallel_dynamics.papers.lopes_2010.extract import stewart_platform
from parallel_dynamics.papers.lopes_2010.leg import Leg, LegState, leg_state
from parallel_dynamics.papers.lopes_2010.model import PARTS, PRINTED_FORMS, StewartPlatform

__all__ = [
    'PARTS',
    'PRINTED_FORMS',
    'Leg',
    'LegState',
    'StewartPlatform',
    'leg_state',
    'stewart_platform',
]
