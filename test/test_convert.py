"""Robots to and from other conventions: the other tool loads them, and they come back the same."""

from __future__ import annotations

import copy
from pathlib import Path
import tempfile

from edited_robots import Edited
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import tiny_robots
import yaml

import parallel_dynamics as pd
from parallel_dynamics import resources
from parallel_dynamics.commands.main import main
from parallel_dynamics.description import examine, load_model, read_model
from parallel_dynamics.description.conversion import export_robot, import_robot
from parallel_dynamics.description.tree import rotation_of, rpy_of
from parallel_dynamics.errors import DescriptionError, InputError, ParallelDynamicsError
from parallel_dynamics.mobility.assembly import Assembly

ROBOTS = sorted(resources.robot_files())
FILE = {'gepetto': '.yaml', 'constraint': '.urdf', 'mjcf': '.xml'}


def written(converted, folder, suffix):
    return next(path for path in converted.write(folder) if path.suffix == suffix)


def in_mujoco(name_or_path):
    (text,) = export_robot(name_or_path, 'mjcf').files.values()
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


def equality_rows(model, data):
    return data.efc_J[: data.ne * model.nv].reshape(data.ne, model.nv)


@pytest.mark.parametrize('name', ROBOTS)
def test_mjcf_has_the_masses_and_places_of_the_robot(name):
    robot = read_model(name)
    model, data = in_mujoco(name)
    mujoco.mj_forward(model, data)
    assembly = Assembly(robot)
    poses = assembly.poses(assembly.home)
    for b, body in enumerate(robot.bodies[1:], start=1):
        index = model.body(body.name).id
        assert model.body_mass[index] == pytest.approx(body.inertia.mass, rel=1e-9)
        assert np.allclose(data.xpos[index], poses.position[0, b], atol=1e-9)
        assert np.allclose(data.xmat[index].reshape(3, 3), poses.rotation[0, b], atol=1e-9)
        centre = poses.position[0, b] + poses.rotation[0, b] @ body.inertia.com
        assert np.allclose(data.xipos[index], centre, atol=1e-9)
    kinds = {'prismatic': mujoco.mjtJoint.mjJNT_SLIDE, 'revolute': mujoco.mjtJoint.mjJNT_HINGE}
    for joint in robot.joints:
        assert model.joint(joint.name).type[0] == kinds[joint.kind]
    assert [model.actuator(k).name for k in range(model.nu)] == robot.actuator_names
    assert np.allclose(model.opt.gravity, robot.gravity)
    assert np.abs(data.efc_pos[: data.ne]).max() < 1e-9


