"""The benchmark's page: tables in Markdown and a plot, from the numbers of one run."""

from __future__ import annotations

from pathlib import Path

TITLES = {
    'gough_stewart': '6-UPS', 'delta': 'Delta', 'three_rps': '3-RPS (revolute drives)',
}  # fmt: skip
OURS, KERNELS = 'this engine', 'this engine, kernels alone'
GENERATED, PINOCCHIO, BY_HAND = 'generated C', 'Pinocchio', 'Pinocchio by hand'
MUJOCO, NUMPY = 'MuJoCo', 'NumPy'
INVERSE, DIRECT, FORCES = 'inverse dynamics', 'direct dynamics', 'joint forces'
COLOURS = {
    OURS: '#c8501e', KERNELS: '#e8a27c', GENERATED: '#888888', BY_HAND: '#1c3344',
    PINOCCHIO: '#34566f', MUJOCO: '#7fa3b8', NUMPY: '#cfd8dc',
}  # fmt: skip
NOTES = {
    OURS: 'a robot as `load_robot` gives it, through its public functions; what is called often '
    'has code written for the robot at its first call',
    KERNELS: 'without that code: the same compiled kernels for every robot',
    GENERATED: 'straight-line C for this one robot by CasADi: legs in closed form, order of '
    'pivots fixed, nothing checked; one call by ctypes with all arguments ready, batches in '
    'vectors of eight states on all cores',
    BY_HAND: 'leg kinematics and last solve compiled for the 6-UPS alone',
    PINOCCHIO: 'inverse: leg kinematics, rnea, constraint Jacobian, solve, all of it compiled; '
    'direct: constraintDynamics with the joint state given',
    MUJOCO: 'joint state given; inverse: mj_inverse, then the forces in the loops solved for with '
    'efc_J; direct: mj_forward, whose loops are soft, hence its error',
    NUMPY: 'all joints and bodies at once in plain NumPy, joint positions given',
}
AIMS = ((INVERSE, 5.0), (DIRECT, 4.0))
BATCH_AIM, FORCES_AIM = 25.0, 3.0


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ['---'] * len(head), *rows]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines) + '\n'


def us(seconds: float | None) -> str:
    """Return a time in microseconds with three digits."""
    if seconds is None:
        return ''
    value = 1e6 * seconds
    return f'{value:#.3g}'.rstrip('.') if value < 1000.0 else f'{value:,.0f}'


def times(ratio: float) -> str:
    """Return a ratio with two digits."""
    return f'{ratio:.2g}' if ratio < 99.5 else f'{ratio:,.0f}'


def wrong(error: float | None) -> str:
    """Return an error with one digit."""
    return '' if error is None else f'{error:.0e}'


class Rows:
    """What was measured of one robot."""

    def __init__(self, rows: list[dict]) -> None:
        self.rows = rows
        self._found = {(row['kind'], row['peer']): row for row in rows}

    def get(self, kind: str, peer: str) -> dict | None:
        """Return a row, if there is one."""
        return self._found.get((kind, peer))

    def time(self, kind: str, peer: str, which: str = 'single') -> float | None:
        """Return a time; one without a batch of its own is called once for each state."""
        row = self.get(kind, peer)
        return None if row is None else row[which] or row['single']

    def ratio(self, kind: str, peer: str, base: str, which: str = 'single') -> str:
        """Return how many times longer a peer takes than another."""
        mine, other = self.time(kind, peer, which), self.time(kind, base, which)
        return '' if mine is None or other is None else times(mine / other)


