"""Work beside the control cycle: no job, and nothing that is done with it, ends thread or node."""

from __future__ import annotations

import threading
import time

import pytest

import parallel_dynamics as pd
from parallel_dynamics.nodes.background import BackgroundWork

pytestmark = pytest.mark.ros


@pytest.fixture
def work():
    work = BackgroundWork()
    yield work
    work.end()


def outcome(work, job, done=None):
    """Return ('done' or 'failed', what was told) of a job."""
    told = []

    def keep(result):
        if done is not None:
            done(result)
        told.append(('done', result))

    work.submit('a', job, keep, lambda reason: told.append(('failed', reason)))
    deadline = time.monotonic() + 5.0
    while not told and time.monotonic() < deadline:
        work.collect()
        time.sleep(0.001)
    assert len(told) == 1
    return told[0]


def fail(error):
    raise error


@pytest.mark.parametrize('error', [pd.LimitError('x'), TypeError('x'), KeyError('x'),
                                   MemoryError('x'), ZeroDivisionError('x')])  # fmt: skip
def test_a_job_that_fails_is_told_and_the_next_is_done(work, error):
    assert outcome(work, lambda: fail(error)) == ('failed', str(error))
    assert outcome(work, lambda: 7) == ('done', 7)


def test_a_result_that_comes_too_late_is_told_as_failed(work):
    refused = pd.UnreachableError('not from here')
    assert outcome(work, lambda: 7, lambda _: fail(refused)) == ('failed', 'not from here')
    assert outcome(work, lambda: 8) == ('done', 8)


@pytest.mark.parametrize('said', [True, False])
def test_a_job_that_a_newer_one_replaces_is_told_if_it_was_asked_for(work, said):
    busy, told, done = threading.Event(), [], []
    work.submit('b', lambda: busy.wait(5.0), lambda _: None, told.append)
    work.submit('a', lambda: 'older', done.append, told.append, said)
    work.submit('a', lambda: 'newer', done.append, told.append, said)
    busy.set()
    deadline = time.monotonic() + 5.0
    while not done and time.monotonic() < deadline:
        work.collect()
        time.sleep(0.001)
    assert done == ['newer'] and len(told) == said
