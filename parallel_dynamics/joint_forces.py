"""The wrench at every joint and closure of a moving robot, and which of it is unique.

A component is *determinate* if the equations of equilibrium fix it: if no self-stress (a set of
closure loads that all joints and the platform feel as nothing) takes part in it. Such loads exist
in overconstrained robots; their number is known from the robot's mobility, and what they do to
each component is found anew at every pose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parallel_dynamics.engine import Engine
from parallel_dynamics.errors import InputError
from parallel_dynamics.jacobians import row_scales
from parallel_dynamics.kernels.force_regressor import regress_wrench
from parallel_dynamics.kernels.forces import ACTUATION, DROPPED, KEPT, LEGS
from parallel_dynamics.kernels.forces import joint_forces as kernel
from parallel_dynamics.linear_form import parameter_count, parameter_places
from parallel_dynamics.mobility import Mobility
from parallel_dynamics.model import FIRST_LEG_BODY, RobotModel
from parallel_dynamics.motion import BaseMotion, PlatformMotion, check_invalid
from parallel_dynamics.spatial import Array
from parallel_dynamics.unrolling import tracing

Flags = NDArray[np.bool_]

COMPONENTS = ('fx', 'fy', 'fz', 'mx', 'my', 'mz')
"""Names of the six components of a wrench."""
SPREAD = 1e-6
"""Change of a component, per unit of self-stress, above which it counts as indeterminate."""
DOUBTFUL_SPREAD = (1e-7, 1e-5)
"""Between these two, that verdict is called uncertain."""
CLEAR_RANK = 1e-6
"""Least singular value, relative to the largest, that counts as not zero beyond doubt."""
CLEAR_GAP = 1e-3
"""Largest ratio of the singular values on both sides of a rank that leaves no doubt."""


class UncertainRankWarning(UserWarning):
    """Which components of the joint forces are unique is too close to call at a pose."""


class WrenchTable(Mapping[str, Any]):
    """Rows of an array (..., k, 6) by name."""

    __slots__ = ('_array', '_places')

    def __init__(self, places: Mapping[str, int], array: NDArray[Any]) -> None:
        self._places = places
        self._array = array

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._array[..., self._places[name], :]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class SharedLoad:
    """Joints and closures that share statically indeterminate loads, and how many of these."""

    __slots__ = ('loads', 'names')

    def __init__(self, names: tuple[str, ...], loads: int) -> None:
        self.names = names
        self.loads = loads

    def __repr__(self) -> str:
        return f'SharedLoad({self.loads} in {", ".join(self.names)})'


class JointForces:
    """Wrenches of all joints and closures, (...) being () or (N,) for a batch.

    Attributes
    ----------
    wrench : mapping of str to (..., 6)
        [force; moment] in N and N m. Of a joint: what the parent link exerts on the child link,
        at the child link's origin, in its axes. Of a closure: what the first frame's link exerts
        on the second's, at the first frame's origin, in the second frame's axes. With these
        alone, weight and external wrench, every body obeys Newton's and Euler's laws. Along its
        own axis a joint therefore transmits what arrives at the child: the actuator's effort,
        less friction, less what the drive's own inertia takes (armature times acceleration); a
        passive joint nothing but friction. A joint that mimics another, or is mimicked, gets the
        share of its gear along its axis.
    determinate : mapping of str to (..., 6) bool
        Whether equilibrium alone fixes a component; what a joint cannot transmit is zero, and
        fixed. Where not, the value belongs to the smallest closure loads (moments counted over
        the characteristic length), or is NaN on request. False for states that are NaN because
        they are invalid.
    uncertain : mapping of str to (..., 6) bool
        Where that decision is too close to call: singular values without a clear gap, or a
        component in which self-stress hardly takes part.
    efforts : (..., n)
        Of the actuators, N or N m.
    redundancy : int
        Number of independent self-stresses.
    array, determinate_array, uncertain_array : (..., k, 6)
        The same in the order of ``names``: joints, then closures.
    rank : (..., 4)
        Evidence of the rank: the smallest singular value counted as not zero, the largest counted
        as zero, the smallest pivot of the actuators' Jacobian and that of the legs' Jacobians;
        each relative to the largest.
    """

    __slots__ = ('_solver', '_spread', 'array', 'efforts', 'rank')

    def __init__(
        self, solver: JointForceSolver, array: Array, spread: Array | None, efforts: Array,
        rank: Array,
    ) -> None:  # fmt: skip
        self._solver = solver
        self._spread = spread
        self.array = array
        self.efforts = efforts
        self.rank = rank

    @property
    def names(self) -> tuple[str, ...]:
        """Names of joints and closures, in the order of the arrays."""
        return self._solver.names

    @property
    def redundancy(self) -> int:
        """Number of independent self-stresses."""
        return self._solver.redundancy

    @property
    def valid(self) -> Flags:
        """(...): whether a state could be solved; the others are NaN."""
        return np.asarray(np.isfinite(self.efforts).all(axis=-1))

    @property
    def wrench(self) -> WrenchTable:
        """Wrenches by name."""
        return WrenchTable(self._solver.places, self.array)

    @property
    def determinate_array(self) -> Flags:
        """(..., k, 6): whether equilibrium fixes each component."""
        if self._spread is None:
            return np.broadcast_to(self.valid[..., None, None], self.array.shape)
        return np.asarray(self._spread <= SPREAD)

    @property
    def determinate(self) -> WrenchTable:
        """Whether equilibrium fixes each component, by name."""
        return WrenchTable(self._solver.places, self.determinate_array)

    @property
    def uncertain_array(self) -> Flags:
        """(..., k, 6): where the decision is too close to call."""
        unclear = self.rank_unclear[..., None, None]
        if self._spread is None:
            return np.broadcast_to(unclear, self.array.shape)
        low, high = DOUBTFUL_SPREAD
        return np.asarray(unclear | ((self._spread > low) & (self._spread < high)))

    @property
    def uncertain(self) -> WrenchTable:
        """Where the decision is too close to call, by name."""
        return WrenchTable(self._solver.places, self.uncertain_array)

    @property
    def rank_unclear(self) -> Flags:
        """(...): whether the singular values have no clear gap."""
        smallest = self.rank[..., [KEPT, ACTUATION, LEGS]].min(axis=-1)
        without_gap = self.rank[..., DROPPED] > CLEAR_GAP * self.rank[..., KEPT]
        return np.asarray((smallest < CLEAR_RANK) | without_gap)

    @property
    def sharing(self) -> tuple[SharedLoad, ...]:
        """Groups of joints and closures that share indeterminate loads (in any state)."""
        fixed = self.determinate_array[self.valid].reshape(-1, len(self.names), 6)
        loose = {name for k, name in enumerate(self.names) if not fixed[:, k].all()}
        groups = []
        for group in self._solver.groups:
            names = tuple(name for name in group.names if name in loose)
            if names:
                groups.append(SharedLoad(names, group.loads))
        return tuple(groups)

    def report(self) -> str:
        """Say in words what is not unique, and which joints share it."""
        if not self.redundancy:
            lines = ['All joint forces are statically determinate.']
        else:
            loads = 'load is' if self.redundancy == 1 else 'loads are'
            lines = [f'{self.redundancy} {loads} statically indeterminate:']
            lines += [
                f'  {g.loads} shared by {", ".join(g.names)}' for g in self.sharing
            ]
        unclear = int(np.count_nonzero(self.rank_unclear))
        if unclear:
            many = f'in {unclear} of {len(self.array)} states'
            states = 'here' if self.array.ndim == 2 else many
            lines.append(
                f'Which are unique is too close to call {states}: near a singularity, or slightly '
                'off the closures.'
            )
        hardly = self.uncertain_array & ~self.rank_unclear[..., None, None]
        names = [n for k, n in enumerate(self.names) if hardly[..., k, :].any()]
        if names:
            lines.append(
                'Self-stress takes so little part in a component that it is too close to call '
                f'({np.count_nonzero(hardly)} of {self.array.size}): {", ".join(names)}.'
            )
        return '\n'.join(lines)

    def __repr__(self) -> str:
        where = '' if self.array.ndim == 2 else f', batch of {len(self.array)}'
        return f'<JointForces of {len(self.names)} joints and closures{where}>'


class JointForceSolver:
    """Joint forces of one robot: what is known of its structure, and the compiled kernel."""

    def __init__(self, engine: Engine, mobility: Mobility) -> None:
        model, packed = engine.model, engine.packed
        self.engine = engine
        self.mobility = mobility
        self.names = (*model.joint_names, *model.closure_names)
        self.places = {name: k for k, name in enumerate(self.names)}
        system = packed.system[0]
        self.length = float(system['length'])
        self.redundancy = int(system['rows'] - system['coordinates']) - (6 - engine.dof)
        self.square = system['rows'] == system['coordinates']  # no leg constrains the platform
        joints = len(model.joints)
        places = np.zeros(len(self.names), np.int64)
        places[packed.order] = np.arange(joints)
        places[joints + packed.closure_order] = joints + np.arange(len(model.closures))
        link_axes = np.ascontiguousarray(packed.link_rotation)
        self._fixed = (engine.options, row_scales(model, 1.0 / self.length), link_axes, places)
        self._columns = parameter_places(packed)
        self._width = parameter_count(joints)
        self._nothing = np.zeros((0, len(self.names), 6))
        self._groups: tuple[SharedLoad, ...] | None = None
        self._call: Any = None
        self._regress: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return JointForceSolver, (self.engine, self.mobility)

    @property
    def groups(self) -> tuple[SharedLoad, ...]:
        """Joints and closures that share self-stress anywhere in the workspace."""
        if self._groups is None:
            self._groups = tuple(
                SharedLoad(loop_members(self.engine.model, group.closures), group.equations)
                for group in self.mobility.overconstraints
            )
        return self._groups

    def __call__(
        self,
        m: PlatformMotion,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
        indeterminate: str = 'least-norm',
        invalid: str = 'raise',
    ) -> JointForces:
        """Joint forces for one motion or a batch; see ``Robot.joint_forces``."""
        if not isinstance(indeterminate, str) or indeterminate not in ('least-norm', 'nan'):
            raise InputError(
                f"indeterminate: expected 'least-norm' or 'nan', got {indeterminate!r}"
            )
        check_invalid(invalid)
        if type(m) is not PlatformMotion:
            raise InputError(f'motion: expected a PlatformMotion, got {type(m).__name__}')
        external = self.engine.external(wrench, base, m.batch)
        if m.batch is None:
            forces = self._one(m, external)
        else:
            forces = self._many(m, external, invalid)
        self._warn(forces)
        if indeterminate == 'nan' and self.redundancy:
            forces.array[~forces.determinate_array.reshape(forces.array.shape)] = np.nan
        return forces

    def specialise(self, home: PlatformMotion, batches: bool) -> None:
        """Have the code written that finds the forces of this robot, if it can have such code."""
        if self.engine.unrolls and self.square:
            self.engine.make_programs(tracing.JOINT_FORCES, home, self._fixed[2:], batches)

    def _room(self, states: int) -> tuple[Array, ...]:
        """Return empty arrays: efforts, wrenches, their spread and the evidence."""
        array = np.empty((states, len(self.names), 6))
        spread = np.empty_like(array) if self.redundancy else self._nothing
        return np.empty((states, self.engine.dof)), array, spread, np.empty((states, 4))

    def _one(self, m: PlatformMotion, external: Array) -> JointForces:
        engine, report = self.engine, np.empty((1, 5))
        if engine.unrolls and self.square and external is engine.at_rest:
            row = self._row(1)
            if engine.run_program(
                tracing.JOINT_FORCES, m, engine.at_rest, row, self._fixed[2:]
            ):
                efforts, array, rank = self._parts(row)
                return JointForces(self, array[0], None, efforts[0], rank[0])
        room = efforts, array, spread, rank = self._room(1)
        arguments = (*self._fixed, m.rows, external, *room, report, 0, 1)
        if self._call is None:
            self._call = engine.compiled(kernel, *arguments)
        status = self._call(*engine.arguments, *arguments)
        if status:
            engine.fail(status, m)
        loose = spread[0] if self.redundancy else None
        return JointForces(self, array[0], loose, efforts[0], rank[0])

    def _many(self, m: PlatformMotion, external: Array, invalid: str) -> JointForces:
        unrolled = self._unrolled(m, external)
        if unrolled is None:
            room = efforts, array, spread, rank = self._room(len(m))
            reports = self.engine.run_batch(kernel, len(m), *self._fixed, m.rows, external, *room)
        else:
            efforts, array, spread, rank, reports = unrolled
        failed = reports[:, 0] != 0.0
        if failed.any():
            if invalid == 'raise':
                self.engine.fail_batch(reports, m)
            for values in (efforts, array, spread if self.redundancy else array):
                values[failed] = np.nan
            rank[failed] = (1.0, 0.0, 1.0, 1.0)
        return JointForces(self, array, spread if self.redundancy else None, efforts, rank)

    def _row(self, states: int) -> Array:
        """Return empty rows as the unrolled program writes them."""
        return np.empty((states, self.engine.dof + 4 + 6 * len(self.names)))

    def _parts(self, rows: Array) -> tuple[Array, Array, Array]:
        """Return efforts, wrenches and evidence of such rows."""
        n = self.engine.dof
        return rows[:, :n], rows[:, n + 4 :].reshape(len(rows), -1, 6), rows[:, n : n + 4]

    def _unrolled(self, m: PlatformMotion, external: Array) -> tuple[Array, ...] | None:
        """As ``_room`` with the reports, filled for a large batch where there is a program."""
        if not self.square:
            return None
        engine, rows = self.engine, self._row(len(m))
        left = engine.run_unrolled(
            tracing.JOINT_FORCES, m, external, engine.at_rest, rows, self._fixed[2:]
        )
        if left is None:
            return None
        reports = np.zeros((len(m), 5))
        efforts, array, rank = self._parts(rows)
        if len(left):
            given = external[left] if len(external) > 1 else external
            some = self._room(len(left))
            reports[left] = engine.run_batch(
                kernel, len(left), *self._fixed, m.rows[left], given, *some
            )
            efforts[left], array[left], _, rank[left] = some
        return efforts, array, self._nothing, rank, reports

    def regressor(
        self,
        m: PlatformMotion,
        name: str,
        base: BaseMotion | None = None,
        invalid: str = 'raise',
    ) -> Array:
        """W (6, n_p), or (N, 6, n_p) of a batch; see ``Robot.joint_force_regressor``."""
        if not isinstance(name, str) or name not in self.places:
            raise InputError(
                f'name: expected a joint or closure, one of {", ".join(self.names)}, got {name!r}'
            )
        check_invalid(invalid)
        if type(m) is not PlatformMotion:
            raise InputError(f'motion: expected a PlatformMotion, got {type(m).__name__}')
        engine = self.engine
        external = engine.external(None, base, m.batch)
        out = np.zeros((len(m.rows), 6, self._width))
        packed = int(np.flatnonzero(self._fixed[3] == self.places[name])[0])
        arguments = (self._fixed[1], *self._columns, packed, m.rows, external, out)
        if m.batch is None:
            report = np.zeros((1, 5))
            if self._regress is None:
                self._regress = engine.compiled(regress_wrench, *arguments, report, 0, 1)
            status = self._regress(*engine.arguments, *arguments, report, 0, 1)
            if status:
                engine.fail(status, m)
            return out[0]
        reports = engine.run_batch(regress_wrench, len(m), *arguments)
        if invalid == 'raise':
            engine.fail_batch(reports, m)
        out[reports[:, 0] != 0.0] = np.nan
        return out

    def _warn(self, forces: JointForces) -> None:
        if forces.rank.ndim == 1:  # plain numbers are quick
            kept, dropped, actuation, legs = forces.rank.tolist()
            unclear = min(kept, actuation, legs) < CLEAR_RANK or dropped > CLEAR_GAP * kept
        else:
            unclear = bool(forces.rank_unclear.any())
        if unclear:
            worst = np.atleast_2d(forces.rank)
            warnings.warn(
                'Which joint forces are unique is too close to call: smallest singular value '
                f'counted {worst[:, KEPT].min():.1e}, largest left out '
                f'{worst[:, DROPPED].max():.1e}, smallest pivot of the actuators\' Jacobian '
                f'{worst[:, ACTUATION].min():.1e} and of a leg\'s {worst[:, LEGS].min():.1e} (all '
                'relative to the largest). See JointForces.uncertain; keep away from '
                'singularities, and put the pose on the closures by robot.project(motion)',
                UncertainRankWarning,
                stacklevel=4,
            )


def loop_members(model: RobotModel, closures: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the joints and closures on the loops that some closures close, in model order.

    A loop goes from a closure's two links down to where their branches meet, or to base and
    platform.
    """
    members: set[str] = set(closures)
    for closure in model.closures:
        if closure.name in closures:
            first, second = (_ancestors(model, f.body) for f in (closure.first, closure.second))
            members |= {model.joints[j].name for j in first ^ second}
    return tuple(n for n in (*model.joint_names, *model.closure_names) if n in members)


def _ancestors(model: RobotModel, body: int) -> set[int]:
    found = set()
    while body >= FIRST_LEG_BODY:
        found.add(body - FIRST_LEG_BODY)
        body = model.joints[body - FIRST_LEG_BODY].parent
    return found
