"""How cost grows: robots with more legs, and legs with more joints, made for this purpose.

A platform on UPS legs, three of which have two drives each; all others are passive. A leg gets
more joints in two ways: its slide becomes a telescope whose stages move together (mimic joints:
more bodies, as many unknowns), or gas springs on universal joints stand beside it (closed loops
inside the leg: more unknowns).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
import tempfile

from calls import error, random_motions, track
import numpy as np
import pinocchio as pin
from pinocchio_peer import PinocchioPeer
from timing import Effort, medians, one_core

import parallel_dynamics as pd
from parallel_dynamics.unrolling.tracing import closed_form

SIZES = (3, 6, 12, 24)
QUICK = SIZES[:2]
HEIGHT = 0.8


class Writer:
    """URDF and closures of one robot."""

    def __init__(self) -> None:
        self.lines, self.closures, self.drives = ['<robot name="many">'], [], []

    def link(self, name: str, mass: float = 0.0, inertia: float = 0.0, z: float = 0.0) -> None:
        """Add a link with its mass on its z axis."""
        content = '' if mass == 0.0 else (
            f'<inertial><origin xyz="0 0 {z}"/><mass value="{mass}"/><inertia ixx="{inertia}" '
            f'iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial>')  # fmt: skip
        self.lines.append(f'<link name="{name}">{content}</link>')

    def joint(
        self, name: str, kind: str, parent: str, child: str, at=(0, 0, 0), rpy=(0, 0, 0),
        axis: str = '', mimic: str = '',
    ) -> None:  # fmt: skip
        """Add a joint; ``mimic`` names the one that it moves with."""
        origin = ' '.join(f'{v:.15g}' for v in at), ' '.join(f'{v:.15g}' for v in rpy)
        more = f'<axis xyz="{axis}"/>' if axis else ''
        if kind in ('revolute', 'prismatic'):
            more += '<limit lower="-1" upper="1" effort="5000" velocity="9"/>'
        if mimic:
            more += f'<mimic joint="{mimic}" multiplier="1" offset="0"/>'
        self.lines.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{origin[0]}" rpy="{origin[1]}"/>{more}</joint>'
        )

    def frame(self, name: str, parent: str, at) -> None:
        """Add an empty link fixed to another."""
        self.link(name)
        self.joint(f'{name}_fixed', 'fixed', parent, name, at)

    def ball(self, name: str, first: str, second: str) -> None:
        """Add a ball closure."""
        self.closures.append(f'  - {{name: {name}, type: ball, between: [{first}, {second}]}}')

    def load(self, folder: Path) -> pd.Robot:
        """Write the files and load the robot."""
        (folder / 'many.urdf').write_text('\n'.join([*self.lines, '</robot>']))
        (folder / 'many.yaml').write_text(
            'name: many\nurdf: many.urdf\nbase: base_link\nplatform: platform\n'
            f'actuators: [{", ".join(self.drives)}]\nclosures:\n' + '\n'.join(self.closures)
        )
        return pd.load_robot(folder / 'many.yaml')


def build(folder: Path, legs: int, stages: int = 1, springs: int = 0) -> pd.Robot:
    """Return a platform on a number of legs, each with stages and gas springs."""
    w = Writer()
    w.link('base_link')
    above = 'base_link'
    for name, kind, axis in (
        ('x', 'prismatic', '1 0 0'), ('y', 'prismatic', '0 1 0'), ('z', 'prismatic', '0 0 1'),
        ('yaw', 'revolute', '0 0 1'), ('pitch', 'revolute', '0 1 0'),
        ('roll', 'revolute', '1 0 0'),
    ):  # fmt: skip
        link = 'platform' if name == 'roll' else f'platform_{name}_link'
        at = (0, 0, HEIGHT) if name == 'x' else (0, 0, 0)
        w.joint(f'platform_{name}', kind, above, link, at, axis=axis)
        w.link(link, *((40.0, 1.5) if link == 'platform' else ()))
        above = link
    for k in range(legs):
        _leg(w, k, legs, stages, springs)
    return w.load(folder)


def _leg(w: Writer, k: int, legs: int, stages: int, springs: int) -> None:
    """Add a UPS leg that leans outwards; in the first of each third, slide and tilt are driven."""
    around = 2.0 * np.pi * k / legs
    out = np.array([np.cos(around), np.sin(around), 0.0])
    along = np.array([0.0, 0.0, HEIGHT]) - 0.2 * out
    length = float(np.linalg.norm(along))
    lean = -np.arctan2(0.2, HEIGHT)
    w.joint(f'leg{k}_u1', 'revolute', 'base_link', f'leg{k}_cross', 0.6 * out, (0, lean, around),
            '1 0 0')  # fmt: skip
    w.link(f'leg{k}_cross', 0.5, 0.001)
    w.joint(f'leg{k}_u2', 'revolute', f'leg{k}_cross', f'leg{k}_cylinder', axis='0 1 0')
    w.link(f'leg{k}_cylinder', 8.0, 0.2, 0.2)
    below = f'leg{k}_cylinder'
    for i in range(stages):
        name = f'leg{k}_slide' if i == 0 else f'leg{k}_slide{i}'
        at = (0, 0, 0.5 * length if i == 0 else 0.0)
        link = f'leg{k}_piston{i}'
        w.joint(name, 'prismatic', below, link, at, axis='0 0 1',
                mimic=f'leg{k}_slide' if i else '')  # fmt: skip
        w.link(link, 3.0 / stages, 0.1 / stages, 0.2)
        below = link
    for i in range(springs):
        _spring(w, f'leg{k}_spring{i}', f'leg{k}_cylinder', below, 2.0 * np.pi * i / springs)
    w.frame(f'leg{k}_tip', below, (0, 0, 0.5 * length))
    w.frame(f'platform_p{k}', 'platform', 0.4 * out)
    w.ball(f'ball{k}', f'leg{k}_tip', f'platform_p{k}')
    if k % (legs // 3) == 0:
        w.drives += [f'leg{k}_u1', f'leg{k}_slide']


def _spring(w: Writer, name: str, below: str, above: str, around: float) -> None:
    """Add a gas spring beside a leg, from cylinder to piston."""
    at = 0.05 * np.cos(around), 0.05 * np.sin(around)
    w.joint(f'{name}_u1', 'revolute', below, f'{name}_cross', (*at, 0.1), axis='1 0 0')
    w.link(f'{name}_cross', 0.05, 1e-5)
    w.joint(f'{name}_u2', 'revolute', f'{name}_cross', f'{name}_tube', axis='0 1 0')
    w.link(f'{name}_tube', 0.3, 1e-3, 0.1)
    w.joint(f'{name}_slide', 'prismatic', f'{name}_tube', f'{name}_rod', (0, 0, 0.3), axis='0 0 1')
    w.link(f'{name}_rod', 0.2, 1e-3, 0.1)
    w.frame(f'{name}_end', f'{name}_rod', (0, 0, 0.2))
    length = float(np.linalg.norm([-0.2, 0.0, HEIGHT]))
    w.frame(f'{name}_eye', above, (*at, 0.6 - 0.5 * length))
    w.ball(f'{name}_ball', f'{name}_end', f'{name}_eye')


def judge(robot: pd.Robot, motions: pd.PlatformMotion) -> float:
    """Largest error: of efforts against Pinocchio, and of direct after inverse dynamics."""
    peer = PinocchioPeer(robot)
    # Columns of the joints that move together are added up.
    joints = robot.model.joints
    tied = np.eye(peer.model.nv)
    for j, joint in enumerate(joints):
        if joint.mimic is not None:
            tied[peer.columns[j], peer.columns[joint.mimic.joint]] = joint.mimic.multiplier
            tied[peer.columns[j], peer.columns[j]] = 0.0
    found, truth = [], []
    for m in motions:
        q, v, a = peer.state(m)
        tau = tied.T @ pin.rnea(peer.model, peer.data, q, v, a)
        pin.computeJointJacobians(peer.model, peer.data, q)
        for model, data in zip(peer.constraints, peer.constraint_data):
            model.calc(peer.model, peer.data, data)
        K = pin.getConstraintsJacobian(
            peer.model, peer.data, peer.constraints, peer.constraint_data)
        system = np.hstack([tied.T @ peer._drives, (K @ tied).T])
        truth.append(np.linalg.lstsq(system, tau, rcond=1e-11)[0][: robot.dof])
        found.append(robot.inverse_dynamics(m))
    back = robot.direct_dynamics(motions, np.array(found))
    return max(error(np.array(found), np.array(truth)), error(back, motions.twist_rate))


GROWTH = {
    'legs of 3 joints': lambda n: {'legs': n},
    'joints of each of 3 legs, telescopes': lambda n: {'legs': 3, 'stages': n - 2},
    'joints of each of 3 legs, gas springs': lambda n: {'legs': 3, 'springs': n // 3 - 1},
}


def measure() -> dict[str, list[dict[str, float]]]:
    """Return size, joints, median times (s) of one call and the error, for growing robots."""
    found: dict[str, list[dict[str, float]]] = {}
    for title, sizes in GROWTH.items():
        found[title] = []
        for n in QUICK if Effort.quick else SIZES:
            with tempfile.TemporaryDirectory() as folder:
                robot = build(Path(folder), **sizes(n))
                motions = random_motions(robot, 5)
                wrong = judge(robot, motions)
            there = track(robot, motions[0])
            efforts = robot.inverse_dynamics(there)
            with one_core():
                times = medians({
                    'inverse': [partial(robot.inverse_dynamics, m) for m in there],
                    'direct': [partial(robot.direct_dynamics, m, u)
                               for m, u in zip(there, efforts)],
                })  # fmt: skip
            found[title].append({
                'size': n, 'joints': len(robot.joints), **times, 'error': wrong,
                'iterates': not closed_form(robot.engine.packed),
            })  # fmt: skip
    return found
