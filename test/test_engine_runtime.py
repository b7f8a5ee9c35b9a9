"""How the engine runs: threads, copies, caches, memory, and without a compiler."""

from concurrent.futures import ThreadPoolExecutor
import os
import pickle
import re
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from robots import SHIPPED, load, random_motion

import parallel_dynamics as pd


def test_threads_do_not_disturb_each_other():
    robot = load('gough_stewart')
    m = random_motion(robot, np.random.default_rng(0), batch=40)
    expected = robot.inverse_dynamics(m)

    def one(k):
        return [robot.inverse_dynamics(m[i]) for i in range(k, 40, 4)]

    with ThreadPoolExecutor(4) as pool:
        for k, found in enumerate(pool.map(one, range(4))):
            np.testing.assert_allclose(found, expected[k::4], rtol=1e-9, atol=1e-9)


def test_a_robot_can_be_pickled():
    robot = load('delta')
    copy = pickle.loads(pickle.dumps(robot))
    m = random_motion(robot, np.random.default_rng(1))
    np.testing.assert_allclose(
        copy.inverse_dynamics(m), robot.inverse_dynamics(m), rtol=1e-9, atol=1e-9)


def test_joint_forces_can_be_pickled():
    """A pool of processes sends them back, with names, flags and words."""
    robot = load('orthoglide')
    forces = robot.joint_forces(random_motion(robot, np.random.default_rng(3), batch=2))
    copy = pickle.loads(pickle.dumps(forces))
    assert np.array_equal(copy.array, forces.array)
    assert np.array_equal(copy.determinate_array, forces.determinate_array)
    assert (copy.names, copy.report()) == (forces.names, forces.report())


def test_motions_cannot_be_changed():
    m = load('delta').home
    with pytest.raises(ValueError, match='read-only'):
        m.data[0] = 1.0
    with pytest.raises(ValueError, match='read-only'):
        m.position[0] = 1.0


@pytest.mark.parametrize('name', SHIPPED)
def test_a_robot_is_small(name):
    robot = load(name)
    scratch = sum(a.nbytes for a in robot.engine.packed.workspace()[0])
    assert robot.engine.packed.nbytes + scratch + len(pickle.dumps(robot)) < 1_000_000


def test_calls_do_not_pile_up_memory():
    robot = load('gough_stewart')
    m = random_motion(robot, np.random.default_rng(2))
    efforts = robot.inverse_dynamics(m)
    robot.direct_dynamics(m, efforts)
    tracemalloc.start()
    try:
        # CPython itself keeps up to 2000 freed argument tuples of some sizes.
        for _ in range(2100):
            robot.inverse_dynamics(m)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(500):
            robot.inverse_dynamics(m)
            robot.direct_dynamics(m, efforts)
        assert tracemalloc.get_traced_memory()[0] - before < 20_000
    finally:
        tracemalloc.stop()


SCRIPT = """
import numpy as np, parallel_dynamics as pd
robot = pd.load_robot('three_rps')
m = robot.project(pd.PlatformMotion(robot.home.position + [0, 0, 0.02], robot.home.rotation,
                                    [0, 0, 0.1], [0.1, 0.2, 0], [0, 0, 1.0], [1.0, 0.5, 0]))
efforts = robot.inverse_dynamics(m)
back = robot.direct_dynamics(m, efforts)
assert np.allclose(back, m.twist_rate, atol=1e-9), back
print(*(float(e) for e in efforts))
"""


def test_works_without_the_compiler(run, repository):
    """The same kernels as plain Python give the same numbers."""
    results = []
    for off in ('0', '1'):
        done = run(
            sys.executable, '-c', SCRIPT, NUMBA_DISABLE_JIT=off, PYTHONPATH=str(repository))
        results.append([float(x) for x in done.stdout.split()])
    np.testing.assert_allclose(results[0], results[1], rtol=1e-9)


def test_kernels_are_cached_away_from_the_package(run, repository, tmp_path):
    """A package that cannot be written to caches in the user's folder, and a change is seen."""
    from parallel_dynamics.kernels import compiler

    robot = load('gough_stewart')
    robot.inverse_dynamics(robot.home)
    folder = compiler.cache_folder('batch')
    assert folder is not None and repository / 'parallel_dynamics' not in folder.parents
    assert any(folder.rglob('*.nbi'))
    names = {path.name for path in compiler._sources('batch')}
    assert {'batch.py', 'dynamics.py', 'velocity.py', 'position.py', 'layout.py'} <= names
    assert not list((repository / 'parallel_dynamics').rglob('*.nbi'))


@pytest.mark.skipif(os.name != 'posix', reason='needs file permissions')
def test_a_cache_that_cannot_be_written_is_said(run, repository, tmp_path):
    closed = tmp_path / 'closed'
    closed.write_text('a file where the folder should be')
    done = run(
        sys.executable, '-c',
        'import parallel_dynamics.kernels.compiler as c; print(c.cache_folder("linear"))',
        NUMBA_CACHE_DIR=str(closed), PYTHONPATH=str(repository))
    assert 'None' in done.stdout
    assert 'no cache folder' in done.stderr


COMPILING = """
import logging
logging.basicConfig(level='INFO')
import numpy as np
from parallel_dynamics.kernels import chain, compiler

joints, motion, values = np.zeros(4, chain.CHAIN_JOINT), np.zeros((1, 24)), np.zeros(3)
compiler.entry_point(chain.solve_chain, joints, motion, values, values, np.zeros((24, 12)))
"""


def test_one_process_compiles_and_others_wait(repository, tmp_path):
    """Started together they would all do the same work, and round differently."""
    fcntl = pytest.importorskip('fcntl')
    from parallel_dynamics.kernels import compiler

    folder = tmp_path / 'kernels' / compiler.cache_folder('chain').name
    folder.mkdir(parents=True)
    changes = {'NUMBA_CACHE_DIR': str(tmp_path), 'PYTHONPATH': str(repository)}
    with open(folder / 'solve_chain.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with subprocess.Popen(
            [sys.executable, '-c', COMPILING], env={**os.environ, **changes}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            assert 'waiting for another process' in process.stderr.readline()
            fcntl.flock(lock, fcntl.LOCK_UN)
            out, error = process.communicate()
    assert process.returncode == 0, error
    assert list(folder.rglob('*.solve_chain-*.nbc'))


def test_an_entry_point_shares_no_code_with_others(monkeypatch, tmp_path):
    """Linked by name, its results would depend on what a process compiled or loaded before."""
    import numba

    from parallel_dynamics.kernels import chain, compiler

    if numba.config.DISABLE_JIT:
        pytest.skip('nothing is compiled')

    # Code from the cache cannot be looked at.
    monkeypatch.setattr(compiler, 'cache_folder', lambda module: tmp_path)
    again = compiler.entry(chain.solve_chain.py_func)
    joints, motion, values = np.zeros(3, chain.CHAIN_JOINT), np.zeros((1, 24)), np.zeros(3)
    compiler.entry_point(again, joints, motion, values, values, np.zeros((24, 12)))
    (compiled,) = again.overloads.values()
    text = compiled.library.get_llvm_str()
    assert re.search(r'^define .*solve_chain', text, re.MULTILINE)
    assert not re.search(r'^define (linkonce_odr|weak)', text, re.MULTILINE)


def test_parts_of_the_public_door():
    assert {'load_robot', 'PlatformMotion', 'BaseMotion', 'ParallelDynamicsError'} <= set(
        pd.__all__)
    assert all(hasattr(pd, name) for name in pd.__all__)
