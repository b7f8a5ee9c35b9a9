"""Motions as the library takes and returns them: of the platform, the base, and the joints.

All arrays may carry one leading axis N: a batch. Data is checked once, when a motion is made,
and kept in one contiguous array that the compiled kernels read directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from parallel_dynamics.errors import InputError
from parallel_dynamics.spatial import Array

ROTATION_TOLERANCE = 1e-6
"""How far from orthonormal a rotation matrix may be."""
LARGEST = 1e60
"""Numbers above it are no robot's, and products of them would overflow."""

_Parts = tuple[tuple[str, int, int], ...]  # field, first column, last column

_PLATFORM: _Parts = (
    ('position', 0, 3),
    ('rotation', 3, 12),
    ('velocity', 12, 15),
    ('angular_velocity', 15, 18),
    ('acceleration', 18, 21),
    ('angular_acceleration', 21, 24),
)
_BASE: _Parts = (
    ('rotation', 0, 9),
    ('velocity', 9, 12),
    ('angular_velocity', 12, 15),
    ('acceleration', 15, 18),
    ('angular_acceleration', 18, 21),
)


def checked(
    name: str, value: ArrayLike, shape: tuple[int, ...], single: bool = False
) -> Array:
    """Return ``value`` as a float array of ``shape`` or ``(N, *shape)``, or raise InputError.

    With ``single`` no batch is taken.
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind not in 'fiub':  # a cast would drop imaginary parts, and read text
            raise TypeError
    except (TypeError, ValueError):
        raise InputError(
            f'{name}: expected real numbers of shape {shape}, got {value!r}'
        ) from None
    array = np.asarray(array, dtype=float)
    if array.shape != shape and (single or array.shape[1:] != shape):
        batch = '' if single else f' or ({", ".join(["N", *map(str, shape)])})'
        raise InputError(
            f'{name}: expected shape {shape}{batch}, got {array.shape}',
            name=name,
            expected=shape,
            got=array.shape,
        )
    if not (np.abs(array) <= LARGEST).all():
        bad = int(np.count_nonzero(~np.isfinite(array)))
        if not bad:
            raise InputError(f'{name}: expected numbers below {LARGEST:g}, got larger ones')
        raise InputError(
            f'{name}: expected finite numbers, got {bad} NaN or infinite value'
            f'{"s" if bad > 1 else ""}',
            name=name,
        )
    return array


def number(
    name: str, value: Any, expected: str = 'a finite number', least: float = -LARGEST,
    most: float = LARGEST,
) -> float:  # fmt: skip
    """Return a number between two others, or raise InputError that says what was ``expected``."""
    real = isinstance(value, (int, float, np.integer, np.floating))
    if not (real and not isinstance(value, bool) and least <= value <= most):
        raise InputError(f'{name}: expected {expected}, got {value!r}')
    return float(value)


def positive(name: str, value: Any, expected: str = 'a positive number') -> float:
    """Return a positive finite number, or refuse it."""
    return number(name, value, expected, math.ulp(0.0))


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return a word if it is one of the choices, or refuse it."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f'{name}: expected one of {", ".join(choices)}, got {value!r}')
    return value


def check_invalid(invalid: str) -> None:
    """Refuse a word that says neither to raise for states that fail nor to give NaN for them."""
    if not isinstance(invalid, str) or invalid not in ('raise', 'nan'):
        raise InputError(f"invalid: expected 'raise' or 'nan', got {invalid!r}")


def _check_rotation(name: str, rotation: Array) -> None:
    r = rotation.reshape(-1, 3, 3)
    error = np.abs(r @ r.transpose(0, 2, 1) - np.eye(3)).max() if len(r) else 0.0
    if error > ROTATION_TOLERANCE:
        raise InputError(
            f'{name}: expected a rotation matrix, got one whose columns are not orthonormal '
            f'(error {error:.2g}); use scipy.spatial.transform.Rotation(...).as_matrix()'
        )
    if len(r) and np.linalg.det(r).min() < 0.0:
        raise InputError(f'{name}: expected a rotation matrix, got a reflection (determinant -1)')


class _Packed:
    """Named parts of one contiguous array, (width,) or (N, width)."""

    _parts: _Parts = ()
    __slots__ = ('data', 'rows')
    data: Array  # (width,) or (N, width)
    rows: Array  # the same as (1 or N, width), for the kernels

    def _pack(self, values: dict[str, ArrayLike | None]) -> None:
        arrays: dict[str, Array] = {}
        batch: int | None = None
        for name, first, last in self._parts:
            value = values[name]
            if value is None:
                continue
            shape = (3, 3) if last - first == 9 else (3,)
            array = checked(name, value, shape)
            if last - first == 9:
                _check_rotation(name, array)
            if array.ndim > len(shape):
                if batch is not None and batch != len(array):
                    raise InputError(
                        f'{name}: expected a batch of {batch} like the arrays before it, '
                        f'got {len(array)}'
                    )
                batch = len(array)
            arrays[name] = array
        width = self._parts[-1][2]
        data = np.zeros((1 if batch is None else batch, width))
        for name, first, last in self._parts:
            if name in arrays:
                data[:, first:last] = arrays[name].reshape(-1, last - first)
            elif last - first == 9:
                data[:, first:last] = np.eye(3).ravel()
        data.setflags(write=False)
        self.rows = data
        self.data = data[0] if batch is None else data

    @classmethod
    def _wrap(cls, data: Array) -> Any:
        """Make an instance from packed data that is known to be good."""
        new = cls.__new__(cls)
        data = np.ascontiguousarray(data)
        data.setflags(write=False)
        new.data = data
        new.rows = data if data.ndim == 2 else data[None]
        return new

    def _part(self, first: int, last: int) -> Array:
        part = self.data[..., first:last]
        return part.reshape(*part.shape[:-1], 3, 3) if last - first == 9 else part

    @property
    def batch(self) -> int | None:
        """Length of the leading axis, or None for a single state."""
        return None if self.data.ndim == 1 else len(self.data)

    def __len__(self) -> int:
        if self.data.ndim == 1:
            raise TypeError('a single motion has no length; a batch has')
        return len(self.data)

    def __getitem__(self, index: int | slice | Array) -> Any:
        if self.data.ndim == 1:
            raise TypeError('a single motion cannot be indexed; a batch can')
        whole = isinstance(index, slice) or (not isinstance(index, tuple) and np.ndim(index) < 2)
        rows = self.data[index] if whole else None
        if rows is None or rows.ndim > 2:
            raise InputError(
                'index: expected a number, a slice, or a list of numbers or booleans that picks '
                f'whole motions, got {index!r}'
            )
        return type(self)._wrap(rows)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and np.array_equal(self.data, other.data)  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self.data.ndim > 1:
            return f'{type(self).__name__}(batch of {len(self.data)})'
        parts = ', '.join(
            f'{name}={np.array2string(self._part(a, b), precision=4, separator=",")}'
            for name, a, b in self._parts
        )
        return f'{type(self).__name__}({parts})'


class PlatformMotion(_Packed):
    """Pose of the platform in the base frame with its first and second time derivatives.

    Parameters
    ----------
    position : (3,) or (N, 3)
        Origin of the platform frame in the base frame, m.
    rotation : (3, 3) or (N, 3, 3)
        Base <- platform.
    velocity, acceleration : (3,) or (N, 3), optional
        Ordinary time derivatives of ``position``, base axes; zero by default.
    angular_velocity, angular_acceleration : (3,) or (N, 3), optional
        Of the platform against the base, base axes; zero by default.
    """

    _parts = _PLATFORM
    __slots__ = ()

    def __init__(
        self,
        position: ArrayLike,
        rotation: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        angular_acceleration: ArrayLike | None = None,
    ) -> None:
        if position is None:
            raise InputError('position: expected real numbers of shape (3,), got None')
        self._pack(
            {
                'position': position,
                'rotation': rotation,
                'velocity': velocity,
                'angular_velocity': angular_velocity,
                'acceleration': acceleration,
                'angular_acceleration': angular_acceleration,
            }
        )

    position = property(lambda self: self._part(0, 3), doc='(..., 3) m, base frame.')
    rotation = property(lambda self: self._part(3, 12), doc='(..., 3, 3) base <- platform.')
    velocity = property(lambda self: self._part(12, 15), doc='(..., 3) m/s, base axes.')
    angular_velocity = property(lambda self: self._part(15, 18), doc='(..., 3) rad/s, base axes.')
    acceleration = property(lambda self: self._part(18, 21), doc='(..., 3) m/s^2, base axes.')
    angular_acceleration = property(
        lambda self: self._part(21, 24), doc='(..., 3) rad/s^2, base axes.'
    )

    @property
    def twist(self) -> Array:
        """(..., 6) [velocity; angular velocity]."""
        return np.asarray(self.data[..., 12:18])

    @property
    def twist_rate(self) -> Array:
        """(..., 6) [acceleration; angular acceleration]."""
        return np.asarray(self.data[..., 18:24])

    def replace(
        self, twist: ArrayLike | None = None, twist_rate: ArrayLike | None = None
    ) -> PlatformMotion:
        """Return the same pose with another twist (..., 6) or another derivative of it."""
        values = [self.position, self.rotation]
        for name, new, old in (
            ('twist', twist, self.twist),
            ('twist_rate', twist_rate, self.twist_rate),
        ):
            six = old if new is None else checked(name, new, (6,))
            values += [six[..., :3], six[..., 3:]]
        return PlatformMotion(*values)


class BaseMotion(_Packed):
    """Motion of the base frame against the world, in base axes.

    Parameters
    ----------
    rotation : (3, 3) or (N, 3, 3), optional
        World <- base; level by default.
    velocity, angular_velocity, acceleration, angular_acceleration : (3,) or (N, 3), optional
        Of the base frame's origin, in base axes; zero by default. The acceleration is the true
        one, without gravity.
    """

    _parts = _BASE
    __slots__ = ()

    def __init__(
        self,
        rotation: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        angular_acceleration: ArrayLike | None = None,
    ) -> None:
        self._pack(
            {
                'rotation': rotation,
                'velocity': velocity,
                'angular_velocity': angular_velocity,
                'acceleration': acceleration,
                'angular_acceleration': angular_acceleration,
            }
        )

    rotation = property(lambda self: self._part(0, 9), doc='(..., 3, 3) world <- base.')
    velocity = property(lambda self: self._part(9, 12), doc='(..., 3) m/s, base axes.')
    angular_velocity = property(lambda self: self._part(12, 15), doc='(..., 3) rad/s, base axes.')
    acceleration = property(lambda self: self._part(15, 18), doc='(..., 3) m/s^2, base axes.')
    angular_acceleration = property(
        lambda self: self._part(18, 21), doc='(..., 3) rad/s^2, base axes.'
    )


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Position, velocity and acceleration (..., n) of joints, in the order of ``names``."""

    names: tuple[str, ...]
    position: Array
    velocity: Array
    acceleration: Array

    def __getitem__(self, name: str) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration of one joint."""
        k = self.names.index(one_of('joint', name, self.names))
        return self.position[..., k], self.velocity[..., k], self.acceleration[..., k]
