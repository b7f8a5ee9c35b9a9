"""The shipped robots, judged by their files: Pinocchio, check_urdf, the papers' geometry."""

from pathlib import Path
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
from pinocchio_loops import Loops, null_space
import pytest
import yaml

from parallel_dynamics.families import shipped

ROOT = Path(__file__).resolve().parents[1]
NAMES = list(shipped.SHIPPED)
# freedoms, redundant closure equations
COUNTS = {
    'gough_stewart': (6, 0), 'space': (6, 0), 'c5': (6, 0), 'delta': (3, 0),
    'orthoglide': (3, 12), 'three_rps': (3, 0), 'three_rps_prismatic': (3, 0),
}


def yaml_path(name):
    return ROOT / 'config' / 'robots' / f'{name}.yaml'


def urdf(name):
    return ET.parse(ROOT / 'urdf' / f'{name}.urdf').getroot()


def check_urdf_tool():
    beside = Path(sys.executable).parent / 'check_urdf'
    return str(beside) if beside.exists() else shutil.which('check_urdf')


@pytest.mark.parametrize('name', NAMES)
def test_files_are_the_generators_output(name):
    text = shipped.shipped()[name]
    assert yaml_path(name).read_bytes() == text.yaml.encode()
    assert (ROOT / 'urdf' / f'{name}.urdf').read_bytes() == text.urdf.encode()


def test_no_other_robot_is_shipped():
    assert sorted(p.stem for p in (ROOT / 'urdf').glob('*.urdf')) == sorted(NAMES)
    assert sorted(p.stem for p in (ROOT / 'config' / 'robots').glob('*.yaml')) == sorted(NAMES)


