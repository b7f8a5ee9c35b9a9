"""Guards over the measured state: each returns what is wrong, as (condition, text), or None."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.control import supervisor as conditions
from parallel_dynamics.control.state import MeasuredState
from parallel_dynamics.control.supervisor import Limits
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array

Finding = tuple[str, str] | None


class Guards:
    """Looks at each cycle's state; the limits may be exchanged at any time."""

    def __init__(self, robot: Robot, limits: Limits) -> None:
        self.names = robot.actuators
        self.limits = limits
        self._error_since: float | None = None

    def reset(self) -> None:
        """Forget for how long there has been an error."""
        self._error_since = None

    def state(self, state: MeasuredState) -> Finding:
        """Look at speed, workspace and singularity."""
        return self._speed(state) or self._workspace(state) or self._singular(state)

    def tracking(
        self, now: float, wanted: Array, state: MeasuredState, patience: float
    ) -> Finding:
        """Look at the error of the actuators' positions; ``patience`` (s) lets short ones pass."""
        error = np.abs(wanted - state.position) - self.limits.tracking
        k = int(error.argmax())
        if error[k] <= 0.0:
            self._error_since = None
            return None
        if self._error_since is None:
            self._error_since = now
        if now - self._error_since < patience:
            return None
        return conditions.TRACKING, (
            f'{self.names[k]} is {error[k] + self.limits.tracking[k]:.3g} off '
            f'(allowed {self.limits.tracking[k]:.3g})'
        )

    def _speed(self, state: MeasuredState) -> Finding:
        fast = np.abs(state.velocity) > self.limits.velocity
        if not fast.any():
            return None
        k = int(fast.argmax())
        return conditions.SPEED, (
            f'{self.names[k]} moves at {state.velocity[k]:.3g} '
            f'(allowed {self.limits.velocity[k]:.3g})'
        )

    def _workspace(self, state: MeasuredState) -> Finding:
        limits = self.limits
        out = (state.position < limits.lower) | (state.position > limits.upper)
        if out.any():
            k = int(out.argmax())
            return conditions.WORKSPACE, (
                f'{self.names[k]} is at {state.position[k]:.4g} (allowed '
                f'{limits.lower[k]:.4g} to {limits.upper[k]:.4g})'
            )
        place = state.platform.data[:3]
        out = (place < limits.box[0]) | (place > limits.box[1])
        if not out.any():
            return None
        k = int(out.argmax())
        return conditions.WORKSPACE, (
            f'{"xyz"[k]} of the platform is {place[k]:.4g} m (allowed '
            f'{limits.box[0, k]:.4g} to {limits.box[1, k]:.4g})'
        )

    def _singular(self, state: MeasuredState) -> Finding:
        if state.condition <= self.limits.condition:
            return None
        return conditions.SINGULAR, (
            f'condition number {state.condition:.3g} (allowed {self.limits.condition:.3g})'
        )
