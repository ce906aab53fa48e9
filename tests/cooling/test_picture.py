"""Pictures of PUE tables."""

from pathlib import Path

import pytest

from planner.cooling import AIR, build_table
from planner.cooling.picture import draw_table

pytest.importorskip("matplotlib")


def test_a_picture_is_a_small_png_and_the_same_each_time(tmp_path: Path) -> None:
    """The picture is a PNG below 150 kB, byte for byte the same when drawn again."""
    table = build_table(AIR, name="air", max_power_w=150_000)
    for name in ("one.png", "two.png"):
        draw_table(table, tmp_path / name)
    first = (tmp_path / "one.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    assert len(first) < 150_000
    assert first == (tmp_path / "two.png").read_bytes()
