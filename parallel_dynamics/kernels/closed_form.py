"""Legs that are placed in closed form: a few joints at a time, each time by the place of one tip.

When a robot is packed, a leg is taken apart into *steps*. A step finds the one, two or three
joints between a body that stands already and a tip whose place is known, because a closure holds
it to the platform or to another such body. An RUS leg is one step; the arm of a Delta with two
rods is two, crank and first rod and then the second rod. A step has two solutions at most, whose
sign is that of home: along any path without a leg singularity it cannot change, so the working
mode is kept. What a step leaves over, such as the third coordinate of the tip of two joints, the
residual of the closures judges.

In what follows body a is moved by the step's first joint, b and c by the next ones; O is the
point where the axes of two neighbouring revolute joints meet.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from parallel_dynamics.kernels.compiler import inner_kernel, kernel
from parallel_dynamics.kernels.layout import (
    BALL,
    HINGE,
    LARGEST_STEPS,
    PLANE,
    PRISMATIC,
    REVOLUTE,
    WELD,
)
from parallel_dynamics.kernels.position import axis_on, place_joint, point_on
from parallel_dynamics.spatial import Array

# What a step finds: U is two revolute joints that meet, RR two that do not, X any joint.
U_P, X_U, U, RR, R_P, R, P, P_TO_PLANE = range(8)
SMALLEST_COSINE = -0.8
"""Cosine of an angle (143 deg) beyond which a joint may have gone round the other way."""
SMALLEST_MARGIN = 1e-3
"""Distance of home from where two solutions meet, relative, below which signs are not trusted."""


@kernel
def solve_closed_form(
    leg: Any, joints: Any, closures: Any, bodies: Any, coordinates: Any, angles: bool
) -> bool:
    """Set a leg's coordinates and place its bodies for the platform's pose.

    Angles themselves are only worked out when ``angles``: most of the dynamics needs but their
    cosines and sines. Returns False where there is no solution, or one that may be a turn away
    from home's.
    """
    for k in range(leg['steps']):
        if not solve_step(closures[leg['step'][k]], joints, bodies, coordinates, angles):
            return False
    return True


@inner_kernel
def solve_step(
    step: Any, joints: Any, bodies: Any, coordinates: Any, angles: bool
) -> bool:
    """Do the step that a closure makes possible; see ``solve_closed_form``."""
    form = step['form']
    first = joints[step['j0']]
    parent = bodies[first['parent']]
    x, y, z = point_on(bodies[step['onto']], step['target'])
    # The target in the frame of the first joint.
    if first['parent'] == 0:
        m = first['R']
        x, y, z = x - first['p'][0], y - first['p'][1], z - first['p'][2]
        tx = m[0, 0] * x + m[1, 0] * y + m[2, 0] * z
        ty = m[0, 1] * x + m[1, 1] * y + m[2, 1] * z
        tz = m[0, 2] * x + m[1, 2] * y + m[2, 2] * z
    else:
        ox, oy, oz = point_on(parent, first['p'])
        tx, ty, tz = in_frame(first, parent, x - ox, y - oy, z - oz)
    if form > X_U:
        return solve_small_step(step, joints, bodies, coordinates, angles, tx, ty, tz)
    second = joints[step['j1']]
    third = joints[step['j2']]
    o = step['centre']
    arm = step['arm']
    # Cosine and sine of each joint that turns, stroke of the one that slides.
    if form == U_P:
        # arm: the tip from O at zero stroke, in the frame of body b.
        tz -= o[2]
        ex, ey, ez = third['R'][0, 2], third['R'][1, 2], third['R'][2, 2]
        h = arm[0] * ex + arm[1] * ey + arm[2] * ez
        rest = h * h - step['length'] + tx * tx + ty * ty + tz * tz
        if rest <= 0.0:
            return False
        slide = -h + step['sign0'] * math.sqrt(rest)
        good, c0, s0, c1, s1 = two_angles(
            second['R'], step['sign1'], arm[0] + slide * ex, arm[1] + slide * ey,
            arm[2] + slide * ez, tx, ty, tz,
        )  # fmt: skip
        if not good or min(c0, c1) < SMALLEST_COSINE:
            return False
        set_joint(first, step['j0'], bodies, coordinates, c0, s0, 0.0, angles)
        set_joint(second, step['j1'], bodies, coordinates, c1, s1, 0.0, angles)
        set_joint(third, step['j2'], bodies, coordinates, 1.0, 0.0, slide, angles)
        return True
    # O moves with the first joint at a fixed distance from the tip.
    c0, s0, slide = 1.0, 0.0, 0.0
    if first['kind'] == PRISMATIC:
        ux, uy, uz = tx - o[0], ty - o[1], tz - o[2]
        rest = step['length'] - ux * ux - uy * uy
        if rest <= 0.0:
            return False
        slide = uz + step['sign0'] * math.sqrt(rest)
        uz -= slide
    else:
        size = tx * tx + ty * ty + tz * tz + o[0] * o[0] + o[1] * o[1] + o[2] * o[2]
        good, c0, s0 = one_angle(
            tx * o[0] + ty * o[1], ty * o[0] - tx * o[1],
            0.5 * (size - step['length']) - tz * o[2], step['sign0'],
        )  # fmt: skip
        if not good:
            return False
        ux, uy, uz = c0 * tx + s0 * ty - o[0], c0 * ty - s0 * tx - o[1], tz - o[2]
    r = second['R']
    good, c1, s1, c2, s2 = two_angles(
        third['R'], step['sign1'], arm[0], arm[1], arm[2],
        r[0, 0] * ux + r[1, 0] * uy + r[2, 0] * uz,
        r[0, 1] * ux + r[1, 1] * uy + r[2, 1] * uz,
        r[0, 2] * ux + r[1, 2] * uy + r[2, 2] * uz,
    )  # fmt: skip
    if not good or min(c0, c1, c2) < SMALLEST_COSINE:
        return False
    set_joint(first, step['j0'], bodies, coordinates, c0, s0, slide, angles)
    set_joint(second, step['j1'], bodies, coordinates, c1, s1, 0.0, angles)
    set_joint(third, step['j2'], bodies, coordinates, c2, s2, 0.0, angles)
    return True


@kernel
def solve_small_step(
    step: Any, joints: Any, bodies: Any, coordinates: Any, angles: bool, tx: float, ty: float,
    tz: float,
) -> bool:  # fmt: skip
    """Do a step that finds one joint or two, for the target in the frame of the first."""
    form = step['form']
    first = joints[step['j0']]
    second = joints[step['j1']]
    o = step['centre']
    arm = step['arm']
    c0, s0, p0 = 1.0, 0.0, 0.0
    c1, s1, p1 = 1.0, 0.0, 0.0
    good = True
    if form == U:
        good, c0, s0, c1, s1 = two_angles(
            second['R'], step['sign1'], arm[0], arm[1], arm[2], tx, ty, tz - o[2]
        )
    elif form == RR:
        # The second angle sets how far the tip is from the origin of body a; o is that of body b.
        r = second['R']
        gx = r[0, 0] * o[0] + r[1, 0] * o[1] + r[2, 0] * o[2]
        gy = r[0, 1] * o[0] + r[1, 1] * o[1] + r[2, 1] * o[2]
        gz = r[0, 2] * o[0] + r[1, 2] * o[1] + r[2, 2] * o[2]
        size = tx * tx + ty * ty + tz * tz - step['length']
        good, c1, s1 = one_angle(
            gx * arm[0] + gy * arm[1], gy * arm[0] - gx * arm[1], 0.5 * size - gz * arm[2],
            step['sign0'],
        )  # fmt: skip
        if not good:
            return False
        ux, uy = c1 * arm[0] - s1 * arm[1], s1 * arm[0] + c1 * arm[1]
        good, c0, s0 = turned_to(
            o[0] + r[0, 0] * ux + r[0, 1] * uy + r[0, 2] * arm[2],
            o[1] + r[1, 0] * ux + r[1, 1] * uy + r[1, 2] * arm[2], tx, ty,
        )  # fmt: skip
    elif form == R_P:
        # The stroke sets how far the tip is from the axis of the first joint.
        ex, ey = second['R'][0, 2], second['R'][1, 2]
        across = ex * ex + ey * ey
        h = (arm[0] * ex + arm[1] * ey) / across
        size = tx * tx + ty * ty - arm[0] * arm[0] - arm[1] * arm[1]
        rest = h * h + size / across
        if rest <= 0.0:
            return False
        p1 = -h + step['sign0'] * math.sqrt(rest)
        good, c0, s0 = turned_to(arm[0] + p1 * ex, arm[1] + p1 * ey, tx, ty)
    elif form == R:
        good, c0, s0 = turned_to(arm[0], arm[1], tx, ty)
    elif form == P:
        p0 = tz - arm[2]
    else:
        wx, wy, wz = axis_on(bodies[step['onto']], step['R2'], 2)
        nx, ny, nz = in_frame(first, bodies[first['parent']], wx, wy, wz)
        if step['sign0'] * nz <= SMALLEST_MARGIN:
            return False
        p0 = (nx * (tx - arm[0]) + ny * (ty - arm[1]) + nz * (tz - arm[2])) / nz
    if not good or min(c0, c1) < SMALLEST_COSINE:
        return False
    set_joint(first, step['j0'], bodies, coordinates, c0, s0, p0, angles)
    if form <= R_P:
        set_joint(second, step['j1'], bodies, coordinates, c1, s1, p1, angles)
    return True


@kernel
def in_frame(
    joint: Any, parent: Any, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Return a vector given in base axes in the axes of a joint at zero."""
    m = parent['R']
    ux = m[0, 0] * x + m[1, 0] * y + m[2, 0] * z
    uy = m[0, 1] * x + m[1, 1] * y + m[2, 1] * z
    uz = m[0, 2] * x + m[1, 2] * y + m[2, 2] * z
    m = joint['R']
    return (
        m[0, 0] * ux + m[1, 0] * uy + m[2, 0] * uz,
        m[0, 1] * ux + m[1, 1] * uy + m[2, 1] * uz,
        m[0, 2] * ux + m[1, 2] * uy + m[2, 2] * uz,
    )


