"""One day from its inputs to its folder: the step that nightly runs, rolling runs and comparisons have in common."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner.bounds import RUN_DAYS
from planner.defaults import BOUND_TIME_S, TIME_LIMIT_S
from planner.domain.day_summary import DaySummary
from planner.domain.horizon import Horizon
from planner.domain.result import Trial
from planner.errors import BookedError, InputError
from planner.inputs.build import Day, build_day
from planner.methods import LOOKING_AHEAD, Params, method_named
from planner.pages.day import day_page
from planner.pages.index import write_index
from planner.planning.ahead import with_days_ahead
from planner.planning.plan_day import PlannedDay, plan_day
from planner.scenario.schema import Scenario
from planner.store.continue_from import Previous, read_previous
from planner.store.folder import held
from planner.store.provenance import provenance
from planner.store.results import is_booked
from planner.store.write import require_formats, write_day


@dataclass(frozen=True)
class Settings:
    """How days are planned, whatever the day.

    ``bound_time_s`` 0 leaves the bound out; ``also`` are further formats to write; ``command`` is kept for provenance;
    ``page`` says whether every day gets its page, ``baselines`` whether it is compared with rules and EASY, ``rebook``
    that days which are booked may be written over.
    """

    scenario: Scenario
    method: str
    time_limit_s: float = TIME_LIMIT_S
    iterations: int | None = None
    workers: int = 0
    engine: str | None = None
    bound_time_s: float = BOUND_TIME_S
    also: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    page: bool = True
    baselines: bool = True
    rebook: bool = False

    def __post_init__(self) -> None:
        method_named(self.method)
        require_formats(self.also)

    def params(self, on_trial: Callable[[Trial], None] | None = None) -> Params:
        """What the method gets."""
        return Params(
            seed=self.scenario.seed,
            workers=self.workers,
            on_trial=on_trial,
            engine=self.engine,
            time_limit_s=self.time_limit_s,
            iterations=self.iterations,
            search=replace(self.scenario.search.params(), hold=self.scenario.hold.params()),
        )

    def run_facts(
        self, mark: Mapping[str, str] | None, *, closed: bool, files: tuple[Path, ...] = ()
    ) -> dict[str, Any]:
        """What run.json says about a day that continues from the one with this mark; ``files`` are further inputs."""
        return provenance(
            self.scenario,
            method=self.method,
            seed=self.scenario.seed,
            workers=self.params().worker_count,
            time_limit_s=self.time_limit_s,
            command=self.command,
            began=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            engine=self.engine,
            iterations=self.iterations,
            continues=mark,
            closed=closed,
            files=files,
        )


@dataclass(frozen=True)
class DoneDay:
    """A written day: its summary, and what was planned; None where an earlier run had already written it."""

    day: dt.date
    folder: Path
    summary: DaySummary
    planned: PlannedDay | None = None


def do_day(
    settings: Settings,
    day: dt.date,
    target: Path,
    previous: Previous | None,
    *,
    closed: bool = False,
    on_trial: Callable[[Trial], None] | None = None,
    on_bound: Callable[[float], None] | None = None,
    on_step: Callable[[str], None] | None = None,
    still_wanted: Callable[[], None] | None = None,
) -> DoneDay:
    """Plan a day from what the day before left and write its folder.

    ``closed``: no new jobs come in. ``still_wanted`` is called before anything is written, and may raise. BookedError
    when the day is booked, unless the settings say that it may be planned again. ``on_step`` is told what is done next.
    """
    facts = settings.run_facts(None if previous is None else previous.mark, closed=closed)
    with held(target):
        if not settings.rebook:
            require_unbooked(target)
        step = on_step or (lambda what: None)
        step("reading jobs, weather and prices")
        built: Day = build_day(settings.scenario, day, None if previous is None else previous.handover, closed=closed)
        if settings.method in LOOKING_AHEAD:
            built = with_days_ahead(built)
        planned = plan_day(
            built,
            settings.method,
            settings.params(on_trial),
            bound_time_s=settings.bound_time_s,
            with_baselines=settings.baselines,
            on_bound=on_bound,
            on_step=step,
        )
        step("writing the day")
        if still_wanted is not None:
            still_wanted()
        return written(settings, planned, target, facts)


def written(settings: Settings, planned: PlannedDay, target: Path, facts: dict[str, Any]) -> DoneDay:
    """Write a planned day, with its page and the index where pages are wanted; the caller holds the folder."""
    problem = planned.day.problem
    if settings.page:
        summary = write_day(planned, target, facts, settings.also, page=day_page)
        write_index(target.parent.parent)
    else:
        summary = write_day(planned, target, facts, settings.also)
    return DoneDay(problem.horizon.day, target, summary, planned)


def require_unbooked(target: Path) -> None:
    """BookedError when the folder of a day holds what really happened, which no plan must take the place of."""
    if is_booked(target):
        raise BookedError(f"{target} is booked; nothing is changed; to write it anew all the same, give --rebook")


def previous_of(folder: Path, scenario: Scenario, day: dt.date) -> Previous | None:
    """What the day before left in a folder of days; None when there is no result of it."""
    before = Horizon(day, scenario.zone).day_before()
    written = folder / before.day.isoformat()
    try:
        is_there = written.exists()
    except OSError:  # a name too long, say: writing there will report it
        return None
    return read_previous(written, scenario, before) if is_there else None


def ground_of(folder: Path, scenario: Scenario, day: dt.date) -> Previous | None:
    """What a day continues from; InputError when there are earlier days, but not the one before."""
    previous, earlier = previous_of(folder, scenario, day), last_before(folder, day)
    if previous is None and earlier is not None:
        after, before = earlier + dt.timedelta(days=1), day - dt.timedelta(days=1)
        raise InputError(
            f"{folder} has a result of {earlier} and none of {before}: what runs or waits would be lost;"
            f" plan run --from {after} --to {before} first, or start anew with --fresh"
        )
    return previous


def nightly_ground_of(folder: Path, scenario: Scenario, day: dt.date) -> Previous | None:
    """What one day by itself continues from: the same, but the sample's made-up jobs may begin anew after a gap."""
    is_sample = not isinstance(scenario.jobs.source, Path)
    return (previous_of if is_sample else ground_of)(folder, scenario, day)


def last_before(folder: Path, day: dt.date) -> dt.date | None:
    """The last day before a day that has a result in a folder of days."""
    found = []
    try:
        names = [path.name for path in folder.glob("*-*-*")]
    except OSError:  # a name too long, say: writing there will report it
        return None
    for name in names:
        try:
            found.append(dt.date.fromisoformat(name))
        except ValueError:
            continue
    return max((each for each in found if each < day), default=None)


def require_order(first: dt.date, last: dt.date) -> None:
    """InputError unless the first day comes before the last or is the same."""
    if last < first:
        raise InputError(f"the days run from {first} to {last}, backwards; give the earlier one with --from")
    RUN_DAYS.require(f"the number of days from {first} to {last}", (last - first).days + 1)
