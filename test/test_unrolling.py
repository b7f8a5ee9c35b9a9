"""Programs unrolled for one robot: the tape they are written from, and the same numbers."""

import math

import numpy as np
import odder_robots
import pytest
import robots

import parallel_dynamics as pd
from parallel_dynamics import engine
from parallel_dynamics.kernels import batch
from parallel_dynamics.unrolling import library, machine_code, programs, structure, tracing
from parallel_dynamics.unrolling.tape import (
    Symbol,
    Tape,
    choose,
    largest,
    smallest,
    square_root,
    value_of,
)

STATES = 100
CLOSE = 1e-10


def relative(found, wanted):
    """Largest difference, over the largest number of its state."""
    found, wanted = (np.asarray(a).reshape(len(a), -1) for a in (found, wanted))
    return (np.abs(found - wanted).max(axis=1) / np.abs(wanted).max(axis=1)).max()


# ---------------------------------------------------------------------- the tape


@pytest.fixture
def tape():
    return Tape()


def test_nothing_is_done_twice(tape):
    x, y = tape.source('input', ('a', 0), 2.0), tape.source('input', ('a', 1), 3.0)
    assert (x * y + 1.0).place == (y * x + 1.0).place
    assert tape.source('input', ('a', 0), 2.0) is x


def test_a_number_is_not_the_place_of_a_symbol(tape):
    x, y, z = (tape.source('input', ('a', k), v) for k, v in enumerate((2.0, 3.0, 5.0)))
    assert (x * z).value == 10.0 and (x * 2.0).value == 4.0  # z stands at place 2
    assert (x > y) is not (x > 1.0)
    assert (x - y).value == -1.0 and (x - 1.0).value == 1.0


def test_what_is_known_is_left_out(tape):
    x = tape.source('input', ('a', 0), 2.0)
    before = len(tape.operations)
    assert x + 0.0 is x and 0.0 + x is x and x - 0.0 is x and x * 1.0 is x and x / 1.0 is x
    assert x * 0.0 == 0.0 and np.float64(0.0) * x == 0.0 and 0.0 / x == 0.0 and x - x == 0.0
    negative = -x
    assert (-negative).place == x.place
    assert len(tape.operations) == before + 1  # the negative alone


def test_signs_go_into_sums(tape):
    x, y = tape.source('input', ('a', 0), 2.0), tape.source('input', ('a', 1), 5.0)
    assert (x + -y).place == (x - y).place and (x + -y).value == -3.0
    assert (-x + y).place == (y - x).place and (-x + y).value == 3.0
    assert (x - -y).place == (x + y).place and (x - -y).value == 7.0


def test_a_branch_becomes_a_guard_and_a_choice_does_not(tape):
    x, y = tape.source('input', ('a', 0), 2.0), tape.source('input', ('a', 1), 5.0)
    assert choose(x > y, x, y).value == 5.0 and smallest(x, y, 1.0).value == 1.0
    assert largest(x, y).value == 5.0 and choose(x < y, 1.0, 1.0) == 1.0
    assert not tape.guards
    if x > y:
        pytest.fail('2 is not above 5')
    assert list(tape.guards.values()) == [False]


def test_a_symbol_is_not_mistaken_for_a_number(tape):
    x = tape.source('input', ('a', 0), 2.0)
    for wrong in (float, bool, math.cos):
        with pytest.raises(TypeError):
            wrong(x)
    with pytest.raises(TypeError):
        x**3.0


@pytest.mark.parametrize('lanes', [1, 8])
def test_machine_code_calculates_what_the_tape_says(tape, lanes):
    rng = np.random.default_rng(0)
    table = rng.uniform(0.5, 2.0, (37, 3))
    x, y, z = (tape.source('input', ('motions', k), table[0, k]) for k in range(3))
    p = tape.source('parameter', 0, 1.5)

    def formula(x, y, z, p, root, low, high, pick):
        return [x * y - z / p, root(x + y * y) - 2.0, low(x, y, z), high(x, p), abs(x - y),
                pick(x > y, x, z), -z, 3.0 / x, 7.0]  # fmt: skip

    results = formula(x, y, z, p, square_root, smallest, largest, choose)
    assert z < 1.8
    code = machine_code.write_code(tracing.Recording(tape, tuple(results)), lanes)
    program = machine_code.Program(code, np.array([1.5]))
    out, good = np.zeros((37, 9)), np.zeros(37, np.uint8)
    program.run({'motions': table}, out, good, 0, 37)
    for row, found, held in zip(table, out, good):
        wanted = formula(*row, 1.5, math.sqrt, min, max, lambda c, a, b: a if c else b)
        assert np.allclose(found, wanted, rtol=1e-14)
        assert held == (row[2] < 1.8)


