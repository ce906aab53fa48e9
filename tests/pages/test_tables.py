"""Claims about tables that sort, as a real browser does it, with the mouse and with the keyboard."""

from __future__ import annotations

from pathlib import Path

from tests.days import DAY, rows_of
from tests.pages.conftest import Opener
from tests.pages.look import cells


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
