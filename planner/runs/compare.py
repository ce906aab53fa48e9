"""Scenarios by methods and policies by days, side by side, with what each saves against EASY on the same jobs."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from planner.domain.day_summary import FORMAT
from planner.domain.horizon import Horizon
from planner.errors import InputError
from planner.methods import WITHOUT_CARBON, Params
from planner.online.policies import Policy
from planner.pages.compare import compare_page
from planner.pages.index import write_index
from planner.places import full_path
from planner.runs.compare_policies import REPLAYED, SETTLED, RunFound, forecast_members, plan_run, policy_run
from planner.runs.compare_results import (
    Row,
    answer_of,
    pair_of,
    same_ground,
    with_difference,
    with_members,
    with_payback,
    with_saving,
)
from planner.runs.one_day import require_order
from planner.runs.parallel_calls import RunTask, TaskEngine, run_calls
from planner.runs.progress import DayCount, Pace, Work, watched
from planner.scenario.schema import Scenario
from planner.store.folder import held, put, remove, renewed, write_rows
from planner.text_files import encoded

LONGEST_NAME = 100
EASY = Policy("easy")


@dataclass(frozen=True)
class Comparison:
    """What was compared: where the files are, and all of ``compare.json``.

    ``answer`` has a sentence for each scenario that is held against the baseline's; ``pairs`` what it is taken from.
    ``runs`` and ``days`` are rows, ``notes`` say on what footing. ``members`` has what the same plans cost under each
    member of a forecast; it is there where that was asked for.
    """

    folder: Path
    content: dict[str, Any]


def compare_runs(
    scenarios: Sequence[Scenario],
    methods: Sequence[str],
    first: dt.date,
    last: dt.date,
    out: Path,
    *,
    how: Params,
    policies: Sequence[Policy] = (),
    baseline: str | None = None,
    by_member: bool = False,
    invest_eur: float | None = None,
    engine: TaskEngine | None = None,
    on_done: Callable[[str], None] | None = None,
    on_pace: Callable[[Pace], None] | None = None,
) -> Comparison:
    """Plan the same days in every scenario by every method, and set the results beside what EASY makes of the jobs.

    Every run starts anew on the first day. ``how`` gives all but the method; ``policies`` are replayed on the
    same jobs, after EASY. ``baseline`` is a scenario, whose runs those of others are held against, like with like, or
    ``SCENARIO:METHOD``, one run for all. ``by_member``: plans are settled under each member of their scenario's
    forecasts as well. ``invest_eur``: after how many years the others have paid for it. ``on_done`` is called with
    each run that is done, ``on_pace`` while days are. Days and tables are left in a folder of their own below ``out``.
    """
    require_order(first, last)
    _require_comparable(scenarios, methods)
    if invest_eur is not None and len(scenarios) < 2:
        raise InputError("--invest says what another scenario costs to have; give one more scenario")
    if by_member:
        for scenario in scenarios:
            forecast_members(scenario, Horizon(first, scenario.zone))
    replayed = list(dict.fromkeys([EASY, *policies]))
    names = [scenario.name for scenario in scenarios]
    base = _baseline(baseline, names, methods, [policy.name for policy in replayed])
    folder = full_path(out) / "compare" / _name_of(scenarios, methods) / _span(first, last)
    asked = AskedRuns(scenarios, methods, replayed, (first, last), folder, how, base[0], by_member)
    with held(folder):
        groups = _run(asked, engine or TaskEngine(), on_done, on_pace)
        runs = [found for group in groups.values() for found in _with_savings(group)]
        if not runs:
            why = "nodes are out of service" if any(each.outages for each in scenarios) else "no job to replay"
            raise InputError(f"there is nothing to compare: {why}, and no method to plan with")
        content = _compared(asked, runs, base, invest_eur)
        _write(content, folder)
    write_index(folder.parents[2])
    return Comparison(folder, content)


@dataclass(frozen=True)
class AskedRuns:
    """What is to be compared, and where it goes; ``base`` is the scenario that others are held against."""

    scenarios: Sequence[Scenario]
    methods: Sequence[str]
    policies: Sequence[Policy]
    span: tuple[dt.date, dt.date]
    folder: Path
    how: Params
    base: str
    by_member: bool

    @property
    def days(self) -> int:
        """How many days there are."""
        return (self.span[1] - self.span[0]).days + 1

    def likes(self) -> dict[str, Scenario]:
        """What each scenario is held against, by its name: the baseline, with the same goal where there is that.

        Those that are the baseline but for their goal are held against it where there are no others.
        """
        base = next(each for each in self.scenarios if each.name == self.base)
        family = [each for each in self.scenarios if _but_for_goal(each) == _but_for_goal(base)]
        rest = [each for each in self.scenarios if each not in family]
        if not rest:
            return {each.name: base for each in family if each is not base}
        return {each.name: next((own for own in family if own.goal == each.goal), base) for each in rest}

    def others(self, scenario: Scenario) -> list[Scenario]:
        """The scenarios under which the schedules of one are settled as well: those held against it, on its ground.

        What a weight of carbon does not change is run once: it is held against others in the place of its twins.
        """
        likes, twin = self.likes(), _twins(self.scenarios)
        names = {name for name, like in likes.items() if scenario.name in (like.name, twin[like.name])}
        return [each for each in self.scenarios if each.name in names and same_ground(scenario, each)]

    def task(self, scenario: Scenario, method: str, count: DayCount, threads: int) -> RunTask:
        """The run of days of a scenario by a method."""
        params, place = replace(self.how, method=method), self.folder / "runs" / scenario.name / method
        name = f"{scenario.name}, {method}"
        return RunTask(name, scenario, params, *self.span, place, count=count).with_threads(threads)


def _run(
    asked: AskedRuns,
    engine: TaskEngine,
    on_done: Callable[[str], None] | None,
    on_pace: Callable[[Pace], None] | None,
) -> dict[str, list[RunFound]]:
    """Every policy and every method in every scenario, side by side; what does not differ is run once."""
    wanted = [(each, policy) for each in asked.scenarios for policy in (() if each.outages else asked.policies)]
    planned = [(each, method) for each in asked.scenarios for method in asked.methods]
    twin = _twins(asked.scenarios)
    number = len(wanted) + len(planned)
    counted = asked.folder.parent / f".{asked.folder.name}.new-{os.getpid()}0"
    count = DayCount(counted if on_pace is not None else None)
    calls: dict[tuple[str, str, str], Callable[[], RunFound | None]] = {}
    days = dict.fromkeys(("planned", REPLAYED, SETTLED), 0)
    for scenario, policy in wanted:
        if policy.needs_prices or twin[scenario.name] == scenario.name:
            others = asked.others(scenario)
            calls[scenario.name, policy.name, "policy"] = partial(
                policy_run, scenario, policy, asked.span, others, count
            )
            days[REPLAYED] += 1
            days[SETTLED] += asked.days * (1 + len(others))
    for scenario, method in planned:
        if method not in WITHOUT_CARBON or twin[scenario.name] == scenario.name:
            task = asked.task(scenario, method, count, engine.threads(number))
            calls[scenario.name, method, "plan"] = partial(
                plan_run, task, asked.others(scenario), by_member=asked.by_member
            )
            days["planned"] += asked.days
    names = [f"{scenario}, {name}" for scenario, name, _ in calls]
    try:
        if count.folder is not None:
            count.folder.mkdir()
        with watched(count, Work(days, engine.side(len(calls))), on_pace):
            done = None if on_done is None else lambda at: on_done(names[at])
            answers = run_calls(list(zip(names, calls.values(), strict=True)), engine, done)
    finally:
        remove(counted)
    found = dict(zip(calls, answers, strict=True))
    groups: dict[str, list[RunFound]] = {}
    for scenario in asked.scenarios:
        keys = [(policy.name, "policy") for each, policy in wanted if each is scenario]
        keys += [(method, "plan") for method in asked.methods]
        group = [found.get((scenario.name, *key), found.get((twin[scenario.name], *key))) for key in keys]
        groups[scenario.name] = [_called(each, scenario.name) for each in group if each is not None]
    return groups


def _twins(scenarios: Sequence[Scenario]) -> dict[str, str]:
    """For each scenario the first that differs from it in nothing but its name and the weight of carbon."""
    firsts: list[tuple[str, Scenario]] = []
    found = {}
    for scenario in scenarios:
        plain = scenario.model_copy(
            update={"name": "", "goal": scenario.goal.model_copy(update={"carbon_weight": 0.0})}
        )
        names = [name for name, each in firsts if each == plain]
        if not names:
            firsts.append((scenario.name, plain))
        found[scenario.name] = names[0] if names else scenario.name
    return found


def _called(found: RunFound, scenario: str) -> RunFound:
    """The same run under the name of a scenario in which it comes out the same."""
    rows = [row | {"scenario": scenario} for row in found.days]
    return replace(found, row=found.row | {"scenario": scenario}, days=rows)


def _with_savings(group: list[RunFound]) -> list[RunFound]:
    """The runs of one scenario with what each saves against EASY."""
    easy = next((each.row for each in group if each.row["kind"] == "policy" and each.row["method"] == EASY.name), None)
    return [replace(each, row=with_saving(each.row, easy)) for each in group]


def _compared(
    asked: AskedRuns, found: Sequence[RunFound], base: tuple[str, str | None], invest_eur: float | None
) -> dict[str, Any]:
    scenarios = asked.scenarios
    days = [day for each in found for day in each.days]
    members = [row for each in found for row in each.members] if asked.by_member else None
    runs = [with_difference(each.row, _base_row(each, found, base)) for each in found]
    pairs = _pairs(asked, found, days)
    pairs = pairs if members is None else [with_members(pair, members) for pair in pairs]
    pairs = pairs if invest_eur is None else [with_payback(pair, invest_eur) for pair in pairs]
    return {
        "format": FORMAT,
        "answer": answer_of(pairs, scenarios[0].currency, invest_eur),
        "pairs": pairs,
        "baseline": ":".join(part for part in base if part),
        "currency": scenarios[0].currency,
        "from": asked.span[0].isoformat(),
        "to": asked.span[1].isoformat(),
        "scenarios": {scenario.name: scenario.description for scenario in scenarios},
        "notes": _notes(scenarios, holds=any(each.row["delayed"] is not None for each in found)) + _once(asked),
        "runs": runs,
        "days": days,
        **({} if members is None else {"members": members}),
    }


def _base_row(each: RunFound, found: Sequence[RunFound], base: tuple[str, str | None]) -> Row | None:
    """What a run is held against: the named run, or the run of the same kind in the scenario of the baseline."""
    scenario, method = base
    rows = [other.row for other in found if other.row["scenario"] == scenario]
    if method is not None:  # of a policy and a method of one name, such as hold, the plan
        rows.sort(key=lambda row: row["kind"] != "plan")
        return next((row for row in rows if row["method"] == method), None)
    own = (each.row["method"], each.row["kind"])
    return next((row for row in rows if (row["method"], row["kind"]) == own), None)


def _pairs(asked: AskedRuns, found: Sequence[RunFound], days: Sequence[Row]) -> list[Row]:
    """Like with like: every run with its own in what its scenario is held against, or of one scenario with EASY."""
    by_key = {(each.row["scenario"], each.row["method"], each.row["kind"]): each for each in found}
    by_name = {scenario.name: scenario for scenario in asked.scenarios}
    easy = by_key.get((asked.base, "easy", "policy"))
    likes = asked.likes()
    pairs = []
    for each in found:
        row, scenario = each.row, by_name[each.row["scenario"]]
        if len(by_name) == 1 and easy is not None and easy is not each:
            pairs.append(pair_of(easy.row, row, days, easy.row, (scenario, scenario)))
        elif (like := likes.get(scenario.name)) is not None:
            own = by_key.get((like.name, row["method"], row["kind"]))
            if own is not None:
                pairs.append(pair_of(own.row, row, days, own.under.get(scenario.name), (like, scenario)))
    return pairs


def _but_for_goal(scenario: Scenario) -> Scenario:
    return scenario.model_copy(update={"name": "", "goal": None})


def _once(asked: AskedRuns) -> list[str]:
    """What is said of runs that came out the same, and were run once, as no weight of carbon changes them."""
    if all(name == twin for name, twin in _twins(asked.scenarios).items()):
        return []
    names = [each.name for each in asked.policies if not each.needs_prices]
    names += [name for name in asked.methods if name in WITHOUT_CARBON]
    return [f"{', '.join(names)} do not heed goal.carbon_weight: run once for all weights."]


def _notes(scenarios: Sequence[Scenario], *, holds: bool) -> list[str]:
    """On what footing plans and policies stand; named by scenarios where these differ."""
    found = {scenario.name: _footing(scenario, holds=holds) for scenario in scenarios}
    first = next(iter(found.values()))
    if all(notes == first for notes in found.values()):
        return first
    return [f"{name}: {note}" for name, notes in found.items() for note in notes]


def _footing(scenario: Scenario, *, holds: bool) -> list[str]:
    rules = scenario.rules
    if scenario.outages:
        return ["Nodes are out of service, which policies do not know of, so that none is replayed."]
    length = "runs as long as it asked" if rules.execute == "requested" else "ends at its real runtime"
    promise = (
        f"; hold may hold a job for at most {(rules.max_delay_s or 0) / 3600:g} h (rules.max_delay)" if holds else ""
    )
    return [
        f"In plans and policies alike every job {length} (rules.execute: {rules.execute}).",
        f"Policies expect runtimes as {rules.estimate} (rules.estimate){promise}.",
    ]


def _require_comparable(scenarios: Sequence[Scenario], methods: Sequence[str]) -> None:
    names = [scenario.name for scenario in scenarios]
    for what, given in (("scenario", names), ("method", list(methods))):
        twice = next((name for name in given if given.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"{what} {twice} is given twice; give each once")
    currencies = {scenario.currency for scenario in scenarios}
    if len(currencies) > 1:
        raise InputError(f"the scenarios count in {' and '.join(sorted(currencies))}; compare those of one currency")


def _baseline(
    given: str | None, scenarios: Sequence[str], methods: Sequence[str], policies: Sequence[str]
) -> tuple[str, str | None]:
    scenario, _, method = (given or scenarios[0]).partition(":")
    if scenario not in scenarios:
        raise InputError(f"the baseline {scenario!r} is not compared; choose one of {', '.join(scenarios)}")
    if method and method not in (*methods, *policies):
        known = ", ".join((*methods, *policies))
        raise InputError(f"the baseline's method {method!r} is not compared; choose one of {known}")
    return scenario, method or None


def _name_of(scenarios: Sequence[Scenario], methods: Sequence[str]) -> str:
    """A folder's name for what is compared."""
    name = "+".join([*(scenario.name for scenario in scenarios), *methods])
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _span(first: dt.date, last: dt.date) -> str:
    return first.isoformat() if first == last else f"{first}_{last}"


def _write(content: dict[str, Any], folder: Path) -> None:
    """Put the tables and the page beside the days, all in one step."""
    with renewed(folder) as fresh:
        for name in ("members", "pairs", "runs", "days"):
            (fresh / f"{name}.csv").unlink(missing_ok=True)  # of an earlier comparison that had others
            if content.get(name):
                write_rows(content[name], fresh / f"{name}.csv")
        put(fresh / "compare.json", encoded(json.dumps(content, indent=2, ensure_ascii=False) + "\n"))
        put(fresh / "compare.html", encoded(compare_page(content)))
