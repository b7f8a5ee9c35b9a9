"""The simulator: a robot in time, under efforts, a wrench and the motion of its base."""

from __future__ import annotations

from math import ceil, inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.engine import single
from parallel_dynamics.errors import InputError, ParallelDynamicsError
from parallel_dynamics.kernels import batch, integration, layout, stages
from parallel_dynamics.kernels.joint_efforts import joint_energy
from parallel_dynamics.motion import (
    LARGEST,
    BaseMotion,
    PlatformMotion,
    checked,
    number,
    one_of,
    positive,
)
from parallel_dynamics.robot import Robot
from parallel_dynamics.simulation.drives import ROUNDING, Drives
from parallel_dynamics.simulation.energy import mechanical_energy
from parallel_dynamics.simulation.events import KINDS, SimulationStopped
from parallel_dynamics.simulation.physics import FRICTION, LIMITS, Physics, per_joint
from parallel_dynamics.simulation.runs import ManyRuns, Measurement, Run
from parallel_dynamics.simulation.snapshot import Snapshot
from parallel_dynamics.simulation.tableaus import CLASSICAL_STAGES, tableaus
from parallel_dynamics.spatial import Array

METHODS = {'rk4': stages.FIXED, 'dop853': stages.CONTROLLED, 'gauss': stages.GAUSS}
ROUGH = 0.05
"""Disagreement of the stages of a step, relative to velocity, at which it counts as too large."""


