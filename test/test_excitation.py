"""Exciting motions: within all limits, from rest to rest, and better than random ones."""

from __future__ import annotations

import numpy as np
import pytest
from recordings import base_of, excitation, wrong
from robots import load

import parallel_dynamics as pd
from parallel_dynamics.identification.excitation import (
    ExcitationLimits,
    optimise_excitation,
    regressor_condition,
)
from parallel_dynamics.identification.fourier import fourier_motion
from parallel_dynamics.trajectories import check_trajectory, read_motion

ROBOTS = ['delta', 'gough_stewart', 'three_rps']
PUBLISHED = 595.0  # condition number published for a real 3-RPS


@pytest.mark.parametrize('name', ROBOTS)
def test_motions_are_within_all_limits(name):
    robot, found = wrong(name), excitation(name)
    check = check_trajectory(robot, found.trajectory, rate=50.0)
    assert check.ok, check.reason
    ends = found.trajectory.sample(np.array([0.0, found.trajectory.duration]))
    assert np.abs(ends.twist).max() < 1e-9
    np.testing.assert_allclose(ends.position, np.tile(robot.home.position, (2, 1)), atol=1e-9)


@pytest.mark.parametrize('name', ROBOTS)
def test_condition_numbers_are_far_below_those_published(name):
    found = excitation(name)
    assert found.condition < 0.5 * PUBLISHED
    assert (np.diff(found.history) <= 0.0).all()
    assert found.history[-1] <= found.history[0]
    times = found.trajectory.duration / 2.0 + found.period * np.arange(60) / 60
    psi = wrong(name).regressor(found.trajectory.sample(times))
    rows = base_of(name).regressor(psi)[..., list(found.relevant)].reshape(-1, len(found.relevant))
    assert regressor_condition(rows) == pytest.approx(found.raw_condition, rel=0.2)


@pytest.mark.parametrize('name', ROBOTS)
def test_derivatives_of_the_series_are_right(name):
    robot = load(name)
    rng = np.random.default_rng(0)
    s, c = 0.01 * rng.normal(size=(2, robot.dof, 3))
    motion = fourier_motion(robot, s, c, 2.0)
    h = 1e-5
    for t in (0.3, 1.7, 2.9):
        ahead, behind, now = motion.at(t + h), motion.at(t - h), motion.at(t)
        slope = (ahead.data[:3] - behind.data[:3]) / (2 * h)
        np.testing.assert_allclose(slope, now.velocity, atol=1e-7)
        rate = (ahead.twist - behind.twist) / (2 * h)
        np.testing.assert_allclose(rate, now.twist_rate, atol=1e-4)


def test_limits_of_the_platform_count():
    robot = load('delta')
    limits = ExcitationLimits(velocity=0.2, acceleration=1.5)
    found = optimise_excitation(robot, base_of('delta'), period=4.0, budget=6, limits=limits)
    m = found.trajectory.sample(found.trajectory.grid(100.0))  # lead-in and lead-out as well
    assert 0.1 < np.linalg.norm(m.velocity, axis=1).max() <= 0.2 * (1.0 + 1e-3)
    assert np.linalg.norm(m.acceleration, axis=1).max() <= 1.5 * (1.0 + 1e-3)
    calls = []
    optimise_excitation(
        robot, base_of('delta'), period=4.0, budget=6, progress=lambda *a: calls.append(a)
    )
    assert [c[0] for c in calls] == list(range(1, 7))


def test_bad_requests_are_refused():
    robot = load('delta')
    with pytest.raises(pd.InputError, match='period'):
        optimise_excitation(robot, base_of('delta'), period=-1.0)
    with pytest.raises(pd.InputError, match='coefficients'):
        fourier_motion(robot, np.zeros((2, 3)), np.zeros((2, 3)), 1.0)
    with pytest.raises(pd.LimitError, match='longer period'):
        optimise_excitation(
            robot, base_of('delta'), period=1.0, budget=2,
            limits=ExcitationLimits(velocity=1e-9),
        )  # fmt: skip
    robot = load('three_rps')
    with pytest.raises(pd.LimitError, match='standing at home takes .* choose wider limits'):
        optimise_excitation(
            robot, base_of('three_rps'), period=4.0, budget=1, limits=ExcitationLimits(margin=0.2)
        )


def test_the_command_writes_a_motion(tmp_path, capsys):
    from parallel_dynamics.commands.main import main

    path = tmp_path / 'motion.csv'
    assert main(['excite', 'delta', '--budget', '4', '--period', '2', '--periods', '1',
                 '--output', str(path)]) == 0  # fmt: skip
    assert 'condition number' in capsys.readouterr().out
    times, m = read_motion(path)
    assert len(times) == len(m) and np.abs(m.twist[0]).max() < 1e-9


@pytest.mark.parametrize('option', ['--output', '--simulate'])
def test_a_file_that_cannot_be_written_is_refused_before_the_search(
    option, tmp_path, capsys, monkeypatch
):
    from parallel_dynamics.commands.main import main
    from parallel_dynamics.identification import excitation

    (tmp_path / 'file').write_text('')
    monkeypatch.setattr(excitation, 'optimise_excitation', None)  # not called
    assert main(['excite', 'delta', option, str(tmp_path / 'file' / 'motion')]) == 2
    err = capsys.readouterr().err
    assert 'cannot' in err and err.count('\n') == 1
