"""Between messages and the library's own types; every number that comes in is checked.

Readers raise InputError for what is not finite or not a rotation. Writers hand over lists of
Python floats, which rclpy takes much faster than arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import (
    Accel,
    AccelStamped,
    Pose,
    PoseStamped,
    Quaternion,
    Transform,
    Twist,
    TwistStamped,
    Vector3,
    WrenchStamped,
)
from nav_msgs.msg import Odometry
import numpy as np
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from trajectory_msgs.msg import (
    JointTrajectory,
    JointTrajectoryPoint,
    MultiDOFJointTrajectory,
    MultiDOFJointTrajectoryPoint,
)

from parallel_dynamics.errors import InputError
from parallel_dynamics.motion import BaseMotion, PlatformMotion
from parallel_dynamics.spatial import Array

QUATERNION_TOLERANCE = 1e-3
"""How far from one the norm of a quaternion may be; within it, it is normalised."""
ANSWERS = 'answers '
"""Before the stamp (ns) of a joint state, in the label of a command that answers it."""

# ---------------------------------------------------------------- time


def time_message(nanoseconds: int) -> Time:
    """Return a stamp from nanoseconds."""
    return Time(sec=int(nanoseconds // 1_000_000_000), nanosec=int(nanoseconds % 1_000_000_000))


def duration_message(seconds: float) -> Duration:
    """Return a duration from seconds."""
    nanoseconds = round(seconds * 1e9)
    return Duration(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def nanoseconds(stamp: Any) -> int:
    """Return a stamp or a duration in nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def seconds(stamp: Any) -> float:
    """Return a stamp or a duration in seconds."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


# ---------------------------------------------------------------- small parts


def _vector(v: Sequence[float] | Array) -> Vector3:
    return Vector3(x=float(v[0]), y=float(v[1]), z=float(v[2]))


def _read_vector(name: str, v: Any) -> Array:
    return _finite(name, np.array([v.x, v.y, v.z]))


def _finite(name: str, values: Array) -> Array:
    if not np.isfinite(values).all():
        raise InputError(f'{name}: expected finite numbers, got {values.tolist()}')
    return values


def quaternion_message(rotation: Array) -> Quaternion:
    """Return the quaternion with w >= 0 of a rotation matrix (3, 3)."""
    x, y, z, w = Rotation.from_matrix(np.array(rotation)).as_quat().tolist()
    sign = -1.0 if w < 0.0 else 1.0
    return Quaternion(x=sign * x, y=sign * y, z=sign * z, w=sign * w)


def read_quaternion(name: str, q: Any) -> Array:
    """Return the rotation matrix (3, 3) of a quaternion message."""
    values = _finite(name, np.array([q.x, q.y, q.z, q.w]))
    norm = float(np.linalg.norm(values))
    if abs(norm - 1.0) > QUATERNION_TOLERANCE:
        raise InputError(f'{name}: expected a quaternion of norm 1, got norm {norm:.4g}')
    return np.asarray(Rotation.from_quat(values / norm).as_matrix())


def read_numbers(name: str, values: Any, count: int | None = None) -> Array:
    """Return a message's array of numbers, checked for length and NaN."""
    array = np.asarray(values, float).ravel()
    if count is not None and len(array) != count:
        raise InputError(f'{name}: expected {count} numbers, got {len(array)}')
    return _finite(name, array)


# ---------------------------------------------------------------- platform


def effort_message(count: int) -> Float64MultiArray:
    """Return an effort command for as many actuators, its layout filled in."""
    message = Float64MultiArray()
    message.layout.dim = [MultiArrayDimension(size=count, stride=count)]
    return message


def set_answered(message: Float64MultiArray, nanoseconds: int | None) -> None:
    """Write into a command which joint state it answers, by its stamp; None for no such one.

    The type has no header. Those who read the data alone are not disturbed by a label.
    """
    message.layout.dim[0].label = '' if nanoseconds is None else f'{ANSWERS}{nanoseconds}'


def read_answered(message: Float64MultiArray) -> int | None:
    """Return the stamp (ns) of the joint state that a command answers; None if it says none."""
    label = message.layout.dim[0].label if message.layout.dim else ''
    number = label.removeprefix(ANSWERS)
    return int(number) if number != label and number.isdecimal() else None


def pose_message(m: PlatformMotion, stamp: Time, frame: str) -> PoseStamped:
    """Return the pose of the platform in the base frame ``frame``."""
    message = PoseStamped()
    message.header.stamp, message.header.frame_id = stamp, frame
    p = m.position.tolist()
    message.pose.position.x, message.pose.position.y, message.pose.position.z = p
    message.pose.orientation = quaternion_message(m.rotation)
    return message


def twist_message(m: PlatformMotion, stamp: Time, frame: str) -> TwistStamped:
    """Return the twist of the platform's origin, in base axes."""
    message = TwistStamped()
    message.header.stamp, message.header.frame_id = stamp, frame
    message.twist = Twist(linear=_vector(m.velocity), angular=_vector(m.angular_velocity))
    return message


