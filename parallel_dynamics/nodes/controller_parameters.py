"""Parameters of the controller node, and the settings of the control library made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from parallel_dynamics.control import (
    LAWS,
    ControlLoop,
    Gains,
    Limits,
    LoopSettings,
    TrackerSettings,
    default_gains,
    default_limits,
)
from parallel_dynamics.errors import InputError
from parallel_dynamics.robot import Robot

TRIGGERS = ('timer', 'joint_states')


def declare_control(node: Any) -> None:
    """Declare rate, mode and gains."""
    declare = node.parameters.declare
    declare('rate', 500.0, 'Cycles per second.', minimum=1.0, maximum=5000.0,
            change=node.change_rate)  # fmt: skip
    declare('trigger', 'timer', 'What starts a cycle: a timer, or each new joint state (least '
            'delay; needed where the simulator runs in lock-step).', choices=TRIGGERS,
            fixed=True)  # fmt: skip
    declare('mode', 'computed_torque', 'Control law.', choices=tuple(LAWS),
            change=node.change_mode)  # fmt: skip
    declare('enabled_at_start', True, 'Take the robot when activated; false waits for ~/enable.',
            fixed=True)  # fmt: skip
    change = node.change_gains
    declare('bandwidth', 10.0, 'Natural frequency of every error, Hz; gains follow from it and '
            'the mass matrix.', minimum=1e-3, maximum=1e3, change=change)  # fmt: skip
    declare('damping', 1.0, 'Damping ratio of every error.', minimum=1e-3, maximum=1e3,
            change=change)  # fmt: skip
    declare('integral', 0.05, 'Integral action, as a share of the largest stable one.',
            minimum=0.0, maximum=0.99, change=change)  # fmt: skip
    declare('coupled_gains', True, 'Gains from the whole inertia matrix; false: its diagonal.',
            change=change)  # fmt: skip
    n = node.robot.dof
    for name, unit in (('kp', 'effort per position'), ('kd', 'effort per velocity'),
                       ('ki', 'effort per position and second')):  # fmt: skip
        declare(name, [], f'Gains of pd_feedforward, one for each actuator, {unit}; none: from '
                'the bandwidth.', length=n, minimum=0.0, change=change)  # fmt: skip
    declare('velocity_filter', 50.0, 'Low-pass behind differentiated positions, Hz; used where '
            'joint states have no velocity.', minimum=0.1, maximum=1e4,
            change=node.change_filter)  # fmt: skip
    declare('payload_mass', 0.0, 'Load on the platform that the model counts with, kg.',
            minimum=0.0, maximum=1e6, change=node.change_payload)  # fmt: skip
    declare('payload_com', [0.0, 0.0, 0.0], 'Its centre of mass in the platform frame, m.',
            length=3, change=node.change_payload)  # fmt: skip
    declare('law_state', '', 'File (JSON) for what a law learns: read when configured, written '
            'when deactivated; none: forgotten.', fixed=True)  # fmt: skip
    declare('joint_trajectory_rate', 50.0, 'Points per second on joint_trajectory.', minimum=1.0,
            maximum=1000.0)  # fmt: skip


def declare_safety(node: Any) -> None:
    """Declare limits and times of the guards."""
    declare, limits, times = node.parameters.declare, node.change_limits, node.change_settings

    def share(name: str, default: float, text: str, most: float = 100.0) -> None:
        declare(name, default, text, minimum=1e-3, maximum=most, change=limits)

    share('effort_limit', 1.0, "Share of the URDF's effort limits that is used.", 1.0)
    share('effort_rate', 100.0, 'Shares of the effort limit by which it may change in a second.',
          1e6)  # fmt: skip
    share('velocity_limit', 1.5, "Share of the URDF's velocity limits at which it is stopped.")
    share('tracking_limit', 0.1, "Share of an actuator's range at which an error stops it.")
    share('condition_limit', 20.0, 'How much worse than at home condition numbers may be.', 1e6)
    for name in ('workspace_lower', 'workspace_upper'):
        declare(name, [], 'Bound of the platform position x y z, m, base frame; none: no bound.',
                length=3, change=limits)  # fmt: skip

    def seconds(name: str, default: float, text: str) -> None:
        declare(name, default, text, minimum=1e-3, maximum=60.0, change=times)

    seconds('hold_after', 0.1, 'Age of joint states at which efforts are held, s.')
    seconds('ramp_after', 0.3, 'Age at which efforts go to zero, s; older states are refused.')
    seconds('ramp_time', 0.5, 'How long efforts take to zero, s.')
    seconds('emergency_ramp', 0.1, 'The same for the emergency stop, s.')
    seconds('tracking_time', 0.05, 'How long an error must be too large, s.')
    seconds('runaway_time', 0.6, 'How long an actuator may stay too fast, s.')
    seconds('base_timeout', 0.5, 'Age at which the base counts as at rest, s.')
    declare('use_stamps', True, 'Take the age of joint states from their stamps and bring them '
            'forward by it; false where the clocks of robot and controller do not agree.',
            change=times)  # fmt: skip
    declare('feedforward', 1.0, 'Share of the inverse dynamics in pd_feedforward and '
            'feedforward.', minimum=0.0, maximum=2.0, change=times)  # fmt: skip
    seconds('blend_time', 0.3, 'Shortest time to go over to a new trajectory, s.')
    seconds('stop_time', 0.3, 'How long the desired motion brakes, s.')
    seconds('stream_timeout', 0.2, 'How long set-points may stay away, s.')
    declare('stream_bandwidth', 10.0, 'Low-pass for set-points, Hz.', minimum=0.1, maximum=1e3,
            change=times)  # fmt: skip
    declare('start_tolerance', 0.2, "Share of an actuator's range by which a trajectory may start "
            'elsewhere.', minimum=1e-3, maximum=1.0, change=times)  # fmt: skip


def check_ages(values: Mapping[str, Any]) -> None:
    """Refuse efforts that would go to zero before they are held."""
    hold, ramp = values['hold_after'], values['ramp_after']
    if ramp < hold:
        raise InputError(f'ramp_after: expected at least hold_after ({hold:g} s), got {ramp:g}')


def check_workspace(values: Mapping[str, Any]) -> None:
    """Refuse a workspace with nothing in it."""
    lower, upper = _box(values)
    for k in range(3):
        if not lower[k] < upper[k]:
            raise InputError(
                f'workspace_lower: expected {"xyz"[k]} below workspace_upper ({upper[k]:g} m), '
                f'got {lower[k]:g}'
            )


def check_gains(values: Mapping[str, Any]) -> None:
    """Refuse gains that the law of a mode cannot work with."""
    mode, kd = values['mode'], values['kd']
    if kd and min(kd) <= 0.0 and getattr(LAWS[mode], 'needs_kd', False):
        raise InputError(f'kd: expected positive numbers or none in mode {mode}, got {kd}')


COMBINATIONS = (
    (('hold_after', 'ramp_after'), check_ages),
    (('workspace_lower', 'workspace_upper'), check_workspace),
    (('mode', 'kd'), check_gains),
)
"""Parameters that must go together, and what says whether they do."""


def gains(node: Any, robot: Robot) -> Gains:
    """Return the gains that the parameters ask for."""
    p = node.parameters
    found = default_gains(
        robot, p['bandwidth'], p['damping'], p['integral'], coupled=p['coupled_gains']
    )
    own: dict[str, Any] = {name: np.diag(p[name]) for name in ('kp', 'kd', 'ki') if p[name]}
    return replace(found, **own)


def limits(node: Any, robot: Robot) -> Limits:
    """Return the limits that the parameters ask for."""
    p = node.parameters
    return default_limits(
        robot, effort=p['effort_limit'], effort_rate=p['effort_rate'],
        velocity=p['velocity_limit'], tracking=p['tracking_limit'],
        condition=p['condition_limit'], box=_box(p),
    )  # fmt: skip


def _box(values: Any) -> list[list[float]]:
    lower = values['workspace_lower'] or [-np.inf] * 3
    return [lower, values['workspace_upper'] or [np.inf] * 3]


def loop_settings(node: Any) -> LoopSettings:
    """Return the times of the guards that the parameters ask for."""
    p = node.parameters
    return LoopSettings(**{name: p[name] for name in LoopSettings.__dataclass_fields__})


def tracker_settings(node: Any) -> TrackerSettings:
    """Return the rules for desired motions that the parameters ask for."""
    p = node.parameters
    return TrackerSettings(**{name: p[name] for name in TrackerSettings.__dataclass_fields__})


def loaded(node: Any) -> Robot:
    """Return the robot with the load that the parameters tell of."""
    robot: Robot = node.robot
    mass, com = node.parameters['payload_mass'], node.parameters['payload_com']
    return robot if mass == 0.0 else robot.with_payload(mass, com or (0.0, 0.0, 0.0))


def make_loop(node: Any) -> ControlLoop:
    """Return the control loop that the parameters ask for."""
    p = node.parameters
    robot = loaded(node)
    loop = ControlLoop(
        robot, p['mode'], gains=gains(node, robot), limits=limits(node, robot),
        settings=loop_settings(node), tracking=tracker_settings(node),
    )  # fmt: skip
    loop.estimator.velocity_filter = p['velocity_filter']
    return loop
