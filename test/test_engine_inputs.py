"""What callers may hand over: lists, integers, single precision, views; empty batches."""

from concurrent.futures import ThreadPoolExecutor
import multiprocessing
import pickle

import numpy as np
import pytest
from robots import load, random_base, random_motion

import parallel_dynamics as pd

NAMES = ['gough_stewart', 'delta', 'three_rps']


@pytest.fixture(params=NAMES)
def robot(request):
    return load(request.param)


def test_lists_views_and_other_types(robot):
    m = random_motion(robot, np.random.default_rng(0))
    expected = robot.inverse_dynamics(m)
    parts = [m.position, m.rotation, m.velocity, m.angular_velocity, m.acceleration,
             m.angular_acceleration]
    listed = pd.PlatformMotion(*(p.tolist() for p in parts))
    assert (robot.inverse_dynamics(listed) == expected).all()
    wide = [np.repeat(np.array(p), 2, axis=-1)[..., ::2] for p in parts]
    assert not wide[1].flags.c_contiguous
    assert (robot.inverse_dynamics(pd.PlatformMotion(*wide)) == expected).all()
    turned = pd.PlatformMotion(m.position, np.asfortranarray(m.rotation), *parts[2:])
    assert (robot.inverse_dynamics(turned) == expected).all()
    push = np.arange(6)
    np.testing.assert_array_equal(
        robot.inverse_dynamics(m, push), robot.inverse_dynamics(m, push.astype(float).tolist()))
    for efforts in (expected.tolist(), np.repeat(expected, 2)[::2], tuple(expected)):
        back = robot.direct_dynamics(m, efforts)
        np.testing.assert_allclose(back, m.twist_rate, atol=1e-8)
    whole = np.round(expected).astype(np.float32)
    np.testing.assert_array_equal(
        robot.direct_dynamics(m, whole), robot.direct_dynamics(m, whole.astype(float)))
    expected.setflags(write=False)
    robot.direct_dynamics(m, expected)


def test_batches_of_none_and_of_one(robot):
    m = random_motion(robot, np.random.default_rng(1), batch=3)
    n, joints = robot.dof, len(robot.joints)
    for count in (0, 1):
        some = m[:count]
        assert robot.inverse_dynamics(some).shape == (count, n)
        assert robot.direct_dynamics(some, np.zeros((count, n))).shape == (count, 6)
        assert robot.inverse_kinematics(some).position.shape == (count, joints)
        assert robot.mass_matrix(some).shape == (count, n, n)
        assert robot.bias(some).shape == (count, n)
        assert robot.kinetic_energy(some).shape == robot.potential_energy(some).shape == (count,)
        assert robot.project(some).data.shape == (count, 24)
        assert robot.forward_kinematics(np.zeros((count, n))).data.shape == (count, 24)
        assert robot.jacobians(some).J_p.shape == (count, 6, n)
        assert all(part.shape == (count, n) for part in robot.effort_parts(some).values())
        push, base = np.zeros((count, 6)), pd.BaseMotion(np.tile(np.eye(3), (count, 1, 1)))
        for external in ((push, None), (None, base), (push, base), (push, pd.BaseMotion())):
            assert robot.inverse_dynamics(some, *external).shape == (count, n)
            assert robot.joint_forces(some, *external).efforts.shape == (count, n)
        assert robot.regressor(some, base).shape == (count, n, len(robot.parameters))
    np.testing.assert_allclose(
        robot.inverse_dynamics(m[:1])[0], robot.inverse_dynamics(m[0]), rtol=1e-12, atol=1e-12)


def test_parts_of_a_batch_sum_to_the_whole(robot):
    rng = np.random.default_rng(2)
    m = random_motion(robot, rng, batch=4)
    wrench, base = rng.normal(size=(4, 6)), random_base(rng)
    whole = robot.inverse_dynamics(m, wrench, base)
    total = sum(robot.effort_parts(m, wrench, base).values())
    np.testing.assert_allclose(total, whole, rtol=1e-9, atol=1e-9 * np.abs(whole).max())


@pytest.mark.parametrize('call', [
    'inverse_kinematics', 'inverse_dynamics', 'mass_matrix', 'bias', 'kinetic_energy',
    'potential_energy', 'project', 'jacobians', 'effort_parts', 'regressor', 'joint_forces'])
@pytest.mark.parametrize('bad', [(1, 2, 3), None, np.zeros(24), 'home'])
def test_what_is_no_motion_is_refused(call, bad):
    with pytest.raises(pd.InputError, match='expected a PlatformMotion, got'):
        getattr(load('delta'), call)(bad)


def test_a_batch_for_a_single_motion_is_refused():
    robot = load('delta')
    base = pd.BaseMotion(velocity=np.ones((4, 3)))
    for change in ({'wrench': np.zeros((4, 6))}, {'base': base}):
        with pytest.raises(pd.InputError, match='a batch of 4 was given for a single motion'):
            robot.inverse_dynamics(robot.home, **change)


def _in_child(robot, m, expected, queue):
    queue.put(bool(np.allclose(robot.inverse_dynamics(m), expected, rtol=1e-9)))


def test_a_forked_process_computes_alike():
    robot = load('delta')
    m = random_motion(robot, np.random.default_rng(3), batch=200)
    expected = robot.inverse_dynamics(m)
    fork = multiprocessing.get_context('fork')
    queue = fork.Queue()
    child = fork.Process(target=_in_child, args=(robot, m, expected, queue))
    child.start()
    try:
        assert queue.get(timeout=60)
    finally:
        child.kill()
        child.join()


def test_one_robot_in_many_threads(robot):
    """All functions at once on one robot: workspaces are of the thread."""
    m = random_motion(robot, np.random.default_rng(4), batch=24)
    active = list(robot.model.actuators)

    def work(k):
        one = m[k]
        efforts = robot.inverse_dynamics(one)
        q = robot.inverse_kinematics(one).position
        robot.virtual_joints(one)
        return np.concatenate([
            efforts, q, robot.direct_dynamics(one, efforts), robot.project(one).data,
            robot.forward_kinematics(q[active]).data, robot.jacobians(one).J_p.ravel()])

    expected = [work(k) for k in range(24)]
    with ThreadPoolExecutor(4) as pool:
        for found, right in zip(pool.map(work, [*range(24)] * 3), expected * 3):
            np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-9)


def test_a_pickled_motion_is_the_same():
    m = load('delta').home
    assert pickle.loads(pickle.dumps(m)) == m


@pytest.mark.parametrize('index', [
    (slice(None), 0), (0, 0), (0, slice(12)), (slice(None), slice(None, None, -1)), (), None, True,
    np.array([[0, 1]]), np.ones((4, 24), bool)], ids=str)  # fmt: skip
def test_a_batch_gives_whole_motions_only(index):
    motions = random_motion(load('delta'), np.random.default_rng(5), batch=4)
    with pytest.raises(pd.InputError, match='index: expected .* got'):
        motions[index]
    bases = pd.BaseMotion(velocity=np.ones((4, 3)))
    with pytest.raises(pd.InputError, match='index: expected'):
        bases[(0, 0)]


def test_a_batch_is_indexed_like_a_list_of_motions():
    motions = random_motion(load('delta'), np.random.default_rng(6), batch=4)
    assert motions[-1] == motions[np.int64(3)] == list(motions)[3]
    for index in (slice(1, 3), [1, 2], np.array([1, 2]), np.array([False, True, True, False])):
        assert (motions[index].data == motions.data[1:3]).all()
    assert motions[...] == motions and len(motions[[]]) == 0
