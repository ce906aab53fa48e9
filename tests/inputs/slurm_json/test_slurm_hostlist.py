"""Claims about lists of hosts: what stands in them comes out, exactly."""

from __future__ import annotations

import pytest

from planner.errors import LONGEST, InputError
from planner.inputs.slurm.hostlist import MOST_HOSTS, expand


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("gpu1", ("gpu1",)),
        ("node[01-03,07],gpu1", ("node01", "node02", "node03", "node07", "gpu1")),
        ("rack[1-2]n[01-02]", ("rack1n01", "rack1n02", "rack2n01", "rack2n02")),
        ("n[8-11]", ("n8", "n9", "n10", "n11")),
        ("n[098-101]-ib", ("n098-ib", "n099-ib", "n100-ib", "n101-ib")),
        ("a.b-c[0]", ("a.b-c0",)),
        ("n[3,1],n1", ("n3", "n1", "n1")),
    ],
)
def test_expanded(text: str, names: tuple[str, ...]) -> None:
    """Leading zeros are kept, several brackets multiply, the order is that of the list."""
    assert expand(text) == names


@pytest.mark.parametrize(
    "text",
    [
        *("n[", "n]", "n[]", "n[1-]", "n[-1]", "n[3-1]", "n[1,,2]", "n[1][", "[1-2]", "n[1-9]]", "a[1[2]]"),
        *(",", "a,", ",a", "a,,b", "a b", "a\nb", "n[1 - 2]", "n[a-b]", "n[1-2-3]", "n[1:2]", "n[\u0661]"),
        *("n" * 300, "n[1]" * 20, "n[" + "9" * 19 + "]"),
    ],
)
def test_broken_lists(text: str) -> None:
    """One short line with what was found and what is expected."""
    with pytest.raises(InputError) as caught:
        expand(text)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= LONGEST


@pytest.mark.parametrize(
    "text", ["n[1-100001]", "n[0-999]m[0-999]", "n[1-99999],m[1-2]", "n[0-999999999999999999]" * 3]
)
def test_endless_lists(text: str) -> None:
    """A short text cannot fill the memory."""
    with pytest.raises(InputError, match="names more than 100,000 hosts"):
        expand(text)
    assert len(expand(f"n[1-{MOST_HOSTS}]")) == MOST_HOSTS
