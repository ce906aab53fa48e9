"""Claims about the Python interface: what `import planner` offers, and that the examples in its document run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

import planner
from planner.api.results import DayResult, RunResult
from planner.cli.main import run
from planner.inputs.slurm.queue import Queue
from planner.slurm.choose_changes import Proposal
from planner.slurm.send_changes import Applied
from tests.days import BRIEF, DAY, write_small_site
from tests.test_architecture import PACKAGE

DOCS = PACKAGE.parent / "docs"
BLOCKS = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text("utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the examples of the document leave, run one after the other in an empty folder."""
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("script"))
        for block in BLOCKS:
            exec(compile(block, "docs/python.md", "exec"), names)
        names["figure"] = Path("power.svg").read_text("utf-8")
    return names


def test_the_first_examples_are_short() -> None:
    """A day is planned by a command, or step by step with its power plotted, in at most 15 lines."""
    assert "planner.plan(" in BLOCKS[0]
    assert "power_figure" in BLOCKS[1]
    assert len(BLOCKS[0].splitlines() + BLOCKS[1].splitlines()) <= 15


@pytest.mark.slow
def test_settle_audit_and_bound_agree_with_the_plan(told: dict[str, Any]) -> None:
    """The ledger is that of the result, and the bound is not below it."""
    assert told["ledger"].totals == told["planned"].ledger.totals
    assert told["limit"].profit_eur >= told["ledger"].totals.profit_eur > 0
    assert told["result"].summary["totals"]["profit_eur"] == pytest.approx(told["ledger"].totals.profit_eur, abs=1e-6)


@pytest.mark.slow
def test_frames_have_types_and_sums(told: dict[str, Any]) -> None:
    """Jobs and segments sum up to the totals, apart from what no job carries; times are times."""
    result = told["result"]
    totals = result.summary["totals"]
    assert len(result.schedule) == result.summary["jobs"]["started"]
    assert result.segments["revenue_eur"].sum() == pytest.approx(totals["revenue_eur"], abs=1e-4)
    assert result.schedule["revenue_eur"].sum() == pytest.approx(totals["revenue_eur"], abs=1e-2)
    assert isinstance(result.schedule["start_time"].dtype, pd.DatetimeTZDtype)
    assert result.schedule.index.name == "job_id"


