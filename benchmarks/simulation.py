"""Cost of simulated time: this package, MuJoCo and Pinocchio stepping the same robot at 1 ms.

Friction is off everywhere; efforts are those that carry the weight, more or less, so that the
platform sets off from home. MuJoCo steps the MJCF that `parallel-dynamics convert` writes, whose
loops are soft, once with its own integrator and once with RK4; Pinocchio has no integrator, so its
constraintDynamics is called by a classical RK4 in Python, as its users do. The error is that of
the platform's position at the end, relative to how far it went, against order 8 in steps of at
most 0.1 ms.
"""

from __future__ import annotations

from collections.abc import Callable

from calls import ROBOTS
import numpy as np
from pinocchio_peer import PinocchioPeer
from timing import Effort, medians, one_core

import parallel_dynamics as pd
from parallel_dynamics.description.conversion import export_robot

STEP = 1e-3  # s
TICKS = 100  # steps of one round
MANY = 1000
Round = Callable[[], np.ndarray]
"""Simulates TICKS steps from home and returns the platform's position (3,)."""


def ours(robot: pd.Robot, efforts: np.ndarray) -> dict[str, Round]:
    """Return rounds by `step`, by `run`, and by `run` with each other method."""
    sim = pd.Simulator(robot, friction='none', effort_limits=False)

    def by_step() -> np.ndarray:
        sim.reset()
        for _ in range(TICKS):
            sim.step(efforts, STEP)
        return sim.state.position

    def by_run(method: str) -> Round:
        other = pd.Simulator(robot, method, friction='none', effort_limits=False)

        def run() -> np.ndarray:
            other.reset()
            other.run(efforts, STEP, TICKS)
            return other.state.position

        return run

    return {
        'this package, step, rk4': by_step,
        'this package, run, rk4': by_run('rk4'),
        'this package, run, gauss': by_run('gauss'),
        'this package, run, dop853': by_run('dop853'),
    }


def mujoco_rounds(robot: pd.Robot, efforts: np.ndarray) -> dict[str, Round]:
    """Return rounds of mj_step with the exporter's integrator and with RK4."""
    import mujoco

    (text,) = export_robot(robot.model.path, 'mjcf').files.values()

    def rounds(integrator: int | None) -> Round:
        model = mujoco.MjModel.from_xml_string(text)
        model.opt.timestep = STEP
        model.dof_frictionloss[:] = model.dof_damping[:] = 0.0
        model.actuator_ctrllimited[:] = 0
        if integrator is not None:
            model.opt.integrator = integrator
        data = mujoco.MjData(model)
        free = int(np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)[0])
        place = int(model.jnt_qposadr[free])

        def run() -> np.ndarray:
            mujoco.mj_resetData(model, data)
            data.ctrl[:] = efforts
            for _ in range(TICKS):
                mujoco.mj_step(model, data)
            return data.qpos[place : place + 3].copy()

        return run

    return {
        'MuJoCo, mj_step': rounds(None),
        'MuJoCo, mj_step, RK4': rounds(int(mujoco.mjtIntegrator.mjINT_RK4)),
    }


def pinocchio_rounds(robot: pd.Robot, efforts: np.ndarray) -> dict[str, Round]:
    """Return rounds of RK4 on constraintDynamics; for robots whose closures are balls."""
    import pinocchio as pin

    peer = PinocchioPeer(robot)
    model = peer.model
    start, _, _ = peer.state(robot.home)
    tau = peer._drives @ efforts
    place = peer.platform_q

    def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return peer.direct((q, v, tau)).copy()

    def run() -> np.ndarray:
        q, v, h = start, np.zeros(model.nv), STEP
        for _ in range(TICKS):
            a1 = acceleration(q, v)
            v2 = v + 0.5 * h * a1
            a2 = acceleration(pin.integrate(model, q, 0.5 * h * v), v2)
            v3 = v + 0.5 * h * a2
            a3 = acceleration(pin.integrate(model, q, 0.5 * h * v2), v3)
            v4 = v + h * a3
            a4 = acceleration(pin.integrate(model, q, h * v3), v4)
            q = pin.integrate(model, q, h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4))
            v = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        return q[place : place + 3]

    return {'Pinocchio, constraintDynamics, RK4': run}


def many_rounds(robot: pd.Robot, efforts: np.ndarray, count: int) -> dict[str, Round]:
    """Return a round of many simulations at once on all cores, each with its own efforts."""
    rows = np.tile(efforts, (count, 1))
    rows[1:] *= 1.0 + 0.01 * np.random.default_rng(0).normal(size=(count - 1, robot.dof))
    starts = pd.PlatformMotion._wrap(np.tile(robot.home.data, (count, 1)))
    sim = pd.Simulator(robot, friction='none', effort_limits=False)

    def run() -> np.ndarray:
        runs = sim.run_many(starts, rows, STEP, TICKS)
        if any(runs.events):
            raise SystemExit('a simulation of the batch stopped early')
        return runs.motion.position[0]

    return {f'this package, {count:,} at once on all cores, rk4': run}


def measure_robot(name: str) -> list[dict[str, object]]:
    """Return the rows of one robot: time of a step (s), simulated seconds per second, error."""
    robot = pd.load_robot(name)
    push = 0.05 * np.cos(np.arange(robot.dof))
    efforts = np.asarray(robot.inverse_dynamics(robot.home)) * (1.0 + push)
    exact = pd.Simulator(
        robot, 'dop853', step=0.1 * STEP, tolerance=1e-13, friction='none', effort_limits=False
    )  # fmt: skip
    exact.run(efforts, STEP, TICKS)
    truth = exact.state.position
    way = np.linalg.norm(truth - robot.home.position)
    rounds = ours(robot, efforts) | mujoco_rounds(robot, efforts)
    rounds |= pinocchio_rounds(robot, efforts)
    with one_core():
        times = medians(rounds, round_time=0.0)
    count = 16 if Effort.quick else MANY
    many = many_rounds(robot, efforts, count)
    times |= {label: t / count for label, t in medians(many, round_time=0.0).items()}
    return [
        {'name': label, 'step': t / TICKS, 'speed': TICKS * STEP / t,
         'error': float(np.linalg.norm((rounds | many)[label]() - truth) / way)}
        for label, t in times.items()
    ]  # fmt: skip


def measure() -> dict[str, list[dict[str, object]]]:
    """Return the rows of all robots."""
    return {name: measure_robot(name) for name in ROBOTS}
