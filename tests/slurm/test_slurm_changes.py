"""Which begin times are proposed, and why others are refused."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from planner.domain.job import Promise
from planner.domain.result import Hold
from planner.inputs.slurm.job import SlurmJob
from planner.slurm.choose_changes import ChangeRules, OptIn, Proposal, Refusal, propose
from planner.slurm.journal import JOURNAL, Change, Entry, Ours, when
from planner.slurm.planned_holds import Wanted
from planner.slurm.send_changes import plan_changes
from tests.slurm.queued import HOUR, NOW, queue_of, waiting

BATCH = ChangeRules(OptIn(partitions=frozenset({"batch"})))
LATER = NOW + 2 * HOUR
PAST_WAITING = ("RUNNING", "COMPLETED", "SUSPENDED", "CANCELLED")


def proposed(
    *jobs: SlurmJob,
    wanted: dict[str, int] | None = None,
    rules: ChangeRules = BATCH,
    ours: Ours | None = None,
    latest: int | None = None,
) -> Proposal:
    """What is proposed for these jobs; by default job 42 is wanted in two hours."""
    wanted = {"42": LATER} if wanted is None else wanted
    holds = {} if latest is None else {"42": Hold("42", NOW, wanted["42"], latest, 1.0, 0.1)}
    return propose(wanted, queue_of(*jobs), rules, ours or Ours(), NOW, holds)


def refused(*jobs: SlurmJob, **more: object) -> str:
    """The one reason for which everything is refused."""
    proposal = proposed(*jobs, **more)  # type: ignore[arg-type]
    assert proposal.changes == proposal.unchanged == ()
    (refusal,) = proposal.refusals
    return refusal.reason


def test_a_waiting_job_is_moved_with_its_old_value_noted() -> None:
    """The change has id, submit time, and the begin time before and after."""
    job = waiting()
    assert proposed(job) == Proposal((Change("42", job.submit_unix, job.begin_unix, LATER),), (), ())


def test_a_job_that_is_not_eligible_yet_has_no_old_value() -> None:
    """A dependent job can be moved too."""
    assert proposed(waiting(begin_unix=None)).changes[0].old_unix is None


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        *((waiting(state=each), f"already started or ended ({each})") for each in PAST_WAITING),
        (waiting("43"), "not in the queue"),
        (waiting(held=True), "held"),
        (waiting(het_job_id=42), "a part of a heterogeneous job, whose parts must begin together"),
        # Nobody knows how long the job takes.
        (waiting(deadline_unix=LATER, limit_s=None), f"has a deadline ({when(LATER)}) and no time limit"),
        # Its deadline may have been moved forward after its begin was set.
        (
            waiting(begin_unix=LATER, deadline_unix=LATER),
            f"too near to its deadline: it must begin by {when(LATER - HOUR)}, or Slurm cancels it",
        ),
    ],
)
def test_a_job_that_may_not_be_held_is_refused_with_the_reason(job: SlurmJob, reason: str) -> None:
    """Whoever has started, is gone, is held by somebody, begins with others, or would be cancelled, stays as it is."""
    assert refused(job) == reason


@pytest.mark.parametrize(
    "job_id", ["", "0", "042", "42 Name=x", "42\n", "42_", "_1", "4_2_1", "42_1x", "٤٢", "$(x)", "-1"]
)
def test_only_job_ids_are_taken(job_id: str) -> None:
    """Anything but digits, or digits_digits, is refused before it is looked up."""
    assert refused(waiting(), wanted={job_id: LATER}) == "not a Slurm job id"


@pytest.mark.parametrize(
    ("opt_in", "covered"),
    [
        (OptIn(), False),
        (OptIn(partitions=frozenset({"batch", "gpu"})), True),
        (OptIn(partitions=frozenset({"batch"})), False),
        (OptIn(qos=frozenset({"flexible"})), True),
        (OptIn(qos=frozenset({"normal"})), False),
        (OptIn(comment_words=frozenset({"shift"})), True),
        (OptIn(comment_words=frozenset({"shif"})), False),
        (OptIn(comment_words=frozenset({""})), False),
    ],
)
def test_a_job_must_be_opted_in(opt_in: OptIn, covered: bool) -> None:
    """By all of its partitions, by its QOS, or by a whole word of its comment."""
    job = waiting(partitions=("batch", "gpu"), qos="flexible", comment="power_w=300;shift, x")
    assert bool(proposed(job, rules=ChangeRules(opt_in)).changes) is covered
    if not covered:
        assert refused(job, rules=ChangeRules(opt_in)) == "not opted in by partition, QOS or comment"


def test_only_future_times_are_sent() -> None:
    """The present second is past; the next is not."""
    assert refused(waiting(), wanted={"42": NOW}) == "its hold was over at 2027-01-15T08:00:00Z"
    assert proposed(waiting(), wanted={"42": NOW + 1}).changes


def test_a_job_that_is_no_longer_wanted_is_released_whatever_the_reason() -> None:
    """Not held any more, its hold over, opted out, held by its user: with the begin that it had, or at once."""
    key = ("42", NOW - HOUR)
    ours = Ours({key: Entry(None, (LATER,))})
    let_go = Change("42", key[1], LATER, NOW, at_once=True, is_release=True)
    job = waiting(begin_unix=LATER)
    for wanted in ({}, {"42": NOW - 1}):
        assert proposed(job, wanted=wanted, ours=ours).changes == (let_go,)
    assert proposed(job, rules=ChangeRules(OptIn()), ours=ours).changes == (let_go,)
    assert proposed(replace(job, held=True), ours=ours).changes == (let_go,)
    back = replace(let_go, new_unix=NOW + 60, at_once=False)
    assert proposed(job, wanted={}, ours=Ours({key: Entry(NOW + 60, (LATER,))})).changes == (back,)


def test_what_is_not_ours_is_never_released() -> None:
    """Its user's own begin, one that somebody has set since, and one of ours that has come."""
    key = ("42", NOW - HOUR)
    job = waiting(begin_unix=LATER)
    assert proposed(job, wanted={}) == Proposal((), (), ())
    assert proposed(job, wanted={}, ours=Ours({key: Entry(None, (LATER - 1,))})).changes == ()
    come = waiting(begin_unix=NOW)
    assert proposed(come, wanted={}, ours=Ours({key: Entry(None, (NOW,))})) == Proposal((), (), ())


