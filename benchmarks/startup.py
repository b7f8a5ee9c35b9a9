"""What it takes to begin: import, first call with an empty and with a full cache, memory.

Each in a process of its own; the empty cache, which has everything compiled, only once.
"""

from __future__ import annotations

import os
from pathlib import Path
import statistics
import subprocess
import sys
import tempfile
import tracemalloc

from timing import Effort

import parallel_dynamics as pd

IMPORT = """
import time; start = time.perf_counter()
import parallel_dynamics as pd; pd.Robot, pd.PlatformMotion
print(time.perf_counter() - start)
"""
FIRST_CALL = """
import time; start = time.perf_counter()
import parallel_dynamics as pd
robot = pd.load_robot('gough_stewart')
robot.inverse_dynamics(robot.home)
print(time.perf_counter() - start)
"""


def _python(script: str, cache: Path) -> float:
    environment = {**os.environ, 'NUMBA_CACHE_DIR': str(cache)}
    source = str(Path(pd.__file__).resolve().parent.parent)
    environment['PYTHONPATH'] = os.pathsep.join([source, environment.get('PYTHONPATH', '')])
    done = subprocess.run(
        [sys.executable, '-c', script], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


def measure() -> dict[str, float]:
    """Return seconds and bytes."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        cold = _python(FIRST_CALL, cache)
        warm = statistics.median(_python(FIRST_CALL, cache) for _ in range(Effort.repeats))
        imported = statistics.median(_python(IMPORT, cache) for _ in range(Effort.repeats))
    warm_up = pd.load_robot('gough_stewart')  # what is shared by all robots does not count
    warm_up.inverse_dynamics(warm_up.home)
    tracemalloc.start()
    robot = pd.load_robot('gough_stewart')
    robot.inverse_dynamics(robot.home)
    size, _ = tracemalloc.get_traced_memory()
    m = robot.home
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(10_000):
        robot.inverse_dynamics(m)
    growth = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return {
        'import (s)': imported,
        'first call, empty cache (s)': cold,
        'first call, full cache (s)': warm,
        'memory of a robot (MB)': size / 1e6,
        'growth over 10,000 calls (kB)': growth / 1e3,
    }
