"""The envelope of joint forces over a motion, and the tables written from it."""

import csv

import numpy as np
import pytest
from robots import load, random_motion

import parallel_dynamics as pd
from parallel_dynamics.forces import envelope, write_envelope, write_forces
from parallel_dynamics.forces.envelope import QUANTITIES, load_axis

N = 40


@pytest.fixture(scope='module', params=['gough_stewart', 'orthoglide', 'cut_in_the_middle'])
def case(request):
    robot = load(request.param)
    m = random_motion(robot, np.random.default_rng(1), batch=N)
    times = np.linspace(3.0, 5.0, N)
    forces = robot.joint_forces(m, [10.0, 20.0, -30.0, 1.0, 2.0, 3.0])
    return robot, times, forces, envelope(robot, forces, times)


def test_no_instant_is_above_its_peak_and_one_reaches_it(case):
    robot, times, forces, rows = case
    assert [row.name for row in rows] == [*robot.joints, *robot.closures]
    for row in rows:
        for peak, part in ((row.force, slice(0, 3)), (row.moment, slice(3, 6))):
            sizes = np.sqrt((forces.wrench[row.name][:, part] ** 2).sum(axis=1))
            assert peak.value == pytest.approx(sizes.max())
            assert sizes[np.flatnonzero(times == peak.time)[0]] == pytest.approx(sizes.max())


def test_axial_and_radial_parts_make_up_the_whole(case):
    """Pythagoras at every instant, so the parts' peaks bound the whole's."""
    robot, times, forces, rows = case
    for row in rows:
        axis = load_axis(robot.model, row.name)
        if axis is None:
            assert row.kind in ('ball', 'weld')
            assert np.isnan([row.axial_force.value, row.tilting_moment.value]).all()
            continue
        for whole, along, across, part in (
            (row.force, row.axial_force, row.radial_force, slice(0, 3)),
            (row.moment, row.axial_moment, row.tilting_moment, slice(3, 6)),
        ):
            vectors = forces.wrench[row.name][:, part]
            assert along.value == pytest.approx(np.abs(vectors @ axis).max(), abs=1e-12)
            assert across.value == pytest.approx(
                np.linalg.norm(np.cross(axis, vectors), axis=1).max(), abs=1e-9)
            assert max(along.value, across.value) <= whole.value * (1.0 + 1e-12) + 1e-12
            assert whole.value <= np.hypot(along.value, across.value) * (1.0 + 1e-9) + 1e-12


def test_axial_force_of_a_drive_is_its_effort():
    robot = load('three_rps_prismatic')  # no friction, no drive inertia
    m = random_motion(robot, np.random.default_rng(2), batch=N)
    forces = robot.joint_forces(m)
    rows = {row.name: row for row in envelope(robot, forces, np.arange(N))}
    for k, name in enumerate(robot.actuators):
        assert rows[name].axial_force.value == pytest.approx(np.abs(forces.efforts[:, k]).max())


def test_determinate_only_if_all_components_always_are(case):
    _, _, forces, rows = case
    for k, row in enumerate(rows):
        assert row.determinate == forces.determinate_array[:, k].all()
        always = forces.determinate_array[:, k].all(axis=0)
        assert row.unique == tuple(np.array(['fx', 'fy', 'fz', 'mx', 'my', 'mz'])[always])


def test_invalid_states_do_not_count():
    robot = load('orthoglide')
    m = random_motion(robot, np.random.default_rng(3), batch=4)
    rows = m.data.copy()
    rows[1, :3] += 100.0
    times = np.arange(4.0)
    broken = robot.joint_forces(pd.PlatformMotion._wrap(rows), invalid='nan')
    whole = robot.joint_forces(m[[0, 2, 3]])
    for a, b in zip(envelope(robot, broken, times), envelope(robot, whole, times[[0, 2, 3]])):
        assert a.determinate == b.determinate
        assert a.force.value == pytest.approx(b.force.value)
        assert a.force.time == b.force.time


def test_components_left_out_are_not_in_the_peaks():
    robot = load('orthoglide')
    m = random_motion(robot, np.random.default_rng(4), batch=4)
    rows, whole = (envelope(robot, robot.joint_forces(m, indeterminate=how), np.arange(4.0))
                   for how in ('nan', 'least-norm'))
    for row, other in zip(rows, whole):
        if not {'fx', 'fy', 'fz'} <= set(row.unique):
            assert np.isnan(row.force.value)
        # What has no part in the loose components is as before: hinges, moment about z.
        if row.kind == 'revolute':
            assert row.axial_moment == other.axial_moment
        if 'fz' in row.unique and row.kind == 'revolute':
            assert row.axial_force == other.axial_force


@pytest.mark.parametrize('times', [np.arange(3.0), np.zeros((4, 1)), 1.0])
def test_times_that_do_not_fit(times):
    robot = load('delta')
    forces = robot.joint_forces(random_motion(robot, np.random.default_rng(5), batch=4))
    with pytest.raises(pd.InputError, match='one time for each state'):
        envelope(robot, forces, times)
    with pytest.raises(pd.InputError, match='forces of a batch'):
        envelope(robot, robot.joint_forces(robot.home), [0.0])
    with pytest.raises(pd.InputError, match='one time for each state'):
        write_forces('never_written.csv', robot, forces, times)


def test_tables_read_back_as_they_are(case, tmp_path):
    robot, times, forces, rows = case
    write_envelope(tmp_path / 'envelope.csv', rows)
    with open(tmp_path / 'envelope.csv', newline='') as file:
        read = list(csv.DictReader(file))
    assert [line['name'] for line in read] == [row.name for row in rows]
    for line, row in zip(read, rows):
        assert line['determinate'] == str(row.determinate)
        for quantity in QUANTITIES:
            peak = getattr(row, quantity)
            pair = float(line[quantity]), float(line[f'{quantity}_time'])
            assert pair == pytest.approx((peak.value, peak.time), rel=1e-8, nan_ok=True)
    write_forces(tmp_path / 'forces.csv', robot, forces, times)
    table = np.genfromtxt(tmp_path / 'forces.csv', delimiter=',', names=True, deletechars='')
    np.testing.assert_allclose(table['time'], times)
    name = robot.closures[0]
    np.testing.assert_allclose(table[f'{name}/fy'], forces.wrench[name][:, 1], rtol=1e-8)
    np.testing.assert_allclose(
        table[f'{robot.actuators[0]}/effort'], forces.efforts[:, 0], rtol=1e-8)
