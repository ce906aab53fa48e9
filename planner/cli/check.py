"""``plan check`` and ``plan audit``: look at inputs, and at what was written."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from planner.cli.day import DayOption, FreshOption, JobsOption, OutOption, ScenarioOption, SettingsOption
from planner.cli.terminal import say, say_json
from planner.errors import AuditError
from planner.runs.asked import open_scenario, parse_day


def check(
    date: DayOption = None,
    scenario: ScenarioOption = None,
    jobs: JobsOption = None,
    settings: SettingsOption = None,
    out: OutOption = Path("reports"),
    fresh: FreshOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Read every input of a day and say what would be planned; search nothing and write nothing.

    Without --day it is the day after the last result in OUT, or tomorrow where there is none.
    The cooling table must cover the plans of the simple rules, as in planning. The day before, where it has a result,
    is an input too: what runs or waits is carried over.
    """
    import time

    from planner.domain.horizon import Horizon
    from planner.inputs.build import build
    from planner.planning.baselines import rule_baselines
    from planner.runs.one_day import last_before, nightly_ground_of
    from planner.store.last_plan import situation_of
    from planner.store.verify import inputs_of, inputs_text

    resolved = open_scenario(scenario, tuple(settings or ()), jobs=jobs)
    if date is not None:
        day = parse_day(date, resolved.zone)
    else:
        last = None if fresh else last_before(out / resolved.name, dt.date.max)
        today = Horizon.of_unix(int(time.time()), resolved.zone).day
        day = (last or today) + dt.timedelta(days=1)
    previous = None if fresh else nightly_ground_of(out / resolved.name, resolved, day)
    horizon = Horizon(day, resolved.zone)
    built = build(resolved, horizon, *situation_of(resolved, horizon, previous))
    # Every planned day is set beside the simple rules; a cooling table that does not cover these is refused there too.
    rule_baselines(built.problem)
    if as_json:
        say_json(inputs_of(built, previous))
    else:
        say(inputs_text(built, previous))


def audit(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a written day.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Re-check a written plan against every rule, and every number in its CSV and JSON files against the plan.

    Every file must also be the one that the run wrote, by its SHA-256 in run.json. Exit code 5 when the plan breaks a
    rule or a file does not agree with it or was changed, 2 when a file is missing or damaged.
    """
    from planner.accounting.audit import require_clean
    from planner.accounting.audit_bills import require_bills
    from planner.store.read_day import read_day
    from planner.store.verify import changed_since, disagreements

    written = read_day(folder)
    require_clean(written.decided, written.plan, leaves_room=written.summary.leaves_room)
    require_bills(written.happened, written.ledger)
    wrong = disagreements(written)
    if wrong:
        raise AuditError(wrong[0] + (f" (+{len(wrong) - 1} more)" if len(wrong) > 1 else ""))
    totals = written.ledger.totals
    jobs = written.summary.jobs
    since = changed_since(written)
    if as_json:
        say_json(
            {"violations": [], "changed_since": since, "started": jobs.started, "totals": dict(totals.as_dict())},
        )
    else:
        say(
            f"{folder}: clean; {jobs.started:,} jobs started, {jobs.deferred:,} deferred,"
            f" profit {totals.profit_eur:,.2f}, as stated"
        )
        for path in since:
            say(f"  changed or gone since: {path}")
