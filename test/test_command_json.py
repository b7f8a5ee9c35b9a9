"""`--json` of every verb: one document and nothing else, and a unit for every number."""

from __future__ import annotations

import argparse
import contextlib
from dataclasses import replace
import fcntl
import importlib
import json
import math
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import threading

import numpy as np
import pytest
from robots import load

from parallel_dynamics.commands import _console
from parallel_dynamics.commands import main as tool
from parallel_dynamics.commands.bench import PEERS
from parallel_dynamics.identification.base_parameters import find_base_parameters
from parallel_dynamics.linear_form import parameter_names, parameter_units
from parallel_dynamics.maps import load_map
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.trajectories import preset, write_motion

# They print a script, or an address.
NO_NUMBERS = {'completion', 'view'}


def refuse(word):
    raise AssertionError(f'{word} is no JSON')


@pytest.fixture
def document(capsys):
    """Return a function that runs a verb with --json and returns its document."""

    def run(*words, status=0):
        assert tool.main([str(word) for word in (*words, '--json')]) == status
        return json.loads(capsys.readouterr().out, parse_constant=refuse)

    return run


def without_unit(data, units, known=False, name=''):
    """Return the names of numbers that have no unit, neither beside them nor in the table."""
    if isinstance(data, dict):
        known = known or 'unit' in data
        found = [without_unit(v, units, known or k in units, k) for k, v in data.items()]
        return [n for names in found for n in names]
    if isinstance(data, list):
        return [n for v in data for n in without_unit(v, units, known, name)]
    return [name] if isinstance(data, float) and not known else []


# ---------------------------------------------------------------- the mechanism


@pytest.mark.parametrize('verb', tool.find_verbs(), ids=lambda verb: verb.NAME)
def test_every_verb_that_prints_numbers_has_it(verb):
    parser = argparse.ArgumentParser()
    verb.add_arguments(parser)
    assert ('--json' in parser.format_help()) == (verb.NAME not in NO_NUMBERS)


def test_the_page_tells_what_every_verb_gives(repository):
    page = (repository / 'docs' / 'command_line.md').read_text('utf-8')
    rows = [row for row in page.partition('`--json` gives')[2].splitlines() if '| `' in row]
    told = {name for row in rows for name in re.findall(r'`([a-z]+)`', row.split('|')[1])}
    assert told == {verb.NAME for verb in tool.find_verbs()} - NO_NUMBERS


def test_the_document_has_all_digits_and_null_for_what_json_lacks(capsys, tmp_path):
    args = argparse.Namespace(json=True)
    data = {'a': np.float64(1 / 3), 'b': np.array([np.nan, -np.inf, 2.0]), 'c': (np.int64(7),),
            'd': np.array([True]), 'e': tmp_path, 'f': None}  # fmt: skip
    _console.tell(args, 'text', data, {'a': 'm'})
    assert json.loads(capsys.readouterr().out, parse_constant=refuse) == {
        'a': 1 / 3, 'b': [None, None, 2.0], 'c': [7], 'd': [True], 'e': str(tmp_path), 'f': None,
        'units': {'a': 'm'},
    }  # fmt: skip
    _console.tell(argparse.Namespace(json=False), 'text', data)
    assert capsys.readouterr().out == 'text\n'


def test_an_error_leaves_the_standard_output_empty(capsys):
    assert tool.main(['parameters', 'no_such_robot', '--json']) == 2
    out, err = capsys.readouterr()
    assert out == '' and 'no_such_robot' in err


def test_progress_is_for_terminals(capsys):
    with _console.progress(total=3) as bar:
        bar.update(3)
    assert capsys.readouterr() == ('', '')


# ---------------------------------------------------------------- verb by verb


def test_analyse(document, tmp_path):
    found = document('analyse', 'delta', '--motion', 'circle', '--formats', 'png', '--output',
                     tmp_path)  # fmt: skip
    robot = load('delta')
    trajectory = preset(robot, 'circle')
    efforts = robot.inverse_dynamics(trajectory.sample(trajectory.grid(250.0)))
    assert list(found['actuators']) == list(robot.actuators)
    for k, name in enumerate(robot.actuators):
        assert found['actuators'][name]['greatest'] == pytest.approx(efforts[:, k].max())
    assert found['units']['actuators'] == 'N m'
    assert {row['unit'] for row in found['summary']} >= {'s', 'm/s', 'W', 'J', 'N'}
    assert all(os.path.isfile(path) for path in found['files'])
    assert not without_unit(found, found['units'])


