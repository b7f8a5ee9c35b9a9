"""The pages of the papers: written by the command, and their numbers are current."""

from __future__ import annotations

import ast
import json
import math
from pathlib import Path

import pytest

from parallel_dynamics import papers
from parallel_dynamics.errors import InputError
from parallel_dynamics.papers.report import plain

REPOSITORY = Path(__file__).resolve().parent.parent
FOLDER = REPOSITORY / 'docs' / 'papers'
PACKAGE = Path(papers.__file__).parent


@pytest.fixture(scope='module')
def reports():
    return {}


def report(reports, key):
    if key not in reports:
        reports[key] = papers.reproduce(key)
    return reports[key]


def differences(current, stored, path=''):
    """Yield where two nested results differ; agreements must only be small."""
    if isinstance(stored, dict):
        assert isinstance(current, dict) and current.keys() == stored.keys(), path
        for key in stored:
            yield from differences(current[key], stored[key], f'{path}/{key}')
    elif isinstance(stored, list):
        assert len(current) == len(stored), path
        for k, (a, b) in enumerate(zip(current, stored)):
            yield from differences(a, b, f'{path}/{k}')
    elif path.startswith('/agreement'):
        if not current < 1e-9:
            yield f'{path}: {current}'
    elif path.startswith(('/operations', '/operation_ratios')):
        if not math.isclose(current, stored, rel_tol=0.02, abs_tol=2):
            yield f'{path}: {current}, stored {stored}'
    elif not math.isclose(current, stored, rel_tol=1e-6, abs_tol=1e-7):
        yield f'{path}: {current}, stored {stored}'


@pytest.mark.parametrize('key', papers.KEYS)
def test_numbers_behind_the_page_are_current(reports, key):
    stored = json.loads((FOLDER / f'{key}.json').read_text(encoding='utf-8'))
    found = list(differences(plain(report(reports, key).numbers), stored))
    hint = 'run: parallel-dynamics reproduce all --output docs/papers'
    assert not found, '\n'.join([*found, hint])


@pytest.mark.parametrize('key', papers.KEYS)
def test_page_and_pictures_are_those_of_the_command(reports, key):
    current = report(reports, key)
    page = (FOLDER / f'{key}.md').read_text(encoding='utf-8')
    pictures = {path.stem for path in FOLDER.glob(f'{key}_*.png')}
    assert pictures == set(current.figures)
    for stem in pictures:
        assert f'({stem}.png)' in page
        assert (FOLDER / f'{stem}.png').read_bytes().startswith(b'\x89PNG')
    for heading in ('Assumed where the paper is silent', '## Corrected', 'Agreement'):
        assert heading in page


@pytest.mark.parametrize('key', papers.KEYS)
def test_references_resolve_the_key(key):
    text = (REPOSITORY / 'docs' / 'references.md').read_text(encoding='utf-8')
    assert f'<a id="{key}"></a>**{key}**' in text
    assert f'(papers/{key}.md)' in text
    assert (PACKAGE / key / '__init__.py').read_text(encoding='utf-8').startswith(f'"""{key}: ')


@pytest.mark.parametrize('key', papers.KEYS)
def test_no_model_of_a_paper_uses_the_engine(key):
    """Only the pages and the variants of robots may import what computes."""
    shared = ('notation', 'layout')
    models = [p for p in (PACKAGE / key).glob('*.py') if p.stem not in ('reproduce', 'sketches')]
    for path in [*models, *(PACKAGE / f'{name}.py' for name in shared)]:
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.ImportFrom) and node.module:
                parts = node.module.split('.')
                assert parts[0] != 'parallel_dynamics' or parts[1] in (
                    'errors', 'spatial', 'motion', 'model', 'papers',
                ), f'{path.name} imports {node.module}'  # fmt: skip


def test_command_writes_a_paper(command, tmp_path):
    key = 'chablat_wenger_staicu_2009'
    result = command('reproduce', key, '--output', str(tmp_path / 'new' / 'folder'))
    written = {Path(line).name for line in result.stdout.split()}
    assert {f'{key}.md', f'{key}.json', f'{key}_fig3.png', f'{key}_fig8.png'} <= written
    assert written == {path.name for path in (tmp_path / 'new' / 'folder').iterdir()}


def test_an_unknown_paper_is_refused(command):
    with pytest.raises(InputError, match='expected one of khalil_ibrahim_2007'):
        papers.reproduce('stewart_1965')
    result = command('reproduce', 'stewart_1965', check=False)
    assert result.returncode == 2
    assert 'khalil_ibrahim_2007' in result.stderr
