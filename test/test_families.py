"""The families: every robot they make is assembled at home, mobile and physical."""

import xml.etree.ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pinocchio  # noqa: F401  what pinocchio_loops needs, said where a lean run looks for it
from pinocchio_loops import Loops, null_space
import pytest
import yaml

from parallel_dynamics import families
from parallel_dynamics.errors import InputError, ParallelDynamicsError
from parallel_dynamics.families import shipped
from parallel_dynamics.families.family import FamilyError

# freedoms, redundant closure equations
COUNTS = {
    'stewart': (6, 0), 'space': (6, 0), 'c5': (6, 0), 'delta': (3, 0), 'orthoglide': (3, 12),
    'three_rps': (3, 0), 'hexaglide': (6, 0), 'hexa': (6, 0), 'planar_3rrr': (3, 6),
    'three_ups_passive_leg': (3, 0),
}
NAMES = list(families.FAMILIES)


def tensors(urdf):
    """Mass and tensor of every body by link name."""
    found = {}
    for link in ET.fromstring(urdf).iter('link'):
        inertial = link.find('inertial')
        if inertial is not None:
            i = {k: float(v) for k, v in inertial.find('inertia').attrib.items()}
            found[link.get('name')] = float(inertial.find('mass').get('value')), np.array([
                [i['ixx'], i['ixy'], i['ixz']], [i['ixy'], i['iyy'], i['iyz']],
                [i['ixz'], i['iyz'], i['izz']]])
    return found


def judge(loops, name, random, tolerance):
    freedoms, redundant = COUNTS[name]
    assert np.abs(loops.constraints()[0]).max() < tolerance
    for _ in range(3):
        found = loops.mobility()
        assert found['dof'] == len(loops.data['actuators']) == freedoms
        assert found['redundant'] == redundant
        assert found['idle'] == found['loose'] == 0
        assert found['actuation_condition'] < 60.0
        assert loops.wander(random, 0.03) < 1e-11


@pytest.mark.parametrize('name', NAMES)
def test_defaults_are_assembled_and_mobile(name, tmp_path):
    path, _ = families.create(name).write(tmp_path)
    judge(Loops(path), name, np.random.default_rng(0), 1e-9)


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('name', NAMES)
def test_irregular_robots_are_assembled_and_mobile(name, seed, tmp_path):
    path, _ = families.irregular(name, seed).write(tmp_path)
    judge(Loops(path), name, np.random.default_rng(seed), 1e-12)


@pytest.mark.parametrize('name', NAMES)
def test_irregular_robots_have_full_physical_inertia_and_losses(name):
    robot = families.irregular(name, 5)
    for link, (mass, tensor) in tensors(robot.urdf).items():
        principal = np.linalg.eigvalsh(tensor)
        assert mass > 0.0
        assert principal[0] > 0.0
        assert principal[0] + principal[1] > principal[2], link
        assert np.abs(tensor[np.triu_indices(3, 1)]).min() > 0.0, link
    joints = ET.fromstring(robot.urdf).iter('joint')
    moving = [j for j in joints if j.get('type') != 'fixed' and not j.get('name').startswith('pl')]
    for joint in moving:
        losses = joint.find('dynamics')
        assert float(losses.get('damping')) > 0.0
        assert float(losses.get('friction')) > 0.0
    data = yaml.safe_load(robot.yaml)
    assert set(data['armature']) == set(data['actuators'])
    assert np.abs(data['gravity']).min() > 0.0


def test_irregular_is_repeatable_and_depends_on_the_seed():
    assert families.irregular('delta', 1) == families.irregular('delta', 1)
    assert families.irregular('delta', 1).urdf != families.irregular('delta', 2).urdf


@pytest.mark.parametrize('name', NAMES)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_any_parameters_make_a_good_robot_or_a_clear_error(name, data, tmp_path_factory):
    fields = families.family_class(name).parameters()
    numeric = [key for key, field in fields.items() if 'unit' in field.metadata]
    chosen = data.draw(st.dictionaries(
        st.sampled_from(numeric), st.floats(0.6, 1.6), min_size=1, max_size=6))
    values = {key: fields[key].default * factor for key, factor in chosen.items()}
    try:
        robot = families.create(name, **values)
    except FamilyError as error:
        assert any(key in str(error) for key in values)
        return
    path, _ = robot.write(tmp_path_factory.mktemp('any'))
    loops = Loops(path)
    assert np.abs(loops.constraints()[0]).max() < 1e-9
    assert loops.mobility()['dof'] == COUNTS[name][0]
    assert loops.mobility()['idle'] == 0


@pytest.mark.parametrize('name', NAMES)
def test_every_parameter_says_what_it_is(name):
    for key, field in families.family_class(name).parameters().items():
        assert field.metadata['text'], key
        assert 'unit' in field.metadata or field.default in field.metadata['options'], key


def test_all_faults_are_listed_at_once():
    with pytest.raises(FamilyError) as caught:
        families.create('stewart', height=-1.0, travel=float('nan'), base_radius='wide')
    message = str(caught.value)
    assert all(key in message for key in ('height', 'travel', 'base_radius', "'wide'", '-1.0'))
    assert isinstance(caught.value, ParallelDynamicsError)


@pytest.mark.parametrize(('name', 'parameters', 'word'), [
    ('stewart', {'piston_share': 0.4}, 'leaves'),
    ('stewart', {'travel': 0.45, 'piston_share': 0.9}, 'bottom'),
    ('stewart', {'piston_radius': 0.05}, 'cylinder_radius'),
    ('stewart', {'base_gap': 0.5, 'platform_gap': 0.55}, 'singular'),
    ('hexaglide', {'base_gap': 0.5, 'platform_gap': 0.55}, 'singular'),
    ('delta', {'forearm_length': 0.3}, 'forearm_length'),
    ('c5', {'spread': 0.2}, 'face'),
    ('planar_3rrr', {'distal_length': 0.05}, 'distal_length'),
    ('three_rps', {'actuation': 'magic'}, 'prismatic'),
])
def test_parameters_that_do_not_fit_together_are_refused(name, parameters, word):
    with pytest.raises(FamilyError, match=word):
        families.create(name, **parameters)


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match="Did you mean 'stewart'"):
        families.create('stewert')
    with pytest.raises(InputError, match='base_radius'):
        families.create('stewart', radius=1.0)
    with pytest.raises(FamilyError, match='letter'):
        families.create('stewart', '../escape')


def test_actuation_of_the_three_rps_is_chosen():
    for actuation in ('revolute', 'slide'):
        word = 'prismatic' if actuation == 'slide' else actuation
        data = yaml.safe_load(families.create('three_rps', actuation=word).yaml)
        assert data['actuators'] == [f'leg{leg}_{actuation}' for leg in (1, 2, 3)]


def test_mass_of_a_robot_is_the_sum_of_its_parameters():
    family = shipped.SHIPPED['gough_stewart']
    legs = family.cylinder_mass + family.piston_mass + family.cross_mass
    total = sum(mass for mass, _ in tensors(family.generate().urdf).values())
    assert total == pytest.approx(6 * legs + family.platform_mass + family.payload_mass)


@pytest.mark.parametrize('name', ['hexa', 'hexaglide', 'stewart'])
def test_positive_actuators_lift_the_platform(name, tmp_path):
    """To first order at home, by the freedoms that Pinocchio finds."""
    loops = Loops(families.create(name).write(tmp_path)[0])
    free = null_space(loops.constraints()[1])
    actuated = [loops.names.index(a) for a in loops.data['actuators']]
    rise = free @ np.linalg.solve(free[actuated], np.ones(len(actuated)))
    assert rise[-4] > 0.0
