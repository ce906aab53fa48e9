"""Claims about scenario files: layers, overrides, rules between keys, and every problem at once."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path

import pytest

from planner.domain.horizon import Horizon
from planner.domain.rates import UsePrice
from planner.errors import FileFormatError, InputError, ScenarioError
from planner.inputs.prices import fee_of, price_of
from planner.places import scenario_folders, shipped_folder
from planner.scenario.jobs_power import FileJobs
from planner.scenario.load import known_scenarios, load_scenario, read_spec
from planner.scenario.revenue_tariff_carbon import BandTariff, ConstantCarbon, FlatTariff, Revenue
from planner.scenario.schema import Scenario
from planner.scenario.weather_cooling import SampleWeather

SITE = """\
zone: Europe/Paris
jobs: {source: sample}
cluster:
  power_limit_kw: 50
  classes:
    cpu: {count: 10, capacity: {cores: 32, memory_gb: 128}}
    gpu: {count: 2, capacity: {cores: 16, gpus: 4}, idle_w: 90}
weather: {source: sample}
tariff: {eur_per_kwh: 0.15}
cooling: {table: ../tables/air.csv}
revenue: {eur_per_core_hour: 0.02}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the scenario ``site`` and the files that it needs."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "air.csv").write_text("")
    (tmp_path / "prices.csv").write_text("")
    scenarios = tmp_path / "scenarios"
    scenarios.mkdir()
    (scenarios / "site.yaml").write_text(SITE)
    return scenarios


def load(folder: Path, text: str = "base: site\n", *overrides: str) -> Scenario:
    (folder / "test.yaml").write_text(text)
    return load_scenario("test", folders=[folder], overrides=overrides)


def problems(folder: Path, text: str, *overrides: str) -> list[str]:
    """The problems of a scenario, without the folder's path."""
    with pytest.raises(ScenarioError) as caught:
        load(folder, text, *overrides)
    return [line.replace(f"{folder}/", "") for line in caught.value.problems]


def test_resolves(folder: Path) -> None:
    """What a file says is there under its name, and the rest has its defaults."""
    site = load_scenario("site", folders=[folder])
    assert site.name == "site"
    assert site.sources == (folder / "site.yaml",)
    assert site.zone == "Europe/Paris"
    assert [node_class.name for node_class in site.cluster.classes] == ["cpu", "gpu"]
    assert site.cluster.classes[1].idle_w == 90
    assert site.cluster.power_limit_w == 50_000
    assert site.cooling.table == folder.parent / "tables" / "air.csv"
    assert site.power.draw_w_per_core == (7.8, 11.11)
    assert site.jobs.lookback_s == 86400
    assert (site.demand.eur_per_kw, site.demand.interval_s) == (0.0, 900)


def test_plain_data(folder: Path) -> None:
    """The resolved scenario goes through JSON unchanged, with paths, dates and the cluster as plain data."""
    site = load(folder, "base: site\nweather: {period: {planned: 2024-06-01, taken: 2024-01-15}}")
    plain = site.as_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["weather"]["period"] == {"planned": "2024-06-01", "taken": "2024-01-15"}
    assert plain["cluster"]["classes"][0]["capacity"] == {"cores": 32, "memory_gb": 128}
    assert plain["cooling"]["table"] == str(folder.parent / "tables" / "air.csv")


def test_files(folder: Path) -> None:
    """The files of a scenario are its own chain and all that it refers to, each once."""
    site = load(folder, "base: site\ntariff: {kind: hourly, file: ../prices.csv, unit: EUR/MWh}")
    root = folder.parent
    assert site.files() == (
        folder / "test.yaml",
        folder / "site.yaml",
        root / "prices.csv",
        root / "tables" / "air.csv",
    )


