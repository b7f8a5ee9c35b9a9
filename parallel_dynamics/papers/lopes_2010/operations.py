"""Scalar operations of the generalized momentum model and of Lagrange models of the same robot.

lopes_2010 counts sums, multiplications and divisions in Maple and reports a ratio of about five.
Here the models are written as CasADi expression graphs, common subexpressions are removed, and
the nodes that are left are counted. All models take the same inputs (position and Euler angles of
the platform with first and second derivatives; motion of the base in base axes) and return the
generalized force on the platform: [force; moment] by momentum, derivatives by Euler angles by
Lagrange, which ``euler_moment`` turns into moments for nine operations more. Turning it into
actuator forces costs the same in all of them and is left out. Geometry and masses are numbers,
the attachment points lie in the planes z = 0 of their frames as in the paper's Fig. 2, and the
legs are round.

CasADi is needed to count and only to count: the page of the paper shows ``COUNTED``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from parallel_dynamics.errors import InputError, ParallelDynamicsError
from parallel_dynamics.papers.lopes_2010.leg import Leg
from parallel_dynamics.papers.lopes_2010.model import StewartPlatform

Expression = Any  # a CasADi SX; the package has no types

Energies = Callable[[StewartPlatform, '_Inputs'], tuple[Expression, Expression]]
"""Robot and inputs to kinetic and potential energy."""

Table = dict[str, dict[str, dict[str, int]]]
"""Base, model and kind of operation to a number."""


def _row(*numbers: int) -> dict[str, int]:
    return dict(zip(('sums', 'multiplications', 'divisions', 'functions'), numbers))


COUNTED: Table = {
    'fixed base': {
        'momentum': _row(426, 448, 72, 12),
        'momentum_matrices': _row(3107, 4459, 156, 18),
        'lagrange': _row(779, 1018, 90, 12),
        'lagrange_matrices': _row(14899, 17439, 1608, 12),
        'lagrange_matrices_combined': _row(5814, 6889, 792, 12),
    },
    'moving base': {
        'momentum': _row(677, 684, 72, 12),
        'momentum_matrices': _row(4102, 5600, 156, 18),
        'lagrange': _row(1188, 1445, 108, 12),
        'lagrange_matrices': _row(22211, 25983, 2190, 12),
        'lagrange_matrices_combined': _row(9305, 11164, 1014, 12),
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
    """Return ``R`` of lopes_2010 (4) and ``J_A`` of (9) for Euler angles (psi, theta, phi)."""
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


def _leg_constants(leg: Leg) -> tuple[float, float, float, float]:
    """Return what the short forms need of a leg without inertia about its axis.

    First moments of cylinder (from B) and piston (from P) in kg m, the moment of inertia in
    kg m^2 that multiplies the rate of the leg's direction, and the piston's mass in kg.
    """
    along, across = (float(leg.I_C[k, k] + leg.I_S[k, k]) for k in (0, 1))
    if along:
        raise InputError(f'leg: expected no inertia about its axis, got {along} kg m^2')
    first_C, first_S = leg.m_C * leg.b_C, leg.m_S * leg.b_S
    return first_C, first_S, across + first_C * leg.b_C + first_S * leg.b_S, leg.m_S


def momentum_model(robot: StewartPlatform, inputs: _Inputs) -> Expression:
    """Return the generalized force (6,) [force; moment] on {P}, as short as we could write it.

    These are the momentum equations (24)-(122) of lopes_2010, corrected, with cylinder and piston
    of a leg taken together: both turn with the leg's direction ``d``, whose second derivative is
    ``d''``, and the point at ``s`` from B accelerates by ``a_B + s d''``. Projected on the tip,
    ``F = m_S a_P - s_S d'' + (1 - d d^T) (s_C a_B - s_S a_P + J d'') / l``.
    """
    ca = _casadi()
    R, J_A = _rotation(inputs.e)
    w = ca.mtimes(J_A, inputs.ed)
    wd = ca.mtimes(J_A, inputs.edd) + ca.jtimes(w, inputs.e, inputs.ed)
    w_B, wd_B = inputs.w_B, inputs.wd_B
    base = inputs.a_B - inputs.g  # gravity as an acceleration of the base

    def carried(p: Expression, vel: Expression) -> Expression:
        """Return what the turning base adds to an acceleration."""
        if not inputs.moving_base:
            return ca.SX.zeros(3)
        return ca.cross(w_B, 2 * vel + ca.cross(w_B, p)) + ca.cross(wd_B, p)

    force = robot.m_P * (inputs.xdd + base + carried(inputs.x, inputs.xd))
    total, rate, I_P = w + w_B, wd + wd_B, ca.SX(robot.I_P)
    if inputs.moving_base:
        rate += ca.cross(w_B, w)
    total, rate = ca.mtimes(R.T, total), ca.mtimes(R.T, rate)
    torque = ca.mtimes(R, ca.mtimes(I_P, rate) + ca.cross(total, ca.mtimes(I_P, total)))
    for leg in robot.legs:
        first_C, first_S, J, m_S = _leg_constants(leg)
        p = ca.mtimes(R, ca.SX(leg.p))
        l = inputs.x + p - leg.b
        inverse = 1 / ca.sqrt(ca.dot(l, l))
        d = l * inverse
        wp = ca.cross(w, p)
        l_rate = inputs.xd + wp
        l_acc = inputs.xdd + ca.cross(wd, p) + ca.cross(w, wp) + carried(l, l_rate)
        a_B = base + carried(leg.b, ca.SX.zeros(3))
        if inputs.moving_base:
            l_rate += ca.cross(w_B, l)
        length_rate = ca.dot(d, l_rate)
        d_rate = (l_rate - length_rate * d) * inverse
        d_acc = (l_acc - 2 * length_rate * d_rate) * inverse  # right across the leg
        a_P = a_B + l_acc
        across = inverse * (first_C * a_B - first_S * a_P + J * d_acc) - first_S * d_acc
        along = first_S * ca.dot(d_rate, d_rate) - ca.dot(d, across)
        tip = m_S * a_P + across + along * d
        force += tip
        torque += ca.cross(p, tip)
    return ca.vertcat(force, torque)


def written_model(robot: StewartPlatform, inputs: _Inputs) -> Expression:
    """Return the same force as ``momentum_model``, with the matrices of the paper written out.

    Jacobians (53), (57), (95) of lopes_2010 and tensors (29), (72) are formed as matrices,
    differentiated element by element as (63), (80), (101), (114) have it, and multiplied out.
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
    """Return kinetic and potential energy, body by body as a textbook adds them."""
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
        along, across = (float(leg.I_C[k, k] + leg.I_S[k, k]) for k in (0, 1))
        total = omega + inputs.w_B
        axial = ca.dot(direction, total)
        T += (across * ca.dot(total, total) + (along - across) * axial**2) / 2
        V += -ca.dot(inputs.g, leg.m_C * p_C + leg.m_S * p_S)
    return T, V


