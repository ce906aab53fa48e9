"""Begin times set in a real Slurm: every case in which it does something other than it was asked, and undo."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from planner.errors import SlurmError
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.json_document import DocumentAnswer
from planner.inputs.slurm.node_units import units_of
from planner.inputs.slurm.queue import read_queue
from planner.inputs.slurm.read_site import SlurmSite
from planner.scenario.cluster_slurm import SlurmSection
from planner.slurm import commands
from planner.slurm.choose_changes import ChangeOutcome, ChangeRules, OptIn, Proposal, propose
from planner.slurm.commands import Slurm, queue_now, take
from planner.slurm.journal import Change, read_ours
from planner.slurm.planned_holds import Wanted
from planner.slurm.send_changes import carry_out, plan_undo
from planner.slurm.verify import differences, from_journal, queue_with_gone
from tests.slurm.cluster import ACCOUNTING, SEARCH, Cluster, until, why_not

HOUR = 3600
RULES = ChangeRules(OptIn(partitions=frozenset({"batch", "open"})))
NOTHING = Wanted({}, {}, RULES, 0)
"""What a plan wants that holds nobody."""


def soon() -> int:
    """A moment in two hours."""
    return int(time.time()) + 2 * HOUR


def look(slurm: Slurm, wanted: Mapping[str, int], rules: ChangeRules, journal: Path) -> Proposal:
    """What is proposed for jobs that are wanted to be held until these moments, and no others."""
    return propose(wanted, queue_now(slurm), rules, read_ours(journal), int(time.time()), {})


def send(slurm: Slurm, wanted: Mapping[str, int], journal: Path) -> tuple[Proposal, list[ChangeOutcome]]:
    """What is proposed for wanted starts, and what becomes of it."""
    proposal = look(slurm, wanted, RULES, journal)
    return proposal, carry_out(slurm, proposal, journal)


def take_back(slurm: Slurm, journal: Path) -> tuple[Proposal, list[ChangeOutcome]]:
    """What is proposed to undo everything, and what becomes of it."""
    proposal = plan_undo(queue_now(slurm), NOTHING, journal)
    return proposal, carry_out(slurm, proposal, journal)


def one(slurm: Slurm, job_id: str) -> SlurmJob:
    """A job as it is now."""
    found = queue_now(slurm).find(job_id)
    assert found is not None
    return found


def reasons(proposal: Proposal) -> dict[str, str]:
    """Why each refused job is refused."""
    return {refusal.job: refusal.reason for refusal in proposal.refusals}


def test_a_begin_time_is_set_and_read_back(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """One waiting job gets the wanted time, the journal has its old one, and nothing differs afterwards."""
    job, start = cluster.submit(), soon()
    before = one(slurm, job)
    proposal, outcomes = send(slurm, {job: start}, journal)
    assert proposal.changes == (Change(job, before.submit_unix, before.begin_unix, start),)
    assert [(each.taken, each.note) for each in outcomes] == [(True, "")]
    assert one(slurm, job).begin_unix == start
    # Its StartTime is an estimate, which the backfill scheduler moves.
    assert f"EligibleTime={time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(start))}" in cluster.command(
        "scontrol", "show", "job", job
    )
    ours = read_ours(journal)
    assert ours.entries[job, before.submit_unix].old_unix == before.begin_unix
    assert not differences(from_journal(ours), queue_now(slurm), int(time.time()))


def test_planning_alone_changes_nothing(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """The dry run leaves queue and journal as they are."""
    job = cluster.submit()
    before = one(slurm, job)
    assert look(slurm, {job: soon()}, RULES, journal).changes
    assert one(slurm, job).begin_unix == before.begin_unix
    assert not journal.exists()


def test_the_second_apply_changes_nothing(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """The same starts again: nothing to send, and the journal stays as it is."""
    job, start = cluster.submit(), soon()
    send(slurm, {job: start}, journal)
    written = journal.read_bytes()
    proposal, outcomes = send(slurm, {job: start}, journal)
    assert (proposal.changes, proposal.unchanged, outcomes) == ((), (job,), [])
    assert journal.read_bytes() == written


def test_running_ended_and_unknown_jobs_are_reported(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """Each is refused with its state, and the others go on."""
    running = cluster.submit("--partition=open")
    ended = cluster.submit("--partition=open", sleep_s=0)
    waiting = cluster.submit()
    cluster.wait_for(running, "RUNNING")
    cluster.wait_for(ended, "COMPLETED")
    proposal, outcomes = send(slurm, dict.fromkeys((running, ended, "999999", waiting), soon()), journal)
    assert reasons(proposal) == {
        running: "already started or ended (RUNNING)",
        ended: "already started or ended (COMPLETED)",
        "999999": "not in the queue",
    }
    assert [(each.change.job, each.taken) for each in outcomes] == [(waiting, True)]


def test_a_job_that_starts_before_the_change_arrives_is_reported(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """What Slurm refuses shows when the queue is read back; the change after it in the list is taken."""
    first, second = cluster.submit(), cluster.submit()
    proposal = look(slurm, dict.fromkeys((first, second), soon()), RULES, journal)
    cluster.command("scontrol", "update", f"JobId={first}", "Partition=open")
    cluster.wait_for(first, "RUNNING")
    outcomes = carry_out(slurm, proposal, journal)
    assert [(each.taken, each.note) for each in outcomes] == [
        (False, "already started or ended (RUNNING)"),
        (True, ""),
    ]


def test_times_that_have_passed_are_never_sent(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """Slurm would silently take the present instead, as a direct call shows."""
    job, past = cluster.submit(), int(time.time()) - HOUR
    proposal, _ = send(slurm, {job: past}, journal)
    assert (proposal.changes, proposal.unchanged) == ((), ())
    assert "its hold was over" in reasons(proposal)[job]
    cluster.command("scontrol", "update", f"JobId={job}", f"StartTime=uts{past}")
    begin = one(slurm, job).begin_unix
    assert begin is not None
    assert begin > past + HOUR - 60


def test_a_begin_time_that_has_come_holds_nobody(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """Whether or not another plan comes: the job starts then by itself, and one without a begin time at once."""
    job, start = cluster.submit(), int(time.time()) + 8
    send(slurm, {job: start}, journal)
    cluster.command("scontrol", "update", f"JobId={job}", "Partition=open")
    other = cluster.submit("--partition=open")
    cluster.wait_for(other, "RUNNING")
    cluster.wait_for(job, "RUNNING")
    began = cluster.history()[job].start_unix
    assert began is not None
    assert began >= start


def test_a_begin_time_does_not_reset_the_age_of_a_job(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """Slurm's priority counts it from `accrue_time`, which stays while the job is held back and when it is let go."""
    job = cluster.submit()

    def accrues() -> int:
        (found,) = (int(each["accrue_time"]) for each in cluster.jobs() if str(each["job_id"]) == job)
        return found

    since = until(accrues, "Slurm to count the age of the job")
    _, outcomes = send(slurm, {job: soon()}, journal)
    assert [each.taken for each in outcomes] == [True]
    time.sleep(2)
    assert accrues() == since
    take_back(slurm, journal)
    time.sleep(2)
    assert accrues() == since


