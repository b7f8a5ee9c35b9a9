"""Special robots, each with something that a general engine must get right; see ``ODD``.

Built with ``odd_robots.Odd``: frames in any attitude, full inertia tensors, axes of any length.
"""

import numpy as np
from odd_robots import Odd, random_six

X, Y, Z = np.eye(3)


def unit(v):
    return np.asarray(v, float) / np.linalg.norm(v)


def around(robot, count, radius, height=0.0, phase=0.0, spread=0.08):
    angles = phase + 2.0 * np.pi * np.arange(count) / count
    return [robot.point([radius * np.cos(a), radius * np.sin(a), height], spread) for a in angles]


def ups(robot, name, foot, tip, root='base', far='platform', flip=False, drive='slide'):
    """A telescopic leg; ``flip`` names the far side's frame first in the closure."""
    foot, tip = np.asarray(foot, float), np.asarray(tip, float)
    along = unit(tip - foot)
    first = unit(np.cross(along, robot.direction()))
    cross = robot.body(f'{name}_u1', 'revolute', root, foot, first, 0.2,
                       drive=drive == 'first')
    lower = robot.body(f'{name}_u2', 'revolute', cross, foot, np.cross(along, first), 1.0)
    upper = robot.body(f'{name}_slide', 'prismatic', lower, 0.4 * foot + 0.6 * tip, along, 0.8,
                       drive=drive in ('slide', 'first'))
    ends = (far, upper) if flip else (upper, far)
    robot.close(f'{name}_ball', 'ball', *ends, tip)
    return lower, upper


def excavator_legs(seed, scale=1.0):
    """6-RUS whose cranks are pushed by cylinders: a loop in each leg, drives in a side branch."""
    robot = Odd(seed, scale=scale)
    feet, tips = around(robot, 6, 0.7), around(robot, 6, 0.3, 0.9, 0.5)
    for k, (foot, tip) in enumerate(zip(feet, tips)):
        name = f'leg{k}'
        out = unit([*foot[:2], 0.0])
        axis = unit(np.cross(Z, out) + 0.1 * robot.direction())
        elbow = foot + 0.35 * unit(out + 0.8 * Z)
        crank = robot.body(f'{name}_crank', 'revolute', 'base', foot, axis, 1.0)
        low = foot + 0.25 * out - 0.15 * Z
        low -= axis * (axis @ (low - foot))
        high = foot + 0.6 * (elbow - foot)
        high -= axis * (axis @ (high - foot))
        barrel = robot.body(f'{name}_swing', 'revolute', 'base', low, axis, 0.6)
        rod = robot.body(f'{name}_push', 'prismatic', barrel, low, high - low, 0.4, drive=True)
        # Revolute closure of a planar loop: three of its five equations are redundant.
        robot.close(f'{name}_pin', 'revolute', *((rod, crank) if k % 2 else (crank, rod)), high,
                    axis)
        along = unit(tip - elbow)
        first = unit(np.cross(along, robot.direction()))
        cross = robot.body(f'{name}_a', 'revolute', crank, elbow, first, 0.1)
        arm = robot.body(f'{name}_b', 'revolute', cross, elbow, np.cross(along, first), 0.7)
        robot.close(f'{name}_ball', 'ball', *((arm, 'platform') if k % 3 else ('platform', arm)),
                    tip)
    return robot


def parallelogram_delta(seed, scale=1.0):
    """3-R(Pa)R: parallelograms of revolute joints, hinged to the platform; much redundancy."""
    robot = Odd(seed, coordinates=('x', 'y', 'z'), scale=scale)
    robot_home = np.array([0.0, 0.0, 0.6])
    for k in range(3):
        a = 2.0 * np.pi * k / 3 + 0.1
        out, side = np.array([np.cos(a), np.sin(a), 0.0]), np.array([-np.sin(a), np.cos(a), 0.0])
        foot = 0.3 * out + 0.05 * k * Z
        elbow = foot + 0.35 * unit(out + 0.4 * Z)
        tip = robot_home + 0.1 * out
        arm = robot.body(f'l{k}_arm', 'revolute', 'base', foot, side, 1.0, drive=True)
        carrier = robot.body(f'l{k}_carrier', 'revolute', arm, elbow, side, 0.2)
        n = unit(np.cross(side, tip - elbow))
        half = 0.06 * side
        rod_a = robot.body(f'l{k}_rod_a', 'revolute', carrier, elbow + half, n, 0.3)
        rod_b = robot.body(f'l{k}_rod_b', 'revolute', carrier, elbow - half, n, 0.3)
        bar = robot.body(f'l{k}_bar', 'revolute', rod_a, tip + half, n, 0.2)
        robot.close(f'l{k}_inner', 'revolute', bar, rod_b, tip - half, n)
        robot.close(f'l{k}_outer', 'revolute', 'platform', bar, tip, side)
    return robot


