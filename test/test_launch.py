"""Launch files: what they name exists; and, where `launch` is installed, that they work."""

from __future__ import annotations

import ast
import os
from pathlib import Path
import signal
import sys
import xml.etree.ElementTree as ElementTree

from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.srv import GetState
import pytest
from rcl_interfaces.srv import ListParameters
import ros_process
from sensor_msgs.msg import JointState
import yaml

REPOSITORY = ros_process.REPOSITORY
OWN = 'parallel_dynamics'
FILES = sorted((REPOSITORY / 'launch').glob('*.launch.py'))
PARAMETER_FILES = sorted((REPOSITORY / 'config' / 'params').glob('*.yaml'))
RVIZ_FILES = sorted((REPOSITORY / 'rviz').glob('*.rviz'))

named = pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)


# ---------------------------------------------------------------- reading launch files


def calls(tree, *names):
    """Return the keyword arguments of all calls of the functions with these names."""
    return [
        {k.arg: k.value for k in node.keywords}
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, 'id', '') in names
    ]


def dictionaries(tree):
    """Return the keys of every dictionary in a variable, those assigned later included."""
    found = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        (target,) = node.targets
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Dict):
            found.setdefault(target.id, []).append(node.value)
        elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            found.setdefault(target.value.id, []).append(target.slice.value)
    return found


def keys(value, known):
    """Return the keys of a dictionary expression: literal, by name, and those it unpacks."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, ast.Name):
        return set().union(*(keys(part, known) for part in known.get(value.id, [])))
    if isinstance(value, ast.Dict):
        plain = {k.value for k in value.keys if k is not None}
        inner = (keys(v, known) for k, v in zip(value.keys, value.values) if k is None)
        return plain.union(*inner)
    return set()


def started(path):
    """Return (package, executable, names of parameters) of every node of a launch file."""
    tree = ast.parse(path.read_text('utf-8'))
    known = dictionaries(tree)
    nodes = []
    for call in calls(tree, 'Node', 'LifecycleNode'):
        parameters = set()
        for element in getattr(call.get('parameters'), 'elts', []):
            parameters |= keys(element, known)
        nodes.append((call['package'].value, call['executable'].value, parameters))
    return nodes


def joined(node):
    """Return the parts of an expression like share / 'rviz' / 'x.rviz', None if it is not."""
    if isinstance(node, ast.Name):
        return [] if node.id == 'share' else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        left = joined(node.left)
        if left is not None and isinstance(node.right, ast.Constant):
            return [*left, node.right.value]
    return None


def own_nodes():
    """Return the parameters that launch files give each node of this package."""
    found = {}
    for path in FILES:
        for package, executable, parameters in started(path):
            if package == OWN:
                found.setdefault(executable, set()).update(parameters)
    for path in PARAMETER_FILES:
        for name, section in yaml.safe_load(path.read_text('utf-8')).items():
            executable = name.removeprefix('/**/')
            found.setdefault(executable, set()).update(section['ros__parameters'])
    return found


# ---------------------------------------------------------------- what they name exists


def test_there_are_launch_files():
    names = {path.name for path in FILES}
    assert {'simulation.launch.py', 'robot.launch.py', 'view.launch.py'} <= names
    assert PARAMETER_FILES and RVIZ_FILES


@named
def test_every_package_and_executable_exists(path):
    manifest = ElementTree.parse(REPOSITORY / 'package.xml').getroot()
    packages = {element.text for element in manifest.findall('exec_depend')} | {OWN}
    nodes = started(path)
    assert nodes
    for package, executable, _ in nodes:
        assert package in packages, f'{package} is not in package.xml'
        if package == OWN:
            assert (REPOSITORY / OWN / 'nodes' / f'{executable}.py').is_file()
            assert f"'{executable}'" in (REPOSITORY / 'setup.py').read_text('utf-8')


@named
def test_every_file_exists(path):
    tree = ast.parse(path.read_text('utf-8'))
    files = [joined(node) for node in ast.walk(tree)]
    files = ['/'.join(parts) for parts in files if parts and '.' in parts[-1]]
    assert files
    for name in files:
        assert (REPOSITORY / name).is_file(), f'{path.name} names {name}'


@named
def test_arguments_that_users_know_are_there(path):
    tree = ast.parse(path.read_text('utf-8'))
    declared = [
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'DeclareLaunchArgument'
    ]
    wanted = {'robot', 'namespace', 'use_sim_time', 'rviz'}
    if path.name != 'view.launch.py':
        wanted |= {'mode', 'rate', 'params_file'}
    assert wanted <= set(declared)
    used = {node.args[0].value for node in ast.walk(tree) if isinstance(node, ast.Call)
            and getattr(node.func, 'id', '') == 'given'
            and isinstance(node.args[0], ast.Constant)}  # fmt: skip
    assert used <= set(declared)


def topics_in(value):
    """Yield the topics of an RViz configuration."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key.endswith('Topic') and isinstance(inner, dict):
                yield inner['Value']
            else:
                yield from topics_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from topics_in(inner)


@pytest.mark.ros
def test_every_parameter_and_topic_exists():
    """Ask the nodes themselves."""
    wanted = own_nodes()
    processes = {}
    try:
        for name in wanted:
            processes[name] = ros_process.start(name, ready=False, robot='delta')
        with ros_process.Peer() as peer:
            for name, parameters in wanted.items():
                processes[name].wait_for_line('ready', timeout=300.0)
                answer = peer.call(ListParameters, f'{name}/list_parameters')
                unknown = parameters - set(answer.result.names)
                assert not unknown, f'{name} has no parameters {sorted(unknown)}'

            shown = set()
            for path in RVIZ_FILES:
                shown |= {f'/{t}' for t in topics_in(yaml.safe_load(path.read_text('utf-8')))}

            def there():
                return {topic for topic, _ in peer.node.get_topic_names_and_types()}

            peer.wait_for(lambda: shown <= there(), f'the topics that RViz shows: {shown}')
    finally:
        for process in processes.values():
            process.end()


