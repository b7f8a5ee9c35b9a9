"""Dynamics of parallel robots: any robot described as a URDF tree plus its loop closures.

Public names are imported on first use, so that the command-line tool starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parallel_dynamics.errors import (
        DescriptionError,
        InputError,
        LimitError,
        NotAllowedMotionError,
        ParallelDynamicsError,
        SingularityError,
        UnreachableError,
    )
    from parallel_dynamics.loading import load_robot, shipped_robots
    from parallel_dynamics.motion import BaseMotion, JointMotion, PlatformMotion
    from parallel_dynamics.robot import Robot
    from parallel_dynamics.simulation import Simulator

__all__ = [
    'BaseMotion',
    'DescriptionError',
    'InputError',
    'JointMotion',
    'LimitError',
    'NotAllowedMotionError',
    'ParallelDynamicsError',
    'PlatformMotion',
    'Robot',
    'SingularityError',
    'Simulator',
    'UnreachableError',
    'load_robot',
    'shipped_robots',
]

_HOMES = {
    'BaseMotion': 'motion',
    'JointMotion': 'motion',
    'PlatformMotion': 'motion',
    'Robot': 'robot',
    'Simulator': 'simulation',
    'load_robot': 'loading',
    'shipped_robots': 'loading',
}
"""Which module has a public name; the errors are in ``errors``."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(import_module(f'{__name__}.{_HOMES.get(name, "errors")}'), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
