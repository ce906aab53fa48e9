"""The people of the sample site: twelve accounts, sixty users, and the programs that they run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from planner.inputs.sample.lublin import Ints


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

_INITIALS = "abcejklmnprst"
_SURNAMES = (
    "martin", "keller", "rossi", "novak", "silva", "larsen", "dubois", "weber", "costa", "olsen",
    "moreau", "fischer", "ricci", "kovac", "santos", "berg", "petit", "wagner", "conti", "lind",
)  # fmt: skip
_USERS_PER_ACCOUNT = 5
_POPULATION_SEED = 2003
_SIZE_SPREAD = 1.8
"""How far, in log2, a user's jobs stray from the account's usual size."""


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