def test_a_mistake_in_the_unit_is_refused() -> None:
    """Milliseconds would put a job off for ever."""
    assert refused(waiting(), wanted={"42": LATER * 1000}) == "more than a year ahead"


def test_a_hold_keeps_an_hour_or_a_tenth_of_the_limit_from_a_deadline() -> None:
    """Limit 1 h: an hour before the last begin; limit 20 h: two hours. Slurm cancels who begins too late."""
    for limit_h, margin_h in ((1, 1), (20, 2)):
        job = waiting(limit_s=limit_h * HOUR, deadline_unix=NOW + 40 * HOUR)
        last = NOW + (40 - limit_h - margin_h) * HOUR
        assert proposed(job, wanted={"42": last}).changes
        assert "too near to its deadline: it must begin by" in refused(job, wanted={"42": last + 1})
        rules = ChangeRules(BATCH.opt_in, furthest_s=last - NOW)
        assert rules.may_hold(job, NOW)
        assert not rules.may_hold(job, NOW + 1)


def test_never_before_the_user_s_own_begin() -> None:
    """The very time, or a later one, is fine."""
    job = waiting(begin_unix=LATER)
    assert "its user lets it begin" in refused(job, wanted={"42": LATER - 1})
    assert proposed(job).unchanged == ("42",)
    assert proposed(job, wanted={"42": LATER + 1}).changes


def test_a_begin_time_of_ours_may_be_moved_forward() -> None:
    """What the journal knows as ours is not the user's; his own time from before it still counts."""
    job = waiting(begin_unix=LATER)
    key = ("42", job.submit_unix)
    earlier = {"42": NOW + 60}
    assert proposed(job, wanted=earlier, ours=Ours({key: Entry(NOW - HOUR, (LATER,))})).changes
    assert proposed(job, wanted=earlier, ours=Ours({key: Entry(NOW + 60, (LATER,))})).changes
    own = proposed(job, wanted=earlier, ours=Ours({key: Entry(NOW + 61, (LATER,))}))
    assert "its user" in own.refusals[0].reason
    assert [(each.new_unix, each.is_release) for each in own.changes] == [(NOW + 61, True)]
    other = proposed(job, wanted=earlier, ours=Ours({key: Entry(None, (LATER - 1,))}))
    assert (other.changes, "its user" in other.refusals[0].reason) == ((), True)
    assert "its user" in refused(job, wanted=earlier, ours=Ours({("42", 1): Entry(None, (LATER,))}))


