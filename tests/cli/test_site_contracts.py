"""A site with contracts of its own, planned day after day: what is carried over, what is written, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.main import run
from tests.days import BRIEF, DAY, plan, refused, rows_of, write_small_site

NEXT_DAY, NEXT_MONTH = "2024-06-02", "2024-07-01"

CONTRACTS = """\
base: site
power: {includes_idle: false}
cluster:
  classes: {cpu: {idle_w: 20, sleep_w: 2}}
  sleep: {after: 30m, wake: 5m}
tariff: {kind: bands, eur_per_kwh: 0.1, bands: [{from: "08:00", to: "20:00", eur_per_kwh: 0.3}]}
fees: {eur_per_kwh: 0.03, bands: [{from: "17:00", to: "20:00", eur_per_kwh: 0.09}]}
demand: {eur_per_kw: 0.5, period: month, peak_kw: 0.2}
battery: {capacity_kwh: 2, power_kw: 0.5, end_fraction: 0.25}
carbon: {g_per_kwh: 300}
revenue: {accounts: {bio: 2}, eur_per_hour: {memory_gb: 0.001}}
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small site with contracts, and the current folder in it."""
    write_small_site(tmp_path)
    (tmp_path / "scenarios" / "contracts.yaml").write_text(CONTRACTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_of(day: str) -> dict[str, object]:
    """The run.json of a day."""
    found: dict[str, object] = json.loads(Path(f"reports/contracts/{day}/run.json").read_text(encoding="utf-8"))
    return found


def planned(day: str, *more: str) -> dict[str, object]:
    """Plan a day and return its run.json."""
    plan("--day", day, "--scenario", "contracts", *BRIEF, "--quiet", *more)
    return run_of(day)


def test_peak_and_battery_are_carried_from_day_to_day(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The next day begins with the month's peak and what the battery holds; the audit agrees with both."""
    first = planned(DAY)
    assert first["rates"]["demand_so_far_kw"] == 0.2  # type: ignore[index]
    assert first["rates"]["battery"]["start_kwh"] == 1.0  # type: ignore[index]
    left = first["left"]
    assert left["peak_kw"] > 0.2  # type: ignore[index]
    assert left["battery_kwh"] == pytest.approx(0.5, abs=1e-6)  # type: ignore[index]
    second = planned(NEXT_DAY)
    assert second["rates"]["demand_so_far_kw"] == left["peak_kw"]  # type: ignore[index]
    assert second["rates"]["battery"]["start_kwh"] == left["battery_kwh"]  # type: ignore[index]
    for day in (DAY, NEXT_DAY):
        plan("audit", f"reports/contracts/{day}")
    assert "clean" in capsys.readouterr().out


def test_a_new_month_begins_without_a_peak(site: Path) -> None:
    """And with what the battery holds."""
    plan("run", "--from", "2024-06-30", "--to", NEXT_MONTH, "--scenario", "contracts", *BRIEF, "--quiet")
    left, begun = run_of("2024-06-30")["left"], run_of(NEXT_MONTH)["rates"]
    assert left["peak_kw"] > 0  # type: ignore[index]
    assert begun["demand_so_far_kw"] == 0  # type: ignore[index]
    assert begun["battery"]["start_kwh"] == left["battery_kwh"]  # type: ignore[index]


def test_segments_say_what_was_fed_moved_and_slept(site: Path) -> None:
    """The columns are there and add up to the summary."""
    planned(DAY)
    rows = rows_of(Path(f"reports/contracts/{DAY}/segments.csv"))
    totals = json.loads(Path(f"reports/contracts/{DAY}/summary.json").read_text(encoding="utf-8"))["totals"]
    for name in ("asleep_h", "charged_kwh", "discharged_kwh", "fees_eur", "battery_eur"):
        assert sum(float(row[name]) for row in rows) == pytest.approx(totals[name], abs=1e-4)
        assert totals[name] != 0
    assert "fed_kwh" not in rows[0]
    assert {row["fee_eur_per_kwh"] for row in rows} == {"0.03", "0.09"}


