"""khalil_ibrahim_2007: its robots drawn, its models evaluated, its misprints measured."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from parallel_dynamics.loading import load_robot
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.khalil_ibrahim_2007 import c5, sketches, ups
from parallel_dynamics.papers.khalil_ibrahim_2007.classical import ClassicalModel
from parallel_dynamics.papers.khalil_ibrahim_2007.extract import c5_robot, ups_robot
from parallel_dynamics.papers.motions import swing
from parallel_dynamics.papers.notation import Array
from parallel_dynamics.papers.report import (
    Report,
    markdown_table,
    new_figure,
    plot_lines,
    relative_error,
)
from parallel_dynamics.papers.variants import without_drives
from parallel_dynamics.robot import Robot

KEY = 'khalil_ibrahim_2007'
PERIOD = 2.0
AXIS = np.array([0.5, 0.6, 0.4])

Model = ups.UpsRobot | c5.C5Robot


def motion(robot: Robot, t: Array, shift: float, angle: float) -> PlatformMotion:
    """Return the motion that the figures show, about the robot's home."""
    home = robot.home
    amplitude = shift * np.array([1.0, 0.7, 0.5])
    return swing(t, home.position, home.rotation, amplitude, AXIS, angle, PERIOD)


def efforts(model: Model, m: PlatformMotion, *as_printed: str) -> Array:
    """Return the efforts (N, n) over a batch; equations named are used as printed."""
    printed = frozenset(as_printed)
    return np.array([model.inverse_dynamics(one, as_printed=printed) for one in m])


def accelerations(model: c5.C5Robot, m: PlatformMotion, Gamma: Array, *as_printed: str) -> Array:
    """Return the accelerations (N, 6) of the direct model over a batch."""
    printed = frozenset(as_printed)
    return np.array(
        [model.direct_dynamics(one, f, as_printed=printed) for one, f in zip(m, Gamma)]
    )


def reproduce() -> Report:
    """Return the report of this paper."""
    t = np.linspace(0.0, PERIOD, 101)
    report = Report(KEY, 'Khalil and Ibrahim 2007: dynamic models of parallel robots')
    robots = {
        name: without_drives(load_robot(name), friction_only=True)
        for name in ('gough_stewart', 'space', 'c5')
    }
    _draw(report, robots)
    report.add(
        '## Efforts along a motion',
        "The paper prints no numbers, so neither these curves nor the robots' masses are in "
        'it. The platform swings about its home for 2 s in all six directions; drive inertia is '
        'that of the shipped robots, friction is left out as in the paper.',
    )
    models: dict[str, Model] = {
        'gough_stewart': ups_robot(robots['gough_stewart'].model),
        'space': ups_robot(robots['space'].model),
        'c5': c5_robot(robots['c5'].model),
    }
    spans = {'gough_stewart': (0.06, 0.12), 'space': (0.05, 0.12), 'c5': (0.02, 0.15)}
    motions = {name: motion(robots[name], t, *spans[name]) for name in robots}
    Gamma = {name: efforts(models[name], motions[name]) for name in robots}
    _plot(report, t, Gamma)
    _agreement(report, robots, models, motions, Gamma)
    _corrections(report, models, motions, Gamma)
    return report


def _draw(report: Report, robots: dict[str, Robot]) -> None:
    report.add(
        'The general solution (1)-(30), the Space robot (31)-(51), the C5 robot (52)-(71) and '
        'the Gough-Stewart robot of the appendix, in `parallel_dynamics.papers.'
        'khalil_ibrahim_2007`, which does not use the engine. All are evaluated on the shipped '
        'robots `space`, `c5` and `gough_stewart`.',
        '## The robots',
    )
    drawings: tuple[tuple[str, Callable[..., object], str, str], ...] = (
        (
            'fig1',
            sketches.tree_structure,
            'gough_stewart',
            'Fig. 1: the tree equivalent structure of the parallel robot',
        ),
        ('fig2', sketches.space_robot, 'space', 'Figs. 2 and 3: Space robot, frames of base and '
         'platform'),
        ('fig4', sketches.leg_frames, 'space', 'Fig. 4: joint axes of one leg'),
        ('fig5', sketches.c5_drawing, 'c5', 'Fig. 5: the C5 robot'),
    )  # fmt: skip
    for name, draw, robot, caption in drawings:
        report.picture(name, draw(robots[robot].model), caption)


def _plot(report: Report, t: Array, Gamma: dict[str, Array]) -> None:
    figure, axes = new_figure(1, 2, size=(10.0, 4.2))
    torques = {rf'$\Gamma_{{1{k + 1}}}$': Gamma['space'][:, 2 * k] for k in range(3)}
    forces = {rf'$\Gamma_{{3{k + 1}}}$': Gamma['space'][:, 2 * k + 1] for k in range(3)}
    plot_lines(axes[0], t, torques, 'torque of the first joints [N m]')
    plot_lines(axes[1], t, forces, 'force of the slides [N]')
    report.picture('space_efforts', figure, 'Space robot: active torques and forces by (45)')
    for name, label in (('c5', 'C5 robot: forces by (62)'), ('gough_stewart', 'Gough-Stewart '
                        'robot: forces by (20), with the Jacobian of the appendix')):  # fmt: skip
        figure, axes = new_figure(size=(7.2, 4.2))
        curves = {rf'$\Gamma_{k + 1}$': Gamma[name][:, k] for k in range(6)}
        plot_lines(axes, t, curves, 'force [N]')
        report.picture(f'{name}_efforts', figure, label)


