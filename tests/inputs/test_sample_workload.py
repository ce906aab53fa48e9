"""A sample day as a whole: deterministic, fitting its machine, and as loaded as asked for."""

import datetime as dt
import hashlib
from collections import Counter

import numpy as np
import pytest

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.inputs.jobs.sample import ACCOUNTS, generate_jobs, population
from planner.power.learned import Asked

DAY, SUNDAY = dt.date(2024, 5, 31), dt.date(2024, 6, 2)
CPU = Cluster((NodeClass("cpu", 300, {"cores": 32, "memory_gb": 128}),))
MIXED = Cluster(
    (
        NodeClass("cpu", 40, {"cores": 32, "memory_gb": 128}),
        NodeClass("gpu", 8, {"cores": 48, "memory_gb": 384, "gpus": 4}),
    )
)
TINY = Cluster((NodeClass("box", 1, {"cores": 3}),))
ALL_GPU = Cluster((NodeClass("dgx", 4, {"cores": 128, "memory_gb": 1024, "gpus": 8}),))
CLUSTERS = pytest.mark.parametrize("cluster", [CPU, MIXED, TINY, ALL_GPU], ids=["cpu", "mixed", "tiny", "dgx"])


def jobs_of(
    cluster: Cluster, day: dt.date = DAY, *, zone: str = "Europe/Paris", seed: int = 0, load: float = 0.9
) -> tuple[Job, ...]:
    return generate_jobs(day, zone=zone, cluster=cluster, seed=seed, power=lambda asked: 9.0 * asked.cores, load=load)[
        0
    ]


def core_load(cluster: Cluster, jobs: tuple[Job, ...]) -> float:
    return sum(job.total("cores") * job.requested_s for job in jobs) / cluster.total("cores") / 86400


@CLUSTERS
def test_same_arguments_same_day(cluster: Cluster) -> None:
    """A day is a function of its arguments: asked twice it is equal, another seed or day gives another."""
    assert jobs_of(cluster) == jobs_of(cluster)
    assert jobs_of(cluster, seed=0) != jobs_of(cluster, seed=1)
    assert jobs_of(cluster) != jobs_of(cluster, DAY + dt.timedelta(days=1))


FIELDS = ("id", "submit_unix", "requested_s", "runtime_s", "power_w", "account", "user", "name", "deadline_unix")


def test_a_day_is_the_same_in_every_version() -> None:
    """Tutorials, figures in documents and the studies of users rest on the jobs of the sample: they stay as they are.

    The digests are of a Friday and a Sunday; a change that is meant renews them, and all those figures.
    """
    found = {}
    for name, cluster in (("cpu", CPU), ("mixed", MIXED)):
        for day in (DAY, SUNDAY):
            rows = [
                [getattr(job, field) for field in FIELDS] + [(group.count, group.amounts) for group in job.units]
                for job in jobs_of(cluster, day)
            ]
            found[f"{name} {day}"] = hashlib.sha256(repr(rows).encode()).hexdigest()[:12]
    assert found == {
        "cpu 2024-05-31": "831290347e20",
        "cpu 2024-06-02": "cbcf40729c03",
        "mixed 2024-05-31": "ac0f04e07f38",
        "mixed 2024-06-02": "be3de4964c89",
    }


@CLUSTERS
def test_every_job_fits_its_machine(cluster: Cluster) -> None:
    """Every unit fits on a node of some class, and that class has nodes for all units at once."""
    for job in jobs_of(cluster):
        assert any(
            sum(group.count for group in job.units) <= node_class.count
            and all(
                amount <= node_class.capacity.get(name, 0.0) for group in job.units for name, amount in group.amounts
            )
            for node_class in cluster.classes
        ), job


@CLUSTERS
def test_ids_and_times_are_in_order(cluster: Cluster) -> None:
    """Ids count up through the day, submissions lie within it, and no job runs longer than it asked."""
    horizon = Horizon(DAY, "Europe/Paris")
    jobs = jobs_of(cluster)
    assert [job.id for job in jobs] == [f"20240531-{k:04d}" for k in range(1, len(jobs) + 1)]
    submits = [job.submit_unix for job in jobs]
    assert submits == sorted(submits)
    assert all(horizon.start_unix <= submit < horizon.end_unix for submit in submits)
    assert all(job.runtime_s is not None and 1 <= job.runtime_s <= job.requested_s for job in jobs)


@pytest.mark.parametrize(("day", "hours"), [(dt.date(2024, 3, 31), 23), (dt.date(2024, 10, 27), 25)])
def test_days_on_which_the_clocks_change(day: dt.date, hours: int) -> None:
    """A day of 23 or 25 hours has its jobs inside it, with nobody submitting in an hour that is not there."""
    horizon = Horizon(day, "Europe/Paris")
    assert horizon.length_s == hours * 3600
    jobs = jobs_of(CPU, day)
    assert jobs
    assert all(horizon.start_unix <= job.submit_unix < horizon.end_unix for job in jobs)