def ball_parallelogram(seed, scale=1.0):
    """Linear Delta with rods on universal joints and balls: two balls in each leg."""
    robot = Odd(seed, coordinates=('x', 'y', 'z'), scale=scale)
    for k in range(3):
        a = 2.0 * np.pi * k / 3
        out, side = np.array([np.cos(a), np.sin(a), 0.0]), np.array([-np.sin(a), np.cos(a), 0.0])
        at = 0.5 * out + 0.05 * k * Z
        tip = 0.1 * out + 0.5 * Z
        car = robot.body(f'l{k}_car', 'prismatic', 'base', at, Z - 0.1 * k * out, 1.0, drive=True)
        along = unit(tip - at)
        for s, half in (('a', 0.07 * side), ('b', -0.07 * side)):
            cross = robot.body(f'l{k}_{s}1', 'revolute', car, at + half, side, 0.05)
            rod = robot.body(f'l{k}_{s}2', 'revolute', cross, at + half, np.cross(along, side),
                             0.3)
            robot.close(f'l{k}_{s}', 'ball', *((rod, 'platform') if k else ('platform', rod)),
                        tip + half)
    return robot


def schoenflies(seed, scale=1.0):
    """Four PRRR legs with vertical axes, all welded: x, y, z, yaw; two thirds redundant."""
    robot = Odd(seed, coordinates=('x', 'y', 'z', 'yaw'), scale=scale)
    feet, tips = around(robot, 4, 0.7), around(robot, 4, 0.2, 0.9, 0.3)
    for k, (foot, tip) in enumerate(zip(feet, tips)):
        elbow = robot.point(0.5 * (foot + tip) + 0.2 * np.cross(Z, unit(tip - foot)), 0.03)
        slide = robot.body(f'l{k}_z', 'prismatic', 'base', foot, -Z, 1.0, drive=k < 2)
        one = robot.body(f'l{k}_1', 'revolute', slide, foot, Z, 0.8, drive=k in (1, 2, 3))
        two = robot.body(f'l{k}_2', 'revolute', one, elbow, -Z, 0.6)
        end = robot.body(f'l{k}_3', 'revolute', two, tip, Z, 0.3)
        robot.close(f'l{k}_weld', 'weld', *((end, 'platform') if k % 2 else ('platform', end)),
                    tip)
    robot.actuators.remove('l1_z')
    robot.armature.pop('l1_z')
    return robot


def sleeve(seed, scale=1.0):
    """5-UPS about a passive RRR leg whose rod slides and turns in the platform: five freedoms."""
    robot = Odd(seed, scale=scale)
    feet, tips = around(robot, 5, 0.6), around(robot, 5, 0.3, 0.9, 0.4)
    for k, (foot, tip) in enumerate(zip(feet, tips)):
        ups(robot, f'leg{k}', foot, tip, flip=bool(k % 2))
    link = 'base'
    for k, at in enumerate(([0, 0, 0.1], [0.1, 0.05, 0.4], [-0.05, 0.1, 0.6])):
        link = robot.body(f'mid{k}', 'revolute', link, at, robot.direction(), 0.7)
    robot.close('sleeve', 'cylindrical', link, 'platform', [0.02, 0.0, 0.88], [0.1, 0.2, 1.0])
    return robot


def legs_on_legs(seed, scale=1.0):
    """6-UPS, one leg of which pushes another leg's cylinder, one another's rod."""
    robot = Odd(seed, scale=scale)
    feet, tips = around(robot, 6, 0.6), around(robot, 6, 0.35, 0.9, 0.5)
    for k in range(4):
        lower, upper = ups(robot, f'leg{k}', feet[k], tips[k], drive='slide')
        if k == 0:
            host = upper
        if k == 2:
            cylinder = lower
    ups(robot, 'leg4', feet[4], 0.3 * feet[0] + 0.7 * tips[0] + [0.02, 0.03, 0.01], far=host)
    at = 0.5 * feet[2] + 0.5 * tips[2] + [0.05, 0.0, 0.02]
    ups(robot, 'leg5', feet[5], at, far=cylinder, flip=True)
    return robot


def pivot(seed, scale=1.0):
    """3-UPS about a ball between platform and base, platform first: three rotations."""
    robot = Odd(seed, scale=scale)
    feet, tips = around(robot, 3, 0.6), around(robot, 3, 0.35, 0.9, 0.9)
    for k, (foot, tip) in enumerate(zip(feet, tips)):
        ups(robot, f'leg{k}', foot, tip)
    robot.close('ball', 'ball', 'platform', 'base', [0.05, -0.02, 0.7])
    robot.extra['independent'] = ['platform_roll', 'platform_pitch', 'platform_yaw']
    return robot


