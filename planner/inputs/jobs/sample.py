"""The sample site's jobs, made day by day: twelve accounts, sixty users, the programs that they run, and where."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from planner.domain.cluster import CORES, Cluster, NodeClass
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job, UnitGroup
from planner.errors import InputError
from planner.inputs.jobs.lublin import (
    BUCKET_S,
    CYCLE_WEIGHTS,
    Floats,
    Ints,
    draw_requests,
    draw_runtimes,
    draw_sizes,
    draw_submit_times,
)
from planner.limits import DAY_S, JOBS_OF_A_FILE, SAMPLE_DAYS, SAMPLE_JOBS
from planner.power.learned import Asked, PowerModel
from planner.units import SECONDS_PER_HOUR

GPU_POWER_W = 250.0
"""Mean power that a job adds per GPU [W]."""

WEEKEND_FACTOR = 0.6
"""Work submitted on a day of the weekend, relative to a working day."""

DAILY_SPREAD = 0.12
"""Standard deviation of the logarithm of a day's work."""

DEADLINE_SHARE = 0.02
LARGEST_SHARE = 0.0625
"""Part of a class of nodes that the largest job may take, as sites limit it."""

_BATCH = 512
_FAIR_SHARES = np.array([0.125, 0.25, 0.4, 0.5, 0.75, 1.0, 2.0, 4.0])
_FAIR_SHARE_ODDS = np.array([0.1, 0.2, 0.1, 0.25, 0.15, 0.14, 0.04, 0.02])


@dataclass(frozen=True, slots=True)
class _Draft:
    """A job before it has a submit time."""

    units: tuple[UnitGroup, ...]
    requested_s: int
    runtime_s: int
    account: str
    user: str
    name: str
    deadline_slack_s: int | None


def generate_jobs(
    day: dt.date,
    *,
    zone: str,
    cluster: Cluster,
    seed: int,
    power: PowerModel,
    load: float = 0.9,
) -> tuple[tuple[Job, ...], Intake]:
    """The jobs submitted on a local calendar day, in order of submission.

    Sizes, runtimes, submit times and requested times follow `planner.inputs.jobs.lublin`. Each class of nodes gets
    jobs until the node-time that they request is the day's part of ``load``. The answer depends on the arguments
    alone: any day can be made without the others.

    ``load`` is the node-time requested per week over what the machine has in a week; working days get more, weekends
    less. ``power`` is the mean power of a job [W] by what it asks for; GPUs add 250 W each.
    """
    horizon = Horizon(day, zone)
    rng = np.random.default_rng([seed, day.toordinal()])
    work_s = load * day_factor(day, rng) * horizon.length_s
    drafts: list[_Draft] = []
    for number, pool in enumerate(pools_of(cluster)):
        pool_rng = np.random.default_rng([seed, day.toordinal(), number])
        drafts += _fill(pool, pool_rng, work_s * pool.core_equivalents)
    order = rng.permutation(len(drafts))
    submits_s = draw_submit_times(rng, len(drafts), _weights_of(horizon))
    intake = Intake(f"sample workload of {day.isoformat()}, seed {seed}")
    jobs = []
    named = f"{day:%Y%m%d}"
    for number, (position, submit_s) in enumerate(zip(order.tolist(), submits_s.tolist(), strict=True), start=1):
        job = _job(f"{named}-{number:04d}", drafts[position], horizon.start_unix + submit_s, power)
        if cluster.power_limit_w is not None and job.power_w > cluster.power_limit_w:
            intake.dropped["draws more than the site's power limit"] += 1
        else:
            jobs.append(job)
    intake.kept = len(jobs)
    intake.notes.append("synthetic jobs after Lublin and Feitelson (2003); give a jobs file to plan your own")
    return tuple(jobs), intake


def day_factor(day: dt.date, rng: np.random.Generator) -> float:
    """Work submitted on a day over the week's mean: less on weekends, and never quite the same."""
    weekday = 7.0 / (5.0 + 2.0 * WEEKEND_FACTOR)
    usual = weekday if day.weekday() < 5 else WEEKEND_FACTOR * weekday
    return usual * float(np.exp(rng.normal(-0.5 * DAILY_SPREAD**2, DAILY_SPREAD)))


