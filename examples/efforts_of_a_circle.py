"""Efforts of a 6-UPS on a circle, split into what they are needed for.

Run: python efforts_of_a_circle.py [PICTURE]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import parallel_dynamics as pd
from parallel_dynamics import trajectories

robot = pd.load_robot('gough_stewart')
circle = trajectories.preset(robot, 'circle', duration=3.0, size=0.6)
t = np.linspace(0.0, circle.duration, 400)
motion = circle.sample(t)
parts = robot.effort_parts(motion)

figure, axes = plt.subplots(figsize=(8, 4), layout='constrained')
for name, part in parts.items():
    if np.abs(part).max() > 1.0:
        axes.plot(t, part[:, 0], label=name.replace('_', ' '))
axes.plot(t, robot.inverse_dynamics(motion)[:, 0], 'k--', label='sum')
axes.set(xlabel='time / s', ylabel='effort of leg 1 / N', title='6-UPS on a circle')
axes.legend(ncols=2, frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else 'efforts_of_a_circle.png', dpi=150)
