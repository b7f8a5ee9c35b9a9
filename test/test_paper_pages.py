"""The pages of the papers: written by the command; numbers, text and pictures are current."""

from __future__ import annotations

import ast
import itertools
import json
import math
from pathlib import Path
import re
import sys

import numpy as np
from PIL import Image
import pytest

from parallel_dynamics import papers
from parallel_dynamics.errors import InputError
from parallel_dynamics.papers.drawn import drawn
from parallel_dynamics.papers.report import new_figure, plain

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


AGREEMENT = 1e-9
"""Below this a number says only that two models agree: its digits are rounding."""

NUMBER = re.compile(r'(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\d)')


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
        if not current < AGREEMENT:
            yield f'{path}: {current}'
    elif not math.isclose(current, stored, rel_tol=1e-6, abs_tol=AGREEMENT):
        yield f'{path}: {current}, stored {stored}'


def last_place(number):
    """Return the value of one unit in a printed number's last place; zero for a whole number."""
    digits, _, exponent = number.partition('e')
    decimals = len(digits.partition('.')[2])
    return 10.0 ** (int(exponent or 0) - decimals) if decimals or exponent else 0.0


def text_differences(current, stored):
    """Yield where two texts differ in words, or in numbers by more than their last place."""
    words = [NUMBER.sub('#', text).splitlines() for text in (current, stored)]
    for a, b in itertools.zip_longest(*words):
        if a != b:
            yield f'{a!r}, stored {b!r}'
    for a, b in zip(NUMBER.findall(current), NUMBER.findall(stored)):
        agree = abs(float(a)) < AGREEMENT and abs(float(b)) < AGREEMENT
        tolerance = 1.001 * max(last_place(a), last_place(b))
        if not agree and abs(float(a) - float(b)) > tolerance:
            yield f'{a}, stored {b}'


def drawing_differences(current, stored, path=''):
    """Yield where two figures differ, curves by more than a part in 1e5 of their height."""
    if isinstance(stored, dict):
        for key in stored.keys() | current.keys():
            yield from drawing_differences(current.get(key), stored.get(key), f'{path}/{key}')
    elif isinstance(stored, str) and isinstance(current, str):
        yield from (f'{path}: {found}' for found in text_differences(current, stored))
    elif not isinstance(stored, list) or not isinstance(current, list):
        if current != stored:
            yield f'{path}: {current}, stored {stored}'
    elif len(current) != len(stored):
        yield f'{path}: {len(current)} parts, stored {len(stored)}'
    elif stored and isinstance(stored[0], float):
        if not np.allclose(current, stored, rtol=0.0, atol=1e-5 * np.abs(stored).max() + 1e-9):
            yield f'{path}: {current}, stored {stored}'
    else:
        for k, (a, b) in enumerate(zip(current, stored)):
            yield from drawing_differences(a, b, f'{path}/{k}')


HINT = 'run: parallel-dynamics reproduce all --output docs/papers'


@pytest.mark.parametrize('key', papers.KEYS)
def test_numbers_behind_the_page_are_current(reports, key):
    stored = json.loads((FOLDER / f'{key}.json').read_text(encoding='utf-8'))
    found = list(differences(plain(report(reports, key).numbers), stored))
    assert not found, '\n'.join([*found, HINT])


@pytest.mark.parametrize('key', papers.KEYS)
def test_page_is_current(reports, key):
    page = (FOLDER / f'{key}.md').read_text(encoding='utf-8')
    found = list(text_differences(report(reports, key).page(), page))
    assert not found, '\n'.join([*found, HINT])
    for heading in ('## Assumed where the paper is silent', '## Corrected', '## Agreement'):
        assert heading in page
    assert 'YAML' not in page, 'what is assumed must stand on the page itself'


@pytest.mark.parametrize('key', papers.KEYS)
def test_pictures_are_current(reports, key):
    """What a picture shows is stored in its file, so a stale or swapped one is found out."""
    figures = report(reports, key).figures
    assert {path.stem for path in FOLDER.glob(f'{key}_*.png')} == set(figures)
    for stem, figure in figures.items():
        with Image.open(FOLDER / f'{stem}.png') as picture:
            stored = json.loads(picture.text['Data'])
        found = list(drawing_differences(json.loads(json.dumps(drawn(figure))), stored, stem))
        assert not found, '\n'.join([*found, HINT])


def test_a_stale_page_or_picture_is_found_out():
    page = 'f54 grows 8.8 times, to 470 N, agreement 3e-15, see (12)'
    assert not list(text_differences(page.replace('3e-15', '8e-13').replace('8.8', '8.7'), page))
    for old, new in (('8.8', '9.1'), ('(12)', '(13)'), ('grows', 'falls'), ('3e-15', '3e-05')):
        assert list(text_differences(page.replace(old, new), page))

    def picture(scale, label='force'):
        figure, axes = new_figure()
        axes.plot([0.0, 1.0, 2.0], [0.0, scale, 2.0], label=label)
        return drawn(figure)

    assert not list(drawing_differences(picture(1.0 + 1e-9), picture(1.0)))
    assert list(drawing_differences(picture(1.001), picture(1.0)))
    assert list(drawing_differences(picture(1.0, 'torque'), picture(1.0)))


@pytest.mark.parametrize('key', papers.KEYS)
def test_references_resolve_the_key(key):
    text = (REPOSITORY / 'docs' / 'references.md').read_text(encoding='utf-8')
    assert f'<a id="{key}"></a>**{key}**' in text
    assert f'(papers/{key}.md)' in text
    assert (PACKAGE / key / '__init__.py').read_text(encoding='utf-8').startswith(f'"""{key}: ')


ALLOWED = {
    'numpy',
    'parallel_dynamics.errors',
    'parallel_dynamics.model',
    'parallel_dynamics.motion',
    'parallel_dynamics.spatial',
    'parallel_dynamics.papers.layout',
    'parallel_dynamics.papers.notation',
}
"""What a model may import besides its own package and Python's library: nothing that computes."""


def imported(path):
    """Yield the modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path.name}: a relative import hides what it imports'
            yield node.module


@pytest.mark.parametrize('key', papers.KEYS)
def test_no_model_of_a_paper_uses_the_engine(key):
    """Only the pages and the variants of robots may import what computes."""
    models = [p for p in (PACKAGE / key).glob('*.py') if p.stem not in ('reproduce', 'sketches')]
    for path in [*models, PACKAGE / 'notation.py', PACKAGE / 'layout.py']:
        allowed = ALLOWED | ({'casadi'} if path.stem == 'operations' else set())
        for module in imported(path):
            standard = module.partition('.')[0] in sys.stdlib_module_names
            own = module.startswith(f'parallel_dynamics.papers.{key}.')
            assert standard or own or module in allowed, f'{path.name} imports {module}'


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
