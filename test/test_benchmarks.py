"""The benchmark: everything is measured, exact engines agree, files are written. No times."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import zipfile

import casadi  # noqa: F401
import mujoco  # noqa: F401
import pinocchio  # noqa: F401
import pytest

from parallel_dynamics import resources
from parallel_dynamics.commands import bench
from parallel_dynamics.commands import main as tool

EXACT, SOFT = 1e-9, 0.05
pytestmark = pytest.mark.xdist_group('benchmarks')  # one quick run for all of them
FILES = ('benchmarks.md', 'benchmarks.json', 'benchmarks.png')


@pytest.fixture(scope='module')
def written(tmp_path_factory):
    """Return the folder that a quick run wrote to; without what takes long or needs ROS."""
    folder = tmp_path_factory.mktemp('bench')
    words = ['bench', '--quick', '--skip', 'startup', 'ros', '--output', str(folder)]
    assert tool.main(words) == 0
    return folder


@pytest.fixture(scope='module')
def result(written):
    return json.loads((written / 'benchmarks.json').read_text(encoding='utf-8'))


@pytest.fixture
def page(repository, monkeypatch):
    monkeypatch.syspath_prepend(str(repository / 'benchmarks'))
    return importlib.import_module('page')


@pytest.mark.slow
def test_every_row_is_there(result, page):
    own = (page.OURS, page.KERNELS)
    compared = {*own, page.PINOCCHIO, page.MUJOCO, page.NUMPY}
    if shutil.which('cc'):
        compared.add(page.GENERATED)
    alone = ('regressor', 'inverse kinematics', 'forward kinematics, 1 ms away',
             'forward kinematics, from home')  # fmt: skip
    wanted = {(kind, peer) for kind in (page.INVERSE, page.DIRECT) for peer in compared}
    wanted |= {(page.FORCES, peer) for peer in own} | {(kind, page.OURS) for kind in alone}
    assert set(result['robots']) == {'gough_stewart', 'delta', 'three_rps'}
    for name, entry in result['robots'].items():
        rows = {(row['kind'], row['peer']): row for row in entry['rows']}
        by_hand = {(page.INVERSE, page.BY_HAND)} if name == 'gough_stewart' else set()
        assert set(rows) == wanted | by_hand
        for (kind, peer), row in rows.items():
            assert row['single'] > 0.0
            batches = peer in (*own, page.GENERATED)
            assert (row['batch'] is not None) == batches
            counted = kind in (page.INVERSE, page.DIRECT) and peer in (own[0], page.GENERATED)
            assert (row['operations'] is not None) == counted


@pytest.mark.slow
def test_exact_engines_agree(result, page):
    for name, entry in result['robots'].items():
        for row in entry['rows']:
            soft = row['peer'] == page.MUJOCO and row['kind'] == page.DIRECT
            for error in (row['single_error'], row['batch_error']):
                if error is not None:
                    where = f'{name}: {row["kind"]}, {row["peer"]}: {error}'
                    assert error < (SOFT if soft else EXACT), where
    assert all(row['error'] < EXACT for rows in result['scaling'].values() for row in rows)
    assert all([row['size'] for row in rows] == [3, 6]  # more where it is not quick
               for rows in result['scaling'].values())  # fmt: skip
    assert result['maps']['error'] < EXACT
    for rows in result['simulation'].values():
        for row in rows:
            limit = SOFT if row['name'].startswith('MuJoCo') else 1e-6
            assert row['error'] < limit, row


@pytest.mark.slow
def test_the_files_are_whole(written, result, page):
    assert sorted(path.name for path in written.iterdir()) == sorted(FILES)
    text = (written / 'benchmarks.md').read_text(encoding='utf-8')
    assert text == page.page(result)
    for title in (*page.TITLES.values(), 'Growth with legs', 'Simulation', 'What is left'):
        assert title in text
    assert 'nan' not in text and 'None' not in text
    assert (written / 'benchmarks.png').read_bytes().startswith(b'\x89PNG')


def test_the_published_page_comes_from_its_numbers(repository, page):
    folder = repository / 'docs'
    result = json.loads((folder / 'benchmarks.json').read_text(encoding='utf-8'))
    assert (folder / 'benchmarks.md').read_text(encoding='utf-8') == page.page(result)
    assert not result['quick'] and result['repeats'] >= 20
    assert {'scaling', 'simulation', 'maps', 'startup', 'ros'} <= set(result)
    assert all([row['size'] for row in rows] == [3, 6, 12, 24]
               for rows in result['scaling'].values())  # fmt: skip


@pytest.mark.slow
def test_missing_engines_get_an_environment_of_their_own(tmp_path, monkeypatch):
    wheel = tmp_path / 'other_engine-1.0-py3-none-any.whl'
    with zipfile.ZipFile(wheel, 'w') as archive:
        archive.writestr('other_engine.py', 'ANSWER = 42\n')
        info = 'other_engine-1.0.dist-info'
        archive.writestr(f'{info}/METADATA', 'Metadata-Version: 2.1\nName: other-engine\n'
                                             'Version: 1.0\n')  # fmt: skip
        archive.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\n'
                                          'Tag: py3-none-any\n')  # fmt: skip
        archive.writestr(f'{info}/RECORD', '')
    monkeypatch.setattr(bench, 'PEERS', {'other_engine': 'other-engine'})
    monkeypatch.setattr(resources, 'cache_directory', lambda: tmp_path / 'cache')
    monkeypatch.setenv('PIP_NO_INDEX', '1')
    monkeypatch.setenv('PIP_FIND_LINKS', str(tmp_path))
    python = bench._python()
    assert python != sys.executable
    assert bench._python() == python  # once
    script = 'import numpy, other_engine, parallel_dynamics; print(numpy.__version__)'
    done = subprocess.run(
        [python, '-c', script], env=bench._environment(), capture_output=True, text=True,
        check=True, cwd=tmp_path,
    )  # fmt: skip
    import numpy

    assert done.stdout.split() == [numpy.__version__]
    assert 'other_engine' not in sys.modules and os.path.samefile(
        tmp_path / 'cache' / 'bench' / 'bin' / 'python', python
    )