@inner_kernel
def set_joint(
    joint: Any, j: int, bodies: Any, coordinates: Any, c: float, s: float, slide: float,
    angles: bool,
) -> None:  # fmt: skip
    """Place the body behind joint ``j``, and set its coordinate when ``angles``."""
    q = slide
    if angles:
        if joint['kind'] == REVOLUTE:
            q = math.atan2(s, c)
        coordinates[joint['coordinate']]['q'] = q
    place_joint(joint, bodies[j + 2], bodies[joint['parent']], q, c, s, slide)


@kernel
def one_angle(p: float, q: float, reach: float, sign: float) -> tuple[bool, float, float]:
    """Solve p cos + q sin = reach; return whether it can be solved, and cosine and sine."""
    h = p * p + q * q
    rest = h - reach * reach
    if rest <= 0.0:
        return False, 1.0, 0.0
    root = sign * math.sqrt(rest)
    return True, (p * reach - q * root) / h, (q * reach + p * root) / h


@kernel
def turned_to(ux: float, uy: float, tx: float, ty: float) -> tuple[bool, float, float]:
    """Return cosine and sine of the angle from (ux, uy) to (tx, ty), and whether there is one."""
    c = ux * tx + uy * ty
    s = ux * ty - uy * tx
    size = math.sqrt(c * c + s * s)
    if size <= 0.0:
        return False, 1.0, 0.0
    return True, c / size, s / size