def _weights_of(horizon: Horizon) -> Floats:
    """Weight of each half-hour of the day by its wall-clock time; a day may have 46 or 50 of them."""
    starts = [horizon.to_datetime(offset_s) for offset_s in range(0, horizon.length_s, BUCKET_S)]
    return np.array([CYCLE_WEIGHTS[start.hour * 2 + start.minute // 30] for start in starts])


def _fill(pool: Pool, rng: np.random.Generator, work_core_s: float) -> list[_Draft]:
    """Jobs whose requested core-equivalents times time come nearest to the work [core s]."""
    drafts: list[_Draft] = []
    done = 0.0
    units_of, taken = cache(pool.units), cache(pool.taken)
    while True:
        for draft in _draw_batch(pool, rng, pool.largest_job(LARGEST_SHARE), units_of):
            area = taken(draft.units) * draft.requested_s
            if done + area / 2 > work_core_s:
                return drafts
            drafts.append(draft)
            done += area
        if len(drafts) not in SAMPLE_JOBS:
            raise InputError(
                f"the sample workload would have more than {SAMPLE_JOBS.high:,} jobs a day on nodes of class"
                f" {pool.node_class.name}; make the machine or the load smaller, or give a jobs file"
            )


def _draw_batch(
    pool: Pool, rng: np.random.Generator, largest: int, units_of: Callable[[int, float], tuple[UnitGroup, ...]]
) -> Iterator[_Draft]:
    """Jobs of a batch of draws; whoever has enough of them takes no more."""
    sizes = draw_sizes(rng, _BATCH, largest)
    requested_s, actual_s = draw_requests(rng, draw_runtimes(rng, sizes))
    fair_shares = rng.choice(_FAIR_SHARES, _BATCH, p=_FAIR_SHARE_ODDS)
    # Only small jobs are memory-heavy: on whole nodes more than a fair share is not to be had.
    fair_shares = np.where(3 * sizes > pool.per_node, np.minimum(fair_shares, 1.0), fair_shares)
    users = population()
    who = draw_users(rng, sizes, gpu=pool.gpu)
    program, deadline, slack = rng.random((3, _BATCH))
    has_deadline = (deadline < DEADLINE_SHARE).tolist()
    drawn = (sizes, fair_shares, requested_s, actual_s, who, program)
    rows = zip(*(each.tolist() for each in drawn), strict=True)
    for k, (size, fair_share, asked_s, ran_s, person, draw) in enumerate(rows):
        user = users[person]
        yield _Draft(
            units=units_of(size, fair_share),
            requested_s=asked_s,
            runtime_s=ran_s,
            account=user.account,
            user=user.name,
            name=program_name(user, draw, gpu=pool.gpu),
            deadline_slack_s=int((24 + 48 * slack[k]) * SECONDS_PER_HOUR) if has_deadline[k] else None,
        )


def _job(job_id: str, draft: _Draft, submit_unix: int, power: PowerModel) -> Job:
    gpus = sum(group.count * group.amount(GPUS) for group in draft.units)
    deadline = None
    if draft.deadline_slack_s is not None:
        latest = submit_unix + draft.requested_s + draft.deadline_slack_s
        deadline = -(-latest // SECONDS_PER_HOUR) * SECONDS_PER_HOUR
    return Job(
        id=job_id,
        submit_unix=submit_unix,
        requested_s=draft.requested_s,
        units=draft.units,
        power_w=power(Asked(job_id, draft.units)) + GPU_POWER_W * gpus,
        account=draft.account,
        user=draft.user,
        name=draft.name,
        runtime_s=draft.runtime_s,
        deadline_unix=deadline,
    )


def sample_jobs(
    window: tuple[int, int], *, zone: str, cluster: Cluster, seed: int, power: PowerModel, load: float
) -> tuple[tuple[Job, ...], Intake]:
    """The jobs submitted from the first to before the second of two moments [Unix seconds]; else as `generate_jobs`."""
    intake = Intake("sample workload")
    jobs: list[Job] = []
    low, high = window
    SAMPLE_DAYS.require("the time of the sample workload", (high - low) // DAY_S)
    horizon = Horizon.of_unix(low, zone)
    while horizon.start_unix < high:
        made, _ = generate_jobs(horizon.day, zone=zone, cluster=cluster, seed=seed, power=power, load=load)
        jobs += [job for job in made if low <= job.submit_unix < high]
        JOBS_OF_A_FILE.require("the number of jobs of the sample workload, from the lookback on,", len(jobs))
        horizon = horizon.next_day()
    intake.kept = len(jobs)
    return tuple(jobs), intake


_INITIALS = "abcejklmnprst"
_SURNAMES = (
    "martin", "keller", "rossi", "novak", "silva", "larsen", "dubois", "weber", "costa", "olsen",
    "moreau", "fischer", "ricci", "kovac", "santos", "berg", "petit", "wagner", "conti", "lind",
)  # fmt: skip
_USERS_PER_ACCOUNT = 5
_POPULATION_SEED = 2003
_SIZE_SPREAD = 1.8
"""How far, in log2, a user's jobs stray from the account's usual size."""
MEMORY = "memory_gb"
GPUS = "gpus"
GPU_WORK_SHARE = 0.7
"""Part of the time of nodes with GPUs that goes to jobs which use them."""


@dataclass(frozen=True)
class Account:
    """A project: its programs, the usual log2 of its jobs' sizes, and whether it has programs for GPUs."""

    name: str
    programs: tuple[str, ...]
    usual_log2_size: float
    gpu_programs: tuple[str, ...] = ()


@dataclass(frozen=True)
class User:
    """A user of an account, with the programs that this user runs."""

    name: str
    account: str
    programs: tuple[str, ...]
    gpu_programs: tuple[str, ...]


ACCOUNTS = (
    Account("climate", ("wrf", "icon", "cdo-post"), 7.5),
    Account("genomics", ("bwa", "gatk", "star"), 2.0, ("parabricks",)),
    Account("materials", ("vasp", "qe-pw", "lammps"), 5.5, ("lammps-gpu",)),
    Account("fluids", ("openfoam", "su2", "paraview"), 6.5),
    Account("astro", ("gadget", "enzo", "montage"), 7.0, ("gadget-gpu",)),
    Account("chemistry", ("gaussian", "orca", "gromacs"), 4.0, ("gromacs-gpu",)),
    Account("particles", ("geant4", "madgraph", "root-fit"), 0.5),
    Account("neuro", ("nest", "fmriprep", "neuron"), 3.0, ("deeplabcut",)),
    Account("learning", ("preprocess", "xgboost", "evaluate"), 2.5, ("train", "finetune", "infer")),
    Account("seismic", ("specfem", "seissol", "invert"), 6.0),
    Account("engineering", ("abaqus", "ls-dyna", "sweep"), 4.5),
    Account("teaching", ("mpi-lab", "notebook", "openmp-lab"), 1.0, ("cuda-lab",)),
)


@cache
def population() -> tuple[User, ...]:
    """The users, the most active first; always the same sixty."""
    rng = np.random.default_rng(_POPULATION_SEED)
    users = []
    for number in range(len(ACCOUNTS) * _USERS_PER_ACCOUNT):
        account = ACCOUNTS[number % len(ACCOUNTS)]
        name = _INITIALS[number // len(_SURNAMES) * 4 + number % 4] + _SURNAMES[number % len(_SURNAMES)]
        kept = rng.permutation(len(account.programs))[: rng.integers(1, 3)]
        programs = tuple(account.programs[index] for index in sorted(kept))
        users.append(User(name, account.name, programs, account.gpu_programs))
    return tuple(users[index] for index in rng.permutation(len(users)))


def draw_users(rng: np.random.Generator, sizes: Ints, *, gpu: bool) -> Ints:
    """Who submitted jobs of these sizes: positions in `population`.

    Activity falls with the rank of the user (Zipf), and users whose usual size is near are likelier; only users with
    programs for GPUs submit GPU jobs.
    """
    users = population()
    usual = {account.name: account.usual_log2_size for account in ACCOUNTS}
    scores = rng.gumbel(size=(len(sizes), len(users))) - np.log(np.arange(1, len(users) + 1))
    if gpu:
        scores[:, [not user.gpu_programs for user in users]] = -np.inf
    else:
        distance = np.log2(sizes)[:, None] - np.array([usual[user.account] for user in users])
        scores -= 0.5 * (distance / _SIZE_SPREAD) ** 2
    chosen: Ints = np.argmax(scores, axis=1)
    return chosen


def program_name(user: User, draw: float, *, gpu: bool) -> str:
    """The program of a job, from a uniform draw; a user's first program is the usual one."""
    programs = user.gpu_programs if gpu else user.programs
    return programs[min(int(draw**1.6 * len(programs)), len(programs) - 1)]


@dataclass(frozen=True)
class Pool:
    """Nodes of one class and the jobs that they get: jobs are counted in cores, or in GPUs where ``gpu``.

    ``work_share`` is the part of the class's time that these jobs are to fill.
    """

    node_class: NodeClass
    gpu: bool
    work_share: float

    @property
    def per_node(self) -> int:
        """Processors of the pool's kind on one node."""
        return int(self.node_class.capacity[GPUS if self.gpu else CORES])

    @property
    def core_equivalents(self) -> float:
        """Cores that the pool has to fill."""
        return self.work_share * self.node_class.count * self.node_class.capacity[CORES]

    def largest_job(self, machine_share: float) -> int:
        """Processors of the largest job: a share of the class, at least a node, at most the class."""
        total = self.node_class.count * self.per_node
        return min(total, max(self.per_node, int(machine_share * total)))

    def memory_gb(self, processors: int, fair_shares: float) -> float:
        """Memory of a unit: a multiple of its fair share of the node's, in whole GB [GB]."""
        node_gb = self.node_class.capacity.get(MEMORY, 0.0)
        wanted = node_gb * fair_shares * processors / self.per_node
        return min(node_gb, max(1.0, round(wanted)))

    def units(self, processors: int, fair_shares: float) -> tuple[UnitGroup, ...]:
        """The job as units: whole nodes, and a smaller last one."""
        full, rest = divmod(processors, self.per_node)
        groups = [(full, self.per_node)] if full else []
        groups += [(1, rest)] if rest else []
        return tuple(UnitGroup.of(count, self._amounts(size, fair_shares)) for count, size in groups)

    def taken(self, units: tuple[UnitGroup, ...]) -> float:
        """Core-equivalents of a job: the largest share of a node over all resources, times its cores."""
        capacity = self.node_class.capacity
        shares = (group.count * max(v / capacity[name] for name, v in group.amounts) for group in units)
        return capacity[CORES] * sum(shares)

    def _amounts(self, size: int, fair_shares: float) -> dict[str, float]:
        amounts: dict[str, float] = {MEMORY: self.memory_gb(size, fair_shares)}
        if not self.gpu:
            return amounts | {CORES: size}
        node_cores = self.node_class.capacity[CORES]
        return amounts | {GPUS: size, CORES: min(node_cores, max(1.0, node_cores * size // self.per_node))}


def pools_of(cluster: Cluster) -> tuple[Pool, ...]:
    """One pool per class; nodes with GPUs have two, one for jobs that use them and one for the others."""
    pools = []
    for node_class in cluster.classes:
        has_gpus = node_class.capacity.get(GPUS, 0.0) >= 1
        if node_class.capacity[CORES] >= 1:
            pools.append(Pool(node_class, gpu=False, work_share=1.0 - GPU_WORK_SHARE if has_gpus else 1.0))
        if has_gpus:
            pools.append(Pool(node_class, gpu=True, work_share=GPU_WORK_SHARE))
    return tuple(pools)
