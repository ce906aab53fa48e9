"""Claims about the index, cost and comparison pages, as a real browser shows them with the network off."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.days import DAY, rows_of
from tests.pages.conftest import Opener
from tests.pages.look import cells, is_drawn, number


@pytest.mark.parametrize("width", [1400, 390])
def test_index_leads_to_every_day(sample_days: Path, open_page: Opener, width: int) -> None:
    """The index lists every day newest first, with the profit of its ledger, and its links open the pages."""
    page = open_page(sample_days / "index.html", width=width)
    rows = cells(page, "days")
    assert [row[0] for row in rows] == ["2024-06-03", "2024-06-02", DAY]
    for row in rows:
        ledger = sum(float(each["profit_eur"]) for each in rows_of(sample_days / "sample" / row[0] / "segments.csv"))
        assert number(row[3]) == pytest.approx(ledger, abs=0.006)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".month td a").first.click()
    page.wait_for_selector("#gantt canvas")
    assert DAY in page.title()
    page.locator(".crumbs a").click()
    page.wait_for_selector("#days")
    page.locator("main ul a").first.click()
    page.wait_for_selector("#lines")


@pytest.mark.parametrize("width", [1400, 390])
def test_cost_page_equals_its_csv(sample_days: Path, open_page: Opener, width: int) -> None:
    """The lines of the cost page are those of its CSV, every figure is drawn, and hovering tells a day's revenue."""
    page = open_page(sample_days / "sample" / "costs" / "2024-06-by-account.html", width=width)
    written = rows_of(sample_days / "sample" / "costs" / "2024-06-by-account.csv")
    shown = cells(page, "lines")
    assert [row[0] for row in shown] == [row["account"] for row in written if row["kind"] == "account"]
    for row, line in zip(shown, written, strict=False):
        assert number(row[-2]) == pytest.approx(float(line["profit_eur"]), abs=0.00501)
        assert number(row[3]) == pytest.approx(float(line["core_hours"]), abs=0.0501)
    total = page.locator("#lines tfoot tr").last.locator("data").last.get_attribute("value")
    assert float(total or "nan") == pytest.approx(sum(float(line["profit_eur"]) for line in written), abs=1e-6)
    for figure in ("money", "costs", "energy", "pue"):
        assert is_drawn(page.locator(f"#{figure} .plot")), figure
    page.locator("#energy .plot").hover()
    page.wait_for_timeout(100)
    assert "kWh" in page.locator(".tip").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_compare_page_equals_its_csv(comparison: Path, open_page: Opener, width: int, scheme: str) -> None:
    """The comparison shows the runs of its CSV with their differences, and every figure is drawn."""
    page = open_page(comparison / "compare.html", width=width, scheme=scheme)
    with (comparison / "runs.csv").open(newline="", encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    shown = cells(page, "runs")
    runs = ("EASY", "hold", "multisearch")
    assert [row[0] for row in shown] == [f"{name}, {run}" for name in ("air-summer", "hybrid-summer") for run in runs]
    for row, run in zip(shown, written, strict=True):
        assert number(row[1].split("\n")[0]) == pytest.approx(float(run["profit_eur"]), abs=0.00501)
    more = page.locator("#runs tbody tr").nth(5).locator("td small").first.inner_text()
    assert number(more) == pytest.approx(float(written[5]["profit_difference_eur"]), abs=0.00501)
    against = cells(page, "against")
    assert [row[:2] for row in against][::3] == [["air-summer", "EASY"], ["hybrid-summer", "EASY"]]
    for row, run in zip(against, written, strict=True):
        assert number(row[2]) == pytest.approx(float(run["profit_eur"]), abs=0.00501)
        saved = row[3:8]
        if run["method"] == "easy":
            assert saved == ["–"] * 5
        else:
            assert number(saved[0]) == pytest.approx(float(run["saved_eur"]), abs=0.00501)
            assert number(saved[2]) == pytest.approx(float(run["saved_volume_eur"]), abs=0.00501)
            assert number(saved[3]) == pytest.approx(float(run["saved_energy_cost_eur"]), abs=0.00501)
            assert number(saved[4]) == pytest.approx(float(run["saved_kwh"]), abs=0.501)
        assert [int(number(cell)) for cell in row[8:10]] == [int(run["started"]), int(run["deferred"])]
        assert (row[-1] == "0") == (run["method"] == "hold")
    assert "as long as it asked" in page.locator("main").inner_text()
    for figure in ("profit", "more"):
        assert is_drawn(page.locator(f"#{figure} .plot")), figure
    assert page.locator("#pue circle").count() == 6 * 3
    assert is_drawn(page.locator("#pue .strip"))
    assert is_drawn(page.locator("#multiples"))
    assert page.locator("#multiples figure").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#profit .plot").hover()
    page.wait_for_timeout(100)
    assert "hybrid-summer" in page.locator(".tip").inner_text()


def test_bars_of_energy_are_named_by_their_colours(comparison: Path, open_page: Opener) -> None:
    """The legend of the energy bars has the colours of the bars in light and dark, and names none by its shade."""
    for scheme in ("light", "dark"):
        page = open_page(comparison / "compare.html", scheme=scheme)
        script = "marks => marks.map(each => getComputedStyle(each).backgroundColor)"
        named = page.locator("figure:has(#energy) .legend i").evaluate_all(script)
        assert named == page.locator("#energy tbody tr:first-child .share").evaluate_all(script)
        assert len(set(named)) == 2
        assert "dark" not in page.locator("#energy thead").inner_text()
