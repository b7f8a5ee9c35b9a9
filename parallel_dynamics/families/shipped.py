"""The robots that the package ships: output of the families."""

from __future__ import annotations

from pathlib import Path

from parallel_dynamics.families.c5 import C5
from parallel_dynamics.families.delta import Delta
from parallel_dynamics.families.family import Family
from parallel_dynamics.families.orthoglide import Orthoglide
from parallel_dynamics.families.space import Space
from parallel_dynamics.families.stewart import Stewart
from parallel_dynamics.families.three_rps import ThreeRps
from parallel_dynamics.families.writing import RobotText
from parallel_dynamics.resources import writing_to

SHIPPED: dict[str, Family] = {
    'gough_stewart': Stewart(),
    'space': Space(),
    'c5': C5(),
    'delta': Delta(),
    'orthoglide': Orthoglide(),
    'three_rps': ThreeRps(),
    'three_rps_prismatic': ThreeRps(actuation='prismatic'),
}


def shipped() -> dict[str, RobotText]:
    """Texts of all shipped robots by name; their URDF is in `../../urdf` of their YAML."""
    return {
        name: family.generate(name, urdf_folder='../../urdf/')
        for name, family in SHIPPED.items()}


def write_shipped(root: str | Path) -> list[Path]:
    """Write `config/robots/<name>.yaml` and `urdf/<name>.urdf` under `root`; return all paths."""
    written = []
    for name, text in shipped().items():
        for path, content in (
            (Path(root) / 'config' / 'robots' / f'{name}.yaml', text.yaml),
            (Path(root) / 'urdf' / f'{name}.urdf', text.urdf),
        ):
            with writing_to(path.parent):
                path.write_text(content, encoding='utf-8', newline='\n')
            written.append(path)
    return written
