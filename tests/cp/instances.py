"""Tiny days, short enough that every plan of them can be looked at."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from itertools import pairwise

import numpy as np

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.ever_fits import Fit
from planner.domain.horizon import Horizon
from planner.domain.job import Job, UnitGroup
from planner.domain.problem import Problem, Running
from planner.domain.pue_table import PueTable
from planner.domain.rates import Rates
from planner.domain.segment import Segment

LENGTH_S = 8


class ShortDay(Horizon):
    """A day of a few seconds."""

    @property
    def end_unix(self) -> int:  # type: ignore[override]
        """Its end, a few seconds after its start."""
        return self.start_unix + LENGTH_S

    @property
    def length_s(self) -> int:  # type: ignore[override]
        """Its length [s]."""
        return LENGTH_S


SHORT = ShortDay(dt.date(2024, 6, 1), "UTC")


def kinked_table(rng: np.random.Generator, *, first_w: int = 0) -> PueTable:
    """Cooling that jumps up and down from row to row: nothing that a search could take for granted."""
    return PueTable("kinked", first_w, 100, 0, 5, np.round(rng.uniform(0.0, 0.9, (12, 6)), 3), clamp=True)


def short_segments(rng: np.random.Generator, *, extras: bool) -> tuple[Segment, ...]:
    """One to three segments with prices high enough to matter within seconds."""
    cuts = sorted(set(rng.integers(1, LENGTH_S, int(rng.integers(0, 3))).tolist()))
    return tuple(
        Segment(
            start,
            end,
            int(rng.integers(0, 6)) * 5,
            round(float(rng.uniform(-0.05, 0.6)), 3),
            solar_w=float(rng.integers(0, 600)) if extras else 0.0,
            carbon_g_per_kwh=float(rng.integers(0, 600)) if extras else 0.0,
        )
        for start, end in pairwise([0, *cuts, LENGTH_S])
    )


def tiny_job(rng: np.random.Generator, number: int, cluster: Cluster, *, whole: bool) -> Job:
    """A job of one to two units, with an odd one now and then, or of whole nodes."""
    node_class = cluster.classes[int(rng.integers(0, len(cluster.classes)))]

    def amounts() -> dict[str, float]:
        if whole:
            return {"cores": float(rng.integers(3, 5))}
        asked = {"cores": float(rng.integers(1, 5))}
        if rng.random() < 0.5:
            asked["memory_gb"] = float(rng.integers(1, int(node_class.capacity["memory_gb"]) + 1))
        return asked

    units = min(int(rng.integers(1, 3)), node_class.count)
    groups = [UnitGroup.of(units, amounts())]
    if units == 1 and node_class.count > 1 and rng.random() < 0.25:
        groups.append(UnitGroup.of(1, amounts()))
    return Job(
        id=f"j{number}",
        submit_unix=SHORT.start_unix + int(rng.integers(-3, LENGTH_S - 2)),
        requested_s=int(rng.integers(1, LENGTH_S + 3)),
        units=tuple(groups),
        power_w=round(float(rng.uniform(50, 400)), 3),
        revenue_weight=float(rng.choice([0.5, 1.0, 2.0])),
    )


def tiny_problem(seed: int, *, jobs: int = 3, extras: bool = False, whole: bool = False, rich: bool = False) -> Problem:
    """A tiny day: one or two classes of a node or two, perhaps running work and a power limit.

    ``extras`` adds sunlight, carbon and a demand charge, and idle power where it is exact; ``whole`` makes every unit
    take a node of its own; ``rich`` makes energy a small part of revenue.
    """
    rng = np.random.default_rng(seed)
    idle = 40.0 if extras and whole else 0.0
    classes = [NodeClass("cpu", int(rng.integers(1, 3)), {"cores": 4, "memory_gb": 4}, idle_w=idle)]
    if not whole and rng.random() < 0.4:
        classes.append(NodeClass("fat", 1, {"cores": 6, "memory_gb": 3}))
    limit = float(rng.integers(450, 900)) if rng.random() < 0.4 else None
    cluster = Cluster(tuple(classes), power_limit_w=limit)
    running = ()
    if rng.random() < 0.4:
        held = Job("r", SHORT.start_unix - 50, 100, (UnitGroup.of(1, {"cores": 4.0 if whole else 2.0}),), 90.5)
        running = (Running(held, -50, int(rng.integers(1, LENGTH_S + 2)), (0,)),)
    rates = Rates(
        eur_per_core_hour=0.5 if rich else round(float(rng.uniform(0.005, 0.03)), 4),
        demand_eur_per_kw=0.00002 if extras else 0.0,
        demand_interval_s=3,
        carbon_eur_per_tonne=80.0 if extras else 0.0,
    )
    fit = Fit(cluster)
    asked = [tiny_job(rng, number, cluster, whole=whole) for number in range(jobs)]
    return Problem(
        horizon=SHORT,
        cluster=cluster,
        jobs=tuple(job for job in asked if fit.why_never(job) is None),
        segments=short_segments(rng, extras=extras),
        table=kinked_table(rng),
        rates=rates,
        running=running,
        defer="free",
    )


def with_deadline(problem: Problem, job: int, latest_end_s: int) -> Problem:
    """The problem with a deadline on one job [s from the start of the day]."""
    jobs = list(problem.jobs)
    jobs[job] = replace(jobs[job], deadline_unix=SHORT.start_unix + latest_end_s)
    return replace(problem, jobs=tuple(jobs))