def door(seed, scale=1.0):
    """A platform hinged to the base and pushed by a UPS leg: one freedom."""
    robot = Odd(seed, scale=scale)
    ups(robot, 'leg', [0.6, 0.1, 0.0], [0.3, 0.2, 0.8])
    robot.close('hinge', 'revolute', 'base', 'platform', [-0.1, 0.0, 0.8], [0.2, 1.0, 0.3])
    return robot


def two_arms(seed, scale=1.0):
    """Two arms of six joints welded to one load, three drives each, not on the first joints."""
    robot = Odd(seed, scale=scale)
    for name, foot, driven in (('a', [-0.6, 0, 0], (1, 2, 3)), ('b', [0.6, 0.1, 0], (0, 2, 4))):
        foot, tip = np.array(foot, float), np.array([0.1, 0.0, 0.9])
        link = 'base'
        for k, axis in enumerate((Z, Y, Y, X, Y, Z)):
            at = robot.point(foot + k / 6.0 * (tip - foot) + 0.25 * np.sin(0.5 * k) * Y, 0.05)
            link = robot.body(f'{name}{k}', 'revolute', link, at,
                              axis + 0.3 * robot.direction(), 1.0, drive=k in driven)
        robot.close(f'{name}_grip', 'weld', *((link, 'platform') if name == 'a' else
                                              ('platform', link)), tip)
    return robot


def planar_welded(seed, scale=1.0):
    """Planar 3-RRR with the last hinge in the tree and welds, in a tilted plane."""
    robot = Odd(seed, coordinates=('x', 'y', 'yaw'), scale=scale)
    for k, (foot, tip) in enumerate(zip(around(robot, 3, 0.6), around(robot, 3, 0.15, 0.9, 0.2))):
        elbow = 0.5 * (foot + tip) + 0.25 * np.cross(Z, unit((tip - foot) * [1, 1, 0]))
        one = robot.body(f'l{k}_1', 'revolute', 'base', foot, Z * (-1) ** k, 0.8, drive=k != 1)
        two = robot.body(f'l{k}_2', 'revolute', one, elbow, Z, 0.6, drive=k == 1)
        end = robot.body(f'l{k}_3', 'revolute', two, tip, Z, 0.2)
        robot.close(f'l{k}_weld', 'weld', end, 'platform', tip)
    return robot


def five_bar(seed, scale=1.0):
    """Planar five-bar whose platform is one of the far bars: two freedoms, dependent yaw."""
    robot = Odd(seed, coordinates=('x', 'y', 'yaw'), scale=scale)
    left = robot.body('left', 'revolute', 'base', [-0.3, 0, 0.1], Z, 0.8, drive=True)
    right = robot.body('right', 'revolute', 'base', [0.3, 0, 0.3], -Z, 0.8, drive=True)
    far = robot.body('far', 'revolute', right, [0.45, 0.4, 0.4], Z, 0.5)
    robot.close('elbow', 'revolute', left, 'platform', [-0.4, 0.45, 0.2], Z)
    robot.close('tip', 'revolute', 'platform', far, [0.05, 0.8, 0.3], -Z)
    return robot


def slider_crank(seed, scale=1.0):
    """A piston as platform, driven by a crank: one freedom."""
    robot = Odd(seed, coordinates=('x',), scale=scale, home=(0.9, 0.0, 0.0))
    crank = robot.body('crank', 'revolute', 'base', [0, 0, 0], Z, 0.8, drive=True)
    rod = robot.body('rod', 'revolute', crank, [0.2, 0.3, 0.05], Z, 0.6)
    robot.close('pin', 'revolute', rod, 'platform', [0.9, 0.05, 0.1], Z)
    guide = robot.body('guide', 'prismatic', 'base', [0.9, 0, 0], X, 0.1)
    robot.close('guided', 'weld', 'platform', guide, [0.9, 0.02, 0.0])
    return robot


