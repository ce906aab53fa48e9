"""How commands are run, and how the queue's JSON is read: without a Slurm."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.errors import SlurmError
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.json_document import DocumentAnswer
from planner.inputs.slurm.queue import read_queue
from planner.slurm import commands, send_changes
from planner.slurm.choose_changes import ChangeOutcome, Proposal
from planner.slurm.commands import Slurm, queue_now
from planner.slurm.journal import Change, when
from tests.slurm.queued import NOW

OLD = {
    "job_id": 42,
    "array_job_id": 0,
    "array_task_id": None,
    "array_task_string": "",
    "job_state": "PENDING",
    "submit_time": 100,
    "eligible_time": 200,
    "start_time": 300,
    "priority": 1,
    "het_job_id": 0,
    "partition": "batch",
    "qos": "normal",
    "comment": "flexible",
    "time_limit": 60,
    "deadline": 0,
}
"""A record of Slurm 22.05."""


def carry_out(slurm: Slurm, changes: Sequence[Change], journal: Path, **more: Any) -> list[ChangeOutcome]:
    """Send changes, without comments."""
    return send_changes.carry_out(slurm, Proposal(tuple(changes), (), ()), journal, **more)


def number(value: int | None, *, infinite: bool = False) -> dict[str, object]:
    """A number as Slurm 24.11 and 26.05 write it."""
    return {"set": value is not None, "infinite": infinite, "number": value or 0}


NEW = {
    **OLD,
    "job_state": ["PENDING"],
    "array_task_id": number(None),
    "hold": False,
    **{name: number(OLD[name]) for name in ("array_job_id", "submit_time", "eligible_time", "start_time", "priority")},  # type: ignore[arg-type]
    **{name: number(OLD[name]) for name in ("het_job_id", "time_limit", "deadline")},  # type: ignore[arg-type]
}


def only(record: dict[str, object]) -> SlurmJob:
    """The job of a queue of one record."""
    (job,) = read_queue(DocumentAnswer("squeue", json.dumps({"jobs": [record]}).encode())).records
    return job


def command(folder: Path, name: str, script: str) -> Slurm:
    """Commands of which one is this shell script."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)
    return Slurm(folder=folder, timeout_s=20)


def test_both_kinds_of_json_say_the_same() -> None:
    """Plain numbers of 22.05, and the objects of later versions."""
    job = only(OLD)
    assert job == only(NEW)
    assert (job.record, job.array, job.tasks, job.state_words) == ("42", "", (), ("PENDING",))
    assert (job.submit_unix, job.begin_unix, job.start_unix) == (100, 200, None)
    assert (job.held, job.het_job_id, job.deadline_unix, job.limit_s) == (False, None, None, 3600)
    assert (job.partitions, job.qos, job.comment) == (("batch",), "normal", "flexible")


def test_unlimited_jobs_have_no_limit() -> None:
    """null, or infinite."""
    assert only({**OLD, "time_limit": None}).limit_s is None
    assert only({**NEW, "time_limit": number(0, infinite=True)}).limit_s is None


def test_held_jobs_are_known_by_their_priority_or_by_name() -> None:
    """Priority 0 in every version."""
    assert only({**OLD, "priority": 0}).held
    assert only({**NEW, "priority": number(0)}).held
    assert only({**NEW, "hold": True}).held


def test_arrays_and_their_tasks_have_ids_of_their_own() -> None:
    """The limit on tasks at once is not a part of their numbers; a task has the array's number in its id."""
    together = only({**OLD, "array_job_id": 42, "array_task_string": "1-10%2"})
    assert (together.record, together.array, together.tasks) == ("42", "42", tuple(range(1, 11)))
    alone = only({**NEW, "job_id": 50, "array_job_id": number(42), "array_task_id": number(0)})
    assert (alone.record, alone.array, alone.tasks) == ("42_0", "42", ())


def test_started_jobs_have_a_start() -> None:
    """What stands there for waiting jobs is Slurm's guess."""
    assert only({**OLD, "job_state": "RUNNING"}).start_unix == 300
    assert only({**NEW, "job_state": ["RUNNING", "COMPLETING"]}).state_text == "COMPLETING RUNNING"


def test_no_eligible_time_is_no_begin() -> None:
    """0 for dependent jobs and new ones."""
    assert only({**OLD, "eligible_time": 0}).begin_unix is None


@pytest.mark.parametrize("text", ["", "x", "[]", "{}", '{"jobs": [{}]}', '{"jobs": 3}', "null"])
def test_an_answer_that_is_no_queue_is_one_line(tmp_path: Path, text: str) -> None:
    """Whatever squeue says in the place of one."""
    with pytest.raises(SlurmError, match="no queue that can be read: squeue --all --json"):
        queue_now(command(tmp_path, "squeue", f"echo '{text}'"))


