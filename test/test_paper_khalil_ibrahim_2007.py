"""The models of khalil_ibrahim_2007 against finite differences, themselves and the engine."""

from __future__ import annotations

import numpy as np
from paper_motions import FINITE_DIFFERENCE, TOLERANCE, derivative, error, six_motions
import pytest

from parallel_dynamics.errors import InputError
from parallel_dynamics.loading import load_robot
from parallel_dynamics.papers import khalil_ibrahim_2007 as khalil
from parallel_dynamics.papers.khalil_ibrahim_2007 import c5, ups

ROBOTS = {
    'space': khalil.ups_robot,
    'gough_stewart': khalil.ups_robot,
    'c5': khalil.c5_robot,
}
SEEDS = {name: seed for seed, name in enumerate(ROBOTS)}


@pytest.fixture(scope='module')
def engines():
    return {name: load_robot(name) for name in ROBOTS}


@pytest.fixture(scope='module')
def models(engines):
    return {name: read(engines[name].model) for name, read in ROBOTS.items()}


@pytest.mark.parametrize('name', ROBOTS)
def test_efforts_are_the_engines(engines, models, name):
    rng = np.random.default_rng(7)
    for m in six_motions(engines[name], SEEDS[name]):
        wrench = 20.0 * rng.normal(size=6)
        expected = engines[name].inverse_dynamics(m, wrench)
        assert error(models[name].inverse_dynamics(m, wrench), expected) < TOLERANCE


@pytest.mark.parametrize('name', ROBOTS)
def test_accelerations_are_the_engines(engines, models, name):
    rng = np.random.default_rng(8)
    for m in six_motions(engines[name], SEEDS[name]):
        efforts, wrench = 100.0 * rng.normal(size=6), 20.0 * rng.normal(size=6)
        expected = engines[name].direct_dynamics(m, efforts, wrench)
        assert error(models[name].direct_dynamics(m, efforts, wrench), expected) < TOLERANCE


@pytest.mark.parametrize('name', ROBOTS)
def test_mass_matrix_bias_and_jacobian_are_the_engines(engines, models, name):
    for m in six_motions(engines[name], SEEDS[name], count=2):
        engine, model = engines[name], models[name]
        assert error(model.inertia_matrix(m), engine.mass_matrix(m)) < TOLERANCE
        assert error(model.bias(m), engine.bias(m)) < TOLERANCE
        jacobian = model.inverse_jacobian(m)
        if name != 'c5':
            jacobian = model.active_signs()[:, None] * jacobian
        assert error(jacobian, engine.jacobians(m).J_r_inv) < TOLERANCE


@pytest.mark.parametrize('name', ROBOTS)
def test_direct_model_inverts_the_inverse_model(engines, models, name):
    for m in six_motions(engines[name], SEEDS[name], count=2):
        efforts = models[name].inverse_dynamics(m)
        assert error(models[name].direct_dynamics(m, efforts), m.twist_rate) < TOLERANCE


@pytest.mark.parametrize('name', ['space', 'gough_stewart'])
def test_split_and_classical_forms_agree_with_the_compact_one(engines, models, name):
    home = engines[name].home
    classical = khalil.ClassicalModel(models[name], home.position, home.rotation)
    for m in six_motions(engines[name], SEEDS[name]):
        compact = models[name].inverse_dynamics(m)
        assert error(models[name].inverse_dynamics_split(m), compact) < TOLERANCE
        assert error(classical.inverse_dynamics(m), compact) < TOLERANCE


def test_classical_jacobian_is_the_rate_of_the_tree(engines, models):
    home = engines['space'].home
    classical = khalil.ClassicalModel(models['space'], home.position, home.rotation)
    for m in six_motions(engines['space'], 3, count=2):
        _, rates, accelerations = classical.tree_motion(m)
        active = np.concatenate([qd[[0, 2]] for qd in rates])
        assert error(classical.G(m) @ active, np.concatenate(rates)) < TOLERANCE
        by_difference = derivative(lambda x: np.concatenate(classical.tree_motion(x)[1]), m)
        assert error(np.concatenate(accelerations), by_difference) < FINITE_DIFFERENCE


