"""The models of khalil_ibrahim_2007 against finite differences, themselves and the engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from paper_motions import FINITE_DIFFERENCE, TOLERANCE, derivative, error, six_motions
import pytest

from parallel_dynamics.errors import InputError
from parallel_dynamics.loading import load_robot
from parallel_dynamics.papers import khalil_ibrahim_2007 as khalil
from parallel_dynamics.papers import staicu_3rps as staicu
from parallel_dynamics.papers.khalil_ibrahim_2007 import c5, ups
from parallel_dynamics.papers.khalil_ibrahim_2007.extract import _first_row

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


def test_the_space_robot_stands_as_table_1_says(models):
    """gamma = 0, 0, 60 deg and d = 0, 0.9, 0.9 m in the base frame, b = r = 0."""
    rows = [leg.rows[0] for leg in models['space'].legs]
    assert [row.gamma for row in rows] == pytest.approx([0.0, 0.0, np.pi / 3], abs=1e-9)
    assert [row.d for row in rows] == pytest.approx([0.0, 0.9, 0.9], abs=1e-9)
    assert [x for row in rows for x in (row.b, row.r)] == pytest.approx(np.zeros(6), abs=1e-9)
    for leg in models['space'].legs:
        assert np.array_equal(leg.rotation, np.eye(3)) and not leg.origin.any()


def test_a_leg_with_a_tilted_first_axis_has_a_table_of_its_own():
    axis, B = np.array([0.48, 0.6, 0.64]), np.array([0.3, -0.2, 0.1])
    row, rotation, origin = _first_row(axis, B)
    leg = khalil.Leg(khalil.leg_table(**row), [khalil.Link()] * 3, rotation, origin)
    assert leg.axes(np.zeros(3))[:, 0] == pytest.approx(axis)
    assert leg.base_point == pytest.approx(B)


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


def test_closed_form_of_the_leg_is_that_of_leg_1_only(models):
    for i, leg in enumerate(models['space'].legs):
        q = leg.inverse_geometry(np.array([0.1, 0.2, 0.7]))
        off = np.abs(leg.inverse_jacobian(q, as_printed=True) @ leg.jacobian(q) - np.eye(3)).max()
        assert off < TOLERANCE if i < 2 else off > 0.1  # gamma is zero in legs 1 and 2


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


THREE_RPS = ('three_rps', 'three_rps_prismatic')


@pytest.fixture(scope='module')
def tilting():
    """Engines and the paper's models of robots with three freedoms, by name."""
    loaded = {name: load_robot(name) for name in THREE_RPS}
    return {name: (robot, khalil.rps_robot(robot.model)) for name, robot in loaded.items()}


def tilting_motions(seed, count=4):
    """Motions that the legs of a 3-RPS allow, by another paper's kinematics."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        value = np.array([1.15, 0.0, 0.0]) + np.array([0.1, 0.2, 0.2]) * rng.uniform(-1, 1, 3)
        rates = rng.normal(size=(2, 3))
        yield staicu.platform_motion(staicu.Geometry(), staicu.Coordinates(value, *rates))


@pytest.mark.parametrize('name', THREE_RPS)
def test_reduced_twist_and_its_rate_span_what_the_legs_allow(tilting, name):
    """(9) and (13) give the platform's whole motion from heave and tilt."""
    _, model = tilting[name]
    for m in tilting_motions(1):
        V_r, Vd_r = m.twist[2:5], m.twist_rate[2:5]
        whole = model.motion(m.position, m.rotation, V_r, Vd_r)
        assert error(whole.twist, m.twist) < TOLERANCE
        assert error(whole.twist_rate, m.twist_rate) < TOLERANCE
        slope = derivative(lambda x: model.S(x.rotation), m)
        assert error(model.S_dot(m.rotation, m.angular_velocity), slope) < FINITE_DIFFERENCE
        legs = range(3)
        for k, exact in ((0, 1), (1, 2)):
            by_difference = derivative(lambda x: [model.leg_motion(i, x)[k] for i in legs], m)  # noqa: B023
            rates = [model.leg_motion(i, m)[exact] for i in legs]
            assert error(rates, by_difference) < FINITE_DIFFERENCE


@pytest.mark.parametrize('name', THREE_RPS)
def test_efforts_and_accelerations_with_three_freedoms_are_the_engines(tilting, name):
    engine, model = tilting[name]
    rng = np.random.default_rng(9)
    for m in tilting_motions(2):
        wrench = 20.0 * rng.normal(size=6)
        efforts = engine.inverse_dynamics(m, wrench)
        assert error(model.inverse_dynamics(m, wrench), efforts) < TOLERANCE
        assert error(model.direct_dynamics(m, efforts, wrench), m.twist_rate) < TOLERANCE
        efforts = 50.0 * rng.normal(size=3)
        expected = engine.direct_dynamics(m, efforts, wrench)
        assert error(model.direct_dynamics(m, efforts, wrench), expected) < TOLERANCE


def test_an_rps_leg_has_no_inverse_and_any_left_inverse_will_do(tilting):
    """Differs from paper: (17) and (20) print ``J_i^-1``, but ``J_i`` is (3, 2)."""
    _, model = tilting['three_rps']
    m = next(tilting_motions(3))

    class Other(khalil.RpsLeg):
        def inverse_jacobian(self, q, as_printed=False):
            return super().inverse_jacobian(q) + np.outer([0.7, -0.3], self.normal)

    fields = ('rows', 'links', 'rotation', 'origin', 'attachment', 'signs')
    legs = [Other(**{name: getattr(leg, name) for name in fields}) for leg in model.legs]
    other = replace(model, legs=legs)
    for leg in (*model.legs, *legs):
        q = np.array([0.2, 1.1])
        assert leg.inverse_jacobian(q) @ leg.jacobian(q) == pytest.approx(np.eye(2), abs=1e-12)
        with pytest.raises(np.linalg.LinAlgError):
            np.linalg.inv(leg.jacobian(q))
    assert error(other.inverse_dynamics(m), model.inverse_dynamics(m)) < TOLERANCE


def test_a_robot_of_another_kind_is_refused(engines):
    with pytest.raises(InputError, match='U-P-S'):
        khalil.ups_robot(engines['c5'].model)
    with pytest.raises(InputError, match='prismatic'):
        khalil.c5_robot(engines['space'].model)
    with pytest.raises(InputError, match='R-P-S'):
        khalil.rps_robot(engines['space'].model)