def accel_message(m: PlatformMotion, stamp: Time, frame: str) -> AccelStamped:
    """Return the acceleration of the platform's origin, in base axes."""
    message = AccelStamped()
    message.header.stamp, message.header.frame_id = stamp, frame
    linear, angular = _vector(m.acceleration), _vector(m.angular_acceleration)
    message.accel = Accel(linear=linear, angular=angular)
    return message


def read_pose(pose: Pose) -> PlatformMotion:
    """Return the pose of a Pose message, at rest."""
    position = _read_vector('position', pose.position)
    return PlatformMotion(position, read_quaternion('orientation', pose.orientation))


def trajectory_point(m: PlatformMotion, time_from_start: float) -> MultiDOFJointTrajectoryPoint:
    """Return one point of a platform trajectory, rates in base axes."""
    point = MultiDOFJointTrajectoryPoint()
    transform = Transform(
        translation=_vector(m.position), rotation=quaternion_message(m.rotation)
    )
    point.transforms = [transform]
    point.velocities = [
        Twist(linear=_vector(m.velocity), angular=_vector(m.angular_velocity))
    ]
    point.accelerations = [
        Twist(linear=_vector(m.acceleration), angular=_vector(m.angular_acceleration))
    ]
    point.time_from_start = duration_message(time_from_start)
    return point


def trajectory_message(
    points: Sequence[tuple[float, PlatformMotion]], platform: str, stamp: Time, frame: str
) -> MultiDOFJointTrajectory:
    """Return a trajectory of the platform link from (seconds from start, motion) pairs."""
    message = MultiDOFJointTrajectory()
    message.header.stamp, message.header.frame_id = stamp, frame
    message.joint_names = [platform]
    message.points = [trajectory_point(m, t) for t, m in points]
    return message


def read_trajectory_point(point: MultiDOFJointTrajectoryPoint) -> PlatformMotion:
    """Return the platform motion of a trajectory point; rates that are missing are zero."""
    if len(point.transforms) != 1:
        raise InputError(
            f'trajectory point: expected one transform, that of the platform, '
            f'got {len(point.transforms)}'
        )
    if len(point.velocities) > 1 or len(point.accelerations) > 1:
        raise InputError('trajectory point: expected at most one velocity and one acceleration')
    transform = point.transforms[0]
    velocity = point.velocities[0] if point.velocities else Twist()
    acceleration = point.accelerations[0] if point.accelerations else Twist()
    return PlatformMotion(
        _read_vector('translation', transform.translation),
        read_quaternion('rotation', transform.rotation),
        _read_vector('velocity', velocity.linear),
        _read_vector('angular velocity', velocity.angular),
        _read_vector('acceleration', acceleration.linear),
        _read_vector('angular acceleration', acceleration.angular),
    )


@dataclass(frozen=True, eq=False)
class TrajectoryPoints:
    """A platform trajectory as it came: times (N,) s from ``start`` (ns; None: on arrival).

    ``motion`` is a batch of N; ``twist_given`` and ``rate_given`` say whether its derivatives
    stood in the message or are zero because they did not.
    """

    start: int | None
    times: Array
    motion: PlatformMotion
    twist_given: bool
    rate_given: bool


def read_trajectory_message(
    message: MultiDOFJointTrajectory, platform: str, base: str
) -> TrajectoryPoints:
    """Return the points of a trajectory of the platform link, in the base frame."""
    if list(message.joint_names) != [platform]:
        raise InputError(
            f'trajectory: expected one joint name, {platform!r}, got {list(message.joint_names)}'
        )
    if message.header.frame_id not in ('', base):
        raise InputError(
            f'trajectory: expected the frame {base!r}, got {message.header.frame_id!r}'
        )
    points = list(message.points)
    if not points:
        raise InputError('trajectory: expected at least one point, got none')
    motion = PlatformMotion._wrap(np.array([read_trajectory_point(p).data for p in points]))
    given = []
    for name in ('velocities', 'accelerations'):
        count = sum(1 for point in points if getattr(point, name))
        if count not in (0, len(points)):
            raise InputError(
                f'trajectory: expected {name} in all points or in none, got them in {count} of '
                f'{len(points)}'
            )
        given.append(count > 0)
    if given[1] and not given[0]:
        raise InputError('trajectory: expected velocities where there are accelerations')
    times = np.array([seconds(point.time_from_start) for point in points])
    if times[0] < 0.0 or (np.diff(times) <= 0.0).any():
        raise InputError(
            f'trajectory: expected times from start that increase from zero or later, got '
            f'{times[:5].tolist()}{" ..." if len(times) > 5 else ""}'
        )
    start = nanoseconds(message.header.stamp) or None
    return TrajectoryPoints(start, times, motion, *given)


# ---------------------------------------------------------------- joints


