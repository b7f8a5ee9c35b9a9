"""Runge-Kutta steps on the manifold of poses.

A step is taken in the chart (p, theta, V) with R = exp(theta~) R_0, in which every Runge-Kutta
method keeps its order (Munthe-Kaas). Here are explicit methods from a table of coefficients,
with a fixed step or with step control, and Gauss's method of order four.
"""

from __future__ import annotations

import math
from typing import Any

from parallel_dynamics.kernels.compiler import kernel
from parallel_dynamics.kernels.layout import OK
from parallel_dynamics.kernels.rotation import rate_of_vector, tidy, turned
from parallel_dynamics.kernels.stages import (
    COORDINATES,
    LAG,
    NO_PROGRESS,
    STEP_TOO_LARGE,
    SUBSTEP,
    SUBSTEPS,
    effort_now,
    evaluate_motion,
    evaluate_stage,
)

WIDEST = 16  # stages that a tableau may have
# Rows of a tableau (TABLEAU, WIDEST): A from 0 on, weights, nodes, two rows of error weights.
WEIGHTS, NODES, ERROR_5, ERROR_3, TABLEAU = 13, 14, 15, 16, 17
GAUSS_ITERATIONS = 60
ROOT = math.sqrt(3.0) / 6.0  # Gauss's nodes are 1/2 -+ ROOT


@kernel
def predict_joints(coordinates: Any, start: Any, count: int, seconds: float) -> None:
    """Guess the coordinates ``seconds`` after ``start`` from their speeds."""
    for k in range(count):
        coordinates[k]['q'] = start[k] + seconds * coordinates[k]['qd']


@kernel
def explicit_step(
    s: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, w: Any, options: Any, physics: Any, settings: Any,
    order: Any, external: Any, efforts: Any, noise: Any, step: int, steps: int, at: float,
    h: float, whole: float, state: Any, mode: int, held: Any, pushed: Any, gamma: Any,
    tableau: Any, stages: int, K: Any, origin: Any, motion: Any,
) -> int:  # fmt: skip
    """One explicit Runge-Kutta step of length h from ``origin`` to ``motion``.

    K[0] must hold the rates at ``origin``; the coordinates are those of ``origin``, kept in the
    state row.
    """
    count = s['coordinates']
    start = state[COORDINATES : COORDINATES + count]
    for i in range(1, stages + 1):
        weights = tableau[WEIGHTS] if i == stages else tableau[i]
        for m in range(12):
            value = 0.0
            for j in range(min(i, stages)):
                value += weights[j] * K[j, m]
            K[WIDEST, m] = h * value
        y = K[WIDEST]
        for m in range(3):
            motion[m] = origin[m] + y[m]
        turned(y[3], y[4], y[5], origin, motion)
        for m in range(6):
            motion[12 + m] = origin[12 + m] + y[6 + m]
        node = 1.0 if i == stages else tableau[NODES, i]
        predict_joints(coordinates, start, count, node * h)
        if i == stages:
            break
        effort_now(
            s['dof'], efforts, noise, step, steps, at + node * h, whole, settings['lag'],
            state[LAG : LAG + 6], gamma,
        )  # fmt: skip
        status = evaluate_stage(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w,
            options, physics, settings, order, external, gamma, mode, held, pushed, motion, 1e-7,
        )  # fmt: skip
        if status != OK:
            return status
        rates_in_chart(motion, y[3], y[4], y[5], K[i])
    return OK


@kernel
def rates_in_chart(motion: Any, x: float, y: float, z: float, rates: Any) -> None:
    """Write (p', theta', V') of a motion whose rotation is exp((x, y, z)~) R_0."""
    for m in range(3):
        rates[m] = motion[12 + m]
    rates[3], rates[4], rates[5] = rate_of_vector(x, y, z, motion[15], motion[16], motion[17])
    for m in range(6):
        rates[6 + m] = motion[18 + m]


