"""Figures and report: what they show is what the library says, and the page stands alone."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import parallel_dynamics as pd
from parallel_dynamics import plots, trajectories
from parallel_dynamics.maps import performance_map
from parallel_dynamics.plots import motion_figures, style

ROBOTS = ['gough_stewart', 'delta', 'three_rps_prismatic']


@pytest.fixture(scope='module', params=ROBOTS)
def analysis(request):
    robot = pd.load_robot(request.param)
    trajectory = trajectories.preset(robot, 'quintic', duration=2.0)
    times = trajectory.grid(100.0)
    return plots.analyse(robot, times, trajectory.sample(times))


def test_parts_sum_to_the_efforts(analysis):
    total = sum(analysis.parts.values())
    scale = np.abs(analysis.efforts).max()
    np.testing.assert_allclose(total, analysis.efforts, atol=1e-8 * scale)


def test_the_energy_balance_closes(analysis):
    """Up to the error of the trapezoidal rule, which the steps of Coulomb friction dominate."""
    assert analysis.energy_gap < 0.02


def test_condition_over_the_motion_is_that_of_the_jacobians(analysis):
    for k in (0, 50, 130):
        expected = analysis.robot.jacobians(analysis.motion[k]).actuation_condition
        assert analysis.condition[k] == pytest.approx(expected, rel=1e-8)


def test_figures_name_units_and_differ_without_colour(analysis):
    found = plots.figures(analysis)
    assert set(found) == {
        'platform', 'actuators', 'efforts', 'effort_parts', 'energy', 'condition', 'joint_forces'
    }  # fmt: skip
    for name, (figure, caption) in found.items():
        assert caption.endswith('.')
        for ax in figure.axes:
            if not ax.get_visible():
                continue
            assert '[' in ax.get_ylabel() or '[' in ax.get_xlabel(), name
            dashes = [str(line.get_linestyle()) + str(line._unscaled_dash_pattern)
                      for line in ax.get_lines()
                      if line.get_label() and not line.get_label().startswith(('_', 'limit'))]
            assert len(set(dashes)) == len(dashes), f'{name}: two curves have the same dash'


def test_saved_figures_are_pictures_and_the_same_each_time(analysis, tmp_path):
    figure = motion_figures.efforts(analysis)
    png, svg = style.save(figure, tmp_path / 'a', 'efforts')
    again = style.save(motion_figures.efforts(analysis), tmp_path / 'b', 'efforts')
    assert png.read_bytes().startswith(b'\x89PNG')
    assert ElementTree.parse(svg).getroot().tag.endswith('svg')
    assert [p.read_bytes() for p in (png, svg)] == [p.read_bytes() for p in again]


def test_the_report_holds_everything_and_needs_no_network(analysis, tmp_path):
    found = plots.figures(analysis)
    page = plots.write_report(tmp_path / 'report.html', analysis, found, 'A <title> & more')
    text = page.read_text()
    assert 'A &lt;title&gt; &amp; more' in text
    assert text.count('<img') == len(found)
    sources = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert all(source.startswith('data:') for source in sources)
    assert 'http' not in re.sub(r'src="data:[^"]*"', '', text)
    assert all(name in text for name in analysis.robot.actuators)


def test_exceeded_limits_are_told(tmp_path):
    robot = pd.load_robot('delta').with_payload(100.0)
    trajectory = trajectories.preset(pd.load_robot('delta'), 'circle', duration=2.0)
    times = trajectory.grid(50.0)
    found = plots.analyse(robot, times, trajectory.sample(times), joint_forces=False)
    page = plots.write_report(tmp_path / 'report.html', found, {}, 'overload')
    text = page.read_text()
    assert 'Limits are exceeded' in text
    assert all(f'{v.value:.4g} N m' in text for v in found.violations if v.quantity == 'effort')
    assert found.joint_forces is None


def test_loads_that_are_not_unique_are_marked():
    """The bars of the Orthoglide's parallelograms share a load as nobody can tell."""
    robot = pd.load_robot('orthoglide')
    trajectory = trajectories.preset(robot, 'circle', duration=1.0)
    times = trajectory.grid(20.0)
    motion = trajectory.sample(times)
    found = plots.analyse(robot, times, motion)
    unique = robot.joint_forces(motion).determinate
    for what, part in (('force', slice(0, 3)), ('moment', slice(3, 6))):
        assert found.indeterminate[what] == {k for k, u in unique.items() if not u[:, part].all()}
    figure, caption = plots.figures(found)['joint_forces']
    assert 'not unique' in caption
    for bars, what in zip(figure.axes[::2], ('force', 'moment')):
        marked = {t.get_text()[:-2] for t in bars.get_yticklabels() if t.get_text()[-1] == '*'}
        assert marked == found.indeterminate[what]


