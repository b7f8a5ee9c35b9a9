"""Node: from joint states to the platform's motion, the external wrench and all joint forces.

Every joint state is used; what comes out of it is published ``rate`` times a second, stamped as
the joint state it came from. The estimate is older by the filters' delay, which is in the
diagnostics.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import sys
import time
from typing import Any
import warnings

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry, Path
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

import parallel_dynamics as pd
from parallel_dynamics.forces.estimation import OBSERVER, ForceEstimate, ForceEstimator
from parallel_dynamics.forces.peaks import PeakHold
from parallel_dynamics.joint_forces import UncertainRankWarning
from parallel_dynamics.nodes import messages
from parallel_dynamics.nodes.force_markers import ForceMarkers
from parallel_dynamics.nodes.platform_path import Every, PlatformPath
from parallel_dynamics.nodes.runtime import (
    ERROR,
    LATCHED,
    OK,
    OUTPUT,
    WARN,
    RobotNode,
    run,
)
from parallel_dynamics.nodes.statistics import LoopStatistics
from parallel_dynamics.nodes.topics import topic_names
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array


class JointForceEstimator(RobotNode):
    """Estimates the wrench at every joint of a robot in motion."""

    def __init__(self) -> None:
        super().__init__('joint_force_estimator')
        warnings.simplefilter('ignore', UncertainRankWarning)  # said in the diagnostics
        self._declare()
        self.names = (*self.robot.joints, *self.robot.closures)
        self.peaks = PeakHold(self.names)
        self._estimate: ForceEstimate | None = None
        self._came: float | None = None
        self._epoch: int | None = None
        self._fields: dict[str, bool] = {}
        self._complete_source = False
        self._odometry: Odometry | None = None
        self._accel: AccelStamped | None = None
        self._base: pd.BaseMotion | None = None
        self._wrench: WrenchStamped | None = None
        self._chain_guess: Array | None = None
        # Its own warm start: the desired pose may be far from the actual one.
        self._wanted = Robot(self.robot.model, self.robot.mobility)
        self._wanted_pose: pd.PlatformMotion | None = None
        self._statistics = LoopStatistics(1.0 / self.parameters['rate'])
        self._stale_said = False
        self._restart()
        self._open_topics()

    # ------------------------------------------------------------ set-up

    def _declare(self) -> None:
        declare = self.parameters.declare
        restart = lambda value: self._restart()  # noqa: E731
        declare('rate', 100.0, 'Estimates published per second (Hz).', minimum=0.1,
                maximum=2000.0, change=restart)  # fmt: skip
        declare(
            'wrench_source', 'observer',
            'External wrench: found from measured efforts (observer), from external_wrench '
            '(topic), or zero (none). Without measured efforts the observer is as topic.',
            choices=('observer', 'topic', 'none'), change=restart,
        )  # fmt: skip
        declare('observer_cutoff', 20.0, 'Of the momentum observer (Hz).', minimum=0.01,
                maximum=1e4, change=restart)  # fmt: skip
        declare(
            'state_cutoff', 50.0, 'Of the filter on positions (Hz), used where velocities are '
            'not measured and without the observer.', minimum=0.01, maximum=1e4, change=restart,
        )  # fmt: skip
        declare('stale_after', 0.5, 'Age of the joint states that counts as too old (s).',
                minimum=0.001, maximum=1e3)  # fmt: skip
        declare(
            'complete_joint_states', 'auto',
            'Publish joint_states_complete, with passive and virtual joints: when joint_states '
            'lacks some (auto), always or never.', choices=('auto', 'always', 'never'),
        )  # fmt: skip
        declare(
            'indeterminate', 'hide', 'Components of joint forces that equilibrium does not fix: '
            'NaN in messages and not drawn (hide), or those of the smallest loads (least-norm).',
            choices=('hide', 'least-norm'),
        )  # fmt: skip
        declare('marker_rate', 20.0, 'Arrays of arrows per second (Hz); 0 for none.',
                minimum=0.0, maximum=1000.0, change=restart)  # fmt: skip
        declare('force_scale', 0.0, 'Arrow length for 1 N (m); 0 for one that fits the robot.',
                minimum=0.0, change=restart)  # fmt: skip
        declare('moment_scale', 0.0, 'Arrow length for 1 N m (m); 0 for one that fits the robot.',
                minimum=0.0, change=restart)  # fmt: skip
        declare('path_rate', 20.0, 'Points of the paths per second (Hz); 0 for none.',
                minimum=0.0, maximum=1000.0, change=restart)  # fmt: skip
        declare('path_length', 10.0, 'Seconds that the paths reach back.', minimum=0.1,
                maximum=1e4, change=restart)  # fmt: skip

    def _restart(self) -> None:
        """Begin with the parameters as they are now."""
        p = self.parameters
        self.estimator = ForceEstimator(
            self.robot, p['wrench_source'] == 'observer', p['observer_cutoff'], p['state_cutoff']
        )
        self.markers = ForceMarkers(self.robot, p['force_scale'], p['moment_scale'])
        self._path = PlatformPath(self.base_link, p['path_rate'], p['path_length'])
        self._wanted_path = PlatformPath(self.base_link, p['path_rate'], p['path_length'])
        self._due, self._markers_due = Every(p['rate']), Every(p['marker_rate'])

    def _open_topics(self) -> None:
        announce, listen = self.announce, self.listen
        self._platform = (
            (announce(PoseStamped, 'platform/pose'), messages.pose_message),
            (announce(TwistStamped, 'platform/twist'), messages.twist_message),
            (announce(AccelStamped, 'platform/accel'), messages.accel_message),
        )
        self._complete = announce(JointState, 'joint_states_complete')
        self._found_wrench = announce(WrenchStamped, 'external_wrench_estimate')
        self._marker_array = announce(MarkerArray, 'joint_forces/markers')
        self._peaks = announce(Float64MultiArray, 'joint_forces/peaks', LATCHED)
        self._actual = announce(Path, 'path/actual')
        self._desired = announce(Path, 'path/desired')
        topics = topic_names(self.names)
        for name, topic in zip(self.names, topics):
            if name != topic:
                self.get_logger().info(f'{name!r} is no name for a topic: joint_forces/{topic}')
        self._forces = [announce(WrenchStamped, f'joint_forces/{topic}') for topic in topics]
        self.create_service(Trigger, '~/reset_peaks', self._reset_peaks)
        listen(Odometry, 'base_motion', self._take_base)
        listen(AccelStamped, 'base_accel', self._take_base_accel)
        listen(WrenchStamped, 'external_wrench', self._take_wrench)
        listen(JointState, 'feedforward', self._take_desired)
        listen(JointState, 'joint_states', self._take, OUTPUT)  # the observer wants them all

    # ------------------------------------------------------------ input

    def _take_base(self, message: Odometry) -> None:
        self._base = messages.read_base_motion(message, self._accel)
        self._odometry = message

    def _take_base_accel(self, message: AccelStamped) -> None:
        odometry = Odometry() if self._odometry is None else self._odometry
        self._base = messages.read_base_motion(odometry, message)
        self._accel = message

    def _take_wrench(self, message: WrenchStamped) -> None:
        messages.read_wrench(message, self.base_link, self.platform_link, np.eye(3))
        self._wrench = message

    def _take_desired(self, message: JointState) -> None:
        stamp = message.header.stamp
        seconds = messages.seconds(stamp)
        if self._wanted_path.due(seconds) and self._desired.get_subscription_count():
            q = messages.read_joints(message, self.robot.actuators, 'position')
            pose = self._wanted.forward_kinematics(q, None, self._wanted_pose)
            self._wanted_pose = pose
            self._desired.publish(self._wanted_path.message(seconds, pose, stamp))

    def _take(self, message: JointState) -> None:
        now = self._time(message)
        if self._estimate is not None and now == self._estimate.time:
            self._came = time.monotonic()  # a simulator that stands still repeats its state
            return
        self._statistics.begin()
        robot = self.robot
        q = messages.read_joints(message, robot.actuators, 'position')
        qd = _measured(message, robot.actuators, 'velocity')
        efforts = _measured(message, robot.actuators, 'effort')
        found = self.estimator.update(now, q, qd, efforts, self._known_wrench(), self._base)
        self.peaks.update(found.time, self._shown(found))
        self._estimate = found
        self._came = time.monotonic()
        self._fields = {'velocity': qd is not None, 'effort': efforts is not None}
        self._complete_source = self._has_all(message)
        if self._due(found.time):
            self._publish(found, message.header.stamp)
        if self._markers_due(found.time) and self._marker_array.get_subscription_count():
            self._publish_arrows(found, message.header.stamp)
        if self._path.due(found.time) and self._actual.get_subscription_count():
            self._actual.publish(
                self._path.message(found.time, found.motion, message.header.stamp)
            )
        self._statistics.end()

    def _time(self, message: JointState) -> float:
        """Seconds of a sample, from the first one on; of arrival if it has no stamp."""
        nanoseconds = messages.nanoseconds(message.header.stamp) or time.monotonic_ns()
        if self._epoch is None:
            self._epoch = nanoseconds
        return 1e-9 * (nanoseconds - self._epoch)

    def _known_wrench(self) -> Array | None:
        if self._wrench is None or self.parameters['wrench_source'] == 'none':
            return None
        turn = np.eye(3) if self._estimate is None else self._estimate.motion.rotation
        return messages.read_wrench(self._wrench, self.base_link, self.platform_link, turn)

    def _has_all(self, message: JointState) -> bool:
        chain = (joint.name for joint in self.robot.model.chain)
        return {*self.robot.joints, *chain} <= set(message.name)

    # ------------------------------------------------------------ output

    def _shown(self, found: ForceEstimate) -> Array:
        """Wrenches (k, 6) as they are published: by default NaN where not determinate."""
        forces = found.joint_forces
        if not forces.redundancy or self.parameters['indeterminate'] == 'least-norm':
            return forces.array
        return np.where(forces.determinate_array, forces.array, np.nan)

    def _publish(self, found: ForceEstimate, stamp: Any) -> None:
        for publisher, message in self._platform:
            publisher.publish(message(found.motion, stamp, self.base_link))
        wrench = _in_platform_axes(found)
        self._found_wrench.publish(messages.wrench_message(wrench, stamp, self.platform_link))
        rows = self._shown(found).tolist()
        for publisher, frame, row in zip(self._forces, self.markers.frames, rows):
            if publisher.get_subscription_count():
                publisher.publish(messages.wrench_message(row, stamp, frame))
        wanted = self.parameters['complete_joint_states']
        if wanted == 'always' or wanted == 'auto' and not self._complete_source:
            self._publish_complete(found, stamp)

    def _publish_arrows(self, found: ForceEstimate, stamp: Any) -> None:
        lifetime = max(0.5, 3.0 / self.parameters['marker_rate'])
        shown, external = self._shown(found), _in_platform_axes(found)
        self._marker_array.publish(
            self.markers.message(shown, external, found.motion, stamp, lifetime)
        )

    def _publish_complete(self, found: ForceEstimate, stamp: Any) -> None:
        joints = self.robot.inverse_kinematics(found.motion)
        chain, values, rates = self.robot.virtual_joints(found.motion, self._chain_guess)
        self._chain_guess = values
        efforts = None
        if found.efforts is not None:
            efforts = np.zeros(len(joints.names) + len(chain))
            efforts[list(self.robot.model.actuators)] = found.efforts
        self._complete.publish(
            messages.joint_state_message(
                (*joints.names, *chain), stamp, np.concatenate([joints.position, values]),
                np.concatenate([joints.velocity, rates]), efforts,
            )
        )  # fmt: skip

    def _publish_peaks(self) -> None:
        message = Float64MultiArray()
        count = len(self.names)
        message.layout.dim = [
            MultiArrayDimension(label=' '.join(self.names), size=count, stride=2 * count),
            MultiArrayDimension(label='force moment', size=2, stride=2),
        ]
        message.data = np.stack([self.peaks.force, self.peaks.moment], axis=1).ravel().tolist()
        self._peaks.publish(message)

    def _reset_peaks(self, request: Any, response: Any) -> Any:
        f_name, force, m_name, moment = self.peaks.largest()
        response.message = (
            f'forgotten: {force:.4g} N in {f_name}, {moment:.4g} N m in {m_name}'
        )
        response.success = True
        self.peaks.reset()
        self._publish_peaks()
        return response

    # ------------------------------------------------------------ diagnostics

    def publish_diagnostics(self) -> None:
        """Publish the peaks with the diagnostics."""
        super().publish_diagnostics()
        if self._estimate is not None:
            self._publish_peaks()

    def diagnose(self) -> Iterable[DiagnosticStatus]:
        """Return the state of input, estimate, joint forces and peaks."""
        yield self._diagnose_input()
        if self._estimate is not None:
            yield self._diagnose_estimate(self._estimate)
            yield self._diagnose_forces(self._estimate)
            yield self._diagnose_peaks()

    def _diagnose_input(self) -> DiagnosticStatus:
        summary = self._statistics.summary()
        age = None if self._came is None else time.monotonic() - self._came
        values = {
            'rate (Hz)': summary.rate,
            'age (s)': 'none came' if age is None else f'{age:.3f}',
            'time per sample (ms)': 1e3 * summary.busy,
            'samples': summary.ticks,
            **{f'{field} measured': told for field, told in self._fields.items()},
            'all joints': self._complete_source,
        }
        limit = self.parameters['stale_after']
        stale = age is None or age > limit
        if stale and not self._stale_said and age is not None:
            self.get_logger().warning(f'no usable joint states for {limit:g} s; nothing published')
        self._stale_said = stale
        if age is None:
            return self.status('joint states', WARN, 'waiting for joint_states', values)
        if stale:
            return self.status('joint states', ERROR, f'none usable for {age:.1f} s', values)
        if not self._fields['effort'] and self.parameters['wrench_source'] == 'observer':
            return self.status(
                'joint states', WARN, 'no measured efforts: the external wrench is that of the '
                'topic external_wrench, or zero', values,
            )  # fmt: skip
        return self.status('joint states', OK, f'{summary.rate:.1f} Hz', values)

    def _diagnose_estimate(self, found: ForceEstimate) -> DiagnosticStatus:
        p = self.parameters
        observing = found.way == OBSERVER
        values: dict[str, Any] = {
            'external wrench by': found.way,
            'filter delay (ms)': 1e3 * found.delay,
            'observer cut-off (Hz)': p['observer_cutoff'] if observing else 'not used',
            'state cut-off (Hz)': 'not used' if observing and self._fields['velocity']
            else p['state_cutoff'],
            'external force (N)': float(np.linalg.norm(found.wrench[:3])),
            'external moment (N m)': float(np.linalg.norm(found.wrench[3:])),
            'base': 'level and at rest' if self._base is None else 'as base_motion says',
        }  # fmt: skip
        if not observing:
            values['external_wrench'] = 'came' if self._wrench is not None else 'none came: zero'
            residual = found.effort_residual
            if residual is not None:
                values['measured less computed effort'] = float(np.abs(residual).max())
        if observing and self.robot.dof < 6:
            values['not observable'] = 'wrenches that the closures alone carry'
        return self.status('estimate', OK, f'{found.way}, {1e3 * found.delay:.1f} ms late', values)

    def _diagnose_forces(self, found: ForceEstimate) -> DiagnosticStatus:
        forces = found.joint_forces
        values: dict[str, Any] = {'indeterminate loads': forces.redundancy}
        for k, group in enumerate(forces.sharing):
            values[f'group {k + 1}'] = f'{group.loads} shared by {", ".join(group.names)}'
        if bool(np.any(forces.rank_unclear)):
            return self.status(
                'joint forces', WARN, 'too close to call which are unique: near a singularity',
                values,
            )  # fmt: skip
        if not forces.redundancy:
            return self.status('joint forces', OK, 'all determinate', values)
        names = [name for group in forces.sharing for name in group.names]
        hidden = 'hidden' if self.parameters['indeterminate'] == 'hide' else 'least-norm shown'
        return self.status(
            'joint forces', OK,
            f'components not determinate ({hidden}) in {", ".join(names)}', values,
        )  # fmt: skip

    def _diagnose_peaks(self) -> DiagnosticStatus:
        peaks = self.peaks
        values = {
            name: f'{peaks.force[k]:.5g} N, {peaks.moment[k]:.5g} N m'
            for k, name in enumerate(peaks.names)
        }
        f_name, force, m_name, moment = peaks.largest()
        text = f'{force:.4g} N in {f_name}, {moment:.4g} N m in {m_name}'
        return self.status('peaks', OK, text, values)


def _measured(message: JointState, names: Sequence[str], field: str) -> Array | None:
    """Return a field of the joints, None where it is empty or NaN for all of them."""
    values = getattr(message, field)
    if not len(values):
        return None
    if np.isnan(values).any() and len(values) == len(message.name):
        place = {name: k for k, name in enumerate(message.name)}
        if all(np.isnan(values[place[name]]) for name in names):
            return None
    return messages.read_joints(message, names, field)


def _in_platform_axes(found: ForceEstimate) -> Array:
    """Return the external wrench (6,) in platform axes."""
    turn = found.motion.rotation.T
    return np.concatenate([turn @ found.wrench[:3], turn @ found.wrench[3:]])


def main(args: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(JointForceEstimator, args)


if __name__ == '__main__':
    sys.exit(main())