def test_layers(folder: Path) -> None:
    """A child's keys win, mappings merge deeply, lists are replaced, null removes, classes are added."""
    (folder / "middle.yaml").write_text("""\
base: site
name: renamed
zone: UTC
power: {draw_w_per_core: [5, 6]}
cluster: {classes: {cpu: {count: 20}, fat: {count: 1, capacity: {cores: 64, memory_gb: 1024}}}}
""")
    top = load(folder, "base: middle\npower: {draw_w_per_core: [1, 2]}\ncluster: {classes: {gpu: null}}")
    assert top.name == "test"
    assert top.zone == "UTC"
    assert top.power.draw_w_per_core == (1, 2)
    assert [(c.name, c.count, c.capacity["cores"]) for c in top.cluster.classes] == [
        ("cpu", 20, 32),
        ("fat", 1, 64),
    ]
    assert [path.stem for path in top.sources] == ["test", "middle", "site"]


def test_blank_section(folder: Path) -> None:
    """A section with all its lines commented out says nothing; null takes it back to its defaults."""
    (folder / "solar.yaml").write_text("base: site\nsolar: {peak_kw: 40}")
    assert load(folder, "base: solar\nsolar:\n  # peak_kw: 50\n").solar.peak_kw == 40
    assert load(folder, "base: solar\nsolar: null\n").solar.peak_kw == 0


def test_base_by_path_and_own_paths(folder: Path) -> None:
    """A base may be a path, and each path in a file starts at the file that wrote it."""
    deep = folder / "more" / "deep"
    deep.mkdir(parents=True)
    (deep / "cold.yaml").write_text("base: ../../site.yaml\nweather: {source: constant, temperature_c: -3}")
    site = load_scenario(deep / "cold.yaml", folders=[])
    assert site.cooling.table == folder.parent / "tables" / "air.csv"
    assert site.weather.temperature_c == -3


def test_own_scenario_over_shipped_one_of_the_same_name(folder: Path, tmp_path: Path) -> None:
    """A site's own ``site.yaml`` may build on the shipped ``site``."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "site.yaml").write_text("base: site\nseed: 7")
    site = load_scenario("site", folders=[own, folder])
    assert (site.seed, site.zone) == (7, "Europe/Paris")


@pytest.mark.parametrize("base", ["test", "test.yaml", "other"])
def test_circle(folder: Path, base: str) -> None:
    """Bases that lead back to where they began are an error that shows the way round."""
    (folder / "other.yaml").write_text("base: test")
    (line,) = problems(folder, f"seed: 1\nbase: {base}")
    assert "is a circle" in line
    assert re.match(r"(test\.yaml:2|other\.yaml:1): base: test\.yaml -> .*test\.yaml", line)


def test_unknown_scenario(folder: Path) -> None:
    """An unknown name is answered with the nearest and all known ones; a missing path is named."""
    with pytest.raises(InputError, match=r"unknown scenario 'sitte'; did you mean site\? known: site;"):
        load_scenario("sitte", folders=[folder])
    with pytest.raises(InputError, match=r"gone\.yaml: no such scenario file"):
        load_scenario("gone.yaml", folders=[folder])
    with pytest.raises(FileFormatError, match=r"test\.yaml:1: base: unknown scenario 'sitte'; did you mean"):
        load(folder, "base: sitte")


def test_known_scenarios(folder: Path, tmp_path: Path) -> None:
    """Scenarios of all folders are known by name, an earlier folder hiding a later one."""
    later = tmp_path / "later"
    later.mkdir()
    (later / "site.yaml").write_text("")
    (later / "alp.yaml").write_text("")
    assert known_scenarios([folder, later]) == {"alp": later / "alp.yaml", "site": folder / "site.yaml"}


def test_overrides(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Overrides win over files, are read as YAML, and their paths start at the current folder."""
    monkeypatch.chdir(folder.parent)
    site = load(
        folder,
        "base: site",
        "tariff={kind: hourly, file: prices.csv, unit: ct/kWh}",
        "cluster.classes.gpu=null",
        "cluster.classes.cpu.count=4",
        "seed=5",
        "name=trial",
    )
    assert site.tariff.file == folder.parent / "prices.csv"
    assert [(c.name, c.count) for c in site.cluster.classes] == [("cpu", 4)]
    assert (site.seed, site.name) == (5, "trial")


