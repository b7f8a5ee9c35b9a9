"""`parallel-dynamics forces`: the largest load of every joint over a motion."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from parallel_dynamics.commands import _console, _motions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from parallel_dynamics.forces import BucklingCheck, JointEnvelope, Peak, RodForce
    from parallel_dynamics.joint_forces import JointForces
    from parallel_dynamics.spatial import Array

NAME = 'forces'
HELP = 'largest force and moment of every joint over a motion, rods and their buckling'
EXAMPLES = (
    'parallel-dynamics forces delta --motion circle --output loads',
    'parallel-dynamics forces gough_stewart --motion swing --payload 20 --critical 5000 --json',
)

STATUS_BUCKLES = 1
UNITS = {
    'duration': 's', 'time': 's', 'force': 'N', 'axial_force': 'N', 'radial_force': 'N',
    'moment': 'N m', 'axial_moment': 'N m', 'tilting_moment': 'N m', 'tension': 'N',
    'compression': 'N', 'critical': 'N', 'safety': '',
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.add_argument('robot', help='a shipped robot, or the path of a YAML file')
    parser.add_argument('--motion', required=True, metavar='FILE', help=_motions.HELP)
    parser.add_argument(
        '--output', default='forces', metavar='DIR',
        help='folder for tables (CSV) and figure (PNG)',
    )  # fmt: skip
    parser.add_argument('--payload', type=float, default=0.0, metavar='KG', help='on the platform')
    parser.add_argument(
        '--wrench', type=float, nargs=6, metavar=('FX', 'FY', 'FZ', 'MX', 'MY', 'MZ'),
        help='external, on the platform at its origin, base axes (N, N m)',
    )  # fmt: skip
    parser.add_argument(
        '--project', action='store_true',
        help='put the motion on the closures of a robot with fewer than six freedoms',
    )  # fmt: skip
    parser.add_argument(
        '--unique', action='store_true',
        help='leave components out that are not unique, instead of taking their least-norm value',
    )  # fmt: skip
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument(
        '--critical', action='append', default=[], metavar='[ROD=]N',
        help='critical load of all rods, or of the one named (N); exit status 1 if one buckles',
    )  # fmt: skip
    limit.add_argument(
        '--bending-stiffness', type=float, metavar='EI',
        help="of all rods (N m^2): their critical load is Euler's for hinged ends, at each length",
    )
    _console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the table, write CSV files and the figure."""
    from pathlib import Path
    import warnings

    from parallel_dynamics import forces as library
    from parallel_dynamics.errors import InputError
    from parallel_dynamics.joint_forces import UncertainRankWarning
    from parallel_dynamics.loading import load_robot
    from parallel_dynamics.plots import save
    from parallel_dynamics.plots.force_figures import force_figure

    robot = load_robot(args.robot)
    if args.payload:
        robot = robot.with_payload(args.payload)
    times, motion = _motions.read(robot, args.motion)
    if args.project:
        motion = robot.project(motion)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UncertainRankWarning)  # the report says it
        forces = robot.joint_forces(
            motion, args.wrench, None, 'nan' if args.unique else 'least-norm'
        )
    rows = library.envelope(robot, forces, times)
    rods = library.rod_forces(robot, motion, forces)
    critical = _critical(args.critical, args.bending_stiffness, rods)
    checks = library.check_buckling(rods, times, 1.0 if critical is None else critical)
    folder, stem = Path(args.output), robot.name
    figure = force_figure(
        times, forces, rows, rods,
        None if critical is None else _smallest(critical), f'{robot.name}: {args.motion}',
    )  # fmt: skip
    paths = save(figure, folder, f'{stem}_forces', ['png'])
    paths += [folder / f'{stem}_envelope.csv', folder / f'{stem}_forces.csv']
    try:
        library.write_envelope(paths[-2], rows)
        library.write_forces(paths[-1], robot, forces, times)
    except OSError as error:
        raise InputError(f'{folder}: cannot be written to ({error.strerror})') from None
    checked = critical is not None
    text = _text(times, forces, rows, checks, checked, paths)
    data = _data(robot.name, args.motion, times, forces, rows, checks, checked, paths)
    _console.tell(args, text, data, UNITS)
    return STATUS_BUCKLES if checked and not all(c.holds for c in checks) else 0


