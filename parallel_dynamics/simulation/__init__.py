"""Direct dynamics in time: the simulator and the physics around the robot."""

from parallel_dynamics.simulation.events import (
    ClosureLost,
    LimitReached,
    SimulationStopped,
    SingularityApproached,
    StepTooLarge,
)
from parallel_dynamics.simulation.physics import Payload, Physics, Spring
from parallel_dynamics.simulation.plant import Plant
from parallel_dynamics.simulation.runs import ManyRuns, Measurement, Run
from parallel_dynamics.simulation.simulator import Simulator
from parallel_dynamics.simulation.snapshot import Snapshot

__all__ = [
    'ClosureLost',
    'LimitReached',
    'ManyRuns',
    'Measurement',
    'Payload',
    'Physics',
    'Plant',
    'Run',
    'SimulationStopped',
    'Simulator',
    'SingularityApproached',
    'Snapshot',
    'Spring',
    'StepTooLarge',
]
