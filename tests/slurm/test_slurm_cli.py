"""``plan slurm`` and ``plan now`` from Slurm: on a real one, and in one clear line where there is none."""

from __future__ import annotations

import json
import signal
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.cli.main import run
from planner.slurm import send_changes
from planner.slurm.commands import Slurm, queue_now
from planner.slurm.journal import JOURNAL, when
from planner.slurm.planned_holds import read_wanted
from tests.days import BRIEF, DAY, plan, rows_of, tree, write_small_site
from tests.slurm.cluster import SEARCH, Cluster
from tests.slurm.saved import fake, save
from tests.slurm.site import cheap_from, write_holding_site
from tests.slurm_documents import job

QUICK = ("--bound-time", "0", "--hours", "48")
SOON = ("--partition=open", "--begin=now+20minutes", "--time=30")
"""A job that Slurm could start within the hour, when electricity is dear."""
ODD = 'it\'s "odd"; $(touch gone) `touch gone` | & > gone\n\tJobId=1 StartTime=now é'


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site to stand in whose nodes and jobs are those of Slurm."""
    base = write_holding_site(tmp_path / "site")
    monkeypatch.chdir(base)
    return base


@pytest.fixture
def live(site: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, with a real Slurm: its partition `batch` is full for a day, `open` is empty."""
    monkeypatch.setenv("PATH", SEARCH)
    monkeypatch.setenv("SLURM_CONF", str(cluster.conf))
    return site


Said = pytest.CaptureFixture[str]


def words(code: int, *arguments: str, said: Said) -> str:
    """What a command prints on stdout, once it has ended with this code."""
    said.readouterr()
    found = run(arguments)
    out, err = said.readouterr()
    assert found == code, err
    return out


def line(code: int, *arguments: str, said: Said) -> str:
    """The one line on stderr of a command that fails with this code."""
    said.readouterr()
    assert run(arguments) == code
    out, err = said.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def facts(code: int, *arguments: str, said: Said) -> Any:
    """The JSON that a command prints."""
    return json.loads(words(code, *arguments, "--json", said=said))


def planned_day(said: Said, *more: str) -> Path:
    """The folder of a plan that was made now."""
    return Path(words(0, "now", *QUICK, *more, said=said).split()[-1])


def begin_of(job_id: str) -> int | None:
    """When a job may begin, as Slurm has it now."""
    found = queue_now(Slurm()).find(job_id)
    assert found is not None
    return found.begin_unix


def planned_start(folder: Path, job_id: str) -> int:
    """When a job is to start, by the files of a plan."""
    starts = {row["job_id"]: row["start_time"] for row in rows_of(folder / "schedule.csv")}
    starts |= {row["job_id"]: row["planned_start"] for row in rows_of(folder / "deferred.csv")}
    return int(datetime.fromisoformat(starts[job_id]).timestamp())