def page(result: dict) -> str:
    """Return the Markdown page."""
    robots = {name: Rows(entry['rows']) for name, entry in result['robots'].items()}
    parts = [_head(result)]
    if robots:
        parts += [_aims(robots)]
        parts += [_robot(name, rows) for name, rows in robots.items()]
        parts += [_notes(), _forces(robots)]
    if 'scaling' in result:
        parts += ['## Growth with legs and joints\n', _scaling(result['scaling'])]
    if 'simulation' in result:
        parts += ['## Simulation\n', _simulation(result['simulation'])]
    if 'maps' in result:
        rows = [[k, f'{v:,}' if isinstance(v, int) else f'{v:.3g}']
                for k, v in result['maps'].items()]  # fmt: skip
        parts += ['## Performance map of the 6-UPS\n', table(['', ''], rows)]
    if 'startup' in result:
        rows = [[k, f'{v:.3g}'] for k, v in result['startup'].items()]
        parts += ['## Start-up and memory\n', table(['', ''], rows)]
    if 'ros' in result:
        parts += ['## The loop in ROS 2\n', _ros(result['ros'])]
    if robots:
        parts += ['## What is left\n', _left(result, robots)]
    return '\n'.join(parts)


def _head(result: dict) -> str:
    host = result['machine']
    versions = ', '.join(f'{k} {v}' for k, v in host.items() if k not in ('processor', 'cores'))
    quick = '**A quick run, to see that everything works: the times mean little.** '
    return (
        '# Benchmarks\n\n' + (quick if result['quick'] else '')
        + f'Measured {result["date"]} on {host["processor"]}, {host["cores"]} cores; {versions}. '
        'Written by `make bench` (`parallel-dynamics bench --output docs`): one process, single '
        'calls on one pinned core (states on a way, 1 ms from one to the next), medians of '
        f'{result["repeats"]} repeats in shuffled order, batches of {result["states"]:,} states '
        'on all cores. Numbers: [benchmarks.json](benchmarks.json).\n\n'
        'A ratio is a time over that of this engine in the same run: above 1, this '
        'engine is faster. Beside each time stands the largest error relative to the largest '
        'value, over 20 states: of efforts, from this engine (of this engine, from Pinocchio); of '
        'accelerations, from those that the efforts were calculated for.\n\n'
        '![Time per call](benchmarks.png)\n'
    )  # fmt: skip


def _aims(robots: dict[str, Rows]) -> str:
    """How much faster than Pinocchio, and than was asked for."""
    head = ['6-UPS, times faster than Pinocchio', 'this engine', 'kernels alone', 'aim']
    ups = robots.get('gough_stewart')
    if ups is None:
        return ''
    lines = []
    for kind, aim in AIMS:
        for which, wanted in (('single', aim), ('batch', BATCH_AIM)):
            label = f'{kind}, ' + ('one call' if which == 'single' else 'per state of a batch')
            lines.append([
                label, ups.ratio(kind, PINOCCHIO, OURS, which),
                ups.ratio(kind, PINOCCHIO, KERNELS, which), f'{wanted:g}',
            ])  # fmt: skip
    return table(head, lines)


def _robot(name: str, rows: Rows) -> str:
    parts = [f'## {TITLES.get(name, name)}\n']
    for kind in (INVERSE, DIRECT):
        parts += [f'### {kind.capitalize()}\n', _comparison(rows, kind)]
    own = [
        [f'{row["kind"]}' + (', kernels alone' if row['peer'] == KERNELS else ''),
         us(row['single']), wrong(row['single_error']), us(row['batch']),
         f'{row["states"]:,}' if row.get('states') else '', wrong(row['batch_error'])]
        for row in rows.rows
        if row['peer'] in (OURS, KERNELS) and row['kind'] not in (INVERSE, DIRECT)
    ]  # fmt: skip
    head = ['', 'one call / us', 'error', 'per state in a batch / us', 'states', 'error']
    parts += ['### What else this engine does\n', table(head, own)]
    return '\n'.join(parts)


def _comparison(rows: Rows, kind: str) -> str:
    lines = []
    for peer in COLOURS:
        row = rows.get(kind, peer)
        if row is None:
            continue
        own = row['batch'] is not None
        lines.append([
            peer, us(row['single']), rows.ratio(kind, peer, OURS),
            wrong(row['single_error']),
            us(row['batch']) if own else us(row['single']) + ' *',
            rows.ratio(kind, peer, OURS, 'batch'),
            wrong(row['batch_error'] if own else row['single_error']),
            f'{row["operations"]:,}' if row['operations'] else '',
        ])  # fmt: skip
    return table(
        ['', 'one call / us', 'ratio', 'error', 'per state in a batch / us', 'ratio', 'error',
         'operations'], lines,
    )  # fmt: skip


