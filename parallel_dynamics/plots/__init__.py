"""Figures in one style, readable in black and white, and the report that holds them."""

from parallel_dynamics.plots.analysis import MotionAnalysis, analyse
from parallel_dynamics.plots.map_figures import map_figure
from parallel_dynamics.plots.motion_figures import figures
from parallel_dynamics.plots.report import write_report
from parallel_dynamics.plots.style import save

__all__ = ['MotionAnalysis', 'analyse', 'figures', 'map_figure', 'save', 'write_report']