# ---------------------------------------------------------------------- robots


@pytest.fixture(scope='module')
def odd_folder(tmp_path_factory):
    return tmp_path_factory.mktemp('odd')


def any_robot(label, folder):
    """A robot of its own, served by the kernels: settings must not reach other tests."""
    if label in odder_robots.ODD:
        robot = pd.load_robot(odder_robots.ODD[label](3).write(folder / label))
    else:
        robot = pd.load_robot(robots.path_of(label))
    robot.engine.unrolls = False
    return robot


def sampled(recording):
    """What a recording gives at its sample state."""
    return np.array([value_of(result) for result in recording.results], float)


@pytest.mark.parametrize('label', [*robots.ALL, *odder_robots.ODD])
def test_recordings_give_what_the_kernels_give(label, odd_folder):
    """At the sample state, from the tape alone, with all that may act from outside."""
    robot = any_robot(label, odd_folder)
    m = robots.random_motion(robot, np.random.default_rng(5), reach=0.05, turn=0.06)
    packed = robot.engine.packed
    positions = np.zeros(len(robot.joints))
    positions[packed.order] = robot.inverse_kinematics(m).position
    acting = tracing.ACTING
    base = pd.BaseMotion(acting[7:16].reshape(3, 3), *acting[16:].reshape(4, 3))
    condition = np.linalg.cond(robot.mass_matrix(m))
    for outside, wrench, moving in (
        (tracing.NOTHING, None, None), (tracing.WRENCH, acting[:6], None),
        (tracing.MOVING, acting[:6], base),
    ):  # fmt: skip
        efforts = robot.inverse_dynamics(m, wrench, moving)
        sample = tracing.Sample(m.data, efforts, positions)

        def recorded(task, *tables):
            return sampled(tracing.record(packed, task, outside, sample, tables))  # noqa: B023

        assert relative([recorded(tracing.INVERSE)], [efforts]) < CLOSE
        rate = robot.direct_dynamics(m, efforts, wrench, moving)
        # Near a singular mass matrix direct dynamics magnifies rounding, in both alike.
        bound = CLOSE * max(1.0, 1e-3 * condition)
        assert relative([recorded(tracing.DIRECT)], [rate]) < bound
        solver = robot._force_solver
        if solver.square:
            forces = robot.joint_forces(m, wrench, moving)
            found = recorded(tracing.JOINT_FORCES, *solver._fixed[2:])
            wanted = [*efforts, *forces.rank, *forces.array.ravel()]
            assert relative([found], [wanted]) < CLOSE


@pytest.mark.parametrize('label', ['gough_stewart', 'three_rps_prismatic', 'geared', 'wedge'])
def test_programs_give_what_the_kernels_give(label, odd_folder):
    rng = np.random.default_rng(5)
    robot = any_robot(label, odd_folder)
    m = robots.random_motion(robot, rng, reach=0.05, turn=0.06, batch=STATES)
    push = 10.0 * rng.normal(size=(STATES, 6))

    def everything():
        efforts = robot.inverse_dynamics(m)
        pushed = robot.joint_forces(m, push)
        alone = robot.inverse_dynamics(m[7])
        return [efforts, robot.direct_dynamics(m, efforts), pushed.array, pushed.efforts,
                alone[None], robot.direct_dynamics(m[7], alone)[None]]  # fmt: skip

    kernels = everything()
    robot.specialise()
    left = []
    original = robot.engine.run_unrolled

    def counted(*arguments, **options):
        left.append(original(*arguments, **options))
        return left[-1]

    robot.engine.run_unrolled = counted
    for found, wanted in zip(everything(), kernels):
        assert relative(found, wanted) < CLOSE
    assert len(left) >= 2
    assert sum(map(len, left)) < 0.2 * STATES * len(left)  # few go back to the kernels


