"""Small robots written out in a few lines, for tests of structure and mobility."""

from __future__ import annotations

from dataclasses import dataclass, field
import math
from pathlib import Path

import yaml

AXES = {'x': '1 0 0', 'y': '0 1 0', 'z': '0 0 1', 'roll': '1 0 0', 'pitch': '0 1 0',
        'yaw': '0 0 1'}  # fmt: skip
INERTIAL = (
    '<inertial><origin xyz="{com}"/><mass value="{mass}"/><inertia ixx="{i}" ixy="0" ixz="0" '
    'iyy="{i}" iyz="0" izz="{i}"/></inertial>'
)


@dataclass
class Tiny:
    """Collects links, joints and closures; `base` and `platform` are there from the start."""

    at: str = '0 0 0'
    coordinates: str = 'x y z yaw pitch roll'
    mass: float = 1.0
    text: list[str] = field(default_factory=list)
    closures: list[dict] = field(default_factory=list)
    actuators: list[str] = field(default_factory=list)
    extra: dict = field(default_factory=dict)

    def __post_init__(self):
        self.text.append('<link name="base"/>')
        names, parent = self.coordinates.split(), 'base'
        for name in names:
            child = 'platform' if name == names[-1] else f'platform_{name}_link'
            self.link(child, self.mass if child == 'platform' else 0.0)
            kind = 'prismatic' if name in 'xyz' else 'revolute'
            self.joint(f'platform_{name}', kind, parent, child, AXES[name], self.at)
            self.at, parent = '0 0 0', child

    def link(self, name, mass=1.0, com='0 0 0'):
        inertial = INERTIAL.format(com=com, mass=mass, i=0.1 * mass) if mass else ''
        self.text.append(f'<link name="{name}">{inertial}</link>')
        return name

    def joint(self, name, kind, parent, child, axis='0 0 1', xyz='0 0 0', rpy='0 0 0', more=''):
        axis = '' if kind == 'fixed' else f'<axis xyz="{axis}"/>'
        limit = '' if kind in ('fixed', 'continuous') else (
            '<limit lower="-9" upper="9" effort="9" velocity="9"/>')  # fmt: skip
        self.text.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/>{axis}{limit}{more}</joint>'
        )

    def body(self, joint, kind, parent, axis='0 0 1', xyz='0 0 0', mass=1.0, rpy='0 0 0', more=''):
        """Add a joint with its child link, named `<joint>_link`."""
        child = self.link(f'{joint}_link', mass)
        self.joint(joint, kind, parent, child, axis, xyz, rpy, more)
        return child

    def frame(self, name, parent, xyz='0 0 0', rpy='0 0 0'):
        self.link(name, 0.0)
        self.joint(f'{name}_fixed', 'fixed', parent, name, xyz=xyz, rpy=rpy)
        return name

    def close(self, name, kind, first, second):
        """Join frames (link, xyz) or (link, xyz, rpy)."""
        between = [
            self.frame(f'{name}_{side}', *where) for side, where in zip('ab', (first, second))
        ]
        self.closures.append({'name': name, 'type': kind, 'between': between})

    def write(self, folder: Path) -> Path:
        (folder / 'tiny.urdf').write_text(f'<robot name="tiny">{"".join(self.text)}</robot>')
        data = {
            'name': 'tiny',
            'urdf': 'tiny.urdf',
            'base': 'base',
            'platform': 'platform',
            'actuators': self.actuators,
            'closures': self.closures,
            **self.extra,
        }
        path = folder / 'tiny.yaml'
        path.write_text(yaml.safe_dump(data, sort_keys=False))
        return path


def four_bar(lift=0.5, length=1.0):
    """A planar four-bar in xy whose coupler is the platform: one freedom.

    Crank and rocker of one length stand at (0, 0) and (2, 0); their tips are ``lift`` high, so a
    lift of zero folds the linkage flat.
    """
    reach = (length**2 - lift**2) ** 0.5
    robot = Tiny(at=f'{reach} {lift} 0', coordinates='x y yaw')
    robot.body('crank', 'revolute', 'base')
    robot.body('rocker', 'revolute', 'base', xyz='2 0 0')
    robot.close('hinge1', 'revolute', ('crank_link', f'{reach} {lift} 0'), ('platform', '0 0 0'))
    robot.close('hinge2', 'revolute', ('rocker_link', f'{reach} {lift} 0'), ('platform', '2 0 0'))
    robot.actuators = ['crank']
    return robot


def wheel():
    """A platform welded to the end of a crank that may go round and round."""
    robot = Tiny(coordinates='x y yaw', at='1 0 0')
    robot.body('crank', 'continuous', 'base')
    robot.close('weld', 'weld', ('crank_link', '1 0 0'), ('platform', '0 0 0'))
    robot.actuators = ['crank']
    return robot


def stretched():
    """Two bars in line between fixed hinges: rigid, but for an infinitesimal motion across."""
    robot = Tiny(at='1 0 0')
    robot.body('bar1', 'revolute', 'base')
    robot.body('bar2', 'revolute', 'base', xyz='2 0 0')
    robot.close('weld', 'weld', ('bar1_link', '1 0 0'), ('platform', '0 0 0'))
    robot.close('hinge', 'revolute', ('bar2_link', '-1 0 0'), ('platform', '0 0 0'))
    robot.actuators = ['bar1']
    return robot