def _short_lagrangian(robot: StewartPlatform, inputs: _Inputs) -> tuple[Expression, Expression]:
    """Return the energies of ``_lagrangian`` with cylinder and piston of a leg taken together.

    With ``v`` the rate of the vector ``l`` against the inertial frame and ``l'`` that of its
    length, a leg on a fixed base has ``[A v^2 + (m_S - A) l'^2] / 2`` with ``A = m_S - 2 s_S / l
    + J / l^2``. The base's acceleration acts as gravity, so its velocity is not needed. Terms
    that depend on neither coordinates nor rates are left out.
    """
    ca = _casadi()
    R, J_A = _rotation(inputs.e)
    w, w_B = ca.mtimes(J_A, inputs.ed), inputs.w_B
    g = inputs.g - inputs.a_B
    v_P = inputs.xd + ca.cross(w_B, inputs.x)
    spin = ca.mtimes(R.T, w + w_B)
    T = robot.m_P / 2 * ca.dot(v_P, v_P) + ca.dot(spin, ca.mtimes(ca.SX(robot.I_P), spin)) / 2
    V = -robot.m_P * ca.dot(g, inputs.x)
    for leg in robot.legs:
        first_C, first_S, J, m_S = _leg_constants(leg)
        p = ca.mtimes(R, ca.SX(leg.p))
        l = inputs.x + p - leg.b
        inverse = 1 / ca.sqrt(ca.dot(l, l))
        v = inputs.xd + ca.cross(w, p) + ca.cross(w_B, l)
        length_rate = ca.dot(l, v) * inverse
        A = m_S - 2 * first_S * inverse + J * inverse**2
        T += (A * ca.dot(v, v) + (m_S - A) * length_rate**2) / 2
        share = (first_C - first_S) * inverse
        if inputs.moving_base:
            v_b = ca.cross(w_B, ca.SX(leg.b))  # of B, which the turning base carries
            T += (m_S + share) * ca.dot(v_b, v)
            T -= share * inverse * length_rate * ca.dot(v_b, l)
        V += -ca.dot(g, share * l + m_S * (inputs.x + p))
    return T, V


