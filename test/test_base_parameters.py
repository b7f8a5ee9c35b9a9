"""Base parameters: grouping is exact, readable, and gives the paper's seven for the DELTA."""

from __future__ import annotations

import numpy as np
from odder_robots import ODD
import pytest
from robots import load

import parallel_dynamics as pd
from parallel_dynamics.commands.main import main
from parallel_dynamics.identification.base_parameters import (
    default_candidates,
    find_base_parameters,
    telling_parameters,
)
from parallel_dynamics.identification.lumping import lumped_model
from parallel_dynamics.identification.motions import coordinate_ranges, random_motions
from parallel_dynamics.papers import codourey_burdet_1997 as codourey
from parallel_dynamics.papers.codourey_burdet_1997.extract import plate_offset

ROBOTS = ['delta', 'gough_stewart', 'three_rps', 'irregular_three_rps', 'orthoglide']


@pytest.mark.parametrize('label', ROBOTS)
def test_base_parameters_make_the_same_efforts(label):
    """On motions that the grouping has not seen, and for any parameters."""
    robot = load(label)
    base = find_base_parameters(robot, friction='all')
    m = random_motions(robot, 30, seed=9)
    psi = robot.regressor(m)
    rng = np.random.default_rng(2)
    p = np.array(robot.parameters)
    p[list(base.candidates)] += rng.normal(size=len(base.candidates))
    efforts = psi @ p
    found = base.regressor(psi) @ base.values(p) + base.known_efforts(psi, p)
    assert np.abs(found - efforts).max() < 1e-6 * np.abs(efforts).max()


@pytest.mark.parametrize('label', ROBOTS)
def test_base_parameters_are_as_few_as_the_rank(label):
    robot = load(label)
    base = find_base_parameters(robot)
    psi = robot.regressor(random_motions(robot, 150, seed=3))
    columns = psi.reshape(-1, psi.shape[-1])[:, list(base.candidates)]
    lengths = np.linalg.norm(columns, axis=0)
    seen = lengths > 1e-8 * lengths.max()
    assert len(base) == np.linalg.matrix_rank(columns[:, seen] / lengths[seen], tol=1e-6)
    assert set(base.no_effect) == {k for k, shows in zip(base.candidates, seen) if not shows}


def test_relations_read_as_sums():
    base = find_base_parameters(load('delta'), friction='none')
    texts = [base.relation(k) for k in range(len(base))]
    first = texts[base.labels.index('leg1_arm/iyy')]
    assert 'leg1_arm/iyy + 0.1225 leg1_cross_a/m' in first
    assert 'leg1_shoulder/armature' in first
    assert base.relation(base.labels.index('leg1_arm/iyy'), 2).endswith('more)')


def test_candidates_are_chosen_by_name():
    robot = load('delta')
    assert len(default_candidates(robot, 'none')) < len(default_candidates(robot, 'all'))
    with pytest.raises(pd.InputError, match='friction'):
        default_candidates(robot, 'some')


def test_telling_parameters_leave_out_what_shows_too_little():
    robot = load('delta')
    base = find_base_parameters(robot)
    psi = robot.regressor(random_motions(robot, 60))
    chosen, sizes = telling_parameters(base, robot, psi)
    assert 'platform/m' in [base.labels[k] for k in chosen]
    assert 0 < len(chosen) < len(base) and (sizes > 0.0).all()


def test_ranges_are_within_the_limits_of_the_joints():
    robot = load('three_rps')
    ranges = coordinate_ranges(robot)
    assert (ranges[:, 0] < 0.0).all() and (ranges[:, 1] > 0.0).all()


def test_random_motions_are_reached_from_home(tmp_path):
    """A leg with an elbow of its own follows from a neighbour where it cannot from home."""
    robot = pd.load_robot(ODD['sleeve'](3).write(tmp_path))
    m = random_motions(robot, 120)
    assert np.isfinite(robot.inverse_dynamics(m, invalid='nan')).all()
    assert len(m) == 120


def test_the_lumped_delta_has_the_seven_parameters_of_the_paper():
    robot = load('delta')
    lumped = lumped_model(robot)
    assert len(lumped.rods) == 6
    chosen = default_candidates(lumped.robot, 'none', symmetric=True)
    base = find_base_parameters(lumped.robot, chosen)
    expected = ['platform/m'] + [f'leg{k}_arm/{s}' for k in (1, 2, 3) for s in ('mcx', 'iyy')]
    assert sorted(base.labels) == sorted(expected)
    paper = codourey.lumped_delta(robot.model)
    values = dict(zip(base.labels, base.values(lumped.robot.parameters)))
    arms = [values[f'leg{k}_arm/{s}'] for k in (1, 2, 3) for s in ('mcx', 'iyy')]
    np.testing.assert_allclose([*arms, values['platform/m']], paper.p, rtol=1e-6)
    m = random_motions(lumped.robot, 5)
    offset = plate_offset(robot.model)
    frictionless = lumped.robot.regressor(m) @ _without_friction(lumped.robot)
    for one, efforts in zip(m, frictionless):
        torques = paper.inverse_dynamics(one.position + offset, one.velocity, one.acceleration)
        np.testing.assert_allclose(efforts, torques, rtol=1e-6, atol=1e-6)


def _without_friction(robot):
    return np.array([
        0.0 if name.endswith(('viscous', 'coulomb')) else value
        for name, value in zip(robot.parameter_names, robot.parameters)
    ])  # fmt: skip


def test_the_error_of_lumping_is_reported():
    lumped = lumped_model(load('delta'))
    assert 1e-4 < lumped.error < 0.1
    assert lumped_model(load('delta'), 'halves').error != lumped.error
    with pytest.raises(pd.InputError, match='no lumped model'):
        lumped_model(load('three_rps'))
    with pytest.raises(pd.InputError, match='thirds'):
        lumped_model(load('delta'), 'quarters')


def test_the_command_lists_them(capsys):
    assert main(['parameters', 'delta', '--lumped', 'thirds', '--symmetric',
                 '--friction', 'none']) == 0  # fmt: skip
    out = capsys.readouterr().out
    assert 'rms' in out and 'leg1_arm/mcx' in out and 'base parameters of' in out
    assert main(['parameters', 'three_rps', '--all']) == 0
    assert 'platform/izz' in capsys.readouterr().out
