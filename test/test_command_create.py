"""`parallel-dynamics create`."""

import pytest
import yaml

from parallel_dynamics import families
from parallel_dynamics.commands.main import main
from parallel_dynamics.families import shipped


def test_create_writes_both_files_and_says_so(tmp_path, capsys):
    status = main(['create', 'stewart', '--base-radius', '0.5', '--platform-radius', '0.3',
                   '--name', 'mine', '--output', str(tmp_path / 'new')])
    assert status == 0
    assert capsys.readouterr().out.split() == [
        str(tmp_path / 'new' / 'mine.yaml'), str(tmp_path / 'new' / 'mine.urdf')]
    data = yaml.safe_load((tmp_path / 'new' / 'mine.yaml').read_text())
    assert (data['name'], data['urdf']) == ('mine', 'mine.urdf')
    assert (tmp_path / 'new' / 'mine.urdf').read_text() == families.create(
        'stewart', 'mine', base_radius=0.5, platform_radius=0.3).urdf


def test_create_repeats_the_command_in_the_file(tmp_path):
    for options in ([], ['--rod-mass', '0.2'], ['--irregular', '3']):
        main(['create', 'delta', *options, '--output', str(tmp_path)])
        path = next(tmp_path.glob('*.yaml'))
        first = path.read_text()
        line = next(x for x in first.splitlines() if x.startswith('# Written by: '))
        path.unlink()
        main([*line.split()[4:], '--output', str(tmp_path)])
        assert path.read_text() == first
        path.unlink()


def test_create_shipped_writes_the_tree(tmp_path):
    assert main(['create', '--shipped', '--output', str(tmp_path)]) == 0
    for name, text in shipped.shipped().items():
        assert (tmp_path / 'urdf' / f'{name}.urdf').read_text() == text.urdf
        assert (tmp_path / 'config' / 'robots' / f'{name}.yaml').read_text() == text.yaml


def test_create_reports_errors(capsys):
    assert main(['create']) == 2
    assert main(['create', 'delta', '--arm-mass', '-1']) == 2
    assert 'arm_mass' in capsys.readouterr().err


def test_parameters_that_make_no_robot_are_told(tmp_path, capsys):
    """A platform a million kilometres above its base: the legs are parallel to all digits."""
    assert main(['create', 'stewart', '--height', '1e9', '--output', str(tmp_path)]) == 1
    assert 'fault: ' in capsys.readouterr().out


@pytest.mark.parametrize('what', ['delta', '--shipped'])
def test_a_folder_that_cannot_be_written_to(what, tmp_path, capsys):
    (tmp_path / 'taken').write_text('')
    assert main(['create', what, '--output', str(tmp_path / 'taken')]) == 2
    assert 'cannot be written to' in capsys.readouterr().err


def test_help_of_a_family_shows_units_and_defaults(capsys):
    with pytest.raises(SystemExit):
        main(['create', 'delta', '--help'])
    shown = ' '.join(capsys.readouterr().out.split())
    for field in families.family_class('delta').parameters().values():
        assert f'--{field.name.replace("_", "-")} {field.metadata["unit"]}' in shown
        assert f'(default: {field.default:.6g} {field.metadata["unit"]})' in shown
