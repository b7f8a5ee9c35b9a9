"""Figures 3-7 of staicu_3rps with the paper's data, for revolute and prismatic actuation."""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.loading import load_robot
from parallel_dynamics.papers.notation import U1, U2, Array, staicu_rot_z
from parallel_dynamics.papers.report import (
    GREY,
    Report,
    markdown_table,
    new_figure,
    plot_lines,
    relative_error,
)
from parallel_dynamics.papers.staicu_3rps.extract import three_rps
from parallel_dynamics.papers.staicu_3rps.forces import (
    ACTUATIONS,
    JointForces,
    ThreeRps,
    paper_motion,
)
from parallel_dynamics.papers.staicu_3rps.kinematics import (
    LEG_ANGLES,
    LEGS,
    Coordinates,
    platform_matrices,
    platform_motion,
    pose,
)

KEY = 'staicu_3rps'
DURATION = 3.0
HEAVE = {'heave': 0.1, 'roll': 0.0, 'pitch': 0.0}
ROLL = {'heave': 0.0, 'roll': np.pi / 18.0, 'pitch': 0.0}
COMPONENTS = ('f32', 'f43', 'f54')

FIGURES = (
    (3, 'heave', 'f32'),
    (4, 'heave', 'f54'),
    (5, 'roll', 'f32'),
    (6, 'roll', 'f43'),
    (7, 'roll', 'f54'),
)
"""Number, motion and joint force of the paper's figures."""


def simulate(robot: ThreeRps, t: Array, motion: dict[str, float]) -> dict[str, Array]:
    """Return efforts and joint forces (N, 3) and condition numbers (N,) over a motion."""
    results = [robot.joint_forces(c) for c in paper_motion(t, **motion)]
    out = {name: np.array([getattr(r, name) for r in results]) for name in COMPONENTS}
    out['efforts'] = np.array([r.efforts for r in results])
    out['condition'] = np.array([r.condition for r in results])
    return out


def singular_angle(robot: ThreeRps, height: float) -> float:
    """Return the angle ``alpha_1`` (rad) at which the actuation is singular, at a height (m)."""

    def determinant(angle: float) -> float:
        p = pose(robot.geometry, np.array([height, angle, 0.0]))
        return float(np.linalg.det(robot.virtual_matrix(p)))

    low, high = 0.0, np.pi / 4.0
    sign = np.sign(determinant(low))
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.sign(determinant(middle)) == sign else (low, middle)
    return 0.5 * (low + high)


def held_still(robot: ThreeRps, angle: float) -> JointForces:
    """Return efforts and joint forces at rest, at home height with ``alpha_1 = angle`` (rad)."""
    value = np.array([robot.geometry.h, angle, 0.0])
    return robot.joint_forces(Coordinates(value, np.zeros(3), np.zeros(3)))


def open_loops(robot: ThreeRps, alpha1: float, alpha2: float) -> Array:
    """Return by how much (3,), m, the balls leave their legs' planes without parasitic motions."""
    R10, R21, R32 = platform_matrices(np.array([alpha1, alpha2, 0.0]))
    balls = []
    for turn in LEG_ANGLES:
        to_fixed = staicu_rot_z(turn).T
        ball = (R32 @ R21 @ R10).T @ to_fixed @ (robot.geometry.r * U1)
        balls.append(float(ball @ to_fixed @ U2))
    return np.array(balls)


def reproduce() -> Report:
    """Return the report of this paper."""
    t = np.linspace(0.0, DURATION, 121)
    data = {
        (actuation, name): simulate(ThreeRps.from_paper(actuation), t, motion)
        for actuation in ACTUATIONS
        for name, motion in (('heave', HEAVE), ('roll', ROLL))
    }
    report = Report(KEY, 'Staicu: joint forces of the 3-RPS manipulator')
    _introduce(report)
    for number, motion, force in FIGURES:
        figure = _figure(t, data, motion, force)
        symbol = f'f_{force[1:]}'
        what = 'descends by 0.2 m' if motion == 'heave' else 'turns by 20 deg about x_G'
        report.picture(
            f'fig{number}',
            figure,
            f'Fig. {number}: internal joint forces {symbol} from three legs while the platform '
            f'{what}; left with revolute actuation as in the paper, right with prismatic',
        )
    _conclude(report, t, data)
    _agree(report, t, data)
    return report