@pytest.mark.parametrize('name', ROBOTS)
def test_mjcf_accelerates_as_the_robot_does(name):
    """Masses, inertias, axes, drives and gravity together: rigid loops at rest at home."""
    robot = pd.load_robot(name)
    model, data = in_mujoco(name)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    model.dof_frictionloss[:] = 0.0  # holds the robot at rest in MuJoCo
    random = np.random.default_rng(0)
    efforts = robot.inverse_dynamics(robot.home)
    efforts = efforts + (1.0 + np.abs(efforts).max()) * random.standard_normal(robot.dof)
    model.actuator_ctrllimited[:] = 0
    data.ctrl[:] = efforts
    mujoco.mj_forward(model, data)
    rows = equality_rows(model, data)
    mass = np.zeros((model.nv, model.nv))
    for k, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, mass[k], unit)
    system = np.block([[mass, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    right = np.concatenate([data.qfrc_smooth, np.zeros(len(rows))])
    free = np.linalg.lstsq(system, right, rcond=1e-12)[0][:6]
    theirs = np.concatenate([free[:3], robot.home.rotation @ free[3:]])
    ours = robot.direct_dynamics(robot.home, efforts)
    light = any(body.inertia.mass == 0.0 for body in robot.model.bodies[1:]) or name == 'c5'
    assert np.allclose(theirs, ours, atol=(1e-3 if light else 1e-8) * np.abs(ours).max())


@pytest.mark.parametrize('name', ROBOTS)
def test_mjcf_loops_stay_closed(name):
    model, data = in_mujoco(name)
    for _ in range(200):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    assert np.isfinite(data.qpos).all()
    assert np.abs(data.efc_pos[: data.ne]).max() < 2e-5
    assert np.abs(data.qvel).max() > 1e-3


def test_mjcf_losses_drives_and_limits():
    robot = read_model('gough_stewart')
    model, _ = in_mujoco('gough_stewart')
    for joint in robot.joints:
        k = model.joint(joint.name).dofadr[0]
        assert model.dof_damping[k] == pytest.approx(joint.damping)
        assert model.dof_frictionloss[k] == pytest.approx(joint.friction)
        assert model.dof_armature[k] == pytest.approx(joint.armature)
        assert np.allclose(model.joint(joint.name).range, [joint.lower, joint.upper])
    assert np.allclose(
        model.actuator_ctrlrange[:, 1], [robot.joints[j].effort_limit for j in robot.actuators]
    )


def test_mjcf_merges_massless_crosses(tmp_path):
    """A universal joint whose cross has no mass becomes two joints of one body, exactly."""
    robot = Edited('gough_stewart')
    for i in range(1, 7):
        link = robot.link(f'leg{i}_cross')
        if link.find('inertial') is not None:
            link.remove(link.find('inertial'))
    path = robot.write(tmp_path)
    converted = export_robot(path, 'mjcf')
    assert not converted.notes
    model, data = in_mujoco(path)
    assert model.nbody == 2 + 2 * 6  # world, platform, and two bodies for each leg
    assert model.njnt == 1 + 3 * 6
    mujoco.mj_forward(model, data)
    # Away from home, where the order of the two joints counts.
    tree = Assembly(read_model(path))
    q = np.random.default_rng(1).uniform(-0.4, 0.4, (1, len(tree.coordinates)))
    for joint, value in zip(tree.model.joint_names, q[0], strict=True):
        data.qpos[model.joint(joint).qposadr[0]] = value
    mujoco.mj_forward(model, data)
    poses = tree.poses(tree.home[np.zeros(1, dtype=int)].__class__(
        q, tree.home.rotation, tree.home.position))  # fmt: skip
    for b, body in enumerate(tree.model.bodies):
        if body.name.endswith(('_cylinder', '_piston')):
            index = model.body(body.name).id
            assert np.allclose(data.xpos[index], poses.position[0, b], atol=1e-9)
            assert np.allclose(data.xmat[index].reshape(3, 3), poses.rotation[0, b], atol=1e-9)


def test_mjcf_says_where_it_had_to_add_mass():
    notes = export_robot('c5', 'mjcf').notes
    assert any('plane became ball' in note for note in notes)
    assert any('no massless bodies' in note for note in notes)


def test_mjcf_mimic_and_weld(tmp_path):
    path = tiny_robots.scissors().write(tmp_path)
    model, data = in_mujoco(path)
    kinds = [int(kind) for kind in model.eq_type]
    assert kinds.count(mujoco.mjtEq.mjEQ_WELD) == 2
    assert kinds.count(mujoco.mjtEq.mjEQ_JOINT) == 1
    data.ctrl[:] = 1.0
    for _ in range(100):
        mujoco.mj_step(model, data)
    lead, follow = (data.qpos[model.joint(name).qposadr[0]] for name in ('lead', 'follow'))
    assert lead > 1e-4
    assert follow == pytest.approx(-lead, abs=1e-6)


@pytest.mark.parametrize('convention', FILE)
@pytest.mark.parametrize('name', ROBOTS)
def test_there_and_back(name, convention, tmp_path):
    """The robot that comes back has the same freedoms, drives, masses and home."""
    source = written(export_robot(name, convention), tmp_path, FILE[convention])
    back = import_robot(source, convention, 'platform', name='back')
    model, mobility = load_model(written(back, tmp_path, '.yaml'))
    original, known = load_model(name)
    assert mobility.dof == known.dof
    assert sorted(mobility.independent) == sorted(known.independent)
    assert model.actuator_names == original.actuator_names
    assert mobility.actuation_condition == pytest.approx(known.actuation_condition, rel=1e-3)
    mine, theirs = (sum(b.inertia.mass for b in m.bodies[1:]) for m in (model, original))
    assert mine == pytest.approx(theirs, rel=1e-3)
    homes = [Assembly(m).home for m in (model, original)]
    assert np.allclose(homes[0].position, homes[1].position, atol=1e-9)
    assert np.allclose(homes[0].rotation, homes[1].rotation, atol=1e-9)
    if convention == 'mjcf':
        assert {j.name: j.armature for j in model.joints if j.armature} == pytest.approx(
            {j.name: j.armature for j in original.joints if j.armature}
        )
        assert np.allclose(model.gravity, original.gravity)


def test_gepetto_keys():
    files = export_robot('gough_stewart', 'gepetto').files
    data = yaml.safe_load(files['robot.yaml'])
    assert set(data) == {'closed_loop', 'type', 'name_mot'}
    assert data['closed_loop'][0] == ['leg1_tip', 'platform_p1']
    assert data['type'] == ['3d'] * 6
    assert data['name_mot'] == [f'leg{i}_slide' for i in range(1, 7)]


def test_gepetto_hinges_become_joints_and_6d():
    files = export_robot('orthoglide', 'gepetto').files
    data = yaml.safe_load(files['robot.yaml'])
    assert set(data['type']) == {'6d'}
    joints = etree.fromstring(files['robot.urdf'].encode()).findall('joint')
    assert 'hinge1_hinge' in {joint.get('name') for joint in joints}


def serial_platform():
    """A five-bar as others draw it: the platform at the end of one leg, one loop to close.

    Bars of one length from (0, 0) and (1, 0) upwards; the platform hangs on the first leg by a
    hinge, and joint names stand for frames.
    """
    hinge = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/>' \
            '<origin xyz="{}"/><axis xyz="0 0 1"/></joint>'  # fmt: skip
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" ' \
           'iyy="0.1" iyz="0" izz="0.1"/></inertial></link>'  # fmt: skip
    parts = ['<link name="ground"/>']
    for name in ('bar1', 'bar2', 'bar3', 'bar4', 'plate'):
        parts.append(link.format(name))
    parts += [
        hinge.format('mot1', 'ground', 'bar1', '0 0 0'),
        hinge.format('free1', 'bar1', 'bar2', '-0.3 1 0'),
        hinge.format('wrist', 'bar2', 'plate', '0.5 0.8 0'),
        hinge.format('mot2', 'ground', 'bar3', '1 0 0'),
        hinge.format('free2', 'bar3', 'bar4', '0.3 1 0'),
        '<link name="end_a"/><joint name="loop_a" type="fixed"><parent link="plate"/>'
        '<child link="end_a"/><origin xyz="0.4 0 0"/></joint>',
        '<link name="end_b"/><joint name="loop_b" type="fixed"><parent link="bar4"/>'
        '<child link="end_b"/><origin xyz="-0.7 0.8 0"/></joint>',
    ]
    return f'<robot name="five_bar">{"".join(parts)}</robot>'


def write_gepetto(folder, urdf, **data):
    (folder / 'robot.urdf').write_text(urdf)
    path = folder / 'robot.yaml'
    path.write_text(yaml.safe_dump(data))
    return path


def test_a_platform_in_the_tree_is_cut_loose(tmp_path):
    path = write_gepetto(
        tmp_path, serial_platform(), closed_loop=[['loop_a', 'end_b']], type=['6d'],
        name_mot=['mot1', 'mot2'],
    )  # fmt: skip
    converted = import_robot(path, 'gepetto', 'plate')
    assert any("joint 'wrist' above the platform became" in note for note in converted.notes)
    model, mobility = load_model(written(converted, tmp_path / 'out', '.yaml'))
    assert mobility.dof == 2
    assert model.name == 'five_bar'
    kinds = {closure.name: closure.kind for closure in model.closures}
    assert kinds == {'loop1': 'weld', 'wrist': 'revolute'}


def test_a_driven_joint_above_the_platform_stays(tmp_path):
    path = write_gepetto(
        tmp_path, serial_platform(), closed_loop=[['end_a', 'end_b']], type=['6d'],
        name_mot=['mot1', 'wrist'],
    )  # fmt: skip
    model, mobility = load_model(
        written(import_robot(path, 'gepetto', 'plate'), tmp_path / 'out', '.yaml')
    )
    assert mobility.dof == 2
    assert model.actuator_names == ['mot1', 'wrist']


def test_zero_becomes_home(tmp_path):
    """A robot that is open at zero is assembled, and its joints' zeros are moved there."""
    urdf = serial_platform().replace('xyz="-0.7 0.8 0"', 'xyz="-0.7 0.7 0"')
    path = write_gepetto(
        tmp_path, urdf, closed_loop=[['end_a', 'end_b']], type=['3d'], name_mot=['mot1', 'mot2'],
    )  # fmt: skip
    converted = import_robot(path, 'gepetto', 'plate', actuators=['mot1', 'mot2', 'free1'])
    assert any('open at zero' in note for note in converted.notes)
    model, mobility = load_model(written(converted, tmp_path / 'out', '.yaml'))
    assert mobility.dof == 3
    assert mobility.residual < 1e-9


def test_joint_types_of_gepetto(tmp_path):
    """SPHERICAL and UJOINT joints become hinges, FIXED ones are fixed."""
    robot = Edited('gough_stewart')
    urdf = etree.tostring(robot.root).decode()
    pairs = [c['between'] for c in robot.data['closures']]
    path = write_gepetto(
        tmp_path, urdf, closed_loop=pairs, type=['3d'] * 6, name_mot=robot.data['actuators'],
        joint_name=['leg1_universal_1', 'leg2_universal_1', 'leg3_slide'],
        joint_type=['SPHERICAL', 'UJOINT_YX', 'FIXED'],
    )  # fmt: skip
    model = read_model(
        written(import_robot(path, 'gepetto', 'platform', actuators=[]), tmp_path / 'o', '.yaml')
    )
    names = model.joint_names
    assert {'leg1_universal_1_X', 'leg1_universal_1_Y', 'leg1_universal_1_Z'} <= set(names)
    assert {'leg2_universal_1_Y', 'leg2_universal_1_X'} <= set(names)
    assert 'leg3_slide' not in names


def test_constraint_tags_are_those_of_the_proposal():
    (text,) = export_robot('three_rps', 'constraint').files.values()
    constraint = etree.fromstring(text.encode()).find('constraint')
    assert constraint.get('type') == 'spherical'
    assert [part.tag for part in constraint] == [
        'parent', 'parent_origin', 'child', 'child_origin']  # fmt: skip
    (text,) = export_robot('orthoglide', 'constraint').files.values()
    constraint = etree.fromstring(text.encode()).find('constraint')
    assert constraint.get('type') == 'revolute'
    assert constraint.find('parent_axis').get('xyz') == '0 0 1'


def constraint_robot(folder, **changes):
    """Write the five-bar with its loop as a <constraint> about y of turned frames."""
    values = {'kind': 'revolute', 'axis': '0 1 0', 'rpy': '1.5707963267948966 0 0', 'extra': ''}
    values |= changes
    constraint = (
        f'<constraint name="loop" type="{values["kind"]}"><parent link="plate"/>'
        f'<parent_origin xyz="0.4 0 0" rpy="{values["rpy"]}"/>'
        f'<parent_axis xyz="{values["axis"]}"/><child link="bar4"/>'
        f'<child_origin xyz="-0.7 0.8 0" rpy="{values["rpy"]}"/></constraint>'
        '<transmission name="a"><joint name="mot1"/></transmission>'
        '<ros2_control name="b"><joint name="mot2"><command_interface name="effort"/></joint>'
        f'<joint name="free1"/></ros2_control>{values["extra"]}</robot>'
    )
    path = folder / 'five_bar.urdf'
    path.write_text(serial_platform().replace('</robot>', constraint))
    return path


def test_constraint_axes_and_origins(tmp_path):
    """The hinge is about y of frames turned by 90 degrees about x: about z of the bars."""
    converted = import_robot(constraint_robot(tmp_path), 'constraint', 'plate')
    model = read_model(written(converted, tmp_path / 'out', '.yaml'))
    assert sorted(model.actuator_names) == ['mot1', 'mot2']
    loop = next(closure for closure in model.closures if closure.name == 'loop')
    assert loop.kind == 'revolute'
    assert np.allclose(loop.first.rotation[:, 2], [0, 0, 1], atol=1e-12)
    assert np.allclose(loop.first.position, [0.4, 0, 0])
    assert examine(model.path).mobility.dof == 3


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'kind': 'universal'}, 'no closure for the type'),
        ({'kind': 'prismatic'}, 'no closure for the type'),
        ({'kind': ''}, 'no closure for the type'),
        ({'axis': '0 0 0'}, 'parent_axis is not three numbers'),
        ({'rpy': '0 0 x'}, 'parent_origin or'),
    ],
)
def test_constraints_that_cannot_be_read(changes, words, tmp_path):
    with pytest.raises(DescriptionError, match=words):
        import_robot(constraint_robot(tmp_path, **changes), 'constraint', 'plate')