@pytest.mark.parametrize("text", ["seed", "=3", "a..b=1", "base=site"])
def test_malformed_override(folder: Path, text: str) -> None:
    """An override that is not key=value is refused by itself."""
    with pytest.raises(InputError, match=re.escape(f"--set {text}: ")):
        load(folder, "base: site", text)


def test_bad_override(folder: Path) -> None:
    """A problem of an override names the override instead of a line."""
    assert problems(folder, "base: site", "tariff.knd=flat") == [
        "--set tariff.knd=flat: tariff.knd: unknown key; did you mean kind?"
    ]
    with pytest.raises(FileFormatError, match=r'quote it: "22:00"'):
        load(folder, "base: site", "tariff.bands=[{from: 22:00}]")


def test_all_problems_at_once(folder: Path) -> None:
    """One error lists everything that is wrong, each with file, line, key, value and remedy."""
    (folder / "middle.yaml").write_text("base: site\nseed: -1\n")
    found = problems(
        folder,
        """\
base: middle
zone: Europe/Pari
tarif: {kind: flat}
jobs:
  lookback: 1 fortnight
cluster:
  classes:
    cpu: {count: 0}
revenue:
  eur_per_core_hour: "0.02"
rules:
  defer: ful
""",
    )
    assert found == [
        "test.yaml:3: tarif: unknown key; did you mean tariff?",
        "test.yaml:2: zone: unknown time zone 'Europe/Pari'; use a name such as Europe/Paris or UTC;"
        " did you mean Europe/Paris?",
        "middle.yaml:2: seed: expected a whole number from 0 to 2,147,483,647, found -1",
        "test.yaml:5: jobs.lookback: cannot read '1 fortnight' as a duration; write 30s, 5m, 2h or 1d",
        "test.yaml:8: cluster.classes.cpu.count: expected a whole number from 1 to 200,000 nodes, found 0",
        "test.yaml:10: revenue.eur_per_core_hour: expected a number from 0 to 100,000, found '0.02'; remove the quotes",
        "test.yaml:12: rules.defer: expected one of full, free, found 'ful'; did you mean full?",
    ]


