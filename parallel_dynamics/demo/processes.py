"""Nodes as processes that never outlive the one that started them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import contextlib
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from types import FrameType
from typing import Any

from parallel_dynamics.errors import ParallelDynamicsError

PATIENCE = 1.5
"""Seconds from SIGINT to SIGKILL; nodes end within one."""
TAIL = 12
"""Lines of a log that are shown when its node fails."""


class NodeFailedError(ParallelDynamicsError):
    """A node ended by itself, or did not start."""


def loopback_only(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which ROS 2 talks to this machine alone."""
    kept = {name: value for name, value in environment.items()
            if name not in ('ROS_STATIC_PEERS', 'ROS_DISCOVERY_SERVER',
                            '_ROS_WHEELS_BOOTSTRAP_COMPLETE')}  # fmt: skip
    return {**kept, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST', 'PYTHONUNBUFFERED': '1'}


class Processes:
    """Nodes of this package, each in its own process with its own log; use it in ``with``.

    Whatever ends the ``with`` block (its end, an error, Ctrl-C, SIGTERM, SIGHUP), no process is
    left behind.

    Parameters
    ----------
    folder : path
        Where logs go.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._environment = loopback_only(os.environ)
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._handlers: dict[int, Any] = {}
        self._asked = 0

    def start(self, node: str, parameters: Mapping[str, Any], remaps: Mapping[str, str]) -> None:
        """Start a node by the name of its module."""
        child = ['-m', 'parallel_dynamics.demo.child', str(os.getpid()), node]
        words = [sys.executable, *child, '--ros-args']
        for name, value in parameters.items():
            words += ['-p', f'{name}:={parameter_text(value)}']
        for old, new in remaps.items():
            words += ['-r', f'{old}:={new}']
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self._log(node), 'wb') as log:
            # A session of its own: Ctrl-C is for this process, which ends them in good order.
            self._running[node] = subprocess.Popen(
                words, env=self._environment, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def _log(self, node: str) -> Path:
        return self.folder / f'{node}.log'

    def wait_for(
        self,
        node: str,
        text: str,
        timeout: float,
        blamed: str = '',
        fatal: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Wait until the log of a node contains a text; look after all of them meanwhile.

        If it does not come in time, the log of ``blamed`` (the node itself by default) is shown.
        ``fatal`` are texts, by node, after which it cannot come any more: a line that contains
        one, and was logged since this call, ends the waiting at once.
        """
        end = time.monotonic() + timeout
        known = {name: len(self.log(name)) for name in fatal or {}}
        while text not in self.log(node):
            self.check()
            for name, words in (fatal or {}).items():
                for line in self.log(name)[known[name] :].splitlines():
                    if any(word in line for word in words):
                        raise self._failed(name, f'gave up: {line.partition("]: ")[2] or line}')
            if time.monotonic() > end:
                raise self._failed(blamed or node, f'was waited for: no {text!r} in {timeout:g} s')
            time.sleep(0.05)

    def check(self) -> None:
        """Raise NodeFailedError if a node has ended, and what a signal asks for."""
        if self._asked:
            _leave(self._asked)
        for node, process in self._running.items():
            code = process.poll()
            if code is not None:
                raise self._failed(node, f'ended by itself (exit code {code})')

    def _failed(self, node: str, what: str) -> NodeFailedError:
        log = self._log(node)
        lines = log.read_text(encoding='utf-8', errors='replace').splitlines()[-TAIL:]
        text = '\n'.join(f'  {line}' for line in lines) or '  (nothing)'
        return NodeFailedError(f'{node} {what}. The end of its log, {log}:\n{text}')

    def log(self, node: str) -> str:
        """Return what a node has said so far."""
        return self._log(node).read_text(encoding='utf-8', errors='replace')

    def stop(self, *nodes: str) -> None:
        """End these nodes (all of them by default), and wait until they have ended."""
        names = [name for name in nodes or tuple(self._running) if name in self._running]
        ending = [self._running[name] for name in names]
        for process in ending:
            _signal(process, signal.SIGINT)
        end = time.monotonic() + PATIENCE
        for process in ending:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, end - time.monotonic()))
        for name, process in zip(names, ending):
            _signal(process, signal.SIGKILL)
            process.wait()
            del self._running[name]

    def __enter__(self) -> Processes:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup and a shell's & do
                self._handlers[number] = signal.signal(number, self._ask)
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:
        # Remembered, because an exception can get lost in code that Python calls back.
        self._asked = number
        _leave(number)

    def __exit__(self, *_: object) -> None:
        # A second Ctrl-C must not keep this from being finished.
        for number in self._handlers:
            signal.signal(number, signal.SIG_IGN)
        try:
            self.stop()
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)


def _leave(number: int) -> None:
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to a process and all that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def parameter_text(value: Any) -> str:
    """Return a value as the command line of a node takes it."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return str(value)
