"""From a name or a path to a model that can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
import os
from pathlib import Path

import numpy as np

from parallel_dynamics import resources
from parallel_dynamics.description.building import build_model
from parallel_dynamics.description.faults import ACTUATION, MASS, Faults, nearest
from parallel_dynamics.description.settings import read_settings
from parallel_dynamics.description.urdf import read_urdf
from parallel_dynamics.errors import DescriptionError, Fault, InputError
from parallel_dynamics.mobility import Mobility, analyse
from parallel_dynamics.model import RobotModel

NameOrPath = str | os.PathLike[str]


def read_model(name_or_path: NameOrPath) -> RobotModel:
    """Read a description; ranks are not judged.

    Parameters
    ----------
    name_or_path : str or path
        A shipped robot's name, or the path of a YAML file.

    Raises
    ------
    DescriptionError
        With all faults that can be seen without computing any motion.
    """
    model, faults = collect(name_or_path)
    if model is None or faults.found:
        raise faults.error(name_or_path)
    return model


def load_model(name_or_path: NameOrPath) -> tuple[RobotModel, Mobility]:
    """Read a description and judge its mobility.

    Parameters
    ----------
    name_or_path : str or path
        A shipped robot's name, or the path of a YAML file.

    Raises
    ------
    DescriptionError
        With all faults of structure, and those of mobility where the structure is sound enough
        for them to mean something.
    """
    found = examine(name_or_path)
    if found.model is None or found.mobility is None or found.faults:
        raise DescriptionError(str(name_or_path), found.faults)
    return found.model, found.mobility


@dataclass(frozen=True, eq=False)
class Examination:
    """What could be made of a description: no model or no mobility where it is too broken."""

    model: RobotModel | None
    mobility: Mobility | None
    faults: tuple[Fault, ...]
    notes: tuple[Fault, ...] = ()  # worth knowing, and no reason to refuse


def examine(name_or_path: NameOrPath) -> Examination:
    """Read a description and judge its mobility as far as possible; never raise for its faults."""
    model, faults = collect(name_or_path)
    mobility = None
    if model is not None and faults.sound:
        try:
            mobility = analyse(
                model,
                judge_mass=MASS not in faults.spoiled,
                judge_actuation=ACTUATION not in faults.spoiled,
            )
        except np.linalg.LinAlgError as error:
            faults.add(
                model.path,
                'closures',
                f'their ranks cannot be computed: {error}',
                'Check the geometry for numbers that are far too large or too small.',
            )
        else:
            faults.found.extend(mobility.faults)
    return Examination(model, mobility, tuple(faults.found), tuple(faults.notes))


def collect(name_or_path: NameOrPath) -> tuple[RobotModel | None, Faults]:
    """Read a description and return what could be built of it, with the faults so far."""
    faults = Faults()
    path = find_file(name_or_path, faults)
    if path is None:
        return None, faults
    settings = read_settings(path, faults)
    if settings is None or settings.urdf is None:
        return None, faults
    tree = read_urdf(settings.urdf, faults)
    if tree is None:
        return None, faults
    return build_model(settings, tree, faults), faults


def find_file(name_or_path: NameOrPath, faults: Faults) -> Path | None:
    """Return the YAML file of a robot, or None with a fault that says what there is."""
    if not isinstance(name_or_path, (str, os.PathLike)):
        raise InputError(
            f'robot: expected a name or the path of a YAML file, got {name_or_path!r}'
        )
    shipped = resources.robot_files()
    if isinstance(name_or_path, str) and name_or_path in shipped:
        return shipped[name_or_path]
    path = Path(name_or_path)
    try:
        if path.is_file():
            return path
        what = 'is a folder' if path.is_dir() else 'no such file, and no shipped robot of the name'
    except (OSError, ValueError) as error:
        what = f'cannot be a file: {error}'
    close = nearest(path.stem, shipped)
    hint = f'Did you mean {close!r}? ' if close else ''
    faults.add(
        name_or_path,
        'robot',
        what,
        f'{hint}Shipped robots: {", ".join(shipped)}. Otherwise give the path of a YAML file.',
    )
    return None