def table():
    """A platform on a plane of the base, pushed by two sliders and a crank: planar, 3 freedoms.

    Three plane closures join base and platform directly; the pushers' tips are held in faces of
    the platform by plane closures too.
    """
    robot = Tiny(coordinates='x y yaw')
    for i, at in enumerate(('1 0 0', '-1 1 0', '-1 -1 0')):
        robot.close(f'foot{i}', 'plane', ('platform', at), ('base', at))
    for i, (at, axis, turn) in enumerate(
        (('1 0.2 0', '1 0 0', '0 1.5707963267948966 0'),
         ('1 -0.3 0', '1 0 0', '0 1.5707963267948966 0'),
         ('0.1 1 0', '0 1 0', '-1.5707963267948966 0 0'))
    ):  # fmt: skip
        robot.body(f'push{i}', 'prismatic', 'base', axis, at)
        robot.close(f'face{i}', 'plane', (f'push{i}_link', '0 0 0'), ('platform', at, turn))
        robot.actuators.append(f'push{i}')
    return robot


def scissors():
    """A platform on two sliders that a mimic relation couples: moves along x only.

    One slider carries the drive, the other follows it; both are welded to the platform.
    """
    robot = Tiny(coordinates='x')
    robot.body('lead', 'prismatic', 'base', '1 0 0', '0 1 0')
    robot.body('follow', 'prismatic', 'base', '-1 0 0', '0 -1 0',
               more='<mimic joint="lead" multiplier="-1"/>')  # fmt: skip
    robot.close('weld1', 'weld', ('lead_link', '0 0 0'), ('platform', '0 1 0'))
    robot.close('weld2', 'weld', ('follow_link', '0 0 0'), ('platform', '0 -1 0'))
    robot.actuators = ['lead']
    return robot


def hanging():
    """A platform on a pole of the base, driven by two legs that hang from it: lifts and turns."""
    robot = Tiny(coordinates='z yaw', at='0 0 1')
    robot.close('pole', 'cylindrical', ('platform', '0 0 0'), ('base', '0 0 1'))
    for i, (x, y) in enumerate(((0.3, 0.2), (-0.3, 0.2))):
        robot.body(f'leg{i}_roll', 'revolute', 'platform', '1 0 0', f'{x} 0 0', mass=0.0)
        robot.body(f'leg{i}_pitch', 'revolute', f'leg{i}_roll_link', '0 1 0')
        robot.body(f'leg{i}_slide', 'prismatic', f'leg{i}_pitch_link', '0 0 1')
        tip, foot = (f'leg{i}_slide_link', f'0 {y} -1'), ('base', f'{x} {y} 0')
        robot.close(f'foot{i}', 'ball', tip, foot)
        robot.actuators.append(f'leg{i}_slide')
    return robot


def slider_crank():
    """A slider that drives a crank through the platform: dead where crank and rod are in line."""
    robot = Tiny(coordinates='x y yaw', at='0.6 0.8 0')
    robot.body('crank', 'revolute', 'base')
    robot.body('slide', 'prismatic', 'base', '1 0 0', '2.6 0.8 0')
    robot.close('hinge1', 'revolute', ('crank_link', '0.6 0.8 0'), ('platform', '0 0 0'))
    robot.close('hinge2', 'revolute', ('slide_link', '0 0 0'), ('platform', '2 0 0'))
    robot.actuators = ['slide']
    return robot


def merged_bodies():
    """A four-bar of massless links with weights bolted on, whose axes lie across their frames."""
    robot = Tiny(coordinates='x y yaw', at='0.8 0.6 0')
    cos, sin = math.cos(0.4), math.sin(0.4)
    for name, x in (('crank', 0), ('rocker', 2)):
        robot.body(name, 'revolute', 'base', f'{-sin} 0 {cos}', f'{x} 0 0', 0.0, '0 0.4 0',
                   '<dynamics damping="0.3" friction="0.2"/>')  # fmt: skip
        robot.link(f'{name}_weight', 2.0, '0.1 -0.2 0.3')
        robot.joint(f'{name}_bolt', 'fixed', f'{name}_link', f'{name}_weight', xyz='0.3 0.1 0.2',
                    rpy='0.4 -0.5 0.6')  # fmt: skip
        tip = (f'{name}_link', f'{0.8 * cos} 0.6 {0.8 * sin}', '0 -0.4 0')
        robot.close(f'{name}_hinge', 'revolute', ('platform', f'{x} 0 0'), tip)
    robot.actuators = ['crank']
    robot.extra = {'armature': {'crank': 0.7}}
    return robot


def five_bar():
    """A planar five-bar; its platform is welded to one far bar and hinged to the other."""
    robot = Tiny(coordinates='x y yaw', at='1 1.3 0')
    robot.body('a1', 'revolute', 'base')
    robot.body('a2', 'revolute', 'a1_link', xyz='0 1 0')
    robot.body('b1', 'revolute', 'base', xyz='2 0 0')
    robot.body('b2', 'revolute', 'b1_link', xyz='0.2 1 0')
    robot.close('weld', 'weld', ('a2_link', '1 0.3 0'), ('platform', '0 0 0'))
    robot.close('hinge', 'revolute', ('b2_link', '-1.2 0.3 0'), ('platform', '0 0 0'))
    robot.actuators = ['a1', 'b1']
    robot.extra = {'independent': ['platform_x', 'platform_y']}
    return robot
