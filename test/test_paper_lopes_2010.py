"""The model of lopes_2010 against finite differences, conservation laws and the engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from paper_motions import (
    FINITE_DIFFERENCE,
    TOLERANCE,
    base_motion,
    derivative,
    error,
    six_motions,
)
import pytest
from scipy.spatial.transform import Rotation

from parallel_dynamics.errors import InputError
from parallel_dynamics.loading import load_robot
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM, Inertia
from parallel_dynamics.motion import BaseMotion
from parallel_dynamics.papers import lopes_2010 as lopes
from parallel_dynamics.papers.layout import HomeLayout
from parallel_dynamics.papers.lopes_2010.leg import paper_frame
from parallel_dynamics.papers.lopes_2010.model import moment_base
from parallel_dynamics.papers.variants import lopes_robot, with_model

PARTS_OF = {
    'fix': [name for name in lopes.PARTS if '(fix)' in name],
    'man': [name for name in lopes.PARTS if '(man)' in name],
    'gra': [name for name in lopes.PARTS if '(gra)' in name],
}


@pytest.fixture(scope='module')
def shipped():
    return load_robot('gough_stewart')


@pytest.fixture(scope='module')
def engine(shipped):
    return lopes_robot(shipped)


@pytest.fixture(scope='module')
def robot(engine):
    return lopes.stewart_platform(engine.model)


def total(parts, names):
    return sum(parts[name] for name in names)


def test_forces_on_a_moving_base_are_the_engines(engine, robot):
    rng = np.random.default_rng(1)
    for m in six_motions(engine, 1):
        base = base_motion(rng)
        expected = engine.inverse_dynamics(m, base=base)
        assert error(robot.inverse_dynamics(m, base), expected) < TOLERANCE


def test_a_leg_that_does_not_spin_is_right_for_slender_legs_only(shipped, engine):
    slender = lopes_robot(shipped, slender=True)
    m = next(six_motions(engine, 2))
    base = base_motion(np.random.default_rng(2))
    still = lopes.stewart_platform(slender.model, spin=False)
    expected = slender.inverse_dynamics(m, base=base)
    assert error(still.inverse_dynamics(m, base), expected) < TOLERANCE
    still = lopes.stewart_platform(engine.model, spin=False)
    expected = engine.inverse_dynamics(m, base=base)
    assert error(still.inverse_dynamics(m, base), expected) > 1e-8


def test_the_three_kinds_of_parts_are_the_engines(engine, robot):
    """Fixed base without gravity, gravity alone, and what the base's motion adds."""
    weightless = engine.with_gravity(np.zeros(3))
    rng = np.random.default_rng(3)
    for m in six_motions(engine, 3, count=3):
        base = base_motion(rng)
        parts = robot.actuator_forces(m, base)
        fixed = weightless.inverse_dynamics(m)
        assert error(total(parts, PARTS_OF['fix']), fixed) < TOLERANCE
        at_rest = m.replace(np.zeros(6), np.zeros(6))
        gravity = engine.inverse_dynamics(at_rest, base=BaseMotion(base.rotation))
        assert error(total(parts, PARTS_OF['gra']), gravity) < TOLERANCE
        added = weightless.inverse_dynamics(m, base=base) - fixed
        assert error(total(parts, PARTS_OF['man']), added) < TOLERANCE


def leg_bodies(model, position):
    layout = HomeLayout(model)
    joints = [layout.chain(closure.first.body)[position] for closure in model.closures]
    return [joint + FIRST_LEG_BODY for joint in joints]


@pytest.mark.parametrize('part', ['P', 'C(tra)', 'C(rot)', 'S(tra)', 'S(rot)'])
def test_each_body_contributes_what_the_engine_says(engine, robot, part):
    """Efforts are linear in the inertias, so the engine can be asked for one body at a time."""
    model = engine.model
    bodies = {'P': [PLATFORM], 'C': leg_bodies(model, 1), 'S': leg_bodies(model, 2)}[part[0]]
    only = {b: Inertia() for b in range(len(model.bodies))}
    for b in bodies:
        own = model.bodies[b].inertia
        if '(tra)' in part:
            own = Inertia(own.mass, own.com)
        elif '(rot)' in part:
            own = Inertia(0.0, own.com, own.tensor)
        only[b] = own
    alone = with_model(engine, model.with_bodies(only))
    suffix = part[1:]
    names = [n for n in lopes.PARTS if n[0] == part[0] and n.endswith(suffix)]
    if suffix == '(tra)':
        names.append(f'{part[0]}(gra)')
    m = next(six_motions(engine, 4))
    base = base_motion(np.random.default_rng(4))
    parts = robot.actuator_forces(m, base)
    assert error(total(parts, names), alone.inverse_dynamics(m, base=base)) < TOLERANCE


