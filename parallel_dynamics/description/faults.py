"""Collecting every fault of a description before anything is raised."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
import difflib
import math

from parallel_dynamics.errors import DescriptionError, Fault

MODEL, MASS, ACTUATION = 'model', 'mass', 'actuation'
"""What a fault can make impossible to judge."""
HUGE = 1e12
"""No robot has a length, an angle, a mass or an inertia above this, in SI units."""


@dataclass
class Faults:
    """The faults found so far, and what cannot be judged because of them.

    A joint or a closure that could not be read leaves a hole in the model, and its ranks would
    mean nothing; an unphysical body spoils only the masses, an unknown actuator only the
    actuation. What is not spoiled is judged and reported with the rest.
    """

    found: list[Fault] = field(default_factory=list)
    notes: list[Fault] = field(default_factory=list)  # worth knowing, and no reason to refuse
    spoiled: set[str] = field(default_factory=set)

    def add(
        self, file: object, element: str, problem: str, remedy: str, *, spoils: str | None = MODEL
    ) -> None:
        """Keep one fault; ``spoils`` is MODEL, MASS, ACTUATION or None."""
        fault = Fault(str(file), element, problem.rstrip('.'), remedy)
        if fault not in self.found:
            self.found.append(fault)
        if spoils is not None:
            self.spoiled.add(spoils)

    def note(self, file: object, element: str, problem: str, remedy: str) -> None:
        """Keep a remark on something that does not spoil the robot."""
        self.notes.append(Fault(str(file), element, problem, remedy))

    @property
    def sound(self) -> bool:
        """Whether the model lacks nothing."""
        return MODEL not in self.spoiled

    def error(self, source: object) -> DescriptionError:
        """Return the error that lists them all."""
        return DescriptionError(str(source), self.found)


def nearest(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that looks most like this one, if any does."""
    close = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.6)
    return close[0] if close else None


def suggest(name: object, known: Iterable[str]) -> str:
    """Return a sentence that points at the nearest known name, or lists a few."""
    names = list(known)
    close = nearest(name, names)
    if close is not None:
        return f'Did you mean {close!r}?'
    if not names:
        return 'There are none.'
    shown = ', '.join(names[:12]) + (f' and {len(names) - 12} more' if len(names) > 12 else '')
    return f'Known: {shown}.'


def as_number(value: object) -> float | None:
    """Return a float, or None for what is no number.

    YAML 1.1 reads ``1e-3`` as text, so text that is a number counts as one. Truth values do not.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def is_finite(values: Iterable[float], most: float = HUGE) -> bool:
    """Return whether no value is NaN, infinite, or so large that products of it become so."""
    return all(math.isfinite(value) and abs(value) <= most for value in values)
