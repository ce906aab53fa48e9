"""Claims about who goes first: what orderings count, how ties fall, and jobs that are due today."""

from __future__ import annotations

import numpy as np
import pytest

from planner.accounting.settle import settle
from planner.domain.plan import DEFERRED, Placement, Plan
from planner.search.decode import decode
from planner.search.multisearch import multisearch
from planner.search.orderings import job_order
from planner.search.tiers import Tiering, _any_tiering, _Facts
from planner.search.whole_plan_rules import without_losses
from tests.plain_day import HOUR, day, job


@pytest.mark.parametrize(("ordering", "first"), [("+units", "mixed"), ("-units", "equal")])
def test_the_units_ordering_counts_units(ordering: str, first: str) -> None:
    """Three equal units are more than two of different sizes, although they are one group and the others are two."""
    jobs = (job("equal", 1, units=[(3, 1)]), job("mixed", 1, units=[(1, 1), (1, 2)]))
    assert jobs[job_order(day(*jobs), ordering)[0]].id == first


def test_the_latest_start_ends_today_or_by_the_deadline() -> None:
    """8 h end today when they start by 16:00, 1 h by 23:00; 30 h that are due at 40:00 have to start by 10:00."""
    jobs = (job("short", 1), job("long", 8), job("longer", 30, due_s=40 * HOUR))
    # Whoever has to start today leads either way.
    assert job_order(day(*jobs), "+latest-start").tolist() == [2, 1, 0]
    assert job_order(day(*jobs), "-latest-start").tolist() == [2, 0, 1]


@pytest.mark.parametrize("names", [("+duration", "-duration"), ("-duration", "+duration")])
def test_ties_go_to_the_ordering_named_first(names: tuple[str, str]) -> None:
    """Both jobs fit at midnight: every sequence gives the same plan, and the first name is the one that is kept."""
    problem = day(job("short", 1, units=[(1, 2)]), job("long", 2, units=[(1, 2)]))
    result = multisearch(problem, orderings=names)
    assert result.trials[0].profit_eur == result.trials[1].profit_eur
    assert result.best_trial == names[0]


def test_a_loss_that_is_due_today_stays() -> None:
    """Both jobs earn nothing and cost 0.10 EUR; the one whose deadline falls on today must run all the same."""
    jobs = (job("due", 1, due_s=24 * HOUR, weight=0), job("later", 1, due_s=26 * HOUR, weight=0))
    problem = day(*jobs, nodes=2, defer="free")
    plan = decode(problem, job_order(problem, "+duration"))
    leaner, ledger = without_losses(problem, plan, settle(problem, plan))
    assert leaner.start_s.tolist() == [0, DEFERRED]
    assert ledger.profit_eur == pytest.approx(-0.1)


def test_a_latest_start_at_the_end_of_the_day_is_not_today() -> None:
    """Due at 25:00, a job of an hour may still start at 24:00: a loss is left out. Due a second before, it stays."""
    for due_s, start in ((25 * HOUR, DEFERRED), (25 * HOUR - 1, 0)):
        problem = day(job("a", 1, due_s=due_s, weight=0), defer="free")
        plan = Plan.of(problem, {"a": Placement("a", 0, (0,))})
        assert without_losses(problem, plan, settle(problem, plan))[0].start_s.tolist() == [start]


@pytest.mark.parametrize("width", [0.02, 100.0])
def test_tiers_put_jobs_that_are_due_today_first(width: float) -> None:
    """The small, ill-paid job leads every tiered order because it is due, and the one due sooner leads that one."""
    jobs = (
        job("large", 8),
        job("due", 1, units=[(1, 1)], due_s=9 * HOUR, weight=0.1),
        job("sooner", 1, units=[(1, 1)], due_s=8 * HOUR, weight=0.1),
    )
    order = _Facts.of(day(*jobs)).order(Tiering(10**9, width, 1.0, 1.0))
    assert [jobs[k].id for k in order] == ["sooner", "due", "large"]


def test_a_tier_puts_the_large_jobs_first() -> None:
    """In one wide tier size decides; in narrow ones the better paid job goes first, although it is small.

    The large job is 32 of the 96 core-hours of the day: a tier of a twentieth separates the two.
    """
    jobs = (job("small", 1, weight=2), job("large", 8))
    facts = _Facts.of(day(*jobs))
    assert facts.order(Tiering(10**9, 100.0, 1.0, 1.0)).tolist() == [1, 0]
    assert facts.order(Tiering(10**9, 0.05, 1.0, 1.0)).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("wide", "long", "first"),
    [(1.0, 1.0, "square"), (0.0, 1.0, "long"), (1.0, 0.0, "wide"), (0.0, -1.0, "wide"), (-1.0, 0.0, "long")],
)
def test_the_size_of_a_job_is_a_product_of_powers(wide: float, long: float, first: str) -> None:
    """Within a tier: 16 core-hours before 8 and 8; by time alone 8 h, by cores alone four, or the other way round."""
    jobs = (job("long", 8, units=[(1, 1)]), job("square", 8 - 1e-3, units=[(1, 2)]), job("wide", 2))
    order = _Facts.of(day(*jobs)).order(Tiering(10**9, 100.0, wide, long))
    assert jobs[order[0]].id == first


def test_tierings_are_drawn_from_the_whole_grid() -> None:
    """Five release stretches, thirteen widths and seven pairs of exponents, each of them now and then."""
    rng = np.random.default_rng(0)
    drawn = [_any_tiering(rng) for _ in range(500)]
    assert sorted({tiering.release_s for tiering in drawn}) == [1, 900, 3600, 14400, 1e9]
    widths = [0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 4.0, 100.0]
    assert sorted({tiering.width for tiering in drawn}) == widths
    sizes = [(-1, 0), (0, -1), (0, 1), (0.5, 1), (1, 0), (1, 0.5), (1, 1)]
    assert sorted({(tiering.wide, tiering.long) for tiering in drawn}) == sizes


def test_an_odd_unit_goes_to_the_lowest_of_equally_good_nodes() -> None:
    """A unit of one core costs a unit of four on any of three nodes: it takes the first, the others go behind it."""
    problem = day(job("a", 1, units=[(2, 4), (1, 1)]), nodes=3)
    assert decode(problem, job_order(problem, "+duration")).node_of_unit.tolist() == [1, 2, 0]
