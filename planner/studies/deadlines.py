"""The study of deadline-based backfilling: some jobs can wait until a deadline, the others need not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from scipy.stats import t

from planner.errors import InputError
from planner.limits import PERCENT, Bounds
from planner.online.estimates import estimate_named
from planner.pages.charts import Line, lines
from planner.pages.markup import Column, Html, plain
from planner.runs.compare_results import Row
from planner.studies.published import DEADLINE_SELECTIONS, DEADLINES, deadline_trace
from planner.studies.replay_cells import deadline_figures
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

BASE = "conservative"
"""The policy that the others are compared with."""

BLIND = (BASE, "easy")
"""Policies that know no deadlines: one replay is measured with every draw. For others every draw is one of its own."""

POLICIES = ("deadline", "deadline-early", *BLIND)
COLOURS = {"deadline": "a5", "deadline-early": "a1", BASE: "a0", "easy": "a4"}
MOST_SHARE = 0.95
"""Curves of waits end here: the longest waits would squeeze all others."""

SURE = 0.95
"""How sure an interval is to hold the mean over all draws."""

MEANS = (
    *(f"{figure}_{group}{unit}" for group in ("all", "regular", "deadline") for figure, unit in (
        ("wait", "_s"), ("waiting", "_fraction"), ("wait_of_waiting", "_s"), ("stretch", ""), ("max_stretch", "")
    )),
    *("deadline_jobs", "deadline_jobs_24h", "deadline_jobs_10x", "misses_24h", "misses_10x", "usage", "usage_waited"),
)  # fmt: skip
"""Figures of a draw whose mean and interval are told."""


@dataclass(frozen=True, kw_only=True)
class DeadlineStudy(TraceStudy):
    """Deadline-based backfilling against conservative and EASY backfilling, with a share of jobs that can wait.

    An interrupted study goes on where it stopped.
    """

    name = "deadlines"
    title = "Deadline-based backfilling"
    reading = (
        "The experiments of N\u2019Takp\u00e9 and Suter, \u201cDon\u2019t hurry be happy: a deadline-based backfilling"
        " approach\u201d (JSSPP 2017), made again. A share of the jobs, drawn at random, need only end by a deadline: a"
        " day after submission, or ten times the requested time where that is longer. Deadline-based backfilling"
        " (deadline) gives them tentative reservations that give way when a regular job arrives. Under deadline-early"
        " they give way when a job ends early, too. Conservative and EASY backfilling know no deadlines.",
        "Figures are means over draws, with half the width of their 95 % interval by Student\u2019s t. A stretch is"
        " (wait + requested time) / requested time. Deadline used: (end - submission) / (deadline - submission), of all"
        " deadline jobs and of those that did not start at once. A round: mean CPU time of a scheduling round. Curves"
        " of waits are of the first draw, leave out jobs that start at once, and end at 95 %.",
    )
    percents: tuple[float, ...] = option(
        (20.0, 40.0, 60.0, 80.0), "percents", "Shares of jobs with a deadline, by commas.", "--percent", bounds=PERCENT
    )
    seeds: int = option(5, "number", "Draws of the jobs with a deadline.", bounds=Bounds(1, 50))
    policies: tuple[str, ...] = option(POLICIES, "names", f"Of {', '.join(POLICIES)}; by commas.", "--policies", "-p")
    estimate: str = option("requested", "text", "What the policies believe.", "--estimate", "-e")
    partitions: tuple[int, ...] = option(
        (), "numbers", "Only jobs of these partitions; numbers by commas.", "--partition"
    )
    queues: tuple[int, ...] = option((), "numbers", "Only jobs of these queues; numbers by commas.", "--queue")
    as_published: bool = option(
        False, "flag", f"Only the jobs that the paper has of {', '.join(DEADLINE_SELECTIONS)}.", "--as-published"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require_known("policy", self.policies, POLICIES)
        if self.as_published and (self.partitions or self.queues):
            raise InputError("--as-published chooses the jobs; leave --partition and --queue out")
        if self.as_published:
            require_known("trace", [deadline_trace(trace) for trace in self.named_traces()], list(DEADLINE_SELECTIONS))

    def selection_of(self, trace: str) -> Row:
        """Which jobs of a trace are taken."""
        if self.as_published:
            return DEADLINE_SELECTIONS[deadline_trace(trace)]
        return {"partitions": self.partitions, "queues": self.queues}

    def cells(self) -> list[StudyCell]:
        """Of each trace one for each policy that knows no deadlines, then one for each draw and policy that does."""
        draws = [(percent, seed) for percent in self.percents for seed in range(self.seeds)]
        runs = [(policy, "all", (0.0, 0), draws) for policy in self.policies if policy in BLIND]
        heeding = [policy for policy in self.policies if policy not in BLIND]
        runs += [(policy, f"{draw[0]:g}-{draw[1]}", draw, [draw]) for policy in heeding for draw in draws]
        estimate = estimate_named(self.estimate).name
        return [
            StudyCell(
                f"{trace}/{policy}/{drawn}",
                {"trace": trace, "policy": policy},
                deadline_figures,
                self.given(path)
                | {"selection": self.selection_of(trace), "policy": policy, "estimate": estimate}
                | {"replayed": replayed, "draws": measured},
            )
            for trace, path in self.named_traces().items()
            for policy, drawn, replayed, measured in runs
        ]

    def report(self, found: Sequence[Row]) -> StudyReport:
        """The traces, then the figures and tables of each."""
        draws = draw_rows(found)
        rows = rows_of(draws)
        published = published_rows(rows)
        first = [published_table(published), self._trace_table(found), count_table(rows)]
        sections = [StudySection("What was published, traces and deadlines", first)]
        for group in grouped(rows, "trace"):
            trace = group[0]["trace"]
            own = [told for told in found if told["trace"] == trace]
            figures = [
                _by_share("Mean wait of regular jobs", group, "wait_regular_s", "hours", 3600.0),
                _by_share("Mean wait of all jobs", group, "wait_all_s", "hours", 3600.0),
                _by_share("Mean stretch of regular jobs", group, "stretch_regular", "stretch", 1.0),
                _by_share("Largest stretch of regular jobs", group, "max_stretch_regular", "stretch", 1.0),
                *(_waits(share, own) for share in dict.fromkeys(row["percent"] for row in group)),
            ]
            sections.append(StudySection(trace, [pair(figures), wait_table(group), stretch_table(group)]))
        files = {"deadlines.csv": rows, "draws.csv": draws, "published.csv": published}
        return StudyReport(rows, files, sections)

    def _trace_table(self, found: Sequence[Row]) -> StudyTable:
        """Table 1: the traces as they were replayed."""
        columns: list[Shown] = [words("trace", "trace"), numbers("processors", "", "processors")]
        columns += [numbers("days", "", "days", 1), numbers("jobs", "", "jobs")]
        columns.append((Column("left out", number=False, wrap=True), _dropped))
        chosen = {"partition": self.partitions, "queue": self.queues}
        filters = [f", {word} {', '.join(map(str, each))} alone" for word, each in chosen.items() if each]
        rows = [group[-1] for group in grouped(found, "trace")]
        return table_of("".join(["Table 1: the traces", *filters]), rows, columns)


def _dropped(told: Row) -> str:
    return "; ".join(f"{plain(count)} {reason}" for reason, count in told["dropped"].items()) or "none"


def draw_rows(found: Sequence[Row]) -> list[Row]:
    """One row per trace, policy and draw, without the curves."""
    return [
        {"trace": told["trace"], "policy": told["policy"], "percent": draw["percent"], "seed": draw["seed"]}
        | {name: draw[name] for name in MEANS}
        | {"round_ms": told["round_ms"], "cpu_s": told["cpu_s"], "jobs": told["jobs"]}
        for told in found
        for draw in told["draws"]
    ]


def rows_of(draws: Sequence[Row]) -> list[Row]:
    """One row per trace, share and policy: means over the draws, half the width of their intervals, and ratios."""
    names = ("trace", "percent", "policy")
    groups = {tuple(group[0][name] for name in names): group for group in grouped(draws, *names)}
    policies, traces = (list(dict.fromkeys(draw[name] for draw in draws)) for name in ("policy", "trace"))
    rows = []
    for key in sorted(groups, key=lambda key: (traces.index(key[0]), key[1], policies.index(key[2]))):
        group = groups[key]
        row: Row = {**dict(zip(names, key, strict=True)), "seeds": len(group)}
        for name in (*MEANS, "round_ms"):
            row[name], row[f"{name}_half"] = interval([each[name] for each in group])
        row["regular_of_base"], row["regular_of_base_half"] = _ratio(group, groups.get((*key[:2], BASE)))
        row["regular_of_easy"], _ = _ratio(group, groups.get((*key[:2], "easy")))
        row["all_of_base"], _ = _ratio(group, groups.get((*key[:2], BASE)), "wait_all_s")
        row |= {"all_jobs": group[0]["jobs"], "regular_jobs": group[0]["jobs"] - group[0]["deadline_jobs"]}
        row["cpu_s"] = mean(each["cpu_s"] for each in group)
        rows.append(row | {"ms_per_job": 1000 * row["cpu_s"] / row["all_jobs"]})
    return rows


def interval(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """The mean of some draws, and half the width of its 95 % interval by Student's t; None where it cannot be told."""
    known = [value for value in values if value is not None]
    if not known:
        return None, None
    if len(known) < 2:
        return mean(known), None

    return mean(known), float(t.ppf((1 + SURE) / 2, len(known) - 1)) * stdev(known) / len(known) ** 0.5


