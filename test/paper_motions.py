"""Random motions within reach, and how the tests of the papers compare."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.motion import BaseMotion, PlatformMotion

TOLERANCE = 1e-9
FINITE_DIFFERENCE = 1e-8
COUNT = 5


def error(values, truth):
    """Largest difference as a fraction of the largest true value."""
    return np.abs(np.asarray(values) - truth).max() / np.abs(truth).max()


def six_motions(robot, seed, shift=0.1, angle=0.3, count=COUNT):
    """Motions about home in all six directions."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        turn = Rotation.from_rotvec(angle * rng.normal(size=3)).as_matrix()
        yield PlatformMotion(
            robot.home.position + shift * rng.normal(size=3),
            turn @ robot.home.rotation,
            *rng.normal(size=(2, 3)),
            *(5.0 * rng.normal(size=(2, 3))),
        )


def translations(robot, seed, shift, count=COUNT):
    """Motions about home without rotation."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield PlatformMotion(
            robot.home.position + shift * rng.uniform(-1.0, 1.0, size=3),
            robot.home.rotation,
            velocity=rng.normal(size=3),
            acceleration=10.0 * rng.normal(size=3),
        )


def base_motion(rng):
    """A base that is anywhere and moves anyhow."""
    return BaseMotion(Rotation.random(random_state=rng).as_matrix(), *rng.normal(size=(4, 3)))


def along(m, dt):
    """Where a platform with the rates of ``m`` is after ``dt``, to second order."""
    w = m.angular_velocity * dt + 0.5 * m.angular_acceleration * dt * dt
    return PlatformMotion(
        m.position + m.velocity * dt + 0.5 * m.acceleration * dt * dt,
        Rotation.from_rotvec(w).as_matrix() @ m.rotation,
        m.velocity + m.acceleration * dt,
        m.angular_velocity + m.angular_acceleration * dt,
        m.acceleration,
        m.angular_acceleration,
    )


def derivative(function, m, dt=1e-5):
    """Derivative of a function of the motion along the motion, by central differences."""
    ahead, behind = np.asarray(function(along(m, dt))), np.asarray(function(along(m, -dt)))
    return (ahead - behind) / (2.0 * dt)
