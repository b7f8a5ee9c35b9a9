"""Copies of shipped robots with something changed, for tests of descriptions."""

from __future__ import annotations

from pathlib import Path

from lxml import etree
import yaml

from parallel_dynamics import resources


class Edited:
    """A shipped robot in memory: `data` is its YAML, `root` the <robot> element of its URDF."""

    def __init__(self, name='gough_stewart'):
        file = resources.robot_files()[name]
        self.data = yaml.safe_load(file.read_text())
        urdf = (file.parent / self.data['urdf']).read_bytes()
        self.root = etree.fromstring(urdf, etree.XMLParser(remove_comments=True))
        self.data['urdf'] = 'robot.urdf'

    def write(self, folder: Path) -> Path:
        """Write both files and return the path of the YAML."""
        (folder / 'robot.urdf').write_bytes(etree.tostring(self.root))
        path = folder / 'robot.yaml'
        path.write_text(yaml.safe_dump(self.data, sort_keys=False))
        return path

    def link(self, name):
        return self.root.find(f"link[@name='{name}']")

    def joint(self, name):
        return self.root.find(f"joint[@name='{name}']")

    def part(self, kind, name, tag):
        """Return an element inside a link or a joint, made if it is not there."""
        parent = self.root.find(f"{kind}[@name='{name}']")
        found = parent.find(f'.//{tag}')
        return etree.SubElement(parent, tag) if found is None else found

    def add(self, text):
        """Append elements to the URDF."""
        for element in etree.fromstring(f'<robot>{text}</robot>'):
            self.root.append(element)

    def closure(self, name):
        return next(c for c in self.data['closures'] if c['name'] == name)
