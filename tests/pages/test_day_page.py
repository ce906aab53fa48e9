"""Claims about the page of a day, as a real browser shows it with the network off."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page

from planner.domain.horizon import Horizon
from planner.inputs.weather.read import weather_of
from planner.scenario.weather_cooling import SampleWeather
from tests.days import DAY, column_sum, rows_of
from tests.pages.conftest import HOSTILE, OWNED, Opener
from tests.pages.look import cells, is_drawn, number, value

FIGURES = ("power", "temperature", "price", "gantt", "use", "money", "costs", "pue", "queue")
ENERGY = ("sources", "sun", "battery-flow", "battery-level", "carbon")


def middle(page: Page, figure: str, part_x: float = 0.5, part_y: float = 0.5) -> tuple[float, float]:
    """A point of a figure's plot, in the window."""
    plot = page.locator(f"#{figure} .plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    return box["x"] + part_x * box["width"], box["y"] + part_y * box["height"]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (1400, "dark"), (390, "light")])
def test_every_figure_is_drawn(sample_days: Path, open_page: Opener, width: int, scheme: str) -> None:
    """Every figure has marks on it, in a wide and a narrow window, light and dark; the page never scrolls sideways."""
    page = open_page(sample_days / "sample" / DAY / "report.html", width=width, scheme=scheme)
    for figure in FIGURES:
        assert is_drawn(page.locator(f"#{figure} .plot")), figure
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_first_screen_equals_the_files(sample_days: Path, open_page: Opener) -> None:
    """The numbers of the first screen are those of the CSVs and the summary, to the digits that are shown."""
    folder = sample_days / "sample" / DAY
    page = open_page(folder / "report.html")
    summary = json.loads((folder / "summary.json").read_text())
    segments = folder / "segments.csv"
    for key, column in {"revenue": "revenue_eur", "it_cost": "it_cost_eur", "cooling_cost": "cooling_cost_eur"}.items():
        assert value(page, key) == pytest.approx(column_sum(segments, column), abs=1e-4)
        assert number(page.locator(f"data#{key}").inner_text()) == pytest.approx(value(page, key), abs=0.00501)
    assert value(page, "profit") == summary["totals"]["profit_eur"]
    assert value(page, "started") == len([row for row in rows_of(folder / "schedule.csv") if row["state"] == "planned"])
    assert value(page, "deferred_count") == len(rows_of(folder / "deferred.csv"))
    # The gap is rounded up, so that the words never claim more than was proven.
    stated = number(page.locator(".tile.main").first.locator("dd").nth(1).inner_text())
    assert 100 * summary["gap_fraction"] <= stated < 100 * summary["gap_fraction"] + 0.011
    assert value(page, "saved") == summary["easy"]["saved_eur"]
    assert value(page, "saved") == pytest.approx(value(page, "profit") - summary["easy"]["profit_eur"], abs=2e-6)
    shown = {row[0]: row[1:] for row in cells(page, "easy")}
    assert number(shown["profit"][1]) == pytest.approx(summary["easy"]["profit_eur"], abs=0.00501)
    assert number(shown["jobs that wait at the end"][1]) == summary["easy"]["deferred"]
    best = max(base["profit_eur"] for base in summary["baselines"])
    assert value(page, "saving") == pytest.approx(summary["planned_profit_eur"] - best, abs=1e-6)


def test_tables_equal_the_files(sample_days: Path, open_page: Opener) -> None:
    """Segments, largest jobs and deferred jobs on the page are rows of the CSVs."""
    folder = sample_days / "sample" / DAY
    page = open_page(folder / "report.html")
    page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")
    shown, written = cells(page, "segments"), rows_of(folder / "segments.csv")
    assert len(shown) == len(written)
    for row, segment in zip(shown, written, strict=True):
        assert number(row[3]) == pytest.approx(float(segment["it_kwh"]), abs=0.05)
        assert number(row[-1]) == pytest.approx(float(segment["profit_eur"]), abs=0.005)
    largest = sorted(rows_of(folder / "schedule.csv"), key=lambda row: (-float(row["core_hours"]), row["job_id"]))
    jobs = cells(page, "largest")
    assert [row[0] for row in jobs] == [row["job_id"] for row in largest[:25]]
    for row, job in zip(jobs, largest, strict=False):
        assert number(row[-1]) == pytest.approx(float(job["profit_eur"]), abs=0.005)
    waiting = cells(page, "deferred")
    assert waiting
    assert [(row[0], row[-1]) for row in waiting] == [
        (row["job_id"], row["reason"]) for row in rows_of(folder / "deferred.csv")[:300]
    ]


def test_sun_battery_and_carbon_are_drawn_as_settled(rich_day: Path, open_page: Opener) -> None:
    """What the site has of these is drawn with the figures of segments.csv; a site without has no such figure."""
    page = open_page(rich_day / "report.html")
    rows = rows_of(rich_day / "segments.csv")
    hours = [(int(row["end_s"]) - int(row["start_s"])) / 3600 for row in rows]
    panels = {panel["id"]: panel["layers"] for panel in page.evaluate("page.data.panels")}
    for figure in ENERGY:
        assert is_drawn(page.locator(f"#{figure} .plot")), figure

    def shown(panel: str, name: str) -> float:
        values = next(layer["values"] for layer in panels[panel] if layer["name"] == name)
        return sum(value * hour for value, hour in zip(values, hours, strict=True))

    for panel, name, column in (
        ("sources", "own sun", "solar_kwh"),
        ("sources", "bought", "bought_kwh"),
        ("sun", "fed in", "fed_kwh"),
        ("battery-flow", "takes", "charged_kwh"),
        ("carbon", "CO₂ of bought power", "carbon_kg"),
    ):
        total = column_sum(rich_day / "segments.csv", column)
        assert total > 0, column
        assert shown(panel, name) == pytest.approx(total, abs=0.02), name
    could = sum(float(row["solar_w"]) / 1000 * hour for row, hour in zip(rows, hours, strict=True))
    parts = [layer["name"] for layer in panels["sun"] if layer["kind"] == "stack"]
    assert sum(shown("sun", name) for name in parts) == pytest.approx(could, abs=0.05)
    held = next(layer["values"] for layer in panels["battery-level"])
    assert held == pytest.approx([float(row["battery_kwh"]) for row in rows], abs=1e-3)
    assert "step" not in page.locator("#temperature figcaption").inner_text()


def test_no_figure_of_what_a_site_does_not_have(sample_days: Path, open_page: Opener) -> None:
    """The sample site has no sun, battery or carbon."""
    page = open_page(sample_days / "sample" / DAY / "report.html")
    assert [figure for figure in ENERGY if page.locator(f"#{figure}").count()] == []


def test_temperature_is_the_weathers_own(sample_days: Path, open_page: Opener) -> None:
    """Where cooling goes by steps of the PUE table, the weather is drawn as it was, beside the step nearest to it."""
    folder = sample_days / "sample" / DAY
    page = open_page(folder / "report.html")
    weather, steps = next(each for each in page.evaluate("page.data.panels") if each["id"] == "temperature")["layers"]
    assert (weather["name"], steps["name"]) == ("temperature", "nearest step of the PUE table")
    horizon = Horizon(dt.date.fromisoformat(DAY), "America/New_York")
    day, _ = weather_of(SampleWeather(source="sample"), horizon)
    edges = page.evaluate("page.data.grids.weather")
    start = horizon.start_unix
    own = day.temperature_c.at(np.array(edges[:-1]) + start)
    assert len(set(own.tolist())) > 12
    assert weather["values"] == pytest.approx(own.tolist(), abs=0.0501)
    assert steps["values"] == [float(row["temperature_c"]) for row in rows_of(folder / "segments.csv")]
    page.mouse.move(*middle(page, "temperature"))
    page.wait_for_timeout(100)
    width = page.locator("#temperature .plot").evaluate("plot => plot.clientWidth")
    at_s = (width / 2 - 58) / (width - 78) * 86400
    there = day.temperature_c.at(np.array([start + int(at_s)]))[0]
    assert f"{there:.1f} °C" in page.locator(".tip").inner_text()


def test_use_of_gpus_and_memory(rich_day: Path, open_page: Opener) -> None:
    """The figure of use has every resource; the mean of the GPUs' is what the schedule holds of them."""
    page = open_page(rich_day / "report.html")
    use = next(panel for panel in page.evaluate("page.data.panels") if panel["id"] == "use")
    assert [layer["name"] for layer in use["layers"]] == ["cores", "GPUs", "memory"]
    held = 0.0
    for row in rows_of(rich_day / "schedule.csv"):
        gpus = sum(int(word.removeprefix("gpus=")) for word in row["unit_groups"].split() if word.startswith("gpus="))
        held += gpus * (min(86400, int(row["end_s"])) - max(0, int(row["start_s"])))
    values = use["layers"][1]["values"]
    assert held > 0
    assert sum(values) / len(values) == pytest.approx(100 * held / (8 * 86400), abs=0.1)


def test_hover_tells_the_segment(sample_days: Path, open_page: Opener) -> None:
    """Pointing at the power figure tells the mean IT and cooling power of the segment there."""
    folder = sample_days / "sample" / DAY
    page = open_page(folder / "report.html")
    page.mouse.move(*middle(page, "power"))
    page.wait_for_timeout(100)
    told = page.locator(".tip").inner_text().splitlines()
    # The plot has a gutter of 58 px at the left and 20 px at the right; its middle is a bit before noon.
    width = page.locator("#power .plot").evaluate("plot => plot.clientWidth")
    at_s = (width / 2 - 58) / (width - 78) * 86400
    row = next(r for r in rows_of(folder / "segments.csv") if int(r["start_s"]) <= at_s < int(r["end_s"]))
    hours = (int(row["end_s"]) - int(row["start_s"])) / 3600
    text = " ".join(told)
    assert f"{float(row['it_kwh']) / hours:,.1f} kW" in text
    assert f"{float(row['cooling_kwh']) / hours:,.1f} kW" in text


def test_zoom_by_mouse_button_and_key(sample_days: Path, open_page: Opener) -> None:
    """Dragging zooms every figure to the same stretch; a double click, the button and 0 show the whole day again."""
    page = open_page(sample_days / "sample" / DAY / "report.html")
    shown = page.locator("#shown")
    assert shown.inner_text() == "00:00 – 24:00"
    before = page.locator("#queue svg path").first.get_attribute("d")
    page.mouse.move(*middle(page, "power", 0.3))
    page.mouse.down()
    page.mouse.move(*middle(page, "power", 0.6), steps=4)
    page.mouse.up()
    page.wait_for_timeout(100)
    assert shown.inner_text() != "00:00 – 24:00"
    assert page.locator("#queue svg path").first.get_attribute("d") != before
    page.mouse.dblclick(*middle(page, "money"))
    page.wait_for_timeout(100)
    assert shown.inner_text() == "00:00 – 24:00"
    page.locator("[data-zoom=in]").click()
    page.wait_for_timeout(100)
    assert shown.inner_text() == "06:00 – 18:00"
    page.locator("#pue .plot").focus()
    page.keyboard.press("0")
    page.wait_for_timeout(100)
    assert shown.inner_text() == "00:00 – 24:00"


def test_gantt_tells_finds_and_zooms(sample_days: Path, open_page: Opener) -> None:
    """A node's jobs are told when pointed at, a job is found by its id, and the canvas changes when zoomed."""
    folder = sample_days / "sample" / DAY
    page = open_page(folder / "report.html")
    largest = max(rows_of(folder / "schedule.csv"), key=lambda row: float(row["core_hours"]))
    page.locator("#find").fill(largest["job_id"])
    assert largest["job_id"] in page.locator("#said").inner_text()
    page.locator("#find").fill("")
    canvas = page.locator("#gantt canvas")
    before = canvas.evaluate("canvas => canvas.toDataURL()")
    page.mouse.move(*middle(page, "gantt", 0.2, 0.1))
    page.wait_for_timeout(100)
    told = page.locator(".tip").inner_text()
    assert any(row["job_id"] in told for row in rows_of(folder / "schedule.csv"))
    page.mouse.down()
    page.mouse.move(*middle(page, "gantt", 0.4, 0.3), steps=4)
    page.mouse.up()
    page.mouse.move(0, 0)
    page.wait_for_timeout(100)
    assert canvas.evaluate("canvas => canvas.toDataURL()") != before
    page.locator("#gantt .plot").focus()
    page.keyboard.press("0")
    page.wait_for_function(
        "before => document.querySelector('#gantt canvas').toDataURL() === before", arg=before, timeout=10_000
    )


def test_keys_read_a_figure_aloud(sample_days: Path, open_page: Opener) -> None:
    """With the keyboard alone the segments of a figure are read one by one into the live region."""
    folder = sample_days / "sample" / DAY
    page = open_page(folder / "report.html")
    page.locator("#pue .plot").focus()
    said = []
    for _ in range(2):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(60)
        said.append(page.locator("#said").inner_text())
    rows = rows_of(folder / "segments.csv")
    assert [f"{float(row['pue']):.3f}" in text for row, text in zip(rows, said, strict=False)] == [True, True]


def test_names_are_shown_as_text(hostile_day: Path, open_page: Opener) -> None:
    """Names from a job file that look like HTML are shown letter by letter, and run nothing."""
    page = open_page(hostile_day / "report.html")
    named = {row[0]: row[1:4] for row in cells(page, "largest")}
    assert named["j1"] == [HOSTILE, "<b>bold</b>", "<img src=x onerror=alert(2)>"]
    assert named[OWNED] == [OWNED, "a&amp;b", "'u'"]
    assert cells(page, "deferred")[0][1] == HOSTILE
    page.mouse.move(*middle(page, "gantt", 0.1, 0.1))
    page.wait_for_timeout(100)
    assert "<" in page.locator(".tip").inner_text()
    assert page.title() != "owned"
    costs = open_page(next(hostile_day.parent.glob("costs/*.html")))
    assert {row[0] for row in cells(costs, "lines")} == {"j1", OWNED}
    assert costs.title() != "owned"


def test_printed_page_has_figures(sample_days: Path, open_page: Opener, tmp_path: Path) -> None:
    """The page prints: the figures are drawn in light colours even where the screen is dark."""
    page = open_page(sample_days / "sample" / DAY / "report.html", scheme="dark")
    page.pdf(path=tmp_path / "day.pdf")
    assert (tmp_path / "day.pdf").stat().st_size > 50_000
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ground').trim()") == "#ffffff"


@pytest.mark.slow
def test_curie_day(curie_day: Path, open_page: Opener) -> None:
    """A day of Curie's trace on 300 nodes: all figures drawn, under 5 MB."""
    path = curie_day / "report.html"
    assert path.stat().st_size < 5_000_000
    page = open_page(path)
    for figure in FIGURES:
        assert is_drawn(page.locator(f"#{figure} .plot")), figure
    assert value(page, "revenue") == pytest.approx(column_sum(curie_day / "segments.csv", "revenue_eur"), abs=1e-3)
