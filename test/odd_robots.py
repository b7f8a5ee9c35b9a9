"""Robots at random: legs of any joints, cut anywhere, with all that a description may hold.

Written straight as URDF text, with link frames in any attitude, axes of any length, full inertia
tensors, masses on fixed links, rotors and geared joints (mimic with offset), rigid triangles
inside legs. Everything is placed where it stands at home, so that home is assembled.
"""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation
import yaml

FREEDOMS = {'ball': 3, 'weld': 0, 'revolute': 1, 'cylindrical': 2, 'plane': 5}
AXES = {'x': [1, 0, 0], 'y': [0, 1, 0], 'z': [0, 0, 1], 'roll': [1, 0, 0], 'pitch': [0, 1, 0],
        'yaw': [0, 0, 1]}
SPATIAL = ('x', 'y', 'z', 'yaw', 'pitch', 'roll')


def text(values):
    return ' '.join(repr(float(v)) for v in values)


class Odd:
    """A robot under construction; places are in base axes at home, for a robot of about 1 m.

    ``scale`` shrinks or blows up the finished robot: lengths by it, masses by its third power, so
    that under the same gravity times go with its root.
    """

    def __init__(self, seed, home=(0.05, -0.03, 0.9), coordinates=SPATIAL, scale=1.0, mass=8.0):
        self.rng = np.random.default_rng(seed)
        self.scale = scale
        self.placed = {'base': (np.zeros(3), np.eye(3))}
        self.elements, self.closures, self.actuators, self.armature = [], [], [], {}
        self.extra = {}
        self.count = 0
        # The base link hangs, fixed and turned, from the root of the tree.
        self.elements.append('<link name="world_root"/>')
        self._link('base', mass)
        self._joint('root', 'fixed', 'world_root', 'base', [0.3, 0.1, -0.2], self.attitude())
        home = np.asarray(home, float)
        turn = np.eye(3)
        parent = 'base'
        for name in coordinates:
            last = name == coordinates[-1]
            child = 'platform_carrier' if last else f'platform_{name}_link'
            self.placed[child] = (home, turn)
            self.elements.append(f'<link name="{child}"/>')
            kind = 'prismatic' if name in 'xyz' else 'revolute'
            self._connect(f'platform_{name}', kind, parent, child, AXES[name])
            parent = child
        # The platform link itself is fixed to the end of the chain, turned and off its origin.
        self.fixed('platform', parent, home + [0.02, 0.01, -0.04], mass=mass, name_joint='seat')

    # ------------------------------------------------------------------ parts

    def attitude(self):
        return Rotation.random(random_state=self.rng).as_matrix()

    def direction(self):
        return Rotation.random(random_state=self.rng).as_matrix()[0]

    def point(self, point, spread=0.08):
        return np.asarray(point, float) + spread * self.rng.uniform(-1, 1, 3)

    def body(self, joint, kind, parent, at, axis, mass=1.0, mimic=None, drive=False):
        """A link ``<joint>_link`` moved by ``joint`` at a point about an axis, home placement.

        ``mimic`` is (joint, multiplier, offset): then the link stands at home with its joint at
        ``offset``.
        """
        child = f'{joint}_link'
        at, axis = np.asarray(at, float), np.asarray(axis, float) / np.linalg.norm(axis)
        rotation = self.attitude()
        offset = mimic[2] if mimic else 0.0
        # Where the link would be with its joint at zero.
        zero = (at, rotation)
        if offset and kind == 'prismatic':
            zero = (at - offset * axis, rotation)
        elif offset:
            zero = (at, Rotation.from_rotvec(-offset * axis).as_matrix() @ rotation)
        self._link(child, mass)
        self.placed[child] = zero
        local = zero[1].T @ axis
        self._connect(joint, kind, parent, child, local * self.rng.uniform(0.4, 2.5), mimic)
        self.placed[child] = (at, rotation)
        if drive:
            self.drive(joint, kind)
        return child

    def drive(self, joint, kind):
        self.actuators.append(joint)
        size = self.scale**3 if kind == 'prismatic' else 0.1 * self.scale**5
        self.armature[joint] = float(size * self.rng.uniform(0.1, 0.5))

    def fixed(self, name, parent, at, rotation=None, mass=0.0, name_joint=None):
        rotation = self.attitude() if rotation is None else rotation
        self.placed[name] = (np.asarray(at, float), rotation)
        self._link(name, mass)
        self._connect(name_joint or f'{name}_fixed', 'fixed', parent, name)
        return name

    def close(self, name, kind, first, second, at, z=None):
        """Close two bodies at a point; frames agree as far as the closure asks, no further."""
        z = self.direction() if z is None else np.asarray(z, float) / np.linalg.norm(z)
        x = np.cross(z, self.direction())
        x /= np.linalg.norm(x)
        frame = np.column_stack([x, np.cross(z, x), z])
        other = frame
        at = np.asarray(at, float)
        there = at
        if kind in ('ball', 'plane'):
            other = self.attitude()
        elif kind in ('revolute', 'cylindrical'):
            other = frame @ Rotation.from_rotvec(self.rng.uniform(-3, 3) * np.array([0, 0, 1.0])
                                                 ).as_matrix()
        if kind == 'cylindrical':
            there = at + 0.1 * self.rng.uniform(-1, 1) * z
        if kind == 'plane':
            there = at + 0.1 * self.rng.uniform(-1, 1) * x
        one = self.fixed(f'{name}_a', first, at, other)
        two = self.fixed(f'{name}_b', second, there, frame)
        self.closures.append({'name': name, 'type': kind, 'between': [one, two]})

    def triangle(self, name, body, at):
        """Hang a rigid triangle from a body: two links and a revolute closure, redundant."""
        n = self.direction()
        u = np.cross(n, self.direction())
        u /= np.linalg.norm(u)
        v = np.cross(n, u)
        at = np.asarray(at, float)
        one = self.body(f'{name}_1', 'revolute', body, at, n, 0.3)
        two = self.body(f'{name}_2', 'revolute', one, at + 0.12 * u, n, 0.2)
        self.close(f'{name}_hinge', 'revolute', two, body, at + 0.05 * u + 0.1 * v, n)

    # ------------------------------------------------------------------ text

    def _link(self, name, mass):
        if not mass:
            self.elements.append(f'<link name="{name}"/>')
            return
        s = self.scale
        arms = 0.08 * self.rng.normal(size=(6, 3))  # six points of equal mass
        mass *= self.rng.uniform(0.5, 1.5)
        arms -= arms.mean(axis=0)
        tensor = mass / 6 * sum(a @ a * np.eye(3) - np.outer(a, a) for a in arms) * s**5
        com = s * 0.06 * self.rng.normal(size=3)
        turn = self.attitude()
        tensor = turn.T @ tensor @ turn
        rpy = Rotation.from_matrix(turn).as_euler('xyz')
        values = ' '.join(f'i{"xyz"[i]}{"xyz"[j]}="{tensor[i, j]!r}"'
                          for i in range(3) for j in range(i, 3)).replace('np.float64', '')
        values = values.replace('(', '').replace(')', '')
        self.elements.append(
            f'<link name="{name}"><inertial><origin xyz="{text(com)}" rpy="{text(rpy)}"/>'
            f'<mass value="{mass * s**3!r}"/><inertia {values}/></inertial></link>')

    def _connect(self, name, kind, parent, child, axis=None, mimic=None):
        (p0, r0), (p1, r1) = self.placed[parent], self.placed[child]
        self._joint(name, kind, parent, child, r0.T @ (p1 - p0), r0.T @ r1, axis, mimic)

    def _joint(self, name, kind, parent, child, point, rotation, axis=None, mimic=None):
        s = self.scale
        rpy = Rotation.from_matrix(rotation).as_euler('xyz')
        parts = [f'<origin xyz="{text(s * np.asarray(point))}" rpy="{text(rpy)}"/>',
                 f'<parent link="{parent}"/><child link="{child}"/>']
        if axis is not None:
            parts.append(f'<axis xyz="{text(axis)}"/>')
            if kind == 'revolute' and self.rng.uniform() < 0.3 and 'platform' not in name:
                kind = 'continuous'
            if kind != 'continuous':
                parts.append('<limit lower="-20" upper="20" effort="1e4" velocity="100"/>')
            if 'platform' not in name:
                size = s**2.5 if kind == 'prismatic' else 0.1 * s**4.5
                force = s**3 if kind == 'prismatic' else 0.1 * s**4
                parts.append(f'<dynamics damping="{float(size * self.rng.uniform(0, 2))!r}" '
                             f'friction="{float(force * self.rng.uniform(0, 3))!r}"/>')
        if mimic:
            offset = mimic[2] * (s if kind == 'prismatic' else 1.0)
            ratio = mimic[1] * mimic[3] if len(mimic) > 3 else mimic[1]
            parts.append(f'<mimic joint="{mimic[0]}" multiplier="{ratio!r}" offset="{offset!r}"/>')
        self.elements.append(f'<joint name="{name}" type="{kind}">{"".join(parts)}</joint>')

    def write(self, folder, name='odd'):
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        body = '\n'.join(self.elements)
        (folder / f'{name}.urdf').write_text(f'<robot name="{name}">\n{body}\n</robot>\n')
        data = {
            'name': name, 'urdf': f'{name}.urdf', 'base': 'base', 'platform': 'platform',
            'actuators': self.actuators, 'closures': self.closures, 'armature': self.armature,
            'gravity': [float(g) for g in 9.81 * self.direction()], **self.extra}
        path = folder / f'{name}.yaml'
        path.write_text(yaml.safe_dump(data, sort_keys=False))
        return path


