"""Code that was written before: in this process, and on this machine.

A file in the user's cache folder holds the object code behind one line that describes it. Its
name is a digest of all that the code depends on: the robot's structure, the task, the source that
is run on symbols, and the processor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
import hashlib
import json
import logging
import os
from pathlib import Path
import tempfile
from typing import Any
from weakref import WeakValueDictionary

import llvmlite

from parallel_dynamics import kernels
from parallel_dynamics.resources import cache_directory
from parallel_dynamics.unrolling.machine_code import Code, processor

_LOG = logging.getLogger('parallel_dynamics')
_KNOWN: WeakValueDictionary[str, Code] = WeakValueDictionary()


@lru_cache(maxsize=1)
def _source() -> str:
    """Digest of the source that code is written from, and of what writes it."""
    digest = hashlib.sha256(llvmlite.__version__.encode())
    for folder in (Path(kernels.__file__).parent, Path(__file__).parent):
        for path in sorted(folder.glob('*.py')):
            digest.update(path.read_bytes())
    digest.update(repr(processor()).encode())
    return digest.hexdigest()


def code_for(what: str, lanes: int, write: Callable[[], Code | None]) -> Code | None:
    """Return the code for what a text stands for; ``write`` it where there is none yet."""
    key = hashlib.sha256(f'{_source()} {what} {lanes}'.encode()).hexdigest()[:32]
    code = _KNOWN.get(key) or _load(_path(key), lanes)
    if code is None:
        code = write()
        if code is not None:
            _save(_path(key), code)
    if code is not None:
        _KNOWN[key] = code
    return code


def _path(key: str) -> Path:
    root = os.environ.get('NUMBA_CACHE_DIR') or cache_directory()
    return Path(root) / 'unrolled' / key


def _load(path: Path, lanes: int) -> Code | None:
    """Return the code of a file; None where there is none, or one that was cut off."""
    try:
        head, _, objects = path.read_bytes().partition(b'\n')
        note: dict[str, Any] = json.loads(head)
        if len(objects) != note['size']:
            return None
        return Code(objects, note['inputs'], lanes)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save(path: Path, code: Code) -> None:
    """Keep code for later; a file that cannot be written only costs time."""
    note = {'size': len(code.objects), 'inputs': code.inputs}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            file = Path(folder) / path.name
            file.write_bytes(json.dumps(note).encode() + b'\n' + code.objects)
            os.replace(file, path)
    except OSError as error:
        _LOG.warning('machine code is made anew in each process: no cache (%s)', error)