@kernel
def gauss_velocities(origin: Any, h: float, K: Any, eta: Any) -> None:
    """Write (p', theta') at both nodes from the accelerations there.

    So that the iteration is one for accelerations only: it contracts by the square of h, not
    by h.
    """
    for i in range(2):
        first = 0.25 if i == 0 else 0.25 + ROOT
        second = 0.25 - ROOT if i == 0 else 0.25
        for m in range(3):
            K[i, m] = origin[12 + m] + h * (first * K[0, 6 + m] + second * K[1, 6 + m])
        wx = origin[15] + h * (first * K[0, 9] + second * K[1, 9])
        wy = origin[16] + h * (first * K[0, 10] + second * K[1, 10])
        wz = origin[17] + h * (first * K[0, 11] + second * K[1, 11])
        x, y, z = eta[3 * i], eta[3 * i + 1], eta[3 * i + 2]
        K[i, 3], K[i, 4], K[i, 5] = rate_of_vector(x, y, z, wx, wy, wz)


@kernel
def gauss_step(
    s: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, w: Any, options: Any, physics: Any, settings: Any,
    order: Any, external: Any, efforts: Any, noise: Any, step: int, steps: int, h: float,
    state: Any, mode: int, held: Any, pushed: Any, gamma: Any, K: Any, origin: Any, centre: Any,
    motion: Any,
) -> int:  # fmt: skip
    """One step of Gauss's method of order four, by fixed-point iteration.

    The chart is centred in the middle of the step, R = exp(eta~) R_c with eta = -+delta at its
    ends, so that the step is its own inverse under h -> -h: symmetric, hence no drift of energy.
    """
    count = s['coordinates']
    start = state[COORDINATES : COORDINATES + count]
    y, eta = K[4], K[5]
    for m in range(12):
        K[1, m] = K[0, m]
        eta[m] = 0.0
    before = 1e300
    status = STEP_TOO_LARGE
    for _ in range(GAUSS_ITERATIONS):
        gauss_velocities(origin, h, K, eta)
        change, size = 0.0, 1.0
        dx = 0.25 * h * (K[0, 3] + K[1, 3])
        dy = 0.25 * h * (K[0, 4] + K[1, 4])
        dz = 0.25 * h * (K[0, 5] + K[1, 5])
        turned(dx, dy, dz, origin, centre)
        for i in range(2):
            node = 0.5 - ROOT if i == 0 else 0.5 + ROOT
            first = 0.25 if i == 0 else 0.25 + ROOT
            second = 0.25 - ROOT if i == 0 else 0.25
            for m in range(12):
                y[m] = h * (first * K[0, m] + second * K[1, m])
            ex, ey, ez = y[3] - dx, y[4] - dy, y[5] - dz
            turned(ex, ey, ez, centre, motion)
            for m in range(3):
                motion[m] = origin[m] + y[m]
            for m in range(6):
                motion[12 + m] = origin[12 + m] + y[6 + m]
            predict_joints(coordinates, start, count, node * h)
            effort_now(
                s['dof'], efforts, noise, step, steps, node * h, h, settings['lag'],
                state[LAG : LAG + 6], gamma,
            )  # fmt: skip
            found = evaluate_stage(
                s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w,
                options, physics, settings, order, external, gamma, mode, held, pushed, motion,
                1e-7,
            )  # fmt: skip
            if found != OK:
                return found
            change = max(change, abs(ex - eta[3 * i]) / h, abs(ey - eta[3 * i + 1]) / h)
            change = max(change, abs(ez - eta[3 * i + 2]) / h)
            eta[3 * i], eta[3 * i + 1], eta[3 * i + 2] = ex, ey, ez
            for m in range(6):
                K[2 + i, m] = motion[18 + m]
        for i in range(2):
            for m in range(6):
                change = max(change, abs(K[2 + i, m] - K[i, 6 + m]))
                size = max(size, abs(K[2 + i, m]))
                K[i, 6 + m] = K[2 + i, m]
        if change <= 1e-15 * size or (change < 1e-11 * size and change > 0.5 * before):
            status = OK  # converged, or as far as rounding lets it
            break
        before = change
    if status != OK:
        return status
    gauss_velocities(origin, h, K, eta)
    dx = 0.25 * h * (K[0, 3] + K[1, 3])
    dy = 0.25 * h * (K[0, 4] + K[1, 4])
    dz = 0.25 * h * (K[0, 5] + K[1, 5])
    turned(dx, dy, dz, origin, centre)
    turned(dx, dy, dz, centre, motion)
    for m in range(3):
        motion[m] = origin[m] + 0.5 * h * (K[0, m] + K[1, m])
    for m in range(6):
        motion[12 + m] = origin[12 + m] + 0.5 * h * (K[0, 6 + m] + K[1, 6 + m])
    predict_joints(coordinates, start, count, h)
    return OK


