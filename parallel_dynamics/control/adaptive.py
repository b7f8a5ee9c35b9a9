"""Adaptive control after Slotine and Li, with the linear form: the load is learnt on the way.

With s = qd - v, where v is the desired velocity corrected by the error, the efforts are
``Y(q, qd, v, a) p - K s`` and the parameters follow ``p' = -Gamma Y^T s``: then s goes to zero
whatever the load, since ``1/2 s^T H s + 1/2 e_p^T Gamma^-1 e_p`` never grows (slotine_li_1987; the
linear form is that of codourey_burdet_1997).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from parallel_dynamics.control.gains import Gains
from parallel_dynamics.control.inverse_model import InverseModel
from parallel_dynamics.control.laws import LAWS, Desired, Law, pose_error
from parallel_dynamics.control.state import MeasuredState
from parallel_dynamics.errors import InputError
from parallel_dynamics.linear_form import BODY_SUFFIXES, ActuatedForm
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

START_TIME = 0.5
"""s to full speed, in the motion that the learning gain is chosen for."""


@dataclass(frozen=True)
class Adaptation:
    """How a law learns.

    Attributes
    ----------
    rate : float, 1/s
        How quickly a wrong weight is learnt; 0 learns nothing.
    bounds : mapping of parameter names to (lower, upper)
        Between which parameters stay, and which ones adapt. By default those of the platform
        (so of any load on it): from a tenth of its mass to five times as much, with the moments
        of such a load, and the friction of the actuators up to five times the described.
    dead_zone : float
        Share of the actuators' velocity limits that s must exceed before anything is learnt, so
        that noise is not.
    quickest : float, 1/s
        Greatest change of a parameter, as a share of its bounds.
    """

    rate: float = 5.0
    bounds: Mapping[str, tuple[float, float]] | None = None
    dead_zone: float = 1e-4
    quickest: float = 2.0

    def __post_init__(self) -> None:
        for name in ('rate', 'dead_zone', 'quickest'):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0.0):
                raise InputError(f'{name}: expected a finite number of at least 0, got {value!r}')


class Adaptive(Law):
    """Slotine and Li's law, with bounds, dead zone, and a freeze while a drive is at its limit.

    ``space`` is that of error and gains: 'actuator' or 'platform'. Efforts never exceed the
    limits of the description.
    """

    space = 'actuator'
    needs_kd = True
    adaptation = Adaptation()

    def __init__(
        self, robot: Robot, model: InverseModel, gains: Gains, adaptation: Adaptation | None = None
    ) -> None:
        super().__init__(robot, model, gains)
        if not np.linalg.eigvalsh(gains.kd).min() > 0.0:
            raise InputError(f'kd: expected positive gains, got {gains.kd.tolist()}')
        if adaptation is not None:
            self.adaptation = adaptation
        bounds = self.adaptation.bounds
        bounds = default_bounds(robot) if bounds is None else bounds
        unknown = sorted(set(bounds) - set(robot.parameter_names))
        if unknown:
            raise InputError(f'bounds: expected parameters of {robot.name}, got {unknown}')
        self.names = tuple(name for name in robot.parameter_names if name in bounds)
        self._columns = [robot.parameter_names.index(name) for name in self.names]
        self.lower, self.upper = np.array([bounds[name] for name in self.names]).T
        if not (self.lower <= self.upper).all():
            raise InputError('bounds: expected lower ones first, got some above the upper ones')
        self.parameters = np.array(robot.parameters)
        self.parameters[self._columns] = np.clip(self.learnt, self.lower, self.upper)
        joints = [robot.model.joints[j] for j in robot.model.actuators]
        self._top = np.array([joint.effort_limit for joint in joints])
        speed = np.array([joint.velocity_limit for joint in joints])
        self._speed = np.where(np.isfinite(speed), speed, 1.0)
        self._ignored = self.adaptation.dead_zone * self._speed
        self._form = ActuatedForm(robot.engine)
        self._corner = gains.p / gains.d
        self._independent = np.array(robot.engine.independent)
        self._actuators = list(robot.model.actuators)
        self._gain = self._learning_gain()
        self.frozen = False

    @property
    def learnt(self) -> Array:
        """Return the adapted parameters (k,) in the order of ``names``."""
        return np.asarray(self.parameters[self._columns])

    def efforts(self, desired: Desired, state: MeasuredState, step: float) -> Array:
        """Return the efforts, and learn from the error."""
        velocity, acceleration = self._reference(desired, state)
        s = state.velocity - velocity
        Y = self._form.mixed(
            state.platform, state.velocity, velocity, acceleration, self.model.external
        )
        wanted = Y @ self.parameters - self.gains.kd @ s
        efforts = np.clip(wanted, -self._top, self._top)
        self.frozen = bool((np.abs(wanted) > self._top).any())
        if step > 0.0 and not self.frozen:
            self._learn(Y[:, self._columns], s, step)
        return np.asarray(efforts)

    def _reference(self, desired: Desired, state: MeasuredState) -> tuple[Array, Array]:
        """Return v and a (n,) of the actuators: the desired motion, corrected by the error."""
        corner = self._corner
        if self.space == 'actuator':
            velocity = desired.velocity + corner * (desired.position - state.position)
            acceleration = desired.acceleration + corner * (desired.velocity - state.velocity)
            return velocity, acceleration
        chosen = self._independent
        wanted, measured = desired.platform.data, state.platform.data
        rate = (wanted[12:18] - measured[12:18])[chosen]
        twist = wanted[12:18][chosen] + corner * pose_error(wanted, measured)[chosen]
        motion = self.model.with_acceleration(
            state.platform, wanted[18:24][chosen] + corner * rate
        )
        joints = self.robot.inverse_kinematics(motion)
        n = self.robot.dof
        reference = self.robot.engine.work['LS'][:n, :n] @ twist
        return np.asarray(reference), np.asarray(joints.acceleration[self._actuators])

    def _learn(self, Y: Array, s: Array, step: float) -> None:
        beyond = s - np.clip(s, -self._ignored, self._ignored)
        change = -step * self._gain * (Y.T @ beyond)
        reach = self.adaptation.quickest * step * (self.upper - self.lower)
        learnt = self.learnt + np.clip(change, -reach, reach)
        self.parameters[self._columns] = np.clip(learnt, self.lower, self.upper)

    def _learning_gain(self) -> Array:
        """Return Gamma (k,), for which a wrong weight at home is learnt at ``rate``.

        At rest s is -K^-1 Y e_p, and e_p' = -Gamma Y^T K^-1 Y e_p.
        """
        zero = np.zeros(self.robot.dof)
        start = self._speed / START_TIME  # where there is no weight, inertia is felt
        Y = self._form.mixed(self.robot.home, zero, zero, start)
        Y = Y[:, self._columns]
        size = 0.5 * (self.upper - self.lower)
        power = np.einsum('ik,ij,jk->k', Y, np.linalg.inv(self.gains.kd), Y) * size**2
        return np.asarray(self.adaptation.rate * size**2 / max(float(power.max()), 1e-12))

    # ---------------------------------------------------------------- what was learnt

    def save(self) -> dict[str, Any]:
        """Return what was learnt, by the names of the parameters."""
        return {'parameters': dict(zip(self.names, self.learnt.tolist()))}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Go on from what :meth:`save` returned; values are kept within the bounds."""
        if not saved:
            return
        values = saved.get('parameters')
        if not isinstance(values, Mapping) or set(values) != set(self.names):
            raise InputError(
                f'saved state: expected parameters {list(self.names)}, got '
                f'{list(values) if isinstance(values, Mapping) else values!r}'
            )
        new = np.array([float(values[name]) for name in self.names])
        if not np.isfinite(new).all():
            raise InputError('saved state: expected finite parameters')
        self.parameters[self._columns] = np.clip(new, self.lower, self.upper)

    def report(self) -> dict[str, float | str]:
        """Return the parameters that adapt, and whether learning is frozen now."""
        return {**dict(zip(self.names, self.learnt.tolist())), 'frozen': float(self.frozen)}


