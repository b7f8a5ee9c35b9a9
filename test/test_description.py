"""What the files say is what the model holds, against Pinocchio's reading of the same URDF."""

from __future__ import annotations

import dataclasses

from edited_robots import Edited
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation
import tiny_robots
import yaml

from parallel_dynamics import resources
from parallel_dynamics.description import load_model, read_model
from parallel_dynamics.mobility.assembly import Assembly, Configurations
from parallel_dynamics.mobility.following import chain_pose
from parallel_dynamics.model import BASE, PLATFORM

ROBOTS = sorted(resources.robot_files())


@pytest.mark.parametrize('name', ROBOTS)
def test_every_frame_is_where_pinocchio_has_it(name):
    """For random joint and platform coordinates, assembled or not."""
    model = read_model(name)
    tree = pin.buildModelFromUrdf(str(model.urdf_path))
    state = tree.createData()
    q = np.random.default_rng(1).uniform(-0.5, 0.5, tree.nq)
    value = {joint: q[tree.joints[k].idx_q] for k, joint in enumerate(tree.names) if k}
    pin.framesForwardKinematics(tree, state, q)
    rotation, position, _ = chain_pose(
        model, np.array([[value[joint.name] for joint in model.chain]])
    )
    assembly = Assembly(model)
    joints = np.array([[value[joint] for joint in model.joint_names]])
    poses = assembly.poses(Configurations(joints, rotation, position))
    assert model.frames
    for frame in model.frames:
        placed = state.oMf[tree.getFrameId(frame.name)]
        turned = poses.rotation[0, frame.body]
        where = poses.position[0, frame.body] + turned @ frame.position
        assert np.allclose(where, placed.translation, atol=1e-12)
        assert np.allclose(turned @ frame.rotation, placed.rotation, atol=1e-12)


@pytest.mark.parametrize('name', ROBOTS)
def test_inertia_of_the_whole_tree(name):
    """Mass, centre and composite tensor at home agree with Pinocchio's."""
    model = read_model(name)
    tree = pin.buildModelFromUrdf(str(model.urdf_path))
    state = tree.createData()
    pin.ccrba(tree, state, pin.neutral(tree), np.zeros(tree.nv))
    assembly = Assembly(model)
    poses = assembly.poses(assembly.home)
    bodies = [
        body.inertia.moved(poses.rotation[0, b], poses.position[0, b])
        for b, body in enumerate(model.bodies)
        if b != BASE
    ]
    total = sum(bodies[1:], start=bodies[0])
    assert total.mass == pytest.approx(pin.computeTotalMass(tree), rel=1e-12)
    assert np.allclose(total.com, state.com[0], atol=1e-12)
    assert np.allclose(total.tensor, state.Ig.inertia, rtol=1e-9)


@pytest.mark.parametrize('name', ROBOTS)
def test_names_and_order_are_those_of_the_files(name):
    file = resources.robot_files()[name]
    data, robot = yaml.safe_load(file.read_text()), Edited(name)
    model = read_model(name)
    joints = [
        joint.get('name')
        for joint in robot.root.findall('joint')
        if joint.get('type') != 'fixed' and not joint.get('name').startswith('platform_')
    ]
    assert model.joint_names == joints
    assert model.actuator_names == data['actuators']
    assert model.closure_names == [closure['name'] for closure in data['closures']]
    assert model.name == data['name']
    assert list(model.gravity) == data.get('gravity', [0.0, 0.0, -9.81])
    assert {j.name: j.armature for j in model.joints if j.armature} == data.get('armature', {})
    assert model.bodies[BASE].name == data['base']
    assert model.bodies[PLATFORM].name == data['platform']
    assert [body.name for body in model.bodies[2:]] == [
        robot.joint(joint).find('child').get('link') for joint in joints
    ]
    limited = model.joints[model.actuators[0]]
    limit = robot.joint(limited.name).find('limit')
    assert (limited.lower, limited.upper) == (float(limit.get('lower')), float(limit.get('upper')))


