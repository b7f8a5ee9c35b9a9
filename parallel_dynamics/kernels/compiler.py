"""How kernels are compiled: Numba, with an on-disk cache that follows the sources.

Numba's own cache notices a change in the file of a function but not in the files of what that
function calls. A module's cache folder is therefore named after a digest of its source and of
those it imports; it lies in the user's cache folder, so that a package installed read-only
caches just as well.
``NUMBA_DISABLE_JIT=1`` runs the same kernels as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
from functools import cache
import hashlib
import logging
import os
from pathlib import Path
import re
import threading
import time
from typing import Any, TypeVar

from llvmlite.binding import Linkage
import numba
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
import numpy as np

from parallel_dynamics.resources import cache_directory

try:
    import fcntl
except ImportError:  # not on Windows, where processes that start together all compile
    fcntl = None  # type: ignore[assignment]

F = TypeVar('F', bound=Callable[..., Any])

_LOG = logging.getLogger('parallel_dynamics')
_LOCK = threading.Lock()
_ENTRY_POINTS: dict[tuple[Any, ...], Callable[..., Any]] = {}


LEVEL = 2
"""LLVM's level of optimisation: a third one takes a tenth more time to compile and gains none."""

_IMPORT = re.compile(r'^from parallel_dynamics\.(kernels\.)?(\w+) import', re.MULTILINE)


@cache
def _sources(module: str) -> frozenset[Path]:
    """Return the files that a kernel module is made of: its own and those it imports."""
    path = Path(__file__).parent / f'{module}.py'
    files = {path}
    for kernels, name in _IMPORT.findall(path.read_text(encoding='utf-8')):
        if kernels:
            files |= _sources(name) if name != module else set()
        else:  # for the constants that are compiled in
            files.add(path.parent.parent / f'{name}.py')
    return frozenset(files)


def _root() -> Path:
    return Path(os.environ.get('NUMBA_CACHE_DIR') or cache_directory()) / 'kernels'


@cache
def cache_folder(module: str) -> Path | None:
    """Return the folder for the compiled functions of a module, or None if it cannot be made."""
    text = hashlib.sha256(f'{numba.__version__} {np.__version__}'.encode())
    for path in sorted(_sources(module)):
        text.update(path.read_bytes())
    folder = _root() / f'{module}-{text.hexdigest()[:16]}'
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _LOG.warning('kernels are compiled anew in each process: no cache folder (%s)', error)
        return None
    return folder


class _OwnLowering(NativeLowering):  # type: ignore[misc]
    """Lowering into a library whose final passes over LLVM's code are ``finish``."""

    def run_pass(self, state: Any) -> bool:
        library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        library.enable_object_caching()
        usual = library._optimize_final_module
        library._optimize_final_module = lambda: self.finish(library, usual)
        state.library = library
        before, numba.config.OPT = numba.config.OPT, LEVEL
        try:
            return super().run_pass(state)
        finally:
            numba.config.OPT = before

    def finish(self, library: Any, usual: Callable[[], None]) -> None:
        """Do what is to be done once all that the function calls is linked in."""
        usual()


@register_pass(mutates_CFG=True, analysis_only=False)
class _RoughLowering(_OwnLowering):
    """Lowering of a function that others call: without passes over all that it calls.

    Those of the entry point see everything again, so that doing it at each level of the calls
    would only take time.
    """

    _name = 'rough_lowering'

    def finish(self, library: Any, usual: Callable[[], None]) -> None:
        """Leave the code as it is."""


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(_OwnLowering):
    """Lowering of an entry point: what it calls becomes its own.

    Functions of the same name are one function to the linker: the first that a process loads,
    which would be the rough one in the process that compiles it. Results would then depend, in
    their last bits, on which process compiled what, and on the order in which it did.
    """

    _name = 'entry_lowering'

    def finish(self, library: Any, usual: Callable[[], None]) -> None:
        for function in library._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        super().finish(library, usual)


class _Kernels(Compiler):  # type: ignore[misc]
    """Numba's usual compiler, with a lowering of ours."""

    lowering: type[_OwnLowering]

    def define_pipelines(self) -> Any:
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [
                (self.lowering if step is NativeLowering else step, text)
                for step, text in pipeline.passes
            ]
        return pipelines


class _Inner(_Kernels):
    lowering = _RoughLowering


