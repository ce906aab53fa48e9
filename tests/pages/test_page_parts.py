"""Claims about the parts of pages: escaping, number formats, series, and the index."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from planner.domain.day_summary import AheadSummary, AheadTotals, Booked, Elsewhere, Measured
from planner.domain.horizon import Horizon
from planner.domain.waits import Waits
from planner.pages.charts import Bar, Line, bar_groups, by_factors, by_tens, from_zero, lines, power_svg, round_ticks
from planner.pages.day_tables import row
from planner.pages.index import IndexEntry, index_page, write_index
from planner.pages.markup import (
    MINUS,
    THIN,
    data,
    days_from,
    el,
    gap_words,
    good_or_bad,
    hours,
    join,
    money,
    plain,
    signed_money,
    signed_percent,
)
from planner.pages.scatter import Axis, Point, Series, scatter
from planner.pages.time_axis import Panel, clock_axis, count_at, days_payload, layer, mean_work_kw, minute_edges
from tests.days import DAY, plan, write_small_site
from tests.factories import day_summary
from tests.pages.study_pages import made_up

SEEN = {
    "cp-online": "4f01da43572e",
    "curie23": "bb33bf38d795",
    "dispatchers": "35fa934937c0",
    "metrics": "186ba6c3b404",
    "operation": "ea0aa57b6ee8",
    "replay": "55e069cd167b",
}
"""Digests of the drawings on pages of made-up figures, as they were last looked at."""


def test_text_is_escaped_and_html_is_not() -> None:
    """Text and attributes are escaped, elements made here are kept."""
    made = el("p", "<b>", el("i", "a & b"), title='"><script>')
    assert made == '<p title="&quot;&gt;&lt;script&gt;">&lt;b&gt;<i>a &amp; b</i></p>'
    assert join("<", None, ["&", [el("br")]]) == "&lt;&amp;<br>"


def test_data_cannot_end_its_element() -> None:
    """No text in a page's data can close the script element, and it reads back as it was."""
    content = {"name": "</script><!--\u2028 & 'x'"}
    text = data("data", content)
    assert text.count("</script>") == 1
    assert "<!--" not in text
    assert json.loads(text[text.index(">") + 1 : text.rindex("<")]) == content


def test_money_and_numbers() -> None:
    """Currencies stand where they belong, minus is a minus, and zero has no sign."""
    assert money(-1234.5, "EUR") == f"{MINUS}€1,234.50"
    assert money(1234.5, "SEK") == f"1,234.50{THIN}SEK"
    assert money(-0.001, "EUR") == "€0.00"
    assert signed_money(0.0, "EUR") == "€0.00"
    assert signed_money(2.0, "EUR") == "+€2.00"
    assert plain(-0.04, 1) == "0.0"
    assert hours(5400) == f"1:30{THIN}h"


@pytest.mark.parametrize(
    ("bound", "gap", "text"),
    [
        (None, None, "no bound was worked out for this plan"),
        (-1.0, None, f"no schedule can earn more than {MINUS}€1.00"),
        (100.0, 0.0, "proven: no schedule can earn more"),
        (100.0, 0.006, f"within 0.6{THIN}% of the best possible"),
        (100.0, 0.00601, f"within 0.61{THIN}% of the best possible"),
        (4.53, 5.39 / 4.53, "€5.39 below the best possible"),
    ],
)
def test_gap_in_words(bound: float | None, gap: float | None, text: str) -> None:
    """The proven gap is said in words and rounded up, never down."""
    assert gap_words(day_summary(bound_eur=bound, gap_fraction=gap)) == text


def test_the_index_tells_idle_days_in_money() -> None:
    """A nearly idle day has money in place of a share of 119 %, and no day is coloured by that share."""
    days = [
        IndexEntry(
            Path("site") / f"2024-06-0{k}", day_summary(day=dt.date(2024, 6, k), bound_eur=bound, gap_fraction=gap)
        )
        for k, (bound, gap) in enumerate([(4.53, 5.39 / 4.53), (100.0, 0.02), (100.0, 0.031)], start=1)
    ]
    page = index_page(days, [])
    assert "119" not in page
    assert f"at most 3.1{THIN}% below the best possible, but for 1 nearly idle day." in page
    assert ">€5.39</data>" in page
    assert "2024-06-01: profit €1.00, at most €5.39 below the best possible" in page
    assert re.findall(r"--gap-part:(\d+)%", page) == ["0", "43", "60"]


