"""Arithmetic recorded instead of done: symbols, and the tape that they write themselves on.

A symbol stands for a number that code reads, of the robot or of a state; arithmetic on symbols is
written on their tape, once for each distinct operation, and what is known beforehand (a factor of
zero, a sum with zero) is left out. A symbol also carries its value at one sample state, so that a
branch can be taken while recording; the condition is kept as a *guard*: the tape speaks only for
states in which every guard comes out as it did for the sample.
"""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Any, Union

Number = Union['Symbol', float]

COMMUTATIVE = ('+', '*', 'min', 'max')
LONGEST = 35_000
"""Operations from which on loops are better than code without any, and much sooner written."""


class TapeTooLong(Exception):
    """More operations than are worth code of their own."""


class Tape:
    """Operations in the order in which they are done, each with its value at the sample."""

    def __init__(self) -> None:
        self.operations: list[tuple[Any, ...]] = []
        self.guards: dict[int, bool] = {}
        self._known: dict[tuple[Any, ...], Any] = {}
        self._sources: dict[tuple[str, Any], Symbol] = {}

    def source(self, kind: str, place: Any, value: float) -> Symbol:
        """Return the symbol of a number that is read: a parameter or an input."""
        key = (kind, place)
        if key not in self._sources:
            self._sources[key] = self._write((kind, place), float(value))
        return self._sources[key]

    def record(self, operator: str, value: float, *operands: Number | Condition) -> Symbol:
        """Return the symbol of an operation, the one on the tape if it was done before."""
        key = (operator, *(_place(operand) for operand in operands))
        if operator in COMMUTATIVE:
            key = (operator, *sorted(key[1:], key=repr))
        known = _distinct(key)
        if known not in self._known:
            self._known[known] = self._write(key, value)
        return self._known[known]  # type: ignore[no-any-return]

    def compare(self, operator: str, value: bool, left: Number, right: Number) -> Condition:
        """Return the condition that a comparison makes."""
        key = (operator, _place(left), _place(right))
        known = _distinct(key)
        if known not in self._known:
            self.operations.append(key)
            self._known[known] = Condition(self, len(self.operations) - 1, value)
        return self._known[known]  # type: ignore[no-any-return]

    def _write(self, operation: tuple[Any, ...], value: float) -> Symbol:
        if len(self.operations) >= LONGEST:
            raise TapeTooLong
        self.operations.append(operation)
        return Symbol(self, len(self.operations) - 1, value)


def _place(operand: Number | Condition) -> int | float:
    """Return an operand as the tape has it: the place of a symbol, or a number itself."""
    return operand.place if isinstance(operand, (Symbol, Condition)) else float(operand)


