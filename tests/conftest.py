"""Fixtures that several tests share."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

from planner import defaults
from planner.accounting import audit

SEARCH_STEPS = 1_000
"""Steps of a search where a command says nothing: enough for all that a search does, a twentieth of what users get."""


WITHIN_ROUNDING = "figures of Table II within rounding"
"""What a test records: the trace, how many of its published figures agree with ours, and of how many."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the long logs in full, or, if the tests of the simulator were asked for by name, the part of them."""
    is_asked = any("online" in Path(each.split("::")[0]).parts for each in config.args)
    left_out = [item for item in items if item.get_closest_marker("part_of_table" if is_asked else "whole_table")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Say how many figures of the published table agree with ours, trace by trace."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for report in (*terminalreporter.stats.get("passed", ()), *terminalreporter.stats.get("failed", ())):
        for name, value in report.user_properties:
            if name == WITHIN_ROUNDING:
                trace, met, of = value
                counts[trace] = [counts[trace][0] + met, counts[trace][1] + of]
    if counts:
        told = ", ".join(f"{trace} {met} of {of}" for trace, (met, of) in counts.items())
        terminalreporter.write_line(f"{WITHIN_ROUNDING}: {told}")


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: the tests of a real Slurm mostly wait."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(autouse=True, scope="session")
def strict_audit() -> None:
    """A plan of ours that breaks a rule fails the test, wherever a search would go on without it."""
    audit.raises = True


@pytest.fixture(autouse=True, scope="session")
def brief_searches() -> None:
    """Plans of commands are found in fewer steps; what they have to be does not depend on how good they are."""
    defaults.ITERATIONS = SEARCH_STEPS


@pytest.fixture
def lenient_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in production: the search goes on without a broken plan, and its result says so."""
    monkeypatch.setattr(audit, "raises", False)


@pytest.fixture(scope="session")
def planner_data() -> Path:
    """The folder of real data: PLANNER_DATA, else ../shared/data beside the repository; skips without it."""
    folder = Path(os.environ.get("PLANNER_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"real data not found at {folder}; set PLANNER_DATA to its folder")
    return folder