@pytest.mark.parametrize(("days", "text"), [(1, "1 day, 2024-06-01: profit"), (2, "2 days, 2024-06-01 to 2024-06-02:")])
def test_the_index_says_which_days_it_has(days: int, text: str) -> None:
    """One day by its date, several by the first and the last."""
    entries = [
        IndexEntry(Path("site") / f"2024-06-0{k}", day_summary(day=dt.date(2024, 6, k))) for k in range(1, days + 1)
    ]
    assert text in index_page(entries, [])


def test_the_index_adds_no_booked_money_to_planned() -> None:
    """On the card and over the month both are told where there are both; days of one kind are one sum."""
    booked = Booked("sacct.txt", 1, 1.0, Measured(), Elsewhere())
    days = [
        IndexEntry(
            Path("site") / f"2024-06-0{k}", day_summary(day=dt.date(2024, 6, k), booked=booked if k < 3 else None)
        )
        for k in range(1, 6)
    ]
    page = index_page(days, [])
    assert "5 days, 2024-06-01 to 2024-06-05: profit €2.00 on 2 booked days and €3.00 on 3 only planned." in page
    assert "<caption>Profit €2.00 on 2 booked days and €3.00 on 3 only planned</caption>" in page
    assert "€5.00" not in page
    page = index_page(days[:2], [])
    assert "2 days, 2024-06-01 to 2024-06-02: profit €2.00, €1.00 a day." in page
    assert "<caption>Profit €2.00 on 2 days</caption>" in page


@pytest.mark.parametrize(
    ("worth", "bound", "gap", "words"),
    [
        (99.75, 100.0, 0.0025, "within 0.25 % of what none can exceed"),
        (-468.36, 316.6, 2.479343, "at most €784.96 below what none can exceed"),
        (-468.36, -40.0, None, ""),
    ],
)
def test_a_share_above_half_of_a_worth_is_told_in_money(
    worth: float, bound: float, gap: float | None, words: str
) -> None:
    """As profits are: 247.93 % of a small sum say nothing."""
    of_plan = AheadTotals(0.0, 0.0, 0.0, 0.0, worth, Waits(None, None))
    ahead = replace(
        AheadSummary(1, "", "steady", 1.0, False, None, 0.0, 0.1, 0, of_plan, of_plan, 0.0, 0.0),
        worth_bound_eur=bound,
        gap_fraction=gap,
    )
    assert ahead.how_near(lambda amount: money(amount, "EUR")) == words


def test_work_by_the_minute_is_all_the_work() -> None:
    """The power by the minute sums to the energy of the jobs within the day."""
    edges = minute_edges(3600)
    # 600 s of 1 kW before the day ends nothing; 90 s and 1,800 s of 2 kW lie inside.
    start, end = np.array([-600, 30, 1800]), np.array([0, 120, 7200])
    work = mean_work_kw(edges, start, end, np.array([1000.0, 2000.0, 2000.0]))
    assert work.sum() / 60 == pytest.approx((90 + 1800) * 2 / 3600)
    assert work[0] == pytest.approx(1.0)
    assert list(mean_work_kw(edges, start[:0], end[:0], np.array([]))) == [0.0] * 60


def test_counts_over_time() -> None:
    """A job counts from the moment it comes until the moment it goes."""
    edges = np.array([0, 60, 120, 180])
    assert count_at(edges, np.array([-5, 60, 61]), np.array([60, 130])).tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("day", "length", "at_3h"), [("2024-03-31", 23, 4), ("2024-10-27", 25, 2), ("2024-06-01", 24, 3)]
)
def test_clock_of_days_that_change_it(day: str, length: int, at_3h: int) -> None:
    """Three hours after midnight the clock shows 4:00 in spring, 2:00 in autumn, and the last mark is midnight."""
    axis = clock_axis(Horizon(dt.date.fromisoformat(day), "Europe/Paris"))
    assert axis["hi"] == length * 3600
    assert axis["clock"][6] == at_3h * 60
    assert axis["clock"][-1] == 24 * 60


def test_the_script_gets_every_figure_of_a_page() -> None:
    """With the id of the element that it draws in, its layers, and what only this figure has."""
    bars = layer("stack", "days", "costs", "blue", [1.0, 2.0], "EUR", 2)
    panels = [Panel("costs", "Costs", "By day.", [bars], extra={"unit": "EUR"}), Panel("jobs", "Jobs", "By day.", [])]
    costs, jobs = days_payload(["2024-06-01", "2024-06-02"], panels)["panels"]
    assert (costs["id"], costs["layers"], costs["unit"], jobs["id"]) == ("costs", [bars], "EUR", "jobs")


