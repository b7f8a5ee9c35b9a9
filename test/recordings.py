"""Simulated recordings for tests of identification, made once per process."""

from functools import cache

import numpy as np
from robots import load

from parallel_dynamics.identification.base_parameters import find_base_parameters
from parallel_dynamics.identification.excitation import optimise_excitation
from parallel_dynamics.identification.rehearsal import rehearse
from parallel_dynamics.linear_form import BODY_SUFFIXES

PERIOD = {'delta': 4.0, 'gough_stewart': 2.0, 'three_rps': 4.0}
PERIODS = {'delta': 6.0, 'gough_stewart': 24.0, 'three_rps': 18.0}


@cache
def wrong(name, share=0.1, seed=1):
    """A robot whose bodies and joints are off by a share, up or down; each body as a whole."""
    robot = load(name)
    rng = np.random.default_rng(seed)
    p, factors = np.array(robot.parameters), {}
    for k, parameter in enumerate(robot.parameter_names):
        owner, _, suffix = parameter.rpartition('/')
        key = owner if suffix in BODY_SUFFIXES else parameter
        factors.setdefault(key, 1.0 + share * rng.choice([-1.0, 1.0]))
        p[k] *= factors[key]
    return robot.with_parameters(p)


@cache
def base_of(name):
    return find_base_parameters(wrong(name))


@cache
def excitation(name, seed=0, periods=None, budget=60):
    periods = PERIODS[name] if periods is None else periods
    return optimise_excitation(
        wrong(name), base_of(name), period=PERIOD[name], periods=periods, budget=budget, seed=seed
    )


@cache
def recording(name, seed=0, periods=None):
    """What a run of the real robot records: 1 kHz, encoders, effort noise of 2 % of peak."""
    found = excitation(name, seed, periods)
    return rehearse(load(name), found.trajectory, believed=wrong(name), seed=seed)
