"""The package in a colcon workspace: built, sourced, and used from another folder."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
import sys

import pytest

NODES = {
    'controller', 'joint_force_estimator', 'recorder', 'replay', 'simulator',
    'trajectory_source', 'viewer',
}  # fmt: skip

# What a user does in a sourced workspace.
USE = """
import json
import parallel_dynamics as pd
from parallel_dynamics import resources
robot = pd.load_robot('gough_stewart')
print(json.dumps({
    'package': pd.__file__,
    'share': str(resources.share_directory()),
    'name': robot.name,
    'dof': robot.dof,
}))
"""


@pytest.fixture
def workspace(source_copy, run, tmp_path):
    """Return a function that builds the package and returns one that runs words in the result."""
    importlib.import_module('colcon_core')
    install = tmp_path / 'install'

    def build(*options):
        run(
            sys.executable, '-c', 'from colcon_core.command import main; raise SystemExit(main())',
            '--log-base', tmp_path / 'log', 'build', '--paths', source_copy, '--merge-install',
            '--build-base', tmp_path / 'build', '--install-base', install, *options,
            COLCON_EXTENSION_BLOCKLIST='colcon_core.event_handler.desktop_notification',
        )  # fmt: skip
        return install, sourced

    def sourced(words):
        # The package is reached through the sourced workspace alone.
        return run(
            'bash', '-c', f'. {install}/setup.bash && {words}', PYTHONPATH=None,
            AMENT_PREFIX_PATH=None, COLCON_CURRENT_PREFIX=None, COLCON_PREFIX_PATH=None,
            NUMBA_DISABLE_JIT='1',  # what is built is looked at, not how fast it is
        ).stdout  # fmt: skip

    return build


@pytest.mark.slow
def test_robots_load_from_an_install_space(workspace, tmp_path):
    install, sourced = workspace()
    program = tmp_path / 'use.py'
    program.write_text(USE)
    told = json.loads(sourced(f'{sys.executable} {program}'))
    assert Path(told['package']).is_relative_to(install)
    assert Path(told['share']) == install / 'share' / 'parallel_dynamics'
    assert (told['name'], told['dof']) == ('gough_stewart', 6)


@pytest.mark.parametrize('options', [(), ('--symlink-install',)], ids=['copied', 'linked'])
def test_executables_are_where_ros_and_the_shell_look(workspace, source_copy, options):
    install, sourced = workspace(*options)
    scripts = {path.name for path in (install / 'lib' / 'parallel_dynamics').iterdir()}
    assert scripts == NODES, 'what `ros2 run parallel_dynamics` offers'

    shipped = {path.stem for path in (source_copy / 'config' / 'robots').glob('*.yaml')}
    home = source_copy if options else install / 'share' / 'parallel_dynamics'
    robots = json.loads(sourced('parallel-dynamics list --json'))
    assert {robot['name'] for robot in robots} == shipped
    for robot in robots:
        assert Path(robot['urdf']).is_file() and Path(robot['urdf']).is_relative_to(home)
    # Where ROS tools look for the robots that launch files name.
    assert {path.stem for path in install.glob('share/*/config/robots/*.yaml')} == shipped
