"""The page of the study of Curie: what each run earned, and each of the paper's tables and figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from planner.pages.charts import lines
from planner.pages.markup import THIN, Column, Html, counted, percent, plain
from planner.runs.compare_results import Row
from planner.studies.curie23_numbers import (
    PLACES,
    PROFIT_FIGURES,
    SEARCH_FIGURES,
    SEARCHES,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    best_of,
)
from planner.studies.curie23_setup import CALIBRATIONS
from planner.studies.report import CURVES, PAIR_WIDTH, Content, StudySection, StudyTable, curves, grouped, pair
from planner.units import is_share

TITLES = {
    TABLE_1: "Table 1: PUE of the whole, and days until the queue is empty",
    TABLE_2: "Table 2: gain of the best search, on a day's average of {days}",
    TABLE_3: "Table 3: improvement in percent by seconds of a day",
    PROFIT_FIGURES: "Figures 1 to 4 at the end of day {day}",
    SEARCH_FIGURES: "Figures 5 to 8 at the end of day {day}",
    SEARCHES: "The searches: time on a day's average of {days}, and days on which they are of use",
}
DIGITS = {"": 3, "%": 2, "days": 2, "EUR": 2, "%/s": 4, "s": 2}
"""Decimals of our figures, by their unit."""
LONG = (TABLE_3, SEARCHES)
"""Tables with a line for each search, which a terminal does not show."""

FIGURED = ("air-summer", "hybrid-summer", "air-winter", "hybrid-winter")
"""The scenarios of figures 1 to 4 of the paper, and of 5 to 8, in their order."""
NO_DEFAULT = "Figures 5 to 8 need a run of cp, the engine's default search."


def calibration_section(
    calibration: str,
    runs: Sequence[Row],
    published: Sequence[Row],
    drawn: Sequence[Row],
    *,
    days: int,
    settings: Sequence[str],
) -> StudySection:
    """What the page says of the runs of a calibration: its tables and figures, and the paper's beside ours."""
    words = CALIBRATIONS[calibration].words
    over = f" Set over it: {', '.join(settings)}." if settings else ""
    nothing = nothing_found_words(runs)
    told = f"On these days the engine found no plan, and jobs were placed in order of submission: {nothing}"
    parts: list[Content | None] = [
        f"{words[0].upper()}{words[1:]}.{over}",
        profit_table(runs, days),
        told if nothing else None,
        _figures("Figure {}: profit, {}", 1, drawn, days, "cumulative_profit_eur", "thousand EUR"),
        _figures(
            "Figure {}: over the engine's default search, {}",
            5,
            [row for row in drawn if row["kind"] == "search"],
            days,
            "over_cp_percent",
            "% of its profit",
        )
        or NO_DEFAULT,
        _figures("Ahead of the best rule, {1}", 0, drawn, days, "over_best_rule_eur", "thousand EUR"),
        *place_tables(published, days),
    ]
    return StudySection(f"Calibration: {calibration}", [part for part in parts if part is not None])


def _figures(title: str, first: int, drawn: Sequence[Row], days: int, key: str, up: str) -> Html | None:
    """A figure per scenario, numbered as in the paper, with a curve per run, rules dashed; None without any."""
    scale = 1000.0 if up.startswith("thousand") else 1.0
    found = []
    known = sorted((row for row in drawn if row[key] is not None), key=lambda row: FIGURED.index(row["scenario"]))
    for rows in grouped(known, "scenario"):
        scenario = rows[0]["scenario"]
        colours = {
            label: CURVES[place % len(CURVES)]
            for kind in grouped(rows, "kind")
            for place, label in enumerate(dict.fromkeys(row["label"] for row in kind))
        }
        curve = curves(
            rows,
            "label",
            "number",
            lambda row: row[key] / scale,
            colours=colours,
            dashed=lambda row: row["kind"] == "rule",
        )
        name = title.format(first + FIGURED.index(scenario), scenario)
        found.append(lines(name, curve, across="day", up=up, width=PAIR_WIDTH, mark=days, at_end=True))
    return pair(found) if found else None


def profit_table(rows: Sequence[Row], days: int) -> StudyTable:
    """What each run of a calibration has earned by the last day, by scenario, with the limits that are proven."""
    scenarios = _scenarios(rows)
    by_run = {name: [row for row in rows if row["run"] == name] for name in dict.fromkeys(row["run"] for row in rows)}
    more: list[tuple[Column, Callable[[Sequence[Row]], str]]] = [
        (Column("machine in use", "%"), lambda own: _range([100 * row["utilisation_fraction"] for row in own], 1)),
        (Column("over EASY", "%"), lambda own: _range([row["over_easy_percent"] for row in own], 1)),
        (Column("mean wait", "h"), lambda own: _range([row["mean_wait_h"] for row in own], 1)),
        (Column("longest wait", "h"), lambda own: _range([row["longest_wait_h"] for row in own], 0)),
        (Column("queue empty after", "days"), lambda own: _range([row["makespan_days"] for row in own], 1)),
    ]
    if any(row["days_without_solution"] for row in rows):
        nothing = Column("engine without a plan", "days")
        more.append((nothing, lambda own: _range([row["days_without_solution"] for row in own], 0)))
    lines = [
        (
            own[0]["label"],
            *(_cell(own, scenario, _earned) for scenario in scenarios),
            *(text(own) for _, text in more),
        )
        for own in by_run.values()
    ]
    limits = [(*line, *("" for _ in more)) for line in _limits(rows, by_run, scenarios)]
    columns = (
        Column("run", number=False),
        *(Column(scenario, "EUR, over best rule") for scenario in scenarios),
        *(column for column, _ in more),
    )
    return StudyTable(f"Profit at the end of day {days}", columns, tuple(lines + limits))


