"""What the controller says of itself: events in the log, everything in the diagnostics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np

from parallel_dynamics.control import Command, Event, Phase
from parallel_dynamics.nodes.runtime import ERROR, OK, WARN


class ControllerReport:
    """Follows the cycles of a controller node."""

    def __init__(self, node: Any) -> None:
        self._node = node
        self._stopping: set[str] = set()
        self._last_event = 'none'
        self._news = False
        self._clock_at_report = -np.inf
        self._begin()

    def _begin(self) -> None:
        self._square = np.zeros(self._node.robot.dof)
        self._worst = np.zeros(self._node.robot.dof)
        self._count = 0

    def cycle(self, now: float, command: Command) -> None:
        """Take note of one cycle."""
        control = self._node.control
        if command.desired is not None:
            error = command.desired.position - control.state.position
            self._square += error * error
            np.maximum(self._worst, np.abs(error), out=self._worst)
            self._count += 1
        for event in control.supervisor.take_events():
            self._say(event)

    def _say(self, event: Event) -> None:
        log = self._node.get_logger()
        self._last_event = f'{event.condition} {"begins" if event.begins else "ends"}'
        if not event.begins:
            self._stopping.discard(event.condition)
            log.info(f'{event.condition}: over')
            return
        self._news = True
        self._last_event += f': {event.text}'
        if event.stops:
            self._stopping.add(event.condition)
            log.error(f'{event.condition}: {event.text}')
        else:
            log.warning(f'{event.condition}: {event.text}')

    # ------------------------------------------------------------ diagnostics

    def statuses(self) -> Iterable[DiagnosticStatus]:
        """Return the control as a whole, and what the law has learnt."""
        yield self._control()
        learnt = self._node.control.law.report()
        if learnt:
            yield self._node.status('law', OK, self._node.control.mode, learnt)

    def _control(self) -> DiagnosticStatus:
        control, level, message = self._node.control, *self._verdict()
        plan = control.tracker.plan
        now = self._node.now()
        values: dict[str, Any] = {
            'life cycle': self._node.life,
            'mode': control.mode,
            'phase': control.phase.value,
            'activity': control.tracker.activity.value,
            'trajectory ends in (s)': 'none' if plan is None else f'{plan.end - now:.3f}',
            'age of joint states (s)': float(control.age(now)),
            'condition number': float('nan' if control.state is None else control.state.condition),
            'delay (ms)': 1e3 * control.delay.mean,
            'bandwidth in use (%)': 100.0 * control.delay.share,
            'last event': self._last_event,
            **{f'active: {name}': text for name, text in control.supervisor.active.items()},
            **{f'events: {name}': count for name, count in control.supervisor.counts.items()},
        }
        rms = np.sqrt(self._square / max(1, self._count))
        for k, name in enumerate(self._node.robot.actuators):
            values[f'error of {name}, rms'] = float(rms[k])
            values[f'error of {name}, max'] = float(self._worst[k])
        self._begin()
        self._news = False
        return self._node.status('control', level, message, values)  # type: ignore[no-any-return]

    def _verdict(self) -> tuple[bytes, str]:
        node, control = self._node, self._node.control
        now, before = node.now(), self._clock_at_report
        self._clock_at_report = now
        active = control.supervisor.active
        if not node.is_active:
            return OK, f'life cycle: {node.life}'
        if control.phase in (Phase.STOPPED, Phase.RAMPING_DOWN, Phase.HOLDING_EFFORT):
            why = '; '.join(f'{name}: {text}' for name, text in active.items())
            return ERROR, f'{control.phase.value} ({why})'
        if control.state is None:
            return WARN, 'waiting for joint states'
        if now == before:
            return WARN, 'the clock stands still'
        if active:
            level = ERROR if self._stopping & set(active) else WARN
            return level, '; '.join(f'{name}: {text}' for name, text in active.items())
        if self._news:
            return WARN, f'since the last report: {self._last_event}'
        return OK, f'{control.phase.value}, {control.mode}, {control.tracker.activity.value}'
