"""What a shell offers on the tab key: scenarios, methods, policies, topics; see `plan --install-completion`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from planner.runs.check_request import WORDS


def scenarios(incomplete: str) -> list[str]:
    """Names of scenarios, the site's own and the shipped ones."""
    from planner.places import scenario_folders
    from planner.scenario.load import known_scenarios

    return fitting(known_scenarios(scenario_folders(Path.cwd())), incomplete)


def methods(incomplete: str) -> list[str]:
    """Names of methods."""
    from planner.methods import METHODS

    return fitting(METHODS, incomplete)


def policies(incomplete: str) -> list[str]:
    """Names of policies; what stands before the last comma stays."""
    from planner.online.policies import POLICIES

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in fitting(POLICIES, last)]


def engines(incomplete: str) -> list[str]:
    """Names of CP engines, installed or not."""
    from planner.cp.engines import ENGINES

    return fitting(list(ENGINES), incomplete)


def days(incomplete: str) -> list[str]:
    """Days by name; a date has to be typed."""
    return fitting(WORDS, incomplete)


def fitting(names: Iterable[str], incomplete: str) -> list[str]:
    """The names that begin as what was typed."""
    return [name for name in names if name.startswith(incomplete)]