@kernel
def two_angles(
    r: Any, sign: float, x: float, y: float, z: float, tx: float, ty: float, tz: float
) -> tuple[bool, float, float, float, float]:
    """Solve Rz(a) r Rz(b) (x, y, z) = (tx, ty, tz) for the cosines and sines of a and b.

    ``r`` (3, 3) places joint b in body a. Returns whether it can be solved, then a, then b.
    """
    good, cb, sb = one_angle(
        r[2, 0] * x + r[2, 1] * y, r[2, 1] * x - r[2, 0] * y, tz - r[2, 2] * z, sign
    )
    if not good:
        return False, 1.0, 0.0, 1.0, 0.0
    u = cb * x - sb * y
    v = sb * x + cb * y
    good, ca, sa = turned_to(
        r[0, 0] * u + r[0, 1] * v + r[0, 2] * z, r[1, 0] * u + r[1, 1] * v + r[1, 2] * z, tx, ty
    )
    return good, ca, sa, cb, sb


# ---------------------------------------------------------------------- when a robot is packed


@dataclass(frozen=True)
class Step:
    """One step: which joints it finds, and the lengths and signs by which it does."""

    form: int
    margin: float  # relative; small where the two solutions are near each other
    centre: Array
    arm: Array
    length: float = 0.0
    sign0: float = 0.0
    sign1: float = 0.0


