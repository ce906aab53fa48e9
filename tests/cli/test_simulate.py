"""``plan simulate``, ``plan study`` and what ``plan show`` says of policies, metrics and predictors."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from planner.cli.main import run
from planner.cp.engines import ENGINES
from planner.errors import InputError
from planner.inputs.jobs.swf_file import read_swf_trace
from planner.inputs.traces import read_pool
from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.runs.measured_replays import Conduct, Measurement, simulate
from planner.studies.published import PREDICTIONS, Campaign
from tests.days import write_small_site

SWF = """\
; MaxProcs: 4
; UnixStartTime: 1000000
1 0 -1 100 4 -1 -1 4 200 -1 1 1 1 -1 -1 -1 -1 -1
2 10 -1 100 2 -1 -1 4 100 -1 1 1 1 -1 -1 -1 -1 -1
3 20 -1 50 1 -1 -1 -1 60 -1 1 2 1 -1 -1 -1 -1 -1
4 30 -1 0 1 -1 -1 1 60 -1 5 2 1 -1 -1 -1 -1 -1
5 40 -1 90 1 -1 -1 1 60 -1 1 2 1 -1 -1 -1 -1 -1
6 50 -1 10 9 -1 -1 9 60 -1 1 2 1 -1 -1 -1 -1 -1
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Six lines: one never ran, one is too wide, one outran its request, one has no requested processors."""
    path = tmp_path / "small.swf"
    path.write_text(SWF, encoding="utf-8")
    return path


def test_several_policies_in_one_call(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One row for every policy and estimate; what was cleaned is counted on stderr."""
    assert run(["simulate", str(trace), "-p", "list,easy", "-p", "cbf", "-e", "actual,requested", "--json"]) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert [row["policy"] for row in answer["runs"]] == ["list", "easy", "conservative"] * 2
    assert {row["jobs"] for row in answer["runs"]} == {4}
    assert answer["trace"]["dropped"] == {"runtime is zero or unknown": 1, "wider than the machine": 1}
    assert "1 repaired: runtime above requested time: cut to it" in err
    assert "1 repaired: requested processors missing: allocated processors taken" in err


