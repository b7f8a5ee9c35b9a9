"""The node `trajectory_source`: publishes desired motions that the robot can follow.

``kind`` names the motion: ``quintic`` and ``trapezoidal`` (rest to rest, out and back, or through
``poses``), ``circle``, ``swing``, ``sweep`` (sine sweep), ``pick_and_place`` (corners blended),
``paper`` (a motion that a paper prints), ``file`` (CSV, see ``trajectories.files``) or ``hold``.
Every motion is looked at before it is published: reach, closures, positions, velocities, efforts
and singularities; one that the robot cannot follow ends the node with the reason, at run time it
is refused and the last one stays.

``output:=trajectory`` publishes the whole motion, with all derivatives, once a repetition.
``output:=stream`` publishes set-points at ``rate``.

It waits until somebody listens on ``desired_trajectory`` and ``joint_states`` say where the
platform is. If that is not where the motion starts, a quintic move leads there first, no faster
than ``approach_speed`` of the actuators' limits. Every ``repeat`` starts when the last is over;
``~/start`` (Trigger) begins anew, ``~/stop`` ends it: a stream ends, and a hold replaces a whole
trajectory. A clock or joint states that go back begin it anew as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory

import parallel_dynamics as pd
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.nodes import messages
from parallel_dynamics.nodes.runtime import OK, WARN, Loop, RobotNode, run
from parallel_dynamics.trajectories import (
    KINDS,
    PAPER_MOTIONS,
    Joined,
    Moves,
    Scaled,
    Trajectory,
    approach,
    check_trajectory,
    on_closures,
    preset,
    require,
)

LOOK = 20.0
"""Hz, at which the node sees whether it is time for the next motion."""
SETTLED = 1.0
"""Seconds (of the wall) without a new reader after which all count as found."""
FEWEST = 50
"""Points of a whole trajectory."""
BRAKE = 0.5
"""Seconds in which ``~/stop`` brings a whole trajectory to rest."""
MOVES = ('quintic', 'trapezoidal')


class TrajectorySourceNode(RobotNode):
    """Makes, checks and publishes motions, one repetition after the other."""

    def __init__(self) -> None:
        super().__init__('trajectory_source')
        self._declare()
        self.motion, self.kind = self._make(), self.parameters['kind']
        self._reader = messages.JointReader(self.robot.actuators)
        self._pose: PlatformMotion | None = None
        self._running: tuple[Trajectory, float] | None = None
        self._done = 0
        self._stopped = False
        self._seen_at = -np.inf
        self._readers, self._readers_since = 0, time.monotonic()
        self._out = self.announce(MultiDOFJointTrajectory, 'desired_trajectory')
        self.listen(JointState, 'joint_states', self._take_joint_states)
        self.create_service(Trigger, '~/start', self._start)
        self.create_service(Trigger, '~/stop', self._stop)
        sim_time = bool(self.get_parameter('use_sim_time').value)
        streams = self.parameters['output'] == 'stream'
        rate = self.parameters['rate'] if streams else LOOK
        self._loop = Loop(self, rate, self._stream if streams else self._publish_next, sim_time)

    def _declare(self) -> None:
        declare = self.parameters.declare
        self._changed = False
        motion: dict[str, Any] = {'change': self._change}
        declare('kind', 'swing', 'Motion.', choices=KINDS, **motion)
        declare('duration', 4.0, 'About how long the motion takes at speed 1, s.', minimum=0.01,
                maximum=3600.0, **motion)  # fmt: skip
        declare('size', 0.6, "Share of the largest that the robot's limits allow; for 'paper' the "
                'factor of the printed amplitude.', minimum=1e-3, maximum=10.0,
                **motion)  # fmt: skip
        declare('speed', 1.0, 'Speed factor.', minimum=1e-3, maximum=100.0, **motion)
        declare('paper', '', f'For kind paper: {", ".join(PAPER_MOTIONS)}.', **motion)
        declare('file', '', 'For kind file: a CSV file.', **motion)
        declare('poses', [], 'For quintic and trapezoidal: poses x y z (m) qx qy qz qw, one after '
                'the other, to go through; none: a move out and back.', **motion)  # fmt: skip
        declare('blend', 0.0, 'Share of a move between poses by which the next one starts early.',
                minimum=0.0, maximum=0.5, **motion)  # fmt: skip
        declare('margin', 1.0, 'Share of the effort and velocity limits that may be used.',
                minimum=0.01, maximum=1.0, **motion)  # fmt: skip
        declare('output', 'trajectory', 'Whole trajectories, or set-points.',
                choices=('trajectory', 'stream'), fixed=True)  # fmt: skip
        declare('rate', 100.0, 'Points per second.', minimum=1.0, maximum=1000.0, fixed=True)
        declare('repeat', 1, 'How often; 0 for ever.', minimum=0)
        declare('pause', 0.5, 'Seconds at rest between two.', minimum=0.0, maximum=3600.0)
        declare('approach_speed', 0.3, "Share of the actuators' speed on the way to the start.",
                minimum=0.01, maximum=1.0)  # fmt: skip

    # ------------------------------------------------------------ making

    def _make(self) -> Trajectory:
        """Return the motion that the parameters ask for, checked."""
        p = self.parameters
        if p['poses']:
            made = self._through_poses()
        else:
            made = preset(
                self.robot, p['kind'], duration=p['duration'], size=p['size'], speed=p['speed'],
                paper=p['paper'], file=p['file'],
            )  # fmt: skip
        require(check_trajectory(self.robot, made, margin=p['margin']), p['kind'])
        return made

    def _through_poses(self) -> Trajectory:
        p = self.parameters
        if p['kind'] not in MOVES:
            raise pd.InputError(f'poses: expected kind quintic or trapezoidal, got {p["kind"]}')
        numbers = np.array(p['poses'])
        if numbers.size % 7 or numbers.size < 14:
            raise pd.InputError(
                f'poses: expected seven numbers (x y z qx qy qz qw) for each of at least two '
                f'poses, got {numbers.size}'
            )
        found = []
        for k, row in enumerate(numbers.reshape(-1, 7)):
            norm = float(np.linalg.norm(row[3:]))
            if abs(norm - 1.0) > messages.QUATERNION_TOLERANCE:
                raise pd.InputError(
                    f'poses: expected a quaternion of norm 1 in pose {k}, got norm {norm:.4g}'
                )
            found.append(PlatformMotion(row[:3], Rotation.from_quat(row[3:]).as_matrix()))
        span = p['duration'] / (len(found) - 1)
        moves = Moves(found, span, p['kind'], p['blend'])
        return on_closures(self.robot, Scaled(moves, p['speed']))

    def _change(self, value: Any) -> None:
        """Make another motion with the next tick, when all parameters of one call are set."""
        self._changed = True

    def _remake(self) -> None:
        """Make another motion; what cannot be followed is refused, and the last one stays."""
        self._changed = False
        try:
            self.motion, self.kind = self._make(), self.parameters['kind']
        except pd.ParallelDynamicsError as error:
            self.refused['parameters'] += 1
            self.get_logger().warning(f'{error}; the last motion stays')
            return
        self._begin_anew()

    # ------------------------------------------------------------ time and place

    def now(self) -> float:
        """Return the time of this node's clock, s."""
        return 1e-9 * float(self.get_clock().now().nanoseconds)

    def _take_joint_states(self, message: JointState) -> None:
        # Only where a motion is to begin does the place matter.
        if self._running is not None and self._pose is not None:
            return
        position, _ = self._reader.read(message)
        self._pose = self.robot.forward_kinematics(position, guess=self._pose)

    def _begin_anew(self) -> None:
        self._running, self._done, self._stopped, self._pose = None, 0, False, None

    def _next(self) -> Trajectory | None:
        """Return the motion to begin now, with the way to its start; None if there is none."""
        if self._changed:
            self._remake()
        now = self.now()
        if now < self._seen_at - 0.1:
            self.get_logger().warning('the clock went back: beginning anew')
            self._begin_anew()
        self._seen_at = now
        if self._running is not None:
            trajectory, start = self._running
            if now < start + trajectory.duration + self.parameters['pause']:
                return None
            self._running, self._pose = None, None
            self._done += 1
        over = 0 < self.parameters['repeat'] <= self._done
        if over or self._stopped or self._pose is None or not self._heard():
            return None
        try:
            goal, speed = self.motion.at(0.0), self.parameters['approach_speed']
            way = approach(self.robot, self._pose, goal, speed)
        except pd.ParallelDynamicsError as error:
            self.refuse('joint_states', str(error))
            self._pose = None
            return None
        return self.motion if way is None else Joined([way, self.motion])

    def _heard(self) -> bool:
        """Return whether somebody listens, and nobody else has just begun to.

        A recorder, say, may be found before the controller, which would miss a whole trajectory.
        """
        readers, now = self._out.get_subscription_count(), time.monotonic()
        if readers != self._readers:
            self._readers, self._readers_since = readers, now
        return bool(readers) and now - self._readers_since > SETTLED

    # ------------------------------------------------------------ publishing

    def _publish(self, times: Any, motion: PlatformMotion, nanoseconds: int) -> None:
        points = list(zip(times.tolist(), motion))
        stamp = messages.time_message(nanoseconds)
        self._out.publish(
            messages.trajectory_message(points, self.platform_link, stamp, self.base_link)
        )

    def _publish_next(self) -> None:
        trajectory = self._next()
        if trajectory is None:
            return
        # Enough for a spline to be the same motion, however short that is.
        times = trajectory.grid(max(self.parameters['rate'], FEWEST / trajectory.duration))
        self._publish(times, trajectory.sample(times), 0)
        self._say(trajectory)

    def _stream(self) -> None:
        trajectory = self._next()
        if trajectory is not None:
            self._say(trajectory)
        if self._running is None or self._stopped:
            return
        trajectory, start = self._running
        since = self.now() - start
        if since > trajectory.duration + self.parameters['pause']:
            return
        nanoseconds = self.get_clock().now().nanoseconds
        times = np.array([since])
        self._publish(np.zeros(1), trajectory.sample(times), nanoseconds)

    def _say(self, trajectory: Trajectory) -> None:
        self._running = (trajectory, self.now())
        self.get_logger().info(
            f'{self.kind} {self._done + 1} begins: {trajectory.duration:.3f} s'
        )

    # ------------------------------------------------------------ services

    def _start(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._begin_anew()
        response.success, response.message = True, f'{self.kind} begins'
        return response

    def _stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._running is not None and self.parameters['output'] == 'trajectory':
            trajectory, start = self._running
            row = np.zeros((1, 24))
            row[0, :12] = trajectory.at(self.now() - start + 0.5 * BRAKE).data[:12]
            self._publish(np.array([BRAKE]), PlatformMotion._wrap(row), 0)
        self._running, self._stopped = None, True
        response.success, response.message = True, 'stopped; ~/start begins anew'
        return response

    # ------------------------------------------------------------ diagnostics

    def diagnose(self) -> Iterable[DiagnosticStatus]:
        """Return what is going on."""
        p, level, message = self.parameters, OK, 'waiting'
        if self._running is not None:
            message = f'{self.kind} is running'
        elif 0 < p['repeat'] <= self._done:
            message = f'done: {self._done} of {p["repeat"]}'
        elif self._stopped:
            message = 'stopped'
        elif not self._out.get_subscription_count():
            level, message = WARN, 'nobody listens on desired_trajectory'
        elif self._pose is None:
            level, message = WARN, 'no joint states: unknown where the platform is'
        values = {
            'kind': self.kind, 'output': p['output'], 'duration (s)': self.motion.duration,
            'done': self._done, 'repeat': p['repeat'],
        }  # fmt: skip
        yield self.status('motion', level, message, values)
        if p['output'] == 'stream':
            yield self.loop_status('stream', self._loop.statistics)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(TrajectorySourceNode, args)


if __name__ == '__main__':
    sys.exit(main())
