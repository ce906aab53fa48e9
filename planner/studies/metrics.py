"""The tables and figures of the paper on packing efficiency and fairness, each published figure beside ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from planner.errors import InputError
from planner.limits import Bounds
from planner.metrics import TRIMMING
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.pages.charts import Dot, dots, lines
from planner.pages.markup import Column, Html, plain
from planner.runs.compare_results import Row
from planner.studies.published import METRICS, POLICIES, POLICY_CHANGES, PREDICTED, PREDICTORS, published_trace
from planner.studies.replay_cells import source_of, trimmed_figures
from planner.studies.report import (
    PAIR_WIDTH,
    Shown,
    StudyReport,
    StudySection,
    StudyTable,
    curves,
    grouped,
    numbers,
    pair,
    table_of,
    words,
)
from planner.studies.study import StudyCell, TraceStudy, option, require_known

BASE = "list"
"""The policy that all others are compared with, List-REG."""

PARTS = ("policies", "predictors", "distortion", "areas")
"""Table II, nine policies against List-REG; Tables III and IV, predictors; figure 4, runtimes times a factor; figure 3,
waits by the area of jobs."""

NAMES = {"bsld": "BSLD", "af": "AF", "awf": "AWF", "p2sf": "P2SF"}
DISTORTED = {"saf-list": "Figure 4a", "laf-list": "Figure 4b", "list": "Figure 4c"}
"""The paper's figures of distorted runtimes by policy; each has all four metrics."""

WAITING = ("saf-list", "easy-sjbf", "list", "laf-list")
"""Policies of figure 3."""

POINTS = 60
"""Points of a curve over the areas of jobs."""

UNREQUESTED = {"keep": "kept", "drop": "left out"}
COLOURS = {"actual": "it", "requested": "profit"}
LOW, HIGH = 0.5, 2.0
"""The least and the largest factor of a distortion."""

MOST = 300.0
"""Percent of List-REG beyond which a mark stands at the edge."""

ROUNDING = {"percent against list": 0.5, "percent against requested": 0.05, "R2": 0.005}
"""Half of the last digit of published figures, by their unit."""

DIGITS = {"II": 0, "III": 1, "IV": 2}
"""Digits of published figures by table."""

APART = "\u2260"
"""Stands after a published figure that is not met within rounding."""

Beside = Mapping[tuple[str, ...], "Row"]
"""Published figures with ours, by table, trace, policy, estimate and metric."""


