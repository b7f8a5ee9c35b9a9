"""Masses, centres of mass and tensors of a description as a table of a page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM, RobotModel
from parallel_dynamics.papers.layout import HomeLayout
from parallel_dynamics.papers.report import markdown_table


def first_leg(model: RobotModel) -> list[int]:
    """Return the platform and the bodies of the first leg, which stands for the others."""
    layout = HomeLayout(model)
    root = model.closures[0].first.body
    first = layout.chain(root)[0] + FIRST_LEG_BODY
    bodies = [first]
    for body in bodies:
        bodies.extend(joint + FIRST_LEG_BODY for joint in layout.children(body))
    return [PLATFORM, *sorted(bodies)]


def number(value: float, digits: int = 4) -> str:
    """Return a value in few digits, without a minus before zero."""
    return f'{value if abs(value) > 1e-9 else 0.0:.{digits}g}'


def mass_table(model: RobotModel, bodies: Sequence[int] | None = None) -> str:
    """Return a Markdown table of bodies, of the platform and the first leg by default."""
    rows = []
    for body in first_leg(model) if bodies is None else bodies:
        inertia = model.bodies[body].inertia
        moments = np.linalg.eigvalsh(inertia.tensor)
        rows.append(
            (
                f'`{model.bodies[body].name}`',
                number(inertia.mass),
                ', '.join(number(x) for x in inertia.com),
                ', '.join(number(x, 3) for x in moments),
            )
        )
    header = (
        'body',
        'mass [kg]',
        'centre of mass in the frame of its link [m]',
        'principal moments about it [kg m^2]',
    )
    return markdown_table(header, rows)