def _figure(t: Array, data: dict[tuple[str, str], dict[str, Array]], motion: str, f: str) -> Any:
    figure, axes = new_figure(1, 2, size=(10.0, 4.0))
    for panel, actuation in zip(axes, ACTUATIONS):
        values = data[actuation, motion]
        curves = {rf'$f_{{{f[1:]}}}^{leg}$': values[f][:, k] for k, leg in enumerate(LEGS)}
        if np.ptp(values[f], axis=1).max() < 1e-9:
            curves = {' = '.join(curves): values[f][:, 0]}
        plot_lines(panel, t, curves, rf'$f_{{{f[1:]}}}$ [N]', f'{actuation} actuation')
        low, high = np.min(values[f]), np.max(values[f])
        if high - low < 1e-9:
            panel.set_ylim(low - 1.0, high + 1.0)
        twin = panel.twinx()
        twin.semilogy(t, values['condition'], color=GREY, linewidth=1.2, linestyle=(0, (1, 2)))
        twin.set_ylim(1.0, 100.0)
        twin.set_ylabel('condition number (dotted)', color=GREY)
        twin.tick_params(axis='y', colors=GREY, which='both')
        twin.grid(False)
        twin.spines['top'].set_visible(False)
    return figure


def _introduce(report: Report) -> None:
    report.add(
        'Equations (1)-(13) of staicu_3rps with the data of its section 3, as in its figures 3 '
        'to 7. The model is `parallel_dynamics.papers.staicu_3rps`; it does not use the engine.',
        'f32, f43 and f54 are the components of the force that a piston exerts on the platform '
        'at its spherical joint: along the leg (+y1), along the revolute axis (-z1) and along '
        '+x1, which is perpendicular to both.',
        '## Assumed where the paper is silent',
        '- Tensors and centres of mass: cylinder and piston are uniform slender bars of 0.7 m '
        'and 0.95 m, the platform is a thin triangular plate.\n'
        '- Gravity: 9.81 m/s^2 along -z0.\n'
        '- Lengths: the leg is 1.3 m at home by tan(beta) = (l0 - r)/h, so the piston is '
        '1.3 - 0.35 = 0.95 m long.\n'
        '- Which joints are actuated: the paper drives the revolute joints; in most 3-RPS robots '
        'the prismatic ones are driven. Both are shown.',
        '## Figures',
    )


