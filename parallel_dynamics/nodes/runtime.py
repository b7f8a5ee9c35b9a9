"""What every node shares: start and stop, the spin loop, periodic loops, input, diagnostics.

A node derives from :class:`RobotNode` and its ``main`` is ``return run(MyNode, args)``. The
library below does the computing; nodes translate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
import logging
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.signals import SignalHandlerOptions

import parallel_dynamics as pd
from parallel_dynamics.nodes import middleware
from parallel_dynamics.nodes.parameters import Parameters
from parallel_dynamics.nodes.statistics import LoopStatistics
from parallel_dynamics.nodes.topics import READY

STREAM = QoSProfile(depth=10)
"""Reliable, the last ten: for reading states and commands that come all the time."""
NEWEST = QoSProfile(depth=1)
"""Reliable, only the last: for a loop that must not work off what has become old."""
OUTPUT = QoSProfile(depth=500)
"""Reliable, with some time in hand: a reader that was kept waiting still gets everything."""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Reliable, and the last message is kept for those who come later."""

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR

BAD_MESSAGE = (pd.ParallelDynamicsError, ValueError, TypeError, LookupError, ArithmeticError)
"""What reading a message may raise; a node counts it and goes on."""

STOP_WITHIN = 0.8
"""Seconds after a signal at which the process ends, whatever still runs."""


# ---------------------------------------------------------------- loops


class Loop:
    """A callback called at a fixed rate, on the steady clock or on the ROS clock.

    On the ROS clock a loop follows ``/clock`` when ``use_sim_time`` is set.
    """

    def __init__(
        self, node: Node, rate: float, callback: Callable[[], None], ros_clock: bool = False
    ) -> None:
        self.statistics = LoopStatistics(1.0 / rate)
        self._callback = callback
        clock = node.get_clock() if ros_clock else Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(1.0 / rate, self._tick, clock=clock)

    def _tick(self) -> None:
        self.statistics.begin()
        self._callback()
        self.statistics.end()

    def set_rate(self, rate: float) -> None:
        """Go on at another rate (Hz)."""
        self._timer.timer_period_ns = round(1e9 / rate)
        self._timer.reset()
        self.statistics.restart(1.0 / rate)

    def pause(self) -> None:
        """Stop ticking until :meth:`resume`."""
        self._timer.cancel()

    def resume(self) -> None:
        """Tick again."""
        self.statistics.restart()
        self._timer.reset()


# ---------------------------------------------------------------- the node


