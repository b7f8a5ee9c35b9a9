"""Simulator and controller as real processes, in lock-step: what counts is simulated time."""

from __future__ import annotations

import re

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, WrenchStamped
import numpy as np
import pytest
from robots import load
import ros_process
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory

import parallel_dynamics as pd
from parallel_dynamics import control, trajectories
from parallel_dynamics.control.laws import pose_error
from parallel_dynamics.model import PLATFORM
from parallel_dynamics.nodes import messages

pytestmark = pytest.mark.ros

LEAD = 0.2  # s from the pose in which a trajectory is judged to its start
SETTLED = 0.6  # s after the start, from which on errors count
TRIES = 5  # of a run whose poses do not all arrive here: simulated time waits for no listener


def compile_first(robot):
    """Leave compiled code in the cache, so that processes are ready soon."""
    pd.Simulator(robot).step(np.zeros(robot.dof), 1e-3)
    loop = control.ControlLoop(robot)
    loop.enable(0.0)
    loop.measure(0.0, np.zeros(robot.dof), np.zeros(robot.dof))
    loop.step(0.0)
    motion = trajectories.preset(robot, 'swing', duration=3.0, size=0.9)
    loop.tracker.judge(motion, None, 0.0)


class ClosedLoop:
    """A robot in the simulator under the controller, and a peer that sends trajectories."""

    def __init__(self, name, **parameters):
        self.robot = load(name)
        compile_first(self.robot)
        self.name, self.parameters = name, parameters
        self.simulator = self.start_simulator()
        self.controller = None
        self.peer = None
        try:
            self.controller = self.start_controller()
            self.peer = ros_process.Peer()
            self.poses = self.peer.listen(PoseStamped, 'platform/pose')
            self.reports = self.peer.listen(DiagnosticArray, '/diagnostics')
            self.send = self.peer.publisher(MultiDOFJointTrajectory, 'desired_trajectory')
            self.wait_until(0.05)
        except BaseException:
            self.close()
            raise

    def start_simulator(self):
        # Simulated time does not wait for this process: what it misses must still be there.
        deep = {'qos_overrides./platform/pose.publisher.depth': 5000}
        return ros_process.start(
            'simulator', robot=self.name, mode='lock_step', publish_clock=True, **deep
        )

    def start_controller(self):
        return ros_process.start(
            'controller', robot=self.name, trigger='joint_states', use_sim_time=True,
            diagnostics_rate=10.0, **self.parameters,
        )  # fmt: skip

    def close(self):
        for part in (self.peer and self.peer.close, self.controller and self.controller.end):
            if part:
                part()
        self.simulator.end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def time(self):
        return messages.seconds(self.poses[-1].header.stamp) if self.poses else 0.0

    def wait_until(self, time):
        self.peer.wait_for(lambda: self.time >= time, f't = {time} s:\n{self.controller.output}')

    def diagnosis(self, name):
        """The last message of a task in the diagnostics, and its values."""
        for report in reversed(list(self.reports)):
            for status in report.status:
                if status.name == name:
                    return status.message, {v.key: v.value for v in status.values}
        return '', {}

    def set(self, **values):
        (*results,) = self.peer.set_parameters('controller', **values)
        assert all(result.successful for result in results), results

    def offer(self, trajectory):
        """Send a trajectory and return when it starts; time stands still while it is judged."""
        paused = self.peer.call(Trigger, 'simulator/pause')
        now = float(re.search(r't = ([0-9.]+) s', paused.message)[1])
        times = trajectory.grid(200.0)
        points = list(zip(times.tolist(), trajectory.sample(times)))
        stamp = messages.time_message(round(1e9 * (now + LEAD)))
        answers = lambda: [  # noqa: E731
            line for line in self.controller.lines
            if 'accepted' in line or 'desired_trajectory:' in line
        ]  # fmt: skip
        before = len(answers())
        self.send.publish(messages.trajectory_message(points, 'platform', stamp, ''))
        self.peer.wait_for(lambda: len(answers()) > before, 'the trajectory')
        assert f'accepted, starts in {LEAD:.3f} s' in answers()[-1]
        assert self.peer.call(Trigger, 'simulator/resume').success
        return now + LEAD

    def follow(self, trajectory):
        """Run a trajectory and return the errors of shift and turn, rms, and their amplitudes."""
        wanted = 450 * (trajectory.duration - SETTLED)  # of 500 poses per s
        seen = []
        for _ in range(TRIES):
            start = self.offer(trajectory)
            self.wait_until(start + trajectory.duration + 0.01)
            assert 'refused' not in self.controller.output
            poses = [(messages.seconds(pose.header.stamp) - start, pose)
                     for pose in list(self.poses)]  # fmt: skip
            poses = [(at, pose) for at, pose in poses if SETTLED < at <= trajectory.duration]
            seen.append(len(poses))
            if len(poses) > wanted:
                break
        assert len(poses) > wanted, f'poses of {wanted:.0f}: {seen}'
        errors, displacements = [], []
        for at, pose in poses:
            there = trajectory.at(at).data
            errors.append(pose_error(there, messages.read_pose(pose.pose).data))
            displacements.append(pose_error(there, self.robot.home.data))
        e, d = np.array(errors).reshape(-1, 2, 3), np.array(displacements).reshape(-1, 2, 3)
        rms = np.sqrt((e**2).sum(axis=2).mean(axis=0))
        return rms, 0.5 * np.linalg.norm(np.ptp(d, axis=0), axis=1)


