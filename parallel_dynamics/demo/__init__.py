"""The closed loop as a show: real nodes in their own processes, a table, plots, a recording."""

from parallel_dynamics.demo.evaluation import DemoReport, evaluate
from parallel_dynamics.demo.session import DemoSettings, run_demo

__all__ = ['DemoReport', 'DemoSettings', 'evaluate', 'run_demo']