def _conclude(report: Report, t: Array, data: dict[tuple[str, str], dict[str, Array]]) -> None:
    robot = ThreeRps.from_paper('revolute')
    angle = np.degrees(singular_angle(robot, robot.geometry.h))
    end = pose(robot.geometry, np.array([robot.geometry.h, 2 * ROLL['roll'], 0.0]))
    both = pose(robot.geometry, np.array([1.2, 2 * ROLL['roll'], 2 * ROLL['roll']]))
    picks = np.searchsorted(t, [0.0, 1.0, 2.0, 3.0])
    condition = data['revolute', 'roll']['condition'][-1]
    growth = {
        name: float(
            np.abs(data['revolute', 'roll'][name][-1]).max()
            / np.abs(data['revolute', 'roll'][name][0]).max()
        )
        for name in ('efforts', 'f54')
    }
    last = 2 * ROLL['roll']
    still = {name: np.abs(getattr(held_still(robot, last), name)).max() for name in COMPONENTS}
    moving = {
        name: np.abs(data['revolute', 'roll'][name][-1]).max() for name in COMPONENTS
    }
    gaps = {'roll': open_loops(robot, last, 0.0), 'both': open_loops(robot, last, last)}
    report.numbers.update(
        {
            'static_at_end_of_roll_N': still,
            'end_of_roll_N': moving,
            'loops_open_without_parasitic_m': gaps,
            'forces_N': {
                f'{actuation} {motion}': {name: values[name][picks] for name in COMPONENTS}
                for (actuation, motion), values in data.items()
            },
            'efforts': {
                f'{actuation} {motion}': values['efforts'][picks]
                for (actuation, motion), values in data.items()
            },
            'condition': {
                f'{actuation} {motion}': values['condition'][picks]
                for (actuation, motion), values in data.items()
            },
            'singular_angle_deg': angle,
            'parasitic_at_end_of_roll_m': end.G[:2],
            'parasitic_yaw_both_deg': np.degrees(both.angles[2]),
            'growth_towards_singularity': growth,
        }
    )
    rows = []
    for actuation in ACTUATIONS:
        for motion in ('heave', 'roll'):
            values = data[actuation, motion]
            peaks = [f'{np.abs(values[name]).max():.2f}' for name in COMPONENTS]
            rows.append((actuation, motion, *peaks, f'{values["condition"].max():.1f}'))
    report.add(
        '## What the figures say',
        markdown_table(
            (
                'actuation',
                'motion',
                'max abs f32 [N]',
                'max abs f43 [N]',
                'max abs f54 [N]',
                'max condition',
            ),
            rows,
        ),
        'The condition number is that of the map from (z\'/r, alpha_1\', alpha_2\') to the rates '
        'of the actuated joints, with slides divided by r = 0.5 m. It is infinite where the '
        'actuators can stand still while the platform moves, or the other way round.',
        f'With revolute actuation the robot is singular at alpha_1 = {angle:.1f} deg for '
        f'z = {robot.geometry.h} m, and the published rotation reaches 20 deg. The condition '
        f'number grows from 1.41 to {condition:.0f}, the torques to {growth["efforts"]:.1f} '
        f'times and f54 to {growth["f54"]:.1f} times their value at rest: what Figs. 6 and 7 '
        'show near t = 3 s is the singularity, not the motion. Held still at 20 deg the robot '
        f'has f43 up to {still["f43"]:.0f} N and f54 up to {still["f54"]:.0f} N, in motion '
        f'{moving["f43"]:.0f} N and {moving["f54"]:.0f} N. f32 of Fig. 5 does not feel it '
        f'({still["f32"]:.2f} N and {moving["f32"]:.2f} N). With prismatic actuation nothing of '
        'the kind happens.',
        'f32 with passive prismatic joints is the axial load of the piston alone, a few newtons; '
        'the platform is held sideways by f54. With actuated prismatic joints f32 carries the '
        'platform.',
        '## Corrected, and how far the printed equation is off',
        '- (7), (8), (10): the tilde on u3 is lost in print. Without it the terms are products '
        'of two column vectors and have no value.\n'
        '- The parasitic motions are left to the reader: x_G = (r/2)(R11 - R22), y_G = -r R21 '
        'and alpha_3 = atan2(-sin a1 sin a2, cos a1 + cos a2) for R = Rx(a1) Ry(a2) Rz(a3). At '
        f'the end of the rotation x_G is {1000 * end.G[0]:.1f} mm; with both angles at 20 deg '
        f'alpha_3 is {np.degrees(both.angles[2]):.2f} deg. Without them the loops are open: the '
        f'balls of legs B and C leave the planes of their legs by '
        f'{1000 * np.abs(gaps["roll"]).max():.1f} mm at the end of the rotation, and with both '
        f'angles at 20 deg that of leg A does by {1000 * abs(gaps["both"][0]):.0f} mm.\n'
        '- The caption of Fig. 3 and the text call f32 a joint force of three legs without '
        'saying on which body it acts; here it acts on the platform.',
    )


def _agree(report: Report, t: Array, data: dict[tuple[str, str], dict[str, Array]]) -> None:
    agreement, thickness = {}, {}
    for actuation, name in zip(ACTUATIONS, ('three_rps', 'three_rps_prismatic')):
        engine = load_robot(name)
        robot = three_rps(engine.model)
        motion = paper_motion(t, **ROLL)
        same = simulate(robot, t, ROLL)['efforts']
        efforts = [engine.inverse_dynamics(platform_motion(robot.geometry, c)) for c in motion]
        agreement[actuation] = relative_error(same, np.array(efforts))
        thickness[actuation] = relative_error(data[actuation, 'roll']['efforts'], same)
    report.numbers['agreement'] = agreement
    report.numbers['slender_bars_effort_error'] = thickness
    report.add(
        '## Agreement',
        'On the shipped robots `three_rps` and `three_rps_prismatic`, whose legs have a '
        'thickness, the efforts of this model over the rotation equal those of the engine to '
        f'{max(agreement.values()):.0e} of the largest effort, and the joint forces do in the '
        f'tests. Taking the legs as slender changes the efforts by {max(thickness.values()):.0e}.',
    )