def worst_share(outcome):
    """The larger of shift and turn as a share of its amplitude; what does not move is left out."""
    rms, amplitude = outcome
    moving = amplitude > 1e-3
    return float((rms[moving] / amplitude[moving]).max())


@pytest.mark.parametrize('name', pd.shipped_robots())
def test_every_robot_follows(name):
    """A tenth of the platform's mass too much costs less than 1 %; feed-forward is worth it."""
    robot = load(name)
    inertia = robot.model.bodies[PLATFORM].inertia
    long = trajectories.preset(robot, 'swing', duration=2.5, size=0.9)
    short = trajectories.preset(robot, 'swing', duration=1.2, size=0.9)
    wrong = {'payload_mass': 0.1 * inertia.mass, 'payload_com': inertia.com.tolist()}
    with ClosedLoop(name, mode='computed_torque', **wrong) as loop:
        assert worst_share(loop.follow(long)) < 0.01
        loop.set(mode='pd_feedforward')
        assert worst_share(loop.follow(long)) < 0.01
        loop.set(payload_mass=0.0)
        loop.controller.wait_for_line('payload: 0 kg')
        loop.wait_until(loop.time + 0.3)
        good = worst_share(loop.follow(short))
        loop.set(feedforward=0.0, tracking_limit=10.0)
        loop.wait_until(loop.time + 0.5)
        alone = worst_share(loop.follow(short))
        assert alone > 5.0 * good
        assert 'Traceback' not in loop.controller.output
        assert 'ERROR' not in loop.controller.output, loop.controller.output


def kill(process):
    process.process.kill()
    process.process.wait()


def test_each_node_may_die_and_come_back():
    """The others go to their safe state, and go on when it is back."""
    with ClosedLoop('delta') as loop:
        options = {
            'robot': 'delta', 'kind': 'circle', 'output': 'stream', 'repeat': 0, 'size': 0.2,
            'use_sim_time': True, 'pause': 0.05,
        }  # fmt: skip
        activity = lambda: loop.diagnosis('controller: control')[1].get('activity')  # noqa: E731
        with ros_process.start('trajectory_source', **options) as source:
            loop.peer.wait_for(lambda: activity() == 'streaming', 'a stream')
            source.wait_for_line('begins')
            loop.wait_until(loop.time + 0.5)
            kill(source)
        loop.peer.wait_for(lambda: activity() == 'holding', 'the robot to be held')
        with ros_process.start('trajectory_source', **options) as source:
            loop.peer.wait_for(lambda: activity() == 'streaming', 'a stream again')

            # Nobody waits for the estimator; a new one finds the loads again.
            name = loop.robot.closures[0]
            forces = loop.peer.listen(WrenchStamped, f'joint_forces/{name}')
            for _ in range(2):
                own = {'robot': 'delta', 'use_sim_time': True}
                with ros_process.start('joint_force_estimator', **own) as estimator:
                    loop.peer.wait_for(lambda: forces, 'joint forces')
                    assert 'Traceback' not in estimator.output
                    kill(estimator)
                loop.wait_until(loop.time + 0.1)
                forces.clear()
            assert activity() == 'streaming'

            # Without a controller, simulated time stands still; a new one takes the robot up.
            kill(loop.controller)
            loop.controller = loop.start_controller()
            loop.wait_until(loop.time + 0.2)
            loop.peer.wait_for(lambda: activity() == 'streaming', 'a stream to the new one')

            # Without a simulator the clock stands still; with a new one it has gone back.
            kill(loop.simulator)
            loop.peer.wait_for(
                lambda: loop.diagnosis('controller: control')[0] == 'the clock stands still',
                'the controller to miss the clock',
            )
            loop.simulator = loop.start_simulator()
            loop.controller.wait_for_line('the clock went back')
            loop.peer.wait_for(lambda: 0.2 < loop.time < 5.0, 'time to go on')
            loop.peer.wait_for(lambda: activity() == 'streaming', 'a stream once more')
            assert source.alive
        assert loop.controller.alive
        assert 'Traceback' not in loop.controller.output