def joint_trajectory_message(
    names: Sequence[str], stamp: Time, times: Array, *rows: Array
) -> JointTrajectory:
    """Return a trajectory of joints: positions, velocities, accelerations, efforts, all (N, n)."""
    message = JointTrajectory()
    message.header.stamp = stamp
    message.joint_names = list(names)
    lists = [values.tolist() for values in rows]
    message.points = [
        JointTrajectoryPoint(
            positions=q, velocities=v, accelerations=a, effort=e,
            time_from_start=duration_message(t),
        )  # fmt: skip
        for t, q, v, a, e in zip(times.tolist(), *lists)
    ]
    return message


def joint_state_message(
    names: Sequence[str],
    stamp: Time,
    position: Array | None = None,
    velocity: Array | None = None,
    effort: Array | None = None,
) -> JointState:
    """Return a JointState; what is None is left empty."""
    message = JointState()
    message.header.stamp = stamp
    message.name = list(names)
    if position is not None:
        message.position = position.tolist()
    if velocity is not None:
        message.velocity = velocity.tolist()
    if effort is not None:
        message.effort = effort.tolist()
    return message


def read_joints(message: JointState, names: Sequence[str], field: str) -> Array:
    """Return the ``field`` ('position', 'velocity', 'effort') of the joints in ``names``.

    The message may hold them in any order and hold others besides.
    """
    values = getattr(message, field)
    if len(values) != len(message.name):
        raise InputError(
            f'joint state: expected a {field} for each of its {len(message.name)} names, '
            f'got {len(values)}'
        )
    place = {name: k for k, name in enumerate(message.name)}
    missing = [name for name in names if name not in place]
    if missing:
        raise InputError(f'joint state: expected the joints {list(names)}, missing {missing}')
    return _finite(f'joint state: {field}', np.array([values[place[name]] for name in names]))


class JointReader:
    """Reads the same joints from message after message; finds their places only when they move."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._seen: list[str] | None = None
        self._places: list[int] = []

    def read(self, message: JointState) -> tuple[Array, Array | None]:
        """Return positions, and velocities where the message has them, of the joints."""
        if message.name != self._seen:
            read_joints(message, self._names, 'position')  # refuses what is missing
            self._places = [list(message.name).index(name) for name in self._names]
            self._seen = list(message.name)
        position = self._pick('position', message.position)
        return position, self._pick('velocity', message.velocity) if message.velocity else None

    def _pick(self, field: str, values: Any) -> Array:
        if len(values) != len(self._seen or ()):
            raise InputError(
                f'joint state: expected a {field} for each of its {len(self._seen or ())} names, '
                f'got {len(values)}'
            )
        return _finite(f'joint state: {field}', np.array([values[k] for k in self._places]))


# ---------------------------------------------------------------- wrench and base


def wrench_message(wrench: Array | Sequence[float], stamp: Time, frame: str) -> WrenchStamped:
    """Return a wrench (6,) [force; moment] in the axes of ``frame``."""
    message = WrenchStamped()
    message.header.stamp, message.header.frame_id = stamp, frame
    message.wrench.force, message.wrench.torque = _vector(wrench[:3]), _vector(wrench[3:])
    return message


def read_wrench(
    message: WrenchStamped, base: str, platform: str, rotation: Array | None = None
) -> Array:
    """Return an external wrench (6,) on the platform at its origin, in base axes.

    Its frame is the base link (or empty): base axes already; or the platform link: turned by
    ``rotation`` (3, 3), base <- platform. Any other frame is refused.
    """
    force = _read_vector('force', message.wrench.force)
    moment = _read_vector('torque', message.wrench.torque)
    frame = message.header.frame_id
    if frame == platform and rotation is not None:
        force, moment = rotation @ force, rotation @ moment
    elif frame not in ('', base):
        raise InputError(
            f'external wrench: expected the frame {base!r} or {platform!r}, got {frame!r}'
        )
    return np.concatenate([force, moment])


def read_base_motion(odometry: Odometry, accel: AccelStamped | None = None) -> BaseMotion:
    """Return the motion of the base from an Odometry and an AccelStamped.

    The odometry's pose is that of the base in the world, its twist is in base axes, as
    nav_msgs/Odometry says. The acceleration is in base axes too, unless its frame is the
    odometry's fixed frame: then it is turned into base axes.
    """
    rotation = read_quaternion('base orientation', odometry.pose.pose.orientation)
    velocity = _read_vector('base velocity', odometry.twist.twist.linear)
    angular = _read_vector('base angular velocity', odometry.twist.twist.angular)
    linear, turning = np.zeros(3), np.zeros(3)
    if accel is not None:
        linear = _read_vector('base acceleration', accel.accel.linear)
        turning = _read_vector('base angular acceleration', accel.accel.angular)
        world = odometry.header.frame_id
        if world and accel.header.frame_id == world != odometry.child_frame_id:
            linear, turning = rotation.T @ linear, rotation.T @ turning
    return BaseMotion(rotation, velocity, angular, linear, turning)