@dataclass(frozen=True, kw_only=True)
class MetricsStudy(TraceStudy):
    """The paper on metrics of packing efficiency and fairness: its Tables II to IV and figures 3 and 4, with ours.

    Traces are known by the names of the Parallel Workloads Archive, such as CTC-SP2-1996-3.1-cln.swf.gz. An
    interrupted study goes on where it stopped.
    """

    name = "metrics"
    title = "Packing efficiency and fairness of on-line policies"
    reading = (
        "The tables and figures of Goponenko, Lamar, Allan, Brandt and Dechev, \u201cMetrics for packing efficiency and"
        " fairness of HPC cluster batch job scheduling\u201d (SBAC-PAD 2022), made again. Every row is one policy on"
        " all jobs of a trace, each of which runs as long as it really did. In brackets stands what was published, with"
        " \u2260 where ours is not the same within rounding. Lower is better throughout, but for R2.",
        "Which jobs the published figures count is inferred: most are met when the job that ends last is left out, and"
        " on SDSC-SP2 the more when jobs without a requested time are, too. Nothing here is random: there are no"
        " intervals.",
    )
    parts: tuple[str, ...] = option(PARTS, "names", f"Of {', '.join(PARTS)}; by commas; default all.", "--part")
    trim: str = option(
        "last", "text", "Jobs that count: last (all but the last to end, as fits the paper), none or steady."
    )
    unrequested: str = option("drop", "text", "Jobs without a requested time: drop (as fits the paper) or keep.")
    steps: int = option(30, "number", "Steps of the factors of runtimes from 0.5 to 2.", bounds=Bounds(1, 150))

    def __post_init__(self) -> None:
        super().__post_init__()
        require_known("part", self.parts, PARTS)
        for flag, chosen, known in (("--trim", self.trim, TRIMMING), ("--unrequested", self.unrequested, UNREQUESTED)):
            if chosen not in known:
                raise InputError(f"{flag}: unknown rule {chosen!r}; known: {', '.join(known)}")

    def cells(self) -> list[StudyCell]:
        """The runs of each part on each trace; those of two parts may be the same."""
        more = {"unrequested": self.unrequested}
        measured = more | {"metrics": (*METRICS, "r2", "under")}
        return [
            StudyCell(
                f"{trace}/{self.unrequested}/{estimate}/{policy}",
                {"part": part, "trace": trace, "policy": policy, "estimate": estimate, "factor": factor},
                trimmed_figures,
                self.given(path) | measured | {"policy": policy, "estimate": estimate},
            )
            for trace, path in self.named_traces().items()
            for part in self.parts
            for policy, estimate, factor in runs_of(part, self.steps)
        ] + [
            StudyCell(
                f"{trace}/{self.unrequested}/{policy}",
                {"part": "areas", "trace": trace, "policy": policy},
                waited_areas,
                self.given(path) | more | {"policy": policy},
                kind="areas",
            )
            for trace, path in self.named_traces().items()
            for policy in (WAITING if "areas" in self.parts else ())
        ]

    def report(self, found: Sequence[Row]) -> StudyReport:
        """What is met, then each part with its figures and tables; nothing was published of parts of traces."""
        waits = [told for told in found if told["part"] == "areas"]
        rows = rows_of([told for told in found if told["part"] != "areas"], self.trim, self.unrequested)
        published = published_rows(rows) if self.jobs is None else []
        beside = beside_of(published)
        sections = [StudySection("What is met", [agreement_table(agreement(published))])] if published else []
        for part in (part for part in self.parts if part != "areas"):
            own = [row for row in rows if row["part"] == part]
            if part == "policies":
                parts = [_policy_figure(metric, own) for metric in METRICS]
                tables = [policy_table(group, beside) for group in grouped(own, "trace", "estimate")]
                sections.append(StudySection("Policies (Table II)", [*parts, *tables]))
                continue
            groups = grouped(own, "trace")
            if part == "predictors":
                tables = [predictor_table(group, beside) for group in groups]
                sections.append(StudySection("Predicted runtimes (Tables III and IV)", tables))
            else:
                figures = pair(_distortion_figure(policy, group) for group in groups for policy in DISTORTED)
                tables = [distortion_table(group) for group in groups]
                sections.append(StudySection("Distorted runtimes (figure 4)", [figures, *tables]))
        areas = area_rows(waits)
        if areas:
            figures = pair(_area_figure(group) for group in grouped(areas, "trace"))
            tables = [area_table(group) for group in grouped(areas, "trace")]
            sections.append(StudySection("Waits by the area of jobs (figure 3)", [figures, *tables]))
        files = {"metrics.csv": rows, "published.csv": published, "areas.csv": areas}
        return StudyReport(rows, files, sections)


def runs_of(part: str, steps: int) -> list[tuple[str, str, float | None]]:
    """Policies, estimates and factors of a part, those that others are compared with first."""
    if part == "areas":
        return []
    if part == "policies":
        return [(policy, estimate, None) for estimate in COLOURS for policy in (BASE, *POLICIES)]
    if part == "predictors":
        runs = dict.fromkeys((policy, estimate) for _, policy, estimate in PREDICTORS)
        ordered = sorted(runs, key=lambda run: (list(PREDICTED).index(run[0]), run[1] != "requested"))
        return [(policy, estimate, None) for policy, estimate in ordered]
    return [(policy, distorted(factor), factor) for policy in PREDICTED for factor in factors(steps)]