class _Entry(_Kernels):
    lowering = _EntryLowering


def kernel(function: F) -> F:
    """Compile a function that other kernels call with Numba, on its first use."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inner_kernel(function: F) -> F:
    """Compile a kernel into those that call it: arrays cost much to hand on, for a short one."""
    return _compiled(
        function, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True
    )


def entry(function: F) -> F:
    """Compile a kernel that Python calls, with the way in that this takes; releases the GIL."""
    return _compiled(function, no_cfunc_wrapper=True)


def _compiled(function: F, **options: bool) -> F:
    folder = cache_folder(function.__module__.rpartition('.')[2])
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder or before)
    try:
        compiled: F = numba.njit(
            nogil=True, cache=folder is not None, error_model='numpy', fastmath={'contract'},
            pipeline_class=_Inner if options.get('no_cpython_wrapper') else _Entry, **options,
        )(function)  # fmt: skip
    finally:
        numba.config.CACHE_DIR = before
    if not numba.config.DISABLE_JIT:
        _take_all_numbers_alike(compiled)
    return compiled


def _take_all_numbers_alike(compiled: Any) -> None:
    """Keep Numba from compiling a kernel anew for each 0, 1, 2 that stands in a call of it."""
    template = compiled.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return template(tuple(numba.types.unliteral(a) for a in args), kws)

    compiled.get_call_template = get_call_template


def _type_of(argument: Any) -> Any:
    """Return Numba's type of an argument; arrays that are read-only do not ask for a kernel anew.

    Kernels write to what their documentation says they write to, and to nothing else.
    """
    found = numba.typeof(argument)
    return found.copy(readonly=False) if isinstance(found, numba.types.Array) else found


def entry_point(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """Return the compiled function for arguments of these types.

    Calling it skips Numba's look-up of types, which would cost more than most kernels do; in
    return every argument must have exactly the type given here.
    """
    if numba.config.DISABLE_JIT:
        return function
    types = tuple(_type_of(argument) for argument in arguments)
    key = (function, types)
    with _LOCK:
        if key not in _ENTRY_POINTS:
            with _alone(function):
                _compile(function, types)
            _ENTRY_POINTS[key] = function.get_overload(types)  # type: ignore[attr-defined]
    return _ENTRY_POINTS[key]


def _compile(function: Any, types: tuple[Any, ...]) -> None:
    _announce(function)
    started = time.monotonic()
    function.compile(types)
    _LOG.debug('%s ready in %.1f s', function.__name__, time.monotonic() - started)


@contextlib.contextmanager
def _alone(function: Any) -> Iterator[None]:
    """Let one process at a time compile a function; those that waited take its code.

    Nodes that start together then do the work once, and calculate the same to the last bit:
    compiled twice, sums may be rounded otherwise.
    """
    folder = cache_folder(function.py_func.__module__.rpartition('.')[2])
    if folder is None or fcntl is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(open(folder / f'{function.__name__}.lock', 'w'))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                # Nobody waits for long where it only has to be read.
                level = logging.WARNING if _is_slow(function) else logging.INFO
                what = SLOW.get(function.__name__, function.__name__)
                _LOG.log(level, 'waiting for another process that compiles %s', what)
                fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            _LOG.debug('%s is compiled without a lock: %s', function.__name__, error)
        yield


SLOW = {
    'evaluate': 'kinematics and dynamics', 'forward_many': 'forward kinematics',
    'joint_forces': 'joint forces', 'regress': 'the linear form', 'advance': 'the simulator',
    'regress_wrench': 'the linear form of joint forces', 'survey': 'maps',
}  # fmt: skip
"""Kernels that take some ten seconds to compile, by what they are for."""


def _announce(function: Any) -> None:
    """Say on the log that a kernel is compiled for which there is no cache yet."""
    if _is_slow(function):
        _LOG.warning(
            'compiling %s for the first time on this machine: up to half a minute, once',
            SLOW[function.__name__],
        )


def _is_slow(function: Any) -> bool:
    """Return whether a kernel takes its time to compile, and has not been on this machine."""
    name = function.__name__
    folder = cache_folder(function.py_func.__module__.rpartition('.')[2])
    return name in SLOW and not (folder and any(folder.rglob(f'*.{name}-*.nbi')))
