"""The dynamics as a linear form: tau = Psi(motion) p, with every parameter named.

After codourey_burdet_1997, (12) and (34): the ten parameters of a body are its mass, its first
moment m c and its tensor about the origin of its URDF link, in that link's axes; each joint adds
viscous and Coulomb friction and the inertia of its drive. The base does not move against itself
and has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parallel_dynamics.engine import Engine
from parallel_dynamics.errors import InputError
from parallel_dynamics.kernels.actuated import actuate
from parallel_dynamics.kernels.packing import Packed
from parallel_dynamics.kernels.regressor import BODY_PARAMETERS, JOINT_PARAMETERS, regress
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM, Inertia, RobotModel, frozen
from parallel_dynamics.motion import BaseMotion, PlatformMotion, checked
from parallel_dynamics.spatial import Array, parallel_axis

BODY_SUFFIXES = ('m', 'mcx', 'mcy', 'mcz', 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
"""Parameters of a body: kg, kg m, and kg m^2 about its link's origin, link axes."""
JOINT_SUFFIXES = ('viscous', 'coulomb', 'armature')
"""Parameters of a joint: N s/m or N m s/rad, N or N m, kg or kg m^2."""

_UPPER = np.triu_indices(3)


def parameter_names(model: RobotModel) -> list[str]:
    """Return the names, ``<body>/m`` ... for every moving body, then ``<joint>/viscous`` ..."""
    names = [f'{body.name}/{s}' for body in model.bodies[PLATFORM:] for s in BODY_SUFFIXES]
    return names + [f'{joint.name}/{s}' for joint in model.joints for s in JOINT_SUFFIXES]


def parameter_units(model: RobotModel) -> list[str]:
    """Return the units in the order of :func:`parameter_names`."""
    body = ['kg'] + 3 * ['kg m'] + 6 * ['kg m^2']
    units = (len(model.bodies) - PLATFORM) * body
    for joint in model.joints:
        slides = joint.kind == 'prismatic'
        units += ['N s/m', 'N', 'kg'] if slides else ['N m s/rad', 'N m', 'kg m^2']
    return units


def parameter_values(model: RobotModel) -> Array:
    """Return the values (n_p,) in the order of :func:`parameter_names`."""
    values: list[float] = []
    for body in model.bodies[PLATFORM:]:
        values += body_values(body.inertia).tolist()
    for joint in model.joints:
        values += [joint.damping, joint.friction, joint.armature]
    return frozen(values, (len(values),))


def body_values(inertia: Inertia) -> Array:
    """Return the ten parameters (10,) of a body."""
    tensor = inertia.about_origin()
    return np.concatenate([[inertia.mass], inertia.mass * inertia.com, tensor[_UPPER]])


def body_inertia(values: Array, name: str) -> Inertia:
    """Return the inertia that ten parameters (10,) stand for."""
    mass, moment = float(values[0]), values[1:4]
    tensor = np.zeros((3, 3))
    tensor[_UPPER] = values[4:]
    tensor = tensor + np.triu(tensor, 1).T
    if mass == 0.0:
        if np.any(moment != 0.0):
            raise InputError(
                f'parameters: body {name!r} has a first moment {moment.tolist()} kg m and no '
                f'mass; give {name}/m a value'
            )
        return Inertia(0.0, frozen(np.zeros(3), (3,)), frozen(tensor, (3, 3)))
    com = moment / mass
    return Inertia(mass, frozen(com, (3,)), frozen(parallel_axis(-mass, com, tensor), (3, 3)))


def with_parameters(model: RobotModel, parameters: ArrayLike) -> RobotModel:
    """Return the model with other parameters (n_p,); they need not be physical."""
    moving = model.bodies[PLATFORM:]
    bodies = len(moving) * BODY_PARAMETERS
    count = parameter_count(len(model.joints))
    p = checked('parameters', parameters, (count,), single=True)
    inertias = {
        PLATFORM + b: body_inertia(values, moving[b].name)
        for b, values in enumerate(p[:bodies].reshape(-1, BODY_PARAMETERS))
    }
    of_joints = p[bodies:].reshape(-1, JOINT_PARAMETERS).tolist()
    joints = tuple(
        replace(joint, damping=viscous, friction=coulomb, armature=armature)
        for joint, (viscous, coulomb, armature) in zip(model.joints, of_joints)
    )
    return replace(model.with_bodies(inertias), joints=joints)


def parameter_count(joints: int) -> int:
    """Return how many parameters a robot with so many joints has."""
    return BODY_PARAMETERS * (joints + 1) + JOINT_PARAMETERS * joints


