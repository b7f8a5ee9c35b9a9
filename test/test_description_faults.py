"""Every kind of fault is refused with a sentence that says where, what and what to do."""

from __future__ import annotations

from edited_robots import Edited
from lxml import etree
import pytest
import tiny_robots

from parallel_dynamics.description import examine, load_model, read_model
from parallel_dynamics.errors import DescriptionError, InputError, ParallelDynamicsError


def faults_of(robot, tmp_path, load=load_model):
    with pytest.raises(DescriptionError) as caught:
        load(robot.write(tmp_path))
    return caught.value.faults


def only_fault(robot, tmp_path):
    faults = faults_of(robot, tmp_path)
    assert len(faults) == 1, '\n'.join(map(str, faults))
    return faults[0]


def set_inertia(robot, link, **values):
    element = robot.part('link', link, 'inertia')
    for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'):
        element.set(key, str(values.get(key, 0.0)))


def massless(robot, *links):
    for name in links:
        inertial = robot.link(name).find('inertial')
        if inertial is not None:
            robot.link(name).remove(inertial)


def edit_axis(xyz):
    def edit(robot):
        robot.part('joint', 'leg1_slide', 'axis').set('xyz', xyz)

    return edit


def edit(target, key, value):
    """Return an edit that sets data[key], or data of a closure, or removes it for None."""

    def apply(robot):
        data = robot.closure(target) if target else robot.data
        if value is None:
            del data[key]
        else:
            data[key] = value

    return apply


def set_part(kind, name, tag, **attributes):
    def apply(robot):
        for key, value in attributes.items():
            robot.part(kind, name, tag).set(key, value)

    return apply


def remove_part(kind, name, tag):
    def apply(robot):
        part = robot.root.find(f"{kind}[@name='{name}']").find(f'.//{tag}')
        part.getparent().remove(part)

    return apply


def add(text):
    return lambda robot: robot.add(text)


FREE_LINK = '<link name="{0}"/>'
HINGE = (
    '<joint name="{0}" type="{3}"><parent link="{1}"/><child link="{2}"/>'
    '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>{4}</joint>'
)

