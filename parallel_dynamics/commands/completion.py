"""`parallel-dynamics completion SHELL`: the script that makes a shell complete the verbs."""

from __future__ import annotations

import argparse

NAME = 'completion'
HELP = 'print the completion script of a shell'
EXAMPLES = ('parallel-dynamics completion bash > completion.bash',)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this verb."""
    parser.epilog = (
        'To use it, add to ~/.bashrc: eval "$(parallel-dynamics completion bash)", to ~/.zshrc '
        'after compinit: eval "$(parallel-dynamics completion zsh)", or to '
        '~/.config/fish/config.fish: parallel-dynamics completion fish | source'
    )
    parser.add_argument('shell', choices=('bash', 'zsh', 'fish'), help='the shell you use')


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    import argcomplete

    print(argcomplete.shellcode(['parallel-dynamics'], shell=args.shell))
    return 0
