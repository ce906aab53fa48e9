"""The sample site's people and nodes: twelve accounts, sixty users, the programs that they run, and where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from planner.domain.cluster import CORES, Cluster, NodeClass
from planner.domain.job import UnitGroup
from planner.inputs.sample.lublin import Ints

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