def factors(steps: int) -> list[float]:
    """Factors of runtimes from 0.5 to 2 in equal steps, and 1 among them."""
    found = {round(LOW + (HIGH - LOW) * k / steps, 6) for k in range(steps + 1)}
    return sorted(found | {1.0})


def distorted(factor: float) -> str:
    """The estimate that is the actual runtime times a factor."""
    return "actual" if factor == 1 else f"actual*{factor:g}"


BASES: dict[str, Callable[[Row], tuple[str, str]]] = {
    "policies": lambda told: (BASE, told["estimate"]),
    "predictors": lambda told: (told["policy"], "requested"),
    "distortion": lambda told: (told["policy"], "actual"),
}
"""The policy and the estimate that a run of each part is compared with."""


def rows_of(found: Sequence[Row], trim: str, unrequested: str) -> list[Row]:
    """A row per run of each part: its figures, and each metric in percent against the run it is compared with."""
    runs = {(told["part"], told["trace"], told["policy"], told["estimate"]): told for told in found}
    rows = []
    for told in found:
        base = runs[told["part"], told["trace"], *BASES[told["part"]](told)]
        values, others = told["trims"][trim], base["trims"][trim]
        row: Row = {name: told[name] for name in ("part", "trace", "policy", "estimate")}
        row |= {"unrequested": unrequested, "trim": trim, "jobs": told["jobs"], "processors": told["processors"]}
        for name in METRICS:
            row[name] = values[name]
            row[f"{name}_percent"] = 100 * (values[name] / others[name] - 1) if others[name] else None
        rows.append(
            row | {"r2": values["r2"], "under": values["under"], "cpu_s": told["cpu_s"], "factor": told["factor"]}
        )
    return rows


def published_rows(rows: Sequence[Row]) -> list[Row]:
    """Every published figure of the runs in the rows, with ours, and whether they agree within rounding."""
    found: list[Row] = []
    for row in rows:
        trace = published_trace(row["trace"])
        run = row["policy"], row["estimate"]
        if trace is None:
            continue
        if row["part"] == "policies":
            for metric, value in POLICY_CHANGES.get((trace, run[1], run[0]), {}).items():
                found.append(_beside("II", row, metric, "percent against list", value, row[f"{metric}_percent"]))
        elif row["part"] == "predictors" and (trace, *run) in PREDICTORS:
            said = PREDICTORS[trace, *run]
            if said.change_percent is not None:
                ours = row[f"{said.metric}_percent"]
                found.append(_beside("III", row, said.metric, "percent against requested", said.change_percent, ours))
            if said.r2 is not None:
                found.append(_beside("IV", row, "r2", "R2", said.r2, row["r2"]))
    return found


def _beside(table: str, row: Row, metric: str, unit: str, published: float, ours: float) -> Row:
    names = {name: row[name] for name in ("trace", "policy", "estimate", "trim", "unrequested")}
    is_met = abs(ours - published) <= ROUNDING[unit] + 1e-9
    found: Row = {"table": table, **names, "metric": metric, "unit": unit, "published": published, "ours": ours}
    return found | {"difference": ours - published, "within_rounding": "yes" if is_met else "no"}


def beside_of(published: Sequence[Row]) -> Beside:
    """Published figures by what they are of."""
    return {tuple(row[name] for name in ("table", "trace", "policy", "estimate", "metric")): row for row in published}


def agreement(rows: Sequence[Row]) -> list[Row]:
    """How many published figures agree within rounding, by table and trace, and the largest difference."""
    return [
        {name: group[0][name] for name in ("table", "trace", "trim", "unrequested")}
        | {"figures": len(group), "within_rounding": sum(row["within_rounding"] == "yes" for row in group)}
        | {"largest_difference": max(abs(row["difference"]) for row in group)}
        for group in grouped(rows, "table", "trace")
    ]


