"""What a roof, a battery and sleeping nodes are worth to a site, alone and together, at German prices.

python benchmarks/energy_parts.py                               the sample site and Curie's jobs, 2021 and 2022: an hour
python benchmarks/energy_parts.py --sites sample --years 2022 --days 2 --iterations 2000
python benchmarks/energy_parts.py --page energy.html            the same, with a picture
python benchmarks/energy_parts.py --speed                       how long planning takes with everything and with nothing

Every variant plans the same days of the same jobs by HarvestSearch. The site buys at the exchange price of its hour,
with fees on top; its nodes draw idle power all day. Needs the German prices, weather and carbon of PLANNER_DATA, and
for Curie its trace. The cost grows with sites x years x days x variants.
"""

from __future__ import annotations

import argparse
import datetime as dt
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from days import curie_jobs, planned_days

from planner.domain.horizon import Horizon
from planner.inputs.weather.read import weather_of
from planner.inputs.weather.solar import solar_of
from planner.pages.charts import Bar, bar_groups
from planner.pages.markup import document, el
from planner.places import data_folder, shipped_folder
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.studies.operation_replays import EUR_PER_USD, write_moved
from planner.text_files import csv_text

CURIE_FIRST = dt.date(2012, 6, 11)
COMMON = (
    "power.includes_idle=false",
    "fees.eur_per_kwh=0.06",
    "zone=UTC",
)
IDLE = {"sample": ("cpu", "gpu"), "quiet": ("cpu", "gpu"), "curie": ("cpu",)}
"""The sites, and their classes of nodes: the sample site, the same with half the work, and Curie's jobs."""
QUIET_LOAD = 0.5
IDLE_W, SLEEP_W = 100, 10
ROOF_KW = 150
SUNNY = "weather/tmy_45.000_8.000_2005_2023.epw.gz"
"""A typical year of the sun at 45 N, 8 E."""
PARTS = {
    "roof": ("feed_in.of_price=1",),
    "battery": ("battery.capacity_kwh=300", "battery.power_kw=150"),
    "sleep": ("cluster.sleep.after=10m", "cluster.sleep.wake=5m"),
}
VARIANTS = {
    "none": (),
    "roof": ("roof",),
    "battery": ("battery",),
    "sleep": ("sleep",),
    "roof and battery": ("roof", "battery"),
    "all": ("roof", "battery", "sleep"),
}


@dataclass(frozen=True)
class Ground:
    """A site in a year of German prices: where its jobs begin, and where files made for it are kept."""

    site: str
    year: int
    data: Path
    made: Path

    @property
    def first(self) -> dt.date:
        """First day that is planned."""
        return CURIE_FIRST if self.site == "curie" else dt.date(self.year, 6, 11)

    def scenario(self, parts: tuple[str, ...]) -> Scenario:
        """The site with some of the parts."""
        settings = [*COMMON, *self._prices(), *self._weather()]
        settings += [f"cluster.classes.{name}.idle_w={IDLE_W}" for name in IDLE[self.site]]
        if "sleep" in parts:
            settings += [f"cluster.classes.{name}.sleep_w={SLEEP_W}" for name in IDLE[self.site]]
        settings += [setting for part in parts for setting in PARTS[part]]
        if "roof" in parts:
            settings += [f"solar.file={self._sun()}", "solar.unit=W"]
        if self.site == "quiet":
            settings.append(f"jobs.load={QUIET_LOAD}")
        if self.site == "curie":
            settings += [*curie_jobs(), "jobs.visibility=day"]
        return load_scenario("sample", folders=[shipped_folder() / "scenarios"], overrides=tuple(settings))

    def _prices(self) -> list[str]:
        moved = partial(
            write_moved,
            years=self.year - self.first.year,
            first=self.first,
            last=self.first + dt.timedelta(days=9),
        )
        prices, carbon = (self.made / f"{self.site}-{self.year}-{name}.csv" for name in ("prices", "carbon"))
        source = self.data / "prices" / f"DE-LU_electricity_prices_{self.year}.csv.gz"
        moved(source, prices, column="price", factor=EUR_PER_USD[self.year])
        moved(self.data / "carbon" / f"DE-LU_{self.year}_hourly.csv.gz", carbon, column="carbon")
        return ["tariff.kind=hourly", f"tariff.file={prices}", "tariff.unit=EUR/MWh", f"carbon.file={carbon}"]

    def _sun(self) -> Path:
        """Power of a roof in a typical year: the weather of Frankfurt comes without irradiance."""
        target = self.made / f"{self.site}-{self.year}-sun.csv"
        typical = [f"weather.source={self.data / SUNNY}", "zone=UTC", f"solar.peak_kw={ROOF_KW}"]
        scenario = load_scenario("sample", folders=[shipped_folder() / "scenarios"], overrides=tuple(typical))
        rows: list[list[object]] = [["time (UTC)", "power"]]
        for number in range(12):
            horizon = Horizon(self.first + dt.timedelta(days=number), "UTC")
            sun = solar_of(scenario.solar, weather_of(scenario.weather, horizon)[0], horizon)
            assert sun is not None
            for unix, watts in zip(sun.edges_unix[:-1].tolist(), sun.values.tolist(), strict=True):
                rows.append([f"{dt.datetime.fromtimestamp(unix, tz=dt.UTC):%Y-%m-%d %H:%M:%S}", round(watts, 1)])
        target.write_text(csv_text(rows), encoding="utf-8")
        return target

    def _weather(self) -> list[str]:
        source = [f"weather.source={self.data / 'weather' / f'DE-LU_Frankfurt_{self.year}.json.gz'}"]
        if self.site == "curie":
            taken = self.first.replace(year=self.year)
            source += [f"weather.period.planned={self.first}", f"weather.period.taken={taken}"]
        return source


