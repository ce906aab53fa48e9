"""Which holds of a plan go to Slurm: arrays as a whole, and never so that a younger equal job passes."""

from __future__ import annotations

from planner.domain.result import Hold
from planner.inputs.slurm.job import SlurmJob
from planner.slurm.choose_changes import ChangeRules, OptIn
from planner.slurm.journal import Ours
from planner.slurm.planned_holds import Wanted, holds_of
from tests.slurm.queued import HOUR, NOW, queue_of, waiting

RULES = ChangeRules(OptIn(partitions=frozenset({"batch"})))
DELAY_S = 6 * HOUR


def held(job: str, until: int, reference: int = NOW) -> Hold:
    """A hold of a job that could start now."""
    return Hold(job, reference, until, reference + DELAY_S, 1.0, 0.1)


def found(
    *jobs: SlurmJob, holds: dict[str, int], starts: dict[str, int] | None = None, ours: Ours | None = None
) -> tuple[dict[str, int], dict[str, str]]:
    """Until when jobs and arrays are held, and why others are not; hours from now."""
    wanted = Wanted(
        {job: held(job, NOW + hours * HOUR) for job, hours in holds.items()},
        {job.label: NOW for each in jobs for job in each.one_by_one()}
        | {job: NOW + hours * HOUR for job, hours in (starts or {}).items()},
        RULES,
        NOW + 24 * HOUR,
    )
    ends, refusals = holds_of(wanted, queue_of(*jobs), ours or Ours(), NOW)
    return {name: (hold.until_unix - NOW) // HOUR for name, hold in ends.items()}, {
        each.job: each.reason for each in refusals
    }


def of(name: str, age_s: int = 0, **more: object) -> SlurmJob:
    """A job of Alice that was submitted so long after the others."""
    return waiting(name, **{"user": "alice", "submit_unix": NOW - HOUR + age_s, **more})  # type: ignore[arg-type]


def test_a_hold_goes_as_it_is() -> None:
    assert found(of("42"), of("43", user="bob"), holds={"42": 3}) == ({"42": 3}, {})


def test_an_array_is_held_as_a_whole_until_its_first_task_starts() -> None:
    """Not at all where a task of it starts now; a task that waits for room by then counts with its start."""
    array = of("42", tasks=(1, 2, 3))
    assert found(array, holds={"42_1": 3, "42_2": 5, "42_3": 4})[0] == {"42": 3}
    assert found(array, holds={"42_1": 3, "42_2": 5}, starts={"42_3": 2})[0] == {"42": 2}
    ends, reasons = found(array, holds={"42_1": 3, "42_2": 5})
    assert ends == {}
    assert "one of its tasks is not held" in reasons["42"]


def test_one_task_that_must_not_be_held_speaks_for_its_array() -> None:
    parts = (of("42", tasks=(1, 2)), of("42_3", held=True))
    ends, reasons = found(*parts, holds={"42_1": 3, "42_2": 3}, starts={"42_3": 9})
    assert (ends, reasons) == ({}, {"42": "held"})


def test_holds_of_equal_jobs_end_in_the_order_of_their_age() -> None:
    """The older takes the earlier hour; another user's, and another kind of job, are not touched."""
    jobs = (of("42"), of("43", 1), of("44", 2, user="bob"), of("45", 3, limit_s=7))
    assert found(*jobs, holds={"42": 5, "43": 3, "44": 2, "45": 1})[0] == {"42": 3, "43": 5, "44": 2, "45": 1}


def test_no_younger_equal_job_passes() -> None:
    """One that is not held takes older ones with it: to its start, or to none at all."""
    jobs = (of("42"), of("43", 1), of("44", 2))
    assert found(*jobs, holds={"42": 3, "43": 4}, starts={"44": 2})[0] == {"42": 2, "43": 2}
    ends, reasons = found(*jobs, holds={"42": 3, "44": 4})
    assert ends == {"44": 4}
    assert reasons["42"] == "job 43, equal, younger and of the same user, would start before it"
    assert found(*jobs, holds={"43": 3, "44": 4})[0] == {"43": 3, "44": 4}


def test_a_job_is_not_sent_the_moment_at_which_it_could_start() -> None:
    """It waits for room until then, which may come sooner: 42 would be held until 43 starts, and could start no sooner
    itself. 41, older still, could start now, and is held until then. So with the tasks of an array."""
    jobs = (of("41"), of("42", 1), of("43", 2))
    holds = {"41": held("41", NOW + 5 * HOUR), "42": held("42", NOW + 5 * HOUR, NOW + HOUR)}
    wanted = Wanted(holds, {"41": NOW, "42": NOW + HOUR, "43": NOW + HOUR}, RULES, NOW + 24 * HOUR)
    ends, refusals = holds_of(wanted, queue_of(*jobs), Ours(), NOW)
    assert {name: hold.until_unix for name, hold in ends.items()} == {"41": NOW + HOUR}
    assert [each.job for each in refusals] == ["42"]
    holds = {"42_1": held("42_1", NOW + 5 * HOUR, NOW + HOUR)}
    wanted = Wanted(holds, {"42_1": NOW + HOUR, "42_2": NOW + HOUR}, RULES, NOW + 24 * HOUR)
    assert holds_of(wanted, queue_of(of("42", tasks=(1, 2))), Ours(), NOW)[0] == {}


def test_no_younger_array_passes_either() -> None:
    assert found(of("42"), of("43", 1, tasks=(1, 2)), holds={"42": 3})[0] == {}
    assert found(of("42", tasks=(1, 2)), of("43", 1), holds={"42_1": 3, "42_2": 3}, starts={"43": 1})[0] == {"42": 1}


def test_a_job_that_was_passed_since_it_was_held_is_let_go() -> None:
    """By an equal younger one that has started; not by one that ran before, or that is older."""
    job = of("42", 10)
    ours = Ours(since={("42", job.submit_unix): NOW - 600})
    for other, passes in (
        (of("43", 20, state="RUNNING", start_unix=NOW - 60), True),
        (of("43", 20, state="RUNNING", start_unix=NOW - 700), False),
        (of("41", 5, state="RUNNING", start_unix=NOW - 60), False),
        (of("43", 20, state="RUNNING", start_unix=NOW - 60, user="bob"), False),
    ):
        ends, _ = found(job, other, holds={"42": 3}, ours=ours)
        assert (ends == {}) is passes, other


def test_nobody_is_held_beyond_the_promise_by_changing_places() -> None:
    """The younger one would get the later hour, which is after its promise: both end by that."""
    jobs = (of("42"), of("43", 1))
    wanted = Wanted(
        {"42": held("42", NOW + 5 * HOUR), "43": held("43", NOW + 3 * HOUR, NOW - 2 * HOUR)},
        {"42": NOW, "43": NOW},
        RULES,
        NOW + 24 * HOUR,
    )
    ends, _ = holds_of(wanted, queue_of(*jobs), Ours(), NOW)
    assert {name: hold.until_unix for name, hold in ends.items()} == {"42": NOW + 3 * HOUR, "43": NOW + 4 * HOUR}


def test_a_job_that_is_gone_is_left_to_be_told() -> None:
    """Its hold is passed on, so that it is looked for."""
    assert found(of("43"), holds={"42": 3})[0] == {"42": 3}
