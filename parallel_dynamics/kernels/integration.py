"""Time: many steps of many simulations in one compiled call.

Every new state is evaluated once, as the end of one step and the start of the next, and judged:
closures, limits, singularities. For less than six degrees of freedom each stage is put on the
closures, and so is the end of each step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from parallel_dynamics.kernels.compiler import entry, kernel
from parallel_dynamics.kernels.friction_step import REST, UNCHANGED, plan_friction
from parallel_dynamics.kernels.joint_efforts import BY_LAW, HELD
from parallel_dynamics.kernels.layout import FREE, GIVEN, OK
from parallel_dynamics.kernels.linear import orientation, solve_in_place
from parallel_dynamics.kernels.position import leg_residual
from parallel_dynamics.kernels.rotation import tidy
from parallel_dynamics.kernels.runge_kutta import (
    WIDEST,
    controlled_steps,
    explicit_step,
    gauss_step,
    rates_in_chart,
)
from parallel_dynamics.kernels.stages import (
    CHOICE,
    CLOSURE_LOST,
    CONTROLLED,
    COORDINATES,
    FRICTIONLESS,
    GAUSS,
    HALT,
    LAG,
    LIMIT_REACHED,
    NEAR_SINGULAR,
    SIGN,
    SMOOTH,
    STEP_TOO_LARGE,
    effort_now,
    evaluate_again,
    evaluate_motion,
)
from parallel_dynamics.kernels.velocity import renew_components, use_own_components

TOO_FAR = 0.2  # rad, or characteristic lengths: a joint that jumped to another solution
LOST_PIVOT = 1e-6
"""Ratio of a leg's pivots below which its rates are lost, and their kinetic energy with them."""
EIGHTH = 1  # which of the tableaus is DOP853; 0 is the one of the fixed step


@kernel
def arrived(
    s: Any, legs: Any, joints: Any, closures: Any, bodies: Any, pull: Any, w: Any, physics: Any,
    settings: Any, state: Any, report: Any,
) -> int:  # fmt: skip
    """Judge a new state: singularities near, limits, closures."""
    n = s['dof']
    worst = 0.0
    for i in range(s['legs']):
        worst = max(worst, leg_residual(legs[i], closures, bodies, pull, 6))
    report[2] = max(report[2], worst)
    if w['leg_pivot'] < LOST_PIVOT:
        return CLOSURE_LOST
    if settings['singular'] > 0.0:
        length = s['length']
        sign = orientation(w['LS'], w['M'], n)
        for i in range(n):
            w['F'][i] = 0.0
            largest = 1e-300
            for k in range(n):
                turning = w['independent'][k] > 2
                w['M'][i, k] = w['LS'][i, k] / (length if turning else 1.0)
                largest = max(largest, abs(w['M'][i, k]))
            for k in range(n):
                w['M'][i, k] /= largest
        if state[SIGN] == 0.0:
            state[SIGN] = sign
        pivot = solve_in_place(w['M'], w['F'], n)
        report[3] = min(report[3], pivot)
        if pivot < settings['singular'] or sign != state[SIGN]:
            return NEAR_SINGULAR
    if settings['stops'] == HALT:
        for j in range(s['joints']):
            q = bodies[j + 2]['q']
            if q < physics[j]['lower'] or q > physics[j]['upper']:
                report[1] = j
                return LIMIT_REACHED
    return OK


@kernel
def too_rough(s: Any, K: Any, h: float, rough: float, motion: Any) -> bool:
    """Return whether the middle stages of the classical method disagree too much.

    Their difference is an error of third order; one that is not small against the velocity
    and its change says that the step does not resolve the motion.
    """
    length = s['length']
    error = 0.0
    size = 1e-3 * length
    for m in range(6):
        scale = 1.0 if m < 3 else length
        error = max(error, scale * abs(K[2, 6 + m] - K[1, 6 + m]))
        size = max(size, scale * abs(motion[12 + m]), scale * h * abs(K[0, 6 + m]))
    turn = h * math.sqrt(motion[15] ** 2 + motion[16] ** 2 + motion[17] ** 2)
    return h * error / 3.0 > rough * size or turn > 1.0