def lagrange_model(robot: StewartPlatform, inputs: _Inputs) -> Expression:
    """Return Lagrange's generalized force (6,) in position and Euler angles, written short.

    One sweep of automatic differentiation along the motion gives the rate of the momenta, one
    gradient the rest. The last three are not moments until ``euler_moment`` is applied.
    """
    ca = _casadi()
    T, V = _short_lagrangian(robot, inputs)
    q, qd = ca.vertcat(inputs.x, inputs.e), ca.vertcat(inputs.xd, inputs.ed)
    state, rates = [q, qd], [qd, inputs.xdd, inputs.edd]
    if inputs.moving_base:
        state.append(inputs.w_B)
        rates.append(inputs.wd_B)
    momentum = ca.gradient(T, qd)
    return ca.jtimes(momentum, ca.vertcat(*state), ca.vertcat(*rates)) - ca.gradient(T - V, q)


def written_lagrange_model(
    robot: StewartPlatform, inputs: _Inputs, energies: Energies = _lagrangian
) -> Expression:
    """Return the force of ``lagrange_model`` in the form (1) of lopes_2010.

    ``I(x) x'' + V(x, x') x' + G(x)`` with the mass matrix and the matrix of Christoffel symbols
    formed element by element.
    """
    ca = _casadi()
    T, V = energies(robot, inputs)
    q, qd = ca.vertcat(inputs.x, inputs.e), ca.vertcat(inputs.xd, inputs.ed)
    momentum = ca.gradient(T, qd)
    mass_matrix = ca.jacobian(momentum, qd)
    slopes = [ca.jacobian(mass_matrix[:, k], q) for k in range(6)]
    coriolis = ca.SX.zeros(6, 6)
    for i in range(6):
        for j in range(6):
            for k in range(6):
                symbol = (slopes[j][i, k] + slopes[k][i, j] - slopes[k][j, i]) / 2
                coriolis[i, j] += symbol * qd[k]
    f = ca.mtimes(mass_matrix, ca.vertcat(inputs.xdd, inputs.edd)) + ca.mtimes(coriolis, qd)
    f += ca.gradient(V, q)
    if inputs.moving_base:
        # What is left of T is linear in the rates, or free of them.
        rest = T - ca.mtimes([qd.T, mass_matrix, qd]) / 2
        f += ca.jtimes(ca.gradient(rest, qd), q, qd) - ca.gradient(rest, q)
        rate = inputs.a_B - ca.cross(inputs.w_B, inputs.v_B)
        f += ca.jtimes(momentum, inputs.v_B, rate) + ca.jtimes(momentum, inputs.w_B, inputs.wd_B)
    return f


def euler_moment(f: Expression, e: Expression) -> Expression:
    """Return [force; moment] (6,) of a generalized force in Euler angles: ``J_A^-T``."""
    ca = _casadi()
    (c_psi, c_theta), (s_psi, s_theta) = ([g(e[k]) for k in range(2)] for g in (ca.cos, ca.sin))
    across = (f[5] + s_theta * f[3]) / c_theta
    x, y = c_psi * across - s_psi * f[4], s_psi * across + c_psi * f[4]
    return ca.vertcat(f[:3], x, y, f[3])


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


MODELS: dict[str, Callable[[StewartPlatform, _Inputs], Expression]] = {
    'momentum': momentum_model,
    'momentum_matrices': written_model,
    'lagrange': lagrange_model,
    'lagrange_matrices': written_lagrange_model,
    'lagrange_matrices_combined': partial(written_lagrange_model, energies=_short_lagrangian),
}
"""Each method as short as we could write it, and with its matrices written out.

The last has matrices of Lagrange's form made from the energies of the short one.
"""


def counted_robot() -> StewartPlatform:
    """Return the robot whose operations are counted; only its zeros and symmetries matter.

    Attachment points in the planes z = 0, the platform's centre of mass in its frame's origin and
    its tensor diagonal, round legs without inertia about their axis.
    """
    b, p = paper_geometry()
    cylinder, piston = np.diag([0.0, 0.06, 0.06]), np.diag([0.0, 0.02, 0.02])
    legs = [Leg(b[i], p[i], 2.0, 0.3, cylinder, 1.0, 0.25, piston) for i in range(6)]
    return StewartPlatform(legs, 15.0, np.diag([0.5, 0.7, 1.1]))


def count_operations(robot: StewartPlatform) -> Table:
    """Return the counts of all models, for a fixed and for a moving base."""
    table: Table = {}
    for moving in (False, True):
        inputs = _Inputs(moving)
        table['moving base' if moving else 'fixed base'] = {
            name: count(model(robot, inputs), inputs.symbols) for name, model in MODELS.items()
        }
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
