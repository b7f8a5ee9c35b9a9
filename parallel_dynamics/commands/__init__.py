"""The command-line tool `parallel-dynamics`: one verb per file.

A verb is a module in this folder whose name does not start with an underscore, with

NAME : str
    what the user types,
HELP : str
    one line for `--help`,
EXAMPLES : tuple of str
    command lines that work, shown at the end of `--help`,
add_arguments(parser) : None
    adds its arguments to an ``argparse.ArgumentParser``,
run(args) : int
    does the work and returns the exit status.

Verbs import NumPy and everything heavier inside ``run``: the tool starts for every completion that
a shell asks for. One that prints numbers takes `--json` (``_console.add_json``) and prints by
``_console.tell``; whatever it says on the way goes to the standard error.
"""
