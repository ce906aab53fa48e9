"""Every kind of input that is mutated, by name."""

from __future__ import annotations

from tests.fuzz import accounts, command, dependencies, jobs, learning, results, scenario, series, tables
from tests.fuzz.case import Make

KINDS: dict[str, Make] = {
    "swf": jobs.swf,
    "csv": jobs.job_csv,
    "parquet": jobs.job_parquet,
    "dependencies": dependencies.dependencies,
    "accounts": accounts.accounts,
    "learning": learning.learning,
    "scenario": scenario.scenario,
    "set": scenario.settings,
    "table": tables.pue_table,
    "nameplate": tables.nameplate,
    "tariff": series.tariff,
    "carbon": series.carbon,
    "epw": series.epw,
    "tmy3": series.tmy3,
    "open-meteo": series.open_meteo,
    "weather-csv": series.weather_csv,
    "solar": series.solar,
    "forecast": series.forecast,
    "results": results.results,
    "command": command.command,
}
"""Names with what makes a case of the kind; the number of a case decides all that is random in it."""
