"""Claims about ``plan compare``: the same days side by side and beside EASY, with savings that add up."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from planner.cli.compare import compare_text
from planner.cli.main import run
from tests.days import column_sum, plan, rows_of
from tests.rolling import CSVS, FIRST, LAST, QUICK, write_rolling_site, written

DAYS = ("--from", FIRST, "--to", LAST)
POLICIES = ("-p", "easy,hold", "--set", "rules.max_delay=2h")
ONE = ("--bound-time", "0", "--processes", "1", "-q")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two scenarios by two methods and two policies; never change it."""
    base = write_rolling_site(tmp_path_factory.mktemp("compared"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(base)
        plan("compare", "site", "warm", *DAYS, "-m", "multisearch", "-m", "est", *POLICIES, *ONE)
    (folder,) = (base / "reports" / "compare").glob("*/*")
    return folder


def seconds(moment: str) -> float:
    return dt.datetime.fromisoformat(moment).timestamp()


def test_files(compared: Path) -> None:
    """One row per run, one per day of each, the same as JSON, and every day's own folder."""
    runs, days = rows_of(compared / "runs.csv"), rows_of(compared / "days.csv")
    assert [(row["scenario"], row["method"]) for row in runs] == [
        (scenario, name) for scenario in ("site", "warm") for name in ("easy", "hold", "multisearch", "est")
    ]
    assert [row["kind"] for row in runs] == ["policy", "policy", "plan", "plan"] * 2
    assert len(days) == 4 * 8
    told = json.loads((compared / "compare.json").read_text())
    assert told["format"] == 1
    assert (told["baseline"], told["from"], told["to"]) == ("site", FIRST, LAST)
    assert [row["profit_eur"] for row in told["runs"]] == [float(row["profit_eur"]) for row in runs]
    assert len(list(compared.glob("runs/*/*/*/summary.json"))) == 16


def test_sums_and_differences(compared: Path) -> None:
    """A run's figures are the sums of its days, and those of its schedules; differences are like with like."""
    runs, days = rows_of(compared / "runs.csv"), rows_of(compared / "days.csv")
    for place, run_row in enumerate(runs):
        base = float(runs[place % 4]["profit_eur"])
        mine = [row for row in days if (row["scenario"], row["method"]) == (run_row["scenario"], run_row["method"])]
        for name in ("profit_eur", "it_kwh", "cooling_kwh", "finished"):
            assert float(run_row[name]) == pytest.approx(sum(float(row[name]) for row in mine), abs=1e-4)
        folder = compared / "runs" / run_row["scenario"] / run_row["method"]
        revenue = sum(column_sum(path, "revenue_eur") for path in folder.glob("*/schedule.csv"))
        if run_row["kind"] == "plan":
            assert float(run_row["revenue_eur"]) == pytest.approx(revenue, abs=1e-3)
        more = float(run_row["profit_eur"]) - base
        assert float(run_row["profit_difference_eur"]) == pytest.approx(more, abs=1e-5)
        assert float(run_row["profit_difference_percent"]) == pytest.approx(100 * more / base, abs=1e-4)
    assert float(runs[6]["cooling_kwh"]) > float(runs[2]["cooling_kwh"])


def test_everything_is_on_the_same_jobs(compared: Path) -> None:
    """Plans and policies start or leave waiting as many jobs in all: those that the plans know."""
    runs = rows_of(compared / "runs.csv")
    assert {int(row["started"]) + int(row["deferred"]) for row in runs} == {14 * 4}
    assert all(int(row["started"]) == int(row["finished"]) + int(row["running"]) for row in runs)
    assert {row["rejected"] for row in runs} == {"1"}


def test_savings_are_against_easy_of_the_same_scenario(compared: Path) -> None:
    """Profit more, and cost, energy and CO2 less, than the first row of the scenario; EASY saves nothing."""
    runs = rows_of(compared / "runs.csv")
    for k, row in enumerate(runs):
        easy = runs[k - k % 4]
        for name, sign in (("profit_eur", 1), ("energy_cost_eur", -1), ("kwh", -1), ("carbon_kg", -1)):
            saved = "saved_eur" if name == "profit_eur" else f"saved_{name}"
            more = sign * (float(row[name]) - float(easy[name]))
            assert float(row[saved]) == pytest.approx(more, abs=2e-6)
        assert float(row["kwh"]) == pytest.approx(float(row["it_kwh"]) + float(row["cooling_kwh"]), abs=1e-5)


def test_waits_of_plans_are_those_of_their_schedules(compared: Path) -> None:
    """Mean and 95th percentile from submission to start, or to the end for jobs that the last day leaves waiting."""
    for row in rows_of(compared / "runs.csv"):
        if row["kind"] == "plan":
            waits = []
            for path in (compared / "runs" / row["scenario"] / row["method"]).glob("*/schedule.csv"):
                started = [each for each in rows_of(path) if each["state"] == "planned"]
                waits += [seconds(each["start_time"]) - seconds(each["submit_time"]) for each in started]
            assert len(waits) == int(row["started"])
            last = max((compared / "runs" / row["scenario"] / row["method"]).glob("*/deferred.csv"))
            left = [each for each in rows_of(last) if each["kind"] == "deferred"]
            waits += [seconds(f"{LAST}T00:00:00+02:00") + 86400 - seconds(each["submit_time"]) for each in left]
            assert len(left) == int(row["still_waiting"]) == int(row["deferred"])
            assert float(row["mean_wait_s"]) == pytest.approx(np.mean(waits))
            assert float(row["wait95_s"]) == pytest.approx(np.percentile(waits, 95))


def test_a_promise_is_told_of_hold_alone(compared: Path) -> None:
    """How many jobs were delayed, by how much at most, and that no promise of two hours was broken."""
    for row in rows_of(compared / "runs.csv"):
        told = [row[name] for name in ("delayed", "longest_delay_s", "broken_promises")]
        if row["method"] == "hold":
            assert int(told[0]) >= 0
            assert 0 <= int(told[1]) <= 2 * 3600
            assert told[2] == "0"
        else:
            assert told == ["", "", ""]


def test_as_a_run_of_its_own(compared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run inside a comparison gives the files that ``plan run`` gives."""
    base = write_rolling_site(tmp_path)
    monkeypatch.chdir(base)
    plan("run", *DAYS, *QUICK, *POLICIES[2:])
    assert written(base / "reports" / "site") == written(compared / "runs" / "site" / "multisearch")


def test_text_fits_a_terminal(compared: Path) -> None:
    """With any number of runs no line is wider than 80, and EASY of the scenario stands first in every block."""
    rows = json.loads((compared / "compare.json").read_text())["runs"]
    many = rows + [row | {"scenario": f"a-scenario-with-a-long-name-{k}"} for k in range(5) for row in rows]
    text = compare_text(many, "site:multisearch")
    assert max(map(len, text.splitlines())) <= 80
    blocks = text.split("\n\n")
    assert len(blocks) == 2 + 5 * 3
    assert all(block.split()[1] == "EASY" for block in blocks)
    for word in ("against EASY", "PUE", "still waiting", "mean wait", "95 % wait up to", "broken promises"):
        assert word in text


@pytest.mark.parametrize(("saved", "told"), [(0.06, "+0.06"), (-0.06, "-0.06"), (0.0, "-")])
def test_savings_have_a_sign(compared: Path, saved: float, told: str) -> None:
    """What is saved and what is lost are told apart, as in all other differences."""
    row = json.loads((compared / "compare.json").read_text())["runs"][0]
    lines = compare_text([row | {"saved_energy_cost_eur": saved}], "site").splitlines()
    assert next(line.split()[1] for line in lines if line.startswith("  saved")) == told


def test_other_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The baseline may be another scenario and method; one day is enough."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    plan("compare", "site", "warm", "--day", FIRST, "-m", "wt,est", "--baseline", "warm:est", *ONE, "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["baseline"] == "warm:est"
    assert [row["profit_difference_eur"] == 0 for row in told["runs"] if row["kind"] == "plan"] == [
        *(False, False, False),
        True,
    ]
    assert "every job runs as long as it asked" in told["notes"][0]


def test_one_run_as_the_baseline_is_not_called_like_with_like(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pairs stay like with like; the line of the other block is against that run, and both say which is which."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    words = ("compare", "--day", FIRST, "-m", "est", *ONE)
    plan(*words, "site", "warm", "--baseline", "site:easy")
    text = capsys.readouterr().out
    head = f"{FIRST}, in EUR; like with like is against the same run of site; the baseline is EASY of site "
    assert head in " ".join(text.split())
    (folder,) = tmp_path.glob("reports/compare/site+warm+est/*")
    told = json.loads((folder / "compare.json").read_text())
    by_run = {(row["scenario"], row["method"]): row for row in told["runs"]}
    (pair,) = (each for each in told["pairs"] if each["method"] == "est")
    assert (pair["against_scenario"], pair["against_method"]) == ("site", "est")
    lines = [line.split() for line in text.splitlines()]
    assert ["more", "profit", f"{told['pairs'][0]['more_eur']:+.2f}", f"{pair['more_eur']:+.2f}"] in lines
    more = [by_run["warm", name]["profit_eur"] - by_run["site", "easy"]["profit_eur"] for name in ("easy", "est")]
    assert ["against", "baseline", *(f"{each:+.2f}" for each in more)] in lines
    assert "  like with like " not in text
    plan(*words, "site", "warm")
    text = capsys.readouterr().out
    assert "like with like is against the same run of site\n" in text
    assert "  like with like " in text
    assert "baseline" not in text
    plan("compare", "--day", FIRST, "-m", "wt", *ONE, "site", "--baseline", "site:wt")
    text = capsys.readouterr().out
    assert f"{FIRST}, in EUR; the baseline is wt of site\n" in text
    assert "\n  against baseline " in text


def test_real_runtimes_for_plans_and_policies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With ``execute: actual`` policies use real runtimes as well: both earn and use less than as asked."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    found = []
    for execute in ("requested", "actual"):
        changed = ("--set", f"rules.execute={execute}", "--out", execute)
        plan("compare", "site", "--day", FIRST, "-m", "multisearch", *changed, *ONE, "--json")
        told = json.loads(capsys.readouterr().out)
        found.append({row["method"]: row for row in told["runs"]})
    asked, real = found
    for name in ("easy", "multisearch"):
        assert real[name]["revenue_eur"] < asked[name]["revenue_eur"]
        assert real[name]["it_kwh"] < asked[name]["it_kwh"]
    assert "every job ends at its real runtime" in told["notes"][0]


def test_nodes_out_of_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Policies would use nodes that are down: they are left out, and that is said."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    down = ("--set", "cluster.down=[{nodes: cpu1, from: 2024-06-03T00:00:00+02:00}]")
    plan("compare", "site", "--day", FIRST, "-m", "est", *down, *ONE)
    out = capsys.readouterr().out
    assert "so that none is replayed" in out
    assert "EASY" not in out


def test_two_processes_same_bytes(compared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With processes side by side every CSV is the same to the byte."""
    pytest.importorskip("joblib", reason="joblib is not installed in this environment; pip install -e '.[dev]'")
    base = write_rolling_site(tmp_path)
    monkeypatch.chdir(base)
    words = ("-m", "multisearch", "-m", "est", *POLICIES, *ONE[:2], "--processes", "2", "-q")
    plan("compare", "site", "warm", *DAYS, *words)
    (folder,) = (base / "reports" / "compare").glob("*/*")
    for name in ("runs.csv", "days.csv"):
        assert (folder / name).read_bytes() == (compared / name).read_bytes()
    assert written(folder / "runs") == written(compared / "runs")
    assert len(written(folder / "runs")) == 16 * len(CSVS)


BAD = {
    "unknown scenario": (["site", "wram"], r"unknown scenario 'wram'; did you mean warm?"),
    "twice": (["site", "site"], "scenario site is given twice"),
    "unknown policy": (["site", "-p", "magic"], "unknown policy 'magic'"),
    "unknown method": (["site", "-m", "magic"], "unknown method 'magic'"),
    "unknown baseline": (["site", "warm", "--baseline", "cold"], "the baseline 'cold' is not compared"),
    "unknown method of the baseline": (["site", "--baseline", "site:cp"], "choose one of harvest"),
    "unknown backend": (["site", "--backend", "ray"], "unknown backend 'ray'; known: processes, dask"),
    "dask without address": (["site", "--backend", "dask"], "--address HOST:PORT go together"),
    "currencies": (["site", "dollars"], "the scenarios count in EUR and USD"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be compared is refused with one line that says what to do, and nothing is written."""
    base = write_rolling_site(tmp_path)
    (base / "scenarios" / "dollars.yaml").write_text("base: site\ncurrency: USD\n")
    monkeypatch.chdir(base)
    arguments, expected = BAD[case]
    assert run(["compare", *arguments, "--day", FIRST]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line
    assert not (base / "reports").exists()


@pytest.mark.parametrize("days", [(), ("--from", FIRST), ("--day", FIRST, "--to", LAST)])
def test_which_days(
    days: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One day or a range of days, and not half of both."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    assert run(["compare", "site", *days]) == 2
    assert "say which days to compare" in capsys.readouterr().err


def test_money_against_waits(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each price of waiting and one for EASY: what a dearer hour leaves of the profit, and of the waits."""
    assert run(["compare", "site", "--day", FIRST, "--waiting", "0,0.5", "--iterations", "300", "-q"]) == 0
    told = capsys.readouterr().out
    lines = [line.split() for line in told[told.index("site, harvest: what an hour of waiting counts") :].splitlines()]
    assert [words[0] for words in lines[1:4]] == ["0", "0.5", "EASY"]
    free, dear = (float(words[1].replace(",", "")) for words in lines[1:3])
    assert free >= dear
    page = next(site.glob("reports/compare/*/*/compare.html")).read_text(encoding="utf-8")
    assert "more than under EASY" in page
    assert run(["compare", "site", "--day", FIRST, "--waiting", "0,much", "-q"]) == 2
    assert "goal.waiting: expected a number" in capsys.readouterr().err


def test_going_on_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Days that an earlier comparison has planned are kept and counted; tables are the same, and no count is left."""
    base = write_rolling_site(tmp_path)
    monkeypatch.chdir(base)
    words = ("compare", "site", "--from", FIRST, "--to", LAST, "-m", "est", *ONE[:4])
    plan(*words)
    (folder,) = (base / "reports" / "compare").glob("*/*/")
    first = (folder / "runs.csv").read_bytes()
    shutil.rmtree(folder / "runs" / "site" / "est" / LAST)
    assert "went on" not in capsys.readouterr().err
    plan(*words)
    assert "went on with an earlier comparison: 3 of 4 planned days were there and kept" in capsys.readouterr().err
    assert (folder / "runs.csv").read_bytes() == first
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_policies_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """``-m none`` plans nothing; the answer is of the same schedule."""
    base = write_rolling_site(tmp_path)
    monkeypatch.chdir(base)
    plan("compare", "site", "warm", *DAYS, "-m", "none", *ONE, "--json")
    told = json.loads(capsys.readouterr().out)
    assert [(row["scenario"], row["method"]) for row in told["runs"]] == [("site", "easy"), ("warm", "easy")]
    assert told["answer"][0].endswith(" EUR lost.")
    assert " with the same schedule; a year like this: " in told["answer"][0]
    assert not list(base.glob("reports/compare/*/*/runs"))
