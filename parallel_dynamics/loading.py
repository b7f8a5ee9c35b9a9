"""From a description file, or the name of a shipped robot, to a robot."""

from __future__ import annotations

from os import PathLike

from parallel_dynamics.description import load_model
from parallel_dynamics.resources import robot_files
from parallel_dynamics.robot import Robot


def load_robot(name_or_path: str | PathLike[str]) -> Robot:
    """Load a robot by the name of a shipped one or by the path of its YAML file.

    Raises
    ------
    DescriptionError
        With all faults of the description at once.
    """
    return Robot(*load_model(name_or_path))


def shipped_robots() -> list[str]:
    """Return the names of the robots that come with the package."""
    return list(robot_files())