@dataclass(frozen=True)
class Outcome:
    """What the days of a variant come to, and how long planning them took."""

    profit_eur: float
    energy_eur: float
    kwh: float
    carbon_kg: float
    took_s: float


def run(scenario: Scenario, first: dt.date, days: int, iterations: int) -> Outcome:
    """Plan the days one after another."""
    done, took = planned_days(scenario, first, days, iterations)
    totals = [each.totals for each in done]
    return Outcome(
        sum(each.profit_eur for each in totals),
        sum(each.energy_cost_eur - each.feed_in_eur - each.battery_eur for each in totals),
        sum(each.bought_kwh for each in totals),
        sum(each.carbon_kg for each in totals),
        took,
    )


def measure(ground: Ground, days: int, iterations: int) -> dict[str, Outcome]:
    """Every variant on one ground, a line each."""
    print(f"\n{ground.site}, German prices of {ground.year}, {days} days from {ground.first}, {iterations} steps\n")
    print("| | profit, EUR | more than none | energy, EUR | bought, kWh | CO2, kg |")
    print("| --- | --- | --- | --- | --- | --- |")
    found: dict[str, Outcome] = {}
    for name, parts in VARIANTS.items():
        found[name] = each = run(ground.scenario(parts), ground.first, days, iterations)
        more = each.profit_eur - found["none"].profit_eur
        print(
            f"| {name} | {each.profit_eur:,.2f} | {more:+,.2f} | {each.energy_eur:,.2f} | {each.kwh:,.0f} |"
            f" {each.carbon_kg:,.0f} |",
            flush=True,
        )
    return found


def speed(ground: Ground, days: int, iterations: int) -> None:
    """Time of planning with nothing and with everything, one after the other."""
    run(ground.scenario(VARIANTS["all"]), ground.first, 1, 500)  # machine code is loaded before the clock starts
    took: dict[str, float] = {}
    for name in ("none", "all", "none", "all"):
        again = run(ground.scenario(VARIANTS[name]), ground.first, days, iterations).took_s
        took[name] = min(again, took.get(name, again))
    ratio = took["all"] / took["none"]
    print(f"{ground.site} {ground.year}: all {took['all']:.1f} s, none {took['none']:.1f} s, {ratio:.2f} times")


def main() -> None:
    """Print a table for each site and year."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--sites", default="sample,quiet,curie")
    asked.add_argument("--years", default="2021,2022")
    asked.add_argument("--days", type=int, default=7)
    asked.add_argument("--iterations", type=int, default=5_000)
    asked.add_argument("--page", type=Path)
    asked.add_argument("--speed", action="store_true")
    given = asked.parse_args()
    groups = []
    with tempfile.TemporaryDirectory() as made:
        for site in given.sites.split(","):
            for year in map(int, given.years.split(",")):
                ground = Ground(site, year, data_folder(), Path(made))
                if given.speed:
                    speed(ground, given.days, given.iterations)
                    continue
                found = measure(ground, given.days, given.iterations)
                base = found.pop("none").profit_eur
                bars = [
                    Bar(name, max(0.0, each.profit_eur - base), f"{each.profit_eur - base:+,.0f}", f"a{number}")
                    for number, (name, each) in enumerate(found.items())
                ]
                groups.append((f"{site}, {year}", bars))
    if given.page is not None:
        title = f"What each part is worth in {given.days} days, EUR"
        given.page.write_text(document(title, el("main", bar_groups(title, groups))), encoding="utf-8")


if __name__ == "__main__":
    main()
