"""Identification: what a simulated recording says is what the simulated robot is."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from recordings import base_of, recording, wrong
from robots import load

import parallel_dynamics as pd
from parallel_dynamics.identification import payload
from parallel_dynamics.identification.describing import write_robot
from parallel_dynamics.identification.identifying import identify
from parallel_dynamics.identification.logs import make_log, read_log
from parallel_dynamics.identification.payload import identify_payload, nearest_tensor
from parallel_dynamics.identification.physical import (
    body_parameters,
    physical_parameters,
    pseudo_inertia,
)
from parallel_dynamics.identification.rehearsal import record, rehearse
from parallel_dynamics.identification.signals import (
    automatic_cutoff,
    averaging_window,
    derivatives,
    low_pass,
)
from parallel_dynamics.recording import JointLog, Recorder, Recording, export_csv

LEAST_ESSENTIAL = {'delta': 9, 'gough_stewart': 4, 'three_rps': 1}
# What one process has identified serves all tests of that robot.
TOGETHER = {name: pytest.mark.xdist_group(f'identified_{name}') for name in LEAST_ESSENTIAL}
ROBOTS = [pytest.param(name, marks=mark) for name, mark in TOGETHER.items()]


@cache
def found(name):
    data = make_log(wrong(name), recording(name), 'training')
    second = make_log(wrong(name), recording(name, 1, 2.0), 'validation')
    return identify(wrong(name), data, second, base=base_of(name))


# ---------------------------------------------------------------- what must hold


@pytest.mark.parametrize('name', ROBOTS)
def test_essential_parameters_are_within_one_percent(name):
    e = found(name).estimate
    truth = e.base.values(load(name).parameters)
    assert e.essential.sum() >= LEAST_ESSENTIAL[name]
    error = np.abs(e.values - truth)[e.essential] / np.abs(truth[e.essential])
    assert error.max() < 0.01
    before = np.abs(e.described - truth)[e.essential] / np.abs(truth[e.essential])
    assert before.max() > 0.02


@pytest.mark.parametrize('name', ROBOTS)
def test_deviations_are_honest(name):
    """Errors of identified parameters are what their deviations say, not much more."""
    e = found(name).estimate
    truth = e.base.values(load(name).parameters)
    z = (e.values - truth)[e.identified] / e.deviation[e.identified]
    assert np.sqrt(np.mean(z**2)) < 2.0 and np.abs(z).max() < 6.0


@pytest.mark.parametrize('name', ROBOTS)
def test_efforts_of_the_validation_motion_are_predicted_within_the_noise(name):
    trial = found(name).validation
    log = recording(name, 1, 2.0)
    noise = 0.02 * np.abs(log.effort).max(axis=0)
    assert (trial.residual() < noise).all()
    assert (trial.residual() < 0.5 * trial.residual_of_description()).all()
    # Behind the low-pass there is less noise; what the encoders add is no more than as much.
    left = noise * np.linalg.norm(averaging_window(trial.rate, trial.cutoff))
    assert (trial.residual() < 2.0 * left).all()


@pytest.mark.parametrize('name', ROBOTS)
def test_identified_robots_are_physical_and_can_be_loaded(name, tmp_path):
    robot = found(name).robot
    paths = write_robot(robot, tmp_path / 'new', f'{name}_identified', 'A note.')
    again = pd.load_robot(paths[0])
    assert again.name == f'{name}_identified'
    size = np.abs(robot.parameters).max()
    assert np.abs(again.parameters - robot.parameters).max() < 1e-9 * size
    for body in robot.model.bodies[1:]:
        moments = np.linalg.eigvalsh(body.inertia.tensor)
        assert body.inertia.mass >= 0.0
        assert moments[0] >= -1e-12 and moments[0] + moments[1] >= moments[2] * (1 - 1e-6) - 1e-12
    assert found(name).changed < 3.0


@TOGETHER['delta']
def test_time_of_efforts_is_looked_at():
    log = recording('delta')
    late, spread = found('delta').delay
    assert abs(late) < 5.0 * spread + 1e-4
    shift = 5
    shifted = JointLog(log.time[shift:], log.names, log.position[shift:], log.velocity[shift:],
                       log.effort[:-shift])  # fmt: skip
    data = make_log(wrong('delta'), shifted)
    late, _ = identify(wrong('delta'), data, base=base_of('delta')).delay
    assert late == pytest.approx(5e-3, rel=0.2)


# ---------------------------------------------------------------- files


def test_bags_and_csv_files_say_the_same(tmp_path):
    log, robot = recording('three_rps', 1, 2.0), wrong('three_rps')
    path = tmp_path / 'run.mcap'
    with Recorder(path, load('three_rps')) as recorder:
        record(log, recorder)
    (csv_path,) = export_csv(Recording(path), tmp_path, ['joint_states'])
    for source in (path, csv_path):
        read = read_log(source, robot)
        np.testing.assert_allclose(read.time, log.time, atol=1e-8)
        np.testing.assert_array_equal(read.position, log.position)
        np.testing.assert_array_equal(read.effort, log.effort)


def changed(log, **arrays):
    fields = {'time': log.time, 'names': log.names, 'position': log.position,
              'velocity': log.velocity, 'effort': log.effort}  # fmt: skip
    return JointLog(**{**fields, **arrays})


def with_nan(log):
    effort = log.effort.copy()
    effort[100, 1] = np.nan
    return changed(log, effort=effort)


def going_back(log):
    time = log.time.copy()
    time[500:] -= 0.2
    return changed(log, time=time)


def with_gap(log):
    keep = np.ones(len(log.time), bool)
    keep[1000:1400] = False
    return changed(log, time=log.time[keep], position=log.position[keep],
                   velocity=log.velocity[keep], effort=log.effort[keep])  # fmt: skip


def short(log, count=900):
    return changed(log, time=log.time[:count], position=log.position[:count],
                   velocity=log.velocity[:count], effort=log.effort[:count])  # fmt: skip


def of_one(what, factor):
    return lambda log: changed(log, **{what: getattr(log, what) * [1.0, factor, 1.0]})


BAD = {
    'missing actuator': (lambda log: log.of(log.names[:-1]), 'leg3_revolute'),
    'nan': (with_nan, 'NaN.*row 101'),
    'time going back': (going_back, 'times that increase'),
    'gap': (with_gap, 'without gaps'),
    'too short': (short, 'at least 2 s'),
    'milliseconds': (lambda log: changed(log, time=1e3 * log.time), 'seconds'),
    'microseconds less': (lambda log: changed(log, time=1e-3 * log.time), 'seconds|at least 2 s'),
    'millimetres': (lambda log: changed(log, position=1e3 * log.position), '1000 times too large'),
    'kilometres': (lambda log: changed(log, position=1e-3 * log.position), 'hardly moves'),
    'millinewtons': (lambda log: changed(log, effort=1e3 * log.effort), 'in N and N m'),
    'kilonewtons': (lambda log: changed(log, effort=1e-3 * log.effort), 'in N and N m'),
    'sign': (lambda log: changed(log, effort=-log.effort), 'opposite sign'),
    'no efforts': (lambda log: changed(log, effort=np.nan * log.effort), 'expected efforts'),
    'no effort of one': (of_one('effort', np.nan), 'got none of leg2_revolute;'),
    'effort of one zero': (of_one('effort', 0.0), 'got none of leg2_revolute;'),
    'kilonewtons of one': (of_one('effort', 1e-3), 'those of leg2_revolute .* are left; check'),
    'sign of one': (of_one('effort', -1.0), 'are left; check order, signs'),
    'degrees': (lambda log: changed(log, position=100.0 * log.position), 'like degrees'),
    'no excitation': (lambda log: changed(log, position=0.0 * log.position), 'hardly moves'),
}


@pytest.mark.parametrize('kind', BAD)
def test_bad_recordings_get_a_sentence(kind):
    spoil, sentence = BAD[kind]
    robot = wrong('three_rps')
    with pytest.raises(pd.InputError, match=sentence) as error:
        data = make_log(robot, spoil(recording('three_rps', 1, 2.0)), 'run.csv')
        identify(robot, data, base=base_of('three_rps'))
    assert str(error.value).startswith('run.csv: ')


@pytest.mark.parametrize(
    ('text', 'sentence'),
    [
        ('', 'header'),
        ('a,b\n1,2\n', 'header'),
        ('time,position[x]\n1\n', 'columns'),
        ('time,position[x]\n1,oops\n', 'oops'),
        ('time,position[x],position[x]\n1,2,3\n', 'more than once'),
    ],
)
def test_bad_csv_files_get_a_sentence(tmp_path, text, sentence):
    path = tmp_path / 'bad.CSV'
    path.write_text(text)
    with pytest.raises(pd.InputError, match=sentence):
        read_log(path, load('delta'))


# ---------------------------------------------------------------- parts


def test_filters_have_no_phase_and_derivatives_are_right():
    rate, t = 1000.0, np.arange(4000) / 1000.0
    wave = np.sin(2 * np.pi * 1.5 * t)[:, None]
    rough = wave + 0.05 * np.sin(2 * np.pi * 120.0 * t)[:, None]
    smooth = low_pass(rough, rate, 12.0)
    inner = slice(500, -500)
    np.testing.assert_allclose(smooth[inner], wave[inner], atol=1e-4)
    first, second = derivatives(t, smooth)
    w = 2 * np.pi * 1.5
    np.testing.assert_allclose(first[inner, 0], w * np.cos(w * t)[inner], atol=1e-3 * w)
    np.testing.assert_allclose(second[inner, 0], -(w**2) * wave[inner, 0], atol=1e-3 * w**2)
    assert 5.0 <= automatic_cutoff(rate, wave) < 12.0
    assert averaging_window(rate, 10.0).sum() == pytest.approx(1.0)
    for filtering in (lambda: low_pass(wave, rate, 600.0), lambda: averaging_window(rate, 600.0)):
        with pytest.raises(pd.InputError, match='cutoff'):
            filtering()


def test_pseudo_inertia_and_back():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(4, 4))
    values = body_parameters(half @ half.T)
    np.testing.assert_allclose(pseudo_inertia(values), half @ half.T, atol=1e-12)


def test_consistency_can_be_left_out():
    f = found('delta')
    free = physical_parameters(f.described, f.estimate, consistent=False)
    assert free.changed < 0.5
    np.testing.assert_allclose(
        f.estimate.base.values(free.parameters)[f.estimate.essential],
        f.estimate.values[f.estimate.essential], rtol=1e-3,
    )  # fmt: skip


# ---------------------------------------------------------------- payload


def test_a_payload_is_identified_from_a_short_motion():
    from recordings import excitation

    robot = load('gough_stewart')
    load_ = (60.0, np.array([0.05, -0.03, 0.15]), np.diag([3.0, 3.5, 4.0]))
    swing = excitation('gough_stewart', 0, 1.0).trajectory
    assert swing.duration < 10.0
    log = rehearse(robot.with_payload(*load_), swing, believed=robot)
    q = identify_payload(robot, make_log(robot, log))
    assert q.mass == pytest.approx(60.0, rel=0.01)
    np.testing.assert_allclose(q.com, load_[1], atol=0.005)
    np.testing.assert_allclose(np.diag(q.inertia), np.diag(load_[2]), atol=0.6)
    again = robot.with_payload(q.payload.mass, q.payload.com, q.payload.inertia)
    assert again.model.bodies[1].inertia.mass > robot.model.bodies[1].inertia.mass


def test_a_translating_robot_tells_the_mass_alone():
    from recordings import excitation

    robot = load('delta')
    swing = excitation('delta', 0, 1.0).trajectory
    data = make_log(robot, rehearse(robot.with_payload(0.5, [0.01, 0, 0.02]), swing))
    q = identify_payload(robot, data)
    assert q.names == ('m',) and q.mass == pytest.approx(0.5, rel=0.02)
    empty = make_log(robot, rehearse(robot, swing))
    with pytest.raises(pd.InputError, match='no load'):
        identify_payload(robot, empty)


def test_nearest_tensor_is_that_of_a_body():
    np.testing.assert_allclose(nearest_tensor(np.diag([1.0, 2.0, 2.5])), np.diag([1.0, 2.0, 2.5]))
    moments = np.linalg.eigvalsh(nearest_tensor(np.diag([1.0, -0.2, 4.0])))
    assert moments[0] >= 0.0 and moments[0] + moments[1] >= moments[2] - 1e-12




def test_efforts_that_feel_no_load_are_refused(monkeypatch):
    """A delta feels nothing of a load but its mass."""
    from recordings import excitation

    robot = load('delta')
    log = make_log(robot, rehearse(robot, excitation('delta', 0, 1.0).trajectory))
    group = payload.group_columns
    monkeypatch.setattr(
        payload, 'group_columns', lambda psi, names, columns: group(psi, names, columns[1:])
    )
    with pytest.raises(pd.InputError, match='no efforts that depend on a mass'):
        identify_payload(robot, log)
