"""The cells of the study: one policy on one site at one tariff and load. Which of them the study runs by default."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from planner.errors import InputError

CURIE, SAMPLE = "curie", "sample"
TARIFFS = {CURIE: ("fr-2012", "flat", "de-2021", "de-2022"), SAMPLE: ("bands", "flat")}
"""Tariffs by site; the first is the one on which all policies are compared."""

AS_IS = "as-is"
LOADS = {CURIE: (AS_IS, "0.7", "0.9", "1.1", "1.45"), SAMPLE: (AS_IS,)}
"""Loads by site: work submitted as a part of what the machine can do on the days of submission."""

OVERLOAD = 1.2
"""From this load on the machine is full for days, and what counts is how well a policy packs."""

RULES = ("easy", "easy-sjbf", "conservative", "list")
"""Policies that know no prices, so that one replay serves all tariffs."""
STATIC = ("static", "static-ahead")
"""Day plans made at midnight and carried out: of the jobs submitted by then, or of the coming day's too."""
HOLD = "hold"
MAX_DELAYS_H = (0, 2, 6, 12, 24)
FEW_H = (6, 24)
"""Promises at other tariffs and loads."""
KNOWN, KNOWN_H = "actual", (6, 12, 24)
"""Holding that knows how long jobs run: what is lost beside it is lost to not knowing that."""


@dataclass(frozen=True, order=True)
class SiteGroup:
    """A site with its tariff and load: what policies are compared on."""

    site: str
    tariff: str
    load: str = AS_IS

    @property
    def name(self) -> str:
        """Its name, such as ``curie/fr-2012/as-is``."""
        return f"{self.site}/{self.tariff}/{self.load}"


@dataclass(frozen=True)
class Cell:
    """One replay; ``max_delay_h`` is how long ``hold`` may hold a job [h]."""

    group: SiteGroup
    policy: str
    estimate: str = "requested"
    max_delay_h: int | None = None

    @property
    def label(self) -> str:
        """The policy in a word or two: ``easy``, ``hold-6h``."""
        return self.policy if self.max_delay_h is None else f"{self.policy}-{self.max_delay_h}h"

    @property
    def name(self) -> str:
        """Its name, such as ``curie/fr-2012/as-is/hold-6h/requested``."""
        return f"{self.group.name}/{self.label}/{self.estimate}"

    @property
    def heeds_prices(self) -> bool:
        """Whether the tariff can change what it does."""
        return self.policy not in RULES


def baseline_of(group: SiteGroup) -> Cell:
    """The cell that all others of a group are compared with."""
    return Cell(group, "easy")


def cells_of(
    group: SiteGroup,
    *,
    rules: Sequence[str] = RULES,
    max_delays_h: Sequence[int] = MAX_DELAYS_H,
    full: bool = False,
) -> list[Cell]:
    """The cells of a group; ``full`` has predicted and known runtimes and static plans too."""
    cells = [Cell(group, name) for name in rules]
    cells += [Cell(group, HOLD, max_delay_h=hours) for hours in max_delays_h]
    if full:
        cells += [Cell(group, "easy", "last2"), *(Cell(group, name) for name in STATIC)]
        cells += [Cell(group, HOLD, "last2", hours) for hours in max_delays_h]
        cells += [Cell(group, HOLD, KNOWN, hours) for hours in KNOWN_H]
    return cells


def default_cells(sites: Sequence[str] = (CURIE, SAMPLE)) -> list[Cell]:
    """All policies where prices change and the load is as it is; a few at every other tariff and load."""
    cells: list[Cell] = []
    for site in sites:
        main = SiteGroup(site, TARIFFS[site][0])
        cells += cells_of(main, full=site == CURIE)
        if site != CURIE:
            cells += [Cell(main, name) for name in STATIC]
        for tariff in TARIFFS[site][1:]:
            cells += cells_of(SiteGroup(site, tariff), rules=("easy",), max_delays_h=FEW_H)
        for load in LOADS[site][1:]:
            rules = RULES if float(load) >= OVERLOAD else ("easy",)
            cells += cells_of(SiteGroup(site, main.tariff, load), rules=rules, max_delays_h=(0, *FEW_H))
    return cells


def every_cell(sites: Sequence[str] = (CURIE, SAMPLE)) -> list[Cell]:
    """Every policy at every tariff and load."""
    groups = [SiteGroup(site, tariff, load) for site in sites for load in LOADS[site] for tariff in TARIFFS[site]]
    return [cell for group in groups for cell in cells_of(group, full=True)]


def quick_cells() -> list[Cell]:
    """Two policies on the sample site."""
    group = SiteGroup(SAMPLE, "bands")
    return [baseline_of(group), Cell(group, HOLD, max_delay_h=6)]


def chosen(cells: Iterable[Cell], patterns: Sequence[str]) -> list[Cell]:
    """The cells whose names fit any of some patterns, each with the baseline of its group; all without patterns."""
    offered = list(cells)
    taken = [cell for cell in offered if not patterns or any(fnmatchcase(cell.name, each) for each in patterns)]
    if not taken:
        known = ", ".join(dict.fromkeys(cell.group.name for cell in offered))
        raise InputError(
            f"no cell of the study fits {', '.join(patterns)}; write GROUP/POLICY/ESTIMATE such as"
            f" 'curie/fr-2012/as-is/hold-*/requested', with one of the groups {known}"
        )
    groups = list(dict.fromkeys(cell.group for cell in taken))
    return list(dict.fromkeys(cell for group in groups for cell in (baseline_of(group), *_in(group, taken))))


def _in(group: SiteGroup, cells: Iterable[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.group == group]