def find_closed_form(leg: Any, joints: Any, closures: Any, system: Any) -> None:
    """Take a leg apart into steps, if all of it can be.

    ``leg['point']`` is set for every leg with a ball on three joints from the base,
    ``leg['steps']`` where steps place all of its bodies; signs and lengths are those of home.
    """
    first, last = int(leg['joint0']), int(leg['joint1'])
    chain = joints[first:last]
    if np.any(chain['ratio'] != 1.0) or np.any(chain['offset']):
        return
    leg['point'] = _is_point(leg, joints, closures)
    placed = {0: (np.eye(3), np.zeros(3)), 1: (system['home_R'], system['home_p'])}
    for j in range(first, last):
        above, seat = placed[int(joints[j]['parent'])]
        placed[j + 2] = above @ joints[j]['R'], seat + above @ joints[j]['p']
    found, left = _steps(leg, joints, closures, placed)
    if left or len(found) > LARGEST_STEPS:
        return
    leg['steps'] = len(found)
    for k, (numbers, closure, onto, target, step) in enumerate(found):
        leg['step'][k] = closure
        record = closures[closure]
        record['form'], record['onto'], record['target'] = step.form, onto, target
        record['j0'], record['j1'], record['j2'] = (*numbers, 0, 0)[:3]
        record['centre'], record['arm'], record['length'] = step.centre, step.arm, step.length
        record['sign0'], record['sign1'] = step.sign0, step.sign1


def _is_point(leg: Any, joints: Any, closures: Any) -> bool:
    j = int(leg['joint0'])
    closure = closures[int(leg['closure0'])]
    return bool(
        leg['joint1'] - j == leg['coordinates'] == 3
        and leg['closure1'] - leg['closure0'] == 1
        and closure['kind'] == BALL
        and closure['second'] == 1
        and closure['first'] == j + 4
        and list(joints['parent'][j : j + 3]) == [0, j + 2, j + 3]
    )


def _steps(
    leg: Any, joints: Any, closures: Any, placed: dict[int, tuple[Array, Array]]
) -> tuple[list[Any], set[int]]:
    """Return the steps as (joints, closure, body, its point, Step), and the bodies left over."""
    known = {0, 1}
    found: list[Any] = []
    left = set(range(int(leg['joint0']) + 2, int(leg['joint1']) + 2))
    closing = list(range(int(leg['closure0']), int(leg['closure1'])))
    before = -1
    while left and len(found) != before:
        before = len(found)
        for c in closing:
            one = _step_of(closures[c], joints, known, placed)
            if one is not None:
                numbers, *rest = one
                found.append((numbers, c, *rest))
                known |= {j + 2 for j in numbers}
                left -= known
                closing.remove(c)
                break
    return found, left


def _step_of(
    closure: Any, joints: Any, known: set[int], placed: dict[int, tuple[Array, Array]]
) -> Any:
    """Return (joints, body, its point, Step) that a closure makes possible, or None."""
    sides = [('first', 'p1', 'second', 'p2')]
    if closure['kind'] in (BALL, HINGE, WELD):
        sides.append(('second', 'p2', 'first', 'p1'))
    elif closure['kind'] != PLANE:
        return None
    for tip_side, tip_point, side, point in sides:
        onto, tip_body = int(closure[side]), int(closure[tip_side])
        if onto not in known or tip_body in known:
            continue
        numbers: list[int] = []
        while tip_body not in known and len(numbers) < 4:
            numbers.insert(0, tip_body - 2)
            tip_body = int(joints[tip_body - 2]['parent'])
        if len(numbers) > 3:
            continue
        above, seat = placed[tip_body]
        rotation, position = placed[onto]
        target = position + rotation @ closure[point]
        first = joints[numbers[0]]
        seen = first['R'].T @ (above.T @ (target - seat) - first['p'])
        chain = [joints[j] for j in numbers]
        if closure['kind'] == PLANE:
            normal = above.T @ rotation @ closure['R2'][:, 2]
            step = _to_plane(chain, closure, float(first['R'][:, 2] @ normal))
        else:
            step = _to_point(chain, np.array(closure[tip_point]), seen)
        if step is not None and step.margin > SMALLEST_MARGIN:
            return numbers, onto, closure[point], step
    return None


def _to_plane(chain: list[Any], closure: Any, slope: float) -> Step | None:
    if len(chain) > 1 or chain[0]['kind'] != PRISMATIC:
        return None
    return Step(P_TO_PLANE, abs(slope), np.zeros(3), np.array(closure['p1']),
                sign0=math.copysign(1.0, slope))  # fmt: skip