def _agreement(
    report: Report,
    robots: dict[str, Robot],
    models: dict[str, Model],
    motions: dict[str, PlatformMotion],
    Gamma: dict[str, Array],
) -> None:
    rows, agreement = [], {}
    for name, robot in robots.items():
        inverse = relative_error(Gamma[name], robot.inverse_dynamics(motions[name]))
        some = motions[name][::5]
        direct = relative_error(
            np.array([models[name].direct_dynamics(m, f) for m, f in zip(some, Gamma[name][::5])]),
            some.twist_rate,
        )
        classical = '-'
        model = models[name]
        if isinstance(model, ups.UpsRobot):
            tree = ClassicalModel(model, robot.home.position, robot.home.rotation)
            values = np.array([tree.inverse_dynamics(m) for m in some])
            classical = f'{relative_error(values, Gamma[name][::5]):.0e}'
        agreement[name] = {'engine': inverse, 'direct after inverse': direct}
        rows.append((name, f'{inverse:.0e}', f'{direct:.0e}', classical))
    report.numbers['agreement'] = agreement
    report.numbers['efforts'] = {name: values[[20, 40, 80]] for name, values in Gamma.items()}
    report.add(
        '## Agreement',
        'Largest difference over the motion as a fraction of the largest value. The rest comes '
        'from the twelve digits of the URDF files.',
        markdown_table(
            (
                'robot',
                'this model against the engine',
                'direct model after inverse',
                'classical method (1)-(6) against (20)',
            ),
            rows,
        ),
    )


def _corrections(
    report: Report,
    models: dict[str, Model],
    motions: dict[str, PlatformMotion],
    Gamma: dict[str, Array],
) -> None:
    space, cube = models['space'], models['c5']
    if not isinstance(space, ups.UpsRobot) or not isinstance(cube, c5.C5Robot):
        return
    m_space, m_cube = motions['space'], motions['c5']
    split = np.array(
        [space.inverse_dynamics_split(m, as_printed=frozenset({'(45)'})) for m in m_space]
    )
    # With n_z in the denominator the printed row 5 is infinite at home, where n_z = 0.
    middle = m_cube[20]
    right = cube.inverse_jacobian(middle)[4]
    printed_row = cube.inverse_jacobian(middle, frozenset({'(58)'}))[4]
    off = {
        '(42)': relative_error(efforts(space, m_space, '(42)'), Gamma['space']),
        '(45)': relative_error(split, Gamma['space']),
        '(49)': relative_error(efforts(space, m_space, '(49)'), Gamma['space']),
        '(58)': relative_error(printed_row, right),
        '(64)': relative_error(efforts(cube, m_cube, '(64)'), Gamma['c5']),
        '(67)': relative_error(
            accelerations(cube, m_cube, Gamma['c5'], '(67)'), m_cube.twist_rate
        ),
        '(68)': relative_error(
            accelerations(cube, m_cube, Gamma['c5'], '(68)'), m_cube.twist_rate
        ),
    }
    report.numbers['printed_off'] = off
    what = {
        '(42)': ('`J_i^-T`, printed `J_i^-1`', 'efforts of the Space robot'),
        '(45)': ('stack `H11 H31 H12 H32 H13 H33`, printed `H33` for `H13`', 'same'),
        '(49)': ('minus before the skew of `P1Pi`', 'same'),
        '(58)': ('row 5 over `a_z`, printed `n_z`', 'that row of the Jacobian of the C5 robot'),
        '(64)': ('`P_i` slides on its face: `d(PP_i)/dt = a_i q_i\' - v_P`', 'forces of the C5 '
                 'robot'),
        '(67)': ('bracket `2 w x (a_i q_i\' - v_P) - w x (w x PP_i)`', 'accelerations of the C5 '
                 'robot'),
        '(68)': ('`J_i^-T (M + Ia) J_i^-1`, as (70) has it', 'same'),
    }  # fmt: skip
    report.add(
        '## Corrected, and how far the printed equation is off',
        'In per cent of the largest value over the motion above.',
        markdown_table(
            ('equation', 'correction', 'printed form is off by', 'in'),
            ((key, what[key][0], _off(off[key]), what[key][1]) for key in off),
        ),
        'Also: (12) is inertia less weight about the origin P, and an external wrench is '
        'subtracted. (17) and (20) need a square `J_i`; a leg with fewer joints needs a left '
        'inverse. (25) differentiates (18). In Table 1 a vertical leg is (q1, q2) = (-pi/2, '
        'pi/2). (36) is leg 1; the other legs need `Rz(gamma_i)^T` on the right, and it is '
        'singular when L = 0 or sin q2 = 0. Legs 5 and 6 of the C5 robot are along z.',
        '## Assumed where the paper is silent',
        'All dimensions and masses: see the comments in the YAML files of the three robots. '
        'Gravity is along -z0.',
    )


def _off(part: float) -> str:
    """Return how far off an equation is, in per cent as long as that reads well."""
    return f'{100 * part:.3g} %' if part < 2.0 else f'{part:.0f} times the largest value'
