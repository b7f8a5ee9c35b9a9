"""Why a simulation stopped before its time; its last good state is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parallel_dynamics.errors import (
    LimitError,
    NotAllowedMotionError,
    ParallelDynamicsError,
    SingularityError,
)
from parallel_dynamics.kernels import layout, stages

if TYPE_CHECKING:
    from parallel_dynamics.simulation.runs import Run


class SimulationStopped(ParallelDynamicsError):
    """A simulation that cannot go on; ``time`` (s) is that of the state it keeps.

    ``run`` holds what was simulated before, where a whole run was asked for.
    """

    event = 'stopped'

    def __init__(self, message: str, time: float = 0.0, **evidence: Any) -> None:
        super().__init__(message, time=time, **evidence)
        self.time = time
        self.run: Run | None = None


class SingularityApproached(SimulationStopped, SingularityError):
    """The robot came too near to a singularity."""

    event = 'singularity approached'


class LimitReached(SimulationStopped, LimitError):
    """A joint reached its position limit, and limits were to stop the run."""

    event = 'limit reached'


class ClosureLost(SimulationStopped, NotAllowedMotionError):
    """The closures could not be assembled any more, or only in another working mode."""

    event = 'closure lost'


class StepTooLarge(SimulationStopped):
    """The step is too large for the motion, or the motion too stiff for the method."""

    event = 'step too large'


KINDS: dict[int, type[SimulationStopped]] = {
    stages.LIMIT_REACHED: LimitReached,
    stages.STEP_TOO_LARGE: StepTooLarge,
    stages.NO_PROGRESS: StepTooLarge,
    stages.NEAR_SINGULAR: SingularityApproached,
    stages.CLOSURE_LOST: ClosureLost,
    layout.UNREACHABLE: ClosureLost,
    layout.POSE_NOT_ALLOWED: ClosureLost,
    layout.TWIST_NOT_ALLOWED: ClosureLost,
    layout.ACCELERATION_NOT_ALLOWED: ClosureLost,
    layout.LEG_SINGULAR: SingularityApproached,
    layout.CONSTRAINT_SINGULAR: SingularityApproached,
    layout.ACTUATION_SINGULAR: SingularityApproached,
    layout.MASS_SINGULAR: SingularityApproached,
}
"""Which event a status code of the kernels stands for."""
