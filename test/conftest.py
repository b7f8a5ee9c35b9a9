"""Shared set-up: every test process is alone on its ROS domain and keeps to this machine."""

from __future__ import annotations

import ast
import contextlib
import fcntl
import importlib.util
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
import tempfile

from hypothesis import settings
import pytest

from parallel_dynamics.nodes import middleware

REPOSITORY = Path(__file__).resolve().parent.parent

# Set by `make test-oldest`: what is not installed there is left out. Elsewhere a missing module
# is an error, so that no test goes missing unseen.
LEAN = bool(os.environ.get('PARALLEL_DYNAMICS_LEAN'))

# Higher ones collide with the ports that Linux hands out by itself.
DOMAINS = range(1, 101)


def claim_domain():
    """Lock a ROS domain until this process ends, so that no other test process shares it."""
    folder = Path(tempfile.gettempdir()) / f'parallel_dynamics_domains_{os.getuid()}'
    folder.mkdir(exist_ok=True)
    for domain in DOMAINS:
        file = open(folder / str(domain), 'w')  # held open on purpose
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            continue
        return domain, file
    raise RuntimeError('All ROS domains are taken by other test runs; wait for them to end.')


# A shell that runs this in the background ignores Ctrl-C, and so would the programs under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.default_int_handler)

# At import, hence before any test module can import rclpy or numba, and in every xdist worker.
ROS_DOMAIN, _domain_lock = claim_domain()
os.environ['ROS_DOMAIN_ID'] = str(ROS_DOMAIN)
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
middleware.prefer(os.environ)  # for peers in tests as for the nodes
os.environ.setdefault('NUMBA_CACHE_DIR', str(REPOSITORY / '.cache' / 'numba'))
os.environ.setdefault('MPLBACKEND', 'agg')

# Deterministic by default; HYPOTHESIS_PROFILE=explore looks for new examples.
settings.register_profile('steady', deadline=None, derandomize=True)
settings.register_profile('explore', deadline=None, max_examples=1000)
settings.load_profile(os.environ.get('HYPOTHESIS_PROFILE', 'steady'))


def missing_imports(path, seen=None):
    """Return what a test file imports at its top and is not installed.

    What it imports of the helpers beside it, and of this package, counts as well.
    """
    seen = set() if seen is None else seen
    if path in seen or not path.is_file():
        return set()
    seen.add(path)
    names = set()
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names |= {node.module, *(f'{node.module}.{alias.name}' for alias in node.names)}
    tops = {name.partition('.')[0] for name in names}
    missing = {name for name in tops if importlib.util.find_spec(name) is None}
    files = [path.parent / f'{name}.py' for name in tops - {'conftest'}]
    for name in names:
        if name.startswith('parallel_dynamics.'):
            place = REPOSITORY.joinpath(*name.split('.'))
            files += [place.with_suffix('.py'), place / '__init__.py']
    return missing.union(*(missing_imports(file, seen) for file in files))


_left_out = {}
if LEAN:
    for _file in sorted(Path(__file__).parent.glob('test_*.py')):
        _left_out[_file.name] = missing_imports(_file)
    _left_out = {name: missing for name, missing in _left_out.items() if missing}
collect_ignore = list(_left_out)


def pytest_report_header():
    return [f'left out: {name} (no {", ".join(sorted(m))} here)' for name, m in _left_out.items()]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Run what starts nodes or a browser in one worker: two such loops at once starve."""
    for item in items:
        if any(item.get_closest_marker(name) for name in ('ros', 'browser')):
            item.add_marker(pytest.mark.xdist_group('processes'))


def skip_what_is_missing():
    try:
        return (yield)
    except ModuleNotFoundError as error:
        if LEAN:
            pytest.skip(f'no {error.name} here')
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    return (yield from skip_what_is_missing())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from skip_what_is_missing())


@pytest.fixture(scope='session')
def repository():
    """Return the root of the source tree."""
    return REPOSITORY


@pytest.fixture
def source_copy(repository, tmp_path):
    """Return a copy of the source tree, so that a build leaves the tree alone."""
    leftovers = ('.*', '__pycache__', '*.egg-info', 'build', 'dist', 'install', 'log', 'site')
    ignore = shutil.ignore_patterns(*leftovers, 'output')
    return Path(shutil.copytree(repository, tmp_path / 'source', ignore=ignore))


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a program away from the source tree and returns its result.

    The environment is this one's with the given changes; a value of None removes a variable.
    """
    folder = tmp_path / 'elsewhere'
    folder.mkdir()

    def run(*words, check=True, timeout=300, **changes):
        environment = {**os.environ, **changes}
        environment = {name: value for name, value in environment.items() if value is not None}
        result = subprocess.run(
            [str(word) for word in words], cwd=folder, env=environment, timeout=timeout,
            capture_output=True, text=True,
        )  # fmt: skip
        if check and result.returncode != 0:
            pytest.fail(f'{words} returned {result.returncode}:\n{result.stdout}{result.stderr}')
        return result

    return run


@pytest.fixture
def command(run, repository):
    """Return a function that runs `parallel-dynamics` from the source tree."""

    def command(*words, **options):
        main = 'parallel_dynamics.commands.main'
        return run(sys.executable, '-m', main, *words, PYTHONPATH=str(repository), **options)

    return command
