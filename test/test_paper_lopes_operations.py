"""The operation counts of lopes_2010: same forces, and the numbers are current."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from parallel_dynamics.motion import BaseMotion, PlatformMotion
from parallel_dynamics.papers.lopes_2010 import operations
from parallel_dynamics.papers.lopes_2010.model import euler_jacobian


def random_state(rng):
    """Position, Euler angles, their derivatives, and the motion that they mean."""
    x, e = np.array([0.1, -0.05, 1.0]) + 0.05 * rng.normal(size=3), 0.2 * rng.normal(size=3)
    xd, ed, xdd, edd = rng.normal(size=(4, 3))

    def rotation(angles):
        return Rotation.from_euler('ZYX', angles).as_matrix()

    J_A, h = euler_jacobian(rotation(e)), 1e-6
    ahead, behind = (euler_jacobian(rotation(e + dt * ed)) for dt in (h, -h))
    J_A_rate = (ahead - behind) / (2.0 * h)
    m = PlatformMotion(x, rotation(e), xd, J_A @ ed, xdd, J_A @ edd + J_A_rate @ ed)
    return (x, e, xd, ed, xdd, edd), m


@pytest.mark.parametrize('moving', [False, True])
@pytest.mark.parametrize('model', operations.MODELS)
def test_every_counted_model_gives_the_same_force(model, moving):
    """Lagrange's equations are an independent derivation of the momentum model."""
    robot = operations.counted_robot()
    inputs = operations._Inputs(moving)
    expression = operations.MODELS[model](robot, inputs)
    if model.startswith('lagrange'):
        expression = operations.euler_moment(expression, inputs.e)
    function = casadi.Function('f', inputs.symbols, [expression])
    rng = np.random.default_rng(1)
    state, m = random_state(rng)
    base, extra = None, [-9.81]
    if moving:
        v_B, w_B, a_B, wd_B = rng.normal(size=(4, 3))
        R_B = Rotation.random(random_state=rng).as_matrix()
        base = BaseMotion(R_B, v_B, w_B, a_B, wd_B)
        extra = [v_B, w_B, a_B, wd_B, R_B.T @ robot.gravity]
    force = np.array(function(*state, *extra)).ravel()
    expected = sum(robot.generalized_forces(m, base).values())
    assert np.abs(force - expected).max() < 1e-8 * np.abs(expected).max()


def test_counts_are_current():
    counted = operations.count_operations(operations.counted_robot())
    for base, models in operations.COUNTED.items():
        for model, numbers in models.items():
            # Another version of CasADi may simplify a little differently.
            assert counted[base][model] == pytest.approx(numbers, rel=0.02)


def test_count_removes_common_subexpressions():
    x, y = casadi.SX.sym('x'), casadi.SX.sym('y')
    expression = (x + y) * (x + y) + casadi.sin(x + y) / y
    counts = operations.count(expression, [x, y])
    assert counts == {'sums': 2, 'multiplications': 1, 'divisions': 1, 'functions': 1}