def test_round_ticks() -> None:
    """Ticks are round and lie within the range."""
    assert round_ticks(0.98, 1.49) == [1.0, 1.2, 1.4]


def test_scales_of_curves() -> None:
    """From zero, by powers of ten, and by factors with the values themselves written."""
    assert from_zero([2.0, 4.0]).part(1.0) == 0.25
    below = from_zero([-1.0, 3.0])
    assert (below.part(-1.0), below.part(0.0), below.part(3.0)) == (0.0, 0.25, 1.0)
    assert from_zero([-4.0]).part(0.0) == 1.0
    tens = by_tens([0.5, 30.0])
    assert list(tens.ticks) == pytest.approx([0.1, 1, 10, 100])
    assert tens.part(1.0) == pytest.approx(1 / 3)
    factors = by_factors([64, 256, 1024, 64])
    assert (list(factors.ticks), factors.part(256)) == ([64, 256, 1024], pytest.approx(0.5))
    assert by_factors([64]).part(64) == 0


def test_curves_can_be_dashed_and_have_a_mark() -> None:
    """The mark stands where its value does, and nowhere when the curves end before it; zero shows among negatives."""
    curves = [Line("rule", "a0", [(0, 1.0), (10, -1.0)], dashed=True), Line("search", "a1", [(0, 2.0), (10, 1.5)])]
    html = lines("Ahead", curves, across="day", up="EUR", width=600, mark=5, at_end=True)
    assert html.count("stroke-dasharray") == 1
    assert 'class="lead" x1="323.0" x2="323.0"' in html  # 70 at the left and 24 at the right leave 506
    assert html.count('class="zero"') == 1
    assert "Ahead: rule -1.0 at the end, search 1.5 at the end" in html
    plain = lines("Ahead", curves[1:], across="day", up="EUR", mark=11)
    assert "lead" not in plain
    assert 'class="zero"' not in plain
    assert "search 1.8 on average" in plain


def test_bars_stand_on_one_scale_and_say_what_is_missing() -> None:
    """The longest bar takes all the room but two in a hundred; a bar without a value has its text alone."""
    groups = [("a", [Bar("mine", 5.0, "5 s", "it")]), ("b", [Bar("mine", 10.0, "10 s", "it")])]
    html = bar_groups("Waits", [*groups, ("c", [Bar("mine", None, "stopped", "it")])])
    widths = [float(text) for text in re.findall(r'width="([0-9.]+)" height', html)]
    assert widths == pytest.approx([760 / 1.02 / 2, 760 / 1.02, 0], abs=0.1)
    assert "Waits: a mine 5 s; b mine 10 s; c mine stopped" in html


def test_the_power_of_a_day_is_drawn_to_scale() -> None:
    """820 x 240 for 24 h and 105 kW: 6 h take 205, 50 kW 114.3; a number every 4 h and 50 kW, names at the top."""
    root = ElementTree.fromstring(power_svg("site", [0, 6, 24], {"IT": [100.0, 50.0], "cooling": [0.0, 10.0]}))
    assert root.attrib["viewBox"] == "0 0 900 320"
    curves = [each.attrib for each in root if each.tag.endswith("polyline")]
    assert [each["points"] for each in curves] == [
        "60.0,51.4 265.0,51.4 265.0,165.7 880.0,165.7",
        "60.0,280.0 265.0,280.0 265.0,257.1 880.0,257.1",
    ]
    words = [(each.text, each.attrib["x"], each.attrib["y"]) for each in root if each.tag.endswith("text")]
    assert words == [
        ("site", "60", "20"),
        *[("0", "52", "284.0"), ("50", "52", "169.7"), ("100", "52", "55.4")],
        *[(f"{hour} h", f"{60 + 820 * hour / 24:.1f}", "298") for hour in range(0, 25, 4)],
        *[("kW", "52", "32"), ("IT", "790", "20"), ("cooling", "880", "20")],
    ]
    lines_y = [(each.attrib["x1"], each.attrib["x2"], each.attrib["y1"]) for each in root if each.tag.endswith("}line")]
    assert lines_y == [("60", "880", "280.0"), ("60", "880", "165.7"), ("60", "880", "51.4")]
    assert len({each["stroke"] for each in curves}) == 2


def test_drawings_are_as_they_were_looked_at(tmp_path: Path) -> None:
    """Every mark and number stands where it stood; after a change that is meant, look at the pages, then renew."""
    found = {}
    for name, text in made_up(tmp_path).items():
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
        drawn = "".join(re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL))
        found[name] = hashlib.sha256(drawn.encode()).hexdigest()[:12]
    assert found == SEEN, f"look at the pages in {tmp_path}"