# ---------------------------------------------------------------------- random legs


def random_leg(robot, name, foot, tip, extras=True):
    """A leg of connectivity six: joints from both ends, and a closure where they meet."""
    rng = robot.rng
    kind = str(rng.choice(list(FREEDOMS)))
    count = 6 - FREEDOMS[kind]
    below = int(rng.integers(0, count + 1))
    slides = 0
    ends = []
    joints = []
    for side, root, number in (('low', 'base', below), ('top', 'platform', count - below)):
        parent = root
        for k in range(number):
            share = 0.45 * (k + 0.3) / max(1, number)
            share = share if side == 'low' else 1.0 - share
            at = robot.point(foot + share * (tip - foot), 0.12)
            slide = slides < 2 and rng.uniform() < 0.3
            slides += slide
            joint = f'{name}_{side}{k}'
            shape = 'prismatic' if slide else 'revolute'
            geared = extras and joints and rng.uniform() < 0.15
            if geared:  # one more joint that follows one of this leg
                lead = joints[int(rng.integers(len(joints)))]
                ratio = float(rng.uniform(-1.5, 1.5))
                parent = robot.body(f'{joint}g', 'revolute', parent, robot.point(at, 0.1),
                                    robot.direction(), 0.4,
                                    (lead[0], ratio, float(rng.uniform(-1, 1)),
                                     1.0 / robot.scale if lead[1] == 'prismatic' else 1.0))
            parent = robot.body(joint, shape, parent, at, robot.direction(), rng.uniform(0.3, 2))
            joints.append((joint, shape))
        ends.append(parent)
    lead = joints[int(rng.integers(len(joints)))]
    robot.drive(*lead)
    if extras:
        _decorate(robot, name, joints, lead)
    if rng.uniform() < 0.5:
        ends.reverse()
    robot.close(f'{name}_cut', kind, *ends, robot.point(0.5 * (foot + tip)))