@pytest.mark.parametrize('label', ['irregular_hexaglide', 'three_rps'])
def test_refusals_are_those_of_the_kernels(label):
    robot = any_robot(label, None)
    m = robots.random_motion(robot, np.random.default_rng(1), batch=STATES)
    data = m.data.copy()
    data[3, :3] += 100.0
    data[60:, 2] -= 50.0
    bad = pd.PlatformMotion._wrap(data)
    with pytest.raises(pd.ParallelDynamicsError) as before:
        robot.inverse_dynamics(bad)
    some = robot.inverse_dynamics(bad, invalid='nan')
    with pytest.raises(pd.ParallelDynamicsError) as alone:
        robot.inverse_dynamics(bad[3])
    robot.specialise()
    with pytest.raises(pd.ParallelDynamicsError) as after:
        robot.inverse_dynamics(bad)
    assert str(after.value) == str(before.value) and type(after.value) is type(before.value)
    with pytest.raises(pd.ParallelDynamicsError, match='NaN'):
        robot.direct_dynamics(m, np.full((STATES, robot.dof), np.nan))
    for bad_effort in (np.nan, -np.inf, 1e300):
        efforts = np.append(np.zeros(robot.dof - 1), bad_effort)
        with pytest.raises(pd.InputError, match='efforts: expected finite numbers'):
            robot.direct_dynamics(m[0], efforts)
    with pytest.raises(pd.ParallelDynamicsError) as still_alone:
        robot.inverse_dynamics(bad[3])
    assert str(still_alone.value) == str(alone.value)
    again = robot.inverse_dynamics(bad, invalid='nan')
    assert np.isnan(again[3]).all() and np.array_equal(np.isnan(again), np.isnan(some))
    assert np.allclose(again, some, rtol=1e-9, equal_nan=True)


def test_large_batches_are_unrolled_without_being_asked(monkeypatch):
    robot = any_robot('gough_stewart', None)
    m = robots.random_motion(robot, np.random.default_rng(2), batch=STATES)
    wanted = robot.inverse_dynamics(m)
    assert robot.engine.run_unrolled(
        tracing.INVERSE, m, robot.engine.at_rest, robot.engine.at_rest, np.zeros((STATES, 6))
    ) is None  # fmt: skip
    monkeypatch.setattr(engine, 'UNROLL_FROM', STATES)
    robot.engine.unrolls = True
    found = robot.inverse_dynamics(m)
    assert relative(found, wanted) < CLOSE
    # What was asked at once and what was asked in parts is the same to the last bit.
    monkeypatch.setattr(engine, 'UNROLL_FROM', 10)
    parts = [robot.inverse_dynamics(m[k : k + 20]) for k in range(0, STATES, 20)]
    assert np.array_equal(np.concatenate(parts), found)


def test_a_load_changes_the_numbers_but_not_the_code(monkeypatch):
    robot = any_robot('gough_stewart', None).specialise()
    m = robots.random_motion(robot, np.random.default_rng(3))
    efforts = robot.inverse_dynamics(m)
    robot.joint_forces(m)
    monkeypatch.setattr(programs, 'write_code', None)  # nothing may be written any more
    load = (3.0, [0.1, 0.05, 0.2], np.diag([0.1, 0.2, 0.15]))
    for other in (robot.with_payload(*load), robot.with_parameters(1.7 * robot.parameters)):
        kernels = pd.Robot(other.model, other.mobility)
        kernels.engine.unrolls = False
        assert np.allclose(other.inverse_dynamics(m), kernels.inverse_dynamics(m), rtol=1e-11)
        assert not np.allclose(other.inverse_dynamics(m), efforts, rtol=1e-3)
        found, wanted = other.joint_forces(m), kernels.joint_forces(m)
        assert relative([found.array], [wanted.array]) < CLOSE
        assert other.engine.programs._made and not kernels.engine.programs._made


