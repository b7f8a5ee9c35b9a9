"""Straight moves between poses, at rest at each pose or blended into each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from parallel_dynamics.errors import InputError
from parallel_dynamics.motion import PlatformMotion, checked, positive
from parallel_dynamics.spatial import Array
from parallel_dynamics.trajectories.laws import LAWS, Law
from parallel_dynamics.trajectories.rotation_vectors import cross
from parallel_dynamics.trajectories.trajectory import Joined, Trajectory


class Moves(Trajectory):
    """Straight moves from pose to pose, each about one axis of rotation.

    ``blend`` is the share of a move's duration by which the next one starts early (0: rest at
    every pose). Where moves overlap their displacements add up, so that the path rounds the
    corner and stays as smooth as the law.

    Parameters
    ----------
    poses : sequence of PlatformMotion
        At least two; only the poses count.
    durations : float or sequence of float, s
    law : 'quintic', 'trapezoidal', 'cruise' or a function of normalised time
    blend : float in [0, 0.5]
    """

    def __init__(
        self,
        poses: Sequence[PlatformMotion],
        durations: float | Sequence[float],
        law: str | Law = 'quintic',
        blend: float = 0.0,
    ) -> None:
        if len(poses) < 2:
            raise InputError(f'poses: expected at least two, got {len(poses)}')
        if isinstance(law, str) and law not in LAWS:
            raise InputError(f'law: expected one of {", ".join(LAWS)}, got {law!r}')
        if not 0.0 <= blend <= 0.5:
            raise InputError(f'blend: expected a share in [0, 0.5], got {blend!r}')
        self._law = LAWS[law] if isinstance(law, str) else law
        count = len(poses) - 1
        spans = np.full(count, durations) if np.isscalar(durations) else np.array(durations)
        if spans.shape != (count,):
            raise InputError(f'durations: expected one or {count} numbers, got {durations!r}')
        self._spans = np.array([positive('durations', float(span)) for span in spans])
        early = blend * np.minimum(self._spans[:-1], self._spans[1:])
        self._starts = np.concatenate([[0.0], np.cumsum(self._spans[:-1] - early)])
        self.duration = float(self._starts[-1] + self._spans[-1])
        self._first = np.array(poses[0].data[:12])
        positions = np.array([pose.position for pose in poses])
        self._shifts = np.diff(positions, axis=0)
        self._turns = np.array(
            [
                Rotation.from_matrix(b.rotation @ a.rotation.T).as_rotvec()
                for a, b in zip(poses[:-1], poses[1:])
            ]
        )

    def rows(self, times: Array) -> Array:
        """Return packed motions (N, 24)."""
        out = np.zeros((len(times), 24))
        out[:, :12] = self._first
        rotation = out[:, 3:12].reshape(-1, 3, 3)
        w, wd = out[:, 15:18], out[:, 21:24]
        for start, span, shift, turn in zip(self._starts, self._spans, self._shifts, self._turns):
            x = np.clip((times - start) / span, 0.0, 1.0)
            s, s1, s2 = (value[:, None] for value in self._law(x))
            moving = ((times >= start) & (times <= start + span))[:, None]
            s1, s2 = moving * s1 / span, moving * s2 / span**2
            out[:, 0:3] += s * shift
            out[:, 12:15] += s1 * shift
            out[:, 18:21] += s2 * shift
            # This move turns what the moves before it have turned already.
            step = Rotation.from_rotvec(s * turn).as_matrix()
            rotation = step @ rotation
            own = s1 * turn
            w = np.einsum('nij,nj->ni', step, w)
            wd = np.einsum('nij,nj->ni', step, wd) + cross(own, w) + s2 * turn
            w = w + own
        out[:, 3:12] = rotation.reshape(-1, 9)
        out[:, 15:18], out[:, 21:24] = w, wd
        return out


def move(
    start: PlatformMotion, end: PlatformMotion, duration: float, law: str | Law = 'quintic'
) -> Moves:
    """Return one rest-to-rest move between two poses."""
    return Moves([start, end], duration, law)


def displaced(pose: PlatformMotion, displacement: ArrayLike) -> PlatformMotion:
    """Return a pose shifted and then turned by a rotation vector: [m; rad], base axes.

    The displacement is (6,), or (N, 6) for a batch of poses.
    """
    d = checked('displacement', displacement, (6,))
    turn = Rotation.from_rotvec(d[..., 3:]).as_matrix()
    return PlatformMotion(pose.position + d[..., :3], turn @ pose.rotation)


def pick_and_place(
    pick: PlatformMotion,
    place: PlatformMotion,
    lift: ArrayLike,
    duration: float,
    blend: float = 0.4,
    law: str | Law = 'quintic',
    back: bool = True,
) -> Trajectory:
    """Return a cycle: up from ``pick``, across, down to ``place``, and the same way back.

    Parameters
    ----------
    pick, place : PlatformMotion
        Poses at which the platform grips and lets go, at rest.
    lift : (6,) or (3,)
        Displacement of both poses to their places above, base axes, m (and rad).
    duration : float, s
        Of one way; a quarter of it goes up, a half across and a quarter down, before blending.
    blend : float in [0, 0.5]
        By how much the corners are rounded.
    back : bool
        Whether the empty way back belongs to it.
    """
    up = np.zeros(6)
    up[: np.size(lift)] = np.asarray(lift, dtype=float)
    way = [pick, displaced(pick, up), displaced(place, up), place]
    spans = [0.25 * duration, 0.5 * duration, 0.25 * duration]
    there = Moves(way, spans, law, blend)
    # No blending at the place itself: the gripper needs a pose at rest.
    return Joined([there, Moves(way[::-1], spans[::-1], law, blend)]) if back else there
