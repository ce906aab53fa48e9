"""The journal and what can be undone by it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from planner.domain.job import Promise
from planner.domain.result import Hold
from planner.errors import FileFormatError, OutputError
from planner.slurm.choose_changes import Proposal, propose_undo
from planner.slurm.journal import (
    Change,
    Entry,
    Ours,
    forget_old,
    read_ours,
    saved_since,
    write_changes,
    write_results,
)
from tests.slurm.queued import HOUR, NOW, queue_of, waiting

SUBMIT = NOW - HOUR
KEY = ("42", SUBMIT)
HELD = f'{{"kind": "set", "at": {NOW}, "job": "42", "submit": {SUBMIT}, "old": null, "new": {NOW}, "saved": 1.0}}'


def change(old: int | None, new: int, job: str = "42") -> Change:
    """One change of a job that was submitted an hour ago."""
    return Change(job, SUBMIT, old, new)


def journal_of(folder: Path, *changes: Change) -> Path:
    """A journal of changes, each sent by itself."""
    path = folder / "journal.jsonl"
    for each in changes:
        write_changes(path, [each], NOW)
    return path


def test_no_journal_is_no_change_of_ours(tmp_path: Path) -> None:
    """The first run finds none."""
    assert read_ours(tmp_path / "none") == Ours()


def test_lines_have_old_and_new_values(tmp_path: Path) -> None:
    """One JSON object per line, as documented."""
    path = journal_of(tmp_path, change(None, NOW + 5))
    write_results(path, [(change(None, NOW + 5), False, "gone")], NOW + 1)
    assert [json.loads(line) for line in path.read_text("utf-8").splitlines()] == [
        {"kind": "set", "at": NOW, "job": "42", "submit": SUBMIT, "old": None, "new": NOW + 5},
        {
            "kind": "result",
            "at": NOW + 1,
            "job": "42",
            "submit": SUBMIT,
            "new": NOW + 5,
            "taken": False,
            "note": "gone",
        },
    ]


def test_the_journal_is_on_the_disk_before_it_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """File and folder are flushed, after the text is there."""
    sizes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: sizes.append(os.fstat(handle).st_size))
    path = journal_of(tmp_path, change(None, NOW + 5))
    assert sizes[0] == path.stat().st_size > 0
    assert len(sizes) == 2


def test_the_value_before_the_first_of_ours_is_kept(tmp_path: Path) -> None:
    """Old 1, then ours 100 and 200: undo leads to 1."""
    path = journal_of(tmp_path, change(1, 100), change(100, 200))
    assert read_ours(path).entries == {KEY: Entry(1, (100, 200))}
    write_changes(path, [change(200, 100)], NOW)
    assert read_ours(path).entries == {KEY: Entry(1, (200, 100))}


def test_a_value_that_somebody_else_has_set_becomes_the_old_one(tmp_path: Path) -> None:
    """Ours 100, then the user's 150, then ours 200: undo leads to 150, and 100 is no longer ours."""
    path = journal_of(tmp_path, change(1, 100), change(150, 200))
    assert read_ours(path).entries == {KEY: Entry(150, (200,))}


def test_a_time_that_was_not_taken_leaves_the_one_before_ours(tmp_path: Path) -> None:
    """The run that sent 200 was killed: whether the job has 100 or 200, it is ours and leads to 1."""
    ours = read_ours(journal_of(tmp_path, change(1, 100), change(100, 200)))
    for begin in (100, 200):
        assert ours.own_begin(waiting(begin_unix=begin)) == 1
    assert ours.own_begin(waiting(begin_unix=300)) == 300


def test_a_task_has_what_was_set_for_its_array(tmp_path: Path) -> None:
    """Also when it is moved by itself afterwards."""
    path = journal_of(tmp_path, change(1, 100))
    assert read_ours(path).own_begin(waiting("42_5", begin_unix=100)) == 1
    write_changes(path, [change(100, 200, "42_5")], NOW)
    assert read_ours(path).entries["42_5", SUBMIT] == Entry(1, (100, 200))


def test_another_job_with_the_same_id_is_not_ours(tmp_path: Path) -> None:
    """The submit time tells them apart."""
    ours = read_ours(journal_of(tmp_path, change(1, NOW + 100)))
    reused = waiting(begin_unix=NOW + 100, submit_unix=SUBMIT + 1)
    assert ours.own_begin(reused) == NOW + 100
    assert propose_undo(queue_of(reused), ours, NOW) == Proposal((), (), ())


@pytest.mark.parametrize(("taken", "left"), [(True, {}), (False, {KEY: Entry(1, (100,))})])
def test_what_was_undone_is_no_longer_ours(tmp_path: Path, taken: bool, left: dict[tuple[str, int], Entry]) -> None:
    """Only once Slurm has taken it."""
    path = journal_of(tmp_path, change(1, 100))
    release = replace(change(100, 1), is_release=True)
    write_changes(path, [release], NOW)
    assert KEY in read_ours(path).entries
    write_results(path, [(release, taken, "")], NOW)
    assert read_ours(path).entries == left


