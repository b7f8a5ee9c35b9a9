"""The linear form of codourey_burdet_1997 against Newton-Euler, energy and the engine."""

from __future__ import annotations

import numpy as np
from paper_motions import FINITE_DIFFERENCE, TOLERANCE, derivative, error, translations
import pytest
from scipy.spatial.transform import Rotation

from parallel_dynamics.errors import InputError, UnreachableError
from parallel_dynamics.loading import load_robot
from parallel_dynamics.model import PLATFORM, Inertia
from parallel_dynamics.papers import codourey_burdet_1997 as codourey
from parallel_dynamics.papers.codourey_burdet_1997.extract import plate_offset
from parallel_dynamics.papers.variants import lumped_delta_robot, with_model, without_drives

REACH = 0.12


@pytest.fixture(scope='module')
def shipped():
    return load_robot('delta')


@pytest.fixture(scope='module')
def engine(shipped):
    return without_drives(shipped, friction_only=True)


def random_body(rng):
    half = rng.normal(size=(3, 3))
    r = rng.normal(size=3)
    mass = rng.uniform(1.5, 3.0)
    central = half @ half.T
    about = central + mass * (r @ r * np.eye(3) - np.outer(r, r))
    return mass, r, central, about


def test_wrench_is_newton_euler_at_the_centre_of_mass():
    rng = np.random.default_rng(1)
    for _ in range(5):
        mass, r, central, about = random_body(rng)
        a, w, wd = rng.normal(size=(3, 3))
        a_C = a + np.cross(wd, r) + np.cross(w, np.cross(w, r))
        moment = central @ wd + np.cross(w, central @ w) + np.cross(r, mass * a_C)
        expected = np.concatenate([mass * a_C, moment])
        assert error(codourey.inertial_wrench(mass, r, about, a, w, wd), expected) < TOLERANCE
        p = codourey.parameters(mass, mass * r, about)
        assert error(codourey.body_matrix(a, w, wd) @ p, expected) < TOLERANCE
        printed = codourey.inertial_wrench(mass, r, about, a, w, wd, as_printed=True)
        assert error(printed, expected) > 1e-3
        assert error(codourey.body_matrix(a, w, wd, as_printed=True) @ p, expected) > 1e-3


def test_tilde_multiplies_the_tensor():
    rng = np.random.default_rng(2)
    half, w = rng.normal(size=(3, 3)), rng.normal(size=3)
    tensor = half @ half.T
    packed = tensor[np.triu_indices(3)]
    assert codourey.tilde(w) @ packed == pytest.approx(tensor @ w)
    assert error(codourey.tilde(w, as_printed=True) @ packed, tensor @ w) > 1e-3


def plate(m, offset):
    return m.position + offset, m.velocity, m.acceleration


def test_kinematics_by_finite_differences(engine):
    geometry = codourey.lumped_delta(engine.model).geometry
    offset = plate_offset(engine.model)

    def state(m):
        return codourey.state(geometry, *plate(m, offset))

    for m in translations(engine, 3, REACH):
        s = state(m)
        rods = np.linalg.norm(s.x - s.elbow, axis=1)
        assert rods == pytest.approx(geometry.L_B, rel=1e-12)
        assert error(s.J @ s.qd, s.xd) < TOLERANCE
        for value, name in (
            (s.qd, 'q'),
            (s.qdd, 'qd'),
            (s.elbow_velocity, 'elbow'),
            (s.elbow_acceleration, 'elbow_velocity'),
        ):
            by_difference = derivative(lambda x: getattr(state(x), name), m)  # noqa: B023
            assert error(value, by_difference) < FINITE_DIFFERENCE


def test_motor_angles_are_the_engines(engine):
    geometry = codourey.lumped_delta(engine.model).geometry
    offset = plate_offset(engine.model)
    home = codourey.state(geometry, *plate(engine.home, offset))
    actuated = [engine.joints.index(name) for name in engine.actuators]
    for m in translations(engine, 4, REACH):
        s = codourey.state(geometry, *plate(m, offset))
        joints = engine.inverse_kinematics(m)
        assert s.q - home.q == pytest.approx(joints.position[actuated], abs=1e-10)
        assert error(s.qdd, joints.acceleration[actuated]) < TOLERANCE


def test_exact_linear_form_is_the_engines_inverse_dynamics(engine):
    exact = codourey.exact_delta(engine.model)
    offset = plate_offset(engine.model)
    for m in translations(engine, 5, REACH):
        expected = engine.inverse_dynamics(m)
        assert error(exact.inverse_dynamics(*plate(m, offset)), expected) < TOLERANCE
        printed = exact.inverse_dynamics(*plate(m, offset), as_printed=True)
        assert error(printed, expected) > 1e-3


def test_lumped_form_is_the_engine_with_rods_as_dumbbells(shipped):
    engine = lumped_delta_robot(shipped)
    lumped = codourey.lumped_delta(engine.model)
    offset = plate_offset(engine.model)
    for m in translations(engine, 6, REACH):
        expected = engine.inverse_dynamics(m)
        assert error(lumped.inverse_dynamics(*plate(m, offset)), expected) < TOLERANCE
        printed = lumped.inverse_dynamics(*plate(m, offset), as_printed=True)
        assert error(printed, expected) > 1e-2


