"""The physics around the robot, all of it off by default and all of it a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError
from parallel_dynamics.kernels import batch, stages
from parallel_dynamics.kernels.joint_efforts import ACTING, JOINT_PHYSICS
from parallel_dynamics.motion import number, one_of
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

FRICTION = {'none': stages.FRICTIONLESS, 'smooth': stages.SMOOTH, 'stick': stages.STICK}
LIMITS = {'off': stages.NO_STOPS, 'stiff': stages.STIFF, 'halt': stages.HALT}


@dataclass(frozen=True)
class Spring:
    """A spring in a joint: effort = preload - stiffness (q - rest)."""

    stiffness: float
    rest: float = 0.0
    preload: float = 0.0


@dataclass(frozen=True)
class Payload:
    """A load on the platform: mass (kg), centre of mass (3,) in m, tensor (3, 3) about it."""

    mass: float
    com: ArrayLike = (0.0, 0.0, 0.0)
    inertia: ArrayLike | None = None


@dataclass(frozen=True)
class Physics:
    """What a simulation adds to the robot's own dynamics.

    Attributes
    ----------
    friction : str
        'smooth': friction and damping as the URDF has them, with the law of the inverse model
        (full above 1e-4 m/s or rad/s, linear below). 'stick': Coulomb friction that holds a
        joint at rest until its full value is exceeded. 'none': neither friction nor damping.
    limits : str
        Joint position limits: 'off', 'stiff' (stops that push back) or 'halt' (the run stops).
    stop_time : float
        Time constant of stiff stops, s; by default 4 ms, at least four steps.
    stop_damping : float
        Damping ratio of stiff stops.
    effort_limits : bool or (n,)
        Clamp efforts to the limits of the URDF, or to these.
    effort_lag : float
        Time constant of the drives, s.
    effort_delay : float
        Transport delay of commands, s.
    effort_noise : float or (n,)
        Standard deviation of noise on the efforts, new at each step.
    springs : mapping of joint names to Spring
    armature : mapping of joint names to float
        Inertia of the drives in place of the description's, kg or kg m^2.
    payload : Payload, optional
    encoder_resolution, position_noise, velocity_noise : float or mapping of joint names to float
        Of what ``measure`` returns: quantum of positions, standard deviations (m, rad, per s).
    """

    friction: str = 'smooth'
    limits: str = 'off'
    stop_time: float | None = None
    stop_damping: float = 0.7
    effort_limits: bool | ArrayLike = False
    effort_lag: float = 0.0
    effort_delay: float = 0.0
    effort_noise: ArrayLike = 0.0
    springs: Mapping[str, Spring] = field(default_factory=dict)
    armature: Mapping[str, float] = field(default_factory=dict)
    payload: Payload | None = None
    encoder_resolution: float | Mapping[str, float] = 0.0
    position_noise: float | Mapping[str, float] = 0.0
    velocity_noise: float | Mapping[str, float] = 0.0

    def __post_init__(self) -> None:
        for name, table in (('friction', FRICTION), ('limits', LIMITS)):
            one_of(name, getattr(self, name), table)
        for name in ('effort_lag', 'effort_delay', 'stop_damping'):
            not_negative(name, getattr(self, name))
        if self.stop_time is not None:
            not_negative('stop_time', self.stop_time)
        if not (self.payload is None or isinstance(self.payload, Payload)):
            raise InputError(f'payload: expected a Payload or None, got {self.payload!r}')

    def loaded(self, robot: Robot) -> Robot:
        """Return the robot with payload and armature of this physics."""
        if self.payload is not None:
            load = self.payload
            robot = robot.with_payload(load.mass, load.com, load.inertia)
        if not isinstance(self.armature, Mapping) or self.armature:
            known_joints(robot, 'armature', self.armature)
            joints = tuple(
                replace(joint, armature=not_negative('armature', self.armature[joint.name]))
                if joint.name in self.armature
                else joint
                for joint in robot.model.joints
            )
            robot = Robot(replace(robot.model, joints=joints), robot.mobility)
        return robot

    def pack(self, robot: Robot, step: float) -> Any:
        """Return the joints' physics as the kernels read them, in packed order."""
        known_joints(robot, 'springs', self.springs)
        records = np.zeros(max(1, len(robot.joints)), JOINT_PHYSICS)
        records['lower'], records['upper'] = -np.inf, np.inf
        time = max(4e-3, 4.0 * step) if self.stop_time is None else self.stop_time
        masses = joint_masses(robot) if self.limits == 'stiff' else np.zeros(len(robot.joints))
        for k, joint in enumerate(robot.model.joints):
            record = records[robot.engine.packed.order[k]]
            if self.friction != 'none':
                record['friction'], record['damping'] = joint.friction, joint.damping
            if joint.name in self.springs:
                spring = self.springs[joint.name]
                if not isinstance(spring, Spring):
                    raise InputError(f'springs: expected a Spring for each joint, got {spring!r}')
                record['spring'] = not_negative('stiffness', spring.stiffness)
                record['rest'] = number('rest', spring.rest)
                record['preload'] = number('preload', spring.preload)
            record['acts'] = any(record[name] for name in ACTING)
            record['lower'], record['upper'] = joint.lower, joint.upper
            if self.limits == 'stiff':
                record['stop_stiffness'] = masses[k] / time**2
                record['stop_damping'] = 2.0 * self.stop_damping * masses[k] / time
        return records


