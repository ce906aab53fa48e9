"""The sample workload against the published model of Lublin and Feitelson (2003)."""

import numpy as np
import pytest
from scipy import stats

from planner.inputs.jobs.lublin import CYCLE_WEIGHTS, draw_runtimes, draw_sizes, draw_submit_times

JOBS = 100_000


def test_a_quarter_of_the_jobs_is_serial() -> None:
    """The published share of serial jobs is 24.4 %."""
    sizes = draw_sizes(np.random.default_rng(1), JOBS, 128)
    # Standard error of a share near 1/4 over 100,000 draws is 0.0014.
    assert np.mean(sizes == 1) == pytest.approx(0.244, abs=0.006)


def test_most_parallel_jobs_are_powers_of_two() -> None:
    """57.6 % of all jobs are drawn as powers of two, and some of the others hit one by chance."""
    sizes = draw_sizes(np.random.default_rng(2), JOBS, 1024)
    share = np.mean((sizes > 1) & (sizes & (sizes - 1) == 0))
    assert 0.576 < share < 0.576 + 0.18 / 2


def test_sizes_of_the_published_machine_are_two_stage_uniform() -> None:
    """On 128 processors, log2 of the size is below the medium of 4.5 with probability 0.86."""
    sizes = draw_sizes(np.random.default_rng(3), JOBS, 128)
    parallel = sizes[sizes > 1]
    # Powers of two round: the stage [0.8, 4.5] ends at 2^4 for all but its part above 4.5, which is nothing.
    assert np.mean(parallel <= 2**4.5) == pytest.approx(0.86, abs=0.01)
    assert sizes.max() == 128


@pytest.mark.parametrize("largest", [1, 2, 3, 7, 128, 9600])
def test_no_size_leaves_the_machine(largest: int) -> None:
    """Sizes are between 1 and the machine's, for machines of any size."""
    sizes = draw_sizes(np.random.default_rng(4), 20_000, largest)
    assert sizes.min() == 1
    assert sizes.max() <= largest


def test_runtimes_of_serial_jobs_follow_the_hyper_gamma() -> None:
    """ln(runtime) of serial jobs is gamma(4.2, 0.94) with p = 0.7746 and gamma(312, 0.03) otherwise, below 12."""
    logs = np.log(draw_runtimes(np.random.default_rng(5), np.ones(JOBS, dtype=np.int64)))
    p = 0.78 - 0.0054
    short, long = stats.gamma(4.2, scale=0.94), stats.gamma(312, scale=0.03)

    def cdf(x: float) -> float:
        return float(p * short.cdf(x) + (1 - p) * long.cdf(x))

    for quantile in (0.1, 0.5, 0.9):
        assert cdf(np.quantile(logs, quantile)) / cdf(12.0) == pytest.approx(quantile, abs=0.01)
    assert logs.max() <= 12


def test_runtimes_of_wide_jobs_are_long() -> None:
    """Above 144 processors p is 0, so that ln(runtime) is gamma(312, 0.03), whose mean is 9.36."""
    logs = np.log(draw_runtimes(np.random.default_rng(6), np.full(20_000, 200)))
    assert logs.mean() == pytest.approx(312 * 0.03, abs=0.02)
    assert np.median(logs) == pytest.approx(float(stats.gamma(312, scale=0.03).median()), abs=0.02)


def test_the_day_is_the_published_gamma() -> None:
    """Half-hours 11 to 58 of gamma(8.1737, scale 3.9631), of which the 49th is again the first of the day."""
    buckets = np.arange(11, 59)
    shares = np.diff(stats.gamma(8.1737, scale=3.9631).cdf(np.append(buckets - 0.5, 58.5)))
    assert np.roll(shares / shares.sum(), 10) == pytest.approx(CYCLE_WEIGHTS, rel=1e-12)


def test_the_day_peaks_after_noon_and_is_quietest_before_dawn() -> None:
    """The published cycle peaks about 14:00 (mode of the gamma: half-hour 28.4) and turns about 5:00."""
    weights = np.array(CYCLE_WEIGHTS)
    assert weights.sum() == pytest.approx(1.0)
    # Mode (8.1737 - 1) * 3.9631 = 28.43: the 28th half-hour, which begins at 13:30 and has index 27.
    assert int(weights.argmax()) == 27
    assert int(weights.argmin()) in (9, 10)
    assert weights[18:36].sum() > 0.55


def test_submissions_follow_the_cycle() -> None:
    """Over many days the hours of submission have the shares of the daily cycle."""
    weights = np.array(CYCLE_WEIGHTS)
    times = np.concatenate([draw_submit_times(np.random.default_rng([7, day]), 500, weights) for day in range(200)])
    shares = np.bincount(times // 1800, minlength=48) / len(times)
    assert np.abs(shares - weights).max() < 0.004


def test_submissions_come_in_bursts() -> None:
    """Gaps between submissions vary more than those of a Poisson process, whose coefficient is 1."""
    times = draw_submit_times(np.random.default_rng(8), 2000, np.ones(48))
    gaps = np.diff(times)
    assert np.all(gaps >= 0)
    assert gaps.std() / gaps.mean() > 1.3
