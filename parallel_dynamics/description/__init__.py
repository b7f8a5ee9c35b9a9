"""Robots as data: URDF and YAML into a frozen model, with every fault in one error."""

from parallel_dynamics.description.reading import Examination, examine, load_model, read_model

__all__ = ['Examination', 'examine', 'load_model', 'read_model']
