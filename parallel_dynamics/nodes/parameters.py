"""Parameters of a node: range, choices, description, and what to do when one changes.

Numbers may be given as integers where a float is expected (``rate:=500``), which plain rclpy
refuses. A value that is not allowed, alone or beside the others, is refused with a sentence, at
start-up and at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

from parallel_dynamics.errors import InputError, ParallelDynamicsError

BIGGEST = 2**53

Check = Callable[[Mapping[str, Any]], None]
"""Takes values by name, and raises InputError where they do not go together."""


@dataclass(frozen=True)
class _Rule:
    kind: type
    minimum: float
    maximum: float
    choices: tuple[str, ...]
    length: int | None
    change: Callable[[Any], None] | None
    check: Callable[[Any], None] | None


def _number(name: str, value: Any, rule: _Rule) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InputError(f'{name}: expected a finite number, got {value!r}')
    if rule.kind is int and value != int(value):
        raise InputError(f'{name}: expected a whole number, got {value!r}')
    if not rule.minimum <= value <= rule.maximum:
        raise InputError(
            f'{name}: expected a value from {rule.minimum:g} to {rule.maximum:g}, got {value!r}'
        )
    return rule.kind(value)


def _cleaned(name: str, value: Any, rule: _Rule) -> Any:
    """Return the value in its proper type, or raise InputError."""
    if rule.kind in (int, float):
        value = _number(name, value, rule)
    elif rule.kind is list:
        if isinstance(value, (bool, int, float)):
            raise InputError(f'{name}: expected a list of numbers, got {value!r}')
        values = [] if value is None else list(value)
        if rule.length is not None and len(values) not in (0, rule.length):
            raise InputError(f'{name}: expected {rule.length} numbers or none, got {len(values)}')
        single = _Rule(float, rule.minimum, rule.maximum, (), None, None, None)
        value = [_number(name, one, single) for one in values]
    elif type(value) is not rule.kind:
        raise InputError(f'{name}: expected {rule.kind.__name__}, got {value!r}')
    if rule.choices and value not in rule.choices:
        raise InputError(f'{name}: expected one of {", ".join(rule.choices)}, got {value!r}')
    if rule.check is not None:
        rule.check(value)
    return value


class Parameters:
    """The parameters of one node; ``parameters['rate']`` is the value now."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._rules: dict[str, _Rule] = {}
        self._values: dict[str, Any] = {}
        self._checks: list[tuple[frozenset[str], Check]] = []
        node.add_on_set_parameters_callback(self._judge)
        node.add_post_set_parameters_callback(self._apply)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def declare(
        self,
        name: str,
        default: Any,
        description: str,
        *,
        minimum: float = -math.inf,
        maximum: float = math.inf,
        choices: Sequence[str] = (),
        length: int | None = None,
        fixed: bool = False,
        check: Callable[[Any], None] | None = None,
        change: Callable[[Any], None] | None = None,
    ) -> Any:
        """Declare a parameter and return its value.

        Parameters
        ----------
        name, default, description
            The default's type is the parameter's: bool, int, float, str or a list of floats.
        minimum, maximum
            Smallest and largest value (of each number of a list).
        choices
            Allowed strings.
        length
            Numbers in a list; none at all is allowed as well, and means "not given".
        fixed
            Cannot be changed while the node runs.
        check
            Called with a new value; raises InputError to refuse it.
        change
            Called with the new value after a change at run time.
        """
        rule = _Rule(
            type(default), minimum, maximum, tuple(choices), length, change, check
        )
        self._rules[name] = rule
        text = description
        if choices:
            text += f' One of: {", ".join(choices)}.'
        descriptor = ParameterDescriptor(description=text, read_only=fixed)
        if rule.kind in (int, float, list):
            descriptor.dynamic_typing = True  # so that 500 does for 500.0; _judge looks after it
        if math.isfinite(minimum) or math.isfinite(maximum):
            low, high = max(minimum, -BIGGEST), min(maximum, BIGGEST)
            if rule.kind is int:
                descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high))]
            elif rule.kind is float:
                range_ = FloatingPointRange(from_value=float(low), to_value=float(high))
                descriptor.floating_point_range = [range_]
        self._node.declare_parameter(name, default, descriptor)
        return self._values[name]

    def together(self, names: Sequence[str], check: Check) -> None:
        """See that parameters which have been declared go together, now and after each change.

        ``check`` is called with the values of all parameters as they would be, whenever one of
        ``names`` is to change; raises InputError to refuse it.
        """
        check(self._values)
        self._checks.append((frozenset(names), check))

    def _judge(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            new = self._cleaned(parameters)
            trial = {**self._values, **new}
            for names, check in self._checks:
                if names & new.keys():
                    check(trial)
        except InputError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _cleaned(self, parameters: list[Parameter]) -> dict[str, Any]:
        return {
            p.name: _cleaned(p.name, p.value, self._rules[p.name])
            for p in parameters
            if p.name in self._rules
        }

    def _apply(self, parameters: list[Parameter]) -> None:
        new = self._cleaned(parameters)
        changed = [name for name in new if name in self._values]
        # All of them first: what one changes may depend on another that came with it.
        self._values.update(new)
        for name in changed:
            change = self._rules[name].change
            if change is None:
                continue
            try:
                change(new[name])
            except (ParallelDynamicsError, ValueError, ArithmeticError) as error:
                # It is stored by now, and rclpy would let the process end.
                self._node.get_logger().error(f'{name}: cannot take effect: {error}')
