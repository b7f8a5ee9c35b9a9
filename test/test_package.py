"""The package as installed: metadata, lock files, data files, style and types."""

from __future__ import annotations

import ast
import importlib
import json
import os
from pathlib import Path
import re
import stat
import sys
import xml.etree.ElementTree as ElementTree

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
import pytest

from parallel_dynamics import resources
from parallel_dynamics.errors import ParallelDynamicsError

DATA_FOLDERS = ('benchmarks', 'config', 'launch', 'rviz', 'urdf')
NODES = {
    'controller', 'joint_force_estimator', 'recorder', 'replay', 'simulator', 'trajectory_source',
    'viewer',
}  # fmt: skip

# What a Python module is called in requirements/*.in and in package.xml, where not its own name.
# Numba brings the llvmlite that it works with.
PYPI_NAMES = {
    'llvmlite': 'numba', 'mcap_ros2': 'mcap-ros2-support', 'mpl_toolkits': 'matplotlib',
    'urdf_parser_py': 'urdfdom-py', 'yaml': 'pyyaml',
}  # fmt: skip
ROSDEP_NAMES = {
    'argcomplete': 'python3-argcomplete', 'llvmlite': 'python3-numba', 'lxml': 'python3-lxml',
    'matplotlib': 'python3-matplotlib', 'mpl_toolkits': 'python3-matplotlib',
    'numba': 'python3-numba', 'numpy': 'python3-numpy', 'scipy': 'python3-scipy',
    'tqdm': 'python3-tqdm', 'urdf_parser_py': 'urdfdom_py', 'yaml': 'python3-yaml',
}  # fmt: skip
# Not needed to run the library and its nodes, and without a rosdep key.
EXTRAS = {'casadi', 'mcap', 'mcap_ros2', 'rosbags', 'viser', 'websockets', 'yourdfpy',
          'zstandard'}  # fmt: skip


def test_ruff_is_content(repository, run):
    importlib.import_module('ruff')
    run(sys.executable, '-m', 'ruff', 'check', '--no-cache', repository)


@pytest.mark.slow
def test_mypy_is_content(repository, run):
    importlib.import_module('mypy')
    run(
        sys.executable, '-m', 'mypy', '--config-file', repository / 'pyproject.toml',
        '--cache-dir', repository / '.mypy_cache', repository / 'parallel_dynamics',
    )  # fmt: skip


# --- metadata -----------------------------------------------------------------------------------


@pytest.fixture(scope='session')
def manifest(repository):
    return ElementTree.parse(repository / 'package.xml').getroot()


@pytest.mark.xdist_group('together')
def test_groups_of_tests_stay_in_one_process(request):
    """Else two loops in real time starve each other, and what is made once is made twice."""
    grouping = getattr(request.config.option, 'loadgroup', False)
    assert request.node.nodeid.endswith('@together') == grouping


def test_manifest_is_an_ament_python_package(repository, manifest):
    catkin_pkg = importlib.import_module('catkin_pkg.package')
    warnings = []
    package = catkin_pkg.parse_package(str(repository / 'package.xml'), warnings=warnings)
    assert warnings == []
    assert package.package_format == 3
    assert package.name == 'parallel_dynamics'
    assert package.licenses == ['Apache-2.0']
    assert package.get_build_type() == 'ament_python'


