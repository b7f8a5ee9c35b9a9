"""Build the package for pip and for colcon.

The version comes from package.xml, the dependencies from requirements/*.in, and data files are
found by walking their folders, so that a new robot or launch file needs no edit here.
"""

from pathlib import Path
import xml.etree.ElementTree as ElementTree

from setuptools import find_packages, setup
from setuptools.command.develop import develop
from setuptools.command.install_scripts import install_scripts

NAME = 'parallel_dynamics'
COMMAND = 'parallel-dynamics'
NODES = (
    'controller', 'joint_force_estimator', 'recorder', 'replay', 'simulator', 'trajectory_source',
    'viewer',
)  # fmt: skip
DATA_FOLDERS = ('benchmarks', 'config', 'launch', 'rviz', 'urdf')
EXTRAS = ('ros', 'view', 'record', 'test', 'docs', 'bench')

ROOT = Path(__file__).resolve().parent


def put_command_on_path(folder):
    """Move the command from lib/parallel_dynamics, where only `ros2 run` looks, to bin."""
    folder = Path(folder)
    script = folder / COMMAND
    if folder.parts[-2:] == ('lib', NAME) and script.exists():
        target = folder.parent.parent / 'bin' / COMMAND
        target.parent.mkdir(parents=True, exist_ok=True)
        script.replace(target)


class InstallScripts(install_scripts):
    """What `colcon build` runs; pip makes its scripts itself."""

    def run(self):
        """Install the scripts, and the command where the shell finds it."""
        super().run()
        put_command_on_path(self.install_dir)


class Develop(develop):
    """What `colcon build --symlink-install` runs."""

    def run(self):
        """Link the package, and put the command where the shell finds it."""
        super().run()
        put_command_on_path(getattr(self, 'script_dir', None) or '')


def requirements(name):
    """Return the requirements of one file, with those of the files it includes by -r."""
    found = []
    for line in (ROOT / 'requirements' / f'{name}.in').read_text(encoding='utf-8').splitlines():
        line = line.partition('#')[0].strip()
        if line.startswith('-r '):
            found += requirements(Path(line[3:].strip()).stem)
        elif line:
            found.append(line)
    return found


def usable(path):
    """Return whether a file belongs to the package rather than to a tool's leftovers."""
    hidden = any(part.startswith('.') or part == '__pycache__' for part in path.parts)
    return path.is_file() and not hidden


def data_files():
    """Return what goes to share/parallel_dynamics, folder by folder, and the ament index."""
    share = f'share/{NAME}'
    found = {
        'share/ament_index/resource_index/packages': [f'resource/{NAME}'],
        share: ['package.xml'],
    }
    for folder in DATA_FOLDERS:
        for path in sorted(Path(folder).rglob('*')):
            if usable(path):
                found.setdefault(f'{share}/{path.parent.as_posix()}', []).append(path.as_posix())
    return list(found.items())


def package_data():
    """Return the files inside the package that are not Python, relative to the package."""
    package = Path(NAME)
    return [
        path.relative_to(package).as_posix()
        for path in sorted(package.rglob('*'))
        if usable(path) and path.suffix not in ('.py', '.pyc')
    ]


package_xml = ElementTree.parse(ROOT / 'package.xml').getroot()

setup(
    name=NAME,
    version=package_xml.findtext('version'),
    description=package_xml.findtext('description'),
    long_description=(ROOT / 'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    maintainer=package_xml.findtext('maintainer'),
    maintainer_email=package_xml.find('maintainer').get('email'),
    license=package_xml.findtext('license'),
    python_requires='>=3.10',
    packages=find_packages(include=[NAME, f'{NAME}.*']),
    package_data={NAME: package_data()},
    data_files=data_files(),
    install_requires=requirements('runtime'),
    extras_require={name: requirements(name) for name in EXTRAS},
    entry_points={
        'console_scripts': [
            f'{COMMAND} = {NAME}.commands.main:main',
            *(f'{node} = {NAME}.nodes.{node}:main' for node in NODES),
        ],
    },
    cmdclass={'develop': Develop, 'install_scripts': InstallScripts},
    zip_safe=False,
)
