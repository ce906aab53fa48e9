"""Claims about lists of nodes: what a cluster writes reads back, and whatever else is named in one line."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.domain.cluster import Cluster, NodeClass, short_names
from planner.domain.job import counting_key
from planner.domain.node_lists import expanded, parse_node_list
from planner.errors import LONGEST, InputError

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
        ("cpu[1-999999999]", "'cpu[1-999999999]' names more than 125 nodes; give a shorter list"),
        *(
            (text, f"cannot read '{text}' as nodes; write cpu[001-004,007] or cpu001,cpu002")
            for text in (
                "",
                "cpu[003-001]",
                "cpu[001",
                "cpu[]",
                "cpu[1]n[2-1]",
                "[1-2]n[1]",
                ",cpu001",
                "a b",
                "a[1]b c",
            )
        ),
        ("cpu[001]x", "there is no node 'cpu001x'; nodes of class 'cpu' are cpu001 to cpu120"),
        ("r[1-9]n[1-99]", "'r[1-9]n[1-99]' names more than 125 nodes; give a shorter list"),
        ("n[1-9]" * 8, f"'{'n[1-9]' * 8}' names more than 125 nodes; give a shorter list"),
    ],
)
def test_lists_that_cannot_be(text: str, line: str) -> None:
    """Every one is refused in one line."""
    with pytest.raises(InputError, match=f"^{re.escape(line)}$"):
        parse_node_list(text, CLUSTER)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("r[1-2]n[1-4]", "r1n1 r1n2 r1n3 r1n4 r2n1 r2n2 r2n3 r2n4"),
        ("n[8-10]x[01-02]", "n8x01 n8x02 n9x01 n9x02 n10x01 n10x02"),
        ("n[1-2]-[3,07]", "n1-3 n1-07 n2-3 n2-07"),
        ("n[1-2][08-10]", "n108 n109 n110 n208 n209 n210"),
        ("r[1-2]n[1-2],r[1-3]", "r1n1 r1n2 r2n1 r2n2 r1 r2 r3"),
        ("n[1-2]-ib", "n1-ib n2-ib"),
        ("gpu1", "gpu1"),
        ("node[01-03,07],gpu1", "node01 node02 node03 node07 gpu1"),
        ("n[098-101]-ib", "n098-ib n099-ib n100-ib n101-ib"),
        ("a.b-c[0]", "a.b-c0"),
        ("n[3,1],n1", "n3 n1 n1"),
        ("n[1, 2]", "n1 n2"),
    ],
)
def test_several_brackets(text: str, names: str) -> None:
    """As ``scontrol show hostnames`` writes them: the last bracket counts fastest, zeros in front are kept."""
    assert expanded(text) == tuple(names.split())


@pytest.mark.parametrize(
    "text",
    [
        *("n[", "n]", "n[]", "n[1-]", "n[-1]", "n[3-1]", "n[1,,2]", "n[1][", "[1-2]", "n[1-9]]", "a[1[2]]"),
        *("", " ", ",", "a,", ",a", "a,,b", "a b", "a\nb", "n[1 - 2]", "n[a-b]", "n[1-2-3]", "n[1:2]", "n[\u0661]"),
        *("n" * 300, "n[1]" * 20, "n[" + "9" * 19 + "]"),
    ],
)
def test_broken_lists(text: str) -> None:
    """One short line with what was found and what is expected."""
    with pytest.raises(InputError) as caught:
        expanded(text)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= LONGEST


@pytest.mark.parametrize(
    "text", ["n[1-100001]", "n[0-999]m[0-999]", "n[1-99999],m[1-2]", "n[0-999999999999999999]" * 3]
)
def test_endless_lists(text: str) -> None:
    """A short text cannot fill the memory."""
    with pytest.raises(InputError, match="names more than 100,000 nodes"):
        expanded(text, 100_000)
    assert len(expanded("n[1-100000]", 100_000)) == 100_000


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ((), ""),
        (("n1",), "n1"),
        (("n1", "n2", "n3", "n7"), "n[1-3,7]"),
        (("n08", "n09", "n10", "n8"), "n[08-10],n8"),
        (("n9", "n10"), "n[9-10]"),
        (("a", "a1", "b"), "a,a1,b"),
        (("n1-ib", "n2-ib"), "n1-ib,n2-ib"),
        (("17", "18"), "17,18"),
    ],
)
def test_names_in_the_short_form(names: tuple[str, ...], text: str) -> None:
    """One bracket for neighbours that are written alike."""
    assert ",".join(short_names(names)) == text


def test_names_there_and_back() -> None:
    """Names of all widths and prefixes survive, each once."""
    for seed in range(300):
        rng = random.Random(seed)
        names = {
            f"{rng.choice(['n', 'node-', 'rack1n', 'gpu0', 'r10'])}{rng.randrange(130):0{rng.choice([1, 1, 2, 3])}d}"
            for _ in range(rng.randrange(1, 80))
        } | {rng.choice(["login", "n", "n007x"])}
        found = expanded(",".join(short_names(sorted(names, key=counting_key))))
        assert len(found) == len(names)
        assert set(found) == names
