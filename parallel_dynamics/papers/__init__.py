"""The five papers, each model in its own words and equation numbers, in plain NumPy.

Nothing here uses the engine's kernels: each paper is a derivation of its own, and the tests hold
the engine against all of them. Keys are resolved in ``docs/references.md``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from parallel_dynamics.errors import InputError

if TYPE_CHECKING:
    from parallel_dynamics.papers.report import Report

KEYS = (
    'khalil_ibrahim_2007',
    'lopes_2010',
    'codourey_burdet_1997',
    'chablat_wenger_staicu_2009',
    'staicu_3rps',
)
"""Citation keys of the papers, which are also the names of the sub-packages."""


def reproduce(key: str) -> Report:
    """Return the report of a paper: figures, numbers and a page.

    Parameters
    ----------
    key : str
        One of ``KEYS``.
    """
    if key not in KEYS:
        raise InputError(f'paper: expected one of {", ".join(KEYS)}, got {key!r}')
    module = import_module(f'{__name__}.{key}.reproduce')
    report: Report = module.reproduce()
    return report
