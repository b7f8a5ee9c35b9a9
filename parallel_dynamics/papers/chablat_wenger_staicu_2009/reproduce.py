"""Figures 3-8 of chablat_wenger_staicu_2009 with the paper's data."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.loading import load_robot
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.chablat_wenger_staicu_2009.dynamics import (
    Orthoglide,
    paper_motion,
)
from parallel_dynamics.papers.chablat_wenger_staicu_2009.extract import TO_BASE, orthoglide
from parallel_dynamics.papers.chablat_wenger_staicu_2009.kinematics import (
    LEGS,
    attitude_error,
    jacobians,
    leg_pose,
    leg_rates,
)
from parallel_dynamics.papers.notation import Array
from parallel_dynamics.papers.report import (
    Report,
    markdown_table,
    new_figure,
    plot_lines,
    relative_error,
    rms,
)

KEY = 'chablat_wenger_staicu_2009'
DURATION = 2.0


def simulate(robot: Orthoglide, t: Array, *as_printed: str) -> dict[str, Array]:
    """Return slides, their rates, forces and powers (N, 3) of the paper's motion.

    Equations named are used as printed; see ``PRINTED_FORMS``.
    """
    printed = frozenset(as_printed)
    slides, rates, forces = [], [], []
    for G, v, a in zip(*paper_motion(t)):
        poses = [leg_pose(robot.geometry, leg, G) for leg in range(3)]
        slides.append([pose.slide for pose in poses])
        rates.append([leg_rates(robot.geometry, pose, v).slide for pose in poses])
        forces.append(robot.inverse_dynamics(G, v, a, printed))
    out = {'slide': np.array(slides), 'rate': np.array(rates), 'force': np.array(forces)}
    out['power'] = out['rate'] * out['force']
    return out


def energy_error(robot: Orthoglide, t: Array, power: Array) -> float:
    """Return how far the work of the sliders is from the change of energy, relative."""
    total = power.sum(axis=1)
    work = float(np.sum(0.5 * (total[1:] + total[:-1]) * np.diff(t)))
    G, v, _ = paper_motion(t[[0, -1]])
    change = robot.energy(G[1], v[1]) - robot.energy(G[0], v[0])
    return abs(work - change) / abs(change)


def reproduce() -> Report:
    """Return the report of this paper."""
    robot = Orthoglide.from_paper()
    t = np.linspace(0.0, DURATION, 201)
    data = simulate(robot, t)
    printed = simulate(robot, t, '(23)')
    report = Report(KEY, 'Chablat, Wenger and Staicu 2009: dynamics of the Orthoglide')
    _introduce(report)
    for number, leg in zip((3, 4, 5), range(3)):
        figure, axes = new_figure()
        name = rf'$\lambda_{{10}}^{LEGS[leg]}$'
        plot_lines(axes, t, {name: data['slide'][:, leg]}, f'{name} [m]')
        order = ('first', 'second', 'third')[leg]
        report.picture(
            f'fig{number}',
            figure,
            f'Fig. {number}: input displacement of the {order} actuator',
        )
    for number, leg in zip((6, 7, 8), range(3)):
        figure, axes = new_figure()
        name = rf'$p_{{10}}^{LEGS[leg]}$'
        plot_lines(
            axes,
            t,
            {name: data['power'][:, leg], f'{name}, printed (23)': printed['power'][:, leg]},
            f'{name} [W]',
        )
        order = ('first', 'second', 'third')[leg]
        report.picture(
            f'fig{number}', figure, f'Fig. {number}: input power of the {order} actuator'
        )
    _conclude(report, robot, t, data, printed)
    _agree(report, t, data)
    return report


def _introduce(report: Report) -> None:
    report.add(
        'Equations (1)-(25) of chablat_wenger_staicu_2009, evaluated with the data of its '
        'section 2 and the motion (6) over 2 s, as in its figures 3 to 8. The model is '
        '`parallel_dynamics.papers.chablat_wenger_staicu_2009`; it does not use the engine.',
        '## Assumed where the paper is silent',
        '- Tensors and centres of mass of bodies 1 to 4 and 6: uniform slender bars between '
        'their joints. Platform: uniform cube with side l.\n'
        '- Gravity: (22) has the weight along +z0, so z0 points down.\n'
        '- The motion (6) has a period of 6 s and is shown for 2 s: it starts at rest and ends '
        'under way, at 1.5 times the amplitude. It is not a rest-to-rest motion.',
        '## Figures',
    )


def _conclude(
    report: Report, robot: Orthoglide, t: Array, data: dict[str, Array], printed: dict[str, Array]
) -> None:
    short = 1.0 - rms(printed['force']) / rms(data['force'])
    power_error = relative_error(printed['power'], data['power'])
    balance = energy_error(robot, t, data['power'])
    printed_balance = energy_error(robot, t, printed['power'])
    central = simulate(robot.with_central_tensors(), t)
    off = {
        key: relative_error(simulate(robot, t[::5], key)['force'], data['force'][::5])
        for key in ('(13)', '(18)')
    }
    angle = np.degrees(attitude_error())
    tensor_error = relative_error(central['force'], data['force'])
    J_1, J_2 = jacobians(robot.geometry, paper_motion(t[-1:])[0][0])
    report.numbers.update(
        {
            'slide_m': {leg: data['slide'][[50, 100, 200], k] for k, leg in enumerate(LEGS)},
            'force_N': {leg: data['force'][[0, 50, 100, 200], k] for k, leg in enumerate(LEGS)},
            'power_W': {leg: data['power'][[50, 100, 200], k] for k, leg in enumerate(LEGS)},
            'printed_force_rms_shortfall': short,
            'printed_power_error': power_error,
            'printed_off': off,
            'printed_attitude_deg': angle,
            'central_tensor_force_error': tensor_error,
            'work_minus_energy': balance,
            'printed_work_minus_energy': printed_balance,
            'condition_at_end': float(np.linalg.cond(np.linalg.solve(J_1, J_2))),
        }
    )
    report.add(
        '## Corrected, and how far the printed equation is off',
        markdown_table(
            ('equation', 'correction', 'effect of the printed form'),
            (
                (
                    '(4)',
                    '`c50 = [-1 0 0; 0 0 -1; 0 -1 0]`',
                    f'the platform on leg C would be turned by {angle:.0f} deg against the one '
                    'that legs A and B hold',
                ),
                (
                    '(13)',
                    'minus before both terms in l3, since `r43 = -l3 u2`',
                    'angular velocities of the bars with the wrong sign; forces off by up to '
                    f'{100 * off["(13)"]:.0f} % of the peak, all of it from the virtual '
                    'velocities, as the wrenches have only products of two velocities',
                ),
                (
                    '(18)',
                    'the same on both sides; last term `2 l3 w21 w32 a20^T u3~ a32^T u3~ u2`, '
                    'cut off in print',
                    f'forces off by up to {100 * off["(18)"]:.1f} % of the peak',
                ),
                (
                    '(21)',
                    'every tensor is about the joint; the paper calls two of them central',
                    f'forces off by up to {100 * tensor_error:.2f} % of the peak in this slow '
                    'motion, were all of them central',
                ),
                (
                    '(23)',
                    'the second long bar of each leg is added to body 2',
                    f'forces {100 * short:.1f} % low (rms), powers off by up to '
                    f'{100 * power_error:.1f} % of the peak',
                ),
            ),
        ),
        f'Check by energy: the work of the three sliders over the 2 s equals the change of '
        f'kinetic and potential energy to {balance:.1e} (trapezoidal rule); with the printed '
        f'(23) it misses {100 * printed_balance:.0f} %.',
        f'The condition number of the Jacobian (15) is {report.numbers["condition_at_end"]:.2f} '
        'at the end of the motion and 1 at its start, where the robot is isotropic.',
    )


def _agree(report: Report, t: Array, data: dict[str, Array]) -> None:
    engine = load_robot('orthoglide')
    position, velocity, acceleration = (x @ TO_BASE for x in paper_motion(t))
    still = np.zeros_like(position)
    rotation = np.broadcast_to(engine.home.rotation, (len(t), 3, 3))
    m = PlatformMotion(position, rotation, velocity, still, acceleration, still)
    same = simulate(orthoglide(engine.model), t)['force']
    agreement = relative_error(same, engine.inverse_dynamics(m))
    thickness = relative_error(data['force'], same)
    report.numbers['agreement'] = {'engine': agreement}
    report.numbers['slender_bars_force_error'] = thickness
    report.add(
        '## Agreement',
        'On the shipped robot `orthoglide`, whose bars have a thickness, the forces of this model '
        f'over the same motion equal those of the engine to {agreement:.0e} of the largest force. '
        f'Taking the bars as slender changes them by {thickness:.0e}.',
    )