def test_missing_required(folder: Path) -> None:
    """An empty file lacks what has no default: each is named with an example."""
    found = problems(folder, "# nothing yet\n")
    assert [line.split(": ")[1] for line in found] == [
        "jobs.source",
        "cluster.classes",
        "weather.source",
        "tariff.eur_per_kwh",
        "cooling.table",
        "revenue.eur_per_core_hour",
    ]
    assert found[-1] == (
        "test.yaml:1: revenue.eur_per_core_hour: missing; write eur_per_core_hour: 0.02,"
        " or take it from another scenario with base:"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("zone: 3", "zone: expected text, found 3"),
        ("zone:", "zone: expected text, found nothing"),
        ("zone: Paris", "did you mean Europe/Paris?"),
        ("currency: euro", "'euro' is not a currency code"),
        ("name: a/b", "cannot name a folder"),
        ("seed: 1.5", "expected a whole number from 0 to 2,147,483,647, found 1.5"),
        ("seed: true", "expected a whole number from 0 to 2,147,483,647, found true"),
        ("seed: .inf", "expected a whole number from 0 to 2,147,483,647, found inf"),
        ("jobs: [sample]", "jobs: expected keys and values"),
        ("jobs: {source: gone.swf}", "gone.swf does not exist"),
        ("jobs: {source: ../tables}", "is a folder, not a file"),
        ("jobs: {source: sampel}", "or write sample"),
        ("jobs: {core_scale: 0}", "expected a number above 0 and at most 1,000,000, found 0"),
        ("jobs: {core_scale: 1/0}", "such as 9600/93312"),
        ("jobs: {whole_queue: yes}", "expected true or false, found 'yes'"),
        ("jobs: {lookback: 1.5s}", "expected whole seconds"),
        ("jobs: {lookback: .inf}", "the duration is inf; it must be from 0"),
        ("jobs: {lookback: 6}", "expected a duration with its unit, found 6"),
        ("jobs: {lookback: '30'}", "expected a duration with its unit, found '30'"),
        ("jobs: {lookback: 30 1h}", "expected a duration with its unit, found '30 1h'"),
        ("jobs: {lookback: 1h 30}", "expected a duration with its unit, found '1h 30'"),
        ("jobs: {source: ../prices.csv, format: CSV}", "did you mean csv?"),
        ("power: {draw_w_per_core: [3]}", "expected two numbers"),
        ("power: {draw_w_per_core: [3, 2]}", "the low end 3.0 is above the high end 2.0; swap them"),
        (
            "power: {draw_w_per_core: [3, x]}",
            "power.draw_w_per_core[1]: expected a number from 0 to 1,000,000 W, found 'x'",
        ),
        ("cluster: {power_limit_kw: 0}", "expected a number above 0 and at most 10,000,000 kW, found 0"),
        ("cluster: {classes: {cpu: null, gpu: null}}", "no node classes"),
        ("cluster: {classes: {cpu: {capacity: {cores: 0}}}}", "cluster.classes.cpu.capacity: no cores"),
        ("cluster: {classes: {new: {count: 1}}}", "cluster.classes.new.capacity: missing; write capacity: {cores"),
        ("cluster: {classes: {1a: {count: 1}}}", "'1a' cannot be a name"),
        ("cluster: {classes: {cpu0: {count: 1, capacity: {cores: 1}}}}", "could have the same names"),
        ("weather: {period: {planned: 2024-06-01}}", "weather.period.taken: missing"),
        ("weather: {period: {planned: June, taken: 2024-01-01}}", "expected a date, found 'June'"),
        ("tariff: {kind: bands, bands: flat}", "expected a list, found 'flat'"),
        ("tariff: {kind: band}", "tariff.kind: expected one of flat, bands, hourly, found 'band'; did you mean bands?"),
        ("tariff: {kind: [flat]}", "tariff.kind: expected one of flat, bands, hourly, found a list"),
        ("sources: [a.yaml]", "sources: unknown key"),
        ("cluster: null", "cluster.classes: missing; write classes: {cpu: {count: 100"),
        ("tariff: {knd: null}", "tariff.knd: unknown key; did you mean kind?"),
        ("jobs: {source: 3}", "jobs.source: expected text, found 3; put it in quotes; or write sample"),
        ("cluster: {classes: {cpu: {count: null}}}", "cluster.classes.cpu.count: missing; write count: 100"),
        ("jobs: {lookback_s: 3}", "jobs.lookback_s: unknown key; did you mean lookback?"),
        ("tariff: {kind: bands, bands: []}", "tariff.bands: missing; kind: bands needs it"),
        ("tariff: {kind: bands, bands: [{from: '25:00', to: '06:00', eur_per_kwh: 1}]}", "expected a clock time"),
        ("demand: {interval: 2d}", "from 60 to 86,400 s"),
        ("solar: {losses_fraction: 1.4}", "expected a number from 0 to 1, found 1.4"),
        ("carbon: {eur_per_tonne: 50}", "needs the carbon intensity; give g_per_kwh or file"),
        (
            "weather: {file: x}",
            "known here: source, format, zone, latitude_deg, longitude_deg, altitude_m, members",
        ),
    ],
)
def test_bad_values(folder: Path, text: str, words: str) -> None:
    """A value of the wrong type or out of range is one problem at its line, with the value or the remedy."""
    (line,) = problems(folder, f"base: site\n{text}\n")
    assert line.startswith("test.yaml:")
    assert words in line


