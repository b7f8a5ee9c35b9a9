"""lopes_2010: the parts of the model on a moving base, its misprints, its operation counts."""

from __future__ import annotations

import numpy as np

from parallel_dynamics.loading import load_robot
from parallel_dynamics.motion import BaseMotion, PlatformMotion
from parallel_dynamics.papers.lopes_2010 import operations, sketches
from parallel_dynamics.papers.lopes_2010.extract import stewart_platform
from parallel_dynamics.papers.lopes_2010.model import PARTS, PRINTED_FORMS, StewartPlatform
from parallel_dynamics.papers.masses import mass_table, number
from parallel_dynamics.papers.motions import swing
from parallel_dynamics.papers.notation import Array, skew, unit
from parallel_dynamics.papers.report import (
    COLOURS,
    Report,
    markdown_table,
    new_figure,
    plot_lines,
    relative_error,
)
from parallel_dynamics.papers.variants import lopes_robot
from parallel_dynamics.robot import Robot

KEY = 'lopes_2010'
PERIOD = 2.0
GROUPS = {
    'inertia, base fixed': '(fix)',
    'inertia, base motion': '(man)',
    'gravity': '(gra)',
}


def base_motion(t: Array) -> BaseMotion:
    """Return a base that rolls by 20 deg about a tilted axis, heaves, surges and sways."""
    w = 2.0 * np.pi / PERIOD
    n = unit(np.array([1.0, 0.4, 0.2]))
    s, c = np.sin(w * t), np.cos(w * t)
    theta = np.radians(20.0) * s
    N = skew(n)
    rotation = np.eye(3) + np.sin(theta)[:, None, None] * N
    rotation = rotation + (1.0 - np.cos(theta))[:, None, None] * (N @ N)
    shift = np.array([0.1, 0.05, 0.2])
    to_base = np.swapaxes(rotation, 1, 2)
    return BaseMotion(
        rotation,
        np.einsum('nij,nj->ni', to_base, shift * w * c[:, None]),
        np.radians(20.0) * w * c[:, None] * n,
        np.einsum('nij,nj->ni', to_base, -shift * w * w * s[:, None]),
        -np.radians(20.0) * w * w * s[:, None] * n,
    )


def total(robot: StewartPlatform, m: PlatformMotion, base: BaseMotion, *as_printed: str) -> Array:
    """Return the actuator forces (N, 6) over a batch."""
    printed = frozenset(as_printed)
    return np.array([robot.inverse_dynamics(a, b, printed) for a, b in zip(m, base)])


def reproduce() -> Report:
    """Return the report of this paper."""
    t = np.linspace(0.0, PERIOD, 101)
    engine = lopes_robot(load_robot('gough_stewart'))
    robot = stewart_platform(engine.model)
    home = engine.home
    shift = np.array([0.06, 0.04, 0.03])
    axis = np.array([0.5, 0.6, 0.4])
    m = swing(t, home.position, home.rotation, shift, axis, 0.12, PERIOD)
    base = base_motion(t)
    report = Report(KEY, 'Lopes 2010: moving-base Stewart platform by generalized momentum')
    _draw(report, robot, home)
    _assumed(report, engine, robot)
    parts = [robot.actuator_forces(a, b) for a, b in zip(m, base)]
    series = {name: np.array([p[name] for p in parts]) for name in PARTS}
    force = sum(series.values())
    reaction = np.array([robot.base_reaction(a, b) for a, b in zip(m, base)])
    _plot(report, t, series, np.asarray(force), reaction)
    agreement = relative_error(np.asarray(force), engine.inverse_dynamics(m, base=base))
    report.numbers.update(
        {
            'agreement': {'engine': agreement},
            'forces_N': np.asarray(force)[[20, 40, 80]],
            'parts_rms_N': {name: np.sqrt(np.mean(x**2)) for name, x in series.items()},
            'base_reaction': reaction[[20, 40, 80]],
        }
    )
    _corrections(report, robot, m, base, np.asarray(force))
    _operations(report)
    report.add(
        '## Agreement',
        f"The sum of all parts equals the engine's inverse dynamics on the same moving base to "
        f'{agreement:.0e} of the largest force.',
    )
    return report


def _draw(report: Report, robot: StewartPlatform, home: PlatformMotion) -> None:
    report.add(
        'Section 3 of lopes_2010, equations (10)-(122), in `parallel_dynamics.papers.lopes_2010`, '
        'which does not use the engine. It is evaluated on the shipped robot `gough_stewart` '
        'without drives, friction and the mass of the crosses in its universal joints, none of '
        'which the paper has.',
        '## The robot',
    )
    report.picture('fig1', sketches.structure(robot, home), 'Fig. 1: kinematic structure')
    figure, sizes = sketches.connecting_points(robot)
    report.picture('fig2', figure, 'Fig. 2: connecting points on base and payload platform')
    report.picture(
        'fig3',
        sketches.centres_of_mass(robot, home),
        'Figs. 3 and 4: centres of mass of cylinder and piston',
    )
    report.numbers['geometry'] = sizes


