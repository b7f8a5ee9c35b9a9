"""Zero-phase filtering and differentiation of recorded signals, with a stated cut-off."""

from __future__ import annotations

import numpy as np
from scipy import signal
from scipy.interpolate import make_interp_spline

from parallel_dynamics.errors import InputError
from parallel_dynamics.spatial import Array

ORDER = 4
"""Of the Butterworth filter; forward and backward it acts twice, without delay."""
SPEED_POWER = 0.99
"""Share of the power of the actuators' speed that counts as the motion."""
HEADROOM = 5.0
"""Cut-off over the highest frequency of the motion; the filter is then flat to 3e-6 there."""
LOWEST, HIGHEST = 5.0, 0.1
"""Least cut-off in Hz, and greatest as a share of the sampling rate."""


def on_grid(time: Array, values: Array) -> tuple[Array, Array]:
    """Return values (N, n) on an even grid of times with the mean rate of the recording."""
    step = (time[-1] - time[0]) / (len(time) - 1)
    grid = time[0] + step * np.arange(len(time))
    if np.abs(time - grid).max() < 1e-3 * step:
        return grid, values
    return grid, np.stack([np.interp(grid, time, v) for v in values.T], axis=1)


def automatic_cutoff(rate: float, position: Array) -> float:
    """Return a cut-off (Hz) far above the frequencies of a motion, from positions (N, n)."""
    still = position - np.linspace(0.0, 1.0, len(position))[:, None] * (position[-1] - position[0])
    still = still - still[0]
    spans = np.ptp(still, axis=0)
    moving = still[:, spans > 0.0] / spans[spans > 0.0]
    if not moving.shape[1]:
        return LOWEST
    frequency = np.fft.rfftfreq(len(moving), 1.0 / rate)
    power = ((np.abs(np.fft.rfft(moving, axis=0)) * frequency[:, None]) ** 2).sum(axis=1)
    # Above a tenth of the rate there is only the noise of the encoders.
    power[frequency > HIGHEST * rate] = 0.0
    share = np.cumsum(power) / power.sum()
    top = float(frequency[np.searchsorted(share, SPEED_POWER)])
    return float(min(max(LOWEST, HEADROOM * top), HIGHEST * rate))


def low_pass(values: Array, rate: float, cutoff: float) -> Array:
    """Return values (N, ...) behind a zero-phase low-pass (Hz)."""
    _refuse_cutoff(rate, cutoff)
    sections = signal.butter(ORDER, cutoff, fs=rate, output='sos')
    pad = min(len(values) - 1, int(3.0 * rate / cutoff))
    return np.asarray(signal.sosfiltfilt(sections, values, axis=0, padlen=pad))


def averaging_window(rate: float, cutoff: float) -> Array:
    """Return weights that sum to one of a symmetric low-pass, three periods of ``cutoff`` long."""
    _refuse_cutoff(rate, cutoff)
    taps = max(3, 2 * int(1.5 * rate / cutoff) + 1)
    return np.asarray(signal.firwin(taps, cutoff, fs=rate))


def derivatives(time: Array, values: Array) -> tuple[Array, Array]:
    """Return first and second derivatives (N, n) of smooth values, by quintic splines."""
    spline = make_interp_spline(time - time[0], values, k=5)
    t = time - time[0]
    return np.asarray(spline(t, 1)), np.asarray(spline(t, 2))


def _refuse_cutoff(rate: float, cutoff: float) -> None:
    if not 0.0 < cutoff < 0.5 * rate:
        raise InputError(
            f'cutoff: expected between 0 and half of the sampling rate ({0.5 * rate:.4g} Hz), '
            f'got {cutoff:g} Hz'
        )
