"""Claims about the pages of studies: what a browser shows fits, and every figure is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.studies.curie23.cells import CALIBRATIONS, SCENARIOS, StudyChoice
from planner.studies.curie23.show import page_of
from tests.curie23_days import shown
from tests.pages.conftest import Opener
from tests.pages.look import is_drawn


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_the_page_of_curie23(tmp_path: Path, open_page: Opener, width: int, scheme: str) -> None:
    """It is no wider than the window, and has three drawn figures of each scenario and calibration."""
    path = tmp_path / "curie23.html"
    path.write_text(page_of(shown(StudyChoice()), StudyChoice()), encoding="utf-8")
    page = open_page(path, width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    figures = page.locator("figure")
    assert figures.count() == 3 * len(SCENARIOS) * len(CALIBRATIONS)
    beside = figures.nth(1).bounding_box()["x"] > width / 3
    assert beside == (width > 1000)
    assert all(is_drawn(figures.nth(k)) for k in range(0, figures.count(), 5))
