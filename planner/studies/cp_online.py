"""The study of policies that plan the whole queue in every round: published figures beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from planner.limits import EVALUATIONS, Bounds
from planner.online.estimates import estimate_named
from planner.online.policies import USUAL_SEARCH, policy_named
from planner.pages.charts import Dot, Line, dots, lines
from planner.pages.markup import Column, Html, plain
from planner.runs.compare_results import Row
from planner.studies.published import CP_ONLINE
from planner.studies.replay_cells import queue_figures
from planner.studies.report import Shown, StudyReport, StudySection, StudyTable, grouped, numbers, table_of, words
from planner.studies.study import StudyCell, TraceStudy, option

BASE = "list"
"""The policy that all others are compared with, List-REG."""

SEARCHED = (
    *("order-af", "order-af-ahead", "order-awf", "order-bsld", "order-bsld+"),
    *("order-bsld-ahead", "order-p2sf", "order-p2sf+", "order-p2sf-ratio"),
)

METRICS = {"af": "AF", "awf": "AWF", "bsld": "BSLD", "p2sf": "P2SF"}
FIGURES = {
    "awf": ("order-awf", "order-p2sf", "laf-list", "easy"),
    "bsld": ("order-bsld", "order-bsld+", "order-bsld-ahead", "spf-list", "saf-list", "sjf-list", "easy"),
    "af": ("order-af", "order-af-ahead", "order-bsld-ahead", "saf-list", "sjf-list", "easy"),
    "p2sf": ("order-p2sf", "order-p2sf+", "order-p2sf-ratio", "order-awf", "easy"),
}
"""Policies in the figure of each metric, the figures in the paper's order."""

QUEUES = {
    **{BASE: "other", "saf-list": "profit", "order-af": "it", "order-awf": "cooling", "order-bsld": "good"},
    **{"order-p2sf": "price"},
}
"""Policies whose queues are drawn, with their colours; figure 5 has saf-list and CP-AF, figure 7 CP-P2SF."""

MARKS = {"actual": ("it", "circle"), "requested": ("profit", "circle"), "last2": ("cooling", "ring")}
KNOWN_TRACES = tuple(dict.fromkeys(trace for trace, *_ in CP_ONLINE))


@dataclass(frozen=True, kw_only=True)
class CpOnlineStudy(TraceStudy):
    """Policies that plan the whole queue in every round for a local objective, beside the paper on CP Optimizer.

    Every metric is a percentage of List-REG with the same estimate. An interrupted study goes on where it stopped.
    """

    name = "cp-online"
    title = "Planning the whole queue in every round"
    reading = (
        "Every row is one policy on all jobs of a trace, each of which runs as long as it really did. The policy"
        " believes of runtimes what the estimate says. Metrics are percentages of List-REG with the same estimate:"
        " lower is better.",
        "The policies order-... plan the whole queue in every scheduling round for a local objective, by a search over"
        " orders of the waiting jobs; published figures beside them are those of the CP Optimizer form with 20 s a"
        " round. Where a policy searches, figures are means over its seeds, with the least and the most.",
        "Jobs without a requested time are left out, and the one that ends last does not count: so what the same"
        " authors published of list policies is met (the study metrics).",
        "CPU time is that of the whole replay; the paper leaves it out.",
    )
    policies: tuple[str, ...] = option(
        (BASE, "easy", "spf-list", "saf-list", "sjf-list", "laf-list", *SEARCHED),
        "names",
        "By commas; default all of the study.",
        *("--policies", "-p"),
    )
    estimates: tuple[str, ...] = option(
        ("actual", "requested", "last2"), "names", "What policies believe of runtimes, by commas.", "--estimates", "-e"
    )
    seeds: int = option(1, "number", "Seeds of each policy that searches.", bounds=Bounds(1, 20))
    evaluations: int = option(
        USUAL_SEARCH.evaluations, "number", "Orders that order-... tries per waiting job.", bounds=EVALUATIONS
    )

    def cells(self) -> list[StudyCell]:
        """Each policy with each estimate, List-REG first; only policies that search have several seeds."""
        found = []
        wanted = list(dict.fromkeys(policy_named(name) for name in (BASE, *self.policies)))
        for trace, path in self.named_traces().items():
            for estimate in (estimate_named(each).name for each in self.estimates):
                for policy in wanted:
                    for seed in range(self.seeds if policy.kind == "order" else 1):
                        labels = {"trace": trace, "estimate": estimate, "policy": policy.name, "seed": seed}
                        given = self.given(path) | {"policy": policy.name, "estimate": estimate}
                        given |= {"metrics": tuple(METRICS), "seed": seed, "evaluations": self.evaluations}
                        name = f"{trace}/{estimate}/{policy.name}/{seed}"
                        found.append(StudyCell(name, labels, queue_figures, given))
        return found

    def report(self, found: Sequence[Row]) -> StudyReport:
        """A figure per metric, queues over time and by size, then the tables."""
        rows = rows_of(found, is_whole=self.jobs is None)
        metrics = StudySection("The metrics, in percent of List-REG", [_metric_figure(name, rows) for name in FIGURES])
        queues = [_queue_figure(group) for group in grouped(found, "trace")]
        tables = [policy_table(group) for group in grouped(rows, "trace", "estimate")]
        sections = [
            metrics,
            StudySection("The queue", [*queues, _sizes_table(rows)]),
            StudySection("All figures", tables),
        ]
        return StudyReport(rows, {"cp-online.csv": rows, "queues.csv": queue_rows(found)}, sections)


