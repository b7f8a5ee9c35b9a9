"""The public object: a parallel robot, its kinematics and its dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.engine import Engine, single
from parallel_dynamics.errors import InputError, SingularityError
from parallel_dynamics.jacobians import Jacobians, jacobians
from parallel_dynamics.joint_forces import JointForces, JointForceSolver
from parallel_dynamics.kernels import batch, forward, layout, projection
from parallel_dynamics.kernels.chain import pack_chain, solve_chain
from parallel_dynamics.kernels.compiler import entry_point
from parallel_dynamics.kernels.packing import home_pose
from parallel_dynamics.linear_form import (
    LinearForm,
    parameter_names,
    parameter_values,
    with_parameters,
)
from parallel_dynamics.mobility import Mobility
from parallel_dynamics.model import PLATFORM, Inertia, RobotModel, frozen
from parallel_dynamics.motion import (
    BaseMotion,
    JointMotion,
    PlatformMotion,
    check_invalid,
    checked,
    number,
)
from parallel_dynamics.platform_chain import chain_coordinates, chain_pose
from parallel_dynamics.spatial import Array

EFFORT_PARTS = (
    'platform_inertia', 'leg_inertia', 'coriolis', 'gravity', 'base_motion', 'friction',
    'external',
)  # fmt: skip
"""What efforts are made of; the parts sum to the whole."""


@dataclass(frozen=True, eq=False)
class ForwardSolution:
    """Platform motion found by forward kinematics, with the evidence.

    ``residual`` is the largest of closures (m, rad) and actuators (m, rad) before the last step,
    ``iterations`` the number of Newton steps; each an array (N,) for a batch. ``inverse_jacobian``
    is J_r^-1 (..., n, n).
    """

    motion: PlatformMotion
    residual: Any
    iterations: Any
    inverse_jacobian: Array

    @cached_property
    def condition(self) -> Any:
        """Condition number of J_r^-1, (N,) for a batch; NaN where there is no solution."""
        matrix = self.inverse_jacobian
        good = np.isfinite(matrix).all(axis=(-2, -1))
        if matrix.ndim == 2:
            return float(np.linalg.cond(matrix)) if good else np.nan
        condition = np.full(len(matrix), np.nan)
        condition[good] = np.linalg.cond(matrix[good])
        return condition


@dataclass(frozen=True)
class LimitViolation:
    """A joint beyond a limit of its URDF; ``quantity`` is 'position', 'velocity' or 'effort'."""

    joint: str
    quantity: str
    value: float
    lower: float
    upper: float


class Robot:
    """A parallel robot: frozen model, packed engine, and the functions users call.

    Every function takes a :class:`PlatformMotion`; a batch in gives a batch out, evaluated in
    compiled code on all cores. ``invalid='nan'`` returns NaN for the states of a batch that
    fail, instead of raising.
    """

    def __init__(self, model: RobotModel, mobility: Mobility) -> None:
        self.model = model
        self.mobility = mobility
        self.engine = Engine(model, mobility.dof, tuple(mobility.independent))
        self.name = model.name
        self.dof = mobility.dof
        self.actuators = model.actuator_names
        self.joints = model.joint_names
        self.closures = model.closure_names
        position, rotation = home_pose(model)
        self.home = PlatformMotion(position, rotation)
        self._names = tuple(self.joints)
        order = self.engine.packed.order  # None where the kernels' order is the public one
        self._order = None if np.array_equal(order, np.arange(len(order))) else order
        self._joint_forces: JointForceSolver | None = None
        self._linear_form: LinearForm | None = None
        self._chain: tuple[Any, Any] | None = None

    def __repr__(self) -> str:
        return (
            f'<Robot {self.name}: {self.dof} degrees of freedom, {len(self.model.legs)} legs, '
            f'{len(self.joints)} joints, {len(self.closures)} closures>'
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Robot, (self.model, self.mobility)

    def specialise(self, batches: bool = True) -> Robot:
        """Have the code for this robot written now, and use it for small batches too.

        It is that of inverse and direct dynamics, and of joint forces where no closure is
        redundant, with no wrench on the platform and the base at rest. Single calls and large
        batches use it anyway, and wait for it the first time: some seconds in all once on this
        machine, some milliseconds from then on. Call this before a loop in real time, without
        ``batches`` if it needs none. Results differ from those of the kernels by rounding.
        Returns the robot itself.
        """
        self.engine.specialise(self.home, batches)
        self._force_solver.specialise(self.home, batches)
        return self

    # ---------------------------------------------------------------- kinematics

    def inverse_kinematics(self, m: PlatformMotion, invalid: str = 'raise') -> JointMotion:
        """Position, velocity and acceleration of every joint, in the order of ``joints``."""
        count = len(self._names)
        out = self._evaluate(batch.ACCELERATIONS, m, 3 * count, invalid=invalid)
        parts = (out[..., k * count : (k + 1) * count] for k in range(3))
        if self._order is not None:
            parts = (part[..., self._order] for part in parts)
        return JointMotion(self._names, *parts)

    def forward_kinematics(
        self,
        actuator_positions: ArrayLike,
        actuator_velocities: ArrayLike | None = None,
        guess: PlatformMotion | None = None,
    ) -> PlatformMotion:
        """Platform pose and twist for actuator positions (n,) and velocities (n,), or batches.

        The solution is the one reached continuously from home, or from ``guess``; a guess that
        cannot be assembled is not used.
        """
        return self.solve_forward_kinematics(
            actuator_positions, actuator_velocities, guess
        ).motion

    def solve_forward_kinematics(
        self,
        actuator_positions: ArrayLike,
        actuator_velocities: ArrayLike | None = None,
        guess: PlatformMotion | None = None,
        invalid: str = 'raise',
    ) -> ForwardSolution:
        """As :meth:`forward_kinematics`, with residual, iterations and condition number."""
        check_invalid(invalid)
        n = self.dof
        q = checked('actuator_positions', actuator_positions, (n,))
        count = None if q.ndim == 1 else len(q)
        qd = np.zeros(n)
        if actuator_velocities is not None:
            qd = checked('actuator_velocities', actuator_velocities, (n,))
            self.engine.check_batch('actuator_velocities', qd.ndim > 1, len(qd), count)
        start = self.home
        if guess is not None:
            if not isinstance(guess, PlatformMotion):
                raise InputError(
                    f'guess: expected a PlatformMotion or None, got {type(guess).__name__}'
                )
            start = guess
            self.engine.check_batch('guess', self._is_batch(guess), len(guess.rows), count)
        out = np.zeros((1 if count is None else count, 26 + n * n))
        rows = np.ascontiguousarray(np.atleast_2d(q)), np.ascontiguousarray(np.atleast_2d(qd))
        reports = self.engine.run_batch(
            forward.forward_many, len(out), *rows, start.rows, int(guess is not None), out
        )
        self._settle(reports, None, invalid, out, count is None)
        matrix = out[:, 26:].reshape(-1, n, n)
        if count is None:
            found = PlatformMotion._wrap(out[0, :24])
            return ForwardSolution(found, float(out[0, 24]), int(out[0, 25]), matrix[0])
        found = PlatformMotion._wrap(out[:, :24])
        return ForwardSolution(found, out[:, 24], out[:, 25], matrix)

    def project(self, m: PlatformMotion, invalid: str = 'raise') -> PlatformMotion:
        """Return the allowed motion with the same independent components as ``m``.

        Pose, twist and acceleration are put on the closures; for six degrees of freedom that
        changes nothing.
        """
        return self._project(m, layout.OWN, invalid)

    def _project(self, m: PlatformMotion, choice: int, invalid: str) -> PlatformMotion:
        """As :meth:`project`; with FREE any components may be kept, for rounding's sake."""
        check_invalid(invalid)
        single_motion = not self._is_batch(m)
        out = np.array(m.rows)
        reports = self.engine.run_batch(projection.project_many, len(out), choice, out)
        self._settle(reports, m, invalid, out, single_motion)
        return PlatformMotion._wrap(out[0] if single_motion else out)  # type: ignore[no-any-return]

    def jacobians(self, m: PlatformMotion) -> Jacobians:
        """Jacobians and singularity measures at the poses of a motion or a batch."""
        self._is_batch(m)
        return jacobians(self.engine, m)

    def virtual_joints(
        self, m: PlatformMotion, guess: Array | None = None
    ) -> tuple[tuple[str, ...], Array, Array]:
        """Names, positions and velocities of the platform's virtual joints, for RViz."""
        single(m)
        names = tuple(joint.name for joint in self.model.chain)
        values, rates = np.zeros(len(names)), np.zeros(len(names))
        if guess is not None:
            values[:] = checked('guess', guess, (len(names),), single=True)
        left = self._solve_chain(m.rows, values, rates)
        if 0.0 <= left < 1e-6:
            return names, values, rates
        # Near its own singularity, or far from the guess, the chain takes more patience.
        return (names, *chain_coordinates(self.model, m, guess))

    def _solve_chain(self, motion: Array, values: Array, rates: Array) -> float:
        scratch = np.zeros((24, 12))  # of this call: other threads have their own
        if self._chain is None:
            chain = pack_chain(self.model)
            self._chain = entry_point(solve_chain, chain, motion, values, rates, scratch), chain
        call, chain = self._chain
        return float(call(chain, motion, values, rates, scratch))

    def pose_from_virtual_joints(self, values: Mapping[str, float]) -> PlatformMotion:
        """Return the pose for values of the virtual joints; those not named are zero."""
        names = [joint.name for joint in self.model.chain]
        if not isinstance(values, Mapping) or set(values) - set(names):
            raise InputError(
                f'virtual joints: expected values by name, with names among {names}, '
                f'got {values!r}'
            )
        position, rotation, _ = chain_pose(
            self.model, np.array([number(name, values.get(name, 0.0)) for name in names])
        )
        return PlatformMotion(position, rotation)

    def limit_violations(
        self, motion: JointMotion, efforts: ArrayLike | None = None
    ) -> list[LimitViolation]:
        """List the joints beyond their position, velocity or effort limits (worst of a batch)."""
        if not isinstance(motion, JointMotion) or motion.names != self._names:
            raise InputError(f'motion: expected a JointMotion of {self.name}, got {motion!r}')
        found = []
        effort = None
        if efforts is not None:
            effort = np.atleast_2d(checked('efforts', efforts, (self.dof,)))
        for k, joint in enumerate(self.model.joints):
            checks = [
                ('position', motion.position[..., k], joint.lower, joint.upper),
                ('velocity', motion.velocity[..., k], -joint.velocity_limit, joint.velocity_limit),
            ]
            if effort is not None and k in self.model.actuators:
                a = self.model.actuators.index(k)
                limit = joint.effort_limit
                checks.append(('effort', effort[:, a], -limit, limit))
            for quantity, values, lower, upper in checks:
                v = np.atleast_1d(values)
                if not len(v):
                    continue
                worst = v[np.argmax(np.maximum(v - upper, lower - v))]
                if not lower <= worst <= upper:
                    found.append(LimitViolation(joint.name, quantity, float(worst), lower, upper))
        return found

    # ---------------------------------------------------------------- dynamics

    def inverse_dynamics(
        self,
        m: PlatformMotion,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
        invalid: str = 'raise',
    ) -> Array:
        """Actuator efforts (n,) for a motion (khalil_ibrahim_2007, (20)-(22)).

        Parameters
        ----------
        m : PlatformMotion
        wrench : (6,), optional
            External [force; moment] on the platform at its origin, base axes, N and N m.
        base : BaseMotion, optional
            Motion of the base against the world; level and at rest by default.
        """
        plain = wrench is None and base is None and invalid == 'raise'
        if plain and type(m) is PlatformMotion and m.data.ndim == 1:
            out = np.empty((1, self.dof))  # the way most calls go, and the shortest
            self.engine.evaluate_plain(batch.INVERSE, m, out)
            return out[0]
        external = None
        if wrench is not None or base is not None:
            external = self.engine.external(wrench, base, self._count(m))
        return self._evaluate(batch.INVERSE, m, self.dof, external, invalid=invalid)

    def _evaluate(
        self,
        task: int,
        m: PlatformMotion,
        width: int,
        external: Array | None = None,
        efforts: Array | None = None,
        invalid: str = 'raise',
        options: Any = None,
    ) -> Array:
        """Do a task of the kernels: (width,) for one motion, (N, width) for a batch."""
        if type(m) is not PlatformMotion:
            raise InputError(f'motion: expected a PlatformMotion, got {type(m).__name__}')
        check_invalid(invalid)
        engine = self.engine
        if m.data.ndim == 1:
            out = np.empty((1, width))
            if external is None and options is None:
                engine.evaluate_plain(task, m, out, efforts)
            else:
                engine.evaluate(task, m, out, external, efforts, options)
            return out[0]
        out = np.zeros((len(m.data), width))
        reports = engine.evaluate_batch(task, m, out, external, efforts, options)
        self._settle(reports, m, invalid, out)
        return out

    def effort_parts(
        self,
        m: PlatformMotion,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
    ) -> dict[str, Array]:
        """Split the efforts into the parts named in ``EFFORT_PARTS``; they sum to the whole."""
        self._is_batch(m)
        steady, moving = self._split_acceleration(m)
        nothing = dict.fromkeys(layout.OPTIONS.names or (), 0.0)

        def part(motion: PlatformMotion, **wanted: float) -> Array:
            push = self.engine.external(wrench if 'push' in wanted else None, None, m.batch)
            options = layout.options(**{**nothing, **wanted})
            return self._evaluate(batch.INVERSE, motion, self.dof, push, options=options)

        at_rest = m.replace(np.zeros_like(m.twist), np.zeros_like(m.twist))
        parts = {
            'platform_inertia': part(moving, platform=1.0),
            'leg_inertia': part(moving, legs=1.0, drives=1.0),
            'coriolis': part(steady, platform=1.0, legs=1.0, drives=1.0),
            'gravity': part(at_rest, weight=1.0, platform=1.0, legs=1.0),
            'base_motion': np.zeros_like(m.data[..., : self.dof]),
            'friction': part(steady, friction=1.0),
            'external': part(at_rest, push=1.0),
        }
        if base is not None:
            parts['base_motion'] = self.inverse_dynamics(m, None, base) - self.inverse_dynamics(m)
        return parts

    def _split_acceleration(self, m: PlatformMotion) -> tuple[PlatformMotion, PlatformMotion]:
        """Split into the motion at V_r' = 0 and, at rest, S V_r'."""
        at_rest = m.replace(np.zeros_like(m.twist), m.twist_rate)
        if self.dof == 6:
            return m.replace(m.twist, np.zeros_like(m.twist)), at_rest
        moving = self._with_allowed_acceleration(at_rest)
        drift = self._with_allowed_acceleration(m.replace(m.twist, np.zeros_like(m.twist)))
        return drift, moving

    def _with_allowed_acceleration(self, m: PlatformMotion) -> PlatformMotion:
        """Keep pose and twist, complete the dependent part of the acceleration."""
        return m.replace(m.twist, self._evaluate(batch.ALLOWED, m, 6))

    def direct_dynamics(
        self,
        m: PlatformMotion,
        efforts: ArrayLike,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
        invalid: str = 'raise',
    ) -> Array:
        """Acceleration (6,) [linear; angular] of the platform (khalil_ibrahim_2007, (28)-(30)).

        Pose and twist of ``m`` count; its acceleration is not read. Coulomb friction is that of
        the inverse model: full above a joint speed of 1e-4 (rad/s, m/s), linear below.
        """
        plain = wrench is None and base is None and invalid == 'raise'
        if plain and type(m) is PlatformMotion and m.data.ndim == 1:
            out = np.empty((1, 6))
            self.engine.evaluate_plain(batch.DIRECT, m, out, self.engine.efforts(efforts, None))
            return out[0]
        count = self._count(m)
        gamma = self.engine.efforts(efforts, count)
        external = None
        if wrench is not None or base is not None:
            external = self.engine.external(wrench, base, count)
        return self._evaluate(batch.DIRECT, m, 6, external, gamma, invalid)

    def joint_forces(
        self,
        m: PlatformMotion,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
        indeterminate: str = 'least-norm',
        invalid: str = 'raise',
    ) -> JointForces:
        """Wrench at every joint and closure, and which of its components are unique.

        Parameters
        ----------
        m, wrench, base, invalid :
            As for :meth:`inverse_dynamics`.
        indeterminate : str
            What stands for components that equilibrium does not fix: 'least-norm', the value
            with the smallest closure loads, or 'nan'.
        """
        return self._force_solver(m, wrench, base, indeterminate, invalid)

    def joint_force_regressor(
        self,
        m: PlatformMotion,
        name: str,
        base: BaseMotion | None = None,
        invalid: str = 'raise',
    ) -> Array:
        """W (6, n_p): ``joint_forces(m).wrench[name] = W @ parameters``, no wrench applied.

        ``name`` is that of a joint or closure; indeterminate components are the least-norm ones.
        A batch of N motions gives (N, 6, n_p).
        """
        return self._force_solver.regressor(m, name, base, invalid)

    @property
    def _force_solver(self) -> JointForceSolver:
        if self._joint_forces is None:
            self._joint_forces = JointForceSolver(self.engine, self.mobility)
        return self._joint_forces

    def mass_matrix(self, m: PlatformMotion) -> Array:
        """Mass matrix A (n, n) in platform space (29): of V_r, the independent components."""
        n = self.dof
        out = self._own(self._inertia(m)[..., : n * n])
        return out.reshape(*out.shape[:-1], n, n)

    def bias(
        self,
        m: PlatformMotion,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
    ) -> Array:
        """Bias h (n,) in platform space (30): A V_r' + h = (J_r^-1)^T efforts."""
        n = self.dof
        return self._own(self._inertia(m, wrench, base)[..., n * n : n * n + n])

    def kinetic_energy(self, m: PlatformMotion) -> Any:
        """Kinetic energy against the base, J, drives (armature) included."""
        energy = self._inertia(m)[..., -2]
        return float(energy) if energy.ndim == 0 else energy

    def potential_energy(self, m: PlatformMotion) -> Any:
        """Potential energy in a level base, J; zero if all mass were at the base's origin."""
        energy = self._inertia(m)[..., -1]
        return float(energy) if energy.ndim == 0 else energy

    def _inertia(
        self,
        m: PlatformMotion,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
    ) -> Array:
        external = self.engine.external(wrench, base, self._count(m))
        n = self.dof
        return self._evaluate(batch.INERTIA, m, n * n + n + 2, external)

    def _own(self, values: Array) -> Array:
        """Refuse what has no value in the robot's own V_r."""
        if np.isnan(values).any():
            names = ', '.join(self.mobility.independent_names)
            raise SingularityError(
                f'the independent coordinates ({names}) do not fix the motion at this pose, so '
                'that mass matrix and bias have no value in them. Name others as `independent`, '
                'or use direct_dynamics, which needs none'
            )
        return values

    # ---------------------------------------------------------------- linear form

    def regressor(
        self, m: PlatformMotion, base: BaseMotion | None = None, invalid: str = 'raise'
    ) -> Array:
        """Psi (n, n_p) of the linear form: ``efforts = Psi @ parameters``, no wrench applied.

        Body by body as codourey_burdet_1997 (34), with the closures' Jacobians.
        """
        if self._linear_form is None:
            self._linear_form = LinearForm(self.engine)
        check_invalid(invalid)
        batched = self._is_batch(m)
        psi, reports = self._linear_form.regressor(m, base)
        if batched:
            self._settle(reports, m, invalid, psi)
        return psi

    @property
    def parameters(self) -> Array:
        """Dynamic parameters (n_p,), SI units about the URDF links' origins and axes."""
        return parameter_values(self.model)

    @property
    def parameter_names(self) -> list[str]:
        """Names of the parameters: ``leg1_piston/m``, ``leg1_slide/viscous`` and so on."""
        return parameter_names(self.model)

    def with_parameters(self, parameters: ArrayLike) -> Robot:
        """Return the robot with other parameters (n_p,), in the order of the names."""
        return Robot(with_parameters(self.model, parameters), self.mobility)

    # ---------------------------------------------------------------- other robots

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> Robot:
        """Return a robot that carries a load on its platform.

        Parameters
        ----------
        mass : float
            kg.
        com : (3,)
            Centre of mass of the load in the platform frame, m.
        inertia : (3, 3), optional
            Tensor about that point, platform axes, kg m^2; a point mass by default.
        """
        given = np.zeros((3, 3)) if inertia is None else inertia
        tensor = checked('inertia', given, (3, 3), single=True)
        centre = checked('com', com, (3,), single=True)
        mass = number('mass', mass, 'a finite number of at least 0 kg', 0.0)
        if np.abs(tensor - tensor.T).max() > 1e-9 * (1.0 + np.abs(tensor).max()):
            raise InputError('inertia: expected a symmetric tensor')
        moments = np.linalg.eigvalsh(tensor)
        if moments[0] < -1e-12 or moments[0] + moments[1] < moments[2] * (1.0 - 1e-9) - 1e-12:
            raise InputError(
                f'inertia: expected the tensor of a body (principal moments positive, none above '
                f'the sum of the others), got principal moments {moments.tolist()}'
            )
        load = Inertia(mass, frozen(centre, (3,)), frozen(tensor, (3, 3)))
        total = self.model.bodies[PLATFORM].inertia + load
        return Robot(self.model.with_bodies({PLATFORM: total}), self.mobility)

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """Return the robot under another gravity (3,), base frame of a level base, m/s^2."""
        g = frozen(checked('gravity', gravity, (3,), single=True), (3,))
        return Robot(replace(self.model, gravity=g), self.mobility)

    # ---------------------------------------------------------------- helpers

    def _is_batch(self, m: PlatformMotion) -> bool:
        if not isinstance(m, PlatformMotion):
            raise InputError(f'motion: expected a PlatformMotion, got {type(m).__name__}')
        return m.data.ndim == 2

    def _count(self, m: PlatformMotion) -> int | None:
        """Length of a batch, None for a single motion."""
        return len(m.data) if self._is_batch(m) else None

    def _settle(
        self,
        reports: Array,
        m: PlatformMotion | None,
        invalid: str,
        out: Array,
        single_motion: bool = False,
    ) -> None:
        """Raise for states that failed, or make them NaN; ``m`` is None in forward kinematics."""
        if not reports[:, 0].any():
            return
        if invalid == 'nan':
            out[reports[:, 0] != 0.0] = np.nan
        elif single_motion:
            raise self.engine.error(reports[0].tolist(), m)
        else:
            self.engine.fail_batch(reports, m)