def _limits(rows: Sequence[Row], by_run: dict[str, list[Row]], scenarios: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Lines of limits: of each run whose days have one, and of the whole run of days, with the gaps to them."""
    for own in by_run.values():
        if any(row["bound_eur"] is not None for row in own):
            label = own[0]["label"]
            limit, gap = _limit_texts("bound_eur")
            yield (f"limit on {label}'s days", *(_cell(own, scenario, limit) for scenario in scenarios))
            yield (f"{label}'s gap to it", *(_cell(own, scenario, gap) for scenario in scenarios))
    if any(row["run_bound_eur"] is not None for row in rows):
        best = [best_of([row for row in rows if row["scenario"] == name], "search") for name in scenarios]
        own = [row for row in best if row is not None]
        limit, gap = _limit_texts("run_bound_eur")
        yield ("limit on any run of these days", *(_cell(own, scenario, limit) for scenario in scenarios))
        yield ("best search's gap to it", *(_cell(own, scenario, gap) for scenario in scenarios))


def _limit_texts(key: str) -> tuple[Callable[[Row], str], Callable[[Row], str]]:
    def limit(row: Row) -> str:
        return "" if row[key] is None else plain(row[key])

    def gap(row: Row) -> str:
        if row[key] is None or row[key] <= 0:
            return ""
        gap = 1 - row["profit_eur"] / row[key]
        return percent(gap, 2) if is_share(gap) else plain(gap * row[key])

    return limit, gap


def _earned(row: Row) -> str:
    over = row["over_best_rule_percent"]
    return plain(row["profit_eur"]) + ("" if over is None else f", {_signed(over)}")


def _cell(own: Sequence[Row], scenario: str, text: Callable[[Row], str]) -> str:
    row = next((row for row in own if row["scenario"] == scenario), None)
    return "" if row is None else text(row)


def place_tables(published: Sequence[Row], days: int) -> list[StudyTable]:
    """The paper's tables and figures of one calibration, as far as there is something to say."""
    found = [(place, [row for row in published if row["place"] == place]) for place in PLACES]
    return [_place_table(place, rows, days) for place, rows in found if rows]


def _place_table(place: str, rows: Sequence[Row], days: int) -> StudyTable:
    """Two lines for each figure, ours and the paper's where it is known; columns are scenarios."""
    scenarios = _scenarios(rows)
    columns = (Column("", number=False), Column("", number=False), *(Column(scenario) for scenario in scenarios))
    lines = []
    for own in grouped(rows, "figure"):
        lines.append((own[0]["figure"], "ours", *(_cell(own, scenario, _our_text) for scenario in scenarios)))
        if any(row["published"] is not None for row in own):
            paper = "paper, derived" if own[0]["derived"] == "yes" else "paper"
            lines.append(("", paper, *(_cell(own, scenario, _paper_text) for scenario in scenarios)))
    title = TITLES[place].format(day=days, days=counted(days, "day"))
    return StudyTable(title, columns, tuple(lines), brief=() if place in LONG else None)


def _our_text(row: Row) -> str:
    """Our figure, with the run that it is of, unless the figure begins with its name."""
    if row["ours"] is None:
        return ""
    digits = 0 if isinstance(row["ours"], int) else DIGITS[row["unit"]]
    of = "" if row["figure"].startswith(row["run"]) else f" ({row['run']})"
    return _amount(row, row["ours"], digits) + of


def _paper_text(row: Row) -> str:
    """As it was published, with the digits that it has there."""
    if row["published"] is None:
        return ""
    digits = 2 if row["unit"] == "" else 7 if row["unit"] == "%/s" else None
    ends = list(dict.fromkeys((row["published"], row["published_most"])))
    return " to ".join(_amount(row, value, digits) for value in ends)


def _amount(row: Row, value: float, digits: int | None) -> str:
    """A number with its unit, signed where it says how much one is over another."""
    if row["unit"] == "%" and " over " in row["figure"]:
        return _signed(value, digits)
    text = f"{value:,g}" if digits is None else plain(value, digits)
    return f"{text}{THIN}{row['unit']}" if row["unit"] else text


def _signed(value: float, digits: int | None = 2) -> str:
    text = f"{value:,g}" if digits is None else plain(value, digits)
    return f"{'+' if value > 0 else ''}{text}{THIN}%"


def _range(values: Sequence[float | None], digits: int) -> str:
    """One number, or from the least to the most of the scenarios."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    return " to ".join(dict.fromkeys(plain(value, digits) for value in (min(known), max(known))))


def nothing_found_words(rows: Sequence[Row]) -> str:
    """Which runs have days on which the engine found no plan; empty where none has."""
    return "; ".join(
        f"{row['label']}, {row['scenario']}: {row['days_without_solution']} of {counted(row['days'], 'day')}"
        for row in rows
        if row["days_without_solution"]
    )


def choices_table(rows: Sequence[Row]) -> StudyTable:
    """What the paper leaves open, and what it is here."""
    names = list(rows[0])
    columns = tuple(Column("" if name == "choice" else name, number=False, wrap=True) for name in names)
    return StudyTable(
        "What the paper leaves open, and what it is here",
        columns,
        tuple(tuple(row[name] for name in names) for row in rows),
    )


def _scenarios(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["scenario"] for row in rows))
