"""Arguments of the form NAME=VALUE."""

from __future__ import annotations

from collections.abc import Sequence


def numbers(option: str, words: Sequence[str]) -> dict[str, float]:
    """Return the numbers that words like ``z=0.3`` assign, by name; ``option`` took them."""
    from parallel_dynamics.errors import InputError

    found = {}
    for word in words:
        name, _, value = word.partition('=')
        try:
            found[name] = float(value)
        except ValueError:
            raise InputError(f'{option}: expected NAME=VALUE, got {word!r}') from None
    return found
