"""Every error of the package, under one base class.

A message says what was wrong, what was expected, what was found and what to do about it; the
evidence is also kept as attributes, so that a program can act on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class ParallelDynamicsError(Exception):
    """Base of all errors that this package raises on purpose."""

    def __init__(self, message: str, **evidence: Any) -> None:
        super().__init__(message)
        self.evidence: Mapping[str, Any] = evidence


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a robot description."""

    file: str
    element: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f'{self.file}: {self.element}: {self.problem}. {self.remedy}'


class DescriptionError(ParallelDynamicsError):
    """A robot description that cannot be used, with all of its faults."""

    def __init__(self, source: str, faults: Sequence[Fault]) -> None:
        # A single fault names its file and stands on one line; several need a heading.
        lines = [f'{source}: {len(faults)} faults in the description']
        lines += [f'  - {fault}' for fault in faults]
        super().__init__(str(faults[0]) if len(faults) == 1 else '\n'.join(lines))
        self.source = source
        self.faults = tuple(faults)


class InputError(ParallelDynamicsError, ValueError):
    """An argument of the wrong shape, type or value (NaN included)."""


class UnreachableError(ParallelDynamicsError):
    """A pose or a set of actuator positions for which the closures cannot be assembled."""


class NotAllowedMotionError(ParallelDynamicsError):
    """A pose, twist or acceleration of the platform that the closures do not allow."""


class SingularityError(ParallelDynamicsError):
    """A configuration too close to a singularity for a trustworthy answer."""


class LimitError(ParallelDynamicsError):
    """A joint, effort or workspace limit that would be exceeded."""