def _critical(
    words: Sequence[str], stiffness: float | None, rods: Sequence[RodForce]
) -> dict[str, Array] | None:
    """Return the critical load of each rod, N, by name; None if none was asked for."""
    import numpy as np

    from parallel_dynamics.errors import InputError
    from parallel_dynamics.forces import euler_load

    if not words and stiffness is None:
        return None
    names = [rod.rod.name for rod in rods]
    if not names:
        raise InputError(
            'critical: this robot has no rods (members between two passive ends) to check; leave '
            'the option out'
        )
    if stiffness is not None:
        return {rod.rod.name: euler_load(stiffness, rod.length) for rod in rods}
    found: dict[str, Array] = {}
    for word in words:
        name, _, text = word.rpartition('=')
        try:
            load = float(text)
        except ValueError:
            raise InputError(f'critical: expected N or ROD=N, got {word!r}') from None
        if name and name not in names:
            raise InputError(
                f'critical: expected one of the rods {", ".join(names)}, got {name!r}'
            )
        found |= dict.fromkeys([name] if name else names, np.array(load))
    return found


def _smallest(critical: dict[str, Array]) -> Array:
    import numpy as np

    return np.array([float(np.min(load)) for load in critical.values()])


def _text(
    times: Array, forces: JointForces, rows: Sequence[JointEnvelope],
    checks: Sequence[BucklingCheck], checked: bool, paths: Sequence[Path],
) -> str:  # fmt: skip
    header = ['joint', 'type', 'force N', 'at s', 'axial N', 'radial N', 'moment N m', 'at s',
              'axial N m', 'tilting N m', 'unique']  # fmt: skip
    newtons, moments = (
        1e-9 * max((getattr(row, part).value for row in rows), default=0.0)
        for part in ('force', 'moment')
    )
    cells = [
        [
            row.name, row.kind, _number(row.force.value, newtons), _time(row.force),
            _number(row.axial_force.value, newtons), _number(row.radial_force.value, newtons),
            _number(row.moment.value, moments), _time(row.moment),
            _number(row.axial_moment.value, moments), _number(row.tilting_moment.value, moments),
            'all' if row.determinate else ' '.join(row.unique) or 'nothing',
        ]
        for row in rows
    ]  # fmt: skip
    parts = [_console.table(header, cells), forces.report()]
    if checks:
        header = ['rod', 'tension N', 'compression N', 'at s', 'unique']
        if checked:
            header += ['critical N', 'safety', '']
        cells = []
        for c in checks:
            when = f'{c.time:.3f}' if c.compression > 0.0 else '-'
            line = [c.rod, _number(c.tension), _number(c.compression), when,
                    'yes' if c.determinate else 'no']  # fmt: skip
            if checked:
                line += [_number(c.critical), _number(c.safety), _verdict(c)]
            cells.append(line)
        parts.append(_console.table(header, cells))
    span = f'{len(times)} instants over {times[-1] - times[0]:.3g} s'
    parts.append(f'{span}; written: {", ".join(map(str, paths))}')
    return '\n\n'.join(parts)


def _verdict(check: BucklingCheck) -> str:
    styled = _console.styled
    if check.safety != check.safety:
        return styled('unknown', 'yellow')
    for_these = '' if check.determinate else ' under least-norm loads'
    return ('holds' if check.holds else styled('BUCKLES', 'red')) + for_these


def _number(value: float, noise: float = 0.0) -> str:
    """Return a number in few digits; one below the noise is a rounding error, hence 0."""
    if value != value:
        return '-'
    if abs(value) <= noise:
        return '0'
    return f'{value:.0f}' if 1e3 <= abs(value) < 1e9 else f'{value:.4g}'


def _time(peak: Peak) -> str:
    """Return the time of a peak, if there is one."""
    return f'{peak.time:.3f}' if peak.value > 0.0 else '-'


def _data(
    robot: str, motion: str, times: Array, forces: JointForces, rows: Sequence[JointEnvelope],
    checks: Sequence[BucklingCheck], checked: bool, paths: Sequence[Path],
) -> dict[str, Any]:  # fmt: skip
    from dataclasses import asdict

    rods: list[dict[str, Any]] = []
    for check in checks:
        found = asdict(check) | {'holds': check.holds}
        if not checked:
            for name in ('critical', 'safety', 'holds'):
                del found[name]
        rods.append(found)
    return {
        'robot': robot,
        'motion': motion,
        'instants': len(times),
        'duration': float(times[-1] - times[0]),
        'redundancy': forces.redundancy,
        'sharing': [{'loads': g.loads, 'names': list(g.names)} for g in forces.sharing],
        'uncertain': int(forces.uncertain_array.any(axis=(1, 2)).sum()),
        'joints': [asdict(row) for row in rows],
        'rods': rods,
        'files': paths,
    }
