"""The classical method: cut loops, model the tree, project, khalil_ibrahim_2007 (1)-(6).

The tree of Figure 1 keeps the platform on leg 1, behind the three joints of its spherical joint;
the spherical joints of the other legs are cut.
"""

from __future__ import annotations

import numpy as np

from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.khalil_ibrahim_2007.chain import Chain, Link, Row
from parallel_dynamics.papers.khalil_ibrahim_2007.platform import Platform
from parallel_dynamics.papers.khalil_ibrahim_2007.ups import UpsRobot, platform_link
from parallel_dynamics.papers.notation import Array, cross, rot_y, skew, solve


def _moved(platform: Platform, to: Array) -> Platform:
    """Return the platform's parameters about a point ``to`` (3,) from P, platform axes."""
    MS = platform.MS - platform.M * to
    shift = skew(platform.MS) @ skew(to) + skew(to) @ skew(platform.MS)
    inertia = platform.I + shift - platform.M * skew(to) @ skew(to)
    return Platform(M=platform.M, MS=MS, I=inertia)


class ClassicalModel:
    """Inverse dynamics by ``Gamma = G^T Gamma_tr``.

    Parameters
    ----------
    robot : UpsRobot
    home : (3, 3)
        Platform rotation at which the spherical joint of leg 1 is centred (away from the
        singularity of its three successive rotations).
    home_position : (3,), m
        Platform position at the same pose.
    """

    def __init__(self, robot: UpsRobot, home_position: Array, home: Array) -> None:
        self.robot = robot
        leg = robot.legs[0]
        q = leg.inverse_geometry(home_position + home @ leg.attachment - leg.base_point)
        last = leg.frames(q)[0][2]
        # Rz(q4) Ry(q5) Rz(q6) is regular around q5 = pi/2.
        self._to_platform = rot_y(np.pi / 2).T @ last.T @ home
        spherical = (
            Row(sigma=0),
            Row(sigma=0, alpha=-np.pi / 2),
            Row(sigma=0, alpha=np.pi / 2),
        )
        body = platform_link(_moved(robot.platform, leg.attachment), self._to_platform)
        self.first = Chain(
            rows=(*leg.rows, *spherical),
            links=(*leg.links, Link(), Link(), body),
            rotation=leg.rotation,
            origin=leg.origin,
        )

    def tree_motion(self, m: PlatformMotion) -> tuple[list[Array], list[Array], list[Array]]:
        """Return ``q_tr, q_tr', q_tr''`` leg by leg; the first has six variables."""
        q, qd, qdd = (
            list(x)
            for x in zip(*(self.robot.leg_motion(i, m) for i in range(len(self.robot.legs))))
        )
        leg = self.robot.legs[0]
        rotations, _ = leg.frames(q[0])
        relative = rotations[2].T @ m.rotation @ self._to_platform.T
        ball = np.array(
            [
                np.arctan2(relative[1, 2], relative[0, 2]),
                np.arccos(np.clip(relative[2, 2], -1.0, 1.0)),
                np.arctan2(relative[2, 1], -relative[2, 0]),
            ]
        )
        q[0] = np.concatenate([q[0], ball])
        axes = np.stack([R[:, 2] for R in self.first.frames(q[0])[0]], axis=1)
        a = axes[:, :2]
        s = axes[:, 3:]
        omega_leg = a @ qd[0][:2]
        ball_rates = solve(s, m.angular_velocity - omega_leg)
        # Angular acceleration left when the joint accelerations of the revolutes are zero.
        omega, drift = np.zeros(3), np.zeros(3)
        for axis, rate in zip((*a.T, *s.T), np.concatenate([qd[0][:2], ball_rates])):
            drift = drift + cross(omega, axis * rate)
            omega = omega + axis * rate
        ball_accelerations = solve(s, m.angular_acceleration - a @ qdd[0][:2] - drift)
        qd[0] = np.concatenate([qd[0], ball_rates])
        qdd[0] = np.concatenate([qdd[0], ball_accelerations])
        return q, qd, qdd

    def G(self, m: PlatformMotion) -> Array:
        """Return ``G = d q_tr' / d q_a'`` (n_tr, n_a), (3), (4), in the sense of Table 1.

        Equation numbers of khalil_ibrahim_2007.
        """
        robot = self.robot
        q, _, _ = self.tree_motion(m)
        J_p = np.linalg.inv(robot.inverse_jacobian(m))
        blocks = []
        for i, leg in enumerate(robot.legs):
            rates = leg.inverse_jacobian(q[i][:3]) @ robot.J_v(i, m.rotation) @ J_p
            blocks.append(rates)
            if i == 0:
                axes = np.stack([R[:, 2] for R in self.first.frames(q[0])[0]], axis=1)
                spin = J_p[3:] - axes[:, :2] @ rates[:2]
                blocks.append(solve(axes[:, 3:], spin))
        return np.vstack(blocks)

    def inverse_dynamics(self, m: PlatformMotion) -> Array:
        """Return ``Gamma`` (n_a,) by khalil_ibrahim_2007 (1), (2)."""
        robot = self.robot
        q, qd, qdd = self.tree_motion(m)
        tree = [self.first.newton_euler(q[0], qd[0], qdd[0], robot.g)]
        for i, leg in enumerate(robot.legs[1:], start=1):
            tree.append(leg.newton_euler(q[i], qd[i], qdd[i], robot.g))
        return robot.active_signs() * (self.G(m).T @ np.concatenate(tree))
