"""Claims about where things stand on a page, measured in a real browser: in windows of three widths, and on paper."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.days import DAY
from tests.pages.conftest import Opener

PAPER = 703
"""Width of the text of an A4 page with margins of 12 mm [px]."""


MEASURES = (Path(__file__).parent / "measure.js").read_text(encoding="utf-8")


def measured(page: Page, what: str) -> list[str]:
    """What is wrong on a page by one of the measures."""
    found: list[str] = page.evaluate(f"() => {{ {MEASURES} return {what}(); }}")
    return found


def on_paper(page: Page) -> None:
    """Show the page as it is printed on A4."""
    page.set_viewport_size({"width": PAPER, "height": 994})
    page.emulate_media(media="print")
    page.evaluate("() => { dispatchEvent(new Event('beforeprint')); }")
    page.wait_for_timeout(150)


@pytest.fixture
def pages(sample_days: Path, comparison: Path, rich_day: Path) -> dict[str, Path]:
    """A page of every kind."""
    return {
        "day": sample_days / "sample" / DAY / "report.html",
        "rich day": rich_day / "report.html",
        "index": sample_days / "index.html",
        "costs": sample_days / "sample" / "costs" / "2024-06-by-account.html",
        "compare": comparison / "compare.html",
    }


KINDS = ("day", "rich day", "index", "costs", "compare")


@pytest.mark.slow(keep=5)
@pytest.mark.parametrize("width", [390, 768, 1440])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_stands_beyond_its_container(pages: dict[str, Path], open_page: Opener, kind: str, width: int) -> None:
    """No part is cut at the window's edge, no mark leaves its chart; on a wide window every table is seen whole."""
    page = open_page(pages[kind], width=width)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    page.wait_for_timeout(100)
    assert measured(page, "beyond") == []
    if width == 1440:
        assert measured(page, "cut") == []


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("kind", KINDS)
def test_paper_has_every_column(pages: dict[str, Path], open_page: Opener, kind: str) -> None:
    """On A4 every column of every table is there, no cell runs into the next, and no figure is cut."""
    page = open_page(pages[kind])
    on_paper(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    assert measured(page, "beyond") == []
    assert measured(page, "cut") == []
    assert measured(page, "colliding") == []
    assert page.locator("details:not([open])").count() == 0
    wide = page.evaluate("[...document.querySelectorAll('.plot svg')].map(each => each.viewBox.baseVal.width)")
    assert all(each == 700 for each in wide)


def test_rows_of_jobs_are_no_taller_than_their_reason(sample_days: Path, open_page: Opener) -> None:
    """On a phone a row of the deferred jobs is at most four lines high: reasons have room."""
    page = open_page(sample_days / "sample" / DAY / "report.html", width=390)
    heights = page.locator("#deferred tbody tr").evaluate_all("rows => rows.map(row => row.offsetHeight)")
    assert max(heights) <= 4 * 22 + 10


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("resource", [0, 1, 2])
@pytest.mark.parametrize("width", [390, 1440])
def test_jobs_of_a_node_stand_side_by_side(rich_day: Path, open_page: Opener, width: int, resource: int) -> None:
    """No two bars of a node overlap, each is inside its node's lane, and together they are as high as jobs' shares."""
    page = open_page(rich_day / "report.html", width=width)
    page.locator("[data-resource]").nth(resource).click()
    page.wait_for_timeout(100)
    bars = page.evaluate("page.bars()")
    chart = page.evaluate("page.data.gantt")
    having = [each for each in chart["classes"] if each["has"][resource]]
    first, last = having[0]["first"], having[-1]["first"] + having[-1]["count"]
    lane = (chart["height"] - 22) / (last - first)
    assert len({bar["job"] for bar in bars}) > 10
    assert any(a["node"] == b["node"] and abs(a["x"] - b["x"]) < 0.01 for a, b in combinations(bars, 2))
    for bar in bars:
        top = (bar["node"] - first) * lane
        assert top - 0.01 <= bar["y"]
        assert bar["y"] + bar["h"] <= top + bar["count"] * lane + 0.01
    for a, b in combinations(bars, 2):
        across = min(a["x"] + a["w"], b["x"] + b["w"]) - max(a["x"], b["x"])
        down = min(a["y"] + a["h"], b["y"] + b["h"]) - max(a["y"], b["y"])
        assert across < 0.01 or down < 0.01, (a, b)
    stride = 2 + len(chart["resources"])
    for job, spans in zip(chart["jobs"]["id"], chart["jobs"]["spans"], strict=True):
        asked = sum(spans[i + 1] * spans[i + 2 + resource] for i in range(0, len(spans), stride)) / 1000 * lane
        assert sum(bar["h"] for bar in bars if bar["job"] == job) == pytest.approx(asked, rel=0.01)


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_text_has_contrast(pages: dict[str, Path], open_page: Opener, kind: str, scheme: str) -> None:
    """Every text stands out from its ground by 4.5 to 1 at least."""
    page = open_page(pages[kind], scheme=scheme)
    assert measured(page, "poorContrast") == []


def test_tables_on_paper_stay_with_their_headings(pages: dict[str, Path], open_page: Opener) -> None:
    """On paper a short table is on one sheet with its caption; a long one may go on."""
    page = open_page(pages["day"])
    on_paper(page)
    style = "(all, name) => all.map(each => getComputedStyle(each)[name])"
    assert set(page.locator("caption").evaluate_all(style, "breakAfter")) == {"avoid"}
    assert set(page.locator(".scroll:not(.tall)").evaluate_all(style, "breakInside")) == {"avoid"}
    assert "avoid" not in page.locator(".scroll.tall").evaluate_all(style, "breakInside")
