"""A robot node with a life cycle: configured, activated, deactivated, cleaned up.

``ros2 lifecycle set /controller configure`` and ``activate``, or a launch file, bring it up. With
``autostart`` (the default) it does so itself, so that ``ros2 run`` is enough; a launch file that
sends the transitions sets it to false.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.lifecycle.node import LifecycleNodeMixin

import parallel_dynamics as pd
from parallel_dynamics.nodes.runtime import BAD_MESSAGE, RobotNode

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class LifecycleRobotNode(LifecycleNodeMixin, RobotNode):  # type: ignore[misc]
    """A :class:`RobotNode` whose work is in :meth:`configure` to :meth:`cleanup`."""

    def __init__(self, name: str, **options: Any) -> None:
        RobotNode.__init__(self, name, **options)
        self._autostart = self.parameters.declare(
            'autostart', True,
            'Configure and activate at start; false waits for lifecycle transitions.', fixed=True,
        )  # fmt: skip
        self._failure: Exception | None = None
        LifecycleNodeMixin.__init__(self)

    # ------------------------------------------------------------ to be overridden

    def configure(self) -> None:
        """Make everything that is needed; raise a ParallelDynamicsError if that fails."""

    def activate(self) -> None:
        """Begin to work."""

    def deactivate(self) -> None:
        """Stop working, safely."""

    def cleanup(self) -> None:
        """Let go of what :meth:`configure` made."""

    # ------------------------------------------------------------ transitions

    def autostart(self) -> None:
        """Configure and activate, if the parameter says so; to be called when all is declared."""
        if not self._autostart:
            return
        for trigger in (self.trigger_configure, self.trigger_activate):
            if trigger() != SUCCESS:
                raise self._failure or pd.ParallelDynamicsError('the node could not be started')

    @property
    def is_active(self) -> bool:
        """Whether the node works."""
        return str(self._state_machine.current_state[1]) == 'active'

    @property
    def life(self) -> str:
        """The state of the life cycle."""
        return str(self._state_machine.current_state[1])

    def on_configure(self, state: Any) -> Any:
        """Answer the transition."""
        return self._answer('configure', self.configure)

    def on_activate(self, state: Any) -> Any:
        """Answer the transition."""
        return self._answer('activate', self.activate)

    def on_deactivate(self, state: Any) -> Any:
        """Answer the transition."""
        return self._answer('deactivate', self.deactivate)

    def on_cleanup(self, state: Any) -> Any:
        """Answer the transition."""
        return self._answer('cleanup', self.cleanup)

    def on_shutdown(self, state: Any) -> Any:
        """Answer the transition."""
        if state.label == 'active':
            self._answer('deactivate', self.deactivate)
        if state.label in ('active', 'inactive'):
            self._answer('cleanup', self.cleanup)
        return SUCCESS

    def _answer(self, name: str, action: Callable[[], None]) -> Any:
        try:
            action()
        except (*BAD_MESSAGE, RuntimeError, OSError) as error:  # rclpy would swallow it silently
            self._failure = error
            self.get_logger().error(f'{name}: {error}')
            return FAILURE
        self.get_logger().info(f'{name}: done')
        return SUCCESS

    def close(self) -> None:
        """Stop working before the process ends."""
        if self.is_active:
            self.deactivate()

    def destroy_node(self) -> None:
        """Take leave of the others, with the services of the life cycle as well.

        rclpy keeps those until the interpreter ends; a process that ends sooner would leave them
        behind, and who calls them then waits for ever.
        """
        super().destroy_node()
        self._state_machine.destroy_when_not_in_use()
