"""Power models: fixed per core, or a draw that belongs to the job."""

from __future__ import annotations

import pytest

from planner.domain.job import UnitGroup
from planner.errors import InputError
from planner.inputs.jobs.power_models import drawn_per_core, per_core
from planner.power.learned import Asked


def asked(job_id: str, cores: int) -> Asked:
    """A job of one unit."""
    return Asked(job_id, (UnitGroup.of(1, {"cores": cores}),))


def test_per_core_multiplies() -> None:
    """10 W per core and 32 cores are 320 W."""
    assert per_core(10.0)(asked("any", 32)) == 320.0


def test_a_draw_depends_on_seed_and_id_only() -> None:
    """The same job draws the same in any order and company; another seed or id gives another draw."""
    first, second = drawn_per_core(seed=0), drawn_per_core(seed=0)
    forwards = [first(asked(str(k), 1)) for k in range(100)]
    backwards = [second(asked(str(k), 1)) for k in reversed(range(100))]
    assert forwards == backwards[::-1]
    assert len(set(forwards)) == 100
    assert drawn_per_core(seed=1)(asked("7", 1)) != forwards[7]


def test_a_draw_never_changes_between_releases() -> None:
    """The draw of job 1 under seed 0 is pinned: published studies must stay what they were."""
    assert drawn_per_core(0.0, 1.0, seed=0)(asked("1", 1)) == 0.9459165357046844


def test_draws_are_uniform_in_the_range_of_the_study() -> None:
    """20,000 draws stay in [7.8, 11.11) and have its mean 9.455 within four standard errors (0.027)."""
    power = drawn_per_core()
    draws = [power(asked(str(k), 1)) for k in range(20_000)]
    assert 7.8 <= min(draws) < 7.81
    assert 11.10 < max(draws) < 11.11
    assert sum(draws) / len(draws) == pytest.approx(9.455, abs=0.027)


def test_a_draw_is_times_the_cores() -> None:
    """64 cores draw 64 times what one core of the same job does."""
    power = drawn_per_core(seed=3)
    assert power(asked("a", 64)) == 64 * power(asked("a", 1))


def test_equal_bounds_are_a_fixed_power() -> None:
    """A range of one value gives that value."""
    assert drawn_per_core(9.0, 9.0)(asked("a", 2)) == 18.0


@pytest.mark.parametrize("bounds", [(11.0, 7.0), (-1.0, 2.0), (1.0, float("inf")), (float("nan"), 2.0)])
def test_bad_bounds_are_refused(bounds: tuple[float, float]) -> None:
    """Bounds that are swapped, negative or not finite are the user's to fix."""
    with pytest.raises(InputError, match="watts per core"):
        drawn_per_core(*bounds)
