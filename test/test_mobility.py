"""Degrees of freedom, ranks and overconstraint against what is known of each robot."""

from __future__ import annotations

from edited_robots import Edited
import numpy as np
from pinocchio_loops import Loops
import pytest
import tiny_robots

from parallel_dynamics import resources
from parallel_dynamics.description import load_model, read_model
from parallel_dynamics.errors import DescriptionError
from parallel_dynamics.families import FAMILIES, create, irregular
from parallel_dynamics.mobility import analyse
from parallel_dynamics.mobility.assembly import Assembly, Configurations
from parallel_dynamics.mobility.mass import mass_matrix
from parallel_dynamics.mobility.motions import assemble
from parallel_dynamics.mobility.ranks import rank_of
from parallel_dynamics.mobility.survey import survey

ROBOTS = sorted(resources.robot_files())
TRANSLATION, PLANAR, SPATIAL = (0, 1, 2), (0, 1, 5), (0, 1, 2, 3, 4, 5)

# Degrees of freedom, independent components, redundant equations; the counts are Gruebler's with
# the redundant equations added back: dof = 6 + joints - equations + redundant.
KNOWN = {
    'stewart': (6, SPATIAL, 0),
    'space': (6, SPATIAL, 0),
    'c5': (6, SPATIAL, 0),
    'delta': (3, TRANSLATION, 0),
    'orthoglide': (3, TRANSLATION, 12),
    'three_rps': (3, (2, 3, 4), 0),
    'hexaglide': (6, SPATIAL, 0),
    'hexa': (6, SPATIAL, 0),
    'planar_3rrr': (3, PLANAR, 6),
    'three_ups_passive_leg': (3, (2, 3, 4), 0),
}


def test_every_family_is_known():
    assert set(KNOWN) == set(FAMILIES)


@pytest.mark.parametrize('family', KNOWN)
@pytest.mark.parametrize('seed', [None, 7])
def test_families(family, seed, tmp_path):
    text = create(family) if seed is None else irregular(family, seed=seed)
    path = next(p for p in text.write(tmp_path) if p.suffix == '.yaml')
    model, mobility = load_model(path)
    dof, independent, redundant = KNOWN[family]
    assert (mobility.dof, mobility.redundant) == (dof, redundant)
    assert sorted(mobility.independent) == list(independent)
    assert mobility.constraint_rank == 6 - dof
    equations = sum(leg.equations for leg in mobility.legs)
    coordinates = sum(leg.coordinates for leg in mobility.legs)
    assert dof == 6 + coordinates - equations + redundant
    assert sum(group.equations for group in mobility.overconstraints) == redundant
    assert all(leg.rank == leg.coordinates and not leg.idle for leg in mobility.legs)


@pytest.mark.parametrize('name', ROBOTS)
def test_jacobian_and_residual_against_pinocchio(name):
    """Away from home, the closures' Jacobian has the row space that Pinocchio finds."""
    file = resources.robot_files()[name]
    loops = Loops(file)
    loops.wander(np.random.default_rng(3), 0.05)
    assembly = Assembly(read_model(name))
    order = [loops.names.index(joint) for joint in assembly.model.joint_names]
    q = loops.q[[loops.columns[k] for k in order]]
    at = Configurations(q[None], loops.rotation[None], loops.position[None])
    residual, jacobian = assembly.closures(at)
    assert np.abs(residual).max() < 1e-7
    theirs = loops.constraints()[1]
    n = len(order)
    theirs = theirs[:, [*order, *range(n, n + 6)]]
    for rows in (theirs, jacobian[0]):
        other = jacobian[0] if rows is theirs else theirs
        left = rows - (rows @ np.linalg.pinv(other)) @ other
        assert np.abs(left).max() < 1e-6


@pytest.mark.parametrize('name', ROBOTS)
def test_jacobian_is_the_derivative_of_the_residual(name):
    assembly = Assembly(read_model(name))
    random = np.random.default_rng(5)
    count = 12
    home = assembly.home[np.zeros(count, dtype=int)]
    step = random.standard_normal((count, len(assembly.coordinates) + 6))
    h = 1e-6
    ahead, behind = (
        assembly.scaled(assembly.moved(home, sign * h * step))[0] for sign in (1.0, -1.0)
    )
    linear = (assembly.scaled(home)[1] @ step[:, :, None])[:, :, 0]
    assert np.allclose((ahead - behind) / (2.0 * h), linear, atol=1e-7)


