"""A 3-RPS that tilts towards its singularity: condition number and torque.

Run: python singularity_of_a_3rps.py [PICTURE]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd

robot = pd.load_robot('three_rps')
angles, conditions, torques = np.radians(np.linspace(0.0, 21.0, 60)), [], []
for angle in angles:
    tilt = Rotation.from_rotvec([angle, 0.0, 0.0]).as_matrix() @ robot.home.rotation
    pose = robot.project(pd.PlatformMotion(robot.home.position, tilt))
    conditions.append(robot.jacobians(pose).actuation_condition)
    torques.append(np.abs(robot.inverse_dynamics(pose)).max())

figure, axes = plt.subplots(figsize=(8, 4), layout='constrained')
axes.semilogy(np.degrees(angles), conditions, 'k', label='condition number')
axes.semilogy(np.degrees(angles), torques, 'k--', label='largest torque at rest / N m')
axes.set(xlabel='tilt about x / degrees', title='3-RPS with driven hinges')
axes.legend(frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else 'singularity_of_a_3rps.png', dpi=150)
