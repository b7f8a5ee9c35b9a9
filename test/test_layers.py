"""Imports point downwards, and ROS stays in the nodes. The table here has the order."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = 'parallel_dynamics'

# From bottom to top: a module imports from its own line and from earlier ones. DOOR is the
# package itself (`import parallel_dynamics`), which collects the public names: only what stands
# on top of the whole library goes in through it.
DOOR = '(the package itself)'
LAYERS = (
    'errors',
    'resources',
    'spatial',
    'model',
    'motion',
    'platform_chain',
    'kernels',
    'unrolling',
    'mobility',
    'description',
    'families',
    'engine',
    'jacobians',
    'virtual_motion',
    'linear_form',
    'joint_forces',
    'robot',
    'loading',
    'forces',
    'recording',
    'maps',
    'trajectories',
    'simulation',
    'control',
    'identification',
    'plots',
    'papers',
    'viewer',
    DOOR,
    'nodes',
    'demo',
    'commands',
)

# Where ROS may be imported, and the packages that are ROS.
ROS_LAYER = 'nodes'
ROS_PACKAGES = {
    'ament_index_python', 'builtin_interfaces', 'launch', 'launch_ros', 'rcl_interfaces', 'rclpy',
    'rosidl_runtime_py', 'std_srvs', 'tf2_py', 'tf2_ros',
}  # fmt: skip

# Engines to compare with: in tests and benchmarks only.
ENGINES = {'drake', 'mujoco', 'pinocchio', 'pydrake'}


def imported(tree, module, is_package):
    """Return (line, dotted name) of every import in a module, those inside functions too.

    `from a import b` counts as a.b: whether b is a module or a name makes no difference to the
    layer, save at the door, which `layer_of` looks after.
    """
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = module.split('.')
            if node.level:
                base = base[: len(base) - node.level + (1 if is_package else 0)]
                origin = '.'.join([*base, *([node.module] if node.module else [])])
            else:
                origin = node.module
            found += [(node.lineno, f'{origin}.{alias.name}') for alias in node.names]
    return found


def layer_of(dotted, modules):
    """Return the layer that a dotted name inside the package belongs to."""
    parts = dotted.split('.')
    return parts[1] if len(parts) > 1 and parts[1] in {*modules, *LAYERS} else DOOR


def is_ros(dotted):
    top = dotted.partition('.')[0]
    return top in ROS_PACKAGES or top.endswith('_msgs')


def complaints(root):
    """Return one sentence for every import in the package at root that crosses a line."""
    package = root / PACKAGE
    modules = {p.stem if p.suffix == '.py' else p.name for p in package.iterdir()
               if p.suffix == '.py' or (p.is_dir() and any(p.rglob('*.py')))}  # fmt: skip
    modules -= {'__init__', '__pycache__'}
    found = [
        f'{PACKAGE}/{name} is not in the table of layers in test/test_layers.py; add its line.'
        for name in sorted(modules - set(LAYERS))
    ]
    for path in sorted(package.rglob('*.py')):
        dotted = '.'.join(path.relative_to(root).with_suffix('').parts)
        is_package = path.name == '__init__.py'
        module = dotted.removesuffix('.__init__')
        layer = layer_of(module, modules)
        if layer not in LAYERS:
            continue
        height = LAYERS.index(layer)
        for line, name in imported(ast.parse(path.read_text('utf-8')), module, is_package):
            where = f'{path.relative_to(root)}:{line} imports {name}'
            if is_ros(name) and layer != ROS_LAYER:
                found.append(f'{where}: ROS is imported in {PACKAGE}/{ROS_LAYER} only.')
            elif name.partition('.')[0] in ENGINES:
                found.append(f'{where}: other engines are for tests and benchmarks only.')
            elif name.partition('.')[0] == PACKAGE:
                target = layer_of(name, modules)
                # The door lets everything out, so what it imports is not looked at.
                if layer != DOOR and target in LAYERS and LAYERS.index(target) > height:
                    found.append(f'{where}: {layer} is below {target} in the table of layers.')
    return found


def test_nobody_crosses_a_layer(repository):
    assert not complaints(repository), '\n'.join(complaints(repository))


def write(root, **files):
    """Write a package of the given modules; a__b is the file a/b.py."""
    for name, text in {'__init__': '', **files}.items():
        path = root / PACKAGE / (name if name == '__init__' else name.replace('__', '/'))
        path = path.with_suffix('.py')
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


CROSSINGS = {
    'upwards': ({'spatial': 'import parallel_dynamics.robot', 'robot': ''}, 'spatial is below'),
    'by name': ({'model': 'from parallel_dynamics import robot', 'robot': ''}, 'model is below'),
    'relative': ({'kernels__a': 'from ..robot import Robot', 'robot': ''}, 'kernels is below'),
    'lazily': ({'model': 'def f():\n    from . import robot', 'robot': ''}, 'model.py:2 imports'),
    'door': ({'robot': 'import parallel_dynamics as pd'}, 'is below (the package itself)'),
    'ros': ({'robot': 'def f():\n    import rclpy.node'}, 'nodes only'),
    'message': ({'commands__a': 'from sensor_msgs.msg import JointState'}, 'nodes only'),
    'engine': ({'nodes__a': 'import pinocchio as pin'}, 'tests and benchmarks only'),
    'unknown': ({'gadgets': ''}, 'gadgets is not in the table'),
}


@pytest.mark.parametrize('kind', CROSSINGS)
def test_each_kind_of_crossing_is_named(tmp_path, kind):
    files, sentence = CROSSINGS[kind]
    write(tmp_path, **files)
    (complaint,) = complaints(tmp_path)
    assert sentence in complaint


def test_what_is_allowed_passes(tmp_path):
    write(
        tmp_path,
        __init__='from parallel_dynamics.robot import Robot',
        errors='import numpy',
        robot='from .errors import Fault\nfrom parallel_dynamics.kernels import a',
        kernels__a='from . import b\nfrom parallel_dynamics.errors import Fault',
        kernels__b='',
        nodes__a='import rclpy, geometry_msgs.msg\nimport parallel_dynamics as pd',
        commands__a='from parallel_dynamics import load_robot',
    )
    assert complaints(tmp_path) == []


def test_every_folder_is_a_package(repository):
    folders = {path.parent for path in (repository / PACKAGE).rglob('*.py')}
    missing = [str(Path(f).relative_to(repository)) for f in folders
               if not (f / '__init__.py').exists()]  # fmt: skip
    assert not missing, f'these folders are not installed, they have no __init__.py: {missing}'
