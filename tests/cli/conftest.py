"""A small site to stand in, and days planned once for many tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.days import BRIEF, DAY, plan, write_small_site
from tests.made_once import made_once


@pytest.fixture(scope="session")
def sample_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the sample site's day, planned once, with every kind of file."""
    words = ("--day", DAY, "--scenario", "sample", *BRIEF, "--also", "parquet", "--also", "swf")
    return made_once(tmp_path_factory, "sample", lambda _: plan(*words)) / "reports" / "sample" / DAY


@pytest.fixture(scope="session")
def planned_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small site with one day planned; copy it, never change it."""

    def make(base: Path) -> None:
        write_small_site(base)
        plan("--day", DAY)

    return made_once(tmp_path_factory, "site", make)


@pytest.fixture
def site(tmp_path: Path, planned_site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small site of the test's own to stand in, with the earlier result of a day."""
    base = tmp_path / "site"
    shutil.copytree(planned_site, base)
    monkeypatch.chdir(base)
    return base


@pytest.fixture
def small_day(tmp_path: Path, planned_site: Path) -> Path:
    """A copy of the small site's planned day, to be damaged."""
    target = tmp_path / DAY
    shutil.copytree(planned_site / "reports" / "site" / DAY, target)
    return target