def _decorate(robot, name, joints, lead):
    """Things that change no freedom: rotors, masses on fixed links, rigid triangles."""
    rng = robot.rng
    link = f'{joints[int(rng.integers(len(joints)))][0]}_link'
    at = robot.placed[link][0]
    if rng.uniform() < 0.4:
        unit = 1.0 / robot.scale if lead[1] == 'prismatic' else 1.0
        where = 'base' if rng.uniform() < 0.5 else link
        robot.body(f'{name}_rotor', 'revolute', where, robot.point(at), robot.direction(), 0.2,
                   (lead[0], float(rng.uniform(-8, 8)), float(rng.uniform(-2, 2)), unit))
    if rng.uniform() < 0.4:
        robot.fixed(f'{name}_weight', link, robot.point(at), mass=0.5)
    if rng.uniform() < 0.3:
        robot.triangle(f'{name}_tri', link, robot.point(at))


def random_six(seed, scale=1.0, extras=True):
    """Six random legs of connectivity six: six freedoms."""
    robot = Odd(seed, scale=scale)
    order = robot.rng.permutation(['yaw', 'pitch', 'roll'])
    robot = Odd(seed, coordinates=('x', 'y', 'z', *order), scale=scale)
    for k in range(6):
        angle = np.pi / 3 * k
        foot = robot.point([0.6 * np.cos(angle), 0.6 * np.sin(angle), 0.0], 0.15)
        angle += 0.5 if k % 2 else -0.5
        tip = robot.point([0.4 * np.cos(angle), 0.4 * np.sin(angle), 0.9], 0.15)
        random_leg(robot, f'leg{k}', foot, tip, extras)
    return robot
