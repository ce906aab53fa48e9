"""A slice of the small days; ``python -m tests.small_days --count 500`` checks many more."""

from __future__ import annotations

import pytest

from tests.small_days.days import check_day, lost_share


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("block", range(3))
def test_search_optimum_and_bound_are_in_order_and_nothing_that_fits_is_rejected(block: int) -> None:
    """Five days a block: the chain holds, every plan is clean, and the search loses at most half a percent in all."""
    days = [check_day(seed) for seed in range(5 * block, 5 * block + 5)]
    assert [(day.seed, day.broken) for day in days if day.broken] == []
    assert lost_share(days) <= 0.005


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("block", range(3))
def test_the_same_with_contracts_and_machines_as_sites_have_them(block: int) -> None:
    """Fees, feed-in, prices by class and resource, a peak so far, sleeping nodes and a battery, as chance has it."""
    days = [check_day(seed, contracts=True) for seed in range(5 * block, 5 * block + 5)]
    assert [(day.seed, day.broken) for day in days if day.broken] == []
    assert lost_share(days) <= 0.005


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("block", range(3))
def test_the_chain_holds_where_cooling_is_linear_between_cells(block: int) -> None:
    """The same at temperatures between the table's columns, with rows between those of the table."""
    days = [check_day(seed, linear=True) for seed in range(5 * block, 5 * block + 5)]
    assert [(day.seed, day.broken) for day in days if day.broken] == []
    assert lost_share(days) <= 0.005


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("block", range(3))
def test_jobs_battery_and_peak_are_planned_together(block: int) -> None:
    """Every day has a battery, a demand charge and sun; each is planned to within half a percent of the best plan."""
    days = [check_day(seed, storage=True) for seed in range(5 * block, 5 * block + 5)]
    assert [(day.seed, day.broken) for day in days if day.broken] == []
    far = [day.seed for day in days if day.optimum_eur - day.harvest_eur > 0.005 * abs(day.optimum_eur) + 1e-9]
    assert [seed for seed in far if days[seed - 5 * block].is_held] == []


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("block", range(3))
def test_the_chain_holds_for_what_a_night_maximises(block: int) -> None:
    """Waiting counts, and later time in full, by half or nothing; half the days with contracts, some with a battery."""
    days = [check_day(seed, waits=True, contracts=seed % 2 == 0) for seed in range(5 * block, 5 * block + 5)]
    assert [(day.seed, day.broken) for day in days if day.broken] == []
    assert lost_share(days) <= 0.005
