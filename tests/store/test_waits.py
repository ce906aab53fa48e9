"""Claims about waits: from when a job could first start, over several days."""

from __future__ import annotations

import datetime as dt

from planner.domain.horizon import Horizon
from planner.store.read_tables import Came, take_in, waits_of
from planner.store.write_tables import Table

DAY = Horizon(dt.date(2024, 6, 2), "UTC")
COLUMNS = ("job_id", "submit_time", "start_s", "end_s", "begin_time", "dependency")
FIRST = Table(COLUMNS[:4], (("early", "2024-06-01T00:00:00+00:00", "0", str(36 * 3600)),))
HOURS = {
    # submitted 12 h before midnight, started at 14:00
    "alone": ("", "", 26),
    "asked for 10:00": ("2024-06-02T10:00:00+00:00", "", 4),
    "asked for an hour that was gone": ("2024-06-01T08:00:00+00:00", "", 26),
    "after the end of one of the day before, at noon": ("", "afterok:early", 2),
    "with one of the day before, which was there first": ("", "after:early", 26),
    "after one of today, which ends at 13:00": ("", "afterany:alone of one hour", 1),
    "after one that no day has": ("", "afterok:forgotten", 14),
    "after several, the last at 13:00": ("", "afterok:early,afterok:alone of one hour,afterok:forgotten", 1),
}


def test_waits_by_hand() -> None:
    """The later of submission, the begin that was asked for and the jobs that come first counts, and never below 0."""
    came: Came = {}
    take_in(came, FIRST, Horizon(dt.date(2024, 6, 1), "UTC"))
    rows = [
        (name, "2024-06-01T12:00:00+00:00", str(14 * 3600), str(15 * 3600), begin, needed)
        for name, (begin, needed, _) in HOURS.items()
    ]
    rows.append(("alone of one hour", "2024-06-02T12:00:00+00:00", str(12 * 3600), str(13 * 3600), "", ""))
    rows.append(("too soon", "2024-06-02T00:00:00+00:00", "0", "60", "2024-06-02T10:00:00+00:00", ""))
    found = waits_of(Table(COLUMNS, tuple(rows)), DAY, came)
    assert dict(zip(HOURS, (found / 3600).tolist(), strict=False)) == {
        name: hours for name, (*_, hours) in HOURS.items()
    }
    assert found[-2:].tolist() == [0, 0]
    assert waits_of(FIRST, Horizon(dt.date(2024, 6, 1), "UTC"), {}).tolist() == [0]
