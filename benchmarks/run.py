"""The benchmark against the peers: one run, ratios, and the agreement error beside every time.

    python benchmarks/run.py [--quick] [--skip SECTION ...] [--output DIR]

Writes benchmarks.md, benchmarks.json and benchmarks.png. Absolute times depend on the machine and
on what else it does; ratios of one run much less.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
import platform
import shutil
import subprocess
import sys
import time

# One thread for the peers' linear algebra, set before any of it is loaded.
for _name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(_name, '1')

from page import draw, page  # noqa: E402
from timing import Effort  # noqa: E402

SECTIONS = ('calls', 'scaling', 'simulation', 'maps', 'startup', 'ros')
UNITS = {
    'single': 's', 'batch': 's', 'call': 's', 'single_error': '', 'batch_error': '',
    'operations': '', 'scaling': 's', 'simulation': '', 'maps': '', 'startup': '', 'ros': '',
}  # fmt: skip
"""Of the numbers in JSON by name; errors are relative, the last ones say theirs."""


def machine() -> dict[str, str]:
    """Return what the numbers were measured on."""
    from importlib.metadata import version

    model = platform.processor() or platform.machine()
    info = Path('/proc/cpuinfo')
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith('model name'):
                model = line.partition(':')[2].strip()
                break
    found = {'processor': model, 'cores': str(len(os.sched_getaffinity(0)))}
    found['Python'] = platform.python_version()
    for name in ('numpy', 'scipy', 'numba', 'pin', 'mujoco', 'casadi'):
        found[name] = version(name)
    cc = shutil.which(os.environ.get('CC', 'cc'))
    if cc is not None:
        said = subprocess.run([cc, '--version'], capture_output=True, text=True, check=False)
        found['C compiler'] = said.stdout.partition('\n')[0]
    return found


def measure(sections: list[str]) -> dict[str, object]:
    """Run the sections and return all numbers."""
    from calls import ROBOTS

    say = Teller(2 * len(ROBOTS) * ('calls' in sections) + len(sections) - ('calls' in sections))
    result: dict[str, object] = {
        'machine': machine(), 'date': time.strftime('%Y-%m-%d'), 'quick': Effort.quick,
        'repeats': Effort.repeats, 'states': Effort.states,
    }  # fmt: skip
    robots: dict[str, dict[str, object]] = {}
    if 'calls' in sections:
        import calls

        for name in calls.ROBOTS:
            say(f'{name}: building the peers')
            cases = calls.Cases(name)
            say(f'{name}: single calls and batches')
            robots[name] = {
                'rows': cases.measure(), 'call': cases.call_time(), 'iterates': cases.iterates,
            }  # fmt: skip
    result['robots'] = robots
    for section in SECTIONS[1:]:
        if section in sections:
            say(section)
            module = __import__('ros_loop' if section == 'ros' else section)
            result[section] = module.measure()
    result['units'] = UNITS
    return result


class Teller:
    """Tells what is going on, step by step, on the standard error."""

    def __init__(self, steps: int) -> None:
        self.steps, self.step = steps, 0

    def __call__(self, text: str) -> None:
        """Tell of the next step."""
        self.step += 1
        place = f'[{self.step:2d} of {self.steps}]'
        print(f'{time.strftime("%H:%M:%S")}  {place}  {text}', file=sys.stderr, flush=True)


def main(words: list[str] | None = None) -> int:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(description='Compare with other engines.')
    parser.add_argument('--quick', action='store_true', help='few repeats, small batches')
    parser.add_argument('--skip', nargs='*', default=[], choices=SECTIONS, metavar='SECTION',
                        help=f'leave out: {", ".join(SECTIONS)}')  # fmt: skip
    parser.add_argument('--output', default='.', metavar='DIR', help='folder to write to')
    parser.add_argument('--json', action='store_true', help='print JSON instead of the page')
    args = parser.parse_args(words)
    from parallel_dynamics.commands._console import plain

    if args.quick:
        Effort.make_quick()
    result = measure([s for s in SECTIONS if s not in args.skip])
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    text = page(result)
    document = json.dumps(plain(result), indent=1, allow_nan=False)
    (folder / 'benchmarks.md').write_text(text, encoding='utf-8')
    (folder / 'benchmarks.json').write_text(document + '\n', encoding='utf-8')
    if result['robots']:
        draw(result, folder / 'benchmarks.png')
    print(document if args.json else text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