@pytest.mark.parametrize('name', ROBOTS)
def test_mass_matrix_is_the_kinetic_energy_of_pinocchio(name):
    """Half v^T M v is the energy of the tree's bodies moving as the closures let them."""
    import pinocchio as pin

    file = resources.robot_files()[name]
    model, found = read_model(name), survey(read_model(name))
    assembly = found.assembly
    # Without virtual joints' help: the platform's energy is added by hand.
    tree = pin.buildModelFromUrdf(str(model.urdf_path))
    state = tree.createData()
    random = np.random.default_rng(2)
    free = random.standard_normal(found.dof)
    velocity = (assembly.scale[:, None] * found.home.spread) @ free
    rates = dict(zip(model.joint_names, assembly.follow @ velocity[:-6], strict=True))
    v = np.zeros(tree.nv)
    for k, joint in enumerate(tree.names[1:]):
        v[k] = rates.get(joint, 0.0)
    energy = pin.computeKineticEnergy(tree, state, pin.neutral(tree), v)
    body = model.bodies[1].inertia
    rotation = assembly.home.rotation[0]
    arm, spin = rotation @ body.com, velocity[-3:]
    centre = velocity[-6:-3] + np.cross(spin, arm)
    tensor = rotation @ body.tensor @ rotation.T
    energy += 0.5 * (body.mass * centre @ centre + spin @ tensor @ spin)
    energy += 0.5 * sum(j.armature * rates[j.name] ** 2 for j in model.joints)
    matrix = mass_matrix(assembly, found.home.spread)
    assert 0.5 * free @ matrix @ free == pytest.approx(energy, rel=1e-9)
    assert file.is_file()


def test_four_bar(tmp_path):
    model, mobility = load_model(tiny_robots.four_bar().write(tmp_path))
    assert mobility.dof == 1
    assert mobility.overconstrained == (('hinge1', 'hinge2'),)


def test_flat_four_bar_is_singular_at_home(tmp_path):
    mobility = analyse(read_model(tiny_robots.four_bar(lift=0.0).write(tmp_path)))
    assert mobility.dof == 1
    assert any('home is singular' in fault.problem for fault in mobility.faults)


def test_infinitesimal_motion_is_no_freedom(tmp_path):
    """Bars in line may move across to first order; that is a singular home and no mobility."""
    mobility = analyse(read_model(tiny_robots.stretched().write(tmp_path)))
    problems = [fault.problem for fault in mobility.faults]
    assert any('home is singular' in p or 'first order only' in p for p in problems), problems


def test_closures_between_base_and_platform_are_a_leg_without_joints(tmp_path):
    model, mobility = load_model(tiny_robots.table().write(tmp_path))
    assert mobility.independent == PLANAR
    assert model.legs[-1].joints == ()
    assert [model.closures[c].name for c in model.legs[-1].closures] == ['foot0', 'foot1', 'foot2']


def test_mimic_joints_are_no_coordinates(tmp_path):
    model, mobility = load_model(tiny_robots.scissors().write(tmp_path))
    assert mobility.dof == 1
    (leg,) = mobility.legs
    assert (leg.coordinates, leg.rank, leg.equations) == (1, 1, 12)
    assert mobility.redundant == 6


def test_legs_that_hang_from_the_platform(tmp_path):
    model, mobility = load_model(tiny_robots.hanging().write(tmp_path))
    assert sorted(mobility.independent) == [2, 5]
    assert model.joints[0].parent == 1


def test_loops_inside_a_leg_come_before_those_between_legs():
    _, mobility = load_model('orthoglide')
    shared = {group.closures: group.equations for group in mobility.overconstraints}
    loops = [names for names in shared if len(names) == 1]
    assert len(loops) == 3
    assert all(shared[names] == 3 for names in loops)
    assert len(shared) == 4


def test_independent_of_the_file_is_kept_in_order(tmp_path):
    robot = Edited('three_rps')
    robot.data['independent'] = ['platform_pitch', 'platform_z', 'platform_roll']
    _, mobility = load_model(robot.write(tmp_path))
    assert mobility.independent == (4, 2, 3)


