"""khalil_ibrahim_2007: general solution for the dynamic modelling of parallel robots."""

from parallel_dynamics.papers.khalil_ibrahim_2007.c5 import C5Leg, C5Robot
from parallel_dynamics.papers.khalil_ibrahim_2007.chain import Chain, Link, Row
from parallel_dynamics.papers.khalil_ibrahim_2007.classical import ClassicalModel
from parallel_dynamics.papers.khalil_ibrahim_2007.extract import (
    c5_robot,
    rps_robot,
    ups_robot,
)
from parallel_dynamics.papers.khalil_ibrahim_2007.platform import Platform
from parallel_dynamics.papers.khalil_ibrahim_2007.rps import RpsLeg, RpsRobot, rps_table
from parallel_dynamics.papers.khalil_ibrahim_2007.ups import Leg, UpsRobot, leg_table

__all__ = [
    'C5Leg',
    'C5Robot',
    'Chain',
    'ClassicalModel',
    'Leg',
    'Link',
    'Platform',
    'Row',
    'RpsLeg',
    'RpsRobot',
    'UpsRobot',
    'c5_robot',
    'leg_table',
    'rps_robot',
    'rps_table',
    'ups_robot',
]
