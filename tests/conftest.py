"""Fixtures that several tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from planner import defaults
from planner.accounting import broken

SEARCH_STEPS = 1_000
"""Steps of a search where a command says nothing: enough for all that a search does, a twentieth of what users get."""


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: the tests of a real Slurm mostly wait."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(autouse=True, scope="session")
def strict_audit() -> None:
    """A plan of ours that breaks a rule fails the test, wherever a search would go on without it."""
    broken.raises = True


@pytest.fixture(autouse=True, scope="session")
def brief_searches() -> None:
    """Plans of commands are found in fewer steps; what they have to be does not depend on how good they are."""
    defaults.ITERATIONS = SEARCH_STEPS


@pytest.fixture
def lenient_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in production: the search goes on without a broken plan, and its result says so."""
    monkeypatch.setattr(broken, "raises", False)


@pytest.fixture(scope="session")
def planner_data() -> Path:
    """The folder of real data: PLANNER_DATA, else ../shared/data beside the repository; skips without it."""
    folder = Path(os.environ.get("PLANNER_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"real data not found at {folder}; set PLANNER_DATA to its folder")
    return folder
