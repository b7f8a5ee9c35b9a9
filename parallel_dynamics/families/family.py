"""What every family shares: parameters with units and ranges, and the way to its two files."""

from __future__ import annotations

from abc import ABC, abstractmethod
import dataclasses
from dataclasses import dataclass
import inspect
import math
import re
from typing import Any, ClassVar

from parallel_dynamics.errors import InputError
from parallel_dynamics.families.builder import RobotBuilder
from parallel_dynamics.families.variation import REGULAR, Variation
from parallel_dynamics.families.writing import RobotText, Writer


class FamilyError(InputError):
    """Parameters from which a family cannot make a robot; the message lists every fault."""


def parameter(
    default: float, unit: str, text: str, low: float = 0.0, high: float = math.inf,
    closed: bool = False,
) -> Any:
    """
    Field of a family: a number with its unit, meaning and range.

    Parameters
    ----------
    default : value when the user gives none.
    unit, text : for help and messages; the unit of a ratio is empty.
    low, high : range; `low` itself is allowed only when `closed`.
    """
    return dataclasses.field(default=default, metadata={
        'unit': unit, 'text': text, 'low': low, 'high': high, 'closed': closed})


def choice(default: str, options: tuple[str, ...], text: str) -> Any:
    """Field of a family: one of a few words."""
    return dataclasses.field(default=default, metadata={'options': options, 'text': text})


@dataclass(frozen=True)
class Family(ABC):
    """
    A kind of robot with its parameters; a subclass is a dataclass of `parameter` fields.

    A subclass names itself (`FAMILY`), says in one line what it is (`SUMMARY`), states its choices
    (`CHOICES`, lines of text that go into both files), and builds.
    """

    FAMILY: ClassVar[str]
    SUMMARY: ClassVar[str]
    CHOICES: ClassVar[tuple[str, ...]] = ()
    SOURCE: ClassVar[str] = ''

    @abstractmethod
    def build(self, robot: RobotBuilder, vary: Variation) -> None:
        """Add the whole robot at home to `robot`, passing through `vary` what may be irregular."""

    def relations(self) -> list[str]:
        """Faults between parameters, each a sentence; called once each is in its own range."""
        return []

    @classmethod
    def parameters(cls) -> dict[str, dataclasses.Field[Any]]:
        """Return the fields by name, a family's own first; metadata has unit, text and range."""
        own = inspect.get_annotations(cls)
        fields = sorted(dataclasses.fields(cls), key=lambda field: field.name not in own)
        return {field.name: field for field in fields}

    def __post_init__(self) -> None:
        faults = [fault for field in dataclasses.fields(self) for fault in self._faults(field)]
        faults = faults or self.relations()
        if faults:
            listed = '\n'.join(f'- {fault}' for fault in faults)
            raise FamilyError(f'No {self.FAMILY} robot has these parameters:\n{listed}')

    def _faults(self, field: dataclasses.Field[Any]) -> list[str]:
        value, about = getattr(self, field.name), field.metadata
        if 'options' in about:
            if value in about['options']:
                return []
            return [f"{field.name} must be one of {', '.join(about['options'])}; got {value!r}"]
        low, high, closed = about['low'], about['high'], about['closed']
        wanted = f'at least {low:g}' if closed else f'more than {low:g}'
        wanted += f' and at most {high:g}' if math.isfinite(high) else ''
        wanted = f'{wanted} {about["unit"]}'.rstrip()
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return [f'{field.name} must be a number; got {value!r}']
        if not math.isfinite(value):
            return [f'{field.name} ({about["text"]}) must be finite; got {value!r}']
        inside = value > low or (closed and value == low)
        return [] if inside and value <= high else [
            f'{field.name} ({about["text"]}) must be {wanted}; got {value!r}']

    def command(self, name: str, vary: Variation) -> str:
        """Command line that makes this robot again."""
        words = ['parallel-dynamics create', self.FAMILY]
        words += [
            f'--{field.name.replace("_", "-")} {_shown(getattr(self, field.name))}'
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default]
        words += [] if vary.seed is None else [f'--irregular {vary.seed}']
        words += [] if name == self.FAMILY else [f'--name {name}']
        return ' '.join(words)

    def generate(
        self, name: str = '', vary: Variation = REGULAR, urdf_folder: str = '',
    ) -> RobotText:
        """
        Build the robot and return its texts.

        Parameters
        ----------
        name : of the robot and its files; the family's when empty.
        vary : irregularity.
        urdf_folder : path from the YAML's folder to the URDF's, with a slash at its end.
        """
        chosen = name or self.FAMILY
        if not re.fullmatch(r'[A-Za-z][A-Za-z0-9_]*', chosen):
            raise FamilyError(
                'The name of a robot names its files: expected a letter, then letters, digits '
                f'and underscores; got {chosen!r}.')
        robot = RobotBuilder(vary)
        self.build(robot, vary)
        robot.gravity = vary.gravity(robot.gravity)
        writer, choices = Writer(exact=vary.seed is not None), list(self.CHOICES)
        source = self.SOURCE
        if vary.seed is not None:
            choices = ['Irregular on purpose: geometry, inertia and losses are random.']
            source = ''
        # XML allows no double hyphen in a comment, so that only the YAML can show the command.
        yaml_notes = [self.SUMMARY, f'Written by: {self.command(chosen, vary)}', *choices]
        urdf_notes = [self.SUMMARY, f'Written with {chosen}.yaml, which says how.', *choices]
        return RobotText(
            chosen, writer.urdf(chosen, robot, urdf_notes),
            writer.yaml(chosen, f'{urdf_folder}{chosen}.urdf', robot, yaml_notes, source))


def _shown(value: object) -> str:
    return f'{value:.12g}' if isinstance(value, float) else str(value)
