"""What the closures leave free: degrees of freedom, ranks, overconstraint, and their faults."""

from parallel_dynamics.mobility.analysis import LegMobility, Mobility, analyse
from parallel_dynamics.mobility.overconstraint import Overconstraint

__all__ = ['LegMobility', 'Mobility', 'Overconstraint', 'analyse']