class RobotNode(Node):
    """A node about one robot, which the parameter ``robot`` names.

    Attributes
    ----------
    parameters : Parameters
    robot : parallel_dynamics.Robot
    base_link, platform_link : str
        Frames of base and platform.
    refused : Counter
        Messages that could not be used, by topic.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.parameters = Parameters(self)
        self.refused: Counter[str] = Counter()
        self._reasons: dict[str, str] = {}
        self._reported: Counter[str] = Counter()
        source = self.parameters.declare(
            'robot',
            'gough_stewart',
            'Name of a shipped robot, or path to the YAML of another.',
            fixed=True,
        )
        self.robot = pd.load_robot(source)
        self.base_link = self.robot.model.bodies[0].name
        self.platform_link = self.robot.model.bodies[1].name
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', STREAM)
        rate = self.parameters.declare(
            'diagnostics_rate', 1.0, 'Diagnostics per second.', minimum=0.1, maximum=100.0,
            change=lambda value: self._diagnostics_loop.set_rate(value),
        )  # fmt: skip
        self._diagnostics_loop = Loop(self, rate, self.publish_diagnostics)

    # ------------------------------------------------------------ to be overridden

    def background(self) -> float:
        """Work between messages; return how long (s) the next wait for one may take."""
        return 0.1

    def diagnose(self) -> Iterable[DiagnosticStatus]:
        """Return what this node has to say to /diagnostics, as made by :meth:`status`."""
        return ()

    def close(self) -> None:
        """Let go of files and the like, before the node is destroyed."""

    # ------------------------------------------------------------ input and output

    def listen(
        self,
        kind: Any,
        topic: str,
        callback: Callable[[Any], None],
        qos: QoSProfile = STREAM,
    ) -> Any:
        """Subscribe; a message that ``callback`` cannot use is counted, said, and forgotten.

        Reliability, depth and durability can be changed by ``qos_overrides`` parameters.
        """

        def guarded(message: Any) -> None:
            try:
                callback(message)
            except BAD_MESSAGE as error:
                self.refuse(topic, str(error))

        options = QoSOverridingOptions.with_default_policies()
        return self.create_subscription(
            kind, topic, guarded, qos, qos_overriding_options=options
        )

    def announce(self, kind: Any, topic: str, qos: QoSProfile = OUTPUT) -> Any:
        """Return a publisher whose quality of service can be changed by ``qos_overrides``."""
        options = QoSOverridingOptions.with_default_policies()
        return self.create_publisher(kind, topic, qos, qos_overriding_options=options)

    def refuse(self, topic: str, reason: str) -> None:
        """Count a message that cannot be used, and say so at most once a second."""
        self.refused[topic] += 1
        self._reasons[topic] = reason
        self.get_logger().warning(f'{topic}: {reason}', throttle_duration_sec=1.0)

    def stamp(self) -> Any:
        """Return the time now, for headers."""
        return self.get_clock().now().to_msg()

    # ------------------------------------------------------------ diagnostics

    def status(
        self, task: str, level: bytes, message: str, values: Mapping[str, Any] | None = None
    ) -> DiagnosticStatus:
        """Return one line of diagnostics; floats are written short."""
        pairs = [
            KeyValue(key=key, value=f'{value:.6g}' if isinstance(value, float) else str(value))
            for key, value in (values or {}).items()
        ]
        return DiagnosticStatus(
            level=level, name=f'{self.get_name()}: {task}', message=message,
            hardware_id=self.robot.name, values=pairs,
        )  # fmt: skip

    def loop_status(self, task: str, statistics: LoopStatistics) -> DiagnosticStatus:
        """Return how steady a loop runs; a warning when it misses a tenth of its ticks."""
        summary = statistics.summary()
        slow = summary.ticks > 10 and 0.0 < summary.rate < 0.9 * summary.wanted_rate
        message = f'{summary.rate:.1f} Hz of {summary.wanted_rate:g} Hz'
        return self.status(task, WARN if slow else OK, message, summary.values())

    def _input_status(self) -> DiagnosticStatus:
        new = {t: n for t, n in self.refused.items() if n > self._reported[t]}
        self._reported = Counter(self.refused)
        values: dict[str, Any] = {f'{t} refused': n for t, n in self.refused.items()}
        values.update({f'{t} last reason': reason for t, reason in self._reasons.items()})
        if new:
            return self.status('input', WARN, f'refused messages on {", ".join(new)}', values)
        return self.status('input', OK, 'messages are fine', values)

    def publish_diagnostics(self) -> None:
        """Publish everything that :meth:`diagnose` returns, and what input was refused."""
        array = DiagnosticArray()
        array.header.stamp = self.stamp()
        array.status = [*self.diagnose(), self._input_status()]
        self._diagnostics.publish(array)


# ---------------------------------------------------------------- running


class _Stop(BaseException):
    """A signal came while the node was still starting."""


class _Signals:
    """Turns SIGINT and SIGTERM into a flag, and sees that the process then really ends."""

    def __init__(self) -> None:
        self.came = False
        self.started = False
        self.exit_code = 0
        read, write = os.pipe()
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        threading.Thread(target=self._deadline, args=(read,), daemon=True).start()
        signal.signal(signal.SIGINT, self._handle)
        signal.signal(signal.SIGTERM, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        already = self.came
        self.came = True
        if not self.started and not already:
            raise _Stop

    def _deadline(self, read: int) -> None:
        # Compiled code or a middleware that hangs would keep Python's own handler from running.
        os.read(read, 1)
        time.sleep(STOP_WITHIN)
        os._exit(self.exit_code)


def make_executor() -> tuple[Any, str]:
    """Return the steadiest executor that this rclpy has, and its name.

    Events where there are any, else the single-threaded one; multi-threaded ones starve timers.
    """
    wanted = os.environ.get('PARALLEL_DYNAMICS_EXECUTOR', 'events')
    if wanted != 'single':
        try:
            from rclpy.experimental import EventsExecutor

            return EventsExecutor(), 'events'
        except (ImportError, AttributeError, RuntimeError):
            pass
    from rclpy.executors import SingleThreadedExecutor

    return SingleThreadedExecutor(), 'single-threaded'


def run(
    make_node: Callable[[], RobotNode],
    args: Sequence[str] | None = None,
    closed: Callable[[Any], None] | None = None,
) -> int:
    """Run a node until SIGINT or SIGTERM; return the exit code of the process.

    ``closed`` is called with a node that has worked and let go of its files, before the end.
    0 after a signal, 1 when the node fails, 2 when parameters or the robot's description are at
    fault; then a sentence on the log says what is wrong, and no traceback.
    """
    signals = _Signals()
    middleware.prefer(os.environ)
    node: RobotNode | None = None
    executor: Any = None
    try:
        rclpy.init(
            args=None if args is None else [sys.argv[0], *args],
            signal_handler_options=SignalHandlerOptions.NO,
        )
        node = make_node()
        executor, kind = make_executor()
        executor.add_node(node)
        node.get_logger().info(f'{READY} robot {node.robot.name}, executor {kind}')
        signals.started = True
        while not signals.came and rclpy.ok():
            executor.spin_once(timeout_sec=node.background())
    except _Stop:
        pass
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except (pd.ParallelDynamicsError, ParameterException) as error:
        signals.exit_code = 1 if signals.started else 2
        rclpy.logging.get_logger('parallel_dynamics').fatal(str(error))
    finally:
        signals.started = True
        worked = node is not None and not signals.exit_code
        if not _end(node, executor, closed if worked else None):
            signals.exit_code = signals.exit_code or 1
    if signals.came:
        # All is closed; taking down the interpreter would take longer than the node may.
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(signals.exit_code)
    return signals.exit_code


def _end(
    node: RobotNode | None, executor: Any, closed: Callable[[Any], None] | None
) -> bool:
    """Let go of everything; return whether the node could close what it had open."""
    good = True
    if node is not None:
        try:
            node.close()
        except (pd.ParallelDynamicsError, OSError) as error:
            good = False
            node.get_logger().fatal(str(error))
        if closed is not None and good:
            closed(node)
        if executor is not None:
            executor.remove_node(node)
        node.destroy_node()
    if executor is not None:
        executor.shutdown()
    rclpy.try_shutdown()
    return good