class Simulator:
    """Direct dynamics in time.

    Parameters
    ----------
    robot : Robot
    method : str
        'rk4': classical Runge-Kutta with fixed step. 'dop853': order 8 with step control to
        ``tolerance``. 'gauss': Gauss's implicit method of order 4, symmetric, which holds energy
        over long runs. All on the manifold of poses, with rotations by the exponential map.
    step : float
        Longest integration step, s; a control tick is divided into as many as it takes. For
        'dop853' inputs are held over it.
    tolerance : float
        Local error of 'dop853' per step, relative to lengths and speeds of the robot's size. Also
        used where 'smooth' friction has to be followed through a reversal.
    singularity : float
        Condition number of the actuation at which the run stops; infinite for never.
    seed : int
        Of all noise: same seed, same bits.
    **physics
        Fields of :class:`Physics`.
    """

    def __init__(
        self,
        robot: Robot,
        method: str = 'rk4',
        step: float = 1e-3,
        tolerance: float = 1e-10,
        singularity: float = 1e4,
        seed: int = 0,
        **physics: Any,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(
                f'robot: expected a Robot, got {robot!r}; pd.load_robot(name or path) makes one'
            )
        one_of('method', method, METHODS)
        step = positive('step', step, 'seconds above 0')
        tolerance = number('tolerance', tolerance, '1e-14 to 1e-2', 1e-14, 1e-2)
        above = np.nextafter(1.0, 2.0)
        singularity = number('singularity', singularity, 'a condition number above 1', above, inf)
        if not isinstance(seed, (int, np.integer)) or seed < 0:
            raise InputError(f'seed: expected a whole number of at least 0, got {seed!r}')
        unknown = sorted(set(physics) - set(Physics.__dataclass_fields__))
        if unknown:
            known = list(Physics.__dataclass_fields__)
            raise InputError(f'physics: expected fields among {known}, got {unknown}')
        self.method = method
        self.step_size = step
        self.seed = seed
        self.physics = Physics(**physics)
        self.robot = self.physics.loaded(robot)
        self._settings = np.zeros(1, stages.SETTINGS)
        s = self._settings[0]
        s['method'], s['stages'] = METHODS[method], CLASSICAL_STAGES
        s['friction'] = FRICTION[self.physics.friction]
        s['stops'] = LIMITS[self.physics.limits]
        s['lag'] = self.physics.effort_lag
        s['tolerance'] = tolerance
        s['singular'] = 1.0 / singularity
        # Running into a stop is rough by nature.
        s['rough'] = ROUGH if self.physics.limits != 'stiff' else 4.0 * ROUGH
        self._prepare()
        self.reset()

    def _prepare(self) -> None:
        robot, physics, s = self.robot, self.physics, self._settings[0]
        engine = self._engine = robot.engine
        self._physics = physics.pack(robot, self.step_size)
        names = ('friction', 'damping', 'spring', 'preload')
        s['joints_with_friction'] = np.count_nonzero(self._physics['friction'])
        s['joint_efforts'] = physics.limits == 'stiff' or any(
            self._physics[name].any() for name in names
        )
        self._drives = Drives(robot, physics, self.seed)
        self._generator = np.random.Generator(
            np.random.PCG64(np.random.SeedSequence((self.seed, 2)))
        )
        self._resolution = per_joint(robot, 'encoder_resolution', physics.encoder_resolution)
        self._position_noise = per_joint(robot, 'position_noise', physics.position_noise)
        self._velocity_noise = per_joint(robot, 'velocity_noise', physics.velocity_noise)
        self._options = layout.options(friction=0.0)  # joint_efforts has its own
        self._coordinates = len(engine.coordinates)
        width = stages.COORDINATES + self._coordinates + len(self._physics)
        self._states = np.zeros((1, width))
        self._report = np.zeros((1, 5))
        self._no_trace = np.zeros((1, 0, 30))
        self._external = np.zeros((1, 1, 28))
        # Its own, so that a step can go on from where the last one left it.
        self._workspace = (*engine.packed.static, *engine.packed.workspace()[0])
        # Another, to look at a state without disturbing that.
        self._aside = (*engine.packed.static, *engine.packed.workspace()[0])
        self._idle = np.zeros((1, 1, robot.dof))
        self._base_at_rest = engine.external(None, BaseMotion(), None)[None]
        self._fresh = self._still = False
        # Orders for the program of the stages: with the base at rest, and with one that moves.
        self._orders = [engine.stage_program(self._physics, moving) for moving in (False, True)]
        if physics.limits == 'stiff':  # the program knows no stops
            self._orders = [(np.zeros_like(order), kept) for order, kept in self._orders]
        self._program = self._orders[0][0].copy()
        self._alone, self._go_on = self._settings['alone'], self._settings['fresh']
        self._plain_efforts = np.zeros((1, 1, robot.dof))
        self._plain_row = self._plain_efforts[0, 0]
        self._plain_key = (0.0, 0)
        self._plain_arguments: tuple[Any, ...] = ()
        self._exerted = np.zeros(robot.dof)
        self._call = engine.compiled(
            integration.advance, *self._arguments(0, 1.0, np.zeros((1, 1, robot.dof)),
            self._drives.noise(1), self._external, self._states, self._no_trace, 1, self._report,
            0, 0),
        )  # fmt: skip

    def _arguments(self, *rest: Any) -> tuple[Any, ...]:
        return (self._options, self._physics, self._settings, self._program, tableaus(), *rest)

    def __repr__(self) -> str:
        return f'<Simulator of {self.robot.name}: {self.method}, t = {self._time:g} s>'

    # ---------------------------------------------------------------- state

    @property
    def state(self) -> PlatformMotion:
        """Pose, twist and acceleration of the platform now."""
        return PlatformMotion._wrap(self._states[0, :24].copy())  # type: ignore[no-any-return]

    @property
    def time(self) -> float:
        """Seconds since the reset."""
        return self._time

    @property
    def efforts(self) -> Array:
        """What the drives exert now (n,): after limits, delay, lag and noise."""
        return self._exerted.copy()

    @property
    def friction_efforts(self) -> Array:
        """Coulomb friction held in each joint (joints,), in the order of ``robot.joints``.

        Positive where it opposes positive speed; only 'stick' friction has a state of its own.
        """
        first = stages.COORDINATES + self._coordinates
        return self._states[0, first:][self.robot.engine.packed.order]

    @property
    def clamped(self) -> int:
        """How many commands were beyond the effort limits since the start."""
        return self._drives.clamped

    @property
    def substeps(self) -> int:
        """Steps that step control took since the reset, where there is any."""
        return int(self._states[0, stages.SUBSTEPS])

    @property
    def residual(self) -> float:
        """Largest closure residual (m or rad) of the last step or run."""
        return float(self._report[0, 2])

    @property
    def conditioning(self) -> float:
        """Estimate of the condition number of the actuation, worst of the last step or run."""
        pivot = float(self._report[0, 3])
        return 1.0 / pivot if pivot > 0.0 else float('inf')

    def reset(
        self,
        motion: PlatformMotion | None = None,
        time: float = 0.0,
        efforts: ArrayLike | None = None,
    ) -> None:
        """Start again from a motion (pose and twist; home at rest by default).

        A motion that the closures do not allow is refused. ``efforts`` (n,) are what lagging
        drives exert at the start; zero by default. Noise goes on from where it is.
        """
        robot = self.robot
        start = robot.home if motion is None else motion
        single(start)
        exerted = np.zeros(robot.dof)
        if efforts is not None:
            exerted[:] = checked('efforts', efforts, (robot.dof,), single=True)
        still = start.replace(twist_rate=np.zeros(6))
        robot.engine.forget()
        robot.engine.solve(still, batch.VELOCITIES)  # refuses what is not allowed
        allowed = still if robot.dof == 6 else robot._project(still, layout.FREE, 'raise')
        self._check_limits(allowed)
        robot.engine.forget()
        robot.engine.solve(allowed, batch.VELOCITIES)
        row = self._states[0]
        row[:] = 0.0
        row[:24] = allowed.data
        row[stages.LAG : stages.LAG + robot.dof] = exerted
        first = stages.COORDINATES
        row[first : first + self._coordinates] = robot.engine.coordinates['q'][: self._coordinates]
        self._drives.clear()
        self._exerted[:] = exerted
        self._fresh = False
        self._set_time(time)
        self._report[0] = 0.0
        self._report[0, 3] = 1.0

    def _check_limits(self, motion: PlatformMotion) -> None:
        if self.physics.limits != 'halt':
            return
        joints = self.robot.inverse_kinematics(motion)
        beyond = [v for v in self.robot.limit_violations(joints) if v.quantity == 'position']
        if beyond:
            worst = beyond[0]
            raise InputError(
                f'reset: {worst.joint} would start at {worst.value:.6g}, beyond its limits '
                f'[{worst.lower:g}, {worst.upper:g}]'
            )

    def _set_time(self, time: float) -> None:
        self._time = self._time_0 = number('time', time)
        self._ticks = 0
        self._tick = 0.0

    def _pass_time(self, tick: float, count: int) -> None:
        # Counted, not summed: no rounding piles up however long the run is.
        if tick != self._tick:
            self._time_0, self._tick, self._ticks = self._time, tick, 0
        self._ticks += count
        self._time = self._time_0 + self._ticks * tick

    # ---------------------------------------------------------------- stepping

    def step(
        self,
        efforts: ArrayLike,
        dt: float,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
    ) -> PlatformMotion:
        """Advance by ``dt`` seconds with efforts (n,), wrench and base motion held.

        Returns the state.

        Raises a :class:`SimulationStopped` that says why it cannot go on; the state is then the
        last good one.
        """
        row = self._checked_row(efforts)
        substeps = self._substeps(dt)
        if self._drives.plain:
            self._step_plain(row, dt / substeps, substeps, wrench, base)
            return self.state
        rows = self._drives.clamp(row[None])
        if self._drives.delay > 0.0:
            rows = self._drives.arriving(rows, self._time, dt, substeps)
        external = self.robot.engine.external(wrench, base, None)[None]
        self._begin(base)
        self._advance(rows[None], external, substeps, dt / substeps, self._no_trace, 1)
        return self.state

    def _checked_row(self, efforts: ArrayLike) -> Array:
        n = self.robot.dof
        if type(efforts) is np.ndarray and efforts.dtype == np.float64 and efforts.shape == (n,):
            if isfinite(efforts.dot(efforts)):  # much faster than a look at each number
                return efforts
        return checked('efforts', efforts, (n,), single=True)

    def _step_plain(
        self,
        efforts: Array,
        h: float,
        steps: int,
        wrench: ArrayLike | None,
        base: BaseMotion | None,
    ) -> None:
        """Step with ideal drives: what most calls are, with as little Python as can be."""
        key = (h, steps)
        if key != self._plain_key:
            self._plain_key = key
            self._plain_arguments = (
                *self._workspace, *self._arguments(steps, h, self._plain_efforts,
                self._drives.noise(1), self._external, self._states, self._no_trace, 1,
                self._report, 0, 1),
            )  # fmt: skip
        row = self._plain_row
        row[:] = efforts
        if self._drives.limits is not None:
            row[:] = self._drives.clamp(row)
        self._external[0] = self._engine.external(wrench, base, None)
        self._begin(base)
        self._finish(self._call(*self._plain_arguments), h, row)

    def run(
        self,
        efforts: ArrayLike,
        dt: float,
        ticks: int | None = None,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
        between: str = 'hold',
        every: int = 1,
    ) -> Run:
        """Advance by many ticks of ``dt`` in one compiled call, and return what happened.

        Parameters
        ----------
        efforts : (n,), (K, n) or (2 K + 1, n)
            Held all the time (give ``ticks``), or one row for each tick; with
            ``between='smooth'`` samples at the start, the middle and the end of each tick, which
            the efforts follow as parabolas.
        wrench : (6,) or (K, 6), optional
        base : BaseMotion, optional
            One, or a batch of K.
        every : int
            Ticks from one recorded state to the next.
        """
        given = checked('efforts', efforts, (self.robot.dof,))
        smooth = self._interpolated(between, given)
        if given.ndim == 1:
            if ticks is None:
                raise InputError('ticks: expected how many, as the efforts are held all the time')
            count = _at_least_one('ticks', ticks)
        else:
            count = (len(given) - 1) // 2 if smooth else len(given)
            if ticks is not None and ticks != count:
                raise InputError(f'ticks: expected {count} as the efforts say, got {ticks}')
        if count < 1:
            raise InputError('efforts: expected rows for at least one tick, got none')
        every = _at_least_one('every', every)
        substeps = self._substeps(dt)
        rows = self._rows(given, count, dt, substeps, smooth)
        external = self._externals(wrench, base, count, substeps)
        trace = np.zeros((1, count // every + 1, 30))
        start = self._time
        stopped: SimulationStopped | None = None
        self._begin(base)
        try:
            self._advance(
                rows[None], external, count * substeps, dt / substeps, trace, every * substeps
            )
        except SimulationStopped as event:
            stopped = event
        steps = int(self._report[0, 4])
        recorded = trace[0, : steps // (every * substeps) + 1]
        run = Run(
            self.robot,
            np.asarray(start + every * dt * np.arange(len(recorded)), np.float64),
            PlatformMotion._wrap(recorded[:, :24]),
            recorded[:, 24 : 24 + self.robot.dof].copy(),
            self.residual,
        )
        if stopped is not None:
            stopped.run = run
            raise stopped
        return run

    def run_many(
        self,
        starts: PlatformMotion,
        efforts: ArrayLike,
        dt: float,
        ticks: int,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
        every: int | None = None,
    ) -> ManyRuns:
        """Simulate from each motion of a batch of N, independently, on all cores.

        Efforts are (n,), one row for each simulation (N, n), or one for each tick of each
        (N, ticks, n); wrench and base motion one for all or one for each. Limits of effort count;
        delay and effort noise do not. A simulation that must stop keeps its last good state, and
        ``events`` says why. ``every`` ticks a state is kept in ``trace``. This simulator's own
        state stays as it is.
        """
        if not isinstance(starts, PlatformMotion) or starts.batch is None:
            raise InputError(f'starts: expected a batch of PlatformMotion, got {starts!r}')
        n, count, substeps = self.robot.dof, len(starts), self._substeps(dt)
        ticks = _at_least_one('ticks', ticks)
        every = None if every is None else _at_least_one('every', every)
        given = checked('efforts', efforts, (ticks, n) if np.ndim(efforts) == 3 else (n,))
        if given.ndim > 1 and len(given) != count:
            raise InputError(
                f'efforts: expected shape ({n},), ({count}, {n}) or ({count}, {ticks}, {n}), '
                f'got {given.shape}'
            )
        rows = self._drives.clamp(given.reshape(-1, 1 if given.ndim < 3 else ticks, n))
        if given.ndim == 3 and substeps > 1:
            rows = np.repeat(rows, substeps, axis=1)
        states = self._start_rows(starts)
        external = self.robot.engine.external(wrench, base, count)[:, None]
        steps, length = ticks * substeps, 0 if every is None else ticks // every + 1
        traces = np.zeros((count if length else 1, length, 30))
        self._go_on[0] = self._alone[0] = 0
        self._choose_program(base)
        reports = self.robot.engine.run_batch(
            integration.advance, count, *self._arguments(
            steps, dt / substeps, np.ascontiguousarray(rows), np.zeros((1, 1, n)),
            np.ascontiguousarray(external), states, traces, (every or ticks) * substeps),
        )  # fmt: skip
        return ManyRuns(
            PlatformMotion._wrap(states[:, :24].copy()),
            reports[:, 4] * (dt / substeps),
            tuple(KINDS[int(code)].event if code else None for code in reports[:, 0]),
            reports[:, 2].copy(),
            traces[:, :, :24].copy() if length else None,
        )

    def _start_rows(self, starts: PlatformMotion) -> Array:
        states = np.zeros((len(starts), self._states.shape[1]))
        keep = (
            self._states.copy(), self._time, self._report.copy(), self._drives.sent,
            self._exerted.copy(),
        )  # fmt: skip
        try:
            solved: dict[bytes, Array] = {}  # many studies vary something else than the start
            for row, start in zip(states, starts):
                key = start.data.tobytes()
                if key not in solved:
                    self.reset(start)
                    solved[key] = self._states[0].copy()
                row[:] = solved[key]
        finally:
            self._states[:], self._report[:] = keep[0], keep[2]
            self._exerted[:] = keep[4]
            self._drives.restore(keep[3])
            self._set_time(keep[1])
        return states

    def _substeps(self, dt: float) -> int:
        if not (isinstance(dt, (float, int, np.floating, np.integer)) and 0.0 < dt < LARGEST):
            raise InputError(f'dt: expected seconds above 0, got {dt!r}')
        return max(1, ceil(dt / self.step_size - ROUNDING))

    def _interpolated(self, between: str, efforts: Array) -> bool:
        if not isinstance(between, str) or between not in ('hold', 'smooth'):
            raise InputError(f"between: expected 'hold' or 'smooth', got {between!r}")
        if between == 'hold' or efforts.ndim == 1:
            return False
        if len(efforts) < 3 or len(efforts) % 2 == 0:
            raise InputError(f'efforts: expected 2 K + 1 rows for K ticks, got {len(efforts)}')
        if self._drives.delay > 0.0:
            raise InputError("between: expected 'hold' with a transport delay, got 'smooth'")
        return True

    def _rows(self, given: Array, count: int, dt: float, substeps: int, smooth: bool) -> Array:
        """Efforts as the kernels take them: one row, one for each step, or two and one more."""
        rows = np.atleast_2d(given)
        if not smooth:
            rows = self._drives.clamp(rows)
            if self._drives.delay > 0.0:
                rows = np.broadcast_to(rows, (count, rows.shape[1]))
                return self._drives.arriving(rows, self._time, dt, substeps)
            return np.repeat(rows, substeps, axis=0) if len(rows) > 1 else rows
        if substeps > 1:
            a, b, c = rows[:-2:2, None], rows[1:-1:2, None], rows[2::2, None]
            x = np.arange(2 * substeps)[None, :, None] / (2 * substeps)
            inner = a + x * (4.0 * b - 3.0 * a - c) + 2.0 * x * x * (a - 2.0 * b + c)
            rows = np.vstack([inner.reshape(-1, rows.shape[1]), rows[-1:]])
        return self._drives.clamp(rows)

    def _externals(
        self, wrench: ArrayLike | None, base: BaseMotion | None, count: int, substeps: int
    ) -> Array:
        external = self.robot.engine.external(wrench, base, count)
        return np.repeat(external, substeps, axis=0)[None] if len(external) > 1 else external[None]

    def _advance(
        self, rows: Array, external: Array, steps: int, h: float, trace: Array, stride: int
    ) -> None:
        efforts = np.ascontiguousarray(rows)
        noise = self._drives.noise(steps)
        status = self._call(
            *self._workspace, *self._arguments(steps, h, efforts, noise,
            np.ascontiguousarray(external), self._states, trace, stride, self._report, 0, 1)
        )  # fmt: skip
        last = efforts[0, -1]
        if self.physics.effort_lag > 0.0:
            last = self._states[0, stages.LAG : stages.LAG + self.robot.dof]
        self._finish(status, h, last + noise[0, -1])

    def _begin(self, base: BaseMotion | None) -> None:
        """Tell the kernel whether it can go on with its workspace: not if a base moves."""
        self._alone[0] = 1
        self._choose_program(base)
        self._go_on[0] = self._fresh and self._still and base is None
        self._still = base is None

    def _choose_program(self, base: BaseMotion | None) -> None:
        self._program[:] = self._orders[base is not None][0]

    def _finish(self, status: int, h: float, exerted: Array) -> None:
        self._pass_time(h, int(self._report[0, 4]))
        self._fresh = status == 0
        if status:
            raise self._event(int(status))
        self._exerted[:] = exerted

    def hold(self, dt: float) -> PlatformMotion:
        """Let ``dt`` seconds pass with the brakes on: the robot is at rest, its drives idle.

        Returns the state.
        """
        substeps = self._substeps(dt)
        row = self._states[0]
        row[12:24] = 0.0
        row[stages.LAG : stages.LAG + self.robot.dof] = 0.0
        self._exerted[:] = 0.0
        self._fresh = False
        self._pass_time(dt / substeps, substeps)
        return self.state

    # ---------------------------------------------------------------- events

    def _event(self, status: int) -> SimulationStopped:
        robot, kind = self.robot, KINDS[status]
        which = int(self._report[0, 1])
        position = np.round(self._states[0, :3], 6).tolist()
        where = f'at t = {self._time:.6g} s, position {position} m'
        if status == stages.LIMIT_REACHED:
            joint = robot.model.joints[int(np.flatnonzero(robot.engine.packed.order == which)[0])]
            return kind(
                f'limit reached {where}: {joint.name} leaves [{joint.lower:g}, {joint.upper:g}]. '
                "Keep within the limits, or simulate with limits='stiff' or 'off'",
                self._time, joint=joint.name,
            )  # fmt: skip
        if status in (stages.STEP_TOO_LARGE, stages.NO_PROGRESS):
            return kind(
                f'step too large {where}: steps of at most {self.step_size:g} s by {self.method} '
                'do not resolve the motion. Use a smaller step, or look for efforts that are far '
                'too large',
                self._time,
            )
        try:
            condition = robot.jacobians(self.state).condition
        except ParallelDynamicsError:  # so near that a cold start does not find the legs
            condition = float('inf')
        if kind is KINDS[stages.NEAR_SINGULAR]:
            return kind(
                f'singularity approached {where}: condition number {condition:.4g}. Keep away '
                'from this pose, or set singularity=inf to go through actuation singularities',
                self._time, condition_number=condition,
            )  # fmt: skip
        return kind(
            f'closure lost {where}: the legs cannot follow the platform any further in their '
            f'working mode (condition number {condition:.4g} here). Keep within the workspace',
            self._time, condition_number=condition,
        )  # fmt: skip

    # ---------------------------------------------------------------- reading

    def _bodies(self) -> Any:
        """Return the bodies of the state of now, with joints as this run has turned them.

        The engine would look for them from home, where whole turns of a crank are not known.
        """
        self._go_on[0] = self._alone[0] = 0
        status = self._call(
            *self._aside, *self._arguments(0, 1.0, self._idle, self._idle,
            self._base_at_rest, self._states.copy(), self._no_trace, 1, np.zeros((1, 5)), 0, 1),
        )  # fmt: skip
        if status and status not in (stages.LIMIT_REACHED, stages.NEAR_SINGULAR):
            raise self._event(int(status))
        return self._aside[4]

    def energy(self) -> float:
        """Kinetic and potential energy now, J, with that of springs and stops; base at rest."""
        packed, bodies = self.robot.engine.packed, self._bodies()
        stiff = int(self.physics.limits == 'stiff')
        own = mechanical_energy(packed.system[0], packed.joints, bodies)
        return own + float(joint_energy(packed.system[0], bodies, self._physics, stiff))

    def gravity_efforts(self, base: BaseMotion | None = None) -> Array:
        """Return the efforts (n,) that hold the platform at rest where it is now.

        Of the motion of the base its attitude counts.
        """
        return self._holding(self.state.replace(np.zeros(6), np.zeros(6)), base)

    def braking_efforts(self, time: float, base: BaseMotion | None = None) -> Array:
        """Return the efforts (n,) that slow the platform down, by a factor of e in ``time`` (s).

        At rest they hold it there. Friction helps: it is not made up for. Of the motion of the
        base its attitude counts.
        """
        return self._holding(self.state.replace(np.zeros(6), -self.state.twist / time), base)

    def _holding(self, motion: PlatformMotion, base: BaseMotion | None) -> Array:
        """Return the efforts (n,) of a motion in the pose that the run is in."""
        engine, first = self.robot.engine, stages.COORDINATES
        joints = self._states[0, first : first + self._coordinates]
        if base is not None and not isinstance(base, BaseMotion):
            raise InputError(f'base: expected a BaseMotion or None, got {type(base).__name__}')
        tilt = None if base is None else BaseMotion(base.rotation)
        engine.coordinates['q'][: self._coordinates] = joints
        engine.work['warm'] = layout.TRUSTED  # the engine goes on from the joints of this run
        try:
            return self.robot.inverse_dynamics(motion, None, tilt)
        finally:
            engine.forget()

    def measure(self) -> Measurement:
        """Return what sensors would say now: noise, then the quantum of the encoders."""
        bodies, order = self._bodies(), self.robot.engine.packed.order + 2
        position, velocity = bodies['q'][order], bodies['qd'][order]
        if self._position_noise.any():
            noise = self._generator.standard_normal(len(order))
            position = position + self._position_noise * noise
        if self._velocity_noise.any():
            noise = self._generator.standard_normal(len(order))
            velocity = velocity + self._velocity_noise * noise
        coarse = self._resolution > 0.0
        if coarse.any():
            quantum = self._resolution[coarse]
            position[coarse] = quantum * np.round(position[coarse] / quantum)
        return Measurement(tuple(self.robot.joints), position, velocity, self.efforts)

    # ---------------------------------------------------------------- saving

    def save(self) -> Snapshot:
        """Return all that the run depends on; :meth:`load` goes on from it bit by bit."""
        self._fresh = False  # so that this run and one from the snapshot solve the same again
        return Snapshot(
            self.robot.name,
            self._time,
            (*self._states[0].tolist(), *self._exerted.tolist()),
            self._drives.sent,
            {
                'efforts': self._drives.generator.bit_generator.state,
                'sensors': self._generator.bit_generator.state,
            },
        )

    def load(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of a simulator with the same robot and options."""
        width, n = self._states.shape[1], self.robot.dof
        if not isinstance(snapshot, Snapshot):
            raise InputError(f'snapshot: expected a Snapshot, got {type(snapshot).__name__}')
        if snapshot.robot != self.robot.name or len(snapshot.row) != width + n:
            raise InputError(
                f'snapshot: expected one of {self.robot.name} ({width + n} numbers), '
                f'got one of {snapshot.robot} ({len(snapshot.row)} numbers)'
            )
        row = np.array(snapshot.row)
        if not np.isfinite(row).all():
            raise InputError('snapshot: expected finite numbers')
        self._drives.restore(snapshot.commands)
        self._drives.generator.bit_generator.state = snapshot.generators['efforts']
        self._generator.bit_generator.state = snapshot.generators['sensors']
        self._states[0], self._exerted[:] = row[:width], row[width:]
        self._fresh = False
        self._set_time(snapshot.time)


def _at_least_one(name: str, value: Any) -> int:
    """Return a whole number of at least 1, or refuse it."""
    if not (isinstance(value, (int, np.integer)) and 1 <= value < 2**31):
        raise InputError(f'{name}: expected a whole number from 1 to 2147483647, got {value!r}')
    return int(value)