def _assumed(report: Report, engine: Robot, robot: StewartPlatform) -> None:
    """Say every number that the paper does not have."""
    sizes = report.numbers['geometry']
    leg = robot.legs[0]
    report.add(
        '## Assumed where the paper is silent',
        'The paper gives no numbers. All below are those of the shipped robot `gough_stewart`.',
        f'- Lengths: r_B = {number(sizes["r_B"])} m, r_P = {number(sizes["r_P"])} m, '
        f'phi_B = phi_P = {number(sizes["phi_B"])} rad; the platform is '
        f'{number(float(engine.home.position[2]))} m above the base at home.\n'
        f'- Centres of mass: b_C = {number(leg.b_C)} m, b_S = {number(leg.b_S)} m, both on the '
        f'axis of the leg; {{P}} is {number(float(robot.centre[2]))} m above the plane of the '
        'points P_i, since the platform carries a load.\n'
        '- Tensors: cylinders are uniform tubes, piston rods solid bars, the platform a disc with '
        'a box.\n'
        '- Gravity: 9.81 m/s^2 along -z of the world.\n'
        '- The first axis of each universal joint is horizontal; the paper does not say how its '
        'legs are held.',
        f'Masses, with leg 1 for all legs.\n\n{mass_table(engine.model)}',
    )


def _plot(
    report: Report, t: Array, series: dict[str, Array], force: Array, reaction: Array
) -> None:
    report.add(
        '## Parts of the actuator forces on a moving base',
        'The paper prints no curves. Here the platform swings in all six directions while the '
        'base turns by 20 deg about the axis (1, 0.4, 0.2) and moves by 0.1 m in x, 0.05 m in y '
        'and 0.2 m in z, all with a period of 2 s. The parts are the '
        'sums of those of platform, cylinders and pistons: base fixed (37), (66), (83), (104), '
        '(117); base motion (38), (67), (84), (105), (118); gravity (42), (88), (122).',
    )
    figure, axes = new_figure(1, 2, size=(10.4, 4.2))
    for panel, actuator in zip(axes, (0, 3)):
        curves = {
            label: np.asarray(sum(x[:, actuator] for n, x in series.items() if mark in n))
            for label, mark in GROUPS.items()
        }
        name = rf'$\tau_{actuator + 1}$ [N]'
        plot_lines(panel, t, curves, name)
        panel.plot(t, force[:, actuator], color='black', linewidth=1.2, label='total')
        panel.legend(frameon=False, loc='lower left', bbox_to_anchor=(0.0, 1.0), ncols=2)
    report.picture('parts', figure, 'Parts of the forces of actuators 1 and 4')
    figure, axes = new_figure(1, 2, size=(10.0, 4.2))
    plot_lines(axes[0], t, dict(zip('xyz', reaction[:, :3].T)), 'force on the base [N]')
    plot_lines(axes[1], t, dict(zip('xyz', reaction[:, 3:].T)), 'moment on the base [N m]')
    report.picture(
        'reaction',
        figure,
        "Wrench of the robot on its moving base, at the base's origin in base axes; the paper "
        'leaves it out',
    )


def _corrections(
    report: Report, robot: StewartPlatform, m: PlatformMotion, base: BaseMotion, force: Array
) -> None:
    off = {key: relative_error(total(robot, m, base, key), force) for key in PRINTED_FORMS}
    still = stewart_platform(lopes_robot(load_robot('gough_stewart')).model, spin=False)
    spin = relative_error(total(still, m, base), force)
    report.numbers['printed_off'] = {**off, 'no_spin': spin}
    moment = "`I'_B w_B + I w_B' + w_B x [I (w + w_B)]`"
    weight, angles = '`J^T (-m R_B^T g)`', 'the derivative by Euler angles times `J_A^-T`'
    rights = {
        '(23)': '`2 w_B x v_P`, as in (27)',
        '(35)': moment,
        '(53)': '`J_D = [lbar~, -lbar~ p~]`, as (57) has it',
        '(81)': moment,
        '(85)': weight,
        '(86)': angles,
        '(115)': moment,
        '(119)': weight,
        '(120)': angles,
    }
    report.add(
        '## Corrected, and how far the printed equation is off',
        'One at a time, in per cent of the largest actuator force over the motion above; an '
        'equation of a cylinder or piston is taken as printed in all six legs.',
        markdown_table(
            ('equation', 'printed', 'corrected', 'off by'),
            (
                (key, PRINTED_FORMS[key], rights[key], f'{100 * off[key]:.3g} %')
                for key in PRINTED_FORMS
            ),
        ),
        f'"The leg does not spin" is false for a universal joint, for which w . (a1 x a2) = 0. '
        f'For the tubes of this robot it costs {100 * spin:.2g} % of the largest force; it is '
        'exact only for legs without inertia about their axis. The frame (73)-(76) divides by '
        'zero for a vertical leg and is not used. Also: (95), lost in print, is '
        '`J_G = [(1 - b_S/l) 1 + (b_S/l) l^ l^T] [1, -p~]`.',
    )


