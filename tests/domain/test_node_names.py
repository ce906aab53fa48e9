"""Nodes with names of their own: numbers, names and lists follow, and no two are the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.node_lists import expanded, parse_node_list
from planner.errors import InputError

NAMES = expanded("node[08-11],n[9-11],fat1,login,n[099-101],7")
CLUSTER = Cluster(
    (NodeClass("cpu", len(NAMES), {"cores": 4}, nodes=NAMES), NodeClass("gpu", 3, {"cores": 4})),
)


def test_names_and_numbers() -> None:
    """Named nodes have their names, others those of their class."""
    assert [CLUSTER.node_name(node) for node in range(CLUSTER.node_count)] == [*NAMES, "gpu1", "gpu2", "gpu3"]
    assert [CLUSTER.node_number(name) for name in (*NAMES, "gpu1")] == list(range(len(NAMES) + 1))
    with pytest.raises(InputError, match="there is no node 'cpu01'; nodes of class 'cpu' are node08 to 7"):
        CLUSTER.node_number("cpu01")


def test_lists_as_slurm_writes_them() -> None:
    """Numbers with and without zeros in front, single names, and names without numbers."""
    every = range(CLUSTER.node_count)
    assert CLUSTER.node_list(every) == "node[08-11],n[9-11],fat1,login,n[099-101],7,gpu[1-3]"
    assert CLUSTER.node_list([0, 2, 3, 7]) == "node[08,10-11],fat1"


@given(st.sets(st.integers(0, CLUSTER.node_count - 1), min_size=1))
def test_what_a_cluster_writes_reads_back(nodes: set[int]) -> None:
    """Whatever nodes are listed."""
    assert parse_node_list(CLUSTER.node_list(nodes), CLUSTER) == tuple(sorted(nodes))


@given(st.lists(st.from_regex(r"[an]{0,2}[01]{0,3}", fullmatch=True).filter(bool), min_size=1, max_size=8, unique=True))
def test_any_names_read_back(names: list[str]) -> None:
    """Names that look much alike, in any order."""
    cluster = Cluster((NodeClass("cpu", len(names), {"cores": 4}, nodes=tuple(names)),))
    assert list(expanded(cluster.node_list(range(len(names))))) == names


@pytest.mark.parametrize(
    ("classes", "line"),
    [
        ([("a", 2, ("x1", "x1"))], "two nodes are called 'x1'; each needs a name of its own"),
        ([("a", 1, ("x1",)), ("b", 1, ("x1",))], "two nodes are called 'x1'; each needs a name of its own"),
        ([("a", 1, ("b2",)), ("b", 2, ())], "two nodes are called 'b2'; each needs a name of its own"),
        ([("a", 2, ("x1",))], "node class 'a' has 2 nodes and 1 names of nodes"),
        ([("a", 1, ("x 1",))], "a node of class 'a' is called 'x 1'; use no spaces, commas and brackets"),
    ],
)
def test_names_that_cannot_be(classes: list[tuple[str, int, tuple[str, ...]]], line: str) -> None:
    """Every one is refused in one line."""
    with pytest.raises(InputError, match=f"^{re.escape(line)}$"):
        Cluster(tuple(NodeClass(name, count, {"cores": 4}, nodes=nodes) for name, count, nodes in classes))
