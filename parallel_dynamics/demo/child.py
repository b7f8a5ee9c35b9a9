"""Runs a node as a child that does not outlive its parent: ``child PARENT NODE WORDS...``."""

from __future__ import annotations

import contextlib
import ctypes
import os
import runpy
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    """Have Linux end this process when its parent is gone, however that came."""
    with contextlib.suppress(OSError, AttributeError):
        # SIGTERM waits for Python, which a middleware that hangs never lets go on.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before
        sys.exit(1)


if __name__ == '__main__':
    die_with(int(sys.argv[1]))
    node = sys.argv[2]
    sys.argv = [node, *sys.argv[3:]]
    runpy.run_module(f'parallel_dynamics.nodes.{node}', run_name='__main__')
