"""``plan show``: what there is to choose from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from planner.cli.terminal import say, say_json
from planner.errors import InputError


def _methods() -> dict[str, str]:
    from planner.methods import DEFAULT_METHOD, METHODS

    return {name: text + (" (default)" if name == DEFAULT_METHOD else "") for name, (_, text) in METHODS.items()}


def _orderings() -> dict[str, str]:
    from planner.search.orderings import ORDERINGS, describe

    return {name: describe(name) for name in ORDERINGS}


def _scenarios() -> dict[str, str]:
    from planner.places import scenario_folders
    from planner.scenario.layers import known_scenarios, read_spec

    folders = scenario_folders(Path.cwd())
    found = {}
    for name, path in known_scenarios(folders).items():
        try:
            written = read_spec(path, folders=folders).as_dict()
        except InputError as error:
            found[name] = f"cannot be read: {error}"
            continue
        text = written.get("description", "") if isinstance(written, dict) else ""
        found[name] = " ".join(str(text).split()) or str(path)
    return found


def _engines() -> dict[str, str]:
    from planner.cp.engines.choose import known_engines

    return {
        facts.name: f"{facts.version}; {facts.limits}" if facts.version else f"not installed; {facts.remedy}"
        for facts in known_engines()
    }


def _versions() -> dict[str, str]:
    from planner import __version__
    from planner.store.provenance import versions

    return {"planner": __version__} | versions()


def _policies() -> dict[str, str]:
    from planner.online.policies import POLICIES

    return POLICIES


def _metrics() -> dict[str, str]:
    from planner.metrics.registry import METRICS, MONEY

    return {metric.name: metric.meaning for metric in METRICS.values()} | MONEY


def _predictors() -> dict[str, str]:
    from planner.online.predictors import PREDICTORS

    return PREDICTORS


def _schema() -> dict[str, Any]:
    from planner.scenario.editor_schema import editor_schema

    return editor_schema()


TOPICS: dict[str, Callable[[], dict[str, Any]]] = {
    "methods": _methods,
    "orderings": _orderings,
    "policies": _policies,
    "metrics": _metrics,
    "predictors": _predictors,
    "scenarios": _scenarios,
    "schema": _schema,
    "engines": _engines,
    "versions": _versions,
}


def show(
    topic: Annotated[str, typer.Argument(metavar="|".join(TOPICS), help="What to list.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List what there is to choose from, each with a sentence; schema is the JSON schema of scenarios, for editors."""
    if topic not in TOPICS:
        raise InputError(f"nothing to show by the name of {topic!r}; known: {', '.join(TOPICS)}")
    entries = TOPICS[topic]()
    if as_json or topic == "schema":
        say_json(entries)
        return
    width = max(map(len, entries))
    for name, text in entries.items():
        say(f"{name:<{width}}  {text}")