# What is changed on the Gough-Stewart robot, the element named, and words of problem and remedy.
SINGLE = {
    'unknown closure frame': (
        edit('ball1', 'between', ['leg1_tpi', 'platform_p1']),
        "closure 'ball1'", "unknown frame 'leg1_tpi'", "Did you mean 'leg1_tip'?"),
    'unknown actuator': (
        edit(None, 'actuators', ['leg1_slid', *[f'leg{i}_slide' for i in range(2, 7)]]),
        'actuators', "unknown joint 'leg1_slid'", "Did you mean 'leg1_slide'?"),
    'unknown base': (
        edit(None, 'base', 'bas_link'), 'base', "unknown link 'bas_link'", "'base_link'"),
    'unknown platform': (
        edit(None, 'platform', 'plattform'), 'platform', "unknown link 'plattform'", "'platform'"),
    'unknown key': (
        edit(None, 'actuator', []), "'actuator'", 'unknown key', "Did you mean 'actuators'?"),
    'unknown closure key': (
        edit('ball1', 'betwen', 1), "closure 'ball1'", "unknown key 'betwen'", "'between'"),
    'unknown closure type': (
        edit('ball1', 'type', 'sphere'), "closure 'ball1'", "unknown type 'sphere'",
        'ball, weld, revolute, cylindrical, plane'),
    'closure type misspelt': (
        edit('ball1', 'type', 'bal'), "closure 'ball1'", "unknown type 'bal'", "'ball'?"),
    'missing key': (edit(None, 'platform', None), 'platform', 'is missing', 'Add the key'),
    'missing closure key': (
        edit('ball1', 'type', None), "closure 'ball1'", "'type' is missing", ''),
    'name of wrong type': (edit(None, 'name', 3), 'name', 'expected text, got 3', 'quotes'),
    'actuators no list': (
        edit(None, 'actuators', 'leg1_slide'), 'actuators', 'expected a list of names', '[a, b'),
    'closures no list': (edit(None, 'closures', {}), 'closures', 'expected a list', 'between'),
    'between three': (
        edit('ball1', 'between', ['a', 'b', 'c']), "closure 'ball1'", 'needs two frames', ''),
    'duplicate closure': (
        edit('ball2', 'name', 'ball1'), "closure 'ball1'", 'a second closure with this name', ''),
    'closure named like a joint': (
        edit('ball2', 'name', 'leg2_slide'), "closure 'leg2_slide'", 'a joint of the URDF', 'own'),
    'duplicate actuator': (
        edit(None, 'actuators', [f'leg{max(i, 2)}_slide' for i in range(1, 7)]),
        'actuators', "'leg2_slide' stands twice", 'once'),
    'virtual actuator': (
        edit(None, 'actuators', ['platform_x', *[f'leg{i}_slide' for i in range(2, 7)]]),
        'actuators', "'platform_x' is a virtual joint", 'Name a joint of a leg'),
    'fixed actuator': (
        edit(None, 'actuators', ['leg1_tip_fixed', *[f'leg{i}_slide' for i in range(2, 7)]]),
        'actuators', "'leg1_tip_fixed' is a fixed joint", 'moves'),
    'same body': (
        edit('ball1', 'between', ['platform_p2', 'platform_p1']),
        "closure 'ball1'", "on the same body 'platform'", 'joins two bodies'),
    'closure on the chain': (
        edit('ball1', 'between', ['leg1_tip', 'platform_z_link']),
        "closure 'ball1'", 'virtual chain', 'Fix the frame to the platform'),
    'gravity shape': (edit(None, 'gravity', [0, -9.81]), 'gravity', 'three finite numbers', ''),
    'gravity nan': (
        edit(None, 'gravity', [0, 0, float('nan')]), 'gravity', 'three finite numbers', '-9.81'),
    'armature unknown': (
        edit(None, 'armature', {'leg1_slyde': 1.0}),
        "armature of 'leg1_slyde'", 'unknown joint', "Did you mean 'leg1_slide'?"),
    'armature negative': (
        edit(None, 'armature', {'leg1_slide': -1.0}), "armature of 'leg1_slide'", 'not negative',
        ''),
    'armature text': (
        edit(None, 'armature', {'leg1_slide': 'heavy'}), "armature of 'leg1_slide'", 'got', ''),
    'independent unknown': (
        edit(None, 'independent', ['platform_w']), 'independent', 'unknown platform coordinate',
        'platform_'),
    'unknown parent link': (
        set_part('joint', 'leg1_slide', 'parent', link='leg1_cylnder'),
        "joint 'leg1_slide'", "parent link 'leg1_cylnder' is unknown", "'leg1_cylinder'"),
    'joint nan': (
        set_part('joint', 'leg1_slide', 'origin', xyz='0 nan 0'),
        "joint 'leg1_slide'", 'not finite', 'finite'),
    'two numbers in a vector': (
        set_part('joint', 'leg1_slide', 'origin', xyz='0 0'),
        "joint 'leg1_slide'", 'needs three numbers', ''),
    'word in a vector': (
        set_part('joint', 'leg1_slide', 'origin', xyz='0 0 zero'),
        "joint 'leg1_slide'", "could not convert string to float: 'zero'", ''),
    'zero axis': (edit_axis('0 0 0'), "joint 'leg1_slide'", 'axis has no length', '0 0 1'),
    'axis nan': (edit_axis('nan 0 0'), "joint 'leg1_slide'", 'not finite', ''),
    'floating joint': (
        lambda robot: robot.joint('leg1_slide').set('type', 'floating'),
        "joint 'leg1_slide'", "type 'floating' are not supported", 'revolute, continuous'),
    'unknown joint type': (
        lambda robot: robot.joint('leg1_slide').set('type', 'helical'),
        "joint 'leg1_slide'", 'Invalid joint type: helical', ''),
    'limits swapped': (
        set_part('joint', 'leg1_slide', 'limit', lower='1', upper='-1'),
        "joint 'leg1_slide'", 'lower limit 1 is above', 'Swap'),
    'limit nan': (
        set_part('joint', 'leg1_slide', 'limit', effort='nan'), "joint 'leg1_slide'",
        'not finite', ''),
    'negative effort': (
        set_part('joint', 'leg1_slide', 'limit', effort='-1'), "joint 'leg1_slide'",
        'negative', ''),
    'negative damping': (
        set_part('joint', 'leg1_slide', 'dynamics', damping='-1'), "joint 'leg1_slide'",
        'damping is -1', ''),
    'unknown joint element': (
        lambda robot: robot.part('joint', 'leg1_slide', 'dynamic'),
        "joint 'leg1_slide'", "unknown tag 'dynamic'", "'dynamics'"),
    'xacro left over': (
        add('<x:include xmlns:x="http://www.ros.org/wiki/xacro" filename="legs.xacro"/>'),
        '<xacro:include>', 'an instruction to xacro', 'Run xacro first'),
    'element misspelt': (
        add('<jiont name="a"/>'), '<jiont>', 'unknown element', "'joint'"),
    'no parent': (
        remove_part('joint', 'leg1_slide', 'parent'), "joint 'leg1_slide'", 'parent', ''),
    'negative mass': (
        set_part('link', 'leg1_cylinder', 'mass', value='-1'), "link 'leg1_cylinder'",
        'mass is -1 kg', ''),
    'mass nan': (
        set_part('link', 'leg1_cylinder', 'mass', value='nan'), "link 'leg1_cylinder'",
        'not finite', ''),
    'mass without value': (
        lambda robot: robot.part('link', 'leg1_cylinder', 'mass').attrib.clear(),
        "link 'leg1_cylinder'", 'lacks its value', ''),
    'mass without inertia': (
        remove_part('link', 'leg1_cylinder', 'inertia'), "link 'leg1_cylinder'",
        'but no <inertia>', 'all zeros for a point mass'),
    'triangle inequality': (
        lambda robot: set_inertia(robot, 'leg1_cylinder', ixx=1, iyy=1, izz=3),
        "link 'leg1_cylinder'", 'triangle inequality', 'centre of mass'),
    'indefinite inertia': (
        lambda robot: set_inertia(robot, 'leg1_cylinder', ixx=1, iyy=1, izz=1, ixy=2),
        "link 'leg1_cylinder'", 'negative principal moment', 'products of inertia'),
    'inertia without mass': (
        set_part('link', 'leg1_cylinder', 'mass', value='0'), "link 'leg1_cylinder'",
        'no mass', 'massless'),
    'duplicate link': (
        add(FREE_LINK.format('platform')), "link 'platform'", 'a second link', ''),
    'duplicate joint': (
        add(HINGE.format('leg1_slide', 'base_link', 'platform', 'revolute', '')),
        "joint 'leg1_slide'", 'a second joint', ''),
    'second root': (add(FREE_LINK.format('stray')), 'robot', "'base_link', 'stray'", 'one tree'),
    'two parents': (
        add(HINGE.format('extra', 'base_link', 'platform', 'revolute', '')),
        "joint 'extra'", "already the child of joint 'platform_roll'", 'closure'),
    'cycle': (
        add(FREE_LINK.format('a') + FREE_LINK.format('b')
            + HINGE.format('ab', 'a', 'b', 'revolute', '')
            + HINGE.format('ba', 'b', 'a', 'revolute', '')),
        'robot', "links 'a', 'b' form a cycle", 'cut the cycle'),
    'link without name': (
        lambda robot: robot.link('leg1_tip').attrib.clear(), 'link without a name',
        'has no name', ''),
    'heavy chain': (
        lambda robot: robot.link('platform_z_link').append(
            robot.link('leg1_cylinder').find('inertial')),
        "link 'platform_z_link'", 'massless', 'Remove its <inertial>'),
    'load on the chain': (
        add(FREE_LINK.format('hanger')
            + HINGE.format('hook', 'platform_x_link', 'hanger', 'revolute', '')),
        "joint 'hook'", 'hangs on', 'Attach it to the base'),
    'mimic of the unknown': (
        set_part('joint', 'leg1_slide', 'mimic', joint='leg2_slyde'),
        "joint 'leg1_slide'", "unknown joint 'leg2_slyde'", "'leg2_slide'"),
    'mimic of the platform': (
        set_part('joint', 'leg1_slide', 'mimic', joint='platform_z'),
        "joint 'leg1_slide'", 'virtual joint of the platform', 'closure'),
    'mimic of a fixed joint': (
        set_part('joint', 'leg1_slide', 'mimic', joint='leg1_tip_fixed'),
        "joint 'leg1_slide'", 'a fixed joint', ''),
    'mimic nan': (
        set_part('joint', 'leg1_slide', 'mimic', joint='leg2_slide', offset='nan'),
        "joint 'leg1_slide'", 'mimic is not finite', ''),
    'platform mimics': (
        set_part('joint', 'platform_x', 'mimic', joint='leg1_slide'),
        "joint 'platform_x'", 'cannot mimic', ''),
    'wrong kind of virtual joint': (
        lambda robot: robot.joint('platform_x').set('type', 'revolute'),
        "joint 'platform_x'", 'is a revolute joint', 'prismatic by its name'),
    'platform carried by a leg': (
        lambda robot: robot.joint('platform_x').set('name', 'lift'),
        "joint 'lift'", 'carries the platform but is not one of its coordinates', 'closures'),
    'actuation missing': (
        edit(None, 'actuators', ['leg1_slide', 'leg2_slide', 'leg3_slide']),
        'actuators', '3 actuators for 6 degrees of freedom', 'Name 6 joints'),
    'actuation redundant': (
        edit(None, 'actuators', [f'leg{i}_slide' for i in range(1, 7)] + ['leg1_universal_1']),
        'actuators', '7 actuators for 6 degrees of freedom', 'Name 6'),
    'no independent': (
        edit(None, 'independent', []), 'independent', '0 coordinates for 6', 'leave it out'),
    'independent count': (
        edit(None, 'independent', ['platform_z']), 'independent',
        '1 coordinate for 6 degrees of freedom', 'leave it out'),
}  # fmt: skip


