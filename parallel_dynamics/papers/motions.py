"""Smooth motions of a platform about its home, for pages and tests."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.notation import Array, skew, unit


def swing(
    t: Array,
    position: Array,
    rotation: Array,
    shift: Array,
    axis: Array,
    angle: float,
    period: float,
) -> PlatformMotion:
    """Return a motion that starts and ends at rest at home after one ``period``.

    Parameters
    ----------
    t : (N,), s
    position, rotation : (3,), (3, 3)
        Home.
    shift : (3,), m
        Amplitude; x swings once and y and z twice while the platform turns once, so that
        translation and rotation do not stay proportional.
    axis, angle : (3,), rad
        Fixed axis of the rotation in base axes, and its amplitude.
    period : float, s
    """
    t = np.asarray(t)
    w = 2.0 * np.pi / period
    k = np.array([1.0, 2.0, 2.0])
    phase = w * t[:, None] * k
    # sin^3 starts and ends with zero velocity and acceleration.
    s, c = np.sin(phase), np.cos(phase)
    wave, wave1 = s**3, 3.0 * s**2 * c * w * k
    wave2 = (6.0 * s * c**2 - 3.0 * s**3) * (w * k) ** 2
    n = unit(axis)
    theta = angle * wave[:, 0]
    N = skew(n)
    turn = np.eye(3) + np.sin(theta)[:, None, None] * N
    turn = turn + (1.0 - np.cos(theta))[:, None, None] * (N @ N)
    return PlatformMotion(
        position + shift * wave,
        turn @ rotation,
        shift * wave1,
        angle * wave1[:, :1] * n,
        shift * wave2,
        angle * wave2[:, :1] * n,
    )