def test_a_snapshot_is_saved_and_planned_again(live: Path, cluster: Cluster, capsys: Said) -> None:
    """As it came, with its manifest; two plans of it are the same to the byte, also where there is no Slurm."""
    waiting, held = cluster.submit("--ntasks=4"), cluster.submit("--hold")
    said = facts(0, "slurm", "snapshot", "--out", "saved", said=capsys)
    assert (said["nodes"], said["waiting"], said["running"], said["reservations"]) == (8, 2, 1, 0)
    assert said["not_planned"] == [{"job": held, "reason": "it is held"}]
    names = {path.name for path in Path("saved").iterdir()}
    assert {"manifest.json", "squeue.json", "nodes.json"} < names
    assert "is there already" in line(2, "slurm", "snapshot", "--out", "saved", said=capsys)
    first = planned_day(capsys, "--snapshot", "saved", "--out", "one")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "/nowhere")
        second = planned_day(capsys, "--snapshot", "saved", "--out", "two")
    for name in ("schedule.csv", "deferred.csv", "segments.csv"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert planned_start(first, waiting) > time.time() + 20 * 3600
    run_json = json.loads((first / "run.json").read_text("utf-8"))
    assert run_json["snapshot"]["left_alone"] == [{"job_id": held, "reason": "it is held"}]
    assert str(live / "saved" / "squeue.json") in run_json["inputs"]
    assert run(["audit", str(first)]) == 0


def test_a_hold_is_applied_verified_and_undone(live: Path, cluster: Cluster, capsys: Said) -> None:
    """The dry run changes nothing, applying twice changes nothing more, and undo gives the old times back."""
    waiting, no_room = cluster.submit(*SOON), cluster.submit("--ntasks=4")
    old, other = begin_of(waiting), begin_of(no_room)
    assert old is not None
    folder = planned_day(capsys)
    place, cheap = str(folder), cheap_from()
    text = words(0, "slurm", "apply", place, said=capsys)
    assert f"  {waiting}  begins at 20" in text
    assert f"at the latest {when(old + 6 * 3600)}" in text
    assert "dry run: 1 to change, 0 left alone, 0 as wanted already; nothing was changed, --yes does it" in text
    assert begin_of(waiting) == old
    assert not (folder.parent / JOURNAL).exists()
    said = facts(0, "slurm", "apply", place, "--yes", said=capsys)
    assert said["changes"] == [{"job": waiting, "old_unix": old, "new_unix": cheap, "taken": True, "note": ""}]
    assert (begin_of(waiting), begin_of(no_room)) == (cheap, other)
    assert "0 changed, 0 not taken, 0 left alone, 1 as wanted" in words(
        0, "slurm", "apply", place, "--yes", said=capsys
    )
    assert facts(0, "slurm", "verify", place, said=capsys) == {"set": 1, "differences": []}
    cluster.restart_controller()
    assert facts(0, "slurm", "verify", place, said=capsys) == {"set": 1, "differences": []}
    assert "1 to change" in words(0, "slurm", "undo", place, said=capsys)
    assert begin_of(waiting) == cheap
    assert "1 changed" in words(0, "slurm", "undo", place, "--yes", said=capsys)
    assert begin_of(waiting) == old
    assert "0 changed" in words(0, "slurm", "undo", place, "--yes", said=capsys)


def test_under_a_flat_tariff_nothing_is_sent(live: Path, cluster: Cluster, capsys: Said) -> None:
    """Nor with prices where nothing may be held, nor for a job that waits for room."""
    jobs = [cluster.submit(*SOON), cluster.submit("--ntasks=4")]
    before = [begin_of(each) for each in jobs]
    flat = ("--set", "tariff={kind: flat, eur_per_kwh: 0.2}")
    for more in (flat, ("--set", "rules.max_delay=0h")):
        assert facts(0, "now", *QUICK, "--apply", *more, said=capsys)["changes"] == []
    assert [begin_of(each) for each in jobs] == before
    assert not Path("reports/site", JOURNAL).exists()


def test_what_others_change_is_named_and_stays(live: Path, cluster: Cluster, capsys: Said) -> None:
    """Verify ends with code 9; undo leaves the job alone."""
    waiting = cluster.submit(*SOON)
    place = str(planned_day(capsys))
    words(0, "slurm", "apply", place, "--yes", said=capsys)
    theirs = int(time.time()) + 7 * 3600
    cluster.command("scontrol", "update", f"JobId={waiting}", f"StartTime=uts{theirs}")
    text = words(9, "slurm", "verify", place, said=capsys)
    assert f"  {waiting}  begins at" in text
    assert "of which differ: 1" in text
    assert "left alone: begins at" in words(0, "slurm", "undo", place, "--yes", said=capsys)
    assert begin_of(waiting) == theirs


def test_names_of_jobs_are_never_commands(live: Path, cluster: Cluster, capsys: Said) -> None:
    """Quotes, newlines, $(...): kept in the plan as they are, and sent nowhere."""
    waiting = cluster.submit(f"--job-name={ODD}", *SOON)
    folder = planned_day(capsys)
    rows = [*rows_of(folder / "schedule.csv"), *rows_of(folder / "deferred.csv")]
    assert {row["job_id"]: row["name"] for row in rows}[waiting] == ODD
    words(0, "slurm", "apply", str(folder), "--yes", said=capsys)
    assert begin_of(waiting) == cheap_from()
    assert not (live / "gone").exists()
    assert not (cluster.folder / "gone").exists()
    assert run(["audit", str(folder)]) == 0


@pytest.mark.slow
def test_what_is_no_longer_wanted_is_released_by_the_next_run(live: Path, cluster: Cluster, capsys: Said) -> None:
    """One JSON of the plan and of what Slurm took. An unchanged queue gets nothing; opted out, or no longer worth it,
    a job gets its user's begin back, and held again it is promised what it was promised first."""
    waiting = cluster.submit(*SOON)
    old = begin_of(waiting)
    said = facts(0, "now", *QUICK, "--apply", said=capsys)
    assert [each["job"] for each in said["changes"]] == [waiting]
    first = said["plan"]["holds"][0]
    again = facts(0, "now", *QUICK, "--apply", said=capsys)
    assert (again["changes"], again["unchanged"]) == ([], [waiting])
    for more in ("slurm.opt_in.partitions=[batch]", "tariff={kind: flat, eur_per_kwh: 0.2}", "rules.max_delay=0h"):
        free = facts(0, "now", *QUICK, "--apply", "--set", more, said=capsys)
        assert [(each["job"], each["new_unix"]) for each in free["changes"]] == [(waiting, old)]
        assert begin_of(waiting) == old
        assert begin_of(waiting) == old
        held = facts(0, "now", *QUICK, "--apply", said=capsys)
        assert [each["new_unix"] for each in held["changes"]] == [cheap_from()]
    lines = [json.loads(each) for each in Path("reports/site", JOURNAL).read_text("utf-8").splitlines()]
    assert {each["latest"] for each in lines if each["kind"] == "set"} == {first["latest_unix"]}
    cluster.command("scontrol", "update", f"JobId={waiting}", "Licenses=", check=False)
    cluster.command("scontrol", "hold", waiting)
    assert [each["new_unix"] for each in facts(0, "now", *QUICK, "--apply", said=capsys)["changes"]] == [old]


@pytest.mark.slow
def test_python_holds_as_the_command_does(live: Path, cluster: Cluster, capsys: Said) -> None:
    """``planner.now(apply=True)`` sends and tells what `plan now --apply` does, and each knows what the other sent."""
    waiting, told = cluster.submit(*SOON), list[str]()
    old = begin_of(waiting)
    done = planner.now(bound_time_s=0.0, hours=48.0, apply=True, on_progress=told.append)
    sent = {"job": waiting, "old_unix": old, "new_unix": cheap_from(), "taken": True, "note": ""}
    assert done.applied == {"dry_run": False, "changes": [sent], "left_alone": [], "unchanged": []}
    assert begin_of(waiting) == cheap_from()
    assert told[-1] == "1 held, 1 new or moved, 0 released, 0 left alone"
    assert facts(0, "now", *QUICK, "--apply", said=capsys)["unchanged"] == [waiting]
    words(0, "slurm", "undo", str(done.folder), "--yes", said=capsys)
    said = facts(0, "now", *QUICK, "--apply", said=capsys)
    assert {key: said[key] for key in done.applied} == done.applied
    assert planner.now(bound_time_s=0.0, hours=48.0).applied is None


def test_jobs_that_are_not_opted_in_are_not_held(live: Path, cluster: Cluster, capsys: Said) -> None:
    """The plan holds those only that may be held."""
    jobs = [cluster.submit(*SOON, *(("--comment=flexible",) if n == 4 else ())) for n in range(5)]
    more = ("--set", "slurm.opt_in.partitions=[]", "--set", "slurm.opt_in.comment=[flexible]")
    said = facts(0, "now", *QUICK, "--apply", *more, said=capsys)
    assert [each["job_id"] for each in said["plan"]["holds"]] == [jobs[4]]
    assert [each["job"] for each in said["changes"]] == [jobs[4]]


def comment_of(job_id: str, attribute: str = "admin_comment") -> str:
    """What Slurm has as the comment of a job."""
    found = queue_now(Slurm()).find(job_id)
    assert found is not None
    return str(getattr(found, attribute))


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("where", ["admin_comment", "comment"])
def test_users_are_told_as_long_as_their_job_is_held(live: Path, cluster: Cluster, capsys: Said, where: str) -> None:
    """In words, beside what the comment says already; gone with the hold, whether it is released or has started."""
    waiting, odd = cluster.submit("--comment=flexible", *SOON), cluster.submit(f"--comment={ODD}", *SOON)
    array = cluster.submit("--array=1-3", *SOON)
    tell = ("--set", f"slurm.tell={where}")
    facts(0, "now", *QUICK, "--apply", *tell, said=capsys)
    before = {"admin_comment": "", "comment": "flexible"}[where]
    told = comment_of(waiting, where)
    assert told.startswith(f"{before};held-until=2" if before else "held-until=2")
    assert told.endswith(";why=cheaper-electricity")
    latest = datetime.fromisoformat(told.split("at-the-latest=")[1].split(";")[0]).timestamp()
    assert latest == (first_begin(waiting) + 6 * 3600) // 60 * 60
    assert "held-until=" in comment_of(array, where)
    assert ("held-until=" in comment_of(odd, where)) is (where == "admin_comment")
    assert comment_of(odd, "comment") == ODD
    words(0, "slurm", "undo", str(max(Path("reports/site").glob("2*"))), "--yes", said=capsys)
    assert [comment_of(each, where) for each in (waiting, array)] == [before, ""]
    facts(0, "now", *QUICK, "--apply", *tell, said=capsys)
    assert "held-until=" in comment_of(waiting, where)
    cluster.command("scontrol", "update", f"JobId={waiting}", "StartTime=now")
    cluster.wait_for(waiting, "RUNNING")
    facts(0, "now", *QUICK, "--apply", *tell, said=capsys)
    assert comment_of(waiting, where) == before


def first_begin(job_id: str) -> int:
    """The begin that a job had before it was held, by the journal."""
    lines = [json.loads(each) for each in Path("reports/site", JOURNAL).read_text("utf-8").splitlines()]
    return int(next(each["old"] for each in lines if each["job"] == job_id))


def test_why_a_job_waits_is_said_in_words(live: Path, cluster: Cluster, capsys: Said) -> None:
    """What holds it, what that saves and how to opt out; when others are expected, or why they are not planned."""
    held, no_room, left = cluster.submit(*SOON), cluster.submit("--ntasks=4"), cluster.submit("--hold")
    array = cluster.submit("--array=1-8", *SOON)
    after = cluster.submit("--ntasks=4", f"--dependency=afterok:{no_room}")
    facts(0, "now", *QUICK, said=capsys)
    assert f"job {held} is not held yet, but worth holding until 20" in words(0, "why", held, said=capsys)
    facts(0, "now", *QUICK, "--apply", said=capsys)
    text = words(0, "why", held, said=capsys)
    assert f"job {held} is held until 20" in text
    assert "for cheaper electricity, at the latest until 20" in text
    assert " EUR of energy; to opt out, use another partition than batch, open: the next run releases it\n" in text
    told = words(0, "why", no_room, "reports/site", said=capsys)
    assert f"job {no_room} is not held; it waits for its turn and for room on the machine, which is up to Slurm" in told
    told = words(0, "why", after, said=capsys)
    assert f"job {after} is not held; it waits for other jobs (afterok:{no_room})" in told
    assert f"job {left} is Slurm's alone, and not planned: it is held" in words(0, "why", left, said=capsys)
    assert "and 3 more tasks" in words(0, "why", array, said=capsys)
    assert "job 99999 is not in the plan" in line(2, "why", "99999", said=capsys)
    assert "no day was planned here" in line(2, "why", held, "scenarios", said=capsys)


def test_a_run_leaves_metrics_and_one_line(live: Path, cluster: Cluster, capsys: Said) -> None:
    """What is held, in a file for Prometheus; a run that fails changes what it knows and keeps the rest."""
    cluster.submit("--ntasks=4", *SOON)
    cluster.submit("--array=1-3", "--ntasks=2", *SOON)
    text = words(0, "now", *QUICK, "--apply", "--brief", "--metrics-file", "m.prom", said=capsys)
    assert text == "2 held, 2 new or moved, 0 released, 0 left alone\n"
    found = metrics(Path("m.prom"))
    assert (found["held_jobs"], found["held_core_hours"]) == (4, (4 + 3 * 2) * 0.5)
    assert 6 * 3600 < found["promised_delay_left_seconds"] <= 6 * 3600 + 1200
    assert (found["saved_today"], found["broken_promises"], found["last_exit_code"]) == (0, 0, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "/nowhere")
        line(8, "now", *QUICK, "--apply", "--brief", "--metrics-file", "m.prom", said=capsys)
    after = metrics(Path("m.prom"))
    assert after.pop("last_exit_code") == 8
    assert after.pop("last_run_timestamp_seconds") >= found["last_plan_timestamp_seconds"]
    assert after == {name: value for name, value in found.items() if name in after}
    assert "give it as well" in line(2, "now", "--metrics-file", "m.prom", said=capsys)


def metrics(path: Path) -> dict[str, float]:
    """The metrics of a file, each of which says what it means."""
    lines = path.read_text("ascii").splitlines()
    assert [each.split()[1] for each in lines if each.startswith("#")] == ["HELP", "TYPE"] * (len(lines) // 3)
    return {name.removeprefix("planner_"): float(value) for name, value in map(str.split, lines[2::3])}


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGSTOP])
def test_a_controller_that_is_down_or_hangs_is_one_line(
    live: Path, cluster: Cluster, capsys: Said, how: signal.Signals
) -> None:
    """Long before Slurm's own commands give up; the next run goes on."""
    cluster.submit(*SOON)
    controller = cluster.daemons["slurmctld"]
    controller.send_signal(how)
    try:
        if how == signal.SIGTERM:
            controller.wait(timeout=60)
        text = line(8, "now", *QUICK, "--apply", "-q", said=capsys)
    finally:
        if how == signal.SIGTERM:
            cluster.start_controller()
        else:
            controller.send_signal(signal.SIGCONT)
    assert text.startswith(f"plan: slurmctld {'is down' if how == signal.SIGTERM else 'does not answer'}; nothing was")
    assert [each["taken"] for each in facts(0, "now", *QUICK, "--apply", said=capsys)["changes"]] == [True]


