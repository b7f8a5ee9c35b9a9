"""Force on every ball joint of a 6-UPS that brakes hard, over time.

Run: python loads_on_a_ball_joint.py [PICTURE]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import parallel_dynamics as pd
from parallel_dynamics import trajectories

robot = pd.load_robot('gough_stewart')
there = trajectories.displaced(robot.home, [0.15, 0.0, 0.05, 0.0, 0.1, 0.0])
move = trajectories.move(robot.home, there, 0.8, 'trapezoidal')
t = np.linspace(0.0, move.duration, 400)
forces = robot.joint_forces(move.sample(t))

figure, axes = plt.subplots(figsize=(8, 4), layout='constrained')
for name in robot.closures:
    axes.plot(t, np.linalg.norm(forces.wrench[name][:, :3], axis=1), label=name)
axes.set(xlabel='time / s', ylabel='force / N', title='Ball joints of a 6-UPS in a quick move')
axes.legend(ncols=3, frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else 'loads_on_a_ball_joint.png', dpi=150)