@pytest.fixture
def stewart():
    return Edited('gough_stewart')


@pytest.mark.parametrize('kind', SINGLE)
def test_each_fault_has_its_sentence(kind, stewart, tmp_path):
    change, element, problem, remedy = SINGLE[kind]
    change(stewart)
    faults = faults_of(stewart, tmp_path)
    matching = [f for f in faults if element in f.element and problem in f.problem]
    assert matching, '\n'.join(map(str, faults))
    assert remedy in matching[0].remedy
    assert matching[0].file.endswith(('robot.yaml', 'robot.urdf'))


def test_mimic_cycle(stewart, tmp_path):
    for i, j in ((1, 2), (2, 3), (3, 1)):
        set_part('joint', f'leg{i}_slide', 'mimic', joint=f'leg{j}_slide')(stewart)
    faults = faults_of(stewart, tmp_path)
    cycles = [f for f in faults if 'circle' in f.problem]
    assert len(cycles) == 1
    assert 'leg1_slide -> leg2_slide -> leg3_slide -> leg1_slide' in cycles[0].problem


def test_actuator_that_mimics(stewart, tmp_path):
    set_part('joint', 'leg1_slide', 'mimic', joint='leg2_slide')(stewart)
    faults = faults_of(stewart, tmp_path)
    assert any("'leg1_slide' mimics" in f.problem and 'leg2_slide' in f.remedy for f in faults)


