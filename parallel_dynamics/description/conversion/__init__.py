"""Descriptions from and to the conventions that people already have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from parallel_dynamics.description.conversion.constraint_tags import (
    export_constraints,
    import_constraints,
)
from parallel_dynamics.description.conversion.document import Document, read_document, yaml_text
from parallel_dynamics.description.conversion.gepetto import export_gepetto, import_gepetto
from parallel_dynamics.description.conversion.mjcf import export_mjcf
from parallel_dynamics.description.conversion.mjcf_reading import import_mjcf
from parallel_dynamics.description.reading import NameOrPath
from parallel_dynamics.errors import InputError
from parallel_dynamics.resources import writing_to

EXPORTS: dict[str, Callable[[Document], dict[str, str]]] = {
    'gepetto': export_gepetto,
    'constraint': export_constraints,
    'mjcf': export_mjcf,
}
IMPORTS: dict[str, Callable[[Path, str, str | None, list[str] | None], Document]] = {
    'gepetto': import_gepetto,
    'constraint': import_constraints,
    'mjcf': import_mjcf,
}

__all__ = ['EXPORTS', 'IMPORTS', 'Converted', 'export_robot', 'import_robot']


@dataclass(frozen=True)
class Converted:
    """Files by name, and notes on what could not be said in the format or was said otherwise."""

    files: dict[str, str]
    notes: tuple[str, ...]

    def write(self, folder: str | Path) -> list[Path]:
        """Write the files into a folder, which is made, and return their paths."""
        with writing_to(folder) as path:
            for name, text in self.files.items():
                (path / name).write_text(text, encoding='utf-8')
        return [path / name for name in self.files]


def export_robot(name_or_path: NameOrPath, to: str) -> Converted:
    """Write a robot in another convention.

    Parameters
    ----------
    name_or_path : str or path
        A shipped robot's name, or the path of a YAML file.
    to : str
        'gepetto' (URDF and robot.yaml), 'constraint' (URDF with <constraint>) or 'mjcf'.

    Raises
    ------
    DescriptionError
        If the description has faults.
    """
    if to not in EXPORTS:
        raise InputError(f'to: expected one of {", ".join(EXPORTS)}, got {to!r}')
    document = read_document(name_or_path)
    document.model()
    return Converted(EXPORTS[to](document), tuple(document.notes))


def import_robot(
    path: str | Path,
    convention: str,
    platform: str,
    *,
    base: str | None = None,
    actuators: list[str] | None = None,
    name: str | None = None,
) -> Converted:
    """Read a robot in another convention and write it in this package's.

    Parameters
    ----------
    path : str or path
        robot.yaml, a URDF with <constraint>, or an MJCF file.
    convention : str
        'gepetto', 'constraint' or 'mjcf'.
    platform : str
        Link (or MuJoCo body) that is the platform, which these conventions do not say.
    base : str
        Base link; the root of the tree unless given.
    actuators : list of str
        Actuated joints; those of the file unless given.
    name : str
        Name of the robot and of its files.

    Raises
    ------
    DescriptionError
        If the files have faults. Mobility is not judged; load the result for that.
    """
    if convention not in IMPORTS:
        raise InputError(f'convention: expected one of {", ".join(IMPORTS)}, got {convention!r}')
    document = IMPORTS[convention](Path(path), platform, base, actuators)
    if name is not None:
        document.data['name'] = name
    stem = ''.join(c if c.isalnum() or c in '-_.' else '_' for c in str(document.data['name']))
    document.data['urdf'] = f'{stem}.urdf'
    comment = '\n'.join([f'Made from {Path(path).name} ({convention}).', *document.notes])
    files = {
        f'{stem}.urdf': document.urdf_text(),
        f'{stem}.yaml': yaml_text(document.data, comment),
    }
    return Converted(files, tuple(document.notes))
