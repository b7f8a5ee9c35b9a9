"""Inertia of a robot against the motions of its platform."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.mobility.assembly import Assembly, Configurations
from parallel_dynamics.spatial import Array


def mass_matrix(assembly: Assembly, spread: Array, at: Configurations | None = None) -> Array:
    """Return the mass matrix (f, f) in kg of free motions at one configuration.

    Parameters
    ----------
    assembly : Assembly
        The robot.
    spread : (n + 6, f) array
        Scaled velocities of all coordinates for each free motion.
    at : Configurations
        One configuration; home unless given.
    """
    at = assembly.home if at is None else at
    poses = assembly.poses(at)
    velocities = assembly.scale[:, None] * spread
    matrix = np.zeros((spread.shape[1], spread.shape[1]))
    for b, body in enumerate(assembly.model.bodies[1:], start=1):
        if body.inertia.mass == 0.0:
            continue
        turned = poses.rotation[:, b]
        centre = poses.position[:, b] + turned @ body.inertia.com
        linear, angular = (j[0] @ velocities for j in assembly.body_jacobian(poses, b, centre))
        tensor = turned[0] @ body.inertia.tensor @ turned[0].T
        matrix += body.inertia.mass * linear.T @ linear + angular.T @ tensor @ angular
    joints = assembly.follow @ velocities[: len(assembly.coordinates)]
    armature = np.array([joint.armature for joint in assembly.model.joints])
    return np.asarray(matrix + joints.T @ (armature[:, None] * joints))