@pytest.mark.parametrize('name', ROBOTS)
def test_legs_share_the_joints_and_closures_out(name):
    model = read_model(name)
    assert sorted(j for leg in model.legs for j in leg.joints) == list(range(len(model.joints)))
    closures = sorted(c for leg in model.legs for c in leg.closures)
    assert closures == list(range(len(model.closures)))
    assert len(model.legs) == (6 if name in ('gough_stewart', 'c5') else 3)


def test_the_model_is_frozen():
    model = read_model('delta')
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.name = 'other'
    for array in (model.gravity, model.joints[0].axis, model.bodies[2].inertia.tensor):
        with pytest.raises(ValueError):
            array[0] = 1.0


def test_a_name_a_text_and_a_path_mean_the_same():
    file = resources.robot_files()['c5']
    for robot in ('c5', str(file), file):
        assert read_model(robot).name == 'c5'


def test_a_path_from_any_working_directory(tmp_path, monkeypatch):
    path = Edited('c5').write(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert read_model(path.name).name == 'c5'
    (tmp_path / 'below').mkdir()
    monkeypatch.chdir(tmp_path / 'below')
    assert read_model('../robot.yaml').name == 'c5'


def test_base_below_the_root(tmp_path):
    """A world link above the base changes no number: everything is seen from the base."""
    robot = Edited('gough_stewart')
    robot.add(
        '<link name="world"/><joint name="mount" type="fixed"><parent link="world"/>'
        '<child link="base_link"/><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></joint>'
    )
    model, _ = load_model(robot.write(tmp_path))
    original = read_model('gough_stewart')
    assert model.bodies[BASE].name == 'base_link'
    for mine, theirs in zip(model.joints, original.joints, strict=True):
        assert np.allclose(mine.position, theirs.position, atol=1e-12)
        assert np.allclose(mine.rotation, theirs.rotation, atol=1e-12)
    assert np.allclose(model.chain[0].position, original.chain[0].position, atol=1e-12)


def test_legs_on_a_link_that_is_fixed_to_the_base(tmp_path):
    """Joints on a fixed link are placed in the base frame through it."""
    robot = Edited('gough_stewart')
    robot.add(
        '<link name="pedestal"/><joint name="stand" type="fixed"><parent link="base_link"/>'
        '<child link="pedestal"/><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></joint>'
    )
    origin = robot.part('joint', 'leg1_universal_1', 'origin')
    turned = Rotation.from_euler('xyz', [0.1, 0.2, 0.3])
    at = turned.inv().apply(np.array(origin.get('xyz').split(), float) - [1.0, 2.0, 3.0])
    own = Rotation.from_euler('xyz', np.array(origin.get('rpy').split(), float))
    origin.set('xyz', ' '.join(map(str, at)))
    origin.set('rpy', ' '.join(map(str, (turned.inv() * own).as_euler('xyz'))))
    robot.joint('leg1_universal_1').find('parent').set('link', 'pedestal')
    model, _ = load_model(robot.write(tmp_path))
    joint, original = model.joints[0], read_model('gough_stewart').joints[0]
    assert joint.parent == BASE
    assert np.allclose(joint.position, original.position, atol=1e-12)
    assert np.allclose(joint.rotation, original.rotation, atol=1e-12)


def test_platform_link_fixed_to_the_end_of_the_chain(tmp_path):
    """The platform frame may sit off the last virtual joint; masses are seen from it."""
    robot = Edited('gough_stewart')
    robot.add(
        '<link name="tool"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" '
        'iyz="0" izz="1"/></inertial></link><joint name="mount" type="fixed">'
        '<parent link="platform"/><child link="tool"/>'
        '<origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/></joint>'
    )
    robot.data['platform'] = 'tool'
    model, mobility = load_model(robot.write(tmp_path))
    original = read_model('gough_stewart')
    assert mobility.dof == 6
    assert np.allclose(model.platform_position, [0.1, 0.2, 0.3])
    assert model.bodies[PLATFORM].name == 'tool'
    assert model.bodies[PLATFORM].inertia.mass == original.bodies[PLATFORM].inertia.mass + 2.0
    tool = next(frame for frame in model.frames if frame.name == 'tool')
    assert np.allclose(tool.rotation, np.eye(3)) and not tool.position.any()


def test_mimic_of_a_mimic_is_resolved_to_its_root(tmp_path):
    robot = tiny_robots.scissors()
    robot.body('third', 'prismatic', 'base', '0 1 0', '0 3 0',
               more='<mimic joint="follow" multiplier="3" offset="0.25"/>')  # fmt: skip
    model = read_model(robot.write(tmp_path))
    mimic = model.joints[2].mimic
    assert (mimic.joint, mimic.multiplier, mimic.offset) == (0, -3.0, 0.25)
    assert model.legs[0].joints == (0, 1, 2)


def test_mimic_offset_at_home_is_part_of_the_closures(tmp_path):
    """Zero is the leader's zero: what follows with an offset stands elsewhere at home."""
    robot = tiny_robots.scissors()
    robot.text = [text.replace('multiplier="-1"', 'multiplier="-1" offset="0.5"').replace(
        'xyz="0 -1 0" rpy="0 0 0"/><axis xyz="-1 0 0"/>',
        'xyz="0.5 -1 0" rpy="0 0 0"/><axis xyz="-1 0 0"/>')
        for text in robot.text]  # fmt: skip
    model, mobility = load_model(robot.write(tmp_path))
    assert model.joints[1].mimic.offset == 0.5
    assert mobility.dof == 1


def test_defaults_of_urdf(tmp_path):
    """No axis is x; no limits on a continuous joint; a zero limit is not known."""
    robot = Edited('gough_stewart')
    joint = robot.joint('leg1_universal_1')
    joint.set('type', 'continuous')
    joint.remove(joint.find('limit'))
    limit = robot.joint('leg1_slide').find('limit')
    limit.attrib.clear()
    limit.set('effort', '0')
    limit.set('velocity', '0')
    axis = robot.joint('leg2_universal_1').find('axis')
    axis.set('xyz', ' '.join(str(3.0 * float(x)) for x in axis.get('xyz').split()))
    model, _ = load_model(robot.write(tmp_path))
    by_name = {joint.name: joint for joint in model.joints}
    for name in ('leg1_universal_1', 'leg1_slide'):
        found = by_name[name]
        assert (found.lower, found.upper) == (-np.inf, np.inf)
        assert (found.effort_limit, found.velocity_limit) == (np.inf, np.inf)
    assert np.linalg.norm(by_name['leg2_universal_1'].axis) == pytest.approx(1.0)
    tiny = tiny_robots.table()
    tiny.text = [text.replace('<axis xyz="1 0 0"/>', '') for text in tiny.text]
    model, mobility = load_model(tiny.write(tmp_path))
    assert list(model.joints[0].axis) == [1.0, 0.0, 0.0]


def test_numbers_that_yaml_takes_for_text(tmp_path):
    path = Edited('c5').write(tmp_path)
    text = path.read_text()
    start = text.index('gravity')
    stop = text.index('source') if 'source' in text[start:] else len(text)
    path.write_text(text[:start] + 'gravity: [1e-3, 0, -981e-2]\n' + text[stop:])
    assert list(read_model(path).gravity) == [1e-3, 0.0, -9.81]


def test_what_other_tools_add_is_left_alone(tmp_path, capfd):
    robot = Edited('gough_stewart')
    robot.add(
        '<transmission name="t"/><ros2_control name="r"/><gazebo/><material name="m"/>'
        '<sensor name="s"/><constraint name="c"/>'
    )
    robot.root.set('version', '1.2')
    assert load_model(robot.write(tmp_path))[1].dof == 6
    assert capfd.readouterr() == ('', '')


def test_only_the_model_counts_not_looks(tmp_path):
    """A robot without visuals has the same model."""
    robot = Edited('delta')
    for link in robot.root.findall('link'):
        for visual in link.findall('visual'):
            link.remove(visual)
    model, original = read_model(robot.write(tmp_path)), read_model('delta')
    assert [b.inertia.mass for b in model.bodies] == [b.inertia.mass for b in original.bodies]
