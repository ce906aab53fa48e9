"""Claims about what is made from the models: the table of keys, the JSON schema, and the words that readers share."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from planner.cli.main import run
from planner.inputs.jobs.read import FORMAT_OF_SUFFIX
from planner.inputs.prices import UNITS
from planner.inputs.weather.read import DATED, YEARS
from planner.inputs.weather.typical_year import SEASONS
from planner.places import shipped_folder
from planner.scenario.reference import editor_schema, key_table, schema_keys
from planner.scenario.strict_yaml import TextSource, parse_yaml, read_yaml
from planner.scenario.words import JobsFormat, PriceUnit, Season, WeatherFormat

SCENARIOS = shipped_folder() / "scenarios"
SITE = Path(__file__).resolve().parents[2] / "planner" / "site" / "templates"
FILES = [*sorted(SCENARIOS.glob("*.yaml")), *sorted(SITE.rglob("*.yaml"))]


def fits(schema: dict[str, Any], value: object, root: dict[str, Any]) -> bool:
    """Whether plain data fits the part of JSON schema that the models make use of."""
    if "$ref" in schema and not fits(root["$defs"][schema["$ref"].rpartition("/")[2]], value, root):
        return False
    if "anyOf" in schema and not any(fits(each, value, root) for each in schema["anyOf"]):
        return False
    if "not" in schema and fits(schema["not"], value, root):
        return False
    if ("enum" in schema and value not in schema["enum"]) or ("const" in schema and value != schema["const"]):
        return False
    if "type" in schema and not any(_is(value, each) for each in _listed(schema["type"])):
        return False
    if isinstance(value, dict) and schema.get("type") == "object":
        further = schema.get("additionalProperties", {})
        known = schema.get("properties", {})
        inner = [(known.get(key, further), each) for key, each in value.items()]
        return all(isinstance(part, dict) and fits(part, each, root) for part, each in inner)
    if isinstance(value, list):
        return all(fits(schema.get("items", {}), each, root) for each in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _in_range(schema, value)
    return True


def _listed(types: str | list[str]) -> list[str]:
    return [types] if isinstance(types, str) else types


def _is(value: object, name: str) -> bool:
    if name in ("number", "integer"):
        return isinstance(value, int | float) and not isinstance(value, bool)
    kinds = {"string": str, "boolean": bool, "null": type(None), "array": list, "object": dict}
    return isinstance(value, kinds[name])


def _in_range(schema: dict[str, Any], value: float) -> bool:
    least = schema.get("minimum", value)
    return bool(least <= value <= schema.get("maximum", value) and value > schema.get("exclusiveMinimum", value - 1))


def as_json(text: str) -> Any:
    """A layer as an editor sees it: dates are text."""
    return json.loads(json.dumps(parse_yaml(text, TextSource("test", Path())).plain(), default=str))


def test_readme_has_the_table_of_the_models() -> None:
    """The table of scenarios/README.md is `key_table()`, word for word; GOLDEN=write renews it."""
    path = SCENARIOS / "README.md"
    if os.environ.get("GOLDEN") == "write":
        head = path.read_text(encoding="utf-8").partition("\n\n| key |")[0]
        path.write_text(f"{head}\n\n{key_table()}", encoding="utf-8")
    assert path.read_text(encoding="utf-8").endswith(f"\n\n{key_table()}")


def test_every_key_is_explained() -> None:
    """No row of the table is without a unit, a default or a meaning."""
    assert len(schema_keys()) > 50
    for row in key_table().splitlines():
        assert all(cell.strip() for cell in row.strip("|").split("|")), row


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_shipped_scenarios_fit_the_schema(path: Path) -> None:
    """An editor finds nothing wrong with any scenario that ships, nor with a new site's."""
    schema = editor_schema()
    value = json.loads(json.dumps(read_yaml(path).plain(), default=str))
    assert fits(schema, value, schema)


@pytest.mark.parametrize(
    "text",
    [
        "base: sample",
        "cluster: {classes: {gpu: null, cpu: {count: 4}}}",
        "tariff: {eur_per_kwh: 0.2}",
        "tariff: {kind: flat, eur_per_kwh: 0.2, file: null}",
        'tariff: {kind: bands, bands: [{from: "22:00", to: "06:00", eur_per_kwh: -0.1}]}',
        "jobs: {source: queue.csv, format: csv, lookback: 36h, core_scale: 9600/93312}",
        "weather: {season: winter}",
        "power: {draw_w_per_core: [1, 2]}",
        "demand: null",
        "cluster: {down: [{nodes: cpu001, state: drain, from: 2024-06-01T08:00:00Z, to: null}]}",
    ],
)
def test_layers_fit_the_schema(text: str) -> None:
    """A layer needs no key, may leave its kind to its base, and may take away what a base said."""
    schema = editor_schema()
    assert fits(schema, as_json(text), schema)


@pytest.mark.parametrize(
    "text",
    [
        "tarif: {kind: flat}",
        "tariff: {kind: flat, file: prices.csv}",
        "tariff: {kind: band}",
        "jobs: {source: sample, format: csv}",
        "jobs: {lookback_s: 3}",
        "weather: {source: sample, temperature_c: 3}",
        "solar: {losses_fraction: 1.4}",
        "cluster: {power_limit_kw: 0}",
        "cluster: {classes: {cpu: {counts: 3}}}",
        "cluster: {down: [{nodes: cpu001, state: up}]}",
        "cluster: {down: [{nodes: cpu001, since: 2024-06-01T08:00:00Z}]}",
        "cluster: {down: [{nodes: cpu001, from: 3}]}",
        "rules: {defer: ful}",
        "seed: one",
        "sources: [a.yaml]",
    ],
)
def test_slips_do_not_fit_the_schema(text: str) -> None:
    """Keys, words, kinds and ranges are known to an editor too."""
    schema = editor_schema()
    assert not fits(schema, as_json(text), schema)


def _words(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema
        for each in schema.values():
            yield from _words(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _words(each)


def test_show_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """``plan show schema`` prints the schema as JSON, in which a layer needs nothing."""
    assert run(["show", "schema"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == json.loads(json.dumps(editor_schema()))
    assert list(shown["properties"])[:3] == ["base", "name", "description"]
    assert "required" not in set(_words(shown))


def test_readers_and_models_share_their_words() -> None:
    """What a scenario may say is what a reader knows, and no more."""
    assert get_args(PriceUnit) == UNITS
    assert "USD/kWh" in UNITS
    assert set(get_args(Season)) == set(SEASONS)
    assert set(get_args(WeatherFormat)) == {"auto", *DATED, *YEARS}
    assert set(get_args(JobsFormat)) == {"auto", *FORMAT_OF_SUFFIX.values()}
