"""Robots that no family makes: every way of closing a loop that a description can express.

Each is built at home with the generator's builder, irregular in geometry and inertia, so that
no symmetry hides a sign. The keys of ``STRANGE`` say what is strange about them.
"""

import numpy as np

from parallel_dynamics.families.builder import BASE, PLATFORM, Drive, Limits, RobotBuilder
from parallel_dynamics.families.geometry import X, Y, Z, distance, frame, unit
from parallel_dynamics.families.legs import add_universal, level_across
from parallel_dynamics.families.shapes import box, disc, tube
from parallel_dynamics.families.variation import Variation
from parallel_dynamics.families.writing import RobotText, Writer

HOME = np.array([0.03, -0.02, 0.8])
WIDE = Limits(-2.0, 2.0, 1000.0, 10.0)
DRIVE = Drive(20.0, 3.0, 0.8)


def _new(seed, **platform):
    vary = Variation(seed)
    robot = RobotBuilder(vary)
    robot.base(disc(-0.05 * Z, Z, 0.6, 0.03, 0.0, 'steel'))
    robot.platform(HOME, disc(HOME, Z, 0.25, 0.05, 20.0, 'blue'), **platform)
    return robot, vary


def _anchors(vary, count, low=0.5, high=0.25):
    """Feet on the base and tips on the platform, like a Stewart platform's, irregular."""
    feet, tips = [], []
    for k in range(count):
        pair, side = divmod(k, 2)
        a = 2.0 * np.pi * pair / ((count + 1) // 2) + (0.25 if side else -0.25)
        b = 2.0 * np.pi * pair / ((count + 1) // 2) + (0.8 if side else -0.8)
        feet.append(vary.point([low * np.cos(a), low * np.sin(a), 0.0], low))
        tips.append(vary.point(HOME + [high * np.cos(b), high * np.sin(b), 0.0], high))
    return feet, tips


def _rod(start, end, mass=2.0):
    return tube(start, end, 0.02, mass, 'carbon')


def _ups(robot, vary, name, foot, tip, root=BASE, far=PLATFORM, drive=DRIVE):
    """A telescopic leg that stands on ``root`` and ends with a ball on ``far``."""
    along, length = unit(tip - foot), distance(foot, tip)
    middle = foot + 0.5 * length * along
    add_universal(
        robot, f'{name}_cross', f'{name}_lower', (f'{name}_u1', f'{name}_u2'), root, foot, along,
        vary.direction(level_across(along)), (0.3, 0.05), _rod(foot, middle))
    robot.body(
        f'{name}_upper', 'prismatic', f'{name}_slide', f'{name}_lower', middle, along, WIDE,
        _rod(middle, tip, 1.5), drive=drive)
    robot.close(
        f'{name}_ball', 'ball', (f'{name}_tip', f'{name}_upper'), (f'{name}_seat', far), tip)


def hanging_legs(seed):
    """6-UPS of which three legs hang from the platform and end with a ball on the base."""
    robot, vary = _new(seed)
    feet, tips = _anchors(vary, 6)
    for k, (foot, tip) in enumerate(zip(feet, tips)):
        if k % 2:
            _ups(robot, vary, f'leg{k}', tip, foot, PLATFORM, BASE)
        else:
            _ups(robot, vary, f'leg{k}', foot, tip)
    return robot


def cut_in_the_middle(seed):
    """3-UCU: half of each leg stands on the base, half hangs from the platform."""
    robot, vary = _new(seed)
    feet, tips = _anchors(vary, 3)
    for k, (foot, tip) in enumerate(zip(feet, tips)):
        along = unit(tip - foot)
        middle = 0.5 * (foot + tip)
        axes = frame(along, x=level_across(along))
        robot.body(f'leg{k}_a', 'revolute', f'leg{k}_1', BASE, foot, axes[:, 0], WIDE,
                   _rod(foot, foot + 0.1 * axes[:, 1], 0.4), drive=DRIVE)
        robot.body(f'leg{k}_b', 'revolute', f'leg{k}_2', f'leg{k}_a', foot, axes[:, 1], WIDE,
                   _rod(foot, middle), drive=DRIVE)
        robot.body(f'leg{k}_c', 'revolute', f'leg{k}_3', PLATFORM, tip,
                   vary.direction(axes[:, 0] + axes[:, 1]), WIDE,
                   _rod(tip, tip + 0.1 * axes[:, 1], 0.4))
        robot.body(f'leg{k}_d', 'revolute', f'leg{k}_4', f'leg{k}_c', tip, axes[:, 1], WIDE,
                   _rod(tip, middle))
        robot.close(f'leg{k}_sleeve', 'cylindrical', (f'leg{k}_in', f'leg{k}_d'),
                    (f'leg{k}_out', f'leg{k}_b'), middle, axes)
    return robot


def on_a_table(seed):
    """5-UPS whose platform rests with one point on a plane of the base: five freedoms."""
    robot, vary = _new(seed, independent=('x', 'y', 'yaw', 'pitch', 'roll'))
    feet, tips = _anchors(vary, 6)
    for k in range(5):
        _ups(robot, vary, f'leg{k}', feet[k], tips[k])
    normal = vary.direction(Z)
    robot.close('table', 'plane', ('foot_of_platform', PLATFORM), ('table_top', BASE),
                HOME + [0.02, 0.05, -0.03], frame(normal, x=level_across(normal)))
    return robot


def with_a_strut(seed):
    """5-UPS and a rigid passive strut: five freedoms, and no list of independent ones."""
    robot, vary = _new(seed)
    feet, tips = _anchors(vary, 6)
    for k in range(5):
        _ups(robot, vary, f'leg{k}', feet[k], tips[k])
    along = unit(tips[5] - feet[5])
    add_universal(
        robot, 'strut_cross', 'strut', ('strut_u1', 'strut_u2'), BASE, feet[5], along,
        level_across(along), (0.3, 0.05), _rod(feet[5], tips[5]))
    robot.close('strut_ball', 'ball', ('strut_tip', 'strut'), ('strut_seat', PLATFORM), tips[5])
    return robot


def four_freedoms(seed):
    """4-UPS about a passive PPPR leg welded to the platform: x, y, z and yaw."""
    robot, vary = _new(seed, coordinates=('x', 'y', 'z', 'yaw'))
    feet, tips = _anchors(vary, 4)
    tips[2][2] += 0.08
    feet[3][2] += 0.1
    for k in range(4):
        _ups(robot, vary, f'leg{k}', feet[k], tips[k])
    at = HOME + [0.0, 0.0, 0.1]
    for name, parent, axis in (('px', BASE, X), ('py', 'px', Y), ('pz', 'py', Z)):
        robot.body(name, 'prismatic', f'{name}_joint', parent, at, axis, WIDE,
                   box(at, [0.1, 0.1, 0.1], 1.0, 'steel'))
    robot.body('turn', 'revolute', 'turn_joint', 'pz', at, Z, WIDE,
               box(at, [0.1, 0.1, 0.1], 1.0, 'steel'))
    robot.close('weld', 'weld', ('turn_tip', 'turn'), ('platform_top', PLATFORM), at)
    return robot


def two_stage_telescopes(seed):
    """6-UPS whose legs have a second stage geared to the first (mimic)."""
    robot, vary = _new(seed)
    feet, tips = _anchors(vary, 6)
    for k, (foot, tip) in enumerate(zip(feet, tips)):
        along, length = unit(tip - foot), distance(foot, tip)
        low, high = foot + 0.4 * length * along, foot + 0.7 * length * along
        add_universal(
            robot, f'leg{k}_cross', f'leg{k}_lower', (f'leg{k}_u1', f'leg{k}_u2'), BASE, foot,
            along, vary.direction(level_across(along)), (0.3, 0.05), _rod(foot, low))
        robot.body(f'leg{k}_middle', 'prismatic', f'leg{k}_slide', f'leg{k}_lower', low, along,
                   WIDE, _rod(low, high, 1.5), drive=DRIVE)
        robot.body(f'leg{k}_upper', 'prismatic', f'leg{k}_geared', f'leg{k}_middle', high, along,
                   WIDE, _rod(high, tip, 1.0))
        robot.close(f'leg{k}_ball', 'ball', (f'leg{k}_tip', f'leg{k}_upper'),
                    (f'leg{k}_seat', PLATFORM), tip)
    return robot


def serial_arm(seed):
    """One leg of six actuated joints, welded to the platform."""
    robot, vary = _new(seed)
    points = [np.zeros(3), [0, 0, 0.3], [0.1, 0, 0.6], [0.2, 0.1, 0.7], [0.1, 0.1, 0.75], HOME]
    axes = [Z, Y, Y, X, Y, Z]
    parent = BASE
    for k in range(6):
        at = vary.point(points[k], 0.1)
        end = np.asarray(points[k + 1] if k < 5 else HOME, float)
        robot.body(f'link{k}', 'revolute', f'axis{k}', parent, at, vary.direction(axes[k]), WIDE,
                   _rod(at, end + [0.02, 0.03, 0.01], 3.0), drive=DRIVE)
        parent = f'link{k}'
    robot.close('flange', 'weld', ('flange_a', parent), ('flange_b', PLATFORM), HOME)
    return robot


def hinged_tips(seed):
    """6-UPS with the balls made of two revolute joints and a revolute closure."""
    robot, vary = _new(seed)
    feet, tips = _anchors(vary, 6)
    for k, (foot, tip) in enumerate(zip(feet, tips)):
        along, length = unit(tip - foot), distance(foot, tip)
        middle = foot + 0.5 * length * along
        axes = frame(along, x=level_across(along))
        add_universal(
            robot, f'leg{k}_cross', f'leg{k}_lower', (f'leg{k}_u1', f'leg{k}_u2'), BASE, foot,
            along, axes[:, 0], (0.3, 0.05), _rod(foot, middle))
        robot.body(f'leg{k}_upper', 'prismatic', f'leg{k}_slide', f'leg{k}_lower', middle, along,
                   WIDE, _rod(middle, tip, 1.5), drive=DRIVE)
        robot.body(f'leg{k}_c', 'revolute', f'leg{k}_4', f'leg{k}_upper', tip, axes[:, 0], WIDE,
                   _rod(tip, tip + 0.05 * axes[:, 1], 0.2))
        robot.body(f'leg{k}_d', 'revolute', f'leg{k}_5', f'leg{k}_c', tip, axes[:, 1], WIDE,
                   _rod(tip, tip + 0.05 * axes[:, 0], 0.2))
        robot.close(f'leg{k}_hinge', 'revolute', (f'leg{k}_tip', f'leg{k}_d'),
                    (f'leg{k}_seat', PLATFORM), tip, frame(vary.direction(along), x=axes[:, 0]))
    return robot


STRANGE = {
    'hanging_legs': hanging_legs,
    'cut_in_the_middle': cut_in_the_middle,
    'on_a_table': on_a_table,
    'with_a_strut': with_a_strut,
    'four_freedoms': four_freedoms,
    'two_stage_telescopes': two_stage_telescopes,
    'serial_arm': serial_arm,
    'hinged_tips': hinged_tips,
}


def write(name, folder, seed=0):
    """Write a strange robot's two files; return the path of its YAML."""
    robot = STRANGE[name](seed)
    robot.gravity = robot.vary.gravity(robot.gravity)
    writer = Writer(exact=True)
    urdf = writer.urdf(name, robot, [STRANGE[name].__doc__])
    for k in range(6):
        ratio = 0.6 + 0.1 * k
        urdf = urdf.replace(
            f'name="leg{k}_geared" type="prismatic">',
            f'name="leg{k}_geared" type="prismatic">\n'
            f'    <mimic joint="leg{k}_slide" multiplier="{ratio}"/>')
    text = RobotText(
        name, urdf, writer.yaml(name, f'{name}.urdf', robot, [STRANGE[name].__doc__], ''))
    return text.write(folder)[0]