class PlatformAdaptive(Adaptive):
    """The same with error and reference in platform space."""

    space = 'platform'


def default_bounds(robot: Robot) -> dict[str, tuple[float, float]]:
    """Return bounds for a load on the platform and for the actuators' friction."""
    bounds: dict[str, tuple[float, float]] = {}
    body = robot.model.bodies[1]
    values = dict(zip(robot.parameter_names, robot.parameters.tolist()))
    mass = body.inertia.mass
    if mass > 0.0:
        tensor = body.inertia.about_origin()
        length = float(np.sqrt(max(np.trace(tensor) / (2.0 * mass), 1e-6)))
        for suffix in BODY_SUFFIXES:
            name = f'{body.name}/{suffix}'
            power = 0 if suffix == 'm' else 1 if suffix.startswith('mc') else 2
            reach = 4.0 * mass * length**power
            low = 0.1 * mass if power == 0 else values[name] - reach
            bounds[name] = (low, values[name] + reach)
        for axis in 'xyz':
            name = f'{body.name}/i{axis}{axis}'
            bounds[name] = (0.1 * values[name], bounds[name][1])
    for actuator in robot.actuators:
        for kind in ('viscous', 'coulomb'):
            name = f'{actuator}/{kind}'
            if values[name] > 0.0:
                bounds[name] = (0.0, 5.0 * values[name])
    return bounds


LAWS['adaptive'] = Adaptive
LAWS['adaptive_platform'] = PlatformAdaptive