def test_open_at_zero_names_closure_amount_and_component(stewart, tmp_path):
    origin = stewart.part('joint', 'leg1_tip_fixed', 'origin')
    x, y, z = map(float, origin.get('xyz').split())
    origin.set('xyz', f'{x} {y} {z + 0.002}')
    fault = only_fault(stewart, tmp_path)
    assert fault.element == "closure 'ball1'"
    assert 'open at zero by 0.00' in fault.problem
    assert "'leg1_tip' seen from 'platform_p1'" in fault.problem


def test_weld_turned_at_zero_is_open(tmp_path):
    robot = Edited('orthoglide')
    name = next(c for c in robot.data['closures'] if c['type'] == 'revolute')['between'][0]
    joint = next(j for j in robot.root.iter('joint') if j.find('child').get('link') == name)
    robot.part('joint', joint.get('name'), 'origin').set('rpy', '0.3 0.2 0.1')
    faults = faults_of(robot, tmp_path)
    assert any('rad (rotation about' in f.problem for f in faults)


def test_idle_leg_names_its_joints(stewart, tmp_path):
    """A third joint along the leg lets it spin about its own axis."""
    stewart.add(
        '<link name="spinner"><inertial><mass value="0.1"/>'
        '<inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>'
        '<joint name="leg1_spin" type="continuous"><parent link="leg1_tip"/>'
        '<child link="spinner"/><axis xyz="0 0 1"/></joint>'
    )
    stewart.closure('ball1')['between'][0] = 'spinner'
    faults = faults_of(stewart, tmp_path)
    idle = next(f for f in faults if 'idle' in f.problem)
    assert 'leg1_spin' in idle.problem
    assert 'leg2' not in idle.problem