def test_a_line_without_its_end_is_dropped(tmp_path: Path) -> None:
    """A run was killed as it wrote: it is not read, and the next line is not lost with it."""
    path = journal_of(tmp_path, change(1, 100), change(1, 300, "43"))
    whole = path.read_bytes()
    for cut in range(whole.index(b"\n") + 1, len(whole)):
        path.write_bytes(whole[:cut])
        assert read_ours(path).entries == {KEY: Entry(1, (100,))}
        write_changes(path, [change(1, 300, "44")], NOW)
        assert set(read_ours(path).entries) == {KEY, ("44", SUBMIT)}


def test_a_journal_of_one_unfinished_line_is_empty(tmp_path: Path) -> None:
    """The first run ever was killed as it wrote."""
    path = tmp_path / "journal.jsonl"
    path.write_text('{"kind": "set", "a', encoding="utf-8")
    assert read_ours(path) == Ours()
    write_changes(path, [change(1, 100)], NOW)
    assert read_ours(path).entries == {KEY: Entry(1, (100,))}


@pytest.mark.parametrize("line", ["x", "{}", "[]", '{"kind": "other", "job": "1", "submit": 1}', "null", '"kind"'])
def test_a_file_that_is_no_journal_is_refused(tmp_path: Path, line: str) -> None:
    """With the number of the line."""
    path = journal_of(tmp_path, change(1, 100))
    with path.open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    with pytest.raises(FileFormatError, match=r"journal\.jsonl:2: not a line of a journal"):
        read_ours(path)


def test_reservations_of_an_earlier_version_are_passed_over(tmp_path: Path) -> None:
    """Their lines stand between others in journals that are kept; begin times can be undone all the same."""
    path = tmp_path / "journal.jsonl"
    write_changes(path, [Change("42", NOW - HOUR, None, NOW)], NOW)
    ours = read_ours(path)
    held = {"nodes": "n[1-4]", "user": "ann", "start": NOW, "end": NOW + HOUR}
    line = {"kind": "reserve", "at": NOW, "job": "42", "submit": NOW - HOUR, "name": "plan-42", "old": None}
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({**line, "new": held}) + "\n")
        stream.write(json.dumps({**line, "kind": "reserved", "new": held, "taken": True, "note": ""}) + "\n")
    assert read_ours(path) == ours


def test_a_journal_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """Nothing is sent then: the caller never gets that far."""
    with pytest.raises(OutputError, match="the journal cannot be written"):
        write_changes(tmp_path, [change(1, 100)], NOW)


def test_undo_gives_back_times_to_come_and_lets_go_where_they_have_passed() -> None:
    """42 goes back to its user's time; 43 had begun to wait already and 44 had no time: both may begin at once."""
    ours = Ours(
        {
            KEY: Entry(NOW + 60, (NOW + 100,)),
            ("43", SUBMIT): Entry(NOW, (NOW + 100,)),
            ("44", SUBMIT): Entry(None, (NOW + 100,)),
        }
    )
    jobs = [waiting(each, begin_unix=NOW + 100) for each in ("42", "43", "44")]
    assert propose_undo(queue_of(*jobs), ours, NOW).changes == (
        Change("42", SUBMIT, NOW + 100, NOW + 60, at_once=False, is_release=True),
        Change("43", SUBMIT, NOW + 100, NOW, at_once=True, is_release=True),
        Change("44", SUBMIT, NOW + 100, NOW, at_once=True, is_release=True),
    )


def test_undo_leaves_jobs_that_have_started_and_those_of_others() -> None:
    """Neither is sent; the waiting one that was changed since is named."""
    ours = Ours({KEY: Entry(1, (NOW + 100,)), ("43", SUBMIT): Entry(1, (NOW + 100,))})
    jobs = (waiting(state="RUNNING", begin_unix=NOW + 100), waiting("43", begin_unix=NOW + 101), waiting("44"))
    proposal = propose_undo(queue_of(*jobs), ours, NOW)
    assert proposal.changes == ()
    assert [refusal.job for refusal in proposal.refusals] == ["43"]


def test_undo_has_nothing_to_say_of_a_job_without_a_begin_time() -> None:
    """Slurm has forgotten ours, as that has come and the job waits for another one: nothing holds it."""
    ours = Ours({KEY: Entry(1, (NOW - 100,))})
    assert propose_undo(queue_of(waiting(begin_unix=None)), ours, NOW) == Proposal((), (), ())


def test_undo_does_not_move_tasks_that_others_have_changed() -> None:
    """What is sent for an array would reach them; with all tasks ours, the array goes first and they follow."""
    ours = Ours({KEY: Entry(NOW + 1, (NOW + 100,)), ("42_2", SUBMIT): Entry(NOW + 2, (NOW + 100,))})
    together = waiting("42", tasks=tuple(range(3, 10)), begin_unix=NOW + 100)
    proposal = propose_undo(queue_of(waiting("42_1", begin_unix=NOW + 7), together), ours, NOW)
    assert [refusal.job for refusal in proposal.refusals] == ["42_1", "42"]
    assert proposal.changes == ()
    proposal = propose_undo(queue_of(waiting("42_2", begin_unix=NOW + 100), together), ours, NOW)
    assert [(each.job, each.new_unix) for each in proposal.changes] == [("42", NOW + 1), ("42_2", NOW + 2)]
    jobs = (waiting("42_1", begin_unix=NOW + 7), waiting("42_2", begin_unix=NOW + 100))
    assert [each.job for each in propose_undo(queue_of(*jobs), ours, NOW).changes] == ["42_2"]


