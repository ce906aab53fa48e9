"""The rows of the study's table: each policy on each trace, its seeds together, published figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from planner.runs.figures import Row
from planner.studies.cp_online.cells import BASE, METRICS, Cell
from planner.studies.published import CP_ONLINE

KNOWN_TRACES = tuple(dict.fromkeys(trace for trace, *_ in CP_ONLINE))


def rows_of(found: Mapping[Cell, Mapping[str, Any]], *, is_whole: bool = True) -> list[Row]:
    """One row per trace, estimate and policy; every metric as a percentage of List-REG with the same estimate.

    Nothing was published of a part of a trace.
    """
    by_row: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for cell, told in found.items():
        by_row.setdefault((cell.trace, cell.estimate, cell.policy), []).append(told)
    return [
        _row(trace, estimate, policy, seeds, by_row[trace, estimate, BASE][0], is_whole=is_whole)
        for (trace, estimate, policy), seeds in by_row.items()
    ]


def _row(
    trace: str,
    estimate: str,
    policy: str,
    seeds: Sequence[Mapping[str, Any]],
    base: Mapping[str, Any],
    *,
    is_whole: bool,
) -> Row:
    row: Row = {"trace": trace, "jobs": base["jobs"], "estimate": estimate, "policy": policy, "seeds": len(seeds)}
    for metric in METRICS:
        percents = [100 * told[metric] / base[metric] for told in seeds]
        row[metric] = mean(told[metric] for told in seeds)
        row[f"{metric}_percent"] = mean(percents)
        row[f"{metric}_least_percent"], row[f"{metric}_most_percent"] = min(percents), max(percents)
        row[f"{metric}_published_percent"] = published(trace, estimate, policy, metric) if is_whole else None
    rounds = mean(told["rounds"] for told in seeds)
    cpu_s = mean(told["cpu_s"] for told in seeds)
    row |= {"wait_s": mean(told["wait"] for told in seeds), "rounds": round(rounds), "cpu_s": cpu_s}
    row["ms_per_round"] = 1000 * cpu_s / rounds if rounds else None
    quantiles = seeds[0]["queue_quantiles"]
    row |= {f"queue_{100 * float(share):g}": length for share, length in quantiles.items()}
    return row


def published(trace: str, estimate: str, policy: str, metric: str) -> int | None:
    """The published percentage; that of the CP form for a policy that searches orders."""
    return CP_ONLINE.get((short_name(trace), estimate, policy.replace("order-", "cp-"), metric))


def short_name(trace: str) -> str:
    """The name that the paper has for a trace; else its own."""
    return next((each for each in KNOWN_TRACES if trace.upper().startswith(each.upper())), trace)
