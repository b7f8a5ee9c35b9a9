"""Everything that is worth plotting about a motion, computed once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import cumulative_trapezoid

from parallel_dynamics.errors import InputError
from parallel_dynamics.kernels import maps as kernel
from parallel_dynamics.maps.performance import effort_unit, survey
from parallel_dynamics.motion import BaseMotion, JointMotion, PlatformMotion
from parallel_dynamics.robot import LimitViolation, Robot
from parallel_dynamics.spatial import Array

CONDITION_SAMPLES = 200
"""Instants at which all three condition numbers are found; the actuators' one is at every one."""


@dataclass(frozen=True, eq=False)
class MotionAnalysis:
    """A motion of N instants and what it asks of a robot with n actuators.

    Attributes
    ----------
    time : (N,)
        s.
    motion : PlatformMotion
    joints : JointMotion
    efforts : (N, n)
    parts : mapping of str to (N, n)
        What the efforts are made of; they sum to ``efforts``.
    powers : (N, n)
        Of the actuators, W.
    friction_power, external_power : (N,)
        What joint friction takes and what the external wrench brings, W.
    kinetic, potential : (N,)
        J.
    work : mapping of str to (N,)
        Energy that the drives, the wrench and (negative) friction brought since the start, J.
    condition : (N,)
        Of the actuators' Jacobian.
    condition_time, leg_condition, constraint_condition : (k,)
        The other two kinds of singularity, at fewer instants.
    joint_forces : mapping of name to (N, 6), or None
        [force; moment] of every joint and closure.
    indeterminate : mapping of 'force' and 'moment' to set of str
        Joints whose force or moment equilibrium does not fix at some instant; it is the smallest.
    violations : list of LimitViolation
    """

    robot: Robot
    time: Array
    motion: PlatformMotion
    joints: JointMotion
    efforts: Array
    parts: dict[str, Array]
    powers: Array
    friction_power: Array
    external_power: Array
    kinetic: Array
    potential: Array
    work: dict[str, Array]
    condition: Array
    condition_time: Array
    leg_condition: Array
    constraint_condition: Array
    joint_forces: dict[str, Array] | None
    indeterminate: dict[str, frozenset[str]]
    violations: list[LimitViolation]
    effort_unit: str

    @property
    def actuator_columns(self) -> list[int]:
        """Columns of ``joints`` that are actuated, in the order of the actuators."""
        return list(self.robot.model.actuators)

    @property
    def energy_gap(self) -> float:
        """Largest distance between energy and work, over the largest energy exchanged.

        Zero but for the error of integrating power by the trapezoidal rule.
        """
        stored = self.kinetic + self.potential
        total = sum(self.work.values(), np.zeros_like(self.time))
        size = max(np.ptp(stored), *(np.ptp(w) for w in self.work.values()), 1e-12)
        return float(np.abs(stored - stored[0] - total).max() / size)


def analyse(
    robot: Robot,
    time: ArrayLike,
    motion: PlatformMotion,
    wrench: ArrayLike | None = None,
    base: BaseMotion | None = None,
    joint_forces: bool = True,
) -> MotionAnalysis:
    """Analyse a motion (a batch) at times (N,), s.

    The energy balance is that of a level base at rest; with ``base`` it does not close.
    """
    t = np.asarray(time, float)
    if motion.batch is None or t.shape != (motion.batch,) or len(t) < 2:
        raise InputError(
            f'time: expected one instant for each of at least two motions, got shape {t.shape}'
        )
    if not (np.diff(t) > 0.0).all():
        raise InputError('time: expected growing times')
    joints = robot.inverse_kinematics(motion)
    parts = robot.effort_parts(motion, wrench, base)
    efforts = robot.inverse_dynamics(motion, wrench, base)
    rates = joints.velocity[:, list(robot.model.actuators)]
    powers = efforts * rates
    friction = -(parts['friction'] * rates).sum(axis=1)
    external = np.zeros(len(t))
    if wrench is not None:
        external = (np.asarray(wrench, float) * motion.twist).sum(axis=1)
    rows, _ = survey(robot, motion, robot.engine.external(None, None, None), np.zeros(2))
    picks = np.unique(np.linspace(0, len(t) - 1, min(len(t), CONDITION_SAMPLES)).astype(int))
    jacobians = [robot.jacobians(motion[int(k)]) for k in picks]
    work = {
        'drives': powers.sum(axis=1), 'external wrench': external, 'friction': friction
    }  # fmt: skip
    forces, loose = None, dict.fromkeys(('force', 'moment'), frozenset[str]())
    if joint_forces and hasattr(robot, 'joint_forces'):
        found = robot.joint_forces(motion, wrench, base)
        forces = dict(found.wrench)
        loose = {
            what: frozenset(k for k, u in found.determinate.items() if not u[..., part].all())
            for what, part in (('force', slice(0, 3)), ('moment', slice(3, 6)))
        }
    return MotionAnalysis(
        robot, t, motion, joints, efforts, parts, powers, friction, external,
        np.asarray(robot.kinetic_energy(motion)), np.asarray(robot.potential_energy(motion)),
        {k: cumulative_trapezoid(p, t, initial=0.0) for k, p in work.items() if np.any(p)},
        rows[:, kernel.CONDITION], t[picks],
        np.array([j.leg_condition for j in jacobians]),
        np.array([j.constraint_condition for j in jacobians]),
        forces, loose, robot.limit_violations(joints, efforts), effort_unit(robot),
    )  # fmt: skip
