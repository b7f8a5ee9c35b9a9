"""Periodic platform motions: finite Fourier series of the free coordinates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array
from parallel_dynamics.trajectories import Curve, Trajectory, on_closures, quintic


def fourier_motion(
    robot: Robot, sines: ArrayLike, cosines: ArrayLike, period: float, periods: float = 1.0,
    fade: float | None = None,
) -> Trajectory:  # fmt: skip
    """Return a periodic motion about home, from rest to rest.

    The displacement of free coordinate ``i`` is ``f(t) sum_h (s_ih sin h w t + c_ih cos h w t)``
    with ``w = 2 pi / period``; the others follow from the closures. ``f`` leads in from rest
    before the periods and out after them.

    Parameters
    ----------
    sines, cosines : (n, H)
        m or rad, for the independent twist components of the robot.
    period : float, s
    periods : float
        How often the motion repeats between lead-in and lead-out.
    fade : float, s
        Duration of lead-in and lead-out; half a period by default.
    """
    s, c = np.atleast_2d(np.asarray(sines, float)), np.atleast_2d(np.asarray(cosines, float))
    if s.shape != c.shape or len(s) != robot.dof:
        raise InputError(
            f'coefficients: expected two arrays of shape ({robot.dof}, H), got {s.shape} and '
            f'{c.shape}'
        )
    if not (period > 0.0 and periods > 0.0):
        raise InputError(f'period: expected positive numbers, got {period} s, {periods} periods')
    lead = 0.5 * period if fade is None else float(fade)
    duration = period * periods + 2.0 * lead
    rates = 2.0 * np.pi / period * np.arange(1, s.shape[1] + 1)
    columns = list(robot.engine.independent)

    def function(t: Array) -> tuple[Array, Array, Array]:
        phase = np.outer(t - lead, rates)
        sin, cos = np.sin(phase), np.cos(phase)
        x = sin @ s.T + cos @ c.T
        x1 = (cos * rates) @ s.T - (sin * rates) @ c.T
        x2 = -(sin * rates**2) @ s.T - (cos * rates**2) @ c.T
        f, f1, f2 = (v[:, None] for v in _fade(t, duration, lead))
        out = np.zeros((3, len(t), 6))
        out[0][:, columns] = f * x
        out[1][:, columns] = f1 * x + f * x1
        out[2][:, columns] = f2 * x + 2.0 * f1 * x1 + f * x2
        return out[0], out[1], out[2]

    return on_closures(robot, Curve(robot.home, duration, function))


def _fade(t: Array, duration: float, lead: float) -> tuple[Array, Array, Array]:
    """Return the window and its derivatives: quintic flanks of ``lead`` seconds."""
    if lead == 0.0:
        return np.ones_like(t), np.zeros_like(t), np.zeros_like(t)
    late = t > 0.5 * duration
    x = np.clip(np.where(late, duration - t, t) / lead, 0.0, 1.0)
    f, f1, f2 = quintic(x)
    return f, np.where(late, -1.0, 1.0) * f1 / lead, f2 / lead**2