def test_a_body_that_nothing_holds_is_idle(stewart, tmp_path):
    stewart.add('<link name="pendulum"/>' + HINGE.format('swing', 'base_link', 'pendulum',
                                                         'revolute', ''))  # fmt: skip
    faults = faults_of(stewart, tmp_path)
    assert any('swing can move while the platform stands still' in f.problem for f in faults)


def test_chain_that_cannot_follow(tmp_path):
    """The parasitic motion of a 3-RPS needs the coordinates that it does not command."""
    robot = Edited('three_rps')
    robot.joint('platform_yaw').set('type', 'fixed')
    fault = only_fault(robot, tmp_path)
    assert fault.element == 'platform chain'
    assert 'also moves along' in fault.problem
    assert 'platform_yaw' in fault.problem.partition('the virtual joints are')[0]


def test_names_are_looked_up_in_a_broken_tree_too(stewart, tmp_path):
    stewart.joint('leg1_universal_1').find('parent').set('link', 'nowhere')
    stewart.data['independent'] = ['platform_x', 'platform_q']
    stewart.data['actuators'][0] = 'zzz'
    found = {fault.element: fault for fault in faults_of(stewart, tmp_path)}
    assert 'platform_q' in found['independent'].problem
    assert 'leg1_universal_1' in found['actuators'].remedy
    assert 'platform_' not in found['actuators'].remedy


def test_massless_robot(stewart, tmp_path):
    massless(stewart, *[link.get('name') for link in stewart.root.iter('link')])
    stewart.data.pop('armature', None)
    fault = only_fault(stewart, tmp_path)
    assert 'mass matrix is singular' in fault.problem
    assert 'platform' in fault.problem


def test_massless_platform_that_legs_make_up_for(stewart, tmp_path):
    massless(stewart, 'platform')
    model, mobility = load_model(stewart.write(tmp_path))
    assert mobility.mass_condition < 1e6


def test_light_links_are_fine(stewart, tmp_path):
    massless(stewart, *[f'leg{i}_cross' for i in range(1, 7)])
    load_model(stewart.write(tmp_path))


def test_actuators_that_cannot_drive(tmp_path):
    """Both rods of a forearm swing together, so drives on both of them drive one freedom."""
    robot = Edited('delta')
    robot.data['actuators'] = ['leg1_shoulder', 'leg1_elbow_a_1', 'leg1_elbow_b_1']
    fault = only_fault(robot, tmp_path)
    assert 'they drive 2 of 3 degrees of freedom' in fault.problem
    assert fault.remedy == 'Actuate other joints.'


def test_independent_that_does_not_fix_the_others(tmp_path):
    robot = Edited('three_rps')
    robot.data['independent'] = ['platform_x', 'platform_y', 'platform_yaw']
    fault = only_fault(robot, tmp_path)
    assert fault.element == 'independent'
    assert 'platform_z, platform_roll, platform_pitch' in fault.remedy


def test_all_faults_at_once(stewart, tmp_path):
    """Faults of YAML, URDF, inertia and mobility come in one error."""
    stewart.data['actuators'] = ['leg1_slide']
    stewart.data['colour'] = 'red'
    set_part('link', 'leg1_cylinder', 'mass', value='-1')(stewart)
    set_part('joint', 'leg2_slide', 'dynamics', damping='-1')(stewart)
    origin = stewart.part('joint', 'leg3_tip_fixed', 'origin')
    origin.set('xyz', '0 0 0.01')
    problems = [f.problem for f in faults_of(stewart, tmp_path)]
    for words in ('1 actuator for 6', 'unknown key', 'mass is -1', 'damping', 'open at zero'):
        assert any(words in problem for problem in problems), problems
    assert len(problems) == 5


