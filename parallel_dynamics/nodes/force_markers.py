"""Arrows for the wrench of every joint, in RViz: forces and moments, each with its own scale.

An arrow starts where its wrench acts, in the axes it is given in. Components that are NaN (not
determinate, or hidden) are left out of it, and an arrow with nothing left is not drawn.
"""

from __future__ import annotations

import math
from typing import Any

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Vector3
import numpy as np
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from parallel_dynamics.forces.poses import body_poses
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

COLOURS = ((0.84, 0.37, 0.0), (0.0, 0.45, 0.70))
"""Of forces and moments in the joints."""
EXTERNAL_COLOURS = ((0.80, 0.47, 0.65), (0.34, 0.71, 0.91))
"""Of force and moment from outside."""
SHORTEST = 0.02
"""Arrows shorter than this share of the robot's characteristic length are not drawn."""
WEIGHT_LENGTH = 1.5
"""Arrow of the robot's own weight, in characteristic lengths, by default."""
LEVER = 0.2
"""Arm of that weight, in characteristic lengths, whose moment has an arrow as long."""

SLIDING = ('cylindrical', 'plane')
"""Closures whose two frames do not share an origin."""


def frames(robot: Robot) -> list[str]:
    """Link in whose axes the wrench of each joint, then of each closure, is given."""
    model = robot.model
    joints = [model.bodies[j + FIRST_LEG_BODY].name for j in range(len(model.joints))]
    return joints + [closure.second.name for closure in model.closures]


def default_scales(robot: Robot) -> tuple[float, float]:
    """Arrow lengths in m for 1 N and for 1 N m, made for a robot of this weight and size."""
    length = float(robot.engine.packed.system[0]['length'])
    gravity = float(np.linalg.norm(robot.model.gravity)) or 9.81
    weight = gravity * sum(body.inertia.mass for body in robot.model.bodies[1:])
    return WEIGHT_LENGTH * length / weight, WEIGHT_LENGTH / (LEVER * weight)


class ForceMarkers:
    """Makes the arrows of one robot.

    Parameters
    ----------
    force_scale, moment_scale : float
        m for 1 N and for 1 N m; zero for one that fits the robot.
    """

    def __init__(self, robot: Robot, force_scale: float = 0.0, moment_scale: float = 0.0) -> None:
        self.robot = robot
        self.frames = frames(robot)
        fitting = default_scales(robot)
        self.scales = (force_scale or fitting[0], moment_scale or fitting[1])
        self._length = float(robot.engine.packed.system[0]['length'])
        self._sliding = [
            (len(robot.joints) + c, closure)
            for c, closure in enumerate(robot.model.closures)
            if closure.kind in SLIDING
        ]

    def message(
        self, wrenches: Array, external: Array, motion: PlatformMotion, stamp: Any, lifetime: float
    ) -> MarkerArray:
        """Return an arrow for force and one for moment of each joint, and of what acts outside.

        Parameters
        ----------
        wrenches : (k, 6)
            Of joints and closures, each in its own frame.
        external : (6,)
            On the platform, in platform axes.
        lifetime : float
            Seconds without a new message after which the arrows are gone.
        """
        seen = Duration(sec=int(lifetime), nanosec=int(lifetime % 1.0 * 1e9))
        starts = self._starts(motion)
        rows = [('', k, self.frames[k], wrenches[k]) for k in range(len(wrenches))]
        rows.append(('external_', 0, self.robot.model.bodies[PLATFORM].name, external))
        array = MarkerArray()
        for prefix, k, frame, wrench in rows:
            header = Header(stamp=stamp, frame_id=frame)
            start = None if prefix else starts.get(k)
            for part, kind in enumerate(('force', 'moment')):
                vector = np.nan_to_num(wrench[3 * part : 3 * part + 3], nan=0.0)
                marker = Marker(header=header, ns=prefix + kind, id=k, type=Marker.ARROW)
                marker.lifetime = seen
                colours = EXTERNAL_COLOURS if prefix else COLOURS
                self._shape(marker, start, vector * self.scales[part], colours[part])
                array.markers.append(marker)
        return array

    def _shape(
        self, marker: Marker, start: Array | None, vector: Array, colour: tuple[float, ...]
    ) -> None:
        length = math.sqrt(float(vector @ vector))
        if not SHORTEST * self._length < length < math.inf:
            marker.action = Marker.DELETE
            return
        tail = np.zeros(3) if start is None else start
        ends = (tail.tolist(), (tail + vector).tolist())
        marker.points = [Point(x=x, y=y, z=z) for x, y, z in ends]
        thick = 0.02 * self._length
        marker.scale = Vector3(x=thick, y=2.2 * thick, z=min(4.0 * thick, 0.4 * length))
        marker.color = ColorRGBA(r=colour[0], g=colour[1], b=colour[2], a=0.9)
        marker.frame_locked = True

    def _starts(self, motion: PlatformMotion) -> dict[int, Array]:
        """Where a wrench acts if not at the origin of its frame, by row, in that frame."""
        if not self._sliding:
            return {}
        rotations, origins = (a[0] for a in body_poses(self.robot, motion))
        found = {}
        for row, closure in self._sliding:
            first, second = closure.first, closure.second
            point = origins[first.body] + rotations[first.body] @ first.position
            origin = origins[second.body] + rotations[second.body] @ second.position
            turn = rotations[second.body] @ second.rotation
            found[row] = turn.T @ (point - origin)
        return found
