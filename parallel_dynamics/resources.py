"""Where the package's data and the user's cache are, and how results are written.

The robots (config/, urdf/) lie beside the package in a source tree, and in share/parallel_dynamics
of the installation prefix after `pip install` or `colcon build`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import errno
from functools import lru_cache
import os
from pathlib import Path
import re
import sys
import tempfile

from parallel_dynamics.errors import ParallelDynamicsError

_PACKAGE = 'parallel_dynamics'


@lru_cache(maxsize=1)
def share_directory() -> Path:
    """Return the folder that holds config/, urdf/, launch/ and package.xml.

    The places are tried from the nearest to the farthest, so that code and data are of the same
    version: the source tree, the prefix that the package is installed in, the interpreter's
    prefix, and the prefixes of a sourced ROS 2 workspace.

    Raises
    ------
    ParallelDynamicsError
        If there is no such folder.
    """
    tried = list(dict.fromkeys(_share_candidates()))
    for folder in tried:
        if (folder / 'package.xml').is_file():
            return folder
    raise ParallelDynamicsError(
        'The data files of parallel_dynamics were not found; expected a folder with its '
        f'package.xml, looked in {", ".join(map(str, tried))}. Install the package again with pip '
        'or colcon, or run it from its source tree.'
    )


def _share_candidates() -> Iterator[Path]:
    package = Path(__file__).resolve().parent
    yield package.parent
    for parent in package.parents:
        yield parent / 'share' / _PACKAGE
    yield Path(sys.prefix) / 'share' / _PACKAGE
    for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        if prefix:
            yield Path(prefix) / 'share' / _PACKAGE


def robot_files() -> dict[str, Path]:
    """Return the YAML file of every shipped robot by name, in alphabetical order."""
    folder = share_directory() / 'config' / 'robots'
    return {path.stem: path for path in sorted(folder.glob('*.yaml'))}


def version() -> str:
    """Return the version of the package, as package.xml gives it."""
    # A regular expression keeps the command's start light: no XML parser, no metadata scan.
    text = (share_directory() / 'package.xml').read_text(encoding='utf-8')
    found = re.search(r'<version>\s*([^<\s]+)\s*</version>', text)
    return found.group(1) if found else 'unknown'


@lru_cache(maxsize=1)
def cache_directory() -> Path:
    """Return a folder that this user can write to and no other user can, and create it.

    It is $XDG_CACHE_HOME/parallel_dynamics or ~/.cache/parallel_dynamics. Where the home is
    missing or read-only it is a folder in the system's temporary directory. Compiled kernels are
    read back from here and executed, hence the care about who owns it.
    """
    for folder in _cache_candidates():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_private(folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix=f'{_PACKAGE}-'))


def _cache_candidates() -> Iterator[Path]:
    base = os.environ.get('XDG_CACHE_HOME', '')
    # The XDG specification says to ignore a relative path.
    if os.path.isabs(base):
        yield Path(base) / _PACKAGE
    else:
        try:
            yield Path.home() / '.cache' / _PACKAGE
        except RuntimeError:
            pass
    user = os.getuid() if hasattr(os, 'getuid') else 'user'
    yield Path(tempfile.gettempdir()) / f'{_PACKAGE}-{user}'


def _is_private(folder: Path) -> bool:
    status = folder.lstat()
    owned = not hasattr(os, 'getuid') or status.st_uid == os.getuid()
    others_write = bool(status.st_mode & 0o022)
    return owned and not others_write and folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


@contextmanager
def writing_to(folder: str | Path) -> Iterator[Path]:
    """Make a folder for results; what goes wrong while it is written to becomes one sentence.

    Around long work, so that a folder that cannot be written to is refused at once. A new folder
    that stays empty, as where that work fails, is taken away again.

    Raises
    ------
    ParallelDynamicsError
        If the folder cannot be made or a file cannot be written.
    """
    path = Path(folder)
    new = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        yield path
    except OSError as error:
        raise ParallelDynamicsError(
            f'The files cannot be written to {path}: {error.strerror or error}. '
            'Give another folder.'
        ) from error
    finally:
        if new:
            with suppress(OSError):  # of a folder that has something in it
                path.rmdir()