def _operations(report: Report) -> None:
    table = operations.COUNTED
    names = {
        'momentum': 'momentum, short',
        'momentum_matrices': 'momentum, matrices as printed',
        'lagrange': 'Lagrange, short',
        'lagrange_matrices': "Lagrange, I(x), V(x, x'), G(x) as in (1)",
        'lagrange_matrices_combined': 'the same, each leg as one body first',
    }
    rows = []
    for base, models in table.items():
        for model, counts in models.items():
            rows.append((base, names[model], *counts.values()))
    pairs = {
        'as written': ('lagrange_matrices', 'momentum_matrices'),
        'as written, legs as one body': ('lagrange_matrices_combined', 'momentum_matrices'),
        'short': ('lagrange', 'momentum'),
    }
    ratios = {
        base: {name: operations.ratio(table, base, *pair) for name, pair in pairs.items()}
        for base in table
    }
    report.numbers['operations'] = table
    report.numbers['operation_ratios'] = ratios
    figure, axes = new_figure(size=(7.6, 4.0))
    for k, base in enumerate(table):
        totals = [table[base][n]['sums'] + table[base][n]['multiplications'] for n in names]
        places = np.arange(len(names)) + 0.38 * (k - 0.5)
        axes.barh(places, totals, height=0.36, color=COLOURS[k], label=base)
        for place, value in zip(places, totals):
            axes.text(value + 600, place, f'{value}', va='center', fontsize=9)
    axes.set_yticks(range(len(names)), list(names.values()))
    axes.invert_yaxis()
    axes.set_xlim(0, 56000)
    axes.set_xlabel('sums and multiplications')
    axes.legend(frameon=False, loc='lower left', bbox_to_anchor=(0.0, 1.0), ncols=2)
    fixed, moving = ratios['fixed base'], ratios['moving base']
    report.add(
        '## Scalar operations',
        'The paper counts sums and multiplications of this model and of a Lagrange model in '
        'Maple and finds a ratio of about five. Counted here with CasADi after common '
        'subexpressions are removed; inputs are position and Euler angles with derivatives. The '
        'output is the generalized force on the platform: [force; moment] by momentum, '
        'derivatives by Euler angles by Lagrange, which are not moments until `J_A^-T` is applied '
        '(nine operations more).',
        'The robot counted is a symmetric one, and its zeros shorten all models: attachment '
        'points in the planes z = 0, {P} in the middle of the platform with a diagonal tensor, '
        'round legs with I_xx = 0 that do not spin.',
        markdown_table(
            ('base', 'model', 'sums', 'multiplications', 'divisions', 'sqrt, sin, cos'), rows
        ),
    )
    report.picture('operations', figure, 'Sums and multiplications of the two methods')
    report.add(
        f'With the matrices of both methods written out, body by body, the ratio is '
        f'{moving["as written"]:.2f} on a moving base and {fixed["as written"]:.2f} on a fixed '
        'one, close to the five of the paper (which does not say how its Lagrange model was '
        'written). That is a ratio of two ways of writing more than of two methods: when '
        'cylinder and piston of a leg are first added to one kinetic energy, '
        '[A(l) v^2 + (m_S - A(l)) l\'^2] / 2 on a fixed base, the same matrices of Lagrange cost '
        f'{moving["as written, legs as one body"]:.2f} and '
        f'{fixed["as written, legs as one body"]:.2f} times those of the momentum.',
        'In the short forms each is written as short as we could: vectors and legs as one body '
        'for the momentum; legs as one body, the base\'s acceleration as gravity, and one sweep '
        'of automatic differentiation along the motion for Lagrange. Then the ratio is '
        f'{moving["short"]:.2f} and {fixed["short"]:.2f}, and Lagrange in its short form needs '
        'fewer operations than the momentum model with its matrices written out. That nobody '
        'can write either one shorter is not shown. All models give the same force to rounding.',
    )