# ---------------------------------------------------------------- the real thing


def launch_is_here():
    try:
        import launch
        import launch_ros.actions
    except ImportError:
        return False
    # The folder of this name in the source tree is no package.
    return hasattr(launch, 'LaunchService') and bool(launch_ros.actions)


real = [
    pytest.mark.ros,
    pytest.mark.slow,
    pytest.mark.skipif(
        not launch_is_here(), reason='launch and launch_ros are not installed (ROS 2 brings them)'
    ),
]

RUN = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

service = LaunchService()
parts = []
for word in sys.argv[1:]:
    if word.endswith('.launch.py'):
        parts.append((word, []))
    else:
        parts[-1][1].append(tuple(word.split(':=', 1)))
service.include_launch_description(LaunchDescription([
    GroupAction([IncludeLaunchDescription(
        PythonLaunchDescriptionSource(path), launch_arguments=arguments)])
    for path, arguments in parts
]))
sys.exit(service.run())
"""


@pytest.fixture
def launch(tmp_path):
    """Return a function that launches files with arguments, from an ament prefix of this tree."""
    prefix = tmp_path / 'prefix'
    index = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / OWN).touch()
    (prefix / 'share' / OWN).symlink_to(REPOSITORY)
    programs = prefix / 'lib' / OWN
    programs.mkdir(parents=True)
    for path in (REPOSITORY / OWN / 'nodes').glob('[a-z]*.py'):
        program = programs / path.stem
        program.write_text(
            f'#!/bin/sh\nexec {sys.executable} -m {OWN}.nodes.{path.stem} "$@"\n', 'utf-8'
        )
        program.chmod(0o755)
    script = tmp_path / 'run.py'
    script.write_text(RUN, 'utf-8')
    prefixes = os.pathsep.join(filter(None, [str(prefix), os.environ.get('AMENT_PREFIX_PATH')]))
    paths = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get('PYTHONPATH')]))
    processes = []

    def launch(*words):
        words = [
            str(REPOSITORY / 'launch' / word) if word.endswith('.launch.py') else word
            for word in words
        ]
        process = ros_process.RosProcess(
            [sys.executable, script, *words],
            AMENT_PREFIX_PATH=prefixes, PYTHONPATH=paths, ROS_LOG_DIR=str(tmp_path / 'log'),
        )  # fmt: skip
        processes.append(process)
        return process

    yield launch
    for process in processes:
        process.end()


def descendants(pid):
    """Return the ids of all processes that a process has started, and theirs."""
    found = []
    for task in Path(f'/proc/{pid}/task').glob('*/children'):
        for child in map(int, task.read_text().split()):
            found += [child, *descendants(child)]
    return found


def running(pids):
    """Return those that still run; one that only waits for its parent to notice does not."""
    found = []
    for pid in pids:
        try:
            state = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
        except OSError:
            continue
        if state != 'Z':
            found.append(pid)
    return found


def press_ctrl_c(process):
    """Interrupt a launch as a terminal does: with all that it has started."""
    os.killpg(process.process.pid, signal.SIGINT)
    process.process.wait(30.0)


def state_of(peer, controller):
    return peer.call(GetState, f'{controller}/get_state').current_state.label


class TestReal:
    pytestmark = real

    def test_two_simulated_robots_at_once(self, launch):
        common = ('state_publisher:=auto', 'rate:=200')
        both = launch(
            'simulation.launch.py', 'robot:=delta', 'namespace:=left', *common,
            'simulation.launch.py', 'robot:=gough_stewart', 'namespace:=right',
            'mode:=pd_feedforward', *common,
        )  # fmt: skip
        with ros_process.Peer() as peer:
            for side, count in (('left', 3), ('right', 6)):
                name = f'/{side}/controller'
                peer.wait_for(lambda name=name: state_of(peer, name) == 'active', name)
                states = peer.listen(JointState, f'/{side}/feedforward')
                peer.wait_for(lambda states=states: states, f'the control of {side}')
                assert len(states[-1].name) == count
            forces = peer.listen(WrenchStamped, '/left/external_wrench_estimate')
            peer.wait_for(lambda: forces, 'the estimator')
        family = descendants(both.process.pid)
        assert len(family) >= 8
        press_ctrl_c(both)
        assert not running(family), both.output
        assert 'Traceback' not in both.output, both.output

    def test_against_the_topics_of_a_robot(self, launch):
        with ros_process.start('simulator', robot='delta'), ros_process.Peer() as peer:
            process = launch('robot.launch.py', 'robot:=delta')
            process.wait_for_line('[controller', timeout=60.0)
            complete = peer.listen(JointState, 'joint_states_complete')
            peer.wait_for(lambda: complete, 'completed joint states')
            peer.wait_for(lambda: state_of(peer, 'controller') == 'inactive', 'configuration')
            press_ctrl_c(process)
            process = launch('robot.launch.py', 'robot:=delta', 'activate:=true')
            peer.wait_for(lambda: state_of(peer, 'controller') == 'active', 'activation')

    def test_a_robot_to_look_at(self, launch):
        process = launch('view.launch.py', 'robot:=c5', 'standing:=true', 'rviz:=false')
        with ros_process.Peer() as peer:
            states = peer.listen(JointState, 'joint_states')
            peer.wait_for(lambda: states, 'joint states')
        press_ctrl_c(process)
        assert 'Traceback' not in process.output