def _to_point(chain: list[Any], tip: Array, target: Array) -> Step | None:
    """Return the step that brings a tip on one to three joints to a point, if it is known.

    ``tip`` is in the frame of the last body, ``target`` in that of the first joint, at home.
    """
    kinds = [int(joint['kind']) for joint in chain]
    if kinds == [REVOLUTE]:
        return Step(R, _share(math.hypot(tip[0], tip[1]), tip), np.zeros(3), tip)
    if kinds == [PRISMATIC]:
        return Step(P, 1.0, np.zeros(3), tip)
    if kinds == [REVOLUTE, REVOLUTE]:
        return _two_turns(chain, tip)
    if kinds == [REVOLUTE, PRISMATIC]:
        return _turn_and_slide(chain, tip)
    if kinds == [REVOLUTE, REVOLUTE, PRISMATIC]:
        return _universal_and_slide(chain, tip)
    if len(kinds) == 3 and kinds[1:] == [REVOLUTE, REVOLUTE]:
        return _and_universal(chain, tip, target)
    return None


def _two_turns(chain: list[Any], tip: Array) -> Step | None:
    second = chain[1]
    meeting = _meeting_point(second)
    if meeting is not None:
        on_a, on_b = meeting
        arm = tip - np.array([0.0, 0.0, on_b])
        sign, margin = _height_sign(second, arm)
        return Step(U, margin, np.array([0.0, 0.0, on_a]), arm, sign1=sign)
    centre = np.array(second['p'])
    g = second['R'].T @ centre
    slope = float(g[1] * tip[0] - g[0] * tip[1])
    size = math.hypot(g[0], g[1]) * math.hypot(tip[0], tip[1])
    length = float(centre @ centre + tip @ tip)
    margin = abs(slope) / size if size > 1e-12 * length else 0.0
    return Step(RR, margin, centre, tip, length, sign0=-math.copysign(1.0, slope))


def _turn_and_slide(chain: list[Any], tip: Array) -> Step | None:
    slide = chain[1]
    arm, e = slide['p'] + slide['R'] @ tip, slide['R'][:, 2]
    across = float(e[0] ** 2 + e[1] ** 2)
    if across < 0.01:
        return None
    h = float(arm[0] * e[0] + arm[1] * e[1])
    return Step(R_P, _share(h, arm), np.zeros(3), arm, sign0=math.copysign(1.0, h))


def _universal_and_slide(chain: list[Any], tip: Array) -> Step | None:
    _, second, third = chain
    meeting = _meeting_point(second)
    if meeting is None:
        return None
    on_a, on_b = meeting
    arm = third['p'] + third['R'] @ tip - np.array([0.0, 0.0, on_b])
    h = float(arm @ third['R'][:, 2])
    sign, margin = _height_sign(second, arm)
    return Step(
        U_P, min(margin, _share(h, arm)), np.array([0.0, 0.0, on_a]), arm, float(arm @ arm),
        math.copysign(1.0, h), sign,
    )  # fmt: skip


def _and_universal(chain: list[Any], tip: Array, target: Array) -> Step | None:
    first, second, third = chain
    meeting = _meeting_point(third)
    if meeting is None:
        return None
    on_b, on_c = meeting
    arm = tip - np.array([0.0, 0.0, on_c])
    centre = second['p'] + second['R'][:, 2] * on_b
    if first['kind'] == PRISMATIC:
        height = float(target[2] - centre[2])
        reach = _share(height, arm)
    else:
        height = float(target[1] * centre[0] - target[0] * centre[1])
        size = math.hypot(target[0], target[1]) * math.hypot(centre[0], centre[1])
        reach = abs(height) / size if size > 0.0 else 0.0
    sign, margin = _height_sign(third, arm)
    return Step(X_U, min(margin, reach), centre, arm, float(arm @ arm),
                -math.copysign(1.0, height), sign)  # fmt: skip


def _height_sign(joint: Any, arm: Array) -> tuple[float, float]:
    """Sign of the root in ``two_angles`` at home, and how far it is from zero."""
    row = joint['R'][2]
    slope = float(row[1] * arm[0] - row[0] * arm[1])
    return -math.copysign(1.0, slope), _share(slope, arm)


def _share(value: float, arm: Array) -> float:
    length = math.sqrt(float(arm @ arm))
    return abs(value) / length if length > 0.0 else 0.0


def _meeting_point(joint: Any) -> tuple[float, float] | None:
    """Where the joint's axis meets the axis of the body that carries it (that body's z axis).

    Returns the places along the carrying axis and along the joint's own, or None.
    """
    axis, p = joint['R'][:, 2], joint['p']
    across = axis[0] ** 2 + axis[1] ** 2
    if across < 1e-6:
        return None
    along = -(p[0] * axis[0] + p[1] * axis[1]) / across
    point = p + along * axis
    scale = 1.0 + float(np.abs(p).max())
    if math.hypot(point[0], point[1]) > 1e-10 * scale:
        return None
    return float(point[2]), float(along)