def test_values(folder: Path) -> None:
    """Durations, fractions, numbers in e-notation, dates, words that YAML 1.1 took for flags: all as meant."""
    site = load(
        folder,
        """\
base: site
description: >
  two
  lines
jobs: {core_scale: 9600/93312, lookback: 36h, unit_cores: 1e1, whole_queue: true}
weather: {period: {planned: "2024-06-01", taken: 2024-01-15}}
demand: {interval: 30m}
""",
    )
    assert site.description == "two lines"
    assert site.jobs.core_scale == pytest.approx(9600 / 93312)
    assert (site.jobs.lookback_s, site.jobs.unit_cores, site.jobs.whole_queue) == (36 * 3600, 10, True)
    assert site.weather.period is not None
    assert site.weather.period.planned == dt.date(2024, 6, 1)
    assert site.demand.interval_s == 1800


def test_power(folder: Path) -> None:
    """A fixed power wins over the default draw; a later layer replaces either; both in one layer are an error."""
    fixed = load(folder, "base: site\npower: {w_per_core: 9}").power
    assert (fixed.w_per_core, fixed.draw_w_per_core) == (9, None)
    (folder / "drawn.yaml").write_text("base: site\npower: {draw_w_per_core: [1, 2]}")
    assert load(folder, "base: drawn\npower: {w_per_core: 9}").power == fixed
    (folder / "fixed.yaml").write_text("base: site\npower: {w_per_core: 9}")
    drawn = load(folder, "base: fixed\npower: {draw_w_per_core: [1, 2]}").power
    assert (drawn.w_per_core, drawn.draw_w_per_core) == (None, (1, 2))
    (line,) = problems(folder, "base: site\npower: {w_per_core: 9, draw_w_per_core: [1, 2]}")
    assert "power.draw_w_per_core: given together with power.w_per_core; keep one of them" in line


def test_bands(folder: Path) -> None:
    """Bands are kept as written, over midnight or up to 24:00, with the price outside them."""
    tariff = load(
        folder,
        """\
base: site
tariff:
  kind: bands
  bands:
    - {from: "22:00", to: "6:00", eur_per_kwh: 0.11}
    - {from: "17:00", to: "22:00", eur_per_kwh: 0.3}
""",
    ).tariff
    assert isinstance(tariff, BandTariff)
    assert tariff.eur_per_kwh == 0.15
    assert (tariff.bands[0].start, tariff.bands[0].end, tariff.bands[0].eur_per_kwh) == ("22:00", "06:00", 0.11)
    all_day = '{kind: bands, bands: [{from: "00:00", to: "24:00", eur_per_kwh: 1}]}'
    whole = load(folder, "base: site", f"tariff={all_day}").tariff
    assert isinstance(whole, BandTariff)
    assert whole.bands[0].end == "24:00"


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ('{from: "05:59", to: "07:00", eur_per_kwh: 1}', "tariff.bands[1]: overlaps band [0] at 05:59"),
        ('{from: "07:00", to: "07:00", eur_per_kwh: 1}', "tariff.bands[1]: begins and ends at the same time"),
    ],
)
def test_bands_apart(folder: Path, second: str, words: str) -> None:
    """Bands must not overlap, also past midnight, nor be empty."""
    first = '{from: "22:00", to: "06:00", eur_per_kwh: 1}'
    (line,) = problems(folder, "base: site", f"tariff={{kind: bands, bands: [{first}, {second}]}}")
    assert words in line


def test_hourly_needs(folder: Path) -> None:
    """An hourly tariff needs its file and unit, and dollars need their rate."""
    found = problems(folder, "base: site\ntariff: {kind: hourly}")
    assert [line.split(": ")[1] for line in found] == ["tariff.file", "tariff.unit"]
    (line,) = problems(folder, "base: site\ntariff: {kind: hourly, file: ../prices.csv, unit: USD/MWh}")
    assert "tariff.eur_per_usd: missing" in line
    (line,) = problems(folder, "base: site\ntariff: {kind: hourly, file: ../prices.csv, unit: USD/kWh}")
    assert "tariff.eur_per_usd: missing; unit USD/kWh needs it" in line


