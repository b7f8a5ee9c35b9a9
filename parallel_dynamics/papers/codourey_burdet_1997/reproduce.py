"""codourey_burdet_1997: the DELTA in linear form, and what lumping the forearms costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_dynamics.loading import load_robot
from parallel_dynamics.motion import PlatformMotion
from parallel_dynamics.papers.codourey_burdet_1997.delta import (
    ExactDelta,
    Geometry,
    LumpedDelta,
    arm_rotation,
    state,
)
from parallel_dynamics.papers.codourey_burdet_1997.extract import (
    exact_delta,
    lumped_delta,
    plate_offset,
)
from parallel_dynamics.papers.codourey_burdet_1997.linear_form import inertial_wrench
from parallel_dynamics.papers.codourey_burdet_1997.virtual_work import efforts
from parallel_dynamics.papers.drawing import BODY, Sketch
from parallel_dynamics.papers.masses import mass_table, number
from parallel_dynamics.papers.motions import swing
from parallel_dynamics.papers.notation import Array, rot_z
from parallel_dynamics.papers.report import (
    COLOURS,
    GREY,
    STYLES,
    Report,
    legend_above,
    markdown_table,
    new_figure,
    plot_lines,
    relative_error,
    rms,
)
from parallel_dynamics.papers.variants import lumped_delta_robot, without_drives
from parallel_dynamics.robot import Robot

KEY = 'codourey_burdet_1997'
PERIOD = 1.2
SHIFT = np.array([0.2, 0.08, 0.05])


def plate_motion(robot: Robot, t: Array) -> PlatformMotion:
    """Return a quick motion of the plate without rotation, about home."""
    axis = np.array([0.0, 0.0, 1.0])
    return swing(t, robot.home.position, robot.home.rotation, SHIFT, axis, 0.0, PERIOD)


def torques(model: Any, m: PlatformMotion, offset: Array, as_printed: bool = False) -> Array:
    """Return the torques (N, 3) of a model of the DELTA over a batch."""
    return np.array(
        [
            model.inverse_dynamics(
                one.position + offset, one.velocity, one.acceleration, as_printed
            )
            for one in m
        ]
    )


def reproduce() -> Report:
    """Return the report of this paper."""
    t = np.linspace(0.0, PERIOD, 161)
    shipped = load_robot('delta')
    engine = without_drives(shipped, friction_only=True)
    dumbbells = lumped_delta_robot(shipped)
    offset = plate_offset(engine.model)
    lumped, exact = lumped_delta(engine.model), exact_delta(engine.model)
    m = plate_motion(engine, t)
    tau = {
        'exact': torques(exact, m, offset),
        'lumped': torques(lumped, m, offset),
        '(41)': torques(lumped, m, offset, as_printed=True),
        '(31)': torques(exact, m, offset, as_printed=True),
    }
    agreement = {
        'exact form': relative_error(tau['exact'], engine.inverse_dynamics(m)),
        'lumped form': relative_error(tau['lumped'], dumbbells.inverse_dynamics(m)),
        'virtual work': _virtual_work(exact, m[::8], offset),
    }
    report = Report(KEY, 'Codourey and Burdet 1997: linear form of the DELTA')
    _draw(report, lumped.geometry, engine.home.position + offset)
    _plot(report, t, tau)
    _linear(report, lumped, m, offset, tau)
    _corrections(report, tau, agreement)
    _assumed(report, engine, lumped.geometry)
    report.numbers['agreement'] = agreement
    report.numbers['parameters'] = lumped.p
    report.numbers['torques_Nm'] = {k: v[[20, 40, 80]] for k, v in tau.items()}
    return report


def _virtual_work(exact: ExactDelta, m: PlatformMotion, offset: Array) -> float:
    """Return how far (18) of codourey_burdet_1997, body by body, is from (34)."""
    G = np.array([0.0, 0.0, -exact.g])
    found, linear = [], []
    for one in m:
        s = state(exact.geometry, one.position + offset, one.velocity, one.acceleration)
        found.append(efforts(exact.motions(s), exact.p, G, exact.J_tau(s)))
        linear.append(exact.Psi(s) @ exact.p)
    return relative_error(np.array(found), np.array(linear))


def _draw(report: Report, geometry: Geometry, P: Array) -> None:
    report.add(
        'Equations (1)-(45) of codourey_burdet_1997 in `parallel_dynamics.papers.'
        'codourey_burdet_1997`, which does not use the engine: virtual work at the centres of '
        'mass (1)-(24), the linear form of any rigid body (25)-(34), the seven-parameter DELTA '
        '(35)-(45), and, by the same general method, a DELTA with all of its bodies. Evaluated '
        'on the shipped robot `delta` without friction.',
        '## The robot',
    )
    s = state(geometry, P, np.zeros(3), np.zeros(3))
    sketch = Sketch(size=(6.0, 5.6))
    motors = [rot_z(theta) @ np.array([geometry.R, 0.0, 0.0]) for theta in geometry.theta]
    for k, (motor, theta) in enumerate(zip(motors, geometry.theta)):
        y = 0.05 * rot_z(theta)[:, 1]
        sketch.line(np.zeros(3), motor, color=GREY, linewidth=1.2)
        sketch.line(motor, s.elbow[k], color=COLOURS[1], linewidth=4.0)
        for side in (y, -y):
            sketch.line(s.elbow[k] + side, P + side, linewidth=1.4)
        sketch.line(s.elbow[k] - y, s.elbow[k] + y, linewidth=1.4)
        sketch.dot(motor)
        sketch.dot(s.elbow[k], f'arm {k + 1}', COLOURS[1])
    sketch.dot(P, 'P', COLOURS[0], 50.0)
    sketch.frame(np.zeros(3), np.eye(3), 0.08, 'O')
    report.picture(
        'fig3',
        sketch.finish(elevation=30.0, azimuth=-75.0),
        'Fig. 3: the DELTA robot, with the plate reduced to the point P',
    )
    report.picture('fig4', _chain(geometry, P), 'Fig. 4: geometric parameters of one chain')


def _chain(geometry: Geometry, P: Array) -> Any:
    """Fig. 4: one kinematic chain in its plane."""
    s = state(geometry, P, np.zeros(3), np.zeros(3))
    q = float(s.q[0])
    arm = arm_rotation(q)
    motor = np.array([geometry.R, 0.0])
    elbow = motor + geometry.L_A * arm[[0, 2], 0]
    plate = (rot_z(geometry.theta[0]).T @ P)[[0, 2]]
    figure, axes = new_figure(size=(6.0, 5.2))
    lines = (
        ((np.zeros(2), motor), f'$R = R_A - R_B$ = {geometry.R:.2f} m', GREY, 2.0),
        ((motor, elbow), f'$L_A$ = {geometry.L_A:.2f} m', COLOURS[1], 5.0),
        ((elbow, plate), f'$L_B$ = {geometry.L_B:.2f} m', BODY, 2.0),
    )
    for points, label, colour, width in lines:
        axes.plot(*np.array(points).T, color=colour, linewidth=width, label=label)
    for point, name, side in (
        (np.zeros(2), 'O', (-8, 6)),
        (motor, 'motor', (0, 8)),
        (elbow, 'elbow', (20, -4)),
        (plate, 'P', (-12, -4)),
    ):
        axes.scatter(*point, color='black', zorder=4, s=24)
        axes.annotate(name, point, xytext=side, textcoords='offset points', ha='center')
    turn = np.linspace(0.0, q, 30)
    axes.plot(motor[0] + 0.18 * np.cos(turn), -0.18 * np.sin(turn), color=COLOURS[0])
    axes.plot([motor[0], motor[0] + 0.25], [0.0, 0.0], color=COLOURS[0], linewidth=0.8)
    middle = motor + 0.21 * np.array([np.cos(q / 2), -np.sin(q / 2)])
    axes.annotate(f'$q_i$ = {q:.2f} rad', middle, color=COLOURS[0], va='center')
    axes.set_aspect('equal')
    axes.margins(0.14)
    axes.set_xlabel('x of $O_i$ [m]')
    axes.set_ylabel('z [m]')
    axes.legend(frameon=False, loc='lower right')
    return figure


def _plot(report: Report, t: Array, tau: dict[str, Array]) -> None:
    report.add(
        '## Torques along a motion',
        'The paper prints no curves. The plate swings by 0.2 m to either side in 1.2 s.',
    )
    figure, axes = new_figure(1, 2, size=(10.4, 4.2))
    for k in range(3):
        axes[0].plot(t, tau['exact'][:, k], color=COLOURS[k], label=rf'$\tau_{k + 1}$, all bodies')
        axes[0].plot(
            t,
            tau['lumped'][:, k],
            color=COLOURS[k],
            linestyle=STYLES[1],
            label=rf'$\tau_{k + 1}$, lumped (45)',
        )
    axes[0].set_xlabel('t [s]')
    axes[0].set_ylabel('torque [N m]')
    axes[0].set_xlim(t[0], t[-1])
    legend_above(axes[0], 3)
    difference = tau['lumped'] - tau['exact']
    curves = {rf'$\Delta\tau_{k + 1}$': difference[:, k] for k in range(3)}
    plot_lines(axes[1], t, curves, 'lumped less exact [N m]')
    report.picture('torques', figure, 'Motor torques, and what lumping the forearms changes')


def _linear(
    report: Report, lumped: LumpedDelta, m: PlatformMotion, offset: Array, tau: dict[str, Array]
) -> None:
    """Say how good the linear form is, with its own and with fitted parameters."""
    Psi = np.vstack(
        [
            lumped.Psi(
                state(lumped.geometry, one.position + offset, one.velocity, one.acceleration)
            )
            for one in m
        ]
    )
    truth = tau['exact'].ravel()
    fitted, *_ = np.linalg.lstsq(Psi, truth, rcond=None)
    left = rms(Psi @ fitted - truth) / rms(truth)
    cost = rms(tau['lumped'] - tau['exact']) / rms(tau['exact'])
    report.numbers['lumping_rms_error'] = cost
    report.numbers['fitted_rms_error'] = left
    report.numbers['fitted_parameters'] = fitted
    names = [f'{n}_{i}' for i in (1, 2, 3) for n in ('m r', 'I_yy')] + ['m_n']
    units = ['kg m', 'kg m^2'] * 3 + ['kg']
    report.add(
        f'The 2/3 - 1/3 split of the forearms is an approximation of the paper (it says so). '
        f'Here it costs {100 * cost:.1f} % rms of the torque. Seven parameters fitted to the '
        f'exact torques instead leave {100 * left:.1f} %. Per uniform rod, lumped less exact '
        'energy is (m/6) v_E.(v_E - v_P) kinetic and (m g/6)(z_E - z_P) potential.',
        markdown_table(
            ('parameter of (45)', 'from the masses', 'fitted', 'unit'),
            (
                (name, f'{a:.4f}', f'{b:.4f}', unit)
                for name, a, b, unit in zip(names, lumped.p, fitted, units)
            ),
        ),
    )


def _corrections(report: Report, tau: dict[str, Array], agreement: dict[str, float]) -> None:
    # A body of 2 kg in a brisk turn.
    body = (2.0, np.array([0.1, 0.05, 0.02]), np.diag([0.05, 0.06, 0.04]))
    turn = (np.array([1.0, 2.0, 9.81]), np.array([1.0, -2.0, 0.5]), np.array([5.0, 3.0, -4.0]))
    right = inertial_wrench(*body, *turn)
    off = {
        '(27)': relative_error(inertial_wrench(*body, *turn, as_printed=True), right),
        '(31)': rms(tau['(31)'] - tau['exact']) / rms(tau['exact']),
        '(41)': rms(tau['(41)'] - tau['lumped']) / rms(tau['lumped']),
    }
    report.numbers['printed_off'] = off
    report.add(
        '## Corrected, and how far the printed equation is off',
        markdown_table(
            ('equation', 'correction', 'printed form is off by'),
            (
                (
                    '(27)',
                    "the mass multiplies the whole bracket `x_A'' + w~ w~ r + w'~ r`",
                    f'{100 * off["(27)"]:.0f} % of the force on a body of 2 kg in a brisk turn; '
                    'as printed an acceleration is added to a force, so this number depends on '
                    'the unit of mass and says little',
                ),
                (
                    '(31)',
                    'row 2 is `[0, wx, 0, wy, wz, 0]`',
                    f'{100 * off["(31)"]:.0f} % rms of the torques: the inertia of the arms '
                    'drops out',
                ),
                (
                    '(41)',
                    '`R_y(+q)`: with (36)-(43) q is positive downward',
                    f'{100 * off["(41)"]:.0f} % rms of the torques',
                ),
                ('(38)', 'gives w, not its derivative', 'a misprint'),
                (
                    '(15), (17), (44)',
                    'the motors of the DELTA turn about y of their frames, see (36)',
                    'about z, as (15) has it, `J_tau` of (17) is zero and (18) cannot be solved; '
                    'about y it is the identity, as (44) says',
                ),
                ('(17)', 'holds for motors on the ground only', 'none here'),
            ),
        ),
        '## Agreement',
        f'The exact linear form equals the engine on the shipped robot to '
        f'{agreement["exact form"]:.0e} of the largest torque, and the lumped one equals the '
        'engine on a robot whose rods are dumbbells with 2/3 and 1/3 of the mass at their ends to '
        f'{agreement["lumped form"]:.0e}.',
        'The wrenches at the centres of mass, projected one by one by (18), give the torques of '
        f'the linear form (34) to {agreement["virtual work"]:.0e}.',
    )


def _assumed(report: Report, robot: Robot, geometry: Geometry) -> None:
    """Say every number that the paper does not have."""
    model = robot.model
    motors = {number(model.joints[j].armature) for j in model.actuators}
    report.add(
        '## Assumed where the paper is silent',
        'The paper gives no numbers. All below are those of the shipped robot `delta`.',
        f'- Lengths: R = {number(geometry.R)} m, L_A = {number(geometry.L_A)} m, '
        f'L_B = {number(geometry.L_B)} m; at home P is '
        f'{number(-float(robot.home.position[2]))} m below the motors.\n'
        '- Gravity: 9.81 m/s^2 along -z, as the paper has it.\n'
        f'- Motors add {", ".join(sorted(motors))} kg m^2 to their arms.\n'
        '- Tensors: arms are uniform boxes, rods tubes, the plate a disc with a cylinder as '
        'payload.\n'
        '- The crosses of the elbow joints, which the paper does not have, are lumped at the '
        'elbow; the exact form has them as bodies.',
        f'Masses, with leg 1 for all legs.\n\n{mass_table(model)}',
    )