def test_a_job_that_completes_still_has_its_nodes(cluster: Cluster) -> None:
    """One that does not end when it is asked to is killed two seconds later; until then Slurm says where it is."""
    stubborn = "--wrap=trap '' TERM; while :; do sleep 1; done"
    quiet = ("--output=/dev/null", "--error=/dev/null")
    job = cluster.command("sbatch", "--parsable", "--partition=open", "--ntasks=3", *quiet, stubborn).strip()
    cluster.wait_for(job, "RUNNING")
    time.sleep(1)  # the shell has set its trap
    cluster.command("scancel", job)

    def completing() -> list[SlurmJob]:
        text = cluster.command("squeue", "--json").encode()
        return [each for each in read_queue(DocumentAnswer("squeue", text)).jobs if each.is_completing]

    (found,) = until(completing, "the job to complete")
    assert (found.label, found.state) == (job, "running")
    assert [(each.name, each.cpus) for each in found.allocated] == [("n8", 3)]


def test_a_begin_that_misses_the_deadline_is_refused(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """Slurm would take it, and then cancel the job: of two equal jobs the one moved by hand dies, the other runs."""
    asked = ("--partition=open", "--time=1", "--begin=now+3", "--deadline=now+66")
    kept, moved = cluster.submit(*asked), cluster.submit(*asked)
    deadline = one(slurm, moved).deadline_unix
    assert deadline is not None
    proposal, _ = send(slurm, {kept: deadline - 59, moved: deadline - 59}, journal)
    assert all("or Slurm cancels it" in reason for reason in reasons(proposal).values())
    assert (len(proposal.refusals), proposal.changes) == (2, ())
    # Slurm looks at a job, and so cancels it, when its begin time has come: the sooner the better for a test.
    cluster.command("scontrol", "update", f"JobId={moved}", f"StartTime=uts{deadline - 58}")
    assert cluster.wait_for(moved, "DEADLINE", "RUNNING") == "DEADLINE"
    assert cluster.wait_for(kept, "DEADLINE", "RUNNING") == "RUNNING"


def test_a_hold_that_keeps_its_margin_from_a_deadline_is_taken(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """An hour before the deadline less the time limit."""
    job = cluster.submit("--time=60", "--deadline=now+4hours")
    deadline = one(slurm, job).deadline_unix
    assert deadline is not None
    _, outcomes = send(slurm, {job: deadline - 2 * HOUR}, journal)
    assert [each.taken for each in outcomes] == [True]


def test_the_waiting_tasks_of_a_running_array_are_changed(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """Slurm complains about the tasks that run and changes the others; what was taken is read back, and undone."""
    array = cluster.submit("--partition=open", "--array=1-6%2")
    until(lambda: sum(job.state == "running" for job in queue_now(slurm).array(array)) == 2, "two tasks to run")
    start = soon()
    proposal, outcomes = send(slurm, {array: start}, journal)
    assert [(each.change.job, each.taken) for each in outcomes] == [(array, True)]
    assert not proposal.refusals
    begins = {job.record: job.begin_unix == start for job in queue_now(slurm).array(array)}
    assert begins == {array: True, f"{array}_1": False, f"{array}_2": False}
    assert send(slurm, {array: start}, journal)[0].unchanged == (array,)
    take_back(slurm, journal)
    assert one(slurm, array).begin_unix != start


@pytest.mark.slow
def test_a_begin_time_reaches_every_waiting_task_of_an_array_that_splits(
    cluster: Cluster, slurm: Slurm, journal: Path
) -> None:
    """Tasks start while it is sent: whoever waits when Slurm has answered has it, and starts no earlier."""
    blocker = cluster.submit("--partition=open", "--exclusive")
    cluster.wait_for(blocker, "RUNNING")
    array = cluster.submit("--partition=open", "--array=1-40", "--ntasks=2", "--time=1", sleep_s=2)
    until(lambda: queue_now(slurm).array(array), "the array")
    cluster.command("scancel", blocker)
    until(lambda: any(job.state == "running" for job in queue_now(slurm).array(array)), "tasks to start")
    start = int(time.time()) + 12
    send(slurm, {array: start}, journal)
    waiting = {job.label for record in queue_now(slurm).array(array) for job in record.one_by_one() if job.is_pending}
    assert len(waiting) > 5
    assert {job.begin_unix for job in queue_now(slurm).array(array) if job.is_pending} == {start}

    def started() -> bool:
        return all(cluster.history()[job].start_unix for job in waiting)

    until(started, "all tasks to start")
    assert all((cluster.history()[job].start_unix or 0) >= start for job in waiting)


def test_a_cancelled_job_is_no_difference(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """Whether it is still listed or only in the accounts: Slurm says that it started when it was cancelled."""
    job, started = cluster.submit(), cluster.submit()
    send(slurm, {job: soon(), started: soon()}, journal)
    cluster.command("scancel", job)
    cluster.command("scontrol", "update", f"JobId={started}", "Partition=open", "StartTime=now")
    cluster.wait_for(started, "RUNNING")
    expected, now = from_journal(read_ours(journal)), int(time.time())
    queue = queue_with_gone(slurm, expected, now)
    assert [name for name, _ in differences(expected, queue, now)] == [started]
    if not why_not(ACCOUNTING):
        asked = ("sacct", "--noheader", f"--jobs={job}", "--format=JobID,State")
        until(lambda: f"{job} CANCELLED" in " ".join(cluster.command(*asked).split()), "sacct")
        absent = Slurm(folder=without(cluster, tmp := journal.parent / "bin", (job, started)), conf=cluster.conf)
        assert tmp.is_dir()
        queue = queue_with_gone(absent, expected, now)
        assert [name for name, _ in differences(expected, queue, now)] == [started]


def without(cluster: Cluster, folder: Path, jobs: tuple[str, ...]) -> Path:
    """Slurm's commands, with a squeue that has forgotten some jobs."""
    folder.mkdir()
    script = (
        "import json, subprocess, sys\n"
        f"said = json.loads(subprocess.check_output(['/usr/bin/squeue', '--json']))\n"
        f"said['jobs'] = [job for job in said['jobs'] if str(job['job_id']) not in {jobs!r}]\n"
        "print(json.dumps(said))\n"
    )
    (folder / "forget.py").write_text(script, encoding="utf-8")
    (folder / "squeue").write_text(f'#!/bin/sh\nexec {sys.executable} {folder}/forget.py "$@"\n', encoding="utf-8")
    (folder / "squeue").chmod(0o755)
    for name in ("scontrol", "sacct", "sinfo"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    return folder


def test_single_tasks_of_an_array_get_times_of_their_own(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """Tasks leave the array for that, and the rest stays; the second apply finds them where they are, undo too."""
    array, start = cluster.submit("--array=1-20:2"), soon()
    rest = until(lambda: one(slurm, array).begin_unix, "Slurm to look at the array")
    wanted = {f"{array}_3": start, f"{array}_7": start + HOUR}
    _, outcomes = send(slurm, {**wanted, f"{array}_4": start}, journal)
    assert [each.taken for each in outcomes] == [True, True]
    assert {job.record: job.begin_unix for job in queue_now(slurm).array(array)} == {array: rest, **wanted}
    assert set(send(slurm, wanted, journal)[0].unchanged) == set(wanted)
    send(slurm, {array: start + 2 * HOUR}, journal)
    assert {job.begin_unix for job in queue_now(slurm).array(array)} == {start + 2 * HOUR}
    _, undone = take_back(slurm, journal)
    assert [each.taken for each in undone] == [True] * 3
    assert all((job.begin_unix or 0) <= time.time() for job in queue_now(slurm).array(array))


def test_every_task_of_a_ragged_array_is_found(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """Slurm names many tasks in full, however long that gets."""
    tasks = [number * number for number in range(1, 30)]
    array = cluster.submit(f"--array={','.join(map(str, tasks))}")
    queue = queue_now(slurm)
    assert all(queue.find(f"{array}_{task}") for task in tasks)
    assert queue.find(f"{array}_2") is None


def test_held_jobs_are_left_alone(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """A held job is refused, and an array with a task that is held."""
    job, array = cluster.submit("--hold"), cluster.submit("--array=1-3")
    cluster.command("scontrol", "hold", f"{array}_2")
    proposal, _ = send(slurm, dict.fromkeys((job, array), soon()), journal)
    assert reasons(proposal) == {job: "held", array: "held"}
    cluster.command("scontrol", "release", job)
    assert [each.taken for each in send(slurm, {job: soon()}, journal)[1]] == [True]


def test_a_user_s_own_begin_is_never_undercut(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """Earlier is refused, also once a later time of ours stands in its place; undo gives it back to the second."""
    job = cluster.submit("--begin=now+7200")
    own = one(slurm, job).begin_unix
    assert own is not None
    proposal, _ = send(slurm, {job: own - HOUR}, journal)
    assert "its user lets it begin" in reasons(proposal)[job]
    assert [each.taken for each in send(slurm, {job: own + HOUR}, journal)[1]] == [True]
    proposal, _ = send(slurm, {job: own - 1}, journal)
    assert "its user lets it begin" in reasons(proposal)[job]
    assert [each.taken for each in send(slurm, {job: own + 60}, journal)[1]] == [True]
    take_back(slurm, journal)
    assert one(slurm, job).begin_unix == own


@pytest.mark.slow
def test_undo_restores_every_value_after_a_restart(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """The controller keeps our times through a restart; then everything is as before, and undo is done once."""
    own = cluster.submit("--begin=now+1800")
    plain, dependent = cluster.submit(), cluster.submit(f"--dependency=afterany:{own}")
    own_begin, start = one(slurm, own).begin_unix, soon()
    wanted = dict.fromkeys((own, plain, dependent), start)
    send(slurm, wanted, journal)
    cluster.restart_controller()
    queue = queue_now(slurm)
    assert {each.job: each.begin_unix for each in from_journal(read_ours(journal))} == wanted
    assert not differences(from_journal(read_ours(journal)), queue, int(time.time()))
    assert send(slurm, wanted, journal)[0].changes == ()
    assert {each.change.job: each.note for each in take_back(slurm, journal)[1]} == dict.fromkeys(wanted, "")
    assert one(slurm, own).begin_unix == own_begin
    assert all((one(slurm, each).begin_unix or 0) <= time.time() for each in (plain, dependent))
    assert plan_undo(queue_now(slurm), NOTHING, journal) == Proposal((), (), ())


def test_undo_leaves_what_somebody_else_has_changed(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """A time that an operator has set since stays, and the journal's difference is named."""
    job, start = cluster.submit(), soon()
    send(slurm, {job: start}, journal)
    cluster.command("scontrol", "update", f"JobId={job}", f"StartTime=uts{start + 60}")
    assert [name for name, _ in differences(from_journal(read_ours(journal)), queue_now(slurm), 0)] == [job]
    proposal, outcomes = take_back(slurm, journal)
    assert "not a time of ours" in reasons(proposal)[job]
    assert outcomes == []
    assert one(slurm, job).begin_unix == start + 60


def test_a_job_that_is_let_go_may_start_at_once(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """Undo lets a held-back job run where there is room."""
    job = cluster.submit("--partition=open", "--hold")
    cluster.command("scontrol", "update", f"JobId={job}", f"StartTime=uts{int(time.time()) + HOUR}")
    cluster.command("scontrol", "release", job)
    first = one(slurm, job).begin_unix
    assert first is not None
    carry_out(slurm, Proposal((Change(job, one(slurm, job).submit_unix, None, first + 60),), (), ()), journal)
    take_back(slurm, journal)
    cluster.wait_for(job, "RUNNING")


def broken_scontrol(folder: Path, then: str, timeout_s: float) -> Slurm:
    """Commands of which scontrol passes on two lines only."""
    folder.mkdir()
    script = folder / "scontrol"
    script.write_text(f"#!/bin/sh\nhead -n 2 | /usr/bin/scontrol >/dev/null\n{then}\n", encoding="utf-8")
    script.chmod(0o755)
    (folder / "squeue").symlink_to("/usr/bin/squeue")
    return Slurm(folder=folder, conf=Path(os.environ["SLURM_CONF"]), timeout_s=timeout_s)


@pytest.mark.parametrize("then", ["exit 1", "exec sleep 30"])
def test_what_fails_half_way_can_be_undone(
    cluster: Cluster, slurm: Slurm, journal: Path, tmp_path: Path, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of four changes arrive: each is reported where there is an answer at all, and undo takes back the two."""
    monkeypatch.setenv("SLURM_CONF", str(cluster.conf))
    monkeypatch.setattr(commands, "SECONDS_PER_LINE", 0.0)
    jobs = [cluster.submit() for _ in range(4)]
    start = soon()
    proposal = look(slurm, dict.fromkeys(jobs, start), RULES, journal)
    answers = then == "exit 1"
    broken = broken_scontrol(tmp_path / "bin", then, timeout_s=60 if answers else 3)
    if answers:
        outcomes = carry_out(broken, proposal, journal)
        assert [each.taken for each in outcomes] == [True, True, False, False]
        assert outcomes[2].note.startswith("begins at ")
    else:
        with pytest.raises(SlurmError, match="scontrol did not answer within 3 s"):
            carry_out(broken, proposal, journal)
    assert [one(slurm, job).begin_unix == start for job in jobs] == [True, True, False, False]
    _, undone = take_back(slurm, journal)
    assert [(each.change.job, each.taken) for each in undone] == [(job, True) for job in jobs[:2]]
    assert all((one(slurm, job).begin_unix or 0) <= time.time() for job in jobs)


@pytest.mark.slow
def test_two_hundred_jobs_at_once(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """All are taken, in seconds, and all are undone."""
    loop = 'for i in $(seq 200); do sbatch --parsable --output=/dev/null --wrap="sleep 600"; done'
    jobs = cluster.command("sh", "-c", loop).split()
    start = soon()
    wanted = {job: start + index for index, job in enumerate(jobs)}
    began = time.monotonic()
    _, outcomes = send(slurm, wanted, journal)
    assert time.monotonic() - began < 20
    assert [each.taken for each in outcomes] == [True] * 200
    queue = queue_now(slurm)
    found = {job: queue.find(job) for job in jobs}
    assert {job: each.begin_unix for job, each in found.items() if each} == wanted
    assert [each.taken for each in take_back(slurm, journal)[1]] == [True] * 200


def test_names_that_a_shell_would_run_are_harmless(
    cluster: Cluster, slurm: Slurm, journal: Path, tmp_path: Path
) -> None:
    """Quotes, line breaks and $(...) in name and comment reach no shell and no scontrol."""
    trap = tmp_path / "trap"
    evil = f"a\"b'c\nupdate JobId=1 Name=x\n$(touch {trap}) `touch {trap}`;touch {trap}"
    other = cluster.submit("--job-name=other")
    job = cluster.submit(f"--job-name={evil}", f"--comment={evil}")
    before, start = one(slurm, other), soon()
    _, outcomes = send(slurm, {job: start, f"{other}\nupdate JobId={other}": start, f"{other} Name=x": start}, journal)
    assert [(each.change.job, each.taken) for each in outcomes] == [(job, True)]
    assert one(slurm, other) == before
    assert one(slurm, job).comment == evil
    assert not trap.exists()
    assert {json.loads(line)["job"] for line in journal.read_text("utf-8").splitlines()} == {job}


def test_only_jobs_that_are_opted_in_are_changed(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """By a word of the comment; a job without it stays as it is."""
    rules = ChangeRules(OptIn(comment_words=frozenset({"flexible"})))
    job, other = cluster.submit("--comment=power_w=300;flexible"), cluster.submit("--comment=inflexible")
    proposal = look(slurm, dict.fromkeys((job, other), soon()), rules, journal)
    assert [change.job for change in proposal.changes] == [job]
    assert reasons(proposal) == {other: "not opted in by partition, QOS or comment"}


@pytest.mark.skipif(bool(why_not(ACCOUNTING)), reason=f"no accounting: {why_not(ACCOUNTING)}")
def test_a_qos_opts_in(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """With accounting, jobs of one QOS are opted in and those of another are not."""
    rules = ChangeRules(OptIn(qos=frozenset({"flexible"})))
    job, other = cluster.submit("--qos=flexible"), cluster.submit("--qos=normal")
    proposal = look(slurm, dict.fromkeys((job, other), soon()), rules, journal)
    assert [change.job for change in proposal.changes] == [job]
    assert list(reasons(proposal)) == [other]


def test_a_heterogeneous_job_is_refused(cluster: Cluster, slurm: Slurm, journal: Path) -> None:
    """Its parts would be moved one by one."""
    job = cluster.submit("--ntasks=1", ":", "--ntasks=1")
    proposal, _ = send(slurm, {job: soon()}, journal)
    assert "heterogeneous" in reasons(proposal)[job]


def test_a_controller_that_is_down_is_one_clear_line(cluster: Cluster, slurm: Slurm, tmp_path: Path) -> None:
    """The first line that squeue gives, with its status."""
    nowhere = tmp_path / "slurm.conf"
    nowhere.write_text("ClusterName=x\n", encoding="utf-8")
    with pytest.raises(SlurmError, match=r"squeue failed with status 1: .+") as caught:
        queue_now(Slurm(conf=nowhere))
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 8


SHAPES = {
    ("--nodes=2",): [1, 1],
    ("--nodes=2", "--ntasks-per-node=4"): [4, 4],
    ("--ntasks=6", "--ntasks-per-node=2"): [2, 2, 2],
    ("--nodes=1", "--ntasks=4", "--mem-per-cpu=8000"): [4],
    ("--ntasks=4", "--mem-per-cpu=100000"): [1, 1, 1, 1],
    ("--cpus-per-task=20", "--ntasks=3"): [20, 20, 20],
    ("--nodes=2", "--mincpus=10"): [10, 10],
    ("--nodes=4", "--gpus=6"): [1, 1, 1, 1],
    ("--nodes=2", "--exclusive"): [32, 32],
    ("--nodes=2", "--exclusive", "--ntasks-per-node=5"): [32, 32],
}
"""What is asked for, and the CPUs of each node that Slurm gives."""


def test_what_jobs_ask_for_is_read_as_slurm_reads_it(empty_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nodes and CPUs that are planned for a waiting job are those that it then gets, and has."""
    monkeypatch.setenv("PATH", SEARCH)
    slurm, filler = Slurm(conf=empty_cluster.conf), empty_cluster.fill()
    jobs = {empty_cluster.submit("--time=1", *words, sleep_s=60): (words, cpus) for words, cpus in SHAPES.items()}
    documents = take(slurm)
    machine = SlurmSite.of(documents, SlurmSection()).machine
    for job in documents.queue().of_state("pending"):
        words, cpus = jobs[job.label]
        allowed, why = machine.allowed(job.request, job.partitions)
        assert (why, job.obstacles) == ("", ()), words
        units = units_of(job.request, list(allowed.values()))
        assert sorted(int(each.amount("cores")) for each in units for _ in range(each.count)) == cpus, words
    empty_cluster.command("scancel", filler)
    for job_id, (words, cpus) in jobs.items():
        empty_cluster.wait_for(job_id, "RUNNING")
        has = one(slurm, job_id).allocated
        assert sorted(each.cpus or 0 for each in has) == cpus, words
        empty_cluster.command("scancel", job_id)


def test_what_slurm_would_not_start_is_left_alone(cluster: Cluster, slurm: Slurm) -> None:
    """A limit of its partition, and a partition that is down: with Slurm's own reason."""
    reasons = {cluster.submit("--time=5-00:00:00"): "PartitionTimeLimit"}
    try:
        cluster.command("scontrol", "update", "PartitionName=open", "State=DOWN")
        reasons[cluster.submit("--partition=open")] = "PartitionDown"
        waiting = cluster.submit("--ntasks=4")

        def all_told() -> bool:
            found = {job.label: job.obstacles for job in queue_now(slurm).of_state("pending")}
            return all(found[job] == (f"Slurm does not start it ({why})",) for job, why in reasons.items())

        until(all_told, "Slurm's reasons")
        assert one(slurm, waiting).obstacles == ()
    finally:
        cluster.command("scontrol", "update", "PartitionName=open", "State=UP")
