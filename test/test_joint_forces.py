"""Joint forces of every robot against Pinocchio, Newton and Euler, and virtual power."""

from functools import cache
from pathlib import Path

from forces_oracle import ForcesOracle
import numpy as np
import pytest
from robots import ALL, load, path_of, random_base, random_motion
import tiny_robots
import yaml

import parallel_dynamics as pd
from parallel_dynamics.forces import virtual_power_forces
from parallel_dynamics.forces.poses import body_poses

STATES = 2
TOLERANCE = 1e-9
TINY = ['four_bar', 'table', 'scissors', 'hanging', 'slider_crank', 'merged_bodies']


@cache
def robot_and_path(label, folder):
    """A robot by its label; tiny ones are written into the folder first."""
    if label not in TINY:
        return load(label), path_of(label)
    (folder / label).mkdir()
    path = getattr(tiny_robots, label)().write(folder / label)
    return pd.load_robot(path), path


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('tiny')


@pytest.fixture(params=[*ALL, *TINY])
def case(request, folder):
    """Robot, its oracle, and states: at rest on a level base, pushed, and on a moving base."""
    robot, path = robot_and_path(request.param, folder)
    rng = np.random.default_rng(len(request.param))
    states = []
    for _ in range(STATES):
        m = random_motion(robot, rng)
        wrench = 50.0 * rng.normal(size=6)
        states += [(m, None, None), (m, wrench, None), (m, wrench, random_base(rng))]
    states.append((robot.home, wrench, None))  # where symmetry makes more forces zero
    return robot, ForcesOracle(path), states


def scale_of(forces):
    return max(1.0, float(np.abs(forces.array).max()))


def test_wrenches_and_flags_are_those_of_pinocchio(case):
    robot, oracle, states = case
    length = robot.engine.packed.system[0]['length']
    for m, wrench, base in states:
        forces = robot.joint_forces(m, wrench, base)
        oracle.solve(robot, m, wrench, base)
        expected, on_chain = oracle.joint_forces(oracle.multipliers)
        flags = oracle.determinate(length)
        scale = scale_of(forces)
        assert set(forces.wrench) == {*robot.joints, *robot.closures} == set(expected)
        for name, fixed in flags.items():
            np.testing.assert_array_equal(forces.determinate[name], fixed, name)
            gap = np.abs(forces.wrench[name] - expected[name])[fixed]
            assert gap.max(initial=0.0) < TOLERANCE * scale, name
        assert np.abs(on_chain).max() < TOLERANCE * scale, 'the virtual chain carries a load'
        assert np.abs(forces.efforts - oracle.efforts).max() < TOLERANCE * scale
        assert not forces.uncertain_array.any()


def test_every_body_obeys_newton_and_euler(case):
    robot, oracle, states = case
    for m, wrench, base in states:
        oracle.solve(robot, m, wrench, base)
        forces = robot.joint_forces(m, wrench, base)
        assert np.abs(oracle.unbalanced(forces)).max() < TOLERANCE * scale_of(forces)


def test_joints_transmit_along_their_axis_what_their_drive_leaves(case):
    """Effort less friction and drive inertia; joints that mimic share it as their gear does."""
    robot, _, states = case
    efforts = dict.fromkeys(robot.joints, 0.0)
    for m, wrench, base in states:
        forces, motion = robot.joint_forces(m, wrench, base), robot.inverse_kinematics(m)
        efforts |= dict(zip(robot.actuators, forces.efforts))
        left = {}
        for k, joint in enumerate(robot.model.joints):
            along = forces.wrench[joint.name].reshape(2, 3) @ joint.axis
            got = along[0 if joint.kind == 'prismatic' else 1]
            lost = (joint.damping * motion.velocity[k] + joint.armature * motion.acceleration[k]
                    + joint.friction * np.clip(motion.velocity[k] / 1e-4, -1.0, 1.0))
            mimic = joint.mimic
            master = joint.name if mimic is None else robot.joints[mimic.joint]
            ratio = 1.0 if mimic is None else mimic.multiplier
            left[master] = left.get(master, 0.0) + ratio * (got + lost - efforts[joint.name])
        assert max(map(abs, left.values())) < TOLERANCE * scale_of(forces)


def test_what_a_closure_cannot_transmit_is_zero_and_determinate(case):
    robot, _, states = case
    cannot = {'ball': [3, 4, 5], 'weld': [], 'revolute': [5], 'cylindrical': [2, 5],
              'plane': [0, 1, 3, 4, 5]}
    for m, wrench, base in states:
        forces = robot.joint_forces(m, wrench, base)
        for closure in robot.model.closures:
            places = cannot[closure.kind]
            assert (forces.wrench[closure.name][places] == 0.0).all()
            assert not np.signbit(forces.wrench[closure.name][places]).any(), 'prints as -0'
            assert forces.determinate[closure.name][places].all()


