"""The Orthoglide of chablat_wenger_staicu_2009 against finite differences, energy, the engine."""

from __future__ import annotations

import numpy as np
from paper_motions import FINITE_DIFFERENCE, TOLERANCE, derivative, error, translations
import pytest

from parallel_dynamics.errors import InputError
from parallel_dynamics.loading import load_robot
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers import chablat_wenger_staicu_2009 as chablat

REACH = 0.2
TO_PAPER = chablat.TO_BASE  # its own inverse
GEOMETRY = chablat.Geometry()


@pytest.fixture(scope='module')
def engine():
    return load_robot('orthoglide')


@pytest.fixture(scope='module')
def robot(engine):
    return chablat.orthoglide(engine.model)


def in_paper(m):
    return tuple(TO_PAPER @ x for x in (m.position, m.velocity, m.acceleration))


def random_motions(seed, count=4):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield PlatformMotion(
            rng.uniform(-REACH, REACH, size=3),
            velocity=rng.normal(size=3),
            acceleration=rng.normal(size=3),
        )


def test_forces_are_the_engines(engine, robot):
    for m in translations(engine, 1, REACH):
        expected = engine.inverse_dynamics(m)
        assert error(robot.inverse_dynamics(*in_paper(m)), expected) < TOLERANCE
        central = robot.with_central_tensors().inverse_dynamics(*in_paper(m))
        assert error(central, expected) > 1e-3


@pytest.mark.parametrize('equation', chablat.PRINTED_FORMS)
def test_printed_equation_does_not_agree(engine, robot, equation):
    m = next(translations(engine, 9, REACH))
    expected = engine.inverse_dynamics(m)
    printed = robot.inverse_dynamics(*in_paper(m), frozenset({equation}))
    assert error(printed, expected) > 1e-2


def test_slides_and_hinges_are_the_engines(engine, robot):
    """Position, rate and acceleration of every joint of a leg but the last, phi_54 = phi_21."""
    for m in translations(engine, 2, REACH):
        motions = robot.motion(*in_paper(m))
        joints = engine.inverse_kinematics(m)
        for leg in range(3):
            names = {
                'slide': [engine.actuators[leg]],
                'phi21': [f'leg{leg + 1}_root_hinge'],
                'phi32': [f'leg{leg + 1}_parallel_{bar}' for bar in ('a', 'b', 'tip')],
            }
            for variable, engine_names in names.items():
                values = [getattr(part[leg], variable) for part in motions]
                for name in engine_names:
                    expected = np.array(joints[name])
                    assert values == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize('leg', range(3))
def test_loops_close_and_the_platform_keeps_its_attitude(leg):
    for m in random_motions(3):
        pose = chablat.leg_pose(GEOMETRY, leg, m.position)
        centre = chablat.platform_centre(GEOMETRY, leg, pose)
        assert centre == pytest.approx(m.position, abs=1e-12)
        assert pose.a[5] == pytest.approx(chablat.PLATFORM_MATRICES[leg], abs=1e-12)
    if leg == 2:
        assert np.abs(pose.a[5] - chablat.PRINTED_C50).max() > 0.5
        assert chablat.attitude_error() == pytest.approx(np.pi / 2)


def variables(pose):
    return [pose.slide, pose.phi21, pose.phi32]


@pytest.mark.parametrize('leg', range(3))
def test_relative_velocities_and_accelerations_by_finite_differences(leg):
    def rates(m, **options):
        pose = chablat.leg_pose(GEOMETRY, leg, m.position)
        return chablat.leg_rates(GEOMETRY, pose, m.velocity, **options)

    for m in random_motions(4):
        pose = chablat.leg_pose(GEOMETRY, leg, m.position)
        expected = derivative(lambda x: variables(chablat.leg_pose(GEOMETRY, leg, x.position)), m)
        assert error(variables(rates(m)), expected) < FINITE_DIFFERENCE
        assert error(variables(rates(m, as_printed=True)), expected) > 1e-2
        expected = derivative(lambda x: variables(rates(x)), m)
        given = (GEOMETRY, pose, rates(m), m.acceleration)
        assert error(variables(chablat.leg_accelerations(*given)), expected) < FINITE_DIFFERENCE
        printed = chablat.leg_accelerations(*given, as_printed=True)
        assert error(variables(printed), expected) > 1e-2


def test_jacobians_of_equation_15_are_those_of_equation_13():
    for m in random_motions(5):
        J_1, J_2 = chablat.jacobians(GEOMETRY, m.position)
        slides = [
            chablat.leg_rates(
                GEOMETRY, chablat.leg_pose(GEOMETRY, leg, m.position), m.velocity
            ).slide
            for leg in range(3)
        ]
        assert error(J_1 @ slides, J_2 @ m.velocity) < TOLERANCE


@pytest.mark.parametrize('leg', range(3))
def test_bodies_accelerate_as_equation_19_says(robot, leg):
    """In the fixed frame, velocity and acceleration of each joint, spin and its derivative."""

    def states(m):
        poses, rates, accelerations = robot.motion(m.position, m.velocity, m.acceleration)
        bodies = chablat.body_states(robot.geometry, poses[leg], rates[leg], accelerations[leg])
        return {k: (poses[leg].a[k].T, s) for k, s in bodies.items()}

    m = next(random_motions(6))
    for k, (to_fixed, s) in states(m).items():
        expected = derivative(lambda x: states(x)[k][0] @ states(x)[k][1].v, m)  # noqa: B023
        assert to_fixed @ s.gamma == pytest.approx(expected, rel=1e-7, abs=1e-7)
        expected = derivative(lambda x: states(x)[k][0] @ states(x)[k][1].omega, m)  # noqa: B023
        assert to_fixed @ s.epsilon == pytest.approx(expected, rel=1e-7, abs=1e-7)
        turn = derivative(lambda x: states(x)[k][0], m) @ to_fixed.T  # noqa: B023
        omega = [turn[2, 1], turn[0, 2], turn[1, 0]]
        assert to_fixed @ s.omega == pytest.approx(omega, rel=1e-7, abs=1e-7)


def test_powers_are_the_rate_of_energy():
    robot = chablat.Orthoglide.from_paper()
    for m in random_motions(7):
        power = robot.powers(m.position, m.velocity, m.acceleration).sum()
        rate = derivative(lambda x: robot.energy(x.position, x.velocity), m)
        assert power == pytest.approx(float(rate), rel=1e-7, abs=1e-7)


def test_energy_is_the_engines(engine, robot):
    still = engine.home
    zero = robot.energy(TO_PAPER @ still.position, np.zeros(3))
    for m in translations(engine, 8, REACH, count=2):
        G, v, _ = in_paper(m)
        expected = engine.kinetic_energy(m) + engine.potential_energy(m)
        expected -= engine.potential_energy(still)
        assert robot.energy(G, v) - zero == pytest.approx(expected, rel=1e-9)


def test_the_papers_motion_does_not_come_to_rest():
    position, velocity, acceleration = chablat.paper_motion(np.array([0.0, 2.0]))
    assert position[1] == pytest.approx(1.5 * np.array([0.05, 0.10, -0.20]))
    assert velocity[0] == pytest.approx(np.zeros(3))
    assert np.abs(velocity[1]).min() > 0.04


def test_another_structure_is_refused():
    with pytest.raises((InputError, ValueError)):
        chablat.orthoglide(load_robot('delta').model)
