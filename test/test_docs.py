"""Pages for people: what they show runs, what they name exists, and the site builds offline."""

from __future__ import annotations

import ast
import importlib
import os
from pathlib import Path
import re
import subprocess
import sys

import pages
import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
TUTORIALS = sorted((REPOSITORY / 'docs' / 'tutorials').glob('*.md'))
EXAMPLES = sorted((REPOSITORY / 'examples').glob('*.py'))
PAGES = [REPOSITORY / 'README.md', *sorted((REPOSITORY / 'docs').rglob('*.md'))]

# Programs that need a ROS 2 installation, or set up a machine; what they name is checked below.
ELSEWHERE = ('ros2', 'rosdep', 'colcon', 'source', 'make', 'git', 'pip', 'sudo', 'apt', 'cd')


def runs_here(line):
    return line.split()[0] not in ELSEWHERE


def tutorial(path):
    """A page that closes a loop of nodes stays with the other tests that do."""
    closes = 'parallel-dynamics demo' in path.read_text('utf-8')
    return pytest.param(path, marks=[pytest.mark.xdist_group('processes')] if closes else [])


@pytest.mark.slow
@pytest.mark.parametrize('path', [tutorial(p) for p in TUTORIALS], ids=lambda p: p.stem)
def test_tutorial_runs(path, tmp_path, repository):
    script = pages.script_of(path, runs_here)
    assert '# line' in script or '_sh(\'' in script, 'nothing of this page would be run'
    pages.run_page(path, tmp_path / 'page', repository, runs_here)


def test_readme_runs(tmp_path, repository):
    pages.run_page(repository / 'README.md', tmp_path / 'page', repository, runs_here)


@pytest.mark.parametrize('path', EXAMPLES, ids=lambda p: p.stem)
def test_example_makes_its_picture(path, tmp_path, repository):
    assert len(path.read_text('utf-8').splitlines()) < 60
    output = tmp_path / 'picture.png'
    environment = {**os.environ, 'PYTHONPATH': str(repository), 'MPLBACKEND': 'agg'}
    done = subprocess.run(
        [sys.executable, path, output], env=environment, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert output.read_bytes().startswith(b'\x89PNG')


# ---------------------------------------------------------------- what pages name


def shell_lines(start):
    """Return (page, line) of every command on the pages that starts with these words."""
    return [
        (path.name, line)
        for path in PAGES
        for block in pages.blocks(path)
        if block.language == 'sh'
        for line in pages.commands(block.text)
        if line.startswith(start)
    ]


def launch_arguments(path):
    """Return the arguments that a launch file declares."""
    tree = ast.parse(path.read_text('utf-8'))
    return {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, 'id', getattr(node.func, 'attr', '')) == 'DeclareLaunchArgument'
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }


def test_launch_commands_name_files_and_arguments_that_exist(repository):
    lines = shell_lines('ros2 launch parallel_dynamics ')
    assert lines, 'no page shows a launch'
    for page, line in lines:
        _, _, _, file, *arguments = line.split()
        path = repository / 'launch' / file
        assert path.is_file(), f'{page}: {line}: there is no {path.name}'
        source = path.read_text('utf-8')
        for argument in arguments:
            name = argument.partition(':=')[0]
            known = launch_arguments(path)
            assert name in known or f"'{name}'" in source, f'{page}: {line}: no argument {name}'


def test_run_commands_name_executables_that_exist(repository):
    nodes = re.search(r'NODES = \((.*?)\)', (repository / 'setup.py').read_text('utf-8'), re.S)
    known = set(re.findall(r"'(\w+)'", nodes.group(1)))
    for page, line in shell_lines('ros2 run parallel_dynamics '):
        assert line.split()[3] in known, f'{page}: {line}'


def test_make_commands_name_targets_that_exist(repository):
    makefile = (repository / 'Makefile').read_text('utf-8')
    targets = set(re.findall(r'^([a-z-]+):', makefile, re.MULTILINE))
    for page, line in shell_lines('make '):
        wanted = {word for word in line.split()[1:] if '=' not in word}
        assert wanted <= targets, f'{page}: {line}'


def test_every_picture_is_there():
    for path in PAGES:
        text = path.read_text('utf-8')
        for name in re.findall(r'!\[[^\]]*\]\(([^)#?]+)\)', text):
            assert (path.parent / name).is_file(), f'{path.name} shows {name}, which is not there'


