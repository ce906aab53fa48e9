"""A scenario by its name or file: layered, checked in one go, and resolved."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from planner.errors import ScenarioError
from planner.scenario.fields import behind
from planner.scenario.layers import ScenarioSpec, read_spec
from planner.scenario.marked import Marked
from planner.scenario.problems import problem_lines
from planner.scenario.schema import KINDS, Scenario
from planner.scenario.written import plain

_SECTIONS = [name for name, field in Scenario.model_fields.items() if name in KINDS or behind(field)[0] == "section"]


UNTIL_SLURM_SAYS = {"classes": {"slurm": {"count": 1, "capacity": {"cores": 1}}}, "down": None}
"""The nodes of a scenario whose jobs come from Slurm: it has those of Slurm, once that is read, and their states."""


def load_scenario(name_or_path: str | Path, *, folders: Sequence[Path], overrides: Sequence[str] = ()) -> Scenario:
    """The scenario of that name or in that file, checked; ScenarioError lists all that is wrong with it.

    Names are looked up as ``<folder>/<name>.yaml``. ``overrides`` are texts such as ``tariff.kind=hourly``.
    """
    return resolve(read_spec(name_or_path, folders=folders, overrides=overrides))


def resolve(spec: ScenarioSpec) -> Scenario:
    """The scenario of a spec; ScenarioError lists every problem."""
    entries = {"name": Marked(spec.name, spec.written.source)} | dict(spec.written.entries() or {})
    written = dataclasses.replace(spec.written, value=entries)
    try:
        return Scenario.model_validate(_whole(written), context={"sources": spec.sources})
    except ValidationError as error:
        raise ScenarioError(f"scenario {spec.name}", problem_lines(error, written)) from None


def _whole(written: Marked) -> dict[str, object]:
    """The scenario with an empty section for each that is not there, so that what it lacks is named key by key."""
    given = plain(written)
    assert isinstance(given, dict)
    whole = {**given, **{name: {} for name in _SECTIONS if given.get(name) is None}}
    for name, kinds in KINDS.items():
        if isinstance(whole[name], dict):
            # A null says nothing, also where another kind has the key.
            words = kinds.words()
            whole[name] = {word: value for word, value in whole[name].items() if value is not None or word not in words}
    if (
        isinstance(whole["jobs"], dict)
        and whole["jobs"].get("source") == "slurm"
        and isinstance(whole["cluster"], dict)
    ):
        whole["cluster"] = {**whole["cluster"], **UNTIL_SLURM_SAYS}
    return whole