def test_passive_joints_without_friction_transmit_exactly_nothing():
    for label in ('gough_stewart', 'orthoglide', 'three_rps', 'delta'):
        robot = load(label)
        forces = robot.joint_forces(random_motion(robot, np.random.default_rng(0)))
        for joint in robot.model.joints:
            if joint.name not in robot.actuators and not joint.friction and not joint.damping:
                along = forces.wrench[joint.name].reshape(2, 3)[int(joint.kind == 'revolute')]
                if np.abs(joint.axis).max() == 1.0:
                    place = 3 * int(joint.kind == 'revolute') + int(np.abs(joint.axis).argmax())
                    assert forces.wrench[joint.name][place] == 0.0
                    assert forces.determinate[joint.name][place]
                assert abs(along @ joint.axis) < 1e-12 * np.abs(forces.array).max()


def test_virtual_power_gives_the_same(case):
    """Staicu's way, one freed component at a time, shares no equation with the multipliers."""
    robot, _, states = case
    for m, wrench, base in states:
        forces, other = (f(m, wrench, base) for f in (
            robot.joint_forces, lambda *state: virtual_power_forces(robot, *state)))
        np.testing.assert_array_equal(forces.determinate_array, other.determinate_array)
        # The least-norm values agree as well: nothing is left to chance.
        scale = scale_of(forces)
        np.testing.assert_allclose(forces.array, other.array, atol=TOLERANCE * scale)
        np.testing.assert_allclose(forces.efforts, other.efforts, atol=TOLERANCE * scale)


@pytest.mark.parametrize('label', [
    'gough_stewart', 'orthoglide', 'serial_arm', 'cut_in_the_middle', 'hinged_tips', 'delta'])
def test_action_equals_reaction_at_closures(label, tmp_path):
    """With the frames of all closures swapped, the wrench turns round and nothing else changes."""
    robot, path = load(label), Path(path_of(label))
    data = yaml.safe_load(path.read_text())
    data['urdf'] = str((path.parent / data['urdf']).resolve())
    for closure in data['closures']:
        closure['between'].reverse()
    (tmp_path / 'swapped.yaml').write_text(yaml.safe_dump(data))
    swapped = pd.load_robot(tmp_path / 'swapped.yaml')
    rng = np.random.default_rng(3)
    m, wrench, base = random_motion(robot, rng), 50.0 * rng.normal(size=6), random_base(rng)
    forces, turned = (r.joint_forces(m, wrench, base) for r in (robot, swapped))
    scale = scale_of(forces)
    for name in robot.joints:
        fixed = forces.determinate[name]
        np.testing.assert_array_equal(fixed, turned.determinate[name])
        gap = (forces.wrench[name] - turned.wrench[name])[fixed]
        assert np.abs(gap).max(initial=0.0) < TOLERANCE * scale
    rotations, origins = (a[0] for a in body_poses(robot, m))
    for closure in robot.model.closures:
        if not forces.determinate[closure.name].all():
            continue
        first, second = closure.first, closure.second
        A, B = (rotations[f.body] @ f.rotation for f in (first, second))
        arm = rotations[first.body] @ first.position + origins[first.body]
        arm = arm - rotations[second.body] @ second.position - origins[second.body]
        f, n = (B @ part for part in forces.wrench[closure.name].reshape(2, 3))
        expected = -np.concatenate([A.T @ f, A.T @ (n + np.cross(arm, f))])
        assert np.abs(turned.wrench[closure.name] - expected).max() < TOLERANCE * scale


@pytest.mark.parametrize('label', ['gough_stewart', 'orthoglide', 'delta', 'on_a_table'])
def test_batch_is_the_same_as_one_by_one(label):
    robot, rng = load(label), np.random.default_rng(4)
    m = random_motion(robot, rng, batch=140)  # enough for two threads
    wrench = 50.0 * rng.normal(size=(140, 6))
    base = pd.BaseMotion._wrap(np.array([random_base(rng).data for _ in range(140)]))
    many = robot.joint_forces(m, wrench, base)
    assert many.array.shape == (140, len(robot.joints) + len(robot.closures), 6)
    assert many.efforts.shape == (140, robot.dof)
    for k in range(0, 140, 13):
        one = robot.joint_forces(m[k], wrench[k], base[k])
        np.testing.assert_allclose(many.array[k], one.array, atol=1e-11 * scale_of(one))
        np.testing.assert_array_equal(many.determinate_array[k], one.determinate_array)
        for name in robot.closures:
            np.testing.assert_array_equal(many.wrench[name][k], many.array[k, many.names.index(
                name)])
    # One wrench and one base for all states.
    same = robot.joint_forces(m, wrench[0], base[0])
    one = robot.joint_forces(m[7], wrench[0], base[0])
    np.testing.assert_allclose(same.array[7], one.array, atol=1e-11 * scale_of(one))
