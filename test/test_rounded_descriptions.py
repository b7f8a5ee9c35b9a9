"""Descriptions with few digits: closures that cannot all hold exactly are no reason to refuse."""

from __future__ import annotations

import re

import numpy as np
import odder_robots
import pytest
import robots
import yaml

import parallel_dynamics as pd
from parallel_dynamics.kernels import packing


@pytest.fixture
def rounded(tmp_path):
    """Return a function that loads a robot with its places and angles rounded to digits."""

    def load(source, digits):
        path = robots.path_of(source) if isinstance(source, str) else source
        settings = yaml.safe_load(path.read_text(encoding='utf-8'))
        text = (path.parent / settings['urdf']).read_text(encoding='utf-8')
        text = re.sub(
            r'(xyz|rpy)="([^"]*)"',
            lambda m: f'{m[1]}="' + ' '.join(f'{float(v):.{digits}f}' for v in m[2].split()) + '"',
            text,
        )
        (tmp_path / 'rounded.urdf').write_text(text, encoding='utf-8')
        settings['urdf'] = 'rounded.urdf'
        (tmp_path / 'rounded.yaml').write_text(yaml.safe_dump(settings), encoding='utf-8')
        return pd.load_robot(tmp_path / 'rounded.yaml')

    return load


@pytest.mark.parametrize('digits', [8, 7, 6])
@pytest.mark.parametrize('label', robots.SHIPPED)
def test_a_rounded_robot_is_the_same_robot(rounded, label, digits):
    exact, robot = robots.load(label), rounded(label, digits)
    assert robot.dof == exact.dof
    assert robot.mobility.redundant == exact.mobility.redundant
    rng = np.random.default_rng(digits)
    for start in (robots.random_motion(exact, rng) for _ in range(5)):
        m = robot.project(start)
        efforts = robot.inverse_dynamics(m)
        wanted = exact.inverse_dynamics(start)
        assert np.abs(efforts - wanted).max() < 10.0 ** (3 - digits) * np.abs(wanted).max()
        found = robot.direct_dynamics(m, efforts)
        np.testing.assert_allclose(found, m.twist_rate, atol=1e-8 * np.abs(m.twist_rate).max())
        robot.joint_forces(m)
        positions = robot.inverse_kinematics(m).position
        driven = [positions[robot.joints.index(name)] for name in robot.actuators]
        back = robot.forward_kinematics(driven, guess=m)
        np.testing.assert_allclose(back.position, m.position, atol=1e-5)


@pytest.mark.parametrize('name', odder_robots.ODD)
@pytest.mark.parametrize('digits', [8, 7])
def test_rounding_costs_no_freedom(rounded, tmp_path, name, digits):
    """What it leaves of constraints that are redundant, as in a flat loop, is none."""
    path = odder_robots.ODD[name](3).write(tmp_path / 'exact')
    exact = pd.load_robot(path)
    try:
        robot = rounded(path, digits)
    except pd.DescriptionError as error:  # many joints in a row add their rounding up
        assert 'open at zero' in str(error)
        return
    assert robot.dof == exact.dof
    assert robot.mobility.independent == exact.mobility.independent


@pytest.mark.parametrize('label', robots.SHIPPED)
def test_home_of_a_rounded_robot_can_be_used(rounded, label):
    """From the first call on, whatever was called before, alone and in a batch."""
    robot = rounded(label, 7)
    first = robot.inverse_dynamics(robot.home)
    robot.forward_kinematics(np.zeros(robot.dof))
    np.testing.assert_allclose(robot.inverse_dynamics(robot.home), first, atol=1e-9)
    many = pd.PlatformMotion._wrap(np.tile(robot.home.data, (50, 1)))
    np.testing.assert_allclose(robot.inverse_dynamics(many), np.tile(first, (50, 1)), atol=1e-9)
    simulator = pd.Simulator(robot)
    simulator.step(first, 0.01)
    assert np.abs(simulator.state.position - robot.home.position).max() < 1e-4


@pytest.mark.parametrize('off', [1e-8, 3e-8, 1e-7, 3e-7, 1e-6])
def test_what_is_nearly_allowed_is_not_called_unreachable(off):
    robot = pd.load_robot('delta')
    c, s = np.cos(off), np.sin(off)
    turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    m = pd.PlatformMotion(robot.home.position, turned @ robot.home.rotation)
    near = robot.inverse_dynamics(m)
    exact = robot.inverse_dynamics(robot.home)
    np.testing.assert_allclose(near, exact, atol=10.0 * off * np.abs(exact).max())


def test_what_is_not_allowed_is_refused_as_such():
    robot = pd.load_robot('delta')
    for off in (1e-4, 1e-3):
        turned = np.array([[1.0, -off, 0.0], [off, 1.0, 0.0], [0.0, 0.0, 1.0]])
        turned /= np.sqrt(1.0 + off**2)
        turned[2, 2] = 1.0
        m = pd.PlatformMotion(robot.home.position, turned @ robot.home.rotation)
        with pytest.raises(pd.NotAllowedMotionError, match='robot.project'):
            robot.inverse_dynamics(m)


def test_tolerance_grows_with_what_home_leaves_open(rounded):
    exact, coarse = robots.load('orthoglide'), rounded('orthoglide', 6)
    size, gap = packing.size_and_gap(coarse.model)
    assert 1e-8 < gap < 1e-6 < size
    tolerances = [r.engine.packed.system[0]['tolerance'] for r in (exact, coarse)]
    assert tolerances[0] == 1e-6 and tolerances[1] == pytest.approx(10.0 * gap)