def test_every_key_of_docstrings_resolves(repository):
    """Keys such as khalil_ibrahim_2007 lead to an entry of the references page."""
    known = set(re.findall(r'<a id="(\w+)">', (repository / 'docs/references.md').read_text()))
    assert known
    key = re.compile(r'\b([a-z]+(?:_[a-z]+)*_(?:19|20)\d\d|staicu_3rps)\b')
    for path in (repository / 'parallel_dynamics').rglob('*.py'):
        for found in key.findall(path.read_text('utf-8')):
            assert found in known, f'{path.name} cites {found}, unknown to docs/references.md'
        for line, text in docstrings(ast.parse(path.read_text('utf-8'))):
            cited = re.search(r'[A-Z][a-z]+(?: et al\.?)?,? \(?(?:19|20)\d\d\b', text)
            assert not cited, f'{path.name}:{line} cites {cited.group()!r}, not its key'


def docstrings(tree):
    """Yield every string that stands as a statement: docstrings, also those of constants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                yield node.lineno, node.value.value


def test_every_equation_in_a_docstring_of_the_papers_names_its_paper(repository):
    """An equation number such as (36) says nothing without the key of its paper."""
    known = re.findall(r'<a id="(\w+)">', (repository / 'docs/references.md').read_text('utf-8'))
    number = re.compile(r'(?<![\w`])\(\d{1,3}\)')
    seen = 0
    for path in (repository / 'parallel_dynamics' / 'papers').rglob('*.py'):
        for line, text in docstrings(ast.parse(path.read_text('utf-8'))):
            if number.search(text):
                seen += 1
                assert any(key in text for key in known), f'{path}:{line} names no paper: {text}'
    assert seen > 100


def test_every_error_is_explained(repository):
    text = (repository / 'docs' / 'errors.md').read_text('utf-8')
    for module in ('errors', 'simulation.events', 'families.family', 'demo.processes'):
        found = importlib.import_module(f'parallel_dynamics.{module}')
        for name, value in vars(found).items():
            mine = getattr(value, '__module__', '') == found.__name__
            if isinstance(value, type) and issubclass(value, Exception) and mine:
                assert f'`{name}`' in text or f'.{name}`' in text, f'{name} is not in errors.md'


def test_api_pages_cover_the_public_packages(repository):
    pages_text = ''.join(p.read_text('utf-8') for p in (repository / 'docs' / 'api').glob('*.md'))
    for package in ('trajectories', 'identification', 'forces', 'maps', 'recording', 'simulation',
                    'control', 'control.adaptive'):  # fmt: skip
        assert f'::: parallel_dynamics.{package}' in pages_text, package


def test_every_field_of_a_description_is_explained(repository):
    from parallel_dynamics.description import settings

    text = (repository / 'docs' / 'description.md').read_text('utf-8')
    for key in (*settings.REQUIRED, *settings.OPTIONAL):
        assert f'| `{key}` |' in text, f'{key} is not in description.md'
    for kind in settings.CLOSURE_EQUATIONS:
        assert f'| `{kind}` |' in text


def test_every_verb_is_explained(repository):
    from parallel_dynamics.commands.main import find_verbs

    text = (repository / 'docs' / 'command_line.md').read_text('utf-8')
    for verb in find_verbs():
        assert f'| `{verb.NAME}` |' in text, f'{verb.NAME} is not in command_line.md'


@pytest.mark.slow
def test_site_builds_without_warnings_or_outside_addresses(repository, tmp_path, run):
    importlib.import_module('mkdocs')
    run(
        sys.executable, '-m', 'mkdocs', 'build', '--strict', '--quiet', '--config-file',
        repository / 'mkdocs.yml', '--site-dir', tmp_path / 'site', NO_MKDOCS_2_WARNING='1',
        DISABLE_MKDOCS_2_WARNING='true', PYTHONPATH=str(repository),
    )  # fmt: skip
    loads = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:)?//[^"]+"')
    for page in (tmp_path / 'site').rglob('*.html'):
        for tag in loads.finditer(page.read_text('utf-8')):
            assert 'rel="canonical"' in tag.group(0), f'{page.name} loads {tag.group(0)}'


def test_topics_page_lists_every_executable(repository):
    setup = ast.parse((repository / 'setup.py').read_text('utf-8'))
    (nodes,) = (ast.literal_eval(part.value) for part in setup.body
                if isinstance(part, ast.Assign) and part.targets[0].id == 'NODES')  # fmt: skip
    page = (repository / 'docs' / 'topics.md').read_text('utf-8')
    assert set(re.findall(r'^\| `(\w+)` \|', page.partition('## ')[0], re.MULTILINE)) == set(nodes)


@pytest.mark.ros
@pytest.mark.slow
def test_topics_page_is_what_the_nodes_say(repository, tmp_path, run):
    written = tmp_path / 'topics.md'
    run(
        sys.executable, repository / 'docs' / 'write_topics.py', written,
        PYTHONPATH=str(repository),
    )  # fmt: skip
    assert written.read_text('utf-8') == (repository / 'docs' / 'topics.md').read_text('utf-8'), (
        'docs/topics.md is not current; run python docs/write_topics.py'
    )
