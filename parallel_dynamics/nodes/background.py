"""Work that takes too long for a control cycle: done in a thread, its outcome fetched later."""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
import threading
from typing import Any

from parallel_dynamics.nodes.runtime import BAD_MESSAGE

Job = Callable[[], Any]
Outcome = Callable[[Any], None]


class BackgroundWork:
    """One thread that does the newest job of each kind.

    ``submit`` returns at once; ``collect``, called in the node's own thread, hands results to
    ``done`` and errors, those of ``done`` as well, to ``failed``. A job that has not begun when a
    newer one of its kind comes is dropped and its ``failed`` is told so.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[Job, Outcome, Outcome]] = {}
        self._lock = threading.Condition()
        self._finished: SimpleQueue[tuple[Outcome, Any, Outcome]] = SimpleQueue()
        self._ending = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def submit(
        self, kind: str, job: Job, done: Outcome, failed: Outcome, said: bool = True
    ) -> None:
        """Do a job as soon as the thread is free.

        Without ``said`` nobody is told when it is dropped: nobody had asked for it.
        """
        with self._lock:
            dropped = self._waiting.pop(kind, None)
            self._waiting[kind] = (job, done, failed)
            self._lock.notify()
        if dropped is not None and said:
            reason = 'a newer one came before it was looked at'
            self._finished.put((dropped[2], reason, dropped[2]))

    def collect(self) -> None:
        """Tell the outcome of what has been done."""
        while True:
            try:
                tell, result, failed = self._finished.get_nowait()
            except Empty:
                return
            try:
                tell(result)
            except BAD_MESSAGE as error:
                failed(str(error))

    def end(self) -> None:
        """Let the thread go; what waits is forgotten."""
        with self._lock:
            self._ending = True
            self._waiting.clear()
            self._lock.notify()

    def _work(self) -> None:
        while True:
            with self._lock:
                while not self._waiting and not self._ending:
                    self._lock.wait()
                if self._ending:
                    return
                kind = next(iter(self._waiting))
                job, done, failed = self._waiting.pop(kind)
            try:
                self._finished.put((done, job(), failed))
            except (*BAD_MESSAGE, MemoryError, RuntimeError) as error:
                self._finished.put((failed, str(error), failed))
