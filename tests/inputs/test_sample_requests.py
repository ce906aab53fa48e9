"""Requested wallclock times of the sample workload."""

import numpy as np
import pytest

from planner.inputs.jobs.lublin import ROUND_REQUESTS_S, draw_requests


@pytest.fixture
def drawn() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    runtimes_s = np.exp(rng.uniform(0.0, 11.9, 50_000))
    return (runtimes_s, *draw_requests(rng, runtimes_s))


def test_requests_are_round_values(drawn: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """Users ask for round values only: 5 minutes, a quarter of an hour, an hour, a day."""
    _, requested_s, _ = drawn
    assert set(requested_s) <= set(ROUND_REQUESTS_S)


def test_no_job_outlives_its_request(drawn: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """The actual time is at least a second and at most the request."""
    _, requested_s, actual_s = drawn
    assert actual_s.min() >= 1
    assert np.all(actual_s <= requested_s)


def test_requests_are_overestimates(drawn: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """About a tenth of the jobs above five minutes end at their limit; the others use about half of it."""
    runtimes_s, requested_s, actual_s = drawn
    long = (runtimes_s > 600) & (runtimes_s < 80_000)
    used = actual_s[long] / requested_s[long]
    assert np.mean(used == 1) == pytest.approx(0.1, abs=0.02)
    assert 0.35 < used[used < 1].mean() < 0.55