def test_faults_of_other_conventions_are_listed(tmp_path):
    path = write_gepetto(
        tmp_path, serial_platform(), closed_loop=[['loop_a', 'end_c'], ['end_a']], type=['6d'],
        name_mot=['mot1'], joint_name=['free9'], joint_type=['SPHERICAL'], colour='red',
    )  # fmt: skip
    with pytest.raises(DescriptionError) as caught:
        import_robot(path, 'gepetto', 'plate')
    text = str(caught.value)
    for words in ("unknown frame 'end_c'", 'expected two frames', "unknown joint 'free9'",
                  'unknown key'):  # fmt: skip
        assert words in text
    with pytest.raises(DescriptionError, match="unknown link 'plates'"):
        import_robot(
            write_gepetto(tmp_path, serial_platform(), closed_loop=[], type=[], name_mot=[]),
            'gepetto', 'plates',
        )  # fmt: skip
    with pytest.raises(DescriptionError, match='is the root or fixed to it'):
        import_robot(tmp_path / 'robot.yaml', 'gepetto', 'ground')
    path.write_text('closed_loop')
    with pytest.raises(DescriptionError, match='keys closed_loop, type, name_mot'):
        import_robot(path, 'gepetto', 'plate')
    with pytest.raises(InputError, match='expected one of'):
        import_robot(path, 'sdf', 'plate')
    with pytest.raises(InputError, match='expected one of'):
        export_robot('delta', 'sdf')


