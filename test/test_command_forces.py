"""`parallel-dynamics forces`: the table, the files, JSON, buckling and refusals."""

import csv
import json

import numpy as np
import pytest
from robots import load

import parallel_dynamics as pd
from parallel_dynamics.commands import main as tool
from parallel_dynamics.forces import check_buckling, envelope, rod_forces
from parallel_dynamics.trajectories import preset, write_motion

ROBOT = 'gough_stewart'


@pytest.fixture(scope='module')
def motion(tmp_path_factory):
    """Times, motions and the file of a short circle."""
    robot = load(ROBOT)
    trajectory = preset(robot, 'circle')
    times = trajectory.grid(50.0)
    m = trajectory.sample(times)
    path = tmp_path_factory.mktemp('motion') / 'circle.csv'
    write_motion(path, times, m)
    return times, m, path


def run(capsys, *words):
    status = tool.main(['forces', *map(str, words)])
    out, err = capsys.readouterr()
    return status, out, err


def test_table_csv_and_picture(motion, tmp_path, capsys):
    times, m, path = motion
    status, out, err = run(capsys, ROBOT, '--motion', path, '--output', tmp_path)
    assert status == 0 and err == ''
    robot = load(ROBOT)
    rows = envelope(robot, robot.joint_forces(m), times)
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line}
    for row in rows:
        cells = lines[row.name]
        assert cells[1] == row.kind and cells[-1] == 'all'
        assert float(cells[2]) == pytest.approx(row.force.value, rel=2e-3)
        assert float(cells[3]) == pytest.approx(row.force.time, abs=1e-3)
    assert 'All joint forces are statically determinate.' in out
    with open(tmp_path / f'{ROBOT}_envelope.csv', newline='') as file:
        assert [line['name'] for line in csv.DictReader(file)] == [row.name for row in rows]
    table = np.genfromtxt(tmp_path / f'{ROBOT}_forces.csv', delimiter=',', names=True)
    assert len(table) == len(times)
    assert (tmp_path / f'{ROBOT}_forces.png').read_bytes().startswith(b'\x89PNG')
    assert all(str(tmp_path / f'{ROBOT}_{end}') in out
               for end in ('forces.png', 'forces.csv', 'envelope.csv'))


def test_json_says_the_same(motion, tmp_path, capsys):
    times, m, path = motion
    wrench = [10.0, 0.0, -50.0, 0.0, 2.0, 0.0]
    status, out, _ = run(capsys, ROBOT, '--motion', path, '--output', tmp_path, '--payload', 20,
                         '--wrench', *wrench, '--critical', 1e6, '--json')
    data = json.loads(out)
    robot = load(ROBOT).with_payload(20.0)
    forces = robot.joint_forces(m, wrench)
    assert status == 0
    assert data['robot'] == ROBOT and data['instants'] == len(times) and data['redundancy'] == 0
    for row, found in zip(envelope(robot, forces, times), data['joints'], strict=True):
        assert found['name'] == row.name and found['determinate'] is True
        assert found['force'] == {'value': pytest.approx(row.force.value), 'time': row.force.time}
        if row.kind == 'ball':
            assert found['axial_force'] == {'value': None, 'time': None}
    checks = check_buckling(rod_forces(robot, m, forces), times, 1e6)
    for check, found in zip(checks, data['rods'], strict=True):
        assert found['safety'] == pytest.approx(check.safety) and found['holds'] is True


def test_rods_that_buckle_make_the_status_1(motion, tmp_path, capsys):
    _, _, path = motion
    common = (ROBOT, '--motion', path, '--output', tmp_path)
    status, out, _ = run(capsys, *common, '--critical', 1e6, '--critical', 'leg2_piston=10')
    assert status == 1
    verdicts = {line.split()[0]: line.split()[-1] for line in out.splitlines() if 'piston' in line}
    assert verdicts.pop('leg2_piston') == 'BUCKLES'
    assert set(verdicts.values()) == {'holds'}
    assert run(capsys, *common, '--bending-stiffness', 1e6)[0] == 0
    assert run(capsys, *common, '--bending-stiffness', 1.0)[0] == 1


def test_loads_that_are_not_unique_are_named(tmp_path, capsys):
    status, out, _ = run(capsys, 'orthoglide', '--motion', 'circle', '--output', tmp_path)
    assert status == 0
    assert '12 loads are statically indeterminate' in out
    assert '3 shared by leg1_parallel_a, leg1_parallel_b, leg1_parallel_tip, loop1' in out
    assert next(x for x in out.splitlines() if x.startswith('loop1 ')).endswith(' fx mz')
    status, out, _ = run(
        capsys, 'orthoglide', '--motion', 'circle', '--output', tmp_path, '--unique', '--json')
    loose = next(j for j in json.loads(out)['joints'] if j['name'] == 'loop1')
    assert status == 0 and loose['determinate'] is False and loose['moment']['value'] is None


@pytest.mark.parametrize(('words', 'said'), [
    (('no_robot', '--motion', 'circle'), 'no_robot'),
    ((ROBOT, '--motion', 'missing.csv'), 'missing.csv: cannot be read'),
    ((ROBOT, '--motion', 'circle', '--critical', 'strong'), 'critical: expected N or ROD=N'),
    ((ROBOT, '--motion', 'circle', '--critical', 'mast=3'), 'critical: expected one of the rods'),
    ((ROBOT, '--motion', 'circle', '--critical', 'leg1_piston=3'), 'got none for leg2_piston'),
    ((ROBOT, '--motion', 'circle', '--critical', '-3'), 'critical: expected a positive load'),
    ((ROBOT, '--motion', 'circle', '--bending-stiffness', '0'), 'positive stiffness'),
    ((ROBOT, '--motion', 'circle', '--wrench', *['nan'] * 6), 'wrench: expected finite'),
    (('c5', '--motion', 'circle', '--critical', '5'), 'this robot has no rods'),
])  # fmt: skip
def test_errors_are_one_sentence_and_status_2(words, said, tmp_path, capsys):
    status, out, err = run(capsys, *words, '--output', tmp_path)
    assert status == 2 and out == ''
    assert err.startswith('parallel-dynamics: ') and said in err
    assert err.count('\n') == 1 and 'Traceback' not in err


def test_folder_that_cannot_be_made(motion, tmp_path, capsys):
    (tmp_path / 'file').write_text('')
    status, _, err = run(capsys, ROBOT, '--motion', motion[2], '--output', tmp_path / 'file' / 'x')
    assert status == 2 and 'cannot be written to' in err


def test_motion_that_the_closures_do_not_allow(tmp_path, capsys):
    """Refused as it is; put on the closures when asked to."""
    robot = load('three_rps')
    times = np.linspace(0.0, 1.0, 5)
    m = pd.PlatformMotion(
        np.tile(robot.home.position, (5, 1)) + 0.01 * times[:, None],
        np.tile(robot.home.rotation, (5, 1, 1)))
    write_motion(tmp_path / 'off.csv', times, m)
    words = ('three_rps', '--motion', tmp_path / 'off.csv', '--output', tmp_path)
    status, _, err = run(capsys, *words)
    assert status == 2 and 'not allowed by the closures' in err
    assert run(capsys, *words, '--project')[0] == 0