@pytest.mark.parametrize(
    "tariff",
    [
        "{kind: flat, eur_per_kwh: 0.1",
        '{kind: bands, eur_per_kwh: 0.1, bands: [{from: "22:00", to: "06:00", eur_per_kwh: 1}]',
        "{kind: hourly, file: ../prices.csv, unit: EUR/MWh",
    ],
)
def test_fees_in_dollars(folder: Path, tariff: str) -> None:
    """Whatever the tariff, its rate converts fees too; without it the line says where to write it."""
    day = Horizon(dt.date(2024, 6, 1), "UTC")
    (folder.parent / "fees.csv").write_text("time,fee USD/kWh\n2024-06-01T00:00Z,0.1\n2024-06-02T00:00Z,0.2\n")
    text = f"base: site\nfees: {{file: ../fees.csv, unit: USD/kWh}}\ntariff: {tariff}"
    (line,) = problems(folder, text + "}")
    assert "fees.unit: USD/kWh needs an exchange rate; write tariff: {eur_per_usd: 0.92}" in line
    scenario = load(folder, text + ", eur_per_usd: 0.5}")
    fees = fee_of(scenario.fees, day, scenario.tariff.eur_per_usd)
    assert fees is not None
    assert fees.values.tolist() == [0.05]
    scenario = load(folder, "currency: USD\n" + text + "}")
    fees = fee_of(scenario.fees, day, scenario.tariff.eur_per_usd, scenario.currency)
    assert fees is not None
    assert fees.values.tolist() == [0.1]


def test_dollars_at_a_site_that_counts_in_them(folder: Path) -> None:
    """They need no rate and have none; a rate of 1 says the same."""
    text = "base: site\ncurrency: USD\ntariff: {kind: hourly, file: ../prices.csv, unit: USD/MWh, eur_per_usd: "
    (folder.parent / "prices.csv").write_text("time,price USD/MWh\n2024-06-01T00:00Z,50\n2024-06-02T00:00Z,60\n")
    for rate in ("null", "1"):
        scenario = load(folder, text + rate + "}")
        prices = price_of(scenario.tariff, Horizon(dt.date(2024, 6, 1), "UTC"), scenario.currency)
        assert prices.values.tolist() == [0.05]
    (line,) = problems(folder, text + "0.95}")
    assert "tariff.eur_per_usd: currency is USD, so USD is not converted; remove it, or write null" in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('tariff: {bands: [{from: "22:00", to: "06:00", eur_per_kwh: 1}]}', "write kind: bands"),
        ("tariff: {kind: flat, file: ../prices.csv}", "write kind: hourly, or file: null"),
        ("weather: {temperature_c: 3}", "write source: constant"),
        ("jobs: {format: csv}", "jobs.format: not used with source: sample; write source: a file, or format: null"),
        ("tariff: {bands: flat}", "not used with kind: flat; write kind: bands, or bands: null"),
        ("carbon: {zone: UTC}", "carbon.zone: not used with no g_per_kwh or file; write file, or zone: null"),
        ("jobs: {source: ../prices.csv, load: 0.5}", "jobs.load: not used with source: a file"),
        ("carbon: {g_per_kwh: 1, file: ../prices.csv}", "carbon.file: given together with carbon.g_per_kwh"),
    ],
)
def test_contradictions(folder: Path, text: str, words: str) -> None:
    """A key that the choice beside it would ignore is an error, not ignored."""
    (line,) = problems(folder, f"base: site\n{text}\n")
    assert words in line


def test_later_choice_retires_earlier_keys(folder: Path) -> None:
    """What a base gave for a choice that a later layer changed is dropped, and so are its files."""
    (folder / "hourly.yaml").write_text("""\
base: site
jobs: {load: 1.2}
weather: {source: constant, temperature_c: 4}
tariff: {kind: hourly, file: ../prices.csv, unit: EUR/MWh}
carbon: {file: ../prices.csv, zone: UTC}
""")
    site = load(
        folder,
        "base: hourly\njobs: {source: ../prices.csv}\nweather: {source: sample}\ncarbon: {g_per_kwh: 3}",
        "tariff.eur_per_kwh=0.2",
        "tariff.kind=flat",
    )
    assert site.tariff == FlatTariff(eur_per_kwh=0.2)
    assert isinstance(site.jobs, FileJobs)
    assert isinstance(site.weather, SampleWeather)
    assert site.carbon == ConstantCarbon(g_per_kwh=3)
    plain = site.as_dict()
    assert (plain["tariff"]["file"], plain["tariff"]["unit"], plain["tariff"]["bands"]) == (None, None, [])
    assert (plain["weather"]["temperature_c"], plain["carbon"]["zone"], plain["jobs"]["load"]) == (None, None, 0.9)
    (line,) = problems(folder, "base: hourly\ntariff: {kind: flat}")
    assert "tariff.eur_per_kwh: missing" in line


