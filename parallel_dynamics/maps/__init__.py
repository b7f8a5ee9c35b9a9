"""Workspace and performance maps: what a robot reaches, and how well it works there."""

from parallel_dynamics.maps.grid import COORDINATES, PoseGrid, free_coordinates, pose_grid
from parallel_dynamics.maps.performance import (
    PerformanceMap,
    load_map,
    performance_map,
    reach,
)

__all__ = [
    'COORDINATES', 'PerformanceMap', 'PoseGrid', 'free_coordinates', 'load_map',
    'performance_map', 'pose_grid', 'reach',
]  # fmt: skip