def agreement_table(rows: Sequence[Row]) -> StudyTable:
    """How many published figures are met."""

    columns: list[Shown] = [words("table", "table"), words("trace", "trace")]
    columns.append((Column("jobs that count", number=False), lambda row: TRIMMING[row["trim"]]))
    columns.append((Column("without a request", number=False), lambda row: UNREQUESTED[row["unrequested"]]))
    columns += [numbers("published figures", "", "figures"), numbers("within rounding", "", "within_rounding")]
    columns.append(numbers("largest difference", "", "largest_difference", 2))
    return table_of("Published figures that are met within rounding", rows, columns)


def policy_table(rows: Sequence[Row], beside: Beside) -> StudyTable:
    """Table II of one trace and estimate."""
    base = next(row for row in rows if row["policy"] == BASE)
    columns = [words("policy", "policy")]
    columns += [_ours("II", metric, NAMES[metric], "% against List-REG", 2, beside) for metric in METRICS]
    values = ", ".join(f"{NAMES[metric]} {plain(base[metric], 2)}" for metric in METRICS)
    title = f"{base['trace']}, {base['estimate']} runtimes, {plain(base['jobs'])} jobs; List-REG has {values}"
    return table_of(title, [row for row in rows if row is not base], columns)


def predictor_table(rows: Sequence[Row], beside: Beside) -> StudyTable:
    """Tables III and IV of one trace: for each policy the metric that was published, and the accuracy."""
    columns: list[Shown] = [words("estimate", "estimate")]
    for policy, metric in PREDICTED.items():
        by_estimate = {row["estimate"]: row for row in rows if row["policy"] == policy}
        change = _ours("III", metric, f"{policy}: {NAMES[metric]}", "% against requested", 1, beside)
        columns.append(_where(change, by_estimate, unless="requested"))
        columns.append(_where(_ours("IV", "r2", "R2", "", 2, beside), by_estimate, unless="actual"))
    title = f"{rows[0]['trace']}, {plain(rows[0]['jobs'])} jobs: estimates under four policies"
    return table_of(title, [group[0] for group in grouped(rows, "estimate")], columns)


def _where(shown: Shown, by_estimate: Mapping[str, Row], *, unless: str) -> Shown:
    """The same column for the run of another policy with a row's estimate, where there is one."""
    column, text = shown
    known = {name: row for name, row in by_estimate.items() if name != unless}
    return column, lambda row: text(known[row["estimate"]]) if row["estimate"] in known else ""


def distortion_table(rows: Sequence[Row]) -> StudyTable:
    """Figures 3 and 4 of one trace as numbers."""
    by_run = {(row["policy"], row["factor"]): row for row in rows}
    columns: list[Shown] = [(Column("factor"), lambda row: f"{row['factor']:g}")]
    for policy, metric in PREDICTED.items():
        column, text = _ours("", metric, f"{policy}: {NAMES[metric]}", "% against actual", 2, {})
        columns.append((column, lambda row, of=policy, text=text: text(by_run[of, row["factor"]])))  # type: ignore[misc]
    shown = [group[0] for group in grouped(rows, "factor")]
    return table_of(f"{rows[0]['trace']}: actual runtimes times a factor", shown, columns, every=5)


def _ours(table: str, metric: str, title: str, unit: str, digits: int, beside: Beside) -> Shown:
    """A change with its sign, or the accuracy as it is, with what was published in brackets."""

    def told(value: float | None, places: int) -> str:
        if value is None:
            return ""
        return f"{'+' if metric != 'r2' and round(value, places) > 0 else ''}{plain(value, places)}"

    def text(row: Row) -> str:
        ours = told(row["r2"] if metric == "r2" else row[f"{metric}_percent"], digits)
        said = beside.get((table, row["trace"], row["policy"], row["estimate"], metric))
        if said is None:
            return ours
        apart = "" if said["within_rounding"] == "yes" else f" {APART}"
        return f"{ours} ({told(said['published'], DIGITS[table])}){apart}"

    return Column(title, unit), text