MJCF = """
<mujoco model="crane">
  <compiler angle="degree"/>
  <option gravity="0 0 -9.8"/>
  <default>
    <joint damping="0.2"/>
    <default class="arm"><joint axis="0 1 0" armature="0.05" range="-90 90"/></default>
  </default>
  <worldbody>
    <body name="arm" pos="0 0 1" euler="0 0 30" childclass="arm">
      <inertial pos="0.2 0 0" mass="2" diaginertia="0.1 0.2 0.2" quat="0.9 0.1 0.2 0.3"/>
      <joint name="lift" pos="0.1 0 0"/>
      <joint name="twist" axis="1 0 0" pos="0 0.1 0.2"/>
      <site name="arm_end" pos="0.5 0 0" axisangle="0 0 1 45"/>
      <body name="hand" pos="0.5 0 0" xyaxes="0 1 0 -1 0 0">
        <inertial pos="0 0 0.1" mass="1" fullinertia="0.02 0.03 0.04 0.001 0 0.002"/>
        <joint name="wrist" type="ball" class="main"/>
        <body name="probe" pos="0 0 0.3" zaxis="1 0 1">
          <inertial pos="0 0 0" mass="0.5" diaginertia="0.01 0.01 0.01"/>
          <joint name="reach" type="slide" axis="0 0 1" class="main"/>
        </body>
      </body>
    </body>
    <body name="plate" pos="1 0 2" axisangle="0 1 0 20">
      <freejoint/>
      <inertial pos="0 0 0" mass="3" diaginertia="0.1 0.1 0.1"/>
      <site name="plate_corner" pos="0.1 0.1 0"/>
    </body>
  </worldbody>
  <equality>
    <connect name="by_bodies" body1="probe" body2="plate" anchor="0.1 0 0"/>
  </equality>
  <actuator><motor joint="lift"/><position joint="reach"/></actuator>
</mujoco>
"""


