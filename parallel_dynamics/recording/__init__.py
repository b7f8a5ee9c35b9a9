"""Recordings that others can open: MCAP with ROS 2 messages, and CSV; no ROS needed."""

from parallel_dynamics.recording.csv_export import export_csv
from parallel_dynamics.recording.reader import JointLog, Recording, Topic
from parallel_dynamics.recording.recorder import Recorder
from parallel_dynamics.recording.recovery import Recovered, recover

__all__ = [
    'JointLog', 'Recorder', 'Recording', 'Recovered', 'Topic', 'export_csv', 'recover',
]  # fmt: skip