def test_the_week_asks_for_the_load() -> None:
    """Over eight weeks the requested core-time is the load times the machine's; weekends get 0.6 of a weekday."""
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=k) for k in range(56)]
    loads = np.array([core_load(CPU, jobs_of(CPU, day, load=0.8)) for day in days])
    weekend = np.array([day.weekday() >= 5 for day in days])
    # Memory-heavy jobs take more of a node than their cores, so cores alone come out a little below.
    assert loads.mean() == pytest.approx(0.8, rel=0.06)
    assert loads[weekend].mean() / loads[~weekend].mean() == pytest.approx(0.6, abs=0.08)
    assert loads[~weekend].std() > 0.03


def test_a_load_of_zero_is_an_empty_day() -> None:
    """Nothing asked for, nothing submitted."""
    jobs, intake = generate_jobs(DAY, zone="UTC", cluster=CPU, seed=0, power=lambda _: 1.0, load=0.0)
    assert jobs == ()
    assert intake.kept == 0


def test_jobs_above_a_node_are_whole_nodes_and_a_rest() -> None:
    """All units but the last fill their node's cores; jobs up to a node are one unit."""
    for job in jobs_of(CPU):
        *full, last = job.units
        assert all(group.amount("cores") == 32 for group in full)
        assert len(job.units) <= 2
        assert last.amount("cores") <= 32
        if job.total("cores") <= 32:
            assert job.unit_count == 1


def test_memory_varies() -> None:
    """Jobs ask for different memory per core, a few for far more than a core's share of 4 GB."""
    per_core = [job.total("memory_gb") / job.total("cores") for job in jobs_of(CPU)]
    assert len(set(per_core)) > 5
    assert 0.01 < np.mean(np.array(per_core) > 4.5) < 0.1


def test_gpu_jobs_only_where_there_are_gpus() -> None:
    """A cluster without GPUs has no GPU jobs; with them some jobs ask, and draw 250 W more for each."""
    assert not any(job.total("gpus") for job in jobs_of(CPU))
    gpu_jobs = [job for job in jobs_of(MIXED) if job.total("gpus")]
    assert gpu_jobs
    for job in gpu_jobs:
        assert job.power_w == pytest.approx(9.0 * job.total("cores") + 250 * job.total("gpus"))


def test_power_comes_from_the_callable() -> None:
    """The model of power is asked with the job's own id and cores."""
    seen: dict[str, float] = {}

    def power(asked: Asked) -> float:
        seen[asked.job_id] = asked.cores
        return 7.0

    jobs, _ = generate_jobs(DAY, zone="UTC", cluster=CPU, seed=0, power=power)
    assert seen == {job.id: job.total("cores") for job in jobs}
    assert {job.power_w for job in jobs} == {7.0}


def test_few_jobs_have_deadlines_and_all_can_meet_them() -> None:
    """About 2 % of the jobs have a deadline, at least a day after the earliest end."""
    jobs = [job for k in range(20) for job in jobs_of(CPU, DAY + dt.timedelta(days=k))]
    with_deadline = [job for job in jobs if job.deadline_unix is not None]
    assert len(with_deadline) / len(jobs) == pytest.approx(0.02, abs=0.006)
    for job in with_deadline:
        assert job.deadline_unix is not None
        assert job.deadline_unix >= job.submit_unix + job.requested_s + 86400


def test_the_population_is_sixty_people_in_twelve_accounts() -> None:
    """Names are unique, and every account has users."""
    users = population()
    assert len({user.name for user in users}) == len(users) == 60
    assert {user.account for user in users} == {account.name for account in ACCOUNTS}
    assert len(ACCOUNTS) == 12


def test_activity_is_uneven() -> None:
    """A few users submit most jobs: the busiest fifth submits between half and nine tenths."""
    jobs = [job for k in range(10) for job in jobs_of(CPU, DAY + dt.timedelta(days=k))]
    counts = sorted(Counter(job.user for job in jobs).values(), reverse=True)
    assert 0.5 < sum(counts[:12]) / len(jobs) < 0.9


def test_a_job_above_the_power_limit_is_dropped_and_counted() -> None:
    """Jobs that could never run under the site's power limit are left out, with the reason."""
    limited = Cluster(CPU.classes, power_limit_w=1000.0)
    jobs, intake = generate_jobs(DAY, zone="UTC", cluster=limited, seed=0, power=lambda asked: 9.0 * asked.cores)
    assert all(job.power_w <= 1000 for job in jobs)
    assert intake.kept == len(jobs)
    assert sum(intake.dropped.values()) > 0
