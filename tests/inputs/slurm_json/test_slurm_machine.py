"""A machine made of Slurm's nodes: classes, the units of a job on them, and what closes nodes."""

from __future__ import annotations

from typing import Any

import pytest

from planner.domain.cluster import Cluster, IdleRule, NodeClass
from planner.domain.job import UnitGroup
from planner.domain.situation import Outage
from planner.errors import InputError
from planner.inputs.slurm.job import Request
from planner.inputs.slurm.node_classes import Kind, SlurmMachine, machine_of, outages_of
from planner.inputs.slurm.node_units import units_of
from planner.inputs.slurm.nodes_reservations import Reservation, SlurmNode
from planner.scenario.cluster_slurm import SlurmSection
from tests.slurm_documents import NOW

PLAIN = Kind(32, 128_000, 0, "", ("batch",))
GPU = Kind(48, 256_000, 4, "a100", ("batch",))


def node(name: str, **other: Any) -> SlurmNode:
    """A plain node of partition batch, or another."""
    given: dict[str, Any] = {"cpus": 32, "memory_mb": 128_000, "partitions": ("batch",), "states": ("IDLE",), **other}
    return SlurmNode(name, **given)


def machine(*more: SlurmNode, count: int = 8) -> SlurmMachine:
    """Plain nodes n1 to n8, and others."""
    return machine_of([*(node(f"n{number}") for number in range(1, count + 1)), *more])


def test_nodes_that_are_alike_are_a_class() -> None:
    """By CPUs, memory, GPUs, partitions and features; the plainest first, in each as people count."""
    nodes = [
        node("g1", cpus=48, memory_mb=256_000, gpus=4, gpu_type="a100"),
        node("n10"),
        node("n2"),
        node("fat", memory_mb=512_000),
        node("d1", partitions=("debug",)),
        node("ib1", features=("ib",)),
        node("lost", partitions=()),
    ]
    found = machine_of(nodes)
    assert [each.name for each in found.nodes] == ["n2", "n10", "ib1", "d1", "fat", "g1"]
    assert {name: count for name, (_, count) in found.classes.items()} == {
        "batch-32c-128g": 2,
        "batch-32c-128g-2_": 1,
        "debug": 1,
        "batch-32c-512g": 1,
        "batch-48c-256g-4gpu": 1,
    }
    assert (found.numbers["n10"], found.left_out) == (1, 1)
    rule = IdleRule(included=False, after_s=60)
    written = Cluster((NodeClass("none", 1, {"cores": 1}),), 5000.0, idle_rule=rule)
    cluster = found.cluster(written, SlurmSection(idle_w=50.0, sleep_w=5.0))
    assert (cluster.power_limit_w, cluster.idle_rule) == (5000.0, rule)
    assert {(each.idle_w, each.sleep_w) for each in cluster.classes} == {(50.0, 5.0)}
    assert cluster.classes[-1].capacity == {"cores": 48.0, "memory_gb": 256.0, "gpus": 4.0}
    assert cluster.total("cores") == 5 * 32 + 48
    assert cluster.classes[0].idle_w == 50.0


def test_many_features_do_not_make_as_many_classes() -> None:
    """A feature for every node, such as its rack; jobs that need one are left alone then."""
    found = machine_of([node(f"n{number}", features=(f"rack{number}",)) for number in range(60)])
    assert list(found.classes) == ["batch"]
    assert "features that are not told apart (rack3)" in found.allowed(Request(1, features="rack3"), ["batch"])[1]


def test_only_planned_partitions_count() -> None:
    """Their nodes and their jobs; a name that no node has is one line."""
    nodes = [node("n1", partitions=("batch", "all")), node("d1", partitions=("debug", "all"))]
    found = machine_of(nodes, ["batch"])
    assert [each.name for each in found.nodes] == ["n1"]
    assert found.allowed(Request(1), ["all"]) == ({}, "its partition is not planned (all)")
    assert list(found.allowed(Request(1), ["all", "batch"])[0]) == ["all-batch"]
    with pytest.raises(InputError, match=r"slurm\.partitions: no node is in 'gpu'; there are all, batch, debug"):
        machine_of(nodes, ["gpu"])
    with pytest.raises(InputError, match="Slurm has no node in any partition"):
        machine_of([node("n1", partitions=())])


@pytest.mark.parametrize(
    ("request_", "classes"),
    [
        (Request(1), {"batch-32c-128g", "batch-32c-128g-4gpu"}),
        (Request(1, gpu_type="a100"), {"batch-32c-128g-4gpu"}),
        (Request(1, gpu_type="h100"), set()),
        (Request(1, features="ib"), {"batch-32c-128g-4gpu"}),
        (Request(1, features="ib&x"), set()),
        (Request(1, features="ib|x"), {"batch-32c-128g-4gpu"}),
        (Request(1, features="[ib*2]"), set()),
        (Request(1, excluded_nodes=("g1",)), {"batch-32c-128g"}),
        (Request(1, excluded_nodes=("n1",)), {"batch-32c-128g", "batch-32c-128g-4gpu"}),
        (Request(1, nodes=("n1",)), set()),
    ],
)
def test_the_classes_that_a_job_may_run_on(request_: Request, classes: set[str]) -> None:
    """By type of GPU, features, and excluded nodes; why there are none is said."""
    found = machine_of([node("n1"), node("n2"), node("g1", gpus=4, gpu_type="a100", features=("ib",))])
    allowed, why = found.allowed(request_, ["batch"])
    assert set(allowed) == classes
    assert bool(why) is not bool(classes)


