"""Every plan of a tiny day, second by second and node by node: a reference that shares no code with the planner."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from planner.accounting.settle import settle
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem

CHUNK = 20_000


@dataclass(frozen=True)
class Options:
    """All ways to place one job: start, nodes, and what each takes at every second."""

    start_s: list[int]
    nodes: list[tuple[int, ...]]
    use: np.ndarray  # (options, nodes, resources, seconds)
    power: np.ndarray  # (options, seconds)
    revenue: np.ndarray  # (options,)
    busy: np.ndarray  # (options, nodes, seconds)
    exclusive: bool = False


def best_plan(problem: Problem, *, must_start: tuple[int, ...] = (), latest_s: dict[int, int] | None = None) -> Plan:
    """The most profitable plan; jobs of ``must_start`` are placed, starts after ``latest_s`` are not tried."""
    options = [
        _options(problem, job, may_defer=job not in must_start, latest=(latest_s or {}).get(job))
        for job in range(len(problem.jobs))
    ]
    base = _running(problem)
    choices = np.array(list(product(*(range(len(one.start_s)) for one in options))), dtype=np.int64)
    choices = choices.reshape(len(choices), len(options))
    best, best_value = None, -np.inf
    for first in range(0, len(choices), CHUNK):
        part = choices[first : first + CHUNK]
        use = base.use[0] + sum((one.use[part[:, k]] for k, one in enumerate(options)), np.zeros((len(part), 1, 1, 1)))
        power = base.power[0] + sum((one.power[part[:, k]] for k, one in enumerate(options)), np.zeros((len(part), 1)))
        busy = base.busy[0] | np.zeros((len(part), 1, 1), dtype=bool)
        meet = np.zeros(len(part), dtype=bool)
        for k, one in enumerate(options):
            meet |= _meet(one, part[:, k], base, np.zeros(len(part), dtype=np.int64))
            for other in range(k):
                meet |= _meet(one, part[:, k], options[other], part[:, other])
            busy = busy | one.busy[part[:, k]]
        revenue = base.revenue[0] + sum(one.revenue[part[:, k]] for k, one in enumerate(options))
        value = _profit(problem, power, busy, np.zeros(len(part)) + revenue)
        value[meet | ~_feasible(problem, use, power)] = -np.inf
        starts = np.array([np.array(one.start_s)[part[:, k]] for k, one in enumerate(options)]).T
        value[~_in_turn(problem, starts.reshape(len(part), len(options)))] = -np.inf
        top = int(np.argmax(value))
        if value[top] > best_value:
            best, best_value = part[top], float(value[top])
    assert best is not None, "not even the empty plan is feasible"
    plan = Plan(
        np.array([one.start_s[k] for one, k in zip(options, best, strict=True)], dtype=np.int64),
        np.array([node for one, k in zip(options, best, strict=True) for node in one.nodes[k]], dtype=np.int64),
    )
    assert abs(settle(problem, plan).profit_eur - best_value) < 1e-9, "the reference and the ledger disagree"
    return plan


def _options(problem: Problem, job: int, *, may_defer: bool, latest: int | None) -> Options:
    what, day = problem.jobs[job], problem.horizon.length_s
    asked = [what.submit_unix, what.begin_unix or 0]
    release = max(0, *(unix - problem.horizon.start_unix for unix in asked))
    count = problem.cluster.node_count
    seats = [sorted(set(product(range(count), repeat=group.count)), key=str) for group in what.units]
    seats = [[one for one in group if list(one) == sorted(one)] for group in seats]
    ways = [(DEFERRED, (DEFERRED,) * what.unit_count)] if may_defer else []
    last = day - 1 if latest is None else min(day - 1, latest)
    for start in range(release, last + 1):
        ways += [(start, tuple(node for part in choice for node in part)) for choice in product(*seats)]
    rows = [_one(problem, job, start, nodes) for start, nodes in ways]
    kept = [(way, row) for way, row in zip(ways, rows, strict=True) if row is not None]
    return Options(
        [way[0] for way, _ in kept],
        [way[1] for way, _ in kept],
        *(np.array([row[part] for _, row in kept]) for part in range(4)),
        exclusive=what.exclusive,
    )


def _meet(one: Options, way: np.ndarray, other: Options, other_way: np.ndarray) -> np.ndarray:
    """Where two jobs are on one node at one second though one of them has its nodes for itself."""
    if not one.exclusive and not other.exclusive:
        return np.zeros(len(way), dtype=bool)
    return np.any(one.busy[way] & other.busy[other_way], axis=(1, 2))


def _one(problem: Problem, job: int, start: int, nodes: tuple[int, ...]) -> tuple | None:
    what = problem.jobs[job]
    end = start + what.requested_s if start != DEFERRED else start
    groups = [group for group in what.units for _ in range(group.count)]
    classes = [problem.cluster.classes[problem.cluster.class_index(node)].name for node in nodes if node != DEFERRED]
    if what.classes and not set(classes) <= set(what.classes):
        return None
    if what.exclusive and start != DEFERRED and len(set(nodes)) < len(nodes):
        return None
    return _held(problem, groups, nodes, start, end, what.power_w, what.revenue_weight)


def _running(problem: Problem) -> Options:
    rows = []
    for work in problem.running:
        groups = [group for group in work.job.units for _ in range(group.count)]
        rows.append(_held(problem, groups, work.nodes, 0, work.end_s, work.job.power_w, work.job.revenue_weight))
    nothing = _held(problem, [], (), 0, 0, 0.0, 1.0)
    assert nothing is not None
    total = [nothing[0].copy(), nothing[1].copy(), 0.0, nothing[3].copy()]
    for row in rows:
        assert row is not None
        total = [total[0] + row[0], total[1] + row[1], total[2] + row[2], total[3] | row[3]]
    alone = any(work.job.exclusive for work in problem.running)
    return Options([0], [()], *(np.array([part]) for part in total), exclusive=alone)


def _held(problem: Problem, groups, nodes, start, end, power_w, weight) -> tuple | None:  # type: ignore[no-untyped-def]
    day, resources = problem.horizon.length_s, problem.cluster.resources
    count = problem.cluster.node_count
    use = np.zeros((count, len(resources), day))
    power, busy = np.zeros(day), np.zeros((count, day), dtype=bool)
    revenue, seconds = 0.0, slice(max(0, start), min(end, day))
    if end > start:
        power[seconds] = power_w
        for group, node in zip(groups, nodes, strict=True):
            node_class = problem.cluster.classes[problem.cluster.class_index(node)]
            amounts = np.array([group.amount(name) for name in resources])
            capacity = np.array([node_class.capacity.get(name, 0.0) for name in resources])
            if np.any(amounts > capacity):
                return None
            share = max(a / c for a, c in zip(amounts, capacity, strict=True) if c > 0)
            use[node][:, seconds] += amounts[:, None]
            busy[node, seconds] = True
            length = sum(
                segment.counts * max(0, min(segment.end_s, seconds.stop) - max(segment.start_s, seconds.start))
                for segment in problem.segments
            )
            revenue += share * node_class.capacity["cores"] * length / 3600 * weight * problem.rates.eur_per_core_hour
    return use, power, revenue, busy


def _feasible(problem: Problem, use: np.ndarray, power: np.ndarray) -> np.ndarray:
    capacity = np.array(
        [
            [node_class.capacity.get(name, 0.0) for name in problem.cluster.resources]
            for node_class in problem.cluster.classes
            for _ in range(node_class.count)
        ]
    )
    fits = np.all(use <= capacity[None, :, :, None] + 1e-9, axis=(1, 2, 3))
    if problem.cluster.power_limit_w is not None:
        fits &= np.all(power <= problem.cluster.power_limit_w + 1e-9, axis=1)
    return fits


def _in_turn(problem: Problem, starts: np.ndarray) -> np.ndarray:
    """Which rows of starts keep what every job waits for."""
    kept = np.ones(len(starts), dtype=bool)
    names = [job.id for job in problem.jobs]
    for k, job in enumerate(problem.jobs):
        for needed in job.after:
            is_end = needed.kind in ("afterok", "afterany")
            fine = np.ones(len(starts), dtype=bool)
            if needed.job_id in problem.never:
                fine[:] = False
            elif needed.job_id in names:
                other = names.index(needed.job_id)
                length = problem.jobs[other].requested_s if is_end else 0
                fine = (starts[:, other] != DEFERRED) & (starts[:, k] >= starts[:, other] + length)
            for work in problem.running:
                if is_end and work.job.id == needed.job_id:
                    fine &= starts[:, k] >= work.end_s
            kept &= fine | (starts[:, k] == DEFERRED)
    return kept


def _profit(problem: Problem, power: np.ndarray, busy: np.ndarray, revenue: np.ndarray) -> np.ndarray:
    idle = np.array([c.idle_w for c in problem.cluster.classes for _ in range(c.count)])
    drawn = power + ((~busy) * idle[None, :, None]).sum(axis=1)
    profit, table, rates = revenue.copy(), problem.table, problem.rates
    bought = np.zeros_like(drawn)
    for segment in problem.segments:
        inside = drawn[:, segment.start_s : segment.end_s]
        energy = inside.sum(axis=1)
        row = np.floor((energy / segment.length_s - table.first_power_w) / table.power_step_w + 0.5).astype(int)
        # On the grid this is the cell itself; only a table that is linear is asked for temperatures between.
        cells = np.array([np.interp(segment.temperature_c, table.temperatures_c, each) for each in table.cooling])
        cooling = np.where(energy > 0, cells[np.clip(row, 0, len(cells) - 1)], 0.0)
        beyond_sun = np.maximum(0.0, energy * (1 + cooling) - segment.solar_w * segment.length_s)
        price = segment.price_eur_per_kwh + segment.carbon_g_per_kwh * rates.carbon_eur_per_tonne / 1e6
        profit -= beyond_sun / 3.6e6 * price * segment.counts
        # Within a demand interval the sun of a piece covers that piece as a whole.
        bought[:, segment.start_s : segment.end_s] = inside * (1 + cooling)[:, None] - segment.solar_w
    return profit - _peak_kw(problem, bought) * rates.demand_eur_per_kw


def _peak_kw(problem: Problem, bought: np.ndarray) -> np.ndarray:
    edges = sorted({segment.start_s for segment in problem.segments})
    peak = np.zeros(len(bought))
    for start in range(0, problem.horizon.length_s, problem.rates.demand_interval_s):
        end = min(start + problem.rates.demand_interval_s, problem.horizon.length_s)
        marks = [start, *(edge for edge in edges if start < edge < end), end]
        pieces = [np.maximum(0.0, bought[:, a:b].sum(axis=1)) for a, b in pairwise(marks)]
        peak = np.maximum(peak, np.sum(pieces, axis=0) / (end - start))
    return peak / 1000
