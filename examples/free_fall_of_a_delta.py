"""A Delta whose drives are switched off: direct dynamics in time, with its energy.

Run: python free_fall_of_a_delta.py [PICTURE]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import parallel_dynamics as pd

robot = pd.load_robot('delta')
sim = pd.Simulator(robot, friction='none')
run = sim.run(np.zeros(3), 1e-3, ticks=250)

kinetic = robot.kinetic_energy(run.motion)
potential = robot.potential_energy(run.motion)
figure, (above, below) = plt.subplots(2, sharex=True, figsize=(8, 5), layout='constrained')
above.plot(run.time, 1e3 * (run.motion.position[:, 2] - robot.home.position[2]), 'k')
above.set(ylabel='fall of the plate / mm', title='Delta with its drives switched off')
below.plot(run.time, kinetic, label='kinetic')
below.plot(run.time, potential - potential[0], label='potential')
below.plot(run.time, kinetic + potential - potential[0], 'k--', label='sum')
below.set(xlabel='time / s', ylabel='energy / J')
below.legend(frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else 'free_fall_of_a_delta.png', dpi=150)