def _notes() -> str:
    return '\n'.join([
        '\\* one call for each state, on one core.\n',
        *(f'- **{peer}**: {note}.' for peer, note in NOTES.items()),
        '- **operations**: arithmetic of one state, counted in the code that runs: additions, '
        'multiplications, divisions, roots, minima; in this engine also the comparisons and '
        'choices by which rows are exchanged and refusals noticed, but no iterations that place '
        'legs.',
        '- **errors of the rest**: joint forces from virtual power, the second derivation; '
        'the regressor times the parameters from inverse dynamics; inverse kinematics from what '
        'leaves the closures closed in position, velocity and acceleration; forward kinematics '
        'from the motion that its input came from.\n',
    ])  # fmt: skip


def _forces(robots: dict[str, Rows]) -> str:
    lines = []
    for name, rows in robots.items():
        line = [TITLES.get(name, name)]
        for peer, which in ((OURS, 'single'), (KERNELS, 'single'), (OURS, 'batch')):
            ratio = rows.time(FORCES, peer, which) / rows.time(INVERSE, peer, which)
            line.append(f'{ratio:.1f}')
        lines.append(line)
    return '\n'.join([
        '## Joint forces, as multiples of inverse dynamics\n',
        table(['', 'one call', 'one call, kernels alone', 'in a batch'], lines),
        f'The aim is at most {FORCES_AIM:g}. Robots whose legs constrain the platform have their '
        'indeterminate loads judged pose by pose by the kernels, in single calls and in batches: '
        'where inverse dynamics has a program of its own, the ratio is larger for that.\n',
    ])  # fmt: skip


def _scaling(growth: dict[str, list[dict]]) -> str:
    parts = []
    for title, rows in growth.items():
        parts.append(table(
            [title, 'joints', 'inverse / us', 'per joint', 'direct / us', 'per joint', 'error',
             'legs placed'],
            [[str(r['size']), str(r['joints']), us(r['inverse']), us(r['inverse'] / r['joints']),
              us(r['direct']), us(r['direct'] / r['joints']), wrong(r['error']),
              'by iteration' if r['iterates'] else 'in closed form'] for r in rows],
        ))  # fmt: skip
    parts.append(
        'One call. Three legs have two drives each, all others are passive. Stages of '
        'a telescope move together, so that bodies are added but no unknowns; gas springs beside '
        'a leg are closed loops inside it. The error is the larger of efforts against Pinocchio '
        'and of direct after inverse dynamics.\n'
    )
    return '\n'.join(parts)


def _simulation(robots: dict[str, list[dict]]) -> str:
    parts = []
    for name, rows in robots.items():
        lines = [[r['name'], us(r['step']), f'{r["speed"]:,.1f}', wrong(r['error'])] for r in rows]
        head = [TITLES.get(name, name), 'step / us', 'simulated s per s', 'error']
        parts.append(table(head, lines))
    parts.append(
        'Steps of 1 ms from home, 100 of them, without friction; the error is that of the '
        'position at the end, relative to the way, from order 8 in steps of 0.1 ms.\n'
    )
    return '\n'.join(parts)


def _ros(rates: dict | None) -> str:
    if rates is None:
        return 'Not measured: there was no rclpy.\n'
    columns = [(rate, who) for rate in rates for who in ('controller', 'echo')]
    names = list(next(iter(rates.values()))['controller'])

    def cell(rate: str, who: str, name: str) -> str:
        value = rates[rate][who].get(name)
        return '' if value is None else wrong(value) if 'error' in name else f'{value:.3g}'

    return (
        'Joint states of the 6-UPS are sent at a fixed rate, and the time is taken until the '
        'effort command that answers each is back; both processes on this machine. The echo is '
        'the floor: an rclpy node that sends the same message back without calculating.\n\n'
    ) + table(
        ['', *(f'{who}, {rate}' for rate, who in columns)],
        [[name, *(cell(rate, who, name) for rate, who in columns)] for name in names],
    )


