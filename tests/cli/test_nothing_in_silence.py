"""Claims about what commands say, and once did not: outages that replays leave out, sizes of plants, and more."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from planner.cli.main import run
from planner.inputs.slurm.job import accounted_state
from tests.days import DAY, SITE, plan, write_small_site


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command prints on both ways."""
    capsys.readouterr()
    plan(*words)
    printed = capsys.readouterr()
    return printed.out + printed.err


def test_a_plant_of_its_own_size_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows reach the plant's power, or what is asked; at 100 of its 400 kW it cools as it does, not as one of 100."""
    monkeypatch.chdir(tmp_path)
    Path("own.yaml").write_text("base: air\ndesign_power_w: 400000\n")
    Path("any.yaml").write_text("base: air\n")
    tables = {}
    for name, more in (("own", ()), ("part", ("--max-power-kw", "100")), ("any", ("--max-power-kw", "400"))):
        plant = "any.yaml" if name == "any" else "own.yaml"
        plan("table", "build", "--plant", plant, "--out", f"{name}.csv", "--power-step-w", "50000", *more)
        lines = [line for line in Path(f"{name}.csv").read_text().splitlines() if line[0] != "#"]
        tables[name] = {row["it_power_w"]: row for row in csv.DictReader(lines)}
    assert list(tables["own"])[-1] == list(tables["any"])[-1] == "400000"
    assert list(tables["part"])[-1] == "100000"
    assert tables["own"] == tables["any"]
    assert tables["part"]["100000"] == tables["own"]["100000"]


def test_replays_say_what_they_leave_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outages, which they do not know of; and jobs that ran for no second, in a table as in a trace."""
    monkeypatch.chdir(write_small_site(tmp_path))
    down = '{nodes: "cpu1", from: "2024-06-01T04:00+02:00", to: "2024-06-01T18:00+02:00"}'
    words = ("simulate", "jobs/queue.csv", "--scenario", "site", "-p", "easy")
    assert "out of service" not in said(capsys, *words)
    assert "out of service" in said(capsys, *words, "--set", f"cluster.down=[{down}]")
    Path("z.csv").write_text("job_id,submit_unix,requested_s,runtime_s,cores\na,0,3600,0,4\nb,0,3600,600,4\n")
    told = said(capsys, "simulate", "z.csv", "--processors", "4", "-p", "easy", "--metrics", "makespan")
    assert "1 dropped: runtime is zero or unknown" in told
    assert " 600.0" in told


def test_a_battery_of_nothing_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = SITE + "battery: {capacity_kwh: 2, power_kw: 1}\n"
    monkeypatch.chdir(write_small_site(tmp_path, site))
    plan("check", "--day", DAY, "--set", "battery.capacity_kwh=0")


def test_the_power_of_a_full_machine_has_that_of_its_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four nodes that draw 500 W each besides their jobs: 2 kW more; and all of it on a day without jobs."""
    monkeypatch.chdir(write_small_site(tmp_path))

    def full_kw(*words: str) -> float:
        text = said(capsys, "check", "--day", DAY, *words)
        return float(text.split("IT power  about ")[1].split()[0])

    more = ("--set", "power.includes_idle=false", "--set", "cluster.classes.cpu.idle_w=500")
    assert full_kw(*more) - full_kw() == pytest.approx(2.0, abs=0.11)
    Path("jobs/queue.csv").write_text("job_id,submit_time,requested_h,cores,power_w\n")
    assert full_kw(*more) == pytest.approx(2.0)


def test_a_run_of_a_policy_may_be_the_baseline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(write_small_site(tmp_path))
    words = ("compare", "site", "--day", DAY, "-m", "est", "-p", "hold", "--bound-time", "0", "--processes", "1")
    plan(*words, "--baseline", "site:easy", "-q")
    (folder,) = Path("reports/compare").glob("*/*")
    rows = {row["method"]: row for row in csv.DictReader((folder / "runs.csv").open())}
    assert float(rows["easy"]["profit_difference_eur"]) == 0
    own = float(rows["est"]["profit_eur"]) - float(rows["easy"]["profit_eur"])
    assert float(rows["est"]["profit_difference_eur"]) == pytest.approx(own)
    assert run([*words, "--baseline", "site:list"]) == 2
    assert "choose one of est, easy, hold" in capsys.readouterr().err


def test_prices_that_are_not_known_are_told_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They end at noon of the day that is planned from its morning on: a line says which, and from when on."""
    monkeypatch.chdir(write_small_site(tmp_path))
    hours = [f"2024-05-{day}T{hour:02}:00+02:00,0.2" for day in (30, 31) for hour in range(24)]
    hours += [f"{DAY}T{hour:02}:00+02:00,0.3" for hour in range(12)]
    Path("prices.csv").write_text("\n".join(["time,price", *hours]) + "\n")
    tariff = f"tariff={{kind: hourly, file: '{Path('prices.csv').resolve()}', unit: EUR/kWh}}"
    words = ("now", "--at", f"{DAY}T08:00+02:00", "-m", "est", "--bound-time", "0", "--set", tariff)
    assert f"price of prices.csv: not known from {DAY}T12:00+02:00 on" in said(capsys, *words)


@pytest.mark.parametrize(
    ("words", "start", "end", "state"),
    [
        (["REQUEUED"], 10, 20, "finished"),
        (["RESIZING"], 10, 20, "finished"),
        (["REQUEUED"], None, None, "pending"),
        (["RESIZING"], 10, None, "running"),
        (["COMPLETED"], 10, 20, "finished"),
        (["PENDING"], None, None, "pending"),
    ],
)
def test_a_run_in_the_accounts_that_has_an_end_is_over(
    words: list[str], start: int | None, end: int | None, state: str
) -> None:
    assert accounted_state(words, start, end) == state


def test_nothing_is_written_over_its_own_input_and_no_option_is_in_vain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(write_small_site(tmp_path))
    before = Path("jobs/queue.csv").read_bytes()
    assert run(["simulate", "jobs/queue.csv", "--scenario", "site", "-p", "easy", "--out", "jobs"]) == 2
    assert "is in the folder that --out writes" in capsys.readouterr().err
    assert (Path("jobs/queue.csv").read_bytes(), len(list(Path("jobs").iterdir()))) == (before, 1)
    assert run(["compare", "site", "--day", DAY, "-m", "est", "--invest", "1000"]) == 2
    assert "give one more scenario" in capsys.readouterr().err
