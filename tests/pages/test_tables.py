"""Claims about tables that sort and the index that filters, as a real browser does it, by mouse and by keyboard."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from planner.pages.index import words_of, write_index
from tests.days import DAY, rows_of
from tests.pages.conftest import Opener
from tests.pages.look import cells, number


def test_a_press_sorts_by_the_exact_numbers(sample_days: Path, open_page: Opener) -> None:
    """Costs sort by core-hours, largest first, then smallest first; the third press restores the page's order."""
    page = open_page(sample_days / "sample" / "costs" / "2024-06-by-account.html")
    written = [row for row in rows_of(sample_days / "sample" / "costs" / "2024-06-by-account.csv") if row["account"]]
    before = [row[0] for row in cells(page, "lines")]
    head = page.locator("#lines thead th", has_text="mean wait")
    by_wait = [row["account"] for row in sorted(written, key=lambda row: -float(row["mean_wait_h"]))]
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert [row[0] for row in cells(page, "lines")][:3] == by_wait[:3] != before[:3]
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert [row[0] for row in cells(page, "lines")][:3] == by_wait[::-1][:3]
    assert page.locator("#lines tfoot tr").count() == 2
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "none"
    assert [row[0] for row in cells(page, "lines")] == before


def test_the_keyboard_sorts_words_clocks_and_gaps(sample_days: Path, open_page: Opener) -> None:
    """Waits sort as times and users as words, by keyboard alone; only one column is sorted at a time."""
    page = open_page(sample_days / "sample" / DAY / "report.html")
    waited = page.locator("#largest thead th", has_text="waited")
    waited.locator("button").focus()
    page.keyboard.press("Enter")
    column = next(k for k, text in enumerate(page.locator("#largest thead th").all_inner_texts()) if "waited" in text)
    minutes = [60 * int(h) + int(m.split()[0]) for h, m in (r[column].split(":") for r in cells(page, "largest"))]
    assert minutes == sorted(minutes, reverse=True)
    assert len(set(minutes)) > 5
    user = page.locator("#largest thead th", has_text="user")
    user.locator("button").focus()
    page.keyboard.press("Space")
    place = next(k for k, text in enumerate(page.locator("#largest thead th").all_inner_texts()) if "user" in text)
    users = [row[place] for row in cells(page, "largest")]
    assert users == sorted(users)
    sorted_heads = page.locator("#largest thead th[aria-sort=ascending], #largest thead th[aria-sort=descending]")
    assert sorted_heads.count() == 1


def test_rows_of_different_kinds_do_not_sort(sample_days: Path, open_page: Opener) -> None:
    """The table against EASY has a quantity in each row; it has no buttons."""
    page = open_page(sample_days / "sample" / DAY / "report.html")
    assert page.locator("#easy").count() == 1
    assert page.locator("#easy button").count() == 0
    assert page.locator("#rules button").count() > 3


@pytest.fixture
def two_scenarios(sample_days: Path, tmp_path: Path) -> Path:
    """The index over the sample's three days and one of them again as another scenario, in another month."""
    reports = tmp_path / "reports"
    shutil.copytree(sample_days / "sample", reports / "sample")
    shutil.copytree(sample_days / "sample" / DAY, reports / "other" / DAY)
    summary = reports / "other" / DAY / "summary.json"
    summary.write_text(summary.read_text().replace(f'"day": "{DAY}"', '"day": "2024-07-01"'))
    return write_index(reports)


def test_the_index_filters(two_scenarios: Path, open_page: Opener) -> None:
    """Choosing a scenario, a month or words shows these days alone, in the table, the months and the cards."""
    page = open_page(two_scenarios)

    def days() -> list[str]:
        found: list[str] = page.locator("#days tbody tr:visible").evaluate_all(
            "rows => rows.map(row => row.cells[1].innerText + ' ' + row.cells[0].innerText)"
        )
        return found

    assert len(days()) == 4
    page.locator("#filter-scenario").select_option("other")
    assert days() == ["other 2024-07-01"]
    assert page.locator(".card:visible").count() == page.locator(".month:visible").count() == 1
    assert page.locator("#filter-count").inner_text() == "1 of 4 days"
    page.locator("#filter-scenario").select_option("")
    page.locator("#filter-month").select_option("2024-06")
    assert days() == ["sample 2024-06-03", "sample 2024-06-02", f"sample {DAY}"]
    page.locator("#filter-words").focus()
    page.keyboard.type("06-02 SAMPLE")
    assert days() == ["sample 2024-06-02"]


def test_months_are_coloured_by_profit_or_gap(sample_days: Path, open_page: Opener) -> None:
    """The day with the largest profit, or with the largest gap, has the strongest colour, and its number is written."""
    page = open_page(sample_days / "index.html")
    rows = {row[0]: row for row in cells(page, "days")}
    for word, column in (("profit", 3), ("gap", 4)):
        page.locator(f"[data-by={word}]").focus()
        page.keyboard.press("Enter")
        best = max(rows, key=lambda day: number(rows[day][column]))
        links = page.locator(".month td a").evaluate_all(
            """all => all.map(each => {
              const context = document.createElement("canvas").getContext("2d");
              context.fillStyle = getComputedStyle(each).backgroundColor;
              context.fillRect(0, 0, 1, 1);
              const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
              return [each.getAttribute("aria-label").slice(0, 10), red + green + blue, each.innerText];
            })"""
        )
        assert min(links, key=lambda each: each[1])[0] == best, word
        assert all(("%" in text) == (word == "gap") for _, _, text in links)


def test_the_index_speaks_in_words(sample_days: Path, open_page: Opener) -> None:
    """A scenario has a sentence with the sum of its profits and a line of them; pages are named, not paths."""
    page = open_page(sample_days / "index.html")
    card = page.locator(".card")
    profits = [number(row[3]) for row in cells(page, "days")]
    assert number(card.locator("p").first.inner_text().split("profit ")[1].split(", €")[0]) == pytest.approx(
        sum(profits), abs=0.02
    )
    points = (card.locator("polyline").get_attribute("points") or "").split()
    heights = [float(point.split(",")[1]) for point in points]
    assert sorted(range(3), key=lambda k: -heights[k]) == sorted(range(3), key=lambda k: profits[::-1][k])
    assert page.locator("main ul a").first.inner_text() == "Costs of sample by account: 2024-06"
    assert words_of("compare/a+b+multisearch/2024-06-01_2024-06-03/compare.html") == (
        "Comparison of a, b, multisearch: 2024-06-01 to 2024-06-03"
    )
