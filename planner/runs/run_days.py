"""Rolling days: each planned from what the day before left, with nothing ever lost between them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.domain.day_summary import JobCounts
from planner.domain.horizon import Horizon
from planner.errors import AuditError, FileFormatError, InputError
from planner.methods import Params
from planner.pages.index import write_index
from planner.runs.one_day import DoneDay, do_day, ground_of, require_order, require_unbooked, run_facts
from planner.scenario.schema import Scenario
from planner.store.folder import clear_left_overs
from planner.store.provenance import SAME, changed, hashes
from planner.store.read_json import read_run, read_summary
from planner.store.read_last_plan import LastPlan, read_last_plan

MOST_DAYS = 3660


@dataclass
class Balance:
    """All jobs that ever came in, and what became of them: in = finished + running + waiting + rejected.

    ``refused`` are jobs that the last day rejected and the next one will again, because others wait for them.
    """

    came_in: int = 0
    finished: int = 0
    running: int = 0
    waiting: int = 0
    rejected: int = 0
    refused: int = 0

    @classmethod
    def opening(cls, last: LastPlan | None) -> Balance:
        """The balance with which a run begins: what an earlier day left."""
        if last is None:
            return cls()
        running, waiting = len(last.running), len(last.deferred)
        return cls(running + waiting, 0, running, waiting, refused=len(last.refused))

    def add(self, day: dt.date, jobs: JobCounts, left: LastPlan) -> None:
        """Add a day by its summary and by what its files leave; AuditError when a job was lost or doubled."""
        if jobs.carried_in != self.running:
            raise AuditError(f"{day} began with {jobs.carried_in} running jobs, the day before left {self.running}")
        self.came_in += jobs.known - self.waiting - self.refused
        self.finished += jobs.finished
        self.rejected += jobs.rejected - self.refused
        self.running, self.waiting, self.refused = len(left.running), len(left.deferred), len(left.refused)
        if (self.running, self.waiting) != (jobs.running, jobs.deferred):
            raise AuditError(f"{day} hands over {self.running} running and {self.waiting} waiting jobs, not as it says")
        told = self.finished + self.running + self.waiting + self.rejected
        if self.came_in != told:
            raise AuditError(f"after {day} {self.came_in} jobs have come in, but {told} are accounted for")


def run_days(
    scenario: Scenario,
    params: Params,
    first: dt.date,
    last: dt.date,
    folder: Path,
    *,
    until_empty: bool = False,
    fresh: bool = False,
) -> Iterator[DoneDay]:
    """Plan and write days one after another, in folders named by them; each is handed out when it is written.

    The first day continues from the result of the day before it where there is one, unless ``fresh``. Days that an
    earlier run has already written from the same ground are kept. ``until_empty`` goes on after the last day, without
    new jobs, until nothing runs or waits. BookedError, before anything is written, when one of the days is booked,
    unless it may be planned again.
    """
    require_order(first, last)
    last_plan = None if fresh else ground_of(folder, scenario, first)
    balance = Balance.opening(last_plan)
    horizon = Horizon(first, scenario.zone)
    index_is_due = False
    if not params.rebook:
        for offset in range((last - first).days + 1):
            require_unbooked(folder / (first + dt.timedelta(days=offset)).isoformat())
    clear_left_overs(folder)
    try:
        while horizon.day <= last or (until_empty and last_plan is not None and last_plan.leaves_work):
            closed = horizon.day > last
            target = folder / horizon.day.isoformat()
            kept = _kept(scenario, params, horizon.day, target, last_plan, closed=closed)
            done = kept or do_day(scenario, params, horizon.day, target, last_plan, closed=closed)
            index_is_due = kept is not None
            last_plan = read_last_plan(target, scenario, horizon)
            balance.add(horizon.day, done.summary.jobs, last_plan)
            yield done
            if closed:
                _require_progress(horizon, done, last_plan, (horizon.day - last).days)
            horizon = horizon.next_day()
    finally:
        # Whoever wrote a day that was kept may have been killed before it came to the index.
        if index_is_due and params.page:
            write_index(folder.parent)


def _kept(
    scenario: Scenario, params: Params, day: dt.date, target: Path, before: LastPlan | None, *, closed: bool
) -> DoneDay | None:
    """The day as an earlier run wrote it, when that run had the same ground and its files are whole."""
    if not target.is_dir():
        return None
    try:
        run, summary = read_run(target), read_summary(target)
    except FileFormatError:
        return None
    wanted = _plain(run_facts(scenario, params, before, closed=closed, inputs=hashes(scenario.files())))
    if any(run.get(key) != wanted[key] for key in SAME):
        return None
    if params.bound_time_s > 0 and summary.profit_bound_eur is None:
        return None
    return DoneDay(day, target, summary) if not any(changed(target, run)) else None


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    """As JSON would give it back."""
    import json

    plain: dict[str, Any] = json.loads(json.dumps(facts))
    return plain


def _require_progress(horizon: Horizon, done: DoneDay, left: LastPlan, days: int) -> None:
    jobs = done.summary.jobs
    is_ready = any(job.release_unix < horizon.end_unix for job in left.deferred)
    stuck = is_ready and not jobs.started and not jobs.carried_in
    if stuck or days > MOST_DAYS:
        raise InputError(
            f"the queue does not become empty: on {horizon.day} nothing ran and {jobs.deferred} jobs still wait; with"
            " rules.defer: free work that does not pay waits forever, and so does what waits for a job that never runs"
        )
