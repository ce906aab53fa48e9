"""What energy costs over the time of a trace: as it turns out, and as far as it is known at a moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.limits import DAY_S

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


QUARTER_S = 900
QUARTERS_PER_DAY = DAY_S // QUARTER_S

DAYS_LIKE_IT = 3
"""A quarter of an hour that is not known yet is expected to be as on the last so many days that are."""

DAYS_BEFORE = 21
"""How far back days are looked for that are like one to come: so many hold three Sundays."""

WORKING_DAYS = 5
EPOCH_WEEKDAY = 3
"""1 January 1970 was a Thursday."""


@dataclass(frozen=True, eq=False)
class EnergyCosts:
    """What a kWh of work costs in every quarter of an hour, and from when on that is known.

    The first quarter begins at ``first_unix``. ``eur_per_kwh`` is the price of electricity with its fees and its
    carbon, ``cooled`` a kWh of work and its cooling as a multiple of the work alone, which is known when its time has
    come; both are NaN where nobody knows them.
    """

    first_unix: int
    eur_per_kwh: Floats
    known_from_unix: Ints
    cooled: Floats

    def known_at(self, now_unix: int, count: int) -> Floats:
        """What a kWh of work costs in so many quarters from that of a moment on, as far as is known then [EUR].

        What is not known yet is expected to be as in the same quarter of the last days that are known: a price as on
        days of its kind, of which there are working days, Saturdays and Sundays.
        """
        first = (now_unix - self.first_unix) // QUARTER_S
        places = np.arange(first, first + count)
        is_price_known = (self.known_from_unix <= now_unix) & ~np.isnan(self.eur_per_kwh)
        has_come = (np.arange(len(self.cooled)) <= first) & ~np.isnan(self.cooled)
        expected, _ = _expected(self.eur_per_kwh, is_price_known, places)
        kind, kinds = self._kind_of(places), self._kind_of(np.arange(len(self.eur_per_kwh)))
        for each in np.unique(kind).tolist():
            of_kind = np.flatnonzero(kind == each)
            found, is_told = _expected(self.eur_per_kwh, is_price_known & (kinds == each), places[of_kind])
            expected[of_kind[is_told]] = found[is_told]
        return expected * _expected(self.cooled, has_come, places)[0]

    def _kind_of(self, places: Ints) -> Ints:
        """Of which kind the day of each quarter is: 0 for working days, 5 and 6 for Saturdays and Sundays."""
        half_a_day_s = DAY_S // 2
        local_s = self.first_unix - (self.first_unix + half_a_day_s) % DAY_S + half_a_day_s + QUARTER_S * places
        weekday: Ints = (local_s // DAY_S + EPOCH_WEEKDAY) % 7
        return np.where(weekday < WORKING_DAYS, 0, weekday)


def _expected(values: Floats, is_known: Flags, places: Ints) -> tuple[Floats, Flags]:
    """Values at some places where they are known, else the mean over the last known days; and where there was one.

    Elsewhere it is the mean over all.
    """
    known = np.flatnonzero(is_known)
    if not len(known):
        return np.zeros(len(places)), np.zeros(len(places), dtype=np.bool_)
    inside = (places >= 0) & (places < len(values))
    at = np.clip(places, 0, len(values) - 1)
    is_told = inside & is_known[at]
    found = np.full(len(places), float(values[known].mean()))
    found[is_told] = values[at[is_told]]
    open_places = np.flatnonzero(~is_told)
    total, seen = np.zeros(len(open_places)), np.zeros(len(open_places))
    for back in range(1, len(values) // QUARTERS_PER_DAY + 1):
        place = places[open_places] - back * QUARTERS_PER_DAY
        usable = (place >= 0) & (place < len(values)) & (seen < DAYS_LIKE_IT)
        usable[usable] = is_known[place[usable]]
        total[usable] += values[place[usable]]
        seen[usable] += 1
        if (seen >= DAYS_LIKE_IT).all():
            break
    found[open_places] = np.where(seen > 0, total / np.maximum(seen, 1), found[open_places])
    is_told[open_places] = seen > 0
    return found, is_told
