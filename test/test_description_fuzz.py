"""Descriptions that are dropped from, renamed in, perturbed: they load or raise the one error."""

from __future__ import annotations

import copy
from pathlib import Path
import tempfile

from edited_robots import Edited
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from parallel_dynamics import resources
from parallel_dynamics.description import load_model
from parallel_dynamics.errors import DescriptionError

ROBOTS = sorted(resources.robot_files())
ORIGINALS = {name: Edited(name) for name in ROBOTS}
STRANGE = st.sampled_from(
    [None, '', ' ', 'x', 'nan', 'inf', '1e400', '0', '-1', '1 2', '0 0 0', 'platform', 0, -1, 3.5,
     True, float('nan'), float('inf'), [], {}, [1, 2, 3], ['a', 'b'], {'a': 1}, 10**400, '1_0',
     'é\u2028\x85', '[', 'leg1_tip', 'base_link', 'fixed', 'floating', 'revolute', 'weld', 'plane']
)  # fmt: skip
NUMBERS = st.floats(-1.0, 1.0, allow_nan=False)


def loads_or_refuses(robot):
    with tempfile.TemporaryDirectory() as folder:
        path = robot.write(Path(folder))
        check(path)


def check(path):
    try:
        model, mobility = load_model(path)
    except DescriptionError as error:
        assert error.faults
        for fault in error.faults:
            assert fault.file and fault.element and fault.problem
        return
    assert len(model.actuators) == mobility.dof == len(mobility.independent)
    assert not mobility.faults


@st.composite
def edited_xml(draw):
    """A robot with a few elements of its URDF dropped, doubled, moved, renamed or perturbed."""
    robot = copy.deepcopy(ORIGINALS[draw(st.sampled_from(ROBOTS))])
    for _ in range(draw(st.integers(1, 3))):
        # Looks are no part of the model, so leave the visuals alone most of the time.
        nodes = [
            node
            for node in robot.root.iter()
            if node is not robot.root and not {'visual', 'material'} & {
                parent.tag for parent in (node, *node.iterancestors())}
        ]  # fmt: skip
        if not nodes:
            break
        node = nodes[draw(st.integers(0, len(nodes) - 1))]
        action = draw(st.sampled_from(['drop', 'double', 'tag', 'attribute', 'number', 'unset']))
        if action == 'drop':
            node.getparent().remove(node)
        elif action == 'double':
            node.addnext(copy.deepcopy(node))
        elif action == 'tag':
            node.tag = draw(st.sampled_from(['link', 'joint', 'mimic', 'axis', 'robot', 'jiont']))
        elif node.attrib:
            key = draw(st.sampled_from(sorted(node.attrib)))
            if action == 'unset':
                del node.attrib[key]
            elif action == 'number':
                node.set(key, perturbed(node.get(key), draw))
            else:
                value = str(draw(STRANGE))
                node.set(key, ''.join(c for c in value if c.isprintable()))
    return robot


def perturbed(text, draw):
    """Return a row of numbers with one of them changed; any other text as it is."""
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        return text
    if numbers:
        k = draw(st.integers(0, len(numbers) - 1))
        numbers[k] += draw(NUMBERS) * draw(st.sampled_from([1e-9, 1e-5, 1e-2, 1.0, 1e6]))
    return ' '.join(map(str, numbers))


@st.composite
def edited_yaml(draw):
    """A robot with a few values of its YAML dropped, replaced, doubled or under another key."""
    robot = copy.deepcopy(ORIGINALS[draw(st.sampled_from(ROBOTS))])
    for _ in range(draw(st.integers(1, 3))):
        box = robot.data
        while True:
            keys = list(box) if isinstance(box, dict) else list(range(len(box)))
            if not keys:
                break
            key = keys[draw(st.integers(0, len(keys) - 1))]
            if isinstance(box[key], (dict, list)) and box[key] and draw(st.booleans()):
                box = box[key]
                continue
            action = draw(st.sampled_from(['drop', 'replace', 'rename', 'double']))
            if action == 'drop':
                del box[key]
            elif action == 'replace':
                box[key] = draw(STRANGE)
            elif isinstance(box, list):
                box.append(copy.deepcopy(box[key]))
            else:
                box[draw(st.sampled_from(['urdf', 'name', 'type', 'extra', 3]))] = box.pop(key)
            break
    return robot


@given(edited_xml())
@settings(max_examples=250)
def test_urdf(robot):
    loads_or_refuses(robot)


@given(edited_yaml())
@settings(max_examples=200)
def test_yaml(robot):
    loads_or_refuses(robot)


@given(st.sampled_from(ROBOTS), st.data())
@settings(max_examples=100)
def test_bytes(name, data):
    """Damaged files: bytes cut out, put in or changed anywhere."""
    with tempfile.TemporaryDirectory() as folder:
        path = ORIGINALS[name].write(Path(folder))
        victim = data.draw(st.sampled_from([path, path.with_suffix('.urdf')]))
        content = bytearray(victim.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            start = data.draw(st.integers(0, len(content)))
            stop = min(len(content), start + data.draw(st.integers(0, 40)))
            content[start:stop] = data.draw(st.binary(max_size=8))
        victim.write_bytes(content)
        check(path)


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_anything_at_all(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'robot.yaml'
        path.write_bytes(content)
        with pytest.raises(DescriptionError):
            load_model(path)


@pytest.mark.parametrize('value', ['1e300', '-1e200', '1e-300', '5e-324', '1e15', '1e9', '1e-9'])
def test_numbers_of_any_size(value):
    """Whatever overflows or vanishes on the way is still no other exception."""
    for tag, key in (('origin', 'xyz'), ('origin', 'rpy'), ('mass', 'value'), ('axis', 'xyz'),
                     ('inertia', 'ixx'), ('limit', 'effort')):  # fmt: skip
        robot = copy.deepcopy(ORIGINALS['three_rps'])
        for node in robot.root.iter(tag):
            if key in node.attrib:
                node.set(key, ' '.join([value] * len(node.get(key).split())))
        loads_or_refuses(robot)