def imports_of_the_package(repository):
    """Return the names of the packages outside the standard library that the package imports."""
    found = set()
    for path in (repository / 'parallel_dynamics').rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text('utf-8'))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition('.')[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(node.module.partition('.')[0])
    return found - set(sys.stdlib_module_names) - {'parallel_dynamics'}


def is_ros(module):
    return module.endswith(('_msgs', '_srvs', '_interfaces')) or module in (
        'rclpy', 'ament_index_python', 'launch', 'launch_ros',
    )  # fmt: skip


def read_requirements(path):
    """Return the requirements in one file, without those of the files it includes."""
    lines = (line.partition('#')[0].strip() for line in path.read_text('utf-8').splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith('-')]


def test_package_xml_names_what_is_imported(repository, manifest):
    named = {element.text for element in manifest.findall('exec_depend')}
    needed = {ROSDEP_NAMES.get(m, m) for m in imports_of_the_package(repository) - EXTRAS}
    assert needed <= named, f'not in package.xml: {sorted(needed - named)}'


def test_requirements_name_what_is_imported(repository):
    folder = repository / 'requirements'
    runtime = {canonicalize_name(r.name) for r in read_requirements(folder / 'runtime.in')}
    extras = {
        canonicalize_name(requirement.name)
        for path in folder.glob('*.in')
        for requirement in read_requirements(path)
    }
    for module in sorted(imports_of_the_package(repository)):
        name = canonicalize_name(PYPI_NAMES.get(module, module))
        if is_ros(module):
            # Not builtin_interfaces and the like, which every message package brings along.
            continue
        wanted = extras if module in EXTRAS else runtime
        assert name in wanted, f'{module} is imported and {name} is in no requirements/*.in'


LOCKS = ('lock.txt', 'lock-ros.txt', 'lock-oldest.txt')


@pytest.mark.parametrize('name', LOCKS)
def test_lock_pins_every_version_and_names_no_place(repository, name):
    path = repository / 'requirements' / name
    assert not re.search(r'(://|--\S*(index|find-links|host))', path.read_text('utf-8'))
    for requirement in read_requirements(path):
        (specifier,) = requirement.specifier
        assert specifier.operator == '==', str(requirement)


@pytest.mark.parametrize(
    ('lock', 'inputs'),
    [
        ('lock.txt', ('runtime', 'view', 'record', 'bench', 'test', 'docs')),
        ('lock-ros.txt', ('ros',)),
        ('lock-oldest.txt', ('runtime', 'oldest')),
    ],
)
@pytest.mark.parametrize('python', ['3.10', '3.11', '3.12', '3.13'])
def test_lock_satisfies_the_requirements(repository, lock, inputs, python):
    if lock == 'lock-oldest.txt' and python != '3.12':
        pytest.skip('the oldest supported versions are those for Python 3.12')
    folder = repository / 'requirements'
    here = {
        'python_version': python, 'python_full_version': f'{python}.0', 'extra': '',
        'sys_platform': 'linux', 'platform_machine': 'x86_64', 'platform_system': 'Linux',
        'implementation_name': 'cpython', 'platform_python_implementation': 'CPython',
    }  # fmt: skip

    def applies(requirement):
        return requirement.marker is None or requirement.marker.evaluate(here)

    locked = {
        canonicalize_name(r.name): next(iter(r.specifier)).version
        for r in read_requirements(folder / lock)
        if applies(r)
    }
    for name in inputs:
        for wanted in filter(applies, read_requirements(folder / f'{name}.in')):
            version = locked.get(canonicalize_name(wanted.name))
            assert version and wanted.specifier.contains(version, prereleases=True), (
                f'{lock} has {version} of {wanted} for Python {python}; run make lock'
            )


# --- installation by pip ------------------------------------------------------------------------


@pytest.fixture
def installed(source_copy, run, tmp_path):
    """Return the prefix of an installation by pip, without network."""
    prefix = tmp_path / 'prefix'
    run(
        sys.executable, '-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps',
        '--no-build-isolation', '--ignore-installed', '--no-warn-script-location',
        '--disable-pip-version-check', '--prefix', prefix, source_copy,
    )  # fmt: skip
    return prefix


def site_packages(prefix):
    (package,) = prefix.rglob('site-packages/parallel_dynamics')
    return package.parent


def test_pip_installs_everything(repository, source_copy, installed, run):
    assert {'parallel-dynamics', *NODES} <= {path.name for path in (installed / 'bin').iterdir()}

    share = installed / 'share' / 'parallel_dynamics'
    for folder in DATA_FOLDERS:
        for path in (source_copy / folder).rglob('*'):
            if path.is_file():
                assert (share / path.relative_to(source_copy)).is_file(), f'{path} is left behind'
    assert (installed / 'share/ament_index/resource_index/packages/parallel_dynamics').is_file()

    package = site_packages(installed) / 'parallel_dynamics'
    for path in (source_copy / 'parallel_dynamics').rglob('*'):
        if path.is_file() and path.suffix != '.pyc':
            relative = path.relative_to(source_copy / 'parallel_dynamics')
            assert (package / relative).is_file(), f'{path} is left behind'

    listed = run(
        installed / 'bin' / 'parallel-dynamics', 'list', '--json',
        PYTHONPATH=str(site_packages(installed)),
    )  # fmt: skip
    robots = json.loads(listed.stdout)
    assert [robot['name'] for robot in robots] == list(resources.robot_files())
    assert all(Path(robot['urdf']).is_relative_to(share) for robot in robots)
    assert all(Path(robot['urdf']).is_file() for robot in robots)


# --- finding things -----------------------------------------------------------------------------


@pytest.fixture
def fresh():
    """Forget what was found before and after the test."""
    functions = (resources.share_directory, resources.cache_directory)
    for function in functions:
        function.cache_clear()
    yield
    for function in functions:
        function.cache_clear()


def test_source_tree_is_found_from_any_folder(repository, fresh, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resources.share_directory() == repository


def test_ament_prefix_is_found_when_nothing_is_nearer(fresh, tmp_path, monkeypatch):
    share = tmp_path / 'workspace' / 'share' / 'parallel_dynamics'
    share.mkdir(parents=True)
    (share / 'package.xml').write_text('<package/>')
    monkeypatch.setattr(resources, '__file__', str(tmp_path / 'alone' / 'resources.py'))
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere:{tmp_path / "workspace"}')
    assert resources.share_directory() == share


def test_missing_data_files_are_reported_with_the_places(fresh, tmp_path, monkeypatch):
    monkeypatch.setattr(resources, '__file__', str(tmp_path / 'alone' / 'resources.py'))
    monkeypatch.setattr(sys, 'prefix', str(tmp_path))
    monkeypatch.setenv('AMENT_PREFIX_PATH', '')
    with pytest.raises(ParallelDynamicsError, match='looked in .*Install the package again'):
        resources.share_directory()


def test_cache_is_private_to_the_user(fresh, tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    folder = resources.cache_directory()
    assert folder == tmp_path / 'parallel_dynamics'
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_cache_of_a_missing_home_is_temporary(fresh, tmp_path, monkeypatch):
    (tmp_path / 'file').write_text('')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'file'))
    monkeypatch.setattr(resources.tempfile, 'tempdir', str(tmp_path))
    folder = resources.cache_directory()
    assert folder == tmp_path / f'parallel_dynamics-{os.getuid()}'


def test_cache_that_others_can_write_to_is_not_trusted(fresh, tmp_path, monkeypatch):
    open_to_all = tmp_path / 'parallel_dynamics'
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    monkeypatch.setattr(resources.tempfile, 'tempdir', str(tmp_path))
    assert resources.cache_directory() != open_to_all