def test_a_table_for_people(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The header names the metrics asked for; the trimming rule and the job count stand below."""
    assert run(["simulate", str(trace), "--metrics", "bsld,p3sf"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == ["policy", "estimate", "jobs", "bsld", "p3sf", "cpu_s"]
    assert "all jobs; 4 jobs on 4 processors" in out


def test_a_page_of_metrics_and_waits(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page has the rows of the table, and the share of jobs in each class of waits; it fetches nothing."""
    page = tmp_path / "pages" / "replay.html"
    assert run(["simulate", str(trace), "-p", "list,easy", "-e", "actual", "--page", str(page), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    text = page.read_text(encoding="utf-8")
    for row in rows:
        assert f'<data value="{row["bsld"]!r}">' in text
        assert f'<data value="{row["wait"]!r}">' in text
    # Four jobs run. Job 1 starts at once and holds all processors to 100, job 2 then all to 200, when 3 and 5 start:
    # they wait 90, 180 and 160 s.
    for label, part in (("at once", "25.0"), ("to 1 minute", "0.0"), ("to 10 minutes", "75.0"), ("to 1 hour", "0.0")):
        assert f"<title>{label}, list, actual: {part}\u202f%</title>" in text
    assert "http" not in text.replace("http-equiv", "")


def test_a_page_that_cannot_be_written(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is one line that says where and what to do."""
    assert run(["simulate", str(trace), "--page", str(trace / "replay.html"), "-q"]) != 0
    assert "replay.html: cannot be written" in capsys.readouterr().err


def test_an_offline_schedule_is_one_more_row(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is measured and written like a policy, and a line below the table says how far it came."""
    out = tmp_path / "out"
    words = ["simulate", str(trace), "-p", "list", "-e", "actual", "--offline", "af,bsld", "--metrics", "af"]
    assert run([*words, "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [[n, "actual"] for n in ("list", "offline-af", "offline-bsld")]
    assert float(lines[2].split()[3]) <= float(lines[1].split()[3])
    assert "% of the objective of order-af, from which it started" in lines[4]
    assert "and no schedule is below" in lines[4]
    assert (out / "offline-af.actual.jobs.csv").is_file()
    assert "offline-af" in (out / "offline-af.actual.swf").read_text(encoding="utf-8").splitlines()[4]
    assert run([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["offline"] == {"steps": 60, "seconds": None}
    assert 0 < answer["runs"][1]["at_least"] <= answer["runs"][1]["af"]
    assert "at_least" not in answer["runs"][0]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--offline", "wait"], "known: af, awf, bsld, p2sf, bsld-ahead, af-ahead"),
        (["--offline", "af", "--scenario", "sample"], "--offline plans one pool of processors"),
    ],
)
def test_offline_schedules_that_cannot_be(
    trace: Path, words: list[str], answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that says what can."""
    assert run(["simulate", str(trace), *words]) == 2
    assert answer in capsys.readouterr().err


def one_core_nodes(count: int) -> list[str]:
    """The small site with so many nodes of one core."""
    words = [f"cluster.classes.cpu.count={count}", "cluster.classes.cpu.capacity.cores=1"]
    return ["--scenario", "site", *(part for word in words for part in ("--set", word))]


def test_one_core_nodes_of_a_scenario_are_the_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same file with --processors and on a scenario's nodes of one core: jobs, predictions and starts are equal.

    Predictors know executables (field 14), users and the time of day on both.
    """
    rng = np.random.default_rng(5)
    submit = np.sort(rng.integers(5000, 90_000, 80))
    lines = ["; MaxProcs: 6", "; UnixStartTime: 1000000"]
    for job, (at, runtime, width) in enumerate(
        zip(submit, rng.integers(1, 9000, 80), rng.integers(1, 7, 80), strict=True)
    ):
        asked, user, program = runtime + rng.integers(0, 5000), rng.integers(1, 4), rng.integers(-1, 3)
        lines.append(f"{job + 1} {at} -1 {runtime} {width} -1 -1 {width} {asked} -1 1 {user} 1 {program} -1 -1 -1 -1")
    path = tmp_path / "some.swf"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(write_small_site(tmp_path))
    words = ["simulate", str(path), "-p", "easy,easy-sjbf,saf-list,conservative", "-q"]
    words += ["-e", "actual,requested,last2,hierarchy,survival-3,data,cvh"]
    starts = {}
    for name, machine in (("pool", ["--processors", "6"]), ("nodes", one_core_nodes(6))):
        assert run([*words, *machine, "--out", str(tmp_path / name)]) == 0
        for file in sorted((tmp_path / name).glob("*.swf")):
            swf = read_swf_trace(file)
            starts[name, file.name] = (swf.columns["submit_s"] + swf.columns["wait_s"]).tolist()
    files = {file for _, file in starts}
    assert len(files) == 28
    for file in files:
        assert starts["pool", file] == starts["nodes", file], file


def test_deadlines_of_a_job_table_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A patient job lets one without a deadline go first; due soon, it keeps its place; drawn ones change neither."""
    head = "job_id,submit_time,requested_s,cores,deadline\nrunning,2024-06-01T08:00:00Z,100,4,\n"
    rest = "patient,2024-06-01T08:00:01Z,50,4,{}\nregular,2024-06-01T08:00:02Z,50,4,\n"
    path = tmp_path / "jobs.csv"
    monkeypatch.chdir(write_small_site(tmp_path))
    for due, starts in (("2024-06-01T09:00:00Z", [0, 150, 100]), ("2024-06-01T08:03:00Z", [0, 100, 150])):
        path.write_text(head + rest.format(due), encoding="utf-8")
        for machine in (["--processors", "4"], one_core_nodes(4)):
            out = tmp_path / "out"
            words = ["simulate", str(path), "-p", "deadline", *machine, "--metrics", "deadlines,misses", "--json", "-q"]
            assert run([*words, "--out", str(out)]) == 0
            (row,) = json.loads(capsys.readouterr().out)["runs"]
            assert (row["deadlines"], row["misses"]) == (1, 0)
            with (out / "deadline.requested.jobs.csv").open(encoding="utf-8") as stream:
                assert [int(job["starting_time"]) for job in csv.DictReader(stream)] == starts
            assert run([*words, "--deadlines", "100"]) == 0
            (row,) = json.loads(capsys.readouterr().out)["runs"]
            assert row["deadlines"] == 3


def test_estimates_are_rounded_when_asked(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half of 100 and of 25 s: 12.5 s is written as such, or rounded up; what counts in whole seconds says so."""
    trace.write_text(SWF.replace(" 50 1 -1 -1 -1 60", " 25 1 -1 -1 -1 60"), encoding="utf-8")
    words = ["simulate", str(trace), "-e", "actual*0.5", "-p", "easy", "-q"]
    for more, half in (([], 12.5), (["--round-estimates"], 13)):
        assert run([*words, *more, "--out", str(tmp_path / "out")]) == 0
        assert read_swf_trace(tmp_path / "out" / "easy.actualx0.5.swf").columns["think_s"].tolist() == [
            50,
            50,
            half,
            30,
        ]
    capsys.readouterr()
    assert run([*words, "-p", "order-af"]) == 2
    assert "order-af counts in whole seconds here" in capsys.readouterr().err
    assert run([*words, "-p", "order-af", "--round-estimates"]) == 0


def test_json_has_null_for_what_is_no_number(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody has a deadline, so nothing says how much of it was used; NaN would be no JSON."""
    assert run(["simulate", str(trace), "--metrics", "usage,r2", "--json", "-q"]) == 0

    def refused(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    (row,) = json.loads(capsys.readouterr().out, parse_constant=refused)["runs"]
    assert row["usage"] is None


def test_files_for_other_tools(trace: Path, tmp_path: Path) -> None:
    """jobs.csv has Batsim's columns, the SWF file reads back with the same starts, metrics.csv has one row per run."""
    out = tmp_path / "out"
    assert run(["simulate", str(trace), "-p", "easy", "-e", "actual", "--out", str(out), "-q"]) == 0
    with (out / "easy.actual.jobs.csv").open(encoding="utf-8") as stream:
        jobs = list(csv.DictReader(stream))
    assert [job["starting_time"] for job in jobs] == ["0", "100", "200", "200"]
    assert {"job_id", "submission_time", "waiting_time", "turnaround_time", "stretch", "final_state"} <= set(jobs[0])
    swf = read_swf_trace(out / "easy.actual.swf")
    assert (swf.columns["submit_s"] + swf.columns["wait_s"]).tolist() == [0, 100, 200, 200]
    with (out / "metrics.csv").open(encoding="utf-8") as stream:
        assert [row["policy"] for row in csv.DictReader(stream)] == ["easy"]


def test_a_cluster_with_energy_and_profit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a scenario's cluster the ledger's figures stand beside the metrics: 32 cores for an hour earn 0.64."""
    path = tmp_path / "jobs.csv"
    path.write_text(
        "job_id,submit_time,requested_s,cores,power_w\na,2024-06-01T08:00:00-04:00,3600,32,1000\n", encoding="utf-8"
    )
    words = ["simulate", str(path), "--scenario", "sample", "--set", "weather.source=constant"]
    words += ["--set", "weather.temperature_c=20", "--metrics", "wait,revenue_eur,profit_eur", "--json", "-q"]
    assert run(words) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert row["revenue_eur"] == pytest.approx(0.64)
    assert row["wait"] == 0


def test_all_runs_are_settled_over_the_same_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """EASY ends before midnight, hold in the cheap hours after it: idle nodes draw power for two days under both."""
    monkeypatch.chdir(tmp_path)
    Path("idle.yaml").write_text(
        "base: sample\nweather: {source: constant, temperature_c: 15}\n"
        "cluster: {classes: {cpu: {count: 4, capacity: {cores: 32, memory_gb: 128}, idle_w: 100}}}\n"
        'tariff: {kind: bands, eur_per_kwh: 0.30, bands: [{from: "00:00", to: "06:00", eur_per_kwh: 0.01}]}\n'
        "rules: {max_delay: 6h}\ngoal: {waiting: 0.0001}\n"
    )
    hours = (8, 10, 12, 14, 16, 20)
    lines = [f"h{hour},2024-06-01T{hour:02}:00:00-04:00,3600,3600,32,300" for hour in hours]
    Path("late.csv").write_text("\n".join(["job_id,submit_time,requested_s,runtime_s,cores,power_w", *lines]) + "\n")
    words = ["simulate", "late.csv", "--scenario", "idle.yaml", "--metrics", "it_kwh,energy_cost_eur", "--json", "-q"]
    assert run([*words, "-p", "easy,hold"]) == 0
    easy, hold = json.loads(capsys.readouterr().out)["runs"]
    assert hold["it_kwh"] == pytest.approx(easy["it_kwh"])
    assert hold["energy_cost_eur"] < easy["energy_cost_eur"]
    assert run([*words, "-p", "easy"]) == 0
    (alone,) = json.loads(capsys.readouterr().out)["runs"]
    assert alone["it_kwh"] == pytest.approx(easy["it_kwh"] - 4 * 0.1 * 24)


NIGHT = 'tariff={kind: bands, eur_per_kwh: 0.3, bands: [{from: "00:00", to: "06:00", eur_per_kwh: 0.01}]}'


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ([NIGHT], "the scenario has no rules.max_delay; give --set rules.max_delay=6h"),
        ([NIGHT, "rules.max_delay=0h"], "rules.max_delay is 0; give --set rules.max_delay=6h"),
        (["rules.max_delay=6h", "tariff.kind=flat"], "electricity costs the same at all hours"),
        ([NIGHT, "rules.max_delay=6h"], ""),
        (None, "without a scenario there are no prices and no rules.max_delay; give --scenario"),
    ],
)
def test_a_policy_that_holds_nothing_says_why(
    settings: list[str] | None, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once for all estimates; where something is held, nothing is said."""
    steady = ["weather.source=constant", "weather.temperature_c=15", "goal.waiting=0.0001"]
    trace = tmp_path / "one.csv"
    trace.write_text(
        "job_id,submit_time,requested_s,runtime_s,cores,power_w\na,2024-06-01T20:00:00-04:00,3600,3600,32,300\n"
    )
    machine = ["--processors", "32"]
    if settings is not None:
        machine = ["--scenario", "sample", *(word for each in (*steady, *settings) for word in ("--set", each))]
    assert run(["simulate", str(trace), *machine, "-p", "easy,hold", "-e", "requested,actual"]) == 0
    said = capsys.readouterr().out
    assert said.count("hold: nothing is held: ") == bool(told)
    assert told in said


@pytest.mark.parametrize("base", ["order-af", "order-profit", "pcp21", "cp-bsld+"])
def test_a_policy_whose_jobs_cannot_be_held_is_named_as_it_was_typed(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "one.csv"
    path.write_text("job_id,submit_time,requested_s,cores\na,2024-06-01T20:00:00-04:00,3600,32\n")
    assert run(["simulate", str(path), "--processors", "32", "-p", f"hold:{base}"]) == 2
    assert f"jobs of '{base}' cannot be held; those of easy, " in capsys.readouterr().err


def test_files_say_when_a_job_joined_the_queue(tmp_path: Path) -> None:
    """Waits in the file count from the submission, those of the metrics from the end of the job before."""
    path = tmp_path / "after.csv"
    path.write_text("job_id,submit_unix,dependency,requested_s,cores\nx,0,,100,1\na,10,afterok:x,30,1\n")
    assert run(["simulate", str(path), "--processors", "1", "--out", str(tmp_path / "out"), "-q"]) == 0
    with (tmp_path / "out" / "easy.requested.jobs.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["waiting_time"], row["ready_time"]) for row in rows] == [("0", "0"), ("90", "100")]
    with (tmp_path / "out" / "metrics.csv").open(encoding="utf-8") as stream:
        assert float(next(csv.DictReader(stream))["wait"]) == 0


def test_a_policy_under_two_names_runs_once(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Else one of the two files would be lost."""
    assert run(["simulate", str(trace), "-p", "list,backfill,list", "--json"]) == 0
    assert [row["policy"] for row in json.loads(capsys.readouterr().out)["runs"]] == ["list"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-p", ""], "give a policy, such as easy"),
        (["--set", "rules.max_delay=6h"], "--set changes what a scenario says; give --scenario as well"),
        (["-p", "eazy"], "unknown policy 'eazy'; known: strict"),
        (["-p", "xaf-list"], "unknown order 'xaf' in policy 'xaf-list'; known: fcfs"),
        (["-e", "oracle"], "unknown estimate or predictor 'oracle'; known: actual"),
        (["--metrics", "speed"], "unknown metric 'speed'; known: bsld"),
        (["--metrics", "profit_eur"], "needs a scenario"),
        (["--trim", "some"], "unknown trimming rule 'some'; known: none"),
        (["--correction", "some"], "unknown correction 'some'; known: request"),
        (["-p", "cp-speed"], "unknown local objective 'speed'; known: af, awf, bsld, p2sf"),
        (
            ["-p", "cp-p2sf-ratio"],
            "cp-p2sf-ratio: engines plan for sums that no wait lowers; known: af, awf, bsld, p2sf",
        ),
        (["-p", "cp-af", "--engine", "cplex"], "unknown engine 'cplex'; known: cpsat, cpo-community, cpo"),
        (["-p", "easy", "--engine", "cplex"], "unknown engine 'cplex'; known: cpsat, cpo-community, cpo"),
        (["-p", "cp-af", "--time-limit", "soon"], "soon"),
        (["--processors", "4", "--scenario", "sample"], "not both"),
        (["--scenario", "sample", "--partition", "1"], "--partition is for one pool"),
        (["--partition", "batch"], "--partition: cannot read 'batch' as numbers; write 1 or 1,3"),
    ],
)
def test_bad_words_are_named_with_the_known_ones(
    trace: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and one line that says what is known."""
    assert run(["simulate", str(trace), *words]) == 2
    assert message in capsys.readouterr().err


def test_an_engine_says_how_it_did(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Job 2 takes all processors, jobs 3 and 5 one each: one round has a choice. In a line, in JSON and in CSV."""
    assert run(["simulate", str(trace), "-p", "cp-af", "-q"]) == 0
    capsys.readouterr()
    words = ["simulate", str(trace), "-p", "list,cp-af", "--time-limit", "60s", "-q"]
    assert run([*words, "--json", "--out", str(tmp_path / "o")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["engine"], answer["time_limit_s"]) == ("cpsat", 60.0)
    plain, planned = answer["runs"]
    counts = {"engine_rounds": 1, "engine_proven": 1, "engine_fallbacks": 0}
    assert {name: planned[name] for name in counts} == counts
    assert not counts.keys() & plain.keys()
    with (tmp_path / "o" / "metrics.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["engine_rounds"], row["engine"]) for row in rows] == [("", "cpsat"), ("1", "cpsat")]
    assert run(words[:-1]) == 0
    said = capsys.readouterr().out.splitlines()
    assert "cp-af, requested: cpsat with 60 s planned 1 rounds, 1 proven optimal, 0 fell back to list" in said
    assert run(["simulate", str(trace), "-p", "list", "--json", "-q"]) == 0
    assert "engine" not in json.loads(capsys.readouterr().out)


def test_a_missing_engine_ends_the_command_before_the_trace_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 4 with the remedy, though there is no such trace."""
    for name in ("cpsat", "cpo"):
        monkeypatch.setattr(type(ENGINES[name]), "available", lambda self: False)
        assert run(["simulate", str(tmp_path / "none.swf"), "-p", "cp-af", "--engine", name]) == 4
        assert f"the engine {name} is not installed; install" in capsys.readouterr().err
    for policy in ("cp-af", "hcp19", "pcp19"):
        assert run(["simulate", str(tmp_path / "none.swf"), "-p", policy]) == 4
        assert "the engine cpsat is not installed; install" in capsys.readouterr().err
    assert run(["simulate", str(tmp_path / "none.swf"), "-p", "list", "--engine", "cpo"]) == 4
    assert run(["simulate", str(tmp_path / "none.swf"), "-p", "pcp21"]) == 2


def test_where_an_engine_is_missing_the_others_run(
    trace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line says which did not."""
    monkeypatch.setattr(type(ENGINES["cpsat"]), "available", lambda self: False)
    assert run(["simulate", str(trace), "-p", "cp-af,list,hcp19", "--json", "-q"]) == 0
    said = capsys.readouterr()
    assert [row["policy"] for row in json.loads(said.out)["runs"]] == ["list"]
    (line,) = said.err.splitlines()
    assert line.startswith("cp-af, hcp19 did not run: the engine cpsat is not installed; install")


def test_dispatchers_plan_a_cluster_and_say_how_they_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two jobs that both have room on the sample's nodes: who plans, with what limit, and how often in vain."""
    path = tmp_path / "jobs.csv"
    lines = [f"{name},2024-06-01T08:00:00-04:00,{seconds},320,1000" for name, seconds in (("a", 3600), ("b", 60))]
    path.write_text("\n".join(["job_id,submit_time,requested_s,cores,power_w", *lines]) + "\n", encoding="utf-8")
    words = ["simulate", str(path), "--scenario", "sample", "--metrics", "stretch", "-q"]
    assert run([*words, "-p", "pcp21,hcp19", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["engine"], answer["time_limit_s"], answer["dispatch_steps"]) == ("cpsat", 1.0, 200)
    assert [(row["stretch"], row["engine_rounds"], row["engine_fallbacks"]) for row in answer["runs"]] == [
        (1, 1, 0)
    ] * 2
    assert run([*words, "-p", "pcp21s", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert "engine" not in answer
    assert answer["dispatch_steps"] == 200
    assert run([*words[:-1], "-p", "pcp21,hcp19"]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if " planned " in line]
    assert [line.split(": ")[1].split(" planned")[0] for line in said] == [
        "a search with 200 steps",
        "cpsat with 1 s",
    ]


def test_jobs_without_a_request_can_be_left_out(tmp_path: Path) -> None:
    """Kept, such a job asks for its runtime; where no job is left, or for a table, the rule is refused."""
    path = tmp_path / "some.swf"
    lines = [f"{job} 0 -1 50 1 -1 -1 1 {request} -1 1 1 1 1 1 -1 -1 -1" for job, request in ((1, -1), (2, 60))]
    path.write_text("; MaxProcs: 4\n" + "\n".join(lines) + "\n", encoding="utf-8")
    for rule, kept in (("keep", 2), ("drop", 1)):
        assert read_pool(path, unrequested=rule).intake.kept == kept
    path.write_text("; MaxProcs: 4\n" + lines[0] + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"no job can be replayed \(1 without requested time\)"):
        read_pool(path, unrequested="drop")
    table = tmp_path / "jobs.csv"
    table.write_text("job_id,submit_unix,requested_s,cores\na,0,60,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="every job of a table has a requested time"):
        read_pool(table, 4, unrequested="drop")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"unrequested": "some"}, "unknown rule 'some' for jobs without a requested time; known: keep, drop"),
    ],
)
def test_rules_of_studies_are_known_words(trace: Path, rules: dict[str, str], message: str) -> None:
    """A rule for jobs that is not known is refused with the known ones."""
    with pytest.raises(InputError, match=message):
        read_pool(trace, **rules)


@pytest.mark.parametrize(
    ("conduct", "policy", "message"),
    [
        (Conduct(rounds="some"), "easy", "unknown rounds 'some'; known: second, event"),
        (Conduct(predictions="round"), "cbf", "keeps reservations"),
    ],
)
def test_a_conduct_that_cannot_be(trace: Path, conduct: Conduct, policy: str, message: str) -> None:
    """How studies replay is refused in the same words wherever it is asked for."""
    with pytest.raises(InputError, match=message):
        simulate(
            read_pool(trace),
            [policy_named(policy)],
            [estimate_named("last2")],
            Measurement.named(["bsld"]),
            conduct=conduct,
        )


def test_how_it_was_replayed_is_told(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Corrections, rounds and deadlines stand in JSON and CSV, and what is unusual below the table and in the SWF."""
    words = [
        "simulate",
        str(trace),
        "-p",
        "easy",
        "--correction",
        "double",
        "--deadlines",
        "50",
        "--out",
        str(tmp_path / "o"),
    ]
    assert run(words) == 0
    assert "correction double, deadline percent 50.0" in capsys.readouterr().out
    assert "replayed under easy, correction double" in (tmp_path / "o" / "easy.requested.swf").read_text(
        encoding="utf-8"
    )
    with (tmp_path / "o" / "metrics.csv").open(encoding="utf-8") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["rounds"], row["correction"], row["seed"]) == ("second", "double", "0")
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["correction"] == "double"


def test_a_published_run_stands_beside_ours(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trace is known by its jobs and processors; the difference is in percent of what was published."""
    source, policies, estimates = read_pool(trace), [policy_named("easy")], [estimate_named("actual")]
    (ours,) = simulate(source, policies, estimates, Measurement.named(["bsld"]), conduct=Conduct(rounds="event"))
    other = Campaign(jobs=7, bsld={("easy", "actual", "request"): ours.values["bsld"] / 1.25})
    monkeypatch.setitem(PREDICTIONS, (ours.counted, 4), other)
    assert run(["study", "predictions", str(trace), "--processors", "4", "--out", str(tmp_path), "--json", "-q"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["small predictions"]
    assert (row["of jobs"], row["difference"]) == (7, "+25.0000 %")


def test_bad_lines_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As in the SWF reader: file, line, what was expected; a table needs its processors; a number may not repeat."""
    path = tmp_path / "short.swf"
    path.write_text("; MaxProcs: 4\n1 2 3\n", encoding="utf-8")
    assert run(["simulate", str(path)]) == 2
    assert "short.swf:2: expected 18 fields, found 3" in capsys.readouterr().err
    path.write_text(SWF.replace("\n2 10", "\n1 10"), encoding="utf-8")
    assert run(["simulate", str(path)]) == 2
    assert "short.swf:4: job 1 is also on line 3" in capsys.readouterr().err
    table = tmp_path / "jobs.csv"
    table.write_text("job_id,submit_unix,requested_s,cores\na,0,60,1\n", encoding="utf-8")
    assert run(["simulate", str(table)]) == 2
    assert "give --processors" in capsys.readouterr().err
    assert run(["simulate", str(tmp_path / "none.swf")]) == 2


def test_policies_are_shown_as_kinds_and_orders(capsys: pytest.CaptureFixture[str]) -> None:
    """Every kind once and every order once, not each with each."""
    assert run(["show", "policies"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 45
    names = [line.split("  ")[0] for line in lines]
    assert {"easy", "list", "order-OBJECTIVE", "pcp21", "ORDER-KIND", "ORDER saf", "OBJECTIVE bsld"} <= set(names)
    assert "saf-list" not in names


@pytest.mark.parametrize(("topic", "entry"), [("policies", "deadline"), ("metrics", "p2sf"), ("predictors", "cvh")])
def test_show_explains(topic: str, entry: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each with a sentence."""
    assert run(["show", topic, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)[entry]) > 20


def test_the_study_of_predictions_runs_end_to_end(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On any trace; without published figures every run is made."""
    assert run(["study", "predictions", str(trace), "--out", str(tmp_path), "--json", "-q"]) == 0
    rows = json.loads(capsys.readouterr().out)["small predictions"]
    assert {(row["policy"], row["estimate"]) for row in rows} >= {("easy", "cvh"), ("easy-sjbf", "last2")}
