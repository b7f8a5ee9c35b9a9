"""The command-line tool: verbs are found, errors are one sentence, the start is light."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import types

import pytest
from robots import load

from parallel_dynamics import resources
from parallel_dynamics.commands import _console
from parallel_dynamics.commands import main as tool
from parallel_dynamics.errors import ParallelDynamicsError

# Half a second and more for a shell that only wants to complete a word.
HEAVY = ('numpy', 'scipy', 'numba', 'matplotlib', 'rclpy', 'viser', 'urdf_parser_py')


@pytest.fixture
def verb(monkeypatch):
    """Return a function that makes the tool have one verb, `try`, that does the given thing."""

    def use(action):
        module = types.SimpleNamespace(
            NAME='try', HELP='try', EXAMPLES=(), add_arguments=lambda parser: None, run=action
        )
        monkeypatch.setattr(tool, 'find_verbs', lambda: [module])

    return use


def raising(error):
    def action(args):
        raise error

    return action


def test_every_verb_keeps_the_convention():
    verbs = tool.find_verbs()
    assert {'list', 'completion'} <= {verb.NAME for verb in verbs}
    assert len({verb.NAME for verb in verbs}) == len(verbs)
    for verb in verbs:
        assert verb.HELP and '\n' not in verb.HELP
        assert callable(verb.run)
        verb.add_arguments(argparse.ArgumentParser())


def test_help_names_every_verb(capsys):
    with pytest.raises(SystemExit) as exit_:
        tool.main(['--help'])
    assert exit_.value.code == 0
    text = capsys.readouterr().out
    assert all(verb.NAME in text for verb in tool.find_verbs())


@pytest.mark.parametrize('name', [verb.NAME for verb in tool.find_verbs()])
def test_every_verb_has_help(name, capsys):
    with pytest.raises(SystemExit) as exit_:
        tool.main([name, '--help'])
    assert exit_.value.code == 0
    assert name in capsys.readouterr().out


EXAMPLES = [(verb.NAME, line) for verb in tool.find_verbs() for line in verb.EXAMPLES]
# Nodes, servers and long work: their own tests run them, here their words are read only.
ONLY_READ = ('bench', 'demo', 'record', 'replay', 'reproduce', 'view')
# Those that read what others write come after them.
STORY = ('excite', 'export', 'identify')


def words_of(line):
    """Return the words of an example behind the name of the tool; a file it goes to is left."""
    program, *words = shlex.split(line.partition(' > ')[0])
    assert program == tool.PROGRAM
    return words


@pytest.mark.parametrize('verb', tool.find_verbs(), ids=lambda verb: verb.NAME)
def test_help_ends_with_examples(verb, capsys):
    assert 1 <= len(verb.EXAMPLES) <= 2
    with pytest.raises(SystemExit):
        tool.main([verb.NAME, '--help'])
    shown = capsys.readouterr().out.rstrip().splitlines()
    assert shown[-len(verb.EXAMPLES) - 1 :] == ['examples:', *(f'  {x}' for x in verb.EXAMPLES)]


@pytest.mark.parametrize(('name', 'line'), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_examples_are_read(name, line):
    words = words_of(line)
    assert words[0] == name
    args = tool.make_parser().parse_args(words)
    assert callable(args.run)
    robot = getattr(args, 'robot', None) or 'delta'
    assert robot in resources.robot_files() or name == 'convert'


@pytest.mark.slow
def test_examples_work(tmp_path, monkeypatch, capsys):
    """All of them in one folder, as somebody would who tries one after the other."""
    from parallel_dynamics.identification.rehearsal import record, rehearse
    from parallel_dynamics.recording import Recorder
    from parallel_dynamics.trajectories import preset

    monkeypatch.chdir(tmp_path)
    robot = load('delta').with_payload(2.0)
    with Recorder('loaded.mcap', robot) as recorder:
        record(rehearse(robot, preset(robot, 'swing', duration=4.0)), recorder)
    story = [x for x in EXAMPLES if x[0] not in (*ONLY_READ, *STORY)]
    story += [x for name in STORY for x in EXAMPLES if x[0] == name]
    for _, line in story:
        assert tool.main(words_of(line)) == 0, f'{line}: {capsys.readouterr().err}'
        out = capsys.readouterr().out
        assert out
        if line.endswith('--json'):
            json.loads(out)


def test_version_is_that_of_the_package(command):
    assert command('--version').stdout == f'parallel-dynamics {resources.version()}\n'


def test_no_verb_shows_the_help(capsys):
    assert tool.main([]) == 2
    assert 'verbs:' in capsys.readouterr().err


def test_error_of_the_package_is_its_sentence_and_status_2(verb, capsys):
    verb(raising(ParallelDynamicsError('The leg is too short.')))
    assert tool.main(['try']) == 2
    output = capsys.readouterr()
    assert output.err == 'parallel-dynamics: The leg is too short.\n'
    assert output.out == ''


def test_any_other_error_keeps_its_traceback(verb):
    verb(raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        tool.main(['try'])


def test_a_missing_extra_is_named(verb, capsys):
    verb(raising(ModuleNotFoundError("No module named 'mcap.records'", name='mcap.records')))
    assert tool.main(['try']) == 2
    message = capsys.readouterr().err
    assert "'mcap'" in message and "pip install 'parallel_dynamics[record]'" in message
    verb(raising(ModuleNotFoundError("No module named 'parallel_dynamo'", name='parallel_dynamo')))
    with pytest.raises(ModuleNotFoundError):
        tool.main(['try'])


def test_every_extra_is_one_of_the_package(repository):
    known = {path.stem for path in (repository / 'requirements').glob('*.in')}
    assert set(tool.EXTRAS.values()) <= known


def test_interruption_is_quiet(verb, capsys):
    verb(raising(KeyboardInterrupt()))
    assert tool.main(['try']) == 130
    assert capsys.readouterr().err == ''


def test_status_of_the_verb_is_the_status_of_the_tool(verb):
    verb(lambda args: 7)
    assert tool.main(['try']) == 7


def test_a_reader_that_leaves_early_is_no_error(repository):
    script = f'{sys.executable} -m parallel_dynamics.commands.main completion bash | true'
    result = subprocess.run(
        ['bash', '-c', script], cwd=repository, capture_output=True, text=True, timeout=60
    )
    assert result.stderr == ''


def test_a_closed_output_is_no_error(repository):
    script = f'{sys.executable} -m parallel_dynamics.commands.main check delta >&-'
    result = subprocess.run(
        ['bash', '-c', script], cwd=repository, capture_output=True, text=True, timeout=60
    )
    assert (result.returncode, result.stderr) == (0, '')


def test_list_names_every_shipped_robot(command):
    lines = command('list').stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(resources.robot_files())


def test_list_as_json_gives_files_that_exist(command):
    robots = json.loads(command('list', '--json').stdout)
    assert {r['name']: r['file'] for r in robots} == {
        name: str(file) for name, file in resources.robot_files().items()
    }
    assert all(os.path.isfile(robot['urdf']) for robot in robots)


def test_start_is_light(run, repository):
    script = (
        'import sys; from parallel_dynamics.commands.main import make_parser; make_parser(); '
        f'print(*[name for name in {HEAVY} if name in sys.modules])'
    )
    loaded = run(sys.executable, '-c', script, PYTHONPATH=str(repository)).stdout.split()
    assert not loaded, f'the tool imports {loaded} before it knows what to do'


def test_colours_are_for_terminals(monkeypatch):
    class Stream:
        def __init__(self, terminal):
            self.isatty = lambda: terminal

    monkeypatch.delenv('NO_COLOR', raising=False)
    monkeypatch.setenv('TERM', 'xterm')
    assert _console.styled('bad', 'red', Stream(terminal=False)) == 'bad'
    assert _console.styled('bad', 'red', Stream(terminal=True)) == '\x1b[31mbad\x1b[0m'
    monkeypatch.setenv('NO_COLOR', '1')
    assert _console.styled('bad', 'red', Stream(terminal=True)) == 'bad'


def test_table_aligns_columns():
    text = _console.table(('robot', 'n'), [('delta', '3'), ('gough_stewart', '6')])
    assert {line.index(digit) for line, digit in zip(text.splitlines(), 'n36')} == {15}


@pytest.mark.parametrize('shell', ['bash', 'zsh'])
def test_completion_script_is_valid_for_its_shell(command, shell, tmp_path):
    program = shutil.which(shell)
    script = tmp_path / 'completion'
    script.write_text(command('completion', shell).stdout)
    assert 'parallel-dynamics' in script.read_text()
    if program:
        subprocess.run([program, '-n', script], check=True, timeout=60)


def test_a_verb_is_completed(repository):
    # What the script of a shell does: the line in the environment, the answer on descriptor 8.
    line = 'parallel-dynamics compl'
    environment = {
        **os.environ, '_ARGCOMPLETE': '1', 'COMP_LINE': line, 'COMP_POINT': str(len(line)),
        '_ARGCOMPLETE_IFS': ' ',
    }  # fmt: skip
    script = f'{sys.executable} -m parallel_dynamics.commands.main 8>&1 9>/dev/null >/dev/null'
    answer = subprocess.run(
        ['bash', '-c', script], cwd=repository, env=environment,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert answer.stdout.strip() == 'completion'
