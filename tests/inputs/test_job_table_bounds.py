"""Claims about cells beyond all bounds: they are refused in one short line, at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.errors import FileFormatError
from tests.job_tables import one


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("requested_s", "1e18"),
        ("requested_h", "1e9"),
        ("runtime_s", str(2**63)),
        ("power_w", "1e300"),
        ("power_w_per_core", "1e7"),
        ("revenue_weight", "1e99"),
        ("submit_unix", "99999999999999999999"),
        ("deadline", "9999-12-31T23:59:59-14:00"),
        ("submit_time", "1969-12-31T23:59:59Z"),
        ("memory_gb", "1e15"),
    ],
)
def test_a_number_beyond_its_bounds_is_refused(tmp_path: Path, column: str, value: str) -> None:
    """The message names the column, the value and what is allowed."""
    with pytest.raises(
        FileFormatError, match=rf"jobs\.csv:2: column {column} is '{value}', expected ".replace("+", "")
    ):
        one(tmp_path, **({"cores": 4} | {column: value}))


@pytest.mark.parametrize("units", ["9" * 5000 + "x cores=1", "2000000x cores=1", "1x cores=1e10", "1x cores=1e400"])
def test_units_beyond_their_bounds_are_refused(tmp_path: Path, units: str) -> None:
    """However many digits they have."""
    with pytest.raises(FileFormatError, match=r"jobs\.csv:2: "):
        one(tmp_path, unit_groups=units)


def test_a_long_number_takes_no_time(tmp_path: Path) -> None:
    """A hundred thousand digits and a letter are refused at once, in a short line."""
    with pytest.raises(FileFormatError) as caught:
        one(tmp_path, cores="9" * 100_000 + "x")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("column", ["job_id", "account", "user", "name"])
def test_texts_have_an_end(tmp_path: Path, column: str) -> None:
    """A thousand characters are a name; more would be copied into every table and page of a day."""
    assert getattr(one(tmp_path, cores=1, **{column: "x" * 1000}), column.removeprefix("job_")) == "x" * 1000
    with pytest.raises(FileFormatError, match=rf"column {column} is .*expected at most 1,000 characters"):
        one(tmp_path, cores=1, **{column: "x" * 1001})