def test_what_is_so_already_is_not_sent() -> None:
    """To the second."""
    assert proposed(waiting(begin_unix=LATER)) == Proposal((), (), ("42",))
    key = ("42", NOW - HOUR)
    moved = proposed(waiting(begin_unix=LATER + 1), ours=Ours({key: Entry(None, (LATER + 1,))}))
    assert [change.new_unix for change in moved.changes] == [LATER]


def test_a_job_is_not_held_for_longer_than_promised() -> None:
    """To the second; what the journal has of an earlier hold counts as well."""
    assert proposed(waiting(), latest=LATER).changes
    why = f"would be held for longer than its user was promised, {when(LATER - 1)}"
    assert refused(waiting(), latest=LATER - 1) == why
    earlier = Ours(promises={("42", NOW - HOUR): Promise(NOW - HOUR, LATER - 1)})
    assert refused(waiting(), latest=LATER, ours=earlier) == why


def test_an_array_stands_for_all_its_waiting_tasks() -> None:
    """Those together and those by themselves; the whole array comes first, running tasks are passed over."""
    jobs = (waiting("42_3"), waiting("42_1", state="RUNNING"), waiting("42", tasks=tuple(range(4, 10))))
    assert [change.job for change in proposed(*jobs).changes] == ["42", "42_3"]
    assert refused(waiting("42_1", state="RUNNING")) == "already started or ended (RUNNING)"


def test_one_task_refuses_for_its_array() -> None:
    """What is sent for an array reaches all its tasks."""
    together, held = waiting("42", tasks=tuple(range(4, 10))), waiting("42_3", held=True)
    assert refused(together, held) == refused(held, together) == "held"


def test_tasks_that_are_so_already_are_not_sent_with_their_array() -> None:
    """The others are, and the array is unchanged only when all its tasks are."""
    jobs = (waiting("42", tasks=tuple(range(4, 10))), waiting("42_3", begin_unix=LATER))
    proposal = proposed(*jobs)
    assert ([change.job for change in proposal.changes], proposal.unchanged) == (["42"], ())


@pytest.mark.parametrize(("task", "found"), [(4, True), (7, True), (6, False), (8, False), (20, True), (21, False)])
def test_a_task_is_found_in_its_array(task: int, found: bool) -> None:
    """And one that is not among those that wait is not."""
    proposal = proposed(waiting("42", tasks=(1, 2, 3, 4, 5, 7, 20)), wanted={f"42_{task}": LATER})
    assert [change.job for change in proposal.changes] == ([f"42_{task}"] if found else [])
    assert bool(proposal.refusals) is not found


def test_an_array_and_its_tasks_are_not_moved_at_once() -> None:
    """Nobody could tell which start is meant; other jobs go on."""
    jobs = (waiting("42", tasks=tuple(range(1, 10))), waiting("7"))
    proposal = proposed(*jobs, wanted={"42": LATER, "42_3": LATER, "7": LATER})
    assert [refusal.job for refusal in proposal.refusals] == ["42", "42_3"]
    assert all("name one or the other" in refusal.reason for refusal in proposal.refusals)
    assert [change.job for change in proposal.changes] == ["7"]


def test_the_order_of_what_is_wanted_does_not_matter() -> None:
    """Jobs come by number, arrays before tasks."""
    jobs = (waiting("9"), waiting("10"), waiting("8_1"), waiting("8_2", state="RUNNING"))
    forward = {"10": LATER, "9": LATER, "8_1": LATER, "x": LATER, "8_2": LATER}
    backward = dict(reversed(forward.items()))
    assert proposed(*jobs, wanted=forward) == proposed(*jobs, wanted=backward)
    assert [change.job for change in proposed(*jobs, wanted=forward).changes] == ["9", "10", "8_1"]
    assert proposed(*jobs, wanted=forward).refusals[0] == Refusal("x", "not a Slurm job id")


def test_a_job_says_that_it_is_held_from_the_first_time_on(tmp_path: Path) -> None:
    """Its comment goes to Slurm together with the begin time, not with the next run."""
    now = int(time.time())
    job = waiting(submit_unix=now - HOUR, begin_unix=now - HOUR)
    hold = Hold("42", now, now + 2 * HOUR, now + 6 * HOUR, 1.0, 0.1)
    wanted = Wanted({"42": hold}, {"42": hold.until_unix}, BATCH, now + 24 * HOUR, tell="comment")
    found = plan_changes(queue_of(job), wanted, tmp_path / JOURNAL)
    assert [each.new_unix for each in found.changes] == [hold.until_unix]
    (line,) = found.comments
    assert line.startswith("update JobId=42 Comment=held-until=2")
