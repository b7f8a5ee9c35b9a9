"""The code on pages for people: fenced blocks of Markdown files, run as a reader would."""

from __future__ import annotations

from dataclasses import dataclass
import os
from pathlib import Path
import re
import shlex
import subprocess
import sys
import textwrap

import pytest

FENCE = re.compile(r'^( *)```(\w+)[^\n]*\n(.*?)^\1```', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, text, and line in the file."""

    language: str
    text: str
    line: int


def blocks(path):
    """Return the fenced blocks of a Markdown file."""
    page = path.read_text(encoding='utf-8')
    return [
        Block(m.group(2), textwrap.dedent(m.group(3)), page.count('\n', 0, m.start()) + 1)
        for m in FENCE.finditer(page)
    ]


def commands(text):
    """Return the commands of a shell block, continued lines joined, comments left out."""
    joined = text.replace('\\\n', ' ')
    lines = (line.partition(' #')[0].strip() for line in joined.splitlines())
    return [line for line in lines if line and not line.startswith('#')]


def script_of(path, wanted):
    """Return one Python program for a page: its Python blocks, with `sh` blocks in between.

    ``wanted`` decides which commands run; programs of a ROS 2 installation or of make do not.
    """
    parts = [
        'import os, subprocess, sys',
        'def _sh(line):',
        '    done = subprocess.run(line, shell=True, text=True, capture_output=True)',
        '    if done.returncode:',
        '        sys.exit(f"{line}\\nreturned {done.returncode}:\\n{done.stdout}{done.stderr}")',
    ]
    for block in blocks(path):
        if block.language == 'python':
            parts.append(f'# line {block.line}\n{block.text}')
        elif block.language == 'sh':
            parts += [f'_sh({line!r})' for line in commands(block.text) if wanted(line)]
    return '\n'.join(parts)


def run_page(path, folder, repository, wanted):
    """Run a page in an empty folder; fail with what it printed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'page.py').write_text(script_of(path, wanted), encoding='utf-8')
    scripts = folder / 'bin'
    scripts.mkdir()
    tool = scripts / 'parallel-dynamics'
    tool.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m parallel_dynamics.commands.main "$@"\n'
    )
    tool.chmod(0o755)
    environment = {
        **os.environ,
        'PYTHONPATH': str(repository),
        'PATH': f'{scripts}{os.pathsep}{os.environ["PATH"]}',
    }
    result = subprocess.run(
        [sys.executable, 'page.py'], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    if os.environ.get('PARALLEL_DYNAMICS_LEAN') and 'is not installed' in result.stderr:
        pytest.skip(result.stderr.strip().splitlines()[-1])
    assert result.returncode == 0, f'{Path(path).name}:\n{result.stdout}{result.stderr}'
    return result.stdout
