"""Nodes without scarce resources are tried first, whatever the order in which a scenario names the classes."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from planner.domain.cluster import Cluster, NodeClass, plainest_first
from planner.domain.job import Job, UnitGroup
from planner.domain.result import never
from planner.methods import Params, method_named
from tests.factories import DAY, random_problem

CPU = NodeClass("cpu", 2, {"cores": 32, "memory_gb": 128})
FAT = NodeClass("fat", 1, {"cores": 32, "memory_gb": 1024})
GPU = NodeClass("gpu", 2, {"cores": 32, "memory_gb": 128, "gpus": 4})


@pytest.mark.parametrize("classes", list(permutations((CPU, FAT, GPU))))
def test_the_plainest_come_first(classes: tuple[NodeClass, ...]) -> None:
    """GPUs, which other classes lack, weigh more than memory, of which all have some."""
    assert plainest_first(classes) == (CPU, FAT, GPU)


def test_equals_keep_their_order() -> None:
    """More nodes or cores make no class less plain; one class alone is what it is."""
    old, new = NodeClass("old", 9, {"cores": 32, "memory_gb": 64}), NodeClass("new", 1, {"cores": 64, "memory_gb": 128})
    assert plainest_first((old, new)) == (old, new)
    assert plainest_first((new, old)) == (new, old)
    assert plainest_first((GPU,)) == (GPU,)


@pytest.mark.parametrize("method", ["multisearch", "harvest", "hold", "est"])
@pytest.mark.parametrize("classes", [(CPU, GPU), (GPU, CPU)])
def test_plain_work_leaves_scarce_nodes_to_those_who_need_them(classes: tuple[NodeClass, ...], method: str) -> None:
    """Two jobs without GPUs, which come first, and two with them share four nodes all day, both ways round."""
    plain = Job("a", DAY.start_unix, 86_400, (UnitGroup.of(1, {"cores": 32.0}),), 10.0)
    needs = replace(plain, id="c", units=(UnitGroup.of(1, {"cores": 32.0, "gpus": 4.0}),))
    jobs = (plain, replace(plain, id="b"), needs, replace(needs, id="d"))
    cluster = Cluster(plainest_first(classes))
    problem = replace(random_problem(np.random.default_rng(0), jobs=0), cluster=cluster, jobs=jobs, running=())
    result = method_named(method)(problem, Params(workers=1, iterations=20), never)
    assert result.plan.start_s.tolist() == [0, 0, 0, 0]