def test_all_faults_of_one_element(stewart, tmp_path):
    set_inertia(stewart, 'leg1_cylinder', ixx=1, iyy=1, izz=3)
    set_part('link', 'leg1_cylinder', 'mass', value='-1')(stewart)
    set_part('joint', 'leg1_slide', 'origin', xyz='nan 0 0')(stewart)
    set_part('joint', 'leg1_slide', 'axis', xyz='0 0 0')(stewart)
    set_part('joint', 'leg1_slide', 'limit', lower='1', upper='-1')(stewart)
    set_part('joint', 'leg1_slide', 'dynamics', friction='-1', damping='1e400')(stewart)
    problems = [fault.problem for fault in faults_of(stewart, tmp_path)]
    for words in ('mass', 'triangle', 'origin', 'axis', 'lower limit', 'friction', 'damping'):
        assert sum(words in problem for problem in problems) == 1, (words, problems)


def test_read_model_leaves_mobility_alone(stewart, tmp_path):
    stewart.data['actuators'] = ['leg1_slide']
    assert read_model(stewart.write(tmp_path)).actuator_names == ['leg1_slide']


def test_rounded_digits_are_not_a_missing_virtual_joint(tmp_path):
    """Six digits hold the closures of a Delta to 1e-6; what they turn its plate by is theirs."""
    robot = Edited('delta')
    for origin in robot.root.iter('origin'):
        for key in ('xyz', 'rpy'):
            if key in origin.attrib:
                rounded = (f'{float(value):.6f}' for value in origin.get(key).split())
                origin.set(key, ' '.join(rounded))
    _, mobility = load_model(robot.write(tmp_path))
    assert mobility.dof == 3
    assert 1e-8 < mobility.residual < 1e-6


def test_what_only_other_tools_refuse_is_a_note(stewart, tmp_path):
    remove_part('joint', 'leg1_slide', 'limit')(stewart)
    set_part('joint', 'platform_z', 'dynamics', damping='5')(stewart)
    found = examine(stewart.write(tmp_path))
    assert not found.faults
    assert found.model.joints[found.model.joint_names.index('leg1_slide')].upper == float('inf')
    notes = {note.element.partition(' (')[0]: note.problem for note in found.notes}
    assert set(notes) == {"joint 'leg1_slide'", "joint 'platform_z'"}
    assert 'no <limit>' in notes["joint 'leg1_slide'"]
    assert 'carries no load' in notes["joint 'platform_z'"]


@pytest.mark.parametrize('tag', ['visual', 'collision'])
@pytest.mark.parametrize(
    'shape',
    [
        '<geometry><capsule radius="1" length="2"/></geometry>', '<geometry><box/></geometry>', '',
        '<geometry><sphere radius="1"/></geometry><origin xyz="0 0"/>',
    ],
)  # fmt: skip
def test_looks_that_cannot_be_read_are_a_note(tag, shape, stewart, tmp_path):
    stewart.link('leg1_cylinder').append(etree.fromstring(f'<{tag}>{shape}</{tag}>'))
    found = examine(stewart.write(tmp_path))
    assert not found.faults and found.mobility.dof == 6
    (note,) = found.notes
    assert note.element.startswith("link 'leg1_cylinder'") and tag in note.element


def test_keys_brought_in_by_merging(stewart, tmp_path):
    stewart.data.pop('gravity', None)
    path = stewart.write(tmp_path)
    path.write_text('<<: {gravity: [0, 0, -1], name: other}\n' + path.read_text())
    model = read_model(path)
    assert model.gravity[2] == -1.0 and model.name == 'gough_stewart'


FILES = {
    'empty': (b'', 'is empty'),
    'binary': (bytes(range(256)), 'is not text'),
    'latin': (b'name: a\n# caf\xe9\n', 'byte 0xe9 in line 2'),
    'not yaml': (b'a: [1, 2', 'is not YAML'),
    'a list': (b'- 1\n- 2\n', 'holds a list'),
    'a urdf': (b'<robot name="a"/>', 'is not YAML but XML'),
    'a urdf with colons': (b'<!-- made by: me -->\n<robot name="a: b"/>', 'is not YAML but XML'),
    'key twice': (b'name: a\nname: b\n', 'stands twice'),
    'control characters': (b'name: "\x01"', 'is not YAML'),
    'unhashable key': (b'{a: 1}: 2', 'is not YAML'),
    'nested too deep': (b'[' * 3000, 'is not YAML'),
}