@pytest.mark.slow
def test_a_written_day_reads_back_as_the_same_frames(told: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    planned = planner.plan_day(told["day"], "est", bound_time_s=0)
    made, again = planner.frames(planned), told["again"]
    for name in ("schedule", "deferred", "segments"):
        pd.testing.assert_frame_equal(getattr(made, name), getattr(again, name), check_exact=False, atol=1e-6)
    assert again.summary["totals"]["profit_eur"] == pytest.approx(made.summary["totals"]["profit_eur"])


@pytest.mark.slow
def test_the_figure_is_svg_with_a_curve_for_each_power(told: dict[str, Any]) -> None:
    """IT power stands above cooling power everywhere: its points are higher up, at smaller y."""
    root = ElementTree.fromstring(told["figure"])
    space = "{http://www.w3.org/2000/svg}"
    curves = [
        [float(point.split(",")[1]) for point in each.attrib["points"].split()]
        for each in root.iter(f"{space}polyline")
    ]
    assert len(curves) == 2
    assert len(curves[0]) == 2 * len(told["result"].segments)
    assert all(it < cooling for it, cooling in zip(*curves, strict=True))


def test_the_figure_shows_mean_power_by_the_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    """6 and 3 kWh in two hours, then 4 and 1 kWh in half an hour: 3 and 1.5 kW, then 8 and 2 kW."""
    drawn: list[Any] = []
    monkeypatch.setattr("planner.pages.charts.power_svg", lambda *given: drawn.append(given) or "made")
    segments = pd.DataFrame(
        {"start_s": [0, 7200], "end_s": [7200, 9000], "it_kwh": [6.0, 4.0], "cooling_kwh": [3.0, 1.0]}
    )
    day = planner.Frames(pd.DataFrame(), pd.DataFrame(), segments, {"scenario": "site", "day": "2024-06-01"})
    assert planner.power_figure(day) == "made"
    assert drawn == [("site, 2024-06-01", [0.0, 2.0, 2.5], {"IT": [3.0, 8.0], "cooling": [1.5, 2.0]})]


def test_simulate_by_hand(tmp_path: Path) -> None:
    """3 processors. EASY: a at 0, c beside it at 20, b, which needs 2, when a ends at 1800: it waits 1790 s."""
    trace = tmp_path / "trace.csv"
    rows = ("a,0,3600,1800,2", "b,10,3600,3600,2", "c,20,600,300,1")
    trace.write_text("\n".join(["job_id,submit_unix,requested_s,runtime_s,cores", *rows]))
    found = planner.simulate(trace, ["easy"], ["actual"], processors=3, metrics=["wait"]).frame()
    assert found.loc[0, ["policy", "estimate", "jobs"]].tolist() == ["easy", "actual", 3]
    assert found.loc[0, "wait"] == pytest.approx(1790 / 3)
    with pytest.raises(planner.InputError, match="not both"):
        planner.simulate(trace, processors=3, scenario=planner.load_scenario())


def test_every_name_is_documented_typed_and_there() -> None:
    text = (DOCS / "python.md").read_text("utf-8")
    for name in planner.__all__:
        if name in ("__version__", "Frames"):
            continue
        assert getattr(planner, name).__doc__, name
        assert f"`{name}" in text, name
    assert (PACKAGE / "py.typed").is_file()
    with pytest.raises(AttributeError, match="no attribute 'nonsense'; public are Frames"):
        _ = planner.nonsense
    assert set(planner.__all__) <= set(dir(planner))


def test_bad_input_is_one_line() -> None:
    with pytest.raises(planner.InputError, match="cannot read '1 June' as a day"):
        planner.build_day(planner.load_scenario(), "1 June")
    with pytest.raises(planner.InputError, match="unknown scenario 'smaple'"):
        planner.load_scenario("smaple")


def test_import_stays_light() -> None:
    """Neither numpy nor pandas is loaded before something is asked for."""
    script = "import sys, planner; sys.exit(bool({'numpy', 'pandas', 'numba', 'pydantic'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], check=False, env=_environment()).returncode == 0


@pytest.mark.slow
def test_the_script_ends_in_a_figure(tmp_path: Path) -> None:
    """Dearer electricity earns less, at each of the four prices."""
    done = subprocess.run(
        [sys.executable, str(DOCS / "compare_prices.py"), str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=_environment(),
        timeout=600,
    )
    profits = [float(line.split()[1]) for line in done.stdout.splitlines()[2:6]]
    assert profits == sorted(profits, reverse=True)
    assert len(set(profits)) == 4
    assert (tmp_path / "power.svg").read_text("utf-8").startswith("<svg")


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH"))))
    return os.environ | {"PYTHONPATH": path}


@pytest.mark.parametrize("max_delay", ["null", "6h"])
def test_scripts_and_the_command_line_take_the_same_method(
    max_delay: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody names one: the planner's own search, and where something is promised what keeps promises."""
    monkeypatch.chdir(write_small_site(tmp_path))
    setting = f"rules.max_delay={max_delay}"
    assert run(["--day", DAY, "--bound-time", "0", "--set", setting, "-q", *BRIEF]) == 0
    by_command = json.loads((tmp_path / "reports" / "site" / DAY / "run.json").read_text())["method"]
    scenario = planner.load_scenario("site", {"rules.max_delay": None if max_delay == "null" else max_delay})
    planned = planner.plan_day(planner.build_day(scenario, DAY), iterations=1000, bound_time_s=0)
    assert planned.result.method == by_command


@pytest.mark.parametrize(("bound", "most"), [(None, "profit 3.00; out"), (5.0, "profit 3.00 of at most 5.00; out")])
def test_a_run_is_told_in_a_line(bound: float | None, most: str) -> None:
    """With what no run exceeds, where that is known."""
    whole = {"bound_eur": bound, "first": "2024-06-01", "last": "2024-06-02", "profit_eur": 3.0}
    assert repr(RunResult(Path("out"), (), whole)) == f"<0 days, 2024-06-01 to 2024-06-02: {most}>"


def test_days_of_a_run_are_rows_of_a_frame() -> None:
    """By hand: energy is that of computers and cooling, the bound that of what happened where that was settled."""
    totals = {"profit_eur": 5.0, "revenue_eur": 8.0, "energy_cost_eur": 3.0, "pue": 1.25, "carbon_kg": 2.0}
    totals |= {"it_kwh": 8.0, "cooling_kwh": 2.0}
    known = {"totals": totals, "jobs": {"started": 4, "finished": 3, "deferred": 2}}
    known |= {"bound_eur": 6.0, "real_bound_eur": 7.0}
    days = [
        DayResult(Path("out"), known | {"day": "2024-06-01", "execute": "planned"}),
        DayResult(Path("out"), known | {"day": "2024-06-02", "execute": "actual"}),
    ]
    frame = RunResult(Path("out"), tuple(days), {}).frame()
    assert frame["day"].astype(str).tolist() == ["2024-06-01", "2024-06-02"]
    rest = frame.drop(columns="day").to_dict("records")
    same = {"profit_eur": 5.0, "revenue_eur": 8.0, "energy_cost_eur": 3.0, "kwh": 10.0, "pue": 1.25, "carbon_kg": 2.0}
    same |= {"started": 4, "finished": 3, "deferred": 2}
    assert rest == [same | {"bound_eur": 6.0}, same | {"bound_eur": 7.0}]


def test_who_asks_hears_of_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was told before, in the end it is the bound that the day's summary has."""
    monkeypatch.chdir(write_small_site(tmp_path))
    told: list[str] = []
    summary = planner.plan(DAY, method="est", bound_time_s=10, on_progress=told.append).summary
    bounds = [line for line in told if line.startswith("no plan earns more than ")]
    assert bounds[-1] == f"no plan earns more than {summary['bound_eur']:,.2f}"


@pytest.mark.parametrize("apply", [False, True])
def test_slurm_hears_of_a_plan_only_if_that_is_asked_for(
    apply: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``apply`` the day's folder is given to Slurm, what became of it is told, and what is old is forgotten."""
    monkeypatch.chdir(write_small_site(tmp_path))
    became = Applied(Proposal((), (), ()), (), Queue(), tmp_path / "journal", ("a remark",), True)
    calls: list[tuple[object, ...]] = []

    def taken(folder: Path, *, yes: bool) -> Applied:
        calls.append(("apply", folder.name, yes))
        return became

    monkeypatch.setattr("planner.slurm.send_changes.apply_plan", taken)
    monkeypatch.setattr("planner.slurm.send_changes.forget_after", lambda *given: calls.append(given[1:]))
    told: list[str] = []
    result = planner.now(
        at=f"{DAY}T06:00+00:00", iterations=1000, bound_time_s=0, method="est", apply=apply, on_progress=told.append
    )
    assert result.summary["day"] == DAY
    if apply:
        assert calls == [("apply", DAY, True), (planner.load_scenario("site").slurm.keep_days, became)]
        assert told[-2:] == ["a remark", "0 held, 0 new or moved, 0 released, 0 left alone"]
        assert result.applied is not None
        assert result.applied["dry_run"] is False
    else:
        assert (calls, result.applied) == ([], None)