def test_the_dialect_that_is_known_best_is_asked_for_first(tmp_path: Path) -> None:
    """22.05 has no choice and refuses the option; later versions give what was asked for."""
    old = command(tmp_path / "old", "squeue", '[ "$2" = --json ] && echo plain')
    new = command(tmp_path / "new", "squeue", "echo chosen")
    assert old.ask_json("squeue", "--all") == DocumentAnswer("squeue --all --json", b"plain\n")
    assert new.ask_json("squeue", "--all") == DocumentAnswer("squeue --all --json=v0.0.42", b"chosen\n")


def test_moments_beyond_the_calendar_can_be_written() -> None:
    """Slurm takes any number for a time."""
    for unix in (10**12, 10**17, 10**30):
        assert when(unix) == str(unix)


def test_a_missing_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the place that was looked in, and exit code 8."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SlurmError, match="squeue is missing along PATH; install") as caught:
        queue_now(Slurm())
    assert caught.value.exit_code == 8
    with pytest.raises(SlurmError, match=f"squeue is missing in {tmp_path}"):
        queue_now(Slurm(folder=tmp_path))


def test_a_failing_command_gives_its_first_line_printable(tmp_path: Path) -> None:
    """No control characters, one line."""
    slurm = command(tmp_path, "squeue", r"printf '\n\033[31mred\nmore\n' >&2; exit 3")
    with pytest.raises(SlurmError) as caught:
        slurm.ask("squeue")
    assert str(caught.value) == r"squeue failed with status 3: \x1b[31mred"


def test_a_command_that_hangs_is_ended(tmp_path: Path) -> None:
    """After the time limit."""
    command(tmp_path, "squeue", "exec sleep 60")
    with pytest.raises(SlurmError, match=r"squeue did not answer within 0\.2 s"):
        Slurm(folder=tmp_path, timeout_s=0.2).ask("squeue")


def test_every_line_that_is_sent_has_time_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slurm may take seconds for each job of a long list; the limit is named as it is."""
    command(tmp_path, "scontrol", "sleep 1; cat")
    slurm = Slurm(tmp_path, timeout_s=0.2)
    assert slurm.run("scontrol", stdin="update a\nupdate b\n").output == b"update a\nupdate b\n"
    monkeypatch.setattr(commands, "SECONDS_PER_LINE", 0.1)
    with pytest.raises(SlurmError, match=r"scontrol did not answer within 0\.4 s"):
        slurm.run("scontrol", stdin="update a\nupdate b\n")


def test_a_file_that_is_no_program_is_one_line(tmp_path: Path) -> None:
    """Such as a command for another processor."""
    slurm = command(tmp_path, "squeue", "")
    (tmp_path / "squeue").write_bytes(b"\x7fELF")
    with pytest.raises(SlurmError, match=r"squeue cannot be run \(Exec format error\)"):
        slurm.ask("squeue")


def test_the_environment_is_fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the caller's changes what commands answer; the configuration is the one that is named."""
    for name in ("SQUEUE_STATES", "SLURM_TIME_FORMAT", "TZ", "LC_ALL", "SLURM_CONF", "SLURM_CLUSTERS"):
        monkeypatch.setenv(name, "of the caller")
    slurm = command(tmp_path, "squeue", "/usr/bin/env")
    seen = dict(line.split("=", 1) for line in slurm.ask("squeue").splitlines())
    assert seen["SLURM_CONF"] == "of the caller"
    assert (seen["TZ"], seen["LC_ALL"], seen["SLURM_TIME_FORMAT"]) == ("UTC", "C", "standard")
    assert not {"SQUEUE_STATES", "SLURM_CLUSTERS"} & seen.keys()
    assert f"SLURM_CONF={tmp_path}" in Slurm(folder=tmp_path, conf=tmp_path).ask("squeue").splitlines()


def test_arguments_reach_no_shell(tmp_path: Path) -> None:
    """They arrive as they are."""
    assert command(tmp_path, "squeue", 'printf %s "$1"').ask("squeue", "$(id);'") == "$(id);'"


@pytest.mark.parametrize(
    "bad", [Change("42 Name=x", 1, None, NOW), Change("42\n", 1, None, NOW), Change("42", 1, None, -1)]
)
def test_nothing_but_digits_is_sent(tmp_path: Path, bad: Change) -> None:
    """Whoever made the change; and nothing of the others is sent or written down either."""
    slurm = command(tmp_path / "bin", "scontrol", f"touch {tmp_path}/sent")
    with pytest.raises(SlurmError, match="not sent to Slurm"):
        carry_out(slurm, [Change("7", 1, None, NOW), bad], tmp_path / "journal")
    assert {path.name for path in tmp_path.iterdir()} == {"bin"}