def _policy_figure(metric: str, rows: Sequence[Row]) -> Html:
    """One line per trace and policy, with a mark per estimate."""
    marks: dict[str, list[Dot]] = {}
    for row in rows:
        change = row[f"{metric}_percent"]
        if row["policy"] != BASE and change is not None and math.isfinite(change):
            dot = Dot(row["estimate"], 100 + change, COLOURS[row["estimate"]])
            marks.setdefault(f"{row['trace'].removesuffix('-cln')}, {row['policy']}", []).append(dot)
    beyond = any(dot.value > MOST for line in marks.values() for dot in line)
    more = f"; what is above {MOST:g} stands at the edge" if beyond else ""
    return dots(f"{NAMES[metric]} in percent of List-REG{more}", list(marks.items()), most=MOST)


def _distortion_figure(policy: str, rows: Sequence[Row]) -> Html:
    """The four metrics of a policy on a trace over the factor."""
    own = [row | {"metric": NAMES[metric], "change": row[f"{metric}_percent"]} for metric in METRICS for row in rows]
    drawn = curves([row for row in own if row["policy"] == policy], "metric", "factor", lambda row: row["change"])
    title, across = f"{DISTORTED[policy]}: {policy}, {rows[0]['trace']}", "what actual runtimes are taken for, times"
    return lines(title, drawn, across=across, up="% against actual", mark=1.0, from_least=True, width=PAIR_WIDTH)


def waited_areas(path: Path, processors: int | None, jobs: int | None, policy: str, unrequested: str) -> Row:
    """Sum of width times wait of all jobs up to an area, actual runtimes: areas at equal numbers of jobs, and sums."""
    trace = source_of(path, processors, jobs, unrequested=unrequested).trace
    wait_s = replay(trace, policy_named(policy), trace.runtime_s).wait_s
    area = trace.width * trace.runtime_s
    order = np.argsort(area, kind="stable")
    sums = np.cumsum((trace.width * wait_s)[order].astype(np.float64))
    places = np.unique(np.linspace(0, len(order) - 1, POINTS).astype(int))
    return {
        "areas_s": area[order][places].tolist(),
        "waits_s": sums[places].tolist(),
        "jobs": (places + 1).tolist(),
    }


def area_rows(found: Sequence[Row]) -> list[Row]:
    """One row per trace, policy and area."""
    return [
        {"trace": told["trace"], "policy": told["policy"], "jobs": jobs, "area_s": area, "wait_area_s": waited}
        for told in found
        for jobs, area, waited in zip(told["jobs"], told["areas_s"], told["waits_s"], strict=True)
    ]


def _area_figure(rows: Sequence[Row]) -> Html:
    title = f"Figure 3: wait area of jobs up to an area, {rows[0]['trace']}"
    drawn = curves(rows, "policy", "jobs", lambda row: row["wait_area_s"] / 3600)
    return lines(title, drawn, across="jobs, smallest area first", up="processor hours waited", at_end=True)


def area_table(rows: Sequence[Row]) -> StudyTable:
    """What all jobs wait, and which part of it the smaller ones do."""
    last = [group[-1] | {"parts": group} for group in grouped(rows, "policy")]
    columns: list[Shown] = [words("policy", "policy")]
    columns.append((Column("wait area", "thousand processor hours"), lambda row: plain(row["wait_area_s"] / 3.6e6)))
    for share in (0.5, 0.8, 0.95):
        columns.append((Column(f"of the smallest {share:.0%}", "%"), lambda row, share=share: _part(row, share)))  # type: ignore[misc]
    return table_of(f"{rows[0]['trace']}, actual runtimes: width times wait", last, columns)


def _part(row: Row, share: float) -> str:
    """The part of the wait area that the jobs up to a share have."""
    upto = [each["wait_area_s"] for each in row["parts"] if each["jobs"] <= share * row["jobs"]]
    return plain(100 * upto[-1] / row["wait_area_s"], 1) if upto and row["wait_area_s"] else ""
