"""What a recording of the closed loop says about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from parallel_dynamics.errors import InputError
from parallel_dynamics.maps.performance import effort_unit
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.nodes.topics import AT_REST, topic_names
from parallel_dynamics.recording import Recording
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

LOST = 3.5
"""Periods between two recorded poses from which on nothing is said about the time between."""
MARGIN = 0.2
"""Seconds before and after the motion that belong to it."""


@dataclass(frozen=True)
class Spread:
    """Median, 99 % and largest of some times, s."""

    median: float
    most: float
    worst: float

    @classmethod
    def of(cls, values: Array) -> Spread:
        """Sum up values; NaN where there are none."""
        if not len(values):
            return cls(np.nan, np.nan, np.nan)
        return cls(*(float(q) for q in np.quantile(values, (0.5, 0.99, 1.0))))

    def __str__(self) -> str:
        return (
            f'median {1e3 * self.median:.2f} ms, 99 % {1e3 * self.most:.2f} ms, '
            f'worst {1e3 * self.worst:.2f} ms'
        )


@dataclass(frozen=True, eq=False)
class DemoReport:
    """Numbers and curves of one run, over the time of the motion.

    Attributes
    ----------
    clock : str
        'real_time', or 'lock_step': then rate, jitter and latency tell how fast this machine is.
    origin : float
        Stamp of the start of the motion, s.
    time : (N,)
        Of the control cycles, s from the start of the motion.
    desired, actual : PlatformMotion
        Poses at these times, as batches; the actual ones are the simulator's.
    commanded, feedforward : (N, n)
        Efforts, N or N m.
    force_time : (M,)
        Of the estimates, s.
    forces : (M, k, 6)
        Wrenches of joints and closures; NaN where not determinate.
    names : tuple of str
        Of joints and closures.
    peak_force, peak_moment : (k,)
        Largest norms of every sample, N and N m.
    loop_rate : float
        Commands per second.
    jitter : Spread
        How far the time between two commands is from its mean.
    latency : Spread
        From the sending of a joint state to that of the next command.
    """

    robot: Robot
    clock: str
    origin: float
    time: Array
    desired: PlatformMotion
    actual: PlatformMotion
    commanded: Array
    feedforward: Array
    force_time: Array
    forces: Array
    names: tuple[str, ...]
    peak_force: Array
    peak_moment: Array
    loop_rate: float
    jitter: Spread
    latency: Spread

    @property
    def recorded(self) -> float:
        """Share of the control cycles that the recorder did not lose."""
        gaps = np.diff(self.time)
        return float(len(gaps) / max(1.0, np.round(gaps / np.median(gaps)).sum()))

    @property
    def position_error(self) -> Array:
        """(N,) m."""
        return np.asarray(np.linalg.norm(self.desired.position - self.actual.position, axis=1))

    @property
    def rotation_error(self) -> Array:
        """(N,) rad."""
        apart = _turns(self.actual).inv() * _turns(self.desired)
        return np.asarray(apart.magnitude())

    @property
    def amplitude(self) -> tuple[float, float]:
        """How far the desired motion goes from its start, m and rad."""
        way = np.linalg.norm(self.desired.position - self.desired.position[0], axis=1).max()
        turns = _turns(self.desired)
        return float(way), float((turns[0].inv() * turns).magnitude().max())

    @property
    def effort_unit(self) -> str:
        """Unit of the efforts."""
        return effort_unit(self.robot)

    def numbers(self) -> dict[str, Any]:
        """Return the report as nested numbers, in the units of :meth:`units`."""
        way, turn = self.amplitude
        efforts, left = self.commanded, self.commanded - self.feedforward
        largest = np.abs(efforts).max(axis=0)
        return {
            'tracking_error': _error_numbers(self.position_error, way),
            'tracking_error_angle': _error_numbers(self.rotation_error, turn),
            'recorded': self.recorded,
            'effort': {
                'rms': float(np.sqrt((efforts**2).mean())),
                'largest': float(largest.max()),
                'actuator': self.robot.actuators[int(largest.argmax())],
            },
            'effort_beside_feedforward': {'rms': float(np.sqrt((left**2).mean()))},
            'peak_joint_force': {
                'value': float(self.peak_force.max()),
                'joint': self.names[int(self.peak_force.argmax())],
            },
            'peak_joint_moment': {
                'value': float(self.peak_moment.max()),
                'joint': self.names[int(self.peak_moment.argmax())],
            },
            'control_loop': self.loop_rate,
            'jitter': asdict(self.jitter),
            'joint_state_to_effort': asdict(self.latency),
        }

    def units(self) -> dict[str, str]:
        """Return the units of :meth:`numbers` by name; that of a share is empty."""
        return {
            'tracking_error': 'm', 'tracking_error_angle': 'rad', 'recorded': '',
            'effort': self.effort_unit, 'effort_beside_feedforward': self.effort_unit,
            'peak_joint_force': 'N', 'peak_joint_moment': 'N m', 'control_loop': 'Hz',
            'jitter': 's', 'joint_state_to_effort': 's',
        }  # fmt: skip

    def rows(self) -> list[tuple[str, str]]:
        """Return the report as pairs of what and how much."""
        way, turn = self.amplitude
        rows = []
        if way > 1e-6:
            rows.append(('tracking error', _error(self.position_error, way, 1e3, 'mm')))
        if turn > 1e-6:
            label = 'tracking error, angle' if rows else 'tracking error'
            rows.append((label, _error(self.rotation_error, turn, 1e3, 'mrad')))
        if self.recorded < 0.99:
            rows.append(('  recorded', f'{100.0 * self.recorded:.1f} % of the control cycles; '
                         'the recorder was too slow for the others'))  # fmt: skip
        stepping = ', in lock-step' if self.clock == 'lock_step' else ''
        efforts, feed = self.commanded, self.feedforward
        rms = float(np.sqrt((efforts**2).mean()))
        left = float(np.sqrt(((efforts - feed) ** 2).mean()))
        rows += [
            ('effort', f'rms {rms:.4g} {self.effort_unit}, largest {np.abs(efforts).max():.4g} in '
             f'{self.robot.actuators[int(np.abs(efforts).max(axis=0).argmax())]}'),
            ('  beside the feed-forward', f'rms {left:.3g} {self.effort_unit} '
             f'({100.0 * left / max(rms, 1e-12):.2g} %)'),
            ('peak joint force', f'{self.peak_force.max():.4g} N in '
             f'{self.names[int(self.peak_force.argmax())]}'),
            ('peak joint moment', f'{self.peak_moment.max():.4g} N m in '
             f'{self.names[int(self.peak_moment.argmax())]}'),
            ('control loop', f'{self.loop_rate:.1f} Hz' + stepping),
            ('  jitter', str(self.jitter)),
            ('joint state to effort', str(self.latency)),
        ]  # fmt: skip
        return rows


def _turns(motion: PlatformMotion) -> Rotation:
    # A copy: SciPy before 1.12 does not take what must not be written to.
    return Rotation.from_matrix(np.array(motion.rotation))


def _error_numbers(values: Array, amplitude: float) -> dict[str, float]:
    return {
        'rms': float(np.sqrt((values**2).mean())),
        'max': float(values.max()),
        'amplitude': amplitude,
    }


def _error(values: Array, amplitude: float, factor: float, unit: str) -> str:
    rms, top = float(np.sqrt((values**2).mean())), float(values.max())
    share = 100.0 * rms / amplitude
    return (
        f'rms {factor * rms:.3g} {unit}, max {factor * top:.3g} {unit} '
        f'(rms is {share:.2g} % of {factor * amplitude:.4g} {unit})'
    )


def evaluate(recording: Recording, robot: Robot, clock: str = 'real_time') -> DemoReport:
    """Work out the report of a recorded run of the closed loop; ``clock`` is how time passed.

    Raises InputError where the controller followed no motion.
    """
    wanted = recording.joint_states('feedforward').of(robot.actuators)
    moving = np.flatnonzero(np.abs(wanted.velocity).max(axis=1) > AT_REST)
    if not len(moving):
        raise InputError(
            'demo: expected a motion on the topic feedforward, got a robot that was held still'
        )
    start, end = wanted.time[moving[0]] - MARGIN, wanted.time[moving[-1]] + MARGIN
    t, position, rotation = _poses(recording)
    kept = (wanted.time >= start) & (wanted.time <= end) & _covered(wanted.time, t)
    time = wanted.time[kept]
    # Stamps may be simulated; when something was sent is on the clock of the computer, and what
    # was sent in one cycle belongs together, whenever it reached the recorder.
    published = recording.sent_ns('feedforward')[kept]
    sent, efforts = _commands(recording, robot.dof)
    states = recording.sent_ns('joint_states')
    during = (sent >= published[0]) & (sent <= published[-1])
    gaps = np.diff(sent[during]) / 1e9
    belonging = np.maximum(np.searchsorted(sent, published, 'right') - 1, 0)
    force_time, forces, names = _forces(recording, robot)
    shown = (force_time >= start) & (force_time <= end)
    peaks = np.maximum(_peaks(recording, len(names)), _largest(forces))
    return DemoReport(
        robot=robot,
        clock=clock,
        origin=float(wanted.time[moving[0]]),
        time=time - wanted.time[moving[0]],
        desired=_forward(robot, wanted.position[kept]),
        actual=_poses_at(time, t, position, rotation),
        commanded=efforts[belonging],
        feedforward=wanted.effort[kept],
        force_time=force_time[shown] - wanted.time[moving[0]],
        forces=forces[shown],
        names=names,
        peak_force=peaks[:, 0],
        peak_moment=peaks[:, 1],
        loop_rate=float(1.0 / gaps.mean()) if len(gaps) else 0.0,
        jitter=Spread.of(np.abs(gaps - gaps.mean())) if len(gaps) else Spread.of(gaps),
        latency=Spread.of(_latency(states, sent[during])),
    )


def _poses(recording: Recording) -> tuple[Array, Array, Array]:
    """Return times (N,), positions and rotations of the platform, each time once.

    A simulated clock begins at zero, which the recording takes for a stamp that is missing.
    """
    t, position, rotation = recording.poses('platform/pose')
    usable = np.flatnonzero(np.abs(t - t[-1]) < 1e6)
    t, first = np.unique(t[usable], return_index=True)
    return t, position[usable][first], rotation[usable][first]


def _covered(time: Array, t: Array) -> Array:
    """Whether poses stand close enough around a time: a recorder may have lost some."""
    after = np.searchsorted(t, time)
    inside = (after > 0) & (after < len(t))
    after = np.clip(after, 1, len(t) - 1)
    return np.asarray(inside & (t[after] - t[after - 1] < LOST * np.median(np.diff(t))))


def _poses_at(time: Array, t: Array, position: Array, rotation: Array) -> PlatformMotion:
    """Interpolate poses."""
    at = np.array([np.interp(time, t, column) for column in position.T]).T
    turn = Slerp(t, Rotation.from_matrix(rotation))(time).as_matrix()
    return PlatformMotion(at, turn)


def _forward(robot: Robot, positions: Array) -> PlatformMotion:
    """Poses for actuator positions (N, n), each found from the one before."""
    rows: list[Any] = []
    guess = None
    for q in positions:
        guess = robot.forward_kinematics(q, None, guess)
        rows.append(guess.data)
    return PlatformMotion._wrap(np.array(rows))  # type: ignore[no-any-return]


def _commands(recording: Recording, n: int) -> tuple[NDArray[np.int64], Array]:
    """Return when commands were sent, ns, and the efforts (N, n)."""
    efforts = [message.data for _, message in recording.messages('effort_commands')]
    return recording.sent_ns('effort_commands'), np.array(efforts).reshape(-1, n)


def _latency(states: NDArray[np.int64], sent: NDArray[np.int64]) -> Array:
    """Seconds from each command back to the newest joint state before it."""
    newest = np.searchsorted(states, sent) - 1
    return np.asarray((sent - states[np.maximum(newest, 0)])[newest >= 0] / 1e9)


def _forces(recording: Recording, robot: Robot) -> tuple[Array, Array, tuple[str, ...]]:
    """Return times (M,), wrenches (M, k, 6) and names of all joints and closures."""
    names = (*robot.joints, *robot.closures)
    tables = [recording.wrenches(f'joint_forces/{topic}') for topic in topic_names(names)]
    stamps = tables[0][0]
    for t, _ in tables[1:]:
        stamps = np.intersect1d(stamps, t)
    rows = []
    for t, values in tables:
        t, first = np.unique(t, return_index=True)
        rows.append(values[first][np.isin(t, stamps)])
    return stamps, np.stack(rows, axis=1), names


def _largest(forces: Array) -> Array:
    """Largest force and moment (k, 2) among wrenches (N, k, 6); NaN where one is not unique."""
    parts = np.nan_to_num(forces).reshape(*forces.shape[:2], 2, 3)
    return np.asarray(np.linalg.norm(parts, axis=3).max(axis=0, initial=0.0))


def _peaks(recording: Recording, count: int) -> Array:
    """Largest force and moment (k, 2) so far, as the estimator said last."""
    *_, (_, last) = recording.messages('joint_forces/peaks')
    return np.asarray(last.data, float).reshape(count, 2)