def _left(result: dict, robots: dict[str, Rows]) -> str:
    """What stands between this engine and the generated C, in numbers of this run."""
    name = next(iter(robots))
    rows = robots[name]
    parts = []
    call = result['robots'][name]['call']
    for kind in (INVERSE, DIRECT):
        ours, limit = rows.get(kind, OURS), rows.get(kind, GENERATED)
        if limit is None:
            return 'There was no C compiler, so nothing to compare with.\n'
        parts.append(
            f'{kind.capitalize()} of the {TITLES[name]}: {us(ours["single"])} us against '
            f'{us(limit["single"])} us in one call, {us(ours["batch"])} against '
            f'{us(limit["batch"])} us per state in a batch, {ours["operations"]:,} operations '
            f'against {limit["operations"]:,}.'
        )
    ours, limit = rows.get(INVERSE, OURS), rows.get(INVERSE, GENERATED)
    speed = limit['operations'] / (limit['single'] - call)  # per second
    arithmetic = ours['operations'] / speed
    return ' '.join(parts) + (
        f'\n\nOne call: of the {us(limit["single"])} us of the generated code, {us(call)} us are '
        'the way through ctypes, as a call of an empty function shows. At the speed at which the '
        f'rest is done ({1e-9 * speed:.1f} operations per ns), the operations of this engine take '
        f'{us(arithmetic)} us, and what is left of its {us(ours["single"])} us is the way from '
        'Python: a method that looks at its arguments, the array that it returns, the outcome '
        'checked. In batches that way does not count.\n\n'
        'There are more of them because the program comes from kernels for every robot, and some '
        'of their freedom remains in it: inertias, lengths and gravity are read, so that a robot '
        'and its loads share code; rows are exchanged by size at every pose instead of in an '
        'order found once; everything is in base axes, where the Jacobian of a leg and the tensor '
        'of a body are full, while the generated code takes the axes of the links, in which most '
        'entries are zero, and knows what never varies (a Delta does not turn); and the motion is '
        'checked against the closures and the pose for singularities, which the generated code '
        'leaves out.\n'
    ) + _iterations(result)


def _iterations(result: dict) -> str:
    """Say which robots' legs are placed by iteration, if any."""
    names = [TITLES.get(n, n) for n, entry in result['robots'].items() if entry['iterates']]
    if not names:
        return ''
    return (
        f'\nJoint positions of these are found by iteration: {", ".join(names)}. The generated '
        'code has them in closed form, and that is most of the difference there.\n'
    )


def draw(result: dict, path: Path) -> None:
    """Draw time per call and per state of every peer, a panel for each kind."""
    import matplotlib

    matplotlib.use('agg')
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(9.5, 6.4), layout='constrained', sharey='row')
    robots = {name: Rows(entry['rows']) for name, entry in result['robots'].items()}
    for row, which in enumerate(('single', 'batch')):
        for panel, kind in zip(panels[row], (INVERSE, DIRECT)):
            for k, (peer, colour) in enumerate(COLOURS.items()):
                times = [rows.time(kind, peer, which) for rows in robots.values()]
                places = [i + 0.12 * (k - 3) for i, t in enumerate(times) if t]
                panel.bar(places, [1e6 * t for t in times if t], 0.11, color=colour, label=peer,
                          edgecolor='black', linewidth=0.4)  # fmt: skip
            panel.set_yscale('log')
            panel.set_xticks(range(len(robots)), [TITLES.get(n, n) for n in robots])
            what = 'one call' if which == 'single' else 'per state in a batch'
            panel.set_title(f'{kind}, {what}', fontsize=10)
        panels[row][0].set_ylabel('time / us')
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc='outside lower center', ncols=4, frameon=False, fontsize=9)
    figure.savefig(path, dpi=150)
