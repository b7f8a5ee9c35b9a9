"""Joint forces where the answer is known by heart: statics, symmetry, proportions."""

import numpy as np
import pytest
from robots import load, random_base, random_motion
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd
from parallel_dynamics.forces.poses import body_poses
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM

G = 9.81


def leg_statics(robot):
    """Length, tilt, masses and centres of mass (along the leg, from the hinge) of a 3-RPS leg."""
    model = robot.model
    joints = {joint.name: k for k, joint in enumerate(model.joints)}
    rotations, origins = (a[0] for a in body_poses(robot, robot.home))
    lower, upper = (b for b, j in enumerate(model.joints, FIRST_LEG_BODY) if '1' in j.name)
    ball = model.closures[0].first
    foot = origins[lower]
    tip = origins[ball.body] + rotations[ball.body] @ ball.position
    length = np.linalg.norm(tip - foot)
    along = (tip - foot) / length
    mass, centre = [], []
    for b in (lower, upper):
        inertia = model.bodies[b].inertia
        mass.append(inertia.mass)
        com = origins[b] + rotations[b] @ inertia.com - foot
        np.testing.assert_allclose(com, (com @ along) * along, atol=1e-12)
        centre.append(com @ along)
    beta = np.arccos(along[2])
    assert along[0] < 0.0  # leg 1 stands at +x and leans inwards
    return length, beta, mass, centre, joints


def in_base_axes(robot, m, forces, name):
    """[force; moment] (6,) of a joint's or closure's wrench in base axes."""
    rotations, _ = (a[0] for a in body_poses(robot, m))
    if name in robot.joints:
        turn = rotations[robot.joints.index(name) + FIRST_LEG_BODY]
    else:
        second = robot.model.closures[robot.closures.index(name)].second
        turn = rotations[second.body] @ second.rotation
    return (forces.wrench[name].reshape(2, 3) @ turn.T).ravel()


@pytest.mark.parametrize('label', ['three_rps', 'three_rps_prismatic'])
def test_three_rps_at_rest(label):
    """Level at home, each leg carries a third of the platform; its passive joint tells the rest.

    With passive slides a leg cannot push along itself but by its piston's own weight; with
    passive hinges the forces on a leg have no moment about its hinge.
    """
    robot = load(label)
    forces = robot.joint_forces(robot.home)
    length, beta, (m1, m2), (c1, c2), joints = leg_statics(robot)
    share = robot.model.bodies[PLATFORM].inertia.mass * G / 3.0
    if label == 'three_rps':
        outward = (share + m2 * G) / np.tan(beta)
    else:
        outward = -np.tan(beta) * (share + (m1 * c1 + m2 * c2) * G / length)
    for k in range(3):
        away = np.array([np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3), 0.0])
        on_platform = in_base_axes(robot, robot.home, forces, f'ball{k + 1}')[:3]
        np.testing.assert_allclose(on_platform, outward * away + [0, 0, share], atol=1e-9)
        hinge = next(n for n in joints if f'{k + 1}' in n and n != f'leg{k + 1}_slide')
        foot = in_base_axes(robot, robot.home, forces, hinge)[:3]
        np.testing.assert_allclose(
            foot, outward * away + [0, 0, share + (m1 + m2) * G], atol=1e-9)
    if label == 'three_rps':
        moment = (share * length + (m1 * c1 + m2 * c2) * G) * np.sin(beta)
        moment += outward * length * np.cos(beta)
    else:
        moment = (share + m2 * G) * np.cos(beta) - outward * np.sin(beta)
    np.testing.assert_allclose(np.abs(forces.efforts), moment, rtol=1e-11)


@pytest.mark.parametrize(('label', 'every'), [
    ('three_rps', 1), ('three_rps_prismatic', 1), ('delta', 1), ('gough_stewart', 2),
    ('orthoglide', 1)])
def test_symmetric_robot_in_symmetric_motion(label, every):
    """Legs that a third of a turn takes into each other carry the same, turned by it."""
    robot = load(label)
    axis, turn = np.array([0.0, 0.0, 1.0]), Rotation.from_euler('z', 120, degrees=True).as_matrix()
    if label == 'orthoglide':
        # Its legs stand along x, -y and -z: a turn about the diagonal takes them into each other.
        mirror = np.diag([1.0, -1.0, -1.0])
        axis, turn = np.diag(mirror), mirror @ np.roll(np.eye(3), 1, axis=0) @ mirror
        robot = robot.with_gravity(-5.0 * axis)
    length = robot.engine.packed.system[0]['length']
    m = robot.project(pd.PlatformMotion(
        robot.home.position + 0.02 * length * axis, robot.home.rotation, 0.3 * axis, None,
        -2.0 * axis))
    forces = robot.joint_forces(m, np.concatenate([70.0 * axis, np.zeros(3)]))
    scale = np.abs(forces.array).max()
    for name in forces.names:
        number = next(d for d in name if d.isdigit())
        other = name.replace(number, str((int(number) - 1 + every) % (3 * every) + 1), 1)
        here, there = (in_base_axes(robot, m, forces, n) for n in (name, other))
        np.testing.assert_allclose(
            (here.reshape(2, 3) @ turn.T).ravel(), there, atol=1e-9 * scale, err_msg=name)


@pytest.mark.parametrize('label', ['gough_stewart', 'orthoglide', 'irregular_hexa', 'delta'])
def test_forces_are_proportional_to_masses(label):
    robot, rng = load(label), np.random.default_rng(5)
    p = robot.parameters
    m, base = random_motion(robot, rng), random_base(rng)
    once = robot.joint_forces(m, None, base)
    thrice = robot.with_parameters(3.0 * p).joint_forces(m, None, base)
    scale = np.abs(once.array).max()
    np.testing.assert_allclose(thrice.array, 3.0 * once.array, atol=1e-10 * scale)
    # Any two sets of masses, friction and drives add up, and so do wrenches.
    q = p * rng.uniform(0.5, 1.5, p.shape)
    both = robot.with_parameters(p + q).joint_forces(m, None, base)
    other = robot.with_parameters(q).joint_forces(m, None, base)
    np.testing.assert_allclose(both.array, once.array + other.array, atol=1e-10 * scale)
    w = 30.0 * rng.normal(size=6)
    pushed = robot.joint_forces(m, w, base).array - once.array
    twice = robot.joint_forces(m, 2.0 * w, base).array - once.array
    np.testing.assert_allclose(twice, 2.0 * pushed, atol=1e-10 * scale)


def test_weight_arrives_at_the_base():
    """At rest the joints and closures on the base carry the weight of everything together."""
    robot = load('gough_stewart')
    forces = robot.joint_forces(robot.home)
    rotations, _ = (a[0] for a in body_poses(robot, robot.home))
    total = np.zeros(3)
    for j, joint in enumerate(robot.model.joints):
        if joint.parent == 0:
            total += rotations[j + FIRST_LEG_BODY] @ forces.wrench[joint.name][:3]
    weight = sum(body.inertia.mass for body in robot.model.bodies[PLATFORM:]) * G
    np.testing.assert_allclose(total, [0.0, 0.0, weight], atol=1e-9 * weight)
