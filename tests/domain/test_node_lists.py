"""Claims about lists of nodes: what a cluster writes reads back, and whatever else is named in one line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.node_text import parse_node_list
from planner.errors import InputError

CLUSTER = Cluster((NodeClass("cpu", 120, {"cores": 4}), NodeClass("gpu2", 5, {"cores": 4})))


@given(st.sets(st.integers(0, CLUSTER.node_count - 1), min_size=1))
def test_what_a_cluster_writes_reads_back(nodes: set[int]) -> None:
    """In the short form and in plain names, in any order."""
    wanted = tuple(sorted(nodes))
    assert parse_node_list(CLUSTER.node_list(nodes), CLUSTER) == wanted
    assert parse_node_list(", ".join(map(CLUSTER.node_name, nodes)), CLUSTER) == wanted


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("cpu[001-004,007]", (0, 1, 2, 3, 6)),
        ("gpu2[1-2],cpu120", (119, 120, 121)),
        # Slurm puts all digits of a name into the brackets
        ("gpu[21-22]", (120, 121)),
        (" cpu001 , cpu003", (0, 2)),
    ],
)
def test_other_ways_to_write_them(text: str, nodes: tuple[int, ...]) -> None:
    """Classes in any order, spaces at the commas, digits of the class in the brackets."""
    assert parse_node_list(text, CLUSTER) == nodes


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("cpu1", "there is no node 'cpu1'; nodes of class 'cpu' are cpu001 to cpu120"),
        ("cpu[119-121]", "there is no node 'cpu121'; nodes of class 'cpu' are cpu001 to cpu120"),
        ("cpu000", "there is no node 'cpu000'; nodes of class 'cpu' are cpu001 to cpu120"),
        ("tape01", "there is no node 'tape01'; nodes of class 'cpu' are cpu001 to cpu120"),
        ("cpu[001-003,002]", "node cpu002 is named twice; name it once"),
        ("cpu001,cpu001", "node cpu001 is named twice; name it once"),
        ("cpu[1-999999999]", "'cpu[1-999999999]' names more nodes than the 125 of the machine"),
        *(
            (text, f"cannot read '{text}' as nodes; write cpu[001-004,007] or cpu001,cpu002")
            for text in ("", "cpu[003-001]", "cpu[001", "cpu[]", "cpu[001]x", "cpu[1-2]n[1-2]", ",cpu001", "a b")
        ),
    ],
)
def test_lists_that_cannot_be(text: str, line: str) -> None:
    """Every one is refused in one line."""
    with pytest.raises(InputError, match=f"^{re.escape(line)}$"):
        parse_node_list(text, CLUSTER)