@pytest.mark.parametrize('name', ['space', 'gough_stewart'])
def test_leg_jacobian_and_rates_by_finite_differences(engines, models, name):
    model = models[name]
    legs = range(len(model.legs))
    for m in six_motions(engines[name], SEEDS[name], count=2):
        rates = derivative(lambda x: [model.leg_motion(i, x)[0] for i in legs], m)
        accelerations = derivative(lambda x: [model.leg_motion(i, x)[1] for i in legs], m)
        for i, leg in enumerate(model.legs):
            q, qd, qdd = model.leg_motion(i, m)
            closed_form = leg.inverse_jacobian(q) @ leg.jacobian(q)
            assert np.abs(closed_form - np.eye(3)).max() < TOLERANCE
            tip = leg.frames(q)[1][2]
            assert error(tip, m.position + model.arm(i, m.rotation)) < TOLERANCE
            assert error(qd, rates[i]) < FINITE_DIFFERENCE
            assert error(qdd, accelerations[i]) < FINITE_DIFFERENCE


def test_table_1_puts_a_vertical_leg_at_minus_and_plus_a_quarter_turn():
    leg = khalil.Leg(rows=khalil.leg_table(0.7, 0.9), links=[khalil.Link()] * 3)
    q = leg.inverse_geometry(np.array([0.0, 0.0, 0.6]))
    assert q == pytest.approx([-np.pi / 2, np.pi / 2, 0.6])
    assert leg.frames(q)[1][2] - leg.base_point == pytest.approx([0.0, 0.0, 0.6])
    # B_i is at distance d in the direction gamma, as Table 1 has it.
    assert leg.base_point == pytest.approx([0.9 * np.cos(0.7), 0.9 * np.sin(0.7), 0.0])


@pytest.mark.parametrize('q', [(0.3, 1.0, 0.0), (0.3, 0.0, 0.5)])
def test_leg_is_singular_at_zero_length_or_zero_sine(q):
    leg = khalil.Leg(rows=khalil.leg_table(0.0, 0.0), links=[khalil.Link()] * 3)
    assert abs(np.linalg.det(leg.jacobian(np.array(q)))) < 1e-12


def test_c5_leg_accelerations_by_finite_differences(engines, models):
    model = models['c5']
    printed = frozenset({'(64)'})
    for m in six_motions(engines['c5'], 4, count=2):
        rates = derivative(lambda x: [model.geometry(i, x)[0] for i in range(6)], m)
        assert error([model.rate(i, m) for i in range(6)], rates) < FINITE_DIFFERENCE
        expected = derivative(lambda x: [model.rate(i, x) for i in range(6)], m)
        right = [model.leg_acceleration(i, m) for i in range(6)]
        assert error(right, expected) < FINITE_DIFFERENCE
        wrong = [model.leg_acceleration(i, m, printed) for i in range(6)]
        assert error(wrong, expected) > 1e-3


@pytest.mark.parametrize('equation', ups.PRINTED_FORMS)
def test_printed_equation_of_the_space_robot_does_not_agree(engines, models, equation):
    m = next(six_motions(engines['space'], 5))
    expected = engines['space'].inverse_dynamics(m)
    method = 'inverse_dynamics_split' if equation == '(45)' else 'inverse_dynamics'
    compute = getattr(models['space'], method)
    assert error(compute(m), expected) < TOLERANCE
    assert error(compute(m, as_printed=frozenset({equation})), expected) > 1e-3


@pytest.mark.parametrize('equation', c5.PRINTED_FORMS)
def test_printed_equation_of_the_c5_robot_does_not_agree(engines, models, equation):
    m = next(six_motions(engines['c5'], 6, angle=0.1))
    engine, model, printed = engines['c5'], models['c5'], frozenset({equation})
    efforts = engine.inverse_dynamics(m)
    if equation in ('(58)', '(64)'):
        assert error(model.inverse_dynamics(m, as_printed=printed), efforts) > 1e-3
    else:
        wrong = model.direct_dynamics(m, efforts, as_printed=printed)
        assert error(wrong, engine.direct_dynamics(m, efforts)) > 1e-3


def test_a_robot_of_another_kind_is_refused(engines):
    with pytest.raises(InputError, match='U-P-S'):
        khalil.ups_robot(engines['c5'].model)
    with pytest.raises(InputError, match='prismatic'):
        khalil.c5_robot(engines['space'].model)
