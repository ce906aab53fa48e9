"""Published figures of others, to compare ours with; the tables and their sources are in ``published_figures/``."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).resolve().parent / "published_figures"

METRICS = ("bsld", "af", "awf", "p2sf")
"""Metrics of the metrics paper's tables."""


def rows_of_table(table: str) -> list[dict[str, str]]:
    """The rows of a table of published figures."""
    with (FIGURES / f"{table}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


POLICY_CHANGES: dict[tuple[str, str, str], dict[str, int]] = {
    (row["trace"], row["estimate"], row["policy"]): {name: int(row[f"{name}_percent"]) for name in METRICS}
    for row in rows_of_table("policies")
}
"""Table II of the metrics paper: percent against List-REG by metric; by the trace, the estimate and the policy."""

POLICIES = tuple(dict.fromkeys(policy for _, _, policy in POLICY_CHANGES))
"""The metrics paper's policies, compared with List-REG."""

TRACES = tuple(dict.fromkeys(trace for trace, _, _ in POLICY_CHANGES))
"""The metrics paper's traces, by its names for them."""


def published_trace(name: str) -> str | None:
    """The metrics paper's name of a trace by that of its file, which begins with it; None for others."""
    return next((each for each in TRACES if name.upper().startswith(each)), None)


@dataclass(frozen=True)
class PublishedPrediction:
    """Tables III and IV of the metrics paper: what an estimate changes against requested times, and its accuracy.

    ``change_percent`` is of ``metric``, ``r2`` the R2 of the estimates; None where it was not published.
    """

    metric: str
    change_percent: float | None
    r2: float | None


PREDICTORS = {
    (row["trace"], row["policy"], row["estimate"]): PublishedPrediction(
        row["metric"], *(float(row[name]) if row[name] else None for name in ("change_percent", "r2"))
    )
    for row in rows_of_table("predictors")
}
"""By the trace, the policy and the estimate."""

PREDICTED = {policy: told.metric for (_, policy, _), told in PREDICTORS.items()}
"""The policies that were run with predictors, each with the metric that was published."""


DEADLINES = {
    (row["trace"], float(row["percent"])): float(row["regular_wait_at_most"]) for row in rows_of_table("deadlines")
}
"""Wait of regular jobs under deadline-based backfilling, as a part of that under conservative: at most, as published.

By the trace and the percentage of jobs with a deadline.
"""


DEADLINE_SELECTIONS: dict[str, dict[str, Any]] = {
    "SDSC-BLUE": {"but_queues": (0,), "allocated": True},
    "SDSC-DS": {"partitions": (2,)},
    "HPC2N": {},
    "ANL-INTREPID": {},
}
"""Which jobs of its traces the deadline paper takes, inferred from its counts of them; see `read_pool`."""


def deadline_trace(name: str) -> str:
    """The deadline paper's name of a trace by that of its file, which begins with it; the file's own for others."""
    return next((trace for trace in DEADLINE_SELECTIONS if name.upper().startswith(trace)), name)


@dataclass(frozen=True)
class Campaign:
    """Runs that were published of one trace: its jobs there, and the mean bounded slowdown of each run.

    A run is a policy, an estimate, and how an estimate that a job outlives is corrected.
    """

    jobs: int
    bsld: dict[tuple[str, str, str], float]


def _campaigns() -> dict[tuple[int, int], Campaign]:
    campaigns: dict[tuple[int, int], Campaign] = {}
    for row in rows_of_table("predictions"):
        usable, processors, published = (int(row[name]) for name in ("usable_jobs", "processors", "published_jobs"))
        campaign = campaigns.setdefault((usable, processors), Campaign(published, {}))
        campaigns[published, processors] = campaign
        campaign.bsld[row["policy"], row["estimate"], row["correction"]] = float(row["bsld"])
    return campaigns


PREDICTIONS = _campaigns()
"""Result tables of the paper on predicted runtimes, by usable jobs and processors of the trace: of the cleaned
log, and of the published one that has its first jobs, too."""

RUNS = tuple(dict.fromkeys(run for campaign in PREDICTIONS.values() for run in campaign.bsld))
"""The runs of `PREDICTIONS`; all of them are made of a trace of which nothing was published."""


STATED = {(row["paper"], row["place"], row["row"], row["column"]): row["published"] for row in rows_of_table("stated")}
"""What is printed in tables, figures and texts that have no table of their own here."""


@dataclass(frozen=True)
class Curie23Scenario:
    """What was published of a scenario of the 23 days of CEA Curie.

    Best search over best rule in profit at the end of day 23, how much sooner it empties the queue [%], the PUE of both
    over the whole, the mean gain of a day [EUR], and what a second of each search brings [%].
    """

    over_best_rule_percent: float
    shorter_percent: float
    pue: float
    rule_pue: float
    gain_eur: float
    per_second: dict[str, float]


def _curie23(place: str, scenario: str, column: str) -> float:
    return float(STATED["curie23", place, scenario, column])


CURIE23 = {
    scenario: Curie23Scenario(
        over_best_rule_percent=_curie23("Table 1", scenario, "profit over the best rule"),
        shorter_percent=_curie23("Table 1", scenario, "makespan under the best rule"),
        pue=_curie23("Table 1", scenario, "PUE of the best search"),
        rule_pue=_curie23("Table 1", scenario, "PUE of the best rule"),
        gain_eur=_curie23("Table 2", scenario, "gain a day"),
        per_second={run: _curie23("Table 3", scenario, run) for run in ("multisearch", "delay", "relaxation")},
    )
    for scenario in ("air-winter", "air-summer", "hybrid-winter", "hybrid-summer")
}
CURIE23_SEARCHES = {
    (row["figure"], row["method"]): (float(row["least"]), float(row["most"]))
    for row in rows_of_table("curie23-searches")
}
"""What was published of searches there, by figure and method: least and most of the scenarios, in the table's units."""


def _cp_online() -> dict[tuple[str, str, str, str], str]:
    """Table 2 as it is printed; what cannot be read is empty."""
    rows = [row for row in rows_of_table("cp-online") if not row["policy"].endswith("+")]
    traces = dict.fromkeys(row["trace"] for row in rows)
    estimates = ("actual", "requested")
    bases = {(trace, estimate, "list", "p2sf"): "100" for trace in traces for estimate in estimates}
    return bases | {
        (row["trace"], estimate, row["policy"], row["metric"]): row[f"{estimate}_percent"]
        for row in rows
        for estimate in estimates
    }


CP_ONLINE_CELLS = _cp_online()
"""Percent of List-REG by trace, estimate, policy and metric of the policies that plan the whole queue, as printed."""

CP_ONLINE = {key: int(text) for key, text in CP_ONLINE_CELLS.items() if text and key[2] != "list"} | {
    (row["trace"], "actual", row["policy"], row["metric"]): int(row["actual_percent"])
    for row in rows_of_table("cp-online")
    if row["policy"].endswith("+")
}
"""The same as numbers, where it can be read, and of CP-P2SF+ as its text and figure have it."""


@dataclass(frozen=True)
class PublishedDispatcher:
    """What was published of a dispatcher: mean time per dispatch [ms], whole simulation [s]; None: it did not end."""

    dispatch_ms: int | None
    simulation_s: int | None

    @property
    def has_ended(self) -> bool:
        """Whether its simulation came to an end."""
        return self.simulation_s is not None


DISPATCHERS = {
    (row["machine"], row["estimate"], row["policy"]): PublishedDispatcher(
        *(int(row[name]) if row[name] else None for name in ("dispatch_ms", "simulation_s"))
    )
    for row in rows_of_table("dispatchers")
}
"""The dispatchers of 2019 and 2021, by machine, estimate and policy."""