@pytest.mark.parametrize("text", ["- a\n- b", "just words"])
def test_not_a_mapping(folder: Path, text: str) -> None:
    """A file that is not made of keys is refused with its name."""
    with pytest.raises(FileFormatError, match=r"test\.yaml:1: a scenario is made of keys and values"):
        load(folder, text)


def test_base_is_one(folder: Path) -> None:
    """A list of bases is refused; they chain instead."""
    with pytest.raises(FileFormatError, match=r"test\.yaml:1: base must be one name or path"):
        load(folder, "base: [site, other]")


def test_spec_keeps_origins(folder: Path) -> None:
    """The spec is the merged text: plain data for people, each value still with its file and line."""
    (folder / "test.yaml").write_text("base: site\nseed: 4\n")
    spec = read_spec("test", folders=[folder])
    entries = spec.written.entries()
    assert entries is not None
    assert (entries["seed"].line, entries["zone"].source.label) == (2, str(folder / "site.yaml"))
    plain = spec.as_dict()
    assert isinstance(plain, dict)
    assert plain["tariff"] == {"eur_per_kwh": 0.15}
    assert "base" not in plain


def test_key_order_is_irrelevant(folder: Path) -> None:
    """The order of sections in a file changes nothing that is resolved."""
    lines = "base: site\nseed: 4\nzone: UTC\nsolar: {tilt_deg: 20, peak_kw: 3}\n".splitlines()
    assert load(folder, "\n".join(lines)) == load(folder, "\n".join(reversed(lines)))


def test_shipped_sample() -> None:
    """The shipped sample is the site that its text promises, whatever the current folder."""
    site = load_scenario("sample", folders=[shipped_folder() / "scenarios"])
    assert site.zone == "America/New_York"
    assert [(c.name, c.count) for c in site.cluster.classes] == [("cpu", 280), ("gpu", 20)]
    assert site.cluster.total("cores") == 300 * 32
    assert site.cluster.total("gpus") == 20 * 4
    assert (site.jobs.source, site.weather.source, site.tariff.eur_per_kwh) == ("sample", "sample", 0.15)


def test_scenario_folders(tmp_path: Path) -> None:
    """A site's own scenarios come before the shipped ones, and the repository's own are not listed twice."""
    shipped = shipped_folder() / "scenarios"
    assert scenario_folders(tmp_path) == [shipped]
    assert scenario_folders(shipped_folder()) == [shipped]
    (tmp_path / "scenarios").mkdir()
    assert scenario_folders(tmp_path) == [tmp_path / "scenarios", shipped]


def test_prices_of_a_class_are_merged_with_those_of_the_site_key_by_key() -> None:
    """A class with its own price of GPUs still bills memory; one with nothing of its own is as the site."""
    revenue = Revenue.model_validate(
        {
            "eur_per_core_hour": 0.02,
            "eur_per_hour": {"memory_gb": 0.001, "gpus": 0.4},
            "classes": {"gpu": {"eur_per_hour": {"gpus": 0.8}}, "cpu": {"eur_per_core_hour": 0.01}},
        }
    )
    assert revenue.class_prices() == {
        "gpu": UsePrice(0.02, {"memory_gb": 0.001, "gpus": 0.8}),
        "cpu": UsePrice(0.01, {"memory_gb": 0.001, "gpus": 0.4}),
    }
