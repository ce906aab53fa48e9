"""Every plan of a tiny day, second by second and node by node: a reference that shares no code with the planner."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from scipy.optimize import linprog

from planner.accounting.settle import settle
from planner.domain.job import Job, UnitGroup
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.domain.segment import Segment

CHUNK = 20_000


class NoPlanError(Exception):
    """Not one plan keeps the rules."""


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
    """The plan that is worth most; jobs of ``must_start`` are placed, starts after ``latest_s`` are not tried."""
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
        revenue = revenue - sum(_waits(problem, k, one)[part[:, k]] for k, one in enumerate(options))
        value = _profit(problem, power, busy, np.zeros(len(part)) + revenue)
        value[meet | ~_feasible(problem, use, power)] = -np.inf
        starts = np.array([np.array(one.start_s)[part[:, k]] for k, one in enumerate(options)]).T
        value[~_in_turn(problem, starts.reshape(len(part), len(options)))] = -np.inf
        if problem.rates.battery is not None:
            value = _with_battery(problem, value, best_value, power, busy, np.zeros(len(part)) + revenue)
        top = int(np.argmax(value))
        if value[top] > best_value:
            best, best_value = part[top], float(value[top])
    if best is None:
        raise NoPlanError
    plan = Plan(
        np.array([one.start_s[k] for one, k in zip(options, best, strict=True)], dtype=np.int64),
        np.array([node for one, k in zip(options, best, strict=True) for node in one.nodes[k]], dtype=np.int64),
    )
    assert abs(settle(problem, plan).worth_eur - best_value) < 1e-9, "the reference and the ledger disagree"
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


def _waits(problem: Problem, job: int, options: Options) -> np.ndarray:
    """What the wait of a job counts with each of its starts; one that is deferred waits until the end."""
    if not problem.waits:
        return np.zeros(len(options.start_s))
    price, counted = problem.waits[problem.jobs[job].id], []
    for start in options.start_s:
        moment = problem.horizon.length_s if start == DEFERRED else start
        hours, late = max(0, moment - price.ready_s) / 3600, max(0, moment - price.due_s) / 3600
        counted.append(price.eur_per_h * hours + price.eur_per_h * hours**2 / 48 + price.late_eur_per_h * late)
    return np.array(counted)


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
    return _held(problem, groups, nodes, start, end, what.power_w, _weight(problem, what), what.classes)


def _running(problem: Problem) -> Options:
    rows = []
    for work in problem.running:
        groups = [group for group in work.job.units for _ in range(group.count)]
        held = (work.job.power_w, _weight(problem, work.job), work.job.classes)
        rows.append(_held(problem, groups, work.nodes, 0, work.end_s, *held))
    nothing = _held(problem, [], (), 0, 0, 0.0, 1.0)
    assert nothing is not None
    total = [nothing[0].copy(), nothing[1].copy(), 0.0, nothing[3].copy()]
    for row in rows:
        assert row is not None
        total = [total[0] + row[0], total[1] + row[1], total[2] + row[2], total[3] | row[3]]
    alone = any(work.job.exclusive for work in problem.running)
    return Options([0], [()], *(np.array([part]) for part in total), exclusive=alone)


def _held(problem: Problem, groups, nodes, start, end, power_w, weight, classes=()) -> tuple | None:  # type: ignore[no-untyped-def]
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
            use[node][:, seconds] += amounts[:, None]
            busy[node, seconds] = True
            length = sum(
                segment.counts * max(0, min(segment.end_s, seconds.stop) - max(segment.start_s, seconds.start))
                for segment in problem.segments
            )
            revenue += _eur_per_hour(problem, group, classes) * length / 3600 * weight
    return use, power, revenue, busy


def _eur_per_hour(problem: Problem, group: UnitGroup, classes: tuple[str, ...]) -> float:
    """What a unit earns wherever it runs: at the cheapest class that it may use, of those that are named."""
    bills = []
    for node_class in problem.cluster.classes:
        room = [node_class.capacity.get(name, 0.0) - amount for name, amount in group.amounts]
        if min(room) >= 0 and (not classes or node_class.name in classes):
            own = problem.rates.class_prices.get(node_class.name)
            core, more = (own or problem.rates).eur_per_core_hour, (own or problem.rates).eur_per_hour
            share = max(amount / node_class.capacity[name] for name, amount in group.amounts)
            on_top = sum(group.amount(name) * eur for name, eur in more.items())
            bills.append(share * node_class.capacity["cores"] * core + on_top)
    return min(bills)


def _weight(problem: Problem, job: Job) -> float:
    rates = problem.rates
    return job.revenue_weight * rates.account_factors.get(job.account, 1) * rates.qos_factors.get(job.qos, 1)


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
    drawn = power + _by_themselves(problem, busy)
    profit, rates = revenue.copy(), problem.rates
    bought = np.zeros_like(drawn)
    for segment in problem.segments:
        inside = drawn[:, segment.start_s : segment.end_s]
        energy = inside.sum(axis=1)
        cooling = _cooling(problem, segment, energy)
        price, feed_in, sun_w = _contract(problem, segment)
        needed = energy * (1 + cooling)
        profit -= np.maximum(0.0, needed - sun_w * segment.length_s) / 3.6e6 * price * segment.counts
        left = segment.solar_w * segment.length_s - np.minimum(sun_w * segment.length_s, needed)
        profit += left / 3.6e6 * feed_in * segment.counts
        # Within a demand interval the sun of a piece covers that piece as a whole.
        bought[:, segment.start_s : segment.end_s] = inside * (1 + cooling)[:, None] - sun_w
    more = np.maximum(0.0, _peak_kw(problem, bought) - rates.demand_so_far_kw)
    return profit - more * rates.demand_eur_per_kw


def _cooling(problem: Problem, segment: Segment, energy: np.ndarray) -> np.ndarray:
    table = problem.table
    row = np.floor((energy / segment.length_s - table.first_power_w) / table.power_step_w + 0.5).astype(int)
    # On the grid this is the cell itself; only a table that is linear is asked for temperatures between.
    cells = np.array([np.interp(segment.temperature_c, table.temperatures_c, each) for each in table.cooling])
    return np.where(energy > 0, cells[np.clip(row, 0, len(cells) - 1)], 0.0)


def _contract(problem: Problem, segment: Segment) -> tuple[float, float, float]:
    """Price of a bought kWh, what a kWh fed in earns, and the sun that is used before anything is bought [W]."""
    price = segment.price_eur_per_kwh + segment.fee_eur_per_kwh
    price += segment.carbon_g_per_kwh * problem.rates.carbon_eur_per_tonne / 1e6
    feed_in = max(0.0, segment.feed_in_eur_per_kwh)
    return price, feed_in, segment.solar_w if price > feed_in else 0.0


def _by_themselves(problem: Problem, busy: np.ndarray) -> np.ndarray:
    """What nodes draw besides jobs, second by second."""
    classes = [c for c in problem.cluster.classes for _ in range(c.count)]
    idle = np.array([c.idle_w for c in classes])
    drawn = ((~busy) * idle[None, :, None]).sum(axis=1)
    rule, day = problem.cluster.idle_rule, busy.shape[2]
    if not rule.included:
        drawn = drawn + (busy * idle[None, :, None]).sum(axis=1)
    for number, node_class in enumerate(classes):
        if node_class.sleep_w is None or node_class.sleep_w == node_class.idle_w:
            continue
        # Seconds since it last worked, or since midnight, and until it works again.
        since, until = np.zeros((len(busy), day), dtype=int), np.full((len(busy), day), 10**6)
        for second in range(1, day):
            since[:, second] = np.where(busy[:, number, second - 1], 0, since[:, second - 1] + 1)
        for second in reversed(range(day - 1)):
            until[:, second] = np.where(busy[:, number, second + 1], 1, until[:, second + 1] + 1)
        asleep = ~busy[:, number] & (since >= rule.after_s) & (until > rule.wake_s)
        drawn = drawn - asleep * (node_class.idle_w - node_class.sleep_w)
    return drawn


def _with_battery(problem, value, best, power, busy, revenue):  # type: ignore[no-untyped-def]
    """The values with the best use of a battery, for all plans that can be the best with it."""
    battery, found = problem.rates.battery, np.full(len(value), -np.inf)
    contracts = [_contract(problem, segment) for segment in problem.segments]
    dearest = max(abs(price) for price, _, _ in contracts) + max(feed for _, feed, _ in contracts)
    hours = problem.horizon.length_s / 3600
    most = battery.power_kw * (2 * hours * dearest + problem.rates.demand_eur_per_kw)
    for row in np.argsort(-value):
        if value[row] + most < best or np.isneginf(value[row]):
            break
        drawn = power[row] + _by_themselves(problem, busy[row][None])[0]
        found[row] = revenue[row] - _least_cost(problem, drawn, contracts)
        best = max(best, found[row])
    return found


def _least_cost(problem, drawn, contracts):  # type: ignore[no-untyped-def]
    """Least cost of a day with a battery: a program over the segments, in the battery's own energy."""
    battery, rates = problem.rates.battery, problem.rates
    count, day = len(problem.segments), problem.horizon.length_s
    loss = battery.efficiency**0.5
    needed, left, cooled = np.zeros(count), np.zeros(count), np.zeros(day)
    for k, segment in enumerate(problem.segments):
        inside = slice(segment.start_s, segment.end_s)
        energy = drawn[inside].sum()
        share = 1 + float(_cooling(problem, segment, np.array([energy]))[0])
        sun = contracts[k][2] * segment.length_s
        needed[k] = max(0.0, energy * share - sun) / 3.6e6
        left[k] = (segment.solar_w * segment.length_s - min(sun, energy * share)) / 3.6e6
        cooled[inside] = drawn[inside] * share - contracts[k][2]
    # Per segment: bought, sun fed in, sun into the battery, grid into the battery, out of it; at last the peak.
    size = 5 * count + 1
    cost, bounds = np.zeros(size), [(0.0, None)] * size
    bounds[-1] = (rates.demand_so_far_kw, None)
    equal, equals, upper, limits = [], [], [], []
    for k, segment in enumerate(problem.segments):
        price, feed_in, _ = contracts[k]
        cost[5 * k], cost[5 * k + 1] = price * segment.counts, -feed_in * segment.counts
        row = np.zeros(size)
        row[[5 * k, 5 * k + 3, 5 * k + 4]] = [1.0, -1.0, 1.0]
        equal.append(row)
        equals.append(needed[k])
        row = np.zeros(size)
        row[[5 * k + 1, 5 * k + 2]] = 1.0
        upper.append(row)
        limits.append(left[k])
        row = np.zeros(size)
        row[5 * k + 2 : 5 * k + 5] = 1.0
        upper.append(row)
        limits.append(battery.power_kw * segment.length_s / 3600)
        level = np.zeros(size)
        for earlier in range(k + 1):
            level[5 * earlier + 2 : 5 * earlier + 5] = [loss, loss, -1 / loss]
        least = min(battery.end_kwh, battery.start_kwh + battery.power_kw * loss * day / 3600) if k == count - 1 else 0
        upper += [level, -level]
        limits += [battery.capacity_kwh - battery.start_kwh, battery.start_kwh - least]
        bounds[5 * k + 4] = (0.0, needed[k])
    cost[-1] = rates.demand_eur_per_kw
    if rates.demand_eur_per_kw:
        edges = [segment.start_s for segment in problem.segments]
        for start in range(0, day, rates.demand_interval_s):
            end = min(start + rates.demand_interval_s, day)
            marks = [start, *(edge for edge in edges if start < edge < end), end]
            bought = sum(max(0.0, cooled[a:b].sum()) for a, b in pairwise(marks)) / 3.6e6
            row = np.zeros(size)
            row[-1] = -(end - start) / 3600
            for k, segment in enumerate(problem.segments):
                part = max(0, min(end, segment.end_s) - max(start, segment.start_s)) / segment.length_s
                # What the battery moves is spread evenly over its segment.
                row[5 * k] += part
                bought -= part * needed[k]
            upper.append(row)
            limits.append(-bought)
    # In units of a millionth: these days are seconds long, and a solver has tolerances.
    scaled = [(low * 1e6, None if high is None else high * 1e6) for low, high in bounds]
    solved = linprog(cost, np.array(upper), np.array(limits) * 1e6, np.array(equal), np.array(equals) * 1e6, scaled)
    assert solved.x is not None, solved.message
    return float(solved.fun) / 1e6 - rates.demand_eur_per_kw * rates.demand_so_far_kw


def _peak_kw(problem: Problem, bought: np.ndarray) -> np.ndarray:
    edges = sorted({segment.start_s for segment in problem.segments})
    peak = np.zeros(len(bought))
    for start in range(0, problem.horizon.length_s, problem.rates.demand_interval_s):
        end = min(start + problem.rates.demand_interval_s, problem.horizon.length_s)
        marks = [start, *(edge for edge in edges if start < edge < end), end]
        pieces = [np.maximum(0.0, bought[:, a:b].sum(axis=1)) for a, b in pairwise(marks)]
        peak = np.maximum(peak, np.sum(pieces, axis=0) / (end - start))
    return peak / 1000