@pytest.mark.parametrize('equation', lopes.PRINTED_FORMS)
def test_printed_equation_does_not_agree(engine, robot, equation):
    m = next(six_motions(engine, 5, angle=0.2))
    base = base_motion(np.random.default_rng(5))
    expected = engine.inverse_dynamics(m, base=base)
    assert error(robot.inverse_dynamics(m, base), expected) < TOLERANCE
    assert error(robot.inverse_dynamics(m, base, frozenset({equation})), expected) > 1e-4


def test_jacobians_and_accelerations_by_finite_differences(engine, robot):
    m = next(six_motions(engine, 6))
    twist = robot.at_centre(m).twist

    def rate(name):
        return derivative(lambda x: [getattr(s, name) for s in robot.states(x)], m)

    rates = {n: rate(n) for n in ('p_C', 'v_C', 'p_S', 'v_S', 'frame', 'omega', 'length')}
    for i, state in enumerate(robot.states(m)):
        turn = rates['frame'][i] @ state.frame.T
        omega = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
        checks = (
            (state.J_B @ twist, rates['p_C'][i]),
            (state.v_C, rates['p_C'][i]),
            (state.a_C, rates['v_C'][i]),
            (state.J_G @ twist, rates['p_S'][i]),
            (state.v_S, rates['p_S'][i]),
            (state.a_S, rates['v_S'][i]),
            (state.omega, omega),
            (state.J_D @ twist, omega),
            (state.omegad, rates['omega'][i]),
            (state.row @ twist, rates['length'][i]),
        )
        for value, by_difference in checks:
            assert error(value, by_difference) < FINITE_DIFFERENCE


def joint_turn(joint, position):
    """Rotation parent <- child of a revolute joint."""
    return joint.rotation @ Rotation.from_rotvec(joint.axis * position).as_matrix()


def test_leg_motions_are_those_of_the_engines_joints(engine, robot):
    """Turning of a leg by its universal joint, length by its slide; rates and accelerations."""
    model = engine.model
    layout = HomeLayout(model)
    for m in six_motions(engine, 12):
        joints = engine.inverse_kinematics(m)
        at = robot.at_centre(m)
        for closure, leg, s in zip(model.closures, robot.legs, robot.states(m)):
            first, second, slide = layout.chain(closure.first.body)
            (q1, r1, a1), (_, r2, a2), (_, rate, acc) = (
                joints[model.joints[j].name] for j in (first, second, slide)
            )
            cross = joint_turn(model.joints[first], q1)
            n1 = model.joints[first].rotation @ model.joints[first].axis
            n2 = cross @ model.joints[second].rotation @ model.joints[second].axis
            omega = r1 * n1 + r2 * n2
            assert error(s.omega, omega) < TOLERANCE
            assert error(s.omegad, a1 * n1 + a2 * n2 + r1 * r2 * np.cross(n1, n2)) < TOLERANCE
            assert s.row @ at.twist == pytest.approx(rate, rel=1e-9, abs=1e-9)
            along = s.direction @ (s.a_S + leg.b_S * np.cross(omega, np.cross(omega, s.direction)))
            centripetal = s.direction @ np.cross(omega, np.cross(omega, s.l))
            assert along - centripetal == pytest.approx(acc, rel=1e-9, abs=1e-9)


def momentum(robot, m):
    """Linear and angular momentum (6,) about the base's origin, base at rest."""
    at = robot.at_centre(m)
    tensor = at.rotation @ robot.I_P @ at.rotation.T
    bodies = [(robot.m_P, tensor, at.position, at.velocity, at.angular_velocity)]
    for leg, s in zip(robot.legs, robot.states(m)):
        for mass, inertia, p, v in (
            (leg.m_C, leg.I_C, s.p_C, s.v_C),
            (leg.m_S, leg.I_S, s.p_S, s.v_S),
        ):
            bodies.append((mass, s.frame @ inertia @ s.frame.T, p, v, s.omega))
    linear = sum(mass * v for mass, _, _, v, _ in bodies)
    angular = sum(np.cross(p, mass * v) + I @ w for mass, I, p, v, w in bodies)
    return np.concatenate([linear, angular])


