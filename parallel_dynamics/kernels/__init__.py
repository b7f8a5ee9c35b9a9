"""Compiled numeric kernels over packed arrays: no Python objects, status codes, no exceptions.

One set of kernels serves every robot, so they are compiled once. ``layout`` says what the arrays
hold; ``position``, ``velocity``, ``dynamics`` and ``forward`` compute; ``batch`` loops.
"""
