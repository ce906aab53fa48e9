"""What differs between the queue and what was wanted or set."""

from __future__ import annotations

import pytest

from planner.inputs.slurm.job import AllocatedNode, SlurmJob
from planner.slurm.journal import Entry, Ours
from planner.slurm.verify import Expected, differences, from_journal
from tests.slurm.queued import HOUR, NOW, queue_of, waiting

LATER = NOW + HOUR
ON_N1 = (AllocatedNode("n1"),)


def text_of(*jobs: SlurmJob, expected: Expected | None = None) -> str:
    """What is said about the one job that differs; empty when none does."""
    found = differences([expected or wanted("42", LATER)], queue_of(*jobs), NOW)
    assert len(found) <= 1
    return found[0][1] if found else ""


def wanted(job: str, begin_unix: int) -> Expected:
    """A job that waits, as it should be."""
    return Expected(job, begin_unix, waiting().submit_unix)


@pytest.mark.parametrize(
    ("job", "text"),
    [
        (waiting(begin_unix=LATER), ""),
        (waiting(begin_unix=LATER + 1), "begins at 2027-01-15T09:00:01Z, not at 2027-01-15T09:00:00Z"),
        (waiting(begin_unix=None), "begins at no set time, not at 2027-01-15T09:00:00Z"),
        (waiting(begin_unix=LATER, held=True), "is held"),
        (waiting(begin_unix=LATER, deadline_unix=LATER + HOUR), ""),
        (
            waiting(begin_unix=LATER, deadline_unix=LATER + HOUR - 1),
            "begins at 2027-01-15T09:00:00Z, too late for its deadline: Slurm will cancel it",
        ),
        (waiting(state="RUNNING", start_unix=LATER, allocated=ON_N1), ""),
        (waiting(state="CANCELLED", start_unix=NOW - 60, end_unix=NOW - 60), ""),
        (
            waiting(state="CANCELLED", start_unix=NOW - 90, end_unix=NOW - 60, allocated=ON_N1),
            "started at 2027-01-15T07:58:30Z, before 2027-01-15T09:00:00Z",
        ),
        (
            waiting(state="DEADLINE", start_unix=NOW - 60, end_unix=NOW - 60),
            "was cancelled by Slurm for its deadline; was to begin at 2027-01-15T09:00:00Z",
        ),
        (
            waiting(state="RUNNING", start_unix=LATER - 1, allocated=ON_N1),
            "started at 2027-01-15T08:59:59Z, before 2027-01-15T09:00:00Z",
        ),
        (waiting("43"), "is no longer in the queue; was to begin at 2027-01-15T09:00:00Z"),
    ],
)
def test_a_job_is_as_expected_or_it_is_said_how_not(job: SlurmJob, text: str) -> None:
    """Each way of being different has its words."""
    assert text_of(job) == text


def test_a_job_that_left_after_its_time_is_no_difference() -> None:
    """It has run."""
    assert text_of(expected=wanted("42", NOW)) == ""


def test_a_job_that_was_let_go_may_begin_whenever_that_was() -> None:
    """Slurm's clock puts it at another second than ours, and forgets it where the job waits for another one."""
    assert text_of(waiting(begin_unix=NOW), expected=wanted("42", NOW - 3)) == ""
    assert text_of(waiting(begin_unix=None), expected=wanted("42", NOW - 3)) == ""
    assert "begins at" in text_of(waiting(begin_unix=NOW + 1), expected=wanted("42", NOW - 3))


def test_another_job_with_the_same_id_is_named() -> None:
    """The submit time of the journal tells."""
    assert "is another job" in text_of(waiting(), expected=Expected("42", LATER, submit_unix=1))


def test_every_task_of_an_array_is_looked_at() -> None:
    """Those with an expectation of their own are held against that."""
    jobs = (
        waiting("42", tasks=tuple(range(3, 10)), begin_unix=LATER),
        waiting("42_1", begin_unix=NOW),
        waiting("42_2", begin_unix=5),
    )
    expected = [wanted("42", LATER), wanted("42_2", 5)]
    assert [job for job, _ in differences(expected, queue_of(*jobs), NOW)] == ["42_1"]
    assert not differences([wanted("42_4", LATER)], queue_of(*jobs), NOW)


def test_the_journal_expects_the_newest_time() -> None:
    """Of all that were sent."""
    expected = from_journal(Ours({("42", 7): Entry(None, (LATER - 1, LATER))}))
    assert expected == [Expected("42", LATER, submit_unix=7)]
    found = differences(expected, queue_of(waiting(submit_unix=7, begin_unix=LATER - 1)), NOW)
    assert [job for job, _ in found] == ["42"]