def parameter_places(packed: Packed) -> tuple[Array, NDArray[np.int64]]:
    """Return where the parameters are, as the kernels take it.

    Returns
    -------
    frames : (bodies, 3, 3)
        Packed body frame <- URDF link.
    columns : (bodies, 2)
        First parameter of each packed body, and of the joint that carries it.
    """
    joints = len(packed.order)
    bodies = packed.order + FIRST_LEG_BODY
    frames = np.tile(np.eye(3), (joints + FIRST_LEG_BODY, 1, 1))
    frames[FIRST_LEG_BODY:] = packed.link_rotation
    columns = np.zeros((joints + FIRST_LEG_BODY, 2), np.int64)
    columns[bodies, 0] = BODY_PARAMETERS * np.arange(1, joints + 1)
    columns[bodies, 1] = BODY_PARAMETERS * (joints + 1) + JOINT_PARAMETERS * np.arange(joints)
    return frames, columns


class LinearForm:
    """Psi of one robot, by its engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.width = parameter_count(len(engine.model.joints))
        self.frames, self.columns = parameter_places(engine.packed)
        self._report = np.zeros((1, 5))
        self._call: Callable[..., int] | None = None

    def regressor(self, m: PlatformMotion, base: BaseMotion | None = None) -> tuple[Array, Array]:
        """Return Psi (n, n_p) or (N, n, n_p), and the reports (N, 5) of a batch."""
        engine = self.engine
        external = engine.external(None, base, m.batch)
        out = np.zeros((len(m.rows), engine.dof, self.width))
        arguments = (self.frames, self.columns, m.rows, external, out)
        if m.batch is not None:
            return out, engine.run_batch(regress, len(m), *arguments)
        if self._call is None:
            self._call = engine.compiled(regress, *arguments, self._report, 0, 0)
        status = self._call(*engine.arguments, *arguments, self._report, 0, 1)
        if status:
            engine.fail(status, m)
        return out[0], self._report


class ActuatedForm:
    """The linear form by what the actuators do, as adaptive control and identification need it.

    Slotine and Li's form has the velocity in the Coriolis term twice, once as measured and once
    as wanted: ``Y p = H a + C(qd) v + g`` with the C of Christoffel, for which ``H' - 2 C`` is
    skew-symmetric. C(qd) v is bilinear and symmetric in qd and v, so that it is
    ``c((qd + v) / 2) - c((qd - v) / 2)`` with ``c(v) = C(v) v``: three times Psi.
    """

    def __init__(self, engine: Engine, form: LinearForm | None = None) -> None:
        self.engine = engine
        self.form = LinearForm(engine) if form is None else form
        n = engine.dof
        self._motions = np.zeros((4, 24))
        self._rates = np.zeros((4, 2, n))
        self._reports = np.zeros((4, 5))
        self._psi = np.zeros((4, n, self.form.width))
        joints = len(engine.model.joints)
        self._coulomb = slice(BODY_PARAMETERS * (joints + 1) + 1, None, JOINT_PARAMETERS)
        self._actuate = engine.compiled(actuate, self._rates, self._motions, self._reports, 0, 0)
        self._regress = engine.compiled(
            regress, self.form.frames, self.form.columns, self._motions, engine.at_rest, self._psi,
            self._reports, 0, 0,
        )  # fmt: skip

    def motions(self, poses: PlatformMotion, velocity: Array, acceleration: Array) -> Array:
        """Return packed motions (N, 24) at some poses for rates (N, n) of the actuators."""
        rows = np.array(poses.rows)
        rates = np.ascontiguousarray(np.stack([velocity, acceleration], axis=1))
        reports = self.engine.run_batch(actuate, len(rows), rates, rows)
        self.engine.fail_batch(reports, PlatformMotion._wrap(rows))
        return rows

    def mixed(
        self, pose: PlatformMotion, measured: Array, velocity: Array, acceleration: Array,
        external: Array | None = None,
    ) -> Array:  # fmt: skip
        """Return Y (n, n_p) of Slotine and Li, actuator coordinates, at one pose.

        Friction is that of the reference: at rest, measured velocities are only noise.

        Parameters
        ----------
        measured : (n,)
            Velocity of the actuators, qd.
        velocity, acceleration : (n,)
            Reference, v and a.
        external : (1, 28), optional
            Packed base motion; at rest by default.
        """
        engine = self.engine
        rates = self._rates
        self._motions[:, :12] = pose.data[:12]
        rates[0, 0], rates[0, 1] = 0.5 * (measured + velocity), acceleration
        rates[1, 0] = 0.5 * (measured - velocity)
        rates[3, 0], rates[3, 1] = velocity, acceleration  # the third row stays at rest
        status = self._actuate(*engine.arguments, rates, self._motions, self._reports, 0, 4)
        if not status:
            push = engine.at_rest if external is None else external
            status = self._regress(
                *engine.arguments, self.form.frames, self.form.columns, self._motions, push,
                self._psi, self._reports, 0, 4,
            )  # fmt: skip
        failed = self._reports[:, 0].max()
        if failed:
            engine.fail(int(failed), pose)
        middle, half, rest, reference = self._psi
        psi = middle - half + rest
        psi[:, self._coulomb] = reference[:, self._coulomb]
        return np.asarray(psi)