@entry
def advance(
    system: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, work: Any, options: Any, physics: Any, settings: Any,
    program: Any, tableaus: Any, steps: int, h: float, efforts: Any, noise: Any, external: Any,
    states: Any, traces: Any, stride: int, reports: Any, first: int, last: int,
) -> int:  # fmt: skip
    """Take ``steps`` steps of length h with simulations ``first`` to ``last - 1``.

    Parameters
    ----------
    program : (SINGLE,)
        What ``evaluate_stage`` starts; zero where there is no such program.
    efforts, noise : (1 or N, rows, n)
        As ``effort_now`` takes them.
    external : (1 or N, 1 or steps, 28)
        Packed as in ``dynamics``; held over each step.
    states : (N, width)
        See the top of this file; changed in place. A run that ends early keeps its last good
        state.
    traces : (1 or N, rows, 30)
        Motion and efforts at the start and after every ``stride`` steps, as far as there are rows.
    reports : (N, 5)
        Status, leg or joint, largest closure residual (m, rad), smallest pivot ratio of L S,
        steps done.
    """
    s = system[0]
    w = work[0]
    K = np.zeros((WIDEST + 1, 12))
    motions = np.zeros((3, 24))
    kept = np.zeros(states.shape[1])
    vectors = np.zeros((3, 32 + states.shape[1]))
    box = np.zeros((10 + 3 * joints.shape[0], joints.shape[0] + 8))
    order = program.copy()  # of this thread
    status = OK
    for i in range(first, last):
        report = reports[i]
        status = advance_one(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w,
            options[0], physics, settings[0], order, tableaus, steps, h,
            efforts[i if efforts.shape[0] > 1 else 0], noise[i if noise.shape[0] > 1 else 0],
            external[i if external.shape[0] > 1 else 0], states[i],
            traces[i if traces.shape[0] > 1 else 0], stride, report, K, motions, kept, vectors,
            box,
        )  # fmt: skip
        report[0] = status
    w['choice'] = FREE
    return status


@kernel
def advance_one(
    s: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, w: Any, options: Any, physics: Any, settings: Any,
    order: Any, tableaus: Any, steps: int, h: float, efforts: Any, noise: Any, external: Any,
    state: Any, trace: Any, stride: int, report: Any, K: Any, motions: Any, kept: Any,
    vectors: Any, box: Any,
) -> int:  # fmt: skip
    """Take the steps of one simulation; see ``advance``."""
    n = s['dof']
    count = s['coordinates']
    motion = motions[1]
    pushed, gamma, guess = vectors[0], vectors[1], vectors[2]
    held = state[COORDINATES + count : COORDINATES + count + s['joints']]
    lagged = state[LAG : LAG + 6]
    lag = settings['lag']
    rubbing = settings['friction'] != FRICTIONLESS and settings['joints_with_friction'] != 0
    usual = BY_LAW if settings['friction'] == SMOOTH else HELD
    report[2] = 0.0
    report[3] = 1.0
    report[4] = 0.0
    load(state, count, coordinates, motion)
    w['choice'] = FREE if state[CHOICE] == 0.0 else GIVEN
    load_components(s, w, state)
    effort_now(n, efforts, noise, 0, steps, 0.0, h, lag, lagged, gamma)
    if settings['fresh']:  # the workspace is still that of this state, judged already
        status = OK
        evaluate_again(s, w, settings, external[0], gamma, pushed, motion)
    else:
        status = evaluate_motion(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w,
            options, physics, settings, external[0], gamma, usual, held, pushed, motion, 1e-9,
        )  # fmt: skip
        if status == OK:
            status = arrived(
                s, legs, joints, closures, bodies, pull, w, physics, settings, state, report
            )
    w['choice'] = GIVEN
    if status != OK:
        return status
    store(state, count, coordinates, motion)
    if not settings['fresh']:
        state[SIGN] *= renew_components(s, legs, rows, pull, stack, w)
    recorded = record(trace, 0, motion, gamma, n)
    for step in range(steps):
        for m in range(state.shape[0]):
            kept[m] = state[m]
        push = external[step if external.shape[0] > 1 else 0]
        mode = HELD
        if rubbing:
            mode = plan_friction(
                s, joints, bodies, coordinates, w, physics, settings, h, motion, held, box, False
            )
            if mode == REST and (lag > 0.0 or efforts.shape[0] == 2 * steps + 1):
                mode = HELD  # the efforts change during the step
        while True:
            if mode != REST:
                status = one_step(
                    s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w,
                    options, physics, settings, order, push, efforts, noise, step, steps, h, state,
                    mode, held, pushed, gamma, tableaus, K, motions,
                )  # fmt: skip
            if status != OK:
                break
            for k in range(count):
                guess[k] = coordinates[k]['q']
            effort_now(n, efforts, noise, step, steps, h, h, lag, lagged, gamma)
            if step + 1 < steps:
                push = external[step + 1 if external.shape[0] > 1 else 0]
                for i in range(n):
                    lagged[i] = gamma[i] - noise_at(noise, step, i)
                effort_now(n, efforts, noise, step + 1, steps, 0.0, h, lag, lagged, gamma)
            status = evaluate_motion(
                s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w,
                options, physics, settings, push, gamma, usual, held, pushed, motion, 1e-9,
            )  # fmt: skip
            if status != OK or not rubbing or mode == BY_LAW:
                break
            outcome = plan_friction(
                s, joints, bodies, coordinates, w, physics, settings, h, motion, held, box, True
            )
            if outcome == UNCHANGED:
                break
            if outcome == HELD:
                status = evaluate_motion(
                    s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w,
                    options, physics, settings, push, gamma, usual, held, pushed, motion, 1e-9,
                )  # fmt: skip
                break
            # The step passed from sliding to creeping or back: again, along the law in time.
            mode = BY_LAW
            for m in range(state.shape[0]):
                state[m] = kept[m]
            push = external[step if external.shape[0] > 1 else 0]
            load(state, count, coordinates, motion)
            effort_now(n, efforts, noise, step, steps, 0.0, h, lag, lagged, gamma)
            status = evaluate_motion(
                s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w,
                options, physics, settings, push, gamma, usual, held, pushed, motion, 1e-9,
            )  # fmt: skip
            if status != OK:
                break
        if status == OK:
            if mode == REST:
                for m in range(12):
                    motion[m] = kept[m]
            for k in range(count):
                if abs(coordinates[k]['q'] - guess[k]) > TOO_FAR * max(1.0, s['length']):
                    report[1] = k
                    status = CLOSURE_LOST
        if status == OK:
            status = arrived(
                s, legs, joints, closures, bodies, pull, w, physics, settings, state, report
            )
        if status != OK:
            for m in range(state.shape[0]):
                state[m] = kept[m]
            return status
        tidy(motion)
        store(state, count, coordinates, motion)
        state[SIGN] *= renew_components(s, legs, rows, pull, stack, w)
        store_components(s, w, state)
        report[4] += 1.0
        if (step + 1) % stride == 0:
            recorded = record(trace, recorded, motion, gamma, n)
    if lag > 0.0 and steps > 0:
        for i in range(n):
            lagged[i] = gamma[i] - noise_at(noise, steps - 1, i)
    if settings['alone']:
        for i in range(n):
            settings['gamma'][i] = gamma[i]
        push = external[steps - 1 if external.shape[0] > 1 else 0]
        for m in range(6):
            settings['wrench'][m] = push[m]
    return OK


