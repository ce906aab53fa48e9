"""Mutated series over time: prices, carbon intensity, and weather in each of its formats."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.fuzz.case import Case, reading
from tests.fuzz.damage import put
from tests.fuzz.grid import csv_text, mutated, read_grid
from tests.fuzz.odd import odd_number, odd_value, odd_word
from tests.fuzz.site import CARBON, EPW, FORECAST, LOCAL_PRICES, OPEN_METEO, PRICES, SOLAR, TMY3, WEATHER
from tests.fuzz.tree import mutated as mutated_tree


def tariff(rng: random.Random, site: Path) -> Case:
    """A file of prices with odd cells, rows, columns or times."""
    local = rng.random() < 0.4
    path = _put_csv(rng, site / "prices.csv", LOCAL_PRICES if local else PRICES)
    zone = ", zone: Europe/Paris" if local else ""
    return Case(reading(rng, "--set", f"tariff={{kind: hourly, file: {path}, unit: EUR/MWh{zone}}}"))


def carbon(rng: random.Random, site: Path) -> Case:
    """A file of carbon intensities with odd cells, rows, columns or times."""
    path = _put_csv(rng, site / "carbon.csv", CARBON)
    return Case(reading(rng, "--set", f"carbon={{file: {path}, eur_per_tonne: 60, g_per_kwh: null}}"))


def weather_csv(rng: random.Random, site: Path) -> Case:
    """Weather as CSV."""
    return _weather(rng, _put_csv(rng, site / "weather.csv", WEATHER), place=False)


def tmy3(rng: random.Random, site: Path) -> Case:
    """A typical year as TMY3."""
    lines = [line.split(",") for line in TMY3.splitlines()]
    head = rng.choice([2, 2, 0])
    text = "\n".join(",".join(line) for line in mutated(rng, lines, first=head)) + "\n"
    return _weather(rng, put(rng, site / "typical.csv", text.encode("utf-8", "surrogatepass")), zoned=False)


def epw(rng: random.Random, site: Path) -> Case:
    """A typical year as EPW."""
    lines = [line.split(",") for line in EPW.splitlines()]
    if rng.random() < 0.3:
        place = rng.randrange(len(lines[0]))
        lines[0][place] = odd_word(rng)
    else:
        lines = mutated(rng, lines, first=rng.choice([8, 8, 1]))
    text = "\n".join(",".join(line) for line in lines) + "\n"
    return _weather(rng, put(rng, site / "typical.epw", text.encode("utf-8", "surrogatepass")), zoned=False)


def open_meteo(rng: random.Random, site: Path) -> Case:
    """An answer of the Open-Meteo API."""
    document = json.loads(OPEN_METEO)
    match rng.randrange(4):
        case 0:
            key = rng.choice(["latitude", "longitude", "elevation", "utc_offset_seconds", "timezone", "hourly_units"])
            document[key] = odd_value(rng)
        case 1:
            column = rng.choice(list(document["hourly"]))
            document["hourly"][column][rng.randrange(72)] = odd_value(rng)
        case 2:
            column = rng.choice(list(document["hourly_units"]))
            document["hourly_units"][column] = odd_value(rng)
        case _:
            document = mutated_tree(rng, document)
    if rng.random() < 0.15:
        document.pop("utc_offset_seconds", None)
    if rng.random() < 0.1:
        document["hourly"] = {
            "time": [1717106400 + 3600 * k for k in range(48)],
            "temperature_2m": [odd_value(rng)] * 48,
        }
    text = json.dumps(document, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.1:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice([odd_number(rng), "[" * 100_000, '"\\ud800"', "}", ","]) + text[at:]
    return _weather(rng, put(rng, site / "weather.json", text.encode("utf-8", "surrogatepass")))


def solar(rng: random.Random, site: Path) -> Case:
    """A file of the power of photovoltaics with odd cells, columns and times."""
    path = _put_csv(rng, site / "pv.csv", SOLAR)
    return Case(reading(rng, "--set", f"solar={{file: {path}, unit: kW}}"))


def forecast(rng: random.Random, site: Path) -> Case:
    """A forecast with members, humidity and pressure, cooled between cells or by wet bulbs."""
    path = _put_csv(rng, site / "forecast.csv", FORECAST)
    members = rng.choice(['["t_*"]', "[t_1, t_2]", "[t_2]", "[t_3]"])
    where = rng.choice(["", ", latitude_deg: 45.7, longitude_deg: 4.9"])
    lookup, bulb = rng.choice(["step", "linear"]), rng.choice(["dry-bulb", "wet-bulb"])
    cooling = ["--set", f"cooling.lookup={lookup}", "--set", f"cooling.temperature={bulb}"]
    weather = f"weather={{source: {path}, temperature_c: null, members: {members}{where}}}"
    return Case(reading(rng, "--set", weather, *cooling))


def _put_csv(rng: random.Random, path: Path, text: str) -> Path:
    return put(rng, path, csv_text(rng, mutated(rng, read_grid(text))).encode("utf-8", "surrogatepass"))


def _weather(rng: random.Random, path: Path, *, place: bool = True, zoned: bool = True) -> Case:
    choice = f"source: {path}, temperature_c: null"
    if zoned and rng.random() < 0.1:
        choice += ", zone: Europe/Paris"
    if rng.random() < 0.1:
        choice += ", season: summer"
    sun = ["--set", "solar.peak_kw=1.5"] if place and rng.random() < 0.5 else []
    return Case(reading(rng, "--set", f"weather={{{choice}}}", *sun))
