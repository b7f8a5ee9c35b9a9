"""`parallel-dynamics bench`: speed and agreement against other engines, in one run."""

from __future__ import annotations

import argparse

from parallel_dynamics.commands import _console

NAME = 'bench'
HELP = 'compare speed and agreement with other engines (Pinocchio, MuJoCo, NumPy, generated C)'
EXAMPLES = ('parallel-dynamics bench --quick --skip ros startup --output bench',)

PEERS = {'pinocchio': 'pin', 'mujoco': 'mujoco', 'casadi': 'casadi'}
"""Modules of the peers, and what they are called on PyPI."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument(
        '--quick', action='store_true',
        help='few repeats and small batches: to see that it works, not to publish',
    )  # fmt: skip
    parser.add_argument(
        '--skip', nargs='*', default=[], metavar='SECTION',
        help='leave out some of calls, scaling, simulation, maps, startup, ros',
    )  # fmt: skip
    parser.add_argument(
        '--output', default='bench', metavar='DIR',
        help='folder for benchmarks.md, .json and .png (default: bench)',
    )  # fmt: skip
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Find or make an environment with the peers, and run the benchmark in it."""
    from pathlib import Path
    import subprocess

    from parallel_dynamics.errors import ParallelDynamicsError
    from parallel_dynamics.resources import share_directory, writing_to

    script = share_directory() / 'benchmarks' / 'run.py'
    if not script.is_file():
        raise ParallelDynamicsError(
            f'bench: expected the benchmark at {script}, and it is not there. Install the package '
            'again, or run it from its source tree.'
        )
    with writing_to(args.output):
        words = [_python(), str(script), '--output', str(Path(args.output).resolve())]
        words += ['--quick'] * args.quick + ['--json'] * args.json
        if args.skip:
            words += ['--skip', *args.skip]
        return subprocess.run(words, env=_environment(), check=False).returncode


def _python() -> str:
    """Return a Python that has the peers: this one, or one made for the purpose.

    The latter sees the packages of this one too, so that both run the same versions.
    """
    from importlib.util import find_spec
    from pathlib import Path
    import subprocess
    import sys
    import sysconfig
    import venv

    from parallel_dynamics.errors import ParallelDynamicsError
    from parallel_dynamics.resources import cache_directory

    if all(find_spec(module) is not None for module in PEERS):
        return sys.executable
    folder = cache_directory() / 'bench'
    python = folder / 'bin' / 'python'
    if not (folder / '.ready').is_file():
        print(f'Installing {", ".join(PEERS.values())} into {folder}, once.', file=sys.stderr)
        venv.create(folder, system_site_packages=True, with_pip=True, clear=True)
        paths = {'base': str(folder), 'platbase': str(folder)}
        inside = Path(sysconfig.get_path('purelib', 'venv', paths))
        own = {sysconfig.get_path(name) for name in ('purelib', 'platlib')}
        (inside / 'parent.pth').write_text('\n'.join(sorted(own)) + '\n', encoding='utf-8')
        done = subprocess.run(
            [str(python), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check',
             *PEERS.values()],
            check=False,
        )  # fmt: skip
        if done.returncode:
            raise ParallelDynamicsError(
                'bench: the other engines could not be installed; pip says why above.'
            )
        (folder / '.ready').touch()
    return str(python)


def _environment() -> dict[str, str]:
    """Return an environment in which this package is the one that is imported."""
    import os
    from pathlib import Path

    import parallel_dynamics

    source = str(Path(parallel_dynamics.__file__).resolve().parent.parent)
    paths = [source, os.environ.get('PYTHONPATH', '')]
    return {**os.environ, 'PYTHONPATH': os.pathsep.join(path for path in paths if path)}