def not_negative(name: str, value: float) -> float:
    """Return ``value`` if it is a finite number of at least zero."""
    return number(name, value, 'a finite number of at least 0', 0.0)


def known_joints(robot: Robot, name: str, names: Mapping[str, Any]) -> None:
    """Refuse names that are no joints of the robot."""
    if not isinstance(names, Mapping) or set(names) - set(robot.joints):
        got = sorted(set(names) - set(robot.joints)) if isinstance(names, Mapping) else names
        raise InputError(
            f'{name}: expected joints of {robot.name} ({robot.joints}), got {got!r}'
        )


def per_joint(robot: Robot, name: str, value: float | Mapping[str, float]) -> Array:
    """Return one number for each joint, from one for all or from a mapping by name."""
    if isinstance(value, Mapping):
        known_joints(robot, name, value)
        return np.array([not_negative(name, value.get(joint, 0.0)) for joint in robot.joints])
    return np.full(len(robot.joints), not_negative(name, value))


def per_actuator(robot: Robot, name: str, value: ArrayLike) -> Array:
    """Return one number for each actuator, from one for all or from a vector."""
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError, OverflowError):
        array = np.full(1, np.nan)  # refused with the others
    if array.shape not in ((), (robot.dof,)) or not (array >= 0.0).all():
        raise InputError(
            f'{name}: expected one number or {robot.dof} numbers of at least 0, got {value!r}'
        )
    return np.broadcast_to(array, (robot.dof,)).copy()


def joint_masses(robot: Robot) -> Array:
    """Return the mass or inertia that each joint moves at home: 1 / (B A^-1 B^T), (joints,)."""
    engine, n = robot.engine, robot.dof
    inverse = np.linalg.inv(robot.mass_matrix(robot.home))
    engine.solve(robot.home, batch.VELOCITIES, own=True)
    joints = engine.packed.joints
    S = engine.work['S'][:, :n]
    masses = np.zeros(len(robot.joints))
    for k, packed in enumerate(engine.packed.order):
        row = joints[packed]['ratio'] * engine.coordinates[joints[packed]['coordinate']]['G'] @ S
        mobility = float(row @ inverse @ row)
        masses[k] = 1.0 / mobility if mobility > 1e-12 else np.inf
    # A joint that does not move at home has no such number; the largest of the others will do.
    moving = masses[np.isfinite(masses)]
    masses[~np.isfinite(masses)] = moving.max() if len(moving) else 1.0
    return masses