@pytest.mark.parametrize('name', NAMES)
def test_check_urdf_accepts(name):
    tool = check_urdf_tool()
    if tool is None:
        pytest.skip('check_urdf is not installed (Debian: liburdfdom-tools)')
    done = subprocess.run(
        [tool, str(ROOT / 'urdf' / f'{name}.urdf')], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'Successfully Parsed' in done.stdout


@pytest.mark.parametrize('name', NAMES)
def test_assembled_at_zero(name):
    assert np.abs(Loops(yaml_path(name)).constraints()[0]).max() < 1e-9


@pytest.mark.parametrize('name', NAMES)
def test_mobility_at_home_and_nearby(name):
    loops, random = Loops(yaml_path(name)), np.random.default_rng(1)
    freedoms, redundant = COUNTS[name]
    assert len(loops.data['actuators']) == freedoms
    for _ in range(4):
        found = loops.mobility()
        assert found['dof'] == freedoms
        assert found['redundant'] == redundant
        assert found['idle'] == found['loose'] == 0
        # Well away from singularities of legs and actuation.
        assert found['leg_condition'] < 20.0
        assert found['actuation_condition'] < 20.0
        assert loops.wander(random, 0.06) < 1e-11


@pytest.mark.parametrize('name', NAMES)
def test_inertia_is_physical(name):
    heavy = [link for link in urdf(name).iter('link') if link.find('inertial') is not None]
    assert heavy
    for link in heavy:
        entries = {k: float(v) for k, v in link.find('inertial/inertia').attrib.items()}
        tensor = np.array([
            [entries['ixx'], entries['ixy'], entries['ixz']],
            [entries['ixy'], entries['iyy'], entries['iyz']],
            [entries['ixz'], entries['iyz'], entries['izz']]])
        principal = np.linalg.eigvalsh(tensor)
        assert float(link.find('inertial/mass').get('value')) > 0.0
        assert principal[0] > 0.0
        assert principal[0] + principal[1] > principal[2], link.get('name')


@pytest.mark.parametrize('name', NAMES)
def test_virtual_chain_is_massless_and_ends_in_the_platform(name):
    root, link = urdf(name), 'base_link'
    joints = {j.find('child').get('link'): j for j in root.iter('joint')}
    chain, child = [], 'platform'
    while child != link:
        chain.insert(0, joints[child].get('name'))
        child = joints[child].find('parent').get('link')
        assert child == link or root.find(f"link[@name='{child}']").find('inertial') is None
    expected = ['platform_x', 'platform_y', 'platform_z']
    if COUNTS[name][0] == 6:
        expected += ['platform_yaw', 'platform_pitch', 'platform_roll']
    elif name.startswith('three_rps'):
        expected += ['platform_roll', 'platform_pitch', 'platform_yaw']
    assert chain == expected


@pytest.mark.parametrize('name', NAMES)
def test_actuators_have_effort_and_passive_joints_none(name):
    data = yaml.safe_load(yaml_path(name).read_text())
    for joint in urdf(name).iter('joint'):
        if joint.get('type') == 'fixed':
            continue
        limit = {k: float(v) for k, v in joint.find('limit').attrib.items()}
        assert limit['lower'] < 0.0 < limit['upper']
        assert (limit['effort'] > 0.0) == (joint.get('name') in data['actuators'])
    assert set(data.get('armature', {})) <= set(data['actuators'])


@pytest.mark.parametrize('name', NAMES)
def test_every_body_is_drawn_in_a_known_colour(name):
    root = urdf(name)
    known = {m.get('name') for m in root.findall('material')}
    for link in root.iter('link'):
        if link.find('inertial') is not None:
            assert link.find('visual') is not None, link.get('name')
        assert {m.get('name') for m in link.iter('material')} <= known


def test_names_of_the_gough_stewart_platform():
    root = urdf('gough_stewart')
    links = {link.get('name') for link in root.iter('link')}
    joints = {joint.get('name') for joint in root.iter('joint')}
    for leg in range(1, 7):
        assert {f'leg{leg}_cross', f'leg{leg}_cylinder', f'leg{leg}_piston', f'leg{leg}_tip',
                f'platform_p{leg}'} <= links
        assert {f'leg{leg}_universal_1', f'leg{leg}_universal_2', f'leg{leg}_slide'} <= joints


def test_delta_plate_keeps_its_attitude_by_closures_alone():
    loops, random = Loops(yaml_path('delta')), np.random.default_rng(2)
    for _ in range(5):
        assert loops.wander(random, 0.15) < 1e-12
        np.testing.assert_allclose(loops.rotation, np.eye(3), atol=1e-9)
    assert np.linalg.norm(loops.position - loops.home.translation) > 0.02


def test_orthoglide_moves_on_the_spheres_of_its_paper():
    """chablat_wenger_staicu_2009 (14), with its axes (x, -y, -z) of the base."""
    loops, random = Loops(yaml_path('orthoglide')), np.random.default_rng(3)
    slides = [loops.columns[loops.names.index(f'leg{leg}_slide')] for leg in (1, 2, 3)]
    bar = shipped.SHIPPED['orthoglide'].bar_length
    for _ in range(5):
        assert loops.wander(random, 0.15) < 1e-11
        np.testing.assert_allclose(loops.rotation, np.eye(3), atol=1e-9)
        centre = np.diag([1.0, -1.0, -1.0]) @ loops.position
        for axis in range(3):
            reach = centre.copy()
            reach[axis] += bar - loops.q[slides[axis]]
            assert reach @ reach == pytest.approx(bar**2, abs=1e-9)


@pytest.mark.parametrize('name', ['three_rps', 'three_rps_prismatic'])
def test_three_rps_has_the_parasitic_motion_of_its_paper(name):
    """staicu_3rps: R12 = R21, x_G = (r/2)(R11 - R22), y_G = -r R21."""
    loops, random = Loops(yaml_path(name)), np.random.default_rng(4)
    radius = shipped.SHIPPED[name].platform_radius
    for _ in range(5):
        assert loops.wander(random, 0.2) < 1e-12
        r, (x, y, _) = loops.rotation, loops.position
        assert r[0, 1] == pytest.approx(r[1, 0], abs=1e-9)
        assert x == pytest.approx(radius / 2.0 * (r[0, 0] - r[1, 1]), abs=1e-9)
        assert y == pytest.approx(-radius * r[1, 0], abs=1e-9)


def posed(loops, height, roll):
    """Bring the platform of a 3-RPS to a height (m) and roll (rad) with no pitch."""
    n, goal = len(loops.columns), pin.exp3(np.array([roll, 0.0, 0.0]))
    held = np.zeros((3, n + 6))
    held[[0, 1, 2], [n + 2, n + 3, n + 4]] = 1.0
    for _ in range(60):
        residual, jacobian = loops.constraints()
        off = np.array([loops.position[2] - height, *pin.log3(loops.rotation @ goal.T)[:2]])
        error = np.concatenate([residual, off])
        loops.step(-np.linalg.lstsq(np.vstack([jacobian, held]), error, rcond=None)[0])
        if np.abs(error).max() < 1e-12:
            return
    raise AssertionError('the pose was not reached')


def test_three_rps_with_actuated_revolutes_is_singular_where_the_published_motion_nearly_goes():
    """At z = h the actuated freedoms lose one another near a roll of 21.8 deg."""
    def determinant(degrees):
        loops = Loops(yaml_path('three_rps'))
        posed(loops, 1.2, np.radians(degrees))
        n, free = len(loops.columns), null_space(loops.constraints()[1])
        actuated = [loops.names.index(a) for a in loops.data['actuators']]
        # The basis has no sign of its own: compare with z, roll and pitch, which stay independent.
        return np.linalg.det(free[actuated]) / np.linalg.det(free[n + 2:n + 5])

    assert determinant(0.0) * determinant(21.0) > 0.0
    assert determinant(21.0) * determinant(22.6) < 0.0
