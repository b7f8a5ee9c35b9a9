"""Another engine's opinion in time: the exported MJCF in MuJoCo swings as the simulator does."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import robots
from scipy.spatial.transform import Rotation
from simulated import apart, pushed, springs

import parallel_dynamics as pd
from parallel_dynamics.description.conversion import export_robot

SECONDS, STEP = 1.0, 2e-4
SOFTNESS = 0.02  # of the motion: MuJoCo's loops give, and its massless bodies have some mass


class Swinging:
    """A robot on springs in MuJoCo, without friction, its loops as stiff as the step allows."""

    def __init__(self, label, springs, start):
        robot = robots.load(label)
        (text,) = export_robot(robots.path_of(label), 'mjcf').files.values()
        self.model = model = mujoco.MjModel.from_xml_string(text)
        model.dof_frictionloss[:] = model.dof_damping[:] = 0.0
        model.actuator_ctrllimited[:] = model.jnt_limited[:] = 0
        model.opt.timestep = STEP
        model.eq_solref[:] = [2.0 * STEP, 1.0]
        model.eq_solimp[:] = [0.9999, 0.9999, 0.001, 0.5, 2.0]
        self.data = data = mujoco.MjData(model)
        x, y, z, w = Rotation.from_matrix(start.rotation).as_quat()
        data.qpos[:7] = [*start.position, w, x, y, z]
        data.qvel[:3] = start.velocity
        data.qvel[3:6] = start.rotation.T @ start.angular_velocity
        joints = robot.inverse_kinematics(start)
        for k, name in enumerate(robot.joints):
            data.qpos[model.joint(name).qposadr[0]] = joints.position[k]
            data.qvel[model.joint(name).dofadr[0]] = joints.velocity[k]
        self.places = [model.joint(a).qposadr[0] for a in robot.actuators]
        chosen = [springs[a] for a in robot.actuators]
        self.stiffness = np.array([s.stiffness for s in chosen])
        self.rest = np.array([s.rest for s in chosen])
        self.preload = np.array([s.preload for s in chosen])

    def advance(self, seconds):
        """Go on and return the pose."""
        for _ in range(round(seconds / STEP)):
            stretch = self.data.qpos[self.places] - self.rest
            self.data.ctrl[:] = self.preload - self.stiffness * stretch
            mujoco.mj_step(self.model, self.data)
        place = self.data.qpos
        rotation = Rotation.from_quat(place[[4, 5, 6, 3]]).as_matrix()
        return pd.PlatformMotion(place[:3].copy(), rotation)


@pytest.mark.parametrize('label', robots.SHIPPED)
def test_mujoco_swings_the_same_way(label):
    robot = robots.load(label)
    start, held = pushed(robot, 0.3), springs(robot, 2.0)
    still = start.replace(twist_rate=np.zeros(6))
    still = robot.project(still)
    sim = pd.Simulator(robot, friction='none', springs=held)
    sim.reset(still)
    other = Swinging(label, held, still)
    far = way = 0.0
    for _ in range(50):
        run = sim.run(np.zeros(robot.dof), 1e-3, round(1e3 * SECONDS / 50))
        far = max(far, apart(run.motion[-1], other.advance(SECONDS / 50), robot))
        way = max(way, apart(run.motion[-1], robot.home, robot))
    assert way > 0.01
    assert far < SOFTNESS * way
