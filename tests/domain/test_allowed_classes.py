"""Node classes that jobs may run on: from partitions and classes, as hidden columns, and in reasons."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.columns import Restrictions, job_columns, node_columns
from planner.domain.ever_fits import Fit
from planner.domain.job import Job, UnitGroup
from planner.errors import InputError
from tests.factories import DAY

CLUSTER = Cluster(
    (
        NodeClass("cpu", 2, {"cores": 4, "memory_gb": 8}),
        NodeClass("fat", 1, {"cores": 4, "memory_gb": 64}),
        NodeClass("gpu", 1, {"cores": 8, "memory_gb": 8, "gpus": 2}),
    ),
    partitions={"short": ("cpu", "fat"), "gpu": ("gpu",), "all": ("cpu", "fat", "gpu")},
)
JOB = Job("a", DAY.start_unix, 60, (UnitGroup.of(1, {"cores": 4.0}),), 10.0)


@pytest.mark.parametrize(
    ("partitions", "classes", "allowed"),
    [
        ((), (), ()),
        (("short",), (), ("cpu", "fat")),
        (("short", "gpu"), (), ()),
        (("all",), (), ()),
        ((), ("gpu", "cpu"), ("cpu", "gpu")),
        (("short",), ("fat", "gpu"), ("fat",)),
    ],
)
def test_allowed_classes(partitions: tuple[str, ...], classes: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    """Any of the partitions, and of these the classes; all of them is no restriction."""
    assert CLUSTER.allowed_classes(partitions, classes) == allowed


@pytest.mark.parametrize(
    ("partitions", "classes", "message"),
    [
        (("long",), (), "there is no partition 'long'; there are short, gpu, all"),
        ((), ("tpu",), "there is no node class 'tpu'; there are cpu, fat, gpu"),
        (("gpu",), ("cpu",), "no node of partition gpu is of class cpu; correct one of them"),
    ],
)
def test_what_cannot_be_asked_for(partitions: tuple[str, ...], classes: tuple[str, ...], message: str) -> None:
    """Unknown names, and names that leave no node, are one clear line."""
    with pytest.raises(InputError, match=f"^{message}$"):
        CLUSTER.allowed_classes(partitions, classes)


def test_hidden_columns_are_there_only_when_a_job_needs_them() -> None:
    """Each distinct set is a column after the resources; without sets the arrays are those of before."""
    jobs = [JOB, replace(JOB, id="b", classes=("cpu", "fat")), replace(JOB, id="c", classes=("gpu",))]
    restrictions = Restrictions.of(jobs)
    nodes, columns = node_columns(CLUSTER, restrictions), job_columns(jobs, CLUSTER, DAY, restrictions=restrictions)
    assert nodes.capacity[:, :3].tolist() == node_columns(CLUSTER).capacity.tolist()
    assert (nodes.capacity[:, 3:] > 0).tolist() == [[True, False]] * 3 + [[False, True]]
    assert columns.group_amount[:, 3:].tolist() == [[0, 0], [1, 0], [0, 1]]
    plain = [replace(job, classes=()) for job in jobs]
    assert node_columns(CLUSTER, Restrictions.of(plain)).capacity.shape[1] == 3
    assert job_columns(plain, CLUSTER, DAY).group_amount.shape[1] == 3


def test_what_a_job_earns_does_not_know_hidden_columns() -> None:
    """Core-equivalents are those of the resources on allowed classes, and 0 on others."""
    jobs = [JOB, replace(JOB, id="b", classes=("fat",))]
    columns = job_columns(jobs, CLUSTER, DAY, restrictions=Restrictions.of(jobs))
    assert columns.group_core_equivalents.tolist() == [[4.0, 4.0, 4.0], [0.0, 4.0, 0.0]]


@pytest.mark.parametrize(
    ("units", "classes", "reason"),
    [
        ([(1, 8)], ("gpu",), None),
        ([(1, 8)], ("cpu", "fat"), "may only run on cpu, fat, where a unit asks for 8 cores, more than any node has"),
        ([(3, 4)], ("cpu",), "may only run on cpu, where 2 of its 3 units of 4 cores have room at once"),
        ([(2, 2), (1, 8)], ("gpu",), "may only run on gpu, where its units do not fit on the empty machine together"),
        ([(5, 4)], (), None),
        ([(6, 4)], (), "asks for 6 units of 4 cores, the machine takes 5 at once"),
    ],
)
def test_why_a_job_can_never_run(units: list[tuple[int, int]], classes: tuple[str, ...], reason: str | None) -> None:
    """Only nodes of allowed classes count, and the reason says which they are."""
    groups = tuple(UnitGroup.of(count, {"cores": cores}) for count, cores in units)
    assert Fit(CLUSTER).why_never(replace(JOB, units=groups, classes=classes)) == reason


def test_a_partition_of_unknown_classes_is_refused() -> None:
    """A cluster checks its own partitions."""
    with pytest.raises(InputError, match="partition 'x' has a node class 'tpu'; the classes are cpu"):
        Cluster((NodeClass("cpu", 1, {"cores": 4}),), partitions={"x": ("tpu",)})
