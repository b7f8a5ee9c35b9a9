"""The loop in ROS 2: joint state out, effort back, against an rclpy echo of the same messages.

The echo is the floor: what messages alone cost on this machine.
"""

from __future__ import annotations

from importlib.util import find_spec
import os
from pathlib import Path
import subprocess
import sys
import time
from typing import Any

from calls import error
import numpy as np

import parallel_dynamics as pd

ROBOT = 'gough_stewart'
RATES = (500.0, 1000.0)
SECONDS = 6.0
WARM_UP = 1.0
ECHO = """
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from parallel_dynamics.nodes import messages
from parallel_dynamics.nodes.runtime import NEWEST, make_executor
rclpy.init()
node = Node('echo')
out = node.create_publisher(Float64MultiArray, 'effort_commands', 10)
answer = messages.effort_message(6)
def reply(message):
    messages.set_answered(answer, messages.nanoseconds(message.header.stamp))
    answer.data = message.effort
    out.publish(answer)
node.create_subscription(JointState, 'joint_states', reply, NEWEST)
executor, _ = make_executor()
executor.add_node(node)
while rclpy.ok():
    executor.spin_once(timeout_sec=0.1)
"""
CONTROLLER = """
import sys
from parallel_dynamics.nodes import controller, messages
class Labelled(controller.ControllerNode):
    def _take_joint_states(self, message):
        stamp = messages.nanoseconds(message.header.stamp)
        messages.set_answered(self._effort_message, stamp)
        super()._take_joint_states(message)
controller.ControllerNode = Labelled
sys.exit(controller.main())
"""
"""The controller as it is, but that its commands say which joint state they answer."""


def cpu_seconds(pid: int) -> float:
    """Processor time (s) that a process has used."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


class Trial:
    """One program that answers joint states, and what its answers tell."""

    def __init__(self, words: list[str], rate: float) -> None:
        self.words, self.rate = words, rate
        self.robot = pd.load_robot(ROBOT)
        self.sent: dict[int, float] = {}
        self.arrived: list[float] = []
        self.trips: list[float] = []
        self.efforts: list[float] = []

    def receive(self, message: Any) -> None:
        """Take an answer; a command that was said again is none."""
        from parallel_dynamics.nodes import messages

        now = time.perf_counter()
        sent = self.sent.pop(messages.read_answered(message) or 0, None)
        if sent is not None:
            self.arrived.append(now)
            self.trips.append(now - sent)
            self.efforts = list(message.data)

    def run(self) -> dict[str, float]:
        """Send joint states at a fixed rate, and time what comes back."""
        import rclpy
        from rclpy.node import Node
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray

        from parallel_dynamics.nodes.runtime import make_executor

        process = subprocess.Popen(
            self.words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        rclpy.init()
        node = Node('bench')
        self.clock = node.get_clock()
        self.publisher = node.create_publisher(JointState, 'joint_states', 10)
        node.create_subscription(Float64MultiArray, 'effort_commands', self.receive, 10)
        robot = self.robot
        home = robot.inverse_kinematics(robot.home).position[list(robot.model.actuators)]
        self.message = JointState(name=list(robot.actuators), position=home.tolist())
        self.message.velocity = self.message.effort = [0.0] * robot.dof
        self.executor, _ = make_executor()
        self.executor.add_node(node)
        try:
            self._wait(process)
            self._send(WARM_UP)
            self._listen(0.2)  # what is still on its way
            self._forget()
            used = cpu_seconds(process.pid)
            started = time.perf_counter()
            self._send(SECONDS)
            used = cpu_seconds(process.pid) - used
            took = time.perf_counter() - started
            self._listen(0.2)
        finally:
            process.terminate()
            process.wait(10.0)
            self.executor.remove_node(node)
            node.destroy_node()
            rclpy.try_shutdown()
        return self._summary(100.0 * used / took)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        """Speak until there is an answer."""
        deadline = time.perf_counter() + 120.0
        while self.publisher.get_subscription_count() == 0 or not self.arrived:
            if time.perf_counter() > deadline or process.poll() is not None:
                raise RuntimeError('no answer from the other program')
            self._publish()
            self.executor.spin_once(timeout_sec=0.02)

    def _publish(self) -> None:
        now = self.clock.now()
        self.message.header.stamp = now.to_msg()
        self.sent[now.nanoseconds] = time.perf_counter()
        self.publisher.publish(self.message)

    def _send(self, seconds: float) -> None:
        """Send at the rate; what was too late is left out rather than sent in a burst."""
        started = due = time.perf_counter()
        self.count = 0
        while due - started < seconds:
            self._publish()
            self.count += 1
            due = max(due + 1.0 / self.rate, time.perf_counter())
            self._listen(due - time.perf_counter())

    def _listen(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0.0:
            self.executor.spin_once(timeout_sec=left)

    def _forget(self) -> None:
        for found in (self.sent, self.arrived, self.trips):
            found.clear()

    def _summary(self, load: float) -> dict[str, float]:
        weight = self.robot.inverse_dynamics(self.robot.home)
        gaps = np.diff(self.arrived)
        return {
            'rate (Hz)': 1.0 / float(np.mean(gaps)),
            'jitter 50 % (ms)': 1e3 * float(np.percentile(np.abs(gaps - 1.0 / self.rate), 50)),
            'jitter 99 % (ms)': 1e3 * float(np.percentile(np.abs(gaps - 1.0 / self.rate), 99)),
            'latency 50 % (ms)': 1e3 * float(np.percentile(self.trips, 50)),
            'latency 90 % (ms)': 1e3 * float(np.percentile(self.trips, 90)),
            'latency 99 % (ms)': 1e3 * float(np.percentile(self.trips, 99)),
            'latency worst (ms)': 1e3 * float(np.max(self.trips)),
            'not answered (of 10,000)': 1e4 * len(self.sent) / self.count,
            'processor (%)': load,
            'error of the efforts': error(np.array(self.efforts), weight),
        }


def measure() -> dict[str, object] | None:
    """Return controller and echo at each rate; None where there is no ROS 2."""
    if find_spec('rclpy') is None:
        return None
    from parallel_dynamics.nodes import middleware

    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    middleware.prefer(os.environ)
    os.environ.setdefault('ROS_DOMAIN_ID', '91')
    controller = [
        sys.executable, '-c', CONTROLLER, '--ros-args',
        '-p', f'robot:={ROBOT}', '-p', 'trigger:=joint_states',
    ]  # fmt: skip
    found = {}
    for rate in RATES:
        echo = Trial([sys.executable, '-c', ECHO], rate).run()
        del echo['error of the efforts']  # it calculates nothing
        found[f'{rate:g} Hz'] = {
            'controller': Trial([*controller, '-p', f'rate:={rate}'], rate).run(), 'echo': echo,
        }  # fmt: skip
    return found