def test_a_limit_that_is_exceeded_has_its_unit(document, tmp_path):
    trajectory = preset(load('delta'), 'circle')
    times = trajectory.grid(20.0)
    write_motion(tmp_path / 'circle.csv', times, trajectory.sample(times))
    found = document(
        'analyse', 'delta', '--motion', tmp_path / 'circle.csv', '--formats', 'png', '--output',
        tmp_path, '--payload', '500', '--no-joint-forces',
    )  # fmt: skip
    assert {(v['quantity'], v['unit']) for v in found['violations']} == {('effort', 'N m')}


@pytest.mark.parametrize('name', ['delta', 'gough_stewart'])
def test_check(document, name):
    found = document('check', name)
    assert found['good'] is True and found['dof'] == load(name).dof
    assert not without_unit(found, found['units'])


def test_create_and_convert(document, tmp_path):
    made = document('create', 'delta', '--name', 'mine', '--output', tmp_path)
    assert made['files'] == [str(tmp_path / 'mine.yaml'), str(tmp_path / 'mine.urdf')]
    assert made['faults'] == []
    out = document('convert', made['files'][0], '--to', 'constraint', '--output', tmp_path / 'out')
    (urdf,) = out['files']
    back = document(
        'convert', urdf, '--from', 'constraint', '--platform', 'platform', '--actuators',
        'leg1_shoulder', '--output', tmp_path / 'back', status=1,
    )  # fmt: skip
    assert back['convention'] == 'constraint' and back['faults'][0]['problem']
    early = document('create', '--json', 'delta', '--output', tmp_path / 'early')
    assert len(early['files']) == 2


def test_excite(document, tmp_path):
    file = tmp_path / 'exciting.csv'
    found = document('excite', 'delta', '--budget', 4, '--period', 2, '--periods', 1, '--output',
                     file)  # fmt: skip
    assert found['files'] == [str(file)] and found['period'] == 2.0
    assert found['rows'] == len(file.read_text().splitlines()) - 1
    assert found['condition'] > 1.0
    assert not without_unit(found, found['units'])


@pytest.fixture(scope='module')
def loaded(tmp_path_factory):
    """A recording of a delta that carries 2 kg along a swing."""
    from parallel_dynamics.identification.rehearsal import record, rehearse
    from parallel_dynamics.recording import Recorder

    path = tmp_path_factory.mktemp('loaded') / 'run.mcap'
    robot = load('delta').with_payload(2.0)
    with Recorder(path, robot) as recorder:
        record(rehearse(robot, preset(robot, 'swing', duration=4.0)), recorder)
    return path


def test_export(document, loaded, tmp_path):
    from parallel_dynamics.recording import Recording

    found = document('export', loaded, '--output', tmp_path, '--topic', 'joint_states')
    states = Recording(loaded).joint_states()
    (file,) = found['files']
    assert (file['topic'], file['rows']) == ('joint_states', len(states.time))
    with open(file['file']) as table:
        assert len(table.readlines()) == 1 + file['rows']
    assert {t['topic'] for t in found['topics']} == {'joint_states', 'robot_description'}
    assert found['complete'] is True and not without_unit(found, found['units'])
    saved = document('export', loaded, '--recover', tmp_path / 'whole.mcap')
    assert saved['messages'] == len(states.time) + 1
    assert not without_unit(saved, saved['units'])


def test_forces(document, tmp_path):
    found = document('forces', 'gough_stewart', '--motion', 'circle', '--output', tmp_path,
                     '--critical', '1e5')  # fmt: skip
    assert found['units']['tilting_moment'] == 'N m'
    assert not without_unit(found, found['units'])


def test_identify_a_payload(document, loaded):
    found = document('identify', 'delta', '--data', loaded, '--payload')
    mass = found['payload'][0]
    assert (mass['name'], mass['unit']) == ('m', 'kg')
    assert mass['value'] == pytest.approx(2.0, abs=0.02 + 5.0 * mass['deviation'])
    assert not without_unit(found, found['units'])