def _ratio(
    group: Sequence[Row], base: Sequence[Row] | None, name: str = "wait_regular_s"
) -> tuple[float | None, float | None]:
    """Mean wait of jobs as a part of that of the same jobs under another policy."""
    if base is None:
        return None, None
    others = {row["seed"]: row[name] for row in base}
    return interval([row[name] / others[row["seed"]] if others[row["seed"]] else None for row in group])


def published_rows(rows: Sequence[Row]) -> list[Row]:
    """What was published of deadline-based backfilling, with ours; without a published figure the same of others."""
    found: list[Row] = []
    for row in rows:
        if row["policy"] != "deadline" or row["regular_of_base"] is None:
            continue
        most = DEADLINES.get((deadline_trace(row["trace"]), row["percent"]))
        met = "" if most is None else "yes" if row["regular_of_base"] <= most else "no"
        found.append(
            {"trace": row["trace"], "percent": row["percent"], "figure": "wait of regular jobs, part of conservative"}
            | {"published_at_most": most, "ours": row["regular_of_base"], "ours_half": row["regular_of_base_half"]}
            | {"met": met}
        )
    return found


SHARE: Shown = (Column("share", "%"), lambda row: f"{row['percent']:g}")
POLICY = words("policy", "policy")


def _mean(title: str, unit: str, name: str, digits: int, *, times: float = 1.0) -> Shown:
    """A column of means, with half the width of their intervals where there is one that is not nothing."""

    def text(row: Row) -> str:
        value, half = row[name], row[f"{name}_half"]
        if value is None:
            return "\u2013"
        told = plain(times * value, digits)
        return f"{told} \u00b1 {plain(times * half, digits)}" if half else told

    return Column(title, unit), text