def test_base_reaction_is_minus_the_rate_of_momentum(engine, robot):
    weightless = replace(robot, gravity=np.zeros(3))
    for m in six_motions(engine, 7, count=2):
        rate = derivative(lambda x: momentum(robot, x), m)
        assert error(-weightless.base_reaction(m), rate) < FINITE_DIFFERENCE


def test_base_reaction_in_free_fall_with_the_base_is_that_without_gravity(engine, robot):
    m = next(six_motions(engine, 8))
    base = base_motion(np.random.default_rng(8))
    falling = BaseMotion(base.rotation, acceleration=base.rotation.T @ robot.gravity)
    weightless = replace(robot, gravity=np.zeros(3))
    assert error(robot.base_reaction(m, falling), weightless.base_reaction(m)) < TOLERANCE


def test_base_reaction_at_rest_is_the_weight(engine, robot):
    mass = robot.m_P + sum(leg.m_C + leg.m_S for leg in robot.legs)
    reaction = robot.base_reaction(engine.home)
    assert reaction[:3] == pytest.approx([0.0, 0.0, -9.81 * mass])


def test_a_spinning_base_has_a_gyroscopic_moment():
    """A body at rest on a base that spins at w is a rotor: its moment is w x I w."""
    inertia, w = np.diag([1.0, 2.0, 4.0]), np.array([0.3, -1.2, 0.7])
    base = BaseMotion(angular_velocity=w)
    moment = moment_base(inertia, np.zeros(3), base)
    assert moment == pytest.approx(np.cross(w, inertia @ w))
    assert moment_base(inertia, np.zeros(3), base, as_printed=True) == pytest.approx(np.zeros(3))


def test_the_papers_leg_frame_fails_for_a_vertical_leg_only():
    frame = paper_frame(np.array([0.6, 0.0, 0.8]))
    assert frame @ frame.T == pytest.approx(np.eye(3))
    assert frame[2, 1] == 0.0
    with np.errstate(invalid='ignore'):
        assert np.isnan(paper_frame(np.array([0.0, 0.0, 1.0]))).any()


def test_a_centre_of_mass_beside_the_leg_is_refused(engine):
    body = leg_bodies(engine.model, 1)[0]
    own = engine.model.bodies[body].inertia
    aside = Inertia(own.mass, own.com + np.array([0.01, 0.0, 0.0]), own.tensor)
    with pytest.raises(InputError, match='axis of the leg'):
        lopes.stewart_platform(engine.model.with_bodies({body: aside}))


def test_a_platform_frame_beside_the_centre_of_mass_is_allowed(engine, robot):
    assert np.linalg.norm(robot.centre) > 0.1
    m = next(six_motions(engine, 10))
    centre = robot.at_centre(m)
    rate = derivative(lambda x: robot.at_centre(x).position, m)
    assert error(centre.velocity, rate) < FINITE_DIFFERENCE


def test_base_reaction_is_what_the_engines_first_joints_hand_down(engine, robot):
    """A first joint's wrench is what the base exerts on the leg; the base feels minus that."""
    model = engine.model
    layout = HomeLayout(model)
    rng = np.random.default_rng(11)
    for m in six_motions(engine, 11, count=3):
        base = base_motion(rng)
        forces = engine.joint_forces(m, base=base)
        joints = engine.inverse_kinematics(m)
        expected = np.zeros(6)
        for closure in model.closures:
            first = layout.chain(closure.first.body)[0]
            joint = model.joints[first]
            turn = Rotation.from_rotvec(joint.axis * joints[joint.name][0]).as_matrix()
            to_base = joint.rotation @ turn
            force, moment = (to_base @ x for x in np.split(forces.wrench[joint.name], 2))
            expected -= np.concatenate([force, moment + np.cross(joint.position, force)])
        assert error(robot.base_reaction(m, base), expected) < TOLERANCE