# From here on without a real Slurm.


@pytest.fixture
def day(site: Path, capsys: Said) -> Path:
    """The folder of a plan that holds one waiting job, made from a saved snapshot of this moment."""
    now = int(time.time())
    save(Path("saved"), [job(42, submit_time=now - 30, eligible_time=now - 30)], now, full_s=600)
    return planned_day(capsys, "--snapshot", "saved")


COMMANDS = (["slurm", "snapshot"], ["now"], *(["slurm", each] for each in ("apply", "verify", "undo")))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_slurm_there_is_one_line(
    day: Path, command: list[str], capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names what is missing, exit code 8, and nothing is written."""
    monkeypatch.setenv("PATH", "/nowhere")
    arguments = [*command, str(day)] if command[-1] in ("apply", "verify", "undo") else command
    before = tree(Path())
    assert "squeue is missing along PATH; install Slurm's commands" in line(8, *arguments, said=capsys)
    assert tree(Path()) == before


def test_a_change_that_slurm_does_not_take_is_code_9(
    day: Path, tmp_path: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what it said; one that is overtaken is no failure."""
    queue = json.dumps(json.loads(Path("saved/squeue.json").read_text("utf-8")))
    path = fake(tmp_path / "bin", squeue=f"cat <<'EOF'\n{queue}\nEOF", scontrol="echo 'Denied for job 42' >&2; exit 1")
    monkeypatch.setenv("PATH", path)
    text = words(9, "slurm", "apply", str(day), "--yes", said=capsys)
    assert "not taken: begins at" in text
    assert "(Denied for job 42)" in text
    fake(
        tmp_path / "bin",
        scontrol=f"[ $# = 1 ] || cp {tmp_path}/bin/empty {tmp_path}/bin/squeue",
        empty="echo '{\"jobs\": []}'",
    )
    assert "no longer in the queue" in words(0, "slurm", "apply", str(day), "--yes", said=capsys)


def test_a_quiet_apply_says_nothing_but_what_slurm_does_not_take(
    day: Path, tmp_path: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For cron: no line where every begin time is taken, one line and code 9 where one is not; only what is taken
    counts as held."""
    queue = tmp_path / "queue.json"
    queue.write_bytes(Path("saved/squeue.json").read_bytes())
    path = fake(tmp_path / "bin", squeue=f"cat {queue}", scontrol="echo 'Denied for job 42' >&2; exit 1")
    monkeypatch.setenv("PATH", path)
    quiet = ("now", *QUICK, "--snapshot", "saved", "--apply", "-q", "--set", "slurm.tell=nobody")
    quiet = (*quiet, "--metrics-file", "now.prom")
    text = line(9, *quiet, said=capsys)
    assert "planner_held_jobs 0\n" in Path("now.prom").read_text("ascii")
    assert text.startswith("plan: Slurm has not taken 1 of 1 changes; the first: job 42 begins at ")
    assert text.endswith("(Denied for job 42)\n")
    take = 's/"eligible_time": [0-9]*/"eligible_time": \'$(sed s/.*uts//)\'/g'
    fake(tmp_path / "bin", scontrol=f"[ $# = 1 ] || sed -i '{take}' {queue}")
    assert words(0, *quiet, said=capsys) == ""
    assert "planner_held_jobs 1\n" in Path("now.prom").read_text("ascii")
    assert begin_of("42") == cheap_from()
    assert run(quiet) == 0
    assert capsys.readouterr() == ("", "")


def test_slurm_is_asked_again_where_it_says_so(
    day: Path, tmp_path: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restart it may know a job before its accounts do; a change that it takes the second time is taken."""
    queue, count = tmp_path / "queue.json", tmp_path / "count"
    queue.write_bytes(Path("saved/squeue.json").read_bytes())
    take = 's/"eligible_time": [0-9]*/"eligible_time": \'$(sed "s/.*uts//;q")\'/g'
    script = f"""[ $# = 1 ] && exit
echo x >> {count}
if [ $(wc -l < {count}) = 1 ]; then echo 'DB index is being set, try again for job 42' >&2; exit 1; fi
[ $(wc -l < {count}) = 3 ] && sed -i '{take}' {queue}"""
    monkeypatch.setenv("PATH", fake(tmp_path / "bin", squeue=f"cat {queue}", scontrol=script))
    monkeypatch.setattr(send_changes, "PAUSES_S", (0, 0))
    said = facts(0, "slurm", "apply", str(day), "--yes", said=capsys)
    assert [each["taken"] for each in said["changes"]] == [True]
    assert begin_of("42") == cheap_from()


def test_bad_folders_are_one_line_each(day: Path, capsys: Said) -> None:
    """No folder, one of something else, one that was changed: exit code 2, before Slurm is asked."""
    for command in ("apply", "verify", "undo"):
        assert "nowhere: no such folder" in line(2, "slurm", command, "nowhere", said=capsys)
    assert "run.json" in line(2, "slurm", "apply", "scenarios", said=capsys)
    (day.parent / JOURNAL).write_text("x\n", encoding="utf-8")
    assert f"{JOURNAL}:1: not a line of a journal" in line(2, "slurm", "verify", str(day), said=capsys)
    schedule = day / "deferred.csv"
    schedule.write_text(schedule.read_text("utf-8") + "\n", encoding="utf-8")
    assert "deferred.csv: it was changed after it was written; plan" in line(2, "slurm", "apply", str(day), said=capsys)


def test_a_plan_of_a_day_that_is_over_is_not_applied(site: Path, capsys: Said) -> None:
    """Its starts have passed: jobs that still wait would all be let go."""
    then = int(time.time()) - 3 * 86_400
    save(Path("saved"), [job(42, submit_time=then, eligible_time=then)], then)
    folder = planned_day(capsys, "--snapshot", "saved")
    assert "its day was over at" in line(2, "slurm", "apply", str(folder), "--yes", said=capsys)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["now", "--at", "2024-06-01T10:00Z"], "--at does not go with Slurm"),
        (["now", "--snapshot", "scenarios/site.yaml"], "--snapshot is a table; give a folder"),
        (["now", "--snapshot", "scenarios"], "has no manifest.json"),
        (["now", "--snapshot", "saved", "--nodes", "x.csv"], "--nodes goes with a table"),
        (["--day", "2024-06-01"], "jobs.source is slurm, which has the jobs of one moment"),
        (["check"], "jobs.source is slurm"),
        (["run", "--from", "2024-06-01", "--to", "2024-06-02"], "jobs.source is slurm"),
        (["now", "--set", "slurm.documents=nowhere"], "does not exist; paths start at"),
        (["now", "--set", "slurm.partitions=batch"], "slurm.partitions: expected a list of names, found 'batch'"),
        (["now", "--set", "slurm.documents=saved", "--set", "slurm.partitions=[gpu]"], "no node is in 'gpu'"),
    ],
)
def test_what_does_not_go_with_slurm_is_one_line(day: Path, arguments: list[str], text: str, capsys: Said) -> None:
    """Exit code 2."""
    assert text in line(2, *arguments, said=capsys)


def test_what_a_plan_wants_of_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its starts, for jobs that are deferred the end of the day or later; it holds nobody."""
    monkeypatch.chdir(write_small_site(tmp_path))
    plan("--day", DAY, *BRIEF)
    folder = tmp_path / "reports" / "site" / DAY
    wanted = read_wanted(folder)
    midnight = int(datetime.fromisoformat("2024-06-02T00:00:00+02:00").timestamp())
    waiting = {row["job_id"] for row in rows_of(folder / "deferred.csv") if row["kind"] == "deferred"}
    assert waiting
    assert {job_id for job_id, start in wanted.starts.items() if start >= midnight} == waiting
    assert wanted.starts["wide"] == planned_start(folder, "wide")
    assert wanted.holds == {}
    assert not wanted.rules.opt_in.any