def published_table(rows: Sequence[Row]) -> StudyTable:
    """The figure that the paper gives in words, on all traces."""
    most: Shown = (Column("published", "at most"), _most)
    columns = [words("trace", "trace"), SHARE, _mean("ours", "", "ours", 3), most, words("met", "met")]
    return table_of("Mean wait of regular jobs under deadline, as a part of that under conservative", rows, columns)


def _most(row: Row) -> str:
    return "" if row["published_at_most"] is None else f"{row['published_at_most']:g}"


def count_table(rows: Sequence[Row]) -> StudyTable:
    """Table 2: jobs with a deadline in each draw, by the rule that their deadline follows."""
    columns = [words("trace", "trace"), SHARE, numbers("deadline jobs", "", "deadline_jobs")]
    columns += [_mean("24 h after submission", "", "deadline_jobs_24h", 0)]
    columns += [_mean("10 times the request", "", "deadline_jobs_10x", 0)]
    chosen = [group[-1] for group in grouped(rows, "trace", "percent")]
    return table_of("Table 2: jobs with a deadline, means over the draws", chosen, columns)


def wait_table(rows: Sequence[Row]) -> StudyTable:
    """Waits of one trace."""
    columns = [
        *(SHARE, POLICY),
        _mean("mean wait", "s", "wait_all_s", 0),
        _mean("regular jobs", "s", "wait_regular_s", 0),
        _mean("part of CBF", "", "regular_of_base", 3),
        _mean("deadline jobs", "s", "wait_deadline_s", 0),
        _mean("regular that wait", "%", "waiting_regular_fraction", 1, times=100),
        _mean("their mean wait", "s", "wait_of_waiting_regular_s", 0),
    ]
    return table_of(f"{rows[0]['trace']}: waits", rows, columns)


def stretch_table(rows: Sequence[Row]) -> StudyTable:
    """Stretch, misses and usage of deadlines of one trace."""
    columns = [
        *(SHARE, POLICY),
        _mean("mean stretch", "", "stretch_all", 2),
        _mean("regular", "", "stretch_regular", 2),
        _mean("largest of regular", "", "max_stretch_regular", 0),
        _mean("misses, 24 h", "", "misses_24h", 1),
        _mean("misses, 10x", "", "misses_10x", 1),
        _mean("deadline used", "%", "usage", 1, times=100),
        _mean("by those that wait", "%", "usage_waited", 1, times=100),
        numbers("a round", "µs", "round_ms", 1, times=1000, nothing="\u2013"),
    ]
    return table_of(f"{rows[0]['trace']}: stretch, deadlines and time", rows, columns)


def _by_share(title: str, rows: Sequence[Row], figure: str, unit: str, divisor: float) -> Html:
    """A curve per policy over the share of deadline jobs."""
    drawn = curves(
        rows,
        "policy",
        "percent",
        lambda row: None if row[figure] is None else row[figure] / divisor,
        colours=COLOURS,
        dashed=lambda row: row["policy"] in BLIND,
    )
    return lines(title, drawn, across="% of jobs with a deadline", up=unit, from_least=True, width=PAIR_WIDTH)


def _waits(share: float, found: Sequence[Row]) -> Html:
    """How long the regular jobs of a trace wait that wait at all: a curve per policy, of the first draw."""
    drawn = []
    for told in found:
        for draw in told["draws"]:
            if (draw["percent"], draw["seed"]) == (share, 0) and draw["regular_waits_s"]:
                waits = draw["regular_waits_s"]
                parts = [(wait / 3600, 100 * k / (len(waits) - 1)) for k, wait in enumerate(waits)]
                points = [point for point in parts if point[1] <= 100 * MOST_SHARE]
                policy = told["policy"]
                drawn.append(Line(policy, COLOURS.get(policy, "a8"), points, dashed=policy in BLIND))
    title = f"{share:g} % deadline jobs: regular jobs that wait"
    return lines(title, drawn, across="hours at most", up="% of them", at_end=True, width=PAIR_WIDTH)
