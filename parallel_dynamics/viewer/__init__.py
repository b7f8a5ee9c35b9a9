"""A page in the browser that shows a robot: to play with, or while it runs.

The heavy packages viser and yourdfpy are imported when a page is made.
"""

from parallel_dynamics.viewer.page import Page
from parallel_dynamics.viewer.posing import Posing
from parallel_dynamics.viewer.server import address, start_server, stop_server

__all__ = ['Page', 'Posing', 'address', 'start_server', 'stop_server']