def on_terminal(words, folder):
    """Run the tool with a terminal as its standard error; return output and what was shown."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 100, 0, 0))
    shown = tempfile.TemporaryFile()

    def read():
        # The end of a terminal is an error.
        with contextlib.suppress(OSError):
            while text := os.read(screen, 4096):
                shown.write(text)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    done = subprocess.run(
        [sys.executable, '-m', 'parallel_dynamics.commands.main', *map(str, words)], cwd=folder,
        stdout=subprocess.PIPE, stderr=terminal, text=True, timeout=300,
    )  # fmt: skip
    os.close(terminal)
    reader.join(10.0)
    os.close(screen)
    with shown:
        shown.seek(0)
        return done.stdout, shown.read().decode()


def test_long_work_shows_its_progress_on_a_terminal(repository, tmp_path):
    importlib.import_module('mcap')  # of an extra; without it there is no recording
    run = tmp_path / 'run.mcap'
    words = ['excite', 'delta', '--budget', 4, '--period', 2, '--periods', 3, '--output',
             tmp_path / 'exciting.csv', '--simulate', run, '--json']  # fmt: skip
    out, shown = on_terminal(words, repository)
    assert json.loads(out)['robot'] == 'delta'
    assert '4/4' in shown and 'simulator: 100%' in shown
    words = ['identify', 'delta', '--data', run, '--output', tmp_path / 'found', '--json']
    out, shown = on_terminal(words, repository)
    assert json.loads(out)['robot'] == 'delta'
    steps = ['base parameters   0%', 'equations of run.mcap', 'least squares', 'physical bodies',
             'residuals', 'report 100%']  # fmt: skip
    places = [shown.index(step) for step in steps]
    assert places == sorted(places)
    words = ['map', 'delta', '--axis', 'x=-0.2:0.2:20', '--output', tmp_path]
    assert '20.0/20.0' in on_terminal(words, repository)[1]
    words = ['reproduce', 'chablat_wenger_staicu_2009', '--output', tmp_path]
    assert 'chablat_wenger_staicu_2009: 100%' in on_terminal(words, repository)[1]


def test_identify(document, tmp_path):
    importlib.import_module('mcap')  # of an extra; without it there is no recording
    run = tmp_path / 'run.mcap'
    document('excite', 'delta', '--budget', 4, '--period', 2, '--periods', 3, '--output',
             tmp_path / 'exciting.csv', '--simulate', run)  # fmt: skip
    found = document('identify', 'delta', '--data', run, '--output', tmp_path / 'found')
    robot = load('delta')
    base = find_base_parameters(robot)
    assert [p['name'] for p in found['base_parameters']] == base.labels
    for parameter, true in zip(found['base_parameters'], base.values(robot.parameters)):
        assert abs(parameter['value'] - true) <= 6.0 * parameter['deviation'] + 1e-9
    assert any(p['identified'] for p in found['base_parameters'])
    assert list(found['training']['residual']) == list(robot.actuators)
    assert found['validation'] is None
    assert all(os.path.isfile(path) for path in found['files'])
    assert not without_unit(found, found['units'])


def test_map(document, tmp_path):
    found = document('map', 'delta', '--axis', 'x=-0.2:0.2:20', '--axis', 'y=-0.2:0.2:10', '--at',
                     'z=-0.7', '--output', tmp_path)  # fmt: skip
    assert found['axes']['x'] == {'from': -0.2, 'to': 0.2, 'points': 20, 'unit': 'm'}
    assert found['at']['z'] == {'value': -0.7, 'unit': 'm'} and found['poses'] == 200
    saved = load_map(next(path for path in found['files'] if path.endswith('.npz')))
    inside = saved['reachable'] > 0
    assert found['reachable'] == saved.share
    assert found['ranges']['effort'] == {
        'least': saved['effort'][inside].min(), 'greatest': saved['effort'][inside].max(),
        'unit': 'N m',
    }  # fmt: skip
    assert not without_unit(found, found['units'])


def test_parameters(document):
    robot = load('delta')
    every = document('parameters', 'delta', '--all')
    assert [p['value'] for p in every['parameters']] == list(robot.parameters)
    found = document('parameters', 'delta', '--lumped', 'thirds', '--symmetric', '--friction',
                     'none')  # fmt: skip
    assert found['lumped']['effort_error'] > 0.0
    described = dict(zip(robot.parameter_names, robot.parameters))
    whole = document('parameters', 'delta')
    for base in whole['base_parameters']:
        parts = [described[p['name']] * p['factor'] for p in base['made_of']]
        assert math.fsum(parts) == pytest.approx(base['value'], abs=1e-12)
    for data in (every, found, whole):
        assert not without_unit(data, data['units'])


@pytest.mark.parametrize('name', ['delta', 'gough_stewart'])
def test_every_parameter_has_the_unit_of_its_kind(name):
    model = load(name).model
    kinds = {joint.name: joint.kind for joint in model.joints}
    units = dict(zip(parameter_names(model), parameter_units(model), strict=True))
    for parameter, unit in units.items():
        owner, _, suffix = parameter.rpartition('/')
        if suffix == 'm':
            assert unit == 'kg'
        elif suffix == 'coulomb':
            assert unit == ('N' if kinds[owner] == 'prismatic' else 'N m')


def test_reproduce(document, tmp_path):
    key = 'chablat_wenger_staicu_2009'
    found = document('reproduce', key, '--output', tmp_path)
    with open(tmp_path / f'{key}.json') as file:
        assert set(json.load(file)) == set(found['papers'][key]['numbers'])
    assert all(os.path.isfile(path) for path in found['files'])


def test_demo_says_the_same_as_its_table(monkeypatch, document):
    """The run itself is in test_demo.py; here a robot that is 1 mm beside its motion."""
    from parallel_dynamics.demo.evaluation import DemoReport, Spread

    robot = load('gough_stewart')
    time = np.linspace(0.0, 1.0, 101)
    position = robot.home.position + np.outer(np.sin(time), [0.1, 0.0, 0.0])
    desired = PlatformMotion(position, np.tile(robot.home.rotation, (101, 1, 1)))
    actual = PlatformMotion(position + [0.0, 1e-3, 0.0], desired.rotation)
    names = (*robot.joints, *robot.closures)
    effort = np.outer(np.ones(101), np.arange(6.0))
    peaks = np.arange(float(len(names)))
    spread = Spread(1e-4, 2e-4, float('nan'))
    report = DemoReport(
        robot, 'real_time', 0.0, time, desired, actual, effort, effort - 0.5, time,
        np.zeros((101, len(names), 6)), names, peaks, peaks[::-1], 400.0, spread, spread,
    )  # fmt: skip
    monkeypatch.setattr('parallel_dynamics.demo.run_demo', lambda settings, say: (report, []))
    found = document('demo')
    assert found['tracking_error']['rms'] == pytest.approx(1e-3)
    assert found['tracking_error']['amplitude'] == pytest.approx(0.1 * np.sin(1.0))
    assert found['effort'] == {'rms': pytest.approx(np.sqrt(55 / 6)), 'largest': 5.0,
                               'actuator': robot.actuators[5]}  # fmt: skip
    assert found['effort_beside_feedforward']['rms'] == pytest.approx(0.5)
    assert found['peak_joint_force']['joint'] == names[-1]
    assert found['peak_joint_moment']['joint'] == names[0]
    assert found['jitter'] == {'median': 1e-4, 'most': 2e-4, 'worst': None}
    assert found['kept_up'] is False  # 400 of 500 Hz
    assert not without_unit(found, found['units'])
    monkeypatch.setattr('parallel_dynamics.demo.run_demo',
                        lambda settings, say: (replace(report, clock='lock_step'), []))
    assert document('demo')['kept_up'] is True


def test_what_the_demo_says_on_the_way_is_not_in_the_document(capsys):
    from parallel_dynamics.commands import demo

    demo._say('Starting.')
    assert capsys.readouterr() == ('', 'Starting.\n')


def test_bench(repository, tmp_path):
    """Without any section: the machine, and nothing measured."""
    for peer in PEERS:  # where one is missing, the verb would fetch it
        importlib.import_module(peer)
    sections = ('calls', 'scaling', 'simulation', 'maps', 'startup', 'ros')
    words = ['bench', '--quick', '--output', str(tmp_path), '--json', '--skip', *sections]
    done = subprocess.run(
        [sys.executable, '-m', 'parallel_dynamics.commands.main', *words], cwd=repository,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout, parse_constant=refuse)
    assert found['robots'] == {} and found['machine']['cores']
    assert not without_unit(found, found['units'])