def test_undo_passes_over_tasks_that_run() -> None:
    """A task that has started without us is not moved with its array."""
    ours = Ours({("42", NOW - HOUR): Entry(None, (NOW + HOUR,))})
    together = waiting("42", tasks=(4, 5), begin_unix=NOW + HOUR)
    queue = queue_of(waiting("42_1", state="RUNNING", begin_unix=NOW - 5), together)
    assert [change.job for change in propose_undo(queue, ours, NOW).changes] == ["42"]


def test_a_promise_outlives_its_hold_and_never_gets_later(tmp_path: Path) -> None:
    """Held, released, held again with later moments: what was told first counts, also for a task of the array."""
    first = replace(change(None, NOW + 100), hold=Hold("42", NOW, NOW + 100, NOW + 500, 1.0, 0.1))
    path = journal_of(tmp_path, first)
    release = replace(change(NOW + 100, NOW), is_release=True)
    write_changes(path, [release], NOW + 10)
    write_results(path, [(release, True, "")], NOW + 10)
    later = replace(first, hold=Hold("42", NOW + 50, NOW + 300, NOW + 550, 1.0, 0.1))
    write_changes(path, [later], NOW + 50)
    ours = read_ours(path)
    assert ours.promise("42", SUBMIT) == ours.promise("42_7", SUBMIT) == Promise(NOW, NOW + 500)
    assert ours.held_since("42_7", SUBMIT) == NOW
    assert ours.promise("42", SUBMIT + 1) is None
    assert ours.held_since("43", SUBMIT) is None


def held(job: str, until: int, saved: float) -> Change:
    """A hold with what it saves."""
    return replace(change(None, until, job), hold=Hold(job, NOW, until, until, saved, 0.0))


def test_what_was_saved_is_that_of_holds_that_ended_by_themselves(tmp_path: Path) -> None:
    """Not those that go on, were taken back, or that Slurm did not take; of one that was moved, the last."""
    path = journal_of(tmp_path, held("1", NOW + 10, 1.0), held("2", NOW + 20, 2.0), held("2", NOW + 30, 4.0))
    write_changes(path, [back := held("3", NOW + 10, 8.0), other := held("4", NOW + 10, 16.0)], NOW)
    write_results(path, [(replace(back, is_release=True, hold=None), True, ""), (other, False, "no")], NOW)
    for since, now, saved in ((0, 9, 0), (0, 10, 1), (0, 29, 1), (0, 30, 5), (11, 30, 4), (31, 99, 0)):
        assert saved_since(path, NOW + since, NOW + now) == saved


def test_a_journal_forgets_jobs_that_are_long_over(tmp_path: Path) -> None:
    """All lines of a job that still waits stay, whatever their age; nothing happens before there is a day of them."""
    path = tmp_path / "journal.jsonl"
    day = 86_400
    for age, job in ((40, "1"), (40, "2"), (36, "3"), (1, "4")):
        write_changes(path, [held(job, NOW, 1.0)], NOW - age * day)
    assert forget_old(path, {("2", SUBMIT)}, NOW - 5 * day) == 0
    assert forget_old(path, {("2", SUBMIT)}, NOW) == 2
    assert path.stat().st_mode & 0o777 == 0o600
    assert [job for job, _ in read_ours(path).entries] == ["2", "4"]
    assert forget_old(path, {("2", SUBMIT)}, NOW) == 0
    assert forget_old(tmp_path / "none", set(), NOW) == 0


@pytest.mark.parametrize("line", ['"x"', "5", "[]", '{"kind": "set"}', "[" * 100_000, HELD.replace("1.0", "NaN"),
                                  HELD.replace("1.0", '"much"'), HELD.replace('"42"', "42")])  # fmt: skip
def test_a_line_that_is_none_is_refused(tmp_path: Path, line: str) -> None:
    """Whoever reads the journal: one line says which of its lines is not one."""
    path = tmp_path / "journal.jsonl"
    path.write_text(f"{HELD}\n{line}\n")
    for read in (read_ours, lambda each: saved_since(each, 0, NOW), lambda each: forget_old(each, set(), NOW + 10**7)):
        with pytest.raises(FileFormatError, match=r"journal\.jsonl:2: not a line of a journal"):
            read(path)


def test_lines_of_reservations_are_passed_over(tmp_path: Path) -> None:
    """Earlier versions wrote them; they have no job."""
    path = tmp_path / "journal.jsonl"
    path.write_text(f'{{"kind": "reserve", "at": 5}}\n{HELD}\n')
    assert len(read_ours(path).entries) == 1
    assert saved_since(path, 0, NOW) == 1