def test_independent_names_joints_of_the_chain_even_if_it_is_turned(tmp_path):
    robot = Edited('three_rps')
    robot.add('<link name="turned"/><joint name="turned_fixed" type="fixed">'
              '<parent link="base_link"/><child link="turned"/>'
              '<origin xyz="0 0.1 0" rpy="1.5707963267948966 0 0"/></joint>')
    robot.data.update(base='turned', independent=['platform_z', 'platform_roll', 'platform_pitch'])
    _, mobility = load_model(robot.write(tmp_path))
    assert sorted(mobility.independent) == [1, 3, 5]
    robot.data['independent'] = ['platform_x', 'platform_y', 'platform_yaw']
    with pytest.raises(DescriptionError, match='do not fix the other motions'):
        load_model(robot.write(tmp_path))


@pytest.mark.parametrize('size', [1e-3, 1.0, 1e3])
def test_ranks_do_not_depend_on_the_unit_of_length(size, tmp_path):
    robot = Edited('three_rps')
    for node in robot.root.iter('origin'):
        node.set('xyz', ' '.join(str(size * float(x)) for x in node.get('xyz').split()))
    for node in robot.root.iter('inertia'):
        for key in node.attrib:
            node.set(key, str(size**2 * float(node.get(key))))
    robot.data.pop('armature', None)
    _, mobility = load_model(robot.write(tmp_path))
    _, original = load_model('three_rps')
    assert mobility.dof == 3
    assert mobility.actuation_condition == pytest.approx(original.actuation_condition, rel=1e-6)
    for mine, theirs in zip(mobility.legs, original.legs, strict=True):
        assert mine.condition == pytest.approx(theirs.condition, rel=1e-6)


def test_joints_in_any_order_of_the_file(tmp_path):
    """URDF does not ask for parents first; the model keeps the file's order all the same."""
    robot = Edited('gough_stewart')
    joints = robot.root.findall('joint')
    for joint in joints:
        robot.root.remove(joint)
    robot.root.extend(reversed(joints))
    model, mobility = load_model(robot.write(tmp_path))
    original = read_model('gough_stewart')
    assert model.joint_names == original.joint_names[::-1]
    assert mobility.dof == 6


def test_assemble_closes_the_loops_again():
    assembly = Assembly(read_model('delta'))
    home = assembly.home[np.zeros(5, dtype=int)]
    random = np.random.default_rng(4)
    step = random.standard_normal((5, assembly.scale.size))
    away = assembly.moved(home, 0.02 * assembly.length * step)
    assert np.linalg.norm(assembly.scaled(away)[0], axis=1).min() > 1e-3
    at, residual = assemble(assembly, away)
    assert residual.max() < 1e-12


@pytest.mark.parametrize(
    ('values', 'rank', 'clear'),
    [
        ([3.0, 2.0, 1.0], 3, True),
        ([1.0, 0.1, 1e-16], 2, True),
        ([1.0, 0.01, 1e-6, 1e-6], 2, True),  # noise of a description with six digits
        ([1.0, 2e-4], 2, True),
        ([1.0, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7], 4, False),
        ([0.0, 0.0], 0, True),
        ([], 0, True),
    ],
)
def test_rank_by_the_widest_gap(values, rank, clear):
    judged = rank_of(np.array(values))
    assert judged.clear == clear
    if clear:
        assert judged.value == rank


def tilted(tilt):
    """A four-bar one of whose hinges is not quite parallel to the others."""
    robot = tiny_robots.four_bar()
    robot.text = [
        text.replace('<axis xyz="0 0 1"/>', f'<axis xyz="{tilt} {tilt / 2} 1"/>')
        if 'name="rocker"' in text
        else text
        for text in robot.text
    ]
    return robot


@pytest.mark.parametrize('tilt', [1e-10, 1e-8, 1e-7, 1e-6])
def test_rounded_digits_do_not_lock_redundant_closures(tilt, tmp_path):
    _, mobility = load_model(tilted(tilt).write(tmp_path))
    assert (mobility.dof, mobility.redundant) == (1, 3)


@pytest.mark.parametrize('tilt', [1e-5, 1e-4, 3e-4, 1e-3])
def test_a_real_misfit_is_refused(tilt, tmp_path):
    mobility = analyse(read_model(tilted(tilt).write(tmp_path)))
    assert mobility.faults


def test_a_small_misfit_is_said_to_be_one(tmp_path):
    mobility = analyse(read_model(tilted(1e-3).write(tmp_path)))
    assert mobility.dof == 0
    assert any('not quite parallel' in fault.problem for fault in mobility.faults)
