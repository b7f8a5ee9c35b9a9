"""Parameters of the simulator node: its time, its commands, and the physics around the robot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from parallel_dynamics.errors import InputError
from parallel_dynamics.robot import Robot
from parallel_dynamics.simulation import Payload
from parallel_dynamics.simulation.physics import FRICTION, LIMITS
from parallel_dynamics.simulation.plant import FALLBACKS
from parallel_dynamics.simulation.simulator import METHODS

MODES = ('real_time', 'fast', 'lock_step')


def declare_clock(node: Any) -> None:
    """Declare how time passes, what commands may do, and the arguments of services."""
    declare = node.parameters.declare
    declare('mode', 'real_time', 'How time passes.', choices=MODES, fixed=True)
    declare(
        'real_time_factor', 1.0, 'Simulated seconds per second, in mode real_time.',
        minimum=1e-3, maximum=1e3, change=node.change_factor,
    )  # fmt: skip
    declare('publish_rate', 500.0, 'States per simulated second.', minimum=1.0, maximum=10_000.0,
            fixed=True)  # fmt: skip
    declare('publish_clock', False, 'Publish /clock, and stamp with simulated time.', fixed=True)
    declare('start_paused', False, 'Wait for ~/resume.', fixed=True)
    declare('brakes', True, 'Hold the robot from start or reset until the first command.',
            fixed=True)  # fmt: skip
    declare(
        'watchdog', 0.2, 'Simulated seconds without commands until watchdog_action; 0 for never. '
        'In lock-step there is none.', minimum=0.0, maximum=1e6, change=node.change_watchdog,
    )  # fmt: skip
    declare(
        'watchdog_action', 'brake', 'Efforts when commands stay away: none, those that hold the '
        'weight (what moves goes on moving), or those that also slow the robot down to rest.',
        choices=FALLBACKS, change=node.change_watchdog_action,
    )  # fmt: skip
    declare('command_limits', 'clamp', 'What to do with efforts beyond the limits of the URDF.',
            choices=('clamp', 'refuse', 'off'), fixed=True)  # fmt: skip
    declare('step_count', 1, 'Integration steps of one call of ~/step.', minimum=1,
            maximum=node.most_steps)  # fmt: skip
    declare('reset_pose', [], 'Where ~/reset goes: x y z (m), quaternion x y z w; none for home.',
            length=7, check=_check_pose)  # fmt: skip
    declare('reset_projected', False, 'Put the pose of a reset on the closures.')
    declare('reset_time', False, 'Whether ~/reset and ~/load set the clock back.')
    declare('snapshot', '', 'File of ~/save and ~/load; none for memory.')


def _check_pose(value: list[float]) -> None:
    if value and abs(float(np.linalg.norm(value[3:])) - 1.0) > 1e-3:
        raise InputError(f'reset_pose: expected a quaternion of norm 1, got {value[3:]}')


def declare_physics(node: Any) -> dict[str, Any]:
    """Declare integration and physics; return them as options of a Simulator."""
    robot, declare = node.robot, node.parameters.declare
    joints, drives = len(robot.joints), robot.dof
    options: dict[str, Any] = {}

    def number(name: str, default: float, text: str, most: float = 1e6, least: float = 0) -> None:
        options[name] = declare(name, default, text, minimum=least, maximum=most, fixed=True)

    options['method'] = declare(
        'method', 'rk4', 'Integration.', choices=tuple(METHODS), fixed=True
    )
    number('step', 1e-3, 'Integration step, s.', 0.1, 1e-6)
    number('tolerance', 1e-7, 'Local error of dop853, and of friction through a reversal.', 1e-2,
           1e-14)  # fmt: skip
    number('singularity', 1e4, 'Condition number at which the simulation stops.', 1e12, 2.0)
    options['seed'] = declare('seed', 0, 'Of all noise.', minimum=0, fixed=True)
    options['friction'] = declare(
        'friction', 'smooth', 'Friction in the joints.', choices=tuple(FRICTION), fixed=True
    )
    options['limits'] = declare(
        'limits', 'off', 'Position limits of joints.', choices=tuple(LIMITS), fixed=True
    )
    number('stop_time', 0.0, 'Time constant of stiff limits, s; 0 for one that suits the step.')
    options['stop_time'] = options['stop_time'] or None
    number('stop_damping', 0.7, 'Damping ratio of stiff limits.')
    options['effort_limits'] = node.parameters['command_limits'] == 'clamp'
    number('effort_lag', 0.0, 'Time constant of the drives, s.')
    number('effort_delay', 0.0, 'Transport delay of commands, s.')

    def numbers(name: str, count: int, text: str, each: str) -> list[float]:
        check = _one_or_each(name, count, each)
        value: list[float] = declare(
            name, [], f'{text}: one number for all, or one for each {each}.',
            minimum=0.0, check=check, fixed=True,
        )  # fmt: skip
        return value * count if len(value) == 1 else value

    noise = numbers('effort_noise', drives, 'Standard deviation of efforts', 'actuator')
    options['effort_noise'] = noise or 0.0
    for name, text in (
        ('encoder_resolution', 'Quantum of joint positions'),
        ('position_noise', 'Standard deviation of joint positions'),
        ('velocity_noise', 'Standard deviation of joint velocities'),
    ):
        options[name] = dict(zip(robot.joints, numbers(name, joints, text, 'joint')))
    armature = numbers('armature', drives, 'Inertia of the drives', 'actuator')
    options['armature'] = dict(zip(robot.actuators, armature))
    options['payload'] = _payload(node, robot)
    return options


def _one_or_each(name: str, count: int, each: str) -> Callable[[list[float]], None]:
    def check(value: list[float]) -> None:
        if len(value) not in (0, 1, count):
            raise InputError(
                f'{name}: expected one number or {count}, one for each {each}, got {len(value)}'
            )

    return check


def _payload(node: Any, robot: Robot) -> Payload | None:
    declare = node.parameters.declare
    mass = declare('payload_mass', 0.0, 'Load on the platform, kg.', minimum=0.0, fixed=True)
    com = declare('payload_com', [0.0, 0.0, 0.0], 'Its centre of mass in the platform frame, m.',
                  length=3, fixed=True)  # fmt: skip
    inertia = declare('payload_inertia', [], 'Its tensor: ixx iyy izz ixy ixz iyz, kg m^2.',
                      length=6, fixed=True)  # fmt: skip
    if mass == 0.0:
        return None
    if not inertia:
        return Payload(mass, com)
    xx, yy, zz, xy, xz, yz = inertia
    return Payload(mass, com, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