@pytest.mark.parametrize('kind', FILES)
def test_file_that_is_no_yaml_description(kind, tmp_path):
    content, words = FILES[kind]
    path = tmp_path / 'robot.yaml'
    path.write_bytes(content)
    with pytest.raises(DescriptionError, match=words) as caught:
        load_model(path)
    assert caught.value.faults[0].file == str(path)


URDFS = {
    'empty': (b'', 'is empty'),
    'binary': (bytes(range(256)), 'is not XML'),
    'not xml': (b'<robot', 'is not XML'),
    'another format': (b'<mujoco/>', 'expected a URDF'),
    'no links': (b'<robot name="a"/>', 'has no links'),
    'entities': (b'<!DOCTYPE r [<!ENTITY e "x">]><robot name="a">&e;</robot>', 'has no links'),
}


@pytest.mark.parametrize('kind', URDFS)
def test_file_that_is_no_urdf(kind, stewart, tmp_path):
    path = stewart.write(tmp_path)
    content, words = URDFS[kind]
    (tmp_path / 'robot.urdf').write_bytes(content)
    with pytest.raises(DescriptionError, match=words) as caught:
        load_model(path)
    assert caught.value.faults[0].file.endswith('robot.urdf')


def test_urdf_that_does_not_exist(stewart, tmp_path):
    stewart.data['urdf'] = 'nowhere.urdf'
    fault = only_fault(stewart, tmp_path)
    assert 'No such file' in fault.problem
    assert fault.file.endswith('nowhere.urdf')


def test_urdf_given_by_an_address(stewart, tmp_path):
    stewart.data['urdf'] = 'package://my_robots/urdf/robot.urdf'
    fault = only_fault(stewart, tmp_path)
    assert fault.element == 'urdf' and 'package://my_robots' in fault.problem
    assert 'relative to this file' in fault.remedy


def test_unknown_name_lists_the_shipped_robots(tmp_path):
    with pytest.raises(DescriptionError, match="Did you mean 'gough_stewart'") as caught:
        load_model('gogh_stewart')
    assert 'orthoglide' in str(caught.value)
    with pytest.raises(DescriptionError, match='is a folder'):
        load_model(tmp_path)
    with pytest.raises(DescriptionError):
        load_model('no\0name')


@pytest.mark.parametrize('value', [None, 3, b'gough_stewart', ['delta']])
def test_what_is_neither_name_nor_path(value):
    with pytest.raises(InputError, match='expected a name or the path'):
        load_model(value)


def test_nothing_is_printed(stewart, tmp_path, capfd):
    """urdf_parser_py prints what it does not know; nobody sees it here."""
    stewart.part('link', 'leg1_cylinder', 'colour')
    stewart.add('<gazebo reference="platform"><mu1>1</mu1></gazebo><ros2_control name="a"/>')
    load_model(stewart.write(tmp_path))
    assert capfd.readouterr() == ('', '')


def test_one_base_class(stewart, tmp_path):
    stewart.data['actuators'] = []
    with pytest.raises(ParallelDynamicsError, match='0 actuators for 6'):
        load_model(stewart.write(tmp_path))


def test_an_unknown_actuator_does_not_hide_the_ranks(stewart, tmp_path):
    """What does not depend on the actuators is judged all the same, and no more."""
    stewart.data['actuators'][0] = 'leg1_slid'
    stewart.part('joint', 'leg3_tip_fixed', 'origin').set('xyz', '0 0 0.01')
    problems = [f.problem for f in faults_of(stewart, tmp_path)]
    assert len(problems) == 2
    assert any('open at zero' in problem for problem in problems)
    assert any('unknown joint' in problem for problem in problems)


def test_platform_held_by_the_base_alone(tmp_path):
    """No joints at all: freedoms without drives."""
    robot = tiny_robots.Tiny(coordinates='x y yaw')
    for i, at in enumerate(('1 0 0', '-1 1 0', '-1 -1 0')):
        robot.close(f'foot{i}', 'plane', ('platform', at), ('base', at))
    fault = only_fault(robot, tmp_path)
    assert '0 actuators for 3 degrees of freedom' in fault.problem