@kernel
def error_ratio(K: Any, tableau: Any, h: float, length: float, tolerance: float) -> float:
    """Return the estimated error of a DOP853 step over the tolerance (Hairer's norm)."""
    five = 0.0
    three = 0.0
    for m in range(12):
        size = length if m < 3 or 6 <= m < 9 else 1.0
        scale = tolerance * (size + abs(K[WIDEST, m]))
        a = 0.0
        b = 0.0
        for j in range(13):
            a += tableau[ERROR_5, j] * K[j, m]
            b += tableau[ERROR_3, j] * K[j, m]
        five += (a / scale) ** 2
        three += (b / scale) ** 2
    if five == 0.0 and three == 0.0:
        return 0.0
    return h * five / math.sqrt((five + 0.01 * three) * 12.0)


@kernel
def controlled_steps(
    s: Any, legs: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, rows: Any,
    pull: Any, stack: Any, scratch: Any, w: Any, options: Any, physics: Any, settings: Any,
    order: Any, external: Any, efforts: Any, noise: Any, step: int, steps: int, h: float,
    state: Any, mode: int, held: Any, pushed: Any, gamma: Any, tableau: Any, K: Any, origin: Any,
    motion: Any,
) -> int:  # fmt: skip
    """Go through one step of length h by as many DOP853 steps as the tolerance asks for.

    K[0] must hold the rates at ``origin``, which is moved along; the result is in ``motion``.
    """
    count = s['coordinates']
    length = s['length']
    done = 0.0
    trial = state[SUBSTEP]
    if not trial > 0.0:
        trial = h
    while True:
        last = trial >= (h - done) * (1.0 - 1e-9)
        small = h - done if last else trial
        status = explicit_step(
            s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w,
            options, physics, settings, order, external, efforts, noise, step, steps, done, small,
            h, state, mode, held, pushed, gamma, tableau, 12, K, origin, motion,
        )  # fmt: skip
        if status == OK:
            x, y, z = K[WIDEST, 3], K[WIDEST, 4], K[WIDEST, 5]
            effort_now(
                s['dof'], efforts, noise, step, steps, done + small, h, settings['lag'],
                state[LAG : LAG + 6], gamma,
            )  # fmt: skip
            # Here a step may end, so that the joints count as well.
            status = evaluate_motion(
                s, legs, joints, closures, bodies, coordinates, rows, pull, stack, scratch, w,
                options, physics, settings, external, gamma, mode, held, pushed, motion, 1e-7,
            )  # fmt: skip
        ratio = 100.0
        if status == OK:
            rates_in_chart(motion, x, y, z, K[12])
            ratio = error_ratio(K, tableau, small, length, settings['tolerance'])
        if ratio < 1.0:
            state[SUBSTEPS] += 1.0
            done += small
            factor = 10.0 if ratio == 0.0 else min(10.0, max(0.2, 0.9 * ratio**-0.125))
            if not last or factor < 1.0:
                trial = small * factor
            else:
                trial = max(trial, small * factor)
            state[SUBSTEP] = min(trial, 1e3 * h)
            if last:
                return OK
            for m in range(24):
                origin[m] = motion[m]
            tidy(origin)
            for k in range(count):
                state[COORDINATES + k] = coordinates[k]['q']
            rates_in_chart(motion, 0.0, 0.0, 0.0, K[0])
        else:
            trial = small * max(0.1, 0.9 * ratio**-0.125)
            if trial < 1e-9 * h:
                return status if status != OK else NO_PROGRESS
