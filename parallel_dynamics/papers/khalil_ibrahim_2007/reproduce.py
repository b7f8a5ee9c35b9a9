"""khalil_ibrahim_2007: its robots drawn, its models evaluated, its misprints measured."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from parallel_dynamics.loading import load_robot
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.khalil_ibrahim_2007 import c5, sketches, ups
from parallel_dynamics.papers.khalil_ibrahim_2007.classical import ClassicalModel
from parallel_dynamics.papers.khalil_ibrahim_2007.extract import (
    c5_robot,
    rps_robot,
    ups_robot,
)
from parallel_dynamics.papers.masses import mass_table, number
from parallel_dynamics.papers.motions import swing
from parallel_dynamics.papers.notation import Array, rot_z
from parallel_dynamics.papers.report import (
    Report,
    markdown_table,
    new_figure,
    plot_lines,
    relative_error,
)
from parallel_dynamics.papers.staicu_3rps import Geometry, paper_motion, platform_motion
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


def split_efforts(model: ups.UpsRobot, m: PlatformMotion, *as_printed: str) -> Array:
    """Return the efforts (N, n) by (21), (45) of khalil_ibrahim_2007 over a batch."""
    printed = frozenset(as_printed)
    return np.array([model.inverse_dynamics_split(one, as_printed=printed) for one in m])


def turned_condition(model: ups.UpsRobot, home: PlatformMotion, angle: float) -> float:
    """Return the condition number of ``J_r^-1`` with the platform turned on the spot.

    ``angle`` (rad) is about z through the middle of the platform; rotations count as motions of
    the balls, so that all columns are in the same unit.
    """
    arms = np.array([leg.attachment for leg in model.legs])
    middle = arms.mean(axis=0)
    turn = rot_z(angle) @ home.rotation
    m = PlatformMotion(home.position + home.rotation @ middle - turn @ middle, turn)
    side = float(np.linalg.norm(arms[1] - arms[0]))
    scale = np.array([1.0, 1.0, 1.0, side, side, side])
    return float(np.linalg.cond(model.inverse_jacobian(m) / scale))


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
    rows = _agreement(report, robots, models, motions, Gamma)
    _tell_agreement(report, [*rows, _tilting(report)])
    _corrections(report, models, motions, Gamma)
    _assumed(report, robots, models)
    return report


def _draw(report: Report, robots: dict[str, Robot]) -> None:
    report.add(
        'The general solution (1)-(30), the Space robot (31)-(51), the C5 robot (52)-(71) and '
        'the Gough-Stewart robot of the appendix (72)-(80), in `parallel_dynamics.papers.'
        'khalil_ibrahim_2007`, which does not use the engine. All are evaluated on the shipped '
        'robots `space`, `c5` and `gough_stewart`, for which `S` is the identity. The matrix `S` '
        'of a robot with fewer freedoms, (9)-(11), (13), (28)-(30), is the one of the shipped '
        '`three_rps`, which the paper does not have.',
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
        ('fig4', sketches.leg_frames, 'space', 'Fig. 4: link frames of one leg, leaning to all '
         'sides'),
        ('fig5', sketches.c5_drawing, 'c5', 'Fig. 5: the C5 robot'),
    )  # fmt: skip
    for name, draw, robot, caption in drawings:
        report.picture(name, draw(robots[robot].model), caption)
    report.add(
        'Table 1 with the numbers of the robot `space`, in the frame at B1; `a` is the frame '
        'before, `mu` tells active joints and `sigma` slides, lengths are in m.',
        _table_1(ups_robot(robots['space'].model)),
    )


def _table_1(robot: ups.UpsRobot) -> str:
    rows = []
    for i, leg in enumerate(robot.legs, 1):
        for j, row in enumerate(leg.rows, 1):
            variable = (f'theta_{j}{i}', '0') if row.sigma == 0 else ('0', f'L_{i}')
            rows.append(
                (
                    f'{j}{i}',
                    f'{j - 1}{i}' if j > 1 else '0',
                    row.mu,
                    row.sigma,
                    f'{number(np.degrees(row.gamma))} deg',
                    number(row.b),
                    f'{np.degrees(row.alpha):.0f} deg',
                    number(row.d),
                    *variable,
                )
            )
    header = ('j', 'a', 'mu', 'sigma', 'gamma', 'b', 'alpha', 'd', 'theta', 'r')
    return markdown_table(header, rows)


def _plot(report: Report, t: Array, Gamma: dict[str, Array]) -> None:
    figure, axes = new_figure(1, 2, size=(10.0, 4.2))
    torques = {rf'$\Gamma_{{1{k + 1}}}$': Gamma['space'][:, 2 * k] for k in range(3)}
    forces = {rf'$\Gamma_{{3{k + 1}}}$': Gamma['space'][:, 2 * k + 1] for k in range(3)}
    plot_lines(axes[0], t, torques, 'torque of the first joints [N m]')
    plot_lines(axes[1], t, forces, 'force of the slides [N]')
    report.picture('space_efforts', figure, 'Space robot: active torques and forces by (42)')
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
) -> list[tuple[str, ...]]:
    """Return the rows of the table; numbers go to the report."""
    rows, agreement = [], {}
    for name, robot in robots.items():
        inverse = relative_error(Gamma[name], robot.inverse_dynamics(motions[name]))
        some = motions[name][::5]
        direct = relative_error(
            np.array([models[name].direct_dynamics(m, f) for m, f in zip(some, Gamma[name][::5])]),
            some.twist_rate,
        )
        agreement[name] = {'engine': inverse, 'direct after inverse': direct}
        model = models[name]
        if isinstance(model, ups.UpsRobot):
            tree = ClassicalModel(model, robot.home.position, robot.home.rotation)
            values = np.array([tree.inverse_dynamics(m) for m in some])
            agreement[name]['classical'] = relative_error(values, Gamma[name][::5])
            split = split_efforts(model, some)
            agreement[name]['split'] = relative_error(split, Gamma[name][::5])
        found = [agreement[name].get(k) for k in ('split', 'classical')]
        others = ['-' if value is None else f'{value:.0e}' for value in found]
        rows.append((name, f'{inverse:.0e}', f'{direct:.0e}', *others))
    report.numbers['agreement'] = agreement
    report.numbers['efforts'] = {name: values[[20, 40, 80]] for name, values in Gamma.items()}
    return rows


def _tilting(report: Report) -> tuple[str, ...]:
    """Return the row of the robot with three freedoms, in heave and both tilts at once."""
    robot = load_robot('three_rps')
    model = rps_robot(robot.model)
    motion = [
        platform_motion(Geometry(), c)
        for c in paper_motion(np.linspace(0.0, 3.0, 21), heave=0.05, roll=0.1, pitch=0.08)
    ]
    Gamma = np.array([model.inverse_dynamics(m) for m in motion])
    inverse = relative_error(Gamma, np.array([robot.inverse_dynamics(m) for m in motion]))
    direct = relative_error(
        np.array([model.direct_dynamics(m, f) for m, f in zip(motion, Gamma)]),
        np.array([m.twist_rate for m in motion]),
    )
    agreement = {'engine': inverse, 'direct after inverse': direct}
    report.numbers['agreement']['three_rps'] = agreement
    return ('three_rps', f'{inverse:.0e}', f'{direct:.0e}', '-', '-')


def _tell_agreement(report: Report, rows: list[tuple[str, ...]]) -> None:
    report.add(
        '## Agreement',
        'Largest difference over the motion as a fraction of the largest value. The rest comes '
        'from the twelve digits of the URDF files.',
        markdown_table(
            (
                'robot',
                'this model against the engine',
                'direct model after inverse',
                'split form (21), (45) against (20), (42)',
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
    # With n_z in the denominator the printed row 5 is infinite at home, where n_z = 0.
    middle = m_cube[20]
    right = cube.inverse_jacobian(middle)[4]
    printed_row = cube.inverse_jacobian(middle, frozenset({'(58)'}))[4]
    space_efforts = {
        key: relative_error(efforts(space, m_space, key), Gamma['space'])
        for key in ('(36)', '(42)', '(49)')
    }
    cube_accelerations = {
        key: relative_error(accelerations(cube, m_cube, Gamma['c5'], key), m_cube.twist_rate)
        for key in ('(67)', '(68)')
    }
    off = {
        **space_efforts,
        '(45)': relative_error(split_efforts(space, m_space, '(45)'), Gamma['space']),
        '(58)': relative_error(printed_row, right),
        '(64)': relative_error(efforts(cube, m_cube, '(64)'), Gamma['c5']),
        **cube_accelerations,
    }
    report.numbers['printed_off'] = off
    what = {
        '(36)': ('times `Rz(gamma_i)^T`; printed for leg 1, whose gamma is 0', 'efforts of the '
                 'Space robot with (36) in all legs'),
        '(42)': ('`J_i^-T`, printed `J_i^-1`', 'efforts of the Space robot'),
        '(45)': ('stack `H11 H31 H12 H32 H13 H33`, printed `H33` for `H13`', 'same'),
        '(49)': ('minus before the skew of `P1Pi`', 'same'),
        '(58)': ('row 5 over `a_z`, printed `n_z`', 'that row of the Jacobian of the C5 robot, '
                 'at t = 0.4 s only; at home `n_z` is 0 and the printed row infinite'),
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
            ((key, what[key][0], _off(off[key]), what[key][1]) for key in what),
        ),
        'Also: (12) is inertia less weight about the origin P, and an external wrench is '
        'subtracted. (17) and (20) need a square `J_i`; that of an R-P-S leg of the robot '
        '`three_rps` is 3 by 2 and has no inverse. Any left inverse does, and the vector that '
        'spans its left null space, the revolute axis, is what the leg forbids: these give `S`. '
        '(25) differentiates (18). In Table 1 a vertical leg is (q1, q2) = (-pi/2, pi/2). (36) '
        'is singular when L = 0 or sin q2 = 0, printed "and". Legs 5 and 6 of the C5 robot are '
        'along z; the text has 4 and 5.',
    )


def _assumed(report: Report, robots: dict[str, Robot], models: dict[str, Model]) -> None:
    """Say every number that the paper does not have."""
    space, cube, stewart = models['space'], models['c5'], models['gough_stewart']
    if not isinstance(space, ups.UpsRobot) or not isinstance(stewart, ups.UpsRobot):
        return
    home = robots['space'].home
    parallel = turned_condition(space, home, -np.pi / 3)
    report.numbers['space_condition'] = {
        'home': turned_condition(space, home, 0.0),
        'triangles parallel': parallel,
    }
    B = np.array([leg.base_point for leg in stewart.legs])
    P = np.array([leg.attachment for leg in stewart.legs])
    drives = {
        name: sorted({robots[name].model.joints[j].armature for j in robots[name].model.actuators})
        for name in robots
    }
    side = np.linalg.norm(space.legs[1].attachment - space.legs[0].attachment)
    report.add(
        '## Assumed where the paper is silent',
        'The paper gives no numbers. All below are those of the shipped robots.',
        '- Gravity: 9.81 m/s^2 along -z0.\n'
        '- Tensors: cylinders and sliders are uniform tubes and bars, piston rods solid bars, '
        'the crosses of the universal joints two pins; the platform of `space` is a uniform '
        'triangular plate, that of `c5` a cube, that of `gough_stewart` a disc with a box.\n'
        f'- Drives add {_list(drives["space"])} (kg m^2, kg) to the first joints and slides of '
        f'`space`, {_list(drives["c5"])} kg to those of `c5` and {_list(drives["gough_stewart"])} '
        'kg to those of `gough_stewart`.\n'
        f'- `space`: triangles with sides of {number(space.legs[1].rows[0].d)} m (base) and '
        f'{number(float(side))} m (platform), {number(float(home.position[2]))} m apart at home. '
        'The platform is turned by 60 deg against the base. With the two triangles parallel the '
        'axes of Table 1 leave the robot nearly singular: the condition number of its Jacobian '
        f'(41), with rotations measured at the balls, is {parallel:.0f} there and '
        f'{report.numbers["space_condition"]["home"]:.1f} at this home.\n'
        f'- `c5`: a cube of {number(2.0 * float(cube.platform.MS[0] / cube.platform.M))} m. Its '
        'frame Sigma_P is the corner that the three faces with the legs share; the paper has it '
        'at the front right top corner. It moves the point to which V_p refers, nothing else.\n'
        f'- `gough_stewart`: joints on circles of {number(float(np.linalg.norm(B[0][:2])))} m '
        f'(base) and {number(float(np.linalg.norm(P[0][:2])))} m (platform), '
        f'{number(float(robots["gough_stewart"].home.position[2]))} m apart at home.',
        *(f'Masses of `{name}`, with leg 1 for all legs.\n\n{mass_table(robots[name].model)}'
          for name in ('space', 'c5', 'gough_stewart')),
    )  # fmt: skip


def _list(values: list[float]) -> str:
    return ' and '.join(number(value) for value in values)


def _off(part: float) -> str:
    """Return how far off an equation is, in per cent as long as that reads well."""
    return f'{100 * part:.3g} %' if part < 2.0 else f'{part:.0f} times the largest value'
