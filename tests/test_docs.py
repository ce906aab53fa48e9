"""The documents for developers name every room of the package, and only files that exist."""

from __future__ import annotations

import re

import pytest

from tests.test_architecture import LAYERS, PACKAGE

ROOT = PACKAGE.parent
ROW = re.compile(r"\| (\d+) \| `([a-z_]+)(?:/|\.py)` \|")
NAMED = re.compile(r"`((?:planner|tests|docs|scenarios|tables|benchmarks)/[^`\s<>]*)`")


def test_the_table_of_rooms_is_that_of_the_layers() -> None:
    """Every room stands in docs/architecture.md with its layer, lower layers first."""
    rows = [(int(layer), room) for layer, room in ROW.findall((ROOT / "docs/architecture.md").read_text("utf-8"))]
    assert {room: layer for layer, room in rows} == LAYERS
    assert [layer for layer, _ in rows] == sorted(LAYERS.values())


@pytest.mark.parametrize("name", ["architecture.md", "extending.md"])
def test_files_that_a_document_names_exist(name: str) -> None:
    """A path in a document leads to a file or folder of the project."""
    named = NAMED.findall((ROOT / "docs" / name).read_text("utf-8"))
    assert len(named) > 20
    assert not [path for path in named if not (ROOT / path).exists()]
