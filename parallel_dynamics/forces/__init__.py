"""What to do with joint forces: check, reduce for a designer, estimate from measurements."""

from parallel_dynamics.forces.envelope import (
    JointEnvelope,
    Peak,
    envelope,
    write_envelope,
    write_forces,
)
from parallel_dynamics.forces.filters import StateFilter
from parallel_dynamics.forces.observer import MomentumObserver, WrenchEstimate
from parallel_dynamics.forces.rods import (
    BucklingCheck,
    Rod,
    RodEnd,
    RodForce,
    check_buckling,
    euler_load,
    find_rods,
    rod_forces,
)
from parallel_dynamics.forces.virtual_power import virtual_power_forces

__all__ = [
    'BucklingCheck',
    'JointEnvelope',
    'MomentumObserver',
    'Peak',
    'Rod',
    'RodEnd',
    'RodForce',
    'StateFilter',
    'WrenchEstimate',
    'check_buckling',
    'envelope',
    'euler_load',
    'find_rods',
    'rod_forces',
    'virtual_power_forces',
    'write_envelope',
    'write_forces',
]