def test_one_scontrol_gets_one_attribute_per_line(tmp_path: Path) -> None:
    """After the journal was written: what scontrol finds of it then is all of it."""
    sent, found = tmp_path / "sent", tmp_path / "found"
    slurm = command(tmp_path / "bin", "scontrol", f"cat >> {sent}; cat {tmp_path}/journal > {found}")
    command(tmp_path / "bin", "squeue", "echo '{\"jobs\": []}'")
    outcomes = carry_out(slurm, [Change("7", 1, None, NOW), Change("8_1", 1, 5, NOW + 1)], tmp_path / "journal")
    assert sent.read_text("utf-8") == (f"update JobId=7 StartTime=uts{NOW}\nupdate JobId=8_1 StartTime=uts{NOW + 1}\n")
    assert [json.loads(line)["job"] for line in found.read_text("utf-8").splitlines()] == ["7", "8_1"]
    assert [(each.taken, each.note) for each in outcomes] == [(False, "no longer in the queue")] * 2


SENT = Change("42", 100, 50, 200)
LET_GO = Change("42", 100, 900, 150, at_once=True)
TASK = {**OLD, "job_id": 50, "array_job_id": 42, "array_task_id": 3}


@pytest.mark.parametrize(
    ("change", "records", "note"),
    [
        (SENT, [OLD], ""),
        (SENT, [{**OLD, "eligible_time": 201}], "begins at 1970-01-01T00:03:21Z (Denied for job 42)"),
        (SENT, [{**OLD, "submit_time": 101}], "no longer in the queue"),
        (SENT, [{**OLD, "job_state": "RUNNING"}], ""),
        (SENT, [{**OLD, "job_state": "RUNNING", "eligible_time": 50}], "already started or ended (RUNNING)"),
        (SENT, [TASK, {**TASK, "job_id": 51, "array_task_id": 4, "job_state": "RUNNING", "eligible_time": 50}], ""),
        (
            SENT,
            [TASK, {**TASK, "job_id": 51, "array_task_id": 4, "eligible_time": 0}],
            "begins at no set time (Denied for job 42)",
        ),
        (SENT, [TASK, {**TASK, "job_id": 51, "array_task_id": 5, "eligible_time": 7}], ""),
        (LET_GO, [OLD], ""),
        (LET_GO, [{**OLD, "eligible_time": 0}], ""),
        (LET_GO, [{**OLD, "eligible_time": 211}], "begins at 1970-01-01T00:03:31Z (Denied for job 42)"),
    ],
)
def test_what_is_read_back_decides(tmp_path: Path, change: Change, records: list[dict[str, object]], note: str) -> None:
    """Of an array that has fallen apart, its waiting tasks; task 5 has a change of its own. What scontrol says about
    the job is the reason. A job that was let go may begin up to a minute later, by the controller's clock;
    one that still waits for another job has no begin time then."""
    slurm = command(tmp_path, "scontrol", "cat > /dev/null; echo 'Denied for job 42' >&2; exit 1")
    command(tmp_path, "squeue", f"[ \"$*\" = '--all --json' ] && echo '{json.dumps({'jobs': records})}'")
    changes = [change, Change("42_5", 100, None, 7)]
    outcome, _ = carry_out(slurm, changes, tmp_path / "journal", clock=lambda: 160)
    assert (outcome.taken, outcome.note) == (not note, note)


@pytest.mark.parametrize(("begin", "taken"), [(200, True), (201, True), (203, True), (204, False), (150, False)])
def test_a_start_that_comes_while_it_is_sent_is_the_present(tmp_path: Path, begin: int, taken: bool) -> None:
    """Sent for second 200, read back in second 203; an earlier begin time is still the old one."""
    slurm = command(tmp_path, "scontrol", "cat > /dev/null")
    command(tmp_path, "squeue", f"echo '{json.dumps({'jobs': [{**OLD, 'eligible_time': begin}]})}'")
    (outcome,) = carry_out(slurm, [SENT], tmp_path / "journal", clock=lambda: 203)
    assert outcome.taken == taken


def test_an_undo_is_written_down_as_one(tmp_path: Path) -> None:
    """Before it is sent and after it."""
    slurm = command(tmp_path, "scontrol", "cat > /dev/null")
    command(tmp_path, "squeue", f"echo '{json.dumps({'jobs': [OLD]})}'")
    carry_out(slurm, [replace(SENT, is_release=True)], tmp_path / "journal")
    lines = (tmp_path / "journal").read_text("utf-8").splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["undo", "undone"]


def test_two_runs_do_not_send_at_once(tmp_path: Path) -> None:
    """The journal's folder is locked while scontrol works."""
    slurm = command(
        tmp_path / "bin", "scontrol", f"cat > /dev/null; flock --nonblock {tmp_path} true || touch {tmp_path}/held"
    )
    command(tmp_path / "bin", "squeue", f"echo '{json.dumps({'jobs': [OLD]})}'")
    carry_out(slurm, [SENT], tmp_path / "journal")
    assert (tmp_path / "held").exists()


def test_no_changes_reach_nobody(tmp_path: Path) -> None:
    """No command is run, and no journal begun."""
    assert carry_out(Slurm(folder=tmp_path), [], tmp_path / "journal") == []
    assert not list(tmp_path.iterdir())
