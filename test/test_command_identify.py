"""`parallel-dynamics identify` from files that runs of the simulator wrote."""

from __future__ import annotations

import csv

import pytest
from recordings import recording
from robots import load

import parallel_dynamics as pd
from parallel_dynamics.commands.main import main
from parallel_dynamics.identification import identifying
from parallel_dynamics.identification.rehearsal import record
from parallel_dynamics.recording import Recorder, Recording, export_csv

NAME = 'three_rps'


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """A recording as MCAP and another as CSV."""
    folder = tmp_path_factory.mktemp('runs')
    paths = []
    for seed in (0, 1):
        path = folder / f'run{seed}.mcap'
        with Recorder(path, load(NAME)) as recorder:
            record(recording(NAME, seed, 2.0), recorder)
        paths.append(path)
    (table,) = export_csv(Recording(paths[1]), folder / 'csv', ['joint_states'])
    return paths[0], table


def test_robot_and_report_are_written(files, tmp_path, capsys):
    data, validate = files
    out = tmp_path / 'out'
    assert main(['identify', NAME, '--data', str(data), '--validate', str(validate),
                 '--output', str(out)]) == 0  # fmt: skip
    text = capsys.readouterr().out
    assert 'base parameters identified' in text and 'validation: residual' in text
    robot = pd.load_robot(out / f'{NAME}_identified.yaml')
    assert robot.dof == load(NAME).dof
    page = (out / 'report.md').read_text()
    for part in ('Zero-phase low-pass', '| `platform/m` |', 'rel. std. dev.', 'validation'):
        assert part in page
    for figure in ('efforts_training', 'efforts_validation', 'residuals_training', 'parameters'):
        assert (out / f'{figure}.png').stat().st_size > 10_000
        assert figure in page


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_work(
    files, tmp_path, capsys, monkeypatch
):
    (tmp_path / 'file').write_text('')
    monkeypatch.setattr(identifying, 'identify', None)  # not called
    words = ['identify', NAME, '--data', str(files[0]), '--output', str(tmp_path / 'file' / 'x')]
    assert main(words) == 2
    err = capsys.readouterr().err
    assert 'cannot be written to' in err and err.count('\n') == 1


def test_a_payload_is_told(files, capsys):
    assert main(['identify', NAME, '--payload', '--data', str(files[0])]) == 2
    assert 'no load' in capsys.readouterr().err


def spoiled(table, path, change):
    with open(table, newline='') as file:
        rows = list(csv.reader(file))
    header, body = rows[0], [list(row) for row in rows[1:]]
    header, body = change(header, body)
    with open(path, 'w', newline='') as file:
        csv.writer(file).writerows([header, *body])


def without_actuator(header, body):
    keep = [k for k, name in enumerate(header) if 'leg2_revolute' not in name]
    return [header[k] for k in keep], [[row[k] for k in keep] for row in body]


def with_nan(header, body):
    body[50][header.index('effort[leg1_revolute]')] = 'nan'
    return header, body


def going_back(header, body):
    body[70], body[90] = body[90], body[70]
    return header, body


def scaled(kind, factor):
    def change(header, body):
        columns = [k for k, name in enumerate(header) if name.startswith(kind)]
        for row in body:
            for k in columns:
                row[k] = repr(float(row[k]) * factor)
        return header, body

    return change


BAD = {
    'missing actuator': (without_actuator, 'leg2_revolute'),
    'nan': (with_nan, 'NaN'),
    'time going back': (going_back, 'increase'),
    'too short': (lambda header, body: (header, body[:700]), 'at least 2 s'),
    'positions times 1000': (scaled('position', 1e3), '1000 times too large'),
    'efforts times 1000': (scaled('effort', 1e3), 'N and N m'),
    'no excitation': (scaled('position', 0.0), 'hardly moves'),
}


@pytest.mark.parametrize('kind', BAD)
def test_bad_recordings_write_nothing(files, tmp_path, capsys, kind):
    change, sentence = BAD[kind]
    path, out = tmp_path / 'bad.csv', tmp_path / 'out'
    spoiled(files[1], path, change)
    assert main(['identify', NAME, '--data', str(path), '--output', str(out)]) == 2
    message = capsys.readouterr().err
    assert sentence in message and 'bad.csv' in message
    assert not out.exists()
