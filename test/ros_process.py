"""Nodes as real processes, and a peer in the test that talks to them. Everything always ends.

    with ros_process.start('simulator', robot='delta') as node, ros_process.Peer() as peer:
        states = peer.listen(JointState, 'joint_states')
        peer.wait_for(lambda: states, 'joint states')
        code, seconds = node.stop(signal.SIGINT)

`conftest.py` gives each test process its own ROS domain; nodes started here are on it too.
Give concurrently running nodes of one test process their own namespace.
"""

from __future__ import annotations

from collections import deque
import contextlib
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile

REPOSITORY = Path(__file__).resolve().parent.parent
PATIENCE = 240.0  # s; generous: a busy machine, or kernels that are compiled for the first time


class RosProcess:
    """A program in its own process group, its output collected, ended whatever happens."""

    def __init__(self, words, **environment):
        changes = {'PYTHONPATH': str(REPOSITORY), 'PYTHONUNBUFFERED': '1', **environment}
        self.process = subprocess.Popen(
            [str(word) for word in words],
            env={**os.environ, **changes},
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.lines = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip('\n'))

    @property
    def output(self):
        return '\n'.join(self.lines)

    @property
    def alive(self):
        return self.process.poll() is None

    def wait_for_line(self, text, timeout=PATIENCE):
        """Wait until a line of the output contains text, and return it."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            for line in list(self.lines):
                if text in line:
                    return line
            if not self.alive:
                self._reader.join(1.0)
                for line in list(self.lines):
                    if text in line:
                        return line
                raise AssertionError(f'ended ({self.process.returncode}) before {text!r} came:\n'
                                     f'{self.output}')  # fmt: skip
            time.sleep(0.01)
        raise AssertionError(f'{text!r} did not come in {timeout} s:\n{self.output}')

    def stop(self, number=signal.SIGINT, timeout=10.0):
        """Send a signal; return the exit code and how many seconds the end took."""
        started = time.monotonic()
        self.process.send_signal(number)
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f'did not end {timeout} s after {number!r}:\n{self.output}'
            ) from None
        return code, time.monotonic() - started

    def wait(self, timeout=PATIENCE):
        """Wait until it ends by itself; return the exit code."""
        code = self.process.wait(timeout)
        self._reader.join(1.0)
        return code

    def end(self):
        """Kill it and all that it started, if anything is left."""
        if self.alive:
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(2.0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join(1.0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def parameter_text(value):
    """Return a value as the command line of a node takes it."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, (list, tuple)):
        return '[' + ', '.join(parameter_text(v) for v in value) + ']'
    if isinstance(value, str):
        return f'"{value}"' if value == '' else value
    return repr(float(value)) if isinstance(value, float) else str(value)


def start(node, *, namespace=None, remaps=None, ready=True, environment=None, **parameters):
    """Start a node of the package by the name of its module; wait until it says it is ready."""
    words = [sys.executable, '-m', f'parallel_dynamics.nodes.{node}', '--ros-args']
    for name, value in parameters.items():
        words += ['-p', f'{name}:={parameter_text(value)}']
    if namespace is not None:
        words += ['-r', f'__ns:=/{namespace.lstrip("/")}']
    for old, new in (remaps or {}).items():
        words += ['-r', f'{old}:={new}']
    process = RosProcess(words, **(environment or {}))
    if ready:
        try:
            process.wait_for_line('ready')
        except BaseException:
            process.end()
            raise
    return process


class Peer:
    """A node inside the test process, spun in a thread: publishes, listens, calls services."""

    def __init__(self, name='peer', namespace='', use_sim_time=False):
        self.context = Context()
        rclpy.init(context=self.context)
        overrides = [Parameter('use_sim_time', value=use_sim_time)]
        self.node = rclpy.create_node(
            name, namespace=namespace, context=self.context, parameter_overrides=overrides
        )
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self._stopping = False
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self):
        while not self._stopping and self.context.ok():
            self.executor.spin_once(timeout_sec=0.05)

    def listen(self, kind, topic, qos=None, keep=100_000):
        """Subscribe; return the deque that messages are appended to.

        By default the reader holds as many as Fast DDS allows: this process may fall far behind
        on a busy machine.
        """
        messages = deque(maxlen=keep)
        qos = QoSProfile(depth=5000) if qos is None else qos
        self.node.create_subscription(kind, topic, lambda m: messages.append(m), qos)
        return messages

    def publisher(self, kind, topic, qos=None, matched=True):
        """Return a publisher, by default one that has found a subscriber already."""
        publisher = self.node.create_publisher(
            kind, topic, QoSProfile(depth=100) if qos is None else qos
        )
        if matched:
            self.wait_for(lambda: publisher.get_subscription_count() > 0, f'a reader of {topic}')
        return publisher

    def call(self, kind, service, request=None, timeout=PATIENCE):
        """Call a service and return its response."""
        client = self.node.create_client(kind, service)
        try:
            assert client.wait_for_service(timeout), f'no service {service}'
            future = client.call_async(kind.Request() if request is None else request)
            self.wait_for(future.done, f'an answer of {service}', timeout)
            return future.result()
        finally:
            self.node.destroy_client(client)

    def set_parameters(self, node, **values):
        """Set parameters of another node; return the results in their order."""
        from rcl_interfaces.srv import SetParameters

        request = SetParameters.Request()
        request.parameters = [
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()
        ]
        return self.call(SetParameters, f'{node}/set_parameters', request).results

    def wait_for(self, condition, what='a condition', timeout=PATIENCE):
        """Wait until condition() is true, and return its value."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            value = condition()
            if value:
                return value
            time.sleep(0.005)
        raise AssertionError(f'waited {timeout} s for {what}')

    def close(self):
        self._stopping = True
        self._thread.join(5.0)
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
