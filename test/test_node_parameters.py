"""Parameters of the controller node at run time: what does not go together is refused."""

from __future__ import annotations

import pytest
import rclpy
from rclpy.parameter import Parameter

from parallel_dynamics import control
from parallel_dynamics.nodes.controller import ControllerNode

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def node():
    """Return a node in this process, with a control loop but nobody to talk to."""
    rclpy.init(args=['--ros-args', '-p', 'robot:=delta', '-p', 'autostart:=false'])
    node = ControllerNode()
    node._control = control.ControlLoop(node.robot)
    yield node
    node.destroy_node()
    rclpy.shutdown()


def given(values):
    return [Parameter(name, value=value) for name, value in values.items()]


REFUSED = {
    'ages': ({'hold_after': 0.5}, 'ramp_after: expected at least hold_after'),
    'ages, the other way': ({'ramp_after': 0.05}, 'ramp_after: expected at least hold_after'),
    'workspace': ({'workspace_upper': [0.1, 0.1, -9.0], 'workspace_lower': [0.0, 0.0, 0.0]},
                  'expected z below workspace_upper'),
    'gains': ({'mode': 'adaptive', 'kd': [1.0, 0.0, 1.0]}, 'expected positive numbers'),
    'no list': ({'workspace_lower': 3.0}, 'expected a list of numbers'),
}  # fmt: skip


@pytest.mark.parametrize('what', REFUSED)
def test_what_does_not_go_together_is_refused_and_not_stored(node, what):
    values, reason = REFUSED[what]
    before = {name: node.parameters[name] for name in values}
    result = node.set_parameters_atomically(given(values))
    assert not result.successful and reason in result.reason
    assert {name: node.parameters[name] for name in values} == before
    assert node.control.settings == control.LoopSettings()


def test_what_comes_together_is_judged_together(node):
    """Whatever comes first: by itself, either value would be refused."""
    for values in ({'hold_after': 0.5, 'ramp_after': 1.0}, {'hold_after': 0.1, 'ramp_after': 0.3}):
        assert node.set_parameters_atomically(given(values)).successful
        settings = node.control.settings
        assert (settings.hold_after, settings.ramp_after) == tuple(values.values())
    box = {'workspace_lower': [-9.0, -9.0, 1.0], 'workspace_upper': [9.0, 9.0, 2.0]}
    assert node.set_parameters_atomically(given(box)).successful
    assert node.control.tracker.box.tolist() == list(box.values())
    (result,) = node.set_parameters(given({'workspace_upper': [9.0, 9.0, 0.5]}))
    assert not result.successful
    assert node.set_parameters_atomically(given(dict.fromkeys(box, []))).successful


def test_gains_and_modes_are_judged_together(node):
    assert node.set_parameters(given({'kd': [0.0, 0.0, 0.0]}))[0].successful
    assert not node.set_parameters(given({'mode': 'adaptive'}))[0].successful
    assert node.control.mode == 'computed_torque'
    assert node.set_parameters(given({'kd': []}))[0].successful


def test_a_change_that_fails_after_all_is_said_and_the_node_goes_on(node, monkeypatch):
    def fail(*_):
        raise ValueError('too late')

    monkeypatch.setattr(node.control, 'set_gains', fail)
    assert node.set_parameters(given({'bandwidth': 12.0}))[0].successful
    monkeypatch.undo()
    assert node.set_parameters(given({'bandwidth': 10.0}))[0].successful
