"""Claims about the pages of studies and replays: what a browser shows fits, is readable, and sorts by the keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.studies.curie23_setup import CALIBRATIONS, SCENARIOS
from tests.curie23_days import HandMadeStudy, shown
from tests.pages.conftest import Opener
from tests.pages.look import is_drawn
from tests.pages.study_pages import STUDIES
from tests.pages.test_layout import PAPER, measured, on_paper


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_the_page_of_curie23(tmp_path: Path, open_page: Opener, width: int, scheme: str) -> None:
    """It is no wider than the window, and has three drawn figures of each scenario and calibration."""
    path = tmp_path / "curie23.html"
    study = HandMadeStudy()
    path.write_text(study.page(shown(study)), encoding="utf-8")
    page = open_page(path, width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    figures = page.locator("figure")
    assert figures.count() == 3 * len(SCENARIOS) * len(CALIBRATIONS)
    beside = figures.nth(1).bounding_box()["x"] > width / 3
    assert beside == (width > 1000)
    assert all(is_drawn(figures.nth(k)) for k in range(0, figures.count(), 5))


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("kind", STUDIES)
def test_nothing_stands_beyond_its_container(study_pages: dict[str, Path], open_page: Opener, kind: str) -> None:
    """In windows of three widths no part is cut at the edge and no mark leaves its chart."""
    for width in (390, 768, 1440):
        page = open_page(study_pages[kind], width=width)
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        page.wait_for_timeout(100)
        assert measured(page, "beyond") == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("kind", STUDIES)
def test_paper_has_every_column(study_pages: dict[str, Path], open_page: Opener, kind: str) -> None:
    """On A4 every column of every table is there, no cell runs into the next, and nothing stays folded."""
    page = open_page(study_pages[kind])
    on_paper(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    for measure in ("beyond", "cut", "colliding"):
        assert measured(page, measure) == [], measure
    assert page.locator("details:not([open])").count() == 0


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("kind", STUDIES)
def test_text_has_contrast(study_pages: dict[str, Path], open_page: Opener, kind: str) -> None:
    """Every text stands out from its ground by 4.5 to 1 at least, in light and in dark."""
    for scheme in ("light", "dark"):
        assert measured(open_page(study_pages[kind], scheme=scheme), "poorContrast") == [], scheme


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("kind", STUDIES)
def test_tables_sort_by_the_keyboard(study_pages: dict[str, Path], open_page: Opener, kind: str) -> None:
    """The Tab key reaches a heading of a table, Enter sorts by it, and a third press restores the order."""
    page = open_page(study_pages[kind])
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "sort":
            break
    head = page.locator("th", has=page.locator("button:focus"))
    assert head.count() == 1
    # The first one has the focus and keeps it.
    table = page.locator("table", has=page.locator("button:focus")).first

    def rows() -> list[list[str]]:
        script = "table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.innerText))"
        found: list[list[str]] = table.evaluate(script)
        return found

    before = rows()
    assert len(before) > 1
    column = head.evaluate("each => each.cellIndex")
    page.keyboard.press("Enter")
    way = head.get_attribute("aria-sort")
    assert way in ("ascending", "descending")
    found = rows()
    assert sorted(found) == sorted(before)
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == ("descending" if way == "ascending" else "ascending")
    if len({row[column] for row in before}) == len(before):
        assert rows() == found[::-1]
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "none"
    assert rows() == before