@kernel
def one_step(
    s: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, w: Any, options: Any, physics: Any, settings: Any,
    order: Any, push: Any, efforts: Any, noise: Any, step: int, steps: int, h: float, state: Any,
    mode: int, held: Any, pushed: Any, gamma: Any, tableaus: Any, K: Any, motions: Any,
) -> int:  # fmt: skip
    """One step by the method chosen, from motions[1] (evaluated) to motions[1] (not yet)."""
    origin, motion, centre = motions[0], motions[1], motions[2]
    for m in range(24):
        origin[m] = motion[m]
    rates_in_chart(motion, 0.0, 0.0, 0.0, K[0])
    if mode == BY_LAW or settings['method'] == CONTROLLED:
        return controlled_steps(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w,
            options, physics, settings, order, push, efforts, noise, step, steps, h, state, mode,
            held, pushed, gamma, tableaus[EIGHTH], K, origin, motion,
        )  # fmt: skip
    if settings['method'] == GAUSS:
        return gauss_step(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w,
            options, physics, settings, order, push, efforts, noise, step, steps, h, state, mode,
            held, pushed, gamma, K, origin, centre, motion,
        )  # fmt: skip
    status = explicit_step(
        s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w, options,
        physics, settings, order, push, efforts, noise, step, steps, 0.0, h, h, state, mode, held,
        pushed, gamma, tableaus[0], settings['stages'], K, origin, motion,
    )  # fmt: skip
    if status == OK and settings['rough'] > 0.0 and too_rough(s, K, h, settings['rough'], motion):
        return STEP_TOO_LARGE
    return status


@kernel
def noise_at(noise: Any, step: int, i: int) -> float:
    """Return the noise on effort ``i`` during a step."""
    return noise[step if noise.shape[0] > 1 else 0, i]


@kernel
def load(state: Any, count: int, coordinates: Any, motion: Any) -> None:
    """Take motion and coordinates from a state row."""
    for m in range(24):
        motion[m] = state[m]
    for k in range(count):
        coordinates[k]['q'] = state[COORDINATES + k]


@kernel
def store(state: Any, count: int, coordinates: Any, motion: Any) -> None:
    """Keep motion and coordinates in a state row."""
    for m in range(24):
        state[m] = motion[m]
    for k in range(count):
        state[COORDINATES + k] = coordinates[k]['q']


@kernel
def load_components(s: Any, w: Any, state: Any) -> None:
    """Take the components of V_r from a state row: digits to base 8, none for the robot's own."""
    code = int(state[CHOICE])
    if code == 0:
        use_own_components(s, w)
        return
    dependent = 0
    for m in range(6):
        w['dependent'][dependent] = m
        dependent += 1
        rest = code
        for k in range(s['dof']):
            if rest % 8 == m + 1:
                w['independent'][k] = m
                dependent -= 1
            rest //= 8


@kernel
def store_components(s: Any, w: Any, state: Any) -> None:
    """Keep the components of V_r in a state row."""
    code = 0
    for k in range(s['dof'] - 1, -1, -1):
        code = 8 * code + w['independent'][k] + 1
    state[CHOICE] = code


@kernel
def record(trace: Any, row: int, motion: Any, gamma: Any, n: int) -> int:
    """Write motion and efforts to a row of the trace; return the next row."""
    if row < trace.shape[0]:
        for m in range(24):
            trace[row, m] = motion[m]
        for i in range(n):
            trace[row, 24 + i] = gamma[i]
    return row + 1