def test_mjcf_is_read_as_mujoco_reads_it(tmp_path):
    """Bodies stand and move where MuJoCo has them, through all its ways to write a pose."""
    path = tmp_path / 'crane.xml'
    path.write_text(MJCF)
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(theirs)
    converted = import_robot(path, 'mjcf', 'plate')
    model = read_model(written(converted, tmp_path / 'out', '.yaml'))
    assembly = Assembly(model)
    assert np.allclose(model.gravity, [0, 0, -9.8])
    assert model.actuator_names == ['lift', 'reach']
    by_name = {joint.name: joint for joint in model.joints}
    assert by_name['lift'].armature == 0.05 and by_name['lift'].damping == 0.2
    assert by_name['lift'].upper == pytest.approx(np.pi / 2)
    assert by_name['reach'].upper == np.inf
    random = np.random.default_rng(3)
    for moved in (False, True):
        q = np.zeros((1, len(model.joints)))
        if moved:
            for j, joint in enumerate(model.joints):
                q[0, j] = random.uniform(-0.5, 0.5)
                if joint.name in ('lift', 'twist', 'reach'):
                    data.qpos[theirs.joint(joint.name).qposadr[0]] = q[0, j]
            turns = [q[0, model.joint_names.index(f'wrist_{axis}')] for axis in 'xyz']
            x, y, z, w = Rotation.from_euler('XYZ', turns).as_quat()
            start = theirs.joint('wrist').qposadr[0]
            data.qpos[start : start + 4] = [w, x, y, z]
        mujoco.mj_forward(theirs, data)
        home = assembly.home
        poses = assembly.poses(type(home)(q, home.rotation, home.position))
        for frame in model.frames:
            if frame.name in ('arm', 'hand', 'probe', 'plate'):
                turned = poses.rotation[0, frame.body]
                where = poses.position[0, frame.body] + turned @ frame.position
                index = theirs.body(frame.name).id
                assert np.allclose(where, data.xpos[index], atol=1e-9)
                assert np.allclose(
                    turned @ frame.rotation, data.xmat[index].reshape(3, 3), atol=1e-9
                )
                body = model.bodies[frame.body].inertia
                assert body.mass == theirs.body_mass[index]
                centre = poses.position[0, frame.body] + turned @ body.com
                assert np.allclose(centre, data.xipos[index], atol=1e-9)
                axes = data.ximat[index].reshape(3, 3)
                tensor = axes @ np.diag(theirs.body_inertia[index]) @ axes.T
                assert np.allclose(turned @ body.tensor @ turned.T, tensor, atol=1e-9)


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ('<mujoco model="crane">', '<mujoco model="crane">\n<equality><tendon/></equality>',
         'no closure for <tendon>'),
        ('diaginertia="0.01 0.01 0.01"', 'diaginertia="0.01 nan 0.01"', 'not finite'),
        ('pos="0 0 0.3"', 'pos="0 0"', 'pos needs 3 numbers'),
        ('mass="0.5" ', '', 'mass is missing'),
        ('zaxis="1 0 1"', 'zaxis="0 0 0"', 'zaxis gives no direction'),
        ('axis="0 1 0" armature="0.05"', 'axis="0 1"', 'axis needs 3 numbers'),
        ('damping="0.2"', 'damping=""', 'damping needs 1 or 2 or 3 numbers'),
        ('<equality>', '<equality><joint joint1="lift\'s" joint2="twist"/>',
         'two joints that exist'),
        ('<joint name="reach" type="slide" axis="0 0 1" class="main"/>',
         '<joint name="reach" stiffness="3"/>', 'stiffness'),
        ('<inertial pos="0 0 0" mass="0.5" diaginertia="0.01 0.01 0.01"/>', '<geom size="0.1"/>',
         'inertia comes from geoms'),
        ('body2="plate"', 'body2="plat"', "unknown body 'plat'"),
        ('name="probe"', 'name="hand"', "a second body 'hand'"),
        ('name="plate"', 'name="plato"', "unknown body 'plate'"),
        ('<mujoco model="crane">', '<mjcf>', 'is not XML'),
        (MJCF, '<robot/>', 'expected <mujoco>'),
    ],
)  # fmt: skip
def test_mjcf_that_cannot_be_read(old, new, words, tmp_path):
    path = tmp_path / 'crane.xml'
    path.write_text(MJCF.replace(old, new))
    with pytest.raises(DescriptionError, match=words):
        import_robot(path, 'mjcf', 'plate')


