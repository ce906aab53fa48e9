"""Claims about the deadline policy: in which order jobs with a deadline give way to a regular one, and how far."""

from __future__ import annotations

import numpy as np
import pytest

from planner.domain.trace import pool_trace
from planner.online.policies import policy_named
from planner.online.replay import replay


def starts(
    seconds: list[int], widths: list[int], due: list[int], processors: int, *, runtimes: list[int] | None = None
) -> list[int]:
    """Starts of jobs that come one each second; ``seconds`` are estimates, and runtimes too unless others are given.

    ``due`` -1 is a regular job.
    """
    ids, times = tuple(f"j{k}" for k in range(len(seconds))), np.array(seconds)
    actual = times if runtimes is None else np.array(runtimes)
    trace = pool_trace(ids, np.arange(len(seconds)), actual, times, np.array(widths), processors)
    return replay(trace, policy_named("deadline"), times, deadline_s=np.array(due)).start_s.tolist()


def test_the_oldest_job_that_would_miss_goes_first() -> None:
    """A regular job of 60 s on both processors comes last; behind it two jobs would miss, of which the older is moved.

    With the older one (50 s) back at 100 the regular one is reserved at 150, the younger (20 s) fits beside at 100, and
    the patient one (10 s, due at 230) comes at 210. Moving the younger first would have moved all three.
    """
    assert starts([100, 50, 20, 10, 60], [2, 1, 1, 2, 2], [-1, 160, 130, 230, -1], 2) == [0, 100, 100, 210, 150]


def test_jobs_that_cannot_give_way_stay_in_submit_order() -> None:
    """Two jobs due at 210 cannot wait for 110 s of regular work: the older runs from 100, the younger from 150."""
    assert starts([100, 50, 20, 110], [1] * 4, [-1, 210, 210, -1], 1) == [0, 100, 150, 170]


@pytest.mark.parametrize(("due", "found"), [(200, [0, 150, 100]), (199, [0, 100, 150])])
def test_a_job_gives_way_as_long_as_it_ends_by_its_deadline(due: int, found: list[int]) -> None:
    """Behind 50 s of regular work a job of 50 s ends at 200: in time when it is due then, too late a second before."""
    assert starts([100, 50, 50], [1] * 3, [-1, due, -1], 1) == found


def test_a_job_that_misses_from_the_start_gives_way_to_nobody() -> None:
    """Due at 149, the job cannot be in time behind 100 s: it is reserved as a regular one, and keeps its place."""
    assert starts([100, 50, 50], [1] * 3, [-1, 149, -1], 1) == [0, 100, 150]


def test_older_jobs_go_first_when_those_that_would_miss_get_into_each_others_way() -> None:
    """Two processors; r runs until 60; a (40 s on one, due at 250), b (50 s on both, due at 200) and c (10 s on one,
    due at 90) are reserved at 60, 100 and 60, c beside a. Then a regular job comes, 50 s on both.

    Behind it, at 60 to 110, c would end too late (a has the other processor, at 110 to 150), and then b, at 160 to 210.
    Without a before them b takes 60 to 110 and c misses at 110. So a, which can wait, goes first too: nothing moves.
    """
    assert starts([60, 40, 50, 10, 50], [2, 1, 2, 1, 2], [-1, 250, 200, 90, -1], 2) == [0, 60, 100, 60, 150]


def test_everything_stays_as_it_was_when_no_order_is_in_time() -> None:
    """Three processors; r leaves one free until 20, it is believed, and ends at 10.

    a (40 s on all, due at 80) is reserved at 20 to 60, and b (50 s on all) at 60, too late for its due time of 65: it
    is kept as a regular one. At 10 the regular b would move to 10 to 60, and a miss its deadline at 100, before b or
    behind it. So the order stays, and all moves up: a to 10, b to 50.
    """
    assert starts([20, 40, 50], [2, 3, 3], [-1, 80, 65], 3, runtimes=[10, 40, 50]) == [0, 10, 50]