def test_robots_that_differ_in_zeros_do_not_share_code():
    """An axis that is bent a little makes another robot of it, whatever was written before."""
    straight, bent = any_robot('gough_stewart', None), any_robot('irregular_stewart', None)
    digests = {structure.structure_of(r.engine.packed).digest for r in (straight, bent)}
    assert len(digests) == 2
    same = structure.structure_of(any_robot('gough_stewart', None).engine.packed)
    assert same.digest in digests
    assert np.isfinite(same.parameters).all()


def test_code_is_kept_for_the_next_process(tmp_path, monkeypatch, tape):
    monkeypatch.setenv('NUMBA_CACHE_DIR', str(tmp_path))
    x = tape.source('input', ('motions', 0), 2.0)
    asked = []

    def write():
        asked.append(1)
        return machine_code.write_code(tracing.Recording(tape, (x * x,)), 1)

    def squared(code):
        out, good = np.zeros((1, 1)), np.zeros(1, np.uint8)
        program = machine_code.Program(code, np.zeros(1))
        program.run({'motions': np.array([[3.0]])}, out, good, 0, 1)
        return out[0, 0]

    def fresh():
        library._KNOWN.clear()  # as in another process
        return squared(library.code_for('square', 1, write))

    assert fresh() == fresh() == 9.0 and len(asked) == 1
    (file,) = (tmp_path / 'unrolled').iterdir()
    file.write_bytes(file.read_bytes()[:-100])  # cut off: written anew
    assert fresh() == 9.0 and len(asked) == 2
    file.unlink()
    file.mkdir()  # cannot be written: still there for this process
    assert fresh() == 9.0 and len(asked) == 3
    assert library.code_for('nothing', 1, lambda: None) is None


def test_single_calls_are_unrolled_without_being_asked():
    robot = any_robot('irregular_delta', None)
    m = robots.random_motion(robot, np.random.default_rng(6))
    kernels = robot.inverse_dynamics(m)
    rates = robot.direct_dynamics(m, kernels)
    again = pd.Robot(robot.model, robot.mobility)
    for _ in range(2):  # the first call as every other, to the last bit
        efforts = again.inverse_dynamics(m)
        assert relative([efforts], [kernels]) < CLOSE
        assert relative([again.direct_dynamics(m, efforts)], [rates]) < CLOSE
        assert np.array_equal(efforts, again.inverse_dynamics(m))
    assert {key[0] for key in again.engine.programs._made} == {tracing.INVERSE, tracing.DIRECT}
    assert not robot.engine.programs._made


def test_friction_and_rest_are_within_the_guards():
    """Joints that stand still or turn the other way must not leave the program."""
    robot = any_robot('gough_stewart', None).specialise()
    m = robots.random_motion(robot, np.random.default_rng(4), batch=STATES)
    data = m.data.copy()
    data[::2, 12:] = 0.0
    out = np.zeros((STATES, 6))
    left = robot.engine.run_unrolled(
        tracing.INVERSE, pd.PlatformMotion._wrap(data), robot.engine.at_rest,
        robot.engine.at_rest, out,
    )  # fmt: skip
    assert len(left) < 0.1 * STATES


def test_a_way_that_cannot_be_recorded_is_said():
    robot = any_robot('irregular_hexaglide', None)
    sample = tracing.Sample(
        np.concatenate([[0.0, 0.0, 9.0], np.eye(3).ravel(), np.zeros(12)]), np.zeros(6),
        np.zeros(len(robot.joints)),
    )  # fmt: skip
    with pytest.raises(tracing.TraceError):
        tracing.record(robot.engine.packed, tracing.INVERSE, tracing.NOTHING, sample)


def test_tasks_of_the_kernels_are_those_of_the_programs():
    assert engine.UNROLLED_TASKS == {
        batch.INVERSE: tracing.INVERSE, batch.DIRECT: tracing.DIRECT
    }  # fmt: skip
    assert isinstance(Tape().source('input', ('a', 0), 1.0), Symbol)