def test_index_is_kept_by_every_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run brings the index up to date, newest first; a damaged day is left out and no temporary file stays."""
    write_small_site(tmp_path)
    monkeypatch.chdir(tmp_path)
    for day in (DAY, "2024-06-02"):
        plan("--day", day, "-m", "multisearch", "-q", "--bound-time", "0")
    text = Path("reports/index.html").read_text(encoding="utf-8")
    assert text.index("site/2024-06-02/report.html") < text.rindex("site/2024-06-01/report.html")
    shutil.copytree("reports/site", "reports/Ä & <co>")
    Path("reports/site/2024-06-02/summary.json").write_text("{")
    text = write_index(Path("reports")).read_text(encoding="utf-8")
    assert "site/2024-06-02/report.html" not in text.replace("%20", " ")
    assert "Ä &amp; &lt;co&gt;" in text
    assert "<co>" not in text
    assert sorted(path.name for path in Path("reports").iterdir()) == ["index.html", "site", "Ä & <co>"]


def test_rules_in_the_summary_are_what_the_rules_earn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the summary says of a rule is what planning the day by that rule gives."""
    write_small_site(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ("--day", DAY, "-q", "--bound-time", "0")
    plan(*words, "-m", "multisearch", "--out", "a")
    plan(*words, "-m", "est", "--out", "b")
    ours, rule = (json.loads(Path(f"{out}/site/{DAY}/summary.json").read_text()) for out in "ab")
    base = next(base for base in ours["baselines"] if base["name"] == "est")
    assert base["profit_eur"] == rule["totals"]["profit_eur"]
    assert base["started"] == rule["jobs"]["started"]


def test_a_difference_that_is_not_seen_has_no_sign_and_no_colour() -> None:
    """What rounds to nothing is neither good nor bad; what does not is one of both."""
    assert row("kWh", 100.2, 100.0, plain, "less")[-1] == "0"
    assert row("kWh", 99.8, 100.0, plain, "less")[-1] == "0"
    assert row("kWh", 101.0, 100.0, plain, "less")[-1] == el("span", "+1", class_="bad")
    assert row("kWh", 99.0, 100.0, plain, "less")[-1] == el("span", f"{MINUS}1", class_="good")
    assert row("profit", 101.0, 100.0, plain, "more")[-1] == el("span", "+1", class_="good")
    assert row("profit", 99.0, 100.0, plain, "more")[-1] == el("span", f"{MINUS}1", class_="bad")
    assert [good_or_bad(each) for each in (0.004, -0.004, 0.01, -0.01)] == [None, None, "good", "bad"]
    shown = [signed_percent(each) for each in (0.0004, -0.0004, 0.0006, -0.0006)]
    assert shown == [f"{each}{THIN}%" for each in ("0.0", "0.0", "+0.1", f"{MINUS}0.1")]


def test_one_day_is_named_once() -> None:
    """A range of one day has one date."""
    assert days_from(1, DAY, DAY) == f"1 day, {DAY}"
    assert days_from(3, DAY, "2024-06-03") == f"3 days from {DAY} to 2024-06-03"


@pytest.mark.parametrize(("count", "joined", "drawn"), [(1, True, 0), (2, True, 1), (2, False, 0)])
def test_points_are_joined_by_a_line_where_that_is_asked_for(count: int, joined: bool, drawn: int) -> None:
    """One point has none; all points are there in any case."""
    axis = Axis("EUR", str)
    points = [Point(f"p{k}", k, k, "a point", "a1") for k in range(count)]
    figure = str(scatter("t", [Series("line", "a1", points, joined=joined)], axis, axis, beside=axis, name="f"))
    assert (figure.count("<polyline"), figure.count('class="point"')) == (drawn, count)


@pytest.mark.parametrize(("is_dashed", "signs"), [(False, (0, "thin")), (True, (1, "dash"))])
def test_a_dashed_line_is_dashed_in_the_legend(is_dashed: bool, signs: tuple[int, str]) -> None:
    """The sign of a line beside its name is drawn as the line is."""
    points = [Point(f"p{k}", k, k, "a point", "series-1") for k in (0.0, 1.0)]
    axis = Axis("EUR", str)
    drawn = scatter(
        "t", [Series("line", "series-1", points, joined=True, dashed=is_dashed)], axis, axis, beside=axis, name="f"
    )
    assert (drawn.count("stroke-dasharray"), re.findall(r'<i [^>]*class="(\w+)"', drawn)) == (signs[0], [signs[1]])
