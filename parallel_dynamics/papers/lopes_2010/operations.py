"""Scalar operations of the generalized momentum model and of Lagrange models of the same robot.

The paper counts sums, multiplications and divisions in Maple and reports a ratio of about five.
Here the models are written as CasADi expression graphs, common subexpressions are removed, and
the nodes that are left are counted. All models take the same inputs (position and Euler angles of
the platform with first and second derivatives; motion of the base in base axes) and return the
generalized force on the platform. Turning it into actuator forces costs the same in all of them
and is left out. Geometry and masses are numbers, the attachment points lie in the planes z = 0 of
their frames as in the paper's Fig. 2, and the legs are round.

CasADi is needed to count and only to count; without it the numbers in ``COUNTED`` are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.errors import ParallelDynamicsError
from parallel_dynamics.papers.lopes_2010.leg import Leg
from parallel_dynamics.papers.lopes_2010.model import StewartPlatform

Expression = Any  # a CasADi SX; the package has no types

Table = dict[str, dict[str, dict[str, int]]]
"""Base, model and kind of operation to a number."""


def _row(*numbers: int) -> dict[str, int]:
    return dict(zip(('sums', 'multiplications', 'divisions', 'functions'), numbers))


COUNTED: Table = {
    'fixed base': {
        'momentum': _row(642, 822, 84, 12),
        'momentum_matrices': _row(3107, 4459, 156, 18),
        'lagrange_derivatives': _row(1599, 1939, 240, 12),
        'lagrange_matrices': _row(14899, 17439, 1608, 12),
    },
    'moving base': {
        'momentum': _row(1037, 1203, 84, 12),
        'momentum_matrices': _row(4102, 5600, 156, 18),
        'lagrange_derivatives': _row(2383, 2783, 288, 12),
        'lagrange_matrices': _row(22211, 25983, 2190, 12),
    },
}
"""What ``count_operations`` gives with CasADi 3.8; a test counts again."""


def _casadi() -> Any:
    try:
        import casadi
    except ImportError:
        raise ParallelDynamicsError(
            'counting operations needs CasADi, which is not installed; pip install casadi'
        ) from None
    return casadi


class _Inputs:
    """Symbols of the platform's and the base's motion; a base at rest is all zeros."""

    def __init__(self, moving_base: bool) -> None:
        ca = _casadi()
        self.x, self.xd, self.xdd = (ca.SX.sym(n, 3) for n in ('x', 'xd', 'xdd'))
        self.e, self.ed, self.edd = (ca.SX.sym(n, 3) for n in ('e', 'ed', 'edd'))
        self.symbols = [self.x, self.e, self.xd, self.ed, self.xdd, self.edd]
        self.moving_base = moving_base
        if moving_base:
            self.v_B, self.w_B, self.a_B, self.wd_B, self.g = (
                ca.SX.sym(n, 3) for n in ('v_B', 'w_B', 'a_B', 'wd_B', 'g')
            )
        else:
            self.v_B = self.w_B = self.a_B = self.wd_B = ca.SX.zeros(3)
            self.g = ca.vertcat(0, 0, ca.SX.sym('g'))
        given = [self.v_B, self.w_B, self.a_B, self.wd_B] if moving_base else []
        gravity = self.g if moving_base else self.g[2]
        self.symbols += [*given, gravity]


def _rotation(e: Expression) -> tuple[Expression, Expression]:
    """Return ``R`` of (4) and ``J_A`` of (9) for Euler angles (psi, theta, phi)."""
    ca = _casadi()
    (cp, ct, cf), (sp, st, sf) = ([f(e[k]) for k in range(3)] for f in (ca.cos, ca.sin))
    R = ca.vertcat(
        ca.horzcat(cp * ct, cp * st * sf - sp * cf, cp * st * cf + sp * sf),
        ca.horzcat(sp * ct, sp * st * sf + cp * cf, sp * st * cf - cp * sf),
        ca.horzcat(-st, ct * sf, ct * cf),
    )
    J_A = ca.vertcat(
        ca.horzcat(0, -sp, ct * cp), ca.horzcat(0, cp, ct * sp), ca.horzcat(1, 0, -st)
    )
    return R, J_A


def _round(tensor: Any) -> tuple[float, float]:
    """Return the moments of inertia along and across the axis of a round leg body."""
    return float(tensor[0, 0]), float(tensor[1, 1])


def momentum_model(robot: StewartPlatform, inputs: _Inputs) -> Expression:
    """Return the generalized force (6,) [force; moment] on {P} by (24)-(122), corrected."""
    ca = _casadi()
    R, J_A = _rotation(inputs.e)
    w = ca.mtimes(J_A, inputs.ed)
    wd = ca.mtimes(J_A, inputs.edd) + ca.jtimes(w, inputs.e, inputs.ed)
    v, a, w_B, wd_B = inputs.xd, inputs.xdd, inputs.w_B, inputs.wd_B
    a_B = inputs.a_B - inputs.g  # gravity as an acceleration of the base

    def inertial(mass: float, p: Expression, vel: Expression, acc: Expression) -> Expression:
        total = acc + a_B
        if inputs.moving_base:
            total += ca.cross(w_B, 2 * vel + ca.cross(w_B, p)) + ca.cross(wd_B, p)
        return mass * total

    def moment(I: Expression, omega: Expression, omegad: Expression) -> Expression:  # noqa: E741
        total, rate = omega + w_B, omegad + wd_B
        if inputs.moving_base:
            rate += ca.cross(w_B, omega)
        return ca.mtimes(I, rate) + ca.cross(total, ca.mtimes(I, total))

    I_P = ca.mtimes([R, ca.SX(robot.I_P), R.T])
    force = inertial(robot.m_P, inputs.x, v, a)
    torque = moment(I_P, w, wd)
    for leg in robot.legs:
        p = ca.mtimes(R, ca.SX(leg.p))
        l = inputs.x + p - leg.b
        inverse_square = 1 / ca.dot(l, l)
        length = ca.sqrt(ca.dot(l, l))
        direction = l / length
        wp = ca.cross(w, p)
        tip_v, tip_a = v + wp, a + ca.cross(wd, p) + ca.cross(w, wp)
        omega = ca.cross(l, tip_v) * inverse_square
        omegad = (ca.cross(l, tip_a) - 2 * ca.dot(l, tip_v) * omega) * inverse_square
        spin_v = ca.cross(omega, direction)
        spin_a = ca.cross(omegad, direction) + ca.cross(omega, spin_v)
        F_C = inertial(leg.m_C, leg.b + leg.b_C * direction, leg.b_C * spin_v, leg.b_C * spin_a)
        F_S = inertial(
            leg.m_S,
            inputs.x + p - leg.b_S * direction,
            tip_v - leg.b_S * spin_v,
            tip_a - leg.b_S * spin_a,
        )
        along, across = (sum(x) for x in zip(_round(leg.I_C), _round(leg.I_S)))
        total, rate = omega + w_B, omegad + wd_B
        if inputs.moving_base:
            rate += ca.cross(w_B, omega)
        I_total = across * total + (along - across) * ca.dot(direction, total) * direction
        M = across * rate + (along - across) * ca.dot(direction, rate) * direction
        M += ca.cross(total, I_total)
        ratio_C, ratio_S = leg.b_C / length, leg.b_S / length
        combined = ratio_C * F_C - ratio_S * F_S
        tip = F_S + combined - direction * ca.dot(direction, combined)
        tip += ca.cross(M, l) * inverse_square
        force += tip
        torque += ca.cross(p, tip)
    return ca.vertcat(force, torque)


def written_model(robot: StewartPlatform, inputs: _Inputs) -> Expression:
    """Return the same force as ``momentum_model``, with the matrices of the paper written out.

    Jacobians (53), (57), (95) and tensors (29), (72) are formed as matrices, differentiated
    element by element as (63), (80), (101), (114) have it, and multiplied out.
    """
    ca = _casadi()
    R, J_A = _rotation(inputs.e)
    w = ca.mtimes(J_A, inputs.ed)
    wd = ca.mtimes(J_A, inputs.edd) + ca.jtimes(w, inputs.e, inputs.ed)
    q, qd = ca.vertcat(inputs.x, inputs.e), ca.vertcat(inputs.xd, inputs.ed)
    twist, twist_rate = ca.vertcat(inputs.xd, w), ca.vertcat(inputs.xdd, wd)
    w_B, wd_B = inputs.w_B, inputs.wd_B

    def rate(matrix: Expression) -> Expression:
        return ca.reshape(ca.jtimes(ca.vec(matrix), q, qd), matrix.shape)

    def translation(mass: float, p: Expression, J: Expression) -> Expression:
        force = mass * ca.mtimes(rate(J), twist) + mass * ca.mtimes(J, twist_rate)
        added = inputs.a_B - inputs.g
        if inputs.moving_base:
            vel = ca.mtimes(J, twist)
            added += 2 * ca.cross(w_B, vel) + ca.cross(wd_B, p)
            added += ca.cross(w_B, ca.cross(w_B, p))
        return ca.mtimes(J.T, force + mass * added)

    def rotation(tensor: Any, frame: Expression, J: Expression) -> Expression:
        I = ca.mtimes([frame, ca.SX(tensor), frame.T])  # noqa: E741
        moment = ca.mtimes(rate(ca.mtimes(I, J)), twist)
        moment += ca.mtimes(I, ca.mtimes(J, twist_rate))
        if inputs.moving_base:
            total = ca.mtimes(J, twist) + w_B
            moment += ca.mtimes(rate(I), w_B) + ca.mtimes(I, wd_B)
            moment += ca.cross(w_B, ca.mtimes(I, total))
        return ca.mtimes(J.T, moment)

    eye, zero = ca.SX.eye(3), ca.SX(3, 3)
    f = translation(robot.m_P, inputs.x, ca.horzcat(eye, zero))
    f += rotation(robot.I_P, R, ca.horzcat(zero, eye))
    for leg in robot.legs:
        p = ca.mtimes(R, ca.SX(leg.p))
        l = inputs.x + p - leg.b
        length = ca.sqrt(ca.dot(l, l))
        direction = l / length
        bar = ca.skew(l / ca.dot(l, l))
        J_D = ca.horzcat(bar, -ca.mtimes(bar, ca.skew(p)))
        J_B = leg.b_C * ca.mtimes(ca.skew(direction).T, J_D)
        J_G = ca.horzcat(eye, -ca.skew(p)) + leg.b_S * ca.mtimes(ca.skew(direction), J_D)
        y = ca.vertcat(-l[1], l[0], 0) / ca.sqrt(l[0] ** 2 + l[1] ** 2)
        frame = ca.horzcat(direction, y, ca.cross(direction, y))
        f += translation(leg.m_C, leg.b + leg.b_C * direction, J_B)
        f += translation(leg.m_S, inputs.x + p - leg.b_S * direction, J_G)
        f += rotation(leg.I_C, frame, J_D) + rotation(leg.I_S, frame, J_D)
    return f


def _lagrangian(robot: StewartPlatform, inputs: _Inputs) -> tuple[Expression, Expression]:
    """Return kinetic and potential energy as functions of coordinates and rates."""
    ca = _casadi()
    R, J_A = _rotation(inputs.e)
    w = ca.mtimes(J_A, inputs.ed)

    def translation(mass: float, p: Expression, vel: Expression) -> Expression:
        vel = vel + inputs.v_B + ca.cross(inputs.w_B, p)
        return mass / 2 * ca.dot(vel, vel)

    spin = ca.mtimes(R.T, w + inputs.w_B)
    T = translation(robot.m_P, inputs.x, inputs.xd)
    T += ca.dot(spin, ca.mtimes(ca.SX(robot.I_P), spin)) / 2
    V = -robot.m_P * ca.dot(inputs.g, inputs.x)
    for leg in robot.legs:
        p = ca.mtimes(R, ca.SX(leg.p))
        l = inputs.x + p - leg.b
        square = ca.dot(l, l)
        direction = l / ca.sqrt(square)
        tip_v = inputs.xd + ca.cross(w, p)
        omega = ca.cross(l, tip_v) / square
        spin_v = ca.cross(omega, direction)
        p_C, p_S = leg.b + leg.b_C * direction, inputs.x + p - leg.b_S * direction
        T += translation(leg.m_C, p_C, leg.b_C * spin_v)
        T += translation(leg.m_S, p_S, tip_v - leg.b_S * spin_v)
        along, across = (sum(x) for x in zip(_round(leg.I_C), _round(leg.I_S)))
        total = omega + inputs.w_B
        axial = ca.dot(direction, total)
        T += (across * ca.dot(total, total) + (along - across) * axial**2) / 2
        V += -ca.dot(inputs.g, leg.m_C * p_C + leg.m_S * p_S)
    return T, V


def lagrange_model(robot: StewartPlatform, inputs: _Inputs, matrices: bool) -> Expression:
    """Return the generalized force (6,) by Lagrange's equations in position and Euler angles.

    Parameters
    ----------
    robot, inputs
    matrices : bool
        True for the textbook form (1), ``I(x) x'' + V(x, x') x' + G(x)`` with the matrix of
        Christoffel symbols; False for directional derivatives by automatic differentiation, the
        shortest form known.
    """
    ca = _casadi()
    T, V = _lagrangian(robot, inputs)
    q = ca.vertcat(inputs.x, inputs.e)
    qd = ca.vertcat(inputs.xd, inputs.ed)
    qdd = ca.vertcat(inputs.xdd, inputs.edd)
    momentum = ca.gradient(T, qd)
    f = ca.gradient(V, q)
    if matrices:
        mass_matrix = ca.jacobian(momentum, qd)
        slopes = [ca.jacobian(mass_matrix[:, k], q) for k in range(6)]
        coriolis = ca.SX.zeros(6, 6)
        for i in range(6):
            for j in range(6):
                for k in range(6):
                    coriolis[i, j] += (
                        (slopes[j][i, k] + slopes[k][i, j] - slopes[k][j, i]) / 2 * qd[k]
                    )
        f += ca.mtimes(mass_matrix, qdd) + ca.mtimes(coriolis, qd)
        if not inputs.moving_base:
            return f
        # What is left of T is linear in the rates, or free of them.
        rest = T - ca.mtimes([qd.T, mass_matrix, qd]) / 2
        linear = ca.gradient(rest, qd)
        f += ca.jtimes(linear, q, qd) - ca.gradient(rest, q)
    else:
        f += ca.jtimes(momentum, qd, qdd) + ca.jtimes(momentum, q, qd) - ca.gradient(T, q)
    if inputs.moving_base:
        rate = inputs.a_B - ca.cross(inputs.w_B, inputs.v_B)
        f += ca.jtimes(momentum, inputs.v_B, rate) + ca.jtimes(momentum, inputs.w_B, inputs.wd_B)
    return f


def count(expression: Expression, symbols: list[Expression]) -> dict[str, int]:
    """Return how many sums, multiplications, divisions and functions a graph has after CSE."""
    ca = _casadi()
    function = ca.Function('f', symbols, [ca.cse(expression)])
    kinds = {
        ca.OP_ADD: 'sums',
        ca.OP_SUB: 'sums',
        ca.OP_MUL: 'multiplications',
        ca.OP_SQ: 'multiplications',
        ca.OP_TWICE: 'multiplications',
        ca.OP_DIV: 'divisions',
        ca.OP_INV: 'divisions',
        ca.OP_SQRT: 'functions',
        ca.OP_SIN: 'functions',
        ca.OP_COS: 'functions',
    }
    free = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_NEG, ca.OP_ASSIGN}
    totals = dict.fromkeys(('sums', 'multiplications', 'divisions', 'functions'), 0)
    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        if code not in free:
            totals[kinds[code]] += 1
    return totals


MODELS = ('momentum', 'momentum_matrices', 'lagrange_derivatives', 'lagrange_matrices')
"""Each method in its shortest form and with its matrices written out."""


def model_function(robot: StewartPlatform, model: str, moving_base: bool) -> tuple[Any, _Inputs]:
    """Return one of ``MODELS`` as an expression with its inputs."""
    inputs = _Inputs(moving_base)
    if model == 'momentum':
        return momentum_model(robot, inputs), inputs
    if model == 'momentum_matrices':
        return written_model(robot, inputs), inputs
    return lagrange_model(robot, inputs, matrices=model == 'lagrange_matrices'), inputs


def counted_robot() -> StewartPlatform:
    """Return the robot whose operations are counted; only its zeros and symmetries matter."""
    b, p = paper_geometry()
    cylinder, piston = np.diag([0.0, 0.06, 0.06]), np.diag([0.0, 0.02, 0.02])
    legs = [Leg(b[i], p[i], 2.0, 0.3, cylinder, 1.0, 0.25, piston) for i in range(6)]
    return StewartPlatform(legs, 15.0, np.diag([0.5, 0.7, 1.1]))


def count_operations(robot: StewartPlatform) -> Table:
    """Return the counts of all models, for a fixed and for a moving base."""
    table: Table = {}
    for moving in (False, True):
        row = {}
        for model in MODELS:
            expression, inputs = model_function(robot, model, moving)
            row[model] = count(expression, inputs.symbols)
        table['moving base' if moving else 'fixed base'] = row
    return table


def ratio(table: Table, base: str, of: str, to: str) -> float:
    """Return sums plus multiplications of one model over those of another, as the paper does."""
    counts = table[base]
    total = {m: counts[m]['sums'] + counts[m]['multiplications'] for m in (of, to)}
    return total[of] / total[to]


def paper_geometry(
    r_B: float = 1.0, r_P: float = 0.6, phi_B: float = 0.15, phi_P: float = 0.15
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the attachment points (6, 3) of Fig. 2 on base and platform.

    The pairs (B_1, B_6), (B_2, B_3), (B_4, B_5) are ``2 phi_B`` apart and (P_1, P_2), (P_3, P_4),
    (P_5, P_6) are ``2 phi_P`` apart; radii in m, angles in rad.
    """
    third = 2.0 * np.pi / 3.0
    base = [phi_B, third - phi_B, third + phi_B, -third - phi_B, -third + phi_B, -phi_B]
    platform = [
        third / 2 - phi_P,
        third / 2 + phi_P,
        np.pi - phi_P,
        np.pi + phi_P,
        -third / 2 - phi_P,
        -third / 2 + phi_P,
    ]
    b, p = (
        np.stack([r * np.cos(angles), r * np.sin(angles), np.zeros(6)], axis=1)
        for r, angles in ((r_B, base), (r_P, platform))
    )
    return b, p
