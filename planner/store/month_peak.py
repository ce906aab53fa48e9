"""The peak of a month before each of its days, by the days of the folder as they stand now.

A day is charged for what it draws above it. The days of a month may be booked in any order, and booked again: what a
day was charged from is then no longer what the days before it leave.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from planner.domain.rates import Rates
from planner.domain.situation import SiteState
from planner.errors import InputError
from planner.store.read_json import made, read_run, read_summary

_DIGIT_KW = 1e-6
"""Peaks in a summary have six digits."""


@dataclass(frozen=True)
class _Day:
    """A written day: the peak of the month that it began with, the one that its scenario gives, and its own [kW].

    ``is_charged``: it is booked, and pays for what is above the peak of the month.
    """

    day: dt.date
    so_far_kw: float
    given_kw: float
    own_kw: float
    is_charged: bool

    def peak_before(self, peak_kw: float) -> float:
        """The peak before it, with the one of the days before: it may have begun anew, from what its scenario gives."""
        return max(peak_kw, self.given_kw) if self.so_far_kw == self.given_kw else peak_kw

    def is_charged_as_after(self, peak_kw: float) -> bool:
        """Whether it pays what it would after another peak of the month."""
        above = [max(0.0, self.own_kw - before_kw) for before_kw in (self.so_far_kw, peak_kw)]
        return not self.is_charged or math.isclose(*above, rel_tol=0.0, abs_tol=_DIGIT_KW)


def with_peak_before(state: SiteState | None, folder: Path, day: dt.date) -> SiteState | None:
    """What a day begins with, with the peak that the days of its month before it leave, where there are any."""
    days = [each for each in _days(folder, day) if each.day <= day]
    before = [each for each in days if each.day < day]
    if not before:
        return state
    peak_kw = before[0].so_far_kw
    for each in days:
        peak_kw = max(each.peak_before(peak_kw), each.own_kw if each.day < day else 0.0)
    last = SiteState(before[-1].day, peak_kw)
    return last if state is None else replace(state, day=last.day, peak_kw=peak_kw)


def wrongly_charged(folder: Path, month: dt.date) -> tuple[dt.date, ...]:
    """The booked days of a month, given by any day of it, that pay for another peak than they do by the days before."""
    days, found = list(_days(folder, month)), []
    peak_kw = days[0].so_far_kw if days else 0.0
    for each in days:
        peak_kw = each.peak_before(peak_kw)
        if not each.is_charged_as_after(peak_kw):
            found.append(each.day)
        peak_kw = max(peak_kw, each.own_kw)
    return tuple(found)


def charge_remark(days: Iterable[dt.date]) -> str:
    """What is wrong with days that were charged so, and what to do; empty where there are none."""
    named = [day.isoformat() for day in days]
    if not named:
        return ""
    one = len(named) == 1
    return (
        f"the demand charge of {', '.join(named)} is wrong: the days before {'it' if one else 'them'} have changed the"
        f" peak of the month since; book {'it' if one else 'them, in this order,'} again with plan book --rebook"
    )


def _days(folder: Path, month: dt.date) -> Iterator[_Day]:
    """The days of a month that are written in a folder of days and can be read, in their order."""
    for path in sorted(folder.glob(f"{month:%Y-%m}-??")):
        try:
            day = dt.date.fromisoformat(path.name)
            run, summary = read_run(path), read_summary(path)
        except (InputError, ValueError):  # what is damaged is told where it is read for its own sake
            continue
        if "rates" not in run or "left" not in run:
            continue
        rates, left = made(Rates, run["rates"]), made(SiteState, run["left"])
        demand = run["scenario"]["demand"]
        is_of_month = demand.get("period") == "month" and rates.demand_eur_per_kw > 0
        yield _Day(
            day,
            rates.demand_so_far_kw,
            demand.get("peak_kw", 0.0),
            left.peak_kw if left.peak_kw > rates.demand_so_far_kw else summary.peak_kw,
            is_of_month and summary.booked is not None,
        )