def test_a_changed_level_of_the_battery_is_noticed(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The audit works the dispatch out again."""
    planned(DAY)
    path = Path(f"reports/contracts/{DAY}/segments.csv")
    rows = path.read_text(encoding="utf-8").splitlines()
    place = rows[0].split(",").index("battery_kwh")
    cells = rows[5].split(",")
    cells[place] = "1.234567"
    path.write_text("\n".join([*rows[:5], ",".join(cells), *rows[6:]]) + "\n", encoding="utf-8")
    assert run(["audit", f"reports/contracts/{DAY}"]) != 0
    assert "battery_kwh" in "".join(capsys.readouterr())


@pytest.mark.slow
def test_a_carbon_limit_is_kept_and_told(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half of what the day emits anyway, with work that may stay away."""
    free = planned(DAY, "--set", "rules.defer=free")
    summary = json.loads(Path(f"reports/contracts/{DAY}/summary.json").read_text(encoding="utf-8"))
    limit = summary["totals"]["carbon_kg"] / 2
    assert free["scenario"]["goal"]["carbon_limit_kg"] is None  # type: ignore[index]
    capsys.readouterr()
    plan(
        "--day",
        DAY,
        "--scenario",
        "contracts",
        *BRIEF,
        "--set",
        "rules.defer=free",
        "--set",
        f"goal.carbon_limit_kg={limit}",
    )
    after = json.loads(Path(f"reports/contracts/{DAY}/summary.json").read_text(encoding="utf-8"))
    assert 0 < after["carbon_runs_kg"] <= limit
    assert after["totals"]["profit_eur"] <= after["bound_eur"] <= summary["bound_eur"]
    assert f"within {limit:,.1f} kg" in capsys.readouterr().out


def test_a_carbon_limit_that_cannot_be_kept_gives_the_least_emission(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Work that can start must: the day is planned and audited, a line says what was reached, and nobody is put off."""
    plan("--day", DAY, "--scenario", "contracts", "--iterations", "500", "--set", "goal.carbon_limit_kg=0.1")
    told = capsys.readouterr().out
    summary = json.loads(Path(f"reports/contracts/{DAY}/summary.json").read_text(encoding="utf-8"))
    reached = summary["carbon_runs_kg"]
    assert reached > 0.1
    said = (
        f"{reached:,.1f} kg    with whole runs of what starts today, the least that was found; no plan is within 0.1 kg"
    )
    assert said in told
    assert run(["audit", f"reports/contracts/{DAY}"]) == 0


@pytest.mark.slow
def test_a_curve_of_money_against_carbon(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """More weight, less CO2, less money; in words and on the page."""
    plan(
        *("compare", "contracts", "--day", DAY, *BRIEF, "--set", "rules.defer=free", "--set", "goal.kind=published"),
        *("--carbon-weights", "0,15000,100000", "--processes", "1", "--quiet"),
    )
    told = capsys.readouterr().out
    curve = told[told.index("contracts, harvest: what a tonne counts") :].splitlines()[1:4]
    points = [[float(cell.replace(",", "")) for cell in line.split()[:3]] for line in curve]
    assert [weight for weight, _, _ in points] == [0, 15000, 100000]
    assert points[0][1] > points[1][1] > points[2][1]
    assert points[0][2] > points[1][2] > points[2][2]
    (page,) = Path("reports/compare").rglob("compare.html")
    assert "Money against CO2" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        (
            "battery.power_kw=50",
            "battery.power_kw: 50 kW would empty 2 kWh in less than three minutes; give at",
        ),
        ("battery.efficiency=1.2", "battery.efficiency: expected a number above 0 and at most 1, found 1.2"),
        ("battery.capacity_kwh=2kWh", "battery.capacity_kwh: expected a number from 0 to 10,000,000 kWh"),
        ("battery.end_fraction=80", "battery.end_fraction: expected a number from 0 to 1, found 80"),
        ("fees.eur_per_kwh=3ct", "fees.eur_per_kwh: expected a number"),
        ("fees.unit=EUR/MWh", "fees.unit: is of a file; give fees.file, or remove it"),
        ("feed_in.of_price=50", "feed_in.of_price: expected a number from 0 to 1, found 50"),
        ("demand.period=week", "demand.period: expected one of day, month, found 'week'"),
        ("demand.peak_kw=-1", "demand.peak_kw: expected a number from 0"),
        ("cluster.classes.cpu.sleep_w=30", "asleep it draws 30 W; it must be from 0 to its idle power, 20 W"),
        ("cluster.sleep.wake=soon", "cluster.sleep.wake: cannot read 'soon' as a duration"),
        ("power.includes_idle=maybe", "power.includes_idle: expected true or false"),
        ("revenue.eur_per_hour.gpus=1", "revenue.eur_per_hour: there is no resource 'gpus'; there is cores, memory_gb"),
        ("revenue.classes.gpu.eur_per_core_hour=1", "revenue.classes: there is no node class 'gpu'"),
        ("revenue.accounts.bio=-1", "revenue.accounts.bio: expected a number from 0"),
        ("goal.carbon_weight=-5", "goal.carbon_weight: expected a number from 0"),
        ("goal.carbon_limit_kg=2t", "goal.carbon_limit_kg: expected a number from 0"),
    ],
)
def test_wrong_contracts_are_told_in_one_line(
    site: Path, setting: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one line that names the key, and nothing written."""
    assert told in refused(capsys, "--day", DAY, "--scenario", "contracts", "--set", setting)
    assert not Path("reports").exists()


def test_fees_of_a_file_need_the_zone_of_its_times(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Times without a zone could be any hour."""
    hours = "".join(f"2024-06-01 {hour:02d}:00,0.02\n" for hour in range(24))
    (site / "fees.csv").write_text("time,price\n" + hours, encoding="utf-8")
    bad = [
        "--set",
        "fees.file=fees.csv",
        "--set",
        "fees.unit=EUR/kWh",
        "--set",
        "fees.eur_per_kwh=0",
        "--set",
        "fees.bands=[]",
    ]
    assert "zone" in refused(capsys, "--day", DAY, "--scenario", "contracts", *bad)
    assert (
        run(["--day", DAY, "--scenario", "contracts", *bad, "--set", "fees.zone=Europe/Paris", *BRIEF, "--quiet"]) == 0
    )


def test_a_goal_for_carbon_needs_an_intensity(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without one nothing is emitted that could be weighed."""
    told = refused(capsys, "--day", DAY, "--set", "goal.carbon_limit_kg=5")
    assert "goal.carbon_limit_kg: needs the carbon intensity; give carbon.g_per_kwh" in told
