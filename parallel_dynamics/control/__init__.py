"""Controllers as plain classes: laws, gains, the desired motion, and the guards around them."""

from parallel_dynamics.control.adaptive import Adaptation, Adaptive, PlatformAdaptive
from parallel_dynamics.control.gains import Gains, actuator_inertia, default_gains
from parallel_dynamics.control.inverse_model import InverseModel
from parallel_dynamics.control.laws import (
    LAWS,
    ComputedTorque,
    Desired,
    Feedforward,
    GravityCompensation,
    Law,
    PdFeedforward,
    make_law,
)
from parallel_dynamics.control.loop import Command, ControlLoop, LoopSettings, Phase
from parallel_dynamics.control.state import MeasuredState, StateEstimator
from parallel_dynamics.control.supervisor import Event, Limits, Supervisor, default_limits
from parallel_dynamics.control.tracker import Activity, Plan, Tracker, TrackerSettings

__all__ = [
    'LAWS',
    'Activity',
    'Adaptation',
    'Adaptive',
    'Command',
    'ComputedTorque',
    'ControlLoop',
    'Desired',
    'Event',
    'Feedforward',
    'Gains',
    'GravityCompensation',
    'InverseModel',
    'Law',
    'Limits',
    'LoopSettings',
    'MeasuredState',
    'PdFeedforward',
    'Phase',
    'Plan',
    'PlatformAdaptive',
    'StateEstimator',
    'Supervisor',
    'Tracker',
    'TrackerSettings',
    'actuator_inertia',
    'default_gains',
    'default_limits',
    'make_law',
]