def test_lumping_is_an_approximation_on_the_shipped_robot(engine):
    lumped = codourey.lumped_delta(engine.model)
    m = next(translations(engine, 7, REACH))
    off = error(lumped.inverse_dynamics(*plate(m, plate_offset(engine.model))),
                engine.inverse_dynamics(m))  # fmt: skip
    assert 1e-4 < off < 0.1


def test_arm_blocks_of_the_general_form_are_those_of_equation_43(engine):
    lumped = codourey.lumped_delta(engine.model)
    m = next(translations(engine, 8, REACH))
    s = codourey.state(lumped.geometry, *plate(m, plate_offset(engine.model)))
    for i in range(3):
        expected = np.zeros((3, 10))
        expected[i, 1] = -lumped.g * np.cos(s.q[i])
        expected[i, 7] = s.qdd[i]
        block = lumped.arm_block(i, s)
        # (43) drops the column of m r_z, whose parameter is zero for an arm along x.
        block[:, 3] = 0.0
        assert block == pytest.approx(expected, abs=1e-12)


def test_virtual_work_at_the_centres_of_mass_gives_the_linear_form(engine):
    """(1)-(18), body by body at its centre of mass, against the matrix (34) times parameters."""
    exact = codourey.exact_delta(engine.model)
    offset, G = plate_offset(engine.model), np.array([0.0, 0.0, -exact.g])
    for m in translations(engine, 11, REACH, count=3):
        s = codourey.state(exact.geometry, *plate(m, offset))
        efforts = codourey.efforts(exact.motions(s), exact.p, G, exact.J_tau(s))
        assert error(efforts, exact.Psi(s) @ exact.p) < TOLERANCE


def test_motor_jacobian_is_the_identity_about_y_and_singular_about_z(engine):
    """(44) holds for the axes of (36); with those of (15) no motor moves anything."""
    exact = codourey.exact_delta(engine.model)
    m = next(translations(engine, 12, REACH))
    s = codourey.state(exact.geometry, *plate(m, plate_offset(engine.model)))
    assert exact.J_tau(s) == pytest.approx(np.eye(3))
    assert abs(np.linalg.det(exact.J_tau(s, as_printed=True))) < 1e-12


def test_transmission_keeps_the_power_of_a_wrench():
    """A wrench at C and what (9) makes of it at A do the same work on every twist."""
    rng = np.random.default_rng(13)
    r, wrench, twist = rng.normal(size=3), rng.normal(size=6), rng.normal(size=6)
    R = Rotation.random(random_state=rng).as_matrix()
    J_rT = codourey.transmission(R, r)
    v_C = R.T @ (twist[:3] + np.cross(twist[3:], r))
    assert J_rT.T @ twist == pytest.approx(np.concatenate([v_C, R.T @ twist[3:]]))
    assert (J_rT @ wrench) @ twist == pytest.approx(wrench @ (J_rT.T @ twist))


def test_energy_of_a_lumped_rod_is_off_as_stated():
    """Per uniform rod: dT = (m/6) v_E.(v_E - v_P), dV = (m g/6)(z_E - z_P)."""
    rng = np.random.default_rng(9)
    mass, g = 0.3, 9.81
    E, v_E, v_P = rng.normal(size=(3, 3))
    P = E + rng.normal(size=3)
    share = np.linspace(0.0, 1.0, 20001)
    velocity = v_E + share[:, None] * (v_P - v_E)
    weights = np.full(len(share), 1.0 / (len(share) - 1))
    weights[[0, -1]] *= 0.5
    exact_T = 0.5 * mass * weights @ np.einsum('ij,ij->i', velocity, velocity)
    exact_V = mass * g * weights @ (E[2] + share * (P[2] - E[2]))
    lumped_T = 0.5 * mass * (2 * v_E @ v_E + v_P @ v_P) / 3
    lumped_V = mass * g * (2 * E[2] + P[2]) / 3
    assert lumped_T - exact_T == pytest.approx(mass / 6 * v_E @ (v_E - v_P), rel=1e-6)
    assert lumped_V - exact_V == pytest.approx(mass * g / 6 * (E[2] - P[2]), rel=1e-6)


def test_out_of_reach_and_wrong_robots_are_refused(engine):
    geometry = codourey.lumped_delta(engine.model).geometry
    with pytest.raises(UnreachableError, match='within reach'):
        codourey.state(geometry, np.array([0.0, 0.0, -3.0]), np.zeros(3), np.zeros(3))
    with pytest.raises(InputError):
        codourey.lumped_delta(load_robot('c5').model)


def test_linear_form_is_the_engines_for_any_inertias(engine):
    """The matrix is the geometry's alone: with other bodies only the parameters change."""
    rng = np.random.default_rng(10)
    offset = plate_offset(engine.model)
    others = {}
    for body in range(PLATFORM, len(engine.model.bodies)):
        mass, r, central, _ = random_body(rng)
        others[body] = Inertia(mass, r, central)
    model = engine.model.with_bodies(others)
    parameters = with_model(engine, model).parameters
    own = codourey.exact_delta(engine.model)
    p = codourey.exact_delta(model).p
    for m in translations(engine, 10, REACH, count=3):
        s = codourey.state(own.geometry, *plate(m, offset))
        expected = engine.regressor(m) @ parameters
        assert error(own.Psi(s) @ p + own.motor_inertia * s.qdd, expected) < TOLERANCE
