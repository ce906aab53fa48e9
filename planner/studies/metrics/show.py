"""What the study leaves to read: tables as CSV and for a document, and the page with its figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.pages.charts import Dot, Line, dots, lines
from planner.pages.markup import Html, document, el
from planner.runs.figures import Row
from planner.store.replay_files import write_rows, write_text
from planner.studies.metrics.cells import BASE
from planner.studies.metrics.rows import agreement, published_rows
from planner.studies.metrics.tables import (
    NAMES,
    agreement_table,
    beside_of,
    distortion_table,
    policy_table,
    predictor_table,
)
from planner.studies.published import METRICS, PREDICTED
from planner.studies.table import Table

CURVES = ("a0", "a5", "a4", "a3", "a2", "a1", "a7", "a8")
COLOURS = {"actual": "it", "requested": "profit"}
MOST = 300.0
"""Percent of List-REG beyond which a mark stands at the edge."""

WIDTH = 620
"""Of a figure, two of which stand side by side."""

FIGURES = {"bsld": "Figure 3", "awf": "Figure 4", "p2sf": "Figure 4"}
"""The paper's figures of distorted runtimes by metric."""

READING = (
    "The tables and figures of Goponenko, Lamar, Allan, Brandt and Dechev, \u201cMetrics for packing efficiency and"
    " fairness of HPC cluster batch job scheduling\u201d (SBAC-PAD 2022), made again. Every row is one policy on all"
    " jobs of a trace, each of which runs as long as it really did. In brackets stands what was published, with \u2260"
    " where ours is not the same within rounding. Lower is better throughout, but for R2.",
    "Which jobs the published figures count is inferred: most are met when the job that ends last is left out, and on"
    " SDSC-SP2 the more when jobs without a requested time are, too. Nothing here is random: there are no intervals.",
)


def write_tables(rows: Sequence[Row], folder: Path, *, is_whole: bool) -> None:
    """Write metrics.csv, published.csv, metrics.md and metrics.html; nothing was published of parts of traces."""
    published = published_rows(rows) if is_whole else []
    write_rows(rows, folder / "metrics.csv")
    if published:
        write_rows(published, folder / "published.csv")
    else:
        (folder / "published.csv").unlink(missing_ok=True)
    write_text(folder / "metrics.md", markdown_of(rows, published))
    write_text(folder / "metrics.html", page_of(rows, published))


def tables_of(rows: Sequence[Row], published: Sequence[Row], *, every: int = 1) -> list[Table]:
    """All tables, of the distortions every so manieth row alone."""
    beside = beside_of(published)
    tables = [agreement_table(agreement(published))] if published else []
    tables += [policy_table(group, beside) for group in _groups(rows, "policies", "estimate")]
    tables += [predictor_table(group, beside) for group in _groups(rows, "predictors")]
    return tables + [distortion_table(group, every) for group in _groups(rows, "distortion")]


def markdown_of(rows: Sequence[Row], published: Sequence[Row]) -> str:
    """The tables for a document."""
    told = [table.markdown() for table in tables_of(rows, published, every=5)]
    return "\n\n".join(["<!-- made by `plan study metrics --markdown` -->", *told]) + "\n"


def page_of(rows: Sequence[Row], published: Sequence[Row]) -> str:
    """The page: what is met, then each part with its figures and tables."""
    title = "Packing efficiency and fairness of on-line policies"
    beside = beside_of(published)
    parts: list[Html] = []
    if published:
        parts += [el("h2", "What is met"), agreement_table(agreement(published)).html()]
    if groups := _groups(rows, "policies", "estimate"):
        parts += [el("h2", "Policies (Table II)"), *(_policy_figure(metric, rows) for metric in METRICS)]
        parts += [policy_table(group, beside).html() for group in groups]
    if groups := _groups(rows, "predictors"):
        parts += [el("h2", "Predicted runtimes (Tables III and IV)")]
        parts += [predictor_table(group, beside).html() for group in groups]
    if groups := _groups(rows, "distortion"):
        parts += [el("h2", "Distorted runtimes (figures 3 and 4)")]
        figures = [_distortion_figure(policy, metric, groups) for policy, metric in PREDICTED.items()]
        parts.append(el("div", figures, class_="pair"))
        parts += [distortion_table(group).html() for group in groups]
    names = ["metrics.csv", *(["published.csv"] if published else []), "metrics.md"]
    files = [[el("a", name, href=name), " "] for name in names]
    header = el("header", el("h1", title), [el("p", each) for each in READING])
    return document(title, header, el("main", parts, id="main"), el("footer", el("p", "All digits: ", files)))


def terminal_tables(rows: Sequence[Row], *, is_whole: bool) -> dict[str, list[dict[str, object]]]:
    """The tables for a terminal, as rows by their titles."""
    tables = tables_of(rows, published_rows(rows) if is_whole else [], every=5)
    return {table.title: table.plain_rows() for table in tables}


def _groups(rows: Sequence[Row], part: str, *more: str) -> list[list[Row]]:
    """The rows of a part of the study, by trace and what else is named."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row["part"] == part:
            groups.setdefault((row["trace"], *(row[name] for name in more)), []).append(row)
    return list(groups.values())


def _policy_figure(metric: str, rows: Sequence[Row]) -> Html:
    """One line per trace and policy, with a mark per estimate."""
    marks: dict[str, list[Dot]] = {}
    for row in rows:
        if row["part"] != "policies" or row["policy"] == BASE:
            continue
        dot = Dot(row["estimate"], 100 + row[f"{metric}_percent"], COLOURS[row["estimate"]])
        marks.setdefault(f"{row['trace'].removesuffix('-cln')}, {row['policy']}", []).append(dot)
    beyond = any(dot.value > MOST for line in marks.values() for dot in line)
    title = f"{NAMES[metric]} in percent of List-REG" + (
        f"; what is above {MOST:g} stands at the edge" if beyond else ""
    )
    return dots(title, list(marks.items()), middle=100.0, most=MOST)


def _distortion_figure(policy: str, metric: str, groups: Sequence[Sequence[Row]]) -> Html:
    """A curve per trace over the factor."""
    curves = [
        Line(
            group[0]["trace"],
            CURVES[place % len(CURVES)],
            [(row["factor"], row[f"{metric}_percent"]) for row in group if row["policy"] == policy],
        )
        for place, group in enumerate(groups)
    ]
    title = f"{FIGURES[metric]}: {NAMES[metric]} of {policy}"
    across = "what actual runtimes are taken for, times"
    return lines(title, curves, across=across, up="% against actual", mark=1.0, from_least=True, width=WIDTH)