ORIGINALS = {
    (name, convention): export_robot(name, convention).files
    for name in ('three_rps', 'orthoglide')
    for convention in FILE
}


@given(st.sampled_from(sorted(ORIGINALS)), st.data())
@settings(max_examples=100)
def test_damaged_files_are_refused_with_an_error_of_this_package(which, data):
    files = dict(ORIGINALS[which])
    name = data.draw(st.sampled_from(sorted(files)))
    if name.endswith('.yaml'):
        content = yaml.safe_load(files[name])
        key = data.draw(st.sampled_from(sorted(content)))
        content[key] = data.draw(
            st.sampled_from([None, 3, 'x', [], [3], [['a']], [[1, 2]], [None, None], ['3d']])
        )
        files[name] = yaml.safe_dump(content)
    else:
        root = etree.fromstring(files[name].encode())
        for _ in range(data.draw(st.integers(1, 3))):
            nodes = [n for n in root.iter() if n is not root and n.tag not in ('visual', 'geom')]
            node = nodes[data.draw(st.integers(0, len(nodes) - 1))]
            action = data.draw(st.sampled_from(['drop', 'double', 'attribute', 'unset']))
            if action == 'drop':
                node.getparent().remove(node)
            elif action == 'double':
                node.addnext(copy.deepcopy(node))
            elif node.attrib:
                key = data.draw(st.sampled_from(sorted(node.attrib)))
                if action == 'unset':
                    del node.attrib[key]
                else:
                    value = data.draw(st.sampled_from(['', 'x', 'nan', '1', '0 0 0', '1e9']))
                    node.set(key, value)
        files[name] = etree.tostring(root).decode()
    with tempfile.TemporaryDirectory() as folder:
        for file, text in files.items():
            (Path(folder) / file).write_text(text)
        source = next(Path(folder).glob(f'*{FILE[which[1]]}'))
        try:
            import_robot(source, which[1], 'platform', name='back').write(folder)
        except ParallelDynamicsError:
            return
        examine(Path(folder) / 'back.yaml')


