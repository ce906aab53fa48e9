"""``plan show``: what there is to choose from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from planner import defaults
from planner.cli.options import JsonOption
from planner.cli.tab_key import fitting
from planner.cli.terminal import say, say_json
from planner.errors import InputError


def _methods() -> dict[str, str]:
    from planner.methods import METHODS

    return {name: text + (" (default)" if name == defaults.METHOD else "") for name, (_, text) in METHODS.items()}


def _method_params() -> dict[str, dict[str, dict[str, str]]]:
    """The keys of a scenario that each method goes by, with default, unit and meaning."""
    from planner.methods import METHODS
    from planner.scenario.reference import key_rows

    rows = key_rows()
    return {
        method: {
            key: {"default": default.strip("`"), "unit": unit, "meaning": meaning}
            for key, unit, default, meaning in rows
            if key.startswith(f"search.{method}.")
        }
        for method in METHODS
    }


def _orderings() -> dict[str, str]:
    from planner.search.orderings import ORDERINGS, describe

    return {name: describe(name) for name in ORDERINGS}


def _scenarios() -> dict[str, str]:
    from planner.places import scenario_folders
    from planner.scenario.load import known_scenarios, read_spec

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
    from planner.cp.engines import ENGINES

    versions = {name: engine.version() for name, engine in ENGINES.items()}
    return {
        name: f"{versions[name]}; {engine.limits}" if versions[name] else f"not installed; {engine.remedy}"
        for name, engine in ENGINES.items()
    }


def _versions() -> dict[str, str]:
    from planner import __version__
    from planner.store.provenance import versions

    return {"planner": __version__} | versions()


def _policies() -> dict[str, str]:
    """The kinds of policy, then what a name may say besides: an order of the queue, or a local objective."""
    from planner.online.objectives import SENTENCES as OBJECTIVES
    from planner.online.policies import DISPATCHERS, ORDERED, ORDERS, PLANNING, SENTENCES

    kinds = {f"{kind}-OBJECTIVE" if kind in PLANNING else kind: text for kind, text in SENTENCES.items()}
    ordered = ", ".join(f"ORDER-{kind}" for kind in ORDERED)
    how = {
        "ORDER-KIND": f"the queue in another order than that of submission: {ordered}; such as saf-list",
        "easy-xxBF": "easy that starts others beside the reservation in another order, such as easy-sjbf; also with an"
        " order of the queue: saf-easy-sjbf",
    }
    orders = {f"ORDER {name}": meaning for name, meaning in ORDERS.items()}
    return kinds | DISPATCHERS | how | orders | {f"OBJECTIVE {name}": text for name, text in OBJECTIVES.items()}


def _metrics() -> dict[str, str]:
    from planner.metrics import METRICS, MONEY

    return {metric.name: metric.meaning for metric in METRICS.values()} | MONEY


def _predictors() -> dict[str, str]:
    from planner.online.predictors import PREDICTORS

    return {name: text for name, (_, text) in PREDICTORS.items()}


def _docs() -> dict[str, str]:
    """The documents, each with its title and place."""
    from planner.places import shipped_folder

    found = {}
    for path in sorted((shipped_folder() / "docs").glob("*.md")):
        with path.open(encoding="utf-8") as stream:
            found[path.stem] = f"{stream.readline().lstrip('# ').strip()}: {path}"
    return found


def _schema() -> dict[str, Any]:
    from planner.scenario.reference import editor_schema

    return editor_schema()


TOPICS: dict[str, Callable[[], dict[str, Any]]] = {
    "methods": _methods,
    "params": _method_params,
    "orderings": _orderings,
    "policies": _policies,
    "metrics": _metrics,
    "predictors": _predictors,
    "scenarios": _scenarios,
    "schema": _schema,
    "engines": _engines,
    "versions": _versions,
    "docs": _docs,
}


def _topics(incomplete: str) -> list[str]:
    """What the tab key offers."""
    return fitting(TOPICS, incomplete)


def show(
    topic: Annotated[
        str, typer.Argument(metavar="TOPIC", help=f"What to list: {', '.join(TOPICS)}.", autocompletion=_topics)
    ],
    as_json: JsonOption = False,
) -> None:
    """List what there is to choose from, each with a sentence; params are keys of methods, schema is for editors."""
    if topic not in TOPICS:
        raise InputError(f"nothing to show by the name of {topic!r}; known: {', '.join(TOPICS)}")
    if topic == "params":
        _show_params(as_json=as_json)
        return
    entries = TOPICS[topic]()
    if as_json or topic == "schema":
        say_json(entries)
        return
    width = max(map(len, entries))
    for name, text in entries.items():
        say(f"{name:<{width}}  {text}")


def _show_params(*, as_json: bool) -> None:
    found = _method_params()
    if as_json:
        say_json(found)
        return
    keys = [key for params in found.values() for key in params]
    width = max(map(len, keys))
    for method, params in found.items():
        say(method if params else f"{method}: no parameters")
        for key, about in params.items():
            say(f"  {key:<{width}}  {about['default']:>7}  {about['meaning']} [{about['unit']}]")
