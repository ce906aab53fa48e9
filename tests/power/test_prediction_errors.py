"""A job never learns from itself or from what ends later, on-line and day-ahead."""

from __future__ import annotations

import random

import pytest

from planner.domain.cluster import Cluster, NodeClass
from planner.power.learned import FinishedJob, PowerLimits, learned_from
from planner.power.prediction_errors import Moment, at_midnight, at_submission, compared, predictions
from tests.finished_jobs import finished

FREE = PowerLimits(Cluster((NodeClass("cpu", 1, {"cores": 64}),)))
DAY = 86_400
MOMENTS = [at_submission, at_midnight("Europe/Rome")]


def watts(jobs: list[FinishedJob], moment: Moment) -> list[float | None]:
    """Predicted watts, None where nothing was known."""
    return [None if each is None else each.power_w for each in predictions(jobs, moment, FREE)]


def test_only_what_ended_before_the_submission_is_known_on_line() -> None:
    """The second was submitted before the first ended, the third in the second of its end, the fourth after it."""
    jobs = [finished(submit, submit + 100, 10.0 + submit, str(submit)) for submit in (0, 50, 100, 101)]
    assert watts(jobs, at_submission) == [None, None, None, 10.0]


def test_a_job_of_no_length_does_not_learn_from_itself() -> None:
    """It ends in the second of its submission."""
    assert watts([finished(5, 5, 10.0)], at_submission) == [None]


def test_day_ahead_knows_what_ended_before_midnight_in_the_zone() -> None:
    """23:00 UTC is 0:00 in Rome: what ended at 22:59:59 is known to the whole day, what ended at midnight is not."""
    jobs = [
        finished(0, 82_799, 10.0, "1"),
        finished(0, 82_800, 50.0, "2"),
        finished(82_801, 99_999, 1.0, "3"),
        finished(82_800 + DAY - 1, 200_000, 1.0, "4"),
    ]
    assert watts(jobs, at_midnight("Europe/Rome")) == [None, None, 10.0, 10.0]


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_future_changes_no_prediction(moment: Moment) -> None:
    """Each prediction equals that of a model that was taught only the jobs that had ended; whatever drew what later."""
    draw = random.Random(3)
    jobs = []
    for k in range(300):
        submit = draw.randrange(6 * DAY)
        power, user = draw.uniform(1, 99), draw.choice("ab")
        jobs.append(finished(submit, submit + draw.randrange(DAY), power, str(k), cores=draw.choice((1, 2)), user=user))
    found = predictions(jobs, moment, FREE)
    assert sum(each is not None for each in found) > 200
    for job, each in zip(jobs, found, strict=True):
        known = learned_from(other for other in jobs if other.end_unix < moment(job))
        assert each == known.predict(job.asked)


def test_skipped_days_are_learned_from_but_not_counted() -> None:
    """Of two jobs on two days the second counts, and it is predicted by the first: 10 W for 12 W."""
    jobs = [finished(0, 10, 10.0, "1"), finished(DAY, DAY + 10, 12.0, "2")]
    lines = compared(jobs, zone="UTC", limits=FREE, constant=lambda _: 0.0, others={"none": lambda _: 0.0}, skip_days=1)
    assert [(line.predictor, line.level, line.errors.jobs, line.errors.mae_w) for line in lines] == [
        ("learned, on-line", "", 1, 2.0),
        ("learned, day-ahead", "", 1, 2.0),
        ("none", "", 1, 12.0),
        ("learned, on-line", "size", 1, 2.0),
        ("learned, day-ahead", "size", 1, 2.0),
    ]


def test_jobs_of_which_nothing_is_known_count_with_the_constant() -> None:
    """The first job of all is predicted by the constant, and the line by level says so."""
    lines = compared([finished(0, 10, 10.0)], zone="UTC", limits=FREE, constant=lambda _: 7.0, others={}, skip_days=0)
    assert [(line.level, line.errors.mae_w) for line in lines[:1] + lines[2:3]] == [
        ("", 3.0),
        ("the constant: nothing known", 3.0),
    ]