def _distinct(operation: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what only the same operation gives: the number 5.0 is not the place 5."""
    return operation, tuple(map(type, operation))


class Condition:
    """A comparison of symbols. Asked for its truth, it becomes a guard."""

    __slots__ = ('place', 'tape', 'value')

    def __init__(self, tape: Tape, place: int, value: bool) -> None:
        self.tape, self.place, self.value = tape, place, value

    def __bool__(self) -> bool:
        self.tape.guards[self.place] = self.value
        return self.value


class Symbol:
    """A number on a tape, with its value at the sample state."""

    __slots__ = ('place', 'tape', 'value')
    __array_ufunc__ = None  # NumPy's scalars leave arithmetic with symbols to the symbols

    def __init__(self, tape: Tape, place: int, value: float) -> None:
        self.tape, self.place, self.value = tape, place, value

    def __add__(self, other: Number) -> Number:
        if not isinstance(other, Symbol):
            if other == 0.0:
                return self
        elif self._operation[0] == 'neg':
            return other - self.negated()
        elif other._operation[0] == 'neg':
            return self - other.negated()
        return self.tape.record('+', self.value + value_of(other), self, other)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Number:
        if not isinstance(other, Symbol):
            if other == 0.0:
                return self
        elif other is self:
            return 0.0
        elif other._operation[0] == 'neg':
            return self + other.negated()
        return self.tape.record('-', self.value - value_of(other), self, other)

    def __rsub__(self, other: float) -> Number:
        if other == 0.0:
            return -self
        return self.tape.record('-', other - self.value, other, self)

    def __mul__(self, other: Number) -> Number:
        if not isinstance(other, Symbol):
            if other == 0.0:
                return 0.0
            if other == 1.0:
                return self
            if other == -1.0:
                return -self
        return self.tape.record('*', self.value * value_of(other), self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Number:
        if not isinstance(other, Symbol):
            return self * (1.0 / other)
        return self.tape.record('/', _divided(self.value, other.value), self, other)

    def __rtruediv__(self, other: float) -> Number:
        if other == 0.0:
            return 0.0
        return self.tape.record('/', _divided(other, self.value), other, self)

    def __neg__(self) -> Symbol:
        if self._operation[0] == 'neg':
            return self.negated()
        return self.tape.record('neg', -self.value, self)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return self.tape.record('abs', abs(self.value), self)

    def __pow__(self, exponent: float) -> Symbol:
        if exponent != 0.5:
            raise TypeError(f'only square roots are recorded, got the power {exponent}')
        return square_root(self)  # type: ignore[return-value]

    def __lt__(self, other: Number) -> Condition:
        return self.tape.compare('<', self.value < value_of(other), self, other)

    def __le__(self, other: Number) -> Condition:
        return self.tape.compare('<=', self.value <= value_of(other), self, other)

    def __gt__(self, other: Number) -> Condition:
        return self.tape.compare('>', self.value > value_of(other), self, other)

    def __ge__(self, other: Number) -> Condition:
        return self.tape.compare('>=', self.value >= value_of(other), self, other)

    def __eq__(self, other: object) -> Any:
        return self.tape.compare('==', self.value == value_of(other), self, other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> Any:
        return self.tape.compare('!=', self.value != value_of(other), self, other)  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError('a symbol has no truth; compare it')

    def __float__(self) -> float:
        raise TypeError('a symbol is not a number; it may only be calculated with')

    @property
    def _operation(self) -> tuple[Any, ...]:
        return self.tape.operations[self.place]

    def negated(self) -> Symbol:
        """Return what this symbol is the negative of."""
        return Symbol(self.tape, self._operation[1], -self.value)


def value_of(number: Any) -> float:
    """Return the value of a number at the sample state."""
    return number.value if isinstance(number, Symbol) else number  # type: ignore[no-any-return]


def _divided(above: float, below: float) -> float:
    return above / below if below != 0.0 else math.nan


def square_root(x: Number) -> Number:
    """Square root of a symbol or number."""
    if not isinstance(x, Symbol):
        return math.sqrt(x)
    return x.tape.record('sqrt', math.sqrt(x.value) if x.value >= 0.0 else math.nan, x)


def choose(condition: Any, yes: Number, no: Number) -> Number:
    """Return ``yes`` where the condition holds and ``no`` elsewhere, without a branch."""
    if not isinstance(condition, Condition):
        return yes if condition else no
    if yes is no or (not isinstance(yes, Symbol) and not isinstance(no, Symbol) and yes == no):
        return yes
    value = value_of(yes) if condition.value else value_of(no)
    return condition.tape.record('choose', value, condition, yes, no)


def _extreme(name: str, function: Callable[..., float]) -> Callable[..., Number]:
    def extreme(*numbers: Number) -> Number:
        result = numbers[0]
        for number in numbers[1:]:
            symbol = result if isinstance(result, Symbol) else number
            if isinstance(symbol, Symbol):
                value = function(value_of(result), value_of(number))
                result = symbol.tape.record(name, value, result, number)
            else:
                result = function(result, number)
        return result

    return extreme


smallest = _extreme('min', min)
largest = _extreme('max', max)