def test_colours_reach_to_the_largest_force_that_is_held():
    """Where most of a map holds nothing, the rest must not be of one colour."""
    robot = pd.load_robot('three_rps')
    axes = {'z': np.linspace(0.9, 1.5, 40), 'roll': np.linspace(-0.7, 0.7, 40)}
    found = performance_map(robot, axes)
    force = found['force'][found['reachable']]
    assert np.median(force) < 0.1 * force.max()
    figure = plots.map_figure(found, ['force'])
    assert figure.axes[1].get_ylim()[1] > 0.5 * force.max()


def test_lines_in_pictures_are_explained():
    robot = pd.load_robot('delta')
    axes = {'x': np.linspace(-0.8, 0.8, 12), 'y': np.linspace(-0.8, 0.8, 12)}
    (key,) = plots.map_figure(performance_map(robot, axes)).legends
    assert len(key.get_texts()) == 2
    _, axes = style.new_figure()
    style.curves(axes, np.arange(3.0), {'a': np.arange(3.0), 'b': np.ones(3)}, '[N]')
    style.band(axes, -2.0, 2.0)
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ['a', 'b', 'limit']


@pytest.mark.parametrize('count', [1, 2, 3])
def test_maps_are_drawn_over_one_two_and_three_coordinates(count, tmp_path):
    robot = pd.load_robot('delta')
    names = ['x', 'y', 'z'][:count]
    offset = {'x': 0.0, 'y': 0.0, 'z': -0.78}
    axes = {k: offset[k] + np.linspace(-0.5, 0.5, 12) for k in names}
    figure = plots.map_figure(performance_map(robot, axes, acceleration=5.0))
    assert len([ax for ax in figure.axes if ax.get_title(loc='left')]) == 5
    for path in style.save(figure, tmp_path, 'map'):
        assert path.stat().st_size > 5_000


BAD = {
    'times': lambda r, t, m: plots.analyse(r, t[:-1], m),
    'order': lambda r, t, m: plots.analyse(r, t[::-1], m),
    'single': lambda r, t, m: plots.analyse(r, t[:1], m[0]),
}


@pytest.mark.parametrize('what', BAD)
def test_bad_input_is_refused(analysis, what):
    with pytest.raises(pd.InputError):
        BAD[what](analysis.robot, analysis.time, analysis.motion)


def test_command_writes_figures_and_report(command, tmp_path):
    robot = pd.load_robot('delta')
    trajectory = trajectories.preset(robot, 'circle', duration=2.0)
    times = trajectory.grid(50.0)
    trajectories.write_motion(tmp_path / 'motion.csv', times, trajectory.sample(times))
    result = command('analyse', 'delta', '--motion', tmp_path / 'motion.csv', '--output',
                     tmp_path / 'out', '--formats', 'png,svg', '--payload', '0.5')  # fmt: skip
    assert 'report' in result.stdout
    names = {path.name for path in (tmp_path / 'out').iterdir()}
    assert {'delta.html', 'delta_efforts.png', 'delta_efforts.svg'} <= names
    assert '0.5 kg' in (tmp_path / 'out' / 'delta.html').read_text()


@pytest.mark.parametrize('what', ['columns', 'missing', 'robot', 'format', 'recording'])
def test_command_refuses_in_one_sentence(command, tmp_path, what):
    (tmp_path / 'bad.csv').write_text('time,position\n0,1\n1,2\n')
    (tmp_path / 'bad.mcap').write_text('no recording')
    words = {
        'columns': ('delta', '--motion', tmp_path / 'bad.csv'),
        'missing': ('delta', '--motion', tmp_path / 'none.csv'),
        'robot': ('nobody', '--motion', 'circle'),
        'format': ('delta', '--motion', 'circle', '--formats', 'gif'),
        'recording': ('delta', '--motion', tmp_path / 'bad.mcap'),
    }[what]
    result = command('analyse', *words, '--output', tmp_path / 'out', check=False)
    assert result.returncode == 2 and not result.stdout
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize('write', [
    lambda place: plots.save(style.new_figure()[0], place, 'figure'),
    lambda place: trajectories.write_motion(
        place / 'motion.csv', [0.0], pd.PlatformMotion(np.zeros((1, 3)))),
    lambda place: pd.Simulator(pd.load_robot('delta')).save().write(place / 'snapshot.json'),
])  # fmt: skip
def test_files_that_cannot_be_written_are_one_sentence(write, tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(pd.ParallelDynamicsError, match='cannot be written to .*file'):
        write(tmp_path / 'file')