@given(st.floats(-4, 4), st.sampled_from([-np.pi / 2, np.pi / 2, 0.3]), st.floats(-4, 4),
       st.sampled_from([0.0, 1e-12, 1e-9, 1e-7, 1e-4]))  # fmt: skip
def test_rpy_is_exact_at_any_pitch(roll, pitch, yaw, off):
    rotation = rotation_of([roll, pitch + off, yaw])
    assert np.allclose(rotation_of(rpy_of(rotation)), rotation, atol=1e-14)


def test_command(tmp_path, capsys):
    out = tmp_path / 'out'
    assert main(['convert', 'delta', '--to', 'constraint', '--output', str(out)]) == 0
    text = capsys.readouterr().out
    assert 'wrote' in text and 'note: ' in text
    back = ['convert', str(out / 'delta.urdf'), '--from', 'constraint', '--output', str(tmp_path)]
    assert main(back) == 2
    assert '--platform is missing' in capsys.readouterr().err
    assert main([*back, '--platform', 'platform', '--name', 'mine']) == 0
    assert read_model(tmp_path / 'mine.yaml').name == 'mine'
    assert main([*back, '--platform', 'platform', '--actuators', 'leg1_shoulder']) == 1
    assert '1 actuator for 3 degrees of freedom' in capsys.readouterr().out
    (tmp_path / 'taken').write_text('')
    assert main(['convert', 'delta', '--to', 'mjcf', '--output', str(tmp_path / 'taken')]) == 2
    assert 'cannot be written' in capsys.readouterr().err
