"""The study's tables in words: ours, with the published figure in brackets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.metrics.outcome import TRIMMING
from planner.pages.markup import Column, plain
from planner.runs.figures import Row
from planner.studies.metrics.cells import BASE
from planner.studies.published import METRICS, PREDICTED
from planner.studies.table import Table

NAMES = {"bsld": "BSLD", "af": "AF", "awf": "AWF", "p2sf": "P2SF"}
APART = "≠"
"""Stands after a published figure that is not met within rounding."""

Beside = Mapping[tuple[str, str, str, str, str], Row]
"""Published figures with ours, by table, trace, policy, estimate and metric."""


def beside_of(published: Sequence[Row]) -> Beside:
    """Published figures by what they are of."""
    return {tuple(row[name] for name in ("table", "trace", "policy", "estimate", "metric")): row for row in published}


def signed(value: float | None, digits: int) -> str:
    """A change with its sign."""
    if value is None:
        return ""
    text = plain(value, digits)
    return f"+{text}" if round(value, digits) > 0 else text


def agreement_table(rows: Sequence[Row]) -> Table:
    """How many published figures are met."""
    columns = (
        Column("table", number=False),
        Column("trace", number=False),
        Column("jobs that count", number=False),
        Column("without a request", number=False),
        Column("published figures"),
        Column("within rounding"),
        Column("largest difference"),
    )
    lines = tuple(
        (
            row["table"],
            row["trace"],
            TRIMMING[row["trim"]],
            {"keep": "kept", "drop": "left out"}[row["unrequested"]],
            str(row["figures"]),
            str(row["within_rounding"]),
            plain(row["largest_difference"], 2),
        )
        for row in rows
    )
    return Table("Published figures that are met within rounding", columns, lines)


def policy_table(rows: Sequence[Row], beside: Beside) -> Table:
    """Table II of one trace and estimate."""
    base = next(row for row in rows if row["policy"] == BASE)
    columns = (Column("policy", number=False), *(Column(NAMES[metric], "% against List-REG") for metric in METRICS))
    lines = tuple(
        (row["policy"], *(_words(row, "II", metric, row[f"{metric}_percent"], beside, 2) for metric in METRICS))
        for row in rows
        if row is not base
    )
    values = ", ".join(f"{NAMES[metric]} {plain(base[metric], 2)}" for metric in METRICS)
    title = f"{base['trace']}, {base['estimate']} runtimes, {plain(base['jobs'])} jobs; List-REG has {values}"
    return Table(title, columns, lines)


def predictor_table(rows: Sequence[Row], beside: Beside) -> Table:
    """Tables III and IV of one trace: for each policy the metric that was published, and the accuracy."""
    columns = [Column("estimate", number=False)]
    for policy, metric in PREDICTED.items():
        columns += [Column(f"{policy}: {NAMES[metric]}", "% against requested"), Column("R2")]
    by_run = {(row["policy"], row["estimate"]): row for row in rows}
    lines = []
    for estimate in dict.fromkeys(row["estimate"] for row in rows):
        cells = [estimate]
        for policy, metric in PREDICTED.items():
            row = by_run.get((policy, estimate))
            if row is None:
                cells += ["", ""]
                continue
            cells.append(
                "" if estimate == "requested" else _words(row, "III", metric, row[f"{metric}_percent"], beside, 1)
            )
            cells.append("" if estimate == "actual" else _words(row, "IV", "r2", row["r2"], beside, 2, sign=False))
        lines.append(tuple(cells))
    title = f"{rows[0]['trace']}, {plain(rows[0]['jobs'])} jobs: estimates under four policies"
    return Table(title, tuple(columns), tuple(lines))


def distortion_table(rows: Sequence[Row], every: int = 1) -> Table:
    """Figures 3 and 4 of one trace as numbers."""
    columns = (
        Column("factor"),
        *(Column(f"{policy}: {NAMES[m]}", "% against actual") for policy, m in PREDICTED.items()),
    )
    by_run = {(row["policy"], row["factor"]): row for row in rows}
    shown = list(dict.fromkeys(row["factor"] for row in rows))[::every]
    lines = tuple(
        (f"{factor:g}", *(signed(by_run[policy, factor][f"{m}_percent"], 2) for policy, m in PREDICTED.items()))
        for factor in shown
    )
    return Table(f"{rows[0]['trace']}: actual runtimes times a factor", columns, lines)


def _words(row: Row, table: str, metric: str, value: float, beside: Beside, digits: int, *, sign: bool = True) -> str:
    text = signed(value, digits) if sign else plain(value, digits)
    said = beside.get((table, row["trace"], row["policy"], row["estimate"], metric))
    if said is None:
        return text
    places = {"II": 0, "III": 1, "IV": 2}[table]
    told = signed(said["published"], places) if sign else plain(said["published"], places)
    return f"{text} ({told})" + ("" if said["within_rounding"] == "yes" else f" {APART}")
