"""Whether a written day is what its plan gives, and whether its inputs are what they were."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from planner.accounting.promises import promises_of
from planner.domain.plan import Deferral
from planner.domain.result import Promises
from planner.places import full_path
from planner.printable import one_line
from planner.store.provenance import changed
from planner.store.read_day import WrittenDay
from planner.store.read_tables import unix_of
from planner.store.write_day import figures
from planner.store.write_tables import Table, deferred_table, kind_of, schedule_table, segment_table
from planner.text_files import digest

_TOLERANCE = 2e-6
"""Numbers are written with six digits, so that the last one may differ between machines."""


def disagreements(written: WrittenDay) -> list[str]:
    """Everything in the files that the plan does not give, each as a line; none is the only good answer.

    Names, reasons and counts of deferral, the rows of rejected jobs and how the search went do not follow from the
    plan: the SHA-256 of every file in run.json, and the seal on that, show whether anybody changed them.
    """
    problem, plan, tables, ledger = written.problem, written.plan, written.tables, written.ledger
    kinds = tables["deferred"].column("kind")
    expected = {
        "schedule": schedule_table(problem, plan, ledger, written.happened),
        "deferred": _deferred(written),
        "segments": segment_table(problem, ledger),
    }
    found = [
        f"{written.folder / name}.csv: {line}"
        for name in expected
        for line in _between(tables[name], expected[name].like(tables[name]))
    ]
    refused, withdrawn = kinds.count("rejected"), kinds.count("withdrawn")
    given = asdict(figures(written.happened, plan, ledger, rejected=refused, withdrawn=withdrawn))
    summary = written.folder / "summary.json"
    found += [f"{summary}: {line}" for line in _unlike(written.summary.as_dict(), given)]
    found += [f"{summary}: {line}" for line in _promises(written)]
    return found + [f"{path}: {what}" for path, what in changed(written.folder, written.run)]


def _promises(written: WrittenDay) -> Iterator[str]:
    """Where the summary says other things about promises than starts and promises in the tables give."""
    stated, given = written.summary.promises, promises_of(written.problem, written.plan, _later_starts(written))
    if stated is None or given is None:
        if stated is not given:
            yield "promises are in the summary or in the tables, not in both"
        return
    yield from _unlike(_counted(stated), _counted(given), "promises.")


def _counted(promises: Promises) -> dict[str, float]:
    """The numbers of promises, and by how much each broken one is late."""
    late = {f"broken.{each.job_id}": each.late_s for each in promises.broken}
    numbers = {name: value for name, value in asdict(promises).items() if name != "broken"}
    return numbers | {"broken": len(promises.broken)} | late


def changed_since(written: WrittenDay) -> list[str]:
    """What the day rests on and no longer is as it was read: inputs, and the day before; the plan itself holds."""
    was = dict(written.run["inputs"])
    before = written.run["continues"]
    if before is not None:
        earlier = full_path(written.folder).parent / Path(before.get("day", "")).name
        was |= {str(earlier / Path(name).name): seal for name, seal in before.items() if name != "day"}
    return [path for path, seal in was.items() if _digest(path) != seal]


def _digest(path: str) -> str | None:
    try:
        return digest(Path(path)) if Path(path).is_file() else None
    except (OSError, ValueError):  # not ours to read, or a name that no file can have
        return None


def _later_starts(written: WrittenDay) -> dict[str, int]:
    """When jobs are to start that do not start on the day [s], where it is known."""
    table = written.tables["deferred"]
    planned = zip(table.column("job_id"), table.column("planned_start"), strict=True)
    return {job_id: written.problem.horizon.to_s(unix_of(text)) for job_id, text in planned if text}


def _deferred(written: WrittenDay) -> Table:
    """The deferred jobs as they would be written, with the reasons and rejected rows of the file."""
    table = written.tables["deferred"]
    jobs, later = {job.id: job for job in written.problem.jobs}, _later_starts(written)
    cells = (table.column(name) for name in ("job_id", "kind", "reason", "times_deferred"))
    ours = [
        (jobs[job_id], Deferral(job_id, "deferred", reason, int(times), later.get(job_id)))
        for job_id, kind, reason, times in zip(*cells, strict=True)
        if kind == "deferred"
    ]
    again = deferred_table(written.problem.horizon, ours).like(table)
    others = zip(table.rows, table.column("kind"), strict=True)
    return Table(table.columns, again.rows + tuple(row for row, kind in others if kind != "deferred"))


def _between(stated: Table, given: Table) -> Iterator[str]:
    for row, again in zip(stated.rows, given.rows, strict=True):
        if row[0] != again[0]:
            yield f"the row of {one_line(row[0], 40)} stands where {one_line(again[0], 40)} belongs"
            return
        for column, cell, right in zip(stated.columns, row, again, strict=True):
            if cell != right and not (kind_of(column) == "number" and _close(cell, float(right))):
                stated_text, given_text = one_line(cell, 60) or "empty", one_line(right, 60) or "nothing"
                yield f"{one_line(row[0], 40)}: {column} is {stated_text}, the plan gives {given_text}"


def _unlike(stated: Mapping[str, Any], given: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _unlike(stated[name], value, f"{prefix}{name}.")
        elif not _close(stated.get(name), value):
            yield f"{prefix}{name} is {stated.get(name)}, the plan gives {value}"


def _close(stated: object, given: float) -> bool:
    try:
        return math.isclose(float(str(stated)), given, rel_tol=1e-9, abs_tol=_TOLERANCE)
    except ValueError:
        return False