def geared(seed, scale=1.0):
    """6-UPS with geared second stages, rotors, and one crank that follows another leg's slide."""
    robot = Odd(seed, scale=scale)
    feet, tips = around(robot, 6, 0.6), around(robot, 6, 0.35, 0.9, 0.5)
    for k, (foot, tip) in enumerate(zip(feet, tips)):
        name = f'leg{k}'
        along = unit(tip - foot)
        first = unit(np.cross(along, robot.direction()))
        cross = robot.body(f'{name}_u1', 'revolute', 'base', foot, first, 0.2)
        lower = robot.body(f'{name}_u2', 'revolute', cross, foot, np.cross(along, first), 1.0)
        middle = robot.body(f'{name}_slide', 'prismatic', lower, foot + 0.3 * along, along, 0.8,
                            drive=True)
        upper = robot.body(f'{name}_geared', 'prismatic', middle, foot + 0.6 * along, along, 0.4,
                           (f'{name}_slide', 0.5 + 0.1 * k, 0.05 * (k - 2)))
        robot.body(f'{name}_rotor', 'revolute', 'base' if k % 2 else lower, robot.point(foot),
                   robot.direction(), 0.1, (f'{name}_geared', -6.0, 0.4, 1.0 / scale))
        robot.close(f'{name}_ball', 'ball', upper, 'platform', tip)
    # A flywheel on the platform that follows a slide, and one on a leg that follows another's.
    robot.body('flywheel', 'revolute', 'platform', [0, 0, 1.0], robot.direction(), 0.3,
               ('leg2_slide', 9.0, -0.3, 1.0 / scale))
    robot.body('stranger', 'revolute', 'leg3_u2_link', robot.point(feet[3]), robot.direction(),
               0.3, ('leg4_u1', 3.0, 1.0))
    return robot


def triangles(seed, scale=1.0):
    """6-UPS with rigid triangles on base, platform and legs, and masses on fixed links."""
    robot = Odd(seed, scale=scale)
    feet, tips = around(robot, 6, 0.6), around(robot, 6, 0.35, 0.9, 0.5)
    for k, (foot, tip) in enumerate(zip(feet, tips)):
        lower, upper = ups(robot, f'leg{k}', foot, tip)
        if k == 1:
            robot.triangle('on_leg', lower, robot.point(foot))
        robot.fixed(f'weight{k}', upper, robot.point(tip), mass=0.4)
    robot.triangle('on_base', 'base', [0.1, 0.1, 0.1])
    robot.triangle('on_platform', 'platform', [0.1, 0.1, 1.0])
    robot.fixed('load', 'platform', [0.1, 0.0, 1.1], mass=5.0)
    return robot


def two_drives(seed, scale=1.0):
    """3-UPS with the first axis of each universal and the slide driven; reversed closures."""
    robot = Odd(seed, coordinates=('z', 'x', 'y', 'roll', 'yaw', 'pitch'), scale=scale)
    feet, tips = around(robot, 3, 0.6), around(robot, 3, 0.35, 0.9, 0.9)
    for k, (foot, tip) in enumerate(zip(feet, tips)):
        ups(robot, f'leg{k}', foot, tip, flip=k != 1, drive='first')
    return robot


def feet_on_tables(seed, scale=1.0):
    """C5-like: six slides whose tips lie in faces of the platform (plane closures)."""
    robot = Odd(seed, scale=scale)
    places = [([0.5, 0.2, 0.8], X), ([0.5, -0.2, 1.0], X), ([0.2, 0.5, 0.9], Y),
              ([0.15, 0.1, 0.4], Z), ([-0.2, 0.15, 0.4], Z), ([0.0, -0.25, 0.4], Z)]
    for k, (at, normal) in enumerate(places):
        n = unit(normal + 0.2 * robot.direction())
        at = robot.point(at, 0.04)
        slide = robot.body(f'p{k}', 'prismatic', 'base', at, n, 1.0, drive=True)
        robot.close(f'face{k}', 'plane', *((slide, 'platform') if k % 2 else
                                          ('platform', slide)), at, n)
    return robot


def wedge(seed, scale=1.0):
    """A platform on a rail of the base (cylindrical closure), with two UPS legs: two freedoms."""
    robot = Odd(seed, scale=scale)
    ups(robot, 'one', [0.6, 0.1, 0.0], [0.3, 0.2, 0.8])
    ups(robot, 'two', [-0.5, 0.2, 0.1], [-0.2, 0.3, 0.9], flip=True)
    robot.close('rail', 'cylindrical', 'platform', 'base', [0.0, 0.0, 0.8], [1.0, 0.2, 0.3])
    return robot


ODD = {
    'excavator_legs': excavator_legs, 'parallelogram_delta': parallelogram_delta,
    'ball_parallelogram': ball_parallelogram, 'schoenflies': schoenflies, 'sleeve': sleeve,
    'legs_on_legs': legs_on_legs, 'pivot': pivot, 'door': door, 'two_arms': two_arms,
    'planar_welded': planar_welded, 'five_bar': five_bar, 'slider_crank': slider_crank,
    'geared': geared, 'triangles': triangles, 'two_drives': two_drives,
    'feet_on_tables': feet_on_tables, 'wedge': wedge, 'random_six': random_six,
}