def queue_rows(found: Sequence[Row]) -> list[Row]:
    """Mean waiting jobs over stretches of each trace, of the policies that are drawn and the first seed."""
    return [
        {name: told[name] for name in ("trace", "estimate", "policy")} | {"day": day, "waiting_jobs": waiting}
        for told in found
        if told["policy"] in QUEUES and told["seed"] == 0
        for day, waiting in told["queue_by_day"]
    ]


def rows_of(found: Sequence[Row], *, is_whole: bool = True) -> list[Row]:
    """One row per trace, estimate and policy; every metric as a percentage of List-REG with the same estimate.

    Nothing was published of a part of a trace.
    """
    names = ("trace", "estimate", "policy")
    bases = {(each["trace"], each["estimate"]): each for each in found if each["policy"] == BASE}
    rows = []
    for seeds in grouped(found, *names):
        trace, estimate, policy = (seeds[0][name] for name in names)
        base = bases[trace, estimate]
        row: Row = {"trace": trace, "jobs": base["jobs"], "estimate": estimate, "policy": policy, "seeds": len(seeds)}
        for metric in METRICS:
            percents = [100 * told[metric] / base[metric] for told in seeds]
            row[metric] = mean(told[metric] for told in seeds)
            row[f"{metric}_percent"] = mean(percents)
            row[f"{metric}_least_percent"], row[f"{metric}_most_percent"] = min(percents), max(percents)
            row[f"{metric}_published_percent"] = published(trace, estimate, policy, metric) if is_whole else None
        rounds, cpu_s = (mean(told[name] for told in seeds) for name in ("rounds", "cpu_s"))
        row |= {"wait_s": mean(told["wait"] for told in seeds), "rounds": round(rounds), "cpu_s": cpu_s}
        row["ms_per_round"] = 1000 * cpu_s / rounds if rounds else None
        lengths = seeds[0]["queue_quantiles"]
        rows.append(row | {f"queue_{100 * float(share):g}": length for share, length in lengths.items()})
    return rows


def published(trace: str, estimate: str, policy: str, metric: str) -> int | None:
    """The published percentage; that of the CP form for a policy that searches orders."""
    return CP_ONLINE.get((short_name(trace), estimate, policy.replace("order-", "cp-"), metric))


def short_name(trace: str) -> str:
    """The name that the paper has for a trace; else its own."""
    return next((each for each in KNOWN_TRACES if trace.upper().startswith(each.upper())), trace)


def policy_table(rows: Sequence[Row]) -> StudyTable:
    """The table of one trace and estimate; published columns only where there are published figures."""
    columns = [words("policy", "policy")]
    for metric, name in METRICS.items():
        columns.append(_percents(metric, name))
        if any(row[f"{metric}_published_percent"] is not None for row in rows):
            columns.append(numbers("published", "%", f"{metric}_published_percent"))
    columns += [numbers("time", "s of CPU", "cpu_s", 1), numbers("a round", "ms", "ms_per_round", 3)]
    base = next(row for row in rows if row["policy"] == BASE)
    values = ", ".join(f"{name} {plain(base[metric], 2)}" for metric, name in METRICS.items())
    title = f"{base['trace']}, {base['estimate']} runtimes, {plain(base['jobs'])} jobs; List-REG has {values}"
    return table_of(title, rows, columns)


def _percents(metric: str, name: str) -> Shown:
    """A metric, with the least and the most where there are several seeds."""

    def text(row: Row) -> str:
        middle, least, most = (plain(row[f"{metric}{each}_percent"], 1) for each in ("", "_least", "_most"))
        return middle if row["seeds"] < 2 else f"{middle} ({least} to {most})"

    return Column(name, "% of List-REG"), text


def _sizes_table(rows: Sequence[Row]) -> StudyTable:
    names = [words(name, name) for name in ("trace", "estimate", "policy")]
    shares = [key for key in rows[0] if key.startswith("queue_")]
    sizes = [numbers(f"{key.removeprefix('queue_')} % of rounds", "jobs at most", key) for key in shares]
    return table_of("Jobs that wait in a scheduling round", rows, [*names, *sizes], brief=())


def _metric_figure(metric: str, rows: Sequence[Row]) -> Html:
    """One line per trace and policy, with a mark per estimate and the published figures as diamonds."""
    found: dict[str, list[Dot]] = {}
    for row in (row for row in rows if row["policy"] in FIGURES[metric]):
        colour, shape = MARKS.get(row["estimate"], ("other", "circle"))
        marks = found.setdefault(f"{short_name(row['trace'])}, {row['policy']}", [])
        marks.append(Dot(f"{row['estimate']}, ours", row[f"{metric}_percent"], colour, shape))
        known = row[f"{metric}_published_percent"]
        if known is not None:
            marks.append(Dot(f"{row['estimate']}, published", known, colour, "diamond"))
    return dots(f"{METRICS[metric]} in percent of List-REG", list(found.items()), most=200.0)


def _queue_figure(found: Sequence[Row]) -> Html:
    """Queues over time with the first estimate and seed, of one trace."""
    believed = found[0]["estimate"]
    shown = [told for told in found if (told["estimate"], told["seed"]) == (believed, 0) and told["policy"] in QUEUES]
    drawn = [Line(told["policy"], QUEUES[told["policy"]], told["queue_by_day"]) for told in shown]
    title = f"{found[0]['trace']}: waiting jobs over time, {believed} runtimes"
    return lines(title, drawn, across="days", up="jobs that wait")
