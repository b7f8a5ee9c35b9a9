"""`parallel-dynamics check` says what a robot is and what is wrong with it."""

from __future__ import annotations

import json

from edited_robots import Edited
import pytest

from parallel_dynamics import resources
from parallel_dynamics.commands.main import main


def check(capsys, *words):
    status = main(['check', *map(str, words)])
    return status, capsys.readouterr().out


@pytest.mark.parametrize('name', sorted(resources.robot_files()))
def test_shipped_robots_are_good(name, capsys):
    status, text = check(capsys, name)
    assert status == 0
    assert f'{name} can be used.' in text
    status, text = check(capsys, name, '--json')
    data = json.loads(text)
    assert status == 0 and data['good'] and data['faults'] == []
    assert data['dof'] == len(data['actuators']) == len(data['independent'])
    assert sum(len(leg['joints']) for leg in data['legs']) == len(data['joints'])


def test_overconstraint_is_told(capsys):
    _, text = check(capsys, 'orthoglide')
    assert 'redundant equations  12' in text
    assert '3 shared by loop1\n' in text


def test_faults_are_listed_with_status_1(capsys, tmp_path):
    robot = Edited('delta')
    robot.data['actuators'] = robot.data['actuators'][:2]
    robot.data['colour'] = 'red'
    path = robot.write(tmp_path)
    status, text = check(capsys, path)
    assert status == 1
    assert 'has 2 faults' in text
    assert '2 actuators for 3 degrees of freedom' in text
    assert 'degrees of freedom   3' in text  # the ranks are told all the same
    status, text = check(capsys, path, '--json')
    data = json.loads(text)
    assert status == 1 and not data['good']
    assert len(data['faults']) == 2
    assert data['dof'] == 3


def test_a_file_that_is_no_robot(capsys, tmp_path):
    path = tmp_path / 'robot.yaml'
    path.write_text('')
    status, text = check(capsys, path)
    assert status == 1 and 'is empty' in text
    status, text = check(capsys, path, '--json')
    assert status == 1 and 'dof' not in json.loads(text)


def test_a_singular_robot_is_valid_json(capsys, tmp_path):
    """Infinite condition numbers are left open, since JSON has none."""
    robot = Edited('delta')
    robot.data['actuators'] = ['leg1_shoulder', 'leg1_elbow_a_1', 'leg1_elbow_b_1']
    _, text = check(capsys, robot.write(tmp_path), '--json')
    assert json.loads(text)['actuation_condition'] is None


def test_from_the_shell(command):
    assert 'can be used' in command('check', 'c5').stdout
    assert command('check', 'nobody', check=False).returncode == 1


def test_limits_that_exclude_home_are_told(capsys, tmp_path):
    robot = Edited('delta')
    robot.part('joint', 'leg1_shoulder', 'limit').set('lower', '0.1')
    path = robot.write(tmp_path)
    status, text = check(capsys, path)
    assert status == 0
    assert 'outside limits       at home (zero): leg1_shoulder' in text