def amounts(**values: float) -> dict[str, float]:
    """Amounts of a unit."""
    return values


@pytest.mark.parametrize(
    ("request_", "units"),
    [
        # 70 tasks of 2 CPUs: 16 tasks on a node, so 5 nodes of 14 tasks each.
        (Request(1, cpus=140, tasks=70), [(5, amounts(cores=28))]),
        # 10 tasks on at least 3 nodes: 4, 3 and 3; 2 GB for each CPU.
        (
            Request(3, cpus=10, tasks=10, memory_per_cpu_mb=2000),
            [(1, amounts(cores=4, memory_gb=8)), (2, amounts(cores=3, memory_gb=6))],
        ),
        (Request(2, cpus=2, tasks=2, exclusive=True), [(2, amounts(cores=32))]),
        (Request(2, cpus=2, tasks=2, memory_per_node_mb=64_500), [(2, amounts(cores=1, memory_gb=64.5))]),
        (Request(2, cpus=2, tasks=2, memory_in_all_mb=3001), [(2, amounts(cores=1, memory_gb=1.501))]),
        (Request(1, cpus=8, tasks=8, tasks_per_node=2), [(4, amounts(cores=2))]),
        (Request(4, cpus=1, tasks=1), [(4, amounts(cores=1))]),
        (Request(1, cpus=4, tasks=4, min_cpus_per_node=16), [(1, amounts(cores=16))]),
    ],
)
def test_units_of_a_waiting_job(request_: Request, units: list[tuple[int, dict[str, float]]]) -> None:
    """One on each node, as few nodes as it asks for and its tasks fit on."""
    assert units_of(request_, [PLAIN]) == tuple(UnitGroup.of(count, each) for count, each in units)


def test_gpus_are_per_node_or_spread() -> None:
    """Six GPUs in all on nodes of four: two nodes of three. Whole nodes are those that have the GPUs."""
    one = UnitGroup.of(1, {"cores": 1, "gpus": 2})
    assert units_of(Request(1, cpus=1, tasks=1, gpus_per_node=2), [PLAIN, GPU]) == (one,)
    both = UnitGroup.of(2, {"cores": 1, "gpus": 3})
    assert units_of(Request(1, cpus=1, tasks=1, gpus_in_all=6), [PLAIN, GPU]) == (both,)
    whole = UnitGroup.of(1, {"cores": 48, "gpus": 2})
    assert units_of(Request(1, cpus=1, tasks=1, gpus_per_node=2, exclusive=True), [PLAIN, GPU]) == (whole,)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (Request(1, cpus=33, tasks=1), "a task of it needs 33 CPUs, more than any node has"),
        (Request(1, max_nodes=2, cpus=96, tasks=96), "it needs 3 nodes and asks for at most 2"),
        (Request(1, cpus=1, tasks=1, gpus_in_all=2), "it needs GPUs, which no node has"),
    ],
)
def test_what_fits_on_no_number_of_nodes(request_: Request, reason: str) -> None:
    """Each with its reason."""
    with pytest.raises(InputError, match=reason):
        units_of(request_, [PLAIN])


def test_states_and_reservations_close_nodes() -> None:
    """Down and draining from now on; reservations in their time; a node on which something runs only drains.

    Nodes that do not answer are not down yet: after a restart of slurmctld that is true of all.
    """
    found = machine_of(
        [
            node("n1"),
            node("n2", states=("IDLE", "DRAIN")),
            node("n3", states=("DOWN",)),
            node("n4", states=("DOWN",)),
            node("n5", states=("IDLE", "POWERED_DOWN")),
            node("n6", states=("IDLE", "NOT_RESPONDING")),
        ]
    )
    kept = [
        Reservation("fans", ("n1", "elsewhere"), NOW + 60, NOW + 120, ("MAINT",)),
        Reservation("course", ("n1",), NOW - 60, None),
        Reservation("now", ("n4",), NOW - 60, NOW + 60, ("MAINT",)),
        Reservation("over", ("n5",), NOW - 60, NOW, ("MAINT",)),
        Reservation("licences", (), NOW, NOW + 60),
    ]
    assert outages_of(found, kept, {3}, NOW) == (
        Outage(0, NOW - 60, None, "drain"),
        Outage(0, NOW + 60, NOW + 120, "maintenance"),
        Outage(1, NOW, None, "drain"),
        Outage(2, NOW, None, "down"),
        Outage(3, NOW - 60, NOW + 60, "drain"),
        Outage(3, NOW, None, "drain"),
    )
