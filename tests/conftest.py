"""Fixtures that several tests share."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path

import hypothesis
import pytest
from _pytest.terminal import TerminalReporter

from planner import defaults
from planner.accounting import audit

hypothesis.settings.register_profile("any machine", deadline=None)  # a busy one takes long, which is no failure
hypothesis.settings.load_profile("any machine")

SEARCH_STEPS = 1_000
"""Steps of a search where a command says nothing: enough for all that a search does, a twentieth of what users get."""


WITHIN_ROUNDING = "figures of Table II within rounding"
"""What a test records: the trace, how many of its published figures agree with ours, and of how many."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest --all` runs every case; without it, of tests marked `slow`, those that a person waits for."""
    parser.addoption("--all", action="store_true", help="run all cases of the tests that are marked as slow, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long: cases marked `slow` but for those to keep, and all marked `long`.

    A test that was asked for by its own name is run whole, and `-m long` runs the long ones.
    """
    left_out: set[pytest.Item] = set()
    if "long" not in config.option.markexpr:
        left_out |= {item for item in items if item.get_closest_marker("long")}
    if not config.option.all and not any("::" in each for each in config.args):
        slow: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            if item.get_closest_marker("slow"):
                slow[item.nodeid.split("[")[0]].append(item)
        for cases in slow.values():
            left_out |= _beyond_the_slice(cases)
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def _beyond_the_slice(cases: list[pytest.Item]) -> set[pytest.Item]:
    """All cases of a slow test but as many as it says to keep, which have every value of its parameters if they can."""
    marker = cases[0].get_closest_marker("slow")
    keep = marker.kwargs.get("keep", 0) if marker else 0
    left, seen = cases.copy(), Counter[str]()
    for _ in range(min(keep, len(cases))):
        rarest = min(left, key=lambda case: sum(seen[value] for value in _values(case)))
        left.remove(rarest)
        seen.update(_values(rarest))
    return set(left)


def _values(case: pytest.Item) -> list[str]:
    """The values that the parameters of a test have in a case, with their names."""
    chosen = getattr(case, "callspec", None)
    return [f"{name} {value!r}" for name, value in chosen.params.items()] if chosen is not None else []


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


@pytest.fixture(scope="session")
def is_whole(pytestconfig: pytest.Config) -> bool:
    """Whether tests that go through many cases by themselves take all of them, or a slice: `pytest --all`."""
    return bool(pytestconfig.option.all)


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
